"""Timing: several subjects take turns in one run, and what is told is a median with its quartiles.

Machines drift: clocks change, neighbours come and go. So the subjects of a comparison are not timed one after the other
but in rounds, each round in the opposite order of the one before, and a ratio is taken within each round.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from modular.errors import ModelError
from modular.kernel import kernel

Clock = Callable[[], float]


@dataclass(frozen=True)
class Spread:
    """A median with its lower and upper quartile."""

    median: float
    low: float
    high: float
    samples: int

    def scaled(self, factor: float) -> Spread:
        """In another unit; the factor is positive."""
        return Spread(self.median * factor, self.low * factor, self.high * factor, self.samples)


@dataclass(frozen=True)
class Subject:
    """What is timed: `act`, given what `prepare` made outside the time; `finish` lets go of it."""

    act: Callable[[Any], object]
    prepare: Callable[[], Any] = lambda: None
    finish: Callable[[Any], object] = lambda made: None


def spread(samples: Sequence[float]) -> Spread:
    """Median and quartiles; samples that are no numbers make all three no number."""
    if not len(samples):
        raise ModelError("spread: no samples; measure at least one round.")
    low, median, high = np.percentile(np.asarray(samples, float), (25, 50, 75))
    return Spread(float(median), float(low), float(high), len(samples))


def ratio(above: Sequence[float], below: Sequence[float]) -> Spread:
    """above / below, round by round."""
    if len(above) != len(below):
        raise ModelError(f"ratio: {len(above)} samples above and {len(below)} below; both must be of the same rounds.")
    return spread([a / b for a, b in zip(above, below, strict=True)])


def take_turns(
    subjects: Mapping[str, Subject],
    rounds: int,
    *,
    warm_up: int = 1,
    clock: Clock = time.perf_counter,
    tidy: Callable[[], object] = gc.collect,
) -> dict[str, list[float]]:
    """Seconds of every subject in every round; rounds of warming up are not kept. `tidy` comes before each go."""
    if rounds < 1:
        raise ModelError(f"rounds = {rounds}; measure at least one.")
    seconds: dict[str, list[float]] = {name: [] for name in subjects}
    for number in range(-warm_up, rounds):
        names = list(subjects)
        for name in names if number % 2 == 0 else reversed(names):
            spent = timed(subjects[name], clock, tidy)
            if number >= 0:
                seconds[name].append(spent)
    return seconds


def timed(subject: Subject, clock: Clock = time.perf_counter, tidy: Callable[[], object] = gc.collect) -> float:
    """Seconds of one go; rubbish of others is collected before, what the subject makes is its own affair."""
    made = subject.prepare()
    tidy()
    started = clock()
    subject.act(made)
    spent = clock() - started
    subject.finish(made)
    return spent


# --- the yardstick ---------------------------------------------------------------------------------------------------


@kernel
def multiply_add(values: Any, times: int) -> float:
    """Multiply-adds that wait for each other and that no compiler can leave out."""
    total = 0.0
    for _ in range(times):
        for value in values:
            total = total * 0.999 + value
    return total


def yardstick(times: int = 2000) -> float:
    """Microseconds for 1 000 multiply-adds: what this machine, in this moment, makes of a fixed piece of arithmetic."""
    values = np.ones(1000)
    multiply_add(values, 1)
    started = time.perf_counter()
    multiply_add(values, times)
    return (time.perf_counter() - started) / times * 1e6
