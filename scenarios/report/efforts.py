"""The picture of drives, motors and springs: how far each goes along its axis, and what it does there, with their signs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coordinator.record.run import Run
from coordinator.record.turning import Column, anything_acts, coordinates, efforts, some_samples
from scenarios.report.page import (
    COLOURS,
    MAX_CURVES,
    dress,
    legend,
    mark_events,
    page,
    peak,
    prefix,
    thin,
    worst,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MAX_SAMPLES = 1000  # at which efforts are worked out
LABELS = {"angle": "angle", "way": "way", "distance": "distance", "torque": "torque", "effort": "force"}


def draw(run: Run) -> Figure | None:
    """One panel for each kind of coordinate and of effort; None where nothing acts along an axis."""
    acts = efforts(some_samples(run, MAX_SAMPLES)) if anything_acts(run) else []
    if not acts:
        return None
    shown = worst({column.of: peak(column.values) for column in acts})
    colours = dict(zip(shown, COLOURS, strict=False))
    columns = [*coordinates(run, names=shown), *(column for column in acts if column.of in colours)]
    kinds = [what for what in LABELS if any(column.what == what for column in columns)]
    figure = page(run, "drives, motors and springs along their axes", 10.0, 1.2 + 2.3 * len(kinds))
    panels = list(figure.subplots(len(kinds), 1, sharex=True, squeeze=False)[:, 0])
    left = len(acts) - len(shown)
    for k, (panel, what) in enumerate(zip(panels, kinds, strict=True)):
        note = f"{MAX_CURVES} of {len(acts)}, largest peaks" if left and k == 0 else ""
        _panel(run, panel, [column for column in columns if column.what == what], colours, note)
    panels[-1].set_xlabel("time [s]")
    mark_events(run, panels)
    return figure


def _panel(run: Run, panel: Axes, columns: list[Column], colours: dict[str, str], note: str) -> None:
    factor, unit = prefix(max(peak(column.values) for column in columns), columns[0].unit)
    for column in columns:
        time, values = thin(column.time, factor * column.values)
        panel.plot(time, values, color=colours[column.of], linewidth=1.1, label=column.of)
    dress(panel, f"{LABELS[columns[0].what]} [{unit}]")
    legend(panel, note)
