"""What became of each element of an imported file, as a table."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from modular.assembly import Assembly
from scenarios.models import Imported
from scenarios.models.import_report import OUTCOMES
from scenarios.report.summary import count
from scenarios.terminal import say


def print_imported(console: Console, found: Imported, *, full: bool) -> None:
    """The model, then each outcome with its elements; alike ones in one row, or with `full` each by its line."""
    print_model(console, found.assembly)
    for outcome, meaning in OUTCOMES.items():
        counted = found.report.counted()[outcome]
        if not counted:
            continue
        say(console, f"{outcome}: {meaning}", style="italic")
        table = Table(box=None, show_header=False, pad_edge=False)
        if full and outcome in ("approximated", "dropped"):
            for entry in found.report.of(outcome):
                table.add_row(f"line {entry.line}", _plain(f"<{entry.element}>"), _plain(entry.what))
        else:
            for (tag, what), count in sorted(counted.items(), key=lambda item: -item[1]):
                table.add_row(str(count), _plain(f"<{tag}>"), _plain(what))
        console.print(table)


def print_model(console: Console, model: Assembly) -> None:
    """What there is of it."""
    say(
        console,
        f"{model.title}: {count(len(model.bodies), 'body')}, {count(len(model.joints), 'joint')}, "
        f"{count(len(model.forces), 'force')}, "
        f"{sum(body.total_mass for body in model.bodies.values()):.6g} kg that move",
    )


def _plain(text: str) -> str:
    from rich.markup import escape

    return escape(text)
