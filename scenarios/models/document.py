"""A model file as text: TOML or JSON, read with the lines of its keys, so that whatever is wrong is told with its place."""

from __future__ import annotations

import json
import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from modular.errors import ModelError
from modular.names import hint
from scenarios.models.markup import shown
from scenarios.models.positions import Path as Keys
from scenarios.models.positions import lines_of

ENDINGS = (".toml", ".json")
LARGEST_FILE = 200_000_000  # bytes
UNIT_BARE = re.compile(r"=\s*[-+]?[\d.]+\s*\*?\s*[a-zA-Z]{1,5}$")  # 90 rpm
DEEPEST = 60  # tables and lists in each other
LONGEST_KEY = re.compile(r"(?<![\w-])(?:[\w-]++[ \t]*+\.[ \t]*+){12}")  # readers take ever longer over these


class FileProblem(ModelError):
    """What is wrong in a file, and in which line."""


@dataclass(frozen=True)
class Source:
    """A file, and what stands in it."""

    path: Path
    text: str = field(repr=False)
    toml: bool

    @cached_property
    def lines(self) -> dict[Keys, int]:
        """Of all keys; looked for when something is wrong."""
        return lines_of(self.text, toml=self.toml)

    def line(self, keys: Keys) -> int:
        """Where a key stands, or what it is in."""
        return next((self.lines[keys[:n]] for n in range(len(keys), 0, -1) if keys[:n] in self.lines), 1)


@dataclass(frozen=True)
class Node:
    """A value of a file, and where it stands."""

    value: Any
    source: Source = field(repr=False)
    keys: Keys = ()

    def refuse(self, what: str, key: str | int | None = None) -> FileProblem:
        """An error that says where: `arm.toml:12: bodies.upper.mass: …`."""
        keys = self.keys if key is None else (*self.keys, key)
        told = "".join(f"[{part}]" if isinstance(part, int) else f".{shown(part)}" for part in keys).lstrip(".")
        return FileProblem(f"{self.source.path}:{self.source.line(keys)}: {told + ': ' if told else ''}{what}")

    def inside(self, key: str | int) -> Node:
        """What a key leads to, or a place in a list."""
        return Node(self.value[key], self.source, (*self.keys, key))

    def get(self, key: str) -> Node | None:
        """The same, where it is there."""
        return self.inside(key) if key in self.value else None

    def table(self, known: Iterable[str] | None = None, what: str = "key") -> Node:
        """Itself, which must be a table; with no other keys than those that are known."""
        if not isinstance(self.value, dict):
            raise self.refuse(f"{shown(repr(self.value))} is given where a table is expected; write [{self._called}].")
        if known is not None:
            names = list(known)
            for key in self.value:
                if key not in names:
                    raise self.refuse(f"there is no {what} '{shown(key)}'; {hint(key, names)}", key)
        return self

    @property
    def _called(self) -> str:
        return ".".join(shown(str(key)) for key in self.keys if isinstance(key, str)) or "…"

    def items(self) -> Iterator[tuple[str, Node]]:
        """What is in a table."""
        return ((key, self.inside(key)) for key in self.table().value)

    def parts(self) -> Iterator[Node]:
        """What is in a list; of a single table, that."""
        if isinstance(self.value, dict):
            return iter([self])
        if not isinstance(self.value, list):
            raise self.refuse(f"{shown(repr(self.value))} is given where a list is expected; write [ … ].")
        return (self.inside(index) for index in range(len(self.value)))


def read_document(path: Path) -> Node:
    """The whole of a TOML or JSON file."""
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST_FILE + 1)
    except OSError as error:
        raise ModelError(f"'{path}' cannot be read ({error.strerror}).") from error
    except ValueError as error:  # a name that no file has
        raise ModelError(f"{str(path)!r} cannot be read ({error}).") from error
    if len(data) > LARGEST_FILE:
        raise ModelError(f"{path}: it is larger than {LARGEST_FILE} bytes; divide it, or write it with [[repeat]].")
    try:
        text = data.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ModelError(f"{path}:{line}: this is not text in UTF-8; save it in that encoding.") from error
    source = Source(path, text, path.suffix == ".toml")
    value = _toml(source) if source.toml else _json(source)
    if not isinstance(value, dict):
        raise ModelError(
            f"{path}: a model is a table of bodies, joints, forces and so on, not a {type(value).__name__}."
        )
    return Node(value, source)


def _toml(source: Source) -> Any:
    if found := LONGEST_KEY.search(source.text):
        line = source.text.count("\n", 0, found.start()) + 1
        raise ModelError(f"{source.path}:{line}: a key of more than 12 parts; nothing here has so many.")
    try:
        return _shallow(source, tomllib.loads(source.text))
    except tomllib.TOMLDecodeError as error:
        what = str(error)
        at = re.search(r" \(at line (\d+), column (\d+)\)$", what)
        line, column = (int(at[1]), int(at[2])) if at else (source.text.rstrip().count("\n") + 1, 0)
        said = what[: at.start()] if at else what.removesuffix(" (at end of document)")
        there = source.text.split("\n")[line - 1].strip()
        where = f", column {column}" if column else " at the end of the file"
        quoted = '; what has a unit stands in quotes, such as "90 * rpm"' if UNIT_BARE.search(there) else ""
        raise ModelError(
            f"{source.path}:{line}: not valid TOML: {shown(said)}{where}: {shown(there)}{quoted}"
        ) from error
    except (ValueError, RecursionError, ArithmeticError) as error:  # numbers of thousands of digits, lists in lists
        raise _unreadable(source, error) from error


def _json(source: Source) -> Any:
    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            twice = next(name for name, times in Counter(name for name, _ in pairs).items() if times > 1)
            raise ModelError(f"{source.path}: '{shown(twice)}' is there twice; give each its own name.")
        return found

    try:
        return _shallow(source, json.loads(source.text, object_pairs_hook=once))
    except json.JSONDecodeError as error:
        there = source.text.split("\n")[error.lineno - 1].strip() if source.text else ""
        raise ModelError(
            f"{source.path}:{error.lineno}: not valid JSON: {error.msg}, column {error.colno}: {shown(there)}"
        ) from error
    except ModelError:
        raise
    except (ValueError, RecursionError, ArithmeticError) as error:
        raise _unreadable(source, error) from error


def _unreadable(source: Source, error: Exception) -> ModelError:
    why = "lists in lists without end" if isinstance(error, RecursionError) else shown(str(error))
    return ModelError(f"{source.path}: it cannot be read as a model ({why}).")


def _shallow(source: Source, value: Any) -> Any:
    """Refuse what is nested so deeply that nothing here means it."""
    level = [value] if isinstance(value, dict | list) else []
    for _ in range(DEEPEST):
        if not level:
            return value
        level = [
            item
            for part in level
            for item in (part.values() if isinstance(part, dict) else part)
            if isinstance(item, dict | list)
        ]
    raise ModelError(f"{source.path}: more than {DEEPEST} nested tables and lists; reduce the nesting.")
