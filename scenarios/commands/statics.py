"""The commands on what rests and what is led: `modular statics`, `equilibrium`, `linearise` and `inverse`."""

from __future__ import annotations

from typing import Annotated

import typer

from scenarios.options import Overwrite, Picture, ResultOut, Scenario, Settings, Until
from scenarios.target import load
from scenarios.terminal import console_for, refusals, say


def statics(
    target: Scenario,
    settings: Settings = None,
    as_it_stands: Annotated[
        bool, typer.Option("--as-it-stands", help="Do not look for the place where it rests: it is put there.")
    ] = False,
    out: ResultOut = None,
    overwrite: Overwrite = False,
    picture: Picture = None,
) -> None:
    """What joints carry where a model rests, and which of it no equation tells.

    \b
    Examples:
      [bold]modular statics double-pendulum[/bold]
      [bold]modular statics bricard --picture loads.png[/bold]

    The model is let down to where it rests from where it stands, as if something took its energy. Where joints share loads, the
    smallest reactions that hold are shown: which they are only their compliance decides.
    """
    console = console_for()
    with refusals():
        from coordinator.analysis import statics as statics_of_model
        from scenarios.report.first_use import compiling
        from scenarios.report.results import check_places, keep
        from scenarios.report.statics import print_statics

        check_places(out, picture, overwrite=overwrite)
        with compiling(console, "looking…"):
            assembly, _ = load(target, settings)
            found = statics_of_model(assembly, seek=not as_it_stands)
        print_statics(console, assembly.title or target, found)
        for line in keep(found, assembly.title or target, out, picture):
            say(console, line)


def equilibrium(
    target: Scenario, settings: Settings = None, out: ResultOut = None, overwrite: Overwrite = False, picture: Picture = None
) -> None:  # fmt: skip
    """Where a model comes to rest from where it stands, whether it stays there, and what its joints carry.

    \b
    Examples:
      [bold]modular equilibrium double-pendulum[/bold]
      [bold]modular equilibrium chain --set bodies=5 --picture rest.png[/bold]

    It is let down as if something took its energy. What is balanced, and not held, does not stay: a mode of it grows.
    """
    console = console_for()
    with refusals():
        from coordinator.analysis import equilibrium as equilibrium_of_model
        from scenarios.report.first_use import compiling
        from scenarios.report.results import check_places, keep
        from scenarios.report.statics import print_statics

        check_places(out, picture, overwrite=overwrite)
        with compiling(console, "looking…"):
            assembly, _ = load(target, settings)
            found = equilibrium_of_model(assembly)
        title = assembly.title or target
        say(console, f"{title}: {found.summary()[0]}")
        print_statics(console, title, found.statics)
        for line in keep(found, title, out, picture):
            say(console, line)


def linearise(
    target: Scenario,
    settings: Settings = None,
    as_it_stands: Annotated[
        bool, typer.Option("--as-it-stands", help="Do not look for the place where it rests: it is put there.")
    ] = False,
    steady: Annotated[
        bool, typer.Option("--steady", help="About the motion with which it sets out, which has to go on as it is.")
    ] = False,
    out: ResultOut = None,
    overwrite: Overwrite = False,
    picture: Picture = None,
) -> None:
    """The linear equations of a model: mass, damping and stiffness of its independent motions, and their state matrix.

    \b
    Examples:
      [bold]modular linearise double-pendulum --out matrices[/bold]
      [bold]modular linearise bicycle --steady --set speed=5 --picture poles.png[/bold]

    A folder is read back by coordinator.analysis.load_result; FILE.nc holds the matrices as NetCDF, FILE.csv those with a row
    for each velocity.
    """
    console = console_for()
    with refusals():
        from coordinator.analysis import linearise as linearise_model
        from scenarios.report.first_use import compiling
        from scenarios.report.results import check_places, keep

        check_places(out, picture, overwrite=overwrite)
        with compiling(console, "looking…"):
            assembly, _ = load(target, settings)
            found = linearise_model(assembly, seek=not as_it_stands and not steady, steady=steady)
        title = assembly.title or target
        console.print(title, highlight=False, markup=False, style="bold")
        for line in [*found.summary(), *keep(found, title, out, picture)]:
            say(console, f"- {line}")


def inverse(
    target: Scenario,
    settings: Settings = None,
    until: Until = None,
    samples: Annotated[
        int, typer.Option(min=2, metavar="NUMBER", help="Times that are looked at, evenly spread.")
    ] = 201,
    out: ResultOut = None,
    overwrite: Overwrite = False,
    picture: Picture = None,
) -> None:
    """What the drives of a model have to exert for it to move as they say.

    \b
    Examples:
      [bold]modular inverse robot-arm --until 1[/bold]
      [bold]modular inverse robot-arm --out efforts.csv --picture efforts.png[/bold]

    Every freedom has to be led by a driven joint; motions for other joints are given in Python (docs/statics.md).
    """
    console = console_for()
    with refusals():
        import numpy as np

        from coordinator.analysis import inverse_dynamics
        from scenarios.report.first_use import compiling
        from scenarios.report.results import check_places, keep
        from scenarios.report.statics import print_efforts

        check_places(out, picture, overwrite=overwrite)
        with compiling(console, "looking…"):
            assembly, _ = load(target, settings)
            end = float(assembly.suggested.get("until", 1.0)) if until is None else until
            found = inverse_dynamics(assembly, {}, np.linspace(0.0, end, samples))
        print_efforts(console, assembly.title or target, found)
        for line in keep(found, assembly.title or target, out, picture):
            say(console, line)
