"""A centralized solver that runs code generated from the formulas of the system: one more reference.

Accelerations come from source code (source.py) that was eliminated symbol by symbol, gammas from derivatives of expressions; what
it shares with other solvers is what components write of themselves. After every tick places and velocities are put back on the
constraints.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np

from coordinator.couplings.centralized.equations import Equations
from coordinator.couplings.centralized.explicit import Explicit, check_method, integrate
from coordinator.couplings.centralized.solver import NoSolution, State, finite
from coordinator.equations import need_sympy
from modular.elements import Array
from modular.errors import ModelError

if TYPE_CHECKING:
    from coordinator.equations.right_hand_side import RightHandSide

_written: WeakKeyDictionary[Equations, RightHandSide] = WeakKeyDictionary()


@dataclass(frozen=True)
class Generated(Explicit):
    """method: RK4 with the tick as its step, or a method of scipy. Needs the extra `symbolic`."""

    method: str = "DOP853"
    rtol: float = 1e-11
    atol: float = 1e-12

    def __post_init__(self) -> None:
        super().__post_init__()
        check_method("Generated", self.method, self.rtol, self.atol)

    def refuses(self, equations: Equations) -> str | None:
        """What has no formula."""
        try:
            self._function(equations)
        except ModelError as error:
            return f"Generated: {error}"
        return None

    def advance(self, equations: Equations, state: State, time: float, h: float, memory: dict[str, Any]) -> State:
        """Integrate over one tick, and put the end back on the constraints."""
        code, n, m = self._function(equations), equations.size, equations.rows
        function, p = code.function, code.parameters()
        guards = len(code.solved.guards)

        def solve(t: float, q: Array, v: Array) -> tuple[Array, Array]:
            out = np.empty(n + m + guards)
            function(t, q, v, p, code.courses(t), out)
            finite(out)
            owner = code.solved.trouble(out[n + m :], float(np.abs(out[:n]).max(initial=0.0)))
            if owner is not None:
                raise NoSolution(
                    f"the rows of '{owner}' depend on others in another way than where the code was generated, or its numbers "
                    "run away",
                    remedy="take a shorter step, or another solver, such as HHT() or MinimalCoordinates()",
                )
            return out[:n], out[n : n + m]

        def rates(t: float, y: Array) -> Array:
            return np.concatenate([y[n:], solve(t, np.ascontiguousarray(y[:n]), np.ascontiguousarray(y[n:]))[0]])

        corners = equations.corners(time, time + h)
        end = integrate(
            rates, time, np.concatenate([state.q, state.v]), h, self.method, self.rtol, self.atol, memory, corners
        )
        equations.at(time + h)
        q = equations.project_position(end[:n], end[n:])
        v = equations.project_velocity(q, end[n:])
        a, multipliers = solve(time + h, q, v)
        if code.solved.dependent:  # then multipliers are not unique: the smallest, as of all other solvers
            _, multipliers = equations.accelerate(time + h, q, v)
        return State(q, v, a, multipliers)

    def _function(self, equations: Equations) -> RightHandSide:
        """The code of a system as it is now; a change of the model gives it other equations, and other code."""
        if equations not in _written:
            need_sympy("its code from formulas")
            from coordinator.equations.right_hand_side import RightHandSide
            from coordinator.equations.writing import write_system

            _written[equations] = RightHandSide(write_system(equations.system))
        return _written[equations]
