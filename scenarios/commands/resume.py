"""The command `modular resume`: go on where a run was stopped, and what keeps a run on the way."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from modular.errors import ModelError
from scenarios.commands.launch_options import LaunchByKeys
from scenarios.grouped import grouped
from scenarios.options import Animate, Plot, Until
from scenarios.report.said import as_lines
from scenarios.terminal import console_for, refusals, say

if TYPE_CHECKING:
    from rich.console import Console

    from coordinator import Checkpoints, Simulation
    from coordinator.continuation.resume import Checkpoint

CHECKPOINT_SECONDS = 60.0  # [s]
CheckpointEvery = Annotated[
    float,
    typer.Option(
        "--checkpoint-every",
        metavar="SECONDS",
        min=0.0,
        help="Time between two checkpoints; 0: none. See modular resume.",
    ),
]


@grouped
def resume(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="A run folder, as modular run makes it; it is written again.")
    ],
    until: Until = None,
    threads: Annotated[int | None, typer.Option(metavar="N", min=1, help="As for modular run.")] = None,
    launch: LaunchByKeys = LaunchByKeys(),  # noqa: B008
    plot: Plot = True,
    animate: Animate = False,
    checkpoint_every: CheckpointEvery = CHECKPOINT_SECONDS,
) -> None:
    """Go on with a run that was interrupted, whose process died, or that is to go further; the bits are those of one run.

    \b
    Examples:
      [bold]modular resume runs/chain[/bold]                 to where it was to end
      [bold]modular resume runs/chain --until 20[/bold]      further
      [bold]modular resume runs/chain --workers 2[/bold]     with two processes from here on

    modular run keeps a checkpoint every minute, and one when it ends or is interrupted. One that turns out to be damaged
    is named, and the one before it is taken. In Python: coordinator.resume(DIR).

    Exit code: 0 done, 1 diverged, 2 refused, 130 interrupted; as for modular run.
    """
    console = console_for()
    with refusals(), checkpoint_warnings():
        from scenarios.commands.running import end_early, print_verdict, run_and_keep, show_run, verdict
        from scenarios.report.folder import RunFolder
        from scenarios.report.progress import waiting
        from scenarios.report.workers import print_workers

        with waiting(console, "loading…"):
            found = _latest(folder)
            end = _end(found, folder, until)
            launch_config = launch.config(console)
            simulation = found.simulation(threads=threads, workers=launch.workers, launcher=launch_config)
        if not found.same_bits:
            say(
                console,
                "written by other versions or on another machine: what follows may differ in the last bits.",
                style="yellow",
            )
        say(console, f"going on from {simulation.time:g} s")
        with RunFolder(folder, overwrite=True) as place, simulation:
            checkpoints = found.checkpoints(checkpoint_every or inf, saved_next=True)
            recorded, code, why = run_and_keep(console, simulation, end, place, checkpoints, plot=plot)
            words = verdict(simulation, code)
            show_run(console, recorded, folder, code, plot=plot, animate=animate)
        if launch.workers is not None:
            print_workers(console, simulation.workers)
        print_verdict(console, words)
        end_early(recorded, folder, code, why)


@contextmanager
def kept_on_the_way(
    console: Console, simulation: Simulation, folder: Path, every: float
) -> Iterator[Checkpoints | None]:
    """Where a run is kept while it goes on; a model that cannot be kept is told, and runs without."""
    from coordinator import Checkpoints
    from coordinator.record.checkpoints.folder import INSIDE, forget

    if not every:
        yield None
        return
    forget(folder / INSIDE)  # of the run that was to be overwritten
    checkpoints = Checkpoints(folder / INSIDE, every, saved_next=True)
    try:
        checkpoints.begin(simulation)
    except ModelError as error:
        say(console, f"no checkpoints: {error}")
        yield None
        return
    try:
        yield checkpoints
    finally:
        if not any(checkpoints.folder.iterdir()):
            checkpoints.folder.rmdir()


@contextmanager
def checkpoint_warnings() -> Iterator[None]:
    """Warnings of checkpoints, and of where samples go, as a line for people."""
    from coordinator import CheckpointWarning
    from modular.errors import StorageWarning

    with as_lines(CheckpointWarning, StorageWarning):
        yield


def _latest(folder: Path) -> Checkpoint:
    from coordinator.continuation.resume import latest
    from coordinator.record.checkpoints.folder import INSIDE, heads_in
    from scenarios.report.folder import not_there

    if not folder.is_dir():
        raise ModelError(not_there(folder, "give a run folder, such as runs/chain", (INSIDE,)))
    if not (folder / INSIDE).is_dir():
        if heads_in(folder):
            raise ModelError(
                f"'{folder}' holds checkpoints and no run folder; go on with them in Python, resume('{folder}'), or move them to "
                f"'{folder / INSIDE}'."
            )
        raise ModelError(
            f"'{folder}' has no checkpoints; modular run keeps them unless it is told not to (--checkpoint-every 0)."
        )
    return latest(folder)


def _end(found: Checkpoint, folder: Path, until: float | None) -> float:
    from math import isfinite

    at = found.head["system"]["tick"] * found.head["dt"]
    if until is not None and not (isfinite(until) and until > 0):
        raise ModelError(f"--until {until:g}: give a positive number of seconds, such as --until {2 * at or 1.0:g}.")
    end = until if until is not None else found.until
    if end is None or round(end / found.head["dt"]) <= found.head["system"]["tick"]:
        raise ModelError(
            f"'{folder}' is at {at:g} s, and was planned to end at "
            f"{'no time in particular' if end is None else f'{end:g} s'}; continue with --until, such as --until "
            f"{2 * at or 1.0:g}."
        )
    return end
