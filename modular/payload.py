"""Payloads: plain data and arrays of numbers as bytes, for files and for the wire. Nothing is ever pickled.

    magic      8 bytes   "modular" and the number of the format
    length     8 bytes   of the text, little-endian
    text       JSON: {"data": …, "arrays": [[name, type, shape], …]}, filled up with spaces to a multiple of 8 bytes
    arrays     one after the other in their order, each filled up with zeros to a multiple of 8 bytes
    checksum   8 bytes   BLAKE2b of everything before

A payload that was cut off, or of which a byte has changed, is refused; so is one that claims to hold more than it does, before
any memory is taken for it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from math import prod
from typing import Any

import numpy as np

from modular.errors import ModelError

MAGIC = b"modular\x01"
TYPES = {"f8": np.float64, "i8": np.int64, "u1": np.uint8}
NAMES = {np.dtype(kind).str[1:]: name for name, kind in TYPES.items()}
MAX_DIMENSIONS = 8
MAX_DEPTH = 60  # levels of the data


class BadPayload(ModelError):
    """Bytes that are no payload."""


def packed(data: Mapping[str, Any], arrays: Mapping[str, Any]) -> bytes:
    """Data that JSON knows, and arrays of float64, int64 or uint8."""
    return b"".join(chunks(data, arrays))


def chunks(data: Mapping[str, Any], arrays: Mapping[str, Any]) -> list[Any]:
    """The same as bytes one after the other, the checksum last; arrays are not copied."""
    rows = [(name, np.asarray(array, order="C")) for name, array in arrays.items()]
    for name, array in rows:
        if array.dtype.str[1:] not in NAMES:
            raise ModelError(f"payload: '{name}' holds numbers of type {array.dtype}; give float64, int64 or uint8.")
    listed = [[name, NAMES[array.dtype.str[1:]], list(array.shape)] for name, array in rows]
    text = json.dumps({"data": data, "arrays": listed}, allow_nan=False, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    parts: list[Any] = [MAGIC, len(text).to_bytes(8, "little"), text]
    for _, array in rows:
        numbers = array.astype(array.dtype.newbyteorder("<"), copy=False).reshape(-1).view(np.uint8)
        parts += [numbers.data, bytes(-array.nbytes % 8)]
    digest = hashlib.blake2b(digest_size=8)
    for part in parts:
        digest.update(part)
    return [*parts, digest.digest()]


def unpacked(payload: bytes | memoryview, owner: str = "payload") -> tuple[dict[str, Any], dict[str, Any]]:
    """Data and arrays; `owner` is named in errors. The arrays are views of the bytes, and cannot be written to."""
    view = memoryview(payload)
    if len(view) < 24 or bytes(view[:8]) != MAGIC:
        raise BadPayload(f"{owner}: this is not a payload of format 1 (it begins with {bytes(view[:8])!r}).")
    if hashlib.blake2b(view[:-8], digest_size=8).digest() != bytes(view[-8:]):
        raise BadPayload(
            f"{owner}: the checksum does not match; the payload of {len(view)} bytes is damaged or cut off."
        )
    length = int.from_bytes(view[8:16], "little")
    if length > len(view) - 24:
        raise BadPayload(f"{owner}: its text should have {length} bytes; it has {len(view)} in all.")
    try:
        content = json.loads(bytes(view[16 : 16 + length]))
    except (ValueError, RecursionError) as error:
        raise BadPayload(f"{owner}: its text is not JSON ({error}).") from error
    if not isinstance(content, dict) or set(content) != {"data", "arrays"} or not isinstance(content["data"], dict):
        raise BadPayload(f"{owner}: its text must be an object with 'data' and 'arrays'.")
    _shallow(content["data"], owner)
    return content["data"], _arrays(view[16 + length : -8], content["arrays"], owner)


def _arrays(view: memoryview, listed: Any, owner: str) -> dict[str, Any]:
    """Arrays by name, each where it lies."""
    if not isinstance(listed, list):
        raise BadPayload(f"{owner}: 'arrays' has to be a list.")
    found: dict[str, Any] = {}
    start = 0
    for entry in listed:
        name, kind, shape = entry if isinstance(entry, list) and len(entry) == 3 else (None, None, None)
        sizes = shape if isinstance(shape, list) and len(shape) <= MAX_DIMENSIONS else [None]
        if not isinstance(name, str) or kind not in TYPES or not all(type(n) is int and n >= 0 for n in sizes):
            raise BadPayload(f"{owner}: {entry!r} is not the name, type and shape of an array.")
        size = prod(sizes) * np.dtype(TYPES[kind]).itemsize
        if name in found or start + size > len(view):
            raise BadPayload(
                f"{owner}: array '{name}' of shape {sizes} appears twice, or is larger than the rest of the payload."
            )
        array: Any = np.frombuffer(view[start : start + size], np.dtype(TYPES[kind]).newbyteorder("<"))
        found[name] = array.astype(TYPES[kind], copy=False).reshape(sizes)
        start += size + -size % 8
    if start != len(view):
        raise BadPayload(f"{owner}: {len(view) - start} bytes are left that belong to no array.")
    return found


def _shallow(data: Any, owner: str) -> None:
    """Refuse data nested so deeply that others who walk through them would fall."""
    level = [data]
    for _ in range(MAX_DEPTH):
        level = [
            item
            for value in level
            if isinstance(value, dict | list)
            for item in (value.values() if isinstance(value, dict) else value)
        ]
        if not level:
            return
    raise BadPayload(f"{owner}: its data are nested more than {MAX_DEPTH} levels deep.")
