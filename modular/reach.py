"""Reach: the functions that compiled code of a kernel is made from, wherever they were defined.

Numba compiles what a kernel calls, and the values of the names that it reads, into the machine code of the kernel. So
whoever keeps that code has to know all of them.
"""

from __future__ import annotations

import builtins
import functools
import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

HOUSE = Path(__file__).resolve().parent.parent
PACKAGES = ("modular", "components", "coordinator")  # their files are known as a whole
LIBRARIES = ("numba", "numpy", "math", "llvmlite")  # known by their versions
PLAIN = (bool, int, float, complex, str, bytes, np.generic)


def origins(function: Callable[..., Any]) -> frozenset[Path]:
    """Folders of a kernel's source and of those of the functions that it calls."""
    return frozenset(_folder(part.__code__.co_filename) for part in reached(function))


def essence(function: Callable[..., Any]) -> bytes:
    """Digest of what a kernel reaches as it stands in memory: instructions, constants, and the values of names.

    Files may have changed since they were read; this is what the compiler will see.
    """
    digest = hashlib.blake2b(digest_size=16)
    for part in reached(function):
        digest.update(_digest(part.__code__))
        for name, value in sorted(names(part), key=lambda pair: pair[0]):
            if isinstance(value, PLAIN):
                digest.update(f"{name}={value!r};".encode())
            elif isinstance(value, np.ndarray):
                digest.update(f"{name}:{value.dtype}{value.shape};".encode() + np.ascontiguousarray(value).tobytes())
    return digest.digest()


def reached(function: Callable[..., Any]) -> list[FunctionType]:
    """The function itself and all that it calls, directly or through others, in the order in which they are met."""
    found: dict[FunctionType, None] = {}
    waiting: list[Any] = [function]
    while waiting:
        part = waiting.pop()
        if part in found:
            continue
        found[part] = None
        waiting += [code for _, value in names(part) if (code := _behind(value)) is not None]
    return list(found)


def names(function: FunctionType) -> list[tuple[str, Any]]:
    """What the names in a function stand for: of its module, of what surrounds it, and of modules that it names."""
    return _names_in_house(function) if in_house(_folder(function.__code__.co_filename)) else list(_names(function))


@functools.cache
def _names_in_house(function: FunctionType) -> list[tuple[str, Any]]:
    """Ours do not change while a program runs."""
    return list(_names(function))


def _names(function: FunctionType) -> Iterator[tuple[str, Any]]:
    codes = list(_codes(function.__code__))
    asked = {name for code in codes for name in code.co_names}
    modules: list[tuple[str, ModuleType]] = []
    seen: set[int] = set()

    def sort_out(name: str, value: Any) -> Iterator[tuple[str, Any]]:
        if isinstance(value, ModuleType):
            modules.append((name, value))
        elif isinstance(value, tuple):
            for place, item in enumerate(value):
                yield from sort_out(f"{name}[{place}]", item)
        else:
            yield name, value

    for name in sorted(asked):
        if name in function.__globals__:
            yield from sort_out(name, function.__globals__[name])
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            yield from sort_out(name, cell.cell_contents)
        except ValueError:  # not filled yet
            continue
    while modules:
        path, module = modules.pop()
        if id(module) in seen or module is builtins or module.__name__.partition(".")[0] in LIBRARIES:
            continue
        seen.add(id(module))
        for name in sorted(asked):
            if name in vars(module):
                yield from sort_out(f"{path}.{name}", vars(module)[name])


@functools.cache
def in_house(folder: Path) -> bool:
    """Whether a folder belongs to the packages whose files are known as a whole."""
    return any(folder.is_relative_to(HOUSE / package) for package in PACKAGES)


def _behind(value: Any) -> FunctionType | None:
    """The Python function of a kernel, an intrinsic or a function; None for anything else, and for numba's own."""
    for attribute in ("py_func", "_defn"):
        value = getattr(value, attribute, value) if not isinstance(value, type) else value
    if not isinstance(value, FunctionType) or value.__module__ is None:
        return None
    return None if value.__module__.partition(".")[0] in LIBRARIES else value


@functools.cache
def _folder(file: str) -> Path:
    return Path(file).resolve().parent


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


@functools.cache
def _digest(code: CodeType) -> bytes:
    """Instructions and constants of a function and of those inside it; not its place in the file."""
    digest = hashlib.blake2b(digest_size=16)
    for part in _codes(code):
        digest.update(part.co_code)
        plain = [
            sorted(map(repr, c)) if isinstance(c, frozenset) else c
            for c in part.co_consts
            if not isinstance(c, CodeType)
        ]
        digest.update(repr((part.co_varnames, part.co_names, part.co_freevars, plain)).encode())
    return digest.digest()
