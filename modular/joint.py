"""The contract of a joint.

A `Joint` is its description: what it locks, as plain data. When it is made it takes marks on its two sides
(`attach`) and says by which `JointForm` its equations are computed: how many elements it reads on each side, its
rows phi, and their Jacobian blocks with respect to those elements (Séguy 2003, III.3 and Annexe 2). It knows no
stiffness and no bodies: couplings turn rows into forces or impulses.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from math import dist
from typing import Any, ClassVar, Self

import numpy as np

from modular.component import Component
from modular.elements import Array
from modular.errors import ModelError
from modular.loop import Loop
from modular.side import Mark, Side
from modular.tables_as_data import found, named


@dataclass(frozen=True)
class JointForm:
    """One way of writing joint equations; joints of one form share a stack and its compiled loop.

    `linearise` fills, for every joint of the stack, the errors (n, m) and the Jacobian blocks (n, m, elements, d) from the
    positions of the elements: a compiled loop (modular/loop.py), or any function
    `linearise(count, first, second, marker, x, error, on_first, on_second)` of arrays. Rows that lock
    translations [m] come first, rows that lock rotations [-] after them. Rotation rows may be more than the rotations
    they lock (a cross product has three rows and locks two): `rotations` is their rank.
    """

    name: str
    linearise: Loop | Callable[..., None]
    first: int  # elements read on the first side
    second: int
    rows: int
    translations: int  # leading rows that lock translations
    locks: int  # independent directions locked
    rotations: int  # of them rotations
    marker: int = 0  # numbers fixed when the joint is made
    coincident: int = (
        0  # leading rows that say P_a = P_b, the first elements of both sides: their Jacobians are -1 and 1
    )
    turns: bool = True  # whether its seen masses change as the bodies turn
    holonomic: bool = True  # False: its rows lock velocities only, errors stay zero (Séguy 2003, IV.2.b)
    drives: int = (
        0  # trailing rows that follow a course over time (modular/courses.py), whose pieces are behind `marker`
    )

    def __hash__(self) -> int:
        return hash(self.name)  # forms are looked up at every event

    def to_data(self) -> dict[str, Any]:
        """As data; how it is linearised goes by name."""
        data = {field.name: getattr(self, field.name) for field in fields(self)}
        return {**data, "linearise": named(self.linearise)}

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> JointForm:
        """The form that `to_data` described."""
        return cls(**{**data, "linearise": found(data["linearise"], f"joint form '{data['name']}'")})

    @cached_property
    def facts(self) -> dict[str, Any]:
        """What those who read a run need to know."""
        return {
            "form": self.name,
            "translations": self.translations,
            "locks": self.locks,
            "holonomic": self.holonomic,
            "drives": self.drives,
        }


@dataclass(frozen=True)
class Attachment:
    """A joint as it was made: its form, its marks on both sides and the numbers it fixed."""

    form: JointForm
    first: Sequence[Mark]
    second: Sequence[Mark]
    marker: Sequence[float] = ()


class Joint(Component):
    """Description of a joint."""

    symmetric: ClassVar[bool] = True  # swapping its sides changes nothing
    coincident: ClassVar[bool] = True  # its two points must coincide
    together: ClassVar[bool] = True  # both sides get opposite wrenches at one point; False: each at its own
    apart: ClassVar[bool] = False  # its two points must not: it spans a distance
    dimensions: ClassVar[tuple[int, ...]] = (2, 3)  # where it means something
    otherwise: ClassVar[str] = ""  # and what to take elsewhere
    coordinates: ClassVar[
        tuple[str, ...]
    ] = ()  # "angle", "way", "distance" along its one axis that it leaves free or drives
    drive: ClassVar[bool] = False  # it drives them

    @abstractmethod
    def attach(self, name: str, first: Side, second: Side, a: Array, b: Array) -> Attachment:
        """Take marks on both sides; `a` and `b` are the points it stands at on either side [m]."""

    def leading(self, course: Any, dimension: int) -> Joint | None:
        """A drive beside it that leads its one coordinate along a course, or as values at times; None where it has not one."""
        return None

    def points(self, dimension: int) -> JointForm | None:
        """Its form, where the two points of its ports are all that it reads; then `attach` takes nothing else."""
        return None

    def gap(self, first: Side, second: Side, a: Array, b: Array) -> float:
        """How far the two points are from where the joint wants them [m]."""
        return dist(a.tolist(), b.tolist())

    def misfit(self, a: Array, b: Array) -> str:
        """What is wrong where they are not, and what helps; empty where it is that they do not meet."""
        return ""

    @classmethod
    @abstractmethod
    def example(cls, dimension: int = 3) -> Self:
        """A joint of this type for the contract tests."""


def point_marks(name: str, first: Side, second: Side, a: Array, b: Array) -> tuple[Mark, Mark]:
    """Marks on the two points of a joint, refused by name where a body cannot follow its point."""
    marks = []
    for side, x in ((first, a), (second, b)):
        mark = side.point(x)
        if mark is None:
            raise ModelError(
                f"joint '{name}': body '{side.owner}' cannot follow the point {tuple(np.round(x, 9).tolist())}, which lies off "
                "its line; give the body inertia across it (Rod: radius=…) or place the joint on the line."
            )
        marks.append(mark)
    return marks[0], marks[1]


def unit(name: str, direction: Sequence[float], dimension: int) -> Array:
    """`direction` as a unit vector."""
    try:
        vector = np.asarray(direction, float)
    except (TypeError, ValueError):
        vector = np.array(np.nan)
    length = np.linalg.norm(vector)
    if vector.shape != (dimension,) or not np.isfinite(length) or length == 0:
        raise ModelError(
            f"joint '{name}': axis = {direction!r} is not a direction here; give {dimension} numbers, not all zero."
        )
    return np.asarray(vector / length)
