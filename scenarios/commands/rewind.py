"""The command `modular rewind`, and what is left of a run that went wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from modular.errors import ModelError
from scenarios.options import Animate, Plot
from scenarios.terminal import console_for, refusals, say

if TYPE_CHECKING:
    from rich.console import Console

    from coordinator import Simulation

INSIDE = "last-ticks"  # where a run folder has them
DEFAULT_TICKS = 200


def rewind(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A run folder; one that went wrong, or any other.")],
    ticks: Annotated[int, typer.Option(metavar="N", min=1, help="How many ticks before its end.")] = DEFAULT_TICKS,
    plot: Plot = True,
    animate: Animate = False,
) -> None:
    """Go back from the end of a run and through its last ticks again, every one of them recorded; say what grew in them.

    \b
    Examples:
      [bold]modular rewind runs/chain[/bold]
      [bold]modular rewind runs/chain --ticks 1000 --animate[/bold]

    The ticks go into DIR/last-ticks, a run folder like any other, with report.txt. A run that diverges leaves them by
    itself. It goes from the nearest checkpoint, or else from the beginning.

    Exit code: 0 done, 2 refused, 130 interrupted.
    """
    console = console_for()
    with refusals():
        from coordinator.continuation.rerun import rewind as again
        from scenarios.commands.running import draw
        from scenarios.report.folder import load_run
        from scenarios.report.post_mortem import report, write_post_mortem
        from scenarios.report.progress import watched

        before = load_run(folder)
        if not len(before):
            raise ModelError(f"'{folder}' holds a run without samples; there is nothing to go back to.")
        with watched(console, float(before.time[-1])) as progress:
            found = again(folder, ticks, progress=progress)
        text = report(found, f"the last ticks of {folder}")
        place = write_post_mortem(folder / INSIDE, found, text)
        draw(console, found, place, plot=plot, animate=animate)
        say(console, text)
        say(console, f"written to {place}")


def who_moves_what(simulation: Simulation) -> dict[str, str]:
    """The worker of every body, and of every joint those of its bodies."""
    moved_by = {body: worker.name for worker in simulation.workers for body in worker.bodies}
    for name, edge in simulation.assembly.joint_edges.items():
        sides = [moved_by[body] for body in (edge.first_body, edge.second_body) if body in moved_by]
        if sides:
            moved_by[name] = " and ".join(dict.fromkeys(sides))
    return moved_by


def leave_last_ticks(
    console: Console, folder: Path, why: str, moved_by: Mapping[str, str], messages: Sequence[str]
) -> None:
    """What a run that went wrong leaves behind, beside itself."""
    from coordinator.continuation.rerun import rewind as again
    from scenarios.report.post_mortem import report, write_post_mortem
    from scenarios.report.progress import waiting

    try:
        with waiting(console, "going back through the last ticks…"):
            found = again(folder, DEFAULT_TICKS)
    except ModelError as error:
        say(console, f"the last ticks cannot be shown: {error}")
        return
    text = report(found, why, moved_by, messages)
    place = write_post_mortem(folder / INSIDE, found, text)
    say(console, f"what grew in the last ticks is in {place / 'report.txt'}; draw them with modular show {place}")
