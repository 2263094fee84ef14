"""References are counted to what has some, and to nothing else."""

import gc

import numpy as np
import pytest
from numba.core.registry import cpu_target
from numba.core.runtime import _nrt_python, rtsys

from modular.blocks import BlockType
from modular.dispatcher import dispatch
from modular.lanes import lanes, types
from modular.lowering import is_counted
from modular.views import view_of

ARRAY = types.Array(types.float64, 1, "C")


@pytest.mark.parametrize(
    ("kind", "counted"),
    [
        (types.float64, False), (types.UniTuple(types.int64, 2), False), (lanes, False), (BlockType(lanes, (3, 3)), False),
        (ARRAY, True), (types.Tuple((types.float64, ARRAY)), True), (types.Optional(ARRAY), True),
        (types.Tuple((types.int64, types.Tuple((ARRAY, types.int64)))), True),
    ],
    ids=str,
)  # fmt: skip
def test_types_are_counted_where_something_in_them_is(kind, counted):
    assert is_counted(cpu_target.target_context, kind) is is_counted(cpu_target.target_context, kind) is counted


def test_tables_are_not_counted():
    found = view_of((("q", True, "float64", (3,)), ("gravity", False, "float64", (2,))))
    assert not is_counted(cpu_target.target_context, found)


def test_arrays_that_kernels_make_and_hand_on_live_as_long_as_they_are_held():
    @dispatch
    def piece(numbers, k):
        return k, numbers[k:]

    @dispatch
    def walk(numbers, times):
        held = (0, numbers)
        for k in range(times):
            fresh = np.full(1000, float(k))
            if k % 2:
                held = piece(fresh, k)
        return held

    numbers = np.arange(3.0)
    walk(numbers, 2)
    gc.collect()
    _nrt_python.memsys_enable_stats()
    before = rtsys.get_allocation_stats()
    for _ in range(10):
        k, found = walk(numbers, 8)
        others = [walk(numbers, 8) for _ in range(3)]
        assert k == 7 and found.shape == (993,) and (found == 7.0).all() and len(others) == 3
    del found, others
    gc.collect()
    after = rtsys.get_allocation_stats()
    _nrt_python.memsys_disable_stats()
    assert after.alloc - before.alloc == after.free - before.free == 10 * 4 * (8 + 1)  # what it is given too
