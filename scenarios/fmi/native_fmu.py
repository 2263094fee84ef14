"""Writing a native FMU: one file in C, made of the formulas of a model, and the library that a compiler makes of it.

There is no Python in it. Steps are those of `Formulas()`: the same operations in the same order, hence the same bits.
"""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Iterable, Sequence
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from coordinator import Centralized
from coordinator.equations import need_sympy
from coordinator.equations.formulas import OPEN
from coordinator.equations.runge_kutta import CORRECTIONS, STAGES, TIMES, WEIGHTS
from modular.assembly import Assembly
from modular.errors import ModelError
from modular.names import missing
from modular.version import __version__
from scenarios.fmi.compiler import compile_library, find_compiler, headers, library_name
from scenarios.fmi.led_ports import leader
from scenarios.fmi.variables import ENERGIES, SETTLE, Layout, Port
from scenarios.fmi.writing import (
    check_names,
    description_three,
    description_two,
    held_ports,
    identifier,
    moved_ports,
    shown_ports,
    terminals,
    write_archive,
)

if TYPE_CHECKING:
    from scenarios.fmi.formulas import FormulasOf

PER_LINE = 6  # numbers of a list
PLAIN = range(32, 127)  # characters that need no escape


def export_native(
    model: Assembly, file: Path, dt: float, *, version: int = 2, ports: Sequence[str] = (), watch: Sequence[str] | None = None,
    parameters: Sequence[str] | None = None, project: bool = False, moved: Sequence[str] = (),
) -> Layout:  # fmt: skip
    """Write a model as a co-simulation FMU without Python, and tell its variables.

    `ports` take forces, and show their motion; `moved`: ports that take their motion, and show the force that it takes, or of
    "body.port:point" its place alone; `watch`: ports that only show their motion. `parameters`: which numbers of the formulas
    may be changed, at any communication point, all that move no joint where nobody says which.
    """
    if version not in (2, 3):
        raise ModelError(f"FMI {version}: FMUs of FMI 2 and FMI 3 are written; give --fmi 2 or --fmi 3.")
    need_sympy("a native FMU")
    find_compiler()
    headers()  # before anything is worked out
    from scenarios.fmi.formulas import FormulasOf

    held = held_ports(model, ports)
    if moved:
        held += moved_ports(model, moved, ports, dt, Centralized(), project)
    shown = shown_ports(model, watch, {port.name for port in held})
    formulas = FormulasOf(model, dt, [*held, *shown], project=project)
    numbers = formulas.parameters()
    for name in parameters or ():
        if name not in numbers:
            raise ModelError(missing("parameter", name, numbers, "a native FMU"))
    chosen = numbers if parameters is None else {name: numbers[name] for name in parameters}
    energies = [name for name in ENERGIES if name in formulas.energies]
    layout = Layout.of(formulas.ports, model.dimension, chosen, energies, tunable=True)
    check_names(layout)
    name = identifier(file.stem)
    code = _code(formulas, layout, version, model.title or name)
    token = hashlib.sha256(code.encode()).hexdigest()
    source = f'static const char TOKEN[] = "{token}";\n{code}'
    describe = description_two if version == 2 else description_three
    end = model.suggested.get("until")
    members = {
        "modelDescription.xml": describe(name, token, layout, float(dt), end, model.title or name, f"{name}.c"),
        f"sources/{name}.c": source.encode(),
        "terminalsAndIcons/terminalsAndIcons.xml": terminals(held, model.dimension, version),
    }
    if version == 3:
        members["sources/buildDescription.xml"] = _build_description(name)
    with tempfile.TemporaryDirectory(prefix="modular-native-") as folder:
        written, library = Path(folder) / f"{name}.c", Path(folder) / "library"
        written.write_text(source, encoding="utf-8")
        compile_library(written, library)
        members[library_name(name, version)] = library.read_bytes()
    write_archive(file, members)
    return layout


def _build_description(name: str) -> bytes:
    root = ElementTree.Element("fmiBuildDescription", fmiVersion="3.0")
    configuration = ElementTree.SubElement(root, "BuildConfiguration", modelIdentifier=name)
    listed = ElementTree.SubElement(
        configuration, "SourceFileSet", language="C99", compilerOptions="-O2 -ffp-contract=off"
    )
    ElementTree.SubElement(listed, "SourceFile", name=f"{name}.c")
    ElementTree.indent(root)
    return bytes(ElementTree.tostring(root, "UTF-8", xml_declaration=True))


def _code(formulas: FormulasOf, layout: Layout, version: int, title: str) -> str:
    """All of it in one file: numbers and functions of this model, what moves any, and a version of FMI."""
    said = title.replace("*/", "* /").encode("ascii", "replace").decode()
    parts = [
        f"/* {said}: an FMU of FMI {version}, written by modular {__version__}.",
        "   cc -std=c99 -O2 -ffp-contract=off -fPIC -shared, with the headers of FMI. */",
        "#include <math.h>",
        "#include <stdio.h>",
        "#include <stdlib.h>",
        "#include <string.h>",
        f'#include "fmi{version}Functions.h"',
        "",
        *_sizes(formulas, layout),
        *_numbers_of(formulas),
        *_places(formulas, layout),
        *_functions(formulas),
    ]
    folder = files("scenarios.fmi") / "native"
    parts += [(folder / part).read_text(encoding="utf-8") for part in ("model.c", f"fmi{version}.c")]
    return "\n".join(parts)


def _sizes(formulas: FormulasOf, layout: Layout) -> list[str]:
    w, common, shown = formulas.written, formulas.common, formulas.shown
    pivots, guards = len(common.solved.pivots), len(common.solved.guards)
    n = len(w.coordinates)
    sizes = {
        "COORDINATES": n, "ROWS": len(w.constraints), "PARAMETERS": len(w.parameters), "PIVOTS": pivots, "GUARDS": guards,
        "RATES": n + guards, "STAGES": STAGES, "CORRECTIONS": CORRECTIONS, "LOADS": len(formulas.loads),
        "ANGLES": len(shown.angles), "TURNS": len(shown.turns), "TURNED": len(shown.turned),
        "SHOWN": len(shown.formulas), "OUTPUTS": shown.count,
        "OUTPUTS_AT": layout.settle + 1, "PARAMETERS_AT": layout.parameters.start, "VARIABLES": len(layout.scalars),
        "SETTLE": layout.settle, "MOVED": len(formulas.moved), "DIMENSION": formulas.dimension,
    }  # fmt: skip
    assert layout.scalars[layout.settle].name == SETTLE
    return [f"enum {{ {', '.join(f'{name} = {size}' for name, size in sizes.items())} }};"]


def _numbers_of(formulas: FormulasOf) -> list[str]:
    from coordinator.equations.solved import LOOSE, LOST_PIVOT

    w, common = formulas.written, formulas.common
    scales = common.scales()
    owners = [pivot.owner for pivot in common.solved.pivots] + [w.owners[r] for r in common.solved.dependent]
    single = {
        "TICK": formulas.dt, "PI": 3.141592653589793, "LOST_PIVOT": LOST_PIVOT, "LOOSE": LOOSE, "OPEN": OPEN,
        "EXTENT": float(scales["extents"][0]),
    }  # fmt: skip
    found = [f"static const double {name} = {value!r};" for name, value in single.items()]
    found += _array("START_Q", formulas.q[common.columns[0]].tolist())
    found += _array("START_V", formulas.v[common.columns[0]].tolist())
    found += _array("START_P", common.motions.parameters[0].tolist())
    found += _array("PIVOT", scales["pivots"][0].tolist())
    found += _array("TIMES", TIMES.tolist())
    found += [f"static const double WEIGHTS[{len(WEIGHTS)}][{STAGES}] = {{"]
    found += [f"    {{{', '.join(repr(float(x)) for x in row)}}}," for row in WEIGHTS] + ["};"]
    return [*found, *_strings("OWNER", owners), *_strings("ROW_OWNER", w.owners)]


def _places(formulas: FormulasOf, layout: Layout) -> list[str]:
    """Where forces, motions, angles, quaternions and parameters are."""
    from scenarios.fmi.formulas import course_of

    symbols = list(formulas.written.parameters)
    at = {one.name: k for k, one in enumerate(symbols)}
    loads = []
    for parameter, k, n in formulas.loads:
        port, first = formulas.ports[n], layout.inputs[n].start
        width = formulas.dimension + (2 * formulas.dimension - 3 if port.turns else 0)
        loads.append((parameter, first + k, first + width + k))
    given = [scalar.name for scalar in layout.scalars[layout.parameters]]
    led: list[tuple[int, ...]] = []
    courses: list[tuple[int]] = []
    starts: list[float] = []
    for n, port in ((n, port) for n, port in enumerate(formulas.ports) if port.moved):
        first = formulas.written.columns[leader(port)].start
        led.append((layout.inputs[n].start, first, _turns(port, formulas.dimension), len(courses), len(starts)))
        courses += [(at[name],) for name, _ in course_of(port, formulas.dimension)]
        starts += port.start
    return [
        *_table("LED", ("input", "coordinate", "turns", "course", "start"), led),
        *_table("COURSE", (), courses),
        *_array("LED_START", starts),
        *_strings("LED_NAME", [port.name for port in formulas.moved]),
        *_table("LOAD", ("parameter", "value", "rate"), loads),
        *_table("ANGLE", (), [(k,) for k in formulas.shown.angles]),
        *_table("TURN", ("quaternion", "axes"), formulas.shown.turns),
        *_table("TURNED_TO", ("parameter", "place"), formulas.shown.turned),
        *_table("GIVEN", ("parameter", "positive"), [(at[x], int(bool(symbols[at[x]].is_positive))) for x in given]),
        "",
    ]


def _turns(port: Port, dimension: int) -> int:
    """How many numbers say how a port is turned."""
    return {2: 1, 3: 4}[dimension] if port.turns else 0


def _functions(formulas: FormulasOf) -> list[str]:
    """Rates with what tells whether they hold; corrections of places and of rates; what is shown."""
    from coordinator.equations.source import c_function

    common, n = formulas.common, len(formulas.written.coordinates)
    rates, place, pace = common.functions
    m, guards = len(formulas.written.constraints), len(common.solved.guards)
    kept = [*range(n), *range(n + m, n + m + guards)]
    more = {"a": formulas.accelerations}
    shown = formulas.shown.formulas
    if formulas.moved:  # what holds them follows from where everything stands
        exerted = dict(zip(formulas.written.multipliers, rates[0].multipliers, strict=True))
        shown = [value.xreplace(exerted) for value in shown]
    return [
        c_function("rates", *rates, kept),
        c_function("place", *place, range(len(place[1]))),
        c_function("pace", *pace, range(len(pace[1]))),
        c_function("shows", rates[0], shown, range(len(shown)), more),
    ]


# --- lists in C ------------------------------------------------------------------------------------------------------


def _array(name: str, values: Sequence[float]) -> list[str]:
    """C knows none without elements."""
    parts = [repr(float(value)) for value in values] or ["0.0"]
    lines = [", ".join(parts[k : k + PER_LINE]) for k in range(0, len(parts), PER_LINE)]
    return [f"static const double {name}[{len(parts)}] = {{", *(f"    {line}," for line in lines), "};"]


def _table(name: str, columns: Sequence[str], rows: Iterable[tuple[Any, ...]]) -> list[str]:
    listed = list(rows) or [(0,) * max(len(columns), 1)]
    kind = f"struct {{ int {', '.join(columns)}; }}" if columns else "int"
    cells = [f"{{{', '.join(map(str, row))}}}" if columns else str(row[0]) for row in listed]
    lines = [", ".join(cells[k : k + PER_LINE]) for k in range(0, len(cells), PER_LINE)]
    return [f"static const {kind} {name}[{len(listed)}] = {{", *(f"    {line}," for line in lines), "};"]


def _strings(name: str, values: Sequence[str]) -> list[str]:
    parts = [_quoted(value) for value in values] or ['""']
    return [f"static const char *const {name}[{len(parts)}] = {{", *(f"    {part}," for part in parts), "};"]


def _quoted(text: str) -> str:
    """Bytes that C might take for something else as octal numbers."""
    return '"' + "".join(chr(b) if b in PLAIN and b not in b'"\\?' else f"\\{b:03o}" for b in text.encode()) + '"'
