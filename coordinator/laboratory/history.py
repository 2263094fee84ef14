"""What can be undone, and done again: simulations as they stood, kept in memory. Samples are not in them, but in the record.

What a laboratory has recorded: stretches of one model, one coupling and one step each, one run per stretch.

The latest stretch is in the recorder of the simulation; those before are finished. Together they take no more than some memory: the
oldest go first. The diary has everything, so they can be had again.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from coordinator.checks.load_stiffness import now, tell
from coordinator.continuation.resume import Checkpoint
from coordinator.laboratory.acts import Doing, describe
from coordinator.record.checkpoints.simulation_as_data import check_keepable, simulation_as_data
from coordinator.record.past import Given, Past
from coordinator.record.recorder import Recorder, Segment
from coordinator.record.run import Run
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


class Stretches:
    """Finished stretches by their numbers, from 1 on, and the number of the latest; 0 is what was before there was a laboratory."""

    def __init__(self, most: float) -> None:
        self.most = most  # bytes of samples
        self.latest = 1
        self.finished: dict[int, Run] = {}
        self._digests: list[Future[str]] = []  # of all that are finished, the first one first
        self._aside = ThreadPoolExecutor(1, thread_name_prefix="modular-digest")  # the motion need not wait for them
        self._sizes: dict[int, int] = {}
        self._latest_size: tuple[int, int, int] = (0, 0, 0)  # a recorder, its segments, and their bytes

    def begin_after(self, simulation: Simulation) -> None:
        """A simulation that has moved already begins another page."""
        if simulation.recorder.segments and simulation.recorder.segments[0].ticks[0] < simulation.tick:
            self.finished[0] = run = simulation.recorded
            self._sizes[0] = size_of(run.segments)
            turn_page(simulation)
        elif not simulation.recorder.segments:
            simulation.record()

    def finish_with(self, run: Run) -> None:
        """The latest stretch is over: this is what was recorded of it."""
        self.finished[self.latest] = run
        self._sizes[self.latest] = size_of(run.segments)
        if self._digests:
            self._digests[-1].result()  # one at a time: where pages are filled faster, memory would not hold them all
        self._digests.append(self._aside.submit(lambda: run.digest))
        self.latest += 1
        self._make_room()

    @property
    def digests(self) -> list[str]:
        """Of all that are finished, the first one first, also of those that are no more in memory."""
        return [digest.result() for digest in self._digests]

    def close(self) -> None:
        """Nothing more will be recorded."""
        self._aside.shutdown()

    def full(self, simulation: Simulation, events: int) -> bool:
        """Whether it is time for another page: samples fill their share of the memory, or events get long."""
        recorder = simulation.recorder
        if self._latest_size[:2] != (seen := (id(recorder), len(recorder.segments))):
            self._latest_size = *seen, size_of(recorder.segments)
        return len(simulation.past.events) > events or self._latest_size[2] > 0.25 * self.most

    def go_back(self, kept: Kept, simulation: Simulation, segments: Sequence[Segment]) -> None:
        """A simulation stands again where something was kept; `segments`: the samples of the stretch that is given up."""
        if kept.stretch < self.latest:
            run = self.finished.get(kept.stretch)
            segments = [] if run is None else run.segments
            for number in [n for n in self.finished if n >= kept.stretch]:
                del self.finished[number], self._sizes[number]
            del self._digests[kept.stretch - 1 :]
            self.latest = kept.stretch
        simulation.recorder.segments = before(segments, kept.tick)
        simulation.record()

    def _make_room(self) -> None:
        while len(self.finished) > 1 and sum(self._sizes.values()) > 0.75 * self.most:
            oldest = min(self.finished)
            del self.finished[oldest], self._sizes[oldest]


def turn_page(simulation: Simulation) -> None:
    """Go on with an empty record; nothing else changes, no bit of what follows."""
    past = simulation.past
    simulation.past = Past(Given(simulation.assembly.copy(), simulation.coupling), project=False, grouped=past.grouped)
    simulation.past.events.append(
        {"tick": simulation.tick, "time": simulation.time, "kind": "went on", "name": "on another page", "by": "hand"}
    )
    own = past.latest_margins()
    margins, loads = tell(own, now(simulation, simulation.stiffness_margins))
    simulation.past.margins.append({"tick": simulation.tick, "margins": margins, **({"loads": loads} if loads else {})})
    simulation.recorder = Recorder(simulation.recorder.every)
    simulation.record()


def before(segments: Sequence[Segment], tick: int) -> list[Segment]:
    """Samples that were taken before a tick."""
    found = []
    for segment in segments:
        used = int(np.searchsorted(segment.ticks[: segment.used], tick))
        if used:
            found.append(Segment(segment.ticks, segment.bodies, segment.joints, segment.forces, segment.closed, used))
    return found


def size_of(segments: Sequence[Segment]) -> int:
    """Bytes that samples take."""
    return sum(
        array.nbytes
        for segment in segments
        for part in (segment.bodies, segment.joints, segment.forces)
        for _, series in part
        for array in series.values()
    )
