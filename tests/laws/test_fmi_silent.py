"""What FMUs would answer wrongly without a word: right, or told in a sentence."""

import re
import zipfile

import numpy as np
import pytest

import made_fmus
from components.fmi import Fmu, FmuNetwork
from components.fmi.stepper import Stepper
from modular import ModelError

H = 1e-3
GIVEN = {"x": 1.5, "arm": -0.5, "spin": 5.0, "vy": -1.5}


def ran(*defines, steps=60, saves=True, file=None, given=GIVEN, port=None, **more):
    """The rigid body of a stranger under a force for some steps."""
    port = port or made_fmus.port()
    body = Fmu(
        file or made_fmus.rigid(*defines, saves=saves), ports={"tip": port}, dimension=2, parameters=given, **more
    )
    unit = Stepper("it", body)
    unit.dt = H
    unit.measure(H)
    for _ in range(steps):
        unit.advance(np.array([1.0, 2.0, 0.3]), H)
    return unit


def in_units(folder, *defines, definitions="", **units):
    """A file whose variables declare units."""
    file = folder / "units.fmu"
    with zipfile.ZipFile(made_fmus.rigid(*defines)) as given, zipfile.ZipFile(file, "w") as archive:
        for name in given.namelist():
            data = given.read(name)
            if name.endswith(".xml"):
                text = data.decode()
                for variable, unit in units.items():
                    text, count = re.subn(rf'(name="{variable}"[^>]*>)<Real ', rf'\1<Real unit="{unit}" ', text)
                    assert count == 1
                text = text.replace(
                    "<ModelVariables>", f"<UnitDefinitions>{definitions}</UnitDefinitions><ModelVariables>"
                )
                data = text.encode()
            archive.writestr(name, data)
    return str(file)


@pytest.mark.parametrize("saves", [True, False])
def test_velocities_that_are_no_rates_of_places_are_told(saves):
    """Axes of the body, and radians beside degrees, along a way of some steps; what belongs together stays."""
    assert ran(saves=saves, steps=300).ticks == 300
    with pytest.raises(ModelError, match=r"the velocity that its FMU shows at port 'tip' is not the rate of its place"):
        ran("BODY_AXES", saves=saves, steps=300)
    with pytest.raises(
        ModelError, match=r"the angular velocity that .* is not the rate of its orientation: after 20 steps"
    ):
        ran("IN_DEGREES", saves=saves)


def test_a_body_that_rests_shows_no_way_to_be_wrong_about():
    """Held against its weight: rounding is no motion."""
    body = Fmu(made_fmus.rigid(), ports={"tip": made_fmus.port()}, dimension=2, parameters={"arm": 0.0})
    unit = Stepper("it", body)
    unit.dt = H
    unit.reevaluate(np.array([0.0, 1.3 * 9.81, 0.0]))
    for _ in range(30):
        unit.advance(np.array([0.0, 1.3 * 9.81, 0.0]), H)
    assert np.abs(unit.twist).max() < 1e-12


def test_units_that_everybody_knows_need_no_definition_and_others_are_refused(tmp_path):
    known = in_units(tmp_path, "IN_DEGREES", angle="deg", pvx="m/s", mz="N.m", kinetic="J", omega="rad/s")
    assert np.abs(ran(file=known).pose - ran().pose).max() < 1e-12
    with pytest.raises(ModelError, match="position 'px' is given in 'furlong', which the FMU does not define"):
        ran(file=in_units(tmp_path, px="furlong"))
    with pytest.raises(ModelError, match="position 'px' is given in deg, which is no unit of position"):
        ran(file=in_units(tmp_path, px="deg"))
    counted = in_units(tmp_path, omega="Hz", definitions='<Unit name="Hz"><BaseUnit s="-1"/></Unit>')
    with pytest.raises(ModelError, match="given in Hz, which the FMU defines as 1/s without 'rad'"):
        ran(file=counted)
    with pytest.raises(ModelError, match=r"'omega' \(output, in rad/s\) is no energy"):
        ran(file=in_units(tmp_path, omega="rad/s"), kinetic="omega")


def test_an_angle_that_begins_anew_after_a_turn_does_no_work():
    for angle in (0.0, 3.1):
        works = [ran(*defines, given={**GIVEN, "turn": angle}).work for defines in ((), ("WRAPPED",))]
        assert works[0] == pytest.approx(works[1], abs=1e-12)


def test_what_does_not_go_back_to_its_beginning_is_told():
    with pytest.raises(
        ModelError, match=r"stands 0.001 m or rad from where it stood, after it was reset and began again"
    ):
        ran("NO_RESET", saves=False, given={"spin": 5.0})


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"gear": 1.5}, r"parameter gear = 1.5; give a value of type Int32"),
        ({"gear": 2**31}, r"parameter gear = 2147483648; give"),
        ({"on": "false"}, r"parameter on = 'false'; give a value of type Boolean"),
        ({"on": 2}, r"parameter on = 2; give"),
        ({"mass": float("nan")}, r"parameter mass = nan; give"),
        ({"px": 3.0}, r"'px' is of causality output, and the FMU works it out itself"),
    ],
)
def test_parameters_are_of_their_types_and_what_is_worked_out_is_not_set(given, said):
    with pytest.raises(ModelError, match=said):
        ran(steps=0, given=given)


@pytest.mark.parametrize(
    "changes", [{"mass": 2.0}, {"exerts": True}, {"start": (0.0, 0.0)}], ids=["mass", "exerts", "start"]
)
def test_what_nobody_would_look_at_is_refused(changes):
    with pytest.raises(ModelError, match=f"{next(iter(changes))} = .* is for ports that are told motions"):
        ran(steps=0, port=made_fmus.port(**changes))


def test_steps_are_whole_numbers_of_those_within():
    file = made_fmus.arrays(once='false" fixedInternalStepSize="0.1')
    assert len(FmuNetwork(files={"one": file}).run(0.6, 0.2, ["one.warmth"])[0]) == 4
    with pytest.raises(ModelError, match=r"takes steps of 0.1 s within .* one of 0.25 s"):
        FmuNetwork(files={"one": file}).run(0.5, 0.25, ["one.warmth"])


def test_an_event_that_comes_and_goes_within_a_step_is_found():
    """Thrown up through the floor it lands on it before the step is over, and bounces: y = |v t - g t^2 / 2| of later."""
    given = {"ball.y": -0.1, "ball.vy": 2.0, "ball.floor": 0.0}
    network = FmuNetwork({"ball": made_fmus.rigid("EVENTS")}, parameters=given, interface="model exchange")
    time, found = network.run(0.6, 0.6, ["ball.py"])
    speed = np.sqrt(2.0**2 - 2 * 9.81 * 0.1)  # at the floor, up and down
    left = time[-1] - (2.0 + speed) / 9.81
    assert found[-1, 0] == pytest.approx(speed * left - 0.5 * 9.81 * left**2, abs=1e-9)
