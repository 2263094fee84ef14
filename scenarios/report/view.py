"""From where one looks at a mechanism: at the plane it moves in, or into space, with equal scales and gravity downwards."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from coordinator.record.run import Run
from modular.elements import Array
from scenarios.report.page import dress

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class View:
    """Which coordinates are drawn, and the box around everything that is shown [m]."""

    axes: tuple[int, ...]  # in the order of the paper: to the right, upwards; or all three
    up: str  # the coordinate that points upwards
    low: Array  # corners of the box, in the order of `axes`
    high: Array

    def of(self, points: Array) -> Array:
        """The coordinates that are drawn, (..., 2 or 3)."""
        return points[..., list(self.axes)]

    def stage(self, figure: Figure, place: Any = 111, zoom: float = 0.95) -> Any:
        """Empty axes for it, with equal scales; `zoom`: in space, how much of its place they fill."""
        from matplotlib import rc_context
        from matplotlib.ticker import MaxNLocator

        with rc_context({"grid.color": "#dddddd", "grid.linewidth": 0.6}):  # in space the grid takes its style here
            axes: Any = figure.add_subplot(place, projection="3d" if len(self.axes) == 3 else None)
        names = ["xyz"[axis] for axis in self.axes]
        axes.set_xlabel(f"{names[0]} [m]")
        if len(self.axes) == 2:
            dress(axes, f"{names[1]} [m]")
            axes.update_datalim([self.low, self.high])
            axes.margins(0.0)
            axes.set_aspect("equal", adjustable="datalim")
            return axes
        axes.set(
            xlim=self._span(0),
            ylim=self._span(1),
            zlim=self._span(2),
            ylabel=f"{names[1]} [m]",
            zlabel=f"{names[2]} [m]",
        )
        axes.view_init(elev=18, azim=-58, vertical_axis=self.up)
        sides = self.high - self.low
        axes.set_box_aspect(tuple(sides), zoom=zoom)
        axes.tick_params(labelsize=8)
        for axis, side in zip((axes.xaxis, axes.yaxis, axes.zaxis), sides, strict=True):
            axis.set_pane_color((0.98, 0.98, 0.98, 1.0))
            axis.set_major_locator(MaxNLocator(max(2, round(6 * side / max(sides))), steps=[1, 2, 5, 10]))
        return axes

    def _span(self, k: int) -> tuple[float, float]:
        return float(self.low[k]), float(self.high[k])


def _box(points: Array) -> tuple[Array, Array]:
    """Its corners; points that are nowhere do not count."""
    columns = [column[~np.isnan(column)] for column in points.T]
    return (
        np.array([column.min(initial=np.inf) for column in columns]),
        np.array([column.max(initial=-np.inf) for column in columns]),
    )


def choose_view(run: Run, shapes: Sequence[Array]) -> View:
    """Look at the plane of the motion where one coordinate is the same everywhere, else into space."""
    boxes = [_box(shape.reshape(-1, shape.shape[-1])) for shape in shapes]
    low, high = np.min([box[0] for box in boxes], axis=0), np.max([box[1] for box in boxes], axis=0)
    sides = high - low
    largest = max(float(sides.max()), 1e-9)
    gravity = np.asarray(run.model["gravity"], float)
    d = len(gravity)
    up = int(np.argmax(np.abs(gravity))) if np.any(gravity) else d - 1
    axes: tuple[int, ...] = tuple(range(d))
    if d == 3:
        flat = [axis for axis in range(3) if axis != up and sides[axis] < 1e-6 * largest]
        if flat:
            across = next(axis for axis in range(3) if axis not in (up, flat[-1]))
            axes = (across, up)
    middle = 0.5 * (low + high)
    half = 0.5 * np.maximum(sides, (0.4 if len(axes) == 3 else 0.1) * largest) + 0.04 * largest
    keep = list(axes)
    return View(axes, "xyz"[up], (middle - half)[keep], (middle + half)[keep])
