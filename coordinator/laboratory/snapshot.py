"""What a laboratory shows to whoever looks: everything at one instant, in memory of its own, never written to again.

The thread of the simulation makes a snapshot and puts it in place of the last one; others read whatever is there. Nobody waits.
Descriptions are looked up only when they have changed, and samples are not copied.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from coordinator.couplings import Coupling
from coordinator.engine.program import perform
from coordinator.laboratory.hand import NAME as HAND
from coordinator.record.recorder import Segment
from coordinator.simulation import Simulation
from modular.assembly import ForceEdge, JointEdge
from modular.body import Body
from modular.elements import Array
from modular.picture import Picture

if TYPE_CHECKING:
    from coordinator.laboratory.session import Session


class Notice(NamedTuple):
    """Something that whoever looks should know: "done", "refused", "happened" or "trouble"."""

    number: int
    time: float  # of the simulation [s]
    kind: str
    text: str


@dataclass(frozen=True)
class Plan:
    """What is there; it changes when somebody changes it."""

    revision: int
    title: str
    gravity: tuple[float, ...]
    dt: float
    coupling: Coupling
    bodies: Mapping[str, Body]
    joints: Mapping[str, JointEdge]
    forces: Mapping[str, ForceEdge]
    groups: Sequence[Sequence[str]]  # bodies that are merged
    ways: Mapping[str, tuple[str, str]]
    margins: Mapping[str, float]
    loads: Mapping[str, str]  # of joints whose margin is what a load leaves: the body that passes it on
    workers: Sequence[Any]
    pictures: Sequence[Picture] = ()

    @property
    def dimension(self) -> int:
        """2 in the plane, 3 in space."""
        return len(self.gravity)


class BodyStates(NamedTuple):
    """Bodies of one kind, a row each."""

    names: Sequence[str]
    q: Array
    v: Array


class JointStates(NamedTuple):
    """Joints of one form, a row each."""

    names: Sequence[str]
    translations: int  # leading errors that are lengths
    error: Array
    rate: Array
    reaction: Array  # on the second side: force, and moment where there is one
    first: Array  # where its points are (n, d)
    second: Array
    ledger: Array


class ForceStates(NamedTuple):
    """Forces of one kind, a row each."""

    names: Sequence[str]
    force: Array  # on its first port
    place: Array  # of its first port, or what that port shows
    second: Array  # of its second port, where it has two
    ledger: Array


class Answers(NamedTuple):
    """What was asked, and still holds (coordinator/laboratory/inquiry.py)."""

    modes: Sequence[str] = ()  # in words, the slowest first
    swing: Any = None  # the one that is shown, a Swing
    mobility: str = ""
    sharing: Sequence[Sequence[str]] = ()  # joints that share loads, by groups


NOTHING_ASKED = Answers()


@dataclass(frozen=True)
class Snapshot:
    """Everything at one instant."""

    number: int
    plan: Plan
    tick: int
    time: float  # [s]
    stretch: int
    playing: bool
    speed: float
    factor: float  # times as fast as the clock
    trouble: str  # why the motion has come to an end
    bodies: Sequence[BodyStates]
    joints: Sequence[JointStates]
    forces: Sequence[ForceStates]
    closed: Mapping[str, Array]  # ledgers of joints and forces that have gone
    held: str | None  # body in the hand
    target: Array | None  # where it is drawn to [m]
    notices: Sequence[Notice]
    undo: str  # what would be undone
    redo: str
    record: Sequence[Segment]  # samples of this stretch
    answers: Answers = NOTHING_ASKED
    ghost: Any = None  # the reference, a GhostView (coordinator/laboratory/ghost.py), where one follows

    def state(self, body: str) -> tuple[Array, Array]:
        """Coordinates and velocities of a body."""
        for states in self.bodies:
            if body in states.names:
                row = list(states.names).index(body)
                return states.q[row], states.v[row]
        raise KeyError(body)


def plan_of(simulation: Simulation, revision: int) -> Plan:
    """What is there now."""
    model = simulation.assembly
    return Plan(
        revision=revision,
        title=model.title,
        gravity=tuple(model.gravity.tolist()),
        dt=simulation.dt,
        coupling=simulation.coupling,
        bodies=dict(model.bodies),
        joints=dict(model.joint_edges),
        forces=dict(model.force_edges),
        groups=[tuple(group) for group in simulation.system.groups],
        ways=simulation.ways,
        margins=simulation.margins,
        loads=simulation.loads,
        workers=simulation.workers,
        pictures=model.pictures,
    )


def body_states(simulation: Simulation) -> list[BodyStates]:
    """Copies of the states of all bodies."""
    found = []
    for stack in simulation.system.bodies:
        state = stack.state()
        found.append(BodyStates(tuple(stack.names), np.array(state["q"]), np.array(state["v"])))
    return found


def states_of(
    simulation: Simulation,
) -> tuple[list[BodyStates], list[JointStates], list[ForceStates], dict[str, Array]]:
    """Copies of all states; joints are measured first."""
    system = simulation.system
    perform(system.elements, simulation.recorder.program(system))
    places, forces = system.elements.position, system.elements.force
    bodies = body_states(simulation)
    joints = []
    for table in system.joints:
        n = table.count
        joints.append(
            JointStates(
                tuple(table.names), table.form.translations, table.error[:n].copy(), table.rate[:n].copy(),
                table.wrench[:n].copy(), places[table.first[:n]].copy(), places[table.second[:n]].copy(), table.ledger[:n].copy(),
            )
        )  # fmt: skip
    acting = []
    for exerting in system.forces:
        rows = [exerting.row[name] for name in exerting.names]
        homes = [system.force_home[name] for name in exerting.names]
        starts, ends = [home.starts[0] for home in homes], [home.starts[-1] for home in homes]
        acting.append(
            ForceStates(
                tuple(exerting.names),
                forces[starts].copy(),
                places[starts].copy(),
                places[ends].copy(),
                exerting.ledger[rows].copy(),
            )
        )
    return bodies, joints, acting, {name: row.copy() for name, row in system.closed.items()}


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
