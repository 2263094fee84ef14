"""What recording costs: a sample of every tick against a sample of every 1 000th."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import scenarios
from modular.assembly import Assembly
from scenarios.bench.figures import Figure
from scenarios.bench.harness import ratio
from scenarios.bench.models import chain
from scenarios.bench.stepping import SELDOM, Stepper, step_together
from scenarios.bench.suite import Case, Effort

NAME = "recording"
MODELS: dict[str, Callable[[], Assembly]] = {
    "double pendulum": lambda: scenarios.load("double-pendulum"),
    "chain of 10": lambda: chain(10),
    "chain of 1,000": lambda: chain(1000),
}


def cases(effort: Effort) -> list[Case]:
    """One for each model."""
    return [Case(name, measure(name, model), effort.choose(2, 10)) for name, model in MODELS.items()]


def measure(name: str, model: Callable[[], Assembly]) -> Callable[[Effort], Iterator[Figure]]:
    """The same model twice, recorded often and seldom; fresh each, so that what was recorded before weighs on neither."""

    def figures(effort: Effort) -> Iterator[Figure]:
        built = model()
        steppers = {str(every): Stepper.of(built, record_every=every) for every in (1, 10, SELDOM)}
        seconds = step_together(steppers, effort)
        costs = {every: steppers[every].per_step(values) for every, values in seconds.items()}
        for every in ("1", "10"):
            note = f"{sorted(costs[every])[len(costs[every]) // 2]:.3g} µs per step"
            label = f"{name}: a sample every {'tick' if every == '1' else every + ' ticks'}, against every 1,000"
            yield Figure.of(NAME, label, "×", ratio(costs[every], costs[str(SELDOM)]), note=note)

    return figures
