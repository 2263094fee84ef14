"""The command `modular`: list the ready systems, check or run one, show what a run recorded."""

from __future__ import annotations

import inspect
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup

from modular.errors import CouplingError, ModelError
from scenarios import catalogue
from scenarios.commands.bench import bench
from scenarios.commands.compare import compare
from scenarios.commands.export import export
from scenarios.commands.kernels import kernels
from scenarios.commands.live import live
from scenarios.commands.replay import replay
from scenarios.commands.rerun import rerun
from scenarios.commands.resume import kept_on_the_way, resume
from scenarios.commands.rewind import rewind
from scenarios.commands.running import measure, prepare, print_margin, print_verdict, run_and_keep, show_run, verdict
from scenarios.commands.show import show
from scenarios.commands.site import (
    Authorized,
    Bind,
    Hosts,
    LauncherName,
    OwnKeys,
    PythonThere,
    Scheduler,
    Silence,
    Workers,
    site_for,
)
from scenarios.commands.study import study
from scenarios.commands.workers import keys, worker
from scenarios.steps import DURATION, STEP

if TYPE_CHECKING:
    from rich.console import Console

    from modular import Assembly

KEPT = "What is kept"  # a panel of options
NOTHING = "[bold][/bold]"  # as rich writes it
REFUSED, DIVERGED, INTERRUPTED = 2, 1, 130  # exit codes
# matrices are small here: threads of a linear algebra library would only wait for each other on a busy machine
THREADS = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS")


class Verbs(TyperGroup):
    """Says what was meant where somebody leaves the verb out; lets the paragraphs of help flow."""

    def __init__(self, *arguments: Any, **more: Any) -> None:
        super().__init__(*arguments, **more)
        _let_flow(self)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command, or a hint."""
        if args and args[0] not in self.commands and (args[0] in catalogue.names() or catalogue.is_file(args[0])):
            ctx.fail(f"'{args[0]}' is a model, not a command; write: modular run {args[0]}")
        return super().resolve_command(ctx, args)


def _let_flow(command: Any) -> None:
    """Let paragraphs of its help, and of that of commands in it, be as wide as where they are read; those marked with \\b stay."""
    kept, paragraphs = "\b\n", inspect.cleandoc(command.help or "").split("\n\n")
    flowing = [text.removeprefix(kept) if text.startswith(kept) else text.replace("\n", " ") for text in paragraphs]
    last = f"\n{NOTHING}" * paragraphs[-1].startswith(kept)  # else its indentation is taken for that of all
    command.help = "\n\n".join(flowing) + last
    for inner in getattr(command, "commands", {}).values():
        _let_flow(inner)


app = typer.Typer(
    cls=Verbs, add_completion=False, rich_markup_mode="rich", pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)  # fmt: skip


def main() -> None:
    """Entry point of the command `modular`."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # a terminal that lacks a letter is no reason to stop
    for name in THREADS:
        os.environ.setdefault(name, "1")
    if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, signal.default_int_handler)  # as Ctrl-C: batch systems announce the end so
    app()


def _version(wanted: bool) -> None:
    if wanted:
        from modular.version import __version__

        typer.echo(__version__)
        raise typer.Exit()


@app.callback(invoke_without_command=True)
def modular(
    ctx: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", "-V", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
    allow: Annotated[
        str | None,
        typer.Option(
            metavar="A,B,…",
            help="Packages whose functions a run folder or a checkpoint may name, and so execute; no others are imported.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Co-simulation of multibody systems: bodies that solve themselves, joints that can be cut while they move.

    \b
    Begin with:
      [bold]modular list[/bold]                        what there is
      [bold]modular check double-pendulum[/bold]       look it over: freedoms, masses, margins
      [bold]modular run double-pendulum[/bold]         run it: summary, pictures, run folder
      [bold]modular live double-pendulum[/bold]        in a browser: change it while it moves
      [bold]modular replay --help[/bold]               what was done there once more
      [bold]modular show runs/double-pendulum[/bold]   draw it again
      [bold]modular rerun runs/double-pendulum[/bold]  repeat it: are the bits the same
      [bold]modular resume --help[/bold]               go on with a run, or further
      [bold]modular rewind --help[/bold]               its last ticks again, one by one
      [bold]modular export --help[/bold]               take it elsewhere, as NetCDF or CSV
      [bold]modular gallery[/bold]                     every figure of chapter VI of the thesis
      [bold]modular study double-pendulum[/bold]       steps and couplings: errors, orders
      [bold]modular compare double-pendulum[/bold]     how far from the truth, and why
      [bold]modular bench --quick[/bold]               what steps, bodies and changes cost here
    """
    if allow is not None:
        from modular.allowed import allow as allow_packages

        with refusals():
            allow_packages(*allow.replace(" ", "").split(","))
    if ctx.invoked_subcommand is None:
        typer.echo(ctx.get_help())


# --- list ------------------------------------------------------------------------------------------------------------


@app.command("list")
def list_() -> None:
    """List the ready systems, with their settings and the defaults of these.

    \b
    Any setting can be changed where a system is run:
      [bold]modular run chain --set bodies=100 --set radius=0[/bold]
    """
    from rich.table import Table
    from rich.text import Text

    out = _console()
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


# --- run -------------------------------------------------------------------------------------------------------------


@app.command()
def run(
    target: Annotated[
        str,
        typer.Argument(
            metavar="TARGET",
            help="A ready system (see modular list), a Python file with build(**settings), which is executed, or a saved model "
            "(.json).",
        ),
    ],
    dt: Annotated[
        float | None,
        typer.Option(metavar="SECONDS", help="Step; default: what the model suggests.", show_default=False),
    ] = None,
    until: Annotated[
        float | None,
        typer.Option(metavar="SECONDS", help="End of the run; default: what the model suggests.", show_default=False),
    ] = None,
    settings: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="A setting of the model; may be repeated.")
    ] = None,
    cut: Annotated[
        list[str] | None,
        typer.Option(metavar="JOINT@SECONDS", help="Cut a joint while it moves; may be repeated."),
    ] = None,
    join: Annotated[
        list[str] | None,
        typer.Option(
            metavar="JOINT@SECONDS", help='Make a joint while it moves: "KIND PORT PORT@SECONDS"; may be repeated.'
        ),
    ] = None,
    coupling: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="How the bodies step together: penalty, or with settings penalty(internal=thesis)."
        ),
    ] = None,
    rule: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="How stiff the joints are: stable, shannon, or with settings stable(safety=1.5, damping=0.1).",
        ),
    ] = None,
    record_every: Annotated[
        int | None,
        typer.Option(
            metavar="TICKS", min=1, help="Ticks from one sample to the next; default: as the model suggests, or 1."
        ),
    ] = None,
    threads: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Threads; left out, as many as pay. The bits do not depend on it."),
    ] = None,
    workers: Workers = None,
    launcher: LauncherName = None,
    hosts: Hosts = None,
    python: PythonThere = None,
    scheduler: Scheduler = None,
    bind: Bind = None,
    own_keys: OwnKeys = None,
    authorized: Authorized = None,
    silence: Silence = None,
    project_velocities: Annotated[
        bool,
        typer.Option(
            "--project-velocities", help="Correct initial velocities that violate joints, instead of refusing them."
        ),
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="The run folder; default: runs/NAME, or runs/NAME-2, … if taken.", rich_help_panel=KEPT
        ),
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace the run that --out holds already.", rich_help_panel=KEPT)
    ] = False,
    plot: Annotated[bool, typer.Option(help="Draw the pictures.", rich_help_panel=KEPT)] = True,
    animate: Annotated[
        bool, typer.Option("--animate", help="Draw an animation too (GIF).", rich_help_panel=KEPT)
    ] = False,
    verify: Annotated[
        bool,
        typer.Option(
            "--verify", help="Run again at half and twice the step: how far it is off, and in which order that falls."
        ),
    ] = False,
    checkpoint_every: Annotated[
        float,
        typer.Option(
            metavar="SECONDS",
            min=0.0,
            help="Time between two checkpoints; 0: none. See modular resume.",
            rich_help_panel=KEPT,
        ),
    ] = 60.0,
) -> None:
    """Run a ready system or a model of your own; print a summary, draw pictures, keep everything in a run folder.

    \b
    Examples:
      [bold]modular run double-pendulum[/bold]
      [bold]modular run chain --set bodies=100 --until 0.5 --animate[/bold]
      [bold]modular run cut-double-pendulum --dt 2e-4 --out results/cut[/bold]
      [bold]modular run double-pendulum --cut elbow@1.3[/bold]
      [bold]modular run double-pendulum --cut elbow@1 \\
          --join "fixed upper.end lower.start@1"[/bold]
      [bold]modular run slider-crank --verify[/bold]
      [bold]modular run double-pendulum --rule "shannon(delta=0.25)"[/bold]
      [bold]modular run chain --set bodies=20000 --workers 2[/bold]
      [bold]modular run chain --set bodies=20000 --workers 4 \\
          --launcher ssh --hosts node1,node2[/bold]
      [bold]modular run my_model.py --set length=0.8[/bold]

    A model of your own is a Python file that defines build(**settings) and returns an Assembly. It is executed: run no file that
    you would not run with Python. A .json file that Assembly.save wrote is read, not executed.

    The run folder holds run.json (model, settings, events, margins) and arrays.npz (everything recorded); read it in Python
    with Run.load(DIR), draw it again with [bold]modular show DIR[/bold].

    A long run is kept on the way: when it is interrupted, or its process dies, [bold]modular resume DIR[/bold] goes on.

    Exit code: 0 done, 1 diverged (what was recorded until then is saved), 2 refused, 130 interrupted (Ctrl-C, SIGTERM;
    saved too, not drawn).
    """
    console = _console()
    with refusals():
        from scenarios.report.folder import RUNS, RunFolder
        from scenarios.report.progress import waiting
        from scenarios.report.workers import print_workers
        from scenarios.settings import coupling_for, fit_settings, read_settings
        from scenarios.typed_events import schedule

        with waiting(console, "loading…"):
            assembly = build(target, fit_settings(target, read_settings(settings or [])))
            schedule(assembly, cut or [], join or [])
            chosen = coupling_for(assembly, coupling, rule)
        if record_every is None:
            record_every = int(assembly.suggested.get("record_every", 1)) if dt is None else 1
        dt, until = times(assembly, dt, until)
        if out is not None and str(out) in ("", "."):
            raise ModelError("--out: give a folder of its own for the run, such as --out runs/mine.")
        with RunFolder(out or RUNS / Path(target).stem, overwrite=overwrite, numbered=out is None) as folder:
            site = site_for(
                console, workers, launcher, hosts=hosts, python=python, scheduler=scheduler, bind=bind, keys=own_keys,
                authorized=authorized, silence=silence,
            )  # fmt: skip
            with (
                prepare(
                    console, assembly, dt, chosen, record_every, project_velocities, threads, workers, site
                ) as simulation,
                kept_on_the_way(console, simulation, folder.path, checkpoint_every) as checkpoints,
            ):
                print_margin(console, simulation)
                recorded, code = run_and_keep(console, simulation, until, folder, checkpoints)
                if verify and code is None:
                    recorded = measure(console, simulation, folder)
                words = verdict(simulation, code)
                show_run(console, recorded, folder.path, code, plot=plot, animate=animate)
        if workers is not None:
            print_workers(console, simulation.workers)
        print_verdict(console, words)
        if code is not None:
            _stop(f"what was recorded until {recorded.time[-1]:.6g} s is kept in {folder.path}", code)


def build(target: str, settings: dict[str, Any]) -> Assembly:
    """The assembly of a scenario or a file; a file that goes wrong is told with the place where it did."""
    try:
        return catalogue.build(target, settings)
    except ModelError as error:
        if place := _place(error, target):
            raise type(error)(f"{error}{place}") from error
        raise
    except Exception as error:
        raise ModelError(
            f"'{target}' could not be built: {type(error).__name__}: {error}{_place(error, target)}"
        ) from error


def times(assembly: Assembly, dt: float | None, until: float | None) -> tuple[float, float]:
    """Step and end of the run [s], from the command line, the model, or the usual ones."""
    from math import isfinite

    dt = assembly.suggested.get("dt", STEP) if dt is None else dt
    until = _end(assembly) if until is None else until
    if not (isfinite(dt) and dt > 0):
        raise ModelError(f"--dt {dt:g}: a step is a positive number of seconds, such as --dt 1e-4.")
    if not (isfinite(until) and until > 0):
        raise ModelError(f"--until {until:g}: give a positive number of seconds, such as --until 2.")
    if round(until / dt) < 1:
        raise ModelError(
            f"--until {until:g} s is less than half a step of {dt:g} s; give a later time or a smaller --dt."
        )
    return dt, until


def _end(assembly: Assembly) -> float:
    """As the model suggests, but past its last event at a time, so that one sees what it does."""
    end = float(assembly.suggested.get("until", DURATION))
    last = max((scheduled.time for scheduled in assembly.schedule if scheduled.time is not None), default=0.0)
    return end if last < end else 1.2 * last


# --- check -----------------------------------------------------------------------------------------------------------


@app.command()
def check(
    target: Annotated[
        str,
        typer.Argument(
            metavar="TARGET", help="A ready system, or a Python file with build(**settings), which is executed."
        ),
    ],
    dt: Annotated[
        float | None,
        typer.Option(metavar="SECONDS", help="Step; default: what the model suggests.", show_default=False),
    ] = None,
    settings: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="A setting of the model; may be repeated.")
    ] = None,
    coupling: Annotated[str | None, typer.Option(metavar="NAME", help="As for modular run.")] = None,
    rule: Annotated[str | None, typer.Option(metavar="NAME", help="As for modular run.")] = None,
) -> None:
    """Look a model over without running it: masses, degrees of freedom, seen masses, margins, and what would help.

    \b
    Examples:
      [bold]modular check slider-crank[/bold]
      [bold]modular check chain --set bodies=3 --rule "shannon(delta=0.3)"[/bold]

    The margin of a joint is the factor by which the step could grow at the same stiffness before the bound of stability
    is reached; below 1 a run may diverge.
    """
    console = _console()
    with refusals():
        from coordinator import Simulation, examine
        from scenarios.report.examination import print_examination
        from scenarios.report.first_use import compiling
        from scenarios.settings import coupling_for, fit_settings, read_settings

        with compiling(console, "looking…"):
            assembly = build(target, fit_settings(target, read_settings(settings or [])))
            step, _ = times(assembly, dt, None)
            with Simulation(
                assembly, step, coupling_for(assembly, coupling, rule), project_velocities=True
            ) as simulation:
                found = examine(simulation)
        print_examination(console, assembly.title or target, step, found)


# --- show ------------------------------------------------------------------------------------------------------------


app.command()(show)


# --- gallery ---------------------------------------------------------------------------------------------------------


@app.command()
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
    console = _console()
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
            console.print(f"{file}: {found}", markup=False, highlight=False, soft_wrap=True)


# --- study -----------------------------------------------------------------------------------------------------------

app.command()(study)

# --- compare ---------------------------------------------------------------------------------------------------------

app.command()(compare)

# --- rerun, export ---------------------------------------------------------------------------------------------------

app.command()(rerun)
app.command()(resume)
app.command()(rewind)
app.command()(export)

# --- live, replay ----------------------------------------------------------------------------------------------------

app.command()(live)
app.command()(replay)

# --- bench -----------------------------------------------------------------------------------------------------------

app.command()(bench)

# --- workers ---------------------------------------------------------------------------------------------------------

app.command()(worker)
app.command()(kernels)
app.add_typer(keys, name="keys")


# --- talking ---------------------------------------------------------------------------------------------------------


@contextmanager
def refusals() -> Iterator[None]:
    """Say what is wrong as one message, without a traceback."""
    try:
        yield
    except (ModelError, CouplingError, MemoryError) as error:
        _stop(str(error) or "not enough memory; record less often with --record-every.", REFUSED)
    except OSError as error:
        _stop(f"{error.strerror or error}{f': {error.filename}' if error.filename else ''}", REFUSED)
    except KeyboardInterrupt:
        _stop("interrupted.", INTERRUPTED)


def _stop(message: str, code: int) -> NoReturn:
    _complain(message)
    raise typer.Exit(code)


def _complain(message: str) -> None:
    from rich.text import Text

    _console(stderr=True).print(Text(message, style="red"), soft_wrap=True)


def _console(*, stderr: bool = False) -> Console:
    """Where to print: colours and a bar on a terminal, plain wide lines elsewhere."""
    from rich.console import Console

    console = Console(stderr=stderr, highlight=False)
    return console if console.is_terminal else Console(stderr=stderr, highlight=False, width=120)


def _place(error: BaseException, target: str) -> str:
    """In which line of the user's file something went wrong; of a ready system nothing."""
    from traceback import extract_tb

    if not catalogue.is_file(target):
        return ""
    there = Path(target).resolve()
    lines = [frame for frame in extract_tb(error.__traceback__) if Path(frame.filename).resolve() == there]
    return f" (line {lines[-1].lineno} of {target}: {lines[-1].line})" if lines else ""
