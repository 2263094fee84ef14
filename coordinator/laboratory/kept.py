"""A simulation as it stands, kept in memory: what undoing goes back to. Its samples are not in it, but in the record."""

from __future__ import annotations

from dataclasses import dataclass

from coordinator.continuation.resume import Checkpoint
from coordinator.record.checkpoints.simulation_as_data import check_keepable, simulation_as_data
from coordinator.simulation import Simulation
from modular.payload import packed


@dataclass(frozen=True)
class Kept:
    """One instant."""

    content: bytes  # a payload, as in the file of a checkpoint
    tick: int
    stretch: int  # of the record


def keep(simulation: Simulation, stretch: int) -> Kept:
    """As it stands between two ticks."""
    check_keepable(simulation)
    data, arrays = simulation_as_data(simulation)
    return Kept(packed({**data, "samples": [], "until": None}, arrays), simulation.tick, stretch)


def stand_again(kept: Kept, simulation: Simulation) -> Simulation:
    """As it stood; the workers of the present one, if any, go on with it. It has no samples yet."""
    if simulation.distributed_run is not None:
        simulation.distributed_run.collect(simulation)
    return Checkpoint.in_memory(kept.content).moved_by(simulation.distributed_run, simulation.engine.threads)


def twin(simulation: Simulation) -> Simulation:
    """Another one that stands where this one does, and is moved in this process alone."""
    return Checkpoint.in_memory(keep(simulation, 0).content).moved_by(None, simulation.engine.threads)
