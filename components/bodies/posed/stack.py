"""The stack of bodies that stand at a place, turned by an angle or a quaternion: their state and what they offer a coupling."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from components.bodies.body_stack import BodyStack
from components.bodies.natural.compliance import bound_demands_flat_loop
from components.bodies.posed import gluing, kernels
from components.bodies.posed.by_body import ImpulseByBody
from modular.elements import Array
from modular.naming import Naming
from modular.port import PortName
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
        self.take_loops(kernels, gluing)
        if dimension == 2:
            self.loops["bound_demands"] = bound_demands_flat_loop
        self.fold(*self.together[0])

    def start_of(self, body: NewtonEulerBody) -> tuple[Array, Array]:
        """Coordinates and rates of a body at the start."""
        return body.start, body.initial_velocity

    def constants_of(self, body: NewtonEulerBody) -> Mapping[str, Any]:
        """Its mass and its principal inertia."""
        return {"kilograms": body.mass, "inertia": body.principal_inertia}

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
        return self._mark(1.0, (x - self._place) @ self._turn, x)

    def direction(self, u: Array) -> Mark:
        """The direction along the unit vector `u`, fixed to what has the port."""
        return self._mark(0.0, u @ self._turn, u)

    def _mark(self, share: float, arm: Array, value: Array) -> Mark:
        return Mark(np.array([share, *self.part, *arm]), np.array(value, float))

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
