"""The interface at work: W put together from what joints show, eliminated block by block, and solved.

    W = sum over bodies of G_b G_b^T,   W x = r

in the order of `elimination.py`. Every block is inverted as a whole, row after row with the largest pivot first; where rows
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
from numba.extending import intrinsic

from modular.blocks import BlockType, machine_type
from modular.elements import RIGID, Array
from modular.kernel import kernel
from modular.lanes import types
from modular.loop import FINE, loop
from modular.views import View

SHIFT = 1e-5  # of its scale, added to every pivot where the smallest reactions are looked for; see `factorise`
EPSILON = 2.0**-52
# below this share of what has come to its row, and this many times the rounding that it carries, a pivot says nothing
DEPENDS, BLURRED = 1e-11, 16.0
FRAIL = 1e3  # so many times 1 / W_ii on the diagonal of an inverse: a product with it is rounded by as much more
WORK, RATES, AGAIN = range(
    3
)  # matrices: W; W where joints that lock velocities alone take part; V, or W with a share added
# whole numbers, as loops see them
WHOLE_NUMBERS = (
    "numbers",  # of a matrix
    "row_count", "joint_count", "joint_count_of_all", "body_count", "element_count", "motions",
    "product_count", "ahead_count", "own_count",  # of what matrices are added up from
    "stage_count", "steps", "most_turns", "elements_sheet",
    "matrix", "matrix_of_all",  # which one answers now; which one where all joints take part
    "dependent", "repeated",  # rows that depend on others; those that repeat others of their own joint
    "sharp", "glides", "in_parts",
    "anything_watched", "watched_count", "toll_count", "other_count",
    "trouble",  # why there is no next state
    "turns", "method", "local_rounds", "budget", "iterations",
)  # fmt: skip
NUMBERS = (
    "factor",  # of reactions
    "added",  # a share of its scale, added to every pivot
    "trend",  # how reactions change from stage to stage
    "left_open", "gap",  # the most that was left open; by how much the joint is open that is open by most
    "spread",  # how many times what one of its sides answers a joint answers, at most; of all joints that are at hand
    "easing",  # of what reactions of gliding joints differ by in the halves of a step: how much is taken
    "wrong", "lost",  # where workers move a part each: who has gone wrong in what is played; whether the tick is theirs no more
)  # fmt: skip
ASKED = 3  # numbers of which the largest of all workers is asked
STRETCHES = (
    "work", "work_of_rates", "again", "right_side", "bias", "scales", "blurs", "reaches", "summands", "body_sums", "unlike",
    "found", "direction", "pushed",  # by local iterations
    "scratch", "blur", "reach", "whole", "rest",  # as large as the largest block
)  # fmt: skip
SHAPE, OPEN, UNSETTLED, UNEQUAL = range(4)  # why there is no next state: a body lost its shape, a joint stays open, …
# columns of the lists
LISTS = {"joints": 19, "products": 5, "ahead": 5, "entries": 5, "updates": 5, "moves": 5, "own": 5, "holds": 3}
(
    SIZE, LENGTHS, GLIDING, RIGHT, DIAGONAL, ERROR, RATE, EFFORT, CARRIED, CLOSED, KICKED, FIRST, LAST, NEXT, BEYOND, MOVE,
    MOVED, ACROSS, INDEX,
) = range(19)  # of a joint  # fmt: skip
TARGET, ONE, OTHER, ROWS, COLUMNS = range(5)  # of a product of blocks
WHERE_OF, WHOSE, HOLDS = range(3)  # of a side of a joint: its G, its body, and how many joints that holds


@intrinsic  # type: ignore[untyped-decorator]
def numbers_at(context: Any, address: types.Type) -> Any:
    """Numbers from an address on."""
    kind = BlockType(types.float64, (0,))

    def generate(_: Any, builder: Any, kinds: Any, values: Any) -> Any:
        return builder.inttoptr(values[0], machine_type(kind.item).as_pointer())

    return kind(types.int64), generate


@kernel
def matrix_of(face: View, which: int) -> Any:
    """One of the matrices."""
    if which == WORK:
        return face.work
    return face.work_of_rates if which == RATES else face.again


@kernel
def assemble(face: View, work: Array) -> None:
    """W, from the G of all sides."""
    for k in range(face.numbers):
        work[k] = 0.0
    for k in range(face.product_count):
        add_product(work, face.products[k], face.motions)


@kernel
def assemble_ahead(face: View, work: Array) -> None:
    """V, from the G of all sides before and after a drift."""
    for k in range(face.numbers):
        work[k] = 0.0
    for k in range(face.ahead_count):
        add_product(work, face.ahead[k], face.motions)


@kernel
def add_product(work: Array, product: Any, motions: int) -> None:
    """G_i G_j^T to a block; of rigid bodies the compiler knows how many numbers are summed."""
    target, rows, columns = product[TARGET], product[ROWS], product[COLUMNS]
    one, other = numbers_at(product[ONE]), numbers_at(product[OTHER])
    for i in range(rows):
        for j in range(columns):
            value = 0.0
            if motions == RIGID:
                for mode in range(RIGID):
                    value += one[RIGID * i + mode] * other[RIGID * j + mode]
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
            least = min(DEPENDS * reach[i], BLURRED * blur[i] * blur[i])
            if (swept >> i) & 1 == 0 and pivot > least and pivot > most * scale[i]:
                best, most = i, pivot / scale[i]
        if best < 0:
            break
        swept |= 1 << best
        left -= 1
        doubtful = doubtful or abs(work[at + size * best + best]) <= DEPENDS * reach[best]
        pivot = 1.0 / work[at + size * best + best]
        for i in range(size):
            if i != best:
                factor = work[at + size * i + best] * pivot
                blur[i] += abs(factor) * blur[best]
                if factor * factor * reach[best] > reach[i]:
                    reach[i] = factor * factor * reach[best]
                for j in range(size):
                    if j != best:
                        work[at + size * i + j] -= factor * work[at + size * best + j]
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
        frail = frail or abs(whole[size * i + i] * work[at + size * i + i]) > FRAIL
    return frail


@kernel
def share_out(work: Array, row: int, at: int, size: int, whole: Array, frail: bool, share: Array, rest: Array) -> None:
    """A row of Y = W_ik W_kk^-1, from the inverse.

    |W_ik| |W_kk^-1| may be far more than Y, and rounds it by as much. `whole`: W_kk before it was inverted; what Y of it leaves
    of W_ik goes the same way once more, and Y is as sharp as if it had been solved for.
    """
    for j in range(size):
        value = 0.0
        for c in range(size):
            value += work[row + c] * work[at + size * c + j]
        share[j] = value
    if frail:
        for c in range(size):
            rest[c] = work[row + c]
            for j in range(size):
                rest[c] -= share[j] * whole[size * j + c]
        for j in range(size):
            for c in range(size):
                share[j] += rest[c] * work[at + size * c + j]


@kernel
def take_scales(face: View, work: Array) -> None:
    """What the rows of joints are measured by: one number for the translations of a joint, one for its rotations.

    Sums of products are rounded by a share of them, so to begin with their roots are what blurs a row.
    """
    scales, blurs, reaches = face.scales, face.blurs, face.reaches
    for k in range(face.joint_count):
        size, lengths = face.joints[k, SIZE], face.joints[k, LENGTHS]
        at, right = face.joints[k, DIAGONAL], face.joints[k, RIGHT]
        for part in range(2):
            first, last = (0, lengths) if part == 0 else (lengths, size)
            mean = 0.0
            for i in range(first, last):
                mean += work[at + size * i + i] / (last - first)
            for i in range(first, last):
                scales[right + i] = mean
                blurs[right + i] = sqrt(EPSILON * mean)
                reaches[right + i] = mean


@kernel
def take_scale(face: View, k: int, places: bool, scale: Array, blur: Array, reach: Array) -> None:
    """Those of one joint.

    Joints that lock velocities alone close no places: beside what those rows would need, no pivot of theirs is anything.
    """
    scales, blurs, right = face.scales, face.blurs, face.joints[k, RIGHT]
    reaches = face.reaches
    for i in range(face.joints[k, SIZE]):
        closes = not (places and face.joints[k, GLIDING] == 1)
        scale[i] = scales[right + i] if closes else np.inf
        if blurs[right + i] * blurs[right + i] > scales[right + i]:
            blurs[right + i] = sqrt(scales[right + i])  # no row is blurred by more than there is of it
        blur[i] = blurs[right + i] if closes else np.inf
        reach[i] = reaches[right + i] if closes else np.inf


@kernel
def factorise(face: View, work: Array, shift: float, places: bool, sharp: bool) -> int:
    """Eliminate joint after joint; how many rows depend on others, or -1 where it has to be done again, `sharp`.

    `shift`: a share of its scale that is added to every pivot, for the smallest x that do. A row that depends on others then
    has an inverse of 1 / shift, which leaves rounding of eps / shift in the blocks that come later; where rows of these depend
    on others too, as in Bricard's mechanism, it must be far below shift itself.
    """
    scale, blur, reach = face.scratch, face.blur, face.reach
    blurs, reaches, whole, rest = face.blurs, face.reaches, face.whole, face.rest
    dependent = 0
    for k in range(face.joint_count):
        size = face.joints[k, SIZE]
        take_scale(face, k, places, scale, blur, reach)
        at, own = face.joints[k, DIAGONAL], face.joints[k, RIGHT]
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
        for e in range(face.joints[k, FIRST], face.joints[k, LAST]):
            block, share, rows = face.entries[e, TARGET], face.entries[e, ONE], face.entries[e, ROWS]
            there = face.entries[e, OTHER]
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
        for u in range(face.joints[k, NEXT], face.joints[k, BEYOND]):
            target, one, other = face.updates[u, TARGET], face.updates[u, ONE], face.updates[u, OTHER]
            rows, columns = face.updates[u, ROWS], face.updates[u, COLUMNS]
            for i in range(rows):
                for j in range(columns):
                    value = 0.0
                    for c in range(size):
                        value += work[one + size * i + c] * work[other + size * j + c]
                    work[target + columns * i + j] -= value
    return dependent


@kernel
def go_forward(face: View, work: Array, right: Array, y: int) -> None:
    """Take from the rows of later joints what eliminating the earlier ones leaves to them; `y`: which of two blocks is Y."""
    for k in range(face.joint_count):
        size, at = face.joints[k, SIZE], face.joints[k, RIGHT]
        for e in range(face.joints[k, FIRST], face.joints[k, LAST]):
            share, rows, there = face.entries[e, y], face.entries[e, ROWS], face.entries[e, OTHER]
            for i in range(rows):
                value = 0.0
                for c in range(size):
                    value += work[share + size * i + c] * right[at + c]
                right[there + i] -= value


@kernel
def solve(face: View, work: Array) -> None:
    """W x = r in place."""
    right, scratch = face.right_side, face.scratch
    count = face.joint_count
    go_forward(face, work, right, ONE)
    for back in range(count):
        k = count - 1 - back
        size, at, inverse = face.joints[k, SIZE], face.joints[k, RIGHT], face.joints[k, DIAGONAL]
        for i in range(size):
            value = 0.0
            for c in range(size):
                value += work[inverse + size * i + c] * right[at + c]
            scratch[i] = value
        for e in range(face.joints[k, FIRST], face.joints[k, LAST]):
            share, rows, there = face.entries[e, ONE], face.entries[e, ROWS], face.entries[e, OTHER]
            for i in range(size):
                value = scratch[i]
                for c in range(rows):
                    value -= work[share + size * c + i] * right[there + c]
                scratch[i] = value
        for i in range(size):
            right[at + i] = scratch[i]


@kernel
def factorise_ahead(face: View, work: Array) -> None:
    """The same for V, as blurred as W was; blocks below the diagonal become Y, those above it stay."""
    scale, blur, reach = face.scratch, face.blur, face.reach
    whole, rest = face.whole, face.rest
    for k in range(face.joint_count):
        size, at = face.joints[k, SIZE], face.joints[k, DIAGONAL]
        take_scale(face, k, True, scale, blur, reach)
        for i in range(size * size):
            whole[i] = work[at + i]
        invert(work, at, size, scale, blur, reach)
        frail = face.sharp == 1 or is_frail(work, at, size, whole)
        for e in range(face.joints[k, FIRST], face.joints[k, LAST]):
            block, rows = face.entries[e, TARGET], face.entries[e, ROWS]
            for i in range(rows):
                share_out(work, block + size * i, at, size, whole, frail, scale, rest)
                for j in range(size):
                    work[block + size * i + j] = scale[j]
        for u in range(face.joints[k, MOVE], face.joints[k, MOVED]):
            target, one, other = face.moves[u, TARGET], face.moves[u, ONE], face.moves[u, OTHER]
            rows, columns = face.moves[u, ROWS], face.moves[u, COLUMNS]
            for i in range(rows):
                for j in range(columns):
                    value = 0.0
                    for c in range(size):
                        value += work[one + size * i + c] * work[other + columns * c + j]
                    work[target + columns * i + j] -= value


@kernel
def solve_ahead(face: View, work: Array) -> None:
    """V x = r in place."""
    right, scratch = face.right_side, face.scratch
    count = face.joint_count
    go_forward(face, work, right, TARGET)
    for back in range(count):
        k = count - 1 - back
        size, at, inverse = face.joints[k, SIZE], face.joints[k, RIGHT], face.joints[k, DIAGONAL]
        for e in range(face.joints[k, FIRST], face.joints[k, LAST]):
            block, rows, there = face.entries[e, ONE], face.entries[e, ROWS], face.entries[e, OTHER]
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


@kernel
def take_errors(face: View, length: float, turn: float) -> Any:
    """Errors of all joints to the right-hand side; the largest, as a multiple of what may stay open."""
    right = face.right_side
    largest, sound = 0.0, 0.0
    for k in range(face.joint_count):
        at, error, lengths = face.joints[k, RIGHT], numbers_at(face.joints[k, ERROR]), face.joints[k, LENGTHS]
        for i in range(face.joints[k, SIZE]):
            right[at + i] = error[i]
            sound += 0.0 * error[i]
            largest = max(largest, abs(error[i]) / (length if i < lengths else turn))
    return largest + sound


@kernel
def reach_of_rounding(face: View, h: float, length: float, turn: float) -> Any:
    """How far rounding of the reactions moves the joints in a drift, as a multiple of what may stay open.

    A reaction is known to a share EPSILON of itself, and what that does to a light body no other reaction takes back: errors
    are h^2 / 2 W of it, and |W_ij| is at most the root of W_ii W_jj.
    """
    scales = face.scales
    largest = 0.0
    for k in range(face.joint_count):
        at, effort, lengths = face.joints[k, RIGHT], numbers_at(face.joints[k, EFFORT]), face.joints[k, LENGTHS]
        push = 0.0
        for i in range(face.joints[k, SIZE]):
            push += EPSILON * abs(effort[i]) * sqrt(scales[at + i])
        for i in range(face.joints[k, SIZE]):
            largest = max(largest, 0.5 * h * h * sqrt(scales[at + i]) * push / (length if i < lengths else turn))
    return largest


@kernel
def added_up(face: View) -> Any:
    """What all joints add to a sum, always in the same order."""
    summands, total = face.summands, 0.0
    for k in range(face.joint_count_of_all):
        total += summands[k]
    return total


@kernel
def take_rates(face: View) -> Any:
    """Rates of all joints to the right-hand side; the largest."""
    right = face.right_side
    largest, sound = 0.0, 0.0
    for k in range(face.joint_count):
        at, rate = face.joints[k, RIGHT], numbers_at(face.joints[k, RATE])
        for i in range(face.joints[k, SIZE]):
            right[at + i] = rate[i]
            sound += 0.0 * rate[i]
            largest = max(largest, abs(rate[i]))
    return largest + sound


@kernel
def give_efforts(face: View, factor: float) -> None:
    """Add what was found to the reactions of the joints."""
    right = face.right_side
    for k in range(face.joint_count):
        at, effort = face.joints[k, RIGHT], numbers_at(face.joints[k, EFFORT])
        for i in range(face.joints[k, SIZE]):
            effort[i] += factor * right[at + i]


# --- as loops, which are called by their addresses: inlined they would be compiled over and over ----------------------


@loop
def weigh_loop(start: int, stop: int, face: View, elements: View) -> int:
    """W of all joints, factorised, sharply where it has to be.

    With a share added it is measured as it was without: V, which takes over these measures, must not depend on who looks.
    """
    work, shift, places = matrix_of(face, face.matrix), face.added, face.matrix == WORK
    dependent = -1
    for sharp in range(2):
        if dependent < 0:
            assemble(face, work)
            if shift == 0.0:
                take_scales(face, work)
                face.sharp = sharp
            dependent = factorise(face, work, shift, places, sharp == 1)
    face.dependent = dependent
    return FINE


@loop
def answer_loop(start: int, stop: int, face: View, elements: View) -> int:
    """Reactions that answer the right-hand side."""
    solve(face, matrix_of(face, face.matrix))
    give_efforts(face, face.factor)
    return FINE


@loop
def weigh_ahead_loop(start: int, stop: int, face: View, elements: View) -> int:
    """V of all joints, factorised."""
    assemble_ahead(face, face.again)
    factorise_ahead(face, face.again)
    return FINE


@loop
def answer_ahead_loop(start: int, stop: int, face: View, elements: View) -> int:
    """Reactions that answer the right-hand side by V."""
    solve_ahead(face, face.again)
    give_efforts(face, face.factor)
    return FINE


# --- what reactions are expected -------------------------------------------------------------------------------------


@loop
def recall_loop(start: int, stop: int, face: View, elements: View) -> int:
    """Begin with the reactions that are expected to close the joints."""
    for k in range(face.joint_count):
        effort, carried = numbers_at(face.joints[k, EFFORT]), numbers_at(face.joints[k, CARRIED])
        for i in range(face.joints[k, SIZE]):
            effort[i] = carried[i]
    return FINE


@loop
def start_over_loop(start: int, stop: int, face: View, elements: View) -> int:
    """Begin with the reactions under which the step before has ended.

    They are further from those that close the joints, but lie along what they pull at, where those that are expected lie along
    where it was: what these do across a light body between heavy ones may fling it far beyond its length.
    """
    for k in range(face.joint_count):
        effort, kicked = numbers_at(face.joints[k, EFFORT]), numbers_at(face.joints[k, KICKED])
        for i in range(face.joints[k, SIZE]):
            effort[i] = kicked[i]
    return FINE


@loop
def keep_loop(start: int, stop: int, face: View, elements: View) -> int:
    """Keep by how much the reactions that closed the joints differ from those with which the step before ended."""
    for k in range(face.joint_count):
        effort, kicked = numbers_at(face.joints[k, EFFORT]), numbers_at(face.joints[k, KICKED])
        closed = numbers_at(face.joints[k, CLOSED])
        for i in range(face.joints[k, SIZE]):
            closed[i] = effort[i] - kicked[i]
    return FINE


@loop
def expect_loop(start: int, stop: int, face: View, elements: View) -> int:
    """What closes the joints next, but for terms of second order.

    The reaction that closes a joint in a step h from t is lambda(t) + h/3 c, that which stops it at the end of a step h' to t
    is lambda(t) - h'/3 c, with one and the same c: so the difference of both tells c, and the next one follows.
    """
    for k in range(face.joint_count):
        effort, kicked = numbers_at(face.joints[k, EFFORT]), numbers_at(face.joints[k, KICKED])
        closed, carried = numbers_at(face.joints[k, CLOSED]), numbers_at(face.joints[k, CARRIED])
        for i in range(face.joints[k, SIZE]):
            kicked[i] = effort[i]
            carried[i] = effort[i] + face.trend * closed[i]
    return FINE


@loop
def average_loop(start: int, stop: int, face: View, elements: View) -> int:
    """Before a step is tried again: the reactions that closed joints, or ones nearer to those that stopped them at the end."""
    taken = face.easing
    for k in range(face.joint_count):
        effort, kicked = numbers_at(face.joints[k, EFFORT]), numbers_at(face.joints[k, KICKED])
        closed, carried = numbers_at(face.joints[k, CLOSED]), numbers_at(face.joints[k, CARRIED])
        for i in range(face.joints[k, SIZE]):
            if face.joints[k, GLIDING] == 1:
                carried[i] = taken * effort[i] + (1.0 - taken) * carried[i]
            else:
                carried[i] = closed[i] + kicked[i]
    return FINE


@loop
def carry_loop(start: int, stop: int, face: View, elements: View) -> int:
    """Expect the reactions of now."""
    for k in range(face.joint_count):
        effort, kicked = numbers_at(face.joints[k, EFFORT]), numbers_at(face.joints[k, KICKED])
        carried = numbers_at(face.joints[k, CARRIED])
        for i in range(face.joints[k, SIZE]):
            kicked[i] = effort[i]
            carried[i] = effort[i]
    return FINE


LOOPS = {
    "weigh": weigh_loop, "answer": answer_loop, "weigh_ahead": weigh_ahead_loop, "answer_ahead": answer_ahead_loop,
    "recall": recall_loop, "start_over": start_over_loop, "keep": keep_loop, "expect": expect_loop, "average": average_loop,
    "carry": carry_loop,
}  # fmt: skip
