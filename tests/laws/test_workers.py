"""Any partition among any number of workers gives the bits of one process, whatever happens on the way."""

import itertools
import warnings

import numpy as np
import pytest

import coordinator.distributed.workers.distributed_run
import scenarios
from both_ways import same, scattered
from by_payload import ByPayload
from campaign import shortened
from components import Load, Revolute, Rod, Spherical
from coordinator import LeakWarning, Penalty, Shannon, Simulation
from coordinator.distributed.workers.worker_pool import InProcessPool
from mechanisms import COMMON
from mixture import mixture
from modular import Apply, Assembly, Crossing, Cut, Diverged, Join, Limit, ModelError
from random_assemblies import random_assembly
from scenarios.catalogue import names


@pytest.mark.short(6)
@pytest.mark.parametrize(
    ("name", "workers"), shortened(itertools.product(COMMON, [1, 3]), itertools.product(names(), [1, 2, 3, 5]))
)
def test_every_scenario(name, workers):
    def model():
        return scenarios.load(name)

    dt = model().suggested.get("dt", 1e-3)
    same(model, dt, 120 * dt, min(workers, len(model().bodies)), record_every=7)


@pytest.mark.parametrize("seed", shortened([1], range(12)))  # in the plane, seven bodies
def test_random_mechanisms_scattered_over_workers(seed, pool):
    def model():
        return random_assembly(seed)

    bodies = len(model().bodies)
    workers = scattered(model(), min(bodies, 2 + seed % 4), seed)
    rule = Penalty() if seed % 3 else Penalty(rule=Shannon(delta=0.05))
    same(model, 1e-4, 0.006, workers, rule, record_every=1 + seed % 5, project_velocities=True)


@pytest.mark.short(3)
@pytest.mark.parametrize("every", [1, 7])
@pytest.mark.parametrize("rule", [Penalty(), Penalty(rule=Shannon(delta=0.1))])
def test_springs_across_laws_and_tables(every, rule, pool):
    same(mixture, 1e-3, 0.08, {"even": ["post", "tail"], "odd": ["flag", "rod"]}, rule, record_every=every)


def test_events_at_times_and_changes_by_hand(pool):
    def model():
        chain = scenarios.load("chain", bodies=6)
        chain.at(0.03, Cut("ball2"))
        chain.at(0.05, Join("again", Spherical(), "rod1.end", "ground"))
        chain.at(0.06, Apply("kick", Load((0.0, 0.0, 5.0)), ["rod5.end"]))
        return chain

    def by_hand(simulation):
        simulation.cut("ball3")
        simulation.add("new", Rod((2.0, 0.0, 0.0), (2.5, 0.0, 0.0), 0.3, 0.02))

    run = same(model, 1e-3, 0.1, 3, by_hand=by_hand)
    assert len(run.happenings) == 5


def test_a_joint_across_breaks_at_the_same_tick(pool):
    def model():
        chain = scenarios.load("chain", bodies=5)
        chain.cut("ball1")
        chain.join("ball1", Spherical(), "rod0.end", "rod1.start", breaks_at=Limit(force=2.5, window=0.02))
        return chain

    run = same(model, 1e-3, 0.3, scattered(model(), 3))
    assert [event["kind"] for event in run.happenings] == ["break"]


@pytest.mark.short(2)
@pytest.mark.parametrize("workers", [1, 4])
def test_a_leak_rings_at_the_same_tick(workers, pool):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LeakWarning)
        run = same(lambda: scenarios.load("chain", bodies=4), 5e-3, 1.0, workers, leak_limit=1e-5, record_every=5)
    assert len(run.events) > 2


@pytest.mark.short(2)
@pytest.mark.parametrize("every", [1, 7])
def test_conditions_come_true_at_the_same_instants(every, pool):
    def model():
        chain = scenarios.load("chain", bodies=3)
        chain.when(Crossing("rod2.end", "z", -0.1, direction=-1), Cut("ball2"))
        chain.when(Crossing("rod1.end", "x", 0.1), Join("catch", Spherical(), "rod1.end", "ground"), Cut("hook"))
        chain.when(Crossing("rod2.start", "z", -0.2, band=1e-3), Apply("kick", Load((0.0, 0.0, 5.0)), ["rod2.end"]))
        return chain

    run = same(model, 1e-3, 0.4, 3, record_every=every)
    assert {event["kind"] for event in run.events} >= {"cut", "join", "apply"}


def test_a_run_that_diverges_stops_at_the_same_tick_and_names_the_same_body(pool):
    ends = []
    for workers in (None, 4):
        settings = {"record_every": 3, "workers": workers, "launcher": "here"}
        with Simulation(scenarios.load("chain", bodies=12), 1e-3, Penalty(rule=Shannon(delta=0.3)), **settings) as run:
            with pytest.raises(Diverged) as caught:
                run.run(1.0)
            ends.append((str(caught.value), caught.value.tick, run.recorded.digest, run.tick))
    assert ends[0] == ends[1]


@pytest.mark.parametrize(
    ("workers", "said"),
    [
        (0, "from 1 to 4"),
        (9, "from 1 to 4"),
        (2.5, "give a number of workers"),
        ({"a": ["rod0", "rod1"], "b": ["rod1", "rod2", "rod3"]}, "'rod1' is assigned to 'a' and to 'b'"),
        ({"a": ["rod0", "rod1"], "b": ["rod2"]}, "no worker has 'rod3'"),
        ({"a": ["rod0", "rod1", "rod2", "rod3"], "b": []}, "'b' has no bodies"),
        ({"a": ["rod0", "rod1", "rod2", "rod33"]}, "no body 'rod33'"),
    ],
)
def test_a_partition_that_cannot_be_is_refused(workers, said):
    with pytest.raises(ModelError, match=said):
        Simulation(scenarios.load("chain", bodies=4), 1e-3, workers=workers)


def test_what_workers_cannot_do_is_refused_by_name():
    from coordinator import Centralized

    with pytest.raises(ModelError, match="Centralized"):
        Simulation(scenarios.load("chain", bodies=4), 1e-3, Centralized(), workers=2)


@pytest.fixture(params=[InProcessPool, ByPayload])
def pool(request, monkeypatch):
    monkeypatch.setattr(coordinator.distributed.workers.distributed_run, "InProcessPool", request.param)


# --- workers come and go ------------------------------------------------------------------------------------------------


@pytest.mark.short(2)
@pytest.mark.parametrize("fixed", [False, True])
def test_workers_come_and_go_between_ticks(fixed, pool):
    model = scenarios.load("chain", bodies=9)
    with Simulation(model, 1e-3, record_every=7) as alone:
        digest = alone.run(0.12).digest
    workers = scattered(model, 2) if fixed else 2
    with Simulation(model, 1e-3, record_every=7, workers=workers, launcher="here") as simulation:
        simulation.run(0.023)
        simulation.enlist("late", ["rod3", "rod7"] if fixed else ())
        assert [worker.name for worker in simulation.workers] == ["worker0", "worker1", "late"]
        simulation.run(0.05)
        simulation.retire("worker0")
        assert sorted(name for worker in simulation.workers for name in worker.bodies) == sorted(model.bodies)
        simulation.run(0.07)
        simulation.enlist("worker0", ["rod0"])  # bodies by hand from here on
        simulation.run(0.09)
        assert simulation.workers[-1].bodies == ("rod0",)
        for name in ("late", "worker0", "worker1"):
            simulation.retire(name)
        assert simulation.workers == []
        assert simulation.run(0.12).digest == digest
        simulation.hire(3, "here")
        assert len(simulation.workers) == 3


def test_who_cannot_come_or_go_is_told():
    with Simulation(scenarios.load("chain", bodies=3), 1e-3) as simulation:
        for change in (lambda: simulation.enlist("more"), lambda: simulation.retire("more")):
            with pytest.raises(ModelError, match="there are no workers"):
                change()
        simulation.hire(2, "here")
        with pytest.raises(ModelError, match="has workers already"):
            simulation.hire(2, "here")
        with pytest.raises(ModelError, match="'worker1' exists already"):
            simulation.enlist("worker1")
        with pytest.raises(ModelError, match=r"no worker 'worker2'; did you mean"):
            simulation.retire("worker2")
        with pytest.raises(ModelError, match=r"'worker1' has no bodies"):
            simulation.enlist("late", [simulation.workers[1].bodies[0]])
        simulation.enlist("late")
        with pytest.raises(ModelError, match=r"workers = 4; give a whole number from 1 to 3"):
            simulation.enlist("later")


def test_a_body_may_be_called_as_a_joint_that_goes_across():
    """They are two: what the worker of the body has seen of it becomes the record's, whoever is at home with the joint."""

    def model():
        chain = Assembly(gravity=(0.0, -9.81))
        chain.add("upper", Rod((0.0, 0.0), (0.5, 0.0), 1.0))
        chain.add("elbow", Rod((0.5, 0.0), (0.9, 0.3), 1.0))
        chain.join("shoulder", Revolute(), "ground", "upper.start")
        chain.join("elbow", Revolute(), "upper.end", "elbow.start")
        return chain

    run = same(model, 1e-3, 0.02, {"one": ["upper"], "other": ["elbow"]})
    assert np.ptp(run.position("elbow.end"), axis=0).max() > 1e-4
