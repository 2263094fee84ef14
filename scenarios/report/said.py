"""Warnings of runs that a command tells in words of its own."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def said_already() -> Iterator[None]:
    """Margins, verdicts and errors are told by the command, and not by Python with a line of our sources as well."""
    from coordinator import StabilityWarning, VerdictWarning

    with warnings.catch_warnings():
        for told in (StabilityWarning, VerdictWarning):
            warnings.simplefilter("ignore", told)
        yield
