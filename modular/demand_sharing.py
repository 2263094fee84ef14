"""The demand that the stiffness of a joint makes on the stability limit of its two bodies, and how they share it.

A joint with the block E = dt^2 K + 2 dt C asks each of its bodies for G^T A G, with A_a and A_b such that

    (x_a - x_b)^T E (x_a - x_b) <= x_a^T A_a x_a + x_b^T A_b x_b    for all x_a, x_b.

A body sums what its joints ask; with lambda the largest eigenvalue of that sum, the step is stable if lambda < 4 on every body
(docs/method.md, section 8). Two such shares are in use: by one number, and by matrices.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from modular.blocks import like, shaped
from modular.elements import Array
from modular.kernel import kernel
from modular.lane_rows import fetch, indices, scatter
from modular.lanes import LANES, any_above, given, lanes, larger, share
from modular.loop import NO_FAILED_ROW, loop
from modular.seen_mass import add_compliance, as_matrix, joint_responses, response_scratch
from modular.small_inverses import invert_on_range, scratch_for_inverse
from modular.views import View

RELATIVE_ROUNDING = 1e-13  # of a square, whose root would be seen

demands = shaped(lanes, lambda demand: [demand, demand])
answers = shaped(lanes, lambda block: [block, block, (3, 3)])


@kernel
def request_demand_rows(start: int, stop: int, joints: View, elements: View) -> None:
    """By one number: A = E / theta, theta_a + theta_b = 1 in the proportions of the two compliances, by the convexity of x^2.

    Translations and rotations each on their own.
    """
    block, room = like(joints.block), response_scratch(joints, elements.response)
    on_first, on_second = demands(elements.demand)
    rows, translations = block.shape[0], joints.translations.shape[0]
    for n in range(start, stop, LANES):
        seen_first, seen_second = joint_responses(joints, elements, n, stop, on_first.shape[0], room)
        fetch(joints.block, n, stop, block)
        on_first[:, :] = 0.0
        on_second[:, :] = 0.0
        share_by_number(seen_first, seen_second, block, 0, translations, on_first, on_second)
        share_by_number(seen_first, seen_second, block, translations, rows, on_first, on_second)
        scatter(on_first, elements.demand, indices(joints.first, n, stop))
        scatter(on_second, elements.demand, indices(joints.second, n, stop))


@loop
def request_demand_loop(start: int, stop: int, joints: View, elements: View) -> int:
    """The same for joints, by matrices where the block is one: A = s W_a^-1 and s W_b^-1, with E <= s W^-1.

    Nothing is lost where E = s W^-1, since the parallel sum of W_a^-1 and W_b^-1 is (W_a + W_b)^-1. On body b, G_b^T W_b^-1 G_b is
    the orthogonal projector on the motions that the joint takes: no mass is in it.
    """
    block, room, scratch = (
        like(joints.block),
        response_scratch(joints, elements.response),
        scratch_for_inverse(joints.block),
    )
    first, second, inverse = answers(joints.block)
    on_first, on_second = demands(elements.demand)
    rows, translations, rank = block.shape[0], joints.translations.shape[0], joints.rotations.shape[0]
    modes = on_first.shape[0]
    for n in range(start, stop, LANES):
        seen_first, seen_second = joint_responses(joints, elements, n, stop, modes, room)
        fetch(joints.block, n, stop, block)
        on_first[:, :] = 0.0
        on_second[:, :] = 0.0
        first[:, :] = 0.0
        second[:, :] = 0.0
        add_compliance(seen_first, modes, first)
        add_compliance(seen_second, modes, second)
        if joints.square.shape[0] == 1:
            uneven = as_matrix(joints, n, stop, 0.0 * block[0, 0])
            if any_above(uneven):
                most = strongest(block, first, second, 0, translations, translations)
                invert_on_range(first, 0, translations, translations, scratch, inverse)
                add_demand(seen_first, inverse, 0, translations, 0, given(uneven, most), on_first)
                invert_on_range(second, 0, translations, translations, scratch, inverse)
                add_demand(seen_second, inverse, 0, translations, 0, given(uneven, most), on_second)
            if any_above(1.0 - uneven):
                for i in range(translations):  # of the others the block is one number
                    for j in range(translations):
                        block[i, j] = given(1.0 - uneven, block[i, j])
                share_by_number(seen_first, seen_second, block, 0, translations, on_first, on_second)
        else:
            share_by_number(seen_first, seen_second, block, 0, translations, on_first, on_second)
        if rows - translations == 3:
            most = strongest(block, first, second, translations, 3, rank)
            invert_on_range(first, translations, 3, rank, scratch, inverse)
            add_demand(seen_first, inverse, translations, 3, translations, most, on_first)
            invert_on_range(second, translations, 3, rank, scratch, inverse)
            add_demand(seen_second, inverse, translations, 3, translations, most, on_second)
        else:
            share_by_number(seen_first, seen_second, block, translations, rows, on_first, on_second)
        scatter(on_first, elements.demand, indices(joints.first, n, stop))
        scatter(on_second, elements.demand, indices(joints.second, n, stop))
    return NO_FAILED_ROW


@kernel
def share_by_number(
    seen_first: Array, seen_second: Array, block: Array, start: int, stop: int, on_first: Array, on_second: Array
) -> None:
    """E / theta of some rows, on either side."""
    modes, size = on_first.shape[0], stop - start
    asked_first = asked(seen_first, block, start, stop, modes)
    asked_second = asked(seen_second, block, start, stop, modes)
    whole = asked_first + asked_second
    add_demand(seen_first, block, start, size, 0, share(whole, asked_first), on_first)
    add_demand(seen_second, block, start, size, 0, share(whole, asked_second), on_second)


@kernel
def strongest(block: Array, first: Array, second: Array, at: int, size: int, rank: int) -> Any:
    """s with E <= s W^-1 on the range of W: the largest eigenvalue of X = E W, of at most `rank` that are not zero.

    It is at most t / n + sqrt((n - 1) / n (u - t^2 / n)) with t = tr X, u = tr X^2 and n the rank, and just that where all are
    equal, or where there are two.
    """
    trace, square = 0.0 * block[at, at], 0.0 * block[at, at]
    for i in range(size):
        for j in range(size):
            there, back = 0.0 * trace, 0.0 * trace
            for k in range(size):
                there += block[at + i, at + k] * (first[at + k, at + j] + second[at + k, at + j])
                back += block[at + j, at + k] * (first[at + k, at + i] + second[at + k, at + i])
            square += there * back
            if i == j:
                trace += there
    mean = trace / rank
    spread = (rank - 1.0) / rank * (square - rank * mean * mean) - RELATIVE_ROUNDING * mean * mean
    return mean + np.sqrt(larger(spread, 0.0 * spread))


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
def add_demand(seen: Array, block: Array, at: int, size: int, off: int, factor: Any, demand: Array) -> None:
    """load += factor G^T A G of some rows of G, from `at` on; `off`: how much further in front they are in A."""
    for p in range(demand.shape[0]):
        for q in range(demand.shape[1]):
            value = demand[p, q]
            for i in range(at, at + size):
                for j in range(at, at + size):
                    value += factor * block[i - off, j - off] * seen[i, p] * seen[j, q]
            demand[p, q] = value


@kernel
def growth(x: float, y: float, bound: float) -> Any:
    """mu with mu^2 x + mu y = (x + y) 4 / bound, also where there is no stiffness (x = 0); infinite where neither is."""
    if x + y <= 0.0:
        return np.inf
    room = (x + y) * 4.0 / bound
    return 2.0 * room / (y + np.sqrt(y * y + 4.0 * x * room))
