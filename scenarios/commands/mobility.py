"""The command `modular mobility`: what a model can do where it stands, and which of its locks say what others say."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from modular.errors import ModelError
from scenarios.options import Overwrite, Picture, ResultOut, Settings
from scenarios.target import load
from scenarios.terminal import console_for, refusals, say

ScenarioOrRun = Annotated[
    str,
    typer.Argument(
        metavar="TARGET",
        help="A ready system, a Python file with build(**settings), which is executed, or a run folder.",
    ),
]


def mobility(
    target: ScenarioOrRun, settings: Settings = None, out: ResultOut = None, overwrite: Overwrite = False, picture: Picture = None
) -> None:  # fmt: skip
    """What a model can do where it stands: free motions, redundant locks, and what is of first order alone.

    \b
    Examples:
      [bold]modular mobility bricard[/bold]
      [bold]modular mobility scissors --picture motions.png[/bold]
      [bold]modular mobility runs/four-bar --picture singular.png[/bold]

    A lock is redundant where others say the same: the joints that are named then share their load in a way that no equation tells.
    A motion that does not go on to second order is shaky: it shows at this pose alone, and loads there are borne by its tension.
    Of a run folder: how near its motion comes to singular configurations, and when it goes through them.
    """
    console = console_for()
    with refusals():
        from coordinator.analysis import Result, mobility_along
        from coordinator.analysis import mobility as mobility_of_model
        from coordinator.record.archive import ABOUT
        from scenarios.report.first_use import compiling
        from scenarios.report.folder import load_run
        from scenarios.report.results import check_places, keep

        found: Result
        check_places(out, picture, overwrite=overwrite)
        with compiling(console, "looking…"):
            if (Path(target) / ABOUT).is_file():
                if settings:
                    raise ModelError(f"--set {settings[0]}: a run has its settings; leave it out.")
                run = load_run(Path(target))
                found, title = mobility_along(run), str(run.model.get("title") or target)
            else:
                assembly, _ = load(target, settings)
                found, title = mobility_of_model(assembly), assembly.title or target
        console.print(title, highlight=False, markup=False, style="bold")
        for line in found.summary():
            console.print(f"- {line}", highlight=False, markup=False, soft_wrap=True)
        for line in keep(found, title, out, picture):
            say(console, line)
