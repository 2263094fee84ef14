"""What can be undone, and done again: simulations as they stood, kept in memory. Samples are not in them, but in the record."""

from __future__ import annotations

from dataclasses import dataclass

from coordinator.continuation.resume import Checkpoint
from coordinator.laboratory.acts import Doing, describe
from coordinator.record.checkpoints.simulation_as_data import check_keepable, simulation_as_data
from coordinator.simulation import Simulation
from modular.errors import ModelError
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


MAX_UNDO = 100  # changes that can be undone
MAX_BYTES = 64e6  # bytes that those may take


class History:
    """Changes in their order, each with what was before it."""

    def __init__(self) -> None:
        self._done: list[tuple[Kept | None, Doing]] = []
        self._undone: list[Doing] = []

    @property
    def undo(self) -> str:
        """What would be undone, in words."""
        return describe(self._done[-1][1]) if self._done else ""

    @property
    def redo(self) -> str:
        """What would be done again."""
        return describe(self._undone[-1]) if self._undone else ""

    def remember(self, kept: Kept | None, act: Doing, *, again: bool = False) -> None:
        """A change was made; `again`: it was the one that was undone last."""
        self._done.append((kept, act))
        self._undone = self._undone[:-1] if again else []
        sizes = [0 if kept is None else len(kept.content) for kept, _ in self._done]
        while len(self._done) > MAX_UNDO or (sum(sizes) > MAX_BYTES and len(self._done) > 1):
            del self._done[0], sizes[0]

    def last(self) -> tuple[Kept | None, Doing]:
        """The change that would be undone, with what was before it."""
        if not self._done:
            raise ModelError("there is nothing to undo.")
        return self._done[-1]

    def next(self) -> Doing:
        """The change that would be done again."""
        if not self._undone:
            raise ModelError("there is nothing to redo.")
        return self._undone[-1]

    def go_back(self) -> None:
        """The last change was undone."""
        self._undone.append(self._done.pop()[1])
