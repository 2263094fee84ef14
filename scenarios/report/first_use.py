"""What one sees while kernels are compiled: a bar on stderr, and only where something really is; elsewhere one line."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from modular import first_use
from modular.kernel import anything_kept

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress
    from rich.status import Status


@contextmanager
def compiling(console: Console, text: str = "", *, bar: bool = True) -> Iterator[None]:
    """A spinner with `text` on a terminal, which makes room for a bar as soon as something has to be compiled.

    `bar`: without it a line is enough, for what is shown beside it.
    """
    from rich.console import Console

    shown = _Shown(Console(stderr=True, highlight=False), bar)
    if text and console.is_terminal:
        shown.spinner = console.status(text)
        shown.spinner.start()
    try:
        with first_use.told(shown.tell):
            yield
    finally:
        shown.close()


class _Shown:
    """The spinner, then the bar."""

    def __init__(self, console: Console, bar: bool) -> None:
        self.console, self.bar = console, bar and console.is_terminal
        self.spinner: Status | None = None
        self.progress: Progress | None = None
        self.said = ""

    def tell(self, name: str, ready: int, sight: int) -> None:
        """A kernel is now being compiled."""
        if not self.said:
            self._begin()
        if self.progress is not None:
            words = f"{name.replace('_', ' ').removesuffix(' loop')} ({ready} of {sight} loops)"
            self.progress.update(self.progress.task_ids[0], completed=ready, total=max(sight, 1), state=words)

    def _begin(self) -> None:
        self.said = "first use of these components" if anything_kept() else "first run on this machine"
        self._stop_spinner()
        if not self.bar:
            self.console.print(f"{self.said}: compiling, kept for the next time…", markup=False, soft_wrap=True)
            return
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        columns = (
            TextColumn(f"{self.said}: compiling"),
            BarColumn(bar_width=24),
            TimeElapsedColumn(),
            TextColumn("{task.fields[state]}"),
        )
        self.progress = Progress(*columns, console=self.console, transient=True)
        self.progress.add_task("", total=None, state="")
        self.progress.start()

    def _stop_spinner(self) -> None:
        if self.spinner is not None:
            self.spinner.stop()
            self.spinner = None

    def close(self) -> None:
        """Take everything away."""
        self._stop_spinner()
        if self.progress is not None:
            self.progress.stop()
