"""What one sees while the suite measures: one bar over all cases, weighed by their time; without a terminal a line each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from scenarios.bench.figures import Figure
from scenarios.bench.suite import Case
from scenarios.bench.table import cells

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress, TaskID


@dataclass
class Watch:
    """Follows the cases; what is measured is printed as it comes."""

    console: Console
    bar: tuple[Progress, TaskID] | None = None
    number: int = 0
    total: int = 0

    def begin(self, cases: Sequence[Case]) -> None:
        """All cases that are to come."""
        self.total = len(cases)
        if self.bar is not None:
            self.bar[0].update(self.bar[1], total=sum(case.weight for case in cases))

    def before(self, family: str, case: Case) -> None:
        """One begins."""
        self.number += 1
        if self.bar is not None:
            self.bar[0].update(self.bar[1], state=f"{self.number} of {self.total}: {family}, {case.name}")

    def after(self, case: Case, figures: Sequence[Figure]) -> None:
        """One is done."""
        if self.bar is not None:
            self.bar[0].advance(self.bar[1], case.weight)
            return
        for figure in figures:
            name, measured, _, _, verdict = cells(figure)
            measured_text = measured + (f" ({verdict})" if verdict else "") if measured else f"{verdict}: {figure.why}"
            line = f"{self.number} of {self.total}: {figure.family}: {name}: {measured_text}"
            self.console.print(line, markup=False, highlight=False, soft_wrap=True)


@contextmanager
def watching(console: Console) -> Iterator[Watch]:
    """A bar on a terminal, lines elsewhere."""
    if not console.is_terminal:
        yield Watch(console)
        return
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("measuring"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn(), TextColumn("{task.fields[state]}"),
    )  # fmt: skip
    with Progress(*columns, console=console, transient=True) as progress:
        yield Watch(console, (progress, progress.add_task("", total=None, state="")))
