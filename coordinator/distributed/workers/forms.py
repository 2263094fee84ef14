"""Nested data with arrays as few bytes, for two processes of one machine that say the same kind of thing again and again.

What is said has a *form*, all of it but its floats and the numbers of its arrays: a text that goes over once and has a number from
then on. Behind the number of its form lie the numbers themselves, each at a multiple of eight bytes.

    form     4 bytes   its number, or UNKEPT
    length   4 bytes   of the text, where it has not been said before; then the text, filled up with spaces
    numbers  …         float64, int64, uint8 or bool, as this machine has them

In the text an object is an object, a text or a whole number is itself, a list is [1, …], a float [0], an array [2, type, shape…].
As in payloads (modular/payload.py) nothing is ever executed, and what is malformed is refused before it is believed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from json.encoder import encode_basestring_ascii as quoted
from math import prod
from struct import Struct
from typing import Any

import numpy as np

from modular.errors import ModelError
from modular.payload import MAX_DEPTH, MAX_DIMENSIONS, BadPayload

MAX_FORMS = 512  # that both sides keep
UNKEPT = 0xFFFFFFFF
HEAD, NUMBER = Struct("<II"), Struct("=d")
KINDS = {kind.char: kind for kind in map(np.dtype, (np.float64, np.int64, np.uint8, np.bool_))}
FLOAT, LIST, ARRAY = range(3)
Filled = Callable[[bytearray], Any]


class Sender:
    """Makes bytes of what is said, for one listener."""

    def __init__(self) -> None:
        self._forms: dict[str, int] = {}
        self._tokens: dict[tuple[str, tuple[int, ...]], str] = {}

    def packed(self, value: Any, room: int) -> bytes | None:
        """What is said, or None where that is more than so many bytes; whoever gets bytes here has to send them."""
        parts: list[str] = []
        chunks: list[bytes] = []
        self._put(value, parts, chunks)
        form = "".join(parts)
        number, text = self._forms.get(form), b""
        if number is None:
            number = len(self._forms) if len(self._forms) < MAX_FORMS else UNKEPT
            text = form.encode()
            text += b" " * (-len(text) % 8)
        said = b"".join((HEAD.pack(number, len(text)), text, *chunks))
        if len(said) > room:
            return None
        if text and number != UNKEPT:
            self._forms[form] = number
        return said

    def _put(self, value: Any, parts: list[str], chunks: list[bytes]) -> None:
        kind = type(value)
        if kind is np.ndarray:
            parts.append(self._tokens.get((value.dtype.char, value.shape)) or self._token(value))
            data = value.tobytes()
            chunks.append(data if len(data) % 8 == 0 else data + bytes(-len(data) % 8))
        elif kind is float:
            parts.append("[0]")
            chunks.append(NUMBER.pack(value))
        elif kind is str:
            parts.append(quoted(value))
        elif value is None:
            parts.append("null")
        elif kind is bool:
            parts.append("true" if value else "false")
        elif kind is int:
            parts.append(str(value))
        elif isinstance(value, Mapping):
            start = "{"
            for key, item in value.items():
                parts.append(f"{start}{quoted(str(key))}:")
                self._put(item, parts, chunks)
                start = ","
            parts.append("{}" if start == "{" else "}")
        elif isinstance(value, list | tuple):
            parts.append("[1")
            for item in value:
                parts.append(",")
                self._put(item, parts, chunks)
            parts.append("]")
        elif isinstance(value, np.generic):
            self._put(value.item(), parts, chunks)
        elif isinstance(value, float | int | str):  # of somebody's subclass
            self._put(next(plain(value) for plain in (float, int, str) if isinstance(value, plain)), parts, chunks)
        else:
            raise ModelError(f"{value!r} ({type(value).__name__}) is not plain data, so it cannot be sent.")

    def _token(self, array: Any) -> str:
        """An array in a form."""
        kind = array.dtype.char
        known = next((char for char, dtype in KINDS.items() if dtype == array.dtype), None)
        if known is None or array.ndim > MAX_DIMENSIONS:
            raise ModelError(
                f"an array of {array.dtype} and shape {array.shape} cannot be sent; give float64, int64, uint8 or bool in at most "
                f"{MAX_DIMENSIONS} dimensions."
            )
        self._tokens[kind, array.shape] = f'[2,"{known}"{"".join(f",{n}" for n in array.shape)}]'
        return self._tokens[kind, array.shape]


class Listener:
    """Understands what a sender has made; raises BadPayload where nobody can have."""

    def __init__(self) -> None:
        self._forms: dict[int, tuple[Filled, int]] = {}

    def unpacked(self, said: bytearray) -> Any:
        """What was said; its arrays are its own and may be written to."""
        if len(said) < HEAD.size:
            raise BadPayload("a message on a direct line is cut off.")
        number, length = HEAD.unpack_from(said)
        start = HEAD.size + length
        if length:
            found = self._read(bytes(said[HEAD.size : start]))
            if number != UNKEPT:
                if number != len(self._forms) or number >= MAX_FORMS:
                    raise BadPayload(f"a message on a direct line defines form {number} out of order.")
                self._forms[number] = found
        else:
            found = self._forms.get(number) or self._unknown(number)
        fill, size = found
        if len(said) - start != size:
            raise BadPayload(
                f"a message on a direct line has {len(said) - start} bytes of numbers; its form needs {size}."
            )
        return fill(said[start:])

    def _unknown(self, number: int) -> Any:
        raise BadPayload(f"a message on a direct line refers to form {number}, which was never sent.")

    def _read(self, text: bytes) -> tuple[Filled, int]:
        try:
            form = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise BadPayload(f"a form is not JSON ({error}).") from error
        return _filled(form, 0, 0)


def _filled(form: Any, at: int, depth: int) -> tuple[Filled, int]:
    """How a form is filled with numbers that begin at a byte, and where they end."""
    if depth > MAX_DEPTH:
        raise BadPayload(f"a message on a direct line is nested more than {MAX_DEPTH} levels deep.")
    if form is None or isinstance(form, str | int):
        return (lambda numbers: form), at
    if isinstance(form, dict):
        items: list[tuple[str, Filled]] = []
        for key, inner in form.items():
            item, at = _filled(inner, at, depth + 1)
            items.append((key, item))
        return (lambda numbers: {key: item(numbers) for key, item in items}), at
    if isinstance(form, list) and form == [FLOAT]:
        return (lambda numbers: NUMBER.unpack_from(numbers, at)[0]), at + 8
    if isinstance(form, list) and form and form[0] == LIST:
        members: list[Filled] = []
        for inner in form[1:]:
            member, at = _filled(inner, at, depth + 1)
            members.append(member)
        return (lambda numbers: [member(numbers) for member in members]), at
    return _array(form, at)


def _array(form: Any, at: int) -> tuple[Filled, int]:
    good = isinstance(form, list) and len(form) >= 2 and form[0] == ARRAY and form[1] in KINDS
    shape = tuple(form[2:]) if good else ()
    if not good or len(shape) > MAX_DIMENSIONS or not all(type(n) is int and 0 <= n < 1 << 40 for n in shape):
        raise BadPayload(f"{str(form)[:80]} in the form of a message has no meaning.")
    kind = KINDS[form[1]]
    size = prod(shape) * kind.itemsize
    return (lambda numbers: np.ndarray(shape, kind, numbers, at)), at + size + -size % 8
