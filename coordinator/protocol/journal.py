"""The coordinator's journal: one line of JSON per entry, appended and made durable before anybody hears of it.

A coordinator that was killed is started again from these lines. A last line that was torn was never acted upon, so
it is dropped; a damaged line before it is an error.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Final

from coordinator.protocol import schema
from coordinator.protocol.errors import Malformed
from coordinator.protocol.plan import Plan
from coordinator.protocol.schema import U32, Many, Mark, Name, One, Reason, Step, YesNo

LONGEST: Final = 1 << 26  # [bytes] of a line


@dataclass(frozen=True)
class Called:
    """A worker by its name; its number is its place in the list."""

    name: Name


@dataclass(frozen=True)
class Opened:
    """The run: who takes part, and what must be the same for all."""

    run: U32
    fingerprint: Reason
    model: Mark
    every: U32  # steps between checkpoints; 0: none
    stride: U32  # steps that a horizon moves at once
    deaths: U32  # of one worker without a new checkpoint, until the run is stopped
    workers: Annotated[tuple[Called, ...], Many(Called, 1 << 16)]
    plan: Annotated[Plan, One(Plan)]


@dataclass(frozen=True)
class Epoch:
    """The coordinator was started."""

    epoch: U32


@dataclass(frozen=True)
class Joined:
    """An incarnation said hello and is taken."""

    name: Name
    incarnation: U32
    token: Mark
    address: Mark


@dataclass(frozen=True)
class Replaced:
    """A worker is dead; from now on only this new incarnation counts."""

    name: Name
    incarnation: U32
    reason: Reason


@dataclass(frozen=True)
class Saved:
    """A checkpoint is durable."""

    name: Name
    incarnation: U32
    step: Step
    digest: Mark


@dataclass(frozen=True)
class Horizon:
    """Nobody passes this step before another horizon is here."""

    step: Step


@dataclass(frozen=True)
class Proposed:
    """A plan is put to the workers."""

    plan: Annotated[Plan, One(Plan)]


@dataclass(frozen=True)
class Settled:
    """A proposed plan holds, or will not come."""

    version: U32
    committed: YesNo
    reason: Reason


@dataclass(frozen=True)
class Closed:
    """The run is over, and why."""

    reason: Reason


Entry = Opened | Epoch | Joined | Replaced | Saved | Horizon | Proposed | Settled | Closed

_ENTRIES = schema.by_name(Opened, Epoch, Joined, Replaced, Saved, Horizon, Proposed, Settled, Closed)


def line(entry: Entry) -> bytes:
    """An entry as a line."""
    return schema.encode(entry) + b"\n"


def read(raw: bytes) -> tuple[list[Entry], int]:
    """The entries of a journal, and how many of its bytes they take: cut the file there before appending."""
    entries: list[Entry] = []
    place = 0
    while place < len(raw):
        end = raw.find(b"\n", place)
        try:
            if end < 0:
                raise Malformed("the line has no end.")
            entries.append(schema.decode(raw[place:end], _ENTRIES, LONGEST))
        except Malformed as error:
            if 0 <= end < len(raw) - 1:
                raise Malformed(f"journal, line {len(entries) + 1}: {error}") from None
            break
        place = end + 1
    return entries, place
