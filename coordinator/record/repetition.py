"""Repeating a run from its folder alone: same model, same settings, and on the same machine the same bits."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from coordinator.couplings.coupling import Coupling
from coordinator.record.run import Run
from coordinator.simulation import Progress, Simulation
from modular.assembly import Assembly
from modular.component import Component
from modular.errors import CouplingError, Diverged, ModelError, RunWarning
from modular.version import __version__


def rerun(run: Run, *, progress: Progress | None = None) -> Run:
    """The same run once more, from its model and settings.

    Refused with a sentence where the run cannot be repeated: it was changed by what no event says, a law of it has no name
    to be found by, or its coupling is not known here. One that goes wrong on the way ends where it does; compare with
    `first_difference`.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RunWarning)  # said when it was first run; it is in the log of events
        with prepared(run) as simulation:
            with suppress(Diverged):
                simulation.run(_ticks(run) * run.dt, progress=progress)
                _last_events(simulation, run)
            return simulation.recorded


def prepared(
    run: Run, *, model: Assembly | None = None, dt: float | None = None, record_every: int | None = None
) -> Simulation:
    """The simulation that a run came from, at its start; at another step, where that is asked for."""
    if run.obstacles:
        raise ModelError("this run cannot be repeated from its folder: " + " ".join(run.obstacles))
    settings = run.settings
    return Simulation(
        run.assembly() if model is None else model,
        run.dt if dt is None else dt,
        coupling_of(run),
        record_every=settings.get("record_every", 1) if record_every is None else record_every,
        project_velocities=settings.get("project_velocities", any(e["kind"] == "projection" for e in run.events)),
        leak_limit=settings.get("leak_limit"),
        grouped=settings.get("grouped", True),
    )


def coupling_of(run: Run) -> Coupling:
    """As its folder describes it."""
    data: Mapping[str, Any] = run.settings.get("coupling", {})
    name = data.get("class", "none")
    try:
        coupling = Component.from_data(data)
    except (ModelError, KeyError) as error:
        raise ModelError(
            f"this run cannot be repeated here: its coupling {name} is not known, or not with these settings. The run was "
            f"written by modular {run.versions.get('modular', 'of an unknown version')}, this is {__version__}; install that "
            f"version, or import the file that defines the coupling first. ({error})"
        ) from error
    if not isinstance(coupling, Coupling):
        raise ModelError(f"this run cannot be repeated: {name} is no coupling; its run.json was changed.")
    return coupling


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
