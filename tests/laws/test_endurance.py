"""A simulation does not age: what a change, a run or a live act costs has no slope over how many there were before.

Processor time is held against that of a young simulation in the same seconds, so that a slower machine counts for nothing.
Memory is that of the process. What is kept of a change for the record (samples, event, margins) is no ageing: so much is allowed,
and no more than that.
"""

import gc
import time

import numpy as np
import psutil
import pytest
from scipy.stats import t as student

import scenarios
from campaign import as_far_as, whole
from components import Revolute
from coordinator import Simulation
from coordinator.laboratory.acts import Drag, Grab, Release, Step
from coordinator.laboratory.session import Session

BLOCKS, YOUNG = 10, 15  # points of a fit, and changes of the young one for each, at least
MISJUDGED = 1e-3  # share of fits in which a slope that is zero is taken for another
BYTE = 1.0  # a straight line through equal numbers has a slope of rounding
LEAST = 0.1  # of the whole cost, over all repetitions: smaller slopes are those of caches and of the clock


def resting(every=1):
    model = scenarios.load("double-pendulum")
    model.gravity[:] = 0.0
    return Simulation(model, 1e-4, record_every=every)


class Changes:
    """A cut and a join with a tick after each."""

    kept = 16e3  # [bytes] of each, in the record
    middle = staticmethod(np.median)

    def __init__(self):
        self.simulation = resting()

    def once(self):
        simulation = self.simulation
        simulation.cut("elbow")
        simulation.run(simulation.time + simulation.dt)
        simulation.join("elbow", Revolute(), "upper.end", "lower.start")
        simulation.run(simulation.time + simulation.dt)

    def close(self):
        self.simulation.close()


class Runs(Changes):
    """Runs of a few ticks of which nothing is kept."""

    kept = 0.0

    def __init__(self):
        self.simulation = resting(every=1 << 40)

    def once(self):
        for _ in range(4):
            self.simulation.run(self.simulation.time + 5 * self.simulation.dt)


class LiveActs:
    """A body is grabbed, drawn and let go, with a tick on the way; each costs more until a page is turned, after some 200."""

    kept = 16e3
    middle = staticmethod(np.mean)

    def __init__(self):
        self.session = Session(resting(), folder=None)

    def once(self):
        session = self.session
        for act in (Grab("lower", "start", "end", 0.5), Drag((0.5, -0.5)), Step(1)):
            session.do(act)
            while session.pace.moving:
                session.turn()
        session.do(Release())

    def close(self):
        self.session.close()


CASES = [
    (Changes, 150),
    (Runs, as_far_as(6000, 300)),
    *whole([(Changes, 3000), (LiveActs, 2000)]),
]


def slope(points):
    """Of a line through points of equal distance, from the first to the last, and the error that its residuals leave it."""
    found, spread = np.polyfit(np.linspace(0.0, 1.0, len(points)), points, 1, cov=True)
    return found[0], np.sqrt(spread[0, 0]) * student.ppf(1.0 - MISJUDGED / 2, len(points) - 2)


def seconds_of(one, times):
    """The processor time of each of so many repetitions."""
    taken = []
    for _ in range(times):
        began = time.process_time()
        one.once()
        taken.append(time.process_time() - began)
    return np.array(taken)


def aged(kind, count):
    """Costs against those of a young simulation, as shares of their mean, and memory [bytes], block by block."""
    old, process, costs, memory = kind(), psutil.Process(), [], []
    seconds_of(old, 40)  # until pools, caches and lists have come to their size
    for _ in range(BLOCKS):
        young = Changes()
        seconds_of(young, 5)
        clock = np.median(seconds_of(young, max(YOUNG, min(100, count // BLOCKS))))
        young.close()
        costs.append(kind.middle(seconds_of(old, count // BLOCKS)) / clock)
        gc.collect()
        memory.append(process.memory_info().rss)
    old.close()
    return np.array(costs) / np.mean(costs), np.array(memory, float)


@pytest.mark.campaign
@pytest.mark.parametrize(("kind", "count"), CASES)
def test_neither_time_nor_memory_has_a_slope_over_what_was_done_before(kind, count):
    for _ in range(3):
        costs, memory = aged(kind, count)
        (dearer, error), (grown, spread) = slope(costs), slope(memory)
        per_act = (grown - spread) / (count * (BLOCKS - 1) / BLOCKS)
        print(
            f"{kind.__name__} {count}: costs {costs.min():.2f} to {costs.max():.2f}, slope {dearer:+.3f} ± {error:.3f}; "
            f"memory {memory[-1] / 1e6:.0f} MB, slope {grown / 1e6:+.2f} ± {spread / 1e6:.2f} MB, {per_act / 1e3:+.1f} kB each"
        )
        if dearer < max(error, LEAST) and per_act <= kind.kept + BYTE:
            return
    pytest.fail(f"costs {costs}, memory {memory}")
