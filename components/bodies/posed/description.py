"""What bodies share that stand at a place, turned by an angle or a quaternion: where their ports are, and how they move."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np

from components.bodies.posed import turning
from components.bodies.posed.whole import PlacedAndTurned
from modular.elements import Array
from modular.side import Mark


class PosedBody(PlacedAndTurned):
    """A body with coordinates (x, y, theta) or (r, p): place of its own origin, and its turning."""

    __slots__ = ()

    @property
    @abstractmethod
    def origin(self) -> Array:
        """Where its own origin stands at the start [m]."""

    @property
    @abstractmethod
    def own_axes(self) -> Array:
        """Its own axes at the start, as columns."""

    @property
    @abstractmethod
    def places(self) -> Mapping[str, Any]:
        """Its ports."""

    @property
    def dimension(self) -> int:
        """2 in the plane, 3 in space."""
        return len(self.origin)

    @property
    def port_names(self) -> tuple[str, ...]:
        """Names of the ports, in order."""
        return tuple(self.places)

    @property
    def port_weights(self) -> dict[str, Array]:
        """w0 = 1 and the place of each port in the axes of the body."""
        centre, axes = self.origin, self.own_axes
        return {n: np.array([1.0, *((np.asarray(p.point, float) - centre) @ axes)]) for n, p in self.places.items()}

    # --- the map from coordinates to points --------------------------------------------------------------------------

    def rotation(self, q: Array) -> Array:
        """R, whose columns are the axes of the body, (..., d, d)."""
        return turning.rotation(q)

    def slopes(self, q: Array) -> Array:
        """How R follows the coordinates that turn: dR/dq, (d, d, 1 or 4)."""
        return turning.slopes(q)

    def reach(self, weights: Array, slopes: Array) -> Array:
        """How an element follows all coordinates, (d, k)."""
        return np.concatenate(
            [weights[0] * np.eye(self.dimension), np.einsum("cjk,j->ck", slopes, weights[1:])], axis=1
        )

    def port_motion(self, port: str, q: Array, v: Array, a: Array) -> tuple[Array, Array, Array]:
        """Position, velocity and acceleration of a port, shape (..., dimension)."""
        rho, d = self.port_weights[port][1:], self.dimension
        turn, rate, bend = self.rotations(q, v, a)
        return q[..., :d] + turn @ rho, v[..., :d] + rate @ rho, a[..., :d] + bend @ rho

    def rotations(self, q: Array, v: Array, a: Array) -> tuple[Array, Array, Array]:
        """R and its two derivatives."""
        return turning.rotations(q, v, a)

    def port_axes(self, port: str, q: Array) -> Array:
        """Axes of a port in the world as rows, (..., d, d)."""
        frame = self.places[port].frame(f"port '{port}'")
        return np.asarray(frame @ self.own_axes @ np.swapaxes(self.rotation(q), -1, -2))

    def marked_motion(self, mark: Mark, q: Array, v: Array) -> tuple[Array, Array]:
        """Where a marked point stands and how fast it is."""
        point, rho, d = mark.weights[0], mark.weights[1:], self.dimension
        turn, rate, _ = self.rotations(q, v, np.zeros_like(v))
        return point * q[:d] + turn @ rho, point * v[:d] + rate @ rho
