"""A simulation that goes on as another: other settings, other descriptions, other names, and the same motion."""

import numpy as np
import pytest

import scenarios
from components import Distance, Fixed, PointMassRod, Revolute, RigidBody, Rod, Spherical, SpringDamper
from coordinator import Glued, Mixed, Penalty, Relaxed, Shannon, Simulation
from coordinator.continuation.reconfigure import with_body, with_names, with_settings
from foreign import Particle
from modular import Assembly, CouplingError, Crossing, Cut, Limit, ModelError


def moved(model="double-pendulum", dt=1e-4, until=0.3, coupling=None):
    given = scenarios.load(model) if isinstance(model, str) else model
    simulation = Simulation(given, dt, coupling or Penalty())
    simulation.run(until)
    return simulation


def tip(simulation):
    return simulation.port_motion("lower.end")[0]


TRUE = {}


def true_tip(until):
    """With steps so small that what is left is of no account here."""
    if until not in TRUE:
        with Simulation(scenarios.load("double-pendulum"), 1e-4, Glued(6)) as simulation:
            simulation.run(until)
            TRUE[until] = tip(simulation).copy()
    return TRUE[until]


@pytest.mark.parametrize("factor", [0.5, 2.0])
def test_a_step_that_changes_on_the_way_keeps_the_order(factor):
    errors = []
    for dt in (1e-3, 5e-4, 2.5e-4):
        simulation = with_settings(moved(dt=dt, until=0.5), dt=factor * dt)
        simulation.run(1.0)
        errors.append(np.linalg.norm(tip(simulation) - true_tip(1.0)))
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert np.abs(orders - 2.0).max() < 0.3


def test_a_step_that_changes_between_two_of_its_ticks_keeps_the_clock_and_the_order():
    errors = []
    for dt in (1e-3, 1e-3 / 3, 1e-3 / 9):
        before = moved(dt=dt, until=0.501)
        time, place = before.time, tip(before).copy()
        simulation = with_settings(before, dt=0.8 * dt, still=True)
        assert simulation.time == pytest.approx(time, abs=1e-15)
        assert 0.2 < simulation.time / simulation.dt % 1.0 < 0.8
        np.testing.assert_allclose(tip(simulation), place, atol=100 * dt**2)  # gaps of springs are closed
        simulation.step()
        assert simulation.time == simulation.tick * simulation.dt > time
        simulation.run(1.0)
        errors.append(np.linalg.norm(tip(simulation) - true_tip(1.0)))
    orders = np.log(np.array(errors[:-1]) / errors[1:]) / np.log(3.0)
    assert np.abs(orders - 2.0).max() < 0.3


PAIRS = [
    (Penalty(), Glued()),
    (Glued(4), Penalty()),
    (Penalty(), Relaxed()),
    (Glued(), Mixed(joints={"elbow": "penalty"})),
    (Mixed(joints={"pivot": "penalty"}), Penalty(rule=Shannon(delta=0.2))),
    (Penalty(), Penalty(guard=True)),
]


@pytest.mark.short(2)
@pytest.mark.parametrize(("first", "second"), PAIRS, ids=[f"{type(a).__name__}-{type(b).__name__}" for a, b in PAIRS])
def test_another_coupling_goes_on_with_the_same_motion(first, second):
    before = moved(coupling=first, dt=2e-4)
    energy, load = before.recorded.energy[-1], before.recorded.reaction("pivot")[-1]
    place = tip(before).copy()
    after = with_settings(before, coupling=second)
    np.testing.assert_allclose(tip(after), place, atol=1e-6)
    assert after.recorded.energy[0] == pytest.approx(energy, abs=2e-5)
    np.testing.assert_allclose(after.recorded.reaction("pivot")[0], load, rtol=2e-3)
    after.run(0.6)
    np.testing.assert_allclose(tip(after), true_tip(0.6), atol=2e-4)


def test_a_coupling_that_cannot_be_leaves_everything_as_it_was():
    model = Assembly(gravity=(0.0, -9.81))
    model.add("box", Particle(1.3, (0.0, 0.0), (0.2, 0.0)))
    simulation = Simulation(model, 1e-3)
    simulation.run(0.1)
    with pytest.raises(CouplingError, match="box"):
        with_settings(simulation, coupling=Glued())
    simulation.run(0.2)
    again = Simulation(model, 1e-3)
    again.run(0.2)
    assert simulation.recorded.digest == again.recorded.digest


def test_gravity_changes_what_falls():
    simulation = moved(dt=1e-3)
    simulation.cut("pivot")
    free = with_settings(simulation, gravity=(2.0, 0.5))
    free.run(0.5)
    run = free.recorded
    centre = (run.mass_centre("upper") * 1.5 + run.mass_centre("lower") * 1.5) / 3.0
    acceleration = np.diff(centre, 2, axis=0) / 1e-6
    np.testing.assert_allclose(acceleration, np.tile([2.0, 0.5], (len(acceleration), 1)), atol=1e-5)


def test_a_body_keeps_its_motion_when_its_mass_changes():
    before = moved()
    states = {name: [x[-1] for x in before.recorded.state(name)[:2]] for name in ("upper", "lower")}
    body = before.assembly.bodies["upper"]
    after = with_body(before, "upper", body.adjusted({"mass_at_end": 2.5}))
    for name, (q, v) in states.items():
        np.testing.assert_array_equal(after.recorded.state(name)[0][0], q)
        np.testing.assert_allclose(after.recorded.state(name)[1][0], v, atol=1e-9)
    gained = 0.5 * 2.0 * np.sum(states["upper"][1][1] ** 2) + 2.0 * 9.81 * states["upper"][0][1][1]
    assert after.recorded.energy[0] - before.recorded.energy[-1] == pytest.approx(gained, rel=1e-9)
    after.run(0.6)
    energy = after.recorded.energy
    assert np.ptp(energy) < 1e-4 * np.abs(energy).max()


def test_a_longer_rod_takes_along_what_hangs_on_it():
    before = moved()
    pivot, elbow = before.recorded.position("upper.start")[-1], before.recorded.position("upper.end")[-1]
    turning = before.recorded.velocity("upper.end")[-1]
    hanging = before.recorded.position("lower.end")[-1] - elbow
    after = with_body(before, "upper", before.assembly.bodies["upper"].adjusted({"length": 1.6}))
    run = after.recorded
    np.testing.assert_allclose(run.position("upper.start")[0], pivot, atol=1e-12)
    np.testing.assert_allclose(run.position("upper.end")[0], pivot + 1.6 * (elbow - pivot), atol=1e-6)
    np.testing.assert_allclose(run.velocity("upper.end")[0], 1.6 * turning, atol=1e-4)
    np.testing.assert_allclose(run.position("lower.end")[0] - run.position("lower.start")[0], hanging, atol=1e-6)
    for joint in ("pivot", "elbow"):
        np.testing.assert_allclose(run.violation(joint)[0], before.recorded.violation(joint)[-1], atol=1e-12)
    after.run(0.8)
    assert np.ptp(after.recorded.energy) < 1e-3
    assert np.abs(after.recorded.violation("elbow")).max() < 1e-5


def test_a_rod_in_a_loop_cannot_be_made_longer():
    simulation = moved("slider-crank", until=0.05)
    body = simulation.assembly.bodies["rod"]
    with pytest.raises(ModelError, match="Cut one of them first"):
        with_body(simulation, "rod", body.adjusted({"length": 2.0}))
    model = Assembly(gravity=(0.0, -9.81))
    model.add("a", Rod((0, 0), (1, 0), mass=1.0))
    model.add("b", Rod((1, 0), (1, -1), mass=1.0))
    for name, ports in (
        ("left", ("ground", "a.start")),
        ("elbow", ("a.end", "b.start")),
        ("foot", ("ground", "b.end")),
    ):
        model.join(name, Revolute(), *ports)
    closed = moved(model, until=0.01, dt=1e-3)
    with pytest.raises(ModelError, match="joints 'left' and 'elbow'"):
        with_body(closed, "a", closed.assembly.bodies["a"].adjusted({"length": 1.2}))


def test_marks_off_the_ports_stay_where_they_are_in_a_body():
    model = Assembly(gravity=(0.0, -9.81))
    model.add("bar", Rod((0, 0), (2, 0), mass=1.0))
    model.add("plate", RigidBody(mass=1.0, inertia=0.2, centre=(1.0, 0.4), ports={"rim": (1.0, 0.8)}))
    model.join("nail", Revolute(), "ground", "bar.start", at=(0.5, 0.0))
    model.join("hold", Fixed(), "bar.start", "plate.rim", at=(1.0, 0.0))
    before = moved(model, dt=1e-3, until=0.3, coupling=Glued())
    plate = before.recorded.position("plate.rim")[-1]
    after = with_body(before, "bar", before.assembly.bodies["bar"].adjusted({"mass": 3.0, "length": 3.0}))
    np.testing.assert_allclose(after.recorded.position("plate.rim")[0], plate, atol=1e-9)
    after = with_body(after, "plate", after.assembly.bodies["plate"].adjusted({"mass": 0.3, "inertia": 0.05}))
    np.testing.assert_allclose(after.recorded.position("plate.rim")[0], plate, atol=1e-9)
    after.run(1.0)
    assert np.abs(after.recorded.violation("hold")).max() < 1e-9
    assert np.ptp(after.recorded.energy) < 1e-3


def test_a_spatial_body_can_be_adjusted_and_its_joints_hold():
    model = scenarios.load("double-pendulum-3d")
    before = moved(model, dt=1e-3, until=0.2, coupling=Glued())
    name = next(iter(model.bodies))
    body = before.assembly.bodies[name]
    numbers = {key: 1.3 * value for key, value in body.adjustable().items() if key != "radius"}
    after = with_body(before, name, body.adjusted(numbers))
    after.run(0.6)
    for joint in after.assembly.joints:
        assert np.abs(after.recorded.violation(joint)).max() < 1e-9
    assert np.ptp(after.recorded.energy) < 1e-3 * max(1.0, np.abs(after.recorded.energy).max())


def test_names_are_nothing_but_names():
    def turned(names):
        simulation = moved(scenarios.load("double-pendulum"), dt=1e-3)
        simulation.apply("spring", SpringDamper(20.0, 0.3), "upper.start", "lower.end")
        simulation.run(0.4)
        found = with_names(simulation, names)
        found.run(0.7)
        return found

    plain = turned({})
    other = turned({"upper": "arm", "elbow": "knee", "spring": "muscle"})
    assert other.assembly.joints == ("pivot", "knee")
    assert list(other.assembly.bodies) == ["arm", "lower"]
    np.testing.assert_array_equal(plain.recorded.state("upper")[0], other.recorded.state("arm")[0])
    np.testing.assert_array_equal(plain.recorded.reaction("elbow"), other.recorded.reaction("knee"))
    np.testing.assert_array_equal(plain.recorded.work("spring"), other.recorded.work("muscle"))


def test_a_name_that_events_speak_of_stays():
    simulation = Simulation(scenarios.load("cut-double-pendulum"), 1e-3)
    simulation.run(0.1)
    with pytest.raises(ModelError, match="an event of the model refers to it"):
        with_names(simulation, {"elbow": "knee"})
    simulation.run(0.6)
    assert "elbow" not in with_names(simulation, {"lower": "arm"}).assembly.joints


def test_events_and_limits_go_on_waiting():
    model = scenarios.load("double-pendulum")
    model.at(0.4, Cut("elbow"))
    model.when(Crossing("lower.end", "y", -1.5), Cut("pivot"))
    plain = moved(model, dt=1e-3, until=0.8)
    other = with_settings(moved(model, dt=1e-3, until=0.2), gravity=(0.0, -9.81))
    other.run(0.8)
    assert [(e["kind"], e["name"], e["tick"]) for e in plain.events] == [
        (e["kind"], e["name"], e["tick"]) for e in other.events if e["kind"] != "went on"
    ]
    limited = moved(scenarios.load("double-pendulum"), dt=1e-3, until=0.2)
    limited.limit("elbow", Limit(force=25.0))
    limited.run(0.25)
    after = with_settings(limited, dt=5e-4)
    after.run(2.0)
    assert any(event["kind"] == "break" for event in after.events)


def test_ledgers_go_on():
    before = moved(dt=1e-3)
    ledger = before.ledger("elbow")
    for after in (with_names(before, {"upper": "arm"}),):
        found = after.ledger("elbow")
        for line in ("work_first", "work_second", "dissipated"):
            assert found[line] == pytest.approx(ledger[line], abs=1e-12)


def test_a_joint_of_another_kind_keeps_its_marks():
    model = Assembly(gravity=(0.0, 0.0, -9.81))
    model.add("a", Rod((0, 0, 0), (1, 0, 0), 1.0, 0.02))
    model.add("b", PointMassRod((1, 0.5, 0), (1, 1.5, 0), (0.4, 0.6)))
    model.join("ball", Spherical(), "ground", "a.start")
    model.join("link", Distance(), "a.end", "b.start")
    before = moved(model, dt=1e-3, until=0.3, coupling=Glued())
    after = with_body(before, "a", before.assembly.bodies["a"].adjusted({"mass": 0.5}))
    after.run(0.6)
    gap = np.linalg.norm(after.recorded.position("a.end") - after.recorded.position("b.start"), axis=1)
    np.testing.assert_allclose(gap, 0.5, atol=1e-9)
