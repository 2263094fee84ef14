"""An assembled model: what was done to close it, and a picture of before and after."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from rich.console import Console

from coordinator.analysis import Assembled
from modular.elements import Array
from scenarios.report.page import COLOURS, GREY, sheet

if TYPE_CHECKING:
    from matplotlib.figure import Figure

GAP = "#c23b22"
MOST_NAMES = 12  # in a legend


def print_assembled(console: Console, title: str, found: Assembled) -> None:
    """A line for all, and one for each body that has gone somewhere."""
    console.print(title, style="bold", highlight=False, markup=False)
    for line in found.summary():
        console.print(f"- {line}", highlight=False, markup=False, soft_wrap=True)


def draw_assembled(found: Assembled, title: str) -> Figure:
    """Bodies as strokes through their ports: grey as they are written, the gaps of joints in red, and coloured as they are now."""
    figure = sheet(f"{title}: as written, and assembled", 8.0, 6.5)
    flat = found.dimension == 2
    panel = figure.add_subplot() if flat else figure.add_subplot(projection="3d")
    named = len(found.bodies) <= MOST_NAMES
    for k, name in enumerate(found.bodies):
        label = name if named else None
        panel.plot(*_stroke(found, name, found.before).T, color=GREY, linewidth=1.2, marker="o", markersize=2.5)
        colour = COLOURS[k % len(COLOURS)]
        panel.plot(
            *_stroke(found, name, found.after).T, color=colour, linewidth=2.4, marker="o", markersize=3.5, label=label
        )
    for edge in found.joint_edges.values():
        ends = [found.before[str(port)] for port in (edge.first, edge.second) if str(port) in found.before]
        if edge.at is None and edge.joint.coincident and len(ends) == 2:
            panel.plot(*np.array(ends).T, color=GAP, linewidth=1.0, linestyle=":")
    if flat:
        panel.set_aspect("equal", adjustable="datalim")
        panel.grid(color="#e6e6e6", linewidth=0.8)
    else:
        _equal(panel, np.array([*found.before.values(), *found.after.values()]))
    panel.set_xlabel("x [m]")
    panel.set_ylabel("y [m]")
    if named:
        panel.legend(frameon=False, fontsize=8)
    return figure


def _equal(panel: object, places: Array) -> None:
    """The same scale along all axes."""
    middle, half = 0.5 * (places.max(0) + places.min(0)), 0.5 * float(np.ptp(places, axis=0).max()) or 1.0
    for axis, centre in zip("xyz", middle, strict=True):
        getattr(panel, f"set_{axis}lim")(centre - half, centre + half)


def _stroke(found: Assembled, name: str, places: dict[str, Array]) -> Array:
    """Through its two ports, or from their middle to each."""
    ports = [place for port, place in places.items() if port.partition(".")[0] == name]
    if len(ports) <= 2:
        return np.array(ports).reshape(-1, found.dimension)
    middle = np.mean(ports, axis=0)
    return np.array([point for port in ports for point in (middle, port, middle)])
