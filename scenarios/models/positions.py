"""In which line of a TOML or JSON text each key stands. Python's own readers do not tell, and they have the last word on syntax.

A text that they have accepted is walked through once more for keys and lines alone; what is not understood has the line of what
it is in.
"""

from __future__ import annotations

import json
import re
import tomllib
from bisect import bisect_right
from contextlib import suppress

Path = tuple[str | int, ...]  # keys, and places in lists

_BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_STRING = re.compile(
    r"\"\"\"(?:[^\"\\]|\\.|\"{1,2}(?!\"))*\"{3,5}|'''.*?'{3,5}|\"(?:[^\"\\]|\\.)*\"|'[^']*'", re.DOTALL
)
_PLAIN = re.compile(r"[^,\]}\n#]*")


def lines_of(text: str, *, toml: bool) -> dict[Path, int]:
    """The line of each key and each part of a list, from 1 on."""
    walk = _Walk(text)
    with suppress(_Lost, RecursionError):
        if toml:
            walk.statements()
        else:
            walk.value(())
    return walk.lines


class _Lost(Exception):
    """Something else than what was looked for."""


class _Walk:
    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0
        self.ends = [found.start() for found in re.finditer("\n", text)]
        self.lines: dict[Path, int] = {}
        self.counts: dict[Path, int] = {}  # of tables in lists of tables

    def statements(self) -> None:
        """A whole TOML text."""
        base: Path = ()
        self.blank()
        while self.at < len(self.text):
            if self.text.startswith("[[", self.at):
                self.at += 2
                path = self.within((), self.keys())
                self.counts[path] = self.counts.get(path, -1) + 1
                base = (*path, self.counts[path])
                self.note(path)
                self.note(base)
                self.expect("]]")
            elif self.text[self.at] == "[":
                self.at += 1
                base = self.inside((), self.keys())
                for count in range(1, len(base) + 1):
                    self.note(base[:count])  # a part of the model begins with the first of its tables
                self.expect("]")
            else:
                self.assignment(base)
            self.blank()

    def within(self, base: Path, keys: list[str]) -> Path:
        """The path of keys of which all but the last lead into the last table of a list, where they name one."""
        return (*self.inside(base, keys[:-1]), keys[-1])

    def inside(self, base: Path, keys: list[str]) -> Path:
        """The same for all keys."""
        for key in keys:
            base = (*base, key)
            if base in self.counts:
                base = (*base, self.counts[base])
        return base

    def assignment(self, base: Path) -> None:
        """`key = value`, or `"key": value`."""
        start = self.at
        keys = self.keys()
        for count in range(1, len(keys) + 1):
            self.note((*base, *keys[:count]), start)
        self.blank()
        if self.text[self.at : self.at + 1] not in ("=", ":"):
            raise _Lost
        self.at += 1
        self.value((*base, *keys))

    def value(self, path: Path) -> None:
        """Whatever stands there."""
        self.blank()
        first = self.text[self.at : self.at + 1]
        if first == "{":
            self.at += 1
            self.parts("}", path, None)
        elif first == "[":
            self.at += 1
            self.parts("]", path, 0)
        elif first in ('"', "'"):
            self.take(_STRING)
        else:
            self.take(_PLAIN)

    def parts(self, end: str, path: Path, count: int | None) -> None:
        """Assignments or values with commas between them."""
        while True:
            self.blank()
            if self.text.startswith(end, self.at):
                self.at += 1
                return
            if count is None:
                self.assignment(path)
            else:
                self.note((*path, count))
                self.value((*path, count))
                count += 1
            self.blank()
            if self.text.startswith(",", self.at):
                self.at += 1
            elif not self.text.startswith(end, self.at):
                raise _Lost

    def keys(self) -> list[str]:
        """`a."b.c".d`."""
        found = []
        while True:
            self.skip_spaces()
            if self.text[self.at : self.at + 1] in ('"', "'"):
                found.append(_unquoted(self.take(_STRING)))
            else:
                found.append(self.take(_BARE))
            self.skip_spaces()
            if not self.text.startswith(".", self.at):
                return found
            self.at += 1

    def note(self, path: Path, at: int | None = None) -> None:
        self.lines.setdefault(path, bisect_right(self.ends, (self.at if at is None else at) - 1) + 1)

    def blank(self) -> None:
        self.take(_BLANK)

    def skip_spaces(self) -> None:
        while self.text[self.at : self.at + 1] in (" ", "\t"):
            self.at += 1

    def take(self, pattern: re.Pattern[str]) -> str:
        found = pattern.match(self.text, self.at)
        if found is None:
            raise _Lost
        self.at = found.end()
        return found[0]

    def expect(self, text: str) -> None:
        if not self.text.startswith(text, self.at):
            raise _Lost
        self.at += len(text)


def _unquoted(text: str) -> str:
    if text[0] == "'" or "\\" not in text:
        return text[1:-1]
    try:
        return str(json.loads(text))
    except ValueError:
        return str(tomllib.loads(f"k = {text}")["k"])
