"""The ghost: the same mechanism solved as a whole, from where it was called on, with the same acts; and how far the two are apart.

It goes in coarser steps, as a solver of the whole can, and stands at an instant of the simulation after each of them, and at every
act. It changes nothing: with or without it the motion is the same, to the last bit.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from coordinator.continuation.reconfigure import with_settings
from coordinator.couplings import Centralized
from coordinator.laboratory.acts import Change, Doing, Drag, Grab, Release, SetCoupling, SetLimit, SetStep
from coordinator.laboratory.hand import Hand
from coordinator.laboratory.history import twin
from coordinator.laboratory.snapshot import BodyStates, Plan, body_states, plan_of
from coordinator.simulation import Simulation
from modular.errors import CouplingError, ModelError
from modular.events import Cut, Event, Join

COMPARISON_SECONDS = 0.01  # seconds between two instants at which the two are compared, about
MAX_DISTANCES = 3000  # distances


class GhostView(NamedTuple):
    """Where the ghost is, and how far it was from the mechanism at its last instants."""

    plan: Plan
    time: float  # [s]
    bodies: Sequence[BodyStates]
    # times [s], and the largest distance between two points that should be one [m]
    distances: Sequence[tuple[float, float]]


class Ghost:
    """Begins where a simulation stands."""

    def __init__(self, simulation: Simulation, solver: Centralized) -> None:
        self.solver = solver
        self.hand = Hand()
        self.distances: deque[tuple[float, float]] = deque(maxlen=MAX_DISTANCES)
        self.stride = 1  # ticks of the simulation in a step of the ghost
        self._revision = 0
        self._begin(simulation)

    def _begin(self, simulation: Simulation) -> None:
        """From here on."""
        fresh = twin(simulation)
        _without_limits(fresh)
        self._heard = len(simulation.past.events)
        self.stride = max(1, round(COMPARISON_SECONDS / simulation.dt))
        self.simulation = with_settings(fresh, coupling=self.solver, dt=self.stride * simulation.dt)
        self._at = _ticks(simulation)
        self._look(simulation)

    @property
    def next_tick(self) -> int:
        """The tick of the simulation at which it wants to be compared next."""
        return int(self._at) + self.stride

    def follow(self, simulation: Simulation) -> None:
        """Go to where the simulation stands, and compare."""
        events = simulation.past.events
        for event in events[self._heard :]:
            if event["kind"] == "break" and event["name"] in self.simulation.assembly.joint_edges:
                self._step_to(event["tick"], simulation)
                Cut(event["name"]).apply(self.simulation)
                self._revision += 1
        self._heard = len(events)
        if _ticks(simulation) <= self._at:
            return
        self._step_to(_ticks(simulation), simulation)
        self._look(simulation)

    def _step_to(self, tick: float, simulation: Simulation) -> None:
        """To a tick of the simulation."""
        ticks = tick - self._at
        if ticks <= 0:
            return
        if ticks != self.stride:
            self.simulation = with_settings(self.simulation, dt=ticks * simulation.dt)
        self.simulation.step()
        if ticks != self.stride:
            self.simulation = with_settings(self.simulation, dt=self.stride * simulation.dt)
        self._at = tick

    def witness(self, act: Doing, simulation: Simulation) -> None:
        """Something was done to the simulation, which it has followed until then."""
        if isinstance(act, SetStep):
            self.stride = max(1, round(COMPARISON_SECONDS / simulation.dt))
            self._at = _ticks(simulation)
            self.simulation = with_settings(self.simulation, dt=self.stride * simulation.dt)
        elif isinstance(act, SetCoupling | SetLimit):
            return  # joints of the ghost are cut where those of the mechanism break
        elif isinstance(act, Event):
            (replace(act, breaks_at=None) if isinstance(act, Join) else act).apply(self.simulation)
        elif isinstance(act, Change):
            self.hand.release(self.simulation)
            self.simulation = act.changed(self.simulation)
        elif isinstance(act, Grab):
            self.hand.grab(self.simulation, act.body, (act.first, act.second), act.share, simulation.dt)
        elif isinstance(act, Drag):
            self.hand.drag(self.simulation, act.target)
        elif isinstance(act, Release):
            self.hand.release(self.simulation)
        else:  # back or forth: it begins anew
            self.distances.clear()
            self._begin(simulation)
        self._revision += 1
        self._look(simulation)

    def _look(self, simulation: Simulation) -> None:
        bodies = body_states(self.simulation)
        self.distances.append((simulation.time, apart(simulation, self.simulation)))
        plan = plan_of(self.simulation, self._revision)
        self.view = GhostView(plan, simulation.time, bodies, tuple(self.distances))


def _ticks(simulation: Simulation) -> float:
    """How far it has come, in ticks of its step; between two of them where that was changed there."""
    return simulation.tick + simulation.local_system.part


def _without_limits(simulation: Simulation) -> None:
    """Nothing breaks: its steps are too coarse to see a blow."""
    for name, edge in simulation.assembly.joint_edges.items():
        if edge.breaks_at is not None:
            simulation.limit(name, None)


def apart(one: Simulation, other: Simulation) -> float:
    """The largest distance between a port of one and the same port of another [m]."""
    largest = 0.0
    for name, body in one.assembly.bodies.items():
        if name not in other.assembly.bodies:
            continue
        states = []
        for simulation in (one, other):
            stack = simulation.system.body_home[name]
            state, row = stack.state(), stack.row[name]
            states.append((state["q"][row], state["v"][row]))
        for port in body.port_names:
            here, there = (body.port_motion(port, q, v, v)[0] for q, v in states)
            largest = max(largest, float(np.linalg.norm(here - there)))
    return largest


def why_no_ghost(error: Exception) -> str:
    """Why the ghost has gone."""
    reason = str(error) if isinstance(error, ModelError | CouplingError | ArithmeticError) else repr(error)
    return f"the reference solution cannot follow: {reason}"
