"""What all figures of the gallery share: the sheet with its number, and two settings side by side."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from coordinator.record.run import Run
from modular.elements import Array
from scenarios.gallery.runs import Runs
from scenarios.report.page import COLOURS, dress, few_ticks, legend, page, peak, prefix, quantity, span, thin

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DPI = 105
OURS, THEIRS = COLOURS[0], COLOURS[1]
JOLT = 0.25  # how long the release is felt [s]
Series = Mapping[str, Array]  # curves of one panel under their names


@dataclass(frozen=True)
class Drawn:
    """A figure, and what was measured on the way."""

    figure: Figure
    found: str


@dataclass(frozen=True)
class Entry:
    """A figure of the thesis: its number, what it shows, and how it is drawn."""

    name: str
    shows: str
    draw: Callable[[Runs, Entry], Drawn]


def sheet(entry: Entry, run: Run, width: float = 8.8, height: float = 3.5, *, note: str = "") -> Figure:
    """An empty figure with its number above it [inch]."""
    figure = page(run, entry.shows, width, height)
    figure.set_dpi(DPI)
    figure.suptitle(
        f"{entry.name}  {entry.shows}{', ' * bool(note)}{note}", x=0.012, ha="left", fontsize=11, fontweight="bold"
    )
    return figure


def step(run: Run) -> str:
    """The step, for a title."""
    return f"Δt = {quantity(run.dt, 's')}"


def heading(axes: Axes, text: str) -> None:
    """Says what a panel shows."""
    axes.set_title(text, loc="left", fontsize=9, color="#444444")


def side_by_side(
    entry: Entry, runs: Mapping[str, Run], label: str, unit: str, series: Callable[[Run], Series]
) -> Drawn:
    """One panel per setting; on one scale where they can be compared by eye, else on scales of their own."""
    curves = {name: series(run) for name, run in runs.items()}
    peaks = {name: max(peak(values) for values in shown.values()) for name, shown in curves.items()}
    common = max(peaks.values()) < 8.0 * min(peaks.values())
    some = next(iter(runs.values()))
    figure = sheet(entry, some, note=step(some))
    panels = figure.subplots(1, len(runs), sharey=common, squeeze=False)[0]
    units: list[str] = []
    for panel, (name, run) in zip(panels, runs.items(), strict=True):
        factor, prefixed = prefix(max(peaks.values()) if common else peaks[name], unit)
        for colour, (curve, values) in zip(COLOURS, curves[name].items(), strict=False):
            time, thinned = thin(run.time, values, 700)
            panel.plot(time, factor * thinned, color=colour, linewidth=0.9, label=curve)
        units.append(prefixed)
        dress(panel, f"{label} [{prefixed}]", time=True)
        few_ticks(panel)
        heading(panel, name)
    span(some, panels)
    legend(panels[-1])
    found = ", ".join(f"{quantity(value, unit)} ({name})" for name, value in peaks.items())
    _without_jolt(panels, units)
    return Drawn(figure, f"up to {found}")


def two_steps(
    entry: Entry,
    pairs: Sequence[Mapping[str, Run]],
    label: str,
    values: Callable[[Run], Array],
) -> Drawn:
    """One panel per step, both settings in each [m]."""
    figure = sheet(entry, pairs[0]["defaults"])
    panels = figure.subplots(1, len(pairs), squeeze=False)[0]
    found = []
    for panel, pair in zip(panels, pairs, strict=True):
        errors = {name: values(run) for name, run in pair.items()}
        factor, prefixed = prefix(max(peak(error) for error in errors.values()), "m")
        for order, ((name, run), colour) in enumerate(zip(pair.items(), (THEIRS, OURS), strict=True)):
            time, thinned = thin(run.time, errors[name], 700)
            panel.plot(time, factor * thinned, color=colour, linewidth=0.9, label=name, zorder=3 - order)
            found.append(f"{quantity(peak(errors[name]), 'm')} ({name}, {step(run)})")
        dress(panel, f"{label} [{prefixed}]", time=True)
        few_ticks(panel)
        heading(panel, step(pair["defaults"]))
        span(pair["defaults"], [panel])
    below(figure, panels[0])
    return Drawn(figure, "up to " + ", ".join(found))


def below(figure: Figure, axes: Axes, columns: int = 2) -> None:
    """The legend of some axes under the figure."""
    lines, names = axes.get_legend_handles_labels()
    placed: dict[str, Any] = {"loc": "outside lower center", "ncols": columns, "frameon": False, "fontsize": 8}
    figure.legend(lines, names, **placed)


def _without_jolt(panels: Sequence[Axes], units: Sequence[str]) -> None:
    """Where the release alone would fill a panel, its peak leaves the panel and is told in words."""
    for panel, unit in zip(panels, units, strict=True):
        late, early = _peaks([panel])
        if 0.0 < late < 0.4 * early:
            scale = _peaks(panel.get_shared_y_axes().get_siblings(panel))[0]
            panel.set_ylim(-1.2 * scale, 1.2 * scale)
            panel.text(
                0.03, 0.97, f"at the release ±{early:.2g} {unit}", transform=panel.transAxes, fontsize=8, va="top"
            )


def _peaks(panels: Sequence[Axes]) -> tuple[float, float]:
    """The peak of all curves after the release, and with it."""
    curves = [np.asarray(line.get_xydata(), float) for panel in panels for line in panel.lines]
    return max(peak(curve[curve[:, 0] > JOLT, 1]) for curve in curves), max(peak(curve[:, 1]) for curve in curves)
