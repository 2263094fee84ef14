"""What couplings have in common that take all components at once: equations of the whole, and reactions that are shown.

Works of forces and joints within a tick, where a solver is of higher order than sums over ends of ticks.

These are of second order, and what they leave open would look like energy that a motion lost which is right to rounding. Here the
motion is interpolated by a polynomial of degree five through places, velocities and accelerations at both ends; powers are
evaluated at the three points of Gauss, accelerations and reactions found anew there.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from coordinator.couplings.centralized.equations import Equations
from coordinator.couplings.centralized.solver import State, settled
from coordinator.couplings.coupling import Coupling, require
from coordinator.system import System
from modular.body import GivesEquations
from modular.elements import Array
from modular.errors import CouplingError
from modular.force import Decides
from modular.kernel import kernel
from modular.ledger import DISSIPATED, IMPACT, LEAKED, SUPPLIED, WORK_FIRST, WORK_SECOND, close, supply_loop
from modular.names import first_few
from modular.one_thread import on_one_thread

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


REST_SPEED_TOLERANCE = 1e-9  # of the largest velocity: what joints may find moving against them after an event


class Whole(Coupling):
    """One that treats all components together, without springs in joints."""

    def equations_of(self, system: System, *, scaled: bool = True) -> Equations:
        """Those of the system as it stands; refused by name where a component has none. `scaled`: with scales of their rows."""
        own = type(self).__name__
        require(system, GivesEquations, own, "write down their equations", "Penalty() can treat them")
        forward = [name for stack in system.forces if getattr(stack, "forward_only", False) for name in stack.names]
        if forward:
            if system.parted is not None:  # of copies side by side one for all
                forward = list(dict.fromkeys(system.parted(name)[0] for name in forward))
            raise CouplingError(
                f"{own}: {first_few(forward)} can only step forward, but solvers iterate on the state; take "
                "Penalty(), Glued() or Relaxed()."
            )
        system.show()
        return Equations(system, scaled=scaled)

    def rest_of(self, system: System, equations: Equations, time: float, q: Array, v: Array) -> State:
        """Accelerations and reactions of a state that obeys its constraints."""
        return settled(equations, time, q, v)

    @on_one_thread
    def settle(self, system: System, dt: float, touched: Iterable[str]) -> None:
        """Consistent velocities, accelerations and reactions at the unchanged place."""
        equations: Equations = system.cache["equations"]
        q, v = equations.read()
        equations.at(system.time(dt))
        equations.go(q, v)
        v = self.consistent(system, equations, q, v)
        state = self.rest_of(system, equations, system.time(dt), q, v)
        system.memory = {"a": state.a, "multipliers": state.multipliers}
        self.show(system, equations, state, system.time(dt))
        elements = system.elements
        elements.force_before[:] = elements.force
        elements.velocity_before[:] = elements.velocity
        for stack in system.booked:
            stack.open_ledgers()

    def consistent(self, system: System, equations: Equations, q: Array, v: Array) -> Array:
        """Velocities that obey all joints: as they are, or after one impulse where something moves against them."""
        limit = REST_SPEED_TOLERANCE * max(1.0, float(np.abs(v).max(initial=0.0)))
        if float(np.abs(equations.rates()).max(initial=0.0)) > limit:
            return self._stop(system, equations, q, v)
        return v

    def _stop(self, system: System, equations: Equations, q: Array, v: Array) -> Array:
        """One impulse of all joints together stops what moves against them; each books what it takes as an impact."""
        elements = system.elements
        change, impulses = equations.saddle(equations.mass, equations.jacobian()).solve(
            np.zeros(equations.size), -equations.rates()
        )
        elements.velocity_before[:] = elements.velocity
        equations.go(q, v + change)
        equations.exert_joints(impulses)
        elements.force_before[:] = elements.force
        for joints in equations.joints:
            left = joints.ledger[: joints.count, LEAKED].copy()
            joints.drawn[:, 1:] = joints.drawn[:, :1]
            joints.account(elements, 1.0)
            joints.ledger[: joints.count, IMPACT] += joints.ledger[: joints.count, LEAKED] - left
            joints.ledger[: joints.count, LEAKED] = left
        return np.asarray(v + change)

    def show(self, system: System, equations: Equations, state: State, time: float) -> None:
        """Write a state to the bodies and let joints and forces act as they do in it."""
        equations.at(time)
        equations.go(state.q, state.v)
        equations.write(a=state.a)
        for joints in system.joints:
            joints.measure(system.elements)
        for forces in system.forces:
            forces.exert(system.elements, time)
        equations.exert_joints(state.multipliers)

    def sets_aside(self, system: System, body: str) -> str | None:
        """Nobody steps by himself."""
        return "one solver steps all bodies"

    def reason(self, system: System, name: str) -> str | None:
        """What the solver said."""
        said: str | None = system.cache.get("reason")
        return said

    def cure(self, system: System, dt: float) -> tuple[str, float | None]:
        """What the solver said would help; otherwise as ever."""
        sentence, step = system.cache.get("cure", (None, None))
        return self.remedy(1.0, dt) if sentence is None else (sentence, step)

    def margins(self, system: System, dt: float, touched: list[str] | None = None) -> dict[str, float]:
        """It has no limit that hangs on the stiffness of joints."""
        return {}


def swiftest(equations: Equations, v: Array) -> str:
    """The body with the largest velocity: where to look first."""
    return max(equations.columns, key=lambda name: float(np.abs(v[equations.columns[name]]).max(initial=0.0)))
