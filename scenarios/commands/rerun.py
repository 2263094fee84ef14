"""The command `modular rerun`: a run folder once more, and whether the bits are the same."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from modular.errors import CouplingError, ModelError
from scenarios.options import Overwrite, RunDir
from scenarios.terminal import console_for, refusals, say

if TYPE_CHECKING:
    from rich.console import Console

    from coordinator import Run

SAME, DIFFERENT = 0, 1  # exit codes


def rerun(
    folder: RunDir,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Keep the new run in this folder; default: it is not kept.")
    ] = None,
    overwrite: Overwrite = False,
) -> None:
    """Repeat a run from its folder alone and say whether every bit is the same; if not, where the runs first differ and why.

    \b
    Examples:
      [bold]modular run cut-double-pendulum --out runs/first[/bold]
      [bold]modular rerun runs/first[/bold]
      [bold]modular rerun runs/first --out runs/second[/bold]

    The folder holds the model, the settings, the versions of everything that computes, a digest of the sources, and what the
    machine is. On the same machine with the same versions the bits are the same. Elsewhere the command names the first
    tick, component and series that differ, both values, and what differs around them.

    What was done by hand on the way (cut, join, add, apply between two steps, in Python) is done again. A run is refused where
    no file could tell that: another limit, an aimed hand, a function which has no name to be imported by. Laws in a module of
    your own are found where Python finds that module, such as with PYTHONPATH.

    Exit code: 0 the same bits, 1 different, 2 refused, 130 interrupted.
    """
    console = console_for()
    with refusals():
        from coordinator import first_difference
        from scenarios.report.folder import RunFolder, load_run
        from scenarios.report.progress import waiting

        with waiting(console, "loading…"):
            before = load_run(folder)
        if out is None:
            after = repeat(console, before)
        else:
            if out.resolve() == folder.resolve():
                raise ModelError(f"--out {out}: this is the run itself; give another folder for the new one.")
            with RunFolder(out, overwrite=overwrite) as place:
                after = repeat(console, before)
                with waiting(console, "saving…"):
                    after.save(place.path)
                    place.drop_pictures()
            say(console, f"the new run is kept in {out}")
        with waiting(console, "comparing…"):
            found = first_difference(before, after)
        if found is None:
            series = sum(1 for _ in _series(after))
            say(console, f"the same bits: {len(after):,} samples of {series:,} series, and {len(after.events)} events.")
            say(console, f"digest {after.digest}")
            raise typer.Exit(SAME)
        say(console, "different; the first is the folder, the second what was computed now.")
        say(console, str(found))
        _reasons(console, before, after)
        raise typer.Exit(DIFFERENT)


def repeat(console: Console, before: Run) -> Run:
    """The run once more, with a bar; what has to be compiled is compiled before."""
    from coordinator import Simulation
    from coordinator import rerun as again
    from coordinator.events.precompile import precompile
    from coordinator.record.obstacles import prepared
    from scenarios.report.first_use import compiling
    from scenarios.report.progress import watched
    from scenarios.report.summary import settings_text

    with (
        compiling(console, "preparing…"),
        prepared(Simulation, before) as trial,
        suppress(ModelError, CouplingError, ArithmeticError),  # the run itself will say so
    ):
        if not precompile(trial):
            trial.step()
    title, until = before.model.get("title") or "(no title)", float(before.time[-1]) if len(before) else 0.0
    coupling = settings_text(before.settings.get("coupling", {}))
    say(console, f"repeating {title}: {until:g} s in steps of {before.dt:g} s, {coupling}")
    with watched(console, until) as progress:
        return again(before, progress=progress)


def _series(run: Run) -> list[tuple[str, str]]:
    from coordinator.record.series import series_of

    return list(series_of(run.segments))


def _reasons(console: Console, before: Run, after: Run) -> None:
    from coordinator import why_different

    reasons = why_different(before, after)
    if reasons:
        say(console, "What differs around them (folder; now):")
    else:
        say(
            console,
            "Model, settings, versions, sources and machine are the same. Remaining causes: a law or a component "
            "of your own that has a hidden state or draws random numbers, or a library that was replaced without a "
            "new version.",
        )
    for reason in reasons:
        say(console, f"- {reason}")
