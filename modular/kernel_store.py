"""Kernel store: bytes by name in a folder, whole and ours.

Numba unpickles what it loads, so whoever can write to the folder can run code. Folders are made for their owner alone, and one
that somebody else owns or may write to is refused with a sentence; so is every file in it. Each file carries a checksum of what
follows it: what was damaged is as if it were not there, and is made again. Files are written beside and renamed, so several
processes may begin with an empty folder.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
import re
import shutil
import stat
import time as clock
import uuid
from pathlib import Path

MIN_KEPT_FOLDERS, MAX_UNUSED_DAYS = 4, 30.0  # folders that stay in any case; how long code stays after its last use
SECONDS_PER_DAY = 86400.0
FINGERPRINT = re.compile(r"[0-9a-f]{24}")
SUFFIX = ".kernel"
MARK, CHECKSUM = b"modular kernel 1\n", 32  # what a file begins with; bytes of the digest that follows

_log = logging.getLogger("modular")
_warned: set[str] = set()


class KernelStore:
    """Files of one folder; `shipped`: it came with the package, and is only read."""

    def __init__(self, folder: Path, shipped: bool = False) -> None:
        self.folder, self.shipped = folder, shipped

    def load(self, name: str) -> bytes | None:
        """What is kept under this name; None where there is nothing, or nothing that is whole and ours."""
        path = self.folder / name
        try:
            with path.open("rb") as file:
                if not (self.shipped or trusted(os.fstat(file.fileno()))):
                    return None
                data = file.read()
            if not self.shipped:
                _mark_as_used(path)
        except OSError:
            return None
        return unsealed(name, data)

    def has(self, name: str) -> bool:
        """Whether there is a file of this name; not whether it is whole."""
        return (self.folder / name).is_file()

    def save(self, name: str, content: bytes) -> None:
        """Keep it: beside first, then renamed, so that whoever reads at the same time finds all or nothing."""
        if self.shipped:
            return
        beside = self.folder / f"{name}.tmp.{uuid.uuid4().hex[:16]}"
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            try:
                flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
                with os.fdopen(os.open(beside, flags, 0o600), "wb") as file:
                    file.write(sealed(name, content))
                beside.replace(self.folder / name)
            except BaseException:
                beside.unlink(missing_ok=True)
                raise
        except OSError as error:
            cannot_keep(self.folder.parent, error.strerror or str(error))

    def anything(self) -> bool:
        """Whether any machine code lies in it."""
        return self.folder.is_dir() and any(self.folder.glob(f"*{SUFFIX}"))


def sealed(name: str, content: bytes) -> bytes:
    """Content behind a checksum, of its name too: a file that was renamed is none of ours."""
    return MARK + hashlib.blake2b(name.encode() + b"\n" + content, digest_size=CHECKSUM).digest() + content


def unsealed(name: str, data: bytes) -> bytes | None:
    """The content of a file, None where it is not what was written."""
    content = data[len(MARK) + CHECKSUM :]
    return content if data == sealed(name, content) else None


def trusted(found: os.stat_result) -> bool:
    """Whether a file or folder belongs to this user, or to the administrator, and nobody else may write to it."""
    if not hasattr(os, "geteuid"):
        return True  # Windows: folders of a user are guarded by the system
    return found.st_uid in (os.geteuid(), 0) and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def open_store(root: Path, fingerprint: str) -> KernelStore | None:
    """The store for code of this fingerprint, made and marked as used; None, and a warning, where it cannot be had."""
    folder = root / fingerprint
    try:
        for place in (root, folder):
            if not place.is_dir():
                place.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not trusted(place.stat()):
                cannot_keep(
                    root,
                    f"{place} belongs to another user, or others can write to it; if it is yours, run chmod 700 on it",
                )
                return None
        tidy(root)
        probe = folder / f"probe-{uuid.uuid4().hex}"
        probe.touch()
        probe.unlink(missing_ok=True)
    except OSError as error:
        store = KernelStore(folder)
        if folder.is_dir() and trusted(folder.stat()) and store.anything():
            return store  # made by the administrator: good for reading
        cannot_keep(root, error.strerror or str(error))
        return None
    with contextlib.suppress(OSError):
        os.utime(folder)
    return KernelStore(folder)


def cannot_keep(place: Path, reason: str) -> None:
    """Say once why every start will have to wait."""
    if str(place) not in _warned:
        _warned.add(str(place))
        _log.warning(
            "compiled code cannot be cached in %s (%s), so every start compiles again; set MODULAR_CACHE_DIR to "
            "another folder",
            place, reason,
        )  # fmt: skip


def tidy(root: Path) -> list[Path]:
    """Remove what nobody has used for a month: folders of other versions but the newest few, and files; what was removed.

    A folder is renamed before it is emptied, so nobody finds half of it. Looked at once a day.
    """
    last = root / "tidied"
    with contextlib.suppress(OSError):
        if clock.time() - last.stat().st_mtime < SECONDS_PER_DAY:
            return []
    last.touch()
    folders = []
    for folder in root.iterdir():
        with contextlib.suppress(OSError):
            if FINGERPRINT.fullmatch(folder.name) and folder.is_dir() and not folder.is_symlink():
                folders.append((folder.stat().st_mtime, folder))
    removed, since = [], clock.time() - MAX_UNUSED_DAYS * SECONDS_PER_DAY
    for place, (used, folder) in enumerate(sorted(folders, reverse=True)):
        if place >= MIN_KEPT_FOLDERS and used < since:
            with contextlib.suppress(OSError):
                aside = folder.rename(root / f"old-{uuid.uuid4().hex}")
                shutil.rmtree(aside, ignore_errors=True)
                removed.append(folder)
            continue
        stale = [file for file in folder.glob(f"*{SUFFIX}*") if _last_used(file) < since]  # half written ones too
        for file in stale:
            with contextlib.suppress(OSError):
                file.unlink()
                removed.append(file)
        if stale:
            os.utime(folder, (used, used))
    return removed


def _last_used(file: Path) -> float:
    with contextlib.suppress(OSError):
        return file.stat().st_mtime
    return clock.time()  # somebody else has just removed it


def _mark_as_used(path: Path) -> None:
    """Its time says when it was last used, to the day."""
    with contextlib.suppress(OSError):
        if clock.time() - path.stat().st_mtime > SECONDS_PER_DAY:
            os.utime(path)
