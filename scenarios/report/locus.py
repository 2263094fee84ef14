"""How vibrations change with a setting: the values at which stability changes, and the lines as a picture."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from rich.console import Console
from rich.text import Text

from coordinator.analysis import Locus
from scenarios.report.page import COLOURS, GREY, dress, sheet
from scenarios.report.summary import plain_table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ROUNDING = 1e-9  # of an eigenvalue: an imaginary part that is no more


def print_locus(console: Console, title: str, found: Locus) -> None:
    """Where what was stable is so no more, or is so again."""
    low, high = float(found.values[0]), float(found.values[-1])
    span = f"{found.setting} from {low:g} to {high:g}, {len(found.values)} values, {found.eigenvalues.shape[1]} lines"
    console.print(f"{title}: {span}", highlight=False, markup=False)
    if not found.changes:
        kept = "is stable" if bool(found.stable.all()) else "grows by itself"
        console.print(f"All along it {kept}.", highlight=False)
        return
    table = plain_table("")
    table.add_column(found.setting, justify="right", no_wrap=True)
    table.add_column("beyond it", no_wrap=True)
    table.add_column("eigenvalue there", justify="right", no_wrap=True)
    for change in found.changes:
        swings = abs(change.eigenvalue.imag)
        value = f"± {swings:.6g}i 1/s" if swings > ROUNDING else "0 1/s"
        table.add_row(*map(Text, (f"{change.value:.9g}", "stable" if change.stable else "grows", value)))
    console.print(table)


def draw_locus(found: Locus, title: str) -> Figure:
    """Frequencies above, what grows or decays below, over the setting; where it is not stable the paper is grey."""
    figure = sheet(f"{title}: eigenvalues over {found.setting}", 9.0, 7.0)
    above, below = figure.subplots(2, 1, sharex=True)
    for k in range(found.eigenvalues.shape[1]):
        colour = COLOURS[k % len(COLOURS)]
        values = found.eigenvalues[:, k]
        swings = np.abs(values.imag) > ROUNDING * np.maximum(np.abs(values), 1e-300)
        above.plot(
            found.values, np.where(swings, np.abs(values.imag) / (2.0 * np.pi), np.nan), color=colour, linewidth=1.6
        )
        below.plot(found.values, values.real, color=colour, linewidth=1.6)
    dress(above, "frequency [Hz]")
    dress(below, "real part [1/s]")
    above.set_ylim(bottom=0.0)
    below.axhline(0.0, color=GREY, linewidth=0.8)
    below.set_xlabel(found.setting)
    below.set_xlim(float(found.values[0]), float(found.values[-1]))
    for first, last in _grows(found):
        for panel in (above, below):
            panel.axvspan(first, last, color="#eeeeee", zorder=0.0)
    for change in found.changes:
        below.annotate(
            f"{change.value:.4g}", (change.value, 1.0), xycoords=("data", "axes fraction"), xytext=(0, 3),
            textcoords="offset points", fontsize=8, ha="center", color="#444444",
        )  # fmt: skip
    return figure


def _grows(found: Locus) -> list[tuple[float, float]]:
    """Stretches in which something grows."""
    edges = [float(found.values[0]), *(change.value for change in found.changes), float(found.values[-1])]
    stable, stretches = bool(found.stable[0]), []
    for first, last in pairwise(edges):
        if not stable:
            stretches.append((first, last))
        stable = not stable
    return stretches
