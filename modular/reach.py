"""What the names in a function stand for: of its module, of what surrounds it, and of modules of which it may ask anything."""

from __future__ import annotations

import sys
import time as clock
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

from modular.instructions import bare_names, codes, digest_of, globals_of, imported_in, of_code
from modular.libraries import PACKAGES, is_library, top
from modular.own_packages import is_own_source

WHOLE = " and all in it"  # follows the name of a module of which anything may be asked
STARTED = clock.time()  # what was written later may have been read before
# words with which a function may read what it does not name
LOOKS_AROUND = frozenset(
    ("globals", "vars", "getattr", "eval", "exec", "__import__", "locals", "dir", "importlib", "sys")
)


class Indescribable(Exception):
    """A value that a kernel reaches and whose content cannot be told: what it is, and where it was met."""

    def __init__(self, what: str, where: str = "") -> None:
        super().__init__(what, where)

    def __str__(self) -> str:
        return "".join(self.args)


def contents_of_module(name: str) -> bytes:
    """Digest of all instructions and constants of a module, from its file, which has to be as it was when this process began."""
    spec = sys.modules[name].__spec__ if name in sys.modules else find_spec(name)
    file = spec and spec.has_location and spec.origin
    if file and not is_own_source(file) and Path(file).stat().st_mtime > STARTED:
        raise Indescribable(f"the module '{name}', whose file was written since this process began")
    code = getattr(spec and spec.loader, "get_code", lambda name: None)(name)
    if code is None:
        raise Indescribable(f"the module '{name}', of which there is no code")
    return of_code(code)


def names(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """What the names in a function stand for: of its module, of what surrounds it, and of modules that it names."""
    codes_inside = list(codes(function.__code__))
    found = [
        (name, function.__globals__[name])
        for code in codes_inside
        for name in globals_of(code)
        if name in function.__globals__
    ]
    found = sorted(dict(found).items()) + list(around(function))
    yield from found
    asked = sorted({name for code in codes_inside for name in code.co_names})
    modules = [(name, value) for name, value in found if isinstance(value, ModuleType)]
    yield from _whole_modules(function, codes_inside, modules)
    seen: set[int] = set()
    while modules:
        path, module = modules.pop()
        if id(module) in seen or is_library(module.__name__):
            continue
        seen.add(id(module))
        inside = [(f"{path}.{name}", vars(module)[name]) for name in asked if name in vars(module)]
        modules += [(name, value) for name, value in inside if isinstance(value, ModuleType)]
        yield from inside


def _whole_modules(
    function: FunctionType, codes_inside: list[CodeType], modules: list[tuple[str, ModuleType]]
) -> Iterator[tuple[str, Any]]:
    """Modules of which a function may ask anything: those it hands on, has in a closure, imports, or looks around in."""
    if is_own_source(function.__code__.co_filename):
        return
    bare = frozenset().union(*map(bare_names, codes_inside)) | {name for name, _ in around(function)}
    yield from ((name + WHOLE, module) for name, module in modules if name in bare and not is_library(module.__name__))
    for name in sorted(frozenset().union(*map(imported_in, codes_inside))):
        if not is_library(name):
            yield name + WHOLE, sys.modules.get(name) or import_module(name)
    home = sys.modules.get(function.__module__)
    if LOOKS_AROUND & frozenset(name for code in codes_inside for name in code.co_names) and home is not None:
        yield function.__module__ + WHOLE, home


def codes_behind(module: ModuleType) -> list[bytes]:
    """Digests of the code of a module and of all modules that it has anything from, but those that are known by a version."""
    found: dict[str, bytes] = {}
    waiting = [module]
    while waiting:
        each = waiting.pop()
        name = each.__name__
        if name in found:
            continue
        file = getattr(each, "__file__", None) or ""
        if is_library(name) or set(Path(file).parts) & set(PACKAGES):
            found[name] = str(getattr(sys.modules.get(top(name)), "__version__", "")).encode()
            continue
        found[name] = contents_of_module(name)
        for value in vars(each).values():
            home = value if isinstance(value, ModuleType) else sys.modules.get(getattr(value, "__module__", None) or "")
            if home is not None and home.__name__ not in found:
                waiting.append(home)
    return [digest_of(name, found[name]) for name in sorted(found)]


def around(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """What surrounds a function, where it is filled already."""
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            yield name, cell.cell_contents
        except ValueError:
            continue
