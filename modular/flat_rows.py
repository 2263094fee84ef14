"""Rows of a column as plain numbers, one behind the other, whatever shape they have: for what treats all numbers of a row alike."""

from __future__ import annotations

from math import prod
from typing import Any

from llvmlite import ir
from numba.core import cgutils
from numba.extending import intrinsic

from modular.lanes import WHOLE, types
from modular.views import RowsType


@intrinsic
def flat(context: Any, rows: types.Type) -> Any:
    """The same column; each of its rows is one list of numbers."""
    kind = RowsType(rows.item, (prod(rows.shape),))

    def generate(inner: Any, builder: Any, kinds: Any, values: Any) -> Any:
        given = cgutils.create_struct_proxy(rows)(inner, builder, value=values[0])
        made = cgutils.create_struct_proxy(kind)(inner, builder)
        made.start, made.pitch = given.start, given.pitch
        return made._getvalue()

    return kind(rows), generate


@intrinsic
def width_of(context: Any, rows: types.Type) -> Any:
    """How many numbers a row has: as its shape says, or, where that is not known before a run, as rows are apart."""
    size = prod(rows.shape)

    def generate(inner: Any, builder: Any, kinds: Any, values: Any) -> Any:
        if size:
            return ir.Constant(WHOLE, size)
        return cgutils.create_struct_proxy(rows)(inner, builder, value=values[0]).pitch

    kind = types.literal(size) if size else types.int64
    return kind(rows), generate
