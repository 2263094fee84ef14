"""Where the axes of a picture lie: as matplotlib's constrained layout has them, with every label measured once instead of twice.

Measuring labels takes longer than drawing curves. Margins of a column are the widest labels in it, those of a row the highest;
what is left is shared by the ratios of the grid. What is no plain grid (axes in space, bars of colours, grids in grids) is left to
matplotlib. While a picture is drawn matplotlib asks every axis some five times for its ticks and for the room of their labels, and
works both out each time; `measured_once` answers again what has not changed, and lets a tick of an axis be a copy of its first one,
of which all are made anew. The picture is the same to the last bit.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from copy import copy
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.transforms import Bbox

from modular.elements import Array

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PAD = 3.0 / 72.0  # around everything [inch]
BETWEEN = 0.02  # of the picture, between all columns or rows together
REMEMBERED = ("_update_ticks", "_get_ticklabel_bboxes")  # of an axis; where it has none of these, nothing is kept
COPIED = ("_get_tick", "_copy_tick_props")  # likewise
PARTS_OF_TICK = ("tick1line", "tick2line", "gridline", "label1", "label2")


class OnePass(ConstrainedLayoutEngine):
    """Measures once."""

    def execute(self, fig: Any) -> None:
        """Put all axes in their places."""
        grid = _plain_grid(fig)
        if grid is None:
            super().execute(fig)
            return
        renderer, back = fig.canvas.get_renderer(), fig.transFigure.inverted()
        width, height = fig.get_size_inches()
        down, across = grid.get_geometry()
        columns, rows = np.zeros((2, across)), np.zeros((2, down))  # margins before and behind
        for axes in fig.axes:
            place, inner = axes.get_subplotspec(), axes.get_position(original=True)
            outer = axes.get_tightbbox(renderer, for_layout_only=True).transformed(back)
            _widen(columns, place.colspan, (inner.x0 - outer.x0, outer.x1 - inner.x1), PAD / width)
            _widen(rows, place.rowspan, (outer.y1 - inner.y1, inner.y0 - outer.y0), PAD / height)
        head = (
            fig.get_suptitle() and fig._suptitle.get_tightbbox(renderer).transformed(back).height + 2.0 * PAD / height
        )
        if head:
            fig._suptitle.set_y(1.0 - PAD / height)
        left, right = _shared(columns, grid.get_width_ratios(), 1.0)
        top, bottom = _shared(rows, grid.get_height_ratios(), 1.0 - (head or 0.0))
        for axes in fig.axes:
            place = axes.get_subplotspec()
            (first, last), (upper, lower) = _ends(place.colspan), _ends(place.rowspan)
            reach = 1.0 - (head or 0.0)
            axes.set_position(
                Bbox([[left[first], reach - bottom[lower]], [right[last], reach - top[upper]]]), "original"
            )
            axes.set_in_layout(True)  # what is put somewhere counts as put by hand


@contextmanager
def measured_once(fig: Figure) -> Iterator[None]:
    """While a picture is drawn, an axis that shows the same range in the same place has the same ticks and labels."""
    flat = [axis for axes in fig.axes if axes.name != "3d" for axis in (axes.xaxis, axes.yaxis)]
    known = [(axis, _remember(axis)) for axis in flat if all(hasattr(axis, name) for name in REMEMBERED)]
    known += [(axis, _copy_ticks(axis)) for axis in flat if all(hasattr(axis, name) for name in COPIED)]
    try:
        yield
    finally:
        for axis, names in known:
            for name in names:
                delattr(axis, name)


def _remember(axis: Any) -> tuple[str, ...]:
    """Let an axis keep what it found last, under the names of the methods that found it."""
    find_ticks, measure = (getattr(axis, name) for name in REMEMBERED)
    last: dict[str, Any] = {}

    def ticks() -> Any:
        at = (*axis.get_view_interval().tolist(), *axis.axes.bbox.bounds)
        if last.get("at") != at:
            last.clear()
            last["ticks"] = find_ticks()
            last["at"] = at
        return last["ticks"]

    def boxes(ticks: Any, renderer: Any) -> Any:
        if ticks is not last.get("ticks"):
            return measure(ticks, renderer)
        if "boxes" not in last:
            last["boxes"] = measure(ticks, renderer)
        return last["boxes"]

    for name, answer in zip(REMEMBERED, (ticks, boxes), strict=True):
        setattr(axis, name, answer)
    return REMEMBERED


def _copy_ticks(axis: Any) -> tuple[str, ...]:
    """Let all ticks of an axis be copies of its first, under the names of the methods that make one and dress it like the first."""
    make = axis._get_tick

    def tick(major: bool) -> Any:
        present = axis.majorTicks if major else axis.minorTicks
        return _copied(present[0]) if present else make(major)

    for name, answer in zip(COPIED, (tick, lambda *_: None), strict=True):
        setattr(axis, name, answer)
    return COPIED


def _copied(tick: Any) -> Any:
    """With lines and labels of its own."""
    found = copy(tick)
    for name in PARTS_OF_TICK:
        setattr(found, name, copy(getattr(tick, name)))
    return found


def _plain_grid(fig: Figure) -> Any:
    """The grid in which all axes are, if nothing else is there."""
    places = [axes.get_subplotspec() for axes in fig.axes]
    grids = {id(place.get_gridspec()): place.get_gridspec() for place in places if place is not None}
    if len(grids) != 1 or None in places or fig.subfigs or fig.legends:
        return None
    if any(axes.name == "3d" or getattr(axes, "_colorbars", None) for axes in fig.axes):
        return None
    grid = next(iter(grids.values()))
    return None if hasattr(grid, "_subplot_spec") else grid


def _ends(span: range) -> tuple[int, int]:
    """The first and the last."""
    return span.start, span.stop - 1


def _widen(margins: Array, span: range, needed: tuple[float, float], pad: float) -> None:
    """By what labels at both ends of a span need."""
    count = margins.shape[1]
    for side, at, edge in ((0, span.start, 0), (1, span.stop - 1, count - 1)):
        between = pad + BETWEEN / count if at != edge else pad
        margins[side, at] = max(margins[side, at], needed[side] + between)


def _shared(margins: Array, ratios: Iterable[float], length: float) -> tuple[Array, Array]:
    """Where columns begin and end: what margins leave, by ratios."""
    shares = np.array(list(ratios), float)
    sizes = max(length - float(margins.sum()), 0.1 * length) * shares / shares.sum()
    ends = np.cumsum(margins.sum(axis=0) + sizes)
    return ends - margins[1] - sizes, ends - margins[1]
