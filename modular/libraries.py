"""What is known by its version: Python's own modules and the libraries that compile; not a file of ours that has such a name."""

from __future__ import annotations

import functools
import sys
import sysconfig
from importlib.util import find_spec
from pathlib import Path
from types import FunctionType
from typing import Any

LIBRARIES = ("numba", "numpy", "llvmlite")  # known by their versions
STANDARD = sys.stdlib_module_names  # known by the version of Python
PACKAGES = ("site-packages", "dist-packages")  # folders of installed packages, some of which lie among Python's own


def top(module: str | None) -> str:
    """The package of a module."""
    return (module or "").partition(".")[0]


@functools.cache
def _folders() -> tuple[Path, ...]:
    """Where Python's own modules lie."""
    return tuple({Path(sysconfig.get_path(name)).resolve() for name in ("stdlib", "platstdlib")})


@functools.cache
def _library_folders() -> tuple[Path, ...]:
    """Where libraries lie."""
    found = []
    for name in LIBRARIES:
        spec = find_spec(name)
        found += [Path(place).resolve() for place in (spec.submodule_search_locations or [] if spec else [])]
    return tuple(found)


@functools.cache
def is_library_file(file: str) -> bool:
    """Whether a file is Python's own, or of a library."""
    if file.startswith("<frozen "):
        return True
    path = Path(file).resolve()
    within = (path.relative_to(folder).parts for folder in _folders() if path.is_relative_to(folder))
    return _in_a_library(path) or any(not set(parts) & set(PACKAGES) for parts in within)


def _in_a_library(path: Path) -> bool:
    return any(path.is_relative_to(folder) for folder in _library_folders())


def is_library(module: str | None) -> bool:
    """Whether a module is of Python or of a library, and not merely named like one."""
    package = top(module)
    if package in LIBRARIES:
        return True
    return package in STANDARD and _is_own_of_python(package, sys.modules.get(package))


def _is_own_of_python(name: str, module: Any) -> bool:
    if module is None:
        return False
    file = getattr(module, "__file__", None)
    if file is not None:
        return is_library_file(file)
    origin = getattr(getattr(module, "__spec__", None), "origin", None)
    return name in sys.builtin_module_names or origin in ("built-in", "frozen")


def is_library_function(function: FunctionType) -> bool:
    """By where its instructions were written: a wrapper takes over the module of what it wraps."""
    return is_library_file(function.__code__.co_filename)


def is_in_a_library(function: FunctionType) -> bool:
    """Whether a function is of a library that compiles: then its version tells its closure too."""
    return _in_a_library(Path(function.__code__.co_filename).resolve())


def found_by_name(value: Any) -> bool:
    """Whether a library knows this value under the name that it says it has."""
    home = sys.modules.get(getattr(value, "__module__", None) or "")
    name = getattr(value, "__qualname__", None) or getattr(value, "__name__", None)
    if home is None or not isinstance(name, str):
        return False
    found: Any = home
    for part in name.split("."):
        found = getattr(found, part, None)
    return found is value
