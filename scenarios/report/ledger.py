"""The picture of the energy ledger: per joint what it stores, takes, lets go, loses in impacts and leaks, over time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from coordinator.record.across import ledger_of, ledgers, together
from coordinator.record.run import Run
from modular.elements import Array
from modular.ledger import LEDGER
from scenarios.report.page import (
    COLOURS,
    dress,
    few_ticks,
    legend,
    mark_events,
    page,
    peak,
    prefix,
    quantity,
    thin,
    worst,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LINES = {
    "stored": COLOURS[0],
    "dissipated": COLOURS[1],
    "supplied": COLOURS[3],
    "released": COLOURS[2],
    "impact": COLOURS[4],
    "leaked": COLOURS[-1],
}
MAX_PANELS, FEW_PANELS = 5, 3  # of joints on their own; of so many that a panel says little
MANY = 1000


def draw(run: Run) -> Figure:
    """All joints and forces together, then one panel for each of those with most in their ledger; not of those with nothing."""
    all_ledgers = ledgers(run)
    kept = [LEDGER.index(line) for line in LINES]
    whose = " and ".join(word for word, names in (("joints", run.joints), ("forces", run.forces)) if names) or "joints"
    scores = _peaks(all_ledgers.whole[:, :, kept]).sum(axis=1)
    busy = {name: score for name, score in zip(all_ledgers, scores.tolist(), strict=True) if score != 0.0}
    shown = worst(busy or dict.fromkeys(all_ledgers, 0.0), MAX_PANELS if len(all_ledgers) <= MANY else FEW_PANELS)
    panels: list[tuple[str, Mapping[str, Array]]] = [(name, ledger_of(all_ledgers[name])) for name in shown]
    if len(all_ledgers) > 1:
        panels.insert(0, (f"{len(all_ledgers)} {whose} together", together(all_ledgers.whole, len(run))))
    what = f"energy ledger of {'the ' * (' ' not in whose)}{whose}"
    if len(all_ledgers) > len(shown):
        what += f" ({len(all_ledgers) - len(shown)} of {len(all_ledgers)} not shown on their own)"
    if not panels:
        figure = page(run, what, 8.0, 3.0)
        figure.text(0.5, 0.5, "no joints", ha="center")
        return figure
    columns = 1 if len(panels) == 1 else 2
    odd = columns == 2 and len(panels) % 2 == 1  # then the sum takes the whole first row
    rows = (len(panels) + odd) // columns
    figure = page(run, what, 4.0 + 4.6 * columns, 0.9 + 2.3 * rows)
    grid = figure.add_gridspec(rows, columns)
    axes: list[Axes] = []
    for k, (name, ledger) in enumerate(panels):
        row, column = divmod(k + odd, columns) if k else (0, 0)
        place = grid[0, :] if odd and k == 0 else grid[row, column]
        panel = figure.add_subplot(place, sharex=axes[0] if axes else None)
        _panel(run, panel, ledger)
        panel.set_title(name, fontsize=9.5, loc="left", pad=15 if run.events and row == 0 else 4)
        panel.tick_params(labelbottom=row == rows - 1 or (odd and k == 0))
        if row == rows - 1:
            panel.set_xlabel("time [s]")
        axes.append(panel)
    top = 1 if odd else columns
    for column in range(top):
        mark_events(run, axes[column::top])
    return figure


def _peaks(all_ledgers: Array) -> Array:
    """The largest of each line of each ledger, (ledgers, lines)."""
    return np.asarray(np.where(np.isfinite(all_ledgers), np.abs(all_ledgers), 0.0).max(axis=1, initial=0.0))


def _panel(run: Run, panel: Axes, ledger: Mapping[str, Array]) -> None:
    factor, unit = prefix(max(peak(ledger[line]) for line in LINES), "J")
    for name, colour in LINES.items():
        if not peak(ledger[name]):
            continue
        time, values = thin(run.time, ledger[name])
        style = "--" if name == "leaked" else "-"
        final = ledger[name][np.isfinite(ledger[name])][-1]
        label = f"{name} {quantity(final, 'J')}".replace("-", "−")
        panel.plot(time, factor * values, color=colour, linewidth=1.2, linestyle=style, label=label)
    dress(panel, f"energy [{unit}]")
    few_ticks(panel)
    legend(panel, "at the end:")
