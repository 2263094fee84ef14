"""All parts that a model file names, its own, those of repeats and those of files that it includes; nothing is made of them yet.

An included file is a model of its own: it sees its own parameters alone, which whoever includes it may set. What it names becomes
part of the whole, so joints may connect bodies of several files. Files are looked for inside the folder of the first one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from modular.errors import ModelError
from scenarios.models.document import ENDINGS, FileProblem, Node, read_document
from scenarios.models.expressions import CONSTANTS, FUNCTIONS, ExpressionError, whole, worked_out
from scenarios.models.markup import shown
from scenarios.models.parameters import parameters, unknown, value_of
from scenarios.models.values import Scope, number

LISTS = ("events",)
TABLES = ("bodies", "joints", "forces")
CONTENTS = (*TABLES, *LISTS, "repeat")
TOP = (
    "title",
    "units",
    "gravity",
    "parameters",
    "include",
    *CONTENTS,
    "begin",
    "counted",
    "settings",
    "suggested",
    "assemble",
)
MOST_PARTS = 200_000  # that repeats make, and their rounds
MOST_FILES = 100


class Part(NamedTuple):
    """A table of a file, and what names in it stand for."""

    node: Node
    scope: Scope


@dataclass
class Gathered:
    """What there is, by name."""

    top: Node
    scope: Scope = field(default_factory=Scope)
    bodies: dict[str, Part] = field(default_factory=dict)
    joints: dict[str, Part] = field(default_factory=dict)
    forces: dict[str, Part] = field(default_factory=dict)
    events: list[Part] = field(default_factory=list)
    begin: dict[str, Part] = field(default_factory=dict)
    zeros: dict[str, Part] = field(default_factory=dict)
    count: int = 0
    files: int = 0

    def counted(self, node: Node) -> None:
        """One more, where a repeat makes it."""
        self.count += "repeat" in node.keys
        if self.count > MOST_PARTS:
            raise node.refuse(f"more than {MOST_PARTS} parts and rounds; build such a model in Python.")


def gathered(path: Path, given: Mapping[str, Any]) -> Gathered:
    """What a file and those that it includes say; `given`: parameters that are set from outside."""
    found = Gathered(read_document(path))
    table = found.top.get("parameters")
    for name in given:
        if table is None or name not in table.table().value:
            raise ModelError(f"{path}: {unknown(name, table)}")
    found.scope = _take_file(
        found, found.top, {name: _typed(value) for name, value in given.items()}, (path.resolve(),)
    )
    return found


def _typed(value: Any) -> Any:
    """A parameter as it was typed: an expression with units too."""
    try:
        return worked_out(value, {}) if isinstance(value, str) else tuple(value) if isinstance(value, list) else value
    except ExpressionError:
        return value


def _take_file(found: Gathered, top: Node, given: Mapping[str, Any], chain: tuple[Path, ...]) -> Scope:
    top.table(TOP, "part of a model")
    table = top.get("parameters")
    scope = Scope(parameters(table, given), fills=table is not None)
    if (include := top.get("include")) is not None:
        parts = [include] if isinstance(include.value, str) else include.parts()
        for part in parts:
            _include(found, part, scope, chain)
    _take(found, top, scope)
    if (begin := top.get("begin")) is not None:
        _into(found.begin, begin, scope, found, "beginning of")
    if (counted := top.get("counted")) is not None:
        _into(found.zeros, counted, scope, found, "count of")
    return scope


def _take(found: Gathered, node: Node, scope: Scope) -> None:
    for what in TABLES:
        if (table := node.get(what)) is not None:
            _into(getattr(found, what), table, scope, found, {"bodies": "body"}.get(what, what[:-1]))
    if (events := node.get("events")) is not None:
        for part in events.parts():
            found.counted(part)
            found.events.append(Part(part, scope))
    if (repeat := node.get("repeat")) is not None:
        for part in repeat.parts():
            _repeat(found, part, scope)


def _into(known: dict[str, Part], table: Node, scope: Scope, found: Gathered, what: str) -> None:
    for key, node in table.items():
        found.counted(node)
        name = scope.text(key, node)
        if name in known:
            other = known[name].node
            place = f"{other.source.path}:{other.source.line(other.keys)}"
            raise node.refuse(f"there is a {what} '{shown(name)}' already ({place}); give it another name.")
        known[name] = Part(node, scope)


def _repeat(found: Gathered, node: Node, scope: Scope) -> None:
    """`for = "i"`, `from = 1`, `to = "n"`: what is in it, for each."""
    node.table(("for", "from", "to", *CONTENTS))
    if lacking := [key for key in ("for", "to") if key not in node.value]:
        raise node.refuse(f'it has no {lacking[0]}; write such as for = "i", from = 1, to = 10.')
    name = node.value["for"]
    if not isinstance(name, str) or not name.isidentifier() or name in FUNCTIONS or name in CONSTANTS:
        raise node.refuse(f'{shown(repr(name))}; give a name of letters, such as "i".', "for")
    if name in scope.known:
        raise node.refuse(f"there is a parameter '{shown(name)}' already; give another name.", "for")
    start = node.get("from")
    first = 1 if start is None else _whole(start, scope)
    last = _whole(node.inside("to"), scope)
    for value in range(first, last + 1):
        found.counted(node)
        _take(found, node, scope.also(name, value))


def _whole(node: Node, scope: Scope) -> int:
    value = whole(number(node, scope, "a whole number"))
    if not isinstance(value, int):
        raise node.refuse(f"{value}; give a whole number.")
    return value


def _include(found: Gathered, node: Node, scope: Scope, chain: tuple[Path, ...]) -> None:
    name: Any = node.value
    table: Node | None = None
    if isinstance(node.value, dict):
        node.table(("file", "parameters"))
        name, table = node.value.get("file"), node.get("parameters")
    if not isinstance(name, str) or not name:
        raise node.refuse(f'{shown(repr(name))}; give a file, such as include = ["leg.toml"].')
    path = _inside_folder(name, node, chain)
    found.files += 1
    if path.resolve() in chain:
        raise node.refuse(f"'{shown(name)}' includes itself; take one of these lines out.")
    if found.files > MOST_FILES:
        raise node.refuse(f"more than {MOST_FILES} files; put some of them together.")
    try:
        top = read_document(path)
    except FileProblem:
        raise
    except ModelError as error:
        raise node.refuse(str(error)) from error
    given = {}
    for key, part in table.items() if table is not None else ():
        has = top.get("parameters")
        if has is None or key not in has.table().value:
            raise part.refuse(unknown(key, has))
        given[key] = value_of(part, scope.known)
    _take_file(found, top, given, (*chain, path.resolve()))


def _inside_folder(name: str, node: Node, chain: tuple[Path, ...]) -> Path:
    """A file that is to be included: relative to the one that names it, in the folder of the first or below."""
    folder = chain[0].parent
    try:
        path = node.source.path.parent / name
        inside = not Path(name).is_absolute() and path.resolve().is_relative_to(folder)
    except (OSError, ValueError, RuntimeError):  # letters that no name has, links in rings
        inside, path = False, Path()
    if not inside:
        raise node.refuse(
            f"'{shown(name)}' does not lie in the folder of the model; put it there, and name it from there."
        )
    if path.suffix not in ENDINGS:
        raise node.refuse(f"'{shown(name)}': files to include end in {' or '.join(ENDINGS)}.")
    return path
