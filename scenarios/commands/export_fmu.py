"""The command `modular export-fmu`: a model as an FMU, for other programs to step."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from modular.errors import ModelError
from scenarios.options import Overwrite, Settings, Step
from scenarios.terminal import console_for, refusals, say

if TYPE_CHECKING:
    from rich.console import Console

    from scenarios.fmi.variables import Layout


def export_fmu(
    target: Annotated[
        str,
        typer.Argument(
            metavar="TARGET", help="A ready system or a model file, as for modular run.", show_default=False
        ),
    ],
    port: Annotated[
        list[str] | None,
        typer.Option(metavar="BODY.PORT", help="A port that is held from outside: it takes forces; may be repeated."),
    ] = None,
    motion: Annotated[
        list[str] | None,
        typer.Option(
            metavar="BODY.PORT[:point]",
            help="A port that is moved from outside, or its place alone: it shows the force this takes; may be repeated.",
        ),
    ] = None,
    watch: Annotated[
        list[str] | None,
        typer.Option(
            metavar="BODY.PORT", help="A port whose motion is shown; may be repeated. Default: all, up to 64."
        ),
    ] = None,
    parameter: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="A numeric setting of a ready system, or with --native a number of the formulas, that masters may change; may be "
            "repeated. Default: all.",
        ),
    ] = None,
    native: Annotated[
        bool, typer.Option("--native", help="Compiled from the formulas of the model: no Python in it.")
    ] = False,
    version: Annotated[int, typer.Option("--fmi", metavar="2|3", help="Version of FMI.")] = 2,
    dt: Step = None,
    coupling: Annotated[
        str | None, typer.Option(metavar="NAME", help="Coupling of the bodies inside, as for modular run.")
    ] = None,
    settings: Settings = None,
    project_velocities: Annotated[
        bool, typer.Option("--project-velocities", help="Correct initial velocities that violate joints.")
    ] = False,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FILE", help="Default: NAME.fmu.", show_default=False)
    ] = None,
    overwrite: Overwrite = False,
) -> None:
    """Write a model as a co-simulation FMU, which other programs step.

    \b
    Examples:
      [bold]modular export-fmu double-pendulum[/bold]
      [bold]modular export-fmu arm.toml --port arm.tip --fmi 3 --out arm.fmu[/bold]
      [bold]modular export-fmu arm.toml --motion arm.root[/bold]
      [bold]modular export-fmu four-bar --port coupler.end --native[/bold]
      [bold]modular export-fmu chain --set bodies=4 --watch rod3.end[/bold]

    Its steps are whole numbers of the ticks (--dt) with which it is exported, and give the bits of modular run. Ports show place,
    orientation, their rates and the rates of these, named BODY.PORT.position.x and so on; a port that is held takes force and
    moment (BODY.PORT.force.x), held in a step, or changing in it by force_rate. A port that is moved (--motion) takes place,
    velocity and acceleration at the end of a step, and shows the force and moment on it that this takes; joints within are
    glued. Energies are energy.kinetic, energy.potential and
    energy.stored. Its state can be taken, given back and written down.

    With --native the FMU is one file in C, made of the formulas of the model (coupling formulas), and what a compiler of this
    machine makes of it: it runs without Python, on this kind of machine, and takes steps of any length, each in ticks of --dt or
    shorter. Masses, stiffnesses and weights are its parameters. Refused by name: models without formulas (contacts, friction,
    events, controllers).

    Without it the file holds the model and the compiled part of PythonFMU; a master runs it in a Python that has modular
    installed. Both need the extra fmi: python -m pip install 'modular-multibody\\[fmi]'; --native also symbolic, and a C compiler.

    Exit code: 0 done, 2 refused.
    """
    console = console_for()
    with refusals():
        from scenarios import catalogue
        from scenarios.fmi.parameters import numbers_of
        from scenarios.fmi.writing import export_fmu as write
        from scenarios.settings import coupling_for
        from scenarios.target import load, times

        file = _free(Path(f"{Path(target).stem}.fmu") if out is None else out, overwrite)
        model, given = load(target, settings)
        step, _ = times(model, dt, None)
        if native:
            if coupling not in (None, "formulas"):
                raise ModelError(f"--coupling {coupling}: a native FMU is moved by formulas; leave one of the two out.")
            from scenarios.fmi.native_fmu import export_native

            _tell(console, file, version, step, export_native(
                model, file, step, version=version, ports=port or [], moved=motion or [], watch=watch,
                parameters=parameter, project=project_velocities,
            ))  # fmt: skip
            return
        numbers: dict[str, Any] = {} if catalogue.is_file(target) else numbers_of(target, given)
        if unknown := [name for name in parameter or [] if name not in numbers]:
            raise ModelError(
                f"--parameter {unknown[0]}: '{target}' has no such numeric setting; it has {', '.join(numbers) or 'none'}."
            )
        chosen = numbers if parameter is None else {name: numbers[name] for name in parameter}
        chosen_coupling = None if motion and coupling is None else coupling_for(model, coupling, None)
        layout = write(
            model, file, step, version=version, coupling=chosen_coupling,
            ports=port or [], moved=motion or [], watch=watch,
            target=None if catalogue.is_file(target) else target, settings=given, parameters=chosen,
            project=project_velocities,
        )  # fmt: skip
        _tell(console, file, version, step, layout)


def _tell(console: Console, file: Path, version: int, step: float, layout: Layout) -> None:
    """What was written."""
    count = {kind: sum(s.causality == kind for s in layout.scalars) for kind in ("input", "output", "parameter")}
    told = ", ".join(f"{n} {kind}{'s' * (n != 1)}" for kind, n in count.items() if n)
    say(console, f"written: {file}, FMI {version}, ticks of {step:g} s; {told}")


def _free(file: Path, overwrite: bool) -> Path:
    """A file that may be written."""
    if file.suffix != ".fmu":
        raise ModelError(f"--out {file}: FMUs end in .fmu; give such a name, as {file.with_suffix('.fmu').name}.")
    if file.exists() and (not overwrite or file.is_dir()):
        raise ModelError(f"{file} is there already; choose another file with --out, or replace it with --overwrite.")
    if not file.resolve().parent.is_dir():
        raise ModelError(f"--out {file}: there is no folder {file.parent}; make it first.")
    return file
