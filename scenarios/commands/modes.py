"""The command `modular modes`: how a model swings about the place where it rests, or about a motion that goes on."""

from __future__ import annotations

from typing import Annotated

import typer

from scenarios.options import Scenario, Settings
from scenarios.target import load
from scenarios.terminal import console_for, refusals


def modes(
    target: Scenario,
    settings: Settings = None,
    as_it_stands: Annotated[
        bool, typer.Option("--as-it-stands", help="Do not look for the place where it rests: it is put there.")
    ] = False,
    steady: Annotated[
        bool, typer.Option("--steady", help="About the motion with which it sets out, which has to go on as it is.")
    ] = False,
    count: Annotated[int, typer.Option(min=1, metavar="NUMBER", help="How many are shown.")] = 12,
) -> None:
    """How a model swings about the place where it rests: frequencies, damping, and what moves most.

    \b
    Examples:
      [bold]modular modes double-pendulum[/bold]
      [bold]modular modes chain --set bodies=5 --count 4[/bold]
      [bold]modular modes bicycle --set speed=4.2 --steady[/bold]

    The model is let down to where it rests from where it stands, as if something took its energy; joints hold exactly. What
    falls or drifts has no frequency; what grows by itself makes the place unstable. With --steady: about a motion along which all
    goes or turns as a whole and round bodies spin, as that of a bicycle.
    """
    console = console_for()
    with refusals():
        from coordinator.analysis import modes as modes_of_model
        from scenarios.report.first_use import compiling
        from scenarios.report.modes import print_modes

        with compiling(console, "looking…"):
            assembly, _ = load(target, settings)
            found = modes_of_model(assembly, seek=not as_it_stands and not steady, steady=steady)
        print_modes(console, assembly.title or target, found, count)
