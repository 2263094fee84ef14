"""What one sees while a run computes: a bar with simulated time, real-time factor and time left; plain lines in a file."""

from __future__ import annotations

import time as clock
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

if TYPE_CHECKING:
    from coordinator.simulation import Simulation

LINE_SECONDS = 10.0  # seconds between two lines where there is no terminal


@contextmanager
def waiting(console: Console, text: str) -> Iterator[None]:
    """A spinner while something takes its time; nothing without a terminal."""
    with console.status(text) if console.is_terminal else nullcontext():
        yield


@contextmanager
def watched(console: Console, until: float, start: float = 0.0) -> Iterator[Callable[[Simulation], None]]:
    """A callback for `Simulation.run` that shows how far it is; it goes from `start` to `until` [s]."""
    started = clock.perf_counter()

    def state(simulation: Simulation) -> tuple[float, str]:
        done, spent = simulation.time, max(clock.perf_counter() - started, 1e-9)
        gone = done - start
        left = spent * max(until - done, 0.0) / gone if gone > 0 else 0.0
        return done, f"{done:.3f} of {until:g} s, {rate_text(gone / spent)} × real time, {duration(left)} left"

    if console.is_terminal:
        from scenarios.report.first_use import in_words  # and the compiler, which those who only wait have no need of

        columns = (TextColumn("simulating"), BarColumn(), TaskProgressColumn(), TextColumn("{task.fields[state]}"))
        with Progress(*columns, console=console, transient=True) as progress:
            task = progress.add_task("", total=until, state="")

            def show(simulation: Simulation) -> None:
                done, text = state(simulation)
                progress.update(task, completed=done, state=text)

            with in_words(lambda text: progress.update(task, state=text)):
                yield show
        return

    shown = started

    def tell(simulation: Simulation) -> None:
        nonlocal shown
        if clock.perf_counter() - shown > LINE_SECONDS:
            shown = clock.perf_counter()
            console.print(state(simulation)[1], markup=False)

    yield tell


@contextmanager
def measuring(console: Console, until: float, dt: float) -> Iterator[Callable[[Simulation], None]]:
    """The same for two more runs, the first at half the step `dt`, which takes four parts of five of the time."""
    started = clock.perf_counter()

    def done(simulation: Simulation) -> tuple[float, str]:
        fine = simulation.dt < dt
        share = 0.8 * simulation.time / until if fine else 0.8 + 0.2 * simulation.time / until
        return share, f"Δt = {simulation.dt:.3g} s, {simulation.time:.3f} of {until:g} s"

    if console.is_terminal:
        from scenarios.report.first_use import in_words

        columns = (
            TextColumn("measuring its error"),
            BarColumn(),
            TaskProgressColumn(),
            TextColumn("{task.fields[state]}"),
        )
        with Progress(*columns, console=console, transient=True) as progress:
            task = progress.add_task("", total=1.0, state="")

            def show(simulation: Simulation) -> None:
                share, text = done(simulation)
                progress.update(task, completed=share, state=text)

            with in_words(lambda text: progress.update(task, state=text)):
                yield show
        return

    shown = started

    def tell(simulation: Simulation) -> None:
        nonlocal shown
        if clock.perf_counter() - shown > LINE_SECONDS:
            shown = clock.perf_counter()
            console.print(f"measuring its error: {done(simulation)[1]}", markup=False)

    yield tell


def rate_text(value: float) -> str:
    """Two digits without a power of ten: 0.49, 5.4, 130, 12,000."""
    return f"{float(f'{value:.2g}'):,.0f}" if value >= 10.0 else f"{value:.2g}"


def duration(seconds: float) -> str:
    """A time span as people say it."""
    if seconds < 99.5:
        return f"{seconds:.0f} s"
    minutes = seconds / 60
    return f"{minutes:.0f} min" if minutes < 99.5 else f"{minutes / 60:.1f} h"
