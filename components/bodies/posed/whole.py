"""Bodies whose coordinates begin with a place and a turning, in each row: how they are moved and turned as wholes."""

from __future__ import annotations

from components.bodies.posed import turning
from components.joints.driven_place import DrivenPlace, leading
from modular.body import Body
from modular.elements import Array


class PlacedAndTurned(Body):
    """(x, y, theta) or (r, p), of the body or of each of its nodes; what comes behind says how it is bent inside, and stays."""

    __slots__ = ()

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
