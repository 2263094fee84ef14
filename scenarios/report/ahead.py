"""Fetch what draws pictures while a run still computes: it takes half a second, in which workers or kernels go on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from threading import Thread, Timer

WAIT = 1.0  # before it begins [s]: short runs are over by then, and are measured without it
NEEDED = (
    "scenarios.report.pictures",
    "scenarios.report.summary",
    "matplotlib.figure",
    "matplotlib.backends.backend_agg",
)


@contextmanager
def fetched_ahead(wanted: bool) -> Iterator[Thread | None]:
    """While a run computes, if pictures are wanted; what cannot be fetched says so where it is needed."""
    if not wanted:
        yield None
        return
    thread = Timer(WAIT, _fetch)
    thread.daemon = True
    thread.start()
    try:
        yield thread
    finally:
        thread.cancel()


def _fetch() -> None:
    for name in NEEDED:
        with suppress(Exception):
            import_module(name)
    with suppress(Exception):
        _first_picture()


def _first_picture() -> None:
    """Of nothing: it finds the fonts, and what matplotlib fetches where it is needed first."""
    from scenarios.report.page import dress, legend, log_axis, painted, sheet

    figure = sheet("energy, kinetic and potential", 6.0, 4.0)
    for panel in figure.subplots(1, 2):
        panel.plot([0.0, 1.0], [1.0, 20.0], label="total − start")
        dress(panel, "drift [mJ]", time=True)
        legend(panel)
    log_axis(panel)
    painted(figure)
