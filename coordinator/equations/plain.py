"""Kernels as plain Python: the very lines that are compiled, run over terms instead of numbers.

What a component does is written once, in kernels and loops. Here each is taken as the function that it was before it was compiled,
with everything that it calls taken in the same way; blocks become arrays of anything, four lanes become one, and functions of
numbers become those of terms. So formulas cannot drift from numbers: there is no second place where they stand.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from types import CellType, CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from coordinator.equations.terms import arctangent, either
from modular import blocks, lane_rows
from modular.loop import Loop

Plain = Callable[..., Any]
# functions of these call no kernels of ours
FOREIGN = frozenset(sys.stdlib_module_names | {"numpy", "scipy", "sympy", "numba", "llvmlite", "networkx"})


# --- what compiled code is given by the compiler --------------------------------------------------------------------------


def empty(shape: Any, *_: Any, **__: Any) -> Any:
    """A block of anything, filled with nothing."""
    found = np.empty(shape, object)
    found.fill(0.0)
    return found


def _like(pattern: Any) -> Any:
    """A block as large as another, or as a row of a column."""
    return empty(pattern.shape)


def _fetch(column: Any, n: int, stop: int, block: Any) -> None:
    block[...] = column[n]


def _fetch_slot(column: Any, slot: int, n: int, stop: int, block: Any) -> None:
    block[...] = column[n, slot]


def _fetch_one(column: Any, n: int, stop: int) -> Any:
    return column[n]


def _store(block: Any, column: Any, n: int, stop: int) -> None:
    column[n] = block


def _store_item(value: Any, column: Any, item: int, n: int, stop: int) -> None:
    column[n, item] = value


def _indices(column: Any, n: int, stop: int) -> int:
    return int(column[n])


def _indices_slot(column: Any, slot: int, n: int, stop: int, numbers: Any) -> int:
    return int(column[n, slot]) if slot < numbers[n] else -1


def _gather(column: Any, where: int, block: Any) -> None:
    block[...] = column.stretch(max(where, 0), block.size).reshape(block.shape)


def _scatter(block: Any, column: Any, where: int) -> None:
    if where >= 0:
        column.stretch(where, block.size)[...] = block.reshape(-1)


def _gather_one(column: Any, where: int) -> Any:
    return column[max(where, 0)]


def _scatter_one(value: Any, column: Any, where: int) -> None:
    if where >= 0:
        column[where] = value


class Numpy:
    """What numpy does, with arrays of anything for fresh ones."""

    sqrt, sin, cos = (staticmethod(either(getattr(math, name), name)) for name in ("sqrt", "sin", "cos"))
    exp, tanh = (staticmethod(either(getattr(math, name), name)) for name in ("exp", "tanh"))
    rint = staticmethod(either(lambda value: float(np.rint(value)), "rint"))
    arctan2 = staticmethod(arctangent)
    empty = zeros = staticmethod(empty)

    @staticmethod
    def eye(size: int) -> Any:
        """A unit matrix of whole numbers."""
        return np.eye(size, dtype=int).astype(object)

    @staticmethod
    def array(values: Any, *_: Any, **__: Any) -> Any:
        """An array of anything."""
        return np.array(values, object)

    asarray = ascontiguousarray = array

    def __getattr__(self, name: str) -> Any:
        found = getattr(np, name)
        return found


NUMPY = Numpy()
ROOT, SINE, COSINE, EXPONENTIAL = Numpy.sqrt, Numpy.sin, Numpy.cos, Numpy.exp
MEANING: dict[int, Any] = {
    id(known): meaning
    for known, meaning in (
        (np, NUMPY),
        (blocks.room, empty),
        (blocks.like, _like),
        (lane_rows.fetch, _fetch),
        (lane_rows.fetch_slot, _fetch_slot),
        (lane_rows.fetch_one, _fetch_one),
        (lane_rows.store, _store),
        (lane_rows.store_one, _store),
        (lane_rows.store_item, _store_item),
        (lane_rows.indices, _indices),
        (lane_rows.indices_slot, _indices_slot),
        (lane_rows.gather, _gather),
        (lane_rows.scatter, _scatter),
        (lane_rows.gather_one, _gather_one),
        (lane_rows.scatter_one, _scatter_one),
        (math.sqrt, ROOT),
        (math.sin, SINE),
        (math.cos, COSINE),
        (math.exp, EXPONENTIAL),
        (math.atan2, arctangent),
    )
}
ONE_AT_A_TIME = {"LANES": 1}


class _Math:
    """The module math, over terms."""

    sqrt, sin, cos, exp, atan2 = (staticmethod(function) for function in (ROOT, SINE, COSINE, EXPONENTIAL, arctangent))

    def __getattr__(self, name: str) -> Any:
        return getattr(math, name)


MEANING[id(math)] = _Math()
_made: dict[Any, Any] = {}


def plain(value: Any) -> Any:
    """A kernel, a loop, or a function of ours that calls such, as plain Python; anything else as it is."""
    if id(value) in MEANING:
        return MEANING[id(value)]
    if isinstance(value, Loop):
        return _rebuilt(value.dispatcher.py_func)
    if hasattr(value, "py_func"):
        return _rebuilt(value.py_func)
    if isinstance(value, ModuleType):
        return value if value.__name__.partition(".")[0] in FOREIGN else Module(value)
    if hasattr(value, "shapes_of"):
        return _maker(value.shapes_of)
    if isinstance(value, FunctionType) and value.__module__.partition(".")[0] not in FOREIGN:
        return _rebuilt(value)
    return value


class Module:
    """A module of ours, with plain forms of what stands in it."""

    def __init__(self, of: ModuleType) -> None:
        self._of = of

    def __getattr__(self, name: str) -> Any:
        return plain(getattr(self._of, name))


def _maker(shapes_of: Callable[..., Any]) -> Plain:
    """Of several blocks, whose shapes follow from other blocks or from tables."""

    def make(*patterns: Any) -> Any:
        given = [getattr(pattern, "shape", pattern) for pattern in patterns]
        return tuple(empty(shape) for shape in shapes_of(*given))

    return make


def _rebuilt(function: FunctionType) -> Plain:
    """The same code among the plain forms of what it names."""
    known: Plain | None = _made.get(function)
    if known is not None:
        return known
    names: dict[str, Any] = {"__builtins__": function.__globals__["__builtins__"], "__name__": function.__module__}
    made = FunctionType(function.__code__, names, function.__name__, function.__defaults__, _cells(function))
    made.__kwdefaults__ = function.__kwdefaults__
    _made[function] = made  # before what it calls: that may call it
    for name in _names(function.__code__):
        if name in ONE_AT_A_TIME:
            names[name] = ONE_AT_A_TIME[name]
        elif name in function.__globals__:
            names[name] = plain(function.__globals__[name])
    return made


def _names(code: CodeType) -> set[str]:
    found = set(code.co_names)
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            found |= _names(inner)
    return found


def _cells(function: FunctionType) -> tuple[CellType, ...] | None:
    if function.__closure__ is None:
        return None
    return tuple(CellType(plain(cell.cell_contents)) for cell in function.__closure__)
