"""Bytes at addresses, inside kernels: what copies and clears rows whatever lies in them."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.extending import intrinsic

from modular.lanes import WHOLE, types

BYTE = ir.IntType(8)


@intrinsic
def copy_bytes(context: Any, target: types.Type, source: types.Type, number: types.Type) -> Any:
    """Copy bytes from one address to another."""

    def generate(inner: Any, builder: Any, kinds: Any, values: Any) -> Any:
        pointer = BYTE.as_pointer()
        function = _of_llvm(builder, "llvm.memcpy.p0i8.p0i8.i64", [pointer, pointer, WHOLE, ir.IntType(1)])
        addresses = [builder.inttoptr(value, pointer) for value in values[:2]]
        builder.call(function, [*addresses, values[2], ir.Constant(ir.IntType(1), 0)])
        return inner.get_dummy_value()

    return types.none(types.int64, types.int64, types.int64), generate


@intrinsic
def clear_bytes(context: Any, target: types.Type, number: types.Type) -> Any:
    """Make bytes from an address on zero."""

    def generate(inner: Any, builder: Any, kinds: Any, values: Any) -> Any:
        pointer = BYTE.as_pointer()
        function = _of_llvm(builder, "llvm.memset.p0i8.i64", [pointer, BYTE, WHOLE, ir.IntType(1)])
        address = builder.inttoptr(values[0], pointer)
        builder.call(function, [address, ir.Constant(BYTE, 0), values[1], ir.Constant(ir.IntType(1), 0)])
        return inner.get_dummy_value()

    return types.none(types.int64, types.int64), generate


def _of_llvm(builder: Any, name: str, arguments: list[ir.Type]) -> Any:
    found = builder.module.globals.get(name)
    return found or ir.Function(builder.module, ir.FunctionType(ir.VoidType(), arguments), name)
