"""From which checkpoint a worker starts: the newest that can be read, else the one before it, else the start of the run."""

from __future__ import annotations

from collections.abc import Iterable

from coordinator.distributed.protocol.checkpoint import Snapshot, decode
from coordinator.distributed.protocol.errors import Malformed
from coordinator.distributed.protocol.plan import CheckpointRef


class Recovery:
    """Checkpoints to try, and why some of them could not be read."""

    def __init__(self, run: int, name: str, checkpoints: Iterable[CheckpointRef]) -> None:
        self.run, self.name = run, name
        self._left = list(checkpoints)
        self.unreadable: list[str] = []

    @property
    def candidate(self) -> CheckpointRef | None:
        """The checkpoint to try now, or None where all were tried."""
        return self._left[0] if self._left else None

    def read(self, ref: CheckpointRef, blob: bytes | None) -> Snapshot:
        """The candidate from its bytes, or Malformed."""
        where = f"checkpoint of '{self.name}' at step {ref.step}"
        if blob is None:
            raise Malformed(f"{where}: not there.")
        snapshot = decode(blob, where)
        if (snapshot.run, snapshot.name, snapshot.step) != (self.run, self.name, ref.step):
            raise Malformed(f"{where}: it is of '{snapshot.name}' at step {snapshot.step} of run {snapshot.run}.")
        if snapshot.digest != ref.digest:
            raise Malformed(f"{where}: the state has digest {snapshot.digest}; the coordinator has {ref.digest}.")
        return snapshot

    def pass_over(self, reason: Malformed) -> None:
        """The candidate is of no use; try the next one."""
        self._left.pop(0)
        self.unreadable.append(str(reason))
