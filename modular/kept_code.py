"""Kept code: the machine code of kernels on disk, one file for each kernel and layout.

Numba's own cache asks only whether the file of the cached function itself has changed, and finds machine code through an
index that two processes may write at the same time, each over the other. Here the name of a file says all that its
content depends on: the folder carries the fingerprint of all sources (modular/kernel.py), the name that of the types, of
the processor and of what the kernel reaches in memory (modular/reach.py). So files are only ever added, several
processes may begin with an empty cache, and an edited kernel is never answered with old code. Where nothing can be kept, or
what was kept is broken, code is made in memory.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
import re
import shutil
import time as clock
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

from numba.core.caching import CompileResultCacheImpl, FunctionCache, IndexDataCacheFile
from numba.core.runtime import rtsys

from modular.reach import essence

NEWEST, DAYS = 4, 30.0  # folders that stay in any case; how long the others stay after their last use
FINGERPRINT = re.compile(r"[0-9a-f]{24}")
SUFFIX = ".kernel"
OF_NUMBA = re.compile(r"_?(NRT_|numba).*")
AT_HAND = re.compile(r"NRT_.*|numba_(do_raise|unpickle|gil_ensure|gil_release|runtime_build_excinfo_struct)")

_log = logging.getLogger("modular")
_told: set[str] = set()


class KeptCode(FunctionCache):  # type: ignore[misc]
    """What numba asks for machine code, and gives it to."""

    def __init__(self, function: Callable[..., Any], folder: Callable[[], Path | None]) -> None:
        self._py_func, self._name = function, repr(function)
        self._folder = folder  # asked when code is first needed: importing a kernel touches no disk
        self._impl = Portable()
        self._kept: Drawer | None = None
        self.enable()

    @property
    def cache_path(self) -> str:
        """The folder, empty where nothing is kept."""
        return str(self._folder() or "")

    @property
    def _cache_file(self) -> Drawer:
        if self._kept is None:
            self._kept = Drawer(self._folder(), self._py_func)
        return self._kept

    def load_overload(self, types: Any, context: Any) -> Any:
        """What is kept; numba would first gather all that it knows to compile, which takes longer than loading."""
        with self._guard_against_spurious_io_errors():
            return self._load_overload(types, context)

    def _save_overload(self, types: Any, made: Any) -> None:
        if self._enabled and self._impl.check_cachable(made):
            self._cache_file.save(self._index_key(types, made.codegen), self._impl.reduce(made))

    def flush(self) -> None:
        """Code that is kept is never wrong, so it stays."""


class Portable(CompileResultCacheImpl):  # type: ignore[misc]
    """How compiled code is taken apart and put together."""

    def __init__(self) -> None:
        """Numba would look for a folder of its own here."""

    def reduce(self, made: Any) -> Any:
        """Its parts, and what of numba's own it calls."""
        return called(made.library), super().reduce(made)

    def rebuild(self, context: Any, parts: Any) -> Any:
        """Put it together, where what it calls can be found."""
        needed, parts = parts
        if needed:
            rtsys.initialize(context)  # arrays and their memory
        if not all(map(AT_HAND.fullmatch, needed)):
            context.refresh()
        return super().rebuild(context, parts)

    def check_cachable(self, made: Any) -> bool:
        """Not where an address of this process is in it."""
        return not made.lifted and not made.library.has_dynamic_globals


class Drawer(IndexDataCacheFile):  # type: ignore[misc]
    """The files of one kernel."""

    def __init__(self, folder: Path | None, function: Callable[..., Any]) -> None:
        self._folder, self._function = folder, function

    def save(self, key: tuple[Any, ...], data: Any) -> None:
        """Write beside, then rename: whoever reads at the same time finds all or nothing."""
        if self._folder is None:
            return
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            self._save_data(self._file(key), data)
        except OSError as error:
            cannot_keep(self._folder.parent, error)

    def load(self, key: tuple[Any, ...]) -> Any:
        """What is kept for these types; None where there is nothing that can be read."""
        if self._folder is None:
            return None
        try:
            return self._load_data(self._file(key))
        except FileNotFoundError:
            return None
        except Exception:  # half a file after a loss of power, or of another numba: it is made again
            return None

    def _file(self, key: tuple[Any, ...]) -> str:
        assert self._folder is not None
        types, machine, codes = key
        words = repr((str(types), machine, codes)).encode() + essence(self._function)
        file, digest = Path(self._function.__code__.co_filename), hashlib.blake2b(words, digest_size=12).hexdigest()
        name = f"{file.stem}.{self._function.__name__}.{digest}{SUFFIX}"
        return str(self._folder / name)

    def _data_path(self, name: str) -> str:
        return name


def called(library: Any) -> list[str]:
    """Functions and data of numba's own that machine code needs."""
    module = library._final_module
    parts = (*module.functions, *module.global_variables)
    return sorted(part.name for part in parts if part.is_declaration and OF_NUMBA.fullmatch(part.name))


def cannot_keep(place: Path, error: OSError) -> None:
    """Say once why every start will have to wait."""
    if str(place) not in _told:
        _told.add(str(place))
        _log.warning(
            "compiled code cannot be kept in %s (%s), so every start compiles anew; name another folder in MODULAR_CACHE_DIR",
            place, error.strerror or error,
        )  # fmt: skip


def open_folder(root: Path, fingerprint: str) -> Path | None:
    """The folder for code of this fingerprint, made and marked as used; None, and a warning, where it cannot be made."""
    folder = root / fingerprint
    try:
        if not folder.is_dir():
            folder.mkdir(parents=True, exist_ok=True)
            tidy(root)
        probe = folder / f"probe-{uuid.uuid4().hex}"
        probe.touch()
        probe.unlink(missing_ok=True)
    except OSError as error:
        if folder.is_dir() and any(folder.glob(f"*{SUFFIX}")):
            return folder  # made by somebody who may write here: good for reading
        cannot_keep(root, error)
        return None
    with contextlib.suppress(OSError):
        os.utime(folder)
    return folder


def tidy(root: Path) -> list[Path]:
    """Remove the code of sources that are long gone; what was removed.

    The newest few stay, and so does all that was used of late. A folder is renamed before it is emptied, so nobody finds
    half of it; a process that still works there makes its code in memory, or the folder anew.
    """
    used = []
    for folder in root.iterdir():
        with contextlib.suppress(OSError):
            if FINGERPRINT.fullmatch(folder.name) and folder.is_dir() and not folder.is_symlink():
                used.append((folder.stat().st_mtime, folder))
    removed = []
    for last, folder in sorted(used, reverse=True)[NEWEST:]:
        if last < clock.time() - DAYS * 86400.0:
            with contextlib.suppress(OSError):
                aside = folder.rename(root / f"old-{uuid.uuid4().hex}")
                shutil.rmtree(aside, ignore_errors=True)
                removed.append(folder)
    return removed
