"""The command `modular live`: a mechanism in a browser, and hands on it while it moves."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from modular.errors import ModelError
from scenarios.commands.launch_options import Launch
from scenarios.grouped import grouped
from scenarios.options import CouplingName, Overwrite, RuleName, Settings, Step
from scenarios.steps import DEFAULT_STEP
from scenarios.target import load, times
from scenarios.terminal import console_for, refusals, say

if TYPE_CHECKING:
    from rich.console import Console

    from coordinator import Simulation
    from coordinator.laboratory.session import Session
    from modular import Assembly

DEFAULT_SAMPLE_SECONDS = 1e-3  # seconds between two samples of the record, unless said otherwise


@dataclass(frozen=True)
class Pace:
    """How time goes when the page opens."""

    play: Annotated[bool, typer.Option("--play", help="Start moving at once, instead of paused.")] = False
    speed: Annotated[
        float,
        typer.Option(
            metavar="FACTOR", min=0.0, help="Speed of the simulated time: 1 for real time, 0 for as fast as possible."
        ),
    ] = 1.0


@dataclass(frozen=True)
class Page:
    """Where the page is served, and until when."""

    browser: Annotated[bool, typer.Option(help="Open the page in a browser.")] = True
    port: Annotated[int, typer.Option(metavar="PORT", min=0, max=65535, help="Port of the page; 0: any free one.")] = 0
    host: Annotated[str, typer.Option(metavar="ADDRESS", help="Address at which the page is served.")] = "127.0.0.1"
    anywhere: Annotated[
        bool,
        typer.Option(
            "--anywhere",
            help="Allow an address that other machines can reach; whoever has the token of the page has access.",
        ),
    ] = False
    stay: Annotated[bool, typer.Option("--stay", help="Go on when the last page is closed; Ctrl-C ends it.")] = False


@grouped
def live(
    target: Annotated[
        str,
        typer.Argument(
            metavar="TARGET",
            help="A ready system (see modular list), a model file (.toml, .json, .urdf, .xml, .sdf, .usda), a Python file with "
            "build(**settings), which is executed, or a run folder.",
        ),
    ],
    dt: Step = None,
    settings: Settings = None,
    coupling: CouplingName = None,
    rule: RuleName = None,
    record_every: Annotated[
        int | None,
        typer.Option(
            metavar="TICKS", min=1, help="Ticks from one sample to the next; default: a sample every millisecond."
        ),
    ] = None,
    pace: Pace = Pace(),
    at_end: Annotated[
        bool,
        typer.Option("--at-end", help="With a run folder: go on from where the run ended, not from its beginning."),
    ] = False,
    launch: Launch = Launch(),  # noqa: B008
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Where the diary and the record go; default: runs/NAME-live, or -live-2, … if taken."
        ),
    ] = None,
    overwrite: Overwrite = False,
    page: Page = Page(),
) -> None:
    """Open a mechanism in a browser: watch it, cut and make joints, grab bodies, change anything while it moves.

    \b
    Examples:
      [bold]modular live double-pendulum[/bold]
      [bold]modular live chain --set bodies=20 --coupling "glued(order=4)" --play[/bold]
      [bold]modular live chain --workers 2[/bold]
      [bold]modular live my_model.py --no-browser --port 0[/bold]
      [bold]modular live runs/double-pendulum --at-end[/bold]

    In the page: space pauses, a drag grabs a body, a drag with shift from one body to another joins them, a click chooses and
    Delete removes what is chosen; ctrl+Z undoes. The tree on the left has every body, joint and force with what can be changed.

    Every act goes into a diary; [bold]modular replay DIR[/bold] carries it out again without anybody, to the last bit. What was
    recorded lies beside it, a run folder for every stretch of one model, coupling and step.

    The address is printed alone on a line. It holds a token: nobody gets in without. The page is served on this machine only.
    The command ends when the page is closed, or by Ctrl-C. Exit code: 0 ended, 2 refused.
    """
    console = console_for()
    with refusals(), ExitStack() as closing:
        check_viewer()
        from coordinator.laboratory.acts import Resume
        from coordinator.laboratory.session import Session
        from scenarios.laboratory.gate import check_host
        from scenarios.laboratory.opening import Laboratory

        check_host(page.host, anywhere=page.anywhere)  # before anything is made
        launch_config = launch.config(console)
        simulation = _simulation(
            console, target, dt, settings, coupling, rule, record_every, launch.workers, launch_config, at_end
        )
        folder = closing.enter_context(_folder(target, out, overwrite))
        try:
            session = Session(simulation, folder.path, speed=pace.speed)
        except BaseException:
            simulation.close()
            raise
        closing.callback(_close, console, session, folder.path)
        lab = closing.enter_context(Laboratory(session, host=page.host, port=page.port, anywhere=page.anywhere))
        print(lab.url, flush=True)
        if pace.play:
            session.post(Resume())
        if page.browser and not lab.open_browser():
            say(console, "no browser could be opened; open the address above in one.")
        try:
            lab.wait(stay=page.stay)
        except KeyboardInterrupt:
            say(console, "ended.")


def check_viewer(command: str = "modular live") -> None:
    """Say what is missing before anything is computed."""
    try:
        import viser  # noqa: F401
    except ImportError as error:
        raise ModelError(
            f"{command} needs viser, which is not installed; install it with: pip install 'modular-multibody[live]'"
        ) from error


def _simulation(
    console: Console, target: str, dt: float | None, settings: list[str] | None, coupling: str | None, rule: str | None,
    every: int | None, workers: int | None, launch_config: Any, at_end: bool,
) -> Simulation:  # fmt: skip
    """What is to be opened, ready to move."""
    from coordinator import resume
    from scenarios.commands.running import prepare
    from scenarios.report.first_use import compiling
    from scenarios.settings import coupling_for

    path = Path(target)
    if at_end:
        if not path.is_dir():
            raise ModelError(f"--at-end: '{target}' is not a run folder.")
        with compiling(console, "loading…"):
            return resume(path, workers=workers, launcher=launch_config)
    chosen: Any = None
    if path.is_dir():
        model, dt_there, chosen = _of_run(path)
        dt = dt_there if dt is None else dt
        if settings:
            raise ModelError("--set: a run folder holds a model that is built already; leave --set out.")
    else:
        with compiling(console, "loading…"):
            model, _ = load(target, settings)
    if coupling is not None or rule is not None or chosen is None:
        chosen = coupling_for(model, coupling, rule)
    step, _ = times(model, dt, None)
    record = every if every is not None else max(1, round(DEFAULT_SAMPLE_SECONDS / step))
    return prepare(console, model, step, chosen, record, True, None, workers, launch_config)


def _of_run(folder: Path) -> tuple[Assembly, float, Any]:
    """The model, the step and the coupling of a run folder, or of the first stretch of a session."""
    from coordinator.laboratory.diary import DIARY, STRETCH
    from modular.component import Component
    from scenarios.report.folder import load_run

    if (folder / DIARY).exists() and not (folder / "run.json").exists():
        folder = folder / STRETCH.format(1)
    run = load_run(folder)
    return run.assembly(), run.dt, Component.from_data(run.settings["coupling"])


def _folder(target: str, out: Path | None, overwrite: bool) -> Any:
    """The folder of the session, taken before anything moves."""
    from coordinator.laboratory.diary import DIARY, END, START
    from scenarios.report.folder import RunFolder

    if out is not None and str(out) in ("", "."):
        raise ModelError("--out: give a folder of its own for the session, such as --out runs/mine.")
    stem = Path(target).resolve().name if Path(target).is_dir() else Path(target).stem
    place = RunFolder(out or Path("runs") / f"{stem or DEFAULT_STEP}-live", overwrite=overwrite, numbered=out is None)
    stack = ExitStack()
    folder = stack.enter_context(place)
    try:
        folder.claim((DIARY, START, END), "a session", "it")
    except BaseException:
        stack.close()
        raise
    return _Taken(stack, folder)


class _Taken:
    """A folder that was taken; given back where nothing was written."""

    def __init__(self, stack: ExitStack, folder: Any) -> None:
        self._stack, self._folder = stack, folder

    def __enter__(self) -> Any:
        return self._folder

    def __exit__(self, *error: object) -> None:
        self._stack.close()


def _close(console: Console, session: Session, folder: Path) -> None:
    """Write down how far it came, and say how to have it again."""
    from scenarios.report.progress import waiting

    with waiting(console, "saving…"):
        session.close()
    acts = session.diary.count
    kept = f"{session.snapshot.time:.6g} s and {acts} act{'s' * (acts != 1)} are kept in {folder}"
    say(console, f"{kept}; again: modular replay {folder}")
    if session.diary.failure:
        say(console, session.diary.failure, style="yellow")
