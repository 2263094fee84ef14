"""Work against precision as a picture: a panel for each mechanism, a line for each method, dashed for others."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure as Sheet

from scenarios.bench.figures import Point
from scenarios.report.page import COLOURS, dress, write

ACROSS = 3  # panels
MARKS = "osD^vPX*h<>"


def draw_picture(points: Sequence[Point], file: Path) -> Path:
    """Seconds over the error at the end; quartiles as bars. The legend takes the last panel."""
    problems = list(dict.fromkeys(point.problem for point in points))
    methods = list(dict.fromkeys(point.method for point in sorted(points, key=lambda point: point.peer)))
    panels = len(problems) + 1
    down = -(-panels // ACROSS)
    sheet = Sheet(figsize=(12.0, 4.0 * down), dpi=130, layout="constrained")
    FigureCanvasAgg(sheet)
    title = "Work against precision: lower and further left is better"
    sheet.suptitle(title, x=0.012, ha="left", fontsize=12, fontweight="bold")
    grid = sheet.add_gridspec(down, ACROSS)
    handles = {}
    for place, problem in enumerate(problems):
        axes = sheet.add_subplot(grid[divmod(place, ACROSS)])
        for number, method in enumerate(methods):
            own = [point for point in points if (point.problem, point.method) == (problem, method)]
            own.sort(key=lambda point: point.dt)
            if not own:
                continue
            below = [point.seconds - point.low for point in own]
            above = [point.high - point.seconds for point in own]
            handles[method] = axes.errorbar(
                [point.error for point in own], [point.seconds for point in own], yerr=(below, above),
                color=COLOURS[number % len(COLOURS)], marker=MARKS[number % len(MARKS)], markersize=5,
                linewidth=1.2 if own[0].peer else 2.2, linestyle="--" if own[0].peer else "-",
                markerfacecolor="white" if own[0].peer else None, capsize=2, label=method, zorder=2 if own[0].peer else 3,
            )  # fmt: skip
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_title(problem, loc="left", fontsize=10)
        axes.set_xlabel("error at the end [m]")
        dress(axes, "time [s]")
    corner = sheet.add_subplot(grid[divmod(len(problems), ACROSS)])
    corner.set_axis_off()
    shown = [method for method in methods if method in handles]
    corner.legend([handles[method] for method in shown], shown, loc="upper left", frameon=False, fontsize=9)
    return write(sheet, file)
