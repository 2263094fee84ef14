"""Compiled kernels: one decorator, one cache, no surprises.

A kernel is written for one component on its own row; a loop in the same file runs it over the stack. No
fastmath and no BLAS inside: results must not depend on the machine's library.

Machine code is kept on disk under what a kernel is made of (modular/kept_code.py), in a folder that carries the fingerprint of
what all kernels have in common: the compiler, its settings, and the few files of ours that make code for it.
"""

from __future__ import annotations

import functools
import hashlib
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, overload

import llvmlite
import numba
import numpy as np
import platformdirs
from numba.core import config

import modular.first_use  # listens to the compiler  # noqa: F401
from modular.contents import GENERATORS
from modular.dispatcher import dispatch
from modular.kept_code import KeptCode
from modular.kernel_store import KernelStore, cannot_keep, open_store
from modular.own_packages import ROOT
from modular.reach import contents_of_module
from modular.target import choose_target

Function = TypeVar("Function", bound=Callable[..., Any])
# settings of numba that change the code
SETTINGS = ("BOUNDSCHECK", "CPU_FEATURES", "CPU_NAME", "DEBUGINFO_DEFAULT", "ENABLE_AVX", "LLVM_REFPRUNE_PASS", "LOOP_VECTORIZE",
            "OPT", "SLP_VECTORIZE", "USING_SVML")  # fmt: skip
SHIPPED = ROOT / "modular" / "kernels"  # code that a release brings along (docs/releasing.md)

# what generates code, as it is read now: who edits it while a process runs does not change what that process makes
GENERATING = [contents_of_module(name) for name in GENERATORS]

choose_target()


@overload
def kernel(function: Function, *, apart: bool = False) -> Function: ...
@overload
def kernel(*, written_out: bool = True, apart: bool = False) -> Callable[[Function], Function]: ...
def kernel(function: Any = None, *, written_out: bool = True, apart: bool = False) -> Any:
    """Compile `function` on first use and keep the machine code on disk.

    Whole numbers that are written out in a call, as shapes of blocks are, make a form of their own, with loops as long as they say;
    with `written_out=False` one form serves all. A kernel is built into each place that calls it; one that is long and called from
    several is better `apart`: a loop has it once, and jumps there.
    """
    if function is None:
        return functools.partial(kernel, written_out=written_out, apart=apart)
    compiled = dispatch(function, written_out, apart)
    if has_file(function) and compiled is not function:
        compiled.keep_in(functools.partial(KeptCode, stores))
    return compiled


def has_file(function: Callable[..., Any]) -> bool:
    """Whether a function stands in a file; what is typed in is compiled in memory."""
    return Path(function.__code__.co_filename).is_file()


def stores() -> list[KernelStore]:
    """Where machine code lies: what a release brought along, then what this user has compiled."""
    own = own_store()
    return [*_shipped(), *([own] if own is not None else [])]


def own_store() -> KernelStore | None:
    """The folder of this user for compiled code; None where none can be had."""
    root = os.environ.get("MODULAR_CACHE_DIR") or platformdirs.user_cache_dir("modular-multibody")
    if root.startswith("~"):  # nobody's home is known
        cannot_keep(Path(root), "no such home")
        return None
    return _opened(Path(root).absolute() / "machine-code", compiler())


_opened = functools.cache(open_store)


@functools.cache
def _shipped() -> list[KernelStore]:
    folder = SHIPPED / compiler()
    return [KernelStore(folder, shipped=True)] if folder.is_dir() else []


def anything_kept() -> bool:
    """Whether machine code of kernels lies on disk."""
    return any(store.anything() for store in stores())


@functools.cache
def compiler() -> str:
    """Fingerprint of what turns kernels into machine code: versions, settings, and our own files that generate code."""
    versions = (sys.implementation.cache_tag, sys.abiflags if hasattr(sys, "abiflags") else "", numba.__version__)
    settings = [(name, repr(getattr(config, name, None))) for name in SETTINGS]
    words = (versions, llvmlite.__version__, np.__version__, settings)
    digest = hashlib.blake2b(repr(words).encode(), digest_size=12)
    for made_by in GENERATING:
        digest.update(made_by)
    return digest.hexdigest()
