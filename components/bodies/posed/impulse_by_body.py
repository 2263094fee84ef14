"""What stacks share whose bodies answer impulses one by one, by the slopes of their elements (modular/body.py: GivesCompliance)."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from components.bodies.body_stack import BodyStack
from modular.elements import Array, Elements


class ImpulseByBody(BodyStack):
    """Bodies with one row of coordinates each, the first of which are the place of the mass centre."""

    @abstractmethod
    def element_slopes(self, body: Any, q: Array) -> Callable[[Array], Array]:
        """How elements follow all coordinates where a body stands: (d, k) for the weights of one."""

    def answer(self, body: Any, q: Array, push: Array) -> Array:
        """Jump of the rates under impulses on the coordinates."""
        found: Array = body.answer(q, push)
        return found

    def push(self, name: str, impulses: Mapping[int, Array], elements: Elements) -> float:
        """Change the velocity of one body by impulses on elements; the change of kinetic energy [J]."""
        row, body = self.row[name], self.bodies[name]
        q, v, total = self.q[row], self.v[row], np.zeros(self.q.shape[1])
        reach = self.element_slopes(body, q)
        for k, element in enumerate(self.attached[row, : int(self.numbers[row])].tolist()):
            impulse = impulses.get(element)
            if impulse is not None:
                total += impulse @ reach(self.weights[row, k])
        jump = self.answer(body, q, total)
        work = float(total @ (v + 0.5 * jump))
        v += jump
        return work

    def shift(self, name: str, velocity: Array) -> float:
        """Add a velocity to all points of one body, its turning kept; the change of kinetic energy [J]."""
        v = self.v[self.row[name], : len(velocity)]
        work = float(self.bodies[name].total_mass * velocity @ (v + 0.5 * velocity))
        v += velocity
        return work
