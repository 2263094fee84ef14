"""Recording: preallocated arrays per segment, a segment lasting from one change of topology to the next.

The beginning of a list that only grows: as long as it was when somebody looked, and nothing is copied before somebody does.
"""

from __future__ import annotations

import shutil
import tempfile
import warnings
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, chain, groupby, islice
from math import inf
from pathlib import Path
from typing import Any, Generic, NamedTuple, Protocol, TypeVar, overload

import numpy as np
import psutil

from coordinator.engine.program import Operation, perform
from coordinator.system import System
from modular.elements import Array, Indices
from modular.errors import MemoryShortage, ModelError, StorageWarning
from modular.force import Forces

Entry = TypeVar("Entry")


class Beginning(Sequence[Entry]):
    """The first entries of a list to which others are only added, and what follows them here alone."""

    __slots__ = ("_after", "_count", "_entries")

    def __init__(self, entries: list[Entry], count: int, after: Sequence[Entry] = ()) -> None:
        self._entries, self._count, self._after = entries, count, after

    def __len__(self) -> int:
        return self._count + len(self._after)

    def __iter__(self) -> Iterator[Entry]:
        return chain(islice(self._entries, self._count), self._after)

    @overload
    def __getitem__(self, place: int) -> Entry: ...
    @overload
    def __getitem__(self, place: slice) -> list[Entry]: ...
    def __getitem__(self, place: int | slice) -> Entry | list[Entry]:
        if isinstance(place, slice):
            return list(self)[place]
        k = place + len(self) if place < 0 else place
        if not 0 <= k < len(self):
            raise IndexError(place)
        return self._entries[k] if k < self._count else self._after[k - self._count]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, list | Beginning) and list(self) == list(other)

    def __repr__(self) -> str:
        return repr(list(self))

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy has entries of its own, and no others."""
        return list, (list(self),)

    __hash__ = None  # type: ignore[assignment]


class Listed(Generic[Entry]):
    """A field that may be given a beginning: a list of its own from when it is read."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, owner: object, kind: type) -> list[Entry]:
        if owner is None:
            return ()  # type: ignore[return-value]  # what a dataclass takes for the default
        entries = vars(owner)[self._name]
        if not isinstance(entries, list):
            entries = vars(owner)[self._name] = list(entries)
        return entries

    def __set__(self, owner: object, entries: Sequence[Entry]) -> None:
        vars(owner)[self._name] = entries


SEGMENT_BYTES = 2**24  # bytes of a segment that goes to disk, about
# samples where nobody said how many will come, as far as so many bytes hold them
INITIAL_SAMPLES, INITIAL_BYTES = 64, 2**20


class Stored(NamedTuple):
    """Where a segment lies on disk."""

    folder: str
    name: str
    checksum: str
    place: int  # among the segments of that file


class Storage(Protocol):
    """Where finished segments go (coordinator/record/on_disk.py)."""

    folder: Path

    def take(self, segment: Segment) -> None:
        """Put one away, now or later; it shows the same numbers."""


@dataclass
class Segment:
    """States of a fixed set of components; the first axis of every array is time."""

    ticks: Indices
    bodies: list[tuple[list[str], dict[str, Array]]]
    joints: list[tuple[list[str], dict[str, Array]]]
    forces: list[tuple[list[str], dict[str, Array]]]
    closed: dict[str, Array] = field(default_factory=dict)  # final ledgers of joints and forces that went before
    used: int = 0
    finished: bool = False  # another one has begun: what it holds stays
    stored: Stored | None = None
    _rows: dict[str, dict[str, tuple[int, int]]] = field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    def capacity(self) -> int:
        """Samples it can hold."""
        return len(self.ticks)

    def series(self, part: str, name: str) -> tuple[dict[str, Array], int] | None:
        """Of one of the "bodies", "joints" or "forces" its table and its row there; None where it was not there."""
        rows = self._rows.get(part)
        if rows is None:
            groups = enumerate(getattr(self, part))
            rows = self._rows[part] = {name: (k, row) for k, (names, _) in groups for row, name in enumerate(names)}
        place = rows.get(name)
        return None if place is None else (getattr(self, part)[place[0]][1], place[1])

    def trimmed(self, samples: int | None = None, *, apart: bool = False) -> Segment:
        """Only the samples taken so far, or so many of them; `apart`: in memory of their own."""
        n = self.used if samples is None else samples

        def cut(part: list[tuple[list[str], dict[str, Array]]]) -> list[tuple[list[str], dict[str, Array]]]:
            return [(names, {key: first(array) for key, array in series.items()}) for names, series in part]

        def first(array: Any) -> Any:
            return array[:n].copy() if apart else array[:n]

        return Segment(
            first(self.ticks), cut(self.bodies), cut(self.joints), cut(self.forces), self.closed, n, self.finished,
            self.stored,
        )  # fmt: skip

    def finish(self) -> None:
        """Nothing more comes; what was kept free for it is given back where it is most of all: each event ends a segment."""
        kept = self.trimmed(apart=2 * self.used < self.capacity)
        self.ticks, self.bodies, self.joints, self.forces = kept.ticks, kept.bodies, kept.joints, kept.forces
        self.finished = True


class Taken:
    """Segments with samples, and how many samples there were before each: what is asked of them costs the same however many."""

    def __init__(self, segments: list[Segment], starts: list[int]) -> None:
        self.segments, self.starts = segments, starts

    @classmethod
    def of(cls, segments: Sequence[Segment]) -> Taken:
        """Those that somebody has put together."""
        return cls(list(segments), [0, *accumulate(segment.used for segment in segments)][: len(segments)])

    @property
    def count(self) -> int:
        """Samples."""
        return self.starts[-1] + self.segments[-1].used if self.segments else 0

    def where(self, numbers: Sequence[int]) -> Iterator[tuple[Segment, int, Indices]]:
        """The segments of samples, given by their numbers in order: how many there were before, and which of its own."""
        for k, group in groupby(numbers, lambda number: bisect_right(self.starts, number) - 1):
            yield self.segments[k], self.starts[k], np.array(list(group)) - self.starts[k]


class Recorder:
    """Takes a sample at every `every`-th tick.

    Where a run ends at another one, a sample of that belongs to what is told of this run alone: what is recorded does not depend on
    the parts in which a simulation is run, nor on who keeps it on the way.
    """

    def __init__(self, every: int) -> None:
        self.every = every
        self.storage: Storage | None = None  # where finished segments go, if not into memory
        self.spare: Path | None = None  # a folder for them, should memory get short
        self._taken = Taken([], [])
        self._version = -1
        self._expected = 1
        self._end: Segment | None = None  # where a run has ended between two samples

    @property
    def segments(self) -> list[Segment]:
        """All that was recorded; the last one may still grow."""
        return self._taken.segments

    @segments.setter
    def segments(self, segments: Sequence[Segment]) -> None:
        self._taken = Taken.of(list(segments))
        for segment in segments[:-1]:
            segment.finish()
        self._version = -1

    @property
    def taken(self) -> Taken:
        """All segments that hold samples."""
        self.prune()
        return self._taken

    def so_far(self, end: Segment | None = None) -> Sequence[Segment]:
        """What was recorded, as it stays whatever comes, and where a run ended; segments that are finished are shared."""
        segments = self.taken.segments
        ends = [] if end is None else [end]
        return Beginning(segments, len(segments) - 1, [segments[-1].trimmed(), *ends]) if segments else ends

    def end_of_run(self, system: System) -> Segment | None:
        """A sample of where a run has ended, if that is no tick to record; it does not stay when the simulation goes on."""
        if system.tick % self.every == 0 or system.part > 0.0:
            return None
        if self._end is None or self._end.ticks[0] != system.tick:
            perform(system.elements, self.program(system))
            self._end = self._open(system, 1)
            self._fill(system, self._end, 0)
            self._end.finish()
        return self._end

    def expect(self, system: System, ticks: int) -> None:
        """Announce a stretch of ticks: what would not fit in memory goes to disk; what would not fit there is refused."""
        self._expected = ticks // self.every + 2
        needed = self.sample_size(system) * self._expected
        free = psutil.virtual_memory().available if self.storage is None else inf
        disk = self.spare or tempfile.gettempdir() if self.storage is None else self.storage.folder
        room = shutil.disk_usage(disk).free if self.storage is not None or needed > 0.8 * free else inf
        if self.storage is None and 0.8 * free < needed <= room:
            self._spill(f"recording {needed / 1e9:.3g} GB, and {free / 1e9:.3g} GB of memory are free", stacklevel=5)
        if needed > min(0.8 * free if self.storage is None else inf, room):
            where, left = ("memory", free) if self.storage is None else (f"'{self.storage.folder}'", room)
            every = int(np.ceil(self.every * needed / (0.5 * left)))
            raise MemoryShortage(
                f"recording {self._expected:,} samples of {self.sample_size(system) / 1e3:.1f} kB needs {needed / 1e9:.1f} GB, and "
                f"{left / 1e9:.1f} GB are free in {where}; record less often, as with record_every={every} (on the command line "
                f"--record-every {every}), run in parts, or record to a larger disk with run(…, record_to=DIR)."
            )

    def put_on(self, storage: Storage) -> None:
        """From here on finished segments go there; so do those that there are."""
        self.storage = storage
        for segment in self.segments[:-1]:
            if segment.stored is None or segment.stored.folder != str(storage.folder):
                storage.take(segment)

    def _spill(self, why: str, stacklevel: int) -> None:
        """Put samples on a disk for a while, where there is one, because memory gets short."""
        from coordinator.record.on_disk import OnDisk  # which knows segments, and so later

        try:
            place = OnDisk.for_a_while() if self.spare is None else OnDisk(self.spare, lasts=False)
        except (OSError, ModelError):
            return
        until = (
            "Save the run at the end" if self.spare else "They exist as long as this process: save the run at the end"
        )
        warnings.warn(
            f"{why}: samples go to disk, in '{place.folder}'. {until}, or give it a folder of its own by run(…, record_to=DIR).",
            StorageWarning,
            stacklevel=stacklevel,
        )
        self.put_on(place)

    def expect_more(self, system: System, ticks: int, most: float) -> int:
        """For a run whose end nobody knows: announce a stretch when the last one is full, longer ones as it goes on; how far to go.

        `most`: bytes of samples that are announced at once.
        """
        limit = max(INITIAL_SAMPLES, int(most / self.sample_size(system)))
        if self._version != system.version or not self.segments:
            self.expect(system, min(ticks, limit * self.every))
        elif (last := self.segments[-1]).used == last.capacity:
            self.expect(system, min(max(ticks, 2 * last.capacity * self.every), limit * self.every))
        return min(ticks, limit * self.every)

    @staticmethod
    def sample_size(system: System) -> int:
        """Bytes of one sample."""
        numbers = sum(array.size for bodies in system.bodies for array in bodies.state().values())
        numbers += sum(joints.count * (2 * joints.form.rows + 6 + joints.ledger.shape[1]) for joints in system.joints)
        numbers += sum(array.size for forces in system.forces for array in _shown_by(forces).values())
        return 8 * (int(numbers) + 1)

    def record(self, system: System) -> None:
        """Take a sample if this tick is one to record; a sample of the same tick is replaced (the state after an event)."""
        self._end = None
        if system.tick % self.every:
            return
        perform(system.elements, self.program(system))
        self.prune()
        while self.segments and (last := self.segments[-1]).ticks[last.used - 1] == system.tick:
            if last.finished:  # runs share it, and the list
                self._taken = Taken([*self.segments[:-1], last.trimmed(last.used - 1)], list(self._taken.starts))
            else:
                last.used -= 1
            self.prune()
        segment = self.prepare(system)
        self._fill(system, segment, segment.used)
        self.took(1)

    def _fill(self, system: System, segment: Segment, place: int) -> None:
        """Put a sample in its place."""
        segment.ticks[place] = system.tick
        for source, target in self._pairs(system, segment):
            target[place] = source
        segment.used = place + 1

    def took(self, samples: int) -> None:
        """So many of the announced samples have been taken."""
        self._expected = max(self._expected - samples, 1)

    def prepare(self, system: System) -> Segment:
        """A segment with room for one more sample of the present components."""
        if self._version != system.version or not self.segments or self.segments[-1].used == self.segments[-1].capacity:
            self.prune()
            if self.segments and not self.segments[-1].finished:
                self.segments[-1].finish()
                if self.storage is not None:
                    self.storage.take(self.segments[-1])
            opened = self._opened(system)
            self._taken.starts.append(self._taken.count)
            self.segments.append(opened)
            self._version = system.version
        return self.segments[-1]

    def prune(self) -> None:
        """Forget a segment that holds no sample."""
        if self.segments and not self.segments[-1].used:
            self.segments.pop()
            self._taken.starts.pop()
            self._version = -1

    def program(self, system: System) -> list[Operation]:
        """What has to be worked out for a sample: errors, their rates and reactions of the joints."""
        return [(joints, verb) for joints in system.joints for verb in ("linearise", "measure_rates", "wrenches")]

    def _pairs(self, system: System, segment: Segment) -> Iterator[tuple[Array, Array]]:
        """What is copied, and the series it goes to, in which the first axis is time."""
        for bodies, (_, series) in zip(system.bodies, segment.bodies, strict=True):
            for key, array in bodies.state().items():
                yield array, series[key]
        for joints, (_, series) in zip(system.joints, segment.joints, strict=True):
            n = joints.count
            yield joints.error[:n], series["violation"]
            yield joints.rate[:n], series["violation_rate"]
            yield joints.wrench[:n], series["reaction"]
            yield joints.ledger[:n], series["ledger"]
        for forces, (_, series) in zip(system.forces, segment.forces, strict=True):
            for key, array in _shown_by(forces).items():
                yield array, series[key]

    def copies(self, system: System) -> list[tuple[int, int, int, int]] | None:
        """The same for compiled code: address, bytes, address of the first sample and bytes between samples.

        None where a source does not lie in one piece, is made anew each time it is asked for, or holds other numbers than its
        series.
        """
        found = []
        for (source, target), (again, _) in zip(
            self._pairs(system, self.segments[-1]), self._pairs(system, self.segments[-1]), strict=True
        ):
            if not source.flags.c_contiguous or source.ctypes.data != again.ctypes.data or source.dtype != target.dtype:
                return None
            found.append((source.ctypes.data, source.nbytes, target.ctypes.data, target.strides[0]))
        return found

    def _opened(self, system: System) -> Segment:
        try:
            return self._open(system)
        except MemoryError:
            if self.storage is None:
                self._spill("no memory is left for samples", stacklevel=8)
            if self.storage is None:
                raise
            return self._open(system)

    def _open(self, system: System, samples: int | None = None) -> Segment:
        size = max(self._expected, min(INITIAL_SAMPLES, INITIAL_BYTES // self.sample_size(system)))
        if self.storage is not None:
            size = max(1, min(size, SEGMENT_BYTES // self.sample_size(system)))
        size = size if samples is None else samples
        bodies = [
            (list(stack.names), {key: np.empty((size, *array.shape)) for key, array in stack.state().items()})
            for stack in system.bodies
        ]
        joints = []
        for stack in system.joints:
            n, rows = stack.count, stack.form.rows
            widths = {
                "violation": rows, "violation_rate": rows, "reaction": stack.wrench.shape[1],
                "ledger": stack.ledger.shape[1],
            }  # fmt: skip
            joints.append((list(stack.names), {key: np.empty((size, n, width)) for key, width in widths.items()}))
        forces = [
            (list(stack.names), {key: np.empty((size, *array.shape)) for key, array in _shown_by(stack).items()})
            for stack in system.forces
        ]
        closed = {name: row.copy() for name, row in system.closed.items()}
        return Segment(np.empty(size, np.int64), bodies, joints, forces, closed)


def _shown_by(forces: Forces) -> dict[str, Array]:
    """What a stack of forces leaves in a sample: its ledgers, what is needed to tell what it exerts, and what it records."""
    columns = ("ledger", *getattr(forces, "recorded", ()), *getattr(forces, "error_columns", ()))
    return {name: getattr(forces, name)[: forces.count] for name in columns}
