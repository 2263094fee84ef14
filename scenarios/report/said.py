"""Warnings of runs that a command tells in words of its own."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from rich.console import Console

    from coordinator.simulation import Simulation
    from modular.assembly import Assembly


def _foretold() -> tuple[type[Warning], ...]:
    """What a simulation warns of before it runs on, or on its way."""
    from coordinator import StabilityWarning, StartWarning, UnseenWarning

    return StabilityWarning, StartWarning, UnseenWarning


@contextmanager
def said_already() -> Iterator[None]:
    """Margins, verdicts and errors are told by the command, and not by Python with a line of our sources as well."""
    from coordinator import VerdictWarning

    with warnings.catch_warnings():
        for category in (*_foretold(), VerdictWarning):
            warnings.simplefilter("ignore", category)
        yield


def tell_unseen(console: Console, model: Assembly, steps: Sequence[float]) -> None:
    """What is over, or has swung, before some of these steps see what it does: a line each, before many runs."""
    from coordinator.checks.run_warnings import MIN_STEPS_PER_SWING, fastest, following, unfollowed_words, unseen_words
    from scenarios.report.page import quantity
    from scenarios.terminal import say

    for name, edge in model.force_edges.items():
        blind = [step for step in sorted(steps) if edge.force.unseen(step, 0.0) is not None]
        if blind:
            at, which = edge.force.unseen(blind[-1], 0.0), ", ".join(quantity(step, "s") for step in blind)
            say(console, f"warning: {unseen_words(name, at or 0.0, which)}", style="yellow")
    for name, part in following(model):
        pace = fastest(part)
        blind = [step for step in sorted(steps) if pace * step * MIN_STEPS_PER_SWING > 1.0]
        if blind:
            which = ", ".join(quantity(step, "s") for step in blind)
            say(console, f"warning: {unfollowed_words(name, pace, blind[-1], which)}", style="yellow")


@contextmanager
def warnings_on_the_way(simulation: Simulation) -> Iterator[None]:
    """The same, where what passes its stability limit on the way is a line for people: nobody could know before."""
    from coordinator import StabilityWarning

    first = simulation.tick

    def known(category: type[Warning]) -> bool:
        return issubclass(category, StabilityWarning) and simulation.tick == first

    with said_already(), as_lines(*_foretold(), known=known):
        yield


@contextmanager
def as_lines(*kinds: type[Warning], known: Callable[[type[Warning]], bool] = lambda _: False) -> Iterator[None]:
    """Warnings of these kinds are lines for people, but for those that are known; others are shown as ever."""
    show = warnings.showwarning

    def tell(message: Warning | str, category: type[Warning], *rest: Any, **more: Any) -> None:
        if not issubclass(category, kinds):
            show(message, category, *rest, **more)
        elif not known(category):
            typer.echo(f"warning: {message}", err=True)

    with warnings.catch_warnings():
        for kind in kinds:
            warnings.simplefilter("always", kind)
        warnings.showwarning = tell
        yield
