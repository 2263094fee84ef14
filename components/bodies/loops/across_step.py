"""How a rigid body answers at the end of a drift what forces do at its beginning, where it turns: B' N^-1 B^T with N = B^T M B'.

So written it is exact for steps that keep the shape by RATTLE (natural/gluing.py), and as near to free flight as the step is short.
Directions are axes over sqrt(inertia), a row each; of one body, or of four as lanes.
"""

from __future__ import annotations

from typing import Any

from modular.elements import Array
from modular.kernel import kernel
from modular.lanes import given


@kernel
def mixed_inertia(axes: Array, ahead: Array, mixed: Array, trace: Any, found: Array) -> None:
    """N of the turning, from sum of m r r'^T, r and r' from the mass centre before and after; `trace`: of that."""
    # (t x r) . (t' x r') = (t . t') (r . r') - (t . r') (r . t')
    for k in range(3):
        for m in range(3):
            value = 0.0 * trace
            for b in range(3):
                value += axes[k, b] * ahead[m, b] * trace
                for c in range(3):
                    value -= ahead[m, b] * mixed[b, c] * axes[k, c]
            found[k, m] = value


@kernel
def directions_across(matrix: Array, ahead: Array, inverse: Array, found: Array) -> None:
    """t' N^-1: the directions that stand for those before; nothing where N leads nowhere."""
    determinant = 0.0 * matrix[0, 0]
    for k in range(3):
        k1, k2 = (k + 1) % 3, (k + 2) % 3
        for m in range(3):
            m1, m2 = (m + 1) % 3, (m + 2) % 3
            inverse[m, k] = matrix[k1, m1] * matrix[k2, m2] - matrix[k1, m2] * matrix[k2, m1]
        determinant += matrix[k, 0] * inverse[0, k]
    for k in range(3):
        for c in range(3):
            value = 0.0 * determinant
            for m in range(3):
                value += inverse[m, k] * ahead[m, c]
            found[k, c] = given(determinant, value / determinant)
