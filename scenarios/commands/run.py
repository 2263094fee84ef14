"""The command `modular run`: a model from its start to its end, told, drawn and kept."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from modular.errors import ModelError
from scenarios.commands.launch_options import LaunchByKeys
from scenarios.commands.resume import kept_on_the_way
from scenarios.commands.running import (
    assembled,
    end_early,
    held_against,
    measure,
    prepare,
    print_margin,
    print_verdict,
    run_and_keep,
    show_run,
    verdict,
)
from scenarios.grouped import grouped
from scenarios.options import KEPT, Animate, Overwrite, Plot, Settings, Step, Until
from scenarios.target import load, times
from scenarios.terminal import console_for, refusals


@grouped
def run(
    target: Annotated[
        str,
        typer.Argument(
            metavar="TARGET",
            help="A ready system (see modular list), a model file (.toml, .json, .urdf, .xml, .sdf, .usda), or a Python file with "
            "build(**settings), which is executed.",
        ),
    ],
    dt: Step = None,
    until: Until = None,
    settings: Settings = None,
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
            metavar="NAME",
            help="How joints hold: penalty (springs, the default), glued (rigid), auto (joint by joint), formulas, …; with "
            'settings "glued(order=4)". The first page of the docs chooses; a wrong name lists all.',
        ),
    ] = None,
    rule: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Stiffness rule of the joints: stable, shannon, or with settings stable(safety=1.5, damping=0.1).",
        ),
    ] = None,
    record_every: Annotated[
        int | None,
        typer.Option(
            metavar="TICKS",
            min=1,
            help="Ticks from one sample to the next; the end is one more. Default: as the model suggests, or 1.",
        ),
    ] = None,
    threads: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            help="Number of threads; default: the fastest. Results are bitwise identical for any number.",
        ),
    ] = None,
    launch: LaunchByKeys = LaunchByKeys(),  # noqa: B008
    project_velocities: Annotated[
        bool,
        typer.Option(
            "--project-velocities", help="Correct initial velocities that violate joints, instead of refusing them."
        ),
    ] = False,
    assemble: Annotated[
        bool,
        typer.Option("--assemble", help="Close the joints of a model that is written roughly; see modular assemble."),
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="The run folder; default: runs/NAME, or runs/NAME-2, … if taken.", rich_help_panel=KEPT
        ),
    ] = None,
    overwrite: Overwrite = False,
    plot: Plot = True,
    animate: Animate = False,
    verify: Annotated[
        bool | None,
        typer.Option(
            "--verify/--no-verify",
            help="Run again at half and twice the step to measure the error and its order. Default: the run, or if it "
            "took more than two seconds its first fifth, is held against one at twice the step, and measured where they part.",
            rich_help_panel=KEPT,
        ),
    ] = None,
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
      [bold]modular run my_model.toml --set length=0.8[/bold]

    A model of your own is a model file, which modular new begins for you, or a Python file that defines build(**settings) and
    returns an Assembly. A Python file is executed: run none that you would not run with Python. Model files are read, not executed.

    The run folder holds run.json (model, settings, events, margins) and arrays.npz (everything recorded); read it in Python
    with Run.load(DIR), draw it again with [bold]modular show DIR[/bold].

    A long run is kept on the way: when it is interrupted, or its process dies, [bold]modular resume DIR[/bold] goes on.

    Exit code: 0 done, 1 diverged (what was recorded until then is saved), 2 refused, 130 interrupted (Ctrl-C, SIGTERM;
    saved too, not drawn).
    """
    console = console_for()
    with refusals():
        from scenarios.report.folder import RUNS, RunFolder
        from scenarios.report.progress import waiting
        from scenarios.report.workers import print_workers
        from scenarios.settings import coupling_for
        from scenarios.typed_events import schedule

        with waiting(console, "loading…"):
            assembly, _ = load(target, settings)
            assembly = assembled(console, assembly) if assemble else assembly
            schedule(assembly, cut or [], join or [])
            chosen = coupling_for(assembly, coupling, rule)
        if record_every is None:
            record_every = int(assembly.suggested.get("record_every", 1)) if dt is None else 1
        dt, until = times(assembly, dt, until)
        if out is not None and str(out) in ("", "."):
            raise ModelError("--out: give a folder of its own for the run, such as --out runs/mine.")
        with RunFolder(out or RUNS / Path(target).stem, overwrite=overwrite, numbered=out is None) as folder:
            launch_config = launch.config(console)
            with (
                prepare(
                    console,
                    assembly,
                    dt,
                    chosen,
                    record_every,
                    project_velocities,
                    threads,
                    launch.workers,
                    launch_config,
                ) as simulation,
                kept_on_the_way(console, simulation, folder.path, checkpoint_every) as checkpoints,
            ):
                print_margin(console, simulation)
                recorded, code, why = run_and_keep(console, simulation, until, folder, checkpoints, plot=plot)
                measured = None
                if code is None and verify:
                    recorded, measured = measure(console, simulation, folder)
                elif code is None and verify is None:
                    recorded, measured = held_against(console, simulation, recorded, folder)
                words = verdict(simulation, code, measured)
                show_run(console, recorded, folder.path, code, plot=plot, animate=animate)
        if launch.workers is not None:
            print_workers(console, simulation.workers)
        print_verdict(console, words)
        end_early(recorded, folder.path, code, why)
