"""The picture of quantities that are asked for by name: over time, or over each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from coordinator.record.export import write_columns
from coordinator.record.quantities import Quantity, quantity
from coordinator.record.run import Run
from modular.elements import Array
from modular.errors import ModelError
from scenarios.report.page import COLOURS, MAX_CURVES, dress, legend, mark_events, page, peak, prefix, thin

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

OVER = " over "


def asked(run: Run, words: str) -> list[tuple[Quantity, Quantity | None]]:
    """Names with commas between them, each over time or over another: "rod.end.y over rod.end.x, pivot.force"."""
    found: list[tuple[Quantity, Quantity | None]] = []
    for part in filter(None, (part.strip() for part in words.split(","))):
        up, _, along = part.partition(OVER)
        found.append((quantity(run, up), quantity(run, along) if along else None))
    if not found:
        raise ModelError('--curves: give names, such as "rod.end.y, pivot.force" or "rod.end.y over rod.end.x".')
    return found


def draw(run: Run, curves: Sequence[tuple[Quantity, Quantity | None]]) -> Figure:
    """A panel for each unit over time, and one for each pair."""
    by_unit: dict[str, list[Quantity]] = {}
    for up, along in curves:
        if along is None:
            by_unit.setdefault(up.unit, []).append(up)
    pairs = [(up, along) for up, along in curves if along is not None]
    count = len(by_unit) + len(pairs)
    figure = page(run, "curves", 10.0, 1.2 + 2.4 * len(by_unit) + 4.0 * len(pairs))
    panels = list(
        figure.subplots(count, 1, squeeze=False, height_ratios=[2.4] * len(by_unit) + [4.0] * len(pairs))[:, 0]
    )
    for panel, (unit, found) in zip(panels, by_unit.items(), strict=False):
        _over_time(run, panel, unit, found)
    for panel, (up, along) in zip(panels[len(by_unit) :], pairs, strict=True):
        _over_each_other(panel, up, along)
    if by_unit:
        panels[len(by_unit) - 1].set_xlabel("time [s]")
        mark_events(run, panels[: len(by_unit)])
    return figure


def table(run: Run, curves: Sequence[tuple[Quantity, Quantity | None]], path: Path) -> Path:
    """The same numbers as CSV, one line per sample."""
    columns: dict[str, Array] = {"time [s]": run.time}
    for pair in curves:
        columns |= {f"{one.name} [{one.unit}]": one.values for one in pair if one is not None}
    return write_columns(columns, path)


def _over_time(run: Run, panel: Axes, unit: str, found: list[Quantity]) -> None:
    factor, told = prefix(max(peak(one.values) for one in found), unit)
    for one, colour in zip(found, COLOURS * (1 + len(found) // len(COLOURS)), strict=False):
        time, values = thin(run.time, factor * one.values)
        panel.plot(time, values, color=colour, linewidth=1.1, label=one.name)
    dress(panel, found[0].name + f" [{told}]" if len(found) == 1 else f"[{told}]")
    legend(panel, "" if len(found) <= MAX_CURVES else f"{len(found)} curves")


def _over_each_other(panel: Axes, up: Quantity, along: Quantity) -> None:
    panel.plot(along.values, up.values, color=COLOURS[0], linewidth=1.1)
    dress(panel, f"{up.name} [{up.unit}]")
    panel.set_xlabel(f"{along.name} [{along.unit}]")
    if up.unit == along.unit == "m":
        panel.set_aspect("equal", adjustable="datalim")
