"""Repeating a run from its folder alone: same model, same settings, and on the same machine the same bits.

`rewind` runs the last ticks once more, every one of them recorded: what recording less often, or a run that went wrong, has hidden.
A run is the same to the last bit each time, so nothing has to be remembered for this: it goes from the last checkpoint that is
early enough, or from the beginning. `verify` measures how far a run from a folder is off.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from coordinator.checks import verification
from coordinator.checks.verification import Verification
from coordinator.continuation.resume import Checkpoint
from coordinator.record.checkpoints.folder import INSIDE, heads_in
from coordinator.record.obstacles import prepared
from coordinator.record.recorder import Recorder
from coordinator.record.run import Run
from coordinator.simulation import Progress, Simulation
from modular.errors import CouplingError, Diverged, ModelError, RunWarning


def rerun(run: Run, *, progress: Progress | None = None) -> Run:
    """The same run once more, from its model and settings.

    Refused with a sentence where the run cannot be repeated: it was changed by what no event says, a law of it has no name
    to be found by, or its coupling is not known here. One that goes wrong on the way ends where it does; compare with
    `first_difference`.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RunWarning)  # said when it was first run; it is in the log of events
        with prepared(Simulation, run) as simulation:
            with suppress(Diverged):
                simulation.run(_ticks(run) * run.dt, progress=progress)
                _last_events(simulation, run)
            return simulation.recorded


def _ticks(run: Run) -> int:
    return int(run.settings.get("ticks", run.timings.get("ticks", run.ticks[-1] if len(run) else 0)))


def _last_events(simulation: Simulation, run: Run) -> None:
    """A run that stopped inside a step had carried out events by then: what they changed belongs to its last sample."""
    missing = run.happenings[len(simulation.events) :]
    if not missing:
        return
    with suppress(ModelError, CouplingError, ArithmeticError):
        if any(event["tick"] > simulation.tick for event in missing):
            simulation.step()
        else:
            simulation.apply_events()


def verify(run: Run, *, progress: Progress | None = None) -> Verification:
    """How far a run is off, by one more at half the step, and the order of its error by another at twice the step."""
    return verification.verify(Simulation, run, progress=progress)


NEVER_RECORD = 1 << 60  # ticks


def rewind(folder: str | Path, ticks: int = 200, *, progress: Progress | None = None) -> Run:
    """The last `ticks` ticks of the run in a folder, with a sample at each; from before it went wrong, if it did."""
    folder = Path(folder)
    run = Run.load(folder)
    if ticks < 1 or not len(run):
        raise ModelError(f"rewind: ticks = {ticks} of a run with {len(run)} samples; give a number of ticks from 1 on.")
    last = int(run.settings.get("ticks", run.ticks[-1]))
    first = max(last - ticks, 0)
    simulation = _before(folder, run, first)
    with simulation, warnings.catch_warnings():
        warnings.simplefilter("ignore", RunWarning)  # said when it was first run
        if simulation.tick < first:
            simulation.recorder = Recorder(NEVER_RECORD)
            simulation.run(first * simulation.dt, progress=progress)
        simulation.recorder = Recorder(1)
        simulation.record()
        with suppress(Diverged, ModelError, CouplingError, ArithmeticError):  # where the run did not get further either
            simulation.run(last * simulation.dt, progress=progress)
        found = simulation.recorded
    found.obstacles = [*found.obstacles, f"it begins in the middle of a run, at tick {first}; repeat that run."]
    return found


def _before(folder: Path, run: Run, tick: int) -> Simulation:
    """The simulation at some tick not later than `tick`, the nearest that can be had without going on from the beginning."""
    reasons: list[str] = []
    for found in _readable(folder / INSIDE, reasons.append):
        if found.head["system"]["tick"] <= tick:
            return found.simulation()
    if run.obstacles:
        raise ModelError(
            f"'{folder}' cannot be rewound to tick {tick}: no checkpoint is as early, and it cannot be repeated from its "
            f"beginning: {' '.join(run.obstacles)} {' '.join(reasons)}".rstrip()
        )
    return prepared(Simulation, run)


def _readable(folder: Path, refuse: Callable[[str], None]) -> Iterator[Checkpoint]:
    for path in heads_in(folder):
        try:
            yield Checkpoint(path)
        except (ModelError, OSError, KeyError, TypeError, ValueError, IndexError) as error:
            refuse(str(error))
