"""Views: how a loop sees the columns of a table (modular/table.py).

Inside a loop `bodies.q` is a column, `bodies.q[n]` the row of one component, `bodies.q[n, i, c]` a number of it. Four components
at once are handled in blocks of lanes (modular/lane_rows.py).
"""

from __future__ import annotations

import functools
import hashlib
import operator
from collections.abc import Sequence
from typing import Any

from llvmlite import ir
from numba.core import cgutils
from numba.core import types as numba_types
from numba.core.typeconv import Conversion
from numba.core.typing.templates import AbstractTemplate, AttributeTemplate, infer_getattr, infer_global, signature
from numba.extending import (
    intrinsic,
    lower_builtin,
    lower_cast,
    lower_getattr_generic,
    lower_setattr_generic,
    models,
    register_model,
)

from modular.blocks import BlockType, has_shape, leading, machine_type, offset, places, split_index
from modular.contents import words
from modular.lanes import WHOLE, types
from modular.reach import Indescribable

View = Any  # what the sides of a loop are: tables, as they look inside compiled code
Field = tuple[str, bool, str, tuple[int, ...]]  # name, whether it has a row per component, type of its numbers, shape
POINTER = WHOLE.as_pointer()
UNUSED_FIELD: Field = ("", False, "", ())  # a field that somebody does not ask for


class RowsType(numba_types.Type):
    """A column: rows of equal shape. The first size of a row may be unknown (0): rows are as far apart as `pitch` says."""

    def __init__(self, item: types.Type, shape: Sequence[int]) -> None:
        self.item, self.shape = item, tuple(shape)
        super().__init__(f"Rows({item}, {self.shape})")


has_shape(RowsType)  # that of a row


@register_model(RowsType)
class RowsModel(models.StructModel):
    """Where the first row begins, and how many numbers lie between two beginnings."""

    def __init__(self, manager: Any, kind: RowsType) -> None:
        super().__init__(manager, kind, [("start", types.CPointer(kind.item)), ("pitch", types.int64)])


class ViewType(numba_types.Type):
    """A table as loops see it: its fields by name."""

    def __init__(self, fields: tuple[Field, ...]) -> None:
        self.fields = fields
        self._narrowed: dict[frozenset[str], ViewType] = {}
        super().__init__(f"View({hashlib.blake2b(repr(fields).encode(), digest_size=8).hexdigest()})")

    def find(self, name: str) -> tuple[int, Any] | None:
        """Place and type of a field."""
        for place, (known, rows, item, shape) in enumerate(self.fields):
            if known == name != "":
                kind = getattr(types, item)
                return place, RowsType(kind, shape) if rows else BlockType(kind, shape) if shape else kind
        return None

    def known(self, name: str) -> tuple[int, Any]:
        """The same of a field that is there."""
        found = self.find(name)
        assert found is not None
        return found

    def narrowed(self, names: frozenset[str]) -> ViewType:
        """The same table with no more than these of its fields in sight, each where it was."""
        found = self._narrowed.get(names)
        if found is None:
            fields = [field if field[0] in names else UNUSED_FIELD for field in self.fields]
            while fields and fields[-1] == UNUSED_FIELD:
                fields.pop()
            found = self._narrowed[names] = view_of(tuple(fields))
        return found

    def __deepcopy__(self, memo: Any) -> ViewType:
        """There is one for each layout, whoever copies a table."""
        return self

    def can_convert_to(self, context: Any, other: types.Type) -> Conversion | None:
        """Whoever asks for less of a table may be given more."""
        if not isinstance(other, ViewType) or len(other.fields) > len(self.fields):
            return None
        fits = all(asked in (UNUSED_FIELD, field) for asked, field in zip(other.fields, self.fields, strict=False))
        return Conversion.safe if fits else None

    def shape_of(self, name: str) -> tuple[int, ...]:
        """The shape of a row of a column, or of what all components share."""
        return tuple(next(shape for known, _, _, shape in self.fields if known == name))


@functools.cache
def view_of(fields: tuple[Field, ...]) -> ViewType:
    """One type per layout."""
    return ViewType(fields)


def asked_by(function: Any, kind: types.Type) -> types.Type:
    """What of a table a kernel asks for, itself or by those that it calls; any other type as it is."""
    if not isinstance(kind, ViewType):
        return kind
    try:
        return kind.narrowed(words(function))
    except Indescribable:
        return kind


@register_model(ViewType)
class ViewModel(models.PrimitiveModel):
    """The address of the table's sheet: two numbers per field, where it starts and its pitch."""

    def __init__(self, manager: Any, kind: ViewType) -> None:
        super().__init__(manager, kind, POINTER)


@lower_cast(ViewType, ViewType)
def _narrow(context: Any, builder: Any, given: ViewType, wanted: ViewType, value: Any) -> Any:
    """It is the same sheet."""
    return value


@infer_getattr
class _Fields(AttributeTemplate):
    key = ViewType

    def generic_resolve(self, view: ViewType, name: str) -> Any:
        found = view.find(name)
        return None if found is None else found[1]


@lower_getattr_generic(ViewType)
def _field(context: Any, builder: Any, view: ViewType, value: Any, name: str) -> Any:
    place, kind = view.known(name)
    start = _beginning(builder, value, place, getattr(kind, "item", kind))
    if isinstance(kind, BlockType):
        return start
    if not isinstance(kind, RowsType):
        return builder.load(start)
    rows = cgutils.create_struct_proxy(kind)(context, builder)
    rows.start = start
    rows.pitch = builder.load(builder.gep(value, [ir.Constant(WHOLE, 2 * place + 1)]))
    return rows._getvalue()


@lower_setattr_generic(ViewType)
def _set(context: Any, builder: Any, kinds: Any, values: Any, name: str) -> None:
    """A number of a table; of what lies in arrays items are written."""
    place, kind = kinds.args[0].known(name)
    assert not isinstance(kind, (BlockType, RowsType)), f"{name} is an array; write into it"
    builder.store(values[1], _beginning(builder, values[0], place, kind))


def _beginning(builder: Any, sheet: Any, place: int, item: types.Type) -> Any:
    """Where a field begins."""
    address = builder.load(builder.gep(sheet, [ir.Constant(WHOLE, 2 * place)]))
    return builder.inttoptr(address, machine_type(item).as_pointer())


# --- one component ---------------------------------------------------------------------------------------------------


def place_of_row(context: Any, builder: Any, kind: RowsType, value: Any, row: Any, inner: Sequence[Any] = ()) -> Any:
    """Where a row begins, or what stands at some place in it."""
    rows = cgutils.create_struct_proxy(kind)(context, builder, value=value)
    start = builder.gep(rows.start, [builder.mul(row, rows.pitch)])
    return builder.gep(start, [offset(builder, kind.shape, inner)]) if inner else start


@infer_global(operator.getitem)
class _Read(AbstractTemplate):
    def generic(self, arguments: tuple[types.Type, ...], keywords: dict[str, Any]) -> Any:
        rows, at = arguments
        if not isinstance(rows, RowsType) or (found := split_index(at)) is None or found[1]:
            return None
        rest = rows.shape[found[0] - 1 :]
        return signature(BlockType(rows.item, rest) if rest else rows.item, rows, at)


@lower_builtin(operator.getitem, RowsType, types.Any)
def _read(context: Any, builder: Any, kinds: Any, values: Any) -> Any:
    rows, at = kinds.args
    whole = leading(at)
    row, *inner = places(context, builder, at, values[1], whole)
    place = place_of_row(context, builder, rows, values[0], row, inner)
    return builder.load(place) if whole == len(rows.shape) + 1 else place


@infer_global(operator.setitem)
class _Write(AbstractTemplate):
    def generic(self, arguments: tuple[types.Type, ...], keywords: dict[str, Any]) -> Any:
        rows, at, _value = arguments
        if not isinstance(rows, RowsType) or (found := split_index(at)) is None or found[1]:
            return None
        return signature(types.none, rows, at, rows.item) if found[0] == len(rows.shape) + 1 else None


@lower_builtin(operator.setitem, RowsType, types.Any, types.Any)
def _write(context: Any, builder: Any, kinds: Any, values: Any) -> Any:
    rows, at, _ = kinds.args
    row, *inner = places(context, builder, at, values[1], len(rows.shape) + 1)
    builder.store(values[2], place_of_row(context, builder, rows, values[0], row, inner))
    return context.get_dummy_value()


@intrinsic
def span_of(context: Any, rows: types.Type, start: types.Type, stop: types.Type) -> Any:
    """Where rows of a column lie, and how many bytes they take."""
    kind = types.UniTuple(types.int64, 2)

    def generate(inner: Any, builder: Any, kinds: Any, values: Any) -> Any:
        column = kinds.args[0]
        first = builder.ptrtoint(place_of_row(inner, builder, column, values[0], values[1]), WHOLE)
        last = builder.ptrtoint(place_of_row(inner, builder, column, values[0], values[2]), WHOLE)
        return inner.make_tuple(builder, kind, [first, builder.sub(last, first)])

    return kind(rows, types.int64, types.int64), generate
