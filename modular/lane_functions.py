"""Functions of numbers on lanes, for formulas that are compiled: each lane as the function of one number has it."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numba.extending import overload

from modular.lanes import _side_by_side, angle, lane, lanes, nearest


def _each(function: Callable[[float], float]) -> None:
    """A function of one number."""

    @overload(function)
    def of_lanes(x):  # type: ignore[no-untyped-def]
        if x != lanes:
            return None

        def each(x):  # type: ignore[no-untyped-def]
            return _side_by_side(function(lane(x, 0)), function(lane(x, 1)), function(lane(x, 2)), function(lane(x, 3)))

        return each


for _function in (math.sin, math.cos, math.exp, math.tanh):
    _each(_function)


@overload(math.atan2)
def _atan2(y, x):  # type: ignore[no-untyped-def]
    if lanes not in (x, y):
        return None
    return lambda y, x: angle(0.0 * x + y, 0.0 * y + x)


@overload(np.rint)
def _rint(x):  # type: ignore[no-untyped-def]
    return (lambda x: nearest(x)) if x == lanes else None
