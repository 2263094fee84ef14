"""Makes the snapshots of a session; descriptions are looked up only when they have changed, and samples are not copied."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from coordinator.laboratory.hand import NAME as HAND
from coordinator.laboratory.snapshot import Plan, Snapshot, plan_of, states_of
from coordinator.record.recorder import Segment
from coordinator.simulation import Simulation
from modular.elements import Array

if TYPE_CHECKING:
    from coordinator.laboratory.session import Session


class Window:
    """Looks at a session, from its own thread."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._number = 0
        self._views: dict[int, tuple[int, Segment]] = {}
        self._plan: Plan | None = None
        self.latest = self.look()

    def stale(self) -> bool:
        """Whether something has changed since it looked last."""
        last, session = self.latest, self._session
        notices = session.notices[-1].number if session.notices else 0
        return (last.tick, last.plan.revision, last.playing, last.speed, last.trouble, last.stretch) != (
            session.simulation.tick, session.revision, session.pace.moving, session.pace.speed, session.trouble,
            session.stretches.latest,
        ) or (last.notices[-1].number if last.notices else 0) != notices or last.held is not None  # fmt: skip

    def look(self) -> Snapshot:
        """Everything as it is now; where the motion has come to an end, as it was before."""
        session, simulation = self._session, self._session.simulation
        self._number += 1
        before: Snapshot | None = getattr(self, "latest", None)
        tick, time = simulation.tick, simulation.time
        if session.trouble and before is not None:
            states = before.bodies, before.joints, before.forces, before.closed
            tick, time = before.tick, before.time
        else:
            states = states_of(simulation)
        if self._plan is None or self._plan.revision != session.revision:
            self._plan = plan_of(simulation, session.revision)
        bodies, joints, forces, closed = states
        self.latest = Snapshot(
            number=self._number, plan=self._plan, tick=tick, time=time, stretch=session.stretches.latest,
            playing=session.pace.moving, speed=session.pace.speed, factor=session.pace.factor, trouble=session.trouble,
            bodies=bodies, joints=joints, forces=forces, closed=closed,
            held=session.hand.holds(simulation), target=_target(simulation), notices=tuple(session.notices),
            undo=session.history.undo, redo=session.history.redo, record=self._samples(simulation),
            ghost=None if session.ghost is None else session.ghost.view,
            answers=session.inquiry.still(session.revision),
        )  # fmt: skip
        return self.latest

    def _samples(self, simulation: Simulation) -> Sequence[Segment]:
        """Samples of this stretch as they are now; whoever looks at them has them while others are taken."""
        found = []
        for segment in simulation.recorder.segments:
            known = self._views.get(id(segment))
            if known is None or known[0] != segment.used:
                known = self._views[id(segment)] = segment.used, segment.trimmed()
            found.append(known[1])
        if len(self._views) > 2 * len(found) + 16:
            self._views.clear()
        return found


def _target(simulation: Simulation) -> Array | None:
    """Where the hand draws what it holds."""
    home = simulation.local_system.force_home.get(HAND)
    if home is None:
        return None
    stack: Any = home.stack
    return np.array(stack.target[stack.row[HAND]])
