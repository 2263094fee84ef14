"""What workers and the coordinator say to each other.

Every message can be lost, doubled or late without harm: workers report how they stand, again and again, and the
coordinator answers with whatever they lack. `epoch` counts the starts of the coordinator; a worker does not listen to
an older one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from coordinator.protocol.plan import Kept, Member, Share
from coordinator.protocol.schema import (
    U32,
    Many,
    Mark,
    Milliseconds,
    Name,
    One,
    Reason,
    Step,
    YesNo,
    by_name,
    decode,
)

Members = Annotated[tuple[Member, ...], Many(Member, 1 << 14)]

# --- from a worker ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Hello:
    """A worker is there and wants to take part.

    Incarnation 0 stands for "whichever you wait for", said by workers that were started by hand. `token` is drawn by
    the process: of two that claim one incarnation the first is taken.
    """

    name: Name
    incarnation: U32
    token: Mark
    run: U32
    fingerprint: Reason  # versions of all that decides the bits
    model: Mark  # hash of the model
    address: Mark  # where neighbours find it


@dataclass(frozen=True)
class Progress:
    """How a worker stands: sent at intervals and whenever it reaches its horizon. It says all that a hello says."""

    name: Name
    incarnation: U32
    epoch: U32
    plan: U32
    step: Step
    exchanges: Step  # frames taken so far: a step may have many stages
    horizon: Step
    roster: U32
    prepared: U32  # version of a plan that waits for its commit, or 0
    waits_for: Mark  # name of a neighbour, or nothing
    waiting: Milliseconds


@dataclass(frozen=True)
class Checkpointed:
    """The state after `step` steps is on disk. `digest` is a hash of the state alone."""

    name: Name
    incarnation: U32
    step: Step
    digest: Mark


@dataclass(frozen=True)
class Answer:
    """Whether the worker can go over to a plan; a refusal says why."""

    name: Name
    incarnation: U32
    version: U32
    agreed: YesNo
    reason: Reason


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

    epoch: U32
    run: U32
    token: Mark  # of the process that is meant
    incarnation: U32
    number: U32
    every: U32  # steps between checkpoints; 0: none, the worker cannot be replaced
    horizon: Step
    report: Step
    roster: U32
    members: Members
    shares: Annotated[tuple[Share, ...], Many(Share, 1 << 14)]  # plans since the oldest checkpoint, in order
    kept: Annotated[tuple[Kept, ...], Many(Kept, 2)]  # checkpoints to resume from, newest first


@dataclass(frozen=True)
class Refused:
    """The worker has no place here, and why. It exits."""

    epoch: U32
    name: Name
    incarnation: U32
    token: Mark
    reason: Reason


@dataclass(frozen=True)
class Grant:
    """Run until `horizon` steps are done, and report when `report` are; holds for those who know the plan."""

    epoch: U32
    horizon: Step
    report: Step
    plan: U32


@dataclass(frozen=True)
class Roster:
    """Which incarnations of the neighbours count, and where they are. Older ones are not listened to any more."""

    epoch: U32
    number: U32
    members: Members


@dataclass(frozen=True)
class Prepare:
    """Look at a new plan, connect to its neighbours, and answer."""

    epoch: U32
    share: Annotated[Share, One(Share)]
    members: Members


@dataclass(frozen=True)
class Commit:
    """The plan holds from its start on."""

    epoch: U32
    share: Annotated[Share, One(Share)]
    members: Members


@dataclass(frozen=True)
class Abort:
    """The plan will not come; all stays as it is."""

    epoch: U32
    version: U32
    reason: Reason


@dataclass(frozen=True)
class Durable:
    """The checkpoint at `step` is in the journal; what only checkpoints before `forget` need may be forgotten."""

    epoch: U32
    step: Step
    forget: Step


@dataclass(frozen=True)
class Stop:
    """The run is over, and why."""

    epoch: U32
    reason: Reason


FromWorker = Hello | Progress | Checkpointed | Answer | Failed
FromCoordinator = Welcome | Refused | Grant | Roster | Prepare | Commit | Abort | Durable | Stop

_FROM_WORKER = by_name(Hello, Progress, Checkpointed, Answer, Failed)
_FROM_COORDINATOR = by_name(Welcome, Refused, Grant, Roster, Prepare, Commit, Abort, Durable, Stop)


def from_worker(raw: bytes) -> FromWorker:
    """What a worker says, or Malformed."""
    message: FromWorker = decode(raw, _FROM_WORKER)
    return message


def from_coordinator(raw: bytes) -> FromCoordinator:
    """What the coordinator says, or Malformed."""
    message: FromCoordinator = decode(raw, _FROM_COORDINATOR)
    return message
