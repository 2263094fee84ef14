"""The command `modular kinematics`: motions that drives or paths prescribe, and where a port can be led."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from modular.errors import ModelError, RunWarning
from scenarios.options import Overwrite, Scenario, Settings, Until
from scenarios.target import load
from scenarios.terminal import console_for, refusals, say

if TYPE_CHECKING:
    from rich.console import Console

    from modular.elements import Array


def kinematics(
    target: Scenario,
    settings: Settings = None,
    until: Until = None,
    samples: Annotated[
        int,
        typer.Option(
            min=2,
            metavar="NUMBER",
            help="Times that are looked at; with --lead as many as its files have lines.",
        ),
    ] = 201,
    lead: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PORT=FILE",
            help="Lead a port along a path: x,y or x,y,z in metres in each line of a CSV file; may be repeated.",
        ),
    ] = None,
    workspace: Annotated[
        str | None, typer.Option(metavar="PORT", help="Where a port can be led instead, over the ranges of --range.")
    ] = None,
    ranges: Annotated[
        list[str] | None,
        typer.Option(
            "--range", metavar="JOINT=LOW:HIGH:COUNT", help="Values of a joint from where it stands; may be repeated."
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Write a run folder: modular show DIR draws anything of it by name. A workspace is kept as it is.",
        ),
    ] = None,
    overwrite: Overwrite = False,
    picture: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw paths and places, or the workspace.")
    ] = None,
) -> None:
    """How a mechanism moves as its drives or paths say: places, velocities, accelerations, angles, and no force.

    \b
    Examples:
      [bold]modular kinematics four-bar --set speed=6.28 --until 1 --picture paths.png[/bold]
      [bold]modular kinematics robot-arm --until 0.9 --out runs/kin[/bold]
      [bold]modular kinematics double-pendulum --lead lower.end=path.csv[/bold]
      [bold]modular kinematics double-pendulum --workspace lower.end \\
          --range pivot=-1:1:31 --range elbow=-2:2:41 --picture reach.png[/bold]

    Without --lead every freedom has to be led by a driven joint; motions for other joints are given in Python (docs/kinematics.md).
    """
    console = console_for()
    with refusals():
        import numpy as np

        from coordinator import analysis
        from scenarios.report.first_use import compiling
        from scenarios.report.kinematics import print_kinematics
        from scenarios.report.page import write
        from scenarios.report.results import check_places, draw_result
        from scenarios.report.said import as_lines

        check_places(None, picture, overwrite=overwrite)
        if out is not None and out.exists() and not overwrite:
            raise ModelError(f"--out {out}: it is there already; give another name, or --overwrite.")
        for option, typed in (("--lead", lead or []), ("--range", ranges or [])):
            names = [text.partition("=")[0] for text in typed]
            if twice := [name for name in names if names.count(name) > 1]:
                raise ModelError(f"{option}: '{twice[0]}' is given more than once; give it once.")
        if bool(ranges) != (workspace is not None):
            raise ModelError(
                "--workspace PORT and --range JOINT=LOW:HIGH:COUNT belong together; give both, or neither."
            )
        if workspace is not None:
            if lead:
                raise ModelError("--workspace tells where a port can be led; --lead is for one motion.")
            _workspace(console, target, settings, workspace, dict(map(_range_of, ranges or [])), (out, picture))
            return
        paths = dict(map(_path_of, lead or []))
        with compiling(console, "looking…"):
            assembly, _ = load(target, settings)
            end = float(assembly.suggested.get("until", 1.0)) if until is None else until
            counts = {len(path) for path in paths.values()} or {samples}
            if len(counts) > 1:
                raise ModelError(f"--lead: the paths have {sorted(counts)} places; give equally many.")
            times = np.linspace(0.0, end, counts.pop())
            moves = analysis.inverse_kinematics if paths else analysis.kinematics
            with as_lines(RunWarning):
                found = moves(assembly, paths, times)
        print_kinematics(console, assembly.title or target, found)
        if picture is not None:
            say(console, f"written: {write(draw_result(found, assembly.title or target), picture)}")
        if out is not None:
            found.save(out)
            say(console, f"written to {out}; modular show {out} --curves NAME draws what is named")


def _workspace(
    console: Console,
    target: str,
    typed: list[str] | None,
    port: str,
    spans: dict[str, Array],
    places: tuple[Path | None, Path | None],
) -> None:
    """Where a port can be led, told, kept and drawn."""
    from coordinator.analysis import workspace
    from scenarios.report.first_use import compiling
    from scenarios.report.kinematics import print_workspace
    from scenarios.report.results import keep

    with compiling(console, "looking…"):
        assembly, _ = load(target, typed)
        reach = workspace(assembly, port, spans)
    title = assembly.title or target
    print_workspace(console, title, reach)
    for line in keep(reach, title, *places):
        say(console, line)


def _path_of(text: str) -> tuple[str, Array]:
    """A port and its path from a file."""
    import numpy as np

    port, sign, name = text.partition("=")
    if not sign or not name:
        raise ModelError(f"--lead {text}: give a port and a file, such as --lead hand.tip=path.csv.")
    try:
        lines = [
            line for line in Path(name).read_text().splitlines() if line.strip() and not line.lstrip().startswith("#")
        ]
        if lines and not _are_numbers(lines[0]):
            lines = lines[1:]  # a line with names
        table = np.array([[float(number) for number in line.replace(";", ",").split(",")] for line in lines])
    except OSError as error:
        raise ModelError(f"--lead {text}: '{name}' cannot be read ({error.strerror}).") from error
    except ValueError as error:
        raise ModelError(
            f"--lead {text}: '{name}' is no table of places ({error}); give x,y or x,y,z [m] in each line."
        ) from error
    if table.ndim != 2 or len(table) < 2:
        raise ModelError(f"--lead {text}: '{name}' holds fewer than two places; give x,y or x,y,z [m] in each line.")
    return port, table


def _are_numbers(line: str) -> bool:
    try:
        return bool([float(number) for number in line.replace(";", ",").split(",")])
    except ValueError:
        return False


def _range_of(text: str) -> tuple[str, Array]:
    """A joint and its values."""
    import numpy as np

    joint, _, span = text.partition("=")
    try:
        low, high, count = span.split(":")
        values = np.linspace(float(low), float(high), int(count))
    except ValueError:
        raise ModelError(
            f"--range {text}: give a joint, two numbers and a count, such as --range elbow=-1:1:21."
        ) from None
    return joint, values
