"""Bodies that pass loads on though little resists their turning: what springs at their joints cannot hold in step.

A force F at an arm r, with a moment M, changes its moment about the mass centre by up to (F r + M) theta as the body turns by
theta. That is a stiffness of which no rule knows, since it hangs on the load; it asks dt^2 (F r + M) / I of the step, beside what
joints ask (modular/demands.py), and of what all ask together the step bears four. A body at one joint alone is not concerned: what
that joint bears turns with it.

Loads grow as a mechanism swings, so they may ask for half of what joints leave. Of 1 000 random mechanisms nine had less to spare
at the start and diverged though the whole was not spent; of the 31 that ran with so little the verdict has told each time.

Bodies do not tell I. They answer a force at a point with 1/m + r^2 / I in the direction in which they answer most.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from modular.body import GivesCompliance
from modular.elements import ASKED, Array
from modular.errors import ModelError

if TYPE_CHECKING:
    from coordinator.simulation import Simulation
    from coordinator.system import System

LIMIT = 4.0  # of all demands on a body
HELD_BACK = 2.0  # times what loads ask, since they grow as a mechanism swings
SIDES = 64  # sides of joints with the largest loads, on whose bodies one looks
RISING = 0.7  # of the step that would just do: the same once more
BEFORE = 20  # ticks at the end of a run that went wrong, of which loads are no loads any more


@dataclass(frozen=True)
class Carrier:
    """A body and the joints through which loads pass, each with r / I [1/(kg m)] and 1 / I [1/(kg m^2)]."""

    body: str
    levers: Mapping[str, tuple[float, float]]
    room: float  # what its joints leave of the limit

    def margin(self, loads: Mapping[str, tuple[float, float]], dt: float) -> float:
        """By how much the step could grow under these forces [N] and moments [N m] twice over; infinite where there are none."""
        pairs = ((loads[joint], lever) for joint, lever in self.levers.items())
        demand = HELD_BACK * dt**2 * sum(force * over + moment * one for (force, moment), (over, one) in pairs)
        return float(np.sqrt(self.room / demand)) if demand > 0.0 else float("inf")


def carriers(simulation: Simulation) -> list[Carrier]:
    """Bodies that pass on the largest loads by springs alone, as they stand now."""
    system, margins = simulation.lent_system, simulation.margins
    elements = system.elements
    stacks = [joints for joints in system.joints if joints.form.translations]
    if not any(name in margins for joints in stacks for name in joints.names):
        return []  # none is a spring
    if not all(isinstance(stack, GivesCompliance) for stack in system.bodies):
        return []
    folded, kept = not len(elements.load), elements.response.copy()
    try:
        system.respond()
        starts = [np.stack([joints.first[: joints.count], joints.second[: joints.count]], axis=1) for joints in stacks]
        rows = np.concatenate(starts)
        force = np.linalg.norm(elements.force[rows], axis=-1)
        answer = np.square(elements.response[rows]).sum(axis=(-2, -1))
        names = [name for joints in stacks for name in joints.names]
        chosen = np.argsort(-(force * answer).ravel(), kind="stable")[:SIDES].tolist()
        bodies = dict.fromkeys(system.joint_home[names[k // 2]].owners[k % 2] for k in chosen)
        found = [_carrier(system, margins, body) for body in bodies if body in system.body_home]
    finally:
        if folded:
            elements.fold(*ASKED)
        else:
            elements.response[:] = kept
    return [carrier for carrier in found if carrier is not None]


def _carrier(system: System, margins: Mapping[str, float], body: str) -> Carrier | None:
    homes = [system.joint_home[name] for name in dict.fromkeys(system.uses[body]) if name in system.joint_home]
    sides = [(home, side) for home in homes for side, owner in enumerate(home.owners) if owner == body]
    if len(sides) < 2 or any(home.name not in margins for home in homes):  # others hold it
        return None
    described, stack = system.described[body], system.body_home[body]
    try:
        centre = described.mass_centre(stack.state()["q"][stack.row[body]])
    except ModelError:  # nobody can be asked
        return None
    over: dict[str, float] = {}  # r / I of each joint
    easiest = 0.0  # 1 / I
    for home, side in sides:
        if home.stack.form.translations:
            row = home.starts[side]
            response = system.elements.response[row]
            arm = float(np.linalg.norm(system.elements.position[row] - centre))
            turning = max(_largest(response) - 1.0 / described.total_mass, 0.0)
            over[home.name] = over.get(home.name, 0.0) + (turning / arm if arm > 0.0 else 0.0)
            easiest = max(easiest, turning / arm**2 if arm > 0.0 else 0.0)
    room = LIMIT * (1.0 - min(min(margins[home.name] for home in homes), 1e9) ** -2)
    return Carrier(body, {name: (lever, easiest) for name, lever in over.items()}, room) if room > 0.0 else None


def _largest(response: Array) -> float:
    """Eigenvalue of B B^T; none of numbers that have left the world, which say so themselves."""
    with np.errstate(all="ignore"):
        square = response @ response.T
    try:
        return float(np.linalg.eigvalsh(square)[-1]) if np.isfinite(square).all() else 0.0
    except np.linalg.LinAlgError:
        return 0.0


def overloaded(simulation: Simulation) -> tuple[str, float] | None:
    """The body on which the loads of now ask more than the step bears, and its margin."""
    if simulation.company is not None:  # loads are with those who move the bodies
        return None
    system = simulation.lent_system
    simulation.past.carriers = carriers(simulation)
    d, loads = system.elements.dimension, {}
    for name in {joint for carrier in simulation.past.carriers for joint in carrier.levers}:
        home = system.joint_home[name]
        wrench = home.stack.wrench[home.stack.row[name]]
        loads[name] = float(np.linalg.norm(wrench[:d])), float(np.linalg.norm(wrench[d:]))
    return _worst(simulation.past.carriers, loads, simulation.dt)


def overloaded_on_the_way(simulation: Simulation) -> tuple[str, float] | None:
    """The same of the largest loads that were recorded before a run went wrong."""
    run = simulation.recorded
    names = {joint for carrier in simulation.past.carriers for joint in carrier.levers} & set(run.joints)
    loads = {}
    sound = max(1, int(np.searchsorted(run.ticks, simulation.tick - BEFORE)))
    for name in names:
        wrench, d = run.reaction(name)[:sound], simulation.assembly.dimension
        force, moment = (np.linalg.norm(part, axis=-1) for part in (wrench[:, :d], wrench[:, d:]))
        loads[name] = float(np.nanmax(force, initial=0.0)), float(np.nanmax(moment, initial=0.0))
    known = [carrier for carrier in simulation.past.carriers if set(carrier.levers) <= names]
    return _worst(known, loads, simulation.dt)


def _worst(known: list[Carrier], loads: Mapping[str, tuple[float, float]], dt: float) -> tuple[str, float] | None:
    margins = {carrier.body: carrier.margin(loads, dt) for carrier in known}
    body = min(margins, key=lambda name: margins[name], default="")
    return (body, margins[body]) if body and margins[body] < 1.0 else None


def remedy(body: str, margin: float, dt: float) -> tuple[str, float]:
    """What helps, and a step [s]."""
    step = RISING * margin * dt
    return (
        f"'{body}' has little inertia against the loads that it passes on, which springs cannot hold at this step: take "
        f"dt = {step:.2g} s, or joints without springs, as Glued() or Centralized(HHT())",
        step,
    )
