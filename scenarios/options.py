"""Options that several commands have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

KEPT = "What is kept"  # a panel of options


def seconds(text: str) -> float:
    """A number of seconds as one types it."""
    try:
        return float(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is no number of seconds; write it without a unit, such as 1e-3.") from None


Scenario = Annotated[
    str,
    typer.Argument(
        metavar="TARGET",
        help="A ready system, a model file (.toml, .json, .urdf, .xml, .sdf, .usda), or a Python file with build(**settings), "
        "which is executed.",
    ),
]
RunDir = Annotated[Path, typer.Argument(metavar="DIR", help="A run folder, as modular run or Run.save wrote it.")]
Step = Annotated[
    float | None,
    typer.Option(
        "--dt", metavar="SECONDS", parser=seconds, help="Step; default: what the model suggests.", show_default=False
    ),
]
Until = Annotated[
    float | None,
    typer.Option(
        metavar="SECONDS", parser=seconds, help="End of the run; default: what the model suggests.", show_default=False
    ),
]
Settings = Annotated[
    list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="A setting of the model; may be repeated.")
]
CouplingName = Annotated[str | None, typer.Option("--coupling", metavar="NAME", help="As for modular run.")]
RuleName = Annotated[str | None, typer.Option("--rule", metavar="NAME", help="As for modular run.")]
Plot = Annotated[bool, typer.Option(help="Draw the pictures.", rich_help_panel=KEPT)]
Animate = Annotated[bool, typer.Option("--animate", help="Draw an animation too (GIF).", rich_help_panel=KEPT)]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace what --out holds already.", rich_help_panel=KEPT)]
ResultOut = Annotated[
    Path | None,
    typer.Option(
        "--out", metavar="DIR", help="Keep what was found, to be read back; FILE.csv: a table, FILE.nc: NetCDF.",
        rich_help_panel=KEPT,
    ),
]  # fmt: skip
Picture = Annotated[Path | None, typer.Option("--picture", metavar="FILE", help="Draw it (PNG).", rich_help_panel=KEPT)]
