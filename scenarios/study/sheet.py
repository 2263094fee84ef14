"""What the pictures of a study share: sheets that grow with their legends, points, crosses for what was lost, axes with units."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from textwrap import wrap
from typing import Any, Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, MaxNLocator, NullFormatter, NullLocator

from scenarios.report.page import COLOURS, dress, quantity

MARKERS = "osD^vPX*"
MAX_CURVES = 2 * len(COLOURS)  # curves of one picture
MAX_LEGEND_LENGTH = 44  # of a line of a legend
MAX_NAMED_PLACES = 7  # places below an axis that can be named one by one
# share of the height that a row of crosses takes, and how many rows there may be
CROSS_ROW_HEIGHT, MAX_CROSS_ROWS = 0.05, 10
# height of a line of a legend, and of the air between two entries [inch]
LEGEND_LINE_HEIGHT, LEGEND_ENTRY_GAP = 0.145, 0.13
Points = Sequence[tuple[float, float]]


def sheet(title: str, rows: int, columns: int, heights: Sequence[float]) -> tuple[Figure, list[Axes]]:
    """An empty figure with its panels, row by row; heights of the rows in inches."""
    figure = Figure(figsize=(max(9.5, 5.4 * columns), 0.5 + sum(heights)), dpi=130, layout="constrained")
    FigureCanvasAgg(figure)
    figure.suptitle(title, x=0.012, ha="left", fontsize=12, fontweight="bold")
    panels = figure.subplots(rows, columns, squeeze=False, height_ratios=heights)
    return figure, list(panels.ravel())


def tall_enough(least: float, labels: Iterable[str]) -> float:
    """Height for a panel beside a legend of these labels [inch]."""
    return max(least, 0.3 + sum(LEGEND_ENTRY_GAP + LEGEND_LINE_HEIGHT * (label.count("\n") + 1) for label in labels))


def draw_curve(panel: Axes, k: int, points: Points, line: Points | None = None) -> None:
    """Points of the k-th curve, with a line through them or, where given, another one."""
    x, y = _columns(points)
    panel.plot(x, y, color=colour(k), marker=MARKERS[k % len(MARKERS)], markersize=5.5, linestyle="none", zorder=3)
    panel.plot(*_columns(points if line is None else line), color=colour(k), linewidth=1.1, linestyle=dashes(k))


def cross_out(panel: Axes, places: Sequence[Iterable[float]]) -> None:
    """Above everything, where an error without bound would stand: a row of crosses for each curve that lost some."""
    lost = [(k, list(values)) for k, values in enumerate(places)]
    rows = [(k, values) for k, values in lost if values][:MAX_CROSS_ROWS]
    if not rows:
        return
    low, high = np.log(panel.get_ylim())
    share = CROSS_ROW_HEIGHT * (len(rows) + 0.5)  # of the height, kept free of points
    panel.set_ylim(np.exp(low), np.exp(low + (high - low) / (1.0 - share)))
    for row, (k, values) in enumerate(rows):
        panel.plot(
            values, [1.0 - CROSS_ROW_HEIGHT * (row + 0.7)] * len(values), marker="x", color=colour(k),
            markersize=7, markeredgewidth=1.8, linestyle="none", transform=panel.get_xaxis_transform(), zorder=4,
        )  # fmt: skip


def handle(k: int, label: str) -> Line2D:
    """The entry of the k-th curve in a legend."""
    return Line2D(
        [], [], color=colour(k), marker=MARKERS[k % len(MARKERS)], markersize=5.5, linewidth=1.1, linestyle=dashes(k),
        label=label,
    )  # fmt: skip


def remark(label: str) -> Line2D:
    """An entry in a legend for what was lost."""
    return Line2D([], [], color="#555555", marker="x", markersize=6, markeredgewidth=1.6, linestyle="none", label=label)


def legend_beside(owner: Figure | Axes, handles: Sequence[Line2D]) -> None:
    """To the right, where it covers nothing."""
    at: dict[str, Any] = {"loc": "outside right upper"}
    if isinstance(owner, Axes):
        at = {"loc": "upper left", "bbox_to_anchor": (1.01, 1.0), "borderaxespad": 0.0}
    owner.legend(handles=list(handles), frameon=False, fontsize=8, labelspacing=0.9, **at)


def wrapped(text: str) -> str:
    """Folded for a legend."""
    return "\n".join(wrap(text, MAX_LEGEND_LENGTH, break_long_words=False, break_on_hyphens=False))


# --- axes ------------------------------------------------------------------------------------------------------------


def error_axis(panel: Axes, label: str) -> None:
    """Logarithmic upwards, in metres."""
    dress(panel, label)
    panel.set_yscale("log")
    decades(panel.yaxis, panel.get_ylim(), "m")


def decades(axis: Axis, limits: tuple[float, float], unit: str) -> None:
    """Marks with their unit: at 1, 2 and 5 where an axis shows few decades, else at the decades."""
    few = limits[1] < 100.0 * limits[0]
    if limits[1] < 2.0 * limits[0]:  # no power of ten may lie between: a few even steps, whose words do not meet
        axis.set_major_locator(MaxNLocator(4, steps=[1, 2, 5, 10]))
        axis.set_minor_locator(NullLocator())
    else:
        axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if few else (1.0,), numticks=12))
    axis.set_major_formatter(FuncFormatter(lambda value, _: quantity(value, unit) if unit else f"{value:,.0f}"))
    axis.set_minor_formatter(NullFormatter())


def name_steps(panel: Axes, steps: Sequence[float]) -> None:
    """A logarithmic axis of steps, named one by one where they are few, with some air beside them."""
    panel.set_xscale("log")
    panel.set_xlabel("step Δt")
    panel.set_xlim(min(steps) / 1.25, max(steps) * 1.25)
    if len(steps) <= MAX_NAMED_PLACES:
        panel.xaxis.set_major_locator(FixedLocator(list(steps)))
        panel.xaxis.set_minor_locator(NullLocator())
    panel.xaxis.set_major_formatter(FuncFormatter(lambda value, _: quantity(value, "s")))
    panel.xaxis.set_minor_formatter(NullFormatter())


def name_values(panel: Axes, values: Sequence[float]) -> None:
    """An axis of settings, with marks at the values where they are few and stand apart."""
    low, high = min(values), max(values)
    air = 0.06 * (high - low)
    panel.set_xlim(low - air, high + air)
    apart = min(np.diff(sorted(values)), default=0.0) > 0.06 * (high - low)
    if len(values) <= MAX_NAMED_PLACES and apart:
        panel.xaxis.set_major_locator(FixedLocator(list(values)))
        panel.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))


# --- colours ---------------------------------------------------------------------------------------------------------


def colour(k: int) -> str:
    """Of the k-th curve."""
    return COLOURS[k % len(COLOURS)]


def dashes(k: int) -> Literal["-", "--"]:
    """Of the k-th curve: dashed once the colours are used up."""
    return "-" if k < len(COLOURS) else "--"


def _columns(points: Points) -> tuple[list[float], list[float]]:
    return [x for x, _ in points], [y for _, y in points]
