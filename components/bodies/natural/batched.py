"""Bodies whose type lays out many of them at once."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import ClassVar, Self

import numpy as np

from components.bodies.natural.description import MassProperties, NaturalBody
from components.bodies.natural.many import Layout, layout_of_one
from modular.elements import Array
from modular.tiles import TileRows


class BatchedBody(NaturalBody):
    """A body of a type with formulae for many at once: what it says about itself alone is the layout of one."""

    __slots__ = ()

    # numbers on which its shape does not hang: columns of many (tiles.py)
    plain_fields: ClassVar[frozenset[str]] = frozenset()

    @classmethod
    def sound_rows(cls, bodies: TileRows) -> Array:
        """Of many that differ in plain fields: which are sound for certain; all others have to be asked, (n,)."""
        return np.zeros(len(bodies), bool)

    @classmethod
    def named_columns(cls, bodies: TileRows) -> dict[str, Array] | None:
        """What `named_mass` names, of many that differ in plain fields, by labels; None where each has to be asked."""
        return None

    @classmethod
    @abstractmethod
    def lay_out(cls, bodies: Sequence[Self]) -> Layout:
        """Mass, elements and ports of many bodies of this type at once."""

    @property
    def mass_properties(self) -> MassProperties:
        """Mass, centre and second moment."""
        layout = layout_of_one(self)
        return MassProperties(float(layout.mass[0]), layout.centre[0], layout.second_moment[0])

    @property
    def elements(self) -> Array:
        """A, B, u, v (or fewer) at the start, (e, d)."""
        return np.asarray(layout_of_one(self).elements[0])
