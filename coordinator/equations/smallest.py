"""Of all multipliers with the same forces the smallest, where rows of joints follow from others.

Formulas give nothing to a row that follows from others. What may be added without any force are the multipliers that move nothing
(`Solved.idle`); of all that remain the smallest in the metric of the seen masses are told, as by other solvers (saddle.py).

What puts coordinates and rates back on the constraints, as formulas: the bordered system with other right-hand sides.

    [M  G^T] [dq]   [ 0  ]        [M  G^T] [dv]   [      0     ]
    [G  0  ] [mu] = [-phi],       [G  0  ] [mu] = [flow - G v  ]

The matrix of Séguy 2003, (II.29): the nearest place in the metric of M to first order, and the nearest velocity.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy

from coordinator.equations.solved import Solved
from coordinator.equations.written import Written
from modular.elements import Array

if TYPE_CHECKING:
    from coordinator.equations.common_formulas import CommonFormulas

LEAST = 1e-12  # of the largest seen compliance of a model: rows that see less are scaled as if they saw so much


class Smallest:
    """Scales of rows, from where models stood when their formulas were written."""

    def __init__(self, common: CommonFormulas) -> None:
        self.motions, self.count = common.motions, len(common.solved.dependent)
        m = common.motions.multipliers.shape[1]
        seen = -common.motions.more[:, self.count * m :]
        forms = {name: joints.form for joints in common.system.joints for name in joints.names}
        for name, rows in common.written.rows_of.items():
            form = forms[common.models[0][name]]
            part = seen[:, rows]
            ahead = form.translations
            if ahead:
                part[:, :ahead] = _sum(part[:, :ahead])[:, None] / ahead
            if form.rows > ahead:
                part[:, ahead:] = _sum(part[:, ahead:])[:, None] / max(form.rotations, 1)
        self.scale = 1.0 / np.sqrt(np.maximum(seen, np.maximum(LEAST * seen.max(axis=1), 1e-300)[:, None]))

    def of(self, multipliers: Array) -> Array:
        """Those with the same forces that are the smallest."""
        models, m = multipliers.shape
        idle = self.motions.more[:, : self.count * m].reshape(models, self.count, m) / self.scale[:, None]
        found = multipliers / self.scale
        square = _sum(idle[:, :, None] * idle[:, None])
        along = _sum(idle * found[:, None])
        with np.errstate(all="ignore"):  # of models that went wrong, which are told
            try:
                taken = np.linalg.solve(square, along[..., None])[..., 0]
            except np.linalg.LinAlgError:
                return multipliers
        for d in range(self.count):
            found = found - taken[:, d, None] * idle[:, d]
        return np.asarray(found * self.scale)


def _sum(values: Array) -> Array:
    """Over the last axis, one number after the other: so many models as stand side by side have no part in it."""
    total = np.zeros(values.shape[:-1])
    for k in range(values.shape[-1]):
        total = total + values[..., k]
    return total


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
