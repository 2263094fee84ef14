"""The command `modular mobility`: what a model can do where it stands, and which of its locks say what others say."""

from __future__ import annotations

from scenarios.options import Overwrite, Picture, ResultOut, Scenario, Settings
from scenarios.target import load
from scenarios.terminal import console_for, refusals, say


def mobility(
    target: Scenario, settings: Settings = None, out: ResultOut = None, overwrite: Overwrite = False, picture: Picture = None
) -> None:  # fmt: skip
    """What a model can do where it stands: free motions, redundant locks, and what is of first order alone.

    \b
    Examples:
      [bold]modular mobility bricard[/bold]
      [bold]modular mobility scissors --picture motions.png[/bold]

    A lock is redundant where others say the same: the joints that are named then share their load in a way that no equation tells.
    A motion that does not go on to second order is shaky: it shows at this pose alone, and loads there are borne by its tension.
    """
    console = console_for()
    with refusals():
        from coordinator.analysis import mobility as mobility_of_model
        from scenarios.report.first_use import compiling
        from scenarios.report.results import check_places, keep

        check_places(out, picture, overwrite=overwrite)
        with compiling(console, "looking…"):
            assembly, _ = load(target, settings)
            found = mobility_of_model(assembly)
        title = assembly.title or target
        console.print(title, highlight=False, markup=False, style="bold")
        for line in found.summary():
            console.print(f"- {line}", highlight=False, markup=False, soft_wrap=True)
        for line in keep(found, title, out, picture):
            say(console, line)
