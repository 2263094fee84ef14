"""Plain data as TOML (toml.io, version 1.0): tables with headings, numbers with all digits, long lists on several lines."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from modular.errors import ModelError

BARE = re.compile(r"[A-Za-z0-9_-]+")
WIDTH = 110
INDENT = "  "


def key_text(key: str) -> str:
    """A key, in quotes where it needs some."""
    return key if BARE.fullmatch(key) else string_text(key)


def string_text(text: str) -> str:
    """A text in quotes."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise ModelError(
            f"{text!a} contains half a surrogate pair, which a text file cannot hold; leave it out."
        ) from error
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007F")


def value_text(value: Any, at: int = 0, indent: str = "") -> str:
    """A value, from a column on; a table in one line."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, str):
        return string_text(value)
    if isinstance(value, Mapping):
        parts = [f"{key_text(str(key))} = {value_text(item, 0, indent)}" for key, item in value.items()]
        return f"{{ {', '.join(parts)} }}" if parts else "{}"
    if isinstance(value, Sequence):
        return _list_text(value, at, indent)
    raise ModelError(f"{value!r} has no form in TOML.")


def _list_text(values: Sequence[Any], at: int, indent: str) -> str:
    flat = f"[{', '.join(value_text(item, 0, indent) for item in values)}]"
    if at + len(flat) <= WIDTH and "\n" not in flat:
        return flat
    inner = indent + INDENT
    if not all(isinstance(item, bool | int | float) for item in values):
        rows = [value_text(item, len(inner), inner) for item in values]
    else:
        rows, row = [], ""
        for item in values:
            word = value_text(item)
            if row and len(inner) + len(row) + len(word) + 3 > WIDTH:
                rows.append(row)
                row = ""
            row = f"{row}, {word}" if row else word
        rows.append(row)
    return "[\n" + "".join(f"{inner}{row},\n" for row in rows) + f"{indent}]"


def assignment(key: str, value: Any) -> str:
    """A line, or several where the value is long."""
    left = f"{key} = "
    return f"{left}{value_text(value, len(left))}\n"


def table_text(heading: str, table: Mapping[str, Any], *, spread: Sequence[str] = ()) -> str:
    """A table under a heading; of what stands under the keys `spread`, and of tables that are long, each part has a line."""
    return f"\n{heading}\n" + "".join(_lines("", table, spread))


def _lines(before: str, table: Mapping[str, Any], spread: Sequence[str]) -> Iterator[str]:
    for key, value in table.items():
        name = before + key_text(key)
        if isinstance(value, Mapping) and value and (key in spread or len(value_text(value)) + len(name) + 3 > WIDTH):
            yield from _lines(f"{name}.", value, ())
        else:
            yield assignment(name, value)
