"""A figure of the suite: what was measured, how far it scatters, what was wanted, and whether that is reached."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite, nan
from typing import Any, Self

from modular.errors import ModelError
from scenarios.bench.harness import Spread

REACHED, EDGE, MISSED, NOT_MEASURED, OPEN = "reached", "on the edge", "missed", "not measured", ""


@dataclass(frozen=True)
class Target:
    """What is wanted: a limit that the figure must keep below or above."""

    limit: float
    at_least: bool = False

    def __post_init__(self) -> None:
        if not isfinite(self.limit):
            raise ModelError(f"target: limit = {self.limit}; give a finite number.")

    def kept_by(self, value: float) -> bool:
        """Whether a value keeps it; what is no number keeps nothing."""
        return value >= self.limit if self.at_least else value <= self.limit

    def __str__(self) -> str:
        return f"{'≥' if self.at_least else '≤'} {self.limit:g}"


@dataclass(frozen=True)
class Figure:
    """One row of the table. `why` says why nothing was measured; `note` what else a reader must know."""

    family: str
    name: str
    unit: str = ""
    value: float = nan
    low: float = nan
    high: float = nan
    samples: int = 0
    target: Target | None = None
    note: str = ""
    why: str = ""

    @classmethod
    def of(cls, family: str, name: str, unit: str, found: Spread, target: Target | None = None, note: str = "") -> Self:
        """From a median and its quartiles."""
        return cls(family, name, unit, found.median, found.low, found.high, found.samples, target, note)

    @classmethod
    def skipped(cls, family: str, name: str, why: str, target: Target | None = None) -> Self:
        """Nothing was measured, and why."""
        return cls(family, name, target=target, why=why)

    @property
    def measured(self) -> bool:
        """Whether there is a number, with numbers around it."""
        return all(isfinite(value) for value in (self.value, self.low, self.high))

    @property
    def verdict(self) -> str:
        """Reached only if the median and both quartiles keep the target; missed if none of them does."""
        if not self.measured:
            return NOT_MEASURED
        if self.target is None:
            return OPEN
        kept = [self.target.kept_by(value) for value in (self.value, self.low, self.high)]
        return REACHED if all(kept) else EDGE if any(kept) else MISSED

    def to_data(self) -> dict[str, Any]:
        """JSON-ready; what was not measured is null."""
        numbers = {key: value if isfinite(value) else None for key, value in self._numbers().items()}
        target = None if self.target is None else {"limit": self.target.limit, "at_least": self.target.at_least}
        words = {"family": self.family, "name": self.name, "unit": self.unit, "note": self.note, "why": self.why}
        return {**words, **numbers, "samples": self.samples, "target": target, "verdict": self.verdict}

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Self:
        """The figure again; its verdict is worked out anew."""
        target = None if data["target"] is None else Target(**data["target"])
        value, low, high = (nan if data[key] is None else float(data[key]) for key in ("value", "low", "high"))
        family, name, unit, note, why = (str(data[key]) for key in ("family", "name", "unit", "note", "why"))
        return cls(family, name, unit, value, low, high, int(data["samples"]), target, note, why)

    def _numbers(self) -> dict[str, float]:
        return {"value": self.value, "low": self.low, "high": self.high}


@dataclass(frozen=True)
class Point:
    """One run of a work-precision picture."""

    problem: str
    method: str
    dt: float  # [s]
    error: float  # [m], at the end of the run, largest over the ends of all bodies
    seconds: float  # median
    low: float  # quartiles [s]
    high: float
    peer: bool = False
    note: str = ""  # "diverged", where it did
    samples: int = 0

    @property
    def cost(self) -> Spread:
        """Its time [s]."""
        return Spread(self.seconds, self.low, self.high, self.samples)

    def to_data(self) -> dict[str, Any]:
        """JSON-ready; an error that is no number is null."""
        data = dict(vars(self))
        return data | {"error": self.error if isfinite(self.error) else None}

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Self:
        """The point again."""
        return cls(**{**data, "error": nan if data["error"] is None else data["error"]})
