"""Views: a loop is compiled for what it asks of a table, and whoever differs elsewhere shares its machine code."""

import copy
from typing import Any

import numpy as np
import pytest

import zoo
from components.forces.coordinate import AlongCoordinate, request_demand_loop
from modular.blocks import shaped
from modular.flat_rows import width_of
from modular.kernel import kernel
from modular.lanes import lanes
from modular.loop import NO_FAILED_ROW, loop
from modular.table import Table
from modular.views import asked_by, view_of

ROWS = 3


class Sheet(Table):
    """Columns as wide as one likes."""

    def __init__(self, aside: int = 1, wide: int = 2, behind: int = 1) -> None:
        super().__init__(ROWS)
        self.column("aside", aside)
        self.column("wide", wide)
        self.column("behind", behind)
        self.wide[...] = np.arange(ROWS * wide).reshape(ROWS, wide)


@kernel
def add(table: Any, n: int, much: float) -> None:
    for k in range(table.wide.shape[0]):
        table.wide[n, k] += much


@loop
def add_loop(start: int, stop: int, table: Any, elements: Any) -> int:
    for n in range(start, stop):
        add(table, n, 2.0)
    return NO_FAILED_ROW


as_wide = shaped(lanes, lambda table: [table.shape_of("wide"), table.shape_of("behind")])


@loop
def measure_loop(start: int, stop: int, table: Any, elements: Any) -> int:
    wide, behind = as_wide(table)
    for n in range(start, stop):
        table.aside[n, 0] = 10.0 * wide.shape[0] + behind.shape[0]
    return NO_FAILED_ROW


def test_layouts_that_differ_in_what_a_loop_does_not_ask_for_share_its_machine_code():
    tables = [Sheet(), Sheet(aside=5), Sheet(behind=7), Sheet(aside=2, behind=2)]
    assert len({add_loop.address(table, table) for table in tables}) == 1
    for table in tables:
        before = table.wide.copy()
        add_loop(table, table, 0, ROWS)
        assert np.array_equal(table.wide, before + 2.0)
        assert not table.aside.any() and not table.behind.any()


def test_layouts_that_differ_in_what_it_asks_for_do_not():
    narrow, wide = Sheet(), Sheet(wide=4)
    assert add_loop.address(narrow, narrow) != add_loop.address(wide, wide)
    add_loop(wide, wide, 0, ROWS)
    assert np.array_equal(wide.wide, np.arange(4.0 * ROWS).reshape(ROWS, 4) + 2.0)


@pytest.mark.parametrize(("wide", "behind"), [(2, 1), (3, 1), (2, 4)])
def test_what_computes_shapes_asks_too(wide: int, behind: int):
    table = Sheet(wide=wide, behind=behind)
    measure_loop(table, table, 0, ROWS)
    assert np.all(table.aside == 10.0 * wide + behind)


class Untold(Sheet):
    """Sheets whose loops do not know how wide they are."""

    untold = ("wide",)


@loop
def double_loop(start: int, stop: int, table: Any, elements: Any) -> int:
    for n in range(start, stop):
        for k in range(width_of(table.wide)):
            table.wide[n, k] *= 2.0
        table.aside[n, 0] = width_of(table.wide)
    return NO_FAILED_ROW


def test_loops_that_are_not_told_how_long_rows_are_share_machine_code_and_find_out():
    tables = [Untold(wide=wide) for wide in (1, 5, 0)]
    assert len({double_loop.address(table, table) for table in tables}) == 1
    for table in tables:
        before, width = table.wide.copy(), table.wide.shape[1]
        double_loop(table, table, 0, ROWS)
        assert np.array_equal(table.wide, 2.0 * before) and np.all(table.aside == width)


def test_forces_along_coordinates_ask_a_step_by_one_loop_for_each_measure_and_dimension():
    forces = [cls.example(d) for cls, d in zoo.FORCES if issubclass(cls, AlongCoordinate)]
    stacks = [force.new_stack(d) for force in forces for d in (2, 3)]
    asked = {asked_by(request_demand_loop.dispatcher.py_func, stack.view) for stack in stacks}
    assert len(asked) == len({(stack.measure.shape, stack.first_side.shape) for stack in stacks}) < len(stacks)


def test_a_field_keeps_its_place_and_those_behind_the_last_one_asked_for_are_gone():
    view = Sheet().view
    part = view.narrowed(frozenset({"wide"}))
    assert part is view.narrowed(frozenset({"wide", "unheard of"})) and part is view_of(part.fields)
    assert part.find("wide") == view.find("wide") and len(part.fields) == 2
    assert part.find("aside") is part.find("behind") is part.find("") is None
    assert view.can_convert_to(None, part) is not None and part.can_convert_to(None, view) is None
    assert Sheet(wide=3).view.can_convert_to(None, part) is None
    assert copy.deepcopy(view) is view and copy.deepcopy(part) is part


class Counter(Table):
    """Numbers by their names, and as many others as one likes."""

    count_of: Any
    total: Any
    room: Any

    def __init__(self, room: int) -> None:
        super().__init__(1)
        self.fixed("count_of", dtype=np.int64)
        self.fixed("total")
        self.stretch("room")
        self.lay("room", np.arange(float(room)))
        self.count_of = room


@loop
def add_up_loop(start: int, stop: int, table: Any, elements: Any) -> int:
    for k in range(table.count_of):
        table.total += table.room[k]
        table.room[k] = -1.0
    table.count_of -= 1
    return NO_FAILED_ROW


def test_numbers_of_a_table_are_read_and_written_by_their_names_there_and_here():
    few, many = Counter(4), Counter(40)
    assert add_up_loop.address(few, few) == add_up_loop.address(many, many)
    other = copy.deepcopy(many)
    add_up_loop(many, many, 0, 1)
    assert (float(many.total), int(many.count_of)) == (780.0, 39) and np.all(many.room == -1.0)
    assert (float(other.total), int(other.count_of)) == (0.0, 40) and other.room[39] == 39.0  # a copy has its own
    many.total, many.count_of = 1.5, 2
    add_up_loop(many, many, 0, 1)
    assert (float(many.total), int(many.count_of)) == (-0.5, 1)


def test_what_is_laid_in_two_tables_is_shared_by_both():
    one, other = Counter(3), Counter(3)
    other.lay("total", one.total)
    add_up_loop(one, one, 0, 1)
    add_up_loop(other, other, 0, 1)
    assert float(one.total) == float(other.total) == 6.0
