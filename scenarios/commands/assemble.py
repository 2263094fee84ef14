"""The command `modular assemble`: a model that is written roughly, with its joints closed."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from modular.errors import ModelError
from scenarios.catalogue import OWN
from scenarios.options import Scenario, Settings
from scenarios.target import load
from scenarios.terminal import console_for, refusals, say


def assemble(
    target: Scenario,
    settings: Settings = None,
    hold: Annotated[
        list[str] | None,
        typer.Option(metavar="BODY|PORT", help="A body, or a port such as crank.end, that stays; may be repeated."),
    ] = None,
    all_branches: Annotated[
        bool,
        typer.Option("--branches", help="List all ways to close it that are found; what is held must leave no motion."),
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the closed model, as JSON: modular run FILE goes on with it."),
    ] = None,
    picture: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw it as it is written and as it is closed.")
    ] = None,
) -> None:
    """Close the joints of a model whose bodies are written where they roughly are: as little is moved as that takes.

    \b
    Examples:
      [bold]modular assemble four-bar --picture closed.png[/bold]
      [bold]modular assemble four-bar --hold crank --branches[/bold]
      [bold]modular assemble my_model.py --out closed.toml[/bold]

    With several branches FILE becomes FILE-1, FILE-2, … Where nothing closes, the loop is named that lacks something, and how much.
    [bold]modular run TARGET --assemble[/bold] does the same before a run.
    """
    console = console_for()
    with refusals():
        from coordinator.analysis import assemble as assemble_model
        from coordinator.analysis import branches
        from scenarios.models.writing import write_model
        from scenarios.report.assembling import print_assembled
        from scenarios.report.first_use import compiling
        from scenarios.report.page import write
        from scenarios.report.results import check_places, draw_result

        check_places(out, picture, overwrite=True)
        if out is not None and out.suffix not in OWN:
            raise ModelError(f"--out {out}: models are written as {' or '.join(OWN)}; give such a name.")
        with compiling(console, "assembling…"):
            model, _ = load(target, settings)
            closed = branches(model, hold=hold or ()) if all_branches else [assemble_model(model, hold=hold or ())]
        title, several = model.title or target, len(closed) > 1
        for k, one in enumerate(closed, start=1):
            print_assembled(console, f"{title}, branch {k} of {len(closed)}" if several else title, one)
            for path, put in (
                (out, lambda place, one=one: write_model(one, place)),
                (picture, lambda place, one=one: write(draw_result(one, title), place)),
            ):
                if path is not None:
                    place = path.with_stem(f"{path.stem}-{k}") if several else path
                    put(place)
                    say(console, f"written: {place}")
