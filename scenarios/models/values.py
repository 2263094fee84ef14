"""Values of a model file, each read as its field expects it: numbers and expressions, texts, lists, tables, parts with kinds.

Where a number is expected, a text is an expression (`"length / 2"`); where a text is expected it stays one. A table with `kind` is
a part, read so; one with `class`, as `Assembly.save` writes it, is taken as it stands.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from modular.component import Component, Read
from modular.errors import ModelError
from modular.names import hint
from modular.port import Port
from scenarios.models.document import FileProblem, Node
from scenarios.models.expressions import ExpressionError, Word, whole, worked_out
from scenarios.models.kinds import Kind, Wanted, kind_of, named, wanted
from scenarios.models.markup import shown

OTHER_WORDS = {"between": "on", "on": "between"}  # of joints and forces
BRACES = re.compile(r"\{\{|\}\}|\{([^{}]*)\}")
FAILURES = (
    ModelError,
    ValueError,
    TypeError,
    LookupError,
    AttributeError,
    ArithmeticError,
)  # of what is made of wrong data


@dataclass(frozen=True)
class Scope:
    """What names stand for where a value is read."""

    known: Mapping[str, Any] = field(default_factory=dict)
    fills: bool = False  # whether {…} in texts is filled in

    def also(self, name: str, value: Any) -> Scope:
        """With one more, in a repeat."""
        return Scope({**self.known, name: value}, fills=True)

    def sum(self, node: Node) -> Any:
        """The value of a text that is an expression."""
        try:
            return worked_out(node.value, self.known)
        except ExpressionError as error:
            raise node.refuse(str(error)) from error

    def text(self, text: str, node: Node) -> str:
        """A text with what stands in braces filled in."""
        if not self.fills or ("{" not in text and "}" not in text):
            return text

        def filled(found: re.Match[str]) -> str:
            if found[1] is None:
                return found[0][0]
            try:
                value = whole(worked_out(found[1], self.known))
            except ExpressionError as error:
                raise node.refuse(str(error)) from error
            if not isinstance(value, int | str):
                raise node.refuse(f"{{{shown(found[1])}}} is {value}; what is filled in is a whole number or a text.")
            return str(value)

        return BRACES.sub(filled, text)


def number(node: Node, scope: Scope, what: str = "a number") -> float:
    """A number or an expression."""
    value = scope.sum(node) if isinstance(node.value, str) else node.value
    if isinstance(value, Word):
        raise node.refuse(value.why)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise node.refuse(f"{shown(repr(value))}; give {what}.")
    return value


def read_value(node: Node, annotation: Any, scope: Scope) -> Any:
    """A value, for a field with this annotation."""
    want, value = wanted(annotation), node.value
    if isinstance(value, dict):
        return _table(node, want, scope)
    if isinstance(value, list):
        return _list(node, want, scope)
    if isinstance(value, bool):
        if want.truth or want.anything:
            return value
    elif isinstance(value, int | float):
        if want.number or want.anything:
            return _fitting(value, node, want)
    elif isinstance(value, str):
        if want.text:
            return scope.text(value, node)
        return _of_sum(scope.sum(node), node, want)
    return _refuse(node, want)


def _of_sum(found: Any, node: Node, want: Wanted) -> Any:
    """What an expression gave, where it is what is due: mostly a number; a parameter may be a point, a text or true."""
    if isinstance(found, Word) and not want.anything:
        raise node.refuse(found.why)
    if found is None:
        fits = want.nothing or want.anything
    elif isinstance(found, bool):
        fits = want.truth or want.anything
    elif isinstance(found, int | float):
        return _fitting(found, node, want) if want.number or want.anything else _refuse(node, want)
    elif isinstance(found, tuple):
        fits = wanted(want.items).number or want.anything
    else:
        fits = want.anything
    if not fits:
        return _refuse(node, want)
    return str(found) if isinstance(found, Word) else found


def _fitting(value: float, node: Node, want: Wanted) -> float:
    if not want.whole:
        return value
    found = whole(value)
    return found if isinstance(found, int) else _refuse(node, want)


def _refuse(node: Node, want: Wanted) -> Any:
    raise node.refuse(f"{shown(repr(node.value))}; give {want}.")


def _list(node: Node, want: Wanted, scope: Scope) -> Any:
    parts = list(node.parts())
    if want.fixed and len(want.fixed) == len(parts):
        return tuple(read_value(part, each, scope) for part, each in zip(parts, want.fixed, strict=True))
    if want.items is not None:
        return tuple(read_value(part, want.items, scope) for part in parts)
    if want.anything:
        return tuple(read_value(part, Any, scope) for part in parts)
    return _refuse(node, want)


def _table(node: Node, want: Wanted, scope: Scope) -> Any:
    value = node.value
    if "kind" in value or "class" in value:
        return read_part(node, want.components or (Component,), scope)
    if want.components and want.values is None:
        return read_part(node, want.components, scope)
    if want.anything and "point" in value and value.keys() <= {"point", "axes"}:
        return read_part(node, (Port,), scope)
    if want.values is not None or want.anything:
        inner = Any if want.values is None else want.values
        return {scope.text(key, part): read_value(part, inner, scope) for key, part in node.items()}
    return _refuse(node, want)


# --- parts of a kind ---------------------------------------------------------------------------------------------------


def read_part(node: Node, bases: tuple[type[Component], ...], scope: Scope, besides: tuple[str, ...] = ()) -> Any:
    """A body, a joint or whatever else has a kind; `besides`: keys that are not for it."""
    node.table()
    if "class" in node.value:
        return _as_saved(node, bases, besides)
    kind = kind_at(node, bases)
    values = fields_of(node, kind, scope, besides)
    if lacking := [name for name in kind.needed if name not in values]:
        raise node.refuse(
            f"a {kind.name} needs {' and '.join(lacking)}; give {', '.join(f'{name} = …' for name in lacking)}."
        )
    return made(kind, values, node)


def fields_of(node: Node, kind: Kind, scope: Scope, besides: tuple[str, ...] = ()) -> dict[str, Any]:
    """What a table says of the fields of a kind."""
    found = {}
    for key, part in node.items():
        if key == "kind" or key in besides:
            continue
        if key not in kind.hints:
            names = [*kind.hints, *besides, "kind"]
            if key in OTHER_WORDS and OTHER_WORDS[key] in besides:
                raise node.refuse(f"a {kind.name} has no '{key}'; did you mean '{OTHER_WORDS[key]}'?", key)
            raise node.refuse(f"a {kind.name} has no '{shown(key)}'; {hint(key, names)}", key)
        found[key] = read_value(part, kind.hints[key], scope)
    return found


def made(kind: Kind, values: Mapping[str, Any], node: Node) -> Any:
    """A part of a kind; functions that it names are names that a file has said."""
    read = {
        key: Read(value) if key in kind.made.names_functions and isinstance(value, str) else value
        for key, value in values.items()
    }
    try:
        return kind.made(**read)
    except FAILURES as error:
        raise told(error, node) from error


def told(error: Exception, node: Node) -> ModelError:
    """What is wrong with a table, in the line of the key that it is about."""
    if isinstance(error, FileProblem):
        return error
    what = str(error)
    if not isinstance(error, ModelError):
        what = f"its values do not fit ({shown(what)}); give numbers and lists of numbers of the expected shape."
    keys = node.value if isinstance(node.value, dict) else {}
    about = [key for key in keys if re.search(rf"(?<![\w.]){re.escape(key)}(?: =| has\b|\[)|'{re.escape(key)}'", what)]
    about = about or [key for key, value in keys.items() if any(f"'{name}'" in what for name in _names_in(value))]
    return node.refuse(what, about[0] if len(about) == 1 else None)


def _names_in(value: Any) -> Iterator[str]:
    """Ports that a value names, in whole and in part."""
    for text in value if isinstance(value, list) else [value]:
        if isinstance(text, str) and "." in text:
            yield text
            yield text.rpartition(".")[2]


OTHER_WORDS_FOR_KIND = ("type", "Kind", "Type")


def kind_at(node: Node, bases: tuple[type[Component], ...]) -> Kind:
    """The kind that a table names, where one of some is due."""
    name = node.get("kind")
    if name is None:
        if len(bases) == 1 and hasattr(bases[0], "__dataclass_fields__"):
            return kind_of(bases[0])
        for word in OTHER_WORDS_FOR_KIND:
            if isinstance(said := node.value.get(word), str):
                raise node.refuse(
                    f'it has no kind; write kind = "{shown(said)}" instead of {word} = "{shown(said)}".', word
                )
        raise node.refuse(f'it has no kind; say which, such as kind = "{_example(bases[0])}".')
    if not isinstance(name.value, str):
        raise name.refuse(f"{shown(repr(name.value))}; give the name of a kind, as a text.")
    wrong = None
    for base in bases:
        try:
            return named(base, name.value)
        except ModelError as error:
            wrong = wrong or error
    assert wrong is not None
    raise name.refuse(str(wrong)) from wrong


def _example(base: type[Component]) -> str:
    from scenarios.models.kinds import kinds_of

    return next((made.__name__ for made in kinds_of(base).values()), base.__name__)


def _as_saved(node: Node, bases: tuple[type[Component], ...], besides: tuple[str, ...]) -> Any:
    """As `Assembly.save` wrote it."""
    try:
        part = Component.from_data({key: value for key, value in node.value.items() if key not in besides})
    except FAILURES as error:
        raise told(error, node) from error
    if not isinstance(part, bases):
        raise node.refuse(f"a {type(part).__name__} stands where a {bases[0].__name__.lower()} is due.", "class")
    return part
