"""What joints carry at rest, and what drives have to exert: closed forms, and what runs show."""

import warnings

import numpy as np
import pytest

from components import (
    DrivenRotation,
    Fixed,
    PointOnLine,
    Revolute,
    RigidBody,
    Rod,
    Sine,
    Smooth,
    Spherical,
    TorsionSpring,
)
from coordinator import Centralized, Simulation
from coordinator.analysis import equilibrium, inverse_dynamics, mobility, statics
from modular import Assembly, Crossing, Cut, ModelError

G = 9.81


def arm():
    """Two rods on hinges in the plane."""
    model = Assembly(gravity=(0.0, -G))
    model.add("upper", Rod((0.0, 0.0), (1.0, 0.0), 2.0))
    model.add("lower", Rod((1.0, 0.0), (1.8, 0.0), 1.5))
    model.join("shoulder", Revolute(), "ground", "upper.start")
    model.join("elbow", Revolute(), "upper.end", "lower.start")
    return model


# --- statics -----------------------------------------------------------------------------------------------------------------


def test_a_beam_on_two_supports_carries_its_weight_by_the_lever():
    model = Assembly(gravity=(0.0, -G))
    model.add("beam", RigidBody(mass=8.0, inertia=1.0, centre=(0.5, 0.0), ports={"a": (0.0, 0.0), "b": (2.0, 0.0)}))
    model.join("pin", Revolute(), "ground", "beam.a")
    model.join("roller", PointOnLine(axis=(1, 0)), "ground", "beam.b", at=(2.0, 0.0))
    found = statics(model)
    assert found.force("pin")[1] == pytest.approx(8.0 * G * 0.75, rel=1e-12)
    assert found.force("roller")[1] == pytest.approx(8.0 * G * 0.25, rel=1e-12)
    assert found.unique("pin") and found.steps == 0


@pytest.mark.parametrize("dimension", [2, 3])
def test_a_clamp_carries_weight_and_its_moment(dimension):
    model = Assembly(gravity=(0.0, -G, 0.0)[:dimension])
    ports = {"a": (0.0, 0.0, 0.0)[:dimension], "b": (1.0, 0.0, 0.0)[:dimension]}
    inertia = 0.1 if dimension == 2 else (0.1, 0.1, 0.1)
    model.add("beam", RigidBody(mass=3.0, inertia=inertia, centre=(0.4, 0.0, 0.0)[:dimension], ports=ports))
    model.join("wall", Fixed(), "ground", "beam.a")
    found = statics(model)
    assert found.force("wall")[1] == pytest.approx(3.0 * G, rel=1e-12)
    assert found.moment("wall")[-1] == pytest.approx(3.0 * G * 0.4, rel=1e-12)


def test_what_is_shared_is_told_and_the_smallest_holds():
    """A door on two balls and a third between them: what each carries along the line of all three no equation tells."""
    model = Assembly(gravity=(0.0, 0.0, -G))
    ports = {"low": (0.0, 0.0, 0.0), "high": (0.0, 0.0, 2.0)}
    model.add("door", RigidBody(mass=10.0, inertia=(1.0, 1.0, 1.0), centre=(0.0, 0.0, 1.0), ports=ports))
    model.join("low", Spherical(), "ground", "door.low")
    model.join("high", Spherical(), "ground", "door.high")
    found = statics(model)
    assert not found.unique("low") and found.sharing == mobility(model).sharing
    assert found.force("low")[2] == pytest.approx(5.0 * G, rel=1e-9)
    assert found.force("high")[2] == pytest.approx(5.0 * G, rel=1e-9)


def test_a_place_of_rest_is_found_and_whether_it_is_stable():
    model = Assembly(gravity=(0.0, -G))
    model.add("bar", Rod((0.0, 0.0), (2.0, 0.0), 6.0))
    model.join("pin", Revolute(), "ground", "bar.start")
    model.apply("spring", TorsionSpring(200.0, rest=0.5), "ground", "bar.start")
    rest = equilibrium(model)
    assert rest.stable and rest.moved > 0.1
    assert rest.reactions["pin"] == pytest.approx([0.0, 6.0 * G], abs=1e-8)
    with pytest.raises(ModelError, match="'bar' does not rest where it stands"):
        statics(model)
    with pytest.raises(ModelError, match="there is no joint 'pins'"):
        rest.statics.force("pins")


# --- inverse dynamics --------------------------------------------------------------------------------------------------------


def test_an_arm_asks_for_the_torques_of_its_equations():
    """M(q) q'' + h(q, q') + g(q) of two rods, by hand."""
    first, second = Sine(0.7, 2.0), Sine(-0.5, 3.0, 0.0)
    times = np.linspace(0.0, 2.0, 41)
    found = inverse_dynamics(arm(), {"shoulder": first, "elbow": second}, times)
    for k, t in enumerate(times):
        (a, da, dda), (b, db, ddb) = (course.at(t)[:, 0] - [course.at(0.0)[0, 0], 0, 0] for course in (first, second))
        m1, m2, l1, l2 = 2.0, 1.5, 1.0, 0.8
        r1, r2, i1, i2 = l1 / 2, l2 / 2, m1 * l1**2 / 12, m2 * l2**2 / 12
        c, s = np.cos(b), np.sin(b)
        m11 = i1 + m1 * r1**2 + i2 + m2 * (l1**2 + r2**2 + 2 * l1 * r2 * c)
        m12 = i2 + m2 * (r2**2 + l1 * r2 * c)
        m22 = i2 + m2 * r2**2
        h = m2 * l1 * r2 * s
        one = m11 * dda + m12 * ddb - h * (2 * da * db + db**2)
        one += (m1 * r1 + m2 * l1) * G * np.cos(a) + m2 * r2 * G * np.cos(a + b)
        two = m12 * dda + m22 * ddb + h * da**2 + m2 * r2 * G * np.cos(a + b)
        assert found.efforts["shoulder"][k] == pytest.approx(one, abs=1e-9)
        assert found.efforts["elbow"][k] == pytest.approx(two, abs=1e-9)


def test_a_run_that_is_led_the_same_way_shows_the_same():
    """As far as a run of a whole system knows its places and speeds."""
    model, motions = arm(), {"shoulder": Sine(0.7, 2.0, np.pi / 2), "elbow": Sine(-0.5, 3.0, np.pi / 2)}
    for joint, course in motions.items():
        edge = model.joint_edges[joint]
        model.join(f"{joint}-led", DrivenRotation(course), str(edge.first), str(edge.second))
    with Simulation(model, 1e-3, Centralized(), record_every=20) as simulation, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # courses that begin with a speed set it going
        run = simulation.run(0.2)
    found = inverse_dynamics(arm(), motions, run.time)
    for joint, effort in found.efforts.items():
        assert np.abs(effort - run.effort(f"{joint}-led")).max() < 5e-5 * np.abs(effort).max()
        there = run.reaction(joint)[:, :2]
        assert np.abs(found.reactions[joint][:, :2] - there).max() < 5e-5 * np.abs(there).max()


@pytest.mark.campaign
def test_work_is_what_the_mechanism_has_more():
    rise = Smooth((0.0, 0.5, 1.0), (0.0, 0.4, 0.9))
    times = np.linspace(0.0, 1.0, 2001)
    found = inverse_dynamics(arm(), {"shoulder": rise, "elbow": 0.0 * times}, times)
    height = 2.0 * 0.5 * np.sin(0.9) + 1.5 * 1.4 * np.sin(0.9)
    assert found.work("shoulder")[-1] == pytest.approx(G * height, rel=1e-5)
    assert found.power("elbow") == pytest.approx(np.zeros(2001), abs=1e-12)


def test_efforts_are_written_as_a_table(tmp_path):
    times = np.linspace(0.0, 1.0, 5)
    found = inverse_dynamics(arm(), {"shoulder": 0.1 * times**2, "elbow": 0.0 * times}, times)
    path = found.save(tmp_path / "efforts.csv")
    assert '"shoulder: effort"' in path.read_text().splitlines()[0]
    assert np.loadtxt(path, delimiter=",", skiprows=1)[:, 2] == pytest.approx(found.efforts["shoulder"], rel=1e-15)


@pytest.mark.parametrize(
    ("motions", "times", "words"),
    [
        ({"shoulder": Sine(0.1, 1.0)}, [0.0, 0.1], "nothing leads these motions: 'lower' turns"),
        ({"wrist": Sine(0.1, 1.0)}, [0.0], "there is no joint 'wrist'"),
        ({"shoulder": [0.0, 1.0, 2.0]}, [0.0, 0.1], "as many finite values as there are times"),
        ({"shoulder": [0.0, 1.0]}, [0.5, 0.6], "give times from 0"),
        ({}, [0.1, 0.0], "at least one time"),
    ],
)
def test_what_cannot_be_asked_is_refused_with_what_can(motions, times, words):
    with pytest.raises(ModelError, match=words):
        inverse_dynamics(arm(), motions, times)


def test_efforts_beyond_an_event_of_the_model_are_refused_and_those_before_it_are_not():
    """A load that is taken up on the way would not be felt: efforts from then on are of another model."""
    model, motions = arm(), {"shoulder": Sine(0.1, 1.0), "elbow": Sine(0.1, 1.0)}
    model.at(0.3, Cut("elbow"))
    found = inverse_dynamics(model, motions, [0.0, 0.29])
    np.testing.assert_array_equal(
        found.efforts["elbow"], inverse_dynamics(arm(), motions, [0.0, 0.29]).efforts["elbow"]
    )
    with pytest.raises(ModelError, match=r"the first at 0\.3 s, .* end before it \(on the command line --until\)"):
        inverse_dynamics(model, motions, [0.0, 0.3])
    model.schedule.clear()
    model.when(Crossing("lower.end", "y", -0.5), Cut("elbow"))
    with pytest.raises(ModelError, match=r"events, on conditions, and only runs carry them out; give a copy"):
        inverse_dynamics(model, motions, [0.0, 0.1])


def test_a_motion_out_of_reach_names_the_joint_that_opens():
    model = arm()
    model.add("tie", Rod((1.8, 0.0), (1.8, 0.5), 0.1))
    model.join("tip", Revolute(), "lower.end", "tie.start")
    model.join("foot", Revolute(), "ground", "tie.end")
    times = np.linspace(0.0, 1.0, 21)
    with pytest.raises(ModelError, match=r"cannot follow: '.*' stays open"):
        inverse_dynamics(model, {"shoulder": -3.0 * times}, times)


def test_who_shares_loads_is_told_of_where_it_rests_and_not_of_where_it_was_put():
    """A parallelogram laid flat stands at its dead centre, where its joints share; where it hangs they do not."""
    model = Assembly(gravity=(0.0, -G))
    for name, p, q in (("crank", 0.0, 1.0), ("coupler", 1.0, 3.0), ("rocker", 3.0, 2.0)):
        model.add(name, Rod((p, 0.0), (q, 0.0), 1.0))
    model.join("a", Revolute(), "ground", "crank.start")
    model.join("b", Revolute(), "crank.end", "coupler.start")
    model.join("c", Revolute(), "coupler.end", "rocker.start")
    model.join("d", Revolute(), "ground", "rocker.end")
    found = statics(model, seek=True)
    assert mobility(model).sharing and found.steps > 0
    assert found.sharing == [] and found.unique("a")
    assert found.force("a")[1] + found.force("d")[1] == pytest.approx(3.0 * G, rel=1e-9)
