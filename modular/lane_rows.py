"""Rows of columns in blocks of lanes: four components at once.

    fetch(bodies.q, n, stop, q)            q <- rows n to n + 3, or as many as there are before stop
    store(q, bodies.q, n, stop)            the way back
    indices(joints.first, n, stop)         which rows of another table these four point at
    gather(elements.position, rows, x)     x <- those rows, and as many after each as x has
    scatter(x, elements.force, rows)       the way back

Lanes beyond the last component repeat it when they are fetched, and are never stored.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from llvmlite import ir
from numba.core import cgutils
from numba.extending import intrinsic

from modular.lanes import LANES, VECTOR, WHOLE, index, lanes, mask, types
from modular.views import RowsType, place_of_row

RowIndices = types.UniTuple(types.int64, LANES)


def _shuffle(builder: Any, a: Any, b: Any, order: list[int]) -> Any:
    return builder.shuffle_vector(a, b, mask(order))


# Four rows of four become four columns of four, and back.
LOW, HIGH = [0, 4, 2, 6], [1, 5, 3, 7]
OUTER, INNER = [0, 1, 4, 5], [2, 3, 6, 7]


def _turned(builder: Any, m: Sequence[Any]) -> list[Any]:
    a, b = _shuffle(builder, m[0], m[1], LOW), _shuffle(builder, m[0], m[1], HIGH)
    c, d = _shuffle(builder, m[2], m[3], LOW), _shuffle(builder, m[2], m[3], HIGH)
    first, second = _shuffle(builder, a, c, OUTER), _shuffle(builder, b, d, OUTER)
    return [first, second, _shuffle(builder, a, c, INNER), _shuffle(builder, b, d, INNER)]


def _load(builder: Any, rows: Sequence[Any], block: Any, number: int) -> None:
    """`number` columns from four rows into a block; a row may be read up to three numbers beyond its end."""
    for start in range(0, number, LANES):
        at = ir.Constant(WHOLE, start)
        if number - start < 3:
            for column in range(start, number):
                value = ir.Constant(VECTOR, ir.Undefined)
                for k, row in enumerate(rows):
                    item = builder.load(builder.gep(row, [ir.Constant(WHOLE, column)]))
                    value = builder.insert_element(value, item, index(k))
                builder.store(value, builder.gep(block, [ir.Constant(WHOLE, column)]))
            continue
        parts = [builder.load(builder.bitcast(builder.gep(row, [at]), VECTOR.as_pointer()), align=8) for row in rows]
        for k, column in enumerate(_turned(builder, parts)[: number - start]):
            builder.store(column, builder.gep(block, [ir.Constant(WHOLE, start + k)]))


def _save(builder: Any, rows: Sequence[Any], held: Sequence[Any], block: Any, number: int) -> None:
    """The way back, for the rows that are `held` (one bit each)."""
    pieces: list[list[tuple[int, Any]]] = [[] for _ in rows]  # what goes where, per row
    for start in range(0, number, LANES):
        columns = [
            builder.load(builder.gep(block, [ir.Constant(WHOLE, start + k)])) for k in range(min(LANES, number - start))
        ]
        columns += [columns[-1]] * (LANES - len(columns))
        for piece, part in zip(pieces, _turned(builder, columns), strict=True):
            piece.append((start, part))
    for row, holds, parts in zip(rows, held, pieces, strict=True):
        with builder.if_then(holds):
            for start, part in parts:
                _put(builder, builder.gep(row, [ir.Constant(WHOLE, start)]), part, min(LANES, number - start))


def _put(builder: Any, place: Any, part: Any, number: int) -> None:
    """The first `number` of four numbers."""
    done = 0
    for size in (4, 2, 1):
        if number - done >= size:
            some = _shuffle(builder, part, part, [done + i for i in range(size)])
            target = builder.gep(place, [ir.Constant(WHOLE, done)])
            builder.store(some, builder.bitcast(target, some.type.as_pointer()), align=8)
            done += size


def _at(builder: Any, n: Any, k: int) -> Any:
    return builder.add(n, ir.Constant(WHOLE, k))


def _fetched(context: Any, builder: Any, kind: RowsType, value: Any, n: Any, stop: Any, inner: Sequence[Any]) -> Any:
    last = builder.sub(stop, ir.Constant(WHOLE, 1))
    rows = []
    for k in range(LANES):
        row = _at(builder, n, k)
        row = builder.select(builder.icmp_signed("<", row, stop), row, last)
        rows.append(place_of_row(context, builder, kind, value, row, inner))
    return rows


@intrinsic
def fetch(context: Any, rows: types.Type, n: types.Type, stop: types.Type, block: types.Type) -> Any:
    """Rows n to n + 3 of a column into a block of lanes."""

    def generate(inner: Any, builder: Any, kinds: Any, values: Any) -> Any:
        pointers = _fetched(inner, builder, kinds.args[0], values[0], values[1], values[2], ())
        _load(builder, pointers, values[3], prod(kinds.args[3].shape))
        return inner.get_dummy_value()

    return types.none(rows, types.int64, types.int64, block), generate


@intrinsic
def fetch_slot(
    context: Any, rows: types.Type, slot: types.Type, n: types.Type, stop: types.Type, block: types.Type
) -> Any:
    """The same for one slot of rows that are lists."""

    def generate(inner: Any, builder: Any, kinds: Any, values: Any) -> Any:
        pointers = _fetched(inner, builder, kinds.args[0], values[0], values[2], values[3], [values[1]])
        _load(builder, pointers, values[4], prod(kinds.args[4].shape))
        return inner.get_dummy_value()

    return types.none(rows, types.int64, types.int64, types.int64, block), generate


@intrinsic
def fetch_item(context: Any, rows: types.Type, item: types.Type, n: types.Type, stop: types.Type) -> Any:
    """One item of each of the rows n to n + 3, as lanes."""

    def generate(inner: Any, builder: Any, kinds: Any, values: Any) -> Any:
        pointers = _fetched(inner, builder, kinds.args[0], values[0], values[2], values[3], [values[1]])
        return _side_by_side(builder, pointers)

    return lanes(rows, types.int64, types.int64, types.int64), generate


def _side_by_side(builder: Any, places: Sequence[Any]) -> Any:
    value = ir.Constant(VECTOR, ir.Undefined)
    for k, place in enumerate(places):
        value = builder.insert_element(value, builder.load(place), index(k))
    return value


@intrinsic
def fetch_one(context: Any, rows: types.Type, n: types.Type, stop: types.Type) -> Any:
    """Rows n to n + 3 of a column of plain numbers, as lanes."""

    def generate(inner: Any, builder: Any, kinds: Any, values: Any) -> Any:
        pointers = _fetched(inner, builder, kinds.args[0], values[0], values[1], values[2], ())
        return _side_by_side(builder, pointers)

    return lanes(rows, types.int64, types.int64), generate


@intrinsic
def store_one(context: Any, value: types.Type, rows: types.Type, n: types.Type, stop: types.Type) -> Any:
    """The way back."""

    def generate(inner: Any, builder: Any, kinds: Any, values: Any) -> Any:
        for k in range(LANES):
            row = _at(builder, values[2], k)
            with builder.if_then(builder.icmp_signed("<", row, values[3])):
                builder.store(
                    builder.extract_element(values[0], index(k)),
                    place_of_row(inner, builder, kinds.args[1], values[1], row),
                )
        return inner.get_dummy_value()

    return types.none(lanes, rows, types.int64, types.int64), generate


@intrinsic
def store_item(
    context: Any, value: types.Type, rows: types.Type, item: types.Type, n: types.Type, stop: types.Type
) -> Any:
    """Lanes into one item of each of the rows n to n + 3."""

    def generate(inner: Any, builder: Any, kinds: Any, values: Any) -> Any:
        for k in range(LANES):
            row = _at(builder, values[3], k)
            with builder.if_then(builder.icmp_signed("<", row, values[4])):
                place = place_of_row(inner, builder, kinds.args[1], values[1], row, [values[2]])
                builder.store(builder.extract_element(values[0], index(k)), place)
        return inner.get_dummy_value()

    return types.none(lanes, rows, types.int64, types.int64, types.int64), generate


@intrinsic
def scatter_one(context: Any, value: types.Type, rows: types.Type, where: types.Type) -> Any:
    """Lanes into rows of a column of plain numbers of a table."""

    def generate(inner: Any, builder: Any, kinds: Any, values: Any) -> Any:
        for k, spot in enumerate(cgutils.unpack_tuple(builder, values[2])):
            with builder.if_then(builder.icmp_signed(">=", spot, ir.Constant(WHOLE, 0))):
                builder.store(
                    builder.extract_element(values[0], index(k)),
                    place_of_row(inner, builder, kinds.args[1], values[1], spot),
                )
        return inner.get_dummy_value()

    return types.none(lanes, rows, RowIndices), generate


@intrinsic
def gather_one(context: Any, rows: types.Type, where: types.Type) -> Any:
    """Rows of a column of plain numbers of a table, as lanes; row 0 where there is none."""

    def generate(inner: Any, builder: Any, kinds: Any, values: Any) -> Any:
        zero, value = ir.Constant(WHOLE, 0), ir.Constant(VECTOR, ir.Undefined)
        for k, spot in enumerate(cgutils.unpack_tuple(builder, values[1])):
            row = builder.select(builder.icmp_signed("<", spot, zero), zero, spot)
            item = builder.load(place_of_row(inner, builder, kinds.args[0], values[0], row))
            value = builder.insert_element(value, item, index(k))
        return value

    return lanes(rows, RowIndices), generate


@intrinsic
def store(context: Any, block: types.Type, rows: types.Type, n: types.Type, stop: types.Type) -> Any:
    """A block of lanes into rows n to n + 3 of a column, as far as there are any."""

    def generate(inner: Any, builder: Any, kinds: Any, values: Any) -> Any:
        pointers = [
            place_of_row(inner, builder, kinds.args[1], values[1], _at(builder, values[2], k)) for k in range(LANES)
        ]
        held = [builder.icmp_signed("<", _at(builder, values[2], k), values[3]) for k in range(LANES)]
        _save(builder, pointers, held, values[0], prod(kinds.args[0].shape))
        return inner.get_dummy_value()

    return types.none(block, rows, types.int64, types.int64), generate


@intrinsic
def indices(context: Any, rows: types.Type, n: types.Type, stop: types.Type) -> Any:
    """The rows of another table that four components point at; -1 beyond the last component."""

    def generate(inner: Any, builder: Any, kinds: Any, values: Any) -> Any:
        pointers = _fetched(inner, builder, kinds.args[0], values[0], values[1], values[2], ())
        held = [builder.icmp_signed("<", _at(builder, values[1], k), values[2]) for k in range(LANES)]
        return _indices(builder, pointers, held)

    return RowIndices(rows, types.int64, types.int64), generate


@intrinsic
def indices_slot(
    context: Any, rows: types.Type, slot: types.Type, n: types.Type, stop: types.Type, numbers: types.Type
) -> Any:
    """The same for one slot of rows that are lists, `numbers` long; -1 where a list is shorter."""

    def generate(inner: Any, builder: Any, kinds: Any, values: Any) -> Any:
        pointers = _fetched(inner, builder, kinds.args[0], values[0], values[2], values[3], [values[1]])
        lengths = _fetched(inner, builder, kinds.args[4], values[4], values[2], values[3], ())
        held = []
        for k, length in enumerate(lengths):
            there = builder.icmp_signed("<", _at(builder, values[2], k), values[3])
            held.append(builder.and_(there, builder.icmp_signed("<", values[1], builder.load(length))))
        return _indices(builder, pointers, held)

    return RowIndices(rows, types.int64, types.int64, types.int64, numbers), generate


def _indices(builder: Any, pointers: Sequence[Any], held: Sequence[Any]) -> Any:
    nowhere = ir.Constant(WHOLE, -1)
    found = [builder.select(holds, builder.load(place), nowhere) for place, holds in zip(pointers, held, strict=True)]
    return cgutils.pack_array(builder, found)


@intrinsic
def gather(context: Any, rows: types.Type, where: types.Type, block: types.Type) -> Any:
    """Rows of a table, and as many after each as the block has, into a block of lanes; row 0 where there is none."""

    def generate(inner: Any, builder: Any, kinds: Any, values: Any) -> Any:
        zero, pointers = ir.Constant(WHOLE, 0), []
        for spot in cgutils.unpack_tuple(builder, values[1]):
            row = builder.select(builder.icmp_signed("<", spot, zero), zero, spot)
            pointers.append(place_of_row(inner, builder, kinds.args[0], values[0], row))
        _load(builder, pointers, values[2], prod(kinds.args[2].shape))
        return inner.get_dummy_value()

    return types.none(rows, RowIndices, block), generate


@intrinsic
def scatter(context: Any, block: types.Type, rows: types.Type, where: types.Type) -> Any:
    """A block of lanes into rows of a table, and as many after each as the block has; nothing where there is none."""

    def generate(inner: Any, builder: Any, kinds: Any, values: Any) -> Any:
        places_, zero = cgutils.unpack_tuple(builder, values[2]), ir.Constant(WHOLE, 0)
        pointers = [place_of_row(inner, builder, kinds.args[1], values[1], spot) for spot in places_]
        held = [builder.icmp_signed(">=", spot, zero) for spot in places_]
        _save(builder, pointers, held, values[0], prod(kinds.args[0].shape))
        return inner.get_dummy_value()

    return types.none(block, rows, RowIndices), generate
