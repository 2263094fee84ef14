"""The command `modular show`: pictures, an animation or a film of a saved run, and its summary."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from modular.errors import ModelError
from scenarios.options import Animate, Plot
from scenarios.terminal import console_for, refusals, say

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import Console

    from coordinator import Run
    from modular.picture import Picture
    from scenarios.laboratory.movie import Progress


def show(
    folder: Annotated[
        Path,
        typer.Argument(
            metavar="DIR",
            help="A run folder, as modular run or Run.save wrote it, or one of modular live; or a result that was kept.",
        ),
    ],
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Where the pictures go; default: into the run folder.")
    ] = None,
    plot: Plot = True,
    animate: Animate = False,
    curves: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES",
            help='Draw what is named instead, over time or over each other: "rod.end.y, pivot.force", "rod.end.y over rod.end.x", '
            '"pivot.force.x in rod.end" (along its axes); into curves.png, and the numbers into curves.csv.',
        ),
    ] = None,
    html: Annotated[
        bool,
        typer.Option(
            "--html", help="Write motion.html too: the mechanism in 3D, plays in any browser (extra \\[live])."
        ),
    ] = False,
    looks: Annotated[
        str | None,
        typer.Option(
            metavar="MODEL",
            help="With --html: the robot's file that was run (.urdf, .xml, .sdf, .usda), whose shapes and meshes are shown.",
        ),
    ] = None,
) -> None:
    """Draw a saved run again and print its summary.

    \b
    Examples:
      [bold]modular show runs/double-pendulum[/bold]
      [bold]modular show runs/chain --out pictures --animate[/bold]
      [bold]modular show runs/double-pendulum \\
          --curves "lower.end.y, elbow.angle, pivot.force"[/bold]
      [bold]modular show runs/double-pendulum --html[/bold]        one file to turn and play
      [bold]modular show runs/double-pendulum-live --html[/bold]   a session of modular live
      [bold]modular show runs/arm --html --looks arm.urdf[/bold]       a robot as it looks
    """
    console = console_for()
    with refusals():
        from coordinator.analysis.result import FILE
        from coordinator.record.across import reading
        from scenarios.commands.live import check_viewer
        from scenarios.commands.running import draw
        from scenarios.report.folder import check_writable, load_run
        from scenarios.report.summary import print_summary

        if (folder / FILE).is_file():
            _result(console, folder, folder if out is None else _place(folder, out), plot=plot)
            return
        if looks is not None and not html:
            raise ModelError("--looks says what a film shows; give --html too.")
        if html:
            check_viewer("modular show --html")
        stretches = stretches_of(folder)
        if stretches and not html:
            raise ModelError(
                f"'{folder}' is a session of modular live, of {len(stretches)} run{'s' * (len(stretches) > 1)}; show one, as in "
                f"modular show {stretches[0]}, or all in one film with --html."
            )
        recorded = [load_run(part) for part in stretches or [folder]]
        place = _place(folder, out)
        if curves is not None:
            check_writable(place)
            for file in _named(recorded[0], curves, place):
                say(console, str(file))
            return
        if plot or animate or html:
            check_writable(place)
        with reading(recorded[0]):
            files = [] if stretches else draw(console, recorded[0], place, plot=plot, animate=animate)
            if html:
                files.append(film(console, recorded, place, () if looks is None else pictures_of(looks)))
            if stretches:
                say(console, f"{files[0]}: {len(recorded)} stretches")
            else:
                print_summary(console, recorded[0], files)


def _result(console: Console, folder: Path, place: Path, *, plot: bool) -> None:
    """A result that was kept, in words, and its picture."""
    from coordinator.analysis import load_result
    from scenarios.report.page import write
    from scenarios.report.results import draw_result

    found = load_result(folder)
    for line in found.summary():
        say(console, line)
    if plot:
        say(console, f"drawn in {write(draw_result(found, folder.name), place / 'result.png')}")


def _named(run: Run, curves: str, place: Path) -> list[Path]:
    """A picture of what is named, and its numbers."""
    from coordinator.record.across import reading
    from scenarios.report.curves import asked, draw, table

    with reading(run):
        found = asked(run, curves)
        figure = draw(run, found)
    figure.savefig(place / "curves.png")
    return [place / "curves.png", table(run, found, place / "curves.csv")]


def stretches_of(folder: Path) -> list[Path]:
    """The run folders of a session, in their order; none where it is a run folder."""
    if (folder / "run.json").exists() or not (folder / "diary.jsonl").exists():
        return []
    found = [path.parent for path in folder.glob("stretch-*/run.json")]
    if not found:
        raise ModelError(f"'{folder}' is a session of modular live in which nothing was recorded, or that is not over.")
    return sorted(found, key=lambda path: (len(path.name), path.name))  # a hundredth stretch comes after the eleventh


def pictures_of(model: str) -> Sequence[Picture]:
    """What a file of another program says that bodies look like."""
    from scenarios.target import load

    found = load(model, None)[0].pictures
    if not found:
        raise ModelError(
            f"--looks {model}: this says nothing of what bodies look like; give a robot's file, such as robot.urdf."
        )
    return found


def film(console: Console, runs: list[Run], folder: Path, pictures: Sequence[Picture] = ()) -> Path:
    """The motion as one HTML file."""
    from scenarios.laboratory.movie import NAME, write_html

    with _pictures(console) as progress:
        return write_html(runs, folder / NAME, progress, pictures)


def _place(folder: Path, out: Path | None) -> Path:
    if out is None or out.resolve() == folder.resolve():
        return folder
    if (out / "run.json").exists():
        raise ModelError(
            f"--out {out}: this folder holds another run, whose pictures would be lost; choose another folder."
        )
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ModelError(f"--out {out}: cannot make this folder ({error.strerror}); choose another.") from None
    return out


@contextmanager
def _pictures(console: Console) -> Iterator[Progress | None]:
    """A bar over the pictures of a film, where there is a terminal."""
    if not console.is_terminal:
        yield None
        return
    from rich.progress import BarColumn, Progress, TextColumn

    columns = (TextColumn("filming"), BarColumn(), TextColumn("{task.completed} of {task.total} pictures"))
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("", total=None)

        def show(done: int, of: int) -> None:
            bar.update(task, completed=done, total=of)

        yield show
