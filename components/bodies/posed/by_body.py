"""What stacks share whose bodies answer one by one, by the slopes of their elements (modular/body.py).

Impulses (GivesCompliance), and equations for centralized solvers (GivesEquations). All of it goes by rows, not in the order in
which names came: the last row takes the place of a body that leaves.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from components.bodies.body_stack import BodyStack
from modular.elements import Array, Elements, Indices


class EquationsByBody(BodyStack):
    """Bodies that write their own mass matrices and forces."""

    @abstractmethod
    def element_slopes(self, body: Any, q: Array) -> Callable[[Array], Array]:
        """How elements follow all coordinates where a body stands: (d, k) for the weights of one."""

    def mass(self) -> Array:
        """Mass matrices, (n, k, k)."""
        return np.array([self.bodies[name].mass_matrix(self.q[row]) for row, name in enumerate(self.names)])

    def drive(self) -> Array:
        """What acts where nothing is exerted, (n, k): weight, what is elastic, what velocities ask for."""
        found = [self.bodies[name].drive(self.q[row], self.v[row], self.gravity) for row, name in enumerate(self.names)]
        return np.array(found).reshape(self.count, -1)

    def reach(self) -> tuple[Indices, Indices, Array]:
        """Elements served, the rows of their bodies, and their slopes as the bodies stand, (s, d, k)."""
        served, owners, blocks = [], [], []
        for row, name in enumerate(self.names):
            slopes = self.element_slopes(self.bodies[name], self.q[row])
            for k in range(int(self.numbers[row])):
                served.append(int(self.attached[row, k]))
                owners.append(row)
                blocks.append(slopes(self.weights[row, k]))
        d, size = self.gravity.shape[0], int(np.prod(self.q.shape[1:]))
        return np.array(served, np.int64), np.array(owners, np.int64), np.array(blocks).reshape(-1, d, size)


class ImpulseByBody(EquationsByBody):
    """Bodies with one row of coordinates each, the first of which are the place of the mass centre."""

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
