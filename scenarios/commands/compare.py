"""The command `modular compare`: how far the modular run is from the truth, and why."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from modular.errors import ModelError
from scenarios.options import Overwrite, Scenario, Settings
from scenarios.target import load
from scenarios.terminal import INTERRUPTED, console_for, refusals, say, stop

if TYPE_CHECKING:
    from rich.console import Console

    from scenarios.comparison.compare import Comparison


def compare(
    target: Scenario,
    methods: Annotated[
        str,
        typer.Option(metavar="NAME,NAME,…", help="Short names (listed above), or couplings as modular run takes them."),
    ] = "modular,hht,rk4",
    dt: Annotated[
        str | None,
        typer.Option(
            metavar="S,S,…",
            help="Steps in seconds, each dividing the coarsest; default: 10 and 5 times the suggested step.",
        ),
    ] = None,
    until: Annotated[
        float | None,
        typer.Option(metavar="SECONDS", help="End of all runs; default: what the model suggests.", show_default=False),
    ] = None,
    settings: Settings = None,
    reference: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Reference for the errors: a short name or a coupling. Default: the most exact available.",
        ),
    ] = None,
    budget: Annotated[bool, typer.Option(help="Split the errors of modular runs: joints, bodies, integration.")] = True,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="The report folder; default: comparisons/NAME, or comparisons/NAME-2, … if taken."
        ),
    ] = None,
    overwrite: Overwrite = False,
) -> None:
    """Run a model by several methods and steps, hold all against an exact solution, and say where the error comes from.

    \b
    Examples:
      [bold]modular compare double-pendulum --until 1[/bold]
      [bold]modular compare double-pendulum --methods modular,rk4,hht \\
          --dt 1e-3,1e-4[/bold]                       Figure VI-3 of the thesis
      [bold]modular compare slider-crank --dt 1e-3 --until 1 \\
          --methods "modular,penalty(rule=stable(safety=2))"[/bold]
      [bold]modular compare two-rods --until 2 \\
          --methods modular,hand-newton-euler,hand-lagrange[/bold]

    \b
    Methods:
      modular, thesis                    joints that are springs: our defaults,
                                         and the settings of the thesis
      glued, glued4                      joints that are multipliers: order 2, 4
      hht, newmark, ggl, baumgarte,
      substitution, global-penalty,
      augmented-lagrangian               the whole system at once
      rk4, dop853                        independent coordinates; dop853, like
                                         baumgarte, chooses its own steps
      hand-newton-euler, hand-lagrange   two-rods only: solved by hand

    The folder holds report.md, comparison.png, budget.png, comparison.csv, errors.csv and comparison.json.

    A method that diverges or refuses the model is a row that says so. Exit code: 0 done, 2 refused, 130 interrupted (what was
    done is reported).
    """
    console = console_for()
    with refusals():
        from scenarios.comparison.compare import compare as carry_out
        from scenarios.comparison.plan import read_plan
        from scenarios.comparison.progress import watching
        from scenarios.comparison.report import comparison_folder, write_report
        from scenarios.report.first_use import compiling
        from scenarios.report.progress import waiting
        from scenarios.report.said import tell_unseen

        if out is not None and str(out) in ("", "."):
            raise ModelError("--out: give a folder of its own for the report, such as --out comparisons/mine.")
        with waiting(console, "loading…"):
            assembly, given = load(target, settings)
            plan = read_plan(assembly, target, given, methods=methods, steps=dt, until=until, reference=reference)
        tell_unseen(console, assembly, plan.steps)
        place = out or Path("comparisons") / Path(target).stem
        with comparison_folder(place, overwrite=overwrite, numbered=out is None) as folder:
            with compiling(console, bar=False), watching(console) as watch:
                found = carry_out(plan, watch, budgets=budget)
            typed = _typed(target, methods, dt, until, settings, reference, budget, out)
            with waiting(console, "drawing…"):
                files = write_report(found, folder, typed)
        _show(console, found, files)
        if found.interrupted:
            stop("interrupted; what was done is reported.", INTERRUPTED)


def _typed(
    target: str, methods: str, dt: str | None, until: float | None, settings: list[str] | None, reference: str | None,
    budget: bool, out: Path | None,
) -> str:  # fmt: skip
    """The command that repeats this comparison."""
    words = ["modular", "compare", target, "--methods", methods]
    words += [] if dt is None else ["--dt", dt]
    words += [] if until is None else ["--until", f"{until:.12g}"]
    for value in settings or []:
        words += ["--set", value]
    words += [] if reference is None else ["--reference", reference]
    words += [] if budget else ["--no-budget"]
    words += [] if out is None else ["--out", str(out)]
    return shlex.join(words)


def _show(console: Console, found: Comparison, files: list[Path]) -> None:
    from rich.text import Text

    from scenarios.comparison.report import reference_sentences
    from scenarios.comparison.table import budget_cells, budget_columns, cells, columns, reasons
    from scenarios.report.summary import plain_table

    console.print()
    for sentence in reference_sentences(found):
        say(console, f"reference: {sentence}")
    tables = [
        (
            f"{found.plan.scenario} until {found.plan.until:g} s",
            columns(found),
            [cells(found, row) for row in found.rows],
        )
    ]
    if found.budgets:
        tables.append(("Where the error comes from (largest over time)", budget_columns(), budget_cells(found)))
    for title, headings, rows in tables:
        table = plain_table(title, headings[0])
        for heading in headings[1:]:
            table.add_column(Text(heading.replace("evaluations", "evalua-\ntions")), justify="right")
        for row in rows:
            table.add_row(*(Text(cell) for cell in row))
        console.print(table)
    for reason in reasons(found):
        say(console, f"- {reason}")
    say(console, f"written to {files[0].parent}: {', '.join(file.name for file in files)}")
