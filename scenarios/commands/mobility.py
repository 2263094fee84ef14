"""The command `modular mobility`: what a model can do where it stands, and which of its locks say what others say."""

from __future__ import annotations

from scenarios.options import Scenario, Settings
from scenarios.target import load
from scenarios.terminal import console_for, refusals


def mobility(target: Scenario, settings: Settings = None) -> None:
    """What a model can do where it stands: free motions, redundant locks, and what is of first order alone.

    \b
    Examples:
      [bold]modular mobility bricard[/bold]
      [bold]modular mobility scissors[/bold]

    A lock is redundant where others say the same: the joints that are named then share their load in a way that no equation tells.
    A motion that does not go on to second order is shaky: it shows at this pose alone, and loads there are borne by its tension.
    """
    console = console_for()
    with refusals():
        from coordinator.analysis import mobility as mobility_of_model
        from scenarios.report.first_use import compiling

        with compiling(console, "looking…"):
            assembly, _ = load(target, settings)
            found = mobility_of_model(assembly)
        console.print(assembly.title or target, highlight=False, markup=False, style="bold")
        for line in found.summary():
            console.print(f"- {line}", highlight=False, markup=False, soft_wrap=True)
