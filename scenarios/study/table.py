"""The results of a study as a table: all of it as CSV, what one looks at first on the terminal."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from scenarios.report.page import quantity
from scenarios.report.summary import margin_text
from scenarios.study.study import ROUNDING_LEVEL, Row, Study

# column of study.csv -> key of a result
RESULTS = {
    "outcome": "outcome", "diverged at [s]": "diverged_at", "steps": "steps", "evaluations": "evaluations",
    "error [m]": "error", "error at": "error_port", "final error [m]": "final_error",
    "velocity error [m/s]": "velocity_error", "joint gap [m]": "gap", "joint direction error [-]": "turn",
    "internal error [m^2 or -]": "internal", "energy drift [J]": "drift", "energy drift [-]": "drift_share",
    "stability margin": "margin", "tightest": "margin_joint", "wall time [s]": "seconds",
}  # fmt: skip


def write_csv(study: Study, path: Path) -> Path:
    """One line per case, in the order of the grid; numbers in full, nothing where there is none."""
    beside = path.with_suffix(".part")
    with beside.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["coupling", *study.sweeps, "dt [s]", "until [s]", *RESULTS])
        for row in study.rows:
            swept = [row.variant.values.get(name, "") for name in study.sweeps]
            found = [row.result.get(key) for key in RESULTS.values()]
            writer.writerow(
                [row.variant.coupling, *swept, repr(row.case.dt), repr(study.grid.until), *map(_cell, found)]
            )
    beside.replace(path)
    return path


def _cell(value: object) -> str:
    return "" if value is None else repr(value) if isinstance(value, float) else str(value)


def columns(study: Study) -> list[str]:
    """Headings of the table that people read; a column in which nothing stands is left out."""
    turning = any(row.visible("turn") for row in study.rows)
    drifting = any(row.value("drift") is not None for row in study.rows)
    bound = any(row.result.get("margin") is not None for row in study.rows)
    names = ["coupling", "Δt", "error", "at the end", "joint gap", "direction error", "energy drift", "margin"]
    names += ["evaluations", "time"]
    absent = {"direction error": not turning, "energy drift": not drifting, "margin": not bound}
    return [name for name in names if not absent.get(name)]


def cells(study: Study, row: Row) -> list[str]:
    """A row of that table."""
    margin, evaluations = row.result.get("margin"), row.result.get("evaluations")
    shown = {
        "coupling": row.variant.coupling,
        "Δt": quantity(row.case.dt, "s"),
        "error": row.fate or _quantity(row.value("error"), "m"),
        "at the end": _quantity(row.value("final_error"), "m"),
        "joint gap": _quantity(row.value("gap"), "m"),
        "direction error": _quantity(row.value("turn"), ""),
        "energy drift": _quantity(row.value("drift"), "J"),
        "margin": "–" if margin is None else margin_text(margin),
        "evaluations": "–" if evaluations is None else f"{evaluations:,}",
        "time": _quantity(row.result.get("seconds"), "s"),
    }
    return [shown[name] for name in columns(study)]


def orders(study: Study) -> list[tuple[str, str]]:
    """The fitted order of the error of each coupling, in words."""
    return [(curve[0].variant.coupling, order(study, curve)) for curve in study.curves]


def order(study: Study, curve: list[Row]) -> str:
    """The fitted order of the error of one coupling, in words."""
    fit = study.fit(curve, "error")
    if fit is None:
        return "no order: the error falls between no two steps"
    span = f"{quantity(fit.coarsest, 's')} to {quantity(fit.finest, 's')}"
    return f"order {fit.order:.2f} over {fit.points} steps, {span}"


def results_tables(study: Study) -> Iterator[RenderableType]:
    """For the terminal: what was swept in one table; each other coupling with its order, and its cases below, in line."""
    swept = [curve for curve in study.curves if curve[0].variant.values]
    if swept:
        yield from _swept_table(study, swept)
    yield from _tables(study, [curve for curve in study.curves if not curve[0].variant.values])


def _swept_table(study: Study, curves: list[list[Row]]) -> Iterator[RenderableType]:
    """Settings side by side, with the order of each beside its finest step."""
    bases = list(dict.fromkeys(curve[0].variant.base for curve in curves))
    several, ordered = len(bases) > 1, len(study.grid.steps) > 1
    what = f"swept: {', '.join(study.sweeps)}"
    yield Text(what, "bold") if several else Text.assemble((bases[0], "bold"), f"   {what}")
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="cyan")
    for name in (*["coupling"] * several, *study.sweeps):
        table.add_column(Text(name), overflow="fold")
    for name in (*columns(study)[1:], *["order"] * ordered):
        table.add_column(Text(name), justify="right", no_wrap=True)
    for curve in curves:
        fit = study.fit(curve, "error") if ordered else None
        for row in curve:
            words = [row.variant.base] * several + [row.variant.values.get(name, "–") for name in study.sweeps]
            words += cells(study, row)[1:]
            words += [("–" if fit is None else f"{fit.order:.2f}") if row is curve[-1] else ""] * ordered
            table.add_row(*map(Text, words), style="yellow" if row.fate else "")
    yield Padding(table, (0, 0, 1, 2))


def _tables(study: Study, curves: list[list[Row]]) -> Iterator[RenderableType]:
    names = columns(study)[1:]
    lines = {id(row): cells(study, row)[1:] for row in study.rows}
    widths = [max(len(text) for text in column) for column in zip(names, *lines.values(), strict=True)]
    for curve in curves:
        note = f"   {order(study, curve)}" if len(curve) > 1 else ""
        yield Text.assemble((curve[0].variant.coupling, "bold"), note)
        table = Table(box=None, padding=(0, 2, 0, 0), header_style="cyan")
        for name, width in zip(names, widths, strict=True):
            table.add_column(Text(name), justify="right", no_wrap=True, min_width=width)
        for row in curve:
            table.add_row(*map(Text, lines[id(row)]), style="yellow" if row.fate else "")
        yield Padding(table, (0, 0, 1, 2))


def _quantity(value: float | None, unit: str) -> str:
    if value is None:
        return "–"
    if not unit:
        return f"{value:.2e}"
    return f"0 {unit}" if value == 0 else quantity(value, unit) if value >= ROUNDING_LEVEL else f"{value:.0e} {unit}"
