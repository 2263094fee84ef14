"""What forces on one point share, where they push back alike in all directions: what they ask of the step, and their ledgers."""

from __future__ import annotations

import numpy as np

from modular.demand_sharing import growth
from modular.elements import Array
from modular.forces import ForceStack
from modular.kernel import kernel
from modular.ledger import supply_loop
from modular.loop import NO_FAILED_ROW, Loop, loop
from modular.views import View


class IsotropicForces(ForceStack):
    """Forces on one point each; a subclass says by its loops how they pull and what they ask.

    What their ledger says they did to their side comes from outside.
    """

    spring: Array  # dt^2 k and 4 dt c, as last asked
    damper: Array
    margin: Array

    def __init__(self, dimension: int, exert: Loop, request_demand: Loop) -> None:
        super().__init__(1, 0, dimension)
        for name in ("spring", "damper", "margin"):
            self.column(name)
        self.loops = {
            "exert": exert,
            "account": supply_loop,
            "request_demand": request_demand,
            "compute_margin": compute_margin_loop,
        }

    def requested_demand(self) -> tuple[Array, Array]:
        """dt^2 K and 4 dt C per force, as last asked, (n, d, d)."""
        n, one = self.count, np.eye(self.first_side.shape[1])
        return self.spring[:n, None, None] * one, self.damper[:n, None, None] * one


@kernel
def isotropic_demand(asked: float, response: Array, demand: Array) -> None:
    """E = asked B^T B: there is no other side to share it with. `asked` is dt^2 k + 4 dt c."""
    for p in range(demand.shape[0]):
        for q in range(demand.shape[1]):
            value = 0.0
            for c in range(response.shape[0]):
                value += response[c, p] * response[c, q]
            demand[p, q] = asked * value


@loop
def compute_margin_loop(start: int, stop: int, forces: View, elements: View) -> int:
    """The factor by which the step could grow before the body's answer reaches its limit."""
    for n in range(start, stop):
        forces.margin[n] = growth(forces.spring[n], forces.damper[n], elements.bound[forces.first[n]])
    return NO_FAILED_ROW
