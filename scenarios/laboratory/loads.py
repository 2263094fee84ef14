"""What forces on one port did, worked out from where bodies were: samples hold their ledgers alone, and pictures show arrows."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from coordinator.system import System
from modular.assembly import ForceEdge
from modular.body import Body
from modular.elements import TIME, Array
from modular.force import Decides, TakesAim

States = Mapping[str, tuple[Array, Array]]  # coordinates and velocities of bodies, by name


class Loads:
    """Forces on one port of some bodies; those that remember what was before are left out, and those that have no answer."""

    def __init__(
        self, gravity: tuple[float, ...], bodies: Mapping[str, Body], edges: Mapping[str, ForceEdge], states: States
    ) -> None:
        acting = {name: edge for name, edge in edges.items() if edge.force.sides == 1}
        self.bodies = list(dict.fromkeys(edge.ports[0].body for edge in acting.values()))
        self.system = System(np.array(gravity), bodies)
        self.names: list[str] = []
        try:
            for name in self.bodies:
                self.system.add_body(name, bodies[name])
            self._stand(states)
            for name, edge in acting.items():
                self.system.add_force(name, edge)
                if isinstance(self.system.force_home[name].stack, TakesAim | Decides):
                    self.system.take_back_force(name)
                else:
                    self.names.append(name)
        except Exception:  # somebody's body that lives elsewhere, or a law that has no answer here
            self.names = []

    def at(self, states: States, time: float) -> dict[str, Array]:
        """Forces on their ports [N], (d,) by name."""
        if not self.names:
            return {}
        elements = self.system.elements
        try:
            elements.clock[TIME] = time
            self._stand(states)
            elements.current_velocity[:] = elements.velocity
            elements.force[:] = 0.0
            for stack in self.system.forces:
                stack.exert(elements, time)
        except Exception:  # a law that has no answer
            return {}
        return {name: elements.force[self.system.force_home[name].starts[0]].copy() for name in self.names}

    def _stand(self, states: States) -> None:
        for name in self.bodies:
            stack = self.system.body_home[name]
            state, row = stack.state(), stack.row[name]
            state["q"][row], state["v"][row] = states[name]
        self.system.show()
