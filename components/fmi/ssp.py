"""SSP: systems of FMUs with scalar connections, as other programs write them (System Structure and Parameterization 1.0)."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from components.fmi.archive import opened
from modular.errors import ModelError
from modular.temporary import folder_for_a_while

STRUCTURE = "SystemStructure.ssd"
SSD = "{http://ssp-standard.org/SSP1/SystemStructureDescription}"
SSV = "{http://ssp-standard.org/SSP1/SystemStructureParameterValues}"
SSC = "{http://ssp-standard.org/SSP1/SystemStructureCommon}"
BASES = ("kg", "m", "s", "A", "K", "mol", "cd", "rad")
READ: dict[str, Callable[[str], Any]] = {
    "Real": float,
    "Integer": int,
    "Enumeration": int,
    "Boolean": lambda text: text in ("true", "1"),
    "String": str,
}


@dataclass(frozen=True)
class Value:
    """A parameter as a file gives it: in a unit that the file defines, or else in that of the variable."""

    given: Any
    unit: str | None
    factor: float | None = None  # to SI units, where the file defines its unit
    offset: float = 0.0
    exponents: tuple[int, ...] = ()

    def in_si(self, name: str, source: str, path: str | Path) -> Any:
        """As `parameters` of FMUs are given."""
        variable = opened(source).variables.get(name)
        if variable is None or not isinstance(self.given, float):
            return self.given  # whoever sets it says what is wrong with it
        if self.factor is None:
            if self.unit not in (None, variable.unit):
                raise ModelError(
                    f"SSP '{path}': parameter '{name}' is given in '{self.unit}', a unit that the file does not define; "
                    f"the FMU has it in '{variable.unit}'."
                )
            return variable.in_si(self.given)
        if variable.exponents and variable.exponents != self.exponents:
            raise ModelError(
                f"SSP '{path}': parameter '{name}' is given in '{self.unit}', which is of another kind than '{variable.unit}' of "
                "the FMU."
            )
        return self.factor * self.given + self.offset


def read_ssp(path: str | Path) -> dict[str, Any]:
    """Files, connections and parameters of a system, as an `FmuNetwork` and an `Fmu` take them."""
    place = Path(path)
    if not place.is_file():
        raise ModelError(f"SSP '{path}': there is no such file in {Path.cwd()}.")
    try:
        with zipfile.ZipFile(place) as archive:
            if odd := [name for name in archive.namelist() if name.startswith("/") or ".." in Path(name).parts]:
                raise ModelError(f"SSP '{path}' holds the path '{odd[0]}', which leads out of it.")
            folder = folder_for_a_while("modular-ssp-")
            archive.extractall(folder)
        root = ElementTree.parse(folder / STRUCTURE).getroot()
    except (zipfile.BadZipFile, FileNotFoundError, ElementTree.ParseError) as error:
        raise ModelError(
            f"SSP '{path}' is not an SSP: an SSP is a ZIP file that contains a {STRUCTURE} ({error})."
        ) from error
    system = root.find(f"{SSD}System")
    if system is None:
        raise ModelError(f"SSP '{path}': its {STRUCTURE} describes no system.")
    elements = system.find(f"{SSD}Elements")
    found: dict[str, Any] = {"files": {}, "connections": {}, "parameters": {}}
    given: dict[str, Value] = {}
    for element in [] if elements is None else elements:
        name = element.get("name", "")
        if element.tag != f"{SSD}Component":
            raise ModelError(f"SSP '{path}': '{name}' is a nested system; only FMUs at the top level are read.")
        source = element.get("source", "")
        if not (folder / source).is_file():
            raise ModelError(f"SSP '{path}': '{name}' refers to '{source}', but the file does not contain it.")
        found["files"][name] = str(folder / source)
        given |= {f"{name}.{key}": value for key, value in _values(element, folder, path).items()}
    given |= _values(system, folder, path)
    for key, value in given.items():
        member, _, name = key.partition(".")
        source = found["files"].get(member)
        found["parameters"][key] = value.given if source is None else value.in_si(name, source, path)
    connections = system.find(f"{SSD}Connections")
    for wire in [] if connections is None else connections:
        if wire.get("startElement") is None or wire.get("endElement") is None:
            continue  # to the outside of the system, where nobody is
        if len(wire):
            raise ModelError(
                f"SSP '{path}': the connection from '{wire.get('startElement')}.{wire.get('startConnector')}' transforms what goes "
                "through it; plain connections are read."
            )
        target = f"{wire.get('endElement')}.{wire.get('endConnector')}"
        if target in found["connections"]:
            raise ModelError(f"SSP '{path}': two connections go into '{target}'; an input takes one.")
        found["connections"][target] = f"{wire.get('startElement')}.{wire.get('startConnector')}"
    return found


def _values(owner: ElementTree.Element, folder: Path, path: str | Path) -> dict[str, Value]:
    """Parameters that are bound to a component or to the system, in place or in a file."""
    found: dict[str, Value] = {}
    for binding in owner.iterfind(f"{SSD}ParameterBindings/{SSD}ParameterBinding"):
        prefix, source = binding.get("prefix", ""), binding.get("source")
        if binding.find(f"{SSD}ParameterMapping") is not None:
            raise ModelError(
                f"SSP '{path}': a parameter mapping renames parameters, and mappings are not read; use the names of the FMU."
            )
        if source is not None and not (folder / source).is_file():
            raise ModelError(f"SSP '{path}': its parameters refer to '{source}', but the file does not contain it.")
        holder = binding if source is None else ElementTree.parse(folder / source).getroot()
        units = _units(holder)
        for parameter in holder.iter(f"{SSV}Parameter"):
            for value in parameter:
                kind, unit = value.tag.removeprefix(SSV), value.get("unit")
                if kind in READ:
                    number = READ[kind](value.get("value", ""))
                    found[prefix + parameter.get("name", "")] = Value(number, unit, *units.get(unit or "", ()))
    return found


def _units(holder: ElementTree.Element) -> dict[str, tuple[float, float, tuple[int, ...]]]:
    """Factor, offset and exponents of the units that a file defines, by their names."""
    found = {}
    for unit in holder.iter(f"{SSC}Unit"):
        base = unit.find(f"{SSC}BaseUnit")
        if base is not None:
            exponents = tuple(int(base.get(name, "0")) for name in BASES)
            found[unit.get("name", "")] = float(base.get("factor", "1")), float(base.get("offset", "0")), exponents
    return found
