"""The picture of the motion: paths of the ports, poses of the mechanism as under a stroboscope, coordinates over time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from coordinator.record.run import Run
from modular.elements import Array, Indices
from scenarios.report.mechanism import dimension, joint_points, on_ground, paths, samples, stay, stroke
from scenarios.report.page import COLOURS, MAX_CURVES, dress, few_ticks, legend, mark_events, page, stride
from scenarios.report.touching import EARTH, GROUND_SHARE, ground_outlines
from scenarios.report.view import View, choose_view

if TYPE_CHECKING:
    from matplotlib.figure import Figure

POSES = 13


def draw(run: Run) -> Figure:
    """Mechanism on the left, coordinates over time on the right."""
    from matplotlib.lines import Line2D

    at = samples(run, POSES)
    shape = stroke(run, list(run.bodies), at)
    lines, moving = paths(run, MAX_CURVES)
    view = choose_view(run, [shape, *lines.values()])

    figure = page(run, "trajectories", 12.0, 6.2)
    still = [axis for axis in range(dimension(run)) if axis not in view.axes]
    grid = figure.add_gridspec(len(view.axes), 2, width_ratios=(1.15, 1.0))
    place = view.stage(figure, grid[:, 0])
    series = [figure.add_subplot(grid[row, 1]) for row in range(len(view.axes))]

    for edges in ground_outlines(
        run, GROUND_SHARE * float((np.nanmax(shape, (0, 1)) - np.nanmin(shape, (0, 1))).max())
    ):
        place.plot(*view.of(edges).T, color=EARTH, linewidth=0.8, zorder=1)
    draw_poses(run, place, view, at, shape)
    every = stride(len(run))
    for colour, (port, path) in zip(COLOURS, lines.items(), strict=False):
        place.plot(*view.of(path[every]).T, color=colour, linewidth=1.3, label=port, zorder=3)
        for axis, panel in zip(view.axes, series, strict=True):
            panel.plot(run.time[every], path[every, axis], color=colour, linewidth=1.3, label=port)

    for axis, panel in zip(view.axes, series, strict=True):
        last = panel is series[-1]
        dress(panel, f"{'xyz'[axis]} [m]", time=last)
        few_ticks(panel)
        panel.tick_params(labelbottom=last)
    notes = [f"{len(lines)} of {moving} moving points"] if len(lines) < moving else []
    notes += [f"all at {'xyz'[axis]} = {shape[0, 0, axis]:.3g} m" for axis in still]
    legend(series[0], "\n".join(notes))
    mark_events(run, series)
    handles = [
        Line2D([], [], color="#cccccc", linewidth=2, label=f"pose at {run.time[0]:.3g} s"),
        Line2D([], [], color="#222222", linewidth=2, label=f"pose at {run.time[-1]:.3g} s"),
        Line2D([], [], color="#222222", marker="s", linestyle="", markersize=5, label="joint with the ground"),
    ]
    place.legend(handles=handles, loc="lower left", fontsize=8, frameon=False, ncols=3, bbox_to_anchor=(0.0, 1.0))
    return figure


def draw_poses(run: Run, place: Any, view: View, at: Indices, shape: Array) -> None:
    """The mechanism at some instants, light at the start, dark at the end."""
    thick = 1.8 if len(run.bodies) <= 10 else 1.0
    for k in range(len(at)):
        grey = str(round(0.82 - 0.70 * (k / max(len(at) - 1, 1)) ** 2, 3))
        place.plot(*view.of(shape[k]).T, color=grey, linewidth=thick, solid_capstyle="round", zorder=2 + 0.01 * k)
    extent = float((view.high - view.low).max())
    for points in joint_points(run, at, only=on_ground(run)).values():
        if not stay(points, extent):  # a slider goes along the ground, and a drive leads what is far from it
            continue
        place.plot(*view.of(points).T, color="#222222", marker="s", linestyle="", markersize=5, zorder=4)
