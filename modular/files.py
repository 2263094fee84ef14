"""Files that are there wholly or not at all, whatever happens: written beside their place, made durable, then moved there.

A disk that is full, a process that is killed and a loss of power leave what stood there before. Where several files belong
together they are all written beside first; then they take their places one after the other, each move made durable before the
next. Cut in between, those that have not moved yet are still beside, whole (`part_of`), and whoever reads may take them.
"""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO

RESERVED_DISK_BYTES = 2**20  # bytes that are left free on a disk


def part_of(path: Path) -> Path:
    """Where a file is while it is written."""
    return path.with_name(f".{path.name}.part")


def put_in_place(path: Path, content: bytes) -> None:
    """Write a file so that it is there wholly or not at all."""
    with in_place({path: len(content)}) as (file,):
        file.write(content)


@contextmanager
def in_place(sizes: Mapping[Path, int]) -> Iterator[list[IO[bytes]]]:
    """Files of one folder to write, each with the bytes that it will have; they take their places in this order at the end."""
    try:
        check_room(next(iter(sizes)), sum(sizes.values()))
        with ExitStack() as opened:
            files = [opened.enter_context(open_anew(part_of(path))) for path in sizes]
            yield files
            for file in files:
                file.flush()
                make_durable(file.fileno())
    except BaseException as error:
        _give_up(sizes)
        if isinstance(error, OSError) and error.filename is None:
            error.filename = str(next(iter(sizes)))
        raise
    _take_places(list(sizes))


def _take_places(paths: Sequence[Path]) -> None:
    """Where the first cannot, none does; where a later one cannot, it is left beside, whole."""
    moved = False
    try:
        if len(paths) > 1:
            make_folder_durable(paths[0].parent)
        for path in paths:
            move(part_of(path), path)
            moved = True
            make_folder_durable(path.parent)
    except OSError:
        _give_up(() if moved else paths)
        raise


def _give_up(paths: Iterable[Path]) -> None:
    for path in paths:
        with suppress(OSError):
            remove(part_of(path))


def check_room(path: Path, size: int) -> None:
    """Refuse before anything is written what the disk cannot hold."""
    free = shutil.disk_usage(path.parent).free
    if size + RESERVED_DISK_BYTES > free:
        words = f"{os.strerror(errno.ENOSPC)}: {size / 1e6:.3g} MB are needed, {free / 1e6:.3g} MB are free"
        raise OSError(errno.ENOSPC, words, str(path))


# --- what is asked of the disk, and nothing else (tests/support/storage.py) ----------------------------------------------


def open_anew(path: Path) -> IO[bytes]:
    """An empty file."""
    return path.open("wb")


def make_durable(file: int) -> None:
    """What was written survives a loss of power."""
    os.fsync(file)


def make_folder_durable(folder: Path) -> None:
    """Names too survive it, where the system lets folders be asked for that."""
    if hasattr(os, "O_DIRECTORY"):
        opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)


def move(source: Path, target: Path) -> None:
    """A file takes the place of another."""
    source.replace(target)


def remove(path: Path) -> None:
    """A file goes, where it is there."""
    path.unlink(missing_ok=True)
