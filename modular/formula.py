"""Formulas: lines of source that become machine code at once, of numbers or of lanes.

Generated code is long and plain: names that are given a value once, numbers of arrays, four operations and some functions. Numba
looks at every line of it a dozen times, and finds nothing that was not plain before; written in LLVM's language straight from the
syntax tree it compiles in a tenth of the time, with the same operations in the same order, so to the same bits.
"""

from __future__ import annotations

import ast
import functools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils
from numba.core.imputils import lower_constant
from numba.extending import intrinsic, models, register_model, typeof_impl

import modular.lane_functions  # formulas may ask for sines of lanes  # noqa: F401
from modular.blocks import BlockType
from modular.contents import forget
from modular.lanes import NUMBER, SMALL, VECTOR, WHOLE, lanes, spread, types
from modular.loop import AtAddress
from modular.memory import BYTE

FUNCTIONS: Mapping[str, Callable[..., Any]] = MappingProxyType(
    {name: getattr(math, name) for name in ("sin", "cos", "exp", "tanh", "atan2", "sqrt")} | {"rint": np.rint}
)
INSTRUCTIONS = {ast.Add: "fadd", ast.Sub: "fsub", ast.Mult: "fmul", ast.Div: "fdiv"}


@dataclass(frozen=True)
class Formula:
    """`def evaluate(t, ..., out)`: lines `x = ...` of numbers, of items of the arrays that it is given, and of names before; then
    `out[k] = ...`.
    """

    source: str

    def __call__(self, *arguments: Any) -> Any:
        """As Python has it."""
        return as_python(self.source)(*arguments)


@functools.lru_cache(maxsize=64)
def as_python(source: str) -> Callable[..., Any]:
    """The function of Python that such lines are."""
    names: dict[str, Any] = dict(FUNCTIONS)
    exec(compile(source, "<equations>", "exec"), names)
    made: Callable[..., Any] = names["evaluate"]
    return made


class FormulaType(types.Type):
    """A formula inside a kernel: a type of its own, for the compiler knows its lines."""

    def __init__(self, formula: Formula) -> None:
        self.formula = formula
        super().__init__(f"Formula({formula.source})")


register_model(FormulaType)(models.OpaqueModel)


@typeof_impl.register(Formula)
def _type_of(value: Formula, _: Any) -> FormulaType:
    return FormulaType(value)


@lower_constant(FormulaType)
def _nothing(context: Any, builder: Any, kind: FormulaType, value: Any) -> Any:
    return context.get_dummy_value()


@intrinsic
def evaluate(context: Any, formula: types.Type, *arguments: types.Type) -> Any:
    """Work a formula out, in a kernel; the last of its arguments takes what comes of it."""

    def generate(inner: Any, builder: Any, kinds: Any, values: Any) -> Any:
        lines = ast.parse(kinds.args[0].formula.source).body[0]
        assert isinstance(lines, ast.FunctionDef)
        known = zip(arguments, cgutils.unpack_tuple(builder, values[1]), strict=True)
        writer = _Writer(inner, builder, dict(zip((each.arg for each in lines.args.args), known, strict=True)))
        for line in lines.body:
            writer.write(line)
        return inner.get_dummy_value()

    return types.none(formula, types.StarArgTuple(arguments)), generate


NUMBERS = BlockType(lanes, (0,))  # lanes of which nobody asks how many there are


class CompiledFormula:
    """A formula of lanes, compiled by itself; `function` evaluates it with a number and with arrays of lanes."""

    def __init__(self, function: Callable[..., int]) -> None:
        arrays = function.__code__.co_argcount - 1
        self._code = AtAddress(function)  # its machine code lives as long as this
        self.address = self._code.find((types.float64, *[NUMBERS] * arrays))
        forget(function)

    def __deepcopy__(self, memo: Any) -> CompiledFormula:
        """Whoever copies a table jumps to the same code."""
        return self


@intrinsic
def jump(context: Any, address: types.Type, number: types.Type, *arrays: types.Type) -> Any:
    """Evaluate a compiled formula by its address."""
    wanted = [types.float64, *[NUMBERS] * len(arrays)]

    def generate(inner: Any, builder: Any, kinds: Any, values: Any) -> Any:
        none, pointers = BYTE.as_pointer().as_pointer(), [VECTOR.as_pointer()] * len(arrays)
        kind = ir.FunctionType(SMALL, [WHOLE.as_pointer(), none, NUMBER, *pointers])
        result = cgutils.alloca_once(builder, WHOLE)
        function = builder.inttoptr(values[0], kind.as_pointer())
        builder.call(function, [result, ir.Constant(none, None), values[1], *cgutils.unpack_tuple(builder, values[2])])
        return inner.get_dummy_value()

    return types.none(types.int64, wanted[0], types.StarArgTuple(wanted[1:])), generate


Value = tuple[Any, Any]  # its type, and where LLVM has it


class _Writer:
    """Writes lines for LLVM, with the names that have a value so far."""

    def __init__(self, context: Any, builder: Any, names: dict[str, Value]) -> None:
        self.context, self.builder, self.names = context, builder, names

    def write(self, line: ast.stmt) -> None:
        """One line."""
        if isinstance(line, ast.Return):
            return  # the last one, with nothing that anybody asks for
        assert isinstance(line, ast.Assign), ast.dump(line)
        (target,), value = line.targets, self.value(line.value)
        if isinstance(target, ast.Name):
            self.names[target.id] = value
            return
        item, place = self.place(target)
        told = self.as_lanes(value) if item == lanes else self.context.cast(self.builder, value[1], value[0], item)
        self.builder.store(told, place)

    def value(self, node: ast.expr) -> Value:
        """What an expression comes to."""
        if isinstance(node, ast.Name):
            return self.number(*self.names[node.id])
        if isinstance(node, ast.Constant):
            assert isinstance(node.value, int | float)
            return types.float64, ir.Constant(NUMBER, float(node.value))
        if isinstance(node, ast.Subscript):
            item, place = self.place(node)
            return self.number(item, self.builder.load(place))
        if isinstance(node, ast.UnaryOp):
            assert isinstance(node.op, ast.USub)
            kind, value = self.value(node.operand)
            return kind, self.builder.fneg(value)
        if isinstance(node, ast.Call):
            assert isinstance(node.func, ast.Name)
            return self.called(FUNCTIONS[node.func.id], [self.value(each) for each in node.args])
        parts: list[ast.BinOp] = []
        while isinstance(node, ast.BinOp):  # long sums go deep on the left
            parts.append(node)
            node = node.left
        assert parts, ast.dump(node)
        found = self.value(node)
        for part in reversed(parts):
            found = self.operated(INSTRUCTIONS[type(part.op)], found, self.value(part.right))
        return found

    def number(self, kind: types.Type, value: Any) -> Value:
        """Lanes as they are, any number as a float64."""
        if kind == lanes:
            return kind, value
        return types.float64, self.context.cast(self.builder, value, kind, types.float64)

    def operated(self, instruction: str, left: Value, right: Value) -> Value:
        """Two numbers, or lanes where one of them is."""
        if lanes not in (left[0], right[0]):
            return types.float64, getattr(self.builder, instruction)(left[1], right[1])
        return lanes, getattr(self.builder, instruction)(self.as_lanes(left), self.as_lanes(right))

    def called(self, function: Callable[..., Any], given: list[Value]) -> Value:
        """A function, as any kernel would call it."""
        known = self.context.typing_context.resolve_value_type(function)
        made = known.get_call_type(self.context.typing_context, tuple(kind for kind, _ in given), {})
        values = [
            self.context.cast(self.builder, value, kind, wanted)
            for (kind, value), wanted in zip(given, made.args, strict=True)
        ]
        return made.return_type, self.context.get_function(known, made)(self.builder, values)

    def as_lanes(self, value: Value) -> Any:
        """Lanes, or one number in each of them."""
        return value[1] if value[0] == lanes else spread(self.context, self.builder, value[0], lanes, value[1])

    def place(self, node: ast.expr) -> tuple[Any, Any]:
        """Where an item of an array lies, and its type."""
        assert isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name)
        assert isinstance(node.slice, ast.Constant)
        (kind, array), at = self.names[node.value.id], ir.Constant(WHOLE, node.slice.value)
        if isinstance(kind, BlockType):
            return kind.item, self.builder.gep(array, [at])
        found = self.context.make_array(kind)(self.context, self.builder, array)
        return kind.dtype, cgutils.get_item_pointer(self.context, self.builder, kind, found, [at])
