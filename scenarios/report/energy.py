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
    book = balance(run)
    figure = page(run, "energy", 10.0, 6.4)
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=(1.5, 1.0))
    factor, unit = prefix(max(peak(book.kinetic), peak(book.potential), peak(book.total)), "J")
    for series, name, colour in (
        (book.kinetic, "kinetic", COLOURS[0]),
        (book.potential, "potential", COLOURS[1]),
        (book.total, "total", COLOURS[-1]),
    ):
        time, values = thin(run.time, series)
        above.plot(time, factor * values, color=colour, linewidth=1.4, label=name)
    if peak(book.work):
        time, values = thin(run.time, book.work)
        above.plot(time, factor * values, color=COLOURS[2], linewidth=1.4, label="work of forces")
    dress(above, f"energy [{unit}]")
    legend(above)

    names = ["total − start"]
    names += ["− work of forces"] if peak(book.work) else []
    names += ["+ losses in impacts"] if peak(book.impacts) else []
    factor, unit = prefix(max(peak(book.drift), peak(book.explained)), "J")
    for series, name, colour in (
        (book.drift, "\n".join(names), COLOURS[-1]),
        (book.explained, "with the elastic energy\nin the joints", COLOURS[2]),
    ):
        time, values = thin(run.time, series)
        below.plot(time, factor * values, color=colour, linewidth=1.1, label=name)
    dress(below, f"drift [{unit}]", time=True)
    if book.changed:
        note = "bodies came or went:\nthe total jumps with them"
    elif book.scale > 0:
        note = f"largest {quantity(peak(book.drift), 'J')}:\n{peak(book.drift) / book.scale:.2g} of the largest\nkinetic energy"
    else:
        note = "nothing moves"
    legend(below, note)
    mark_events(run, (above, below))
    return figure
