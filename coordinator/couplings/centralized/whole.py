"""What couplings have in common that take all components at once: equations of the whole, and reactions that are shown."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from coordinator.couplings.centralized.equations import Equations
from coordinator.couplings.centralized.solver import State, settled
from coordinator.couplings.coupling import Coupling, require
from coordinator.system import System
from modular.body import GivesEquations
from modular.elements import Array
from modular.errors import CouplingError
from modular.ledger import IMPACT, LEAKED
from modular.names import first_few
from modular.one_thread import on_one_thread

REST_SPEED_TOLERANCE = 1e-9  # of the largest velocity: what joints may find moving against them after an event


class Whole(Coupling):
    """One that treats all components together, without springs in joints."""

    def equations_of(self, system: System) -> Equations:
        """Those of the system as it stands; refused by name where a component has none."""
        own = type(self).__name__
        require(system, GivesEquations, own, "write down their equations", "Penalty() can treat them")
        forward = [name for stack in system.forces if getattr(stack, "forward_only", False) for name in stack.names]
        if forward:
            raise CouplingError(
                f"{own}: {first_few(forward)} can only step forward, but solvers iterate on the state; take "
                "Penalty(), Glued() or Relaxed()."
            )
        system.show()
        return Equations(system)

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
            stack.open_books()

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
