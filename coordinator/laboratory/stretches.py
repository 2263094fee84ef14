"""What a laboratory has recorded: stretches of one model, one coupling and one step each, one run per stretch.

The latest stretch is in the recorder of the simulation; those before are finished. Together they take no more than some memory: the
oldest go first. The diary has everything, so they can be had again.
"""

from __future__ import annotations

import numpy as np

from coordinator.laboratory.kept import Kept
from coordinator.record.given import Given
from coordinator.record.past import Past
from coordinator.record.recorder import Recorder, Segment
from coordinator.record.run import Run
from coordinator.simulation import Simulation


class Stretches:
    """Finished stretches by their numbers, from 1 on, and the number of the latest; 0 is what was before there was a laboratory."""

    def __init__(self, most: float) -> None:
        self.most = most  # bytes of samples
        self.latest = 1
        self.finished: dict[int, Run] = {}
        self.digests: list[str] = []  # of all that are finished, the first one first
        self._sizes: dict[int, int] = {}

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
        self.digests.append(run.digest)
        self.latest += 1
        self._make_room()

    def full(self, simulation: Simulation, events: int) -> bool:
        """Whether it is time for another page: samples fill their share of the memory, or events get long."""
        recorder = simulation.recorder
        return len(simulation.events) > events or size_of(recorder.segments) > 0.25 * self.most

    def go_back(self, kept: Kept, simulation: Simulation, segments: list[Segment]) -> None:
        """A simulation stands again where something was kept; `segments`: the samples of the stretch that is given up."""
        if kept.stretch < self.latest:
            run = self.finished.get(kept.stretch)
            segments = [] if run is None else run.segments
            for number in [n for n in self.finished if n >= kept.stretch]:
                del self.finished[number], self._sizes[number]
            del self.digests[kept.stretch - 1 :]
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
    simulation.past.margins.append({"tick": simulation.tick, "margins": past.latest_margins()})
    simulation.recorder = Recorder(simulation.recorder.every)
    simulation.record()


def before(segments: list[Segment], tick: int) -> list[Segment]:
    """Samples that were taken before a tick."""
    found = []
    for segment in segments:
        used = int(np.searchsorted(segment.ticks[: segment.used], tick))
        if used:
            found.append(Segment(segment.ticks, segment.bodies, segment.joints, segment.forces, segment.closed, used))
    return found


def size_of(segments: list[Segment]) -> int:
    """Bytes that samples take."""
    return sum(
        array.nbytes
        for segment in segments
        for part in (segment.bodies, segment.joints, segment.forces)
        for _, series in part
        for array in series.values()
    )
