"""Records as strict JSON: every field has a rule, nothing else is read, and every refusal names message and field.

A record is a frozen dataclass whose fields are annotated with one of the types below. On the wire it is one JSON object
on one line, whose last member is a checksum of all that stands before it:

    {"message":"grant","horizon":40,"check":"CHECK"}

There are no fractions: times are whole milliseconds, and a number that is not finite cannot be written.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Annotated, Any, Final, get_type_hints
from zlib import crc32

from modular.errors import Malformed

MAX_CONTROL_BYTES: Final = 1 << 20  # [bytes] of a control message
MAX_OBJECTS: Final = 1 << 15  # objects and lists in a message; bounds what it takes to hold it in memory
MAX_TEXT_LENGTH: Final = 4096  # characters of words for people
_TAIL = ',"check":"%08x"}'
_TAIL_LENGTH = len(_TAIL % 0)


@dataclass(frozen=True)
class Whole:
    """A whole number from 0 on."""

    most: int

    def read(self, value: Any, place: str, name: str) -> int:
        """The number, or Malformed."""
        if type(value) is not int or not 0 <= value <= self.most:
            raise Malformed(f"{place}.{name}: {short(value)} is not a whole number from 0 to {self.most}.")
        return value

    write = read


@dataclass(frozen=True)
class Text:
    """Text of bounded length; a name is not empty and has only printable characters."""

    most: int
    name: bool = False

    def read(self, value: Any, place: str, name: str) -> str:
        """The text, or Malformed."""
        if type(value) is not str or len(value) > self.most:
            raise Malformed(f"{place}.{name}: {short(value)} is not a text of at most {self.most} characters.")
        if self.name and not (value and value.isprintable()):
            raise Malformed(f"{place}.{name}: {short(value)} is not a name; use printable characters.")
        if not value.isascii() and any("\ud800" <= character <= "\udfff" for character in value):
            raise Malformed(f"{place}.{name}: {short(value)} has unpaired surrogates.")
        return value

    write = read


@dataclass(frozen=True)
class Many:
    """A list of records of one kind."""

    kind: type
    most: int

    def read(self, value: Any, place: str, name: str) -> tuple[Any, ...]:
        """The records, or Malformed."""
        if type(value) is not list or len(value) > self.most:
            raise Malformed(f"{place}.{name}: {short(value)} is not a list of at most {self.most}.")
        return tuple(read_record(self.kind, one, f"{place}.{name}[{k}]") for k, one in enumerate(value))

    def write(self, value: Any, place: str, name: str) -> list[dict[str, Any]]:
        """The records as a JSON list."""
        if type(value) is not tuple or len(value) > self.most:
            raise Malformed(f"{place}.{name}: {short(value)} is not a tuple of at most {self.most}.")
        return [write_record(one, f"{place}.{name}[{k}]") for k, one in enumerate(value)]


Rule = Whole | Text | Many

U16 = Annotated[int, Whole((1 << 16) - 1)]
U32 = Annotated[int, Whole((1 << 32) - 1)]
Step = Annotated[int, Whole((1 << 48) - 1)]
Milliseconds = Annotated[int, Whole((1 << 48) - 1)]
Name = Annotated[str, Text(128, name=True)]
Mark = Annotated[str, Text(128)]  # digests, addresses: no meaning here, only equal or not
Reason = Annotated[str, Text(8192)]  # for people

_RULES: dict[type, dict[str, Rule]] = {}


def rules(kind: type) -> dict[str, Rule]:
    """The rule of every field of a record."""
    if kind not in _RULES:
        hints = get_type_hints(kind, include_extras=True)
        _RULES[kind] = {field.name: hints[field.name].__metadata__[0] for field in fields(kind)}
    return _RULES[kind]


def read_record(kind: type, value: Any, place: str) -> Any:
    """A record from a JSON object, every field checked."""
    wanted = rules(kind)
    if type(value) is not dict:
        raise Malformed(f"{place}: {short(value)} is not an object with {', '.join(wanted)}.")
    if value.keys() != wanted.keys():
        for name in value:
            if name not in wanted:
                raise Malformed(f"{place}: unknown field {short(name)}.")
        missing = next(name for name in wanted if name not in value)
        raise Malformed(f"{place}: field '{missing}' is missing.")
    return kind(**{name: rule.read(value[name], place, name) for name, rule in wanted.items()})


def write_record(record: Any, place: str) -> dict[str, Any]:
    """A record as a JSON object; what could not be read back is not written."""
    return {name: rule.write(getattr(record, name), place, name) for name, rule in rules(type(record)).items()}


def encode(message: Any) -> bytes:
    """A record as one line of JSON with its checksum."""
    name = type(message).__name__.lower()
    raw = _ENCODER.encode({"message": name, **write_record(message, name)})[:-1].encode("ascii")
    return raw + (_TAIL % crc32(raw)).encode("ascii")


def decode(raw: bytes, kinds: Mapping[str, type]) -> Any:
    """The record in a line of JSON, one of `kinds`, or Malformed."""
    if len(raw) > MAX_CONTROL_BYTES:
        raise Malformed(f"control message: {len(raw)} bytes; at most {MAX_CONTROL_BYTES} are read.")
    body = raw[:-_TAIL_LENGTH]
    if len(raw) <= _TAIL_LENGTH or raw[-_TAIL_LENGTH:] != (_TAIL % crc32(body)).encode("ascii"):
        raise Malformed(f"control message: the checksum at the end of {short(raw)} does not fit.")
    if raw.count(b"{") + raw.count(b"[") > MAX_OBJECTS:
        raise Malformed(f"control message: more than {MAX_OBJECTS} objects and lists.")
    try:
        value = _DECODER.decode(raw.decode("ascii"))
    except Malformed:
        raise
    except (ValueError, RecursionError) as error:
        raise Malformed(f"control message: {short(raw)} is not JSON: {error}.") from None
    name = value.pop("message", None) if type(value) is dict else None
    kind = kinds.get(name) if type(name) is str else None
    if kind is None:
        raise Malformed(f"control message: {short(name)} is none of {', '.join(sorted(kinds))}.")
    value.pop("check", None)
    return read_record(kind, value, str(name))


def by_name(*kinds: type) -> dict[str, type]:
    """Records by the names that they carry on the wire."""
    return {kind.__name__.lower(): kind for kind in kinds}


def sanitise(text: str) -> str:
    """Words for people, from anywhere, as they can be written in a message: cut, and without halves of characters."""
    return text.encode("utf-8", "replace").decode("utf-8")[:MAX_TEXT_LENGTH]


def short(value: Any) -> str:
    """A value as it can be shown in one line, however large it is."""
    if isinstance(value, str | bytes | list | tuple) and len(value) > 60:
        return f"{value[:60]!r}…" if isinstance(value, str | bytes) else f"a list of {len(value)}"
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:80]}…"


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise Malformed(f"control message: field {short(twice)} twice.")
    return value


def _whole(digits: str) -> int:
    if len(digits) > 20:
        raise Malformed(f"control message: number {short(digits)} is too long.")
    return int(digits)


def _not_whole(digits: str) -> Any:
    raise Malformed(f"control message: {short(digits)} is not a whole number.")


_ENCODER = json.JSONEncoder(separators=(",", ":"), allow_nan=False)  # all else is written as \u....
_DECODER = json.JSONDecoder(
    object_pairs_hook=_once, parse_constant=_not_whole, parse_float=_not_whole, parse_int=_whole
)
