"""The command `modular export`: a run folder for other tools."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from modular.errors import ModelError
from scenarios.options import Overwrite, RunDir
from scenarios.terminal import console_for, refusals, say


class Format(StrEnum):
    """What other tools read."""

    NETCDF = "netcdf"
    CSV = "csv"


ENDINGS = {".nc": Format.NETCDF, ".csv": Format.CSV}


def export(
    folder: RunDir,
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
) -> None:
    """Write a saved run as NetCDF or CSV: motion of every port, energies, joint errors, reactions, ledgers.

    \b
    Examples:
      [bold]modular export runs/double-pendulum --format netcdf[/bold]
      [bold]modular export runs/double-pendulum --format csv --out pendulum.csv[/bold]

    NetCDF keeps every quantity as one variable with named dimensions (time, port, axis, joint, …) and units, and the model,
    settings and events as text; it needs the extra data: python -m pip install 'modular-multibody\\[data]'. In Python,
    Run.load(DIR).to_xarray() gives the same Dataset, Run.load(DIR).to_pandas() the table.

    CSV needs nothing. It has one row per sample and one column per number, with names such as "lower.end vx \\[m/s]".
    Both keep every digit.

    Exit code: 0 done, 2 refused.
    """
    console = console_for()
    with refusals():
        from coordinator.record.export import write_csv, write_netcdf
        from scenarios.report.folder import EXPORT_FILES, check_writable, load_run
        from scenarios.report.progress import waiting

        if form is None:
            form = ENDINGS.get(out.suffix if out is not None else "")
        if form is None:
            raise ModelError(
                "export: say as what, with --format netcdf or --format csv, or by the end of --out, .nc or .csv."
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
