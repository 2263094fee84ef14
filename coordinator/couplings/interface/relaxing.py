"""W x = r by local iterations: joints and bodies talk to their neighbours alone, and nobody sees the whole.

A joint knows the block of W on its diagonal, its own seen mass inverted; what the others do it hears from its two bodies, which
sum up z = sum of G^T x over their joints, six numbers each. Block Jacobi, with the share of a joint on its busier body as
relaxation (G_b G_b^T over k joints is at most k times its diagonal blocks, so it converges for any mechanism); block
Gauss-Seidel, there and back; conjugate gradients with the same blocks as preconditioner, which need two sums over all joints
beside.

M. R. Hestenes, E. Stiefel, J. Res. Nat. Bur. Standards 49 (1952) 409-436. Started from zero on rows that depend on each other, the
iterates stay among the smallest x in the metric of the seen masses.
"""

from __future__ import annotations

from typing import Any

from coordinator.couplings.interface.face import (
    ACROSS,
    DIAGONAL,
    EPSILON,
    HOLDS,
    INDEX,
    LENGTHS,
    RIGHT,
    SIZE,
    WHERE_OF,
    WORK,
    matrix_of,
    numbers_at,
)
from coordinator.couplings.interface.matrices import add_product, invert, take_scale, take_scales
from coordinator.couplings.interface.playing import play
from coordinator.couplings.interface.reactions import added_up, give_efforts
from coordinator.couplings.interface.verbs import ADD_UP, PASS_ON, WHOSE
from modular.elements import Array
from modular.kernel import kernel
from modular.loop import FINE, loop
from modular.views import View

JACOBI, GAUSS_SEIDEL, CONJUGATE_GRADIENTS = range(3)
TOGETHER = ("jacobi", "conjugate-gradients")  # all joints at once; in others each waits for the one before
METHODS = {"jacobi": JACOBI, "gauss-seidel": GAUSS_SEIDEL, "conjugate-gradients": CONJUGATE_GRADIENTS}
ENOUGH = 1e-6  # of r^T D^-1 r: the rounds around an answer do the rest
EASE = 1.9  # of what is sure to converge is below 2
# of p^T D p: a direction with less of it in p^T W p moves nothing, so that only rounding asks for it. Where a light body meets a
# heavy one, less may be all that the heavy one answers: then it is a share of that, and more than rounding
GRIP, LEAST_GRIP, SHARE = 1e-8, 64 * EPSILON, 1e-2


@loop
def weigh_loop(start: int, stop: int, face: View, elements: View) -> int:
    """The blocks on the diagonal, inverted."""
    work, scale = matrix_of(face, face.matrix), face.scratch
    blur, reach = face.blur, face.reach
    for k in range(face.joint_count):
        for i in range(face.joints[k, SIZE] * face.joints[k, SIZE]):
            work[face.joints[k, DIAGONAL] + i] = 0.0
    for k in range(face.own_count):
        add_product(work, face.own[k], face.motions)
    take_scales(face, work)
    face.spread = spread(face, work)
    for k in range(face.joint_count):
        take_scale(face, k, face.matrix == WORK and face.glides == 1, scale, blur, reach)
        invert(work, face.joints[k, DIAGONAL], face.joints[k, SIZE], scale, blur, reach)
    face.dependent = 0
    return FINE


@kernel
def spread(face: View, work: Array) -> Any:
    """How many times what one of its sides answers a joint answers, at most: as the masses of a light body and a heavy one."""
    widest, motions = 1.0, face.motions
    for k in range(face.joint_count):
        size, at = face.joints[k, SIZE], face.joints[k, DIAGONAL]
        first, last = (0, face.joints[k, LENGTHS]) if face.joints[k, LENGTHS] > 0 else (0, size)
        whole = 0.0
        for i in range(first, last):
            whole += work[at + size * i + i]
        for side in range(2):
            g, own = numbers_at(face.holds[2 * k + side, WHERE_OF]), 0.0
            if face.holds[2 * k + side, WHOSE] >= 0:
                for i in range(motions * first, motions * last):
                    own += g[i] * g[i]
            if own > 0.0:
                widest = max(widest, whole / own)
    return widest


@kernel
def gather_sums(face: View, x: Array) -> None:
    """What each body hears: z = sum of G^T x over its joints."""
    sums = face.body_sums
    for i in range(face.motions * face.body_count):
        sums[i] = 0.0
    for k in range(face.joint_count):
        add_sums(face, k, x)


@kernel
def add_sums(face: View, k: int, x: Array) -> None:
    """What a joint tells its bodies."""
    sums, at, motions = face.body_sums, face.joints[k, RIGHT], face.motions
    for side in range(2):
        body, g = face.holds[2 * k + side, WHOSE], numbers_at(face.holds[2 * k + side, WHERE_OF])
        if body >= 0:
            for mode in range(motions):
                value = 0.0
                for i in range(face.joints[k, SIZE]):
                    value += g[motions * i + mode] * x[at + i]
                sums[motions * body + mode] += value


@kernel
def hear(face: View, k: int, answer: Array) -> None:
    """What a joint hears from its bodies: the rows of W x that are its own."""
    sums, motions = face.body_sums, face.motions
    for i in range(face.joints[k, SIZE]):
        value = 0.0
        for side in range(2):
            body, g = face.holds[2 * k + side, WHOSE], numbers_at(face.holds[2 * k + side, WHERE_OF])
            if body >= 0:
                for mode in range(motions):
                    value += g[motions * i + mode] * sums[motions * body + mode]
        answer[i] = value


@kernel
def ease(work: Array, at: int, size: int, residual: Array, first: int, eased: Array) -> Any:
    """D^-1 times the residual of one joint; their product."""
    total = 0.0
    for i in range(size):
        value = 0.0
        for c in range(size):
            value += work[at + size * i + c] * residual[first + c]
        eased[i] = value
        total += value * residual[first + i]
    return total


@kernel
def sweep(face: View, k: int, factor: float, listen: bool) -> Any:
    """One joint takes its part of the residual away; what it was worth.

    The right-hand side is what was asked for; what is heard is taken off it. With `listen` its bodies know at once.
    """
    work, right = matrix_of(face, face.matrix), face.right_side
    found, pushed = face.found, face.pushed
    scratch, direction = face.scratch, face.direction
    at, size = face.joints[k, RIGHT], face.joints[k, SIZE]
    hear(face, k, scratch)
    for i in range(size):
        pushed[at + i] = right[at + i] - scratch[i]
    worth = ease(work, face.joints[k, DIAGONAL], size, pushed, at, scratch)
    for i in range(size):
        direction[at + i] = factor * scratch[i]
        found[at + i] += direction[at + i]
    if listen:
        add_sums(face, k, direction)
    return worth


@kernel(written_out=False)
def push(face: View, across: int) -> None:
    """W times the direction, for the joints that go across a border or for all others, and what each adds to their product."""
    scratch, direction = face.scratch, face.direction
    pushed, summands = face.pushed, face.summands
    for k in range(face.joint_count):
        if face.joints[k, ACROSS] == across:
            at, product = face.joints[k, RIGHT], 0.0
            hear(face, k, scratch)
            for i in range(face.joints[k, SIZE]):
                pushed[at + i] = scratch[i]
                product += scratch[i] * direction[at + i]
            summands[face.joints[k, INDEX]] = product


@kernel
def grip(face: View) -> Any:
    """What a direction has to have in p^T W p, of p^T D p."""
    widest = face.most[2] if face.in_parts == 1 else face.spread
    return max(LEAST_GRIP, min(GRIP, SHARE / widest))


@kernel
def conjugate(face: View, before: float, length: float) -> tuple[Any, Any]:
    """One step of conjugate gradients from the residual on the right-hand side; what that was worth, r^T D^-1 r, and p^T D p.

    Where rows depend on others across joints, rounding asks for what no reaction can give; answered it would grow without end.
    Where workers move a part each, they talk twice: of what their joints add to r^T D^-1 r, and of z of bodies at a border and what
    their joints add to d^T W d.
    """
    work, right = matrix_of(face, face.matrix), face.right_side
    found, pushed = face.found, face.pushed
    scratch, direction = face.scratch, face.direction
    summands = face.summands
    for k in range(face.joint_count):
        at, size = face.joints[k, RIGHT], face.joints[k, SIZE]
        summands[face.joints[k, INDEX]] = ease(work, face.joints[k, DIAGONAL], size, right, at, scratch)
        for i in range(size):
            pushed[at + i] = scratch[i]
    play(face, ADD_UP)
    worth = added_up(face)
    share = worth / before if before > 0.0 else 0.0
    length = worth + share * share * length
    for i in range(face.row_count):
        direction[i] = pushed[i] + share * direction[i]
    gather_sums(face, direction)
    push(face, 0)
    play(face, PASS_ON)
    push(face, 1)
    taken = added_up(face)
    if not taken > grip(face) * length:
        return 0.0, length  # what is left is rounding, or what joints cannot have
    for i in range(face.row_count):
        found[i] += worth / taken * direction[i]
        right[i] -= worth / taken * pushed[i]
    return worth, length


@loop
def relax_loop(start: int, stop: int, face: View, elements: View) -> int:
    """Reactions that answer the right-hand side, as far as the iterations that are left lead."""
    found, right = face.found, face.right_side
    direction, summands = face.direction, face.summands
    for i in range(face.row_count):
        found[i] = 0.0
        direction[i] = 0.0
    gather_sums(face, found)
    first, before, length, method = -1.0, 0.0, 0.0, face.method
    while face.budget > 0:
        face.budget -= 1
        face.iterations += 1
        worth = 0.0
        if method == CONJUGATE_GRADIENTS:
            worth, length = conjugate(face, before, length)
        elif method == GAUSS_SEIDEL:
            for k in range(face.joint_count):
                worth += sweep(face, k, 1.0, True)
            for back in range(face.joint_count):
                sweep(face, face.joint_count - 1 - back, 1.0, True)
        else:
            for k in range(face.joint_count):
                busier = max(face.holds[2 * k, HOLDS], face.holds[2 * k + 1, HOLDS])
                summands[face.joints[k, INDEX]] = sweep(face, k, EASE / busier if busier > 1 else 1.0, False)
            gather_sums(face, found)
            play(face, PASS_ON)
            worth = added_up(face)
        if face.lost > 0.0:
            break
        if first < 0.0:
            first = worth
        before = worth
        if worth <= ENOUGH * first:
            break
    for i in range(face.row_count):
        right[i] = found[i]
    give_efforts(face, face.factor)
    return FINE


LOOPS = {"weigh": weigh_loop, "answer": relax_loop}
