"""The command `modular replay`: a session once more, from its diary, and whether the bits are the same."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from modular.errors import ModelError
from scenarios.options import Overwrite
from scenarios.terminal import console_for, refusals, say

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console

    from coordinator.laboratory.replaying import Looking
    from coordinator.laboratory.session import Session

SAME, DIFFERENT = 0, 1  # exit codes


def replay(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of a session, as modular live wrote it.")],
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Keep the repetition in this folder; default: it is not kept.")
    ] = None,
    overwrite: Overwrite = False,
) -> None:
    """Carry out the diary of a session again, without a page and without anybody, and say whether every bit is the same.

    \b
    Examples:
      [bold]modular live double-pendulum --out runs/mine[/bold]
      [bold]modular replay runs/mine[/bold]
      [bold]modular replay runs/mine --out runs/again[/bold]

    Cuts, joints, edits, the way of the hand, undoing: everything that decided how the motion went on stands in diary.jsonl with
    its tick. On the same machine with the same versions the bits are the same. A session that was cut off (a crash, a loss of
    power) has no end to be held against; what its diary holds is carried out.

    Exit code: 0 the same bits (or nothing to hold them against), 1 different, 2 refused, 130 interrupted.
    """
    console = console_for()
    with refusals(), ExitStack() as closing:
        from coordinator.laboratory.replaying import replay as again
        from scenarios.commands.live import _folder
        from scenarios.report.first_use import compiling
        from scenarios.report.folder import DIARY, not_there

        if not folder.is_dir():
            raise ModelError(not_there(folder, "give one that modular live has written", (DIARY,)))
        if out is not None and out.resolve() == folder.resolve():
            raise ModelError(f"--out {out}: this is the session itself; give another folder for the repetition.")
        place = None if out is None else closing.enter_context(_folder(str(out), out, overwrite)).path
        with compiling(console), acts_shown(console) as looking:
            found = again(folder, out=place, looking=looking)
        summary = f"{found.acts} act{'s' * (found.acts != 1)}, {found.time:.6g} s"
        if found.trouble:
            say(console, f"as before, the motion stops: {found.trouble}")
        if place is not None:
            say(console, f"the repetition is kept in {place}")
        if found.same is None:
            say(console, f"{summary}; the session was cut off, so there is nothing to compare it with.")
        elif found.same:
            say(console, f"the same bits: {summary}.")
        else:
            why = "" if found.same_machine else " It was written by other versions or on another machine."
            say(console, f"different: stretch {found.first} of the record has other bits ({summary}).{why}")
            raise typer.Exit(DIFFERENT)


@contextmanager
def acts_shown(console: Console) -> Iterator[Looking]:
    """A bar over the acts of a diary, where there is a terminal."""
    if not console.is_terminal:
        yield lambda session, done, of: None
        return
    from rich.progress import BarColumn, Progress, TextColumn

    columns = (TextColumn("repeating"), BarColumn(), TextColumn("{task.fields[state]}"))
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("", total=None, state="")

        def show(session: Session, done: int, of: int) -> None:
            progress.update(
                task, total=of, completed=done, state=f"act {done} of {of}, {session.simulation.time:.3f} s"
            )

        yield show
