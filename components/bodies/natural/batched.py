"""Bodies whose type lays out many of them at once."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Self

import numpy as np

from components.bodies.identity_cache import cached_by_identity
from components.bodies.natural.description import MassProperties, NaturalBody
from components.bodies.natural.many import Layout
from modular.elements import Array


class BatchedBody(NaturalBody):
    """A body of a type with formulae for many at once: what it says about itself alone is the layout of one."""

    __slots__ = ()

    @classmethod
    @abstractmethod
    def lay_out(cls, bodies: Sequence[Self]) -> Layout:
        """Mass, elements and ports of many bodies of this type at once."""

    @property
    def mass_properties(self) -> MassProperties:
        """Mass, centre and second moment."""
        layout = _lay_out(self)
        return MassProperties(float(layout.mass[0]), layout.centre[0], layout.second_moment[0])

    @property
    def elements(self) -> Array:
        """A, B, u, v (or fewer) at the start, (e, d)."""
        return np.asarray(_lay_out(self).elements[0])


@cached_by_identity
def _lay_out(body: BatchedBody) -> Layout:
    return type(body).lay_out([body])
