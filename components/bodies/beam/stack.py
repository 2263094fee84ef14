"""The stack of beams: their slices, what is elastic between them, and what they offer a coupling."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from components.bodies.beam import gluing, kernels
from components.bodies.posed.by_body import EquationsByBody
from components.bodies.posed.stack import TurnedSide
from modular.body import Body
from modular.elements import Array, Elements, Indices
from modular.errors import ModelError
from modular.port import PortName
from modular.side import Mark, Side

if TYPE_CHECKING:
    from components.bodies.beam.description import Beam


# with a row for every node
PER_NODE_COLUMNS = ("q", "v", "a", "trial", "flight", "swing", "found", "right", "outer", "band")


class Beams(EquationsByBody):
    """Beams of one number of nodes; q = (x, y, theta) or (r, p) of each; weights of an element are w0, rho and its node."""

    remembered = ("flight",)
    varying = True  # mass matrices and Jacobians follow the coordinates (modular/body.py: GivesEquations)
    elastic = True  # what its drive holds is stiff: solvers that iterate want to know how it changes
    flight: Array  # the motion in the middle of the last flight, with which the next is sought: kicks throw slices far
    # beside the state, for one step at a time
    trial: Array  # where nodes are while a step is sought
    swing: Array  # how they move there: velocity and spin
    found: Array  # what is sought: accelerations, or motions in the middle of a flight
    right: Array  # right-hand side of a round
    outer: Array  # forces and torques that act on the nodes
    band: Array  # matrix of a round: a block for each node, and one between it and the next
    # of each make
    nodes: Indices  # how many
    spacing: Array  # between two of them [m]
    damping: Array  # eta [s]
    stiffness: Array  # of its pieces: EA, GA, EI, or EA, GA, GA, GJ, EI, EI
    kilograms: Array  # of each node
    inertia: Array  # of each node, about its axes

    def __init__(self, dimension: int, count: int, capacity: int = 4, width: int = 2) -> None:
        coordinates, motions, turning = (3, 3, 1) if dimension == 2 else (7, 6, 3)
        super().__init__((count, coordinates), dimension, 2 + dimension, capacity, width, long=True)
        self.column("trial", count, coordinates, listed=True)
        for name in ("flight", "swing", "found", "right", "outer"):
            self.column(name, count, motions, listed=True)
        self.column("band", count, motions, 2 * motions, listed=True)
        self.common("nodes", dtype=np.int64)
        self.common("spacing")
        self.common("damping")
        self.common("stiffness", motions)
        self.common("kilograms", count, listed=True)
        self.common("inertia", count, turning, listed=True)
        self.take_loops(kernels, gluing)
        self.fold(*self.together[0])

    def recall(self, details: Mapping[str, Any]) -> None:
        """Keep them again; loops count on columns as long as there are nodes."""
        super().recall(details)
        count = self.q.shape[1]
        lengths = {getattr(self, name).shape[1] for name in (*PER_NODE_COLUMNS, "kilograms", "inertia")}
        held = self.weights[..., -1]
        if lengths != {count} or not (np.all(self.nodes <= count) and np.all((held >= 0) & (held < count))):
            raise ModelError("Beams: columns of nodes do not fit each other.")

    @property
    def forward_only(self) -> bool:
        """What is damped does not come back by steps that are negative."""
        return any(body.damping > 0.0 for body in self.bodies.values())

    def start_of(self, body: Beam) -> tuple[Array, Array]:
        """Coordinates and rates of the nodes at the start."""
        return body.start_of_nodes, body.initial_velocity

    def constants_of(self, body: Beam) -> Mapping[str, Any]:
        """What its pieces and its slices are."""
        return {
            "nodes": body.elements + 1, "spacing": body.spacing, "damping": body.damping, "stiffness": body.stiffness_of_pieces,
            "kilograms": body.node_masses, "inertia": body.node_inertia,
        }  # fmt: skip

    def add_many(self, names: Sequence[str], bodies: Sequence[Body]) -> None:
        """Take beams in, in their initial state."""
        super().add_many(names, bodies)
        for name, body in zip(names, cast("Sequence[Beam]", bodies), strict=True):
            row = self.row[name]
            self.flight[row] = body.motion(self.q[row], self.v[row])

    def side(self, name: str, port: PortName) -> Side:
        """A port as a joint sees it now."""
        return BeamSide(self, name, port)

    # --- events ----------------------------------------------------------------------------------------------------

    def element_slopes(self, body: Any, q: Array) -> Callable[[Array], Array]:
        """How elements follow all coordinates where a body stands: those of one node."""

        def follow(weights: Array) -> Array:
            block = np.zeros((len(self.gravity), *q.shape))
            block[:, int(weights[-1])] = body.reach(weights, q)
            return block

        return follow

    def push(self, name: str, impulses: Mapping[int, Array], elements: Elements) -> float:
        """Change the velocity of one body by impulses on elements; the change of kinetic energy [J]."""
        row, body = self.row[name], self.bodies[name]
        q, v, total = self.q[row], self.v[row], np.zeros(self.q.shape[1:])
        for k, element in enumerate(self.attached[row, : int(self.numbers[row])].tolist()):
            impulse = impulses.get(element)
            if impulse is not None:
                node = int(self.weights[row, k, -1])
                total[node] += impulse @ body.reach(self.weights[row, k], q)
        jump = body.answer(q, total)
        work = float(np.sum(total * (v + 0.5 * jump)))
        v += jump
        return work

    def shift(self, name: str, velocity: Array) -> float:
        """Add a velocity to all points of one body, its turning kept; the change of kinetic energy [J]."""
        row, body = self.row[name], self.bodies[name]
        v = self.v[row, :, : len(velocity)]
        work = float(np.sum(body.node_masses[:, None] * velocity * (v + 0.5 * velocity)))
        v += velocity
        return work


class BeamSide(TurnedSide):
    """A port of a beam, or the slice next to a point of it, as it stands now."""

    def __init__(self, stack: Beams, name: str, port: PortName) -> None:
        body: Beam = stack.bodies[name]
        self._node = body.node_of(port.port)
        super().__init__(stack, name, port, np.array([1.0, *np.zeros(len(stack.gravity)), self._node]))
        self._place, self._turn = self.position, body.rotation(self._q[self._node])

    def _mark(self, share: float, arm: Array, value: Array) -> Mark:
        return Mark(np.array([share, *arm, self._node]), np.array(value, float))
