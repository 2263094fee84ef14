"""What the coordinator and worker processes say beside the protocol: a kind, plain data, and sometimes a payload.

Any of them can get lost with a connection, which comes back without a word. So whoever wants something says it until it is there.

kind        from      what
hello       worker    I am there: name, incarnation, process number, versions
idle        worker    I have nothing to do; said until there is something
core        both      a message of the protocol (coordinator/distributed/protocol); and up to which tick samples have arrived
begin       coord.    take this shard over (the payload; a second one says how it stands)
halted      worker    I cannot go further, and why; said until all go back
get_samples coord.    what have you recorded, now that you are at this tick?
samples     worker    that
get_state   coord.    go back to this tick (`back`), or settle at it; and how do you stand?
state       worker    thus
store       worker    keep this checkpoint
stored      coord.    it is kept
load        worker    give me that checkpoint
loaded      coord.    here it is, or not
call        coord.    do this with a black box that lives with you (the payload)
answer      worker    done, and what comes of it; or refused, and why
leave       worker    I have to go; give my bodies to others. Said until it may
end_run     coord.    the run is over; so is any other than the one that is begun next
quit        coord.    so is everything
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from coordinator.record.recorder import Segment
from coordinator.record.series import PARTS
from modular.errors import ModelError

MAX_BRIEF_LENGTH = 200  # letters of a message in a log
MAX_DATA_BYTES = 1 << 20  # bytes of the data of a message
MAX_TEXT_LENGTH = 1 << 16  # letters of a text in it
NUMBER = (int, float)
FIELDS: dict[str, dict[str, Any]] = {  # what each message has to say, of which kind; nothing more and nothing less
    "hello": {"name": str, "incarnation": int, "pid": int, "fingerprint": str},
    "idle": {},
    "core": {"run": int, "committed": int},
    "begin": {
        "run": int, "incarnation": int, "names": list, "tick": int, "committed": int, "keys": dict, "most": int,
        "packages": list, "folders": list, "report": NUMBER, "silence": NUMBER, "orphan": NUMBER,
    },
    "refused": {"run": int, "why": str},
    "halted": {"run": int, "tick": int, "why": str},
    "get_samples": {"run": int, "tick": int},
    "samples": {"run": int, "tick": int},
    "get_state": {"run": int, "tick": int, "back": bool},
    "state": {
        "run": int, "ticks": int, "working": NUMBER, "talking": NUMBER, "waiting": NUMBER, "bytes_per_tick": NUMBER,
    },
    "store": {"run": int, "step": int, "incarnation": int},
    "stored": {"run": int, "step": int},
    "load": {"run": int, "step": int, "incarnation": int, "digest": str},
    "loaded": {"run": int, "step": int, "incarnation": int, "digest": str},
    "call": {"number": int, "method": str, "most": int},
    "answer": {"number": int, "refused": str},
    "leave": {},
    "end_run": {"run": int},
    "ping": {},
    "quit": {"why": str, "unfit": bool},
}  # fmt: skip


class Message(tuple[str, dict[str, Any], bytes, bytes]):
    """A kind, its data, and two payloads that may be empty."""

    __slots__ = ()

    @property
    def kind(self) -> str:
        """What kind of message it is."""
        return self[0]

    @property
    def data(self) -> dict[str, Any]:
        """Plain data."""
        return self[1]

    @property
    def payload(self) -> bytes:
        """Bytes."""
        return self[2]

    @property
    def second_payload(self) -> bytes:
        """More bytes."""
        return self[3]


def encode_message(
    kind: str, data: Mapping[str, Any] | None = None, payload: bytes = b"", second_payload: bytes = b""
) -> list[bytes]:
    """A message as parts. Texts that are too long are cut; anything else that nobody would listen to is refused here."""
    told = {name: _short(value) for name, value in (data or {}).items()}
    encoded = json.dumps(told, allow_nan=False).encode()
    if not _fits(told, FIELDS.get(kind)) or len(encoded) > MAX_DATA_BYTES:
        raise ValueError(f"no handler is known for the message {kind!r} with {encoded[:MAX_BRIEF_LENGTH].decode()}.")
    return [kind.encode(), encoded, payload, second_payload]


def _short(value: Any) -> Any:
    """A text of a length that is listened to; all else as it is."""
    return f"{value[: MAX_TEXT_LENGTH - 1]}…" if isinstance(value, str) and len(value) > MAX_TEXT_LENGTH else value


def brief(kind: str, data: Mapping[str, Any], payload: bytes) -> str:
    """A message in a line."""
    if kind == "core":
        return f"{kind} {payload[:MAX_BRIEF_LENGTH].decode(errors='replace')}"
    return f"{kind} {json.dumps(data)[:MAX_BRIEF_LENGTH]}" + (f" and {len(payload)} bytes" if payload else "")


def oversized(kind: str, payload: bytes, most: int) -> str:
    """Why a payload stays where it is, and what to do about it."""
    size, limit = f"{len(payload) / 1e6:.0f} MB", f"{most / 1e6:.0f} MB"
    return (
        f"its message '{kind}' has {size}, and the limit is {limit}; take more workers, or raise the limit, as in "
        f"LaunchConfig(max_message_bytes={2 * len(payload)})."
    )


def decode_message(parts: list[bytes]) -> Message | None:
    """The message in some parts, or None where they are none."""
    if len(parts) != 4 or len(parts[0]) > 20 or len(parts[1]) > MAX_DATA_BYTES:
        return None
    try:
        kind, data = parts[0].decode("ascii"), json.loads(parts[1])
    except (ValueError, RecursionError):
        return None
    if not isinstance(data, dict) or not _fits(data, FIELDS.get(kind)):
        return None
    return Message((kind, data, parts[2], parts[3]))


def _fits(data: Mapping[str, Any], fields: Mapping[str, Any] | None) -> bool:
    """Whether data are what a message of this word has to say."""
    return fields is not None and set(data) == set(fields) and all(_is(data[name], fields[name]) for name in fields)


def _is(value: Any, kind: Any) -> bool:
    """Whether a value is of a kind, and of a size that nobody has to fear."""
    if kind is dict:
        return isinstance(value, dict) and all(_is(text, str) for pair in value.items() for text in pair)
    if kind is list:
        return isinstance(value, list) and all(_is(text, str) for text in value)
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        return False
    if isinstance(value, str):
        return len(value) <= MAX_TEXT_LENGTH
    return not isinstance(value, int | float) or 0 <= value < 1 << 62


# --- samples as data and arrays --------------------------------------------------------------------------------------------


def samples_as_arrays(segments: list[Segment]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Samples of a worker; which component is which row the coordinator knows."""
    arrays: dict[str, Any] = {}
    shapes = []
    for k, segment in enumerate(segments):
        arrays[f"{k}.ticks"] = segment.ticks
        counts = []
        for kind in PARTS:
            stacks = getattr(segment, kind)
            counts.append(len(stacks))
            for i, (_, series) in enumerate(stacks):
                arrays |= {f"{k}.{kind}.{i}.{key}": array for key, array in series.items()}
        shapes.append(counts)
    return {"segments": shapes}, arrays


def samples_from_arrays(data: Mapping[str, Any], arrays: Mapping[str, Any]) -> list[Segment]:
    """Segments again, without the names of components."""
    try:
        return _segments(data, arrays)
    except (KeyError, TypeError, ValueError) as error:
        raise ModelError(f"the samples of a worker are malformed ({type(error).__name__}: {error}).") from error


def _segments(data: Mapping[str, Any], arrays: Mapping[str, Any]) -> list[Segment]:
    found = []
    for k, counts in enumerate(data["segments"]):
        parts = []
        for kind, count in zip(PARTS, counts, strict=True):
            stacks: list[tuple[list[str], dict[str, Any]]] = []
            for i in range(count):
                start = f"{k}.{kind}.{i}."
                stacks.append(([], {key[len(start) :]: a for key, a in arrays.items() if key.startswith(start)}))
            parts.append(stacks)
        ticks = arrays[f"{k}.ticks"]
        bodies, joints, forces = parts
        found.append(Segment(ticks, bodies, joints, forces, used=len(ticks)))
    return found
