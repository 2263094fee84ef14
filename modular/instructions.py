"""Instructions of Python: what a function does, by its code alone; comments, docstrings and line numbers are no part of it."""

from __future__ import annotations

import dis
import functools
import hashlib
import struct
import sys
from collections.abc import Iterable, Iterator
from types import CodeType
from typing import Any


def digest_of(kind: str, *parts: bytes) -> bytes:
    """Digest of parts, of which none can be taken for two others."""
    digest = hashlib.blake2b(kind.encode(), digest_size=16)
    for part in parts:
        digest.update(len(part).to_bytes(8, "little") + part)
    return digest.digest()


LOAD_GLOBAL, LOAD_NAME, STORE_NAME, EXTENDED = (
    dis.opmap[name] for name in ("LOAD_GLOBAL", "LOAD_NAME", "STORE_NAME", "EXTENDED_ARG")
)
OF_NAMES = frozenset(dis.hasname)
# bits of an argument behind the number of a name
FLAGS = {"LOAD_GLOBAL": 1, "LOAD_ATTR": 1 if sys.version_info >= (3, 12) else 0, "LOAD_SUPER_ATTR": 2}
BITS = {dis.opmap[name]: bits for name, bits in FLAGS.items() if name in dis.opmap}
CONSTANTS = frozenset(dis.hasconst)


@functools.cache
def of_code(code: CodeType) -> bytes:
    """Instructions and constants of a function and of those inside it; not its docstring, nor its place in the file."""
    shape = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags)
    words = (code.co_varnames, code.co_names, code.co_freevars, code.co_cellvars)
    bare, constants = (
        bytearray(code.co_code),
        [],
    )  # constants by their values, not by their places, which a docstring moves
    for place, operation, argument in instructions(code):
        if operation in CONSTANTS:
            bare[place + 1] = 0
            constants.append(of_constant(code.co_consts[argument]))
        elif operation == STORE_NAME and code.co_names[argument] == "__doc__" and constants:
            constants.pop()
    return digest_of("code", bytes(bare), code.co_exceptiontable, repr((shape, words)).encode(), *constants)


def of_number(value: float | complex) -> bytes:
    """To the last bit, which a nan does not show."""
    return struct.pack("<dd", value.real, value.imag)


def of_constant(value: Any) -> bytes:
    """Digest of a constant of a function."""
    if isinstance(value, CodeType):
        return of_code(value)
    if isinstance(value, tuple):
        return digest_of("tuple", *map(of_constant, value))
    if isinstance(value, frozenset):
        return digest_of("set", *sorted(map(of_constant, value)))
    if isinstance(value, float | complex):
        return digest_of(type(value).__name__, of_number(value))
    return digest_of(type(value).__name__, repr(value).encode())


@functools.cache
def globals_of(code: CodeType) -> frozenset[str]:
    """Names that a function, or the body of a class in it, looks up in its module."""
    return frozenset(
        code.co_names[place >> BITS.get(operation, 0)]
        for _, operation, place in instructions(code)
        if operation in (LOAD_GLOBAL, LOAD_NAME)
    )


@functools.cache
def words_of(code: CodeType) -> frozenset[str]:
    """Names of attributes, and words among its constants."""
    attributes = {
        each.co_names[place >> BITS.get(operation, 0)]
        for each in codes(code)
        for _, operation, place in instructions(each)
        if operation in OF_NAMES and operation not in (LOAD_GLOBAL, LOAD_NAME)
    }
    return constant_words_of(code) | attributes


@functools.cache
def constant_words_of(code: CodeType) -> frozenset[str]:
    """Words among the constants of a function."""
    found: set[str] = set()
    for value in code.co_consts:
        if isinstance(value, CodeType):
            found |= constant_words_of(value)
        elif isinstance(value, (tuple, frozenset)):
            found.update(word for word in _flat(value) if isinstance(word, str))
        elif isinstance(value, str):
            found.add(value)
    return frozenset(found)


def _flat(value: Iterable[Any]) -> Iterator[Any]:
    for part in value:
        if isinstance(part, (tuple, frozenset)):
            yield from _flat(part)
        else:
            yield part


def codes(code: CodeType) -> Iterator[CodeType]:
    """A function, and those inside it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from codes(constant)


def instructions(code: CodeType) -> Iterator[tuple[int, int, int]]:
    """Places, operations and arguments."""
    extended = 0
    words = code.co_code
    for place in range(0, len(words), 2):
        operation, argument = words[place], words[place + 1]
        if operation == EXTENDED:
            extended = (extended | argument) << 8
        else:
            yield place, operation, extended | argument
            extended = 0


@functools.cache
def bare_names(code: CodeType) -> frozenset[str]:
    """Names of what is not only asked for an attribute at once: a module that is handed on may be asked for anything."""
    found, loaded = set(), ""
    for _, operation, argument in instructions(code):
        name = dis.opname[operation]
        if name in ("CACHE", "PUSH_NULL", "PRECALL", "NOP"):
            continue
        if loaded and name not in ("LOAD_ATTR", "LOAD_METHOD"):
            found.add(loaded)
        loaded = ""
        if operation == LOAD_GLOBAL:
            loaded = code.co_names[argument >> 1]
    return frozenset(found)


@functools.cache
def imported_in(code: CodeType) -> frozenset[str]:
    """Modules that a function imports while it runs."""
    return frozenset(
        code.co_names[argument]
        for _, operation, argument in instructions(code)
        if dis.opname[operation] == "IMPORT_NAME"
    )
