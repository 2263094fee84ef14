"""The command `modular export`: a run folder for other tools, a model for other programs."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from modular.errors import ModelError
from scenarios.options import Overwrite, Settings
from scenarios.terminal import console_for, refusals, say

if TYPE_CHECKING:
    from rich.console import Console


class Format(StrEnum):
    """What other tools read."""

    NETCDF = "netcdf"
    CSV = "csv"


ENDINGS = {".nc": Format.NETCDF, ".csv": Format.CSV}
MODEL_ENDINGS = (".xml", ".urdf", ".sdf", ".usda")


def export(
    folder: Annotated[
        Path,
        typer.Argument(
            metavar="DIR|TARGET",
            help="A run folder, as modular run or Run.save wrote it; or a model, as for modular run.",
        ),
    ],
    form: Annotated[
        Format | None,
        typer.Option(
            "--format",
            help="netcdf: named dimensions with units, for xarray and others; csv: a table for anything. Default: as --out ends.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The file to write; default: run.nc or run.csv in the run folder."),
    ] = None,
    overwrite: Overwrite = False,
    settings: Settings = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Of a model: refuse what drops anything that bears on the motion.")
    ] = False,
) -> None:
    """Write a saved run as NetCDF or CSV, or a model as MJCF, URDF, SDFormat or USD for other programs.

    \b
    Examples:
      [bold]modular export runs/double-pendulum --format netcdf[/bold]
      [bold]modular export runs/double-pendulum --format csv --out pendulum.csv[/bold]
      [bold]modular export four-bar --set crank=0.12 --out four-bar.xml[/bold]

    Of a run: motion of every port, energies, joint errors, reactions, ledgers. NetCDF keeps every quantity as one variable with
    named dimensions (time, port, axis, joint, …) and units, and the model, settings and events as text; it needs the extra
    data: python -m pip install 'modular-multibody\\[data]'. In Python, Run.load(DIR).to_xarray() gives the same Dataset,
    Run.load(DIR).to_pandas() the table.

    CSV needs nothing. It has one row per sample and one column per number, with names such as "lower.end vx \\[m/s]".
    Both keep every digit.

    Of a model: FILE.xml is MJCF for MuJoCo, a tree of joints, with equalities where loops close; FILE.urdf is URDF, trees alone;
    FILE.sdf is SDFormat, and FILE.usda USD, with loops;
    the last needs the extra usd: python -m pip install 'modular-multibody\\[usd]'.
    What the format has no form for is told; bodies that bend, and joints that it does not know, are refused by name.

    Exit code: 0 done, 2 refused.
    """
    console = console_for()
    with refusals():
        if out is not None and out.suffix in MODEL_ENDINGS and not folder.is_dir():
            _export_model(console, str(folder), out, overwrite, settings, strict)
            return
        if settings or strict:
            raise ModelError(
                "--set and --strict are for models; write one as FILE.xml (MJCF), FILE.urdf, FILE.sdf or FILE.usda with --out."
            )
        from coordinator.record.export import write_csv, write_netcdf
        from scenarios.report.folder import EXPORT_FILES, check_writable, load_run
        from scenarios.report.progress import waiting

        if form is None:
            form = ENDINGS.get(out.suffix if out is not None else "")
        if form is None:
            raise ModelError(
                "export: say as what: of a run with --format netcdf or --format csv, or by the end of --out, .nc or .csv; of a "
                "model by the end of --out, .xml (MJCF), .urdf, .sdf or .usda."
            )
        run = load_run(folder)
        usual = EXPORT_FILES[form.value]
        file = out or folder / usual
        if file.is_dir():
            raise ModelError(f"--out {file}: this is a folder; give a file, such as {file / usual}.")
        if file.exists() and not overwrite:
            raise ModelError(
                f"{file} is there already; choose another file with --out, or replace it with --overwrite."
            )
        if not file.parent.is_dir():
            raise ModelError(f"--out {file}: there is no folder {file.parent}; make it first.")
        check_writable(file.parent)
        with waiting(console, "writing…"):
            written = (write_netcdf if form is Format.NETCDF else write_csv)(run, file)
        say(console, f"{written}: {len(run):,} samples, {written.stat().st_size / 1e6:.3g} MB")


def _export_model(
    console: Console, target: str, out: Path, overwrite: bool, settings: list[str] | None, strict: bool
) -> None:
    """A model for other programs, and what they do not get of it."""
    from scenarios.models import export_model
    from scenarios.target import load

    if out.exists() and (not overwrite or out.is_dir()):
        raise ModelError(f"{out} is there already; choose another file with --out, or replace it with --overwrite.")
    if not out.resolve().parent.is_dir():
        raise ModelError(f"--out {out}: there is no folder {out.parent}; make it first.")
    model, _ = load(target, settings)
    for line in export_model(model, out, strict=strict).lines():
        say(console, line)
    say(console, f"written: {out}")
