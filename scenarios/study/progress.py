"""What one sees while the cases of a study run: a bar that counts their steps; one line per case where there is no terminal."""

from __future__ import annotations

import time as clock
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

from scenarios.report.first_use import in_words
from scenarios.report.page import quantity
from scenarios.report.progress import duration
from scenarios.study.cases import Case, Result


@contextmanager
def counted(console: Console, cases: Sequence[Case]) -> Iterator[Callable[[Case, Result], None]]:
    """A callback for `run_cases`; long cases weigh more."""
    total = sum(case.ticks for case in cases)
    started = clock.perf_counter()
    done = steps = lost = 0

    def count(case: Case, result: Result) -> str:
        nonlocal done, steps, lost
        done, steps, lost = done + 1, steps + case.ticks, lost + (result["outcome"] != "done")
        spent = clock.perf_counter() - started
        left = f", {duration(spent * (total - steps) / steps)} left" if steps < total else ""
        return f"{done} of {len(cases)} cases{f', {lost} did not finish' if lost else ''}{left}"

    if not console.is_terminal:

        def tell(case: Case, result: Result) -> None:
            count(case, result)
            console.print(f"{done} of {len(cases)}: {outcome(case, result)}", markup=False, soft_wrap=True)

        yield tell
        return

    columns = (TextColumn("running"), BarColumn(), TaskProgressColumn(), TextColumn("{task.fields[state]}"))
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("", total=total, state=f"0 of {len(cases)} cases")

        def show(case: Case, result: Result) -> None:
            progress.update(task, state=count(case, result), completed=steps)

        with in_words(lambda text: progress.update(task, state=text)):
            yield show


def outcome(case: Case, result: Result) -> str:
    """A case in one line."""
    head: str = f"{case.coupling}, Δt = {quantity(case.dt, 's')}: "
    if result["outcome"] == "diverged":
        return head + f"diverged at {result['diverged_at']:.4g} s"
    if result["outcome"] == "refused":
        return f"{head}{result['message']}"
    error = f"error {quantity(result['error'], 'm')}, " if "error" in result else ""
    return head + f"{error}{result['steps']:,} steps in {result['seconds']:.3g} s"
