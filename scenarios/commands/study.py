"""The command `modular study`: one scenario with many steps and couplings, held against one reference."""

from __future__ import annotations

import json
import shlex
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from modular.errors import ModelError
from scenarios.commands.study_varied import Variants, study_varied
from scenarios.grouped import grouped
from scenarios.options import Scenario, Settings
from scenarios.target import load
from scenarios.terminal import INTERRUPTED, complain, console_for, leave_out, refusals, say

if TYPE_CHECKING:
    from rich.console import Console

    from modular.assembly import Assembly
    from scenarios.study.cases import Result
    from scenarios.study.grid import Grid
    from scenarios.study.study import Study


@grouped
def study(
    target: Scenario,
    dt: Annotated[
        str | None,
        typer.Option(
            metavar="S,S,…",
            help="Steps in seconds, each dividing the coarsest; default: 4, 2 and 1 times what the model suggests.",
        ),
    ] = None,
    coupling: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="As for modular run, settings included; may be repeated. Default: penalty."),
    ] = None,
    sweep: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=V,V,…",
            help="A setting of the couplings by its dotted name, such as rule.damping=0,0.05,0.1, or by its last word where "
            "there is but one; several give every combination.",
        ),
    ] = None,
    settings: Settings = None,
    until: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS", help="End of every case; default: what the model suggests.", show_default=False
        ),
    ] = None,
    reference: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Reference for the errors: any coupling. Default: an adaptive centralized solution to twelve digits.",
        ),
    ] = None,
    rule: Annotated[
        str | None, typer.Option(metavar="NAME,…", help="Stiffness rules, as --sweep rule=stable,shannon has them.")
    ] = None,
    reference_dt: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS",
            help="Step of the reference; default: a quarter of the smallest, or what suits the default reference.",
        ),
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Processes at a time, at most one per core; default: all cores."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="The folder of the study; default: studies/NAME.")
    ] = None,
    variants: Variants = Variants(),  # noqa: B008
) -> None:
    """Run a model with many steps and couplings; fit orders of convergence, draw error against step and against work.

    \b
    Examples:
      [bold]modular study double-pendulum[/bold]
      [bold]modular study double-pendulum --dt 4e-4,2e-4,1e-4 \\
          --coupling penalty --coupling "penalty(rule=shannon)"[/bold]
      [bold]modular study chain --set bodies=5 --until 0.2 \\
          --sweep rule.safety=1.1,1.25,1.5,2 --sweep rule.damping=0,0.05,0.1[/bold]
      [bold]modular study slider-crank --jobs 1 \\
          --reference penalty --reference-dt 2.5e-5[/bold]
      [bold]modular study double-pendulum --dt 1e-3 --until 2 \\
          --vary upper.masses.0=0.5..2 --vary lower.masses.1=0.5..2 \\
          --samples 256[/bold]

    With --vary there is one step and one coupling, and no reference: fans of places with quantiles, where a port ends over
    each number, and which number counts most.

    A sweep changes the couplings that have the setting, and leaves the others as they are; what it changes stands in one table.

    The folder holds report.md (table, orders, pictures), study.csv and study.json. Every case is kept as soon as it is done:
    after Ctrl-C, or worse, type the same command again and it goes on where it stopped. For undisturbed computing times take
    [bold]--jobs 1[/bold].

    A case that diverges is a result. Exit code: 0 done, 2 refused, 130 interrupted.
    """
    console = console_for()
    sweep = [*(sweep or []), *([f"rule={rule}"] if rule else [])] or None
    if variants.vary:
        others = {"--sweep": sweep, "--reference": reference, "--reference-dt": reference_dt, "--jobs": jobs}
        study_varied(console, target, settings, variants, (dt, until, coupling, out), others)
        return
    with refusals():
        leave_out(variants.given, "is for numbers that differ; say which by --vary, or leave it out.")
        from scenarios.report.progress import waiting
        from scenarios.report.said import tell_unseen
        from scenarios.study.grid import read_grid
        from scenarios.study.pool import find_cases, most_jobs
        from scenarios.study.report import write_report
        from scenarios.study.variants import read_sweep

        sweeps = [read_sweep(text) for text in sweep or []]
        with waiting(console, "loading…"):
            assembly, given = load(target, settings)
            grid = read_grid(
                assembly, target, given, steps=dt, until=until, couplings=coupling or [], sweeps=sweeps,
                reference=reference, reference_dt=reference_dt,
            )  # fmt: skip
        tell_unseen(console, assembly, grid.steps)
        folder = take(out or Path("studies") / Path(target).stem)
        workers = min(jobs or most_jobs(), most_jobs())
        try:
            done = carry_out(console, grid, folder, workers, fixed=reference is not None)
        except KeyboardInterrupt:
            cases = [case for _, case in grid.cases()]
            kept = f"{len(find_cases(cases, folder))} of {len(cases)} cases are done and kept in {folder}"
            complain(f"interrupted; {kept}. Type the same command again to go on.")
            raise typer.Exit(INTERRUPTED) from None
        typed = _typed(target, dt, coupling, sweep, settings, until, reference, reference_dt, jobs, out)
        with waiting(console, "drawing…"):
            notes = _notes(assembly, done, until, workers)
            if _replaces(done, folder):
                say(console, "the report of another study in this folder is replaced; the cases of both stay.")
            files = write_report(done, folder, notes, typed)
        _show(console, done, notes, files)


def take(folder: Path) -> Path:
    """The folder of a study, made and tried."""
    from scenarios.report.folder import check_writable

    if str(folder) in ("", "."):
        raise ModelError("--out: give a folder of its own for the study, such as --out studies/mine.")
    try:
        for part in (folder / "cases", folder / "reference"):
            part.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ModelError(f"--out {folder}: cannot make this folder ({error.strerror}); choose another.") from None
    check_writable(folder)
    return folder


def carry_out(console: Console, grid: Grid, folder: Path, jobs: int, *, fixed: bool) -> Study:
    """Find what is done, run the rest; `fixed`: the reference was asked for, so no other takes its place."""
    from scenarios.report.first_use import compiling
    from scenarios.study.pool import find_cases, run_cases
    from scenarios.study.progress import counted
    from scenarios.study.study import Study

    cases = [case for _, case in grid.cases()]
    results = find_cases(cases, folder)
    if results:
        say(console, f"{len(results)} of {len(cases)} cases found in {folder}")
    grid, reference = _reference(console, grid, folder, fixed=fixed)
    cases = [case for _, case in grid.cases()]
    results = find_cases(cases, folder)
    missing = [case for case in cases if case.digest not in results]
    if missing:
        with compiling(console, bar=False), counted(console, missing) as done:
            results |= run_cases(missing, folder, jobs, done)
    return Study.of(grid, results | {grid.reference_case().digest: reference})


def _reference(console: Console, grid: Grid, folder: Path, *, fixed: bool) -> tuple[Grid, Result]:
    """The result of the reference, and the grid with the reference that could be run."""
    from scenarios.report.first_use import compiling
    from scenarios.report.page import quantity
    from scenarios.report.progress import watched
    from scenarios.study.cases import found, run_case
    from scenarios.study.reference import PLAIN, REFERENCE_REFINEMENT, Reference

    case = grid.reference_case()
    result = found(case, folder)
    if result is None:
        say(console, f"reference: {case.coupling}, Δt = {quantity(case.dt, 's')}")
        with compiling(console, bar=False), watched(console, grid.until) as progress:
            result = run_case(case, folder, progress)
    if result["outcome"] == "done":
        return grid, result
    if not fixed and grid.reference.coupling != PLAIN:
        say(
            console,
            f"the usual reference cannot compute this model ({result['message']}); a finer penalty run takes its "
            "place.",
        )
        finer = replace(grid, reference=Reference(PLAIN, grid.steps[-1] / REFERENCE_REFINEMENT))
        return _reference(console, finer, folder, fixed=True)
    raise ModelError(
        f"--reference {case.coupling} with Δt = {quantity(case.dt, 's')} does not finish, so the cases have no "
        f"reference: {result['message']} Choose another with --reference or --reference-dt."
    )


# --- words -----------------------------------------------------------------------------------------------------------


def _notes(assembly: Assembly, done: Study, until: float | None, jobs: int) -> list[str]:
    """What a reader of the results should know."""
    from scenarios.report.page import quantity
    from scenarios.study.grid import between_ticks

    grid = done.grid
    notes = []
    asked = until if until is not None else assembly.suggested.get("until", grid.until)
    if abs(asked - grid.until) > 1e-9 * asked:
        notes.append(f"The cases end at {grid.until:g} s, the last multiple of the coarsest step before {asked:g} s.")
    for time, steps in between_ticks(assembly, [*grid.steps, grid.reference.dt]):
        named = ", ".join(quantity(dt, "s") for dt in dict.fromkeys(steps))
        notes.append(
            f"The event at {time:g} s falls between two ticks of Δt = {named}: it happens at the nearest, which costs an error of "
            "first order."
        )
    if not grid.reference.exact:
        notes.append(
            "The reference has an error of its own: where those of the cases come near it, orders come out too high or too low."
        )
    if jobs > 1:
        notes.append(f"Up to {jobs} cases ran at the same time; for undisturbed computing times take --jobs 1.")
    return notes


def _replaces(done: Study, folder: Path) -> bool:
    """Whether the folder holds the report of another grid."""
    try:
        before = json.loads((folder / "study.json").read_text(encoding="utf-8"))
        return bool(before["grid"] != done.grid.to_data())
    except (OSError, ValueError, KeyError, TypeError):
        return False


def _typed(
    target: str, dt: str | None, coupling: list[str] | None, sweep: list[str] | None, settings: list[str] | None,
    until: float | None, reference: str | None, reference_dt: float | None, jobs: int | None, out: Path | None,
) -> str:  # fmt: skip
    """The command that repeats this study."""
    words = ["modular", "study", target]
    for option, value in (
        ("--dt", dt),
        ("--until", until),
        ("--reference", reference),
        ("--reference-dt", reference_dt),
    ):
        words += [] if value is None else [option, f"{value:g}" if isinstance(value, float) else value]
    for option, values in (("--coupling", coupling), ("--sweep", sweep), ("--set", settings)):
        for value in values or []:
            words += [option, value]
    words += [] if jobs is None else ["--jobs", str(jobs)]
    words += [] if out is None else ["--out", str(out)]
    return shlex.join(words)


def _show(console: Console, done: Study, notes: list[str], files: list[Path]) -> None:
    from scenarios.study.table import results_tables

    console.print()
    for part in results_tables(done):
        console.print(part)
    for note in notes:
        say(console, f"- {note}")
    say(console, f"written to {files[0].parent}: {', '.join(file.name for file in files)}")
