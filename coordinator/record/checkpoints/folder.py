"""Checkpoints in a folder: each written whole beside its place, then moved there; the newest two are kept.

    000000012000.checkpoint   the simulation as it stood at tick 12000, and the pieces with its samples: names and checksums
    000000012000.samples      what was recorded since the checkpoint before

Both are payloads (modular/payload.py): plain data and numbers with a checksum. Nothing in them is executed. A piece that is whole,
but not the one that a checkpoint was written with, is refused by its checksum. Where samples are recorded to disk a checkpoint
names the pieces there (coordinator/record/on_disk.py), and nothing is written twice.
"""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Mapping
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coordinator.record.checkpoints.simulation_as_data import check_keepable, simulation_as_data
from coordinator.record.context import RecordContext
from coordinator.record.on_disk import KEPT as RECORDED
from coordinator.record.on_disk import OnDisk, Piece, forget_islands, samples_since
from modular.errors import ModelError
from modular.files import put_in_place, remove
from modular.numbers import number
from modular.payload import packed

if TYPE_CHECKING:
    from coordinator.record.run import Run

CHECKPOINT_SECONDS = 60.0  # seconds of computing between two checkpoints
KEPT_CHECKPOINTS = 2  # the last may turn out to be damaged
SOON = 10.0  # seconds of computing that need no checkpoint where a run folder is written next
MAX_WRITING_SHARE = 0.05  # most of the time that writing may take
INSIDE = "checkpoints"  # where a run folder has them
HEAD, SAMPLES = ".checkpoint", ".samples"


class CheckpointWarning(UserWarning):
    """A checkpoint could not be written, or one that was written could not be read."""


class Checkpoints:
    """Where a simulation is kept while it runs, and how often [s of computing].

    `saved_next`: a run folder with everything recorded is written right after the run, and `lean_on_run` called then.
    """

    def __init__(self, folder: str | Path, every: float = CHECKPOINT_SECONDS, *, saved_next: bool = False) -> None:
        self.folder = Path(folder)
        self.saved_next = saved_next
        self.every = number(every, "Checkpoints: every", "s")
        if self.every < 0:
            raise ModelError(f"Checkpoints: every = {every!r} s; give a time from 0 on, such as every=60.")
        self._pieces: list[tuple[str, str]] = []  # files with samples in their order, and their checksums
        self._tick = -1  # of the last checkpoint
        self._written: tuple[int, int, float | None] | None = (
            None  # its tick, how many events there had been, and its goal
        )
        self._named: list[list[Piece]] = []  # pieces of a recording that the last checkpoints lean on
        self._mine = False  # whether the folder has been looked at, and taken
        self._last = time.monotonic()  # when there was nothing to lose
        self._next = self._last + self.every

    @classmethod
    def continued(
        cls, folder: Path, head: Mapping[str, Any], every: float = CHECKPOINT_SECONDS, *, saved_next: bool = False
    ) -> Checkpoints:
        """Those of a simulation that was read from there and goes on."""
        found = cls(folder, every, saved_next=saved_next)
        found._mine = True
        if isinstance(head["samples"], list):
            found._pieces, found._tick = [named(piece) for piece in head["samples"]], head["system"]["tick"]
        elif "pieces" in head["samples"]:
            found._named = [head["samples"]["pieces"]]
        return found

    def begin(self, simulation: RecordContext) -> None:
        """Refuse, before anything is computed, what could not be kept or would take the place of something else."""
        if self._mine:
            return
        check_keepable(simulation)
        if heads_in(self.folder):
            typed = f" or modular resume {self.folder.parent}" if self.folder.name == INSIDE else ""
            raise ModelError(
                f"'{self.folder}' holds checkpoints of another run; go on with that one by resume('{self.folder}'){typed}, "
                "or give another folder."
            )
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ModelError(
                f"checkpoints: cannot make the folder '{self.folder}' ({error.strerror}); give another."
            ) from error
        self._mine = True

    def if_due(self, simulation: RecordContext, until: float) -> None:
        """Write one if it is time; where that fails, say so and go on: the last one is still there."""
        if time.monotonic() >= self._next:
            self.try_to_write(simulation, until)

    def at_end(self, simulation: RecordContext, until: float) -> None:
        """Write one at the end of a run, unless little was computed since the last and a run folder with all of it comes next."""
        if not (self.saved_next and time.monotonic() - self._last < SOON):
            self.try_to_write(simulation, until)

    def try_to_write(self, simulation: RecordContext, until: float) -> None:
        """Write one, unless the last is of this very instant; a disk that is full does not end a run."""
        if self._written == (simulation.tick, len(simulation.events), until):
            return
        try:
            self.write(simulation, until)
        except ModelError as error:
            warnings.warn(f"{error} The run goes on; the checkpoint before is kept.", CheckpointWarning, stacklevel=5)

    def write(self, simulation: RecordContext, until: float | None = None) -> Path:
        """Write a checkpoint now; `until` is where the run was to end [s]."""
        self.begin(simulation)
        started, tick = time.monotonic(), simulation.tick
        data, arrays = simulation_as_data(simulation)
        if not simulation.whole:
            raise ModelError("checkpoint: the mechanism was lost with its workers.")
        pieces, storage = self._pieces, simulation.recorder.storage
        place = storage if isinstance(storage, OnDisk) and (storage.lasts or storage.folder == self.folder) else None
        try:
            if place is not None:
                named = place.pieces(simulation.recorder.taken.segments, RECORDED)
                data["samples"] = {"in": self._way_to(place.folder), "pieces": named}
                self._named = [*self._named, named][-KEPT_CHECKPOINTS:]
            elif tick != self._tick or not pieces:
                found, samples = samples_since(simulation.recorder.segments, max(self._tick, 0) if pieces else 0)
                name, piece = _free(self.folder, tick, pieces), packed(found, samples)
                put_in_place(self.folder / name, piece)
                pieces = [*pieces, (name, checksum(piece))]
            path = self.folder / f"{tick:012d}{HEAD}"
            put_in_place(path, packed({"samples": pieces, **data, "until": until}, arrays))
        except OSError as error:
            self._next = time.monotonic() + max(self.every, 1.0)
            raise ModelError(
                f"checkpoint at {simulation.time:.6g} s: '{self.folder}' cannot be written ({error.strerror})."
            ) from error
        self._pieces, self._tick, self._written = pieces, tick, (tick, len(simulation.events), until)
        for old in (*heads_in(self.folder)[KEPT_CHECKPOINTS:], *parts_in(self.folder)):
            remove(old)
        if place is not None:
            place.tidy(chain.from_iterable(self._named), RECORDED)
        self._last = time.monotonic()
        self._next = self._last + max(self.every, (self._last - started) / MAX_WRITING_SHARE)
        return path

    def _way_to(self, folder: Path) -> str:
        """From here to a recording; both may move together."""
        try:
            return Path(os.path.relpath(folder, self.folder)).as_posix()
        except ValueError:  # another drive
            return str(folder.resolve())

    def lean_on_run(self, simulation: RecordContext, until: float, run: Run) -> None:
        """The folder above holds the run with all its samples: one checkpoint without any is enough."""
        try:
            self._lean(simulation, until, run)
        except OSError as error:
            warnings.warn(
                f"checkpoint: '{self.folder}' cannot be written ({error.strerror}); those before are kept.",
                CheckpointWarning, stacklevel=2,
            )  # fmt: skip

    def _lean(self, simulation: RecordContext, until: float, run: Run) -> None:
        data, arrays = simulation_as_data(simulation)
        ends = len(run) - simulation.recorder.taken.count  # the sample of where it ended, which does not stay
        last = {"ticks": simulation.tick, "taken": len(run), "ends": ends, "digest": run.written_digest}
        path = self.folder / f"{simulation.tick:012d}{HEAD}"
        put_in_place(path, packed({**data, "samples": last, "until": until}, arrays))
        forget(self.folder, but=path)
        forget_islands(self.folder)
        self._pieces, self._tick, self._written = [], -1, None


def forget(folder: Path, but: Path | None = None) -> None:
    """Remove checkpoints, to make room for others; all but one, if any."""
    for path in [*heads_in(folder), *folder.glob(f"*{SAMPLES}"), *parts_in(folder)]:
        if path != but:
            remove(path)


def heads_in(folder: Path) -> list[Path]:
    """Checkpoints, the newest first."""
    return sorted(folder.glob(f"*{HEAD}"), reverse=True)


def parts_in(folder: Path) -> list[Path]:
    """What a process that was killed has left half written."""
    return [*folder.glob(f".*{HEAD}.part"), *folder.glob(f".*{SAMPLES}.part")]


def named(piece: Any) -> tuple[str, str]:
    """Name and checksum of a piece; modular 0.1 wrote no checksum beside the name."""
    name, expected = (piece, "") if isinstance(piece, str) else piece
    return str(name), str(expected)


def checksum(payload: bytes | memoryview) -> str:
    """The one at its end."""
    return bytes(payload[-8:]).hex()


def _free(folder: Path, tick: int, pieces: list[tuple[str, str]]) -> str:
    """A name for a piece: of its tick, unless a piece of a checkpoint that is kept has it."""
    taken = {name for name, _ in pieces}
    name, again = f"{tick:012d}{SAMPLES}", 0
    while name in taken:
        again += 1
        name = f"{tick:012d}-{again}{SAMPLES}"
    return name
