"""The results of a comparison as a table: all of it as CSV, what one looks at first for people, and the errors over time."""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from scenarios.comparison.budget import PARTS, Budget
from scenarios.comparison.compare import Comparison, Row
from scenarios.report.page import quantity

SMALLEST_ERROR = 1e-15  # what is smaller is rounding
# column of comparison.csv -> how it is read from a row
COLUMNS: dict[str, Callable[[Row], object]] = {
    "method": lambda row: row.method.name,
    "coupling": lambda row: row.method.text or "",
    "dt [s]": lambda row: row.dt,
    "adaptive": lambda row: str(row.method.adaptive).lower(),
    "outcome": lambda row: row.outcome,
    "error [m]": lambda row: row.found.get("error"),
    "error at": lambda row: row.found.get("error_port"),
    "final error [m]": lambda row: row.found.get("final_error"),
    "joint gap [m]": lambda row: _quality(row, "gap"),
    "joint direction error [-]": lambda row: _quality(row, "turn"),
    "internal error [m^2 or -]": lambda row: _quality(row, "internal"),
    "energy drift [J]": lambda row: _quality(row, "drift"),
    "wall time [s]": lambda row: row.trace.seconds if row.trace else None,
    "steps": lambda row: row.trace.steps if row.trace else None,
    "evaluations": lambda row: row.trace.evaluations if row.trace else None,
    "message": lambda row: row.message,
}


def write_table(found: Comparison, path: Path) -> Path:
    """One line per row, numbers in full, nothing where there is none; the order stands with every row of its method."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([*COLUMNS, "order"])
        for row in found.rows:
            fit = found.order(row.method)
            writer.writerow([*(_full(read(row)) for read in COLUMNS.values()), _full(fit.order if fit else None)])
    return path


def write_errors(found: Comparison, path: Path) -> Path:
    """Over time: the doubt of the reference, the error of every row that came to its end, and the parts of those split [m]."""
    series = {"reference [m]": found.reference.uncertainty}
    for row in found.done:
        if row.error is not None:
            series[f"{_named(row)} [m]"] = row.error
    for row, parts in found.budgets:
        for name in (*PARTS, "remainder"):
            series[f"{_named(row)} {name} [m]"] = getattr(parts, name)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["time [s]", *series])
        for k, time in enumerate(found.plan.times):
            writer.writerow([_full(float(f"{time:.12g}")), *(_full(float(values[k])) for values in series.values())])
    return path


def columns(found: Comparison) -> list[str]:
    """Headings of the table that people read; a column in which nothing stands is left out."""
    present = {
        "order": any(found.order(row.method) is not None for row in found.rows),
        "joint gap": any(_quality(row, "gap") is not None for row in found.done),
        "direction error": any(_quality(row, "turn") for row in found.done),
        "internal error": any(_quality(row, "internal") is not None for row in found.done),
        "energy drift": any(_quality(row, "drift") is not None for row in found.done),
    }
    names = ["method", "Δt", "error", "at the end", "order", "joint gap", "direction error", "internal error"]
    names += ["energy drift", "time", "steps", "evaluations"]
    return [name for name in names if present.get(name, True)]


def cells(found: Comparison, row: Row) -> list[str]:
    """A row of that table; one that did not come to its end says so in the column of the error."""
    if row.trace is None:
        said = {"method": row.method.name, "Δt": row.step, "error": row.outcome}
        return [said.get(name, "–") for name in columns(found)]
    fit = found.order(row.method)
    said = {
        "method": row.method.name,
        "Δt": row.step,
        "error": error_text(found, row),
        "at the end": error_text(found, row, "final_error"),
        "order": f"{fit.order:.2f}" if fit else "–",
        "joint gap": _with_unit(_quality(row, "gap"), "m"),
        "direction error": _plain(_quality(row, "turn")),
        "internal error": _plain(_quality(row, "internal")),
        "energy drift": _with_unit(_quality(row, "drift"), "J"),
        "time": quantity(row.trace.seconds, "s"),
        "steps": f"{row.trace.steps:,}",
        "evaluations": f"{row.trace.evaluations:,}",
    }
    return [said[name] for name in columns(found)]


def error_text(found: Comparison, row: Row, name: str = "error") -> str:
    """An error; where the reference itself is no surer, only that it is not larger."""
    error, sure = row.found[name], found.reference.sure
    if error is None:
        return "–"
    return f"≤ {quantity(sure, 'm')}" if error <= sure else quantity(error, "m")


def budget_columns() -> list[str]:
    """Headings of the table of the parts."""
    return [
        "method",
        "Δt",
        "error",
        "compliance of the joints",
        "drift inside the bodies",
        "time integration",
        "remainder",
    ]


def budget_cells(found: Comparison) -> list[list[str]]:
    """Rows of that table: the largest of each over time, as long as the parts add up."""
    return [[row.method.name, row.step, *_parts(split.sound), until_text(split)] for row, split in found.budgets]


def until_text(split: Budget) -> str:
    """The remainder as a share of the error; where the parts do not add up to the end, until when they do."""
    share = share_text(split.sound.share)
    return share if split.holds else f"{share}, until {split.holds_until:.4g} s"


def _parts(split: Budget) -> list[str]:
    return [quantity(split.largest[name], "m") for name in ("total", *PARTS)]


def share_text(share: float) -> str:
    """A share in percent."""
    return f"{100.0 * share:.2g} %" if share >= 1e-4 else "< 0.01 %"


def reasons(found: Comparison) -> list[str]:
    """Why rows did not come to their end, and why errors could not be split, each once."""
    failures: dict[tuple[str, str], list[str]] = {}
    for row in found.rows:
        if row.outcome != "done":
            failures.setdefault((row.method.name, f"{row.outcome}; {row.message}"), []).append(row.step)
        elif row.no_budget:
            failures.setdefault((row.method.name, f"no error budget; {row.no_budget}"), []).append(row.step)
    lost = [f"{name}, {', '.join(steps)}: {why}" for (name, why), steps in failures.items()]
    for row, parts in found.budgets:
        if not parts.holds:
            lost.append(
                f"{row.label}: the parts of the error add up until {parts.holds_until:.4g} s only. After that the motion is so "
                "sensitive, or parts in such a way at a singular configuration, that effects do not add up."
            )
    return lost


def markdown_table(headings: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1) -> list[str]:
    """Its lines in Markdown; the first columns hold words."""
    rule = ["---" if k < left else "---:" for k in range(len(headings))]
    return ["| " + " | ".join(line) + " |" for line in (list(headings), rule, *rows)]


def _named(row: Row) -> str:
    return row.method.name if row.method.adaptive else f"{row.method.name} {row.dt:g}"


def _quality(row: Row, name: str) -> float | None:
    return row.trace.quality.get(name) if row.trace else None


def _with_unit(value: float | None, unit: str) -> str:
    if value is None:
        return "–"
    return quantity(value, unit) if value >= SMALLEST_ERROR or value == 0.0 else f"< {quantity(SMALLEST_ERROR, unit)}"


def _plain(value: float | None) -> str:
    return "–" if value is None else "0" if value == 0.0 else f"{value:.2g}"


def _full(value: object) -> str:
    if value is None or (isinstance(value, float) and not np.isfinite(value)):
        return ""
    return repr(float(value)) if isinstance(value, float | np.floating) else str(value)
