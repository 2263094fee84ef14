"""The command `modular equations`: what a model says of itself in symbols, as a page."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from modular.errors import ModelError
from modular.files import put_in_place
from scenarios.options import Overwrite, Scenario, Settings
from scenarios.target import load
from scenarios.terminal import console_for, refusals, say

if TYPE_CHECKING:
    from collections.abc import Iterator

    from coordinator.equations.page import Section
    from coordinator.equations.written import Written
    from modular.assembly import Assembly

ENGINES = ("tectonic", "lualatex", "pdflatex", "xelatex")
KINDS = (".tex", ".md", ".c", ".pdf")
LATEX_SECONDS = 120  # [s] for a TeX engine


def equations(
    target: Scenario,
    settings: Settings = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write a page: FILE.tex, FILE.md, or FILE.pdf where a TeX engine is installed; FILE.c: source of a function.",
        ),
    ] = None,
    numbers: Annotated[bool, typer.Option("--numbers", help="Put numbers in place of parameters.")] = False,
    lagrange: Annotated[
        bool, typer.Option("--lagrange", help="Add Lagrange's equations in coordinates of the joints along a tree.")
    ] = False,
    efforts: Annotated[
        list[str] | None,
        typer.Option(metavar="JOINT", help="Add what a joint exerts on its second side; may be repeated."),
    ] = None,
    overwrite: Overwrite = False,
) -> None:
    """The equations of a model in symbols: mass matrices, forces, and every joint's constraints with their slopes.

    \b
    Examples:
      [bold]modular equations slider-crank[/bold]
      [bold]modular equations double-pendulum --out page.pdf[/bold]
      [bold]modular equations two-rods --numbers --out page.md[/bold]
      [bold]modular equations double-pendulum --lagrange --efforts elbow --out page.tex[/bold]
      [bold]modular equations slider-crank --out slider.c[/bold]

    They are written by the same code that moves the model, so they are what is simulated. Parameters have names, such as
    upper.mass. What has no formula (contacts, laws in Python, controllers) is named and refused; stops that are open are left out
    and named, the equations hold between them.
    """
    console = console_for()
    with refusals():
        from coordinator.equations import equations as equations_of

        if out is not None:
            _check(out, overwrite=overwrite)
        assembly, _ = load(target, settings)
        if out is not None and out.suffix == ".c" and (lagrange or efforts):
            raise ModelError(
                f"--out {out}: C has accelerations and multipliers alone; leave --lagrange and --efforts out."
            )
        written = equations_of(assembly, numbers=numbers)
        more = [*(_in_joint_coordinates(assembly, numbers) if lagrange else ())]
        more += [_of_joint(assembly, joint, numbers) for joint in efforts or ()]
        if out is None:
            console.print(written.markdown(more), highlight=False, markup=False, soft_wrap=True)
            return
        if out.suffix == ".c":
            from coordinator.equations.right_hand_side import RightHandSide, without_stops

            put_in_place(out, RightHandSide(without_stops(written)).c_source().encode())
        else:
            _write(written, out, more)
        say(console, f"written: {out}")


def _in_joint_coordinates(assembly: Assembly, numbers: bool) -> Iterator[Section]:
    """Lagrange's equations as a section."""
    from coordinator.equations import lagrange

    found = lagrange(assembly, numbers=numbers)
    kept = ", ".join(found.conserved()) or "nothing"
    words = (
        "$M\\ddot{q} + G^{T}\\lambda = F$ in coordinates of the joints along a spanning tree, counted from where the model "
        f"stands. Conserved: {kept}."
    )
    yield "Lagrange's equations", words, found.lines()


def _of_joint(assembly: Assembly, joint: str, numbers: bool) -> Section:
    """What a joint exerts as a section."""
    from coordinator.equations import efforts

    found = efforts(assembly, joint, numbers=numbers)
    words = f"On {assembly.joint_edges[joint].second}, at its point, along the axes of the world; line by line."
    return f"Efforts of {joint}", words, found.lines()


def _check(out: Path, *, overwrite: bool) -> None:
    from scenarios.report.results import check_places

    if out.suffix not in KINDS:
        raise ModelError(f"--out {out}: give a file that ends with {', '.join(KINDS[:-1])} or {KINDS[-1]}.")
    check_places(out, None, overwrite=overwrite)
    if out.exists() and not overwrite:
        raise ModelError(f"--out {out} exists; give another name, or --overwrite.")
    if out.suffix == ".pdf" and engine() is None:
        raise ModelError(
            f"--out {out}: none of {', '.join(ENGINES)} is installed, which make PDF of LaTeX; write {out.with_suffix('.tex')}."
        )


def engine() -> str | None:
    """The first TeX engine that is installed."""
    return next((found for name in ENGINES if (found := shutil.which(name)) is not None), None)


def _write(written: Written, out: Path, more: list[Section]) -> None:
    text = written.markdown(more) if out.suffix == ".md" else written.latex(more)
    if out.suffix != ".pdf":
        put_in_place(out, text.encode())
        return
    command = engine()
    assert command is not None
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "page.tex"
        source.write_text(text, encoding="utf-8")
        options = [] if command.endswith("tectonic") else ["-interaction=nonstopmode", "-halt-on-error"]
        done = subprocess.run(
            [command, *options, source.name],
            cwd=folder,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=LATEX_SECONDS,
        )
        made = source.with_suffix(".pdf")
        if done.returncode or not made.is_file():
            said = "\n".join(done.stdout.splitlines()[-12:])
            raise ModelError(f"--out {out}: {Path(command).name} could not set the page; write .tex and look:\n{said}")
        put_in_place(out, made.read_bytes())
