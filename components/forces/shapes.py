"""Shapes of what touches: half spaces, boxes, capsules and spheres, placed in the axes of a port.

In the plane they are half planes, rectangles, stadiums and discs. On the ground they are placed in the world.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from modular.component import Component
from modular.elements import Array

# as kernels know them; of a pair, the one that comes first here is asked for
HALF_SPACE, BOX, CAPSULE, SPHERE = range(4)


def _is_vector(value: object, size: int) -> bool:
    try:
        found = np.asarray(value, float)
    except (TypeError, ValueError):
        return False
    return found.shape == (size,) and bool(np.isfinite(found).all())


def _is_frame(value: object, size: int) -> bool:
    try:
        rows = np.asarray(value, float)
    except (TypeError, ValueError):
        return False
    if rows.shape != (size, size) or not np.isfinite(rows).all():
        return False
    return bool(np.allclose(rows @ rows.T, np.eye(size), atol=1e-9) and np.linalg.det(rows) > 0.0)


def _is_positive(value: object) -> bool:
    return not isinstance(value, bool) and isinstance(value, int | float | np.number) and bool(0.0 < value < np.inf)


class Shape(Component):
    """What touches; `centre` and directions are in the axes of its port, from the port [m]."""

    __slots__ = ()
    number: ClassVar[int]
    centre: Sequence[float] | None

    @abstractmethod
    def problems(self, dimension: int) -> list[str]:
        """Everything that is wrong with the data."""

    def place(self, dimension: int) -> Array:
        """Its middle, from the port [m]."""
        return np.zeros(dimension) if self.centre is None else np.asarray(self.centre, float)

    def axes(self, dimension: int) -> Array:
        """Its own axes as rows, in those of the port."""
        return np.eye(dimension)

    @abstractmethod
    def sizes(self, dimension: int) -> tuple[float, float, float, float]:
        """Half of its extents along its axes, and the radius of what is rounded [m]."""

    def _centre_problems(self, dimension: int) -> list[str]:
        fine = self.centre is None or _is_vector(self.centre, dimension)
        return [] if fine else [f"centre = {self.centre!r}; give {dimension} finite numbers [m]"]


def _along(direction: Array) -> Array:
    """Axes of which the first has a direction."""
    first = direction / np.linalg.norm(direction)
    if len(first) == 2:
        return np.array([first, (-first[1], first[0])])
    other = np.eye(3)[int(np.argmin(np.abs(first)))]
    second = np.cross(first, other)
    second /= np.linalg.norm(second)
    return np.array([first, second, np.cross(first, second)])


@dataclass(frozen=True)
class HalfSpace(Shape):
    """All that lies behind a plane through `centre`; `normal` points out of it, left out along the last axis."""

    normal: Sequence[float] | None = None
    centre: Sequence[float] | None = None
    number: ClassVar[int] = HALF_SPACE

    def problems(self, dimension: int) -> list[str]:
        """A normal that points nowhere."""
        found = self._centre_problems(dimension)
        if self.normal is not None and not (_is_vector(self.normal, dimension) and np.any(self.normal)):
            found.append(f"normal = {self.normal!r}; give {dimension} finite numbers that are not all zero")
        return found

    def axes(self, dimension: int) -> Array:
        """The first is the normal."""
        return _along(np.eye(dimension)[-1] if self.normal is None else np.asarray(self.normal, float))

    def sizes(self, dimension: int) -> tuple[float, float, float, float]:
        """It has none."""
        return 0.0, 0.0, 0.0, 0.0


@dataclass(frozen=True)
class Sphere(Shape):
    """A sphere; with radius 0 a point."""

    radius: float = 0.0
    centre: Sequence[float] | None = None
    number: ClassVar[int] = SPHERE

    def problems(self, dimension: int) -> list[str]:
        """A radius that is none."""
        fine = self.radius == 0 or _is_positive(self.radius)
        wrong = [] if fine else [f"radius = {self.radius!r}; give a finite number from 0 on [m]"]
        return wrong + self._centre_problems(dimension)

    def sizes(self, dimension: int) -> tuple[float, float, float, float]:
        """A radius alone."""
        return 0.0, 0.0, 0.0, float(self.radius)


@dataclass(frozen=True)
class Capsule(Shape):
    """All that is nearer than `radius` to a line of `length` along `axis`, left out the first axis of the port."""

    radius: float
    length: float
    axis: Sequence[float] | None = None
    centre: Sequence[float] | None = None
    number: ClassVar[int] = CAPSULE

    def problems(self, dimension: int) -> list[str]:
        """Sizes that are none."""
        found = []
        for label, value in (("radius", self.radius), ("length", self.length)):
            if not (_is_positive(value) or (label == "radius" and value == 0)):
                found.append(f"{label} = {value!r}; give a finite number above 0 [m]")
        if self.axis is not None and not (_is_vector(self.axis, dimension) and np.any(self.axis)):
            found.append(f"axis = {self.axis!r}; give {dimension} finite numbers that are not all zero")
        return found + self._centre_problems(dimension)

    def axes(self, dimension: int) -> Array:
        """The first is its line."""
        return _along(np.eye(dimension)[0] if self.axis is None else np.asarray(self.axis, float))

    def sizes(self, dimension: int) -> tuple[float, float, float, float]:
        """Half its line, and the radius."""
        return 0.5 * float(self.length), 0.0, 0.0, float(self.radius)


@dataclass(frozen=True)
class Box(Shape):
    """A box of these edge lengths [m] along the rows of `turned`, unit vectors in the axes of its port; left out
    those axes."""

    size: Sequence[float]
    centre: Sequence[float] | None = None
    turned: Sequence[Sequence[float]] | None = None
    number: ClassVar[int] = BOX

    def problems(self, dimension: int) -> list[str]:
        """Edges that are none, and axes that are not at right angles."""
        found = self._centre_problems(dimension)
        if not (_is_vector(self.size, dimension) and min(self.size) > 0):
            found.append(f"size = {self.size!r}; give {dimension} finite numbers above 0 [m]")
        if self.turned is not None and not _is_frame(self.turned, dimension):
            found.append(
                f"turned = {self.turned!r}; give {dimension} unit vectors at right angles as rows, right-handed"
            )
        return found

    def axes(self, dimension: int) -> Array:
        """Along its edges."""
        return np.eye(dimension) if self.turned is None else np.asarray(self.turned, float)

    def sizes(self, dimension: int) -> tuple[float, float, float, float]:
        """Half of its edges; in the plane it has no depth."""
        half = [0.5 * float(edge) for edge in self.size]
        return half[0], half[1], half[2] if dimension == 3 else 0.0, 0.0
