"""A rigid body with any mass, inertia, mass centre and ports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from components.bodies.identity_cache import cached_by_identity
from components.bodies.natural.basis import FAMILY, MASSES, NATURAL, placed, points_in
from components.bodies.natural.batched import BatchedBody
from components.bodies.natural.many import Layout
from components.bodies.natural.mass_moments import principal, rank, second_moment_from_inertia
from components.bodies.natural.rigid_data import check_rigid, named_ports, tensor_of
from components.bodies.natural.straight import across
from components.bodies.short_sums import length
from modular.component import Component
from modular.elements import Array, Indices
from modular.errors import ModelError
from modular.integrator import Integrator
from modular.naming import Naming
from modular.port import Port

# radii of gyration: ports beyond lose more than seven bits to points that are one radius apart
MAX_PORT_DISTANCE_IN_RADII = 128.0

SMALLEST_SHARE = 1e-14  # of the largest in a mass matrix


@dataclass(frozen=True, slots=True)
class RigidBody(BatchedBody):
    """A rigid body, described in the world as it stands at the start.

    mass [kg]; inertia about the mass centre [kg m^2]: a number in the plane, in space a 3 x 3 tensor in world axes or
    its three principal values along the world axes; centre: the mass centre [m]; ports: name -> point [m] or `Port`
    with axes; velocity of the mass centre [m/s]; angular_velocity [rad/s].

    `basis` says which elements stand for it (components/bodies/natural/basis.py): "natural", "canonical", "points" or "masses".
    `points` (A, B) and `vectors` (u, v) place them by hand; where they stand changes nothing but rounding. Left out, A is
    the mass centre and the rest follows the principal axes; B stands off by the radius of gyration, or by as much as the farthest
    port where that is far beyond it. "masses" are where the mass asks for them.
    """

    mass: float = field(kw_only=True)
    inertia: Any = field(kw_only=True)
    centre: Sequence[float] = field(kw_only=True)
    ports: Mapping[str, Any] = field(kw_only=True, default_factory=dict)
    velocity: Sequence[float] | None = field(kw_only=True, default=None)
    angular_velocity: Sequence[float] | float | None = field(kw_only=True, default=None)
    points: Sequence[Sequence[float]] | None = field(kw_only=True, default=None)
    vectors: Sequence[Sequence[float]] | None = field(kw_only=True, default=None)
    basis: str = field(kw_only=True, default=NATURAL)
    integrator: Integrator | None = field(kw_only=True, default=None)

    def __post_init__(self) -> None:
        Component.__post_init__(self)
        object.__setattr__(self, "ports", named_ports("RigidBody", self.ports))

    @property
    def places(self) -> Mapping[str, Port]:
        """The named ports."""
        return self.ports

    @property
    def inertia_tensor(self) -> Array:
        """About the mass centre, in world axes at the start; in the plane the number itself."""
        return tensor_of(self.inertia)

    @property
    def family(self) -> str:
        """That of its basis."""
        return self.basis

    @classmethod
    def lay_out(cls, bodies: Sequence[Self]) -> Layout:
        """From the principal axes, where points and vectors are left out."""
        mass, centre, second_moment, ports, counts, farthest, ranks = (
            _mass_and_ports(bodies[0]) if len(bodies) == 1 else _masses_and_ports(bodies)
        )
        if np.any(ranks != ranks[0]):
            raise ModelError(
                f"RigidBody: bodies of ranks {np.unique(ranks).tolist()}; lay out only bodies of one rank together."
            )
        if len(found := {body.basis for body in bodies}) > 1:
            raise ModelError(f"RigidBody: bodies in the bases {sorted(found)}; lay out those of one basis together.")
        elements = _elements_of(bodies, centre, second_moment, mass, farthest, int(ranks[0]))
        return Layout(elements, mass, centre, second_moment, ports, counts, points_in(bodies[0].basis, int(ranks[0])))

    def named_mass(self, symbol: Naming) -> Array:
        """From its mass and its inertia, which enter in proportion: M = S^+T diag(m, P) S^+ with Q = S A, P the second moments.

        A is the mass centre with the axes of the world at the start, in which its elements Q are the columns of S.
        """
        elements, d = self.elements, self.dimension
        frame = np.column_stack(
            [self.derived.fall[0], elements - np.outer(self.derived.fall[0], self.derived.centre[0])]
        )
        back = np.linalg.pinv(frame)  # (1 + d, e)
        found = _without_rounding(np.outer(back[0], back[0])) * symbol("mass", self.mass)
        tensor = self.inertia_tensor
        shrink: Any = 1.0
        if len(elements) == 2 == self.point_count:  # a line of points: their distance has a name
            length = float(np.linalg.norm(elements[1] - elements[0]))
            shrink = symbol("length", length) ** -2 * length**2
        if d == 2:
            moments = self.derived.second_moment[0] / float(tensor) if float(tensor) else np.zeros((2, 2))
            return np.asarray(
                found + _without_rounding(back[1:].T @ moments @ back[1:]) * (symbol("inertia", float(tensor)) * shrink)
            )
        for i in range(3):
            for j in range(i, 3):
                one = np.zeros((3, 3))
                one[i, j] = one[j, i] = 1.0
                moments = 0.5 * np.trace(one) * np.eye(3) - one
                value = symbol(f"inertia_{'xyz'[i]}{'xyz'[j]}", float(tensor[i, j]))
                found = found + _without_rounding(back[1:].T @ moments @ back[1:]) * (value * shrink)
        return np.asarray(found)

    @property
    def point_count(self) -> int:
        """How many of its elements are points."""
        return points_in(self.basis, self._rank)

    @property
    def _rank(self) -> int:
        return int(_mass_and_ports(self)[-1][0])

    def check_data(self, name: str) -> list[str]:
        """Negative mass, impossible inertia, coplanar vectors, ports of the wrong dimension."""
        problems = check_rigid(name, self)
        if not problems and self.basis not in FAMILY:
            problems = [f"body '{name}': basis = {self.basis!r}; give one of {', '.join(map(repr, FAMILY))}."]
        if not problems and len(self.centre) == 3:
            values = np.linalg.eigvalsh(self.inertia_tensor)
            if rank(second_moment_from_inertia(self.inertia_tensor), 1.0, 0.0) == 2:
                listed = ", ".join(f"{value:.4g}" for value in values)
                problems = [
                    f"body '{name}': principal inertias {listed} kg m^2 are those of a lamina without thickness, "
                    f"which natural coordinates cannot represent in space; reduce {values[2]:.4g} by a thickness "
                    "of at least 1e-5 of the "
                    "size, or use NewtonEulerBody."
                ]
        return problems or self._check_elements(name)

    def _check_elements(self, name: str) -> list[str]:
        needed, points = self._rank, self.point_count
        for label, given, size in (("points", self.points, points), ("vectors", self.vectors, needed + 1 - points)):
            if given is not None and self.basis == MASSES:
                return [
                    f"body '{name}': {label} are given, but basis = 'masses' places its elements itself; leave them out."
                ]
            if given is not None and np.shape(given) != (size, len(self.centre)):
                return [
                    f"body '{name}': {label} has shape {np.shape(given)}; its inertia needs {size} of them in the "
                    f"{self.basis} basis."
                ]
        w = self.spans
        if self.vectors is not None and not np.allclose(np.linalg.norm(w[points - 1 :], axis=1), 1.0, atol=1e-9):
            return [f"body '{name}': vectors must be unit vectors; divide each by its length."]
        lengths = np.linalg.norm(w, axis=1) if len(w) else np.ones(1)
        if lengths.min() <= 0 or (len(w) and np.linalg.svd(w / lengths[:, None])[1].min() < 1e-6):
            named = (
                "B - A, u and v are coplanar (or A = B)"
                if self.basis == NATURAL
                else "its points and vectors are coplanar"
            )
            return [
                f"body '{name}': {named}; choose vectors that span "
                f"{'space' if len(self.centre) == 3 else 'the plane'}, or leave points and vectors out."
            ]
        if needed == 1 and find_off_line(self):
            return [
                f"body '{name}': its mass lies on a line that its points or vectors miss; put them on it, or leave them out."
            ]
        return []

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


def _masses_and_ports(bodies: Sequence[RigidBody]) -> tuple[Array, Array, Array, Array, Indices, Array, Indices]:
    """Masses, mass centres, second moments, points of the ports, numbers of ports, how far the farthest is, and in how many
    directions mass extends."""
    mass = np.array([b.mass for b in bodies], float)
    centre = np.array([b.centre for b in bodies], float)
    d = centre.shape[1]
    inertia = np.array([b.inertia_tensor for b in bodies])
    # the plane knows only the trace of the second moment, so it is taken round
    moment = 0.5 * inertia[:, None, None] * np.eye(2) if d == 2 else second_moment_from_inertia(inertia)
    counts = np.array([len(b.ports) for b in bodies], np.int64)
    ports = np.array([p.point for b in bodies for p in b.ports.values()], float).reshape(-1, d)
    owner = np.repeat(np.arange(len(bodies)), counts)
    farthest = np.zeros(len(bodies))
    np.fmax.at(farthest, owner, length(ports - centre[owner]))
    return mass, centre, moment, ports, counts, farthest, rank(moment, mass, farthest)


@cached_by_identity
def _mass_and_ports(body: RigidBody) -> tuple[Array, Array, Array, Array, Indices, Array, Indices]:
    return _masses_and_ports([body])


def _elements_of(
    bodies: Sequence[RigidBody], centre: Array, second_moment: Array, mass: Array, farthest: Array, needed: int
) -> Array:
    """Elements of bodies of one rank and basis: given by hand, or A at the mass centre and the rest along principal axes.

    A port is put together from A and B, and so is its rounding: that of their places, times how often A B goes into its arm.
    """
    n, d = centre.shape
    moments, axes = principal(second_moment)
    if bodies[0].basis != NATURAL:
        basis = bodies[0].basis
        reaches = np.sqrt(np.maximum(moments, 0.0) / mass[:, None])
        found = placed(basis, centre, reaches, axes, needed)
        first = points_in(basis, needed)
        for k, body in enumerate(bodies):
            if body.points is not None:
                found[k, :first] = body.points
            if body.vectors is not None:
                found[k, first:] = body.vectors
        return found
    reach = np.sqrt(moments[:, 0] / mass)  # radius of gyration: M is then as round as the body
    reach = np.where(np.isfinite(farthest) & (farthest > MAX_PORT_DISTANCE_IN_RADII * reach), farthest, reach)
    points = np.stack([centre, centre + reach[:, None] * axes[:, 0]], axis=1)[:, : 1 + min(needed, 1)]
    for k, body in enumerate(bodies):
        if body.points is not None:
            points[k] = body.points
    if needed < 2:
        return points
    given = {k: body.vectors for k, body in enumerate(bodies) if body.vectors is not None}
    vectors = np.empty((n, needed - 1, d))
    rest = np.array([k for k in range(n) if k not in given], np.int64)
    vectors[rest] = across(points[rest, 1] - points[rest, 0])[:, : needed - 1]
    for k, value in given.items():
        vectors[k] = value
    return np.concatenate([points, vectors], axis=1)


def find_off_line(body: RigidBody) -> bool:
    """Whether a body on a line has elements that miss its mass centre or its direction."""
    centre = body.mass_properties.centre
    axis = principal(body.mass_properties.second_moment)[1][0]
    arms = body.elements - np.outer(np.arange(len(body.elements)) < body.point_count, centre)
    return bool(np.any(np.linalg.norm(arms - np.outer(arms @ axis, axis), axis=1) > 1e-9))


def _without_rounding(shares: Array) -> Array:
    """Shares of a mass matrix, without what rounding made of nothing, and without their last digit."""
    kept = np.where(np.abs(shares) > SMALLEST_SHARE * np.abs(shares).max(initial=0.0), shares, 0.0)
    return np.array([[float(f"{x:.14g}") for x in row] for row in kept])
