"""The command `modular list`: what there is to run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scenarios import catalogue
from scenarios.terminal import console_for


def list_() -> None:
    """List the ready systems, with their settings and the defaults of these.

    \b
    Any setting can be changed where a system is run:
      [bold]modular run chain --set bodies=100 --set radius=0[/bold]
    """
    from rich.table import Table
    from rich.text import Text

    out = console_for()
    width = max(map(len, catalogue.names()))
    for group, names in catalogue.groups().items():
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
        for name in names:
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
