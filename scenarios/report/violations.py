"""The picture of the errors: gaps of the joints, errors of direction, internal constraints; positions left, rates right."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from coordinator.record.across import Table, internal_errors, joint_gaps, joint_turns
from coordinator.record.run import Run
from modular.elements import Array
from scenarios.report.page import (
    COLOURS,
    GREY,
    MAX_CURVES,
    dress,
    legend,
    log_axis,
    mark_events,
    page,
    thin_band,
    worst,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Pairs = tuple[Table, Table]  # errors, and their rates


def draw(run: Run) -> Figure:
    """One row per kind of error, logarithmic."""
    gaps = joint_gaps(run), joint_gaps(run, "violation_rate")
    turns = joint_turns(run), joint_turns(run, "violation_rate")
    inner = internal_errors(run)
    rows = [
        (name, units, pairs)
        for name, units, pairs in (
            ("joint gap", ("m", "m/s"), gaps),
            ("joint direction error", ("–", "1/s"), turns),
            ("internal error of bodies", ("m² or –", "m²/s or 1/s"), inner),
        )
        if pairs[0]
    ]
    figure = page(run, "violations", 12.0, 1.2 + 2.4 * max(len(rows), 1))
    if not rows:
        figure.text(0.5, 0.5, "no joints and no internal constraints", ha="center")
        return figure
    panels = figure.subplots(len(rows), 2, sharex=True, squeeze=False)
    for row, (name, units, pairs) in enumerate(rows):
        last = row == len(rows) - 1
        _row(run, panels[row], pairs)
        dress(panels[row, 0], f"{name} [{units[0]}]", time=last)
        dress(panels[row, 1], f"its rate [{units[1]}]", time=last)
        note = f"worst {MAX_CURVES} of {len(pairs[0])}" if len(pairs[0]) > MAX_CURVES else ""
        legend(panels[row, 1], note)
        for panel in panels[row]:
            log_axis(panel)
    mark_events(run, panels[:, 0])
    mark_events(run, panels[:, 1])
    return figure


def _row(run: Run, panels: np.ndarray[tuple[int], np.dtype[np.object_]], pairs: Pairs) -> None:
    shown = worst(pairs[0].peaks())
    for side in (0, 1):
        panel: Axes = panels[side]
        others = pairs[side].without(shown)
        if len(others):
            time, values = _envelope(run.time, np.fmax.reduce(others))
            panel.plot(time, _positive(values), color=GREY, linewidth=0.9, label=f"largest of the other {len(others)}")
        for colour, name in zip(COLOURS, shown, strict=False):
            time, values = _envelope(run.time, pairs[side][name])
            panel.plot(time, _positive(values), color=colour, linewidth=0.9, label=name)


def _envelope(time: Array, values: Array) -> tuple[Array, Array]:
    time, _, high = thin_band(time, values, values)
    return time, high


def _positive(values: Array) -> Array:
    return np.where(values > 0, values, np.nan)
