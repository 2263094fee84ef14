"""The command `modular bench`: what a step, a body, a start and a change cost on this machine, and beside other programs."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from modular.errors import ModelError
from scenarios.options import Overwrite
from scenarios.terminal import INTERRUPTED, console_for, refusals, say, stop

if TYPE_CHECKING:
    from rich.console import Console

    from scenarios.bench.suite import Results

VERDICTS = {"reached": "green", "on the edge": "yellow", "missed": "red", "not measured": "dim"}


def bench(
    quick: Annotated[
        bool, typer.Option("--quick", help="Few rounds, short samples, small sizes: minutes instead of an hour.")
    ] = False,
    only: Annotated[
        str | None, typer.Option(metavar="NAME,NAME,…", help="Some benchmarks only; see --list.", show_default=False)
    ] = None,
    show: Annotated[bool, typer.Option("--list", help="List the benchmarks and stop.")] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="The folder of results; default: bench, or bench-2, … if taken.", show_default=False
        ),
    ] = None,
    overwrite: Overwrite = False,
    page: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="A Markdown page with marks for the table, such as docs/benchmarks.md."),
    ] = None,
) -> None:
    """Measure costs and compare them with other programs, each figure with its spread, its target and a verdict.

    \b
    Examples:
      [bold]modular bench --quick[/bold]
      [bold]modular bench --only chain,pendulum,edits[/bold]
      [bold]modular bench --out bench --page docs/benchmarks.md[/bold]   the table of the docs

    Other programs take part where they are installed: pip install 'modular-multibody\\[peers]' pin

    The folder holds bench.json, bench.md and work-precision.png. Leave the machine alone while it measures.

    Exit code: 0 done, whatever the verdicts, 2 refused, 130 interrupted (what was measured is kept).
    """
    console = console_for()
    with refusals():
        from scenarios.bench.harness import yardstick
        from scenarios.bench.machine import machine, sentence
        from scenarios.bench.report import bench_folder, write_report
        from scenarios.bench.suite import FULL, QUICK, Results, choose, run_suite
        from scenarios.bench.table import BEGIN, tally
        from scenarios.bench.watching import watching

        names = choose(only)
        if show:
            _list(console, names)
            return
        if out is not None and str(out) in ("", "."):
            raise ModelError("--out: give a folder of its own for the results, such as --out bench.")
        if page is not None and not (page.is_file() and BEGIN in page.read_text(encoding="utf-8")):
            raise ModelError(f"--page {page}: give a page that holds the line {BEGIN}, such as docs/benchmarks.md.")
        with bench_folder(out or Path("bench"), overwrite=overwrite, numbered=out is None) as folder:
            results = Results(machine(), quick, _typed(quick, only, out, page))
            say(console, sentence(results.machine))
            with watching(console) as watch:
                run_suite(
                    names, QUICK if quick else FULL, results, begin=watch.begin, before=watch.before, after=watch.after,
                    stick=yardstick,
                )  # fmt: skip
            files = write_report(results, folder, page)
        _show(console, results)
        say(console, tally(results.figures))
        say(console, f"written to {folder}: {', '.join(file.name for file in files)}")
        if results.interrupted:
            stop("interrupted; what was measured is kept.", INTERRUPTED)


def _typed(quick: bool, only: str | None, out: Path | None, page: Path | None) -> str:
    """The command that measures this again."""
    words = ["modular", "bench"]
    words += ["--quick"] if quick else []
    words += [] if only is None else ["--only", only]
    words += [] if out is None else ["--out", str(out)]
    words += [] if page is None else ["--page", str(page)]
    return shlex.join(words)


def _list(console: Console, names: list[str]) -> None:
    from rich.table import Table
    from rich.text import Text

    from scenarios.bench.suite import describe

    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True, style="bold")
    table.add_column()
    for name in names:
        table.add_row(Text(name), Text(describe(name)))
    console.print(table)


def _show(console: Console, results: Results) -> None:
    from rich.text import Text

    from scenarios.bench.table import COLUMNS, cells
    from scenarios.report.summary import plain_table

    console.print()
    for family in dict.fromkeys(figure.family for figure in results.figures):
        table = plain_table(family, COLUMNS[0])
        for heading in COLUMNS[1:]:
            table.add_column(Text(heading), justify="left" if heading == COLUMNS[-1] else "right")
        for figure in [figure for figure in results.figures if figure.family == family]:
            words = [Text(cell) for cell in cells(figure)]
            words[-1].stylize(VERDICTS.get(figure.verdict, ""))
            table.add_row(*words)
        console.print(table)
    for reason in dict.fromkeys(figure.why for figure in results.figures if figure.why):
        say(console, f"- not measured: {reason}")
