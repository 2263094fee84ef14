"""Changes while it moves: a joint of a running chain is cut, and one that nobody announced is made."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial

from components import Spherical
from coordinator import Simulation
from scenarios.bench.figures import Figure, Target
from scenarios.bench.harness import spread
from scenarios.bench.models import chain
from scenarios.bench.stepping import DT
from scenarios.bench.suite import Case, MeasuringEffort

NAME = "edits"
COST = Target(100.0)  # [us]
NEVER_RECORD = 10**9  # ticks between samples
STEPS_BEFORE_CHANGE = 5  # steps before each change; the median of them is the ordinary one


def cases(effort: MeasuringEffort) -> list[Case]:
    """One for each length."""
    sizes = effort.choose((100, 1000), (100, 1000, 100_000))
    return [Case(f"chain of {bodies:,}", measure(bodies), 2 + bodies / 1000) for bodies in sizes]


def measure(bodies: int) -> Callable[[MeasuringEffort], Iterator[Figure]]:
    """A cut, or a join, with the step after it, over an ordinary step."""

    def figures(effort: MeasuringEffort) -> Iterator[Figure]:
        middle = bodies // 2
        sides = (f"rod{middle - 1}.end", f"rod{middle}.start")
        cuts: list[float] = []
        joins: list[float] = []
        with Simulation(chain(bodies), DT, record_every=NEVER_RECORD, threads=1) as simulation:
            joint = f"ball{middle}"
            for turn in range(-1, effort.rounds):  # the first turn warms up
                again = f"again{turn + 1}"
                cut, made = (
                    over_a_step(simulation, partial(simulation.cut, joint)),
                    over_a_step(simulation, partial(simulation.join, again, Spherical(), *sides)),
                )
                joint = again
                if turn >= 0:
                    cuts.append(cut)
                    joins.append(made)
        yield Figure.of(NAME, f"chain of {bodies:,}: cut a joint", "µs over a step", spread(cuts), COST)
        yield Figure.of(NAME, f"chain of {bodies:,}: make a new joint", "µs over a step", spread(joins), COST)

    return figures


def over_a_step(simulation: Simulation, change: Callable[[], object]) -> float:
    """Microseconds of a change and the step after it, less those of an ordinary step."""
    ordinary = sorted(_timed(simulation.step) for _ in range(STEPS_BEFORE_CHANGE))[STEPS_BEFORE_CHANGE // 2]

    def both() -> None:
        change()
        simulation.step()

    return 1e6 * (_timed(both) - ordinary)


def _timed(act: Callable[[], object]) -> float:
    started = time.perf_counter()
    act()
    return time.perf_counter() - started
