"""The command `modular gallery`: the figures of the thesis."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from modular.errors import ModelError
from scenarios.terminal import console_for, refusals, say


def gallery(
    figures: Annotated[
        list[str] | None, typer.Argument(metavar="FIGURE", help="Which, such as VI-3; default: all.")
    ] = None,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where the pictures go.")] = Path("gallery"),
    only: Annotated[
        list[str] | None, typer.Option(metavar="FIGURE", help="The same as an option; may be repeated.")
    ] = None,
) -> None:
    """Draw the figures of chapter VI of the thesis again, with its settings and with ours, and say what was measured.

    \b
    Examples:
      [bold]modular gallery[/bold]
      [bold]modular gallery VI-3 VI-12 --out pictures[/bold]
    """
    console = console_for()
    with refusals():
        from scenarios.gallery.figures import choose
        from scenarios.gallery.figures import draw as draw_figure
        from scenarios.gallery.runs import Runs
        from scenarios.report.first_use import compiling
        from scenarios.report.folder import check_writable
        from scenarios.report.said import said_already

        chosen = choose([*(figures or []), *(only or [])])
        try:
            out.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ModelError(f"--out {out}: cannot make this folder ({error.strerror}); choose another.") from None
        check_writable(out)
        runs = Runs()
        for k, entry in enumerate(chosen, start=1):
            with compiling(console, f"drawing {entry.name} ({k} of {len(chosen)})…"), said_already():
                file, found = draw_figure(entry, runs, out)
            say(console, f"{file}: {found}")
