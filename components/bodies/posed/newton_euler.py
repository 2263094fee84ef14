"""A rigid body described by its place and its turning: (x, y, theta) in the plane, a point and a quaternion in space."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from components.bodies.identity_cache import cached_by_identity
from components.bodies.natural.mass_moments import ZERO_MOMENT_TOLERANCE
from components.bodies.natural.rigid_data import check_rigid, named_ports, tensor_of
from components.bodies.posed.description import PosedBody
from components.bodies.posed.quaternions import product, spinning
from components.bodies.posed.stack import PosedBodies
from components.bodies.posed.whole import given_motion
from modular.body import Body
from modular.component import Component
from modular.elements import Array
from modular.errors import ModelError
from modular.integrator import GAINS, SCHEME, STEPS, Integrator
from modular.side import Mark

LEAST_EVENNESS = 0.25  # of principal inertias, the least over the largest, for which free turns err as is told

SAME_MOMENT_TOLERANCE = 1e-9  # of two principal moments that are one


@dataclass(frozen=True, slots=True)
class NewtonEulerBody(PosedBody):
    """A rigid body, described in the world as it stands at the start, that moves by the equations of Newton and Euler.

    The same data as a `RigidBody`, and the same motion within the error of the step; coordinates of type "translation - rotation"
    (Séguy 2003, III.2.2.1): place of the mass centre and angle, or quaternion of the principal axes.

    mass [kg]; inertia about the mass centre [kg m^2]: a number in the plane, in space a 3 x 3 tensor in world axes or its three
    principal values along the world axes, none of them zero; centre: the mass centre [m]; ports: name -> point [m] or `Port` with
    axes; velocity of the mass centre [m/s]; angular_velocity [rad/s].
    """

    mass: float = field(kw_only=True)
    inertia: Any = field(kw_only=True)
    centre: Sequence[float] = field(kw_only=True)
    ports: Mapping[str, Any] = field(kw_only=True, default_factory=dict)
    velocity: Sequence[float] | None = field(kw_only=True, default=None)
    angular_velocity: Sequence[float] | float | None = field(kw_only=True, default=None)
    integrator: Integrator | None = field(kw_only=True, default=None)

    def __post_init__(self) -> None:
        Component.__post_init__(self)
        object.__setattr__(self, "ports", named_ports("NewtonEulerBody", self.ports))

    @property
    def origin(self) -> Array:
        """The mass centre."""
        return np.asarray(self.centre, float)

    @property
    def places(self) -> Mapping[str, Any]:
        """Its ports."""
        return self.ports

    @property
    def total_mass(self) -> float:
        """[kg]."""
        return self.mass

    @property
    def spread(self) -> float:
        """From its inertia: the trace counts each direction twice in space."""
        inertia = tensor_of(self.inertia)
        return float(np.sqrt((inertia if inertia.ndim == 0 else 0.5 * np.trace(inertia)) / self.mass))

    @property
    def freedoms(self) -> int:
        """6 in space, 3 in the plane."""
        return 6 if self.dimension == 3 else 3

    @property
    def rigid(self) -> bool:
        """It answers a force at one of its ports at all others as one piece, in one step per tick."""
        return self.steps == 1

    def check(self, name: str) -> list[str]:
        """Negative mass, impossible inertia, no inertia about an axis, ports of the wrong dimension or with impossible axes."""
        problems = check_rigid(name, self)
        if problems:
            return problems
        values = self.principal_inertia
        if values.min() <= ZERO_MOMENT_TOLERANCE * max(float(values.max()), 1e-300):
            listed = ", ".join(f"{value:.4g}" for value in values)
            problems.append(
                f"body '{name}': principal inertias {listed} kg m^2; rotation about an axis without inertia is "
                "undetermined. Use Rod, PointMassRod or RigidBody, whose coordinates need none."
            )
        for port, place in self.ports.items():
            if not np.all(np.isfinite(np.asarray(place.point, float))):
                problems.append(f"port '{name}.{port}' stands at {tuple(place.point)}; give finite numbers.")
                continue
            try:
                place.frame(f"port '{name}.{port}'")
            except ModelError as error:
                problems.append(str(error))
        return problems

    @property
    def integrates(self) -> frozenset[str]:
        """The gains hold the length of its quaternion."""
        return SCHEME | STEPS if self.dimension == 2 else SCHEME | GAINS | STEPS

    def kind(self) -> Hashable:
        """All of one dimension share a stack."""
        return (PosedBodies, self.dimension)

    def new_stack(self) -> PosedBodies:
        """An empty stack for such bodies."""
        return PosedBodies(self.dimension)

    def hidden_spins(self) -> list[tuple[Array, Array]]:
        """About its centre in the plane; in space about principal axes across which it has one moment."""
        if self.dimension == 2:
            return [(np.zeros((3, 3)), np.array([0.0, 0.0, 1.0]))]
        found, moments = [], self.principal_inertia
        for k in range(3):
            one, other = np.delete(moments, k)
            if abs(one - other) <= SAME_MOMENT_TOLERANCE * max(one, other):
                spin = np.zeros((7, 7))
                spin[3:, 3:] = 0.5 * np.array([product(unit, np.eye(4)[1 + k]) for unit in np.eye(4)]).T
                found.append((spin, np.zeros(7)))
        return found

    # --- where it stands at the start --------------------------------------------------------------------------------

    @property
    def principal_inertia(self) -> Array:
        """About the principal axes, or the one axis of the plane [kg m^2]."""
        return _principal(self)[0]

    @property
    def own_axes(self) -> Array:
        """The principal axes as columns, right-handed; in the plane the axes of the world."""
        return _principal(self)[1]

    @property
    def start(self) -> Array:
        """Coordinates at the start."""
        if self.dimension == 2:
            return np.array([*self.centre, 0.0])
        from scipy.spatial.transform import Rotation  # a third of a second, for those who need it

        x, y, z, s = Rotation.from_matrix(self.own_axes).as_quat()
        p = np.array([s, x, y, z])
        return np.concatenate([np.asarray(self.centre, float), p / np.linalg.norm(p)])

    @property
    def initial_velocity(self) -> Array:
        """Their rates at the start."""
        linear, spin = given_motion(self)
        if self.dimension == 2:
            return np.concatenate([linear, spin])
        return np.concatenate([linear, 0.5 * (spin @ self.own_axes) @ spinning(self.start[3:])])

    # --- what a record of states says ----------------------------------------------------------------------------------

    def off_axis(self, q: Array, v: Array) -> Array | None:
        """Beside the fastest of its turns about the principal axes: free ones are a composition of exact turns about each.

        What that leaves out grows with the product of both, but for what tumbling averages out. None of slender bodies, in which
        turns about the thin axis multiply it.
        """
        even = self.principal_inertia.min() / self.principal_inertia.max()
        if even < LEAST_EVENNESS:
            return None
        squares = self.spin(q, v) ** 2
        most = squares.max(axis=-1)
        beside = np.clip(squares.sum(axis=-1) - most, 0.0, None)
        return np.asarray(np.sqrt(beside + even**2 * np.sqrt(beside * most)))

    def kinetic_energy(self, q: Array, v: Array) -> Array:
        """m v^2 / 2 + w . J w / 2 [J], shape (...)."""
        d = self.dimension
        turning = np.sum(self.principal_inertia * self.spin(q, v) ** 2, axis=-1)
        return np.asarray(0.5 * self.mass * np.sum(v[..., :d] ** 2, axis=-1) + 0.5 * turning)

    # --- equations of Lagrange -------------------------------------------------------------------------------------------

    def mass_matrix(self, q: Array) -> Array:
        """diag(m, m, J), or m and 4 G^T J G; along p, where nothing can move, an inertia that leaves it regular."""
        if self.dimension == 2:
            return np.diag([self.mass, self.mass, *self.principal_inertia])
        p, matrix, rows = q[3:], np.zeros((7, 7)), spinning(q[3:])
        matrix[:3, :3] = self.mass * np.eye(3)
        matrix[3:, 3:] = 4.0 * (rows.T * self.principal_inertia) @ rows
        matrix[3:, 3:] += 4.0 * self.principal_inertia.mean() * np.outer(p, p)
        return matrix

    def drive(self, q: Array, v: Array, gravity: Array) -> Array:
        """Weight and, of a quaternion, -8 G'^T J G p'."""
        weight = self.mass * gravity
        if self.dimension == 2:
            return np.array([*weight, 0.0])
        return np.concatenate([weight, -4.0 * spinning(v[3:]).T @ (self.principal_inertia * self.spin(q, v))])

    def answer(self, q: Array, push: Array) -> Array:
        """Jump of the rates under impulses on the coordinates."""
        if self.dimension == 2:
            return np.asarray(push / np.array([self.mass, self.mass, *self.principal_inertia]))
        rows = spinning(q[3:])
        jump = 0.5 * (0.5 * rows @ push[3:] / self.principal_inertia) @ rows
        return np.concatenate([push[:3] / self.mass, jump / float(q[3:] @ q[3:])])

    # --- changed while it moves ----------------------------------------------------------------------------------------

    def adjustable(self) -> dict[str, float]:
        """Its numbers, but for the motion that it began with."""
        return {name: value for name, value in Body.adjustable(self).items() if name != "angular_velocity"}

    def carried(self, before: Body, q: Array, v: Array) -> tuple[Array, Array]:
        """It has turned as the body before has, about another mass centre perhaps, and with other principal axes."""
        if not isinstance(before, NewtonEulerBody) or before.dimension != self.dimension:
            return Body.carried(self, before, q, v)
        d, turn, rate = self.dimension, before.rotation(q), before.rotations(q, v, np.zeros_like(v))[1]
        arm = (np.asarray(self.centre, float) - before.centre) @ before.own_axes
        place, pace = q[:d] + turn @ arm, v[:d] + rate @ arm
        if d == 2:
            return np.array([*place, q[2]]), np.array([*pace, v[2]])
        from scipy.spatial.transform import Rotation  # a third of a second, for those who need it

        change = Rotation.from_matrix(before.own_axes.T @ self.own_axes).as_quat()[[3, 0, 1, 2]]
        return np.array([*place, *product(q[3:], change)]), np.array([*pace, *product(v[3:], change)])

    def marked(self, before: Body, mark: Mark) -> Mark:
        """Ports stay ports; other points and directions are where they were in the body."""
        if not isinstance(before, NewtonEulerBody):
            return Body.marked(self, before, mark)
        for port, weights in before.port_weights.items():
            if np.array_equal(mark.weights, weights) and port in self.ports:
                return Mark(self.port_weights[port], mark.value)
        point = mark.weights[0]
        start = point * np.asarray(before.centre, float) + before.own_axes @ mark.weights[1:]
        return Mark(np.array([point, *((start - point * np.asarray(self.centre, float)) @ self.own_axes)]), mark.value)

    @classmethod
    def example(cls, dimension: int = 3) -> Self:
        """A body of this type without zeros or symmetry, for the contract tests."""
        if dimension == 2:
            return cls(
                mass=1.3, inertia=0.21, centre=(0.4, -0.3), ports={"left": (0.1, 0.2), "right": (0.9, -0.7)},
                velocity=(0.3, -0.2), angular_velocity=0.7,
            )  # fmt: skip
        return cls(
            mass=1.3, inertia=((0.31, 0.02, -0.03), (0.02, 0.27, 0.01), (-0.03, 0.01, 0.18)), centre=(0.4, -0.3, 0.2),
            ports={"left": (0.1, 0.2, -0.1), "right": (0.9, -0.7, 0.5)},
            velocity=(0.3, -0.2, 0.1), angular_velocity=(0.7, -0.4, 0.9),
        )  # fmt: skip


@cached_by_identity
def _principal(body: NewtonEulerBody) -> tuple[Array, Array]:
    """Principal inertias and axes as columns."""
    inertia = tensor_of(body.inertia)
    if inertia.ndim == 0:
        return inertia.reshape(1), np.eye(2)
    values, axes = np.linalg.eigh(inertia)
    axes[:, 2] *= np.sign(np.linalg.det(axes))
    return values, axes
