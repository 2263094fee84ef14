"""The protocol of distributed runs, without any input or output: bytes and times go in, requests come out.

No socket, no file, no clock, no thread, no physics. `Worker` and `Coordinator` are the two cores, `Link` is one end of an
edge between two workers; `effects` lists what they ask of their owners.
"""

from coordinator.distributed.protocol.coordinator import Coordinator
from coordinator.distributed.protocol.deadlines import Deadlines
from coordinator.distributed.protocol.link import Link
from coordinator.distributed.protocol.plan import CheckpointRef, Edge, Member, Neighbour, Plan
from coordinator.distributed.protocol.worker import State, Worker
from modular.errors import Malformed, RunFailed

__all__ = [
    "CheckpointRef",
    "Coordinator",
    "Deadlines",
    "Edge",
    "Link",
    "Malformed",
    "Member",
    "Neighbour",
    "Plan",
    "RunFailed",
    "State",
    "Worker",
]
