"""What puts coordinates and rates back on the constraints, as formulas: the bordered system with other right-hand sides.

    [M  G^T] [dq]   [ 0  ]        [M  G^T] [dv]   [      0     ]
    [G  0  ] [mu] = [-phi],       [G  0  ] [mu] = [flow - G v  ]

The matrix of Séguy 2003, (II.29): the nearest place in the metric of M to first order, and the nearest velocity.
"""

from __future__ import annotations

import copy
from typing import Any

import sympy

from coordinator.equations.solved import Solved
from coordinator.equations.written import Written

NOTHING = sympy.Integer(0)


def corrections_of_place(written: Written, good: float) -> tuple[Solved, list[Any]]:
    """dq, and then phi."""
    found = _with_right_side(written, {r: -gap for r, gap in enumerate(written.constraints)}, good)
    return found, [*found.accelerations, *written.constraints]


def corrections_of_velocity(written: Written, good: float) -> tuple[Solved, list[Any]]:
    """dv."""
    asked = {r: written.flow.get(r, NOTHING) for r in range(len(written.constraints))}
    for (r, c), slope in written.jacobian.items():
        asked[r] -= slope * written.rates[c]
    found = _with_right_side(written, asked, good)
    return found, list(found.accelerations)


def _with_right_side(written: Written, asked: dict[int, Any], good: float) -> Solved:
    other = copy.copy(written)
    other.loads = {}
    other.gamma = {r: value for r, value in asked.items() if value != 0}
    return Solved(other, (written.start[0], written.start[1]), good)
