"""Of all multipliers with the same forces the smallest, where rows of joints follow from others.

Formulas give nothing to a row that follows from others. What may be added without any force are the multipliers that move nothing
(`Solved.idle`); of all that remain the smallest in the metric of the seen masses are told, as by other solvers (saddle.py).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

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
