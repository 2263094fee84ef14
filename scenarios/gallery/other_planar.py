"""Figures VI-15 to VI-18: the slider-crank, and the pendulum that changes its pivot."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from coordinator.record.run import Run
from scenarios.gallery.runs import DEFAULTS, Runs
from scenarios.gallery.sheet import OURS, THEIRS, Drawn, Entry, heading, sheet, step, two_steps
from scenarios.gallery.sheet import below as under
from scenarios.report.mechanism import joint_points, on_ground, samples, stroke
from scenarios.report.page import COLOURS, dress, legend, span, stride

if TYPE_CHECKING:
    from matplotlib.axes import Axes

CRANK, SWITCHING = "slider-crank", "switching-pendulum"
COARSE_STEP, FINE_STEP = 1e-3, 1e-4  # [s]
END, SWINGS = 5.0, 3.0  # [s]
POSES = 15


def crank(runs: Runs, entry: Entry) -> Drawn:
    """VI-15: where the end of the crank goes, and when."""
    pair = runs.pair(CRANK, COARSE_STEP, END)
    ours = pair["defaults"]
    figure = sheet(entry, ours, 9.0, 4.2, note=step(ours))
    grid = figure.add_gridspec(2, 2, width_ratios=(1.0, 1.25))
    place = figure.add_subplot(grid[:, 0])
    above = figure.add_subplot(grid[0, 1])
    below = figure.add_subplot(grid[1, 1], sharex=above)
    poses(place, ours)
    every = stride(len(ours), 1000)
    for port, colour in (("crank.end", COLOURS[0]), ("rod.end", COLOURS[2])):
        place.plot(*ours.position(port)[every].T, color=colour, linewidth=1.6, zorder=3)
    heading(place, "path of the crank (blue), of the slider (green)")
    for (name, run), colour, style, width in zip(
        pair.items(), (THEIRS, OURS), ("-", (0, (3, 2))), (2.2, 1.3), strict=True
    ):
        end = run.position("crank.end")[stride(len(run), 1000)]
        time = run.time[stride(len(run), 1000)]
        for panel, values in zip((above, below), end.T, strict=True):
            panel.plot(time, values, color=colour, linestyle=style, linewidth=width, label=name)
    dress(above, "x of the crank [m]")
    dress(below, "y of the crank [m]", time=True)
    span(ours, (above, below))
    above.tick_params(labelbottom=False)
    under(figure, above)
    folded = np.flatnonzero(np.diff(np.sign(ours.position("crank.end")[:, 0])))
    times = ", ".join(f"{time:.4g} s" for time in ours.time[folded])
    return Drawn(figure, f"bars folded on each other at {times or 'no instant'} (defaults)")


def slide(runs: Runs, entry: Entry) -> Drawn:
    """VI-16: how far the slider is off its axis."""
    pairs = [runs.pair(CRANK, dt, END) for dt in (COARSE_STEP, FINE_STEP)]
    return two_steps(entry, pairs, "f3_y", lambda run: run.violation("slide")[:, 0])


def switching(runs: Runs, entry: Entry) -> Drawn:
    """VI-18: the ends of the pendulum that changes its pivot, under both laws."""
    both = {law: runs.of(SWITCHING, DEFAULTS, FINE_STEP, SWINGS, law=law) for law in ("kinematic", "momentum")}
    some = both["kinematic"]
    figure = sheet(entry, some, 8.8, 4.0)
    panels = figure.subplots(1, 2)
    found = []
    for panel, (law, run) in zip(panels, both.items(), strict=True):
        poses(panel, run)
        every = stride(len(run), 1500)
        for port, colour, name in (("rod.start", COLOURS[1], "end 1"), ("rod.end", COLOURS[0], "end 2")):
            panel.plot(*run.position(port)[every].T, color=colour, linewidth=1.7, label=name, zorder=3)
        panel.set_xlim(-0.12, 2.12)
        panel.set_ylim(-1.1, 1.1)
        heading(panel, {"kinematic": "law=kinematic, as in the thesis", "momentum": "law=momentum"}[law])
        times = [event["time"] for event in run.events if event["kind"] == "join"]
        lost = sum(event.get("impact", 0.0) for event in run.events)
        found.append(
            f"{law}: pivots change at {', '.join(f'{t:.4f} s' for t in times) or 'no instant'}, {lost:.3g} J lost"
        )
    legend(panels[1])
    return Drawn(figure, "; ".join(found))


def poses(panel: Axes, run: Run) -> None:
    """The mechanism at some instants, light at the start, dark at the end; squares where the ground holds it."""
    at = samples(run, POSES)
    shapes = stroke(run, list(run.bodies), at)
    for k, shape in enumerate(shapes):
        grey = str(round(0.86 - 0.5 * k / max(len(at) - 1, 1), 3))
        panel.plot(*shape.T, color=grey, linewidth=1.3, solid_capstyle="round", zorder=2)
    ground = on_ground(run)
    for joint, points in joint_points(run, at).items():
        if joint in ground and joint != "slide":
            panel.plot(*points.T, color="#222222", marker="s", linestyle="", markersize=5, zorder=4)
    dress(panel, "y [m]")
    panel.set_xlabel("x [m]")
    panel.set_aspect("equal")


FIGURES = (
    Entry("VI-15", "Slider-crank: path of the end of the crank", crank),
    Entry("VI-16", "Slider-crank: error of the slide", slide),
    Entry("VI-18", "Pendulum that changes its pivot: paths of its ends", switching),
)
