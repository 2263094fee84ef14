"""Pictures of a study of the numbers of a model: fans of places over time, places over numbers, and what counts most."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from scenarios.report.page import COLOURS, GREY, dress, sheet, write
from scenarios.study.varied import AXES, ends_of, varied_numbers

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from coordinator import Ensemble
    from modular.elements import Array

SHARES = (0.05, 0.25, 0.5, 0.75, 0.95)
THREADS = 40  # variants that are drawn one by one
MOST_NUMBERS = 8  # that are drawn
MIN_FOR_TORNADO = 8  # variants


def draw_fans(done: Ensemble, port: str, folder: Path) -> list[Path]:
    """Draw what there is to see into a folder that exists."""
    drawn = {"fan.png": fan(done, port), "scatter.png": scatter(done, port), "tornado.png": tornado(done, port)}
    for name, figure in drawn.items():
        if figure is None:
            (folder / name).unlink(missing_ok=True)
    return [write(figure, folder / name) for name, figure in drawn.items() if figure is not None]


def fan(done: Ensemble, port: str) -> Figure:
    """Every axis of a port over time: half of all variants in the dark band, nine of ten in the light one."""
    places, time = done.position(port), done.time
    bands = done.quantiles(port, SHARES)
    count = places.shape[-1]
    figure = sheet(f"{port} in {len(done)} variants", 9.0, 1.0 + 2.4 * count)
    panels = figure.subplots(count, 1, sharex=True, squeeze=False)[:, 0]
    drawn = np.unique(np.linspace(0, len(done) - 1, min(THREADS, len(done))).astype(int))
    for k, panel in enumerate(panels):
        panel.plot(time, places[drawn, :, k].T, color=GREY, linewidth=0.3, alpha=0.35)
        panel.fill_between(time, bands[0, :, k], bands[-1, :, k], color=COLOURS[0], alpha=0.2, label="5 % to 95 %")
        panel.fill_between(time, bands[1, :, k], bands[-2, :, k], color=COLOURS[0], alpha=0.4, label="25 % to 75 %")
        panel.plot(time, bands[2, :, k], color=COLOURS[1], linewidth=1.6, label="median")
        dress(panel, f"{AXES[k]} [m]", time=panel is panels[-1])
        panel.set_xlim(time[0], time[-1])
    panels[0].legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), fontsize=8, ncols=3, frameon=False)
    return figure


def scatter(done: Ensemble, port: str) -> Figure | None:
    """Where a port ends, over each number that was varied."""
    numbers, ends = varied_numbers(done), ends_of(done, port)
    shown = list(numbers)[:MOST_NUMBERS]
    if not np.isfinite(ends).any():
        return None
    rows, columns = ends.shape[1], len(shown)
    figure = sheet(f"{port} at {done.until:g} s", max(5.0, 1.5 + 2.6 * columns), 1.0 + 2.4 * rows)
    panels = figure.subplots(rows, columns, sharex="col", sharey="row", squeeze=False)
    for k in range(rows):
        for j, name in enumerate(shown):
            panels[k, j].plot(numbers[name], ends[:, k], ".", color=COLOURS[0], markersize=4)
            dress(panels[k, j], f"{AXES[k]} [m]" if j == 0 else "")
            if k == rows - 1:
                panels[k, j].set_xlabel(name, fontsize=9)
    return figure


def tornado(done: Ensemble, port: str) -> Figure | None:
    """How far the end of a port goes as each number goes from its lower to its upper quartile, all others being alike.

    By the plane through all variants that leaves least; which share of the variance it explains stands above.
    """
    numbers, ends = varied_numbers(done), ends_of(done, port)
    there = np.isfinite(ends).all(axis=1)
    if there.sum() < max(MIN_FOR_TORNADO, len(numbers) + 2):
        return None
    columns = np.stack([column[there] for column in numbers.values()], axis=1)
    slopes, told = plane(columns, ends[there])
    widths = np.subtract(*np.quantile(columns, [0.75, 0.25], axis=0))
    moves = slopes * widths[:, None]  # (numbers, axes)
    order = np.argsort(np.abs(moves).max(axis=1))[-MOST_NUMBERS:]
    count = ends.shape[1]
    figure = sheet(f"{port} at {done.until:g} s: what counts", 9.0, 1.8 + 0.45 * len(order))
    panels = figure.subplots(1, count, sharey=True, squeeze=False)[0]
    for k, panel in enumerate(panels):
        panel.barh(range(len(order)), moves[order, k], color=np.where(moves[order, k] < 0.0, COLOURS[1], COLOURS[0]))
        panel.axvline(0.0, color=GREY, linewidth=0.8)
        panel.set_yticks(range(len(order)), [list(numbers)[j] for j in order])
        panel.set_xlabel(f"{AXES[k]} [m] from quartile to quartile", fontsize=9)
        panel.set_title(f"a linear fit explains {told[k]:.0%} of the variance", fontsize=9)
    return figure


def plane(columns: Array, values: Array) -> tuple[Array, Array]:
    """Slopes of the plane through values over columns that leaves least, (columns, values), and the share that it tells."""
    middle, size = columns.mean(axis=0), np.maximum(columns.std(axis=0), 1e-300)
    scaled, off = (columns - middle) / size, values - values.mean(axis=0)
    slopes = np.linalg.lstsq(scaled, off, rcond=None)[0]
    left, whole = ((off - scaled @ slopes) ** 2).sum(axis=0), (off**2).sum(axis=0)
    told = 1.0 - np.divide(left, whole, out=np.zeros_like(left), where=whole > 0.0)
    return slopes / size[:, None], told
