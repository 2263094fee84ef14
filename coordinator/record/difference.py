"""Where two runs first differ, and why that may be."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from coordinator.record.archive import finite
from coordinator.record.run import Run
from coordinator.record.series import LEDGER_OF, Name, Piece, differ, series_of
from modular.elements import Array, Indices
from modular.errors import ModelError
from modular.ledger import LEDGER

AXES = "xyz"
MEANING = {
    "q": "coordinate",
    "v": "velocity",
    "a": "acceleration",
    "violation": "violation",
    "violation_rate": "rate of violation",
    "reaction": "reaction",
    LEDGER_OF: "ledger",
    "kept": "memory",
    "late": "lateness",
    "sunk": "depth",
    "yielded": "depth",
}
SAMPLE, EVENT, SERIES = range(3)  # what is named first where several things differ at one tick


@dataclass(frozen=True)
class Difference:
    """The first place where two runs differ; a value is None where one of them has none."""

    tick: int
    time: float  # [s]
    component: str
    series: str  # "q", "v", "a", "violation", "violation_rate", "reaction", "ledger"; "event"; "sample"
    index: tuple[int, ...]  # into the row of the series
    where: str  # the index in words, such as "element 1, y" or "leaked"
    first: Any
    second: Any
    others: int = 0  # further series that differ at this tick
    differing: int = 1  # series that differ anywhere
    largest: float = float("nan")  # largest difference in this series

    @property
    def difference(self) -> float:
        """Second minus first, where both are numbers."""
        numbers = (int, float)
        if isinstance(self.first, numbers) and isinstance(self.second, numbers):
            return float(self.second) - float(self.first)
        return float("nan")

    def __str__(self) -> str:
        place = f"tick {self.tick} ({self.time:.9g} s)"
        if self.series == "sample":
            has = "the first" if self.second is None else "the second"
            return f"{place}: only {has} run has a sample there."
        what = f"{place}: '{self.component}', {MEANING.get(self.series, self.series)}"
        what += f", {self.where}" if self.where else ""
        if self.first is None or self.second is None:
            return f"{what}: only {'the first' if self.second is None else 'the second'} run has it."
        text = f"{what}: {self.first!r} and {self.second!r}"
        if np.isfinite(self.difference):
            text += f", difference {self.difference:.3g}"
            if self.largest > abs(self.difference):
                text += f"; the largest in this series is {self.largest:.3g}"
        text += "."
        if self.differing > 1:
            text += f" {self.differing} series differ in all, {self.others + 1} of them from this tick on."
        return text


def first_difference(first: Run, second: Run) -> Difference | None:
    """The first place where two runs differ by a bit, or None; looks at samples, events and all series.

    Where several things differ at the same tick, a missing sample is named before an event, and an event before
    series; those in the order in which their components appeared, bodies first.
    """
    if first.dt != second.dt:
        raise ModelError(
            f"first_difference: the runs have steps of {first.dt:g} and {second.dt:g} s; runs are compared tick by tick, so give "
            "two of the same step."
        )
    found = [(SAMPLE, place) for place in _samples(first, second)]
    found += [(EVENT, place) for place in _events(first, second)]
    series = list(_series(first, second))
    found += [(SERIES, place) for place in series]
    if not found:
        return None
    _, chosen = min(found, key=lambda item: (item[1].tick, item[0]))
    others = sum(1 for place in series if place.tick == chosen.tick and place is not chosen)
    fields = vars(chosen) | {"others": others, "differing": max(len(series), 1)}
    return Difference(**fields)


def why_different(first: Run, second: Run) -> list[str]:
    """What differs in what decides the bits, a line each: model, settings, versions, machine; and what the runs say themselves."""
    lines = []
    if first.model != second.model:
        parts = [key for key in first.model if first.model[key] != second.model.get(key)]
        lines.append(f"the models differ in {', '.join(parts) or 'what they hold'}")
    for what in ("settings", "versions", "machine"):
        lines += _unlike(getattr(first, what), getattr(second, what))
    for which, run in (("first", first), ("second", second)):
        lines += [f"the {which} run cannot be repeated from its folder: {obstacle}" for obstacle in run.obstacles]
        if run.written_digest is not None and run.written_digest != run.digest:
            lines.append(f"the arrays of the {which} run are not those that were written: they have another digest")
    return lines


def _unlike(first: Mapping[str, Any], second: Mapping[str, Any]) -> Iterator[str]:
    for key in dict.fromkeys((*first, *second)):
        a, b = first.get(key, "not told"), second.get(key, "not told")
        if a != b:
            yield f"{key}: {a} and {b}"


# --- samples and events ------------------------------------------------------------------------------------------------


def _samples(first: Run, second: Run) -> Iterator[Difference]:
    alone = np.setxor1d(first.ticks, second.ticks)
    if alone.size:
        tick = int(alone[0])
        has = bool(np.isin(tick, first.ticks))
        yield Difference(
            tick, tick * first.dt, "", "sample", (), "", tick if has else None, None if has else tick
        )  # fmt: skip


def _events(first: Run, second: Run) -> Iterator[Difference]:
    """The first entry of the log that differs; who made it is left out."""
    logs = [[{k: v for k, v in finite(event).items() if k != "by"} for event in run.events] for run in (first, second)]
    for k in range(max(map(len, logs))):
        a, b = (log[k] if k < len(log) else None for log in logs)
        if a == b:
            continue
        given = [event for event in (a, b) if event is not None]
        event = min(given, key=lambda one: one["tick"])
        place = (int(event["tick"]), float(event["time"]), str(event["name"]), "event", ())
        if a is None or b is None or (a["kind"], a["name"]) != (b["kind"], b["name"]):
            entries = [None if entry is None else f"{entry['kind']} '{entry['name']}'" for entry in (a, b)]
            yield Difference(*place, "", entries[0], entries[1])
        else:
            key = next(key for key in dict.fromkeys((*a, *b)) if a.get(key) != b.get(key))
            yield Difference(*place, f"{a['kind']}, {key}", a.get(key), b.get(key))
        return


# --- series ------------------------------------------------------------------------------------------------------------


def _series(first: Run, second: Run) -> Iterator[Difference]:
    """The first difference of every series that differs."""
    left, right = series_of(first.segments), series_of(second.segments)
    for name in dict.fromkeys((*left, *right)):
        place = _first_of(name, left.get(name, []), right.get(name, []), first)
        if place is not None:
            yield place


def _first_of(name: Name, left: Sequence[Piece], right: Sequence[Piece], run: Run) -> Difference | None:
    component, key = name
    dt, dimension = run.dt, len(run.model["gravity"])
    ticks_a, ticks_b = _ticks(left), _ticks(right)
    if not len(ticks_a) and not len(ticks_b):
        return None
    shape = _shape([*left, *right])
    a, b = _values(left, shape), _values(right, shape)
    alone, common = np.empty(0, np.int64), ticks_a
    if not np.array_equal(ticks_a, ticks_b):
        alone = np.setxor1d(ticks_a, ticks_b)
        common, rows_a, rows_b = np.intersect1d(ticks_a, ticks_b, assume_unique=True, return_indices=True)
        a, b = a[rows_a], b[rows_b]
    wrong = differ(a, b).reshape(len(common), math.prod(shape))
    late = np.flatnonzero(wrong.any(axis=1))
    if alone.size and (not late.size or alone[0] <= common[late[0]]):
        tick = int(alone[0])
        has = bool(np.isin(tick, ticks_a))
        return Difference(
            tick, tick * dt, component, key, (), "", "there" if has else None, None if has else "there"
        )  # fmt: skip
    if not late.size:
        return None
    row = int(late[0])
    index = tuple(int(i) for i in np.unravel_index(int(np.argmax(wrong[row])), shape))
    with np.errstate(invalid="ignore", over="ignore"):
        gaps = np.abs(a - b)
    return Difference(
        int(common[row]), int(common[row]) * dt, component, key, index, _words(key, index, dimension),
        float(a[row][index]), float(b[row][index]), largest=float(np.nanmax(gaps)) if np.isfinite(gaps).any() else np.nan,
    )  # fmt: skip


def _ticks(pieces: Sequence[Piece]) -> Indices:
    return np.concatenate([ticks for ticks, _ in pieces]) if pieces else np.empty(0, np.int64)


def _shape(pieces: Sequence[Piece]) -> tuple[int, ...]:
    """The widest row: a joint re-made in another form has fewer for a while."""
    return tuple(np.max([values.shape[1:] for _, values in pieces], axis=0).tolist())


def _values(pieces: Sequence[Piece], shape: tuple[int, ...]) -> Array:
    wide = np.full((sum(len(ticks) for ticks, _ in pieces), *shape), np.nan)
    start = 0
    for ticks, values in pieces:
        wide[(slice(start, start + len(ticks)), *(slice(n) for n in values.shape[1:]))] = values
        start += len(ticks)
    return wide


def _words(key: str, index: tuple[int, ...], dimension: int) -> str:
    """An index as people say it."""
    if key == LEDGER_OF:
        return LEDGER[index[0]]
    if key == "reaction" and index[0] < dimension:
        return f"force {AXES[index[0]]}"
    if key == "reaction":
        return f"moment {'z' if dimension == 2 else AXES[index[0] - dimension]}"
    if len(index) == 2 and index[1] < len(AXES):
        return f"element {index[0]}, {AXES[index[1]]}"
    return f"row {', '.join(str(i) for i in index)}"
