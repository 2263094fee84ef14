"""The command `modular draw`: a picture of a model as it stands, without a run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from scenarios.options import Scenario, Settings
from scenarios.target import load
from scenarios.terminal import console_for, refusals, say


def draw(
    target: Scenario,
    settings: Settings = None,
    picture: Annotated[
        Path, typer.Option("--picture", "--out", "-o", metavar="FILE", help="Where it is written (PNG).")
    ] = Path("model.png"),
    names: Annotated[
        bool, typer.Option(help="Name bodies, joints and forces, where there are no more than 16.")
    ] = True,
    frames: Annotated[bool, typer.Option(help="Draw the axes of ports: x red, y green, z blue.")] = True,
) -> None:
    """Draw a model as it stands, without a run: bodies, joints with their axes, forces, mass centres and frames.

    \b
    Examples:
      [bold]modular draw robot-arm[/bold]
      [bold]modular draw four-bar --set crank=0.12 --picture four-bar.png[/bold]
      [bold]modular draw model.py --no-frames[/bold]

    Joints with the ground are squares, others rings; springs, dampers and motors between two ports are dashed, loads arrows. What
    is written roughly is drawn by modular assemble NAME --picture FILE, before and after its joints are closed.
    """
    console = console_for()
    with refusals():
        from scenarios.report.first_use import compiling
        from scenarios.report.page import write
        from scenarios.report.results import check_places
        from scenarios.report.still import draw_model

        check_places(None, picture, overwrite=True)
        with compiling(console, "drawing…"):
            assembly, _ = load(target, settings)
            figure = draw_model(assembly, names=names, frames=frames)
        say(console, f"drawn in {write(figure, picture)}")
