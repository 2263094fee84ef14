"""What the compiler was taught beside what it brings: how functions, attributes and methods are made, by us and by others."""

from __future__ import annotations

import sys
from types import FunctionType
from typing import Any

from numba.core.typing.templates import builtin_registry

from modular.libraries import is_library, is_library_function
from modular.own_packages import is_own_source

SETTINGS = ("_attr", "_jit_options", "_inline", "prefer_literal")  # of what was registered

_overloads: dict[int, list[FunctionType]] = {}
_foreign: list[Any] = []
_read = {"globals": 0, "functions": 0, "attributes": 0}  # how much of numba's register has been looked at


def _look() -> None:
    """Take in what was registered since the last look."""
    for part, start in _read.items():
        registered = getattr(builtin_registry, part)
        for entry in registered[start:]:
            known, kind = entry if part == "globals" else (None, entry)
            for template in getattr(kind, "templates", (kind,)):
                _take(known, template)
        _read[part] = len(registered)


def _take(known: Any, template: Any) -> None:
    """One template: of a function that is `known`, or of an attribute, a method or some other function."""
    made = getattr(template, "_overload_func", None)
    if not isinstance(made, FunctionType):
        if known is None and _is_foreign(module := sys.modules.get(template.__module__)):
            _foreign.append(module)
        return
    if is_library_function(made):
        return
    if known is not None:
        _overloads.setdefault(id(known), []).append(made)
    if not is_own_source(made.__code__.co_filename):
        of = known or template.key
        words = {word: str(getattr(template, word, "")) for word in SETTINGS}
        _foreign.append((made, {**words, "of": getattr(of, "__name__", str(of))}))


def _is_foreign(module: Any) -> bool:
    return (
        module is not None
        and not is_library(module.__name__)
        and not is_own_source(getattr(module, "__file__", "") or "")
    )


def overloads_of(value: Any) -> list[FunctionType]:
    """Functions that tell the compiler what to make of this one, in the order in which they were registered."""
    _look()
    return _overloads.get(id(value), [])


def foreign() -> list[Any]:
    """What was registered by neither us nor a library: with what, and of modules that teach it otherwise, these."""
    _look()
    return _foreign
