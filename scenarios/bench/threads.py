"""Two threads against one, on a chain of 10 000 rods."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

from coordinator import Simulation
from scenarios.bench.figures import Figure, Target
from scenarios.bench.harness import ratio
from scenarios.bench.machine import machine
from scenarios.bench.models import chain
from scenarios.bench.stepping import DT, RECORD_EVERY, Stepper, step_together
from scenarios.bench.suite import Case, MeasuringEffort

NAME = "threads"
GAIN = Target(1.6, at_least=True)
BODIES = 10_000


def cases(effort: MeasuringEffort) -> list[Case]:
    """A single one."""
    return [Case("two threads", measure, effort.choose(10, 30))]


def measure(effort: MeasuringEffort) -> Iterator[Figure]:
    """How many times faster."""
    name = f"chain of {BODIES:,}: two threads against one"
    if "threads" not in inspect.signature(Simulation).parameters:
        yield Figure.skipped(NAME, name, "Simulation has no argument `threads`.", GAIN)
        return
    if machine()["cores"] < 2:
        yield Figure.skipped(NAME, name, "this machine has one core.", GAIN)
        return
    model = chain(BODIES)
    many: Any = Simulation  # the argument is younger than some versions of it
    steppers = {str(n): Stepper(many(model, DT, record_every=RECORD_EVERY, threads=n), BODIES) for n in (1, 2)}
    seconds = step_together(steppers, effort)
    costs = {n: steppers[n].per_body(values) for n, values in seconds.items()}
    yield Figure.of(NAME, name, "× the speed of one", ratio(costs["1"], costs["2"]), GAIN)
