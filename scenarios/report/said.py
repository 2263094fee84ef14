"""Warnings of runs that a command tells in words of its own."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from coordinator.simulation import Simulation


@contextmanager
def said_already() -> Iterator[None]:
    """Margins, verdicts and errors are told by the command, and not by Python with a line of our sources as well."""
    from coordinator import StabilityWarning, VerdictWarning

    with warnings.catch_warnings():
        for told in (StabilityWarning, VerdictWarning):
            warnings.simplefilter("ignore", told)
        yield


@contextmanager
def told_on_the_way(simulation: Simulation) -> Iterator[None]:
    """The same, where what passes its stability limit on the way is a line for people: nobody could know before."""
    from coordinator import StabilityWarning, UnseenWarning

    with said_already():
        show, first = warnings.showwarning, simulation.tick

        def tell(message: Warning | str, category: type[Warning], *rest: object, **more: object) -> None:
            if not issubclass(category, StabilityWarning | UnseenWarning):
                show(message, category, *rest, **more)  # type: ignore[arg-type]
            elif simulation.tick > first or issubclass(category, UnseenWarning):
                typer.echo(f"warning: {message}", err=True)

        warnings.simplefilter("always", StabilityWarning)
        warnings.showwarning = tell
        yield
