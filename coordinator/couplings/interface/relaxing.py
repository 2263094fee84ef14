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

from coordinator.couplings.interface.fields import (
    ACROSS,
    DIAGONAL,
    HOLDS,
    INDEX,
    LENGTHS,
    MACHINE_EPSILON,
    PLACE_COMPLIANCE,
    RIGHT,
    SIZE,
    WHERE_OF,
    WORK,
    matrix_of,
    numbers_at,
)
from coordinator.couplings.interface.matrices import (
    add_compliances,
    add_product,
    compliance_of,
    invert,
    take_scale,
    take_scales,
)
from coordinator.couplings.interface.reactions import add_reactions, added_up
from coordinator.couplings.interface.verbs import COMPONENT, SHARE_SUMMANDS, SHARE_SUMS, play
from modular.elements import Array
from modular.kernel import kernel
from modular.loop import NO_FAILED_ROW, loop
from modular.views import View

JACOBI, GAUSS_SEIDEL, CONJUGATE_GRADIENTS = range(3)
TOGETHER = ("jacobi", "conjugate-gradients")  # all joints at once; in others each waits for the one before
METHODS = {"jacobi": JACOBI, "gauss-seidel": GAUSS_SEIDEL, "conjugate-gradients": CONJUGATE_GRADIENTS}
ENERGY_TOLERANCE = 1e-6  # of r^T D^-1 r: the rounds around an answer do the rest
RELAXATION_FACTOR = 1.9  # of what is sure to converge is below 2
# of p^T D p: a direction with less of it in p^T W p moves nothing, so that only rounding asks for it. Where a light body meets a
# heavy one, less may be all that the heavy one answers: then it is a share of that, and more than rounding
PIVOT_SHIFT_LIMIT, MIN_PIVOT_SHIFT, PIVOT_SHIFT_SHARE = 1e-8, 64 * MACHINE_EPSILON, 1e-2


@loop
def factorise_loop(start: int, stop: int, interface: View, elements: View) -> int:
    """The blocks on the diagonal, inverted."""
    work, scale = matrix_of(interface, interface.matrix), interface.scratch
    blur, reach = interface.blur, interface.reach
    for k in range(interface.joint_count):
        for i in range(interface.joints[k, SIZE] * interface.joints[k, SIZE]):
            work[interface.joints[k, DIAGONAL] + i] = 0.0
    for k in range(interface.own_count):
        add_product(work, interface.own[k], interface.motions)
    take_scales(interface, work)
    interface.spread = spread(interface, work)
    add_compliances(interface, work, interface.matrix == WORK)
    for k in range(interface.joint_count):
        take_scale(interface, k, interface.matrix == WORK and interface.glides == 1, scale, blur, reach)
        invert(work, interface.joints[k, DIAGONAL], interface.joints[k, SIZE], scale, blur, reach)
    interface.dependent = 0
    return NO_FAILED_ROW


@kernel
def spread(interface: View, work: Array) -> Any:
    """How many times what one of its sides answers a joint answers, at most: as the masses of a light body and a heavy one."""
    widest, motions = 1.0, interface.motions
    for k in range(interface.joint_count):
        size, at = interface.joints[k, SIZE], interface.joints[k, DIAGONAL]
        first, last = (0, interface.joints[k, LENGTHS]) if interface.joints[k, LENGTHS] > 0 else (0, size)
        whole = 0.0
        for i in range(first, last):
            whole += work[at + size * i + i]
        for side in range(2):
            g, own = numbers_at(interface.holds[2 * k + side, WHERE_OF]), 0.0
            if interface.holds[2 * k + side, COMPONENT] >= 0:
                for i in range(motions * first, motions * last):
                    own += g[i] * g[i]
            if own > 0.0:
                widest = max(widest, whole / own)
    return widest


@kernel
def gather_sums(interface: View, x: Array) -> None:
    """What each body hears: z = sum of G^T x over its joints."""
    sums = interface.body_sums
    for i in range(interface.motions * interface.body_count):
        sums[i] = 0.0
    for k in range(interface.joint_count):
        add_sums(interface, k, x)


@kernel
def add_sums(interface: View, k: int, x: Array) -> None:
    """What a joint tells its bodies."""
    sums, at, motions = interface.body_sums, interface.joints[k, RIGHT], interface.motions
    for side in range(2):
        body, g = interface.holds[2 * k + side, COMPONENT], numbers_at(interface.holds[2 * k + side, WHERE_OF])
        if body >= 0:
            for mode in range(motions):
                value = 0.0
                for i in range(interface.joints[k, SIZE]):
                    value += g[motions * i + mode] * x[at + i]
                sums[motions * body + mode] += value


@kernel
def hear(interface: View, k: int, x: Array, answer: Array) -> None:
    """What a joint hears from its bodies: the rows of W x that are its own, with what a stiff force gives by itself."""
    sums, motions = interface.body_sums, interface.motions
    for i in range(interface.joints[k, SIZE]):
        value = 0.0
        for side in range(2):
            body, g = interface.holds[2 * k + side, COMPONENT], numbers_at(interface.holds[2 * k + side, WHERE_OF])
            if body >= 0:
                for mode in range(motions):
                    value += g[motions * i + mode] * sums[motions * body + mode]
        answer[i] = value
        if interface.joints[k, PLACE_COMPLIANCE] != 0:
            answer[i] += compliance_of(interface, k, i, interface.matrix == WORK) * x[interface.joints[k, RIGHT] + i]


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
def sweep(interface: View, k: int, factor: float, listen: bool) -> Any:
    """One joint takes its part of the residual away; what it was worth.

    The right-hand side is what was asked for; what is heard is taken off it. With `listen` its bodies know at once.
    """
    work, right = matrix_of(interface, interface.matrix), interface.right_side
    found, pushed = interface.found, interface.pushed
    scratch, direction = interface.scratch, interface.direction
    at, size = interface.joints[k, RIGHT], interface.joints[k, SIZE]
    hear(interface, k, found, scratch)
    for i in range(size):
        pushed[at + i] = right[at + i] - scratch[i]
    worth = ease(work, interface.joints[k, DIAGONAL], size, pushed, at, scratch)
    for i in range(size):
        direction[at + i] = factor * scratch[i]
        found[at + i] += direction[at + i]
    if listen:
        add_sums(interface, k, direction)
    return worth


@kernel(written_out=False)
def push(interface: View, across: int) -> None:
    """W times the direction, for the joints that go across a border or for all others, and what each adds to their product."""
    scratch, direction = interface.scratch, interface.direction
    pushed, summands = interface.pushed, interface.summands
    for k in range(interface.joint_count):
        if interface.joints[k, ACROSS] == across:
            at, product = interface.joints[k, RIGHT], 0.0
            hear(interface, k, direction, scratch)
            for i in range(interface.joints[k, SIZE]):
                pushed[at + i] = scratch[i]
                product += scratch[i] * direction[at + i]
            summands[interface.joints[k, INDEX]] = product


@kernel
def grip(interface: View) -> Any:
    """What a direction has to have in p^T W p, of p^T D p."""
    widest = interface.most[2] if interface.in_parts == 1 else interface.spread
    return max(MIN_PIVOT_SHIFT, min(PIVOT_SHIFT_LIMIT, PIVOT_SHIFT_SHARE / widest))


@kernel
def conjugate(interface: View, before: float, length: float) -> tuple[Any, Any]:
    """One step of conjugate gradients from the residual on the right-hand side; what that was worth, r^T D^-1 r, and p^T D p.

    Where rows depend on others across joints, rounding asks for what no reaction can give; answered it would grow without end.
    Where workers move a part each, they talk twice: of what their joints add to r^T D^-1 r, and of z of bodies at a border and what
    their joints add to d^T W d.
    """
    work, right = matrix_of(interface, interface.matrix), interface.right_side
    found, pushed = interface.found, interface.pushed
    scratch, direction = interface.scratch, interface.direction
    summands = interface.summands
    for k in range(interface.joint_count):
        at, size = interface.joints[k, RIGHT], interface.joints[k, SIZE]
        summands[interface.joints[k, INDEX]] = ease(work, interface.joints[k, DIAGONAL], size, right, at, scratch)
        for i in range(size):
            pushed[at + i] = scratch[i]
    play(interface, SHARE_SUMMANDS)
    worth = added_up(interface)
    share = worth / before if before > 0.0 else 0.0
    length = worth + share * share * length
    for i in range(interface.row_count):
        direction[i] = pushed[i] + share * direction[i]
    gather_sums(interface, direction)
    push(interface, 0)
    play(interface, SHARE_SUMS)
    push(interface, 1)
    taken = added_up(interface)
    if not taken > grip(interface) * length:
        return 0.0, length  # what is left is rounding, or what joints cannot have
    for i in range(interface.row_count):
        found[i] += worth / taken * direction[i]
        right[i] -= worth / taken * pushed[i]
    return worth, length


@loop
def relax_loop(start: int, stop: int, interface: View, elements: View) -> int:
    """Reactions that answer the right-hand side, as far as the iterations that are left lead."""
    found, right = interface.found, interface.right_side
    direction, summands = interface.direction, interface.summands
    for i in range(interface.row_count):
        found[i] = 0.0
        direction[i] = 0.0
    gather_sums(interface, found)
    first, before, length, method = -1.0, 0.0, 0.0, interface.method
    while interface.budget > 0:
        interface.budget -= 1
        interface.iterations += 1
        worth = 0.0
        if method == CONJUGATE_GRADIENTS:
            worth, length = conjugate(interface, before, length)
        elif method == GAUSS_SEIDEL:
            for k in range(interface.joint_count):
                worth += sweep(interface, k, 1.0, True)
            for back in range(interface.joint_count):
                sweep(interface, interface.joint_count - 1 - back, 1.0, True)
        else:
            for k in range(interface.joint_count):
                busier = max(interface.holds[2 * k, HOLDS], interface.holds[2 * k + 1, HOLDS])
                summands[interface.joints[k, INDEX]] = sweep(
                    interface, k, RELAXATION_FACTOR / busier if busier > 1 else 1.0, False
                )
            gather_sums(interface, found)
            play(interface, SHARE_SUMS)
            worth = added_up(interface)
        if interface.lost > 0.0:
            break
        if first < 0.0:
            first = worth
        before = worth
        if worth <= ENERGY_TOLERANCE * first:
            break
    for i in range(interface.row_count):
        right[i] = found[i]
    add_reactions(interface, interface.factor)
    return NO_FAILED_ROW


LOOPS = {"factorise": factorise_loop, "solve": relax_loop}
