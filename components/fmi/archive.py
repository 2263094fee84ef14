"""FMU files: unpacked once in a process, their description read, and what is wrong with them said in one sentence."""

from __future__ import annotations

import itertools
import math
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from components.fmi.units import units_of
from modular.allowed import allowed
from modular.component import Read
from modular.errors import ModelError
from modular.temporary import folder_for_a_while

REMEDY = "pip install 'modular-multibody[fmi]'"
EXCHANGE, CO_SIMULATION = "model exchange", "co-simulation"
TERMINALS = "terminalsAndIcons/terminalsAndIcons.xml"
PACKAGE = "fmpy"  # by whose name people allow FMUs that files and messages name (modular/allowed.py)
_given: set[str] = set()  # files that a program of this process has named itself
_opened: dict[tuple[str, float, int], Archive] = {}


def fmpy() -> Any:
    """The package that speaks FMI; asked for where an FMU is opened, and nowhere else."""
    try:
        import fmpy as package
        import fmpy.fmi2
        import fmpy.fmi3
        import fmpy.model_description
    except ImportError as error:
        raise ModelError(f"FMUs need the package FMPy, which is not installed: {REMEDY}.") from error
    return package


@dataclass(frozen=True)
class Variable:
    """A scalar of an FMU, or an element of an array: how it is asked for, and what its numbers are in SI units."""

    name: str
    reference: int
    kind: str  # as FMI 3 calls it: "Float64", "Int32", "Boolean", "String", ...
    causality: str | None
    start: str | None
    unit: str | None
    scale: float
    exponents: tuple[int, ...] | None  # of kg, m, s, A, K, mol, cd, rad; None where the file does not say
    offset: float = 0.0  # in SI units, as of degrees Celsius; none of differences
    place: int | None = None  # of an element, in its array
    starts: tuple[float, ...] = ()  # of an element: those of all of its array
    variability: str | None = None
    initial: str | None = None  # how it begins: "exact", "approx", "calculated"; None where the file does not say

    def in_si(self, own: Any) -> Any:
        """A number of the FMU in SI units."""
        return self.scale * own + self.offset

    def own(self, si: Any) -> Any:
        """A number in SI units as the FMU has it."""
        return (si - self.offset) / self.scale


@dataclass(frozen=True)
class Archive:
    """An FMU that lies unpacked in a folder of this process."""

    path: Path
    folder: Path
    description: Any  # FMPy's ModelDescription
    variables: dict[str, Variable]
    terminals: dict[str, dict[str, str]]  # by name: variables by the names of members

    @property
    def version(self) -> int:
        """2 or 3."""
        return int(self.description.fmiMajorVersion)

    @property
    def kinds(self) -> tuple[str, ...]:
        """What it offers."""
        here = self.description
        return tuple(
            kind for kind, found in ((CO_SIMULATION, here.coSimulation), (EXCHANGE, here.modelExchange)) if found
        )

    def part(self, interface: str | None) -> Any:
        """What the file says of an interface; the first that it offers, if none is asked for."""
        here = self.description
        return here.modelExchange if (interface or self.kinds[0]) == EXCHANGE else here.coSimulation

    def check_platform(self) -> None:
        """Refuse where it holds nothing that runs here."""
        package = fmpy()
        here = package.platform if self.version == 2 else package.platform_tuple
        there = sorted(folder.name for folder in (self.folder / "binaries").glob("*") if folder.is_dir())
        if here not in there:
            remedy = " Its sources are in it: FMPy can build it here." if (self.folder / "sources").is_dir() else ""
            raise ModelError(
                f"FMU '{self.path}' does not run on this machine ({here}): it is made for {', '.join(there) or 'none'}.{remedy}"
            )

    def saves(self, interface: str | None) -> bool:
        """Whether its state can be taken and given back: by calls, or as it is all in the numbers that we integrate."""
        part = self.part(interface)
        return part is not None and (bool(part.canGetAndSetFMUstate) or self._plain(interface))

    def serialises(self, interface: str | None) -> bool:
        """Whether it can be written down too."""
        part = self.part(interface)
        return part is not None and (
            bool(part.canGetAndSetFMUstate and part.canSerializeFMUstate) or self._plain(interface)
        )

    def _plain(self, interface: str | None) -> bool:
        """Whether it is of model exchange and has no events."""
        here = self.description
        events = here.numberOfEventIndicators or len(here.eventIndicators)
        return (interface or self.kinds[0]) == EXCHANGE and not events

    def variable(self, name: str, what: str) -> Variable:
        """By its name; one that is not there is refused, with those that are nearest."""
        if name in self.variables:
            return self.variables[name]
        if elements := [one for one in self.variables if one.startswith(f"{name}[")]:
            raise ModelError(
                f"{what}: '{name}' of '{self.path.name}' is an array; name its elements, {elements[0]} to {elements[-1]}."
            )
        import difflib

        near = difflib.get_close_matches(name, self.variables, 3) or list(self.variables)[:6]
        raise ModelError(f"{what}: '{self.path.name}' has no variable '{name}'; it has {', '.join(near)}, …")


def give(paths: Iterable[str]) -> None:
    """A program has named these files; what was read from a file or a message is none of them."""
    _given.update(str(path) for path in paths if not isinstance(path, Read))


def opened(path: str | Path) -> Archive:
    """Unpack an FMU, or find where this process has unpacked it already; its code will run, so somebody here must want it."""
    if isinstance(path, Read) and str(path) not in _given and PACKAGE not in allowed():
        raise ModelError(
            f"FMU '{path}' is named by a file or a message, and its code would run, which is not allowed. If you trust it, call "
            f"modular.allow('{PACKAGE}') in Python, or 'modular --allow {PACKAGE} …' on the command line, or set "
            f"MODULAR_ALLOW={PACKAGE}."
        )
    package, place = fmpy(), Path(path)
    try:
        known = place.resolve(strict=True)
        stat = known.stat()
    except OSError as error:
        raise ModelError(f"FMU '{path}': there is no such file in {Path.cwd()}.") from error
    key = (str(known), stat.st_mtime, stat.st_size)
    if key not in _opened:
        _opened[key] = _unpacked(package, known)
    return _opened[key]


def _unpacked(package: Any, path: Path) -> Archive:
    if not zipfile.is_zipfile(path):
        raise ModelError(f"FMU '{path}' is not an FMU: an FMU is a ZIP file that contains modelDescription.xml.")
    folder = folder_for_a_while("modular-fmu-")
    try:
        package.extract(path, unzipdir=folder)
        version = ElementTree.parse(folder / "modelDescription.xml").getroot().get("fmiVersion", "none")
        if version[:2] not in ("2.", "3."):
            raise ModelError(f"FMU '{path}' is of FMI {version}; FMI 2 and FMI 3 are read.")
        description = package.model_description.read_model_description(str(folder), validate=False)
    except ModelError:
        raise
    except FileNotFoundError as error:
        raise ModelError(f"FMU '{path}' is no FMU: it holds no modelDescription.xml.") from error
    except Exception as error:
        raise ModelError(f"FMU '{path}' cannot be read: {_first_line(error)}") from error
    found = Archive(path, folder, description, _variables(description), _terminals(folder, path))
    if not found.kinds:
        only = ": its partitions are scheduled by clocks" if getattr(description, "scheduledExecution", None) else ""
        raise ModelError(f"FMU '{path}' offers neither co-simulation nor model exchange{only}.")
    return found


def _variables(description: Any) -> dict[str, Variable]:
    units = units_of(description)
    found: dict[str, Variable] = {}
    for variable in description.modelVariables:
        declared = variable.declaredType
        unit = variable.unit or (declared.unit if declared is not None else None)
        known = units.get(unit or "")
        kind = {"Real": "Float64", "Integer": "Int32", "Enumeration": "Int32"}.get(variable.type, variable.type)
        if kind == "Int32" and variable.type == "Enumeration" and description.fmiMajorVersion == 3:
            kind = "Int64"
        relative = variable.relativeQuantity or (declared is not None and declared.relativeQuantity)
        one = Variable(
            variable.name,
            variable.valueReference,
            kind,
            variable.causality,
            variable.start,
            unit,
            1.0 if known is None else known[0],
            None if known is None else known[2],
            0.0 if known is None or relative else known[1],
            variability=variable.variability,
            initial=variable.initial,
        )
        found |= {each.name: each for each in _elements(one, variable.shape)}
    return found


def _elements(variable: Variable, shape: tuple[int, ...] | None) -> Iterator[Variable]:
    """Itself, or the elements of an array, counted from one: "u[2]", "A[1,3]"."""
    if not shape:
        yield variable
        return
    count = math.prod(shape)
    given = str(variable.start or "").split()
    given = given * count if len(given) == 1 else given
    told = len(given) == count and variable.kind == "Float64"
    starts = tuple(map(float, given)) if told else (0.0,) * count
    for k, index in enumerate(itertools.product(*(range(1, size + 1) for size in shape))):
        start = given[k] if len(given) == count else None
        name = f"{variable.name}[{','.join(map(str, index))}]"
        yield replace(variable, name=name, start=start, place=k, starts=starts)


def _terminals(folder: Path, path: Path) -> dict[str, dict[str, str]]:
    """What terminalsAndIcons.xml says belongs together."""
    file = folder / TERMINALS
    if not file.is_file():
        return {}
    try:
        root = ElementTree.parse(file).getroot()
    except ElementTree.ParseError as error:
        raise ModelError(f"FMU '{path}': its {TERMINALS} cannot be read: {_first_line(error)}") from error
    found = {}
    for terminal in root.iterfind("Terminals/Terminal"):
        members = terminal.iterfind("TerminalMemberVariable")
        found[terminal.get("name", "")] = {
            member.get("memberName", ""): member.get("variableName", "") for member in members
        }
    return found


def _first_line(error: Exception) -> str:
    """What went wrong, in one line."""
    said = str(error).strip().splitlines()
    return said[0] if said else type(error).__name__
