"""The command `modular list`: what there is to run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from modular.errors import ModelError
from modular.names import missing
from scenarios import catalogue
from scenarios.terminal import console_for, refusals


def list_(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="NAME", help="Only these; default: all.", show_default=False)
    ] = None,
) -> None:
    """List the ready systems, with their settings and the defaults of these.

    \b
    Any setting can be changed where a system is run:
      [bold]modular run chain --set bodies=100 --set radius=0[/bold]
    """
    from rich.table import Table
    from rich.text import Text

    out = console_for()
    with refusals():
        for name in names or []:
            if name not in catalogue.names():
                raise ModelError(missing("scenario", name, catalogue.names()))
    width = max(map(len, catalogue.names()))
    for group, there in catalogue.groups().items():
        shown = [name for name in there if not names or name in names]
        if not shown:
            continue
        table = Table(
            box=None,
            show_header=False,
            padding=(0, 2, 1, 0),
            title=Text(group),
            title_justify="left",
            title_style="bold",
        )
        table.add_column(no_wrap=True, style="bold", width=width)
        table.add_column()
        for name in shown:
            summary, settings = catalogue.describe(name)
            text = Text(summary)
            if settings:
                text.append("\n" + "\n".join(_lines(settings, out.width - width - 4)), style="cyan")
            table.add_row(Text(name), text)
        out.print(table)
    out.print("Run one with: modular run NAME [--set SETTING=VALUE]", markup=False, highlight=False)


def _lines(settings: Mapping[str, Any], width: int) -> list[str]:
    """Settings with their defaults, no line longer than that where they can be parted; none is parted in itself."""
    lines = ["settings:"]
    for key, value in settings.items():
        word = f" {key}={value},"
        if len(lines[-1]) + len(word) > width + 1:
            lines.append("")
        lines[-1] += word.lstrip() if not lines[-1] else word
    lines[-1] = lines[-1].removesuffix(",")
    return lines
