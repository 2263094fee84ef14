"""The command `modular import`: a model that another program wrote, and what became of each of its elements."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from modular.errors import ModelError
from scenarios.catalogue import OWN
from scenarios.terminal import console_for, refusals, say


class Base(StrEnum):
    """What holds the topmost link."""

    FIXED = "fixed"
    FREE = "free"


def import_(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="FILE.urdf, FILE.xml (MJCF), FILE.sdf, FILE.usda, or a model of ours.",
            show_default=False,
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", metavar="FILE", help="Write the model, as TOML or JSON; left out, only the report is told."
        ),
    ] = None,
    base: Annotated[
        Base, typer.Option(help="fixed: the topmost link stands on the ground; free: it moves.")
    ] = Base.FIXED,
    repair: Annotated[
        bool, typer.Option("--repair", help="Take the nearest possible inertia where no body has what the file says.")
    ] = False,
    stops: Annotated[
        bool,
        typer.Option("--stops/--no-stops", help="Whether limits of joints are walls; modes and statics need none."),
    ] = True,
    contacts: Annotated[
        bool, typer.Option("--contacts/--no-contacts", help="Whether shapes for contact touch; else they are left out.")
    ] = False,
    rotors: Annotated[
        bool, typer.Option("--rotors/--no-rotors", help="Whether joints have the inertia of their rotors (armature).")
    ] = True,
    strict: Annotated[
        bool, typer.Option("--strict", help="Refuse a file of which anything that bears on the motion is dropped.")
    ] = False,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="JOINT=VALUE", help="Where a joint begins, in rad or m; may be repeated."),
    ] = None,
    full: Annotated[
        bool, typer.Option("--all", help="List every element that was approximated or dropped, one a line.")
    ] = False,
) -> None:
    """Read a robot that another program wrote, tell what was read, approximated and dropped, and write it as a model of ours.

    \b
    Examples:
      [bold]modular import robot.urdf[/bold]
      [bold]modular import robot.urdf -o robot.toml --set elbow=0.7[/bold]
      [bold]modular import model.json -o model.toml[/bold]
      [bold]modular run robot.urdf --set base=free --set repair=true[/bold]

    Links become bodies and their frames ports, links that are joined by fixed joints one body. Joints that follow others are
    coupled. Limits become stops, friction and damping forces, and an effort a motor that rests until it is told what to do. Links
    without mass are held on what they hang on.

    An inertia that no body has is refused, with its eigenvalues and the nearest possible one, which --repair takes. Joints
    begin at 0, or at the stop nearest to it.

    Every verb that takes a model takes FILE.urdf, FILE.xml (MJCF), FILE.sdf and FILE.usda as well; options of reading are then
    given by --set, such as --set contacts=true.

    Models of ours, .toml and .json, are written in the other form; sums, repeats and includes are worked out.

    Exit code: 0 done, 2 refused.
    """
    console = console_for()
    with refusals():
        from scenarios.models import read_model
        from scenarios.models.writing import write_model
        from scenarios.report.imported import print_imported, print_model
        from scenarios.settings import read_settings
        from scenarios.target import build

        _check_place(out)
        values = read_settings(settings or [])
        if file.suffix in OWN:
            asked = [
                base is not Base.FIXED and "--base",
                repair and "--repair",
                not stops and "--no-stops",
                contacts and "--contacts",
                not rotors and "--no-rotors",
                strict and "--strict",
            ]
            if given := [option for option in asked if option]:
                raise ModelError(f"{given[0]}: '{file}' is a model of ours, which is read as it stands; leave it out.")
            assembly = build(str(file), values)
            print_model(console, assembly)
        else:
            found = read_model(
                file, base=base.value, repair=repair, stops=stops, contacts=contacts, rotors=rotors, strict=strict,
                values=values,
            )  # fmt: skip
            print_imported(console, found, full=full)
            assembly = found.assembly
        if out is not None:
            if out.exists() and out.samefile(file):
                raise ModelError(f"--out {out}: that is the file that is read; give another name.")
            write_model(assembly, out)
            say(console, f"written: {out}")


def _check_place(out: Path | None) -> None:
    """Whether a model can be written there."""
    if out is not None and out.suffix not in OWN:
        raise ModelError(f"--out {out}: models are written as {' or '.join(OWN)}; give such a name.")
    if out is not None and not out.resolve().parent.is_dir():
        raise ModelError(f"--out {out}: the folder '{out.parent}' is not there; make it first.")
