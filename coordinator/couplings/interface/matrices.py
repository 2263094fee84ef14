"""The interface at work: W put together from what joints show, eliminated block by block, and solved.

    W = sum over bodies of G_b G_b^T,   W x = r

in the order of `layout.py`. Every block is inverted as a whole, row after row with the largest pivot first; where rows
depend on each other the pivots end at rounding, and the rows that are left ask nothing more: their share of x is zero. How much
of a pivot is rounding is reckoned along with it, for a small one may be all that a heavy body behind a light one shows. What
has to be done in which order is a list of whole numbers, written once per topology (interface.py).

Beside W stands V = J(q') M_c^-1 J(q)^T, how errors at the end of a drift answer reactions at its beginning: nearly W, and not
symmetric. It is needed where joints lose their grip for an instant, as a slider-crank does when it is folded: W, a square
there, does not know on which side of such a place the drift ends.
"""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np

from coordinator.couplings.interface.block_rows import row_with_column, row_with_row, take_from_row
from coordinator.couplings.interface.fields import (
    BEYOND,
    COLUMNS,
    DIAGONAL,
    FIRST,
    FRICTION,
    GLIDING,
    LAST,
    LENGTHS,
    MACHINE_EPSILON,
    MOVE,
    MOVED,
    NEXT,
    ONE,
    OTHER,
    PLACE_COMPLIANCE,
    RATE_COMPLIANCE,
    RIGHT,
    ROWS,
    SIZE,
    TARGET,
    WORK,
    matrix_of,
    numbers_at,
)
from coordinator.couplings.interface.reactions import add_reactions
from modular.elements import RIGID_BODY_MOTIONS, Array
from modular.kernel import kernel
from modular.loop import NO_FAILED_ROW, loop
from modular.views import View

# below this share of what has come to its row, and this many times the rounding that it carries, a pivot says nothing
RANK_TOLERANCE, ROUNDING_FACTOR = 1e-11, 16.0
# so many times 1 / W_ii on the diagonal of an inverse: a product with it is rounded by as much more
MAX_INVERSE_GROWTH = 1e3
UNASKED = 1e200  # on the diagonal: a row that answers nothing


@kernel
def assemble(interface: View, work: Array) -> None:
    """W, from the G of all sides."""
    for k in range(interface.numbers):
        work[k] = 0.0
    for k in range(interface.product_count):
        add_product(work, interface.products[k], interface.motions)


@kernel
def assemble_ahead(interface: View, work: Array) -> None:
    """V, from the G of all sides before and after a drift."""
    for k in range(interface.numbers):
        work[k] = 0.0
    for k in range(interface.ahead_count):
        add_product(work, interface.ahead[k], interface.motions)


@kernel
def add_product(work: Array, product: Any, motions: int) -> None:
    """G_i G_j^T to a block; of rigid bodies the compiler knows how many numbers are summed."""
    target, rows, columns = product[TARGET], product[ROWS], product[COLUMNS]
    one, other = numbers_at(product[ONE]), numbers_at(product[OTHER])
    for i in range(rows):
        for j in range(columns):
            value = 0.0
            if motions == RIGID_BODY_MOTIONS:
                for mode in range(RIGID_BODY_MOTIONS):
                    value += one[RIGID_BODY_MOTIONS * i + mode] * other[RIGID_BODY_MOTIONS * j + mode]
            else:
                for mode in range(motions):
                    value += one[motions * i + mode] * other[motions * j + mode]
            work[target + columns * i + j] += value


@kernel
def invert(work: Array, at: int, size: int, scale: Array, blur: Array, reach: Array) -> tuple[int, bool]:
    """A block becomes its inverse on the rows that do not depend on others, and zero elsewhere; how many those others are, and
    whether one was taken that only what was reckoned of its rounding tells from them.

    Sweeps, the row with the largest share of its scale first. `blur`: of each row, the root of the rounding in its pivot; with
    |dW_ij| <= blur_i blur_j eliminating row b leaves blur_i + |W_ib / W_bb| blur_b. `reach`: the largest scale that has come to
    a row in the same way, its own at first; of one row at a time, so that it stays what it is along a chain.
    """
    swept, doubtful = 0, False
    left = size
    for _ in range(size):
        best, most = -1, 0.0
        for i in range(size):
            pivot = abs(work[at + size * i + i])
            least = min(RANK_TOLERANCE * reach[i], ROUNDING_FACTOR * blur[i] * blur[i])
            if (swept >> i) & 1 == 0 and pivot > least and pivot > most * scale[i]:
                best, most = i, pivot / scale[i]
        if best < 0:
            break
        swept |= 1 << best
        left -= 1
        doubtful = doubtful or abs(work[at + size * best + best]) <= RANK_TOLERANCE * reach[best]
        pivot = 1.0 / work[at + size * best + best]
        for i in range(size):
            if i != best:
                own = work[at + size * i + best]
                factor = own * pivot
                blur[i] += abs(factor) * blur[best]
                if factor * factor * reach[best] > reach[i]:
                    reach[i] = factor * factor * reach[best]
                take_from_row(work, at + size * i, factor, work, at + size * best, size)
                work[at + size * i + best] = own
        for i in range(size):
            if i != best:
                work[at + size * i + best] *= pivot
                work[at + size * best + i] *= pivot
        work[at + size * best + best] = -pivot
    for i in range(size):
        for j in range(size):
            held = (swept >> i) & (swept >> j) & 1 == 1
            work[at + size * i + j] = -work[at + size * i + j] if held else 0.0
    return left, doubtful


@kernel
def is_frail(work: Array, at: int, size: int, whole: Array) -> bool:
    """Whether an inverted block is rounded by far more than what it is the inverse of, as that of a light body with a long arm."""
    frail = False
    for i in range(size):
        frail = frail or abs(whole[size * i + i] * work[at + size * i + i]) > MAX_INVERSE_GROWTH
    return frail


@kernel
def share_out(work: Array, row: int, at: int, size: int, whole: Array, frail: bool, share: Array, rest: Array) -> None:
    """A row of Y = W_ik W_kk^-1, from the inverse.

    |W_ik| |W_kk^-1| may be far more than Y, and rounds it by as much. `whole`: W_kk before it was inverted; what Y of it leaves
    of W_ik goes the same way once more, and Y is as sharp as if it had been solved for.
    """
    for j in range(size):
        share[j] = row_with_column(work, row, work, at + j, size, size)
    if frail:
        for c in range(size):
            rest[c] = work[row + c]
            for j in range(size):
                rest[c] -= share[j] * whole[size * j + c]
        for j in range(size):
            for c in range(size):
                share[j] += rest[c] * work[at + size * c + j]


@kernel
def compliance_of(interface: View, k: int, i: int, places: bool) -> Any:
    """What a row of a stiff force gives by itself."""
    give = numbers_at(interface.joints[k, PLACE_COMPLIANCE if places else RATE_COMPLIANCE])
    if interface.joints[k, FRICTION] != 0:
        return UNASKED if interface.instant == 2 else give[i]
    return UNASKED if interface.instant > 0 else give[i]


@kernel
def add_compliances(interface: View, work: Array, places: bool) -> None:
    """What stiff forces give adds to their pivots: 1 / K, in units of the half of the step; at an instant they are not asked."""
    for k in range(interface.joint_count if interface.implicit + interface.rubbing > 0 else 0):
        if interface.joints[k, PLACE_COMPLIANCE] != 0:
            at, size = interface.joints[k, DIAGONAL], interface.joints[k, SIZE]
            for i in range(size):
                work[at + size * i + i] += compliance_of(interface, k, i, places)


@kernel
def take_scales(interface: View, work: Array) -> None:
    """What the rows of joints are measured by: one number for the translations of a joint, one for its rotations.

    Sums of products are rounded by a share of them, so to begin with their roots are what blurs a row.
    """
    scales, blurs, reaches = interface.scales, interface.blurs, interface.reaches
    for k in range(interface.joint_count):
        size, lengths = interface.joints[k, SIZE], interface.joints[k, LENGTHS]
        at, right = interface.joints[k, DIAGONAL], interface.joints[k, RIGHT]
        for part in range(2):
            first, last = (0, lengths) if part == 0 else (lengths, size)
            mean = 0.0
            for i in range(first, last):
                mean += work[at + size * i + i] / (last - first)
            for i in range(first, last):
                scales[right + i] = mean
                blurs[right + i] = sqrt(MACHINE_EPSILON * mean)
                reaches[right + i] = mean


@kernel
def take_scale(interface: View, k: int, places: bool, scale: Array, blur: Array, reach: Array) -> None:
    """Those of one joint.

    Joints that lock velocities alone close no places: beside what those rows would need, no pivot of theirs is anything.
    """
    scales, blurs, right = interface.scales, interface.blurs, interface.joints[k, RIGHT]
    reaches = interface.reaches
    for i in range(interface.joints[k, SIZE]):
        closes = not (places and interface.joints[k, GLIDING] == 1)
        scale[i] = scales[right + i] if closes else np.inf
        if blurs[right + i] * blurs[right + i] > scales[right + i]:
            blurs[right + i] = sqrt(scales[right + i])  # no row is blurred by more than there is of it
        blur[i] = blurs[right + i] if closes else np.inf
        reach[i] = reaches[right + i] if closes else np.inf


@kernel
def factorise(interface: View, work: Array, shift: float, places: bool, sharp: bool) -> int:
    """Eliminate joint after joint; how many rows depend on others, or -1 where it has to be done again, `sharp`.

    `shift`: a share of its scale that is added to every pivot, for the smallest x that do. A row that depends on others then
    has an inverse of 1 / shift, which leaves rounding of eps / shift in the blocks that come later; where rows of these depend
    on others too, as in Bricard's mechanism, it must be far below shift itself.
    """
    scale, blur, reach = interface.scratch, interface.blur, interface.reach
    blurs, reaches, whole, rest = interface.blurs, interface.reaches, interface.whole, interface.rest
    dependent = 0
    for k in range(interface.joint_count):
        size = interface.joints[k, SIZE]
        take_scale(interface, k, places, scale, blur, reach)
        at, own = interface.joints[k, DIAGONAL], interface.joints[k, RIGHT]
        for i in range(size):
            if shift > 0.0:
                work[at + size * i + i] += shift * scale[i]
        for i in range(size * size):
            whole[i] = work[at + i]
        left, doubtful = invert(work, at, size, scale, blur, reach)
        if doubtful and shift == 0.0 and not sharp:
            return -1
        dependent += left
        frail = shift == 0.0 and (sharp or is_frail(work, at, size, whole))
        for e in range(interface.joints[k, FIRST], interface.joints[k, LAST]):
            block, share, rows = interface.entries[e, TARGET], interface.entries[e, ONE], interface.entries[e, ROWS]
            there = interface.entries[e, OTHER]
            for i in range(rows):
                share_out(work, block + size * i, at, size, whole, frail, scale, rest)
                passed, reached = 0.0, reaches[there + i]
                for j in range(size):
                    value = scale[j]
                    work[share + size * i + j] = value
                    passed += abs(value) * blurs[own + j]
                    if value * value * reaches[own + j] > reached:
                        reached = value * value * reaches[own + j]
                if shift == 0.0:
                    blurs[there + i] += passed
                    reaches[there + i] = reached
        for u in range(interface.joints[k, NEXT], interface.joints[k, BEYOND]):
            target, one, other = interface.updates[u, TARGET], interface.updates[u, ONE], interface.updates[u, OTHER]
            rows, columns = interface.updates[u, ROWS], interface.updates[u, COLUMNS]
            for i in range(rows):
                for j in range(columns):
                    work[target + columns * i + j] -= row_with_row(work, one + size * i, work, other + size * j, size)
    return dependent


@kernel
def go_forward(interface: View, work: Array, right: Array, y: int) -> None:
    """Take from the rows of later joints what eliminating the earlier ones leaves to them; `y`: which of two blocks is Y."""
    for k in range(interface.joint_count):
        pass_on(interface, work, right, y, k)


@kernel
def pass_on(interface: View, work: Array, right: Array, y: int, k: int) -> None:
    """The same of one joint."""
    size, at = interface.joints[k, SIZE], interface.joints[k, RIGHT]
    for e in range(interface.joints[k, FIRST], interface.joints[k, LAST]):
        share, rows, there = interface.entries[e, y], interface.entries[e, ROWS], interface.entries[e, OTHER]
        for i in range(rows):
            right[there + i] -= row_with_row(work, share + size * i, right, at, size)


@kernel
def solve(interface: View, work: Array) -> None:
    """W x = r in place."""
    go_forward(interface, work, interface.right_side, ONE)
    count = interface.joint_count
    for back in range(count):
        take_back(interface, work, interface.right_side, count - 1 - back)


@kernel
def take_back(interface: View, work: Array, right: Array, k: int) -> None:
    """What one joint has to do, from that of later ones."""
    scratch = interface.scratch
    size, at, inverse = interface.joints[k, SIZE], interface.joints[k, RIGHT], interface.joints[k, DIAGONAL]
    for i in range(size):
        scratch[i] = row_with_row(work, inverse + size * i, right, at, size)
    for e in range(interface.joints[k, FIRST], interface.joints[k, LAST]):
        share, rows, there = interface.entries[e, ONE], interface.entries[e, ROWS], interface.entries[e, OTHER]
        for c in range(rows):
            take_from_row(scratch, 0, right[there + c], work, share + size * c, size)
    for i in range(size):
        right[at + i] = scratch[i]


@kernel
def factorise_ahead(interface: View, work: Array) -> None:
    """The same for V, as blurred as W was; blocks below the diagonal become Y, those above it stay."""
    scale, blur, reach = interface.scratch, interface.blur, interface.reach
    whole, rest = interface.whole, interface.rest
    for k in range(interface.joint_count):
        size, at = interface.joints[k, SIZE], interface.joints[k, DIAGONAL]
        take_scale(interface, k, True, scale, blur, reach)
        for i in range(size * size):
            whole[i] = work[at + i]
        invert(work, at, size, scale, blur, reach)
        frail = interface.sharp == 1 or is_frail(work, at, size, whole)
        for e in range(interface.joints[k, FIRST], interface.joints[k, LAST]):
            block, rows = interface.entries[e, TARGET], interface.entries[e, ROWS]
            for i in range(rows):
                share_out(work, block + size * i, at, size, whole, frail, scale, rest)
                for j in range(size):
                    work[block + size * i + j] = scale[j]
        for u in range(interface.joints[k, MOVE], interface.joints[k, MOVED]):
            target, one, other = interface.moves[u, TARGET], interface.moves[u, ONE], interface.moves[u, OTHER]
            rows, columns = interface.moves[u, ROWS], interface.moves[u, COLUMNS]
            for i in range(rows):
                for j in range(columns):
                    value = 0.0
                    for c in range(size):
                        value += work[one + size * i + c] * work[other + columns * c + j]
                    work[target + columns * i + j] -= value


@kernel
def solve_ahead(interface: View, work: Array) -> None:
    """V x = r in place."""
    right, scratch = interface.right_side, interface.scratch
    count = interface.joint_count
    go_forward(interface, work, right, TARGET)
    for back in range(count):
        k = count - 1 - back
        size, at, inverse = interface.joints[k, SIZE], interface.joints[k, RIGHT], interface.joints[k, DIAGONAL]
        for e in range(interface.joints[k, FIRST], interface.joints[k, LAST]):
            block, rows, there = interface.entries[e, ONE], interface.entries[e, ROWS], interface.entries[e, OTHER]
            for i in range(size):
                value = 0.0
                for c in range(rows):
                    value += work[block + rows * i + c] * right[there + c]
                right[at + i] -= value
        for i in range(size):
            value = 0.0
            for c in range(size):
                value += work[inverse + size * i + c] * right[at + c]
            scratch[i] = value
        for i in range(size):
            right[at + i] = scratch[i]


@loop
def factorise_loop(start: int, stop: int, interface: View, elements: View) -> int:
    """W of all joints, factorised, sharply where it has to be.

    With a share added it is measured as it was without: V, which takes over these measures, must not depend on who looks.
    """
    work, shift, places = matrix_of(interface, interface.matrix), interface.added, interface.matrix == WORK
    dependent = -1
    for sharp in range(2):
        if dependent < 0:
            assemble(interface, work)
            if shift == 0.0:
                take_scales(interface, work)
                interface.sharp = sharp
            add_compliances(interface, work, places)
            dependent = factorise(interface, work, shift, places, sharp == 1)
    interface.dependent = dependent
    return NO_FAILED_ROW


@loop
def solve_loop(start: int, stop: int, interface: View, elements: View) -> int:
    """Reactions that answer the right-hand side."""
    solve(interface, matrix_of(interface, interface.matrix))
    add_reactions(interface, interface.factor)
    return NO_FAILED_ROW


@loop
def factorise_ahead_loop(start: int, stop: int, interface: View, elements: View) -> int:
    """V of all joints, factorised."""
    assemble_ahead(interface, interface.again)
    add_compliances(interface, interface.again, True)
    factorise_ahead(interface, interface.again)
    return NO_FAILED_ROW


@loop
def solve_ahead_loop(start: int, stop: int, interface: View, elements: View) -> int:
    """Reactions that answer the right-hand side by V."""
    solve_ahead(interface, interface.again)
    add_reactions(interface, interface.factor)
    return NO_FAILED_ROW


LOOPS = {
    "factorise": factorise_loop,
    "solve": solve_loop,
    "factorise_ahead": factorise_ahead_loop,
    "solve_ahead": solve_ahead_loop,
}
