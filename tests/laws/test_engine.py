"""The engine plays the same loops as the step by step: same bits, in one thread or many, whatever happens on the way."""

import threading
import warnings

import numpy as np
import pytest

import scenarios
from components import Law, Load, Rod, Spherical, SpringDamper
from components.bodies.natural.stack import NaturalBodies
from coordinator import LeakWarning, Penalty, Shannon, Simulation
from mixture import mixture
from modular import Apply, Crossing, Cut, Diverged, Join, Limit


def by_steps(simulation, until):
    while simulation.tick < round(until / simulation.dt):
        simulation.step()
    return simulation.recorded


@pytest.mark.parametrize("every", [1, 7])
@pytest.mark.parametrize("rule", [Penalty(), Penalty(rule=Shannon(delta=0.1))])
def test_many_ticks_at_once_give_the_bits_of_single_steps(every, rule):
    with (
        Simulation(mixture(law=False), 1e-3, rule, record_every=every) as one,
        Simulation(mixture(law=False), 1e-3, rule, record_every=every) as two,
    ):
        assert one.run(0.196).digest == by_steps(two, 0.196).digest  # both end on a sample
        assert one.recorded.timings["evaluations"] == two.recorded.timings["evaluations"]


def test_events_at_times_and_changes_by_hand_fall_on_the_same_ticks():
    def model():
        chain = scenarios.load("chain", bodies=4)
        chain.at(0.03, Cut("ball2"))
        chain.at(0.05, Join("again", Spherical(), "rod1.end", "ground"))
        return chain

    with Simulation(model(), 1e-3) as one, Simulation(model(), 1e-3) as two:
        for until in (0.021, 0.1):
            one.run(until)
            by_steps(two, until)
            one.cut("ball3") if until == 0.021 else None
            two.cut("ball3") if until == 0.021 else None
        assert [e["tick"] for e in one.recorded.happenings] == [21, 30, 50]
        assert one.recorded.digest == two.recorded.digest


def test_a_joint_breaks_at_the_same_tick():
    def model():
        chain = scenarios.load("chain", bodies=3)
        chain.cut("ball1")
        chain.join("ball1", Spherical(), "rod0.end", "rod1.start", breaks_at=Limit(force=2.5, window=0.02))
        return chain

    with Simulation(model(), 1e-3) as one, Simulation(model(), 1e-3) as two:
        first, second = one.run(0.3), by_steps(two, 0.3)
    assert [e["kind"] for e in first.happenings] == ["break"]
    assert first.events == second.events
    assert first.digest == second.digest


def test_a_leak_rings_at_the_same_tick():
    logs = []
    for run in (lambda s: s.run(0.3), lambda s: by_steps(s, 0.3)):
        with (
            warnings.catch_warnings(),
            Simulation(scenarios.load("double-pendulum"), 5e-3, leak_limit=1e-6) as simulation,
        ):
            warnings.simplefilter("ignore", LeakWarning)
            logs.append(run(simulation).events)
    assert logs[0] and logs[0] == logs[1]


def test_a_run_that_diverges_stops_at_the_same_tick_with_everything_recorded():
    ends = []
    for go in (lambda s: s.run(1.0), lambda s: by_steps(s, 1.0)):
        with Simulation(
            scenarios.load("chain", bodies=12), 1e-3, Penalty(rule=Shannon(delta=0.3)), record_every=3
        ) as simulation:
            with pytest.raises(Diverged) as caught:
                go(simulation)
            ends.append((str(caught.value), caught.value.tick, simulation.recorded.digest, simulation.tick))
    assert ends[0] == ends[1]
    assert ends[0][3] == ends[0][1] - 1


@pytest.mark.parametrize("every", [1, 7])
def test_conditions_come_true_at_the_same_instants_and_repeat(every):
    """A chain that catches itself on the ground and lets go again, whenever its end passes a height."""

    def model():
        chain = scenarios.load("chain", bodies=3)
        chain.when(Crossing("rod2.end", "z", -0.1, direction=-1), Cut("ball2"))
        chain.when(Crossing("rod1.end", "x", 0.1), Join("catch", Spherical(), "rod1.end", "ground"), Cut("hook"))
        chain.when(Crossing("rod2.start", "z", -0.2, band=1e-3), Apply("kick", Load((0.0, 0.0, 5.0)), ["rod2.end"]))
        return chain

    with Simulation(model(), 1e-3, record_every=every) as one, Simulation(model(), 1e-3, record_every=every) as two:
        first, second = one.run(0.399), by_steps(two, 0.399)  # both end on a sample
    assert {event["kind"] for event in first.events} >= {"cut", "join", "apply"}
    assert first.events == second.events
    assert first.digest == second.digest


def test_a_tick_that_is_taken_back_leaves_no_trace_in_books_and_breakage():
    def model():
        chain = scenarios.load("chain", bodies=3)
        chain.cut("ball1")
        chain.join("ball1", Spherical(), "rod0.end", "rod1.start", breaks_at=Limit(force=2.5, window=0.02))
        chain.when(Crossing("rod2.end", "z", -0.15), Cut("ball2"))
        return chain

    with Simulation(model(), 1e-3) as one, Simulation(model(), 1e-3) as two:
        first, second = one.run(0.4), by_steps(two, 0.4)
    assert first.events == second.events
    assert first.digest == second.digest


def test_a_law_in_python_takes_part_and_changes_nothing_for_the_others():
    push = Load(Law(lambda t, x, v: (0.0, 0.3, 0.0)))
    runs = []
    for force in (push, Load((0.0, 0.3, 0.0))):
        model = scenarios.load("chain", bodies=3)
        model.apply("push", force, "rod2.end")
        with Simulation(model, 1e-3) as simulation:
            runs.append(simulation.run(0.05))
    assert runs[0].digest == runs[1].digest


@pytest.mark.short(1, each=True)
@pytest.mark.parametrize("threads", [3, 1, 2, 5])
def test_the_number_of_threads_changes_no_bit(threads):
    def model():
        chain = scenarios.load("chain", bodies=50)
        chain.apply("spring", SpringDamper(5.0, 0.1), "rod10.end", "rod40.end")
        return chain

    with (
        Simulation(model(), 1e-4, threads=threads, record_every=10) as many,
        Simulation(model(), 1e-4, record_every=10) as single,
    ):
        assert many.run(0.01).digest == by_steps(single, 0.01).digest
    assert threading.active_count() < 10


def test_more_bodies_may_want_more_threads():
    digests = []
    for threads in (5, 1):
        with Simulation(scenarios.load("chain", bodies=5), 1e-3, threads=threads) as simulation:
            simulation.run(0.01)
            for k in range(20):
                simulation.add(f"more{k}", Rod((k, 5.0, 0.0), (k + 1.0, 5.0, 0.0), 1.0))
            digests.append(simulation.run(0.02).digest)
    assert digests[0] == digests[1]


def test_where_no_more_threads_can_be_had_one_does_all(monkeypatch, caplog):
    started, start = [], threading.Thread.start

    def stingy(thread):
        started.append(thread)
        if len(started) > 2:
            raise RuntimeError("can't start new thread")
        start(thread)

    with Simulation(scenarios.load("chain", bodies=50), 1e-3) as single:
        expected = single.run(0.02).digest
    monkeypatch.setattr(threading.Thread, "start", stingy)
    with Simulation(scenarios.load("chain", bodies=50), 1e-3, threads=5) as simulation:
        assert simulation.run(0.02).digest == expected
    assert "5 threads cannot be started" in caplog.text
    assert not any(thread.is_alive() for thread in started)


def test_an_event_far_from_some_laws_works_out_its_margins():
    model = scenarios.load("chain", bodies=5)
    for k in (1, 4):
        model.apply(f"push{k}", Load(Law(lambda t, x, v: (0.0, 0.1, 0.0))), f"rod{k}.end")
    with Simulation(model, 1e-3) as simulation:
        before = simulation.margins
        simulation.cut("ball1")
        assert simulation.margins.keys() == before.keys() - {"ball1"}


def test_whole_numbers_in_a_state_are_recorded_as_numbers(monkeypatch):
    """Samples are copied as bytes, which only numbers of one kind can be."""
    whole = np.arange(3)[:, None]
    plain = NaturalBodies.state
    monkeypatch.setattr(NaturalBodies, "state", lambda self: {**plain(self), "mode": whole})
    with Simulation(scenarios.load("chain", bodies=3), 1e-3) as simulation:
        simulation.run(0.005)
        series = simulation.recorder.segments[-1].bodies[0][1]["mode"]
    assert (series[:5] == whole).all()


def test_a_record_in_parts_is_the_record_of_the_whole():
    with Simulation(mixture(law=False), 1e-3) as one, Simulation(mixture(law=False), 1e-3) as two:
        for until in np.arange(1, 11) * 0.013:
            one.run(until)
        assert one.recorded.digest == two.run(0.13).digest
