"""Workspaces: many blocks and numbers that kernels hand on as one argument and read by name.

    new_patch = workspace(points=(8, 3), gaps=(8,), law=GIVEN, whole=float, count=int)

    patch = new_patch(contacts.law[n])      in a loop: fresh memory, not cleared, beside a block that was there before
    patch.gaps[i] = 0.0                     in any kernel that takes `patch`
    patch.whole += 1.0

and rows of many numbers, which are read in the same way where they lie:

    tick_of = layout(time=float, pose=(4, 3))

    now = tick_of(contacts.now[n])
    now.time = 0.0

Each field of a workspace lies by itself, as if `room` had made it: the compiler sees which ones a kernel touches, and keeps
numbers in registers. A workspace belongs to the function that made it, so none may return it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from math import prod
from typing import Any

from llvmlite import ir
from numba.core import cgutils
from numba.core import types as numba_types
from numba.core.errors import TypingError
from numba.core.typing.templates import AttributeTemplate, infer_getattr
from numba.extending import intrinsic, lower_getattr_generic, lower_setattr_generic, models, register_model

from modular.blocks import BlockType, reserve
from modular.lanes import NUMBER, SMALL, WHOLE, types
from modular.memory import BYTE

Workspace = Any  # what kernels take: fields by name
GIVEN = "given"  # a field that is handed over where the workspace is made
Form = Any  # of a field: float, int, the shape of a block, or GIVEN
SLOT = BYTE.as_pointer()


class FieldsType(numba_types.Type):
    """Blocks and numbers by name."""

    def __init__(self, fields: Mapping[str, types.Type]) -> None:
        self.fields = dict(fields)
        said = ", ".join(f"{name}: {kind}" for name, kind in self.fields.items())
        super().__init__(f"{type(self).__name__.removesuffix('Type')}({said})")

    @property
    def mangling_args(self) -> tuple[str, tuple[()]]:
        """What stands for it in the names of functions: those of all fields would be long."""
        return type(self).__name__ + hashlib.blake2b(self.name.encode(), digest_size=8).hexdigest(), ()


class WorkspaceType(FieldsType):
    """Fields that lie each by itself; the value points at a list of where."""


class LayoutType(FieldsType):
    """Fields that lie one behind the other in a row of numbers; the value points at the first."""


@register_model(WorkspaceType)
class WorkspaceModel(models.PrimitiveModel):
    """A pointer to pointers."""

    def __init__(self, manager: Any, kind: WorkspaceType) -> None:
        super().__init__(manager, kind, SLOT.as_pointer())


@register_model(LayoutType)
class LayoutModel(models.PrimitiveModel):
    """A pointer to numbers."""

    def __init__(self, manager: Any, kind: LayoutType) -> None:
        super().__init__(manager, kind, NUMBER.as_pointer())


def kind_of(form: Form) -> types.Type:
    """The type of a field."""
    if form is float or form is int:
        return types.float64 if form is float else types.int64
    return BlockType(types.float64, form)


def numbers_in(kind: types.Type) -> int:
    """How many numbers lie in a field."""
    return prod(kind.shape) if isinstance(kind, BlockType) else 1


def size_of(fields: Mapping[str, Form]) -> int:
    """How many numbers a row needs for a layout."""
    return sum(numbers_in(kind_of(form)) for form in fields.values())


def workspace(**fields: Form) -> Any:
    """A maker of workspaces; what is GIVEN it takes in the order of the fields."""

    @intrinsic
    def make(context: Any, *handed: types.Type) -> Any:
        kind = WorkspaceType(dict(_kinds(fields, handed)))

        def generate(_: Any, builder: Any, kinds: Any, values: Any) -> Any:
            over = iter(cgutils.unpack_tuple(builder, values[0]))
            slots = cgutils.alloca_once(builder, SLOT, size=ir.Constant(SMALL, len(fields)))
            for place, (name, form) in enumerate(fields.items()):
                start = next(over) if form == GIVEN else _fresh(builder, kind.fields[name])
                builder.store(builder.bitcast(start, SLOT), builder.gep(slots, [ir.Constant(WHOLE, place)]))
            return slots

        return kind(types.StarArgTuple(handed)), generate

    return make


def layout(**fields: Form) -> Any:
    """What shows the numbers of a row by name."""
    if any(form is not float and not isinstance(form, tuple) for form in fields.values()):
        raise TypeError(
            f"layout({', '.join(fields)}): rows hold numbers; give float, or the shape of a block, for each field"
        )
    kind = LayoutType({name: kind_of(form) for name, form in fields.items()})

    @intrinsic
    def show(context: Any, row: types.Type) -> Any:
        if not isinstance(row, BlockType) or row.item != types.float64 or prod(row.shape) != size_of(fields):
            raise TypingError(f"{row} cannot be read as {kind}: it takes a block of {size_of(fields)} numbers")

        def generate(_: Any, builder: Any, kinds: Any, values: Any) -> Any:
            return values[0]

        return kind(row), generate

    return show


def _kinds(fields: Mapping[str, Form], handed: tuple[types.Type, ...]) -> Iterator[tuple[str, types.Type]]:
    """The types of all fields, with those that are handed over in their places."""
    asked = [name for name, form in fields.items() if form == GIVEN]
    if len(asked) != len(handed) or not all(map(_is_more, handed)):
        raise TypingError(f"a workspace takes blocks or layouts for {asked}; it got {[str(kind) for kind in handed]}")
    over = iter(handed)
    for name, form in fields.items():
        yield name, next(over) if form == GIVEN else kind_of(form)


def _fresh(builder: Any, kind: types.Type) -> Any:
    return reserve(builder, getattr(kind, "item", kind), getattr(kind, "shape", ()))


def _place(context: Any, builder: Any, kind: FieldsType, value: Any, name: str) -> Any:
    """Where a field lies; what is more than a number is where it lies."""
    before = list(kind.fields).index(name)
    if isinstance(kind, LayoutType):
        before = sum(numbers_in(field) for field in list(kind.fields.values())[:before])
    found = builder.gep(value, [ir.Constant(WHOLE, before)])
    if isinstance(kind, WorkspaceType):
        found = builder.load(found)
    shown = context.get_value_type(kind.fields[name])
    return builder.bitcast(found, shown if _is_more(kind.fields[name]) else shown.as_pointer())


def _is_more(kind: types.Type) -> bool:
    """Whether a field is more than a number."""
    return isinstance(kind, BlockType | FieldsType)


@infer_getattr
class _Fields(AttributeTemplate):
    key = FieldsType

    def generic_resolve(self, kind: FieldsType, name: str) -> Any:
        return kind.fields.get(name)


@lower_getattr_generic(FieldsType)
def _read(context: Any, builder: Any, kind: FieldsType, value: Any, name: str) -> Any:
    place = _place(context, builder, kind, value, name)
    return place if _is_more(kind.fields[name]) else builder.load(place)


@lower_setattr_generic(FieldsType)
def _write(context: Any, builder: Any, kinds: Any, values: Any, name: str) -> None:
    kind = kinds.args[0]
    if _is_more(kind.fields[name]):
        raise TypingError(
            f"'{name}' of a {type(kind).__name__} is {kind.fields[name]}, which is not replaced; write into it"
        )
    builder.store(values[1], _place(context, builder, kind, values[0], name))
