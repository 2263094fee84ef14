"""Rows as plain numbers: what copies or adds all numbers of a row is written once, whatever shape the rows have."""

from typing import Any

import numpy as np
import pytest

from components.bodies.loops.newmark_loops import in_frame
from modular.flat_rows import flat, width_of
from modular.loop import NO_FAILED_ROW, loop
from modular.table import Table

ROWS = 3


class Sheet(Table):
    """Columns of one number, of matrices, and of lists of matrices that may grow."""

    def __init__(self, listed: int) -> None:
        super().__init__(ROWS)
        self.column("q")
        self.column("matrix", 2, 3)
        self.column("long", listed, 2, listed=True)
        self.column("long_twin", listed, 2, listed=True)
        self.column("width", 3)
        for name in ("q", "matrix", "long"):
            column = getattr(self, name)
            column[...] = 1.0 + np.arange(column.size).reshape(column.shape)


@loop
def measure_loop(start: int, stop: int, table: Any, elements: Any) -> int:
    for n in range(start, stop):
        table.width[n, 0] = width_of(table.q)
        table.width[n, 1] = width_of(table.matrix)
        table.width[n, 2] = width_of(table.long)
    return NO_FAILED_ROW


@loop
def double_loop(start: int, stop: int, table: Any, elements: Any) -> int:
    for n in range(start, stop):
        here, there = flat(table.long)[n], flat(table.long_twin)[n]
        for i in range(width_of(table.long)):
            there[i] = 2.0 * here[i]
        numbers = flat(table.matrix)[n]
        for i in range(width_of(table.matrix)):
            numbers[i] += 100.0 * i
    return NO_FAILED_ROW


@pytest.mark.parametrize("listed", [1, 5])
def test_a_row_is_as_wide_as_it_has_numbers_and_they_come_in_order(listed: int):
    table = Sheet(listed)
    long, matrix = table.long.copy(), table.matrix.copy()
    measure_loop(table, table, 0, ROWS)
    double_loop(table, table, 0, ROWS - 1)
    assert np.array_equal(table.width, [[1.0, 6.0, 2.0 * listed]] * ROWS)
    assert np.array_equal(table.long_twin[:-1], 2.0 * long[:-1]) and not table.long_twin[-1].any()
    assert np.array_equal(table.matrix[:-1], matrix[:-1] + 100.0 * np.arange(6.0).reshape(2, 3))
    assert np.array_equal(table.matrix[-1], matrix[-1])


def test_rows_that_were_made_wider_are_seen_as_wide_as_they_are():
    table = Sheet(2)
    table.widen("long", 4)
    measure_loop(table, table, 0, ROWS)
    assert np.array_equal(table.width[:, 2], [8.0] * ROWS)


class Grown(Table):
    """A row of coordinates of which nobody knows the number before a run."""

    def __init__(self) -> None:
        super().__init__(ROWS)
        self.column("q", 4, listed=True)


@loop
def frame_loop(start: int, stop: int, table: Any, elements: Any) -> int:
    q, v, now = in_frame(table, start)
    q[0] = v[0] = now[0] = table.q[start, 0]
    return NO_FAILED_ROW


def test_no_frame_is_taken_for_rows_of_unknown_width():
    """It would have been one number wide, and all that was predicted written beyond it, without a word."""
    with pytest.raises(TypeError, match="in_columns"):
        frame_loop(Grown(), Grown(), 0, ROWS)
