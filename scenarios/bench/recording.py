"""What recording costs: a sample of every tick, and of every tenth, against a sample of every 1 000th."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import scenarios
from coordinator import Simulation
from modular.assembly import Assembly
from scenarios.bench.figures import Figure
from scenarios.bench.harness import Subject, ratio, spread, take_turns
from scenarios.bench.models import chain
from scenarios.bench.stepping import DT, RECORD_EVERY, Stepper
from scenarios.bench.suite import Case, MeasuringEffort

NAME = "recording"
MAX_SAMPLES = 500_000  # most samples of bodies that a run keeps: some 200 MB
MODELS: dict[str, Callable[[], Assembly]] = {
    "double pendulum": lambda: scenarios.load("double-pendulum"),
    "chain of 10": lambda: chain(10),
    "chain of 1,000": lambda: chain(1000),
}


def cases(effort: MeasuringEffort) -> list[Case]:
    """One for each model."""
    return [Case(name, measure(name, model), effort.choose(2, 10)) for name, model in MODELS.items()]


def measure(name: str, model: Callable[[], Assembly]) -> Callable[[MeasuringEffort], Iterator[Figure]]:
    """The same run, recorded often and seldom; from a fresh start each time, so that no record lies in memory before."""

    def figures(effort: MeasuringEffort) -> Iterator[Figure]:
        assembly = model()
        calibrated = Stepper.of(assembly).calibrate(effort.seconds)
        ticks = min(calibrated.ticks, MAX_SAMPLES // calibrated.bodies)
        subjects = {every: recorded(assembly, every, ticks) for every in (1, 10, RECORD_EVERY)}
        seconds = take_turns({str(every): subject for every, subject in subjects.items()}, effort.rounds)
        for every, words in ((1, "tick"), (10, "10 ticks")):
            cost = spread(seconds[str(every)]).scaled(1e6 / ticks)
            found = ratio(seconds[str(every)], seconds[str(RECORD_EVERY)])
            label = f"{name}: a sample every {words}, against every 1,000"
            yield Figure.of(NAME, label, "×", found, note=f"{cost.median:.3g} µs per step")

    return figures


def recorded(assembly: Assembly, every: int, ticks: int) -> Subject:
    """A run of so many ticks, warmed up by ten."""

    def prepare() -> Simulation:
        simulation = Simulation(assembly, DT, record_every=every, threads=1)
        simulation.run(10 * DT)
        return simulation

    def act(simulation: Any) -> None:
        simulation.run((10 + ticks) * DT)

    return Subject(act, prepare, lambda simulation: simulation.close())
