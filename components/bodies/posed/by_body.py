"""What stacks share whose bodies answer one by one, by the slopes of their elements (modular/body.py).

How bodies come in, impulses (GivesCompliance), and equations for centralized solvers (GivesEquations). All of it goes by rows, not
in the order in which names came: the last row takes the place of a body that leaves.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

from components.bodies.body_stack import BodyStack
from components.bodies.loops.trial_step import TRIAL_STEP
from components.bodies.natural.compliance import bound_demands_loop
from modular.body import Body
from modular.elements import Array, Elements, Indices
from modular.loop import loops_of
from modular.shared_constants import group_equal


class EquationsByBody(BodyStack):
    """Bodies that write their own mass matrices and forces."""

    def take_loops(self, *modules: Any) -> None:
        """The loops of a kind, and those that all share; what holds a quaternion at length 1 answers no force."""
        self.loops = TRIAL_STEP | loops_of(*modules)
        self.loops |= {"respond_freely": self.loops["respond"], "bound_demands": bound_demands_loop}

    @abstractmethod
    def start_of(self, body: Any) -> tuple[Array, Array]:
        """Coordinates and rates of a body at the start."""

    @abstractmethod
    def constants_of(self, body: Any) -> Mapping[str, Any]:
        """What a body has in common with those of its make, column by column."""

    def add_many(self, names: Sequence[str], bodies: Sequence[Body]) -> None:
        """Take bodies in, in their initial state."""
        members: list[Any] = list(bodies)
        super().add_many(names, bodies)
        rows = self.add_rows(names)
        starts = [self.start_of(body) for body in members]
        self.q[rows], self.v[rows] = [q for q, _ in starts], [v for _, v in starts]
        constants = [self.constants_of(body) for body in members]
        firsts, which = group_equal([tuple(np.asarray(x).tobytes() for x in each.values()) for each in constants])
        makes = self.add_shared_rows(np.bincount(which))
        self.make[rows] = makes[which]
        first_of_each = [constants[k] for k in firsts]
        for name in first_of_each[0] if first_of_each else ():
            column = getattr(self, name)
            column[makes] = np.reshape([each[name] for each in first_of_each], (len(makes), *column.shape[1:]))

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

    def closure(self) -> tuple[Array, Array, Array]:
        """The lengths of quaternions: errors, rates and Jacobians; nothing in the plane."""
        places = [self.bodies[name].quaternions for name in self.names]
        shape = self.count, len(places[0]) if places else 0
        error, rate, jacobian = np.zeros(shape), np.zeros(shape), np.zeros((*shape, prod(self.q.shape[1:])))
        for row, own in enumerate(places):
            q, v = self.q[row].ravel(), self.v[row].ravel()
            for m, place in enumerate(own):
                p = q[place]
                error[row, m], rate[row, m] = 0.5 * (p @ p - 1.0), p @ v[place]
                jacobian[row, m, place] = p
        return error, rate, jacobian

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
