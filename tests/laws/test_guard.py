"""Accounts of energy at work: joints that settle theirs, and ticks that are taken again in halves where they leak too much."""

import copy

import numpy as np
import pytest

import scenarios
from components import SpringDamper
from coordinator import Glued, Merged, Mixed, Penalty, Shannon, Simulation, resume
from coordinator.couplings.adapting import energy_about
from modular import Crossing, Cut, ModelError


def run_of(model, coupling, until, dt=1e-3):
    with Simulation(model, dt, coupling) as simulation:
        return simulation.run(until)


def leaks(run):
    return np.sum([np.abs(run.ledger(name)["leaked"]) for name in run.joints], axis=0)


# --- the guard -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", [{}, {"rule": Shannon(0.2)}], ids=["stable", "shannon"])
def test_joints_that_leak_take_it_back(rule):
    """A chain that cracks like a whip leaks; with the guard hardly any of it stays, and the ledgers still close."""
    free, guarded = (run_of(scenarios.load("chain"), Penalty(guard=guard, **rule), 4.0) for guard in (False, True))
    total = [abs(sum(run.ledger(name)["leaked"][-1] for name in run.joints)) for run in (free, guarded)]
    assert total[0] > 0.1
    assert total[1] < 0.1 * total[0]
    for name in guarded.joints:
        assert np.abs(sum(guarded.ledger(name).values())).max() < 1e-12


def test_where_nothing_leaks_it_changes_nothing_that_counts():
    model, truth = scenarios.load("double-pendulum"), run_of(scenarios.load("double-pendulum"), Glued(6), 1.0, 5e-3)
    errors, leaked = [], []
    for guard in (False, True):
        for dt in (1e-3, 5e-4):
            run = run_of(model, Penalty(guard=guard), 1.0, dt)
            errors.append(np.abs(run.position("lower.end")[-1] - truth.position("lower.end")[-1]).max())
            leaked.append(leaks(run).max())
    assert errors[2] < 1.02 * errors[0]
    assert 3.6 < errors[2] / errors[3] < 4.4
    assert leaked[2] < 1.1 * leaked[0]


def test_a_mixture_is_guarded_too():
    free, guarded = (
        run_of(scenarios.load("chain"), Mixed(default="penalty", guard=guard), 4.0) for guard in (False, True)
    )
    ends = [abs(sum(run.ledger(name)["leaked"][-1] for name in run.joints)) for run in (free, guarded)]
    assert ends[1] < 0.5 * ends[0]


# --- adaptive ticks --------------------------------------------------------------------------------------------------


def test_joints_leak_no_more_than_is_allowed():
    model, share = scenarios.load("chain"), 2e-5
    with Simulation(model, 1e-3, Penalty()) as simulation:
        allowed = share * energy_about(simulation.system) * 0.6
    plain, adaptive = (run_of(model, coupling, 0.6) for coupling in (Penalty(), Penalty(adaptive=share)))
    assert leaks(plain)[-1] > allowed
    assert leaks(adaptive)[-1] < 0.1 * leaks(plain)[-1]
    counters = adaptive.timings
    assert leaks(adaptive)[-1] < allowed * (1.0 + counters["beyond"])
    assert counters["refused"] > 0
    assert counters["evaluations"] > 2 * counters["ticks"]
    assert 4 <= counters["most steps in a tick"] <= 128


def test_calm_ticks_are_taken_in_one_step():
    run = run_of(scenarios.load("double-pendulum"), Penalty(adaptive=0.1), 0.2)
    assert run.timings["evaluations"] == run.timings["ticks"]
    plain = run_of(scenarios.load("double-pendulum"), Penalty(), 0.2)
    assert run.state("lower")[0].tobytes() == plain.state("lower")[0].tobytes()


def test_it_goes_on_from_a_checkpoint_in_a_copy_and_past_a_located_event_to_the_same_bits(tmp_path):
    model = scenarios.load("chain", bodies=5)
    model.when(Crossing("rod4.end", "z", -0.1), Cut("ball3"))
    found = []
    with Simulation(model, 1e-3, Penalty(adaptive=1e-4)) as simulation:
        simulation.run(0.1, checkpoints=tmp_path)
        other = copy.deepcopy(simulation)
        with resume(tmp_path) as resumed:
            for each in (simulation, other, resumed):
                each.run(0.3)
                assert [event["kind"] for event in each.events] == ["cut"]
                found.append([each.body(name).state()["q"].tobytes() for name in each.assembly.bodies])
    assert found[0] == found[1] == found[2]


def settled_ends(model, **settings):
    for stepwise in (False, True):
        with Simulation(model, 1e-3, Penalty(adaptive=1e-6), **settings) as simulation:
            while stepwise and simulation.tick < 60:
                simulation.step()
            run = simulation.run(0.1)
            yield [simulation.body(name).state()["q"].tobytes() for name in run.bodies], run.timings["evaluations"]


def test_the_engine_single_steps_and_what_is_python_take_the_same_halves(monkeypatch):
    model = scenarios.load("chain", bodies=5)
    found = [*settled_ends(model), *settled_ends(model, grouped=False), *settled_ends(model, record_every=7)]
    monkeypatch.setattr("coordinator.couplings.adapting.compiled", lambda part: False)
    found += settled_ends(model)
    assert all(other == found[0] for other in found)
    assert found[0][1] > 120


def test_what_is_no_setting_is_refused_and_what_does_not_go_together():
    with pytest.raises(ModelError, match="Penalty: adaptive = 2"):
        Penalty(adaptive=2)
    for kind in (Mixed, Merged):
        with pytest.raises(ModelError, match=f"{kind.__name__}: adaptive steps are for Penalty alone"):
            kind(adaptive=1e-3)
    with (
        Simulation(scenarios.load("double-pendulum"), 1e-3, Penalty(adaptive=1e-3)) as simulation,
        pytest.raises(ModelError, match="which steps all bodies alike"),
    ):
        simulation.merge("upper", "lower")


@pytest.mark.parametrize("coupling", [Penalty(guard=True), Merged(guard=True)], ids=repr)
def test_joints_across_workers_settle_the_same_accounts(coupling):
    """They read what they have booked: both sides must know all of it at every tick, not only where somebody looks."""
    model = scenarios.load("chain", bodies=4)
    model.apply("bow", SpringDamper(stiffness=200.0, damping=2.0, length=0.2), "rod0.end", "rod3.end")
    model.at(0.03, Cut("ball2"))
    alone = run_of(model, coupling, 0.05)
    shares = {"a": ["rod0", "rod2"], "b": ["rod1", "rod3"]}
    with Simulation(model, 1e-3, coupling, workers=shares, launcher="here") as simulation:
        assert simulation.run(0.05).digest == alone.digest
