"""The results of a study as a table: all of it as CSV, what one looks at first on the terminal."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.console import Console, ConsoleOptions, RenderableType
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

GAP = 2  # letters between columns
DISPENSABLE = (
    "evaluations",
    "at the end",
    "direction error",
    "margin",
    "energy drift",
    "joint gap",
    "time",
)  # in that order


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
        "error": row.failure or _quantity(row.value("error"), "m"),
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
    sheet = Sheet([*["coupling"] * several, *study.sweeps], [*columns(study)[1:], *["order"] * ordered])
    for curve in curves:
        fit = study.fit(curve, "error") if ordered else None
        for row in curve:
            words = [row.variant.base] * several + [row.variant.values.get(name, "–") for name in study.sweeps]
            words += cells(study, row)[1:]
            words += [("–" if fit is None else f"{fit.order:.2f}") if row is curve[-1] else ""] * ordered
            sheet.add(words, "yellow" if row.failure else "")
    yield sheet


def _tables(study: Study, curves: list[list[Row]]) -> Iterator[RenderableType]:
    names = columns(study)[1:]
    lines = {id(row): cells(study, row)[1:] for row in study.rows}
    widths = [max(len(text) for text in column) for column in zip(names, *lines.values(), strict=True)]
    for curve in curves:
        note = f"   {order(study, curve)}" if len(curve) > 1 else ""
        yield Text.assemble((curve[0].variant.coupling, "bold"), note)
        sheet = Sheet([], names, widths)
        for row in curve:
            sheet.add(lines[id(row)], "yellow" if row.failure else "")
        yield sheet


class Sheet:
    """Cases in a table that leaves out, in a narrow terminal, what one looks at last; and says so."""

    def __init__(self, left: Sequence[str], right: Sequence[str], widths: Sequence[int] = ()) -> None:
        """Headings of words and of numbers; `widths`: at least, of all."""
        self.names, self._words = [*left, *right], len(left)
        self._rows: list[tuple[list[str], str]] = []
        self._widths = list(widths) or [0] * len(self.names)

    def add(self, words: list[str], style: str) -> None:
        """A row."""
        self._rows.append((words, style))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        rows = [words for words, _ in self._rows]
        widths = [
            max(least, *map(len, (name, *column)))
            for name, least, column in zip(self.names, self._widths, zip(*rows, strict=True), strict=True)
        ]
        shown, gone = list(range(len(self.names))), []
        for name in DISPENSABLE:
            if name in self.names and sum(widths[k] + GAP for k in shown) > options.max_width - GAP:
                gone.append(name)
                shown.remove(self.names.index(name))
        table = Table(box=None, padding=(0, GAP, 0, 0), header_style="cyan")
        for k in shown:
            if k < self._words:
                table.add_column(Text(self.names[k]), overflow="fold")
            else:
                table.add_column(Text(self.names[k]), justify="right", no_wrap=True, min_width=widths[k])
        for words, style in self._rows:
            table.add_row(*(Text(words[k]) for k in shown), style=style)
        if gone:
            yield Padding(table, (0, 0, 0, GAP))
            yield Padding(Text(f"not shown here, for want of room: {', '.join(gone)}", "dim"), (0, 0, 1, GAP))
        else:
            yield Padding(table, (0, 0, 1, GAP))


def _quantity(value: float | None, unit: str) -> str:
    if value is None:
        return "–"
    if not unit:
        return f"{value:.2e}"
    return f"0 {unit}" if value == 0 else quantity(value, unit) if value >= ROUNDING_LEVEL else f"{value:.0e} {unit}"
