"""Whole numbers and booleans as parameters and outputs of our own FMUs; what is asked for or told as another kind is refused."""

import shutil

import numpy as np
import pytest

import scenarios
from components import RigidBody
from components.fmi import FmuNetwork
from components.fmi.archive import opened
from components.fmi.instance import Instance
from coordinator import Penalty, Simulation
from modular import Assembly, Cut, ModelError
from scenarios.fmi.parameters import numbers_of
from scenarios.fmi.writing import export_fmu

pytest.importorskip("fmpy", reason="FMPy is not installed; pip install -e '.[fmi]'")

DT = 1e-3


@pytest.mark.short(1, each=True)
@pytest.mark.parametrize("version", [2, 3])
def test_whole_numbers_stay_whole_and_events_are_counted(version, tmp_path):
    """A chain of as many bodies as a master says, whose last joint is cut on the way."""
    from fmpy.validation import validate_fmu

    file = tmp_path / "chain.fmu"
    numbers = numbers_of("chain", {"bodies": 3, "radius": 1})
    assert numbers == {"bodies": 3, "radius": 1.0} and type(numbers["radius"]) is float
    model = scenarios.load("chain", bodies=3)
    export_fmu(
        model,
        file,
        DT,
        version=version,
        coupling=Penalty(),
        target="chain",
        settings={},
        parameters=numbers,
        watch=["rod0.end"],
    )
    assert validate_fmu(str(file)) == []
    outputs = [f"it.rod0.end.position.{axis}" for axis in "xyz"]
    _, found = FmuNetwork({"it": str(file)}, parameters={"it.bodies": 2, "it.radius": 0.01}).run(0.01, DT, outputs)
    with Simulation(scenarios.load("chain", bodies=2, radius=0.01), DT, Penalty()) as simulation:
        assert np.array_equal(found, simulation.run(0.01).position("rod0.end"))
    with pytest.raises(ModelError, match=r"parameter bodies = 2.5; give a value of type Int32"):
        FmuNetwork({"it": str(file)}, parameters={"it.bodies": 2.5}).run(0.01, DT, outputs)
    wrong = Instance(opened(file), "co-simulation", "wrong")
    reference = opened(file).variables["bodies"].reference
    verb = wrong.fmu.setReal if version == 2 else wrong.fmu.setFloat64
    with pytest.raises(Exception, match="failed with status"):
        verb([reference], [2.5])
    assert "variable 'bodies' is a whole number (Int32); set it as one" in str(wrong.error(""))
    wrong.lost = True  # what raises there is fatal
    wrong.close()

    model.at(4 * DT, Cut("ball2"))
    export_fmu(model, file, DT, version=version, coupling=Penalty(), watch=["rod0.end"])
    assert validate_fmu(str(file)) == []
    _, found = FmuNetwork({"it": str(file)}).run(0.006, DT, ["it.events", "it.ball2.holds", "it.ball1.holds"])
    assert found[0].tolist() == [0, 1, 1] and found[-1].tolist() == [1, 0, 1]


@pytest.mark.short(1, each=True)
@pytest.mark.skipif(not any(map(shutil.which, ("cc", "gcc", "clang"))), reason="there is no C compiler")
@pytest.mark.parametrize("version", [2, 3])
def test_a_native_fmu_says_what_its_variables_are(version, tmp_path):
    from scenarios.fmi.native_fmu import export_native

    file = tmp_path / "native.fmu"
    model = Assembly(gravity=(0.0, -9.81))
    model.add("stone", RigidBody(mass=1.3, inertia=0.2, centre=(0.2, 0.1), ports={"G": (0.2, 0.1)}))
    export_native(model, file, DT, version=version)
    one = Instance(opened(file), "co-simulation", "one")
    for verb in ("getInteger", "getBoolean") if version == 2 else ("getInt32", "getBoolean"):
        with pytest.raises(Exception, match="failed with status"):
            getattr(one.fmu, verb)([1])
        assert "variable 1 is a number" in str(one.error("")) and verb[3:] in str(one.error(""))
    one.close()
