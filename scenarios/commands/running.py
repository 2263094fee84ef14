"""What `modular run` does: get ready, run as far as it goes, keep what was recorded, draw it."""

from __future__ import annotations

import gc
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from modular.errors import CouplingError, Diverged, ModelError
from modular.names import first_few
from scenarios.commands.launch_options import close_launcher
from scenarios.commands.resume import checkpoint_warnings
from scenarios.commands.rewind import leave_last_ticks, who_moves_what
from scenarios.terminal import DIVERGED, INTERRUPTED, REFUSED, complain, say, stop

# of a run that is held against one at twice its step without being asked: computing [s], and bodies that are built again
MAX_SECONDS, MAX_BODIES = 2.0, 100
PART_OF_LONG = 0.2  # of one that took longer, from its start: a tenth of its ticks
LARGE_RUN_BYTES = 1 << 28  # bytes of a run whose saving takes long enough to be told, also where there is no bar

if TYPE_CHECKING:
    from rich.console import Console

    from coordinator import Checkpoints, Run, Simulation, Verification
    from modular import Assembly
    from scenarios.report.folder import RunFolder


def prepare(
    console: Console,
    assembly: Assembly,
    dt: float,
    coupling: Any,
    record_every: int,
    project_velocities: bool,
    threads: int | None = None,
    workers: int | None = None,
    launch_config: Any = "processes",
) -> Simulation:
    """The simulation, compiled and ready; where a tick is more than loops, a trial step on a copy shows what it needs."""
    from coordinator import Simulation
    from coordinator.events.precompile import precompile
    from scenarios.report.first_use import compiling

    def simulation(workers: int | None = None) -> Simulation:
        return Simulation(
            assembly,
            dt,
            coupling,
            record_every=record_every,
            project_velocities=project_velocities,
            threads=threads,
            workers=workers,
            launcher=launch_config,
        )

    with compiling(console, "preparing…"):
        try:
            ready = simulation(workers)
        except BaseException:
            close_launcher(launch_config)
            raise
        try:
            if not precompile(ready):
                with (
                    simulation() as trial,
                    suppress(ModelError, CouplingError, ArithmeticError),
                ):  # the run itself will say so
                    trial.step()
        except BaseException:
            ready.close()
            raise
        return ready


def print_ways(console: Console, simulation: Simulation) -> None:
    """Which joints are glued and which are springs, and why, a line for each reason."""
    alike: dict[tuple[str, str], list[str]] = {}
    for joint, way in simulation.ways.items():
        alike.setdefault(way, []).append(joint)
    for (kind, why), joints in alike.items():
        say(console, f"{kind}: {first_few(joints, 6)}; {why}")


def assembled(console: Console, model: Assembly) -> Assembly:
    """With closed joints; what was done for that is told."""
    from coordinator.analysis import assemble

    found = assemble(model)
    say(console, f"assembled: {found.summary()[0]}")
    return found


def print_margin(console: Console, simulation: Simulation) -> None:
    """How far the tightest joint is from the stability limit."""
    from coordinator import beyond
    from coordinator.checks.examination import rings
    from scenarios.report.summary import load_text, margin_text
    from scenarios.settings import couplings_as_typed

    print_ways(console, simulation)
    if simulation.implicit_forces:
        say(
            console,
            f"implicit: {first_few(simulation.implicit_forces, 6)}; what changes faster than the step resolves is damped",
        )
    if simulation.located_friction:
        say(
            console,
            f"dry friction: {first_few(simulation.located_friction, 6)}; joints while they stick, and where they begin to slide "
            "and to stick is located within steps",
        )
    if simulation.tightest is None:
        why = "all solved at once" if simulation.assembly.joints else "no joints"
        say(console, f"{why}, so no stability limit")
        return
    joint, margin = simulation.tightest
    what = "joint" if joint in simulation.assembly.joint_edges else "force"
    say(
        console,
        f"stability margin {margin_text(margin)}; tightest {what}: {joint}{load_text(simulation.loads.get(joint))}",
    )
    over = beyond(simulation)
    if over is not None:
        say(console, f"warning: below 1 the run may diverge; {over[3]}.", style="yellow")
    if not simulation.ways and "coupling" not in simulation.assembly.suggested and (ringing := rings(simulation)):
        say(console, couplings_as_typed(ringing))


def verdict(simulation: Simulation, code: int | None, measured: Verification | None = None) -> str:
    """What speaks against a run that came to its end, in the words of the command; empty where nothing does.

    Where its error was measured, that is what counts.
    """
    from coordinator.checks.diagnosis import in_words
    from scenarios.settings import as_typed

    step = partial(in_words, simulation)
    found = simulation.past.estimate(simulation) if code is None and simulation.whole else None
    if found is not None and measured is not None:
        return as_typed(measured.sentence(found, step)) if measured.too_much else ""
    if found is None or not found.too_much:
        return ""
    return as_typed(found.sentence(simulation.dt, "--verify", words=step))


def print_verdict(console: Console, words: str) -> None:
    """What `verdict` said, as the last line: nobody scrolls back over a summary."""
    if words:
        say(console, words, style="yellow")


def run_and_keep(
    console: Console,
    simulation: Simulation,
    until: float,
    folder: RunFolder,
    checkpoints: Checkpoints | None,
    *,
    plot: bool = False,
) -> tuple[Run, int | None, str]:
    """Run to the end, or as far as it goes, and write the run folder; what was recorded, and why it stopped early, with a code."""
    from scenarios.report.ahead import fetched_ahead

    with fetched_ahead(plot):
        code, why = simulate(console, simulation, until, checkpoints)
    gc.freeze()  # what is there now stays until all is told (`show_run`): looking through it for garbage took a tenth of that
    moved_by = who_moves_what(simulation)
    recorded, code = keep(console, simulation, folder, code)
    if code in (DIVERGED, REFUSED):
        leave_last_ticks(console, folder.path, why, moved_by, simulation.last_messages)
    elif checkpoints is not None and simulation.whole:
        checkpoints.lean_on_run(simulation, until, recorded)
    return recorded, code, why


def simulate(
    console: Console, simulation: Simulation, until: float, checkpoints: Checkpoints | None
) -> tuple[int | None, str]:
    """Run to the end, or as far as it goes; an exit code with the reason if it stopped early."""
    from coordinator.record.checkpoints.folder import HEAD
    from scenarios.report.progress import watched
    from scenarios.report.said import warnings_on_the_way

    code, why = None, ""
    try:
        with (
            checkpoint_warnings(),
            warnings_on_the_way(simulation),
            watched(console, until, simulation.time) as progress,
        ):
            simulation.run(until, progress=progress, checkpoints=checkpoints)
    except Diverged as error:
        code, why = DIVERGED, str(error)
    except KeyboardInterrupt:
        kept = checkpoints is not None and any(checkpoints.folder.glob(f"*{HEAD}"))
        again = f" Go on with: modular resume {checkpoints.folder.parent}" if checkpoints is not None and kept else ""
        code, why = INTERRUPTED, f"interrupted at {simulation.time:.6g} of {until:g} s.{again}"
    except (ModelError, CouplingError, MemoryError) as error:
        if simulation.tick == 0:
            raise
        said = str(error)  # an event of the model could not be carried out: it says when
        code, why = REFUSED, said if said.startswith("event") else f"at {simulation.time:.6g} s: {said}"
    if code == INTERRUPTED:
        complain(why)
    return code, why


def end_early(recorded: Run, folder: Path, code: int | None, why: str) -> None:
    """As the last word, why a run stopped before its end, and where it is kept."""
    if code is not None:
        kept = f"what was recorded until {recorded.time[-1]:.6g} s is kept in {folder}"
        stop(kept if code == INTERRUPTED else f"{why}\n{kept}", code)


def keep(console: Console, simulation: Simulation, folder: RunFolder, code: int | None) -> tuple[Run, int | None]:
    """Write the run folder, whoever interrupts; what was recorded, and the exit code. Where it was, workers go first."""
    from coordinator.distributed.workers.distributed_run import SHORT_TIMEOUT
    from coordinator.engine.interrupt import held_interrupts
    from coordinator.record.on_disk import size_of
    from scenarios.report.folder import AT_REQUEST
    from scenarios.report.progress import waiting

    try:
        with held_interrupts(), waiting(console, "saving…"):
            if code == INTERRUPTED:
                simulation.close(SHORT_TIMEOUT)
            recorded = simulation.recorded
            size = sum(map(size_of, recorded.segments))
            if size > LARGE_RUN_BYTES and not console.is_terminal:
                say(console, f"saving {size / 1e9:.2g} GB…")
            recorded.save(folder.path)
            gone = folder.drop_pictures()
        if gone:
            ways = ", ".join(f"{name} (again by {AT_REQUEST[name]})" for name in gone)
            say(console, f"removed, because it showed the previous run: {ways}")
    except KeyboardInterrupt:
        return simulation.recorded, INTERRUPTED
    return recorded, code


def measure(console: Console, simulation: Simulation, folder: RunFolder) -> tuple[Run, Verification | None]:
    """The error of a run by others at half and twice its step; what is kept knows of it. Whoever interrupts loses only this."""
    from scenarios.report.progress import measuring

    found = None
    try:
        with measuring(console, simulation.time, simulation.dt) as progress:
            found = simulation.verify(progress=progress)
    except ModelError as error:
        complain(str(error))
    except KeyboardInterrupt:
        complain("interrupted; the run is kept, its error was not measured.")
    recorded = simulation.recorded
    recorded.save(folder.path)
    return recorded, found


def held_against(
    console: Console, simulation: Simulation, recorded: Run, folder: RunFolder
) -> tuple[Run, Verification | None]:
    """A run held against one at twice its step, as far as that costs little; what is kept knows of it, and what was measured."""
    from scenarios.report.first_use import compiling

    large = len(recorded.bodies) > MAX_BODIES or simulation.distributed_run is not None
    if large or recorded.obstacles or not simulation.whole:
        return recorded, None
    part = PART_OF_LONG if recorded.timings.get("seconds", 0.0) > MAX_SECONDS else 1.0
    found = None
    with suppress(KeyboardInterrupt), compiling(console, "holding it against a run at twice the step…"):
        found = simulation.control(part=part)
    if found is None:
        return recorded, None
    known = simulation.recorded
    known.save(folder.path)
    return known, found.measured


def show_run(console: Console, recorded: Run, folder: Path, code: int | None, *, plot: bool, animate: bool) -> None:
    """Pictures and summary, while black boxes can still be asked for their energies; whoever interrupts does not want to wait."""
    from coordinator.record.across import reading
    from scenarios.report.folder import RUN_FILES
    from scenarios.report.summary import print_summary

    wanted = code != INTERRUPTED
    files = [folder / name for name in RUN_FILES]
    try:
        with reading(recorded):
            files += draw(console, recorded, folder, plot=plot and wanted, animate=animate and wanted)
            console.print()
            print_summary(console, recorded, files)
    except ModelError as error:  # a black box whose worker has gone
        say(console, f"kept in {folder}; no summary: {error}")
    finally:
        gc.unfreeze()


def draw(console: Console, recorded: Run, folder: Path, *, plot: bool, animate: bool) -> list[Path]:
    """Draw pictures and animation into a folder."""
    from scenarios.report.progress import waiting

    files: list[Path] = []
    if plot or animate:
        with waiting(console, "drawing…"):
            if plot:
                from scenarios.report.pictures import draw_pictures

                files += draw_pictures(recorded, folder)
            if animate:
                from scenarios.report.animation import animate as write_animation

                files.append(write_animation(recorded, folder))
    return files
