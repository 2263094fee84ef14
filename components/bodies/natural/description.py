"""Natural coordinates: a rigid body described by points and directions that move with it.

Séguy 2003, III.2.3.3 and Annexe 1; J. García de Jalón, E. Bayo, "Kinematic and dynamic simulation of multibody
systems", Springer 1994. Every position on the body is A + c1 (B - A) + c2 u + c3 v with constant c (A1.1), so the
mass matrix is constant, and every port is a constant linear map of q.

How many elements a body needs is the rank of its mass distribution (thesis, Remark 2 of III.4.1):

    rank 3  A, B, u, v   12 numbers, 6 constraints    a body in space
    rank 2  A, B, u       6 numbers, 3 constraints         a body in the plane
    rank 1  A, B          rods without inertia about their axis: 2 d numbers, 1 constraint
    rank 0  A             a point mass

With fewer elements than its rank a body would lose inertia; with more its mass matrix would be singular. A body in
the plane could do with A and B alone, but then a mass centre beside the line AB couples x with y in its mass matrix;
with u one formula, one kernel and one kind of port serve the plane and space alike.

Other elements, constant linear maps of these, serve as well: components/bodies/natural/basis.py.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Self, cast

import numpy as np

from components.bodies.identity_cache import cached_by_identity, pseudo_inverse
from components.bodies.natural import records
from components.bodies.natural.kernels import violations_loop
from components.bodies.natural.many import (
    Layout,
    NaturalRows,
    element_weights,
    find_together,
    kept_record_rows,
    port_rows_of,
    record_rows_of_one,
    rows_of,
    spans_of,
)
from components.bodies.natural.stack import NaturalBodies
from components.bodies.short_sums import combined, dot
from components.joints.driven_place import DrivenPlace, leading
from modular.body import Body
from modular.elements import Array
from modular.errors import ModelError
from modular.integrator import GAINS, SCHEME, SOLVER, STEPS
from modular.naming import Naming
from modular.port import Port
from modular.side import Mark


@dataclass(frozen=True)
class MassProperties:
    """Where the mass is, in the world at the start."""

    mass: float  # [kg]
    centre: Array  # [m], (d,)
    second_moment: Array  # about the centre, integral of r r^T dm [kg m^2], (d, d)


class NaturalBody(Body):
    """What all bodies in natural coordinates share; a subclass states its physical data and its elements.

    What follows from the data is worked out for many bodies at once (`rows_of`); a body alone is a list of one. Nothing
    of it stays on the description: the rows of the bodies last asked for are kept at hand, others are worked out again.
    """

    __slots__ = ()

    @property
    @abstractmethod
    def mass_properties(self) -> MassProperties:
        """Mass, centre and second moment."""

    @property
    @abstractmethod
    def elements(self) -> Array:
        """A, B, u, v (or fewer) at the start, (e, d)."""

    @property
    @abstractmethod
    def places(self) -> Mapping[str, Port]:
        """The named ports."""

    velocity: Sequence[float] | None
    angular_velocity: Sequence[float] | float | None

    @property
    def family(self) -> str:
        """Bodies of one type and family are laid out together."""
        return ""

    @classmethod
    def lay_out(cls, bodies: Sequence[Self]) -> Layout:
        """Mass, elements and ports of many bodies of this type, one by one; a type with faster formulae says them here."""
        masses = [body.mass_properties for body in bodies]
        ports = [[port.point for port in body.places.values()] for body in bodies]
        elements = np.array([body.elements for body in bodies], float)
        return Layout(
            elements,
            np.array([m.mass for m in masses], float),
            np.array([m.centre for m in masses], float),
            np.array([m.second_moment for m in masses], float),
            np.array([point for points in ports for point in points], float).reshape(-1, elements.shape[2]),
            np.array([len(points) for points in ports], np.int64),
        )

    @property
    def derived(self) -> NaturalRows:
        """What follows from its data: arrays with one row, for reading only."""
        return _derive(self)

    @property
    def shape(self) -> tuple[int, int]:
        """How many elements it has in how many dimensions, (e, d)."""
        e, d = self.elements.shape
        return int(e), int(d)

    @property
    def point_count(self) -> int:
        """How many of its elements are points (components/bodies/natural/basis.py): those in front."""
        return min(self.shape[0], 2)

    @property
    def dimension(self) -> int:
        """2 in the plane, 3 in space."""
        return self.shape[1]

    @property
    def port_names(self) -> tuple[str, ...]:
        """Names of the ports, in order."""
        return tuple(self.places)

    @property
    def total_mass(self) -> float:
        """[kg]."""
        return self.mass_properties.mass

    @property
    def rigid(self) -> bool:
        """It answers a force at one of its ports at all others as one piece, in one step per tick."""
        return self.steps == 1

    @property
    def straight(self) -> bool:
        """Points and directions are constant linear maps of natural coordinates (Séguy 2003, III.2.3.3)."""
        return True

    @property
    def spread(self) -> float:
        """From its second moment."""
        mass = self.mass_properties
        return float(np.sqrt(max(np.trace(mass.second_moment), 0.0) / mass.mass)) if mass.mass > 0.0 else 0.0

    @property
    def freedoms(self) -> int:
        """Coordinates less internal constraints."""
        e, d = self.shape
        return int(e * d - e * (e - 1) // 2)

    @property
    def integrates(self) -> frozenset[str]:
        """All settings of an integrator; a point mass has nothing inside that could open."""
        return SCHEME | STEPS if self.shape[0] == 1 else SCHEME | GAINS | SOLVER | STEPS

    def kind(self) -> Hashable:
        """Bodies with equally many elements and points share a stack: their kernel is the same."""
        return (NaturalBodies, *self.shape, self.point_count)

    def new_stack(self) -> NaturalBodies:
        """An empty stack for bodies with as many elements and points."""
        return NaturalBodies(*self.shape, self.point_count)

    # --- the mass matrix -------------------------------------------------------------------------------------

    @property
    def spans(self) -> Array:
        """w = (B - A, u, v) at the start, (e - 1, d); their transpose is X_0 of (A1.6)."""
        return spans_of(self.elements, self.point_count)

    def coordinates(self, offset: Array) -> Array:
        """c1, c2, c3 of a vector of the body: offset = c1 (B - A) + c2 u + c3 v (A1.8); shape (..., e - 1)."""
        return combined(offset, self.derived.inverse_spans[0])

    def weights(self, x: Array, *, point: bool) -> Array:
        """How a point (or direction) of the body is put together from its elements, (e,)."""
        c = self.coordinates(x - self.elements[0] if point else x)
        return element_weights(c, self.point_count, point=point)

    @property
    def mass_matrix(self) -> Array:
        """(A1.12) without its unit matrices, (e, e)."""
        return np.asarray(record_rows_of_one(self).mass_matrix[0])

    def named_mass(self, symbol: Naming) -> Array:
        """The same from numbers with names: in proportion to its mass, unless a type says otherwise."""
        return np.asarray(self.mass_matrix / self.total_mass * symbol("mass", self.total_mass))

    @property
    def by_rows(self) -> bool:
        """Whether its mass matrix hangs on more than numbers that enter in proportion, as where its elements are."""
        return True

    @property
    def gram(self) -> Array:
        """The constants of the internal constraints (III.8): products of the vectors, (e - 1, e - 1)."""
        return np.asarray(self.derived.gram[0])

    @property
    def initial_velocity(self) -> Array:
        """Velocities of the elements from the velocity of the mass centre and the angular velocity, (e, d)."""
        return np.asarray(self.derived.initial_velocity[0])

    # --- what a record of states says --------------------------------------------------------------------------

    def port_motion(self, port: str, q: Array, v: Array, a: Array) -> tuple[Array, Array, Array]:
        """Position, velocity and acceleration of a port, shape (..., dimension)."""
        row = self.port_weights[port]
        return (
            np.einsum("i,...ic->...c", row, q),
            np.einsum("i,...ic->...c", row, v),
            np.einsum("i,...ic->...c", row, a),
        )

    def port_axes(self, port: str, q: Array) -> Array:
        """Axes of a port in the world as rows, (..., d, d), turned with the body (rods: by the shortest turn); NaN where q is."""
        from components.bodies.natural.stack import turned

        frame, start = self.places[port].frame(f"port '{port}'"), self.spans
        states = q.reshape(-1, *q.shape[-2:])
        found = np.full((len(states), *frame.shape), np.nan)
        there = np.flatnonzero(np.isfinite(states).all(axis=(1, 2)))
        now = spans_of(states[there], self.point_count)
        if len(start) > 1:
            found[there] = turned(frame, start, now)
        else:
            for k, one in zip(there, now, strict=True):
                found[k] = turned(frame, start, one)
        return found.reshape(*q.shape[:-2], *frame.shape)

    def angular_velocity_of(self, port: str, q: Array, v: Array) -> Array:
        """That of its vectors, in the mean: sum of (w^2 - w w^T) omega = sum of w x w'; nothing spins a slender rod."""
        w, dw = spans_of(q, self.point_count), spans_of(v, self.point_count)
        if w.shape[-1] == 2:
            turning = (w[..., 0] * dw[..., 1] - w[..., 1] * dw[..., 0]).sum(axis=-1)
            return np.asarray(turning / (w**2).sum(axis=(-1, -2)))
        around = (w**2).sum(axis=(-1, -2))[..., None, None] * np.eye(3) - np.einsum("...ai,...aj->...ij", w, w)
        turning = np.cross(w, dw).sum(axis=-2)
        found = np.full(turning.shape, np.nan)
        there = np.isfinite(turning).all(axis=-1)
        found[there] = records.turned_by(around[there], turning[there])
        return found

    @property
    def port_weights(self) -> dict[str, Array]:
        """How each port's point is put together from the elements."""
        return dict(zip(self.port_names, record_rows_of_one(self).port_weights, strict=True))

    @property
    def centre_weights(self) -> Array:
        """How the mass centre is put together from the elements."""
        return np.asarray(record_rows_of_one(self).centre_weights[0])

    def mass_centre(self, q: Array) -> Array:
        """Position of the mass centre [m], shape (..., dimension)."""
        return np.asarray(np.einsum("i,...ic->...c", self.centre_weights, q))

    def momentum(self, q: Array, v: Array) -> Array:
        """Linear momentum [kg m/s], shape (..., dimension)."""
        return self.total_mass * self.mass_centre(v)

    def kinetic_energy(self, q: Array, v: Array) -> Array:
        """1/2 v^T M v [J], shape (...); (A1.3) of the thesis lacks the factor 1/2."""
        return records.kinetic_energies(self.mass_matrix, v)

    def potential_energy(self, q: Array, gravity: Array) -> Array:
        """In uniform gravity [J], zero at the origin of the world, shape (...)."""
        return np.asarray(-self.total_mass * dot(combined(self.centre_weights, q), gravity))

    def internal_violation(self, q: Array) -> Array:
        """Error of each internal constraint, w_a . w_b - const (halved where a = b), shape (..., m)."""
        return self._violations(q, np.zeros_like(q))[0]

    def internal_violation_rate(self, q: Array, v: Array) -> Array:
        """Its time derivative, shape (..., m)."""
        return self._violations(q, v)[1]

    def constrained(self, q: Array) -> bool:
        """Where there is more than one element."""
        return bool(q.shape[-2] > 1)

    @classmethod
    def look_at(cls, bodies: Sequence[Body]) -> None:
        """These are about to be asked one by one what a record says of them: it is found for all at once."""
        find_together(cast("Sequence[NaturalBody]", bodies))

    @classmethod
    def port_places(cls, bodies: Sequence[Self], q: Array) -> Array:
        """All in one product."""
        weights, starts = port_rows_of(bodies)
        counts, elements = np.diff(starts), q.shape[2]
        if (counts == counts[0]).all():  # no state has to be copied for each of its ports
            of_each = weights.reshape(len(bodies), -1, elements)
            return records.places(of_each, q).reshape(len(q), int(counts.sum()), q.shape[3])
        owner = np.repeat(np.arange(len(bodies)), counts)
        return np.asarray(np.einsum("pe,npec->npc", weights, q[:, owner]))

    @classmethod
    def mass_centres(cls, bodies: Sequence[Self], q: Array) -> Array:
        """Positions of the mass centres of bodies of one stack [m], (n, bodies, d); q: (n, bodies, elements, d)."""
        return combined(kept_record_rows(bodies).centre_weights, q)

    @classmethod
    def energies(cls, bodies: Sequence[Self], q: Array, v: Array, gravity: Array) -> tuple[Array, Array]:
        """All at once, to the bits of one after the other."""
        rows = kept_record_rows(bodies)
        kinetic = records.kinetic_energies(rows.mass_matrix, v)
        potential = -rows.mass * records.falls(rows.centre_weights, q, gravity)
        return np.cumsum(kinetic, axis=1)[:, -1], np.cumsum(potential, axis=1)[:, -1]

    @classmethod
    def internal_errors(cls, bodies: Sequence[Self], q: Array, v: Array) -> tuple[Array, Array]:
        """All at once."""
        return records.internal_errors(kept_record_rows(bodies).gram, bodies[0].point_count, q, v)

    def _violations(self, q: Array, v: Array) -> tuple[Array, Array]:
        series, e, d = q.shape[:-2], *q.shape[-2:]
        rows = e * (e - 1) // 2
        error, rate = np.empty((2, int(np.prod(series)), rows))
        violations_loop(
            np.ascontiguousarray(q).reshape(-1, e, d),
            np.ascontiguousarray(v).reshape(-1, e, d),
            np.empty(self.point_count),
            self.gram,
            error,
            rate,
        )
        return error.reshape(*series, rows), rate.reshape(*series, rows)

    # --- changed while it moves -----------------------------------------------------------------------------------

    def adjustable(self) -> dict[str, float]:
        """Its numbers, but for the motion that it began with."""
        return {name: value for name, value in super().adjustable().items() if name != "angular_velocity"}

    def carried(self, before: Body, q: Array, v: Array) -> tuple[Array, Array]:
        """Its elements are points and directions of the body as it was before: constant linear maps of those coordinates."""
        if not isinstance(before, NaturalBody) or before.dimension != self.dimension:
            return super().carried(before, q, v)
        weights = np.array(
            [before.weights(x, point=bool(point)) for x, point in zip(self.elements, self.derived.fall[0], strict=True)]
        )
        if not np.allclose(
            weights @ before.elements, self.elements, rtol=0.0, atol=1e-9 * max(1.0, np.abs(self.elements).max())
        ):
            raise ModelError(
                f"{type(self).__name__}: it gains inertia in a direction in which it had none, so its orientation "
                "there is undefined; remove the body and add another."
            )
        return weights @ q, weights @ v

    def marked(self, before: Body, mark: Mark) -> Mark:
        """Ports stay ports; other points and directions are where they were in the body."""
        if not isinstance(before, NaturalBody):
            return super().marked(before, mark)
        for port, weights in before.port_weights.items():
            if np.array_equal(mark.weights, weights) and port in self.port_names:
                return Mark(self.port_weights[port], mark.value)
        point = bool(before.derived.fall[0] @ mark.weights > 0.5)
        return Mark(self.weights(mark.weights @ before.elements, point=point), mark.value)

    def moved(self, q: Array, offset: Array) -> Array:
        """Points move, directions do not."""
        return np.asarray(q + np.outer(self.derived.fall[0], offset))

    def turned(self, q: Array, v: Array, rotation: Array) -> tuple[Array, Array]:
        """Points and directions turn alike."""
        return q @ rotation.T, v @ rotation.T

    def leading(self, times: Array, ways: Array, rates: Array) -> DrivenPlace:
        """Its place alone."""
        return leading(times, ways, rates)

    # --- checks -------------------------------------------------------------------------------------------------

    def check(self, name: str) -> list[str]:
        """Everything that is wrong with the data, one sentence each."""
        problems = self.check_data(name)
        if problems:
            return problems  # what follows would only repeat them
        e, d = self.shape
        for port, place in self.places.items():
            try:
                place.frame(f"port '{name}.{port}'")
            except ModelError as error:
                problems.append(str(error))
            if not np.all(np.isfinite(np.asarray(place.point, float))):
                problems.append(f"port '{name}.{port}' stands at {tuple(place.point)}; give finite numbers.")
            elif (
                e <= d and self.mark_at_start(np.asarray(place.point, float)) is None
            ):  # vectors that span all reach any point
                problems.append(
                    f"port '{name}.{port}' at {tuple(place.point)} lies off the line or plane of body '{name}', which has "
                    "no inertia across it and cannot follow that point; give the body inertia (Rod: radius=…; "
                    "RigidBody: inertia=…) or move the port. A mass at the end of a massless arm is a body with a port at its "
                    "centre, held by a Distance joint."
                )
        return problems

    @abstractmethod
    def check_data(self, name: str) -> list[str]:
        """What is wrong with the data of this type of body."""

    def mark_at_start(self, x: Array) -> Mark | None:
        """The material point at `x` as the body stands at the start."""
        return find_mark(self.elements, self.point_count, x, point=True)


@cached_by_identity
def _derive(body: NaturalBody) -> NaturalRows:
    return rows_of([body])


def find_mark(q: Array, points: int, x: Array, *, point: bool) -> Mark | None:
    """The point (or direction) of a body at pose `q` that stands at `x`; None if the body cannot follow it."""
    w = spans_of(q, points)
    offset = x - q[0] if point else x
    c = offset @ pseudo_inverse(w) if len(w) else np.zeros(0)
    missed = offset - c @ w if len(w) else offset
    size = max(float(np.linalg.norm(w, axis=1).max()) if len(w) else 0.0, float(np.linalg.norm(offset)), 1e-300)
    if np.linalg.norm(missed) > 1e-6 * size:
        return None
    return Mark(element_weights(c, points, point=point), np.array(x, float))
