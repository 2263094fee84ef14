"""The suite: its families, who is asked for, and running them so that nothing measured is lost."""

from __future__ import annotations

import difflib
import importlib
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, cast

from modular.errors import CouplingError, ModelError
from scenarios.bench.figures import Figure, Point, Target

# name -> module of scenarios.bench; in this order they run
FAMILIES = {
    "chain": "chain",
    "joints": "joints",
    "pendulum": "pendulum",
    "recording": "recording",
    "edits": "edits",
    "startup": "startup",
    "memory": "memory",
    "threads": "threads",
    "workers": "workers",
    "floor": "floor",
    "exudyn": "peers.exudyn",
    "mujoco": "peers.mujoco",
    "pinocchio": "peers.pinocchio",
    "glued": "glued",
    "work-precision": "work_precision",
}


class Skip(Exception):
    """A case cannot be measured here; the text says why."""


@dataclass(frozen=True)
class MeasuringEffort:
    """How hard to try: rounds of every comparison, seconds of every sample."""

    quick: bool = False
    rounds: int = 9
    seconds: float = 0.4

    def choose(self, quick: Any, full: Any) -> Any:
        """The small or the full list of sizes."""
        return quick if self.quick else full


QUICK = MeasuringEffort(quick=True, rounds=5, seconds=0.05)
FULL = MeasuringEffort()

Measure = Callable[[MeasuringEffort], Iterator[Figure | Point]]


@dataclass(frozen=True)
class Case:
    """A piece of work that gives figures one after the other; `weight` is about how long it takes [s].

    `target` is that of its figure where nothing can be measured.
    """

    name: str
    measure: Measure
    weight: float = 1.0
    target: Target | None = None


class Family(Protocol):
    """A module of the suite: its first line says what it measures."""

    def cases(self, effort: MeasuringEffort) -> list[Case]:
        """Its pieces of work."""


@dataclass
class Results:
    """Everything measured, until the end or until somebody stopped it."""

    machine: dict[str, Any]
    quick: bool
    command: str = ""
    figures: list[Figure] = field(default_factory=list)
    points: list[Point] = field(default_factory=list)
    yardsticks: list[float] = field(default_factory=list)  # [us], one before each case
    seconds: float = 0.0
    interrupted: bool = False


def choose(only: str | None) -> list[str]:
    """The families asked for, in the order of the suite; a name that is none is refused with the nearest one."""
    if only is None:
        return list(FAMILIES)
    asked = [name.strip() for name in only.split(",") if name.strip()]
    if not asked:
        raise ModelError(
            f"--only {only!r}: give names such as --only chain,pendulum; there are: {', '.join(FAMILIES)}."
        )
    for name in asked:
        if name not in FAMILIES:
            near = difflib.get_close_matches(name, FAMILIES, 1)
            hint = f"did you mean '{near[0]}'?" if near else f"there are: {', '.join(FAMILIES)}."
            raise ModelError(f"--only: there is no benchmark '{name}'; {hint}")
    return [name for name in FAMILIES if name in asked]


def family(name: str) -> Family:
    """The module of a family."""
    return cast(Family, importlib.import_module(f"scenarios.bench.{FAMILIES[name]}"))


def describe(name: str) -> str:
    """What a family measures: the first line of its module."""
    return (family(name).__doc__ or "").partition("\n")[0]


def run_suite(
    names: Sequence[str],
    effort: MeasuringEffort,
    results: Results,
    *,
    begin: Callable[[Sequence[Case]], object] = lambda cases: None,
    before: Callable[[str, Case], object] = lambda name, case: None,
    after: Callable[[Case, Sequence[Figure]], object] = lambda case, figures: None,
    stick: Callable[[], float] | None = None,
) -> Results:
    """Measure into `results`; Ctrl-C ends it and keeps what is there. `before` and `after` are told of each case."""
    started = time.perf_counter()
    work = [(name, case) for name in names for case in family(name).cases(effort)]
    begin([case for _, case in work])
    try:
        for name, case in work:
            before(name, case)
            if stick is not None:
                results.yardsticks.append(stick())
            known = len(results.figures)
            _measure(name, case, effort, results)
            after(case, results.figures[known:])
    except KeyboardInterrupt:
        results.interrupted = True
    finally:
        results.seconds = time.perf_counter() - started
    return results


def _measure(name: str, case: Case, effort: MeasuringEffort, results: Results) -> None:
    try:
        for found in case.measure(effort):
            if isinstance(found, Figure):
                results.figures.append(found)
            else:
                results.points.append(found)
    except (Skip, ModelError, CouplingError, ArithmeticError, MemoryError) as error:
        why = str(error).partition("\n")[0] or type(error).__name__
        results.figures.append(Figure.skipped(name, case.name, why, case.target))
