"""Courses that joints and bodies are led along, as functions of time: written out where they are one piece, else by name."""

from __future__ import annotations

from typing import Any

import numpy as np
import sympy

from coordinator.equations.plain import MEANING, plain
from coordinator.equations.terms import Term, tidy
from modular import courses

TIME = sympy.Symbol("t", real=True)
plain_follow = plain(courses.follow)


class Led:
    """What followed courses while formulas were written: names that stand for their values, rates and accelerations."""

    def __init__(self) -> None:
        self.owner = ""
        self.named: dict[Any, tuple[Any, Any, int, int, int]] = {}  # by symbol: marker, pieces, rows, row, derivative

    def follow(self, marker: Any, pieces: Any, time: Any, beyond: Any, course: Any) -> None:
        """As `modular.courses.follow`, at a time that may be a symbol."""
        marker, pieces = (
            [x if isinstance(x, Term) else tidy(float(x)) for x in numbers] for numbers in (marker, pieces)
        )
        if not isinstance(time, Term) or time.expression.is_number or int(marker[0]) == 1:
            plain_follow(marker, pieces, time, beyond, course)
            return
        rows = course.shape[0]
        for i in range(rows):
            for derivative in range(3):
                label = f"{self.owner}.f{i + 1 if rows > 1 else ''}" + "'" * derivative
                symbol = sympy.Symbol(label, real=True)
                self.named[symbol] = marker, pieces, rows, i, derivative
                course[i, derivative] = Term(symbol)

    def value(self, symbol: Any, time: float) -> float:
        """What a name stands for at a time."""
        marker, pieces, rows, row, derivative = self.named[symbol]
        course = np.zeros((rows, 3))
        plain_follow(marker, pieces, time, 0.0, course)
        return float(course[row, derivative])


class _Asked:
    """By whom courses are followed now."""

    def __init__(self) -> None:
        self.led: Any = Led()

    def follow(self, marker: Any, pieces: Any, time: Any, beyond: Any, course: Any) -> None:
        self.led.follow(marker, pieces, time, beyond, course)


ASKED = _Asked()
MEANING[id(courses.follow)] = ASKED.follow
