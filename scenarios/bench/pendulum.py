"""The planar double pendulum of the thesis: 5 s at Δt = 1e-4 s, a sample every 10 ticks, the whole loop."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import scenarios
from coordinator import Simulation
from scenarios.bench.figures import Figure, Target
from scenarios.bench.harness import Subject, spread, take_turns
from scenarios.bench.suite import Case, MeasuringEffort

NAME = "pendulum"
DT, UNTIL, RECORD_EVERY = 1e-4, 5.0, 10
COST = Target(0.35)  # [us]
WHOLE = Target(18.0)  # [ms]


def cases(effort: MeasuringEffort) -> list[Case]:
    """A single one."""
    return [Case("double pendulum", measure, effort.choose(4, 10))]


def measure(effort: MeasuringEffort) -> Iterator[Figure]:
    """Cost of a step in a run of its own, from a fresh start each time."""
    model = scenarios.load("double-pendulum")

    def prepare() -> Simulation:
        simulation = Simulation(model, DT, record_every=RECORD_EVERY, threads=1)
        simulation.run(10 * DT)
        return simulation

    def act(simulation: Any) -> None:
        simulation.run(UNTIL)

    seconds = take_turns({"run": Subject(prepare=prepare, act=act)}, effort.rounds)["run"]
    steps = round(UNTIL / DT) - 10
    yield Figure.of(NAME, "double pendulum: a step", "µs per step", spread(seconds).scaled(1e6 / steps), COST)
    yield Figure.of(NAME, "double pendulum: 5 s at Δt = 1e-4 s", "ms", spread(seconds).scaled(1e3), WHOLE)
