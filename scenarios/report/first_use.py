"""What one sees while kernels are compiled: a bar on stderr, and only where something is; elsewhere a line, and one at its end."""

from __future__ import annotations

import time as clock
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from modular import first_use
from modular.kernel import anything_kept

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress
    from rich.status import Status


COUNT_WAIT_SECONDS = 1.0  # seconds that the line waits for a number of kernels
BAR, TAKEN, MIN_NAME = 16, 40, 4  # columns: of the bar, of all but the words, of a name that is worth them


@contextmanager
def compiling(console: Console, text: str = "", *, bar: bool = True) -> Iterator[None]:
    """A spinner with `text` on a terminal, which makes room for a bar as soon as something has to be compiled.

    `bar`: without it nothing is drawn on a terminal, for a bar that is there says it (`in_words`).
    """
    from rich.console import Console

    shown = _Shown(Console(stderr=True, highlight=False))
    if text and console.is_terminal:
        shown.spinner = console.status(text)
        shown.spinner.start()
    try:
        if console.is_terminal and not bar:
            yield
            return
        with first_use.listening(shown.tell, shown.done):
            yield
    finally:
        shown.close()


@contextmanager
def in_words(say: Callable[[str], None]) -> Iterator[None]:
    """Let a bar that is drawn already say what is compiled while it waits; nothing, once that is over."""

    def tell(name: str, ready: int, sight: int) -> None:
        say(f"compiling {_kernel(name)}" + (f" ({ready} of {sight} loops)" if sight else ""))

    with first_use.listening(tell, lambda: say("")):
        yield


def _kernel(name: str) -> str:
    return name.replace("_", " ").removesuffix(" loop")


class _Shown:
    """The spinner, then the bar; two lines where there is no terminal."""

    def __init__(self, console: Console) -> None:
        self.console, self.bar = console, console.is_terminal
        self.began: float | None = None
        self.spinner: Status | None = None
        self.progress: Progress | None = None
        self.said = ""

    def tell(self, name: str, ready: int, sight: int) -> None:
        """A kernel is now being compiled."""
        self.began = self.began or clock.perf_counter()
        if not self.said and (self.bar or sight > ready or clock.perf_counter() - self.began > COUNT_WAIT_SECONDS):
            self._begin(first_use.up_to(ready, sight))
        if self.progress is not None:
            count = f"{ready} of {sight} loops" if sight else ""
            room = self.console.width - len(self.said) - len(count) - TAKEN
            words = f"{count}  {_kernel(name)[:room] if room >= MIN_NAME else ''}"
            self.progress.update(self.progress.task_ids[0], completed=ready, total=max(sight, 1), state=words)

    def _begin(self, what: str) -> None:
        self.said = "first use of these components" if anything_kept() else "first run on this machine"
        self._stop_spinner()
        if not self.bar:
            self.console.print(f"{self.said}: compiling {what}, kept for the next time…", markup=False, soft_wrap=True)
            return
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        self.said = " ".join(self.said.split()[:2])  # the bar needs room
        columns = (
            TextColumn(f"{self.said}: compiling"),
            BarColumn(bar_width=BAR),
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

    def done(self) -> None:
        """Take the bar away, or say how long it took where there is none; more may come."""
        if self.progress is not None:
            self.progress.stop()
            self.progress = None
        if self.said and not self.bar and self.began is not None:
            self.console.print(f"compiled in {clock.perf_counter() - self.began:.0f} s", markup=False)
        self.began, self.said = None, ""

    def close(self) -> None:
        """Take everything away."""
        self._stop_spinner()
        self.done()
