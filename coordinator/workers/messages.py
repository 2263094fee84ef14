"""What the coordinator and worker processes say beside the protocol: a word, plain data, and sometimes a parcel.

word        from      what
here        worker    I am there: name, incarnation, address, process number, versions
core        both      a message of the protocol (coordinator/protocol)
begin       coord.    take this piece over (the parcel; a second one says how it stands)
stood       worker    I cannot go further, and why
samples?    coord.    what have you recorded, now that you are at this tick?
samples     worker    that
kept        coord.    it has arrived: from here on there is no way back
state?      coord.    go back to where you were (`back`), or settle; and how do you stand?
state       worker    thus
store       worker    keep this checkpoint
stored      coord.    it is kept
load        worker    give me that checkpoint
loaded      coord.    here it is, or not
over        coord.    the run is over
quit        coord.    so is everything
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from coordinator.record.recorder import Segment

MOST = 1 << 20  # bytes of the data of a message


class Message(tuple[str, dict[str, Any], bytes, bytes]):
    """A word, its data, and two parcels that may be empty."""

    __slots__ = ()

    @property
    def word(self) -> str:
        """What kind of message it is."""
        return self[0]

    @property
    def data(self) -> dict[str, Any]:
        """Plain data."""
        return self[1]

    @property
    def parcel(self) -> bytes:
        """Bytes."""
        return self[2]

    @property
    def second(self) -> bytes:
        """More bytes."""
        return self[3]


def written(word: str, data: Mapping[str, Any] | None = None, parcel: bytes = b"", second: bytes = b"") -> list[bytes]:
    """A message as parts."""
    return [word.encode(), json.dumps(dict(data or {}), allow_nan=False).encode(), parcel, second]


def read(parts: list[bytes]) -> Message | None:
    """The message in some parts, or None where they are none."""
    if len(parts) != 4 or len(parts[0]) > 20 or len(parts[1]) > MOST:
        return None
    try:
        word, data = parts[0].decode("ascii"), json.loads(parts[1])
    except (ValueError, RecursionError):
        return None
    return Message((word, data, parts[2], parts[3])) if isinstance(data, dict) else None


# --- samples as data and arrays --------------------------------------------------------------------------------------------

KINDS = ("bodies", "joints", "forces")


def samples_as_arrays(segments: list[Segment]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Samples of a worker; which component is which row the coordinator knows."""
    arrays: dict[str, Any] = {}
    shapes = []
    for k, segment in enumerate(segments):
        arrays[f"{k}.ticks"] = segment.ticks
        counts = []
        for kind in KINDS:
            stacks = getattr(segment, kind)
            counts.append(len(stacks))
            for i, (_, series) in enumerate(stacks):
                arrays |= {f"{k}.{kind}.{i}.{key}": array for key, array in series.items()}
        shapes.append(counts)
    return {"segments": shapes}, arrays


def samples_from_arrays(data: Mapping[str, Any], arrays: Mapping[str, Any]) -> list[Segment]:
    """Segments again, without the names of components."""
    found = []
    for k, counts in enumerate(data["segments"]):
        parts = []
        for kind, count in zip(KINDS, counts, strict=True):
            stacks: list[tuple[list[str], dict[str, Any]]] = []
            for i in range(count):
                start = f"{k}.{kind}.{i}."
                stacks.append(([], {key[len(start) :]: a for key, a in arrays.items() if key.startswith(start)}))
            parts.append(stacks)
        ticks = arrays[f"{k}.ticks"]
        bodies, joints, forces = parts
        found.append(Segment(ticks, bodies, joints, forces, used=len(ticks)))
    return found
