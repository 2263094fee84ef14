"""Draws all ready systems on one sheet: `python docs/pictures/systems.py`."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np

import scenarios
from coordinator import Run, Simulation
from scenarios.report.mechanism import paths, samples, stroke
from scenarios.report.page import COLOURS, stride
from scenarios.report.touching import EARTH, GROUND_SHARE, ground_outlines
from scenarios.report.trajectories import POSES, draw_poses
from scenarios.report.view import choose_view

HERE = Path(__file__).resolve().parent
COLUMNS = 6
LONGEST = 3.0  # what is shown of a motion [s]


def moved(name: str) -> Run:
    """The motion that the system suggests, or its beginning."""
    model = scenarios.load(name)
    until = min(float(model.suggested.get("until", 1.0)), LONGEST)
    with Simulation(
        model, float(model.suggested["dt"]), model.suggested.get("coupling"),
        record_every=int(model.suggested.get("record_every", 1)),
    ) as run:  # fmt: skip
        return run.run(until)


def draw() -> Path:
    """A small picture of each, with its name."""
    names = scenarios.names()
    rows = -(-len(names) // COLUMNS)
    figure = plt.figure(figsize=(2.3 * COLUMNS, 2.45 * rows), facecolor="white")
    grid = figure.add_gridspec(rows, COLUMNS, left=0.01, right=0.99, top=0.97, bottom=0.01, wspace=0.06, hspace=0.16)
    for number, name in enumerate(names):
        run = moved(name)
        lines, _ = paths(run, 3)
        at = samples(run, POSES)
        shape = stroke(run, list(run.bodies), at)
        view = choose_view(run, [shape, *lines.values()])
        place = view.stage(figure, grid[number // COLUMNS, number % COLUMNS])
        for edges in ground_outlines(run, GROUND_SHARE * float(np.nanmax(np.ptp(shape, axis=(0, 1))))):
            place.plot(*view.of(edges).T, color=EARTH, linewidth=0.5, zorder=1)
        draw_poses(run, place, view, at, shape)
        every = stride(len(run))
        for colour, path in zip(COLOURS, lines.values(), strict=False):
            place.plot(*view.of(path[every]).T, color=colour, linewidth=0.9, zorder=3)
        place.set_title(name, fontsize=9, loc="left", pad=3)
        place.set(xlabel="", ylabel="")
        place.tick_params(labelbottom=False, labelleft=False, length=0)
        if hasattr(place, "zaxis"):
            place.set(zlabel="")
            place.set_zticklabels([])
    file = HERE / "systems.png"
    figure.savefig(file, dpi=80)
    plt.close(figure)
    return file


if __name__ == "__main__":
    print(draw())
