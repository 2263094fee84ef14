"""Compiled kernels: one decorator, one cache, no surprises.

A kernel is written for one component on its own row; a loop in the same file runs it over the stack. No
fastmath and no BLAS inside: results must not depend on the machine's library.

Numba checks only the file of the cached function itself: editing a callee would leave its cached caller stale,
silently. So the cache folder carries a fingerprint of *all* sources a kernel may call (ours, and the Python files
beside the kernel's own file and beside those of the kernels it calls), of the versions and of the platform: an edit
anywhere opens a fresh folder.
"""

from __future__ import annotations

import functools
import hashlib
import os
import platform
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar, cast

import numba
import numpy as np
import platformdirs
from numba.core import config
from numba.core.dispatcher import Dispatcher

Function = TypeVar("Function", bound=Callable[..., Any])

HOUSE = Path(__file__).resolve().parent.parent
PACKAGES = ("modular", "components", "coordinator")


def kernel(function: Function) -> Function:
    """Compile `function` on first use and keep the machine code on disk."""
    options = {"nogil": True, "error_model": "numpy"}
    folder = cache_folder(*sorted(origins(function)))
    if folder is None:
        return cast(Function, numba.njit(**options)(function))
    before = config.CACHE_DIR
    config.CACHE_DIR = str(folder)  # read while decorating only; other users of numba keep their own
    try:
        return cast(Function, numba.njit(cache=True, **options)(function))
    finally:
        config.CACHE_DIR = before


def origins(function: Callable[..., Any], seen: frozenset[object] = frozenset()) -> frozenset[Path]:
    """Folders of a kernel's source and of those of the kernels that it calls, wherever they lie."""
    code, named = function.__code__, function.__globals__
    found = frozenset({Path(code.co_filename).resolve().parent})
    values = [named[name] for name in code.co_names if name in named]
    modules = [value for value in values if isinstance(value, ModuleType)]
    values += [getattr(module, name, None) for module in modules for name in code.co_names]
    for value in values:
        if isinstance(value, Dispatcher) and value.py_func not in seen:
            found |= origins(value.py_func, seen | {function})
    return found


@functools.cache
def cache_folder(*beside: Path) -> Path | None:
    """Folder for the machine code of kernels in `beside`; None where nothing can be written."""
    root = os.environ.get("MODULAR_CACHE_DIR") or platformdirs.user_cache_dir("modular-multibody")
    folder = Path(root) / "kernels" / fingerprint(*beside)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return None
    return folder if os.access(folder, os.W_OK) else None


@functools.cache
def fingerprint(*beside: Path) -> str:
    """Hash of everything that compiled code in `beside` may depend on."""
    digest = hashlib.blake2b(digest_size=12)
    digest.update(repr((sys.version, numba.__version__, np.__version__, platform.machine())).encode())
    sources = [file for package in PACKAGES for file in sorted((HOUSE / package).rglob("*.py"))]
    for folder in beside:
        if not any(folder.is_relative_to(HOUSE / package) for package in PACKAGES):
            sources += sorted(folder.glob("*.py"))
    for file in sources:
        digest.update(file.name.encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()
