"""Leaders of a native FMU: bodies led along one cubic in time, whose numbers have names in the formulas, so that they can change.

A course is course_WAY_since, the time from which it counts, and course_WAY_ROW_POWER: c_0 … c_3 for each row of its way or turn.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from components.bodies.led.description import LedBody
from components.bodies.led.stack import LedBodies
from components.courses import Course
from modular.courses import NUMBERS_PER_ROW
from modular.elements import Array, Indices
from modular.naming import NumbersInRows

POWERS = 4  # of a cubic
COURSES = ("way", "turn")


@dataclass(frozen=True)
class Cubic(Course):
    """c_0 + c_1 t + c_2 t^2 + c_3 t^3 for each row: `coefficients`, four a row."""

    coefficients: Sequence[Sequence[float]]

    @property
    def width(self) -> int:
        """Numbers at each time."""
        return len(self.coefficients)

    def pieces(self) -> Array:
        """One."""
        rows = np.zeros((self.width, NUMBERS_PER_ROW))
        rows[:, :POWERS] = self.coefficients
        return np.concatenate([[0.0], rows.ravel()])[None]


def labels(column: str, rows: int) -> Iterator[tuple[str, int]]:
    """What the numbers of a course are called, and where each lies in its piece."""
    yield f"course_{column}_since", 0
    for row in range(rows):
        for power in range(POWERS):
            yield f"course_{column}_{row + 1}_{power}", 1 + NUMBERS_PER_ROW * row + power


@dataclass(frozen=True)
class GuidedBody(LedBody):
    """A led body whose courses are cubics, with names for their numbers."""

    def kind(self) -> Hashable:
        """Those that turn in the same way share a stack."""
        return GuidedBodies, *self._shape

    def new_stack(self) -> GuidedBodies:
        """An empty stack for such bodies."""
        return GuidedBodies(*self._shape)

    @property
    def _shape(self) -> tuple[int, int]:
        return self.dimension, 4 if self._quaternions else 1


class GuidedBodies(LedBodies):
    """Led bodies that say which numbers of their courses have names."""

    def numbers_in_rows(self, rows: Indices) -> Iterator[NumbersInRows]:
        """Those of courses."""
        never = np.zeros(len(rows), bool)
        for column, course in zip(COURSES, (self.going, self.turning), strict=True):
            for label, place in labels(column, course.shape[1]):
                yield NumbersInRows(label, column, [(place,)], getattr(self, column)[rows, place], never)
