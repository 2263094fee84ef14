"""What a protocol core asks of its owner, who has the sockets, the files and the clock. Performed in the order given."""

from __future__ import annotations

from dataclasses import dataclass

from coordinator.protocol.plan import Kept, Share

# --- of the owner of a worker -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Connect:
    """Frames for `name` go to this address from now on."""

    name: str
    incarnation: int
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
    """Read a checkpoint of this name, and say `loaded`, with its bytes or None. Asked again and again: it may get lost."""

    name: str
    kept: Kept


@dataclass(frozen=True, slots=True)
class Resume:
    """Take on the state that was saved after `step` steps; at step 0 it is empty: build it from the model."""

    step: int
    plan: int
    state: bytes


@dataclass(frozen=True, slots=True)
class Store:
    """Write a checkpoint so that it survives (temporary file, fsync, rename), and say `stored` when it does.

    It may get lost: the one before serves as well, and the next one comes.
    """

    name: str
    incarnation: int
    step: int
    blob: bytes


@dataclass(frozen=True, slots=True)
class Discard:
    """Checkpoints of this name before a step are not needed any more."""

    name: str
    before: int


@dataclass(frozen=True, slots=True)
class Validate:
    """See whether the physics can go over to a plan, and say `validated`."""

    share: Share


@dataclass(frozen=True, slots=True)
class Forget:
    """The plan will not come: drop what was prepared for it."""

    version: int
    reason: str


@dataclass(frozen=True, slots=True)
class Ended:
    """The run is over for this core, and why; nothing is sent after it."""

    reason: str
    failed: bool


# --- of the owner of the coordinator --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Write:
    """Append a line to the journal. It is on disk before anything that follows is performed."""

    line: bytes


@dataclass(frozen=True, slots=True)
class Start:
    """Start this incarnation of a worker, once, however often it is asked for."""

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
    token: str
    message: bytes


@dataclass(frozen=True, slots=True)
class Decided:
    """A proposed plan holds, or will not come, and why."""

    version: int
    committed: bool
    reason: str


@dataclass(frozen=True, slots=True)
class Reached:
    """Every worker has done this many steps."""

    step: int


ForWorker = Connect | Send | Report | Load | Resume | Store | Discard | Validate | Forget | Ended
ForCoordinator = Write | Start | End | Tell | Decided | Reached | Ended
