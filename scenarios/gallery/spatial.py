"""Figures VI-21 to VI-26: the spatial double pendulum.

With δ = 0.3 the margin of its hinge is 0.62 and it diverges within 20 ticks; δ = 0.18 leaves a margin of 1.03.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from coordinator.record.run import Run
from scenarios.gallery.runs import SOFTER, Runs
from scenarios.gallery.sheet import OURS, THEIRS, Drawn, Entry, Series, below, sheet, side_by_side, step, two_steps
from scenarios.report.page import dress, few_ticks, magnitude, peak, quantity, span, stride

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SYSTEM = "double-pendulum-3d"
COARSE_STEP, FINE_STEP = 1e-3, 1e-4  # [s]
END = 5.0  # [s]


def coordinates(port: str, number: int) -> Callable[[Runs, Entry], Drawn]:
    """VI-21 and VI-23: x and y of an end."""

    def draw(runs: Runs, entry: Entry) -> Drawn:
        pair = runs.pair(SYSTEM, FINE_STEP, END, SOFTER)
        some = next(iter(pair.values()))
        figure = sheet(entry, some, 8.8, 4.2, note=step(some))
        panels = figure.subplots(2, 1, sharex=True)
        _coordinates(figure, panels, pair, port, number, (0, 1))
        ends = [run.position(port) for run in pair.values()]
        apart = magnitude(ends[0] - ends[1])
        return Drawn(figure, f"the two settings stay within {quantity(peak(apart), 'm')} of each other")

    return draw


def deep(port: str, number: int) -> Callable[[Runs, Entry], Drawn]:
    """VI-24: z of the end of the second rod."""

    def draw(runs: Runs, entry: Entry) -> Drawn:
        pair = runs.pair(SYSTEM, FINE_STEP, END, SOFTER)
        some = next(iter(pair.values()))
        figure = sheet(entry, some, 8.8, 3.0, note=step(some))
        _coordinates(figure, [figure.subplots()], pair, port, number, (2,))
        low = min(float(run.position(port)[:, 2].min()) for run in pair.values())
        high = max(float(run.position(port)[:, 2].max()) for run in pair.values())
        return Drawn(figure, f"z2 from {low:.3g} to {high:.3g} m")

    return draw


def out_of_plane(runs: Runs, entry: Entry) -> Drawn:
    """VI-22: z of the end of the first rod, which the hinge should keep at zero."""
    pairs = [runs.pair(SYSTEM, dt, END, SOFTER) for dt in (COARSE_STEP, FINE_STEP)]
    return two_steps(entry, pairs, "z1", lambda run: run.position("first.end")[:, 2])


def _coordinates(
    figure: Figure, panels: Sequence[Axes], pair: Mapping[str, Run], port: str, number: int, axes: Sequence[int]
) -> None:
    """One panel per coordinate, both settings in each."""
    for panel, axis in zip(panels, axes, strict=True):
        for (name, run), colour, style in zip(pair.items(), (THEIRS, OURS), ("-", (0, (3, 1.5))), strict=True):
            every = stride(len(run), 1000)
            values = run.position(port)[every, axis]
            panel.plot(run.time[every], values, color=colour, linestyle=style, linewidth=1.4, label=name)
        dress(panel, f"{'xyz'[axis]}{number} [m]", time=panel is panels[-1])
        few_ticks(panel)
    span(next(iter(pair.values())), panels)
    below(figure, panels[0])


def gaps(joint: str, number: int) -> Callable[[Runs, Entry], Drawn]:
    """VI-25 and VI-26: the three gaps of a joint."""

    def series(run: Run) -> Series:
        return {f"f{number}_{axis}": run.violation(joint)[:, k] for k, axis in enumerate("xyz")}

    def draw(runs: Runs, entry: Entry) -> Drawn:
        return side_by_side(entry, runs.pair(SYSTEM, COARSE_STEP, END, SOFTER), "gap", "m", series)

    return draw


FIGURES = (
    Entry("VI-21", "Spatial double pendulum: x and y of the end of rod 1", coordinates("first.end", 1)),
    Entry("VI-22", "Spatial double pendulum: z of the end of rod 1", out_of_plane),
    Entry("VI-23", "Spatial double pendulum: x and y of the end of rod 2", coordinates("second.end", 2)),
    Entry("VI-24", "Spatial double pendulum: z of the end of rod 2", deep("second.end", 2)),
    Entry("VI-25", "Spatial double pendulum: gap of joint 1 (hinge)", gaps("hinge", 1)),
    Entry("VI-26", "Spatial double pendulum: gap of joint 2 (ball)", gaps("ball", 2)),
)
