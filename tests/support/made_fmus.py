"""FMUs of a stranger in C, compiled where there is a compiler: a rigid body (fmus/rigid.c), arrays (fmus/arrays.c)."""

import functools
import hashlib
import platform
import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest

from shared_folder import made_once

SOURCE = Path(__file__).parent / "fmus" / "rigid.c"
STATES = ["x", "y", "turn", "vx", "vy", "spin"]
INPUTS = {"fx": 10, "fy": 11, "mz": 12}
PARAMETERS = {"mass": 13, "inertia": 14, "arm": 15, "gravity": 16, "damping": 17, "floor": 26}
OUTPUTS = {"px": 18, "py": 19, "angle": 20, "pvx": 21, "pvy": 22, "omega": 23, "kinetic": 24, "potential": 25}
DISCRETE_INPUTS = (("gear", 28, "Integer", "1"), ("on", 29, "Boolean", "true"))  # by which the moment is multiplied
DISCRETE_OUTPUTS = (("turns", 50, "Integer"), ("fast", 51, "Boolean"))  # whole radians; whether more than one a second
TOLD = ("px", "py", "angle", "pvx", "pvy", "omega", "pax", "pay", "alpha")
SHOWN = ("fx", "fy", "mz", "kinetic", "potential")
DEFAULTS = {"mass": 1.3, "inertia": 0.21, "gravity": 9.81, "floor": -1e9}


def port(**changes):
    from components.fmi import PowerPort

    names = {
        "position": ("px", "py"), "velocity": ("pvx", "pvy"), "force": ("fx", "fy"), "orientation": ("angle",),
        "angular_velocity": ("omega",), "moment": ("mz",),
    }  # fmt: skip
    return PowerPort(**{**names, **changes})


def told_port(**changes):
    """The same port of the body that is told motions."""
    return port(acceleration=("pax", "pay"), angular_acceleration=("alpha",), **changes)


def told(*defines, saves=True):
    """The file of the same body the other way round: motion goes in, force and moment come out."""
    return rigid("TOLD_MOTION", *defines, saves=saves)


def led(*defines, saves=True):
    """The same body whose port is told where it goes, and how it is turned by a moment: force and angle come out."""
    return rigid("LED_PLACE", *defines, saves=saves)


def led_port(**changes):
    """Its one port."""
    return port(acceleration=("pax", "pay"), **changes)


def rigid(*defines, saves=True):
    """The file of one; `defines` let it misbehave, and `saves` says whether it gives its state."""
    pytest.importorskip("fmpy", reason="FMPy is not installed; pip install -e '.[fmi]'")
    if shutil.which("gcc") is None:
        pytest.skip("there is no gcc to make an FMU with")
    return _made(defines, saves)


@functools.cache
def _made(defines, saves):
    about = description(saves, int("EVENTS" in defines))
    if {"TOLD_MOTION", "LED_PLACE"} & set(defines):
        about = told_description(saves, place_alone="LED_PLACE" in defines)
    options = [*(f"-D{define}" for define in defines), "-lm"]
    return compiled(SOURCE, options, about, "binaries/linux64/rigid.so")


@functools.cache
def arrays(**numbers):
    """A file of FMI 3 with arrays, x' = A u of three numbers, in units of its own; `numbers` of its description."""
    pytest.importorskip("fmpy", reason="FMPy is not installed; pip install -e '.[fmi]'")
    if shutil.which("gcc") is None:
        pytest.skip("there is no gcc to make an FMU with")
    machine = {"amd64": "x86_64", "arm64": "aarch64"}.get(platform.machine().lower(), platform.machine().lower())
    about = ARRAYS.format(**{"once": "false", **numbers})
    return compiled(SOURCE.with_name("arrays.c"), [], about, f"binaries/{machine}-linux/arrays.so")


def compiled(source, options, about, inside):
    """The file of an FMU: its description, and code compiled from C."""

    def make(path):
        library = path.with_suffix(".so")
        subprocess.run(["gcc", "-O2", "-shared", "-fPIC", str(source), "-o", str(library), *options], check=True)
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("modelDescription.xml", about)
            archive.write(library, inside)

    digest = hashlib.sha256(repr((options, about)).encode()).hexdigest()
    return str(made_once(f"{digest[:16]}/{source.stem}.fmu", make))


ARRAYS = """<?xml version="1.0" encoding="UTF-8"?>
<fmiModelDescription fmiVersion="3.0" modelName="arrays" instantiationToken="arrays">
<CoSimulation modelIdentifier="arrays" canHandleVariableCommunicationStepSize="true"
 canBeInstantiatedOnlyOncePerProcess="{once}"/>
<UnitDefinitions>
<Unit name="mm"><BaseUnit m="1" factor="0.001"/></Unit><Unit name="mm/s"><BaseUnit m="1" s="-1" factor="0.001"/></Unit>
<Unit name="degC"><BaseUnit K="1" offset="273.15"/></Unit><Unit name="K"><BaseUnit K="1"/></Unit>
</UnitDefinitions>
<ModelVariables>
<Float64 name="time" valueReference="0" causality="independent" variability="continuous"/>
<UInt64 name="n" valueReference="1" causality="structuralParameter" variability="fixed" start="3"/>
<Float64 name="u" valueReference="2" causality="input" unit="mm/s" start="1 2 3"><Dimension valueReference="1"/></Float64>
<Float64 name="x" valueReference="3" causality="output" unit="mm" initial="calculated"><Dimension valueReference="1"/></Float64>
<Float64 name="A" valueReference="4" causality="parameter" variability="fixed" start="1 0 0 0 1 0 0 0 1"><Dimension start="3"/>
<Dimension start="3"/></Float64>
<Float64 name="air" valueReference="5" causality="input" unit="degC" start="20"/>
<Float64 name="warmth" valueReference="6" causality="output" unit="degC" initial="calculated"/>
<Float64 name="rise" valueReference="7" causality="output" unit="K" initial="calculated"/>
<Float64 name="speed" valueReference="8" causality="output" unit="mm/s" initial="calculated"><Dimension start="3"/></Float64>
<Int16 name="gear" valueReference="9" causality="input" variability="discrete" start="1"/>
<Boolean name="open" valueReference="10" causality="input" variability="discrete" start="true"/>
<UInt64 name="steps" valueReference="11" causality="output" variability="discrete" initial="calculated"/>
<Boolean name="forth" valueReference="12" causality="output" variability="discrete" initial="calculated"/>
</ModelVariables>
<ModelStructure><Output valueReference="3"/><Output valueReference="6"/><Output valueReference="7"/><Output valueReference="8"/>
<Output valueReference="11"/><Output valueReference="12"/>
<InitialUnknown valueReference="3"/><InitialUnknown valueReference="6"/><InitialUnknown valueReference="7"/>
<InitialUnknown valueReference="8"/>
<InitialUnknown valueReference="11"/><InitialUnknown valueReference="12"/></ModelStructure>
</fmiModelDescription>"""


def description(saves, indicators):
    lines, truth = [], str(saves).lower()
    for k, name in enumerate(STATES):
        lines.append(_scalar(name, k, 'causality="local" initial="exact"', 'start="0"'))
    for k, name in enumerate(STATES):
        lines.append(_scalar(f"der({name})", 100 + k, 'causality="local"', f'derivative="{k + 1}"'))
    lines += [_scalar(name, k, 'causality="input"', 'start="0"') for name, k in INPUTS.items()]
    for name, k in PARAMETERS.items():
        start = f'start="{DEFAULTS.get(name, 0.0)}"'
        lines.append(_scalar(name, k, 'causality="parameter" variability="tunable" initial="exact"', start))
    lines += [_scalar(name, k, 'causality="output"', "") for name, k in OUTPUTS.items()]
    lines += [_scalar(name, k, 'causality="output"', "", kind) for name, k, kind in DISCRETE_OUTPUTS]
    first = 2 * len(STATES) + len(INPUTS) + len(PARAMETERS) + 1
    outputs = "".join(f'<Unknown index="{first + k}"/>' for k in range(len(OUTPUTS) + len(DISCRETE_OUTPUTS)))
    discrete = 'causality="input" variability="discrete"'
    lines += [_scalar(name, k, discrete, f'start="{start}"', kind) for name, k, kind, start in DISCRETE_INPUTS]
    slopes = "".join(f'<Unknown index="{len(STATES) + 1 + k}"/>' for k in range(len(STATES)))
    states = f'canGetAndSetFMUstate="{truth}" canSerializeFMUstate="{truth}"'
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<fmiModelDescription fmiVersion="2.0" modelName="rigid" guid="rigid" numberOfEventIndicators="{indicators}">
<ModelExchange modelIdentifier="rigid" completedIntegratorStepNotNeeded="true" {states}/>
<CoSimulation modelIdentifier="rigid" canHandleVariableCommunicationStepSize="true" {states}/>
<ModelVariables>{"".join(lines)}</ModelVariables>
<ModelStructure><Outputs>{outputs}</Outputs><Derivatives>{slopes}</Derivatives>
<InitialUnknowns>{slopes}{outputs}</InitialUnknowns></ModelStructure>
</fmiModelDescription>"""


def told_description(saves, *, place_alone):
    truth = str(saves).lower()
    told = [(k, name) for k, name in enumerate(TOLD) if not place_alone or name not in ("angle", "omega", "alpha")]
    lines = [_scalar(name, 30 + k, 'causality="input"', 'start="0"') for k, name in told]
    if place_alone:
        lines.append(_scalar("mz", INPUTS["mz"], 'causality="input"', 'start="0"'))
    for name, k in {**PARAMETERS, "stiffness": 27}.items():
        start = f'start="{DEFAULTS.get(name, 0.0)}"'
        lines.append(_scalar(name, k, 'causality="parameter" variability="tunable" initial="exact"', start))
    shown = [(name, 40 + k) for k, name in enumerate(SHOWN) if not (place_alone and name == "mz")]
    shown += [(name, OUTPUTS[name]) for name in ("angle", "omega") if place_alone]
    first = len(lines) + 1
    lines += [_scalar(name, k, 'causality="output"', "") for name, k in shown]
    outputs = "".join(f'<Unknown index="{first + k}"/>' for k in range(len(shown)))
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<fmiModelDescription fmiVersion="2.0" modelName="rigid" guid="rigid" numberOfEventIndicators="0">
<CoSimulation modelIdentifier="rigid" canHandleVariableCommunicationStepSize="true" canGetAndSetFMUstate="{truth}"
 canSerializeFMUstate="{truth}"/>
<ModelVariables>{"".join(lines)}</ModelVariables>
<ModelStructure><Outputs>{outputs}</Outputs><InitialUnknowns>{outputs}</InitialUnknowns></ModelStructure>
</fmiModelDescription>"""


def _scalar(name, reference, attributes, of_kind, kind="Real"):
    return f'<ScalarVariable name="{name}" valueReference="{reference}" {attributes}><{kind} {of_kind}/></ScalarVariable>\n'
