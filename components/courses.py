"""What drives follow over time: formulae and smooth tables, as data (modular/courses.py says in which numbers).

A drive needs the rate of what it follows, and its acceleration too: so a table goes through its points as a cubic spline, and a
function in Python is taken as such a table (`Smooth.of`). Then nobody has to come back to Python at every tick.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import pi
from typing import Any, Self

import numpy as np

from modular.component import Component
from modular.courses import NUMBERS_PER_ROW
from modular.elements import Array
from modular.errors import ModelError

Numbers = float | Sequence[float]  # one for each row that is driven; a number alone where there is one


class Course(Component):
    """Something that changes over time in a way that is known beforehand."""

    @property
    @abstractmethod
    def width(self) -> int:
        """Numbers at each time."""

    @abstractmethod
    def pieces(self) -> Array:
        """(pieces, 1 + 7 width)."""

    @property
    def fastest(self) -> float:
        """The highest frequency with which it swings [Hz]; 0 where it does not."""
        numbers = self.pieces()[:, 1:].reshape(-1, NUMBERS_PER_ROW)
        return float(np.abs(numbers[numbers[:, 4] != 0.0, 5]).max(initial=0.0)) / (2 * pi)

    def at(self, time: float) -> Array:
        """Value, rate and acceleration at a time, (3, width)."""
        rows = self.pieces()
        row = rows[max(int(np.searchsorted(rows[:, 0], time, "right")) - 1, 0)]
        s, c = time - row[0], row[1:].reshape(-1, NUMBERS_PER_ROW).T
        sine, cosine = c[4] * np.sin(c[5] * s + c[6]), c[4] * c[5] * np.cos(c[5] * s + c[6])
        return np.array(
            [
                c[0] + s * (c[1] + s * (c[2] + s * c[3])) + sine,
                c[1] + s * (2.0 * c[2] + s * 3.0 * c[3]) + cosine,
                2.0 * c[2] + s * 6.0 * c[3] - c[5] ** 2 * sine,
            ]
        )


@dataclass(frozen=True)
class Ramp(Course):
    """rate t + acceleration t^2 / 2: a constant speed, or one that grows."""

    rate: Numbers
    acceleration: Numbers = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        _finite(self, "rate", "acceleration")

    @property
    def width(self) -> int:
        """Numbers at each time."""
        return max(np.size(self.rate), np.size(self.acceleration))

    def pieces(self) -> Array:
        """One."""
        made = _empty(1, self.width)
        made[0, 2::NUMBERS_PER_ROW], made[0, 3::NUMBERS_PER_ROW] = self.rate, 0.5 * np.asarray(self.acceleration, float)
        return made


@dataclass(frozen=True)
class Sine(Course):
    """amplitude sin(2 pi frequency t + phase); frequency [Hz], phase [rad]."""

    amplitude: Numbers
    frequency: Numbers
    phase: Numbers = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        _finite(self, "amplitude", "frequency", "phase")

    @property
    def width(self) -> int:
        """Numbers at each time."""
        return max(np.size(self.amplitude), np.size(self.frequency), np.size(self.phase))

    def pieces(self) -> Array:
        """One."""
        made = _empty(1, self.width)
        made[0, 5::NUMBERS_PER_ROW], made[0, 6::NUMBERS_PER_ROW] = (
            self.amplitude,
            2 * pi * np.asarray(self.frequency, float),
        )
        made[0, 7::NUMBERS_PER_ROW] = self.phase
        return made


@dataclass(frozen=True)
class Smooth(Course):
    """A cubic spline through values at times [s], at rest before the first and after the last, or going on there as it went
    (`goes_on`).

    `rates` at the same times, where they are known: then each piece has those of its two ends. Left out, the spline is the
    one whose acceleration is continuous.
    """

    times: Sequence[float]
    values: Sequence[Any]
    rates: Sequence[Any] | None = None
    goes_on: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        try:
            times = np.atleast_1d(np.asarray(self.times, float))
            tables = [
                np.asarray(self.values, float),
                np.asarray(self.values if self.rates is None else self.rates, float),
            ]
        except (TypeError, ValueError) as error:
            raise ModelError(f"Smooth: {error}; give numbers, equally many at each time.") from error
        shapes = {table.shape for table in tables}
        if (
            times.ndim != 1
            or len(times) < 2
            or len(shapes) > 1
            or tables[0].ndim not in (1, 2)
            or len(tables[0]) != len(times)
            or not all(np.isfinite(table).all() for table in (times, *tables))
            or not (np.diff(times) > 0).all()
        ):
            raise ModelError(
                f"Smooth: {times.size} times, values {tables[0].shape}, rates {tables[1].shape}; give at least two finite times "
                "that rise, and equally many finite values (and rates, if any)."
            )

    @classmethod
    def of(cls, function: Callable[[float], Any], start: float, stop: float, every: float) -> Self:
        """A function of time, looked at at equal steps near `every` [s]; the error falls with its fourth power.

        Rates are differences over a small part of a step, so it must be defined a little before and after.
        """
        count = max(1, round((stop - start) / every))
        times = np.linspace(start, stop, count + 1)
        h = (stop - start) / count / 16
        values = np.array([np.asarray(function(float(t)), float) for t in times])
        around = [np.array([np.asarray(function(float(t)), float) for t in times + k * h]) for k in (-2, -1, 1, 2)]
        rates = (around[0] - 8 * around[1] + 8 * around[2] - around[3]) / (12 * h)
        return cls(times, values, rates)  # type: ignore[arg-type]

    @property
    def width(self) -> int:
        """Numbers at each time."""
        return int(np.size(self.values[0]))

    def pieces(self) -> Array:
        """One between each two times, and one on either side."""
        t = np.asarray(self.times, float)
        y = np.asarray(self.values, float).reshape(len(t), -1)
        slope = (
            _slopes(t, y, free=self.goes_on)
            if self.rates is None
            else np.asarray(self.rates, float).reshape(len(t), -1)
        )
        h, rise = np.diff(t)[:, None], np.diff(y, axis=0)
        made = _empty(len(t) + 1, y.shape[1])
        made[0, 0], made[1:, 0] = t[0], t
        made[0, 1::NUMBERS_PER_ROW], made[1:, 1::NUMBERS_PER_ROW] = y[0], y
        made[1:-1, 2::NUMBERS_PER_ROW] = slope[:-1]
        if self.goes_on:
            made[0, 2::NUMBERS_PER_ROW], made[-1, 2::NUMBERS_PER_ROW] = slope[0], slope[-1]
            made[-1, 0] = np.nextafter(t[-1], np.inf)  # at the last time it still bends as it did
        made[1:-1, 3::NUMBERS_PER_ROW] = (3.0 * rise / h - 2.0 * slope[:-1] - slope[1:]) / h
        made[1:-1, 4::NUMBERS_PER_ROW] = (slope[:-1] + slope[1:] - 2.0 * rise / h) / h**2
        return made


def _slopes(t: Array, y: Array, *, free: bool) -> Array:
    """Rates of the spline with continuous accelerations, three unknowns a row; its ends are at rest, or free of acceleration."""
    n, h = len(t), np.diff(t)[:, None]
    rise = np.diff(y, axis=0) / h
    slope = np.zeros_like(y)
    if n == 2:
        return slope + rise if free else slope
    pull = 3.0 * (rise[:-1] / h[:-1] + rise[1:] / h[1:])
    over = np.zeros(n)
    if free:  # 2 s_0 + s_1 = 3 r_0, and the same at the end
        over[0], slope[0] = 0.5, 1.5 * rise[0]
    for k in range(1, n - 1):
        pivot = 2.0 / h[k - 1, 0] + 2.0 / h[k, 0] - over[k - 1] / h[k - 1, 0]
        over[k] = 1.0 / h[k, 0] / pivot
        slope[k] = (pull[k - 1] - slope[k - 1] / h[k - 1, 0]) / pivot
    if free:
        slope[-1] = (3.0 * rise[-1] - slope[-2]) / (2.0 - over[-2])
    for k in range(n - 2, -1 if free else 0, -1):
        slope[k] -= over[k] * slope[k + 1]
    return slope


def _empty(count: int, width: int) -> Array:
    return np.zeros((count, 1 + NUMBERS_PER_ROW * width))


def _finite(course: Course, *names: str) -> None:
    """Refuse what is no number, and numbers that do not go together."""
    sizes = set()
    for name in names:
        value = getattr(course, name)
        try:
            numbers = np.asarray(value, float)
        except (TypeError, ValueError):
            numbers = np.array(np.nan)
        if isinstance(value, bool) or numbers.ndim > 1 or not numbers.size or not np.isfinite(numbers).all():
            raise ModelError(f"{type(course).__name__}: {name} = {value!r}; give a finite number, or one for each row.")
        sizes.add(numbers.size)
    if len(sizes - {1}) > 1:
        raise ModelError(f"{type(course).__name__}: give equally many numbers for {', '.join(names)}, or one for all.")


def followed(name: str, course: Any, rows: int, own: Sequence[float] = ()) -> tuple[float, ...]:
    """What a joint fixes when it is made: how many pieces, where the course begins (told later), its own numbers, the pieces."""
    if not isinstance(course, Course):
        raise ModelError(
            f"joint '{name}': course = {course!r}; give a Ramp, a Sine or a Smooth table (of a function: Smooth.of(…))."
        )
    if course.width != rows:
        raise ModelError(f"joint '{name}': its course has {course.width} numbers at each time; give {rows}.")
    pieces = course.pieces()
    return (float(len(pieces)), *[0.0] * rows, *own, *pieces.ravel().tolist())
