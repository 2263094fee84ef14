"""The picture of the reactions: force and, where a joint locks rotations, moment of each joint over time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from coordinator.record.across import Table, joint_forces, joint_moments
from coordinator.record.run import Run
from scenarios.report.page import (
    COLOURS,
    GREY,
    MAX_CURVES,
    dress,
    legend,
    mark_events,
    page,
    prefix,
    thin,
    thin_band,
    worst,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def draw(run: Run) -> Figure:
    """Magnitudes; the joints with the largest peaks, and a band over the others."""
    forces, moments = joint_forces(run), joint_moments(run)
    kinds = [
        (name, unit, series) for name, unit, series in (("force", "N", forces), ("moment", "N m", moments)) if series
    ]
    figure = page(run, "reactions of the joints", 10.0, 1.2 + 2.9 * max(len(kinds), 1))
    if not kinds:
        figure.text(0.5, 0.5, "no joints", ha="center")
        return figure
    panels = list(figure.subplots(len(kinds), 1, sharex=True, squeeze=False)[:, 0])
    for panel, (name, unit, series) in zip(panels, kinds, strict=True):
        _panel(run, panel, name, unit, series)
    panels[-1].set_xlabel("time [s]")
    mark_events(run, panels)
    return figure


def _panel(run: Run, panel: Axes, name: str, unit: str, series: Table) -> None:
    shown = worst(peaks := series.peaks())
    factor, unit = prefix(max(peaks.values()), unit)
    others = series.without(shown)
    if len(others):
        time, low, high = thin_band(run.time, np.fmin.reduce(others), np.fmax.reduce(others))
        panel.fill_between(
            time,
            factor * low,
            factor * high,
            color=GREY,
            alpha=0.35,
            linewidth=0,
            label=f"range of the other {len(others)}",
        )
    for colour, joint in zip(COLOURS, shown, strict=False):
        time, values = thin(run.time, factor * series[joint])
        panel.plot(time, values, color=colour, linewidth=1.1, label=joint)
    dress(panel, f"{name} [{unit}]")
    panel.set_ylim(bottom=0.0)
    legend(panel, f"{MAX_CURVES} of {len(series)}, largest peaks" if len(others) else "")
