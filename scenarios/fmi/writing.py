"""Writing an FMU: model, variables, and the compiled part of PythonFMU or PythonFMU3, in one file."""

from __future__ import annotations

import hashlib
import json
import re
import zipfile
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from components.fmi.port import structured
from modular.assembly import Assembly
from modular.component import plain
from modular.errors import ModelError
from modular.version import __version__
from scenarios.fmi.exported import ABOUT, MODEL
from scenarios.fmi.variables import KINDS_TWO, REAL, UNITS, Layout, Port, Scalar

WRAPPERS = {2: "pythonfmu", 3: "pythonfmu3"}
BINARIES = ("*.so", "*.dll", "*.dylib")
MAX_PORTS = 64  # that are shown where nobody says which
POINT = "point"  # said behind a port that is moved: its place alone, and it turns as it likes
EPOCH = (1980, 1, 1, 0, 0, 0)  # of all files in it, so that one model makes one file
CLASS = "ModularModel"
SCRIPT = """from scenarios.fmi.slave import Fmi{version}Slave, hold

hold(globals())


class {name}(Fmi{version}Slave):
    pass
"""


def export_fmu(
    model: Assembly, file: Path, dt: float, *, version: int = 2, coupling: Any = None, ports: Sequence[str] = (),
    watch: Sequence[str] | None = None, target: str | None = None, settings: Mapping[str, Any] | None = None,
    parameters: Mapping[str, float] | None = None, project: bool = False, moved: Sequence[str] = (),
) -> Layout:  # fmt: skip
    """Write a model as a co-simulation FMU, and tell its variables.

    `ports` are held from outside: they take forces, and show their motion; `moved`: ports that take their motion, and show the
    force that it takes, or of "body.port:point" its place alone; `watch`: ports that only show their motion, all of
    a small model where nobody says which. `parameters`: settings of a ready system (`target`) that may be changed before it is
    initialised: numbers, whole numbers (int) and booleans. A model with events tells how many there were, and which joints hold.
    """
    wrapper = _wrapper(version)
    held = held_ports(model, ports)
    if ports:
        _check_loads_are_read(coupling)
    if moved:
        coupling = _glued(coupling)
        held += moved_ports(model, moved, ports, dt, coupling, project)
    shown = shown_ports(model, watch, {port.name for port in held})
    numbers = dict(parameters or {})
    leaving = joints_that_leave(model)
    about: dict[str, Any] = {
        "dimension": model.dimension,
        "dt": float(dt),
        "coupling": None if coupling is None else plain(coupling),
        "project": project,
        "ports": [vars(port) for port in (*held, *shown)],
        "target": target,
        "settings": dict(settings or {}),
        "parameters": numbers,
        "leaving": leaving,
        "modular": __version__,
    }
    layout = Layout.of([*held, *shown], model.dimension, numbers, leaving=leaving)
    check_names(layout)
    name = identifier(file.stem)
    data = json.dumps(model.given().to_data()).encode()
    told = json.dumps(about, sort_keys=True).encode()
    token = hashlib.sha256(data + told + str(version).encode()).hexdigest()
    module = f"modular_fmu_{token[:16]}_{version}"
    script = SCRIPT.format(version=version, name=CLASS)
    describe = description_two if version == 2 else description_three
    end = model.suggested.get("until")
    members = {
        "modelDescription.xml": describe(name, token, layout, float(dt), end, model.title or name),
        f"resources/{MODEL}": data,
        f"resources/{ABOUT}": told,
        f"resources/{module}.py": script.encode(),
        "resources/slavemodule.txt": module.encode(),
        "terminalsAndIcons/terminalsAndIcons.xml": terminals(held, model.dimension, version),
    }
    for source in sorted(found for pattern in BINARIES for found in wrapper.rglob(pattern)):
        folder = source.parent.relative_to(wrapper).as_posix()
        members[f"binaries/{folder}/{name}{source.suffix}"] = source.read_bytes()
    write_archive(file, members)
    return layout


def joints_that_leave(model: Assembly) -> list[str] | None:
    """Joints of a model in which something happens on the way; nothing of one in which nothing does."""
    breaking = any(edge.breaks_at is not None for edge in model.joint_edges.values())
    return list(model.joint_edges)[:MAX_PORTS] if model.schedule or breaking else None


def write_archive(file: Path, members: Mapping[str, bytes]) -> None:
    """One model makes one file, whenever it is written."""
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in members.items():
            archive.writestr(zipfile.ZipInfo(path, EPOCH), content, zipfile.ZIP_DEFLATED)


def _wrapper(version: int) -> Path:
    """The folder of the compiled parts of the package that wraps Python for a version of FMI."""
    if version not in WRAPPERS:
        raise ModelError(f"FMI {version}: FMUs of FMI 2 and FMI 3 are written; give --fmi 2 or --fmi 3.")
    found = find_spec(WRAPPERS[version])
    if found is None or found.origin is None:
        raise ModelError(
            f"FMI {version}: the package {WRAPPERS[version]}, whose compiled part lets Python run in an FMU, is not installed: pip "
            "install 'modular-multibody[fmi]'."
        )
    return Path(found.origin).parent / "resources" / "binaries"


def check_names(layout: Layout) -> None:
    """No two variables may have one name."""
    if len({scalar.name for scalar in layout.scalars}) < len(layout.scalars):
        raise ModelError("two variables of the FMU would have one name; rename a port, or leave it out with --watch.")


def identifier(stem: str) -> str:
    """A name that C allows."""
    name = re.sub(r"\W", "_", stem, flags=re.ASCII)
    return name if name[:1].isalpha() else f"m_{name}"


def _all_ports(model: Assembly) -> list[str]:
    found = [f"{name}.{port}" for name, body in model.bodies.items() for port in body.port_names]
    return found if len(found) <= MAX_PORTS else []


def held_ports(model: Assembly, names: Sequence[str]) -> list[Port]:
    """Those that take forces."""
    return [_port(model, name, True) for name in names]


def shown_ports(model: Assembly, watch: Sequence[str] | None, taken: set[str]) -> list[Port]:
    """Those that only show their motion: those asked for, or all of a small model."""
    return [_port(model, name, False) for name in (_all_ports(model) if watch is None else watch) if name not in taken]


def _port(model: Assembly, name: str, held: bool) -> Port:
    body, dot, port = name.partition(".")
    if not dot:
        raise ModelError(f"port '{name}': write BODY.PORT, such as {next(iter(_all_ports(model)), 'rod.end')}.")
    if body not in model.bodies:
        raise ModelError(f"port '{name}': there is no body '{body}'; there are {', '.join(model.bodies)}.")
    described = model.bodies[body]
    if port not in described.port_names:
        raise ModelError(f"port '{name}': '{body}' has no port '{port}'; it has {', '.join(described.port_names)}.")
    return Port(name, structured(name), _turns(described), held)


def _check_loads_are_read(coupling: Any) -> None:
    """Generated code holds the forces of its beginning, and would go on with these."""
    from coordinator import Formulas, Generated

    if isinstance(coupling, Formulas) or isinstance(getattr(coupling, "solver", None), Generated):
        raise ModelError(
            "ports that take forces: code generated from formulas would not see them change; export a native FMU (--native), "
            "or give another coupling, such as glued."
        )


def _glued(coupling: Any) -> Any:
    """Ports that are moved go exactly where they are told to, so joints within are glued."""
    from coordinator import Glued

    if coupling is None:
        return Glued()
    if not isinstance(coupling, Glued):
        raise ModelError(
            f"ports that are moved need glued joints within, and this model is to have {type(coupling).__name__}; give --coupling "
            "glued."
        )
    return coupling


def moved_ports(
    model: Assembly, names: Sequence[str], held: Sequence[str], dt: float, coupling: Any, project: bool
) -> list[Port]:
    """Ports that take their motion, which begins as the model does; none of them may be `held` too."""
    from dataclasses import replace

    from coordinator import Simulation
    from scenarios.fmi.led_ports import standing

    ports = []
    for given in names:
        name, _, how = given.partition(":")
        if how not in ("", POINT):
            raise ModelError(f"port '{given}': it is moved as a whole, '{name}', or its place alone, '{name}:{POINT}'.")
        if name in held:
            raise ModelError(f"port '{name}' is to take forces and to be moved; choose one.")
        port = _port(model, name, False)
        ports.append(replace(port, turns=port.turns and not how))
    with Simulation(model, dt, coupling, project_velocities=project) as simulation:
        return [replace(port, moved=True, start=tuple(standing(simulation, port.name, port.turns))) for port in ports]


def _turns(body: Any) -> bool:
    """Whether its ports have an orientation of their own: all but point masses and, in space, rods that nothing twists."""
    stack = body.empty_stack()
    stack.add("it", body)
    from modular.port import PortName

    side = stack.side("it", PortName("it", body.port_names[0]))
    return len(side.directions) >= (1 if body.dimension == 2 else 3)


# --- the description -------------------------------------------------------------------------------------------------


def _text(root: ElementTree.Element) -> bytes:
    ElementTree.indent(root)
    return bytes(ElementTree.tostring(root, "UTF-8", xml_declaration=True))


def _units(root: ElementTree.Element, layout: Layout) -> None:
    used = dict.fromkeys(scalar.unit for scalar in layout.scalars if scalar.unit)
    units = ElementTree.SubElement(root, "UnitDefinitions")
    for name in used:
        powers = zip(("kg", "m", "s", "rad"), UNITS[name], strict=True)
        unit = ElementTree.SubElement(units, "Unit", name=name)
        ElementTree.SubElement(unit, "BaseUnit", {base: str(power) for base, power in powers if power})


def _attributes(scalar: Scalar, reference: int) -> dict[str, str]:
    found = {"name": scalar.name, "valueReference": str(reference), "causality": scalar.causality}
    if scalar.causality == "parameter":
        found["variability"] = "tunable" if scalar.tunable else "fixed"
    elif scalar.causality != "independent":
        found["variability"] = "continuous" if scalar.kind == REAL else "discrete"
    if scalar.causality == "parameter":
        found["initial"] = "exact"
    elif scalar.causality == "output":
        found["initial"] = "calculated"
    if scalar.about:
        found["description"] = scalar.about
    return found


def _experiment(root: ElementTree.Element, dt: float, until: float | None) -> None:
    end = {} if until is None else {"stopTime": repr(float(until))}
    ElementTree.SubElement(root, "DefaultExperiment", {"startTime": "0.0", **end, "stepSize": repr(dt)})


def _frame(
    version: int, name: str, token: str, layout: Layout, dt: float, until: float | None, title: str, source: str | None
) -> tuple[ElementTree.Element, ElementTree.Element]:
    """What both versions say alike: the root, and where its variables go."""
    root = ElementTree.Element(
        "fmiModelDescription", {
            "fmiVersion": f"{version}.0", "modelName": name, "guid" if version == 2 else "instantiationToken": token,
            "description": title, "generationTool": f"modular {__version__}", "variableNamingConvention": "structured",
        },
    )  # fmt: skip
    state = "state" if version == 2 else "State"
    told = {"modelIdentifier": name, "needsExecutionTool": "false" if source else "true"}
    told |= {"canHandleVariableCommunicationStepSize": "true"}
    told |= {"canNotUseMemoryManagementFunctions": "true"} if version == 2 else {}
    told |= {f"canGetAndSetFMU{state}": "true", f"canSerializeFMU{state}": "true"}
    stepped = ElementTree.SubElement(root, "CoSimulation", told)
    if source and version == 2:
        ElementTree.SubElement(ElementTree.SubElement(stepped, "SourceFiles"), "File", name=source)
    _units(root, layout)
    _experiment(root, dt, until)
    return root, ElementTree.SubElement(root, "ModelVariables")


def description_two(
    name: str, token: str, layout: Layout, dt: float, until: float | None, title: str, source: str | None = None
) -> bytes:
    """modelDescription.xml of FMI 2; `source`: the file in C that it is compiled from."""
    root, variables = _frame(2, name, token, layout, dt, until, title, source)
    for reference, scalar in enumerate(layout.scalars):
        variable = ElementTree.SubElement(variables, "ScalarVariable", _attributes(scalar, reference))
        real = {} if scalar.unit is None else {"unit": scalar.unit}
        if scalar.start is not None:
            real["start"] = scalar.start_text
        ElementTree.SubElement(variable, KINDS_TWO[scalar.kind], real)
    structure = ElementTree.SubElement(root, "ModelStructure")
    outputs = [str(k + 1) for k, scalar in enumerate(layout.scalars) if scalar.causality == "output"]
    for part in ("Outputs", "InitialUnknowns"):
        listed = ElementTree.SubElement(structure, part)
        for index in outputs:
            ElementTree.SubElement(listed, "Unknown", index=index)
    return _text(root)


def description_three(
    name: str, token: str, layout: Layout, dt: float, until: float | None, title: str, source: str | None = None
) -> bytes:
    """modelDescription.xml of FMI 3; `source`: the file in C that it is compiled from."""
    root, variables = _frame(3, name, token, layout, dt, until, title, source)
    for reference, scalar in enumerate(layout.scalars):
        real = _attributes(scalar, reference) | ({} if scalar.unit is None else {"unit": scalar.unit})
        if scalar.start is not None:
            real["start"] = scalar.start_text
        ElementTree.SubElement(variables, scalar.kind, real)
    structure = ElementTree.SubElement(root, "ModelStructure")
    outputs = [str(k) for k, scalar in enumerate(layout.scalars) if scalar.causality == "output"]
    for part in ("Output", "InitialUnknown"):
        for output in outputs:
            ElementTree.SubElement(structure, part, valueReference=output)
    return _text(root)


def terminals(ports: Sequence[Port], dimension: int, version: int) -> bytes:
    """Which variables belong to a port, as FMI 3 describes terminals."""
    root = ElementTree.Element("fmiTerminalsAndIcons", fmiVersion="3.0")
    if ports:
        listed = ElementTree.SubElement(root, "Terminals")
        for port in ports:
            terminal = ElementTree.SubElement(
                listed, "Terminal", name=port.called, matchingRule="bus", terminalKind="modular.PowerPort"
            )
            for scalar in (*port.inputs(dimension), *port.outputs(dimension)):
                ElementTree.SubElement(
                    terminal, "TerminalMemberVariable", variableName=scalar.name, memberName=scalar.name[len(port.called) + 1 :],
                    variableKind="signal",
                )  # fmt: skip
    return _text(root)
