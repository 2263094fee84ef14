"""Overhead over a hand-written compiled loop that does the same arithmetic: benchmarks/floor.py of the sources.

That file defines `chain(bodies, dt)`, which returns a function of a number of ticks: calling it moves the ready scenario
`chain` on by so many steps.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import scenarios
from scenarios.bench.figures import Figure, Target
from scenarios.bench.harness import Subject, ratio, take_turns
from scenarios.bench.models import chain
from scenarios.bench.stepping import DT, Stepper
from scenarios.bench.suite import Case, Effort, Skip

NAME = "floor"
OVERHEAD = Target(1.3)
NAMED = "chain of {:,}: over a hand-written loop"
FILE = Path(scenarios.__file__).resolve().parent.parent / "benchmarks" / "floor.py"


def cases(effort: Effort) -> list[Case]:
    """One for each length."""
    return [Case(NAMED.format(n), measure(n), 5, OVERHEAD) for n in effort.choose((10, 1000), (10, 1000, 10_000))]


def measure(bodies: int) -> Callable[[Effort], Iterator[Figure]]:
    """Ours over theirs, step by step."""

    def figures(effort: Effort) -> Iterator[Figure]:
        loop = written_by_hand().chain(bodies, DT)
        stepper = Stepper.of(chain(bodies)).calibrate(effort.seconds)
        loop(stepper.ticks)  # compiled
        subjects = {"modular": stepper.subject, "floor": Subject(lambda nothing: loop(stepper.ticks))}
        seconds = take_turns(subjects, effort.rounds)
        found = ratio(seconds["modular"], seconds["floor"])
        yield Figure.of(NAME, NAMED.format(bodies), "×", found, OVERHEAD)

    return figures


def written_by_hand() -> ModuleType:
    """The file with the loop; it lies beside the sources and not in an installed package."""
    if not FILE.is_file():
        raise Skip("benchmarks/floor.py is not here; run from a clone of the repository that has it.")
    spec = importlib.util.spec_from_file_location("modular_benchmarks_floor", FILE)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    if not hasattr(module, "chain"):
        raise Skip("benchmarks/floor.py defines no chain(bodies, dt) that returns a function of a number of ticks.")
    return module
