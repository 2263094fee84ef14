"""Bodies whose coordinates begin with a place and a turning, in each row: what follows for all of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from components.bodies.posed import turning
from components.bodies.posed.quaternions import spinning
from components.bodies.short_sums import dot
from components.joints.driven_place import DrivenPlace, leading
from modular.body import Body
from modular.elements import Array


class PlacedAndTurned(Body):
    """(x, y, theta) or (r, p), of the body or of each of its nodes; what comes behind says how it is bent inside, and stays.

    The place is that of the mass centre; who has many, as beams, says otherwise.
    """

    __slots__ = ()

    # --- what a record of states says --------------------------------------------------------------------------------

    def spin(self, q: Array, v: Array) -> Array:
        """Angular velocity in the axes of the body, or of each node [rad/s], (..., 3) or (..., 1)."""
        if self.dimension == 2:
            return np.asarray(v[..., 2:3])
        return np.asarray(2.0 * np.einsum("...ic,...c->...i", spinning(q[..., 3:7]), v[..., 3:7]))

    def potential_energy(self, q: Array, gravity: Array) -> Array:
        """In uniform gravity [J], zero at the origin of the world, shape (...)."""
        return np.asarray(-self.total_mass * dot(q[..., : self.dimension], gravity))

    def momentum(self, q: Array, v: Array) -> Array:
        """Linear momentum [kg m/s], shape (..., dimension)."""
        return np.asarray(self.total_mass * v[..., : self.dimension])

    def mass_centre(self, q: Array) -> Array:
        """Position of the mass centre [m], shape (..., dimension)."""
        return np.asarray(q[..., : self.dimension])

    # --- internal constraints ----------------------------------------------------------------------------------------

    @property
    def quaternions(self) -> list[slice]:
        """Where quaternions stand among its coordinates, all in a row; there are none in the plane."""
        return [slice(3, 7)][: self.dimension - 2]

    def in_a_row(self, q: Array) -> Array:
        """Coordinates in a row, (..., k)."""
        return q

    def internal_violation(self, q: Array) -> Array:
        """(p . p - 1) / 2 of each quaternion, (..., m)."""
        q = self.in_a_row(q)
        found = [0.5 * (np.sum(q[..., place] ** 2, axis=-1) - 1.0) for place in self.quaternions]
        return np.stack(found, axis=-1) if found else np.zeros((*q.shape[:-1], 0))

    def internal_violation_rate(self, q: Array, v: Array) -> Array:
        """Its time derivative."""
        q, v = self.in_a_row(q), self.in_a_row(v)
        found = [np.sum(q[..., place] * v[..., place], axis=-1) for place in self.quaternions]
        return np.stack(found, axis=-1) if found else np.zeros((*q.shape[:-1], 0))

    # --- moved and turned --------------------------------------------------------------------------------------------

    def moved(self, q: Array, offset: Array) -> Array:
        """Places move, all else stays."""
        found = q.copy()
        found[..., : self.dimension] += offset
        return found

    def turned(self, q: Array, v: Array, rotation: Array) -> tuple[Array, Array]:
        """Places and turnings."""
        return turning.turned(q, v, rotation)

    def leading(self, times: Array, ways: Array, rates: Array) -> DrivenPlace:
        """Its place alone."""
        return leading(times, ways, rates)


def given_motion(body: Any) -> tuple[Array, Array]:
    """The velocity and the angular velocity that a description gives, nothing where it gives none: (d,), and (1,) or (3,)."""
    d = body.dimension
    linear = np.zeros(d) if body.velocity is None else np.asarray(body.velocity, float)
    spin = np.zeros(2 * d - 3) if body.angular_velocity is None else np.ravel(body.angular_velocity).astype(float)
    return linear, spin
