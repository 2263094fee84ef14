"""Samples on disk while a run goes on: segments that are finished go into pieces, and stay readable there without memory.

    run.json                  what the run is, and its pieces by name and checksum; written again as it grows
    samples/000001.samples    payloads (modular/payload.py) of some megabytes, whole and never changed
    samples/last-000007.samples   what had not filled one yet when the text was written; kept-000008.samples: a checkpoint

A segment that has been put away shows the numbers of its file: they are mapped, and read when somebody asks for them.

Segments of samples as data and arrays: a layout says what each array is.

A piece is what a recorder has taken since a tick, and all pieces can be put together again. It holds everything from its first tick
on, also the sample of that very tick: it may have been taken anew after an event.
"""

from __future__ import annotations

import tempfile
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from errno import ENOMEM
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import psutil
from platformdirs import user_cache_path

from coordinator.record.recorder import Segment, Stored
from coordinator.record.series import PARTS
from modular.errors import MemoryShortage, ModelError
from modular.files import in_place, part_of, remove
from modular.payload import chunks, unpacked
from modular.temporary import folder_for_a_while, let_go


def segments_as_data(segments: Sequence[Segment]) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The layout of segments, and their arrays by name."""
    arrays: dict[str, Any] = {}
    layout = []
    for s, segment in enumerate(segments):
        arrays[f"{s}.ticks"] = segment.ticks
        for part in PARTS:
            for k, (_, series) in enumerate(getattr(segment, part)):
                arrays.update({f"{s}.{part}.{k}.{key}": array for key, array in series.items()})
        layout.append(
            {part: [[names, list(series)] for names, series in getattr(segment, part)] for part in PARTS}
            | {"closed": {name: row.tolist() for name, row in segment.closed.items()}}
        )
    return layout, arrays


def segments_from_data(layout: Sequence[Mapping[str, Any]], arrays: Mapping[str, Any]) -> list[Segment]:
    """The segments that were described."""
    segments = []
    for s, about in enumerate(layout):
        parts = {
            part: [
                (names, {key: arrays[f"{s}.{part}.{k}.{key}"] for key in keys})
                for k, (names, keys) in enumerate(about[part])
            ]
            for part in PARTS
        }
        ticks = arrays[f"{s}.ticks"]
        closed = {name: np.array(row) for name, row in about["closed"].items()}
        segments.append(Segment(ticks, parts["bodies"], parts["joints"], parts["forces"], closed, len(ticks)))
    return segments


def samples_since(segments: Sequence[Segment], tick: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """A piece: samples of `tick` and later."""
    found: list[Segment] = []
    goes_on = False
    for segment in segments:
        start = int(np.searchsorted(segment.ticks[: segment.used], tick))
        if start < segment.used:
            goes_on = goes_on or (not found and start > 0)
            found.append(_part(segment, slice(start, segment.used)))
    layout, arrays = segments_as_data(found)
    return {"from": tick, "goes on": goes_on, "layout": layout}, arrays


def put_together(pieces: Iterable[tuple[dict[str, Any], dict[str, Any]]]) -> list[Segment]:
    """Segments from pieces in their order."""
    found: list[list[Segment]] = []  # parts of each segment
    for data, arrays in pieces:
        found = [kept for parts in found if (kept := _before(parts, data["from"]))]
        fresh = [[segment] for segment in segments_from_data(data["layout"], arrays)]
        if data["goes on"] and found and fresh:
            found[-1] += fresh.pop(0)
        found += fresh
    return [_joined(parts) for parts in found]


def _part(segment: Segment, samples: slice) -> Segment:
    def cut(part: list[tuple[list[str], dict[str, Any]]]) -> list[tuple[list[str], dict[str, Any]]]:
        return [(names, {key: array[samples] for key, array in series.items()}) for names, series in part]

    ticks = segment.ticks[samples]
    return Segment(ticks, cut(segment.bodies), cut(segment.joints), cut(segment.forces), segment.closed, len(ticks))


def _before(parts: list[Segment], tick: int) -> list[Segment]:
    """What was sampled before a tick."""
    cut = [_part(segment, slice(0, int(np.searchsorted(segment.ticks, tick)))) for segment in parts]
    return [segment for segment in cut if segment.used]


def _joined(parts: list[Segment]) -> Segment:
    if len(parts) == 1:
        return parts[0]

    def join(kind: str) -> list[tuple[list[str], dict[str, Any]]]:
        stacks = [getattr(segment, kind) for segment in parts]
        return [
            (names, {key: np.concatenate([stack[k][1][key] for stack in stacks]) for key in series})
            for k, (names, series) in enumerate(stacks[0])
        ]

    ticks = np.concatenate([segment.ticks for segment in parts])
    return Segment(ticks, join("bodies"), join("joints"), join("forces"), parts[0].closed, len(ticks))


PIECE_BYTES = 2**25  # bytes of a piece, about
INSIDE, SAMPLES = "samples", ".samples"
LAST, KEPT = "last-", "kept-"  # beginnings of names: pieces that go when a text or a checkpoint names others
IN_MEMORY = ("tmpfs", "ramfs")  # file systems that are no help

Piece = list[Any]  # name, checksum, and which of its segments, with how many samples: as in run.json


class OnDisk:
    """Where the segments of a recorder go."""

    def __init__(self, folder: Path, *, lasts: bool = True) -> None:
        """`lasts`: whether it is there for others to read; otherwise it goes with the recorder."""
        self.folder, self.lasts = folder, lasts
        self._waiting: list[Segment] = []  # finished, and not yet enough for a piece
        try:
            (folder / INSIDE).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ModelError(f"'{folder / INSIDE}' cannot be made ({error.strerror}); give another folder.") from error

    @classmethod
    def for_a_while(cls) -> OnDisk:
        """In a folder that goes with what was recorded there."""
        place = Path(tempfile.gettempdir())
        if kind_of(place) in IN_MEMORY:
            place = user_cache_path("modular", ensure_exists=True)
        found = cls(folder_for_a_while("modular-samples-", place), lasts=False)
        weakref.finalize(found, let_go, found.folder)  # what is mapped can still be read
        return found

    def take(self, segment: Segment) -> None:
        """One that is finished; those that fill a piece are put away."""
        self._waiting.append(segment)
        if sum(map(size_of, self._waiting)) >= PIECE_BYTES:
            self.put_away()

    def put_away(self) -> None:
        """All that wait, into one piece."""
        waiting = self._waiting
        path, checksum = self._write(waiting, "")
        try:
            there = mapped(path, checksum)
        except OSError as error:  # where what is mapped counts as memory, as with ulimit -v
            if error.errno != ENOMEM:
                raise
            remove(path)  # it stays in memory, and is written again when there is room
            raise MemoryShortage(
                f"recording: samples in '{self.folder}' cannot be mapped: this process may have no more address space. What was "
                "recorded is kept; raise the limit (ulimit -v, or the memory of the job), or record less often."
            ) from error
        for k, (segment, kept) in enumerate(zip(waiting, there, strict=True)):
            segment.ticks, segment.bodies, segment.joints, segment.forces = (
                kept.ticks, kept.bodies, kept.joints, kept.forces,
            )  # fmt: skip
            segment.stored = Stored(str(self.folder), path.name, checksum, k)
        self._waiting = []

    def pieces(self, segments: Sequence[Segment], kind: str = LAST) -> list[Piece]:
        """All samples as pieces in this folder: those that are there, and one more, of a kind, of what is not."""
        found: list[Piece] = []
        for there, group in groupby(segments, self._home):
            if there:
                found += [
                    [name, checksum, [[one.stored.place, one.used] for one in some if one.stored is not None]]
                    for (name, checksum), some in _by_piece(group)
                ]
            else:
                for some in paged(group):
                    path, checksum = self._write(some, kind)
                    found.append([path.name, checksum, [[k, one.used] for k, one in enumerate(some)]])
        return found

    def tidy(self, pieces: Iterable[Piece], kind: str = LAST) -> None:
        """Remove pieces of a kind that nobody names any more."""
        named = {name for name, *_ in pieces}
        for path in pieces_in(self.folder):
            if path.name.startswith(kind) and path.name not in named:
                remove(path)

    def _home(self, segment: Segment) -> bool:
        return segment.stored is not None and segment.stored.folder == str(self.folder)

    def _write(self, segments: Sequence[Segment], kind: str) -> tuple[Path, str]:
        layout, arrays = segments_as_data(segments)
        content = chunks({"layout": layout}, arrays)
        numbers = [int(path.stem.rpartition("-")[2]) for path in pieces_in(self.folder)]
        path = self.folder / INSIDE / f"{kind}{max(numbers, default=0) + 1:06d}{SAMPLES}"
        try:
            with in_place({path: sum(map(len, content))}) as (file,):
                file.writelines(content)
        except OSError as error:
            raise ModelError(
                f"recording: '{path}' cannot be written ({error.strerror}). What was recorded is kept; make room, "
                "or record less often."
            ) from error
        return path, bytes(content[-1]).hex()


def paged(segments: Iterable[Segment]) -> Iterator[list[Segment]]:
    """As many at a time as make a piece."""
    some: list[Segment] = []
    for segment in segments:
        some.append(segment)
        if sum(map(size_of, some)) >= PIECE_BYTES:
            yield some
            some = []
    if some:
        yield some


def read_pieces(folder: Path, pieces: Sequence[Piece]) -> list[Segment]:
    """Segments from pieces, as they were written; their numbers stay on disk. Those of pieces that go are to be put away again."""
    found = []
    for name, checksum, places in pieces:
        segments = mapped(folder / INSIDE / str(name), str(checksum))
        for place, used in places:
            segment = segments[place].trimmed(used)
            if not str(name).startswith((LAST, KEPT)):
                segment.stored = Stored(str(folder), str(name), str(checksum), place)
            found.append(segment)
    return found


def mapped(path: Path, checksum: str) -> list[Segment]:
    """The segments of a piece; read once, to see that it is whole."""
    content = np.memmap(path, np.uint8, "r").data
    if bytes(content[-8:]).hex() != checksum:
        raise ModelError(f"'{path}' contains other samples than those written with the run.")
    data, arrays = unpacked(content, f"'{path}'")
    segments = segments_from_data(data["layout"], arrays)
    for segment in segments:
        segment.finished = True
    return segments


def pieces_in(folder: Path) -> list[Path]:
    """Files with samples."""
    return sorted((folder / INSIDE).glob(f"*{SAMPLES}"))


def forget_islands(folder: Path) -> None:
    """Remove them, of a run that is not there any more."""
    for path in pieces_in(folder):
        remove(path)
        remove(part_of(path))
    if (folder / INSIDE).is_dir() and not any((folder / INSIDE).iterdir()):
        (folder / INSIDE).rmdir()


def size_of(segment: Segment) -> int:
    """Bytes of its samples."""
    series = [
        array for part in (segment.bodies, segment.joints, segment.forces) for _, s in part for array in s.values()
    ]
    return segment.ticks.nbytes + sum(array.nbytes for array in series)


def kind_of(place: Path) -> str:
    """The file system of a folder, as far as the system tells."""
    try:
        mounts = {Path(disk.mountpoint): disk.fstype for disk in psutil.disk_partitions(all=True)}
    except (OSError, NotImplementedError):
        return ""
    return next((mounts[folder] for folder in (place.resolve(), *place.resolve().parents) if folder in mounts), "")


def _by_piece(segments: Iterable[Segment]) -> Iterable[tuple[tuple[str, str], Iterable[Segment]]]:
    return groupby(segments, lambda one: (one.stored.name, one.stored.checksum) if one.stored is not None else ("", ""))
