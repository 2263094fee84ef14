"""What lies behind costs nothing: a run goes on as fast after many events as after few, and knows as much of itself."""

import time

import numpy as np
import pytest

import scenarios
from campaign import as_far_as, whole
from components import Revolute
from coordinator import Simulation
from coordinator.record import ways
from coordinator.record.evidence import Evidence, Recorded
from coordinator.record.recorder import Taken


def resting():
    """Two rods that hang together and have nowhere to go, so that their joint can be made again at any time."""
    model = scenarios.load("double-pendulum")
    model.gravity[:] = 0.0
    return Simulation(model, 1e-4)


def changed(simulation):
    """A cut and a join, each followed by a tick."""
    simulation.cut("elbow")
    simulation.run(simulation.time + simulation.dt)
    simulation.join("elbow", Revolute(), "upper.end", "lower.start")
    return simulation.run(simulation.time + simulation.dt)


def dearer(one, other, changes=15):
    """How much more processor time a change takes the second simulation: they take turns, and the middle of each counts."""
    times = [], []
    for _ in range(changes):
        for simulation, taken in zip((one, other), times, strict=True):
            began = time.process_time()
            changed(simulation)
            taken.append(time.process_time() - began)
    return np.median(times[1]) / np.median(times[0])


@pytest.mark.campaign
@pytest.mark.parametrize("before", [1000, *whole([10_000])])
def test_the_time_of_a_change_does_not_grow_with_the_number_of_those_before(before):
    """What came before is made up: what a simulation keeps of a change is there so many times more."""
    with resting() as one, resting() as other:
        for simulation in (one, other):
            for _ in range(10):
                changed(simulation)
        repeat(other, before)
        assert len(other.recorder.segments) > 2 * before
        assert any(dearer(one, other) < 1.2 for _ in range(6))


def repeat(simulation, times):
    """Let the first change have happened so many times more: its segments, events and margins again and again, in past ticks."""
    recorder, past = simulation.recorder, simulation.past
    early, late = recorder.segments[:3], recorder.segments[3:]
    recorder.segments = early + [part.trimmed() for _ in range(times) for part in early[1:]] + late
    past.events[:0] = [dict(event) for _ in range(times) for event in past.events[:2]]
    past.margins[:0] = [dict(entry) for _ in range(times) for entry in past.margins[:2]]


@pytest.mark.campaign("more")
def test_the_ten_thousandth_change_takes_as_long_as_the_hundredth():
    """The three hundredth, where the campaign is short."""
    with resting() as one, resting() as other:
        for _ in range(as_far_as(10_000, 300)):
            changed(other)
        for _ in range(100):
            changed(one)
        assert any(dearer(one, other, 100) < 1.2 for _ in range(3))


def test_cuts_and_joins_in_one_instant_leave_nothing_behind():
    """No tick lies between them: what was just cut is forgotten when it is there again."""
    with resting() as one:
        one.run(1e-3)
        for _ in range(20):
            one.cut("elbow")
            one.join("elbow", Revolute(), "upper.end", "lower.start")
        assert not one.system.just_cut
        again, preload = one.recorded, one.system.joint_home["elbow"].stack.preload.copy()
        one.cut("elbow")
        assert len(one.system.just_cut) == 1
        one.join("elbow", Revolute(), "upper.end", "lower.start")
        np.testing.assert_array_equal(one.system.joint_home["elbow"].stack.preload, preload)
        assert len(again) == len(one.recorded)


def test_a_run_that_was_looked_at_on_the_way_is_judged_as_one_that_was_not():
    """Also where events take samples back, and the pauses between those that are looked at grow."""
    estimates = []
    for often in (True, False):
        with Simulation(scenarios.load("cut-double-pendulum"), 1e-3) as simulation:
            for k in range(1, 13):
                simulation.run(0.025 * k)
                if k == 5:
                    simulation.cut("pivot")
                if often:
                    assert simulation.recorded.estimate
            estimates.append(simulation.recorded.estimate)
    assert estimates[0] == estimates[1]
    run, order = simulation.recorded, simulation.coupling.declared_order
    afresh = Evidence().estimate(
        Recorded(Taken.of(run.segments), run.forms, run.bodies, run.dt, np.array(run.model["gravity"])), order
    )
    assert afresh.to_data() == estimates[0]


def test_a_run_stays_as_it_was_when_events_follow():
    """Runs share what is finished; the sample of an event takes the place of one before it in later runs alone."""
    with resting() as simulation:
        runs = [changed(simulation) for _ in range(4)]
        kept = [(run.digest, len(run), len(run.events), len(run.margins)) for run in runs]
        simulation.cut("pivot")
        simulation.run(0.01)
        assert [(run.digest, len(run), len(run.events), len(run.margins)) for run in runs] == kept
    assert runs[3].segments[0] is runs[2].segments[0]
    assert np.all(np.diff([len(run.events) for run in runs]) == 2)


@pytest.mark.short(1)
@pytest.mark.parametrize("every", [1, 3, 10])
def test_what_was_looked_at_is_not_looked_at_again_however_seldom_samples_are(every, monkeypatch):
    """A sample that an event takes back is the last of its segment, and may be all of it."""
    looked = []

    def counted(segment, at, *rest):
        looked.append(len(at))
        return look(segment, at, *rest)

    look = ways._look
    monkeypatch.setattr(ways, "_look", counted)
    counts = []
    with Simulation(scenarios.load("double-pendulum"), 1e-3, record_every=every) as simulation:
        for _ in range(3):
            looked.clear()
            for _ in range(25):
                simulation.run(simulation.time + simulation.dt)
                simulation.cut("elbow")
                simulation.run(simulation.time + simulation.dt)
                simulation.join("elbow", Revolute(), "upper.end", "lower.start")
                assert simulation.recorded.estimate is not None
            counts.append(sum(looked))
    assert counts[2] <= 1.2 * counts[1]
