"""Parameters of a model file: numbers, points and texts by name, each an expression of others in whatever order they stand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from modular.names import hint
from scenarios.models.document import Node
from scenarios.models.expressions import CONSTANTS, FUNCTIONS, ExpressionError, Word, worked_out
from scenarios.models.markup import shown


def parameters(table: Node | None, given: Mapping[str, Any]) -> dict[str, Any]:
    """Values by name: as given from outside, or as the file says."""
    if table is None:
        return {}
    for name in table.table().value:
        if not (name.isidentifier() and name.isascii()) or name in FUNCTIONS or name in CONSTANTS:
            reserved = name in FUNCTIONS or name in CONSTANTS
            taken = "it has a meaning already" if reserved else "it cannot be used in an expression"
            raise table.refuse(f"{taken}; choose another name, of letters, digits and underscores.", name)
    known = _Known(table, given)
    return {name: known[name] for name in table.value}


def unknown(name: str, table: Node | None) -> str:
    """What is wrong with a parameter that the file does not have."""
    if table is None:
        return f"there is no parameter '{shown(name)}'; the file has no [parameters]."
    return f"there is no parameter '{shown(name)}'; {hint(name, table.value)}"


def value_of(node: Node, known: Mapping[str, Any]) -> Any:
    """A number, a truth value, a text, or a point of numbers; a text that is an expression is worked out."""
    value = node.value
    if isinstance(value, list):
        return tuple(_number(part, known) for part in node.parts())
    if isinstance(value, str):
        try:
            return worked_out(value, known)
        except ExpressionError as error:
            word = Word(value)  # a text; where a number is due it is refused
            word.why = str(error)
            return word
    if isinstance(value, bool | int | float):
        return value
    raise node.refuse(
        f"{shown(repr(value))}; a parameter is a number, an expression, a text, true or false, or a point."
    )


def _number(node: Node, known: Mapping[str, Any]) -> float:
    value = node.value
    if isinstance(value, str):
        try:
            value = worked_out(value, known)
        except ExpressionError as error:
            raise node.refuse(str(error)) from error
    if isinstance(value, Word):
        raise node.refuse(value.why)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise node.refuse(f"{shown(repr(value))}; give a number.")
    return value


class _Known(Mapping[str, Any]):
    """Worked out when they are asked for."""

    def __init__(self, table: Node, given: Mapping[str, Any]) -> None:
        self.table, self.found = table, dict(given)
        self.asked: dict[str, None] = {}  # whose values are being worked out, in order

    def __getitem__(self, name: str) -> Any:
        if name not in self.found:
            node = self.table.inside(name)
            if name in self.asked:
                chain = " -> ".join([*list(self.asked)[list(self.asked).index(name) :], name])
                raise node.refuse(f"it depends on itself ({shown(chain)}); give one of them a number.")
            if len(self.asked) > 100:
                raise node.refuse("more than 100 parameters that depend on each other in a row; give one a number.")
            self.asked[name] = None
            self.found[name] = value_of(node, self)
            del self.asked[name]
        return self.found[name]

    def __contains__(self, name: object) -> bool:
        return name in self.found or name in self.table.value

    def __iter__(self) -> Iterator[str]:
        return iter(self.table.value)

    def __len__(self) -> int:
        return len(self.table.value)
