"""The pictures of a comparison: paths, errors, violations and energy of all methods; and what the errors are made of."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from textwrap import shorten
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import LogLocator, NullFormatter

from modular.elements import Array
from scenarios.comparison.budget import NAMES, PARTS, Budget
from scenarios.comparison.compare import Comparison, Row
from scenarios.comparison.report import PICTURES
from scenarios.comparison.table import until_text
from scenarios.report.page import COLOURS, GREY, dress, mark_events, peak, quantity, write
from scenarios.report.view import choose_view

AXIS_FLOOR = 3e-17  # no axis goes below rounding
STYLES: tuple[Any, ...] = ("-", (0, (5, 2)), (0, (1.2, 1.6)), (0, (5, 1.5, 1.2, 1.5)))  # finest step first
MAX_BUDGETS = 4  # budgets in one picture
LARGE_ERROR_SHARE = 0.5  # of the largest error of a port
MAX_LEGEND_LENGTH = 38  # of a name in a legend
INK = COLOURS[-1]


def draw_pictures(found: Comparison, folder: Path) -> list[Path]:
    """Draw into a folder that exists; a picture of errors' parts only where there are parts."""
    files = [write(overview(found), folder / PICTURES[0])]
    if found.budgets:
        files.append(write(parts(found), folder / PICTURES[1]))
    return files


# --- all methods -----------------------------------------------------------------------------------------------------


def overview(found: Comparison) -> Figure:
    """Four panels: where the port that errs most goes, errors, violations, energy."""
    figure = _sheet(f"{found.plan.scenario}: {len(found.rows)} runs against the reference", 12.0, 8.0)
    grid = figure.add_gridspec(2, 2)
    port = worst_port(found)
    path = found.reference.positions[port]
    shown = [row for row in found.done if row.trace is not None and port in row.trace.positions]
    view = choose_view(found.reference.run, [path])
    place = view.stage(figure, grid[0, 0])
    place.plot(*view.of(path).T, **_truth())
    for row in shown:
        assert row.trace is not None
        place.plot(*view.of(row.trace.positions[port]).T, **_look(found, row))
    _head(place, f"path of {port}")

    errors, violations, energy = (figure.add_subplot(grid[at]) for at in ((0, 1), (1, 0), (1, 1)))
    time = found.plan.times
    doubt = np.maximum(found.reference.uncertainty, 1e-18)
    errors.fill_between(time[1:], np.full(len(time) - 1, 1e-20), doubt[1:], color=INK, alpha=0.12, linewidth=0)
    for row in found.done:
        assert row.trace is not None and row.error is not None
        look = _look(found, row)
        errors.plot(time[1:], _positive(row.error[1:]), **look)
        if row.trace.joints is not None:
            violations.plot(time[1:], _positive(row.trace.joints[1:]), **look)
        if row.trace.bodies is not None:
            violations.plot(time[1:], _positive(row.trace.bodies[1:]), **look | {"linewidth": 0.7, "alpha": 0.55})
        if row.trace.drift is not None:
            energy.plot(time[1:], _positive(row.trace.drift[1:]), **look)
    for panel, label, title in (
        (errors, "error [m]", "largest error of all ports"),
        (violations, "violation [m, m² or –]", "largest violation, joints bold, bodies faint"),
        (energy, "energy drift [J]", "change of energy that nothing accounts for"),
    ):
        dress(panel, label, time=True)
        _logarithmic(panel)
        _head(panel, title)
    _head(errors, "largest error of all ports", above=bool(found.reference.run.events))
    mark_events(found.reference.run, [errors, violations, energy])
    visible = bool(peak(found.reference.uncertainty) > errors.get_ylim()[0])
    figure.legend(handles=_entries(found, visible), loc="outside lower center", ncols=4, frameon=False, fontsize=8.5)
    return figure


def worst_port(found: Comparison) -> str:
    """The port with the largest error of all rows; of those that err nearly as much, the one that goes farthest."""
    paths = found.reference.positions
    sizes = {port: max((row.found["ports"].get(port, 0.0) for row in found.done), default=0.0) for port in paths}
    near = [port for port, size in sizes.items() if size >= LARGE_ERROR_SHARE * max(sizes.values())]
    return max(near, key=lambda port: float(np.nansum(np.linalg.norm(np.diff(paths[port], axis=0), axis=1))))


def _entries(found: Comparison, doubt: bool) -> list[Any]:
    """The legend: the reference, every row, and what became of the lost ones."""
    entries: list[Any] = [Line2D([], [], **_truth(), label="reference")]
    entries += [Patch(color=INK, alpha=0.12, label="reference uncertain")] * doubt
    for row in found.rows:
        name = f"{shorten(row.method.name, MAX_LEGEND_LENGTH, placeholder='…')}, {row.step}"
        if row.outcome == "done":
            entries.append(Line2D([], [], **_look(found, row), label=name))
        else:
            entries.append(
                Line2D([], [], linestyle="", marker="x", color=_colour(found, row), label=f"{name}: {row.outcome}")
            )
    return entries


# --- what errors are made of -----------------------------------------------------------------------------------------


def parts(found: Comparison) -> Figure:
    """A panel per modular run: its error and the parts of it, on one axis of error."""
    shown = found.budgets[:MAX_BUDGETS]
    left = len(found.budgets) - len(shown)
    note = f" (the first {MAX_BUDGETS} of {len(found.budgets)})" if left else ""
    rows = -(-len(shown) // 2)
    wide = min(len(shown), 2)
    figure = _sheet(
        f"{found.plan.scenario}: what the errors are made of{note}", 6.4 * max(wide, 1.35), 0.9 + 3.6 * rows
    )
    panels = figure.subplots(rows, wide, sharex=True, squeeze=False)
    for k, (panel, (row, split)) in enumerate(zip(panels.flat, shown, strict=False)):
        _draw_parts(panel, split)
        if not split.holds:
            panel.axvspan(split.holds_until, split.times[-1], color=GREY, alpha=0.15, linewidth=0)
        lowest = k + wide >= len(shown)  # nothing stands below it
        dress(panel, "distance [m]", time=lowest)
        panel.tick_params(labelbottom=lowest)
        _logarithmic(panel)
        text = f"{row.label}: error {quantity(split.largest['total'], 'm')}, remainder {until_text(split)}"
        _head(panel, text, above=k < wide and bool(found.reference.run.events))
    mark_events(found.reference.run, list(panels.flat)[: len(shown)])
    for panel in list(panels.flat)[len(shown) :]:
        panel.set_visible(False)
    figure.legend(handles=_part_entries(), loc="outside lower center", ncols=5, frameon=False, fontsize=8.5)
    return figure


def _draw_parts(panel: Axes, split: Budget) -> None:
    for line, name in zip(_part_entries(), ("total", *PARTS, "remainder"), strict=True):
        series: Array = getattr(split, name)
        panel.plot(
            split.times[1:], _positive(series[1:]), color=line.get_color(), linewidth=line.get_linewidth(),
            linestyle=line.get_linestyle(),
        )  # fmt: skip


def _part_entries() -> list[Line2D]:
    colours = dict(zip(PARTS, (COLOURS[0], COLOURS[1], COLOURS[2]), strict=True))
    entries = [Line2D([], [], color=INK, linewidth=1.8, label="error")]
    entries += [Line2D([], [], color=colours[name], linewidth=1.3, label=NAMES[name]) for name in PARTS]
    return [*entries, Line2D([], [], color=GREY, linewidth=1.0, linestyle="--", label="remainder")]


# --- shared ----------------------------------------------------------------------------------------------------------


def _sheet(title: str, width: float, height: float) -> Figure:
    figure = Figure(figsize=(width, height), dpi=130, layout="constrained")
    FigureCanvasAgg(figure)
    figure.suptitle(title, x=0.012, ha="left", fontsize=12, fontweight="bold")
    return figure


def _head(axes: Any, text: str, *, above: bool = False) -> None:
    """What a panel shows; `above` the names of events."""
    axes.set_title(text, loc="left", fontsize=9.5, color="#444444", pad=20 if above else 6)


def _truth() -> dict[str, Any]:
    return {"color": INK, "linewidth": 4.0, "alpha": 0.22}


def _look(found: Comparison, row: Row) -> dict[str, Any]:
    """Colour by method, dashes by step."""
    finest = sorted({other.dt for other in found.rows if other.method == row.method})
    style = STYLES[finest.index(row.dt) % len(STYLES)]
    return {"color": _colour(found, row), "linestyle": style, "linewidth": 1.2}


def _colour(found: Comparison, row: Row) -> str:
    return COLOURS[found.plan.methods.index(row.method) % len(COLOURS)]


def _positive(values: Array) -> Array:
    return np.where(values > 0, values, np.nan)


def _logarithmic(axes: Axes) -> None:
    """A logarithmic axis around the lines; a picture of nothing but zeros says so."""
    lines: Sequence[Line2D] = axes.lines
    values = np.concatenate([np.asarray(line.get_ydata(), float) for line in lines] or [np.empty(0)])
    top = peak(values)
    if top == 0.0:
        axes.set_yticks([])
        axes.text(0.5, 0.5, "zero throughout", transform=axes.transAxes, ha="center", va="center", color="#666666")
        return
    lowest = min(float(np.percentile(line, 5)) for line in map(_finite, lines) if line.size)
    axes.set_yscale("log")
    axes.set_ylim(max(0.3 * lowest, AXIS_FLOOR), 3.0 * max(top, 10.0 * AXIS_FLOOR))
    axes.yaxis.set_major_locator(LogLocator(numticks=9))
    axes.yaxis.set_minor_formatter(NullFormatter())


def _finite(line: Line2D) -> Array:
    values = np.asarray(line.get_ydata(), float)
    return np.asarray(values[np.isfinite(values) & (values > 0)])
