"""Folders for a while: they go with the process that made them, or, where that was killed, when the next one is made.

A process holds a lock in each of its folders, which goes with it however it ends; on systems without such locks nobody looks for
folders that were left behind.
"""

from __future__ import annotations

import atexit
import os
import shutil
import socket
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

if sys.platform != "win32":
    import fcntl

LOCK = ".in-use"
SETTLED_SECONDS = 60.0  # a folder that is younger may be about to be locked
_held: dict[Path, tuple[int, int | None]] = {}  # who made each, and the open file that holds its lock


def folder_for_a_while(prefix: str, place: Path | None = None) -> Path:
    """A new one that nobody else may enter, in the folder of the system for such or in another; `prefix` is how its name begins,
    and those of no other kind of folder.
    """
    place = Path(tempfile.gettempdir()) if place is None else place
    _remove_left_behind(place, prefix)
    folder = Path(tempfile.mkdtemp(prefix=prefix, dir=place))
    _held[folder] = os.getpid(), _locked(folder / LOCK)
    return folder


@atexit.register
def remove_all() -> None:
    """Remove those of this process; a process that is to end at once calls it first."""
    for folder in list(_held):
        let_go(folder)


def let_go(folder: Path) -> None:
    """Remove one of this process; in a child of a fork, where it is its parent's, it stays."""
    if _held.get(folder, (None, None))[0] != os.getpid():
        return
    _, lock = _held.pop(folder, (None, None))
    shutil.rmtree(folder, ignore_errors=True)
    if lock is not None:
        os.close(lock)


def _locked(path: Path) -> int | None:
    if sys.platform == "win32":
        return None
    number = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(number, fcntl.LOCK_EX)
        os.write(number, socket.gethostname().encode())
    except OSError:  # a file system without such locks: nobody looks for what is left behind
        os.close(number)
        path.unlink(missing_ok=True)
        return None
    return number


def _remove_left_behind(place: Path, prefix: str) -> None:
    """Those of processes that are no more; what cannot be looked at is somebody else's."""
    if sys.platform == "win32":
        return
    for folder in place.glob(f"{prefix}*"):
        with suppress(OSError):
            if time.time() - folder.stat().st_mtime < SETTLED_SECONDS:
                continue
            number = os.open(folder / LOCK, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
            try:
                fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)  # fails while its process lives
                if os.read(number, 256) != socket.gethostname().encode():
                    continue  # locks of another machine may not be seen here
                shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(number)
