"""Ticks, events, refusals and divergence."""

import numpy as np
import pytest

import scenarios
import zoo
from components import Fixed, Load, PointMassRod, Prismatic, Revolute, RigidBody, Rod, SpringDamper, Table
from coordinator import Penalty, Shannon, Simulation, Stable
from coordinator.couplings.coupling import require
from modular import (
    Add,
    Apply,
    Assembly,
    CouplingError,
    Crossing,
    Cut,
    Diverged,
    InternalGains,
    Join,
    Limit,
    ModelError,
    Newmark,
    Remove,
)


def pendulum():
    return scenarios.load("double-pendulum")


def test_until_goes_to_the_nearest_tick_and_ticks_are_integers():
    with Simulation(pendulum(), 1e-3) as simulation:
        simulation.run(0.0104)
        assert simulation.tick == 10 and simulation.time == 0.01
        simulation.run(0.0106)
        assert simulation.tick == 11
        simulation.step()
        assert simulation.tick == 12 and len(simulation.recorded) == 13
        with pytest.raises(ModelError, match="only goes forward"):
            simulation.run(0.005)


def test_one_long_run_and_many_short_ones_give_the_same_bits():
    with Simulation(pendulum(), 1e-3) as simulation:
        whole = simulation.run(0.1)
    with Simulation(pendulum(), 1e-3) as simulation:
        for k in range(1, 11):
            simulation.run(0.01 * k)
        parts = simulation.recorded
    assert np.array_equal(whole.position("lower.end"), parts.position("lower.end"))
    assert np.array_equal(whole.ledger("elbow")["leaked"], parts.ledger("elbow")["leaked"])


@pytest.mark.parametrize("name", ["double-pendulum", "double-pendulum-3d", "chain"])
def test_components_in_stacks_or_each_on_its_own_give_the_same_bits(name):
    runs = []
    for grouped in (True, False):
        with Simulation(scenarios.load(name), 1e-3, grouped=grouped) as simulation:
            runs.append(simulation.run(0.2))
    for body in runs[0].bodies:
        for grouped, single in zip(runs[0].state(body), runs[1].state(body), strict=True):
            assert np.array_equal(grouped, single)
    for joint in runs[0].joints:
        assert np.array_equal(runs[0].reaction(joint), runs[1].reaction(joint))
        assert np.array_equal(runs[0].ledger(joint)["leaked"], runs[1].ledger(joint)["leaked"])


def test_the_simulation_works_on_its_own_copy_of_the_model():
    model = pendulum()
    with Simulation(model, 1e-3) as simulation:
        simulation.cut("elbow")
        assert simulation.assembly.joints == ("pivot",)
    assert model.joints == ("pivot", "elbow")


def test_a_body_object_is_a_view_of_its_row():
    with Simulation(pendulum(), 1e-3) as simulation:
        lower = simulation.body("lower")
        simulation.run(0.1)
        stack = simulation.system.body_home["lower"]
        assert np.array_equal(lower.state()["q"][0], stack.state()["q"][stack.row["lower"]])
        lower.v[0] += 1.0
        assert np.array_equal(lower.state()["v"][0], stack.state()["v"][stack.row["lower"]])


def test_a_closed_simulation_says_so_and_keeps_its_record():
    with Simulation(pendulum(), 1e-3) as simulation:
        simulation.run(0.01)
    with pytest.raises(ModelError, match="closed"):
        simulation.run(0.02)
    assert len(simulation.recorded) == 11


def test_progress_is_told_and_the_last_word_is_the_end():
    seen = []
    with Simulation(pendulum(), 1e-4) as simulation:
        simulation.run(0.5, progress=lambda s: seen.append(s.tick))
    assert seen[-1] == 5000 and seen == sorted(seen)


# --- events as data ------------------------------------------------------------------------------------------------


def test_every_kind_of_event_can_be_scheduled_and_survives_as_data():
    model = pendulum()
    tail = PointMassRod((1.0, -1.0), (1.0, -1.5), (0.1, 0.1))
    model.at(0.0, Add("tail", tail), Join("link", Revolute(), "lower.end", "tail.start"))
    model.at(0.02, Apply("wind", zoo.exported(zoo.Force)[0].example(2), ("tail.end",)))
    model.at(0.04, Remove("wind"))
    model.at(0.05, Cut("link"))
    model.when(Crossing("tail.end", "y", -1.6, direction=-1), Remove("tail"))
    again = Assembly.from_data(model.to_data())
    assert again.to_data() == model.to_data()
    with Simulation(again, 1e-3) as simulation:
        run = simulation.run(0.5)
    kinds = [(event["kind"], event["name"]) for event in run.events]
    assert kinds == [
        ("add", "tail"), ("join", "link"), ("apply", "wind"), ("remove", "wind"), ("cut", "link"), ("remove", "tail"),
    ]  # fmt: skip
    last = np.isfinite(run.position("tail.end")[:, 1])
    assert run.position("tail.end")[last][-1, 1] > -1.6  # the sample of its last tick is the one after the event
    assert run.events[-1]["tick"] == run.ticks[last][-1] + 1


@pytest.mark.parametrize(("direction", "expected"), [(0, 4), (1, 2), (-1, 2)])
def test_a_crossing_fires_in_its_direction_and_as_often_as_told(direction, expected):
    """A rod turning freely: its end crosses the level twice per turn, rising and falling."""
    fired = {}
    for repeats in (True, False):
        model = Assembly(gravity=(0.0, 0.0))
        model.add("rod", PointMassRod((0, 0), (1, 0.1), (1.0, 1.0), angular_velocity=2 * np.pi))
        model.add("flag", PointMassRod((5, 5), (6, 5), (1.0, 1.0)))
        model.join("pin", Revolute(), "ground", "flag.start")
        model.when(
            Crossing("rod.end", "y", 0.05, direction),
            Cut("pin"),
            Join("pin", Revolute(), "ground", "flag.start"),
            repeats=repeats,
        )
        with Simulation(model, 1e-3) as simulation:
            fired[repeats] = sum(event["kind"] == "cut" for event in simulation.run(2.0).events)
    assert fired == {True: expected, False: 1}


# --- wrong input -----------------------------------------------------------------------------------------------------


def test_wrong_steps_times_and_settings_are_refused_with_their_value():
    for dt in (0.0, -1e-3, float("nan"), float("inf")):
        with pytest.raises(ModelError, match=r"dt = .* s; give a positive step"):
            Simulation(pendulum(), dt)
    with pytest.raises(ModelError, match="record_every = 0"):
        Simulation(pendulum(), 1e-3, record_every=0)
    with Simulation(pendulum(), 1e-3) as simulation, pytest.raises(ModelError, match="until = nan"):
        simulation.run(float("nan"))
    with Simulation(pendulum(), 1e-3) as simulation, pytest.raises(ModelError, match="less than half a step"):
        simulation.run(4e-4)
    for wrong in (
        lambda: Stable(safety=0.5), lambda: Stable(damping=-1), lambda: Shannon(delta=0.5), lambda: Shannon(damping=2.0),
        lambda: Newmark(beta=0.7), lambda: Newmark(gamma=0.3), lambda: InternalGains(iterations=0),
        lambda: InternalGains(frequency_per_step=1.0, damping=1.0), lambda: InternalGains(artificial_mass=-1.0),
    ):  # fmt: skip
        with pytest.raises(ModelError, match=r"= -?\d"):
            wrong()


@pytest.mark.parametrize("mass", [1e308, 1e-308])
def test_masses_that_cannot_be_calculated_with_are_refused_by_name(mass):
    """Their squares are infinite, or nothing: a run ended in words of linear algebra, or asked for a shorter step."""
    model = Assembly(gravity=(0.0, -9.81))
    with pytest.raises(ModelError, match=r"body 'rod': mass = 1e.308 is too (large|small)"):
        model.add("rod", Rod((0, 0), (1, 0), mass))


def test_forces_and_limits_that_cannot_be_calculated_with_are_refused_by_name():
    """Small ones do no harm."""
    model = Assembly(gravity=(0.0, -9.81))
    model.add("rod", Rod((0, 0), (1, 0), 1.0))
    for wrong, force in (
        ("stiffness", SpringDamper(1e308)), ("force", Load((1e308, 0.0))),
        ("force.values", Load(Table((0.0, 1.0), [(0, 0), (0, 1e99)]))),
    ):  # fmt: skip
        with pytest.raises(ModelError, match=rf"force 'pull': {wrong} = .* is too large"):
            model.apply("pull", force, *(["ground"] if force.sides == 2 else []), "rod.end")
    with pytest.raises(ModelError, match=r"joint 'pin': force = 1e.308 is too large"):
        model.join("pin", Revolute(), "ground", "rod.start", breaks_at=Limit(force=1e308))
    assert not model.joint_edges and not model.force_edges
    model.apply("pull", SpringDamper(1.0, damping=1e-80), "ground", "rod.end", at=(0.0, 1.0))


def test_unknown_names_while_running_are_refused_with_a_proposal():
    with Simulation(pendulum(), 1e-3) as simulation:
        for wrong, proposal in (
            (lambda: simulation.cut("elbw"), "did you mean 'elbow'"),
            (lambda: simulation.remove("lowr"), "did you mean 'lower'"),
            (lambda: simulation.join("x", Revolute(), "upper.end", "lower.strt"), "did you mean 'start'"),
            (lambda: simulation.join("elbow", Revolute(), "upper.end", "lower.start"), "exists already"),
            (lambda: simulation.join("x", Revolute(), "upper", "lower.start"), "write 'body.port'"),
            (lambda: simulation.join("x", Revolute(), "ground", "ground"), "connects 'ground' with itself"),
            (
                lambda: simulation.join("x", Revolute(), "upper.end", "upper.start"),
                "connect two different bodies",
            ),
            (lambda: simulation.ledger("knee"), "there is no joint 'knee'"),
            (lambda: simulation.body("knee"), "there is no body 'knee'"),
            (lambda: simulation.port_motion("ground"), "the ground does not move"),
        ):
            with pytest.raises(ModelError, match=proposal):
                wrong()
        assert simulation.assembly.joints == ("pivot", "elbow")
        simulation.run(0.01)  # nothing is broken by it


def test_initial_velocities_that_violate_a_joint_are_refused_or_projected_with_the_energy_named():
    model = Assembly(gravity=(0.0, 0.0))
    model.add("a", PointMassRod((0, 0), (1, 0), (1.0, 1.0), velocity=(0.0, 1.0)))
    model.add("b", PointMassRod((1, 0), (2, 0), (1.0, 1.0)))
    model.join("pin", Revolute(), "ground", "a.start")
    model.join("link", Revolute(), "a.end", "b.start")
    with pytest.raises(ModelError, match=r"joint '(pin|link)'.*project_velocities=True"):
        Simulation(model, 1e-3)
    with Simulation(model, 1e-3, project_velocities=True) as simulation:
        event = simulation.events[0]
        assert event["kind"] == "projection" and event["energy"] == pytest.approx(
            1.0 - simulation.recorded.energy[0], rel=1e-9
        )
        assert event["energy"] > 0
        for joint in ("pin", "link"):
            assert np.abs(simulation.recorded.violation_rate(joint)[0]).max() < 1e-8


def test_all_problems_of_a_model_are_told_at_once():
    model = Assembly(gravity=(0.0, -9.81))
    model.add("a", zoo.full(2, (0, 0), (1, 0)))
    model.add("b", zoo.full(2, (1.5, 0), (2, 0)))
    model.add("c", zoo.full(2, (2.5, 0), (3, 0)))
    model.join("one", Revolute(), "a.end", "b.start")
    model.join("two", Revolute(), "b.end", "c.start")
    with pytest.raises(ModelError) as refused:
        Simulation(model, 1e-3)
    assert "'one'" in str(refused.value) and "'two'" in str(refused.value)


def test_joints_that_lock_what_a_rod_does_not_have_are_refused_with_the_remedy():
    model = Assembly()
    model.add("a", Rod((0, 0, 0), (1, 0, 0), 1.0))
    model.add("b", Rod((1, 0, 0), (1, 1, 0), 1.0))
    for joint in (Revolute(axis=(0, 0, 1)), Fixed(), Prismatic(axis=(0, 0, 1))):
        trial = model.copy()
        trial.join("joint", joint, "a.end", "b.start")
        with pytest.raises(ModelError, match=r"joint 'joint'.*radius"):
            Simulation(trial, 1e-3)
    with pytest.raises(ModelError, match=r"axis = .* not a direction"):
        trial = model.copy()
        trial.join("joint", Revolute(axis=(0, 0, 0)), "ground", "a.start")
        Simulation(trial, 1e-3)


def test_a_coupling_names_the_bodies_that_lack_what_it_needs():
    class Talks:
        """A capability nobody has."""

        def __instancecheck__(self, other):
            return False

    with (
        Simulation(pendulum(), 1e-3) as simulation,
        pytest.raises(CouplingError, match="upper, lower cannot"),
    ):
        require(simulation.system, type("Flies", (), {}), "Kite", "fly")


# --- divergence ------------------------------------------------------------------------------------------------------


def test_divergence_names_the_joint_and_keeps_what_was_recorded():
    with Simulation(scenarios.load("chain", bodies=10), 1e-3, Penalty(rule=Shannon(delta=0.45))) as simulation:
        with pytest.raises(Diverged) as error:
            simulation.run(1.0)
        run = simulation.recorded
    assert error.value.component in run.joints
    assert error.value.tick == run.ticks[-1] + 1 > 1
    assert error.value.holding_step is None and "Stable()" in str(error.value)
    assert np.isfinite(run.energy).all()


def test_the_step_that_divergence_proposes_holds():
    cases = {
        "gains": (pendulum(), 1e-2, Penalty(internal=InternalGains(frequency=400.0, damping=0.5))),
        "spin": (spinning(2000.0), 1e-3, Penalty()),
    }
    for model, dt, coupling in cases.values():
        with Simulation(model, dt, coupling) as simulation, pytest.raises(Diverged) as error:
            simulation.run(200 * dt)
        step = error.value.holding_step
        assert step is not None and f"{step:.2g}" in str(error.value)
        with Simulation(model, step, coupling) as simulation:
            simulation.run(500 * step)


def spinning(rate):
    model = Assembly(gravity=(0.0, 0.0, 0.0))
    model.add("top", RigidBody(mass=1.0, inertia=(0.1, 0.12, 0.15), centre=(0, 0, 0), ports={"tip": (0.2, 0, 0)},
                               angular_velocity=(0.0, 0.0, rate)))  # fmt: skip
    return model


@pytest.mark.parametrize("every", [1, 4, 7])
def test_who_diverges_says_until_when_it_was_recorded(every):
    model = scenarios.load("double-pendulum")
    with Simulation(model, 1e-3, Penalty(Shannon(delta=0.45)), record_every=every) as simulation:
        with pytest.raises(Diverged) as error:
            simulation.run(3.0)
        assert f"recorded until tick {simulation.recorded.ticks[-1]} is kept" in str(error.value)
