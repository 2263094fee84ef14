"""The command `modular list`: what there is to run."""

from __future__ import annotations

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
                text.append(
                    "\nsettings: " + ", ".join(f"{key}={value}" for key, value in settings.items()), style="cyan"
                )
            table.add_row(Text(name), text)
        out.print(table)
    out.print("Run one with: modular run NAME [--set SETTING=VALUE]", markup=False, highlight=False)
