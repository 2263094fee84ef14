"""The command `modular modes`: how a model swings about the place where it rests, or about a motion that goes on."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from modular.errors import ModelError
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
    seek: Annotated[
        bool,
        typer.Option("--seek", help="With --steady: about the motion that goes on with its pace near where it is put."),
    ] = False,
    over: Annotated[
        str | None,
        typer.Option("--over", metavar="NAME=FROM:TO:COUNT", help="Follow the modes over a setting, and draw them."),
    ] = None,
    picture: Annotated[
        Path | None, typer.Option("--picture", metavar="FILE", help="Where that is drawn; modes.png unless said.")
    ] = None,
    count: Annotated[int, typer.Option(min=1, metavar="NUMBER", help="How many are shown.")] = 12,
) -> None:
    """How a model swings about the place where it rests: frequencies, damping, and what moves most.

    \b
    Examples:
      [bold]modular modes double-pendulum[/bold]
      [bold]modular modes chain --set bodies=5 --count 4[/bold]
      [bold]modular modes bicycle --set speed=4.2 --steady[/bold]
      [bold]modular modes bicycle --steady --over speed=0:10:41[/bold]

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
        if over is not None:
            _over(console, target, settings, over, picture, seek=seeks, steady=steady)
            return
        if picture is not None:
            raise ModelError(
                f"--picture {picture}: a picture is drawn of modes over a setting; add --over NAME=FROM:TO:COUNT."
            )
        from coordinator.analysis import modes as modes_of_model
        from scenarios.report.first_use import compiling
        from scenarios.report.modes import print_modes

        with compiling(console, "looking…"):
            assembly, _ = load(target, settings)
            found = modes_of_model(assembly, seek=seeks, steady=steady)
        print_modes(console, assembly.title or target, found, count)


def _over(
    console: Console, target: str, typed: list[str] | None, over: str, picture: Path | None, *, seek: bool, steady: bool
) -> None:
    import numpy as np

    from coordinator.analysis import root_locus
    from scenarios.report.first_use import compiling
    from scenarios.report.locus import print_locus, write_locus

    name, first, last, count = _range_of(over)
    file = picture or Path("modes.png")
    if not file.parent.is_dir():
        raise ModelError(f"--picture {file}: there is no folder '{file.parent}'; make it, or name another file.")

    def build(**one: Any) -> Any:
        assembly, _ = load(target, [*(typed or []), *(f"{key}={value!r}" for key, value in one.items())])
        return assembly

    title = build(**{name: first}).title or target
    with compiling(console, "looking…"):
        found = root_locus(build, name, np.linspace(first, last, count).tolist(), seek=seek, steady=steady)
    print_locus(console, title, found)
    console.print(f"drawn in {write_locus(found, title, file)}", highlight=False, markup=False)


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
