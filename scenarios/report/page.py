"""What all pictures share: paper, colours, titles, thinned series, marks of events, and the choice of what to show."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from heapq import nlargest
from math import floor, log10
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from coordinator.record.run import Run
from modular.elements import Array

if TYPE_CHECKING:  # a summary takes its words from here, and should not wait for matplotlib
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from PIL.Image import Image

# Okabe and Ito, "Color universal design" (2008): told apart by colour-blind readers too
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#5D4037", "#000000")
GREY = "#8a8a8a"
MAX_CURVES = 6  # curves of one picture
MAX_EVENT_MARKS = 100  # marks of events
QUICKLY = 3  # how hard pictures are packed: in half the time, and no larger for it, for they carry no transparency
MAX_DECADES = 6  # marks of a logarithmic axis with their numbers
MAX_TICKED_RATIO = 1e3  # of a logarithmic axis that still has marks between them
RAISED = str.maketrans("0123456789-−", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁻")
UNSET = str.maketrans("", "", "${} ")
PREFIXES = {-15: "f", -12: "p", -9: "n", -6: "µ", -3: "m", 0: "", 3: "k", 6: "M", 9: "G", 12: "T"}


def page(run: Run, what: str, width: float, height: float) -> Figure:
    """An empty figure with the name of the model and the step above it [inch]."""
    return sheet(f"{title(run)}: {what}", width, height)


def sheet(words: str, width: float, height: float) -> Figure:
    """An empty figure with words above it [inch]."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    from scenarios.report.layout import OnePass

    figure = Figure(figsize=(width, height), dpi=130, layout=OnePass())
    FigureCanvasAgg(figure)
    figure.suptitle(words, x=0.012, ha="left", fontsize=12, fontweight="bold")
    return figure


def title(run: Run) -> str:
    """Name of the model and step."""
    return f"{run.model.get('title') or 'model'} (Δt = {quantity(run.dt, 's')})"


def write(figure: Figure, path: Path) -> Path:
    """Write it as PNG."""
    painted(figure).save(path, "png", compress_level=QUICKLY, dpi=(figure.dpi, figure.dpi))
    return path


def painted(figure: Figure) -> Image:
    """Its pixels; `savefig` would draw all of it twice, once for the layout only, and pack transparency as well."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from PIL.Image import frombuffer

    from scenarios.report.layout import measured_once

    canvas = FigureCanvasAgg(figure)
    with measured_once(figure):
        canvas.draw()  # type: ignore[no-untyped-call]
    pixels = canvas.buffer_rgba()  # type: ignore[no-untyped-call]
    return frombuffer("RGBA", canvas.get_width_height(), pixels, "raw", "RGBA", 0, 1).convert("RGB")


def dress(axes: Axes, label: str, *, time: bool = False) -> None:
    """Label with its unit, light grid, no box; `time` names the axis below."""
    axes.set_ylabel(label)
    axes.grid(True, color="#e4e4e4", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    if time:
        axes.set_xlabel("time [s]")


def legend(axes: Axes, note: str = "", *, handles: Sequence[Any] | None = None) -> None:
    """To the right of the axes, where it covers nothing; `note` says what is not shown."""
    given: dict[str, Any] = {} if handles is None else {"handles": list(handles)}
    if handles is None and not axes.get_legend_handles_labels()[1]:
        return
    axes.legend(
        loc="upper left", bbox_to_anchor=(1.005, 1.0), borderaxespad=0.0, frameon=False, fontsize=8, title=note or None,
        title_fontsize=8, alignment="left", handlelength=1.6, **given,
    )  # fmt: skip


def span(run: Run, axes: Iterable[Axes]) -> None:
    """Let time axes show the whole run, also where a joint was there for a part of it only."""
    start, end = float(run.time[0]), float(run.time[-1])
    air = 0.01 * (end - start) or run.dt
    for panel in axes:
        panel.set_xlim(start - air, end + air)


# --- events ----------------------------------------------------------------------------------------------------------


def mark_events(run: Run, axes: Iterable[Axes]) -> None:
    """A thin line at every event, named above the first axes; events that fall together share one name."""
    panels = list(axes)
    span(run, panels)
    if len(run) < 2:
        return
    start, end = float(run.time[0]), float(run.time[-1])
    near = 0.03 / _share(panels[0])  # share of the axis that a slanted name takes
    groups: list[tuple[float, list[str]]] = []
    for event in run.events:
        if not start <= event["time"] <= end:
            continue
        name = f"{event['kind']} {event['name']}"
        if groups and event["time"] - groups[-1][0] < near * (end - start):
            groups[-1][1].append(name)
        else:
            groups.append((event["time"], [name]))
    times = np.array([time for time, _ in groups])
    slanted = len(groups) > 1 and float(np.diff(times).min()) < 3.4 * near * (end - start)
    for time in list(dict.fromkeys(event["time"] for event in run.events if start <= event["time"] <= end))[
        :MAX_EVENT_MARKS
    ]:
        for panel in panels:
            panel.axvline(time, color="#555555", linewidth=0.8, linestyle=(0, (4, 3)), zorder=1.5)
    for time, names in groups:
        text = names[0] if len(names) == 1 else f"{names[0]} + {len(names) - 1} more"
        right = (time - start) / (end - start)
        panels[0].annotate(
            text, (time, 1.0), xycoords=("data", "axes fraction"), xytext=(0, 3), textcoords="offset points", fontsize=7.5,
            color="#444444", rotation=30 if slanted else 0, va="bottom",
            ha="left" if slanted or right < 0.08 else "right" if right > 0.92 else "center",
        )  # fmt: skip


def _share(axes: Axes) -> float:
    """Which part of the width of the page an axis has."""
    place = axes.get_subplotspec()
    return 1.0 if place is None else len(place.colspan) / place.get_gridspec().ncols


# --- series ----------------------------------------------------------------------------------------------------------


def thin(time: Array, series: Array, most: int = 1200) -> tuple[Array, Array]:
    """A series short enough to draw that keeps every peak: the smallest and the largest value of each stretch."""
    n = len(series)
    if n <= 2 * most:
        return time, series
    size = -(-n // most)
    bins = -(-n // size)
    filled = np.full(bins * size, np.nan)
    filled[:n] = series
    table = filled.reshape(bins, size)
    missing = np.isnan(table)
    low = np.argmin(np.where(missing, np.inf, table), axis=1)
    high = np.argmax(np.where(missing, -np.inf, table), axis=1)
    picked = np.sort(np.stack([low, high], axis=1), axis=1) + np.arange(bins)[:, None] * size
    index = np.minimum(picked.ravel(), n - 1)
    return time[index], series[index]


def thin_band(time: Array, low: Array, high: Array, most: int = 1200) -> tuple[Array, Array, Array]:
    """A band between two curves, short enough to draw, that keeps every peak."""
    size = max(1, -(-len(time) // most))
    starts = np.arange(0, len(time), size)
    return time[starts], np.fmin.reduceat(low, starts), np.fmax.reduceat(high, starts)


def stride(count: int, most: int = 2000) -> slice:
    """Every so many-th sample of a smooth curve."""
    return slice(None, None, max(1, -(-count // most)))


def magnitude(series: Array) -> Array:
    """Length of the vectors in the rows, NaN where they are missing, (n,)."""
    return np.asarray(np.sqrt((series**2).sum(axis=1)))


def peak(series: Array) -> float:
    """Largest absolute value that is a number; 0 where there is none."""
    finite = np.abs(series[np.isfinite(series)])
    return float(finite.max()) if finite.size else 0.0


def worst(scores: Mapping[str, float], most: int = MAX_CURVES) -> list[str]:
    """The names with the largest scores, in the order of the model."""
    chosen = set(nlargest(most, scores, key=scores.__getitem__))
    return [name for name in scores if name in chosen]


def log_axis(axes: Axes) -> None:
    """Logarithmic, no more than eight decades below the peak; a picture of nothing but zeros says so."""
    from matplotlib.ticker import LogLocator, NullLocator

    values = np.concatenate([np.asarray(line.get_ydata(), float) for line in axes.lines] or [np.empty(0)])
    top = peak(values)
    if top == 0.0:
        axes.set_ylim(0.0, 1.0)
        axes.set_yticks([])
        axes.text(0.5, 0.5, "zero throughout", transform=axes.transAxes, ha="center", va="center", color="#666666")
        return
    positive = values[np.isfinite(values) & (values > 0)]
    low, high = max(float(np.percentile(positive, 2)) * 0.3, top * 1e-8), top * 3.0
    axes.set_yscale("log")
    axes.yaxis.set_major_locator(LogLocator(numticks=MAX_DECADES))
    axes.set_ylim(low, high)
    for name in ("major", "minor"):
        getattr(axes.yaxis, f"set_{name}_formatter")(powers(getattr(axes.yaxis, f"get_{name}_formatter")()))
    # marks between the decades would be a smear, and take as long to draw as the curves
    if high > MAX_TICKED_RATIO * low:
        axes.yaxis.set_minor_locator(NullLocator())


def powers(formatter: Any) -> Any:
    """What a logarithmic axis writes at its marks, in letters: typesetting formulas takes as long as all curves."""
    from matplotlib.ticker import FuncFormatter

    def write(value: float, place: int | None = None) -> str:
        formatter.set_axis(written.axis)
        text = str(formatter(value, place)).replace(r"\mathdefault", "").replace(r"\times", "×")
        return re.sub(r"\^\{(.*?)\}", lambda found: found[1].translate(RAISED), text).translate(UNSET)

    written = FuncFormatter(write)
    written.set_locs = formatter.set_locs  # type: ignore[method-assign]
    return written


# --- quantities ------------------------------------------------------------------------------------------------------


def quantity(value: float, unit: str) -> str:
    """A value with a prefixed unit: 1.3e-05 m is 13 µm."""
    value = float(f"{value:.3g}")  # first, so that 999.9 becomes 1 k
    factor, prefixed = prefix(abs(value), unit)
    return f"{value * factor:.3g} {prefixed}"


def prefix(largest: float, unit: str) -> tuple[float, str]:
    """Factor and prefixed unit in which the largest value lies between 1 and 1000."""
    if not (np.isfinite(largest) and largest > 0):
        return 1.0, unit
    power = 3 * floor(log10(largest * (1 + 1e-12)) / 3)
    power = min(max(power, min(PREFIXES)), max(PREFIXES))
    return 10.0**-power, PREFIXES[power] + unit


def few_ticks(axes: Axes, most: int = 6) -> None:
    """For narrow panels."""
    from matplotlib.ticker import MaxNLocator

    axes.xaxis.set_major_locator(MaxNLocator(most, steps=[1, 2, 2.5, 5, 10]))
    axes.yaxis.set_major_locator(MaxNLocator(most, steps=[1, 2, 5, 10]))
