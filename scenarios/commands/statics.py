"""The commands `modular statics` and `modular inverse`: what joints carry at rest, and what drives must exert."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from scenarios.options import Scenario, Settings, Until
from scenarios.target import load
from scenarios.terminal import console_for, refusals, say


def statics(
    target: Scenario,
    settings: Settings = None,
    as_it_stands: Annotated[
        bool, typer.Option("--as-it-stands", help="Do not look for the place where it rests: it is put there.")
    ] = False,
) -> None:
    """What joints carry where a model rests, and which of it no equation tells.

    \b
    Examples:
      [bold]modular statics double-pendulum[/bold]
      [bold]modular statics bricard[/bold]

    The model is let down to where it rests from where it stands, as if something took its energy. Where joints share loads, the
    smallest reactions that hold are shown: which they are only their compliance decides.
    """
    console = console_for()
    with refusals():
        from coordinator.analysis import statics as statics_of_model
        from scenarios.report.first_use import compiling
        from scenarios.report.statics import print_statics

        with compiling(console, "looking…"):
            assembly, _ = load(target, settings)
            found = statics_of_model(assembly, seek=not as_it_stands)
        print_statics(console, assembly.title or target, found)


def inverse(
    target: Scenario,
    settings: Settings = None,
    until: Until = None,
    samples: Annotated[
        int, typer.Option(min=2, metavar="NUMBER", help="Times that are looked at, evenly spread.")
    ] = 201,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write motions, efforts and powers over time, as CSV.")
    ] = None,
) -> None:
    """What the drives of a model have to exert for it to move as they say.

    \b
    Examples:
      [bold]modular inverse robot-arm --until 4[/bold]
      [bold]modular inverse robot-arm --out efforts.csv[/bold]

    Every freedom has to be led by a driven joint; motions for other joints are given in Python (docs/statics.md).
    """
    console = console_for()
    with refusals():
        import numpy as np

        from coordinator.analysis import inverse_dynamics
        from scenarios.report.first_use import compiling
        from scenarios.report.statics import print_efforts

        with compiling(console, "looking…"):
            assembly, _ = load(target, settings)
            end = float(assembly.suggested.get("until", 1.0)) if until is None else until
            found = inverse_dynamics(assembly, {}, np.linspace(0.0, end, samples))
        print_efforts(console, assembly.title or target, found)
        if out is not None:
            say(console, f"written to {found.save(out)}")
