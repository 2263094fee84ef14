"""The mass that a joint sees, and what its stiffness asks of the bodies.

Séguy 2003, (IV.13), (IV.14): J M^-1 J^T over both bodies, its inverse the seen mass. With B the response of the
elements of a body (B B^T its compliance), G = J B and W = G_a G_a^T + G_b G_b^T. The bodies answer for their own
element rows, so a joint needs nothing but what its two neighbours report.
"""

from typing import Any

import numpy as np

from modular.blocks import like, shaped
from modular.elements import Array, Elements
from modular.kernel import kernel
from modular.lanes import LANES, given, lanes, share
from modular.loop import FINE, loop
from modular.views import View, fetch, gather, scatter, spots, store


@kernel
def through(jacobian: Array, response: Array, modes: int, seen: Array) -> None:
    """G = J B for one side."""
    for i in range(jacobian.shape[0]):
        for mode in range(modes):
            value = 0.0
            for k in range(jacobian.shape[1]):
                for c in range(jacobian.shape[2]):
                    value += jacobian[i, k, c] * response[k, c, mode]
            seen[i, mode] = value


def _looks(joints: Any, response: tuple[int, ...]) -> list[tuple[int, ...]]:
    first, second, modes = joints.shape_of("on_first"), joints.shape_of("on_second"), response[1]
    return [first, second, (*first[1:], modes), (*second[1:], modes), (first[0], modes), (second[0], modes)]


looks = shaped(lanes, _looks)


@kernel
def see_through(
    joints: View, elements: View, n: int, stop: int, modes: int, room: tuple[Array, ...]
) -> tuple[Array, Array]:
    """G = J B on both sides of four joints."""
    on_first, on_second, answer_first, answer_second, seen_first, seen_second = room
    fetch(joints.on_first, n, stop, on_first)
    fetch(joints.on_second, n, stop, on_second)
    gather(elements.response, spots(joints.first, n, stop), answer_first)
    gather(elements.response, spots(joints.second, n, stop), answer_second)
    through(on_first, answer_first, modes, seen_first)
    through(on_second, answer_second, modes, seen_second)
    return seen_first, seen_second


def seen_by(stack: Any, elements: Elements, row: int) -> list[Array]:
    """G = J B on both sides of one joint, (m, modes) each, from what the bodies reported."""
    found = []
    for start, jacobian in ((stack.first[row], stack.on_first[row]), (stack.second[row], stack.on_second[row])):
        found.append(np.einsum("mkc,kcq->mq", jacobian, elements.response[start : start + jacobian.shape[1]]))
    return found


@kernel
def see_rows(start: int, stop: int, joints: View, elements: View, modes: int) -> None:
    """W = G_a G_a^T + G_b G_b^T of every joint."""
    compliance, room = like(joints.compliance), looks(joints, elements.response)
    rows = compliance.shape[0]
    for n in range(start, stop, LANES):
        seen_first, seen_second = see_through(joints, elements, n, stop, modes, room)
        for i in range(rows):
            for j in range(rows):
                value = 0.0
                for mode in range(modes):
                    value += seen_first[i, mode] * seen_first[j, mode]
                    value += seen_second[i, mode] * seen_second[j, mode]
                compliance[i, j] = value
        store(compliance, joints.compliance, n, stop)


@loop
def see_loop(start: int, stop: int, joints: View, elements: View) -> int:
    """What joints see of bodies that move as rigid ones."""
    see_rows(start, stop, joints, elements, elements.load.shape[0])
    return FINE


@loop
def see_all_loop(start: int, stop: int, joints: View, elements: View) -> int:
    """What joints see of bodies whose coordinates are free of each other."""
    see_rows(start, stop, joints, elements, elements.response.shape[1])
    return FINE


matrix = shaped(lanes, lambda _: [(3, 3), (3, 3), (3, 3), (3, 3)])


@loop
def weigh_loop(start: int, stop: int, joints: View, elements: View) -> int:
    """Seen mass of every joint as a matrix: translations one isotropic number, rotations W_rr^-1 (pseudo-inverse).

    The isotropic number is the inverse of the trace, which neither a turn of the bodies nor one of the world changes; its
    scale is settled afterwards, with the neighbours.
    """
    compliance, block = like(joints.compliance), like(joints.block)
    w, projector, cofactors, inverse = matrix(joints.block)
    rows, translations, rank = block.shape[0], joints.translations.shape[0], joints.rotations.shape[0]
    size = rows - translations
    for n in range(start, stop, LANES):
        fetch(joints.compliance, n, stop, compliance)
        block[:, :] = 0.0
        trace = 0.0
        for i in range(translations):
            trace += compliance[i, i]
        for i in range(translations):
            block[i, i] = share(1.0, trace)
        if size == 1:
            block[translations, translations] = share(1.0, compliance[translations, translations])
        if size == 3:
            for i in range(3):
                for j in range(3):
                    w[i, j] = compliance[translations + i, translations + j]
            invert_rotations(w, rank, projector, cofactors, inverse)
            for i in range(3):
                for j in range(3):
                    block[translations + i, translations + j] = inverse[i, j]
        store(block, joints.block, n, stop)
    return FINE


@kernel
def invert_rotations(w: Array, rank: int, projector: Array, cofactors: Array, inverse: Array) -> None:
    """Pseudo-inverse of a 3 x 3 semi-definite matrix of the given rank (1, 2 or 3); spoils it."""
    trace = w[0, 0] + w[1, 1] + w[2, 2]
    whole = trace
    if rank == 2:
        # Rank two: adj(W) = l1 l2 n n^T, with n the direction that stays free. Fill it, invert, empty it again.
        adjugate(w, projector)
        whole = projector[0, 0] + projector[1, 1] + projector[2, 2]
        for i in range(3):
            for j in range(3):
                projector[i, j] = share(projector[i, j], whole)
                w[i, j] += trace * projector[i, j]
    adjugate(w, cofactors)
    determinant = w[0, 0] * cofactors[0, 0] + w[0, 1] * cofactors[1, 0] + w[0, 2] * cofactors[2, 0]
    for i in range(3):
        for j in range(3):
            value = share(cofactors[i, j], determinant)
            if rank == 2:
                value -= share(projector[i, j], trace)
            inverse[i, j] = given(trace, given(whole, given(determinant, value)))


@kernel
def adjugate(m: Array, out: Array) -> None:
    """Adjugate of a symmetric 3 x 3 matrix."""
    out[0, 0] = m[1, 1] * m[2, 2] - m[1, 2] * m[2, 1]
    out[1, 1] = m[0, 0] * m[2, 2] - m[0, 2] * m[2, 0]
    out[2, 2] = m[0, 0] * m[1, 1] - m[0, 1] * m[1, 0]
    out[0, 1] = out[1, 0] = m[0, 2] * m[1, 2] - m[0, 1] * m[2, 2]
    out[0, 2] = out[2, 0] = m[0, 1] * m[1, 2] - m[0, 2] * m[1, 1]
    out[1, 2] = out[2, 1] = m[0, 1] * m[0, 2] - m[0, 0] * m[1, 2]


loads = shaped(lanes, lambda load: [load, load])


@kernel
def ask_rows(start: int, stop: int, joints: View, elements: View) -> None:
    """Share each joint's block E between its bodies and write G^T (E / theta) G for each side.

    theta_a + theta_b = 1 in the proportions of the two compliances, translations and rotations each on their own. A body
    sums the loads of its joints; with lambda their largest eigenvalue, the step is stable if lambda < 4 on every body:
    sum_j J^T E J <= sum over bodies of J_b^T (E / theta_b) J_b, by the convexity of x^2.
    """
    block, room = like(joints.block), looks(joints, elements.response)
    on_first, on_second = loads(elements.load)
    rows, translations = block.shape[0], joints.translations.shape[0]
    for n in range(start, stop, LANES):
        seen_first, seen_second = see_through(joints, elements, n, stop, on_first.shape[0], room)
        fetch(joints.block, n, stop, block)
        on_first[:, :] = 0.0
        on_second[:, :] = 0.0
        for part in range(2):
            first = 0 if part == 0 else translations
            last = translations if part == 0 else rows
            asked_first = asked(seen_first, block, first, last, on_first.shape[0])
            asked_second = asked(seen_second, block, first, last, on_first.shape[0])
            whole = asked_first + asked_second
            add_load(seen_first, block, first, last, share(whole, asked_first), on_first)
            add_load(seen_second, block, first, last, share(whole, asked_second), on_second)
        scatter(on_first, elements.load, spots(joints.first, n, stop))
        scatter(on_second, elements.load, spots(joints.second, n, stop))


@loop
def ask_loop(start: int, stop: int, joints: View, elements: View) -> int:
    """Tell the bodies what the blocks of joints ask of them."""
    ask_rows(start, stop, joints, elements)
    return FINE


@kernel
def asked(seen: Array, block: Array, start: int, stop: int, modes: int) -> Any:
    """tr(E W) of one side and one part."""
    value = 0.0 * block[0, 0]
    for i in range(start, stop):
        for j in range(start, stop):
            for mode in range(modes):
                value += block[i, j] * seen[i, mode] * seen[j, mode]
    return value


@kernel
def add_load(seen: Array, block: Array, start: int, stop: int, factor: Any, load: Array) -> None:
    """load += factor G^T E G."""
    for i in range(start, stop):
        for j in range(start, stop):
            weight = factor * block[i, j]
            for p in range(load.shape[0]):
                for q in range(load.shape[1]):
                    load[p, q] += weight * seen[i, p] * seen[j, q]


@kernel
def growth(x: float, y: float, bound: float) -> Any:
    """mu with mu^2 x + mu y = (x + y) 4 / bound, also where there is no stiffness (x = 0); infinite where neither is."""
    if x + y <= 0.0:
        return np.inf
    room = (x + y) * 4.0 / bound
    return 2.0 * room / (y + np.sqrt(y * y + 4.0 * x * room))
