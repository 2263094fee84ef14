"""Components and values as people type them: `stable`, `shannon(delta=0.25)`, `pi / 3`, `(1.0, 1.0)`.

A component is written as a name, or as a name with keywords: `penalty(rule=shannon, internal=thesis)`. Capitals do not matter.
Every class that exists can be named, with its settings; a preset such as `thesis` is a class method of the class that it sets up.
A value is JSON, or what a hand-held calculator understands; everything else is text.
"""

from __future__ import annotations

import ast
import dataclasses
import difflib
import inspect
import json
import math
import operator
import typing
from collections.abc import Callable, Iterable
from math import isfinite, isnan
from typing import Any

from modular.component import Component
from modular.errors import ModelError
from modular.names import meant

# --- components ------------------------------------------------------------------------------------------------------


def read_component(kind: type, text: str, option: str) -> Any:
    """The component of a kind that `name` or `name(key=value, …)` describes."""
    return component_of(kind, parse(text, option), f"{option} {text}")


def parse(text: str, option: str) -> ast.expr:
    """A name, or a call of one, as it was typed."""
    try:
        node = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError):
        node = ast.Constant(None)
    if not (isinstance(node, ast.Name) or (isinstance(node, ast.Call) and isinstance(node.func, ast.Name))):
        raise ModelError(
            f"{option} {text}: cannot be read; write a name, or name(key=value, …) such as stable(safety=1.3)."
        )
    return node


def keywords(node: ast.expr) -> list[str]:
    """Which settings a call names."""
    return [word.arg or "**" for word in node.keywords] if isinstance(node, ast.Call) else []


def component_of(kind: type, node: ast.expr, where: str, also: Iterable[str] = ()) -> Any:
    """What a parsed text describes; `also`: other names that would do there."""
    known = makers(kind)
    function = node.func if isinstance(node, ast.Call) else node
    name = function.id if isinstance(function, ast.Name) else ast.unparse(function)
    maker = known.get(name.lower())
    if maker is None:
        raise ModelError(
            f"{where}: there is no {words(kind.__name__)} '{name}'; {suggestion(name.lower(), [*known, *also])}"
        )
    if isinstance(node, ast.Call) and node.args:
        raise ModelError(f"{where}: name every setting, such as {_example(maker)}.")
    given = keywords(node)
    hints = typing.get_type_hints(maker) if isinstance(maker, type) else {}
    fields = [field for field in dataclasses.fields(maker) if field.init] if isinstance(maker, type) else []
    values: dict[str, Any] = {}
    for word, argument in zip(given, node.keywords if isinstance(node, ast.Call) else (), strict=True):
        if word not in [field.name for field in fields]:
            raise ModelError(
                f"{where}: {name} has no setting '{word}'; {suggestion(word, [field.name for field in fields])}"
            )
        if word in values:
            raise ModelError(f"{where}: '{word}' is given twice; keep one of them.")
        values[word] = _value(hints[word], argument.value, f"{where}: {word} = {ast.unparse(argument.value)}")
    missing = [
        field.name
        for field in fields
        if field.name not in values and field.default is field.default_factory is dataclasses.MISSING
    ]
    if missing:
        raise ModelError(
            f"{where}: {name} needs {' and '.join(missing)}; give {', '.join(f'{word}=…' for word in missing)}."
        )
    return maker(**values)


def makers(kind: type) -> dict[str, Callable[..., Any]]:
    """What a kind can be made from: its classes by name, and their presets."""
    classes = [c for c in Component.registered.values() if issubclass(c, kind) and dataclasses.is_dataclass(c)]
    makers: dict[str, Callable[..., Any]] = {c.__name__.lower(): c for c in classes}
    for c in classes:
        for name, member in vars(c).items():
            if isinstance(member, classmethod) and not name.startswith("_"):
                preset = getattr(c, name)
                if not inspect.signature(preset).parameters:
                    makers[name.lower()] = preset
    return makers


def _value(hint: Any, node: ast.expr, where: str) -> Any:
    if isinstance(hint, type) and issubclass(hint, Component):
        if not isinstance(node, ast.Name | ast.Call):
            raise ModelError(f"{where} is no {words(hint.__name__)}; {suggestion('', makers(hint))}")
        return component_of(hint, node, where)
    kinds = typing.get_args(hint) or (hint,)
    parts = [kind for kind in kinds if isinstance(kind, type) and issubclass(kind, Component)]
    if parts and isinstance(node, ast.Call):
        return component_of(parts[0], node, where)
    if parts and isinstance(node, ast.Dict) and node.keys and None not in node.keys:
        pairs = zip(node.keys, node.values, strict=True)
        return {_literal(key): component_of(parts[0], value, where) for key, value in pairs if key}
    try:
        value = _literal(node)
    except ValueError:
        value = ast.unparse(node)
    if isinstance(value, dict | list | tuple):
        return value
    if value is None and type(None) in kinds:
        return None
    if bool in kinds:
        spoken = {"true": True, "false": False}.get(str(value).lower(), value)
        return as_type(bool, spoken, where, "")
    numbers = [kind for kind in kinds if kind in (int, float)]
    return as_type(numbers[0], value, where, "") if numbers else value


def _literal(node: ast.expr) -> Any:
    """Numbers, texts, lists and mappings; names stand for themselves."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.List | ast.Tuple):
        return [_literal(item) for item in node.elts]
    if isinstance(node, ast.Dict) and None not in node.keys:
        return {_literal(key): _literal(value) for key, value in zip(node.keys, node.values, strict=True) if key}
    return ast.literal_eval(node)


# --- values ----------------------------------------------------------------------------------------------------------

NAMES = {"pi": math.pi, "tau": math.tau, "nan": math.nan, "inf": math.inf}  # the last two to be refused by name
FUNCTIONS = {name: getattr(math, name) for name in ("sqrt", "sin", "cos", "tan", "atan", "exp", "log", "radians")}
SIGNS: dict[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv, ast.Pow: operator.pow,
    ast.USub: operator.neg, ast.UAdd: operator.pos,
}  # fmt: skip


def read_value(text: str) -> Any:
    """JSON, a sum such as `pi / 3`, or several of these in parentheses or brackets; what is none of it stays text."""
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        pass
    try:
        return _worked_out(ast.parse(text.strip(), mode="eval").body)
    except (SyntaxError, ValueError, TypeError, ArithmeticError, RecursionError, MemoryError):
        return text


def _worked_out(node: ast.expr) -> Any:
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float | str | None):
        return node.value
    if isinstance(node, ast.Name) and node.id in NAMES:
        return NAMES[node.id]
    if isinstance(node, ast.Tuple | ast.List):
        return [_worked_out(item) for item in node.elts]
    if isinstance(node, ast.UnaryOp) and type(node.op) in SIGNS:
        return SIGNS[type(node.op)](_number(node.operand))
    if isinstance(node, ast.BinOp) and type(node.op) in SIGNS:
        found = SIGNS[type(node.op)](_number(node.left), _number(node.right))
        if isinstance(found, complex):  # a root of a negative number
            raise ValueError(ast.unparse(node))
        return found
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in FUNCTIONS
        and not node.keywords
    ):
        return FUNCTIONS[node.func.id](*(_number(argument) for argument in node.args))
    raise ValueError(ast.unparse(node))


def _number(node: ast.expr) -> float:
    """A part of a sum; as a floating-point number, so that no power of whole ones takes for ever."""
    value = _worked_out(node)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(ast.unparse(node))
    return float(value)


def as_type(kind: type, value: Any, where: str, why: str) -> Any:
    """`value` as a number or truth value where the setting is one."""
    because = f"; {why}" if why else ""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if kind is bool and not isinstance(value, bool):
        raise ModelError(f"{where}: give true or false{because}.")
    if kind is int:
        if not number or not isfinite(value) or int(value) != value:
            raise ModelError(f"{where}: give a whole number{because}.")
        return int(value)
    if kind is float:
        if not number or isnan(value):
            raise ModelError(f"{where}: give a number{because}.")
        return float(value)
    if kind is str and not isinstance(value, str):
        return str(value)
    return value


def suggestion(name: str, known: Iterable[str]) -> str:
    """What somebody may have meant, and what there is."""
    known = sorted(known)
    near = meant(name, known) or difflib.get_close_matches(name, known, 1)
    if not known:
        return "there are none."
    return (f"did you mean '{near[0]}'? There are: " if near else "there are: ") + ", ".join(known) + "."


def words(name: str) -> str:
    """ "StiffnessRule" as people say it."""
    return "".join(f" {c.lower()}" if c.isupper() else c for c in name).strip()


def _example(maker: Callable[..., Any]) -> str:
    if not isinstance(maker, type):
        return "thesis"
    fields = [f for f in dataclasses.fields(maker) if f.default is not dataclasses.MISSING]
    if fields:
        return f"{maker.__name__.lower()}({fields[0].name}={fields[0].default!r})"
    parts = [f for f in dataclasses.fields(maker) if callable(f.default_factory)]
    return f"{maker.__name__.lower()}({parts[0].name}={_class_of(parts[0])})" if parts else maker.__name__.lower()


def _class_of(field: dataclasses.Field[Any]) -> str:
    """The class of a field's default, as it is typed."""
    assert callable(field.default_factory)
    return type(field.default_factory()).__name__.lower()
