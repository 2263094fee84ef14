"""A worker process, and a distribution of the mechanism to all of them, as the coordinator knows them."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from coordinator.distributed import protocol
from coordinator.distributed.workers.process_monitor import ProcessMonitor
from coordinator.distributed.workers.worker_pool import AdvanceResult
from coordinator.record.recorder import Segment

RETRY_INTERVAL = 0.5  # until a worker is told again what it may not have heard, at first [s]


@dataclass
class WorkerHandle:
    """A worker as the coordinator knows it."""

    name: str
    number: int
    launched: int = 0  # how many processes have been started
    alive: bool = False
    died: int = 0  # how many have ended since one of them has last done what it was asked for
    identity: bytes = b""  # of the process that is there
    pid: int | None = None
    monitor: ProcessMonitor | None = None  # where it can be felt
    acting: int = 0  # incarnation in the present run
    has_shard: bool = False
    wanted: bool = False  # whether it has to begin as soon as it is there
    again_at: float = math.inf  # when it is told so again, if it has not heard it [s]
    patience: float = RETRY_INTERVAL  # until then, the next time
    leaves: bool = False  # whether it has said that it has to go
    missed_at: float = math.inf  # when somebody is told that it has not come [s]
    gone_at: float = math.inf  # since when there is no connection to it [s]
    probed_at: float = -math.inf  # when that was last looked at [s]
    halt: AdvanceResult | None = None
    samples: list[Segment] | None = None
    said: int = 0  # bytes of them
    state: bytes = b""
    facts: dict[str, float] = field(default_factory=dict)  # how the worker did, as it last said
    before: dict[str, float] = field(default_factory=dict)  # how it did before bodies changed hands


@dataclass
class ProtocolRun:
    """One distribution of the mechanism to workers."""

    core: protocol.Coordinator
    number: int
    tick: int  # at which it began
    starts: list[bytes] = field(default_factory=list)  # how each worker stood then, where not as in its shard
    blobs: dict[tuple[str, int, int], bytes] = field(default_factory=dict)  # checkpoints by name, step and incarnation

    def store(self, name: str, step: int, incarnation: int, blob: bytes) -> None:
        """Keep a checkpoint of a worker, and no longer those from which it will never start again."""
        oldest = self.core.registry[name].checkpoints[-1].step
        for key in [key for key in self.blobs if key[0] == name and key[1] < oldest]:
            del self.blobs[key]
        self.blobs[name, step, incarnation] = blob
