"""Whether a joint breaks does not depend on the step."""

import numpy as np
import pytest

import zoo
from components import DrivenRotation, Load, Ramp, Revolute, RigidBody, Spherical, Table
from coordinator import Glued, Simulation
from coordinator.analysis.inverse import inverse_dynamics
from coordinator.analysis.statics import equilibrium, statics
from modular import Assembly, Cut, Limit, ModelError

STEPS = (1e-3, 1e-4, 1e-5)


def struck(limit, impulse=2.0, duration=4e-3):
    """A pinned rod hit along itself by a short triangular blow: all of its impulse goes through the pin."""
    model = Assembly(gravity=(0.0, 0.0))
    model.add("rod", zoo.masses(2, (0, 0), (1, 0)))
    model.join("pin", Revolute(), "ground", "rod.start", breaks_at=limit)
    peak = 2 * impulse / duration
    times = (0.01, 0.01 + duration / 2, 0.01 + duration)
    model.apply("blow", Load(Table(times, ((0.0, 0.0), (peak, 0.0), (0.0, 0.0)))), "rod.end")
    return model


def breaks(model, dt, until=0.05):
    with Simulation(model, dt, record_every=max(1, round(1e-3 / dt))) as simulation:
        run = simulation.run(until)
    return [event for event in run.events if event["kind"] == "break"]


@pytest.mark.parametrize("limit", [{"impulse": 1.6}, {"force": 1.6 / np.e / 0.02}])
def test_the_verdict_on_an_identical_blow_is_the_same_for_all_steps(limit):
    """A blow of 2 N s: limits a fifth on either side decide, though the joint rings at a pitch set by the step."""
    for dt in STEPS:
        (event,) = breaks(struck(Limit(window=0.02, **limit)), dt)
        assert event["name"] == "pin" and 0.01 < event["time"] < 0.035
    stronger = {key: 1.5 * value for key, value in limit.items()}
    for dt in STEPS:
        assert breaks(struck(Limit(window=0.02, **stronger)), dt) == []


def test_a_steady_force_breaks_a_joint_at_its_limit_and_the_start_of_a_run_does_not():
    """A hanging weight jerks its penalty joint to twice its weight at the start; the filtered force does not see that."""
    for factor, expected in ((0.95, 1), (1.05, 0)):
        model = Assembly(gravity=(0.0, 0.0, -9.81))
        model.add("weight", zoo.masses(3, (0, 0, 0), (0, 0, -1)))
        model.join(
            "hook", Spherical(), "ground", "weight.start", breaks_at=Limit(force=factor * 1.5 * 9.81, window=0.05)
        )
        assert len(breaks(model, 1e-3, until=0.5)) == expected


def test_after_a_break_the_body_flies_and_the_elastic_energy_is_booked():
    model = struck(Limit(impulse=1.0))
    with Simulation(model, 1e-4) as simulation:
        run = simulation.run(0.1)
    assert np.isnan(run.violation("pin")[-1]).all()
    assert run.events[0]["kind"] == "break" and run.events[0]["filtered_impulse"] > 1.0 / np.e
    assert run.ledger("pin")["released"][-1] == run.events[0]["released"] > 0
    assert np.abs(np.diff(run.velocity("rod.start")[-100:], axis=0)).max() < 1e-9


def test_limits_travel_with_the_model_and_wrong_ones_are_refused():
    model = struck(Limit(force=70.0, window=0.03))
    assert Assembly.from_data(model.to_data()).joint_edges["pin"].breaks_at == Limit(force=70.0, window=0.03)
    with pytest.raises(ModelError, match=r"'pin': breaks_at has a window of 0.03 s.*dt = 0.0015"):
        Simulation(model, 2e-3)
    for wrong in ({}, {"force": -1.0}, {"impulse": float("nan")}, {"force": 1.0, "window": 0.0}):
        with pytest.raises(ModelError, match="give a positive force or"):
            Limit(**wrong)
    with pytest.raises(ModelError, match="breaks_at = 5"):
        model.join("other", Revolute(), "ground", "rod.end", breaks_at=5)


def test_a_new_joint_does_not_inherit_the_strain_of_an_old_one_of_its_name():
    model = Assembly(gravity=(0.0, 0.0, -9.81))
    model.add("heavy", zoo.masses(3, (0, 0, 0), (0, 0, -1)))
    model.add("light", zoo.RigidBody(mass=0.01, inertia=0 * np.eye(3), centre=(1, 0, 0), ports={"here": (1, 0, 0)}))
    model.join("hook", Spherical(), "ground", "heavy.start", breaks_at=Limit(force=100.0))
    model.join("rest", Spherical(), "ground", "light.here")
    with Simulation(model, 1e-3) as simulation:
        simulation.run(0.5)
        simulation.cut("hook")
        simulation.cut("rest")
        simulation.join("hook", Spherical(), "ground", "light.here", breaks_at=Limit(force=5.0))
        run = simulation.run(0.6)
    assert not [event for event in run.events if event["kind"] == "break"]


def test_a_cut_that_comes_after_the_break_is_noted_and_one_of_an_unknown_joint_refused_at_once():
    model = struck(Limit(impulse=1.0))
    model.at(0.08, Cut("pin"))
    with Simulation(model, 1e-4) as simulation:
        run = simulation.run(0.1)
    assert [event["kind"] for event in run.events] == ["break", "too late"]
    model.at(0.09, Cut("pn"))
    with pytest.raises(ModelError, match=r"event Cut\('pn'\): there is no joint 'pn'; did you mean 'pin'"):
        Simulation(model, 1e-4)


def spun_up(limit):
    """A rod on a hinge that is to be turned faster and faster: its pin carries m w^2 l / 2, w = 6 t."""
    model = Assembly(gravity=(0.0, 0.0))
    model.add("rod", RigidBody(mass=2.0, inertia=0.1, centre=(0.5, 0.0), ports={"a": (0.0, 0.0)}))
    model.join("pin", Revolute(), "ground", "rod.a", breaks_at=limit)
    return model


@pytest.mark.campaign
def test_what_drives_exert_is_told_up_to_where_a_run_breaks():
    limit, times = Limit(force=40.0, window=0.05), np.linspace(0.0, 2.0, 201)
    model = spun_up(limit)
    model.join("drive", DrivenRotation(Ramp(0.0, acceleration=6.0)), "ground", "rod.a")
    with Simulation(model, 1e-3, Glued()) as simulation:
        (event,) = [event for event in simulation.run(2.0).events if event["kind"] == "break"]
    turn = 3.0 * times**2
    said = r"joint 'pin' breaks at (\S+) s, beyond 40 N over 0.05 s.*Raise its breaks_at, or ask for times before \1 s"
    with pytest.raises(ModelError, match=said) as caught:
        inverse_dynamics(spun_up(limit), {"pin": turn}, times)
    told = float(str(caught.value).split("breaks at ")[1].split()[0])
    assert told == pytest.approx(event["time"], abs=0.01)
    early = times[times < told]
    assert len(inverse_dynamics(spun_up(limit), {"pin": 3.0 * early**2}, early).times) == len(early)
    assert inverse_dynamics(spun_up(Limit(force=1e3)), {"pin": turn}, times).reactions["pin"].shape[0] == len(times)


@pytest.mark.parametrize("ask", [statics, equilibrium], ids=["statics", "equilibrium"])
def test_what_hangs_on_a_joint_that_breaks_under_it_does_not_rest(ask):
    def hanging(limit):
        model = Assembly(gravity=(0.0, -9.81))
        model.add("rod", RigidBody(mass=2.0, inertia=0.1, centre=(0.0, -0.5), ports={"a": (0.0, 0.0)}))
        model.join("pin", Revolute(), "ground", "rod.a", breaks_at=limit)
        return model

    ask(hanging(Limit(force=20.0)))
    with pytest.raises(ModelError, match=r"joint 'pin' carries 19.62 N at rest, and breaks beyond 19 N"):
        ask(hanging(Limit(force=19.0)))
