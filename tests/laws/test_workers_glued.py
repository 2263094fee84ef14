"""Glued and relaxed joints among workers: the bits of one process, however bodies are scattered, whatever happens on the way."""

import os
import signal
import threading

import pytest

import coordinator.distributed.workers.distributed_run
import mechanisms
import scenarios
from both_ways import same, scattered
from by_payload import ByPayload
from campaign import each_once, first_of, named
from components import Law, Load, Rod, Spherical, SpringDamper
from coordinator import Glued, Relaxed, Simulation
from coordinator.distributed.workers.worker_pool import InProcessPool
from mixture import mixture
from modular import Apply, Crossing, Cut, Diverged, Join, Limit
from random_assemblies import random_assembly
from sleigh import pole, sleigh
from waiting import wait_for

COUPLINGS = {
    "glued": Glued(),
    "glued(4)": Glued(4),
    "relaxed": Relaxed(),
    "relaxed(4)": Relaxed(4),
    "relaxed, few": Relaxed(iterations=3),
    "jacobi": Relaxed(method="jacobi", iterations=20),
    "gauss-seidel": Relaxed(method="gauss-seidel", iterations=20),
}


def four_bar_with_a_damper():
    """A loop that locks itself three times over, with a spring between two bars."""
    model = mechanisms.four_bar(3)
    model.apply("damper", SpringDamper(stiffness=3.0, damping=0.4, length=0.2), "crank.end", "rocker.start")
    return model


def towing_sleigh():
    """A skate, a body that it tows, and a damper that brakes that."""
    model = sleigh()
    model.add("lead", Rod((0.0, 0.0), (-0.4, 0.1), 0.3, velocity=(0.4, 0.0)))
    model.join("tow", Spherical(), "sleigh.blade", "lead.start")
    model.apply("drag", SpringDamper(stiffness=1.0, damping=0.4, length=0.2), "ground", "lead.end", at=(0.3, 0.9))
    return model


MODELS = {
    "double-pendulum": lambda: scenarios.load("double-pendulum"),
    "double-pendulum-3d": lambda: scenarios.load("double-pendulum-3d"),
    "slider-crank": lambda: scenarios.load("slider-crank"),
    "chain": lambda: scenarios.load("chain", bodies=7),
    "loop": four_bar_with_a_damper,
    "sleigh": towing_sleigh,
    "pole": pole,
    "mixture": mixture,
}


@pytest.fixture(params=[InProcessPool, ByPayload])
def pool(request, monkeypatch):
    monkeypatch.setattr(coordinator.distributed.workers.distributed_run, "InProcessPool", request.param)


@pytest.fixture
def by_payload(monkeypatch):
    monkeypatch.setattr(coordinator.distributed.workers.distributed_run, "InProcessPool", ByPayload)


@pytest.mark.short(3)
@pytest.mark.parametrize(
    ("coupling", "workers", "name"),
    each_once([*((name, 2) for name in COUPLINGS), ("glued(4)", 1), ("glued", 3), ("relaxed", 3)], MODELS),
    ids=named,
)
def test_every_mechanism_scattered_by_lot(name, coupling, workers):
    model = MODELS[name]
    lots = scattered(model(), min(workers, len(model().bodies)), seed=workers)
    same(model, 1e-3, 0.01, lots, COUPLINGS[coupling], record_every=workers, project_velocities=True)


@pytest.mark.parametrize("seed", first_of(1, range(6)), ids=named)
def test_random_mechanisms_redundant_or_not(seed, by_payload):
    def model():
        return random_assembly(seed)

    workers = scattered(model(), min(len(model().bodies), 2 + seed % 4), seed)
    coupling = COUPLINGS[list(COUPLINGS)[seed % 3]]
    same(model, 1e-3, 0.006, workers, coupling, record_every=1 + seed % 5, project_velocities=True)


@pytest.mark.short(1, each=True)
@pytest.mark.parametrize("coupling", ["glued(4)", "relaxed"])
def test_events_and_changes_by_hand_in_the_middle(coupling, pool):
    def model():
        chain = scenarios.load("chain", bodies=6)
        chain.at(0.011, Cut("ball2"))
        chain.at(0.014, Join("again", Spherical(), "rod1.end", "ground"))
        chain.at(0.017, Apply("kick", Load((0.0, 0.0, 5.0)), ["rod5.end"]))
        return chain

    def by_hand(simulation):
        simulation.cut("ball3")
        simulation.add("new", Rod((2.0, 0.0, 0.0), (2.5, 0.0, 0.0), 0.3, 0.02))

    run = same(model, 1e-3, 0.03, 3, COUPLINGS[coupling], by_hand=by_hand)
    assert len(run.events) == 5


@pytest.mark.short(1)
@pytest.mark.parametrize("coupling", ["glued", "relaxed, few"])
def test_a_joint_across_breaks_and_a_condition_comes_true_at_the_same_ticks(coupling, by_payload):
    def model():
        chain = scenarios.load("chain", bodies=5)
        chain.cut("ball1")
        chain.join("ball1", Spherical(), "rod0.end", "rod1.start", breaks_at=Limit(force=2.5, window=0.02))
        chain.when(Crossing("rod4.end", "z", -0.05, direction=-1), Cut("ball4"))
        return chain

    run = same(model, 1e-3, 0.17, scattered(model(), 3), COUPLINGS[coupling], record_every=7)
    assert {event["kind"] for event in run.events} == {"break", "cut"}


def test_with_an_alarm_that_never_rings_all_of_the_books_are_kept_by_everybody(by_payload):
    same(four_bar_with_a_damper, 1e-3, 0.02, 3, Relaxed(iterations=3), leak_limit=1e3)


@pytest.mark.parametrize("dt", [1.0, 0.25])
def test_a_run_that_finds_no_end_stops_at_the_same_tick_and_says_the_same(dt):
    ends = []
    for workers in (None, 2):
        settings = {"workers": workers, "launcher": "here"}
        with Simulation(scenarios.load("double-pendulum"), dt, Glued(4), **settings) as run:
            with pytest.raises(Diverged) as caught:
                run.run(40.0)
            ends.append((str(caught.value), caught.value.tick, run.recorded.digest, run.tick))
    assert ends[0] == ends[1]


def shatter(t, x, v):
    if t > 0.0105:
        raise ArithmeticError("no more")
    return (0.3 * v[0], 0.0)


def test_a_law_that_raises_is_heard_at_the_same_tick():
    ends = []
    for workers in (None, 2):
        model = scenarios.load("double-pendulum")
        model.apply("push", Load(Law(shatter)), "lower.end")
        with Simulation(model, 1e-3, Glued(4), workers=workers, launcher="here") as run:
            with pytest.raises(Exception, match="no more") as caught:
                run.run(0.1)
            ends.append((str(caught.value), run.tick, run.recorded.digest))
    assert ends[0] == ends[1]
    assert ends[0][1] == 10


def test_what_was_counted_is_what_one_process_counts():
    model = scenarios.load("chain", bodies=6)
    counters = []
    for workers in (None, 3):
        with Simulation(model, 1e-3, Relaxed(iterations=5), workers=workers, launcher="here") as simulation:
            simulation.run(0.01)
            simulation.cut("ball3")
            timings = simulation.run(0.02).timings
            counters.append({name: value for name, value in timings.items() if name != "seconds"})
            assert all(worker.ticks == 20 for worker in simulation.workers)
    assert counters[0] == counters[1]
    assert counters[0]["left open"] > 0.0


@pytest.mark.short(1, each=True)
@pytest.mark.parametrize("coupling", ["glued(4)", "relaxed"])
def test_whoever_looks_between_two_samples_sees_what_one_process_shows(coupling, pool):
    """And the simulation goes on from there by itself, step by step, before workers do again."""
    seen = []
    for workers in (None, 3):
        settings = {"record_every": 100, "workers": workers, "launcher": "here"}
        with Simulation(scenarios.load("chain", bodies=6), 1e-3, COUPLINGS[coupling], **settings) as simulation:
            for last in (11, 17):
                simulation.run(1e-3 * last)
                bodies, joints = simulation.assembly.bodies, list(simulation.system.joints)
                seen.append([simulation.body(name).state()[key].tobytes() for name in bodies for key in "qva"])
                seen.append([stack.effort[: stack.count].tobytes() for stack in joints])
                for _ in range(3):
                    simulation.step()
                seen.append([simulation.body(name).state()[key].tobytes() for name in bodies for key in "qva"])
    half = len(seen) // 2
    assert seen[:half] == seen[half:]


def two_apart():
    """Two mechanisms that nothing joins."""
    model = scenarios.load("chain", bodies=2)
    model.add("other", Rod((0.0, 1.0, 0.0), (0.3, 1.2, 0.1), 0.3, 0.02))
    model.join("eye", Spherical(), "ground", "other.start")
    return model


@pytest.mark.parametrize("coupling", ["glued", "relaxed"])
def test_workers_across_whose_border_nothing_goes(coupling, pool):
    same(two_apart, 1e-3, 0.01, {"one": ["rod0", "rod1"], "other": ["other"]}, COUPLINGS[coupling])


@pytest.mark.parametrize("coupling", first_of(1, ["glued(4)", "relaxed"]), ids=named)
def test_processes_of_which_some_are_killed_in_the_middle(coupling):
    model = scenarios.load("chain", bodies=5)
    with Simulation(model, 1e-3, COUPLINGS[coupling], record_every=20) as simulation:
        digest = simulation.run(0.3).digest
    with Simulation(model, 1e-3, COUPLINGS[coupling], record_every=20, workers=2) as simulation:
        simulation.distributed_run.pool.every = 50
        simulation.run(0.02)

        def kill():
            at = simulation.distributed_run.pool._reached
            wait_for(lambda: simulation.distributed_run.pool._reached > at)
            os.kill(simulation.workers[1].pid, signal.SIGKILL)

        killer = threading.Thread(target=kill)
        killer.start()
        simulation.run(0.2)
        killer.join()
        simulation.system  # noqa: B018 - collected, and distributed again
        run = simulation.run(0.3)
        assert [worker.replaced for worker in simulation.workers] == [0, 1]
    assert run.digest == digest
