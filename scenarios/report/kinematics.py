"""Kinematics as a table, and workspaces as pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from rich.console import Console
from rich.text import Text

from coordinator import Run
from coordinator.analysis import Workspace
from coordinator.record.turning import coordinates
from scenarios.report.page import GREY, sheet
from scenarios.report.summary import plain_table

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def print_kinematics(console: Console, title: str, run: Run) -> None:
    """How far and how fast every joint goes along its axis."""
    table = plain_table("Joints", "joint")
    for heading in ("", "from", "to", "fastest"):
        table.add_column(heading, justify="right", no_wrap=True)
    console.print(f"{title}: {run.time[-1]:g} s, {len(run)} samples", highlight=False, markup=False)
    for column in coordinates(run):
        rate = np.gradient(column.values, run.time, edge_order=2) if len(run) > 2 else np.diff(column.values) / run.dt
        low, high, fastest = column.values.min(), column.values.max(), np.abs(rate).max()
        cells = (
            column.of,
            column.what,
            f"{low:.4g} {column.unit}",
            f"{high:.4g} {column.unit}",
            f"{fastest:.4g} {column.unit}/s",
        )
        table.add_row(*map(Text, cells))
    console.print(table)


def print_workspace(console: Console, title: str, found: Workspace) -> None:
    """What is reached, and where it is nearly singular."""
    console.print(f"{title}: '{found.port}' over {', '.join(found.drives)}", highlight=False, markup=False)
    for line in found.summary():
        console.print(f"- {line}", highlight=False, markup=False, soft_wrap=True)


def draw_workspace(found: Workspace, title: str) -> Figure:
    """All places that are reached, dark where the port hardly moves with its drives."""
    figure = sheet(f"{title}: where '{found.port}' can be led", 8.0, 6.5)
    places, colour = found.places[found.reached], found.slowest[found.reached]
    flat = places.shape[1] == 2
    panel = figure.add_subplot() if flat else figure.add_subplot(projection="3d")
    if flat and found.places.ndim == 3:
        for lines in (found.places, np.swapaxes(found.places, 0, 1)):
            for line in lines:
                panel.plot(*line.T, color=GREY, linewidth=0.5, alpha=0.6, zorder=1)
    along = dict(zip(("xs", "ys", "zs") if not flat else ("x", "y"), places.T, strict=True))
    points = panel.scatter(**along, c=colour, cmap="viridis", s=9.0, zorder=2)
    figure.colorbar(points, ax=panel, shrink=0.8, label="least way per unit of the drives [m]")
    if flat:
        panel.set_aspect("equal", adjustable="datalim")
        panel.grid(color="#e6e6e6", linewidth=0.8)
    panel.set_xlabel("x [m]")
    panel.set_ylabel("y [m]")
    return figure
