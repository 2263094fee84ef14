"""Curves of what is followed, over the last seconds: all samples count, and few points are drawn.

The window is cut into slots of equal length. Of every slot the smallest and the largest value are kept, and which came first, so a
peak between two pictures is not lost however many ticks it was from one to the next. Where a slot holds one or two samples, its
points are the samples themselves.

Time goes on from one stretch of the record to the next (another step, another coupling). Where it goes back, because something was
undone, what has not happened is cut off.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from coordinator.laboratory.snapshot import Snapshot
from coordinator.record.recorder import Segment
from modular.elements import Array, Indices
from modular.errors import ModelError
from modular.numbers import number
from scenarios.laboratory.quantities import Constants, Piece, Quantity

# numbers of samples times bodies that are looked at in one go; where there are more, every so-manyth
MAX_NUMBERS = 100_000


class Slots(NamedTuple):
    """Stretches of the window, a row each, a column for every quantity."""

    number: Indices  # which stretch of the axis of time
    first: Array  # first and last sample [s]
    last: Array
    low: Array  # smallest and largest value, (n, m)
    high: Array
    low_at: Array  # when that was
    high_at: Array

    @classmethod
    def none(cls, columns: int) -> Slots:
        """No samples yet."""
        return cls(np.empty(0, np.int64), *np.empty((2, 0)), *np.empty((4, 0, columns)))

    def rows(self, which: Any) -> Slots:
        """Some of them."""
        return Slots(*(array[which] for array in self))

    def behind(self, later: Slots) -> Slots:
        """These, and later ones."""
        return Slots(*(np.concatenate(pair) for pair in zip(self, later, strict=True)))

    def columns(self, which: Sequence[int]) -> Slots:
        """Other columns in their order; -1: one in which nothing is known."""
        picked = np.array(which, np.int64)
        return Slots(*self[:3], *(np.where(picked < 0, np.nan, _wide(array)[:, picked]) for array in self[3:]))


class Read(NamedTuple):
    """How far a segment was read: its ticks in memory, which are held, and how many samples."""

    ticks: Any
    samples: int


class Curves:
    """The last `window` seconds of the simulation, as at most `points` points per curve."""

    def __init__(self, window: float = 10.0, points: int = 1000) -> None:
        self._slots = Slots.none(0)
        self._quantities: tuple[Quantity, ...] = ()
        self._fresh: list[int] = []  # columns whose past is still to be read
        self._read: dict[int, list[Read]] = {}  # by stretch
        self._constants: tuple[int, Constants] | None = None  # of a stretch
        self._points = max(int(points), 8)
        self.latest: Array = np.empty(0)  # values at the last sample
        self.window = window

    # --- what is asked for -------------------------------------------------------------------------------------------

    @property
    def window(self) -> float:
        """[s]."""
        return self._window

    @window.setter
    def window(self, seconds: float) -> None:
        if not number(seconds, "Curves: window", "s") > 0.0:
            raise ModelError(f"Curves: window = {seconds} s; give a positive time, such as 10.")
        self._window = float(seconds)
        self._width = self._window / (self._points // 2 - 1)
        old, self._slots = self._slots, Slots.none(len(self._quantities))
        if len(old.number):
            self._put(old.first, old.low, old.low_at, old.high, old.high_at, old.last)
            self._let_go()

    @property
    def quantities(self) -> tuple[Quantity, ...]:
        """What is followed, in the order of the columns."""
        return self._quantities

    def watch(self, quantities: Sequence[Quantity]) -> None:
        """Follow these from now on; of those that are new, the present stretch of the record tells the past."""
        before = {quantity: column for column, quantity in enumerate(self._quantities)}
        wanted = tuple(dict.fromkeys(quantities))
        columns = [before.get(quantity, -1) for quantity in wanted]
        still = {self._quantities[column] for column in self._fresh}
        self._quantities = wanted
        self._slots = self._slots.columns(columns)
        self._fresh = [k for k, quantity in enumerate(wanted) if columns[k] < 0 or quantity in still]
        known = np.append(self.latest, np.nan)
        self.latest = np.array([known[column] for column in columns])

    # --- samples -----------------------------------------------------------------------------------------------------

    def take(self, snapshot: Snapshot) -> None:
        """Read what has been recorded since."""
        dt = snapshot.plan.dt
        segments = [segment for segment in snapshot.record if segment.used]
        if not segments:
            return
        constants = self._known(snapshot)
        known = self._read.get(snapshot.stretch, [])
        same = 0  # segments that were read before
        while same < min(len(known), len(segments)) and known[same].ticks is memory(segments[same]):
            same += 1
        start = [min(read.samples, segment.used) for read, segment in zip(known[:same], segments, strict=False)]
        start += [0] * (len(segments) - same)
        new = next((k for k, segment in enumerate(segments) if start[k] < segment.used), len(segments))
        end = float(segments[-1].ticks[segments[-1].used - 1]) * dt
        present = end + 0.25 * dt if new == len(segments) else float(segments[new].ticks[start[new]]) * dt - 0.25 * dt
        again = self._go_back(present)
        begin = end - self._window - self._width
        past, pieces = [], []
        for k in range(0 if self._fresh or np.isfinite(again) else new, len(segments)):
            ticks, used = segments[k].ticks, segments[k].used
            oldest = int(np.searchsorted(ticks[:used], begin / dt)) if ticks[0] * dt < begin else 0
            torn = int(np.searchsorted(ticks[:used], again / dt)) if ticks[used - 1] * dt >= again else used
            first = max(min(start[k], torn), oldest)
            pieces.append((segments[k], first, used))
            past.append((segments[k], oldest, first))
        if self._fresh:
            self._work_out(past, constants, dt, self._fresh)
            self._fresh = []
        self._work_out(pieces, constants, dt, list(range(len(self._quantities))))
        self._read = {stretch: read for stretch, read in self._read.items() if stretch < snapshot.stretch}
        while len(self._read) > 16:
            del self._read[min(self._read)]
        kept = known[:new] if new < same else known[:same]
        self._read[snapshot.stretch] = [*kept, *(Read(memory(s), s.used) for s in segments[len(kept) :])]
        self._let_go()

    def _known(self, snapshot: Snapshot) -> Constants:
        """Bodies as they are described in this stretch."""
        plan = snapshot.plan
        if self._constants is None or self._constants[0] != snapshot.stretch:
            before = None if self._constants is None else self._constants[1]
            self._constants = snapshot.stretch, Constants(plan.gravity, plan.bodies, before)
        else:
            self._constants[1].learn(plan.bodies)
        return self._constants[1]

    def _work_out(
        self, pieces: Sequence[tuple[Segment, int, int]], constants: Constants, dt: float, columns: Sequence[int]
    ) -> None:
        """Some quantities at some samples."""
        bodies = max((sum(len(names) for names, _ in segment.bodies) for segment, _, _ in pieces), default=0)
        samples = sum(max(last - first, 0) for _, first, last in pieces)
        every = 1 + samples * max(bodies, 1) // MAX_NUMBERS
        times, values = [], []
        for segment, first, last in pieces:
            if last <= first or not columns:
                continue
            from_ = last - 1 - (last - 1 - first) // every * every  # the last sample is always one of them
            piece = Piece(segment, constants, from_, last, every)
            times.append(segment.ticks[piece.samples] * dt)
            values.append(np.stack([piece.value(self._quantities[column]) for column in columns], axis=1))
        if times:
            self._add(np.concatenate(times), np.concatenate(values), columns)
            self.latest[columns] = values[-1][-1]

    def _add(self, time: Array, values: Array, columns: Sequence[int]) -> None:
        """Put samples into their slots."""
        if len(columns) < len(self._quantities):
            wide = np.full((len(time), len(self._quantities)), np.nan)
            wide[:, columns] = values
            values = wide
        at = np.broadcast_to(time[:, None], values.shape)
        self._put(time, values, at, values, at, time)

    def _put(self, time: Array, low: Array, low_at: Array, high: Array, high_at: Array, last: Array) -> None:
        """Put samples, or what is left of some, into slots."""
        slot = np.floor(time / self._width).astype(np.int64)
        starts = np.flatnonzero(np.concatenate([[True], slot[1:] != slot[:-1]]))
        least, least_at = _extreme(np.fmin, low, low_at, starts)
        most, most_at = _extreme(np.fmax, high, high_at, starts)
        self._merge(
            Slots(slot[starts], time[starts], np.maximum.reduceat(last, starts), least, most, least_at, most_at)
        )

    def _merge(self, found: Slots) -> None:
        """Slots that are there get smaller lows and larger highs; others come at the end, or not at all."""
        old = self._slots
        place = np.searchsorted(old.number, found.number)
        there = place < len(old.number)
        there[there] = old.number[place[there]] == found.number[there]
        if there.any():
            rows, more = place[there], found.rows(there)
            old.first[rows] = np.minimum(old.first[rows], more.first)
            old.last[rows] = np.maximum(old.last[rows], more.last)
            for value, at, their_value, their_at, sign in (
                (old.low, old.low_at, more.low, more.low_at, 1.0),
                (old.high, old.high_at, more.high, more.high_at, -1.0),
            ):
                better = ~(sign * value[rows] <= sign * their_value) & ~np.isnan(their_value)
                value[rows] = np.where(better, their_value, value[rows])
                at[rows] = np.where(better, their_at, at[rows])
        behind = found.number > (old.number[-1] if len(old.number) else np.iinfo(np.int64).min)
        if behind.any():
            self._slots = old.behind(found.rows(behind))

    # --- time --------------------------------------------------------------------------------------------------------

    def _go_back(self, until: float) -> float:
        """Nothing from an instant on has happened; from where on samples have to be read again [s]."""
        slots = self._slots
        if not len(slots.number) or slots.last[-1] < until:
            return np.inf
        slots = self._slots = slots.rows(slots.first < until)
        if not len(slots.number) or slots.last[-1] < until:
            return np.inf
        low_lost, high_lost = ~(slots.low_at[-1] < until), ~(slots.high_at[-1] < until)
        slots.low[-1][low_lost], slots.low_at[-1][low_lost] = slots.high[-1][low_lost], slots.high_at[-1][low_lost]
        slots.high[-1][high_lost], slots.high_at[-1][high_lost] = slots.low[-1][high_lost], slots.low_at[-1][high_lost]
        for array in (slots.low, slots.high, slots.low_at, slots.high_at):
            array[-1][low_lost & high_lost] = np.nan
        slots.last[-1] = max(
            slots.first[-1], np.nanmax(np.append(slots.low_at[-1], slots.high_at[-1]), initial=-np.inf)
        )
        return float(slots.first[-1])

    def _let_go(self) -> None:
        """Of what has left the window."""
        slots = self._slots
        if len(slots.number):
            oldest = slots.number[-1] - (self._points // 2 - 1)
            if slots.number[0] < oldest:
                self._slots = slots.rows(slots.number >= oldest)

    # --- points ------------------------------------------------------------------------------------------------------

    def arrays(self) -> tuple[Array, ...]:
        """Times [s] and, one array per quantity, the values there; NaN where there was nothing."""
        slots = self._slots
        drawn = np.stack([np.ones(len(slots.first), bool), slots.last > slots.first], axis=1)
        time = np.stack([slots.first, slots.last], axis=1)[drawn]
        rising = slots.low_at <= slots.high_at
        before, after = np.where(rising, slots.low, slots.high), np.where(rising, slots.high, slots.low)
        return (time, *(np.stack([before[:, k], after[:, k]], axis=1)[drawn] for k in range(len(self._quantities))))


def memory(segment: Segment) -> Any:
    """Where the ticks of a segment lie: the same array for all that was ever cut from it."""
    return segment.ticks if segment.ticks.base is None else segment.ticks.base


def _extreme(kind: np.ufunc, values: Array, at: Array, starts: Indices) -> tuple[Array, Array]:
    """The smallest or largest value from each start to the next, and when it came first."""
    best = kind.reduceat(values, starts, axis=0)
    hit = values == np.repeat(best, np.diff(np.append(starts, len(values))), axis=0)
    return best, np.fmin.reduceat(np.where(hit, at, np.nan), starts, axis=0)


def _wide(array: Array) -> Array:
    """With one more column, which -1 stands for."""
    return np.concatenate([array, np.full((len(array), 1), np.nan)], axis=1)
