"""Fetch what draws pictures while a run still computes: it takes a third of a second, in which workers or kernels go on."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
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
            importlib.import_module(name)
