"""What a run will need is compiled before its first tick, what only its events bring included."""

import time

import numpy as np
import pytest
from numba.core import event

import scenarios
from components import Fixed, Law, Load, Revolute, Rod, SpringDamper
from coordinator import Simulation
from coordinator.events.precompile import precompile
from modular import Add, Apply, Crossing, Cut, Join, Limit, Merge, Remove, Unmerge, first_use
from modular.kept_code import KeptCode
from modular.loop import Loop

WELD = Join("weld", Fixed(), "upper.end", "lower.start")


def welded():
    model = scenarios.load("double-pendulum")
    model.at(0.01, Cut("elbow"), WELD)
    return model


def held():
    """On a condition, while it moves, and where its points do not meet at the start."""
    model = scenarios.load("double-pendulum")
    push = Apply("push", Load(force=(1.0, 0.5)), ("lower.end",))
    model.when(
        Crossing("upper.end", "y", -1e-3), Cut("elbow"), Join("hold", Revolute(), "upper.end", "lower.start"), push
    )
    model.when(Crossing("lower.end", "y", -1.001), Join("wall", Fixed(), "ground", "lower.end"))
    return model


def visited():
    model = scenarios.load("double-pendulum")
    model.at(0.004, Apply("spring", SpringDamper(stiffness=10.0), ("ground", "lower.end"), at=(3.0, 1.0)))
    model.at(0.008, Remove("spring"))
    model.at(0.012, Add("third", Rod(start=(5.0, 5.0), end=(6.0, 5.5), mass=1.0)))
    model.at(0.016, Join("hook", Revolute(), "ground", "third.start"))
    return model


def broken():
    model = scenarios.load("double-pendulum")
    model.cut("pivot")
    model.join("pivot", Revolute(), "ground", "upper.start", breaks_at=Limit(force=4.0, window=2e-3))
    return model


def merged():
    model = scenarios.load("double-pendulum")
    model.at(0.004, Merge(("upper", "lower")))
    model.at(0.008, Unmerge(("upper",)))
    return model


def cut_in_the_middle():
    model = scenarios.load("chain", bodies=9)
    model.at(0.004, Cut("ball4"))
    return model


MODELS = {
    welded: {"cut", "join"}, held: {"cut", "join", "apply"}, visited: {"apply", "remove", "add", "join"}, broken: {"break"},
    merged: {"merge", "unmerge"}, cut_in_the_middle: {"cut"},
}  # fmt: skip


class Asked(event.Listener):
    """Which loops are asked for, for which layouts; and what numba compiles, in a process that finds all anew."""

    def __init__(self, patch):
        self.loops, self.compiled = set(), []
        address, asked = Loop.address, self.loops

        def noted(loop, stack, elements):
            asked.add((loop.__module__, loop.__name__, *map(id, loop._asked(stack.view, elements.view))))
            return address(loop, stack, elements)

        patch.setattr(Loop, "address", noted)

    def on_start(self, event):
        dispatcher = event.data["dispatcher"]
        if isinstance(dispatcher._cache, KeptCode):
            self.compiled.append(dispatcher.py_func.__name__)

    def on_end(self, event):
        pass


@pytest.mark.parametrize("coupling", ["penalty", "glued"])
@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_what_events_need_is_there_before_the_first_tick(monkeypatch, model, coupling):
    asked = Asked(monkeypatch)
    simulation = Simulation(model(), 1e-4, coupling)
    precompile(simulation)
    before = set(asked.loops)
    with event.install_listener("numba:compile", asked):
        simulation.run(0.03)
    assert {entry["kind"] for entry in simulation.events} >= MODELS[model]
    assert not asked.compiled
    assert not {name[:2] for name in asked.loops - before}


@pytest.mark.parametrize("coupling", ["penalty", "glued"])
def test_a_rehearsal_changes_no_bit(coupling):
    runs = []
    for dry_run_done in (False, True):
        simulation = Simulation(held(), 1e-4, coupling)
        simulation.schedule.dry_run_done = dry_run_done  # what has been need not be again
        runs.append(simulation.run(0.03))
    for name in runs[0].bodies:
        for one, other in zip(*(run.state(name) for run in runs), strict=True):
            np.testing.assert_array_equal(one, other)
    assert runs[0].events == runs[1].events and len(runs[0].events) == 4


def test_laws_are_not_asked_in_a_rehearsal():
    asked = []
    model = welded()
    model.at(0.02, Apply("law", Load(Law(lambda t, x, v: asked.append(t) or (0.0, 1.0))), ("lower.end",)))
    precompile(simulation := Simulation(model, 1e-4))
    assert not asked
    simulation.run(0.021)
    assert min(asked) == pytest.approx(0.02)


def test_an_event_that_cannot_be_is_refused_at_its_time_and_not_before():
    model = welded()
    model.at(0.02, Join("far", Fixed(), "ground", "lower.end", at=(7.0, 7.0)))
    simulation = Simulation(model, 1e-4)
    precompile(simulation)
    with pytest.raises(Exception, match=r"event Join at 0\.02 s: joint 'far'"):
        simulation.run(0.03)
    assert simulation.tick == 200


def test_compiling_in_the_middle_of_a_run_is_no_computing(monkeypatch):
    simulation = Simulation(scenarios.load("double-pendulum"), 1e-4)
    stride = simulation.stride

    def slow(last):
        with first_use.counted(), first_use.counted():
            time.sleep(0.4)
        stride(last)

    monkeypatch.setattr(simulation, "stride", slow)
    began = time.perf_counter()
    simulation.run(1e-3)
    assert simulation.past.seconds < time.perf_counter() - began - 0.4
