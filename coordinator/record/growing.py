"""A run folder that grows while the run goes on: finished segments are in it already, and now and then its text follows."""

from __future__ import annotations

import time
from pathlib import Path

from coordinator.record.archive import ABOUT, write_pieces
from coordinator.record.context import RecordContext
from coordinator.record.on_disk import OnDisk
from modular.errors import ModelError

MIN_WRITE_SECONDS = 2.0  # seconds between two texts, at least
MAX_WRITING_SHARE = 0.02  # most of the time that they may take


class Growing:
    """The folder of a run that goes on."""

    def __init__(self, place: OnDisk) -> None:
        self.place = place
        self._next = time.monotonic() + MIN_WRITE_SECONDS

    def if_due(self, simulation: RecordContext) -> None:
        """Let the text follow, if it is time."""
        if time.monotonic() >= self._next:
            self.write(simulation)

    def write(self, simulation: RecordContext) -> None:
        """All that was recorded so far."""
        started = time.monotonic()
        run = simulation.past.run(simulation)
        write_pieces(self.place, {**run.about, "digest": None}, run.segments)
        self._next = time.monotonic() + max(MIN_WRITE_SECONDS, (time.monotonic() - started) / MAX_WRITING_SHARE)


def recording(simulation: RecordContext, folder: str | Path | None) -> Growing | None:
    """The folder that is asked for, or the one that an earlier run of this simulation was given; refused where it is taken."""
    recorder = simulation.recorder
    if folder is not None and (recorder.storage is None or recorder.storage.folder != Path(folder)):
        if (Path(folder) / ABOUT).exists():
            raise ModelError(
                f"record_to: '{folder}' holds another run; give a folder of its own, such as record_to='{folder}-2'."
            )
        recorder.put_on(OnDisk(Path(folder)))
    place = recorder.storage
    return Growing(place) if isinstance(place, OnDisk) and place.lasts else None
