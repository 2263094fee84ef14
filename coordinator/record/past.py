"""What a simulation remembers beside its samples: what it was given, what happened to it, and who was there before."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from coordinator.carrying import Carrier
from coordinator.record.evidence import Evidence, Recorded
from coordinator.record.fingerprint import machine, versions
from coordinator.record.given import Given
from coordinator.record.run import Run
from coordinator.verdict import Estimate
from modular.body import Body
from modular.component import plain
from modular.errors import ModelError

if TYPE_CHECKING:
    from coordinator.simulation import Simulation


class Past:
    """All that a run tells beside what was recorded."""

    def __init__(self, given: Given, *, project: bool, grouped: bool) -> None:
        self.given = given
        self.project, self.grouped = project, grouped
        self.events: list[dict[str, Any]] = []
        self.margins: list[dict[str, Any]] = []
        self.ever: dict[str, Body] | None = None  # all bodies that took part, once one has left
        self.forms: dict[str, dict[str, Any]] = {}  # of joints that have left
        self.seconds = 0.0  # of computing
        self.evidence = Evidence()
        self.carriers: list[
            Carrier
        ] = []  # bodies that pass on loads, as they stood when a run began (coordinator/carrying.py)
        self.told = False  # whether a warning has told how far it is off
        self.verified: dict[str, Any] = {}  # what was measured of its error, and when (coordinator/verification.py)
        self._judged = 0  # samples there were when that was asked last

    def enter(self, name: str, body: Body) -> bool:
        """A body comes; False where another one of its name took part before."""
        return self.ever is None or self.ever.setdefault(name, body) == body

    def leave(self, bodies: Mapping[str, Body]) -> None:
        """One of them is about to leave."""
        if self.ever is None:
            self.ever = dict(bodies)

    def latest_margins(self) -> dict[str, float]:
        """The last stability margin of everything that ever had one."""
        latest: dict[str, float] = {}
        for entry in self.margins:
            latest.update(entry["margins"])
        return latest

    def judge(self, simulation: Simulation) -> Estimate | None:
        """What has to be told of the run, once; many short runs are not judged each, but when there is a tenth more of them."""
        samples = sum(segment.used for segment in simulation.recorder.segments)
        if self.told or samples < 1.1 * self._judged:
            return None
        self._judged = samples
        found = self.estimate(simulation)
        self.told = found is not None and found.too_much
        return found if self.told else None

    def estimate(self, simulation: Simulation) -> Estimate | None:
        """About how far the run is off, by what has been recorded; None where that says nothing, or nobody can be asked."""
        segments = [segment for segment in simulation.recorder.segments if segment.used]
        bodies = simulation.assembly.bodies if self.ever is None else self.ever
        forms, gravity = {**self.forms, **simulation.system.facts()}, np.asarray(simulation.assembly.gravity, float)
        recorded = Recorded(segments, forms, bodies, float(simulation.dt), gravity)
        least = any(getattr(stack, "forward_only", False) for stack in simulation.system.forces)
        try:
            return self.evidence.estimate(recorded, simulation.coupling.declared_order, least=least)
        except ModelError:  # a black box whose worker has gone
            return None

    def run(self, simulation: Simulation) -> Run:
        """Everything so far."""
        system, recorder = simulation.system, simulation.recorder
        estimate = self.estimate(simulation)
        verdict = [estimate.event(simulation.dt)] if estimate is not None and estimate.too_much else []
        return Run(
            dt=simulation.dt,
            model=self.given.model,
            segments=[segment.trimmed() for segment in recorder.segments if segment.used],
            bodies=dict(simulation.assembly.bodies if self.ever is None else self.ever),
            events=[*(dict(event) for event in self.events), *verdict],
            settings={
                "coupling": plain(simulation.coupling),
                "record_every": recorder.every,
                "project_velocities": self.project,
                "leak_limit": simulation.alarm.limit,
                "grouped": self.grouped,
                "until": simulation.time,
                "ticks": simulation.tick,
            },
            margins=[dict(entry) for entry in self.margins],
            forms={**self.forms, **system.facts()},
            versions={**versions(), **self.given.sources},
            machine=machine(),
            verified=dict(self.verified) if self.verified.get("ticks") == simulation.tick else {},
            estimate={} if estimate is None else estimate.to_data(),
            obstacles=self.given.obstacles(simulation.coupling, self.events),
            timings={
                "seconds": self.seconds,
                "ticks": float(simulation.tick),
                "evaluations": float(system.evaluations),
                **simulation.coupling.told(system),
            },
        )


def other_body(name: str) -> ModelError:
    """Names of a run stand for one body each."""
    return ModelError(f"body '{name}' took part in this run before, as another body; choose another name.")
