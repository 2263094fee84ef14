"""Sums as people write them in model files: `"length / 2"`, `"120 * deg"`, `"sqrt(a^2 + b^2)"`. Nothing in them is executed.

They are read by Python's own parser and worked out here, node by node: numbers, parameters by name, units, + - * / ** (or ^),
parentheses and some functions. All numbers are floating-point ones, so no power takes long, and their length is bounded.
"""

from __future__ import annotations

import ast
import functools
import math
import warnings
from collections.abc import Callable, Mapping
from typing import Any

from modular.errors import ModelError
from modular.names import hint
from modular.typed import SIGNS
from scenarios.models.markup import shown

LONGEST = 500  # letters of an expression
DEEPEST = 60  # parts in each other

CONSTANTS: Mapping[str, Any] = {"pi": math.pi, "tau": math.tau, "inf": math.inf, "none": None}
UNITS: Mapping[str, float] = {
    "mm": 1e-3, "cm": 1e-2, "km": 1e3, "gram": 1e-3, "tonne": 1e3, "ms": 1e-3, "deg": math.pi / 180.0, "rpm": math.tau / 60.0,
    "kN": 1e3, "MN": 1e6, "kW": 1e3, "kPa": 1e3, "MPa": 1e6, "GPa": 1e9,
}  # fmt: skip
FUNCTIONS: Mapping[str, Callable[..., float]] = {
    **{name: getattr(math, name) for name in ("sqrt", "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "exp", "log", "hypot")},
    "abs": abs, "min": min, "max": max, "floor": math.floor, "ceil": math.ceil, "radians": math.radians, "degrees": math.degrees,
}  # fmt: skip


class ExpressionError(ValueError):
    """What is wrong with an expression; whoever knows where it stands says so."""


class Word(str):
    """A parameter that is a text; `why` it is no number, for those who need one."""

    why: str = ""


def worked_out(text: str, known: Mapping[str, Any]) -> Any:
    """The value of an expression; `known`: parameters by name, which come before units."""
    node = _parsed(text)
    try:
        return _value(node, known, 0)
    except (ArithmeticError, ValueError, TypeError, RecursionError) as error:
        if isinstance(error, ExpressionError | ModelError):
            raise
        raise ExpressionError(f'"{shown(text)}" cannot be evaluated ({error}); give a number.') from error


def whole(value: Any) -> Any:
    """A number that is whole, as one."""
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < 2.0**53 else value


@functools.lru_cache(maxsize=10_000)
def _parsed(text: str) -> ast.expr:
    if len(text) > LONGEST:
        raise ExpressionError(f'"{shown(text)}" has {len(text)} characters; an expression has at most {LONGEST}.')
    try:
        with warnings.catch_warnings():  # of letters next to numbers
            warnings.simplefilter("ignore")
            return ast.parse(text.strip().replace("^", "**"), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise ExpressionError(
            f'"{shown(text)}" is neither a number nor an expression; write, for example, "length / 2", with * between factors.'
        ) from None


def _value(node: ast.expr, known: Mapping[str, Any], depth: int) -> Any:
    if depth > DEEPEST:
        raise ExpressionError(f"an expression nested more than {DEEPEST} deep; split it into parameters.")
    if isinstance(node, ast.Constant) and node.value.__class__ in (int, float):
        return node.value
    if isinstance(node, ast.Name):
        return _named(node.id, known)
    if isinstance(node, ast.UnaryOp) and type(node.op) in SIGNS:
        return SIGNS[type(node.op)](_number(node.operand, known, depth))
    if isinstance(node, ast.BinOp) and type(node.op) in SIGNS:
        found = SIGNS[type(node.op)](_number(node.left, known, depth), _number(node.right, known, depth))
        if isinstance(found, complex):
            raise ExpressionError(f'"{shown(ast.unparse(node))}" is not a real number; give another exponent.')
        return found
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
        if node.func.id not in FUNCTIONS:
            raise ExpressionError(f"there is no function '{shown(node.func.id)}'; {hint(node.func.id, FUNCTIONS)}")
        return float(FUNCTIONS[node.func.id](*(_number(each, known, depth) for each in node.args)))
    raise ExpressionError(
        f'"{shown(ast.unparse(node))}" is not allowed in an expression; write numbers, parameters, + - * / ** and ( ).'
    )


def _named(name: str, known: Mapping[str, Any]) -> Any:
    if name in known:
        return known[name]
    if name in CONSTANTS:
        return CONSTANTS[name]
    if name in UNITS:
        return UNITS[name]
    meant = hint(name, [*known, *UNITS, *CONSTANTS]) if known else "there are no [parameters]."
    raise ExpressionError(f"there is no parameter '{shown(name)}'; {meant}")


def _number(node: ast.expr, known: Mapping[str, Any], depth: int) -> float:
    value = _value(node, known, depth + 1)
    if isinstance(value, Word):
        raise ExpressionError(value.why)
    if value.__class__ not in (int, float):
        raise ExpressionError(f'"{shown(ast.unparse(node))}" is {value!r}, which is not a usable number.')
    return float(value)
