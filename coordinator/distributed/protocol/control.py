"""What workers and the coordinator say to each other in a run; which run it is, the owners see to.

Every message can be lost, doubled or late without harm: workers report how they stand, again and again, and the
coordinator answers with whatever they lack.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from coordinator.distributed.protocol.plan import CheckpointRef, Member, Neighbour
from coordinator.distributed.protocol.schema import U32, Many, Mark, Milliseconds, Name, Reason, Step, by_name, decode

Members = Annotated[tuple[Member, ...], Many(Member, 1 << 14)]

# --- from a worker ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Hello:
    """A worker is there and wants to take part."""

    name: Name
    incarnation: U32
    address: Mark  # where neighbours find it


@dataclass(frozen=True)
class Progress:
    """How a worker stands: sent at intervals and when it reaches its horizon."""

    name: Name
    incarnation: U32
    step: Step
    exchanges: Step  # frames taken so far: a step may have many stages
    roster: U32
    waits_for: Mark  # name of a neighbour, or nothing
    waiting: Milliseconds


@dataclass(frozen=True)
class Checkpointed:
    """The state after `step` steps is kept. `digest` is a hash of the state alone."""

    name: Name
    incarnation: U32
    step: Step
    digest: Mark


@dataclass(frozen=True)
class Failed:
    """The worker cannot go on, and why."""

    name: Name
    incarnation: U32
    step: Step
    reason: Reason


# --- from the coordinator -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Welcome:
    """All that a worker needs to start, or to take the place of its predecessor."""

    incarnation: U32
    number: U32
    every: U32  # steps between checkpoints
    horizon: Step
    roster: U32
    members: Members
    neighbours: Annotated[tuple[Neighbour, ...], Many(Neighbour, 1 << 14)]
    # checkpoints to resume from, newest first
    checkpoints: Annotated[tuple[CheckpointRef, ...], Many(CheckpointRef, 2)]


@dataclass(frozen=True)
class Grant:
    """Run until `horizon` steps are done."""

    horizon: Step


@dataclass(frozen=True)
class Roster:
    """Which incarnations of the neighbours count, and where they are. Older ones are not listened to any more."""

    number: U32
    members: Members


@dataclass(frozen=True)
class Durable:
    """The checkpoint at `step` is known; what only checkpoints before `forget` need may be forgotten."""

    step: Step
    forget: Step


@dataclass(frozen=True)
class Stop:
    """The run cannot go on, and why."""

    reason: Reason


FromWorker = Hello | Progress | Checkpointed | Failed
FromCoordinator = Welcome | Grant | Roster | Durable | Stop

_FROM_WORKER = by_name(Hello, Progress, Checkpointed, Failed)
_FROM_COORDINATOR = by_name(Welcome, Grant, Roster, Durable, Stop)


def from_worker(raw: bytes) -> FromWorker:
    """What a worker says, or Malformed."""
    message: FromWorker = decode(raw, _FROM_WORKER)
    return message


def from_coordinator(raw: bytes) -> FromCoordinator:
    """What the coordinator says, or Malformed."""
    message: FromCoordinator = decode(raw, _FROM_COORDINATOR)
    return message
