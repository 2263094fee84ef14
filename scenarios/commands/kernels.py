"""`modular kernels`: where machine code lies, compiling it ahead, and wheels that bring it along."""

from __future__ import annotations

import enum
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from modular.errors import ModelError
from scenarios import catalogue
from scenarios.terminal import console_for, refusals

if TYPE_CHECKING:
    from rich.console import Console

BYTES_PER_MEGABYTE = 1e6


class Action(enum.StrEnum):
    """What to do."""

    show = "show"
    build = "build"
    wheel = "wheel"


def kernels(
    action: Annotated[
        Action,
        typer.Argument(help="show: where compiled code is stored; build: compile ahead; wheel: build a release."),
    ] = Action.show,
    only: Annotated[
        str | None, typer.Option(metavar="NAMES", help="Ready systems, with commas between them; default: all.")
    ] = None,
    couplings: Annotated[
        str, typer.Option(metavar="NAMES", help="Couplings, with commas between them.")
    ] = "penalty,glued",
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where the wheel goes.")] = Path("dist"),
) -> None:
    """Machine code of kernels: where it is kept, how to compile it before it is needed, and how to ship it.

    \b
    Examples:
      [bold]modular kernels[/bold]                           where it lies, and how much
      [bold]modular kernels build[/bold]                     compile for all ready systems
      [bold]modular kernels build --only chain,scissors[/bold]
      [bold]modular kernels wheel --out dist[/bold]          from a clone: a wheel with code

    Code is found again wherever the sources of a kernel, Python, numba, llvmlite and numpy are the same; elsewhere it is
    compiled as needed. MODULAR_CACHE_DIR names another folder, MODULAR_CPU=native compiles for this very processor.
    """
    console = console_for()
    with refusals():
        if action is Action.show:
            show(console)
            return
        names = split(only, catalogue.names()) if only else catalogue.names()
        chosen = [name.strip() for name in couplings.split(",") if name.strip()]
        if action is Action.build:
            compile_with_bar(console, names, chosen, None)
            show(console)
            return
        with tempfile.TemporaryDirectory() as folder:
            compile_with_bar(console, names, chosen, Path(folder))
            from scenarios.kernels_ahead import build_wheel

            made = build_wheel(out, Path(folder) / "machine-code")
        console.print(f"{made} ({made.stat().st_size / BYTES_PER_MEGABYTE:.1f} MB)", soft_wrap=True)


def split(text: str, known: list[str]) -> list[str]:
    """Names between commas, each of which is known."""
    names = [name.strip() for name in text.split(",") if name.strip()]
    for name in names:
        if name not in known:
            raise ModelError(f"--only {name}: there is no such ready system; see modular list.")
    return names


def show(console: Console) -> None:
    """Folders, files, sizes."""
    from modular.kernel import stores

    for store in stores():
        files = list(store.folder.glob("*.kernel"))
        size = sum(file.stat().st_size for file in files) / BYTES_PER_MEGABYTE
        came = "came with modular" if store.shipped else "compiled here"
        console.print(f"{store.folder}: {len(files)} kernels, {size:.1f} MB, {came}", soft_wrap=True, highlight=False)


def compile_with_bar(console: Console, names: list[str], couplings: list[str], root: Path | None) -> None:
    """Compile, and tell how far it is."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    from scenarios.kernels_ahead import compile_all

    columns = (
        TextColumn("compiling"),
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[at]}"),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("", total=len(names) * len(couplings), at="")
        wrong = compile_all(names, couplings, root, lambda at: progress.update(task, advance=1, at=at))
    if wrong:
        raise ModelError("not all could be compiled: " + "; ".join(wrong))
