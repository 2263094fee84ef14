"""Lanes: four numbers side by side that a kernel handles as one.

A kernel is written for one component. Given `Lanes` in place of floats, the same lines work on four components at once,
with one instruction where the processor has one that wide, and with the same bits: every operation on lanes is the IEEE
operation on each of them, and nothing is contracted or reordered.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils
from numba.core import types as numba_types
from numba.core.typeconv import Conversion
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import intrinsic, lower_builtin, lower_cast, models, overload, register_model

types: Any = numba_types  # it lists its names at run time
LANES = 4
NUMBER = ir.DoubleType()
WHOLE = ir.IntType(64)
SMALL = ir.IntType(32)
VECTOR = ir.VectorType(NUMBER, LANES)
SCALARS = (types.Float, types.Integer)


class LanesType(numba_types.Type):
    """The type of four numbers side by side."""

    def __init__(self) -> None:
        super().__init__("Lanes")

    def unify(self, context: Any, other: types.Type) -> types.Type | None:
        """A sum that starts at 0.0 and goes on with lanes is lanes."""
        return self if isinstance(other, SCALARS) else None

    def can_convert_from(self, context: Any, other: types.Type) -> Conversion | None:
        """One number is four equal ones."""
        return Conversion.promote if isinstance(other, SCALARS) else None


lanes = LanesType()


@register_model(LanesType)
class LanesModel(models.PrimitiveModel):
    """A vector register, or several."""

    def __init__(self, manager: Any, kind: LanesType) -> None:
        super().__init__(manager, kind, VECTOR)


def index(value: int) -> ir.Constant:
    """A constant lane number."""
    return ir.Constant(SMALL, value)


def mask(order: list[int]) -> ir.Constant:
    """A constant order of lanes for a shuffle."""
    return ir.Constant(ir.VectorType(SMALL, len(order)), order)


@lower_cast(types.Float, LanesType)
@lower_cast(types.Integer, LanesType)
def spread(context: Any, builder: Any, given: types.Type, wanted: types.Type, value: Any) -> Any:
    """The same number in every lane."""
    number = context.cast(builder, value, given, types.float64)
    nothing = ir.Constant(VECTOR, ir.Undefined)
    return builder.shuffle_vector(builder.insert_element(nothing, number, index(0)), nothing, mask([0] * LANES))


def _arithmetic(operation: Callable[..., Any], instruction: str) -> None:
    class Typing(AbstractTemplate):
        key = operation

        def generic(self, arguments: tuple[types.Type, ...], keywords: dict[str, Any]) -> Any:
            if len(arguments) != 2 or lanes not in arguments:
                return None
            fits = all(isinstance(kind, (LanesType, *SCALARS)) for kind in arguments)
            return signature(lanes, lanes, lanes) if fits else None

    infer_global(operation)(Typing)

    @lower_builtin(operation, LanesType, LanesType)
    def lower(context: Any, builder: Any, kinds: Any, values: Any) -> Any:
        return getattr(builder, instruction)(*values)


for _operations, _instruction in (
    ((operator.add, operator.iadd), "fadd"),
    ((operator.sub, operator.isub), "fsub"),
    ((operator.mul, operator.imul), "fmul"),
    ((operator.truediv, operator.itruediv), "fdiv"),
):
    for _operation in _operations:
        _arithmetic(_operation, _instruction)


@infer_global(operator.neg)
class _Negative(AbstractTemplate):
    def generic(self, arguments: tuple[types.Type, ...], keywords: dict[str, Any]) -> Any:
        return signature(lanes, lanes) if arguments == (lanes,) else None


@lower_builtin(operator.neg, LanesType)
def _negative(context: Any, builder: Any, kinds: Any, values: Any) -> Any:
    return builder.fneg(values[0])


def _elementwise(name: str) -> Any:
    """An intrinsic of LLVM on each lane."""

    @intrinsic
    def apply(context: Any, x: types.Type) -> Any:
        def generate(_: Any, builder: Any, kinds: Any, values: Any) -> Any:
            kind = ir.FunctionType(VECTOR, [VECTOR])
            return builder.call(cgutils.get_or_insert_function(builder.module, kind, f"{name}.v{LANES}f64"), values)

        return lanes(lanes), generate

    return apply


_root = _elementwise("llvm.sqrt")
_size = _elementwise("llvm.fabs")


@overload(math.sqrt)
@overload(np.sqrt)
def _sqrt(x):  # type: ignore[no-untyped-def]
    return (lambda x: _root(x)) if x == lanes else None


@overload(abs)
def _abs(x):  # type: ignore[no-untyped-def]
    return (lambda x: _size(x)) if x == lanes else None


@intrinsic
def _chosen(context: Any, x: types.Type, y: types.Type) -> Any:
    def generate(_: Any, builder: Any, kinds: Any, values: Any) -> Any:
        return builder.select(builder.fcmp_ordered(">", *values), *values)

    return lanes(lanes, lanes), generate


def larger(x: Any, y: Any) -> Any:
    """The larger of two numbers, lane by lane; y where they cannot be compared."""
    return x if x > y else y


@overload(larger)
def _larger(x, y):  # type: ignore[no-untyped-def]
    if lanes in (x, y):
        return lambda x, y: _chosen(x, y)
    return lambda x, y: x if x > y else y


def share(x: Any, y: Any) -> Any:
    """x / y, and nothing where there is no y."""
    return x / y if y > 0.0 else 0.0


@overload(share)
def _share(x, y):  # type: ignore[no-untyped-def]
    if lanes in (x, y):
        return lambda x, y: _given_lanes(y, x / y)
    return lambda x, y: x / y if y > 0.0 else 0.0


@intrinsic
def lane(context: Any, value: types.Type, number: types.Type) -> Any:
    """One of the four."""

    def generate(_: Any, builder: Any, kinds: Any, values: Any) -> Any:
        return builder.extract_element(*values)

    return types.float64(lanes, types.int64), generate


@intrinsic
def unfit(context: Any, value: types.Type) -> Any:
    """One bit per lane that is above zero or no number at all."""

    def generate(_: Any, builder: Any, kinds: Any, values: Any) -> Any:
        zero = ir.Constant(VECTOR, [0.0] * LANES)
        bits = builder.fcmp_unordered(">", values[0], zero)
        return builder.zext(builder.bitcast(bits, ir.IntType(LANES)), WHOLE)

    return types.int64(lanes), generate


def any_above(x: Any) -> bool:
    """Whether one of the four is above zero, or no number at all."""
    return bool(not x <= 0.0)


@overload(any_above)
def _any_above(x):  # type: ignore[no-untyped-def]
    return (lambda x: unfit(x) != 0) if x == lanes else (lambda x: not x <= 0.0)


def given(x: Any, value: Any) -> Any:
    """A value where x is above zero, and nothing elsewhere."""
    return value if x > 0.0 else 0.0


@intrinsic
def _given_lanes(context: Any, x: types.Type, value: types.Type) -> Any:
    def generate(_: Any, builder: Any, kinds: Any, values: Any) -> Any:
        zero = ir.Constant(VECTOR, [0.0] * LANES)
        return builder.select(builder.fcmp_ordered(">", values[0], zero), values[1], zero)

    return lanes(lanes, lanes), generate


@overload(given)
def _given(x, value):  # type: ignore[no-untyped-def]
    if lanes in (x, value):
        return lambda x, value: _given_lanes(x, value)
    return lambda x, value: value if x > 0.0 else 0.0


# --- angles ----------------------------------------------------------------------------------------------------------

_nearest_lanes = _elementwise("llvm.rint")


def nearest(x: Any) -> Any:
    """The whole number that is nearest, lane by lane; the even one of two."""
    return np.rint(x)


@overload(nearest)
def _nearest(x):  # type: ignore[no-untyped-def]
    return (lambda x: _nearest_lanes(x)) if x == lanes else (lambda x: np.rint(x))


@intrinsic
def _side_by_side(context: Any, first: types.Type, second: types.Type, third: types.Type, fourth: types.Type) -> Any:
    """Four numbers as lanes."""

    def generate(_: Any, builder: Any, kinds: Any, values: Any) -> Any:
        made = ir.Constant(VECTOR, ir.Undefined)
        for k, value in enumerate(values):
            made = builder.insert_element(made, value, index(k))
        return made

    return lanes(types.float64, types.float64, types.float64, types.float64), generate


def angle(sine: Any, cosine: Any) -> Any:
    """The angle of sine and cosine, both times the same length, lane by lane, from -pi to pi."""
    return math.atan2(sine, cosine)


@overload(angle)
def _angle(sine, cosine):  # type: ignore[no-untyped-def]
    if lanes not in (sine, cosine):
        return lambda sine, cosine: math.atan2(sine, cosine)

    def of_each(sine, cosine):  # type: ignore[no-untyped-def]
        return _side_by_side(
            math.atan2(lane(sine, 0), lane(cosine, 0)),
            math.atan2(lane(sine, 1), lane(cosine, 1)),
            math.atan2(lane(sine, 2), lane(cosine, 2)),
            math.atan2(lane(sine, 3), lane(cosine, 3)),
        )

    return of_each
