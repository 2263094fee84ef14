"""Works of forces and joints within a tick, where a solver is of higher order than sums over ends of ticks.

These are of second order, and what they leave open would look like energy that a motion lost which is right to rounding. Here the
motion is interpolated by a polynomial of degree five through places, velocities and accelerations at both ends; powers are
evaluated at the three points of Gauss, accelerations and reactions found anew there.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from coordinator.couplings.centralized.equations import Equations
from coordinator.couplings.centralized.solver import State, settled
from coordinator.system import System
from modular.elements import Array
from modular.force import Decides
from modular.kernel import kernel
from modular.ledger import DISSIPATED, SUPPLIED, WORK_FIRST, WORK_SECOND, close, supply_loop

INTEGRATED = (WORK_FIRST, WORK_SECOND, DISSIPATED, SUPPLIED)
POINTS = 0.5 + np.sqrt(0.15) * np.array([-1.0, 0.0, 1.0])
WEIGHTS = np.array([5.0, 8.0, 5.0]) / 18.0
DECIDING = ("forward_only", "begins_and_ends", "slips")  # marks of forces that cannot be asked about what is over


def worth_while(system: System) -> bool:
    """Whether there is what does work of its own, and all of it can be asked again."""
    driven = any(joints.form.drives for joints in system.joints)
    asked = not any(
        isinstance(forces, Decides) or any(getattr(forces, mark, False) for mark in DECIDING)
        for forces in system.forces
    )
    return (driven or any(True for _ in system.forces)) and asked


def integrated(system: System, equations: Equations, before: State, after: State, time: float, h: float) -> list[Array]:
    """What each row of every ledger did in a tick, by `INTEGRATED`, stack by stack; leaves the system within the tick."""
    total = [np.zeros((stack.count, len(INTEGRATED))) for stack in system.booked]
    for s, weight in zip(POINTS, WEIGHTS, strict=True):
        q, v = between(before, after, h, float(s))
        state = settled(equations, time + s * h, q, v)
        equations.at(time + s * h)
        equations.go(q, v)
        for joints in system.joints:
            joints.measure(system.elements)
        for forces in system.forces:
            forces.exert(system.elements, time + s * h)
        equations.exert_joints(state.multipliers)
        for stack, done in zip(system.booked, total, strict=True):
            done += weight * h * _powers(system, stack)
    return total


def between(before: State, after: State, h: float, s: float) -> tuple[Array, Array]:
    """Place and velocity so far within a tick."""
    a, b, c = before.q, h * before.v, 0.5 * h**2 * before.a
    gap, pace, bend = after.q - a - b - c, h * after.v - b - 2.0 * c, h**2 * after.a - 2.0 * c
    d = 10.0 * gap - 4.0 * pace + 0.5 * bend
    e = -15.0 * gap + 7.0 * pace - bend
    f = 6.0 * gap - 3.0 * pace + 0.5 * bend
    place = a + s * (b + s * (c + s * (d + s * (e + s * f))))
    return place, (b + s * (2.0 * c + s * (3.0 * d + s * (4.0 * e + s * 5.0 * f)))) / h


def _powers(system: System, stack: Any) -> Array:
    """As all stands now [W]."""
    elements, n = system.elements, stack.count
    found = np.zeros((n, len(INTEGRATED)))
    for line, first, side in ((0, stack.first, stack.first_side), (1, stack.second, stack.second_side)):
        for k in range(len(side)):
            at = first[:n] + k
            found[:, line] += np.einsum("nc,nc->n", elements.force[at], elements.velocity[at])
    found[:, 2] = stack.power[:n]
    if stack.drawn.shape[1]:
        found[:, 3] = stack.drawn[:n, 0]
    return found


def account(stack: Any, elements: Any, h: float, done: Array) -> None:
    """Book a tick as ever, then works as they were integrated."""
    before = stack.ledger[: stack.count].copy()
    stack.account(elements, h)
    enter(before, done, 1 if stack.loops.get("account") is supply_loop else 0, stack.ledger[: stack.count])


@kernel
def enter(before: Array, done: Array, supplied: int, ledger: Array) -> None:
    """Works as they were integrated; what loads do they bring along."""
    for n in range(ledger.shape[0]):
        for i, line in enumerate(INTEGRATED):
            ledger[n, line] = before[n, line] + done[n, i]
        if supplied:
            ledger[n, SUPPLIED] = before[n, SUPPLIED] - done[n, 0]
        close(ledger[n])
