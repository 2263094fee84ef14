"""Which share of the spread of a place each number brings: Sobol's indices of a study, as a table and a picture."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from coordinator.ensemble.indices import Indices, sobol_indices
from scenarios.report.page import COLOURS, dress, sheet, write
from scenarios.study.varied import AXES, ends_of, varied_numbers

if TYPE_CHECKING:
    from coordinator import Ensemble

HEIGHT = 0.36  # of a bar


def shares_of(done: Ensemble, port: str) -> Indices:
    """Of where a port is at the end, axis by axis."""
    return sobol_indices(list(varied_numbers(done)), ends_of(done, port))


def tell_shares(shares: Indices, port: str) -> list[str]:
    """Lines of a report."""
    lines = [
        "",
        f"Which share of the variance of `{port}` at the end each number brings, alone and with the others (Sobol's indices, "
        f"{shares.points} points, intervals of 95 %):",
        "",
        "| axis | number | alone | with the others |",
        "| --- | --- | ---: | ---: |",
    ]
    for k, axis in enumerate(AXES[: len(shares.first)]):
        for j, name in enumerate(shares.names):
            if np.isfinite(shares.total[k, j]):
                alone, both = (
                    f"{_told(value[k, j])} ({_told(ends[0, k, j])} … {_told(ends[1, k, j])})"
                    for value, ends in (
                        (shares.first, shares.first_interval),
                        (shares.total, shares.total_interval),
                    )
                )
                lines.append(f"| {axis} | `{name}` | {alone} | {both} |")
    return lines


def _told(share: float) -> str:
    return f"{round(float(share), 3) + 0.0:.3f}"


def draw_shares(shares: Indices, port: str, until: float, folder: Path) -> Path:
    """Two bars for every number and axis, with their intervals."""
    count, places = len(shares.first), np.arange(len(shares.names))
    figure = sheet(f"{port} at {until:g} s: which number brings the spread", 9.0, 2.0 + 0.7 * len(places))
    panels = figure.subplots(1, count, sharey=True, squeeze=False)[0]
    for k, panel in enumerate(panels):
        for value, ends, label, colour, off in (
            (shares.first, shares.first_interval, "alone", COLOURS[0], HEIGHT / 2),
            (shares.total, shares.total_interval, "with the others", COLOURS[1], -HEIGHT / 2),
        ):
            if not np.isfinite(value[k]).all():
                continue
            errors = np.abs(ends[:, k] - value[k])
            panel.barh(
                places + off, value[k], HEIGHT, xerr=errors, color=colour, label=label, error_kw={"linewidth": 0.8}
            )
        panel.set_yticks(places, shares.names)
        panel.set_title(f"{AXES[k]}" if np.isfinite(shares.total[k]).all() else f"{AXES[k]} does not move", fontsize=9)
        dress(panel, "")
        panel.set_xlabel("share of the variance", fontsize=9)
    shown = [panel for panel in panels if panel.patches]
    if shown:
        shown[0].legend(loc="lower right", fontsize=8, frameon=False)
    return write(figure, folder / "shares.png")
