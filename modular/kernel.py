"""Compiled kernels: one decorator, one cache, no surprises.

A kernel is written for one component on its own row; a loop in the same file runs it over the stack. No
fastmath and no BLAS inside: results must not depend on the machine's library.

Machine code is kept on disk (modular/kept_code.py) in a folder that carries a fingerprint of *all* sources a kernel may
call: ours, and the Python files beside the kernel's own file and beside those of the kernels it calls. An edit anywhere
opens a fresh folder.
"""

from __future__ import annotations

import functools
import hashlib
import os
import platform
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
import numpy as np
import platformdirs

import modular.first_use  # listens to the compiler  # noqa: F401
from modular.kept_code import SUFFIX, KeptCode, cannot_keep, open_folder
from modular.reach import HOUSE, PACKAGES, in_house, origins

__all__ = ["HOUSE", "PACKAGES", "anything_kept", "cache_folder", "fingerprint", "kernel"]

Function = TypeVar("Function", bound=Callable[..., Any])


def kernel(function: Function) -> Function:
    """Compile `function` on first use and keep the machine code on disk."""
    compiled = numba.njit(nogil=True, error_model="numpy", forceinline=True)(function)
    file = Path(function.__code__.co_filename)
    if file.is_file():  # what is typed in has no file, and is compiled in memory
        beside = [] if in_house(file.resolve().parent) else sorted(origins(function))
        compiled._cache = KeptCode(function, functools.partial(cache_folder, fingerprint(*beside)))
    return cast(Function, compiled)


def cache_folder(of: str) -> Path | None:
    """Folder for the machine code of kernels with this fingerprint; None where none can be made."""
    root = os.environ.get("MODULAR_CACHE_DIR") or platformdirs.user_cache_dir("modular-multibody")
    if root.startswith("~"):  # nobody's home is known
        cannot_keep(Path(root), OSError("no such home"))
        return None
    return _opened(Path(root).absolute() / "kernels", of)


_opened = functools.cache(open_folder)


def anything_kept() -> bool:
    """Whether machine code of our own kernels lies on disk."""
    folder = cache_folder(fingerprint())
    return folder is not None and any(folder.glob(f"*{SUFFIX}"))


def fingerprint(*beside: Path) -> str:
    """Hash of everything that compiled code in `beside` may depend on, as the files are now."""
    digest = hashlib.blake2b(_of_house(), digest_size=12)
    for folder in beside:
        if not in_house(folder):
            _feed(digest, sorted(folder.glob("*.py")))
    return digest.hexdigest()


@functools.cache
def _of_house() -> bytes:
    """Our sources, as they were when they were imported, the versions and the platform."""
    digest = hashlib.blake2b(digest_size=12)
    digest.update(repr((sys.version, numba.__version__, np.__version__, platform.machine())).encode())
    _feed(digest, [file for package in PACKAGES for file in sorted((HOUSE / package).rglob("*.py"))])
    return digest.digest()


def _feed(digest: Any, files: list[Path]) -> None:
    for file in files:
        digest.update(file.name.encode())
        digest.update(file.read_bytes())
