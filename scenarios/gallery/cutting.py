"""Figures VI-30 and VI-31: the double pendulum whose joints are cut, instant by instant."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from coordinator.record.run import Run
from scenarios.gallery.runs import DEFAULTS, Runs
from scenarios.gallery.sheet import Drawn, Entry, heading, sheet, step
from scenarios.report.mechanism import exists
from scenarios.report.page import COLOURS, quantity

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SYSTEM = "cut-double-pendulum"
FINE_STEP, END = 1e-4, 1.2  # [s]
FRAME_SPACING = 0.1  # between two instants [s]
LEFT, RIGHT, TOP = -2.2, 2.2, 0.7  # what each panel shows [m]
HAPPENS = {
    5: "elbow cut",
    6: "rod 2 falls freely",
    8: "pivot cut",
    9: "rod 1 falls freely",
}


def instants(first: int, low: float) -> Callable[[Runs, Entry], Drawn]:
    """Six panels from one instant on."""

    def draw(runs: Runs, entry: Entry) -> Drawn:
        run = runs.of(SYSTEM, DEFAULTS, FINE_STEP, END)
        figure = sheet(entry, run, 8.8, 4.5 if low > -3.0 else 6.6, note=step(run))
        panels = figure.subplots(2, 3, sharex=True, sharey=True)
        for k, panel in enumerate(panels.ravel(), start=first):
            _pose(panel, run, k)
            panel.set_xlim(LEFT, RIGHT)
            panel.set_ylim(low, TOP)
            panel.set_aspect("equal")
            panel.grid(True, color="#e4e4e4", linewidth=0.6)
            panel.set_axisbelow(True)
            panel.spines[["top", "right"]].set_visible(False)
            happens = f": {HAPPENS[k]}" if k in HAPPENS else ""
            heading(panel, f"t{k} = {FRAME_SPACING * k:.1f} s{happens}")
        for panel in panels[:, 0]:
            panel.set_ylabel("y [m]")
        for panel in panels[1]:
            panel.set_xlabel("x [m]")
        return Drawn(figure, _change(run))

    return draw


def _pose(panel: Axes, run: Run, k: int) -> None:
    """Both rods at one instant, with the way they came since the one before."""
    now = min(round(FRAME_SPACING * k / run.dt), len(run) - 1)
    before = max(now - round(FRAME_SPACING / run.dt), 0)
    for body, colour in (("upper", COLOURS[0]), ("lower", COLOURS[1])):
        start, end = run.position(f"{body}.start"), run.position(f"{body}.end")
        for trace in (start, end):
            panel.plot(*trace[before : now + 1 : 20].T, color=colour, linewidth=1.0, alpha=0.4)
        panel.plot(*np.stack([start[now], end[now]]).T, color=colour, linewidth=2.6, solid_capstyle="round")
        panel.plot(*np.stack([start[now], end[now]]).T, "o", color=colour, markersize=6, markeredgecolor="white")
    held = bool(exists(run, "pivot")[now])
    panel.plot(
        0.0, 0.0, "s", color="#222222", markersize=11, markerfacecolor="#222222" if held else "white", zorder=1.5
    )


def _change(run: Run) -> str:
    change = run.energy - run.energy[0]
    events = ", ".join(f"{event['name']} cut at {event['time']:.2g} s" for event in run.events)
    return f"{events or 'nothing cut'}; energy kept within {quantity(float(np.abs(change).max()), 'J')}"


FIGURES = (
    Entry("VI-30", "Double pendulum that is cut: t0 to t5", instants(0, -2.4)),
    Entry("VI-31", "Double pendulum that is cut: t6 to t11", instants(6, -4.3)),
)
