"""The command `modular modes`: how a model swings about the place where it rests, or about a motion that goes on."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from modular.errors import ModelError
from scenarios.options import Overwrite, ResultOut, Scenario, Settings
from scenarios.target import load
from scenarios.terminal import console_for, refusals, say

if TYPE_CHECKING:
    from coordinator.analysis import Locus, Modes


def modes(
    target: Scenario,
    settings: Settings = None,
    as_it_stands: Annotated[
        bool, typer.Option("--as-it-stands", help="Do not look for the place where it rests: it is put there.")
    ] = False,
    steady: Annotated[
        bool, typer.Option("--steady", help="About the motion with which it sets out, which has to go on as it is.")
    ] = False,
    seek: Annotated[
        bool,
        typer.Option("--seek", help="With --steady: about the motion that goes on with its pace near where it is put."),
    ] = False,
    over: Annotated[
        str | None,
        typer.Option("--over", metavar="NAME=FROM:TO:COUNT", help="Follow the modes over a setting, and draw them."),
    ] = None,
    smooth: Annotated[
        bool,
        typer.Option("--smooth", help="With --over: find hundreds of values from few, and see that they agree."),
    ] = False,
    lowest: Annotated[
        int | None,
        typer.Option(min=1, metavar="NUMBER", help="Find so many of lowest frequency alone: for thousands of bodies."),
    ] = None,
    picture: Annotated[
        Path | None,
        typer.Option(
            "--picture", metavar="FILE", help="Draw their shapes; with --over what they do, modes.png unless said."
        ),
    ] = None,
    swing: Annotated[
        int | None,
        typer.Option(
            min=0,
            metavar="NUMBER",
            help="Write a run of this mode, counted from 0 on, into --out: modular show animates it.",
        ),
    ] = None,
    out: ResultOut = None,
    overwrite: Overwrite = False,
    count: Annotated[int, typer.Option(min=1, metavar="NUMBER", help="How many are listed.")] = 12,
) -> None:
    """How a model swings about the place where it rests: frequencies, damping, and what moves most.

    \b
    Examples:
      [bold]modular modes double-pendulum[/bold]
      [bold]modular modes chain --set bodies=5 --count 4[/bold]
      [bold]modular modes bicycle --set speed=4.2 --steady[/bold]
      [bold]modular modes bicycle --steady --over speed=0:10:201 --smooth[/bold]
      [bold]modular modes chain --set bodies=2000 --lowest 10[/bold]
      [bold]modular modes chain --picture shapes.png[/bold]
      [bold]modular modes chain --swing 1 --out runs/second[/bold]
      [bold]modular show runs/second --animate[/bold]

    The model is let down to where it rests from where it stands, as if something took its energy; joints hold exactly. What
    falls or drifts has no frequency; what grows by itself makes the place unstable. With --steady: about a motion along which all
    goes or turns as a whole and round bodies spin, as that of a bicycle. With --over: how they change with a setting, where
    stability changes, and a picture (a Campbell diagram).
    """
    console = console_for()
    with refusals():
        if seek and not steady:
            raise ModelError("--seek is for motions that go on (--steady); where a model rests is sought by itself.")
        seeks = seek if steady else not as_it_stands
        if smooth and over is None:
            raise ModelError("--smooth is for modes over a setting; add --over NAME=FROM:TO:COUNT.")
        if lowest is not None and (over is not None or steady):
            raise ModelError(
                "--lowest is for one place where a model rests; leave --over and --steady out, or --lowest."
            )
        if swing is not None and (out is None or over is not None):
            raise ModelError(
                "--swing writes the run of one mode: give a folder for it with --out, and leave --over out."
            )
        from coordinator.analysis import modes as modes_of_model
        from scenarios.report.first_use import compiling
        from scenarios.report.modes import print_modes
        from scenarios.report.results import check_places, keep

        check_places(out, picture, overwrite=overwrite)
        if over is not None:
            lines = _over(console, target, settings, over, seek=seeks, steady=steady, smooth=smooth)
            for line in keep(lines, target, out, picture or Path("modes.png")):
                say(console, line)
            return
        with compiling(console, "looking…"):
            assembly, _ = load(target, settings)
            found: Modes = modes_of_model(assembly, seek=seeks, steady=steady, count=lowest)
        title = assembly.title or target
        print_modes(console, title, found, count)
        if swing is not None and out is not None:
            found.swing(swing).save(out)
            say(console, f"written to {out}; modular show {out} --animate shows it")
        for line in keep(found, title, None if swing is not None else out, picture):
            say(console, line)


def _over(
    console: Console, target: str, typed: list[str] | None, over: str, *, seek: bool, steady: bool, smooth: bool
) -> Locus:
    import numpy as np

    from coordinator.analysis import root_locus
    from scenarios.report.first_use import compiling
    from scenarios.report.locus import print_locus

    name, first, last, count = _range_of(over)

    def build(**one: Any) -> Any:
        assembly, _ = load(target, [*(typed or []), *(f"{key}={value!r}" for key, value in one.items())])
        return assembly

    title = build(**{name: first}).title or target
    with compiling(console, "looking…"):
        found = root_locus(
            build, name, np.linspace(first, last, count).tolist(), seek=seek, steady=steady, smooth=smooth
        )
    print_locus(console, title, found)
    return found


def _range_of(over: str) -> tuple[str, float, float, int]:
    """NAME=FROM:TO:COUNT."""
    name, _, span = over.partition("=")
    parts = span.split(":")
    try:
        first, last, count = float(parts[0]), float(parts[1]), int(parts[2]) if len(parts) > 2 else 41
    except (ValueError, IndexError):
        first = last = 0.0
        count = 0
    if not name.strip() or len(parts) > 3 or not first < last or count < 2:
        raise ModelError(
            f"--over {over}: write NAME=FROM:TO:COUNT, FROM below TO and COUNT from 2 on, such as speed=0:10:41."
        )
    return name.strip(), first, last, count
