"""A study from its grid to its results: find what is done, run the rest, fit the orders."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from scenarios.study.cases import Case, Result
from scenarios.study.fit import Fit, fit_order
from scenarios.study.grid import Grid
from scenarios.study.variants import Variant

FITTED = ("error", "final_error", "gap", "turn", "internal", "drift")  # measures whose order is asked for

ROUNDING_LEVEL = 1e-15  # in metres, joules or none: no error of a method
ERROR_FLOORS = {"error": 1e-12, "final_error": 1e-12}  # [m], what the usual reference resolves: fits stay above


@dataclass(frozen=True)
class Row:
    """A case of a study and its result."""

    variant: Variant
    case: Case
    result: Result

    def value(self, measure: str) -> float | None:
        """A measure of a case that is done; None where it diverged, or where the measure means nothing."""
        value = self.result.get(measure)
        return None if value is None or self.result["outcome"] != "done" else float(value)

    def visible(self, measure: str) -> float | None:
        """The same, None where it is rounding and no error of a method."""
        value = self.value(measure)
        return None if value is None or value < ROUNDING_LEVEL else value

    @property
    def failure(self) -> str:
        """How it ended, where it did not come to its end."""
        if self.result["outcome"] == "diverged":
            return f"diverged at {self.result['diverged_at']:.4g} s"
        return "" if self.result["outcome"] == "done" else str(self.result["outcome"])


@dataclass(frozen=True)
class Study:
    """All results of a grid, in its order."""

    grid: Grid
    reference: Result
    rows: tuple[Row, ...]

    @classmethod
    def of(cls, grid: Grid, results: dict[str, Result]) -> Study:
        """Results by the digests of their cases."""
        rows = tuple(Row(variant, case, results[case.digest]) for variant, case in grid.cases())
        return cls(grid, results[grid.reference_case().digest], rows)

    @property
    def sweeps(self) -> list[str]:
        """Names of the swept fields."""
        return list(dict.fromkeys(name for variant in self.grid.variants for name in variant.values))

    @cached_property
    def curves(self) -> list[list[Row]]:
        """The rows of each variant, coarsest step first."""
        return [[row for row in self.rows if row.variant == variant] for variant in self.grid.variants]

    def fit(self, curve: list[Row], measure: str) -> Fit | None:
        """The order at which a measure of a variant falls with the step."""
        floor = ERROR_FLOORS.get(measure, ROUNDING_LEVEL)
        values = [row.value(measure) for row in curve]
        above = [value if value is not None and value > floor else None for value in values]
        return fit_order([row.case.dt for row in curve], above)

    def fits(self) -> dict[str, dict[str, dict[str, Any] | None]]:
        """All orders as data: by coupling, by measure."""
        return {
            curve[0].variant.coupling: {
                measure: None if fit is None else vars(fit).copy()
                for measure in FITTED
                for fit in [self.fit(curve, measure)]
            }
            for curve in self.curves
        }
