"""Variants one after the other: each as a simulation of its own."""

from __future__ import annotations

import warnings
from typing import Any

from coordinator.couplings import Coupling
from coordinator.ensemble.pieces import Piece, Told
from coordinator.ensemble.variants import Variants
from coordinator.record.run import Run
from coordinator.simulation import Simulation
from modular.errors import CouplingError, Diverged, ModelError, RunWarning

Heard = list[tuple[int | None, warnings.WarningMessage]]  # warnings, and of which variant


def run_apart(
    variants: Variants, k: int, coupling: Coupling, until: float, settings: dict[str, Any], heard: Heard
) -> Piece:
    """One variant, to its end or to where it diverges; what was warned of is heard."""
    told = Told()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", RunWarning)
        try:
            with Simulation(variants.model_of(k), coupling=coupling, **settings) as simulation:
                try:
                    simulation.run(until)
                except Diverged as error:
                    told.reason, told.component, told.tick = str(error), error.component, error.tick
                run = simulation.recorded
        except (ModelError, CouplingError) as error:
            raise type(error)(f"Ensemble: variant {k}: {error}") from error
    heard += [(k, warning) for warning in caught]
    return piece_of(run, k, told)


def piece_of(run: Run, k: int, told: Told) -> Piece:
    """A run as a piece of an ensemble."""
    told.events, told.margins, told.forms = list(run.events), list(run.margins), dict(run.forms)
    told.estimate = dict(run.estimate)
    told.tick = told.tick or int(run.settings["ticks"])
    return Piece(list(run.segments), {k: told}, seconds=float(run.timings.get("seconds", 0.0)))
