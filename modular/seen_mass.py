"""The mass that a joint sees, and what its stiffness asks of the bodies.

Séguy 2003, (IV.13), (IV.14): J M^-1 J^T over both bodies, its inverse the seen mass. With B the response of the
elements of a body (B B^T its compliance), G = J B and W = G_a G_a^T + G_b G_b^T. The bodies answer for their own
element rows, so a joint needs nothing but what its two neighbours report.
"""

import numpy as np

from modular.elements import RIGID, Array, Indices
from modular.kernel import kernel


@kernel
def see_loop(
    count: int,
    first: Indices,
    second: Indices,
    on_first: Array,
    on_second: Array,
    response: Array,
    modes: int,
    seen_first: Array,
    seen_second: Array,
    compliance: Array,
) -> None:
    """G on both sides and W = G_a G_a^T + G_b G_b^T of every joint."""
    rows = on_first.shape[1]
    for n in range(count):
        through(first[n], on_first[n], response, modes, seen_first[n])
        through(second[n], on_second[n], response, modes, seen_second[n])
        for i in range(rows):
            for j in range(rows):
                value = 0.0
                for mode in range(modes):
                    value += seen_first[n, i, mode] * seen_first[n, j, mode]
                    value += seen_second[n, i, mode] * seen_second[n, j, mode]
                compliance[n, i, j] = value


@kernel
def through(element: int, jacobian: Array, response: Array, modes: int, seen: Array) -> None:
    """G = J B for one side."""
    for i in range(jacobian.shape[0]):
        for mode in range(modes):
            value = 0.0
            for k in range(jacobian.shape[1]):
                for c in range(jacobian.shape[2]):
                    value += jacobian[i, k, c] * response[element + k, c, mode]
            seen[i, mode] = value


@kernel
def shape_loop(count: int, translations: int, rotations: int, compliance: Array, shape: Array) -> None:
    """Seen mass of every joint as a matrix: translations one isotropic number, rotations W_rr^-1 (pseudo-inverse).

    The isotropic number is the inverse of the trace, which neither a turn of the bodies nor one of the world changes; its
    scale is settled afterwards, with the neighbours.
    """
    rows = compliance.shape[1]
    inverse = np.zeros((3, 3))
    for n in range(count):
        shape[n, :, :] = 0.0
        trace = 0.0
        for i in range(translations):
            trace += compliance[n, i, i]
        for i in range(translations):
            shape[n, i, i] = 1.0 / trace if trace > 0.0 else 0.0
        size = rows - translations
        if size > 0:
            invert_rotations(compliance[n, translations:, translations:], rotations, inverse)
            for i in range(size):
                for j in range(size):
                    shape[n, translations + i, translations + j] = inverse[i, j]


@kernel
def invert_rotations(w: Array, rank: int, inverse: Array) -> None:
    """Pseudo-inverse of a 1 x 1 or 3 x 3 semi-definite matrix of the given rank (1, 2 or 3)."""
    inverse[:] = 0.0
    if w.shape[0] == 1:
        inverse[0, 0] = 1.0 / w[0, 0] if w[0, 0] > 0.0 else 0.0
        return
    trace = w[0, 0] + w[1, 1] + w[2, 2]
    if trace <= 0.0:
        return
    filled = w.copy()
    projector = np.zeros((3, 3))
    if rank == 2:
        # Rank two: adj(W) = l1 l2 n n^T, with n the direction that stays free. Fill it, invert, empty it again.
        adjugate(w, projector)
        whole = projector[0, 0] + projector[1, 1] + projector[2, 2]
        if whole <= 0.0:
            return
        for i in range(3):
            for j in range(3):
                projector[i, j] /= whole
                filled[i, j] += trace * projector[i, j]
    cofactors = np.empty((3, 3))
    adjugate(filled, cofactors)
    determinant = filled[0, 0] * cofactors[0, 0] + filled[0, 1] * cofactors[1, 0] + filled[0, 2] * cofactors[2, 0]
    if determinant <= 0.0:
        return
    for i in range(3):
        for j in range(3):
            inverse[i, j] = cofactors[i, j] / determinant
    if rank == 2:
        for i in range(3):
            for j in range(3):
                inverse[i, j] -= projector[i, j] / trace


@kernel
def adjugate(m: Array, out: Array) -> None:
    """Adjugate of a symmetric 3 x 3 matrix."""
    out[0, 0] = m[1, 1] * m[2, 2] - m[1, 2] * m[2, 1]
    out[1, 1] = m[0, 0] * m[2, 2] - m[0, 2] * m[2, 0]
    out[2, 2] = m[0, 0] * m[1, 1] - m[0, 1] * m[1, 0]
    out[0, 1] = out[1, 0] = m[0, 2] * m[1, 2] - m[0, 1] * m[2, 2]
    out[0, 2] = out[2, 0] = m[0, 1] * m[1, 2] - m[0, 2] * m[1, 1]
    out[1, 2] = out[2, 1] = m[0, 1] * m[0, 2] - m[0, 0] * m[1, 2]


@kernel
def load_loop(
    count: int,
    translations: int,
    first: Indices,
    second: Indices,
    seen_first: Array,
    seen_second: Array,
    block: Array,
    load: Array,
) -> None:
    """Share each joint's block E between its bodies and write G^T (E / theta) G for each side.

    theta_a + theta_b = 1 in the proportions of the two compliances, translations and rotations each on their own. A body
    sums the loads of its joints; with lambda their largest eigenvalue, the step is stable if lambda < 4 on every body:
    sum_j J^T E J <= sum over bodies of J_b^T (E / theta_b) J_b, by the convexity of x^2.
    """
    rows = block.shape[1]
    for n in range(count):
        load[first[n]] = 0.0
        load[second[n]] = 0.0
        for part in range(2):
            start = 0 if part == 0 else translations
            stop = translations if part == 0 else rows
            asked_first = asked(seen_first[n], block[n], start, stop)
            asked_second = asked(seen_second[n], block[n], start, stop)
            whole = asked_first + asked_second
            if whole <= 0.0:
                continue
            if asked_first > 0.0:
                add_load(seen_first[n], block[n], start, stop, whole / asked_first, load[first[n]])
            if asked_second > 0.0:
                add_load(seen_second[n], block[n], start, stop, whole / asked_second, load[second[n]])


@kernel
def asked(seen: Array, block: Array, start: int, stop: int) -> float:
    """tr(E W) of one side and one part."""
    value = 0.0
    for i in range(start, stop):
        for j in range(start, stop):
            for mode in range(RIGID):
                value += block[i, j] * seen[i, mode] * seen[j, mode]
    return value


@kernel
def add_load(seen: Array, block: Array, start: int, stop: int, factor: float, load: Array) -> None:
    """load += factor G^T E G."""
    for i in range(start, stop):
        for j in range(start, stop):
            weight = factor * block[i, j]
            if weight != 0.0:
                for p in range(RIGID):
                    for q in range(RIGID):
                        load[p, q] += weight * seen[i, p] * seen[j, q]
