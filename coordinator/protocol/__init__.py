"""The protocol of distributed runs, without any input or output: bytes and times go in, requests come out.

No socket, no file, no clock, no thread, no physics. `Worker` and `Coordinator` are the two cores, `Link` is one end of an
edge between two workers; `effects` lists what they ask of their owners.
"""

from coordinator.protocol.coordinator import Coordinator
from coordinator.protocol.deadlines import Deadlines
from coordinator.protocol.errors import Malformed, RunFailed
from coordinator.protocol.link import Link
from coordinator.protocol.plan import Edge, Kept, Member, Neighbour, Plan
from coordinator.protocol.worker import State, Worker

__all__ = [
    "Coordinator",
    "Deadlines",
    "Edge",
    "Kept",
    "Link",
    "Malformed",
    "Member",
    "Neighbour",
    "Plan",
    "RunFailed",
    "State",
    "Worker",
]
