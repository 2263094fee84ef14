"""Draws the pictures of the documentation beside this file: `python docs/pictures/draw.py`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patheffects import withStroke

import scenarios
from coordinator import Run, Simulation

HERE = Path(__file__).resolve().parent

# Okabe and Ito's colours, which stay apart for colour-blind readers and in print
COLOURS = {"upper": "#0072B2", "lower": "#D55E00"}
INK, PALE = "#222222", "#6b6b6b"
HALO = [withStroke(linewidth=2.5, foreground="white")]
CUTS = {"elbow": 0.5, "pivot": 0.8}  # as the scenario has them [s]


def draw_cut() -> Path:
    """The double pendulum whose elbow is cut at 0.5 s and whose pivot is cut at 0.8 s."""
    run = Simulation(scenarios.load("cut-double-pendulum"), dt=1e-4).run(until=1.2)
    assert {event["name"]: event["time"] for event in run.events} == CUTS
    plt.rcParams.update({"font.size": 10.5, "font.family": "DejaVu Sans", "text.color": INK, "axes.labelcolor": INK})
    figure = plt.figure(figsize=(8.0, 5.7), facecolor="white")
    grid = figure.add_gridspec(2, 2, width_ratios=(1.16, 1.0), hspace=0.14, wspace=0.2)
    grid.update(left=0.015, right=0.98, top=0.98, bottom=0.09)
    draw_poses(figure.add_subplot(grid[:, 0]), run)
    top = figure.add_subplot(grid[0, 1])
    draw_energies(top, run)
    draw_reactions(figure.add_subplot(grid[1, 1], sharex=top), run)
    top.tick_params(labelbottom=False)
    path = HERE / "cut.png"
    figure.savefig(path, dpi=200, facecolor="white", metadata={"Software": None})
    plt.close(figure)
    return path


def at(run: Run, time: float) -> int:
    """The sample of a time [s]."""
    return int(np.searchsorted(run.time, time - 0.5 * run.dt))


def draw_poses(axes: Any, run: Run) -> None:
    """Both rods every 0.05 s, the two cuts marked."""
    axes.set_aspect("equal")
    axes.axis("off")
    ends = {body: (run.position(f"{body}.start"), run.position(f"{body}.end")) for body in COLOURS}
    for body, (_, tip) in ends.items():
        axes.plot(*tip.T, color=COLOURS[body], lw=0.9, alpha=0.55, zorder=1)
    for time in np.arange(0.0, 1.2001, 0.05):
        bold = any(np.isclose(time, t) for t in (0.0, *CUTS.values(), 1.2))
        for body, (start, end) in ends.items():
            i = at(run, time)
            x, y = np.stack([start[i], end[i]]).T
            width, alpha, layer = (3.4, 1.0, 4) if bold else (1.6, 0.3, 2)
            colour = COLOURS[body]
            axes.plot(x, y, color=colour, lw=width, alpha=alpha, solid_capstyle="round", zorder=layer)
            if bold:
                axes.plot(x, y, "o", color=colour, ms=6.5, mec="white", mew=1.0, zorder=5)
    # the ground above the pivot
    axes.plot([-0.2, 0.2], [0.1, 0.1], color=INK, lw=1.6, zorder=3)
    for x in np.linspace(-0.2, 0.15, 6):
        axes.plot([x, x + 0.06], [0.1, 0.18], color=INK, lw=1.0, zorder=3)
    axes.plot([-0.09, 0.0, 0.09, -0.09], [0.1, 0.0, 0.1, 0.1], color=INK, lw=1.4, zorder=3)
    texts = {"elbow": (1.12, -0.62), "pivot": (0.42, 0.42)}
    for joint, port in (("elbow", "lower.start"), ("pivot", "upper.start")):
        point = run.position(port)[at(run, CUTS[joint])]
        axes.plot(*point, "o", ms=15, mfc="none", mec=INK, mew=1.6, zorder=6)
        line = {"arrowstyle": "-", "color": INK, "lw": 1.1, "shrinkB": 8}
        axes.annotate(
            f"{joint} cut\n{CUTS[joint]:g} s",
            point,
            xytext=texts[joint],
            va="center",
            arrowprops=line,
            fontweight="bold",
            zorder=7,
        )
    say(axes, "released\nat rest", (1.08, 0.0), PALE)
    say(axes, "0.5 s", (0.92, -1.8), PALE)
    say(axes, "0.8 s", (-1.06, -2.02), PALE, ha="right")
    say(axes, "1.2 s", (-0.34, -0.92), PALE, ha="center")
    say(axes, "1.2 s", (-1.9, -4.36), PALE)
    say(axes, "upper", (-0.95, 0.3), COLOURS["upper"], ha="center", fontweight="bold")
    say(axes, "lower", (-1.62, -3.7), COLOURS["lower"], fontweight="bold")
    axes.set_xlim(-2.15, 1.95)
    axes.set_ylim(-4.48, 0.62)


def say(axes: Any, text: str, place: tuple[float, float], colour: str, **how: Any) -> None:
    """A word in the picture."""
    axes.text(
        *place,
        text,
        **{"color": colour, "ha": "left", "va": "center", "linespacing": 1.1, **how},
        path_effects=HALO,
    )


def frame(axes: Any, run: Run, label: str) -> None:
    """What both diagrams share: time, the cuts, no clutter."""
    axes.set_ylabel(label)
    axes.set_xlim(0.0, run.time[-1])
    axes.grid(color="#e6e6e6", lw=0.8)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axes.spines[side].set_color(PALE)
    axes.tick_params(colors=INK, length=3)
    for time in CUTS.values():
        axes.axvline(time, color=INK, lw=1.0, ls=(0, (4, 3)))


def draw_energies(axes: Any, run: Run) -> None:
    """Energy passes between the bodies while they are joined; each keeps its own afterwards."""
    frame(axes, run, "energy since the start [J]")
    for body, colour in COLOURS.items():
        energy = run.energy_of(body)
        axes.plot(run.time, energy - energy[0], color=colour, lw=2.0)
    axes.plot(run.time, run.energy - run.energy[0], color=INK, lw=1.6)
    axes.set_ylim(-4.0, 4.0)
    say(axes, "upper", (1.0, 2.15), COLOURS["upper"], fontweight="bold")
    say(axes, "together", (0.88, 0.42), INK, fontweight="bold")
    say(axes, "lower", (1.0, -2.15), COLOURS["lower"], fontweight="bold")


def draw_reactions(axes: Any, run: Run) -> None:
    """Size of the force in each joint, until it is cut."""
    frame(axes, run, "force in the joint [N]")
    axes.set_xlabel("time [s]")
    for joint, colour in (("elbow", "#009E73"), ("pivot", "#AA4499")):
        axes.plot(run.time, np.linalg.norm(run.reaction(joint), axis=1), color=colour, lw=2.0)
    axes.set_ylim(0.0, 115.0)
    say(axes, "pivot", (0.29, 60.0), "#AA4499", ha="right", fontweight="bold")
    line = {"arrowstyle": "-", "color": "#009E73", "lw": 1.1}
    say(axes, "elbow", (0.56, 84.0), "#009E73", fontweight="bold")
    axes.annotate("", (0.458, 74.0), xytext=(0.55, 82.0), arrowprops=line)
    say(axes, "elbow cut", (0.485, 108.0), INK, ha="right")
    say(axes, "pivot cut", (0.815, 108.0), INK)


if __name__ == "__main__":
    print(draw_cut())
