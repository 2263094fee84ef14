"""Workspaces and layouts: what kernels hand on by name is what they would hand on one by one, where it lies."""

from typing import Any

import numpy as np
import pytest
from numba.core.errors import NumbaError

from modular.kernel import kernel
from modular.loop import NO_FAILED_ROW, loop
from modular.table import Table
from modular.workspaces import GIVEN, layout, size_of, workspace

ROWS = 3
TICK = {"time": float, "pose": (2, 2), "last": (3,), "guess": float}
tick_of = layout(**TICK)
new_pair = workspace(count=int, pose=(2, 2), now=GIVEN, sizes=GIVEN, whole=float)
new_chain = workspace(pair=GIVEN, end=float)


class Ticks(Table):
    """Rows that are read by name, and what was found."""

    def __init__(self) -> None:
        super().__init__(ROWS)
        self.column("tick", size_of(TICK))
        self.column("sizes", 2)
        self.column("found", 4)
        self.tick[...] = np.random.default_rng(7).normal(size=self.tick.shape)
        self.sizes[...] = np.arange(2.0 * ROWS).reshape(ROWS, 2) + 0.3


@kernel
def add(pair: Any, k: int) -> None:
    pair.count += 1
    pair.whole += pair.pose[k, 0] * pair.sizes[1] + pair.now.last[k]
    pair.now.guess = pair.count
    pair.now.pose[1, k] = pair.whole


@kernel
def add_through(chain: Any, k: int) -> None:
    add(chain.pair, k)
    chain.end = chain.pair.now.time


@loop
def add_loop(start: int, stop: int, ticks: Any, elements: Any) -> int:
    for n in range(start, stop):
        pair = new_pair(tick_of(ticks.tick[n]), ticks.sizes[n])
        pair.whole, pair.count = 0.25, 0
        pair.pose[:, :] = 0.5
        pair.pose[1, 0] = 3.0 + n
        chain = new_chain(pair)
        for k in range(2):
            add_through(chain, k)
        ticks.found[n, 0], ticks.found[n, 1], ticks.found[n, 2] = pair.whole, pair.count, chain.end
    return NO_FAILED_ROW


def test_fields_are_read_and_written_where_they_lie_through_all_kernels_that_are_handed_them():
    ticks = Ticks()
    row, sizes = ticks.tick.copy(), ticks.sizes
    add_loop(ticks, ticks, 0, ROWS)
    first = 0.25 + (0.5 * sizes[:, 1] + row[:, 5])
    second = first + ((3.0 + np.arange(ROWS)) * sizes[:, 1] + row[:, 6])
    assert np.array_equal(ticks.found[:, :3], np.column_stack((second, np.full(ROWS, 2.0), row[:, 0])))
    row[:, 3], row[:, 4], row[:, 8] = first, second, 2.0  # pose[1] and guess, and nothing else
    assert np.array_equal(ticks.tick, row)


short = layout(time=float)


@loop
def misread_loop(start: int, stop: int, ticks: Any, elements: Any) -> int:
    for n in range(start, stop):
        short(ticks.tick[n]).time = 0.0
    return NO_FAILED_ROW


@loop
def replacing_loop(start: int, stop: int, ticks: Any, elements: Any) -> int:
    for n in range(start, stop):
        tick = tick_of(ticks.tick[n])
        tick.pose = new_pair(tick, ticks.sizes[n]).pose
    return NO_FAILED_ROW


@loop
def half_given_loop(start: int, stop: int, ticks: Any, elements: Any) -> int:
    for n in range(start, stop):
        new_pair(ticks.sizes[n]).whole = 1.0
    return NO_FAILED_ROW


@loop
def misspelt_loop(start: int, stop: int, ticks: Any, elements: Any) -> int:
    for n in range(start, stop):
        tick_of(ticks.tick[n]).gess = 1.0
    return NO_FAILED_ROW


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (misread_loop, "takes a block of 1 numbers"),
        (replacing_loop, "'pose' .* is not replaced; write into it"),
        (half_given_loop, r"takes blocks or layouts for \['now', 'sizes'\]; it got"),
        (misspelt_loop, "gess"),
    ],
    ids=["misread", "replaced", "half given", "misspelt"],
)
def test_what_does_not_fit_is_refused_where_it_is_compiled_by_name(wrong, said):
    ticks = Ticks()
    with pytest.raises(NumbaError, match=said):
        wrong(ticks, ticks, 0, ROWS)


def test_rows_hold_numbers_and_blocks_of_them_only():
    assert size_of(TICK) == 9
    with pytest.raises(TypeError, match=r"layout\(count\): rows hold numbers"):
        layout(count=int)
