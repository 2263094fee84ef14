"""Values over time: a constant, a table, or a function of time and state."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from modular.allowed import function_named, given, name_of
from modular.component import Component
from modular.elements import Array
from modular.errors import ModelError

MISSED_SHARE_LIMIT = 0.2  # of the range of a table, or of the area of a pulse, that steps may miss

MAX_PULSE_TICKS = 1000  # ticks, of which no pulse is missed


@dataclass(frozen=True)
class Table(Component):
    """Values at times [s], linear in between and held before the first and after the last."""

    times: Sequence[float]
    values: Sequence[Any]

    def __post_init__(self) -> None:
        super().__post_init__()
        try:
            times, values = np.atleast_1d(np.asarray(self.times, float)), np.atleast_1d(np.asarray(self.values, float))
        except (TypeError, ValueError) as error:
            raise ModelError(f"Table: {error}; give numbers, equally many at each time.") from error
        if (
            len(times) < 2
            or len(times) != len(values)
            or not np.isfinite(times).all()
            or not (np.diff(times) > 0).all()
        ):
            raise ModelError(
                f"Table: {len(times)} times and {len(values)} values; give at least two of each, equally many, with the "
                "times finite and rising."
            )

    def at(self, time: float | Array) -> Array:
        """Value at a time, (width,), or at several, (width, n)."""
        values = np.atleast_2d(np.asarray(self.values, float).T)
        return np.array([np.interp(time, self.times, row) for row in values])

    @property
    def width(self) -> int:
        """Numbers per value."""
        return int(np.size(self.values[0]))

    def unseen(self, dt: float, since: float) -> float | None:
        """When [s] it swings between two ticks, or is a pulse whose area they miss, above `MISSED_SHARE_LIMIT`; None: never."""
        times = np.asarray(self.times, float)
        tick, values = np.floor(times / dt), self.at(times)
        before, after = self.at(tick * dt), self.at((tick + 1) * dt)
        beyond = np.maximum(values - np.maximum(before, after), np.minimum(before, after) - values)
        found = np.flatnonzero(
            (beyond > MISSED_SHARE_LIMIT * np.ptp(values, axis=1)[:, None]).any(axis=0) & (times > since)
        )
        if found.size:
            return float(times[found[0]])
        if times[0] <= since or values[:, [0, -1]].any() or tick[-1] - tick[0] > MAX_PULSE_TICKS:
            return None
        area = dt * self.at(dt * np.arange(tick[0], tick[-1] + 2)).sum(axis=1)
        missed = np.abs(area - np.trapezoid(values, times)) > MISSED_SHARE_LIMIT * np.trapezoid(np.abs(values), times)
        return float(times[np.abs(values).max(axis=0).argmax()]) if missed.any() else None


@dataclass(frozen=True)
class Law(Component):
    """A function of time [s], position [m] and velocity [m/s] of the port: law(t, x, v) -> value.

    Given as a function or as "module:function"; a file keeps the name, so only functions that can be imported under their name
    can be repeated from a run folder, and by others only from packages that they allow (modular/allowed.py). The velocity is
    that of the new tick to first order, v + dt a, which keeps the scheme second order.

    `derivatives(t, s, rate)` of the law of a motor returns d law / ds and d law / d rate; where it is left out, differences of
    the law take its place.
    """

    function: Callable[[float, Array, Array], Any] | str
    derivatives: Callable[[float, Any, Any], Any] | str | None = None

    names_functions: ClassVar[tuple[str, ...]] = ("function", "derivatives")

    def __post_init__(self) -> None:
        super().__post_init__()
        given(self.function)
        if self.derivatives is not None:
            given(self.derivatives)

    def resolved(self) -> Callable[[float, Array, Array], Any]:
        """The function itself."""
        return function_named(self.function, "Law") if isinstance(self.function, str) else self.function

    def problems(self, what: str) -> list[str]:
        """What is no function."""
        wrong = [
            (label, value)
            for label, value in (("function", self.function), ("derivatives", self.derivatives))
            if not (callable(value) or isinstance(value, str) or (label == "derivatives" and value is None))
        ]
        return [
            f"{what}: {label} = {value!r}; give a function, or its name as 'module:function'." for label, value in wrong
        ]

    def to_data(self) -> dict[str, Any]:
        """By name."""
        more = {} if self.derivatives is None else {"derivatives": name_of(self.derivatives)}
        return {"class": "components:Law", "function": name_of(self.function), **more}

    def resolved_derivatives(self) -> Callable[..., Any] | None:
        """The function that gives its derivatives, if there is one."""
        named = self.derivatives
        return function_named(named, "Law") if isinstance(named, str) else named


Value = Sequence[float] | float | Table | Law


def check_value(value: Value, width: int, what: str, unit: str) -> list[str]:
    """A constant or table of the wrong width or without a value."""
    if isinstance(value, Law):
        return value.problems(what)
    if isinstance(value, Table):
        fits = (
            value.width == width
            and np.ndim(value.values) <= 2
            and bool(np.all(np.isfinite(np.asarray(value.values, float))))
        )
    else:
        fits = np.size(value) == width and np.ndim(value) <= 1 and bool(np.all(np.isfinite(np.asarray(value, float))))
    numbers = "1 finite number" if width == 1 else f"{width} finite numbers"
    return [] if fits else [f"{what} = {value}; give {numbers} [{unit}] (or a Table or Law of them)."]
