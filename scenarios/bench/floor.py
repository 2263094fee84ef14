"""Overhead over a loop that is written by hand for one model and does the same arithmetic: scenarios/bench/by_hand."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from scenarios.bench.by_hand import chain as by_hand
from scenarios.bench.figures import Figure, Target
from scenarios.bench.harness import Subject, ratio, spread, take_turns
from scenarios.bench.models import chain
from scenarios.bench.stepping import DT, Stepper
from scenarios.bench.suite import Case, MeasuringEffort

NAME = "floor"
OVERHEAD = Target(1.3)
NAMED = "chain of {:,}: over a hand-written loop"


def cases(effort: MeasuringEffort) -> list[Case]:
    """One for each length."""
    sizes = effort.choose((10, 1000), (10, 100, 1000, 10_000))
    return [Case(NAMED.format(bodies), measure(bodies), 5, OVERHEAD) for bodies in sizes]


def measure(bodies: int) -> Callable[[MeasuringEffort], Iterator[Figure]]:
    """Ours over that loop, step by step."""

    def figures(effort: MeasuringEffort) -> Iterator[Figure]:
        stepper = Stepper.of(chain(bodies)).calibrate(effort.seconds)
        loop = by_hand.chain(bodies, DT)
        loop(stepper.ticks)  # compiled
        subjects = {"ours": stepper.subject, "theirs": Subject(lambda nothing: loop(stepper.ticks))}
        seconds = take_turns(subjects, effort.rounds)
        found = ratio(seconds["ours"], seconds["theirs"])
        ours, theirs = (spread(stepper.per_body(seconds[name])).median for name in ("ours", "theirs"))
        note = f"{ours:.3g} against {theirs:.3g} µs per body and step"
        yield Figure.of(NAME, NAMED.format(bodies), "×", found, OVERHEAD, note)

    return figures
