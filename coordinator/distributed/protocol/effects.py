"""What a protocol core asks of its owner, who has the sockets, the files and the clock. Performed in the order given."""

from __future__ import annotations

from dataclasses import dataclass

from coordinator.distributed.protocol.plan import CheckpointRef

# --- of the owner of a worker -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Connect:
    """Frames for `name` go to this address from now on."""

    name: str
    address: str


@dataclass(frozen=True, slots=True)
class Send:
    """A frame for a neighbour; it may get lost."""

    name: str
    frame: bytes


@dataclass(frozen=True, slots=True)
class Report:
    """A message for the coordinator; it may get lost."""

    message: bytes


@dataclass(frozen=True, slots=True)
class Load:
    """Read a checkpoint of this worker, and say `loaded`, with its bytes or None. Asked again and again: it may get lost."""

    ref: CheckpointRef


@dataclass(frozen=True, slots=True)
class Resume:
    """Take on a state that was saved; an empty one is that at the start of the run."""

    state: bytes


@dataclass(frozen=True, slots=True)
class Store:
    """Keep a checkpoint of this worker, and say `stored` when it is kept.

    It may get lost: the one before serves as well, and the next one comes.
    """

    step: int
    incarnation: int
    blob: bytes


@dataclass(frozen=True, slots=True)
class Ended:
    """The run cannot go on, for this core, and why; nothing is sent after it."""

    reason: str


# --- of the owner of the coordinator --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Start:
    """Start this incarnation of a worker."""

    name: str
    incarnation: int


@dataclass(frozen=True, slots=True)
class End:
    """Make sure, as far as possible, that this incarnation does not go on."""

    name: str
    incarnation: int


@dataclass(frozen=True, slots=True)
class Tell:
    """A message for one incarnation of a worker; it may get lost."""

    name: str
    incarnation: int
    message: bytes


@dataclass(frozen=True, slots=True)
class Reached:
    """Every worker has done this many steps."""

    step: int


ForWorker = Connect | Send | Report | Load | Resume | Store | Ended
ForCoordinator = Start | End | Tell | Reached | Ended
