"""The stack of bodies that stand at a place, turned by an angle or a quaternion: their state and what they offer a coupling."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from components.bodies.body_stack import BodyStack
from components.bodies.natural.compliance import bound_demands_flat_loop, bound_demands_loop
from components.bodies.posed import gluing, kernels
from components.bodies.posed.by_body import ImpulseByBody
from components.bodies.trial_step import TRIAL_STEP
from modular.body import Body
from modular.elements import Array
from modular.loop import loops_of
from modular.naming import Naming
from modular.port import PortName
from modular.shared_constants import group_equal
from modular.side import Mark, Side

if TYPE_CHECKING:
    from components.bodies.posed.description import PosedBody
    from components.bodies.posed.newton_euler import NewtonEulerBody


class PosedBodies(ImpulseByBody):
    """Bodies at q = (r, theta) or (r, p), (n, 3) or (n, 7); weights of an element are w0 and rho (posed/kernels.py)."""

    varying = True  # mass matrices and Jacobians follow the coordinates (modular/body.py: GivesEquations)
    in_steps = "components.bodies.posed.steps"
    # of each make
    kilograms: Array  # (n,)
    inertia: Array  # about the principal axes, or about the one axis of the plane [kg m^2], (n, 3) or (n, 1)

    def __init__(self, dimension: int, capacity: int = 4, width: int = 2) -> None:
        coordinates, turning = (3, 1) if dimension == 2 else (7, 3)
        super().__init__((coordinates,), dimension, 1 + dimension, capacity, width)
        self.common("kilograms")
        self.common("inertia", turning)
        self.loops = TRIAL_STEP | loops_of(kernels, gluing)
        self.loops["respond_freely"] = gluing.respond_loop
        self.loops["bound_demands"] = bound_demands_flat_loop if dimension == 2 else bound_demands_loop
        self.fold(*self.together[0])

    def add_many(self, names: Sequence[str], bodies: Sequence[Body]) -> None:
        """Take bodies in, in their initial state."""
        members = cast("list[NewtonEulerBody]", list(bodies))
        super().add_many(names, bodies)
        rows = self.add_rows(names)
        self.q[rows] = [body.start for body in members]
        self.v[rows] = [body.initial_velocity for body in members]
        firsts, which = group_equal([(body.mass, body.principal_inertia.tobytes()) for body in members])
        makes = self.add_shared_rows(np.bincount(which))
        self.make[rows] = makes[which]
        self.kilograms[makes] = [members[k].mass for k in firsts]
        self.inertia[makes] = [members[k].principal_inertia for k in firsts]

    def side(self, name: str, port: PortName) -> Side:
        """A port as a joint sees it now."""
        return PosedSide(self, name, port)

    # --- events ----------------------------------------------------------------------------------------------------

    def element_slopes(self, body: Any, q: Array) -> Callable[[Array], Array]:
        """How elements follow all coordinates where a body stands."""
        return partial(body.reach, slopes=body.slopes(q))

    # --- equations -------------------------------------------------------------------------------------------------

    def coordinate_names(self) -> list[str]:
        """Place and angle, or place and quaternion."""
        return ["x", "y", "theta"] if len(self.gravity) == 2 else ["x", "y", "z", "p_0", "p_1", "p_2", "p_3"]

    def named_numbers(self, name: str, symbol: Naming) -> tuple[dict[str, Any], dict[str, Any]]:
        """Nothing in rows; its mass and principal inertia as the description has them."""
        body = self.bodies[name]
        labels = ["inertia"] if len(self.gravity) == 2 else ["inertia_1", "inertia_2", "inertia_3"]
        inertia = [symbol(label, value) for label, value in zip(labels, body.principal_inertia, strict=True)]
        return {}, {"mass": symbol("mass", body.mass), "principal_inertia": np.array(inertia, object)}

    def closure(self) -> tuple[Array, Array, Array]:
        """The quaternion's length: error, rate and Jacobian; nothing in the plane."""
        n, k = self.count, self.q.shape[1]
        q, v = self.q[:n], self.v[:n]
        if k == 3:
            return np.zeros((n, 0)), np.zeros((n, 0)), np.zeros((n, 0, k))
        p = q[:, 3:]
        jacobian = np.zeros((n, 1, k))
        jacobian[:, 0, 3:] = p
        return (0.5 * (np.sum(p * p, 1) - 1.0))[:, None], np.sum(p * v[:, 3:], 1)[:, None], jacobian


class TurnedSide(Side):
    """A port of a body that turns, as it stands now.

    A mark is a share of the place, the number of the part that has the port, where there are several, and an arm in it.
    """

    part: tuple[float, ...] = ()
    _frame: Array
    _place: Array
    _turn: Array  # its axes as columns

    def __init__(self, stack: BodyStack, name: str, port: PortName, weights: Array) -> None:
        row = stack.row[name]
        body = stack.bodies[name]
        self.owner, self.name = name, str(port)
        self._weights, self._q = weights, stack.q[row].copy()
        q, v, a = self._q, stack.v[row], stack.a[row]
        self.position, self.velocity, self.acceleration = body.port_motion(port.port, q, v, a)
        self._frame = body.port_axes(port.port, q)

    @property
    def frame(self) -> Array:
        """Axes of the port as rows, turned with what has it."""
        return self._frame

    def point(self, x: Array) -> Mark:
        """The material point that stands at `x`, of what has the port."""
        if x is self.position or np.array_equal(x, self.position):
            return Mark(self._weights, np.array(x, float))  # the port itself, to the last bit
        return Mark(np.array([1.0, *self.part, *((x - self._place) @ self._turn)]), np.array(x, float))

    def direction(self, u: Array) -> Mark:
        """The direction along the unit vector `u`, fixed to what has the port."""
        return Mark(np.array([0.0, *self.part, *(u @ self._turn)]), np.array(u, float))

    @property
    def directions(self) -> Array:
        """All of them."""
        return np.eye(len(self.position))


class PosedSide(TurnedSide):
    """A port of such a body."""

    def __init__(self, stack: BodyStack, name: str, port: PortName) -> None:
        body: PosedBody = stack.bodies[name]
        super().__init__(stack, name, port, body.port_weights[port.port])
        self._place, self._turn = self._q[: len(self.position)], body.rotation(self._q)
