"""Repeating a run from its folder alone: same model, same settings, and on the same machine the same bits."""

from __future__ import annotations

import warnings
from contextlib import suppress

from coordinator.record.repetition import prepared
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
