"""What one sees while methods are compared: one bar over all jobs, weighed by their cost; without a terminal a line each."""

from __future__ import annotations

import time as clock
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from scenarios.comparison.running import Share
from scenarios.report.first_use import in_words
from scenarios.report.progress import duration

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress, TaskID


@dataclass
class Job:
    """A part of the work, and roughly what it costs."""

    name: str
    cost: float
    outcome: str = ""


class Watch:
    """Follows the jobs of a comparison; this one says nothing."""

    def begin(self, jobs: Sequence[Job]) -> None:
        """All jobs that are to come."""

    @contextmanager
    def on(self, job: Job) -> Iterator[Share]:
        """While a job is being done; it tells its share, 0 to 1."""
        yield lambda part: None


class Lines(Watch):
    """One line for every job that is done."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self.total = self.number = 0

    def begin(self, jobs: Sequence[Job]) -> None:
        """Count them."""
        self.total = len(jobs)

    @contextmanager
    def on(self, job: Job) -> Iterator[Share]:
        """A line at its end."""
        started = clock.perf_counter()
        yield lambda part: None
        self.number += 1
        spent = duration(clock.perf_counter() - started)
        outcome = f": {job.outcome}" if job.outcome else f": done in {spent}"
        self.console.print(f"{self.number} of {self.total}: {job.name}{outcome}", markup=False, soft_wrap=True)


class Bar(Watch):
    """One bar for the whole."""

    def __init__(self, progress: Progress, task: TaskID) -> None:
        self.progress, self.task = progress, task
        self.done, self.number, self.jobs, self.title = 0.0, 0, 0, ""

    def begin(self, jobs: Sequence[Job]) -> None:
        """Weigh them."""
        self.jobs = len(jobs)
        self.progress.update(self.task, total=sum(job.cost for job in jobs))

    @contextmanager
    def on(self, job: Job) -> Iterator[Share]:
        """Moves the bar on as the job goes on."""
        self.number += 1
        self.title = f"{self.number} of {self.jobs}: {job.name}"
        self.progress.update(self.task, state=self.title)
        yield lambda part: self.progress.update(self.task, completed=self.done + job.cost * min(max(part, 0.0), 1.0))
        self.done += job.cost
        self.progress.update(self.task, completed=self.done)


@contextmanager
def watching(console: Console) -> Iterator[Watch]:
    """A bar on a terminal, lines elsewhere."""
    if not console.is_terminal:
        yield Lines(console)
        return
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("comparing"),
        BarColumn(),
        TaskProgressColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[state]}"),
    )
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("", total=None, state="")
        bar = Bar(progress, task)
        with in_words(lambda text: progress.update(task, state=text or bar.title)):
            yield bar
