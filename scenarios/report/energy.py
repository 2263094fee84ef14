"""The picture of the energy: what the bodies hold above, how far the balance drifts below."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coordinator.record.run import Run
from scenarios.report.balance import balance
from scenarios.report.page import COLOURS, dress, legend, mark_events, page, peak, prefix, quantity, thin

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw(run: Run) -> Figure:
    """Kinetic, potential, total; the drift of the total on its own axis."""
    ledger = balance(run)
    figure = page(run, "energy", 10.0, 6.4)
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=(1.5, 1.0))
    factor, unit = prefix(max(peak(ledger.kinetic), peak(ledger.potential), peak(ledger.total)), "J")
    for series, name, colour in (
        (ledger.kinetic, "kinetic", COLOURS[0]),
        (ledger.potential, "potential", COLOURS[1]),
        (ledger.total, "total", COLOURS[-1]),
    ):
        time, values = thin(run.time, series)
        above.plot(time, factor * values, color=colour, linewidth=1.4, label=name)
    if peak(ledger.work):
        time, values = thin(run.time, ledger.work)
        above.plot(time, factor * values, color=COLOURS[2], linewidth=1.4, label="work of forces")
    dress(above, f"energy [{unit}]")
    legend(above)

    names = ["total − start"]
    names += ["− work of forces"] if peak(ledger.work) else []
    names += ["+ losses in impacts"] if peak(ledger.impacts) else []
    factor, unit = prefix(max(peak(ledger.drift), peak(ledger.explained)), "J")
    for series, name, colour in (
        (ledger.drift, "\n".join(names), COLOURS[-1]),
        (ledger.explained, "with the elastic energy\nin the joints", COLOURS[2]),
    ):
        time, values = thin(run.time, series)
        below.plot(time, factor * values, color=colour, linewidth=1.1, label=name)
    dress(below, f"drift [{unit}]", time=True)
    if ledger.changed:
        note = "bodies came or went:\nthe total jumps with them"
    elif ledger.scale > 0:
        note = (
            f"largest {quantity(peak(ledger.drift), 'J')}:\n"
            f"{peak(ledger.drift) / ledger.scale:.2g} of the largest\nkinetic energy"
        )
    else:
        note = "nothing moves"
    legend(below, note)
    mark_events(run, (above, below))
    return figure
