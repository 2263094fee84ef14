"""The command `modular` and its verbs, each in a file of its own (scenarios/commands)."""

from __future__ import annotations

import gc
import inspect
import os
import signal
import sys
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from modular.one_thread import SETTINGS as LINEAR_ALGEBRA_THREADS
from scenarios import catalogue
from scenarios.commands.assemble import assemble
from scenarios.commands.bench import bench
from scenarios.commands.check import check
from scenarios.commands.compare import compare
from scenarios.commands.draw import draw
from scenarios.commands.equations import equations
from scenarios.commands.export import export
from scenarios.commands.export_fmu import export_fmu
from scenarios.commands.gallery import gallery
from scenarios.commands.importing import import_
from scenarios.commands.kernels import kernels
from scenarios.commands.kinematics import kinematics
from scenarios.commands.listing import list_
from scenarios.commands.live import live
from scenarios.commands.mobility import mobility
from scenarios.commands.modes import modes
from scenarios.commands.replay import replay
from scenarios.commands.rerun import rerun
from scenarios.commands.resume import resume
from scenarios.commands.rewind import rewind
from scenarios.commands.run import run
from scenarios.commands.show import show
from scenarios.commands.starting import new, schema
from scenarios.commands.statics import equilibrium, inverse, linearise, statics
from scenarios.commands.study import study
from scenarios.commands.workers import keys, worker
from scenarios.terminal import refusals

NOTHING = "[bold][/bold]"  # as rich writes it


class Verbs(TyperGroup):
    """Says what was meant where somebody leaves the verb out; lets the paragraphs of help flow."""

    def __init__(self, *arguments: Any, **more: Any) -> None:
        super().__init__(*arguments, **more)
        _let_flow(self)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """`modular help run` is `modular run --help`."""
        asks = args[:1] == ["help"]
        parsed: list[str] = super().parse_args(ctx, [*args[1:], "--help"] if asks else args)
        return parsed

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

# garbage is looked for this seldom: what is imported stays, and looking through it again and again took a quarter of a second
SELDOM = 50_000, 20, 100


def main() -> None:
    """Entry point of the command `modular`."""
    gc.set_threshold(*SELDOM)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # a terminal that lacks a letter is no reason to stop
    for name in LINEAR_ALGEBRA_THREADS:
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
      [bold]modular export-fmu double-pendulum[/bold]  as an FMU, for other programs to step
      [bold]modular new four-bar[/bold]                a model file, to go on with
      [bold]modular import robot.urdf[/bold]           what of a robot was read, what not
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


app.command("list")(list_)
app.command("import")(import_)
for command in (
    run, check, draw, assemble, mobility, kinematics, statics, equilibrium, inverse, modes, equations, linearise, show, gallery,
    study, compare, rerun, resume, rewind, export, export_fmu, live, replay, bench, worker, kernels, new, schema,
):  # fmt: skip
    app.command()(command)
app.add_typer(keys, name="keys")
