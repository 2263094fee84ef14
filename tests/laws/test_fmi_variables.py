"""Variables of FMUs: arrays by their elements, units with an offset, connections that fit; each against a closed form."""

import zipfile

import numpy as np
import pytest

import made_fmus
from components import Fmu, NewtonEulerBody, Revolute
from components.fmi import FmuNetwork
from coordinator import Penalty, Simulation
from modular import Assembly, Crossing, Cut, ModelError

pytest.importorskip("fmpy", reason="FMPy is not installed; pip install -e '.[fmi]'")


def ran(outputs, members=("one",), **more):
    return FmuNetwork(files=dict.fromkeys(members, made_fmus.arrays()), **more).run(1.0, 0.25, outputs)


def test_elements_of_arrays_are_asked_for_and_told_one_by_one():
    """x' = A u: elements of `u` that nobody tells stay as the file says; numbers are in SI units, the FMU's in millimetres."""
    time, found = ran(["one.x[3]", "one.x[1]"], parameters={"one.A[1,2]": 4.0, "one.u[3]": 7e-3})
    assert found == pytest.approx(1e-3 * np.outer(time, [7.0, 1.0 + 4.0 * 2.0]), abs=1e-15)


def test_elements_that_several_tell_do_not_undo_each_other():
    """Two connections into one array, told one after the other; the element between them stays as the file says."""
    wires = {"two.u[1]": "one.speed[3]", "two.u[3]": "one.speed[2]"}
    time, found = ran([f"two.x[{k}]" for k in (1, 2, 3)], ("one", "two"), connections=wires)
    assert found == pytest.approx(1e-3 * np.outer(time, [3.0, 2.0, 2.0]), abs=1e-15)


def test_degrees_celsius_are_kelvins():
    """20 degrees are 293.15 K, also from one FMU into another; a connector in kelvins without offset is told the same."""
    _, found = ran(["one.warmth", "two.warmth"], ("one", "two"), connections={"two.air": "one.warmth"})
    assert found == pytest.approx(np.full((5, 2), 293.15), abs=1e-12)
    _, found = ran(["one.warmth", "one.rise"], parameters={"one.air": 300.15})
    assert found == pytest.approx(np.tile([300.15, 27.0], (5, 1)), abs=1e-12)


def test_whole_numbers_and_booleans_are_shown_told_and_handed_on():
    """FMI 3: as parameters, outputs and connections; the second is driven by how many steps the first has taken."""
    wires = {"two.gear": "one.steps", "two.open": "one.forth"}
    given = {"one.gear": 3, "two.gear": 2}
    time, found = ran(
        ["one.x[1]", "one.steps", "one.forth", "two.x[1]"], ("one", "two"), connections=wires, parameters=given
    )
    steps = np.arange(5.0)
    assert np.array_equal(found[:, 1:3], np.column_stack([steps, np.ones(5)]))
    assert found[:, 0] == pytest.approx(3e-3 * time, abs=1e-15)
    assert found[:, 3] == pytest.approx(0.25e-3 * np.cumsum([0.0, *steps[:4]]), abs=1e-15)
    time, found = ran(["one.x[1]"], parameters={"one.open": False})
    assert not found.any()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"outputs": ["one.x"]}, r"'x' of 'arrays.fmu' is an array; name its elements, x\[1\] to x\[3\]"),
        ({"outputs": ["one.x[4]"]}, r"has no variable 'x\[4\]'; it has x\["),
        ({"parameters": {"one.n": 2}}, "'n' is a structural parameter.*it stays 3"),
        (
            {"connections": {"two.gear": "one.warmth"}},
            "'two.gear' is of type Int16, and 'one.warmth' of type Float64, which",
        ),
        (
            {"connections": {"two.open": "one.steps"}},
            "'two.open' is of type Boolean, and 'one.steps' of type UInt64, which",
        ),
        ({"parameters": {"one.gear": -1}}, "cannot take gear = -1"),
        ({"connections": {"two.u[1]": "one.warmth"}}, "'two.u.1.' is in mm/s, and 'one.warmth' in degC"),
        (
            {"connections": {"two.x[1]": "one.x[1]"}},
            r"'two.x\[1\]' \(output\) takes 'one.x\[1\]' \(output\); inputs take outputs",
        ),
        ({"connections": {"two.u[1]": "one.u[1]"}}, "inputs take outputs"),
    ],
)
def test_what_does_not_fit_is_refused(given, said):
    outputs = given.get("outputs", ["one.x[1]"])
    more = {key: value for key, value in given.items() if key != "outputs"}
    with pytest.raises(ModelError, match=said):
        ran(outputs, ("one", "two"), **more)


SSD = """<ssd:SystemStructureDescription xmlns:ssd="http://ssp-standard.org/SSP1/SystemStructureDescription"
 xmlns:ssc="http://ssp-standard.org/SSP1/SystemStructureCommon"
 xmlns:ssv="http://ssp-standard.org/SSP1/SystemStructureParameterValues" version="1.0" name="s"><ssd:System name="s"><ssd:Elements>
<ssd:Component name="one" source="arrays.fmu"><ssd:ParameterBindings><ssd:ParameterBinding><ssd:ParameterValues>
<ssv:ParameterSet version="1.0" name="p"><ssv:Parameters>{values}</ssv:Parameters><ssv:Units>
<ssc:Unit name="cm/s"><ssc:BaseUnit m="1" s="-1" factor="0.01"/></ssc:Unit>
<ssc:Unit name="K"><ssc:BaseUnit K="1"/></ssc:Unit></ssv:Units></ssv:ParameterSet>
</ssd:ParameterValues></ssd:ParameterBinding></ssd:ParameterBindings></ssd:Component>
<ssd:Component name="two" source="arrays.fmu"/></ssd:Elements><ssd:Connections>{wires}</ssd:Connections></ssd:System>
</ssd:SystemStructureDescription>"""
WIRE = '<ssd:Connection startElement="one" startConnector="speed[{}]" endElement="two" endConnector="u[{}]"/>'  # from, into


def from_ssp(folder, wires="", **values):
    """`values`: attributes of a real number, by the names of parameters with "u1" for "u[1]"."""
    named = "".join(
        f'<ssv:Parameter name="{name[0]}[{name[1]}]"><ssv:Real {given}/></ssv:Parameter>'
        if len(name) == 2
        else f'<ssv:Parameter name="{name}"><ssv:Real {given}/></ssv:Parameter>'
        for name, given in values.items()
    )
    with zipfile.ZipFile(folder / "s.ssp", "w") as archive:
        archive.writestr("SystemStructure.ssd", SSD.format(values=named, wires=wires))
        archive.write(made_fmus.arrays(), "arrays.fmu")
    return FmuNetwork.from_ssp(folder / "s.ssp")


def test_parameters_of_ssp_files_are_in_the_units_that_they_say(tmp_path):
    """Without one in that of the variable, as the standard has it; the FMU's are millimetres and degrees Celsius."""
    given = {
        "u1": 'value="5"',
        "u2": 'value="5" unit="mm/s"',
        "u3": 'value="5" unit="cm/s"',
        "air": 'value="300" unit="K"',
    }
    outputs = [*(f"one.speed[{k}]" for k in (1, 2, 3)), "one.warmth"]
    found = from_ssp(tmp_path, **given).run(0.5, 0.25, outputs)[1]
    assert found[-1] == pytest.approx([5e-3, 5e-3, 5e-2, 300.0], abs=1e-12)
    found = from_ssp(tmp_path, air='value="25"').run(0.5, 0.25, ["one.warmth"])[1]
    assert found[-1] == pytest.approx([298.15], abs=1e-12)


@pytest.mark.parametrize(
    ("given", "wires", "said"),
    [
        ({"u1": 'value="5" unit="K"'}, "", "given in 'K', which is of another kind than 'mm/s'"),
        ({"u1": 'value="5" unit="in/s"'}, "", "given in 'in/s', a unit that the file does not define"),
        ({}, WIRE.format(1, 2) + WIRE.format(3, 2), r"two connections go into 'two.u\[2\]'"),
    ],
)
def test_ssp_files_that_contradict_themselves_are_refused(given, wires, said, tmp_path):
    with pytest.raises(ModelError, match=said):
        from_ssp(tmp_path, wires, **given)


def test_one_that_may_be_there_once_is_not_there_twice():
    file = made_fmus.arrays(once="true")
    with pytest.raises(ModelError, match="canBeInstantiatedOnlyOncePerProcess, and runs in this process already"):
        FmuNetwork(files={"one": file, "two": file}).run(0.5, 0.25, ["one.warmth"])
    for _ in range(2):  # one after the other
        assert len(FmuNetwork(files={"one": file}).run(0.5, 0.25, ["one.warmth"])[0]) == 3


def test_small_states_are_integrated_as_well_as_large_ones_where_their_size_is_told():
    """v = f / d (1 - exp(-d t / m)), of the order of 1e-10 m/s: nothing, for whom states of one are the rule."""
    force, damping, mass = 1e-9, 40.0, 1.3
    given = {"gravity": 0.0, "fx": force, "damping": damping, "mass": mass}
    parameters = {f"one.{name}": value for name, value in given.items()}
    off = []
    for file in (made_fmus.rigid("NOMINAL=1e-10"), made_fmus.rigid()):
        network = FmuNetwork(files={"one": file}, interface="model exchange", parameters=parameters)
        time, found = network.run(0.5, 0.1, ["one.pvx"])
        exact = force / damping * (1.0 - np.exp(-damping * time / mass))
        off.append(float(np.abs(found[:, 0] - exact).max()) * damping / force)
    assert off[0] < 1e-9 and off[1] > 1e-8


def rewritten(folder, change):
    """The rigid body with other members: `change` of a name and its content gives both anew, or None."""
    file = folder / "other.fmu"
    with zipfile.ZipFile(made_fmus.rigid()) as given, zipfile.ZipFile(file, "w") as archive:
        for name in given.namelist():
            if (other := change(name, given.read(name))) is not None:
                archive.writestr(*other)
    return str(file)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            lambda name, data: (name.replace("linux64", "plan9"), data),
            r"does not run on this machine \(.*made for plan9\.",
        ),
        (lambda name, data: None if name.endswith(".xml") else (name, data), "is no FMU: it holds no modelDescription"),
        (lambda name, data: (name, data.replace(b'fmiVersion="2.0"', b'fmiVersion="1.0"')), "is of FMI 1.0; FMI 2 and"),
        (lambda name, data: (name, data[:900]), "cannot be read"),
    ],
)
def test_files_that_do_not_run_here_say_why(change, said, tmp_path):
    with pytest.raises(ModelError, match=said):
        FmuNetwork(files={"one": rewritten(tmp_path, change)}).run(0.1, 0.1, ["one.px"])


def test_one_that_takes_steps_of_one_length_is_asked_for_no_others(tmp_path):
    """An event between two ticks divides a step: refused, and what was recorded stays."""
    varies = b'canHandleVariableCommunicationStepSize="true"'
    file = rewritten(tmp_path, lambda name, data: (name, data.replace(varies, varies.replace(b"true", b"false"))))
    for path, even in ((made_fmus.rigid(), False), (file, True)):
        model = Assembly(gravity=(0.0, -9.81))
        model.add("body", Fmu(path, ports={"hub": made_fmus.port()}, dimension=2))
        model.add("weight", NewtonEulerBody(mass=1.0, inertia=0.1, centre=(0.0, 0.0), ports={"hub": (0.0, 0.0)}))
        model.join("pin", Revolute(), "body.hub", "weight.hub")
        model.when(Crossing("weight.hub", "y", -0.01), Cut("pin"))
        with Simulation(model, 1e-3, Penalty()) as simulation:
            if not even:
                assert simulation.run(0.1).events[0]["time"] == pytest.approx(0.0451, abs=2e-4)
                continue
            with pytest.raises(
                ModelError, match=r"is to take a step of .* after steps of 0.001 s; let events fall on ticks"
            ):
                simulation.run(0.1)
            assert len(simulation.recorded) >= 45
