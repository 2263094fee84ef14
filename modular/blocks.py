"""Blocks: small matrices of known shape inside kernels, of plain numbers or of lanes.

A block is a pointer with a shape that the compiler knows. `room` and `like` make fresh ones on the stack of the machine,
where a loop may use them over and over at no cost; they belong to the function that made them, so none may return them.
Rows of a component's columns are blocks too (modular/views.py). Kernels read and write them as they read and write arrays:
`m[i, j]`, `m.shape`, `m[i]` for a row, `m[i, :] = 0.0`.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from math import prod
from typing import Any

from llvmlite import ir
from numba.core import cgutils
from numba.core import types as numba_types
from numba.core.typing.templates import AbstractTemplate, AttributeTemplate, infer_getattr, infer_global, signature
from numba.extending import intrinsic, lower_builtin, lower_getattr, models, register_model

from modular.lanes import NUMBER, SCALARS, SMALL, VECTOR, WHOLE, lanes, types


def machine_type(item: types.Type) -> ir.Type:
    """How an item lies in memory."""
    return VECTOR if item == lanes else WHOLE if item == types.int64 else NUMBER


class BlockType(numba_types.Type):
    """A matrix of known shape; items are lanes, float64 or int64."""

    def __init__(self, item: types.Type, shape: Sequence[int]) -> None:
        self.item, self.shape = item, tuple(shape)
        super().__init__(f"Block({item}, {self.shape})")


@register_model(BlockType)
class BlockModel(models.PrimitiveModel):
    """A pointer."""

    def __init__(self, manager: Any, kind: BlockType) -> None:
        super().__init__(manager, kind, machine_type(kind.item).as_pointer())


def has_shape(kind: type[types.Type]) -> None:
    """Let kernels read `.shape` of values of a type: whole numbers that the compiler knows, as if they were written out."""

    def written_out(value: Any) -> types.Type:
        return types.Tuple([types.literal(size) for size in value.shape])

    @infer_getattr
    class Shape(AttributeTemplate):
        key = kind

        def resolve_shape(self, value: Any) -> types.Type:
            return written_out(value)

    @lower_getattr(kind, "shape")
    def shape(context: Any, builder: Any, found: Any, value: Any) -> Any:
        return context.make_tuple(builder, written_out(found), [ir.Constant(WHOLE, size) for size in found.shape])


has_shape(BlockType)


def reserve(builder: Any, item: types.Type, shape: Sequence[int]) -> Any:
    """Space for a block in the frame of the function being compiled."""
    return cgutils.alloca_once(builder, machine_type(item), size=ir.Constant(SMALL, max(prod(shape), 1)))


@intrinsic(prefer_literal=True)
def room(context: Any, shape: types.Type) -> Any:
    """A fresh block of numbers, not cleared; its shape is written out: room((3, 3))."""
    sizes = shape.types if isinstance(shape, types.BaseTuple) else (shape,)
    if not all(isinstance(size, types.IntegerLiteral) for size in sizes):
        return None
    kind = BlockType(types.float64, [size.literal_value for size in sizes])

    def generate(_: Any, builder: Any, kinds: Any, values: Any) -> Any:
        return reserve(builder, kind.item, kind.shape)

    return kind(shape), generate


def shaped(item: types.Type, shapes_of: Any) -> Any:
    """A maker of fresh blocks whose shapes follow from its arguments: shapes_of(shape, ...), or views of tables for shapes."""

    @intrinsic
    def make(context: Any, *patterns: types.Type) -> Any:
        given = [getattr(pattern, "shape", pattern) for pattern in patterns]
        made = types.Tuple([BlockType(item, shape) for shape in shapes_of(*given)])

        def generate(inner: Any, builder: Any, kinds: Any, values: Any) -> Any:
            return inner.make_tuple(builder, made, [reserve(builder, kind.item, kind.shape) for kind in made.types])

        return made(types.StarArgTuple(patterns)), generate

    make.shapes_of = shapes_of  # for who runs kernels as plain Python
    return make


@intrinsic
def like(context: Any, pattern: types.Type) -> Any:
    """A fresh block of lanes with the shape of a block or of the rows of a column, not cleared."""
    kind = BlockType(lanes, pattern.shape)

    def generate(_: Any, builder: Any, kinds: Any, values: Any) -> Any:
        return reserve(builder, kind.item, kind.shape)

    return kind(pattern), generate


@intrinsic
def lanes_of(context: Any, number: types.Type) -> Any:
    """As many lanes as are asked for, not cleared; to be asked for once, where a loop begins."""

    def generate(_: Any, builder: Any, kinds: Any, values: Any) -> Any:
        return builder.alloca(VECTOR, size=values[0])

    return BlockType(lanes, (0,))(types.int64), generate


# --- indexing ------------------------------------------------------------------------------------------------------


def split_index(kind: types.Type) -> tuple[int, int] | None:
    """How many leading whole numbers and how many full slices follow them; None for anything else."""
    parts = list(kind.types) if isinstance(kind, types.BaseTuple) else [kind]
    whole = 0
    while whole < len(parts) and isinstance(parts[whole], types.Integer):
        whole += 1
    slices = len(parts) - whole
    return (whole, slices) if all(isinstance(part, types.SliceType) for part in parts[whole:]) else None


def leading(kind: types.Type) -> int:
    """The number of leading whole numbers of an index that the typing has let pass."""
    found = split_index(kind)
    assert found is not None
    return found[0]


def places(context: Any, builder: Any, kind: types.Type, value: Any, number: int) -> list[Any]:
    """The leading whole numbers of an index."""
    if not isinstance(kind, types.BaseTuple):
        return [context.cast(builder, value, kind, types.int64)] if number else []
    values = cgutils.unpack_tuple(builder, value)
    return [context.cast(builder, v, k, types.int64) for v, k in list(zip(values, kind.types, strict=True))[:number]]


def offset(builder: Any, shape: Sequence[int], at: Sequence[Any]) -> Any:
    """Items before the place `at` in a matrix whose items lie row by row."""
    total = ir.Constant(WHOLE, 0)
    for size, place in zip(shape, at, strict=False):
        total = builder.add(builder.mul(total, ir.Constant(WHOLE, size)), place)
    rest = prod(shape[len(at) :])
    return total if rest == 1 else builder.mul(total, ir.Constant(WHOLE, rest))


@infer_global(operator.getitem)
class _Read(AbstractTemplate):
    def generic(self, arguments: tuple[types.Type, ...], keywords: dict[str, Any]) -> Any:
        block, at = arguments
        if not isinstance(block, BlockType) or (found := split_index(at)) is None or found[1]:
            return None
        if found[0] == len(block.shape):
            return signature(block.item, block, at)
        return signature(BlockType(block.item, block.shape[found[0] :]), block, at)


@lower_builtin(operator.getitem, BlockType, types.Any)
def _read(context: Any, builder: Any, kinds: Any, values: Any) -> Any:
    block, at = kinds.args
    whole = leading(at)
    place = builder.gep(values[0], [offset(builder, block.shape, places(context, builder, at, values[1], whole))])
    return builder.load(place) if whole == len(block.shape) else place


@infer_global(operator.setitem)
class _Write(AbstractTemplate):
    def generic(self, arguments: tuple[types.Type, ...], keywords: dict[str, Any]) -> Any:
        block, at, value = arguments
        if not isinstance(block, BlockType) or (found := split_index(at)) is None or sum(found) > len(block.shape):
            return None
        if value == lanes and block.item != lanes:
            return None
        return signature(types.none, block, at, block.item) if isinstance(value, SCALARS) or value == lanes else None


@lower_builtin(operator.setitem, BlockType, types.Any, types.Any)
def _write(context: Any, builder: Any, kinds: Any, values: Any) -> Any:
    block, at, _ = kinds.args
    whole = leading(at)
    first = offset(builder, block.shape, places(context, builder, at, values[1], whole))
    for k in range(prod(block.shape[whole:])):
        builder.store(values[2], builder.gep(values[0], [builder.add(first, ir.Constant(WHOLE, k))]))
    return context.get_dummy_value()
