"""The mass that a joint sees.

Séguy 2003, (IV.13), (IV.14): J M^-1 J^T over both bodies, its inverse the seen mass. With B the response of the
elements of a body (B B^T its compliance), G = J B and W = G_a G_a^T + G_b G_b^T. The bodies answer for their own
element rows, so a joint needs nothing but what its two neighbours report.
"""

from typing import Any

import numpy as np

from modular.blocks import like, shaped
from modular.elements import Array, Elements
from modular.kernel import kernel
from modular.lane_rows import fetch, fetch_one, gather, indices, store, store_one
from modular.lanes import LANES, given, lanes, larger, share
from modular.loop import NO_FAILED_ROW, loop
from modular.small_inverses import adjugate, invert_on_range, scratch_for_inverse
from modular.views import View


@kernel
def joint_response(jacobian: Array, response: Array, modes: int, seen: Array) -> None:
    """G = J B for one side."""
    for i in range(jacobian.shape[0]):
        for mode in range(modes):
            value = 0.0
            for k in range(jacobian.shape[1]):
                for c in range(jacobian.shape[2]):
                    value += jacobian[i, k, c] * response[k, c, mode]
            seen[i, mode] = value


def _response_scratch(joints: Any, response: tuple[int, ...]) -> list[tuple[int, ...]]:
    first, second, modes = joints.shape_of("on_first"), joints.shape_of("on_second"), response[1]
    return [first, second, (*first[1:], modes), (*second[1:], modes), (first[0], modes), (second[0], modes)]


response_scratch = shaped(lanes, _response_scratch)


@kernel
def joint_responses(
    joints: View, elements: View, n: int, stop: int, modes: int, room: tuple[Array, ...]
) -> tuple[Array, Array]:
    """G = J B on both sides of four joints."""
    on_first, on_second, answer_first, answer_second, seen_first, seen_second = room
    fetch(joints.on_first, n, stop, on_first)
    fetch(joints.on_second, n, stop, on_second)
    gather(elements.response, indices(joints.first, n, stop), answer_first)
    gather(elements.response, indices(joints.second, n, stop), answer_second)
    joint_response(on_first, answer_first, modes, seen_first)
    joint_response(on_second, answer_second, modes, seen_second)
    return seen_first, seen_second


def responses_of(stack: Any, elements: Elements, row: int) -> list[Array]:
    """G = J B on both sides of one joint, (m, modes) each, from what the bodies reported."""
    found = []
    for start, jacobian in ((stack.first[row], stack.on_first[row]), (stack.second[row], stack.on_second[row])):
        found.append(np.einsum("mkc,kcq->mq", jacobian, elements.response[start : start + jacobian.shape[1]]))
    return found


# tr M tr M^-1 / n^2 of what a body answers; at most 1.5625 at the end of a slender rod, 1 where it answers alike all ways, 2 where
# directions are about six apart
ANISOTROPY_LIMIT = 2.0
small = shaped(lanes, lambda _: [(3, 3)])


@kernel
def add_compliance(seen: Array, modes: int, answer: Array) -> None:
    """answer += G G^T of one side."""
    for i in range(answer.shape[0]):
        for j in range(answer.shape[1]):
            value = answer[i, j]
            for mode in range(modes):
                value += seen[i, mode] * seen[j, mode]
            answer[i, j] = value


@kernel
def compute_compliance_rows(start: int, stop: int, joints: View, elements: View, modes: int) -> None:
    """W = G_a G_a^T + G_b G_b^T of every joint."""
    compliance, room = like(joints.compliance), response_scratch(joints, elements.response)
    for n in range(start, stop, LANES):
        seen_first, seen_second = joint_responses(joints, elements, n, stop, modes, room)
        compliance[:, :] = 0.0
        add_compliance(seen_first, modes, compliance)
        add_compliance(seen_second, modes, compliance)
        store(compliance, joints.compliance, n, stop)


@loop
def compute_compliance_loop(start: int, stop: int, joints: View, elements: View) -> int:
    """What joints see of bodies that move as rigid ones."""
    compute_compliance_rows(start, stop, joints, elements, elements.demand.shape[0])
    return NO_FAILED_ROW


@loop
def compute_free_compliance_loop(start: int, stop: int, joints: View, elements: View) -> int:
    """What joints see of bodies whose coordinates are free of each other."""
    compute_compliance_rows(start, stop, joints, elements, elements.response.shape[1])
    return NO_FAILED_ROW


@kernel
def unevenness(m: Array, adjoint: Array) -> Any:
    """Above zero where a body answers much more in one direction than in another; no turn changes it."""
    if m.shape[0] == 2:
        trace = m[0, 0] + m[1, 1]
        return trace * trace - 4.0 * ANISOTROPY_LIMIT * (m[0, 0] * m[1, 1] - m[0, 1] * m[1, 0])
    adjugate(m, adjoint)
    trace, minors = m[0, 0] + m[1, 1] + m[2, 2], adjoint[0, 0] + adjoint[1, 1] + adjoint[2, 2]
    determinant = m[0, 0] * adjoint[0, 0] + m[0, 1] * adjoint[1, 0] + m[0, 2] * adjoint[2, 0]
    return trace * minors - 9.0 * ANISOTROPY_LIMIT * determinant


sides = shaped(lanes, lambda block: [block, block, (3, 3)])


@loop
def find_uneven_loop(start: int, stop: int, joints: View, elements: View) -> int:
    """Of points that coincide, whether one of the bodies answers unevenly there; that stays as they turn.

    Joints whose seen mass needs no such look do not have this loop; tables of earlier checkpoints may.
    """
    room, modes = response_scratch(joints, elements.response), elements.demand.shape[0]
    first, second, adjoint = sides(joints.block)
    if joints.steady.shape[0] == 1 and joints.square.shape[0] == 1:
        for n in range(start, stop, LANES):
            seen_first, seen_second = joint_responses(joints, elements, n, stop, modes, room)
            first[:, :] = 0.0
            second[:, :] = 0.0
            add_compliance(seen_first, modes, first)
            add_compliance(seen_second, modes, second)
            most = larger(unevenness(first, adjoint), unevenness(second, adjoint))
            store_one(given(most, 1.0), joints.uneven, n, stop)
    return NO_FAILED_ROW


@kernel
def as_matrix(joints: View, n: int, stop: int, nothing: Any) -> Any:
    """1 where the seen mass of the translations of a joint is a matrix, 0 where one number stands for them."""
    if joints.square.shape[0] == 0:
        return nothing
    if joints.steady.shape[0] == 1:
        return nothing + fetch_one(joints.uneven, n, stop)
    return nothing + 1.0


@loop
def compute_seen_mass_loop(start: int, stop: int, joints: View, elements: View) -> int:
    """Seen mass S of every joint as a matrix: W_tt^-1 for translations, W_rr^-1 (pseudo-inverse) for rotations.

    Points that coincide between bodies that answer about evenly make do with one number, the inverse of the trace, which
    neither a turn of the bodies nor one of the world changes; so do translation rows that depend on each other. Scales are
    settled afterwards, with the neighbours.
    """
    compliance, block = like(joints.compliance), like(joints.block)
    scratch, (inverse,) = scratch_for_inverse(joints.block), small(joints.block)
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
        if joints.square.shape[0] == 1:
            uneven = as_matrix(joints, n, stop, 0.0 * trace)
            invert_on_range(compliance, 0, translations, translations, scratch, inverse)
            for i in range(translations):
                for j in range(translations):
                    block[i, j] = given(uneven, inverse[i, j]) + given(1.0 - uneven, block[i, j])
        if size == 1:
            block[translations, translations] = share(1.0, compliance[translations, translations])
        if size == 3:
            invert_on_range(compliance, translations, 3, rank, scratch, inverse)
            for i in range(3):
                for j in range(3):
                    block[translations + i, translations + j] = inverse[i, j]
        store(block, joints.block, n, stop)
    return NO_FAILED_ROW


@loop
def compute_parting_loop(start: int, stop: int, joints: View, elements: View) -> int:
    """How the sides of joints would part without the preload that they carry now: S^-1 sigma_0.

    S is what `compute_seen_mass` has found; S^-1 is W, or its trace where one number stands for all translations.
    """
    compliance, preload, parting = like(joints.compliance), like(joints.preload), like(joints.parting)
    rows, translations = parting.shape[0], joints.translations.shape[0]
    for n in range(start, stop, LANES):
        fetch(joints.compliance, n, stop, compliance)
        fetch(joints.preload, n, stop, preload)
        uneven = as_matrix(joints, n, stop, 0.0 * preload[0])
        trace = 0.0 * preload[0]
        for i in range(translations):
            trace += compliance[i, i]
        for i in range(rows):
            first, last = (0, translations) if i < translations else (translations, rows)
            value = 0.0 * preload[0]
            for j in range(first, last):
                value += compliance[i, j] * preload[j]
            if i < translations:
                value = given(uneven, value) + given(1.0 - uneven, trace * preload[i])
            parting[i] = value
        store(parting, joints.parting, n, stop)
    return NO_FAILED_ROW


@loop
def update_preload_loop(start: int, stop: int, joints: View, elements: View) -> int:
    """The preload turns with what its bodies answer: sigma_0 = S times the acceleration that it holds up.

    In the world it would soon pull where a light body gives way and no spring is to hold it.
    """
    block, preload, parting = like(joints.block), like(joints.preload), like(joints.parting)
    for n in range(start, stop, LANES):
        fetch(joints.block, n, stop, block)
        fetch(joints.parting, n, stop, parting)
        for i in range(preload.shape[0]):
            value = 0.0 * parting[i]
            for j in range(preload.shape[0]):
                value += block[i, j] * parting[j]
            preload[i] = value
        store(preload, joints.preload, n, stop)
    return NO_FAILED_ROW
