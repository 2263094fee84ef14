"""A worker's checkpoint as bytes: its state and what a successor needs of its links, under one checksum.

    offset  bytes  field
         0      8  magic and version
         8     32  SHA-256 of all that follows
        40      8  length of the head
        48      …  head, JSON: whose, when, and how long each part is
         …      …  parts: the state, then the log of each link

Any byte that changed, is missing or is too much is found. Nothing is executed, only read.

On its way a checkpoint is being stored, stored, known to the coordinator:

    being stored --stored--> reported --durable--> known, logs are trimmed

A worker starts from the newest that can be read, else the one before it, else the start of the run (`Recovery`).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from struct import Struct
from typing import Any

from coordinator.distributed.protocol.plan import CheckpointRef
from modular.errors import Malformed

_HEAD = Struct("<8s32sQ")
_MAGIC = b"mbsave\x00\x01"
_FIELDS: dict[str, type] = {"run": int, "name": str, "incarnation": int, "step": int}


@dataclass(frozen=True)
class Snapshot:
    """A worker after `step` steps."""

    run: int
    name: str
    incarnation: int
    step: int
    state: bytes  # what the physics gave
    links: Sequence[tuple[Mapping[str, Any], bytes]]

    @property
    def digest(self) -> str:
        """Hash of the state alone: the same for every worker that comes to this step by the same bits."""
        return digest(self.state)


def digest(state: bytes) -> str:
    """Hash of a state."""
    return sha256(state).hexdigest()[:32]


def encode(snapshot: Snapshot) -> bytes:
    """The bytes of a checkpoint."""
    head = {name: getattr(snapshot, name) for name in _FIELDS}
    head["state"] = len(snapshot.state)
    head["links"] = [{**saved, "bytes": len(frames)} for saved, frames in snapshot.links]
    text = json.dumps(head, separators=(",", ":"), allow_nan=False).encode("ascii")
    parts = [text, snapshot.state, *(frames for _, frames in snapshot.links)]
    body = sha256(len(text).to_bytes(8, "little"))
    for part in parts:
        body.update(part)
    return b"".join([_HEAD.pack(_MAGIC, body.digest(), len(text)), *parts])


def decode(raw: bytes, where: str = "checkpoint") -> Snapshot:
    """The checkpoint in some bytes, or Malformed, which names `where`."""
    if len(raw) < _HEAD.size:
        raise Malformed(f"{where}: {len(raw)} bytes are no checkpoint.")
    magic, body, length = _HEAD.unpack_from(raw)
    if magic != _MAGIC:
        raise Malformed(f"{where}: starts with {magic!r}; no checkpoint, or of another version.")
    if sha256(memoryview(raw)[40:]).digest() != body:
        raise Malformed(f"{where}: the checksum does not match; the file was changed or cut.")
    if length > len(raw) - _HEAD.size:
        raise Malformed(f"{where}: the head is said to have {length} bytes of {len(raw)}.")
    place = _HEAD.size + length
    try:
        head = json.loads(raw[_HEAD.size : place])
    except (ValueError, RecursionError) as error:
        raise Malformed(f"{where}: the head is not JSON: {error}.") from None
    if type(head) is not dict:
        raise Malformed(f"{where}: the head is not an object.")
    for name, kind in _FIELDS.items():
        if type(head.get(name)) is not kind or (kind is int and head[name] < 0):
            raise Malformed(f"{where}: '{name}' is {head.get(name)!r}.")
    saved = head.get("links")
    if type(saved) is not list or not all(type(link) is dict for link in saved):
        raise Malformed(f"{where}: 'links' is not a list of links.")
    lengths = [head.get("state"), *(link.get("bytes") for link in saved)]
    if not all(type(n) is int and n >= 0 for n in lengths) or sum(lengths) != len(raw) - place:
        raise Malformed(f"{where}: parts of {lengths[:8]} bytes do not make up the {len(raw) - place} that are there.")
    parts = []
    for n in lengths:
        parts.append(raw[place : place + n])
        place += n
    return Snapshot(**{name: head[name] for name in _FIELDS}, state=parts[0], links=tuple(zip(saved, parts[1:])))


class PendingCheckpoints:
    """The newest checkpoint counts; the hash of each state is kept until it is stored."""

    def __init__(self, oldest: int = 0) -> None:
        self.oldest = oldest  # step of the oldest checkpoint that a successor may start from
        self.reported: tuple[int, str] | None = None  # step and hash of the newest, not yet known to be
        self._written: dict[int, str] = {}

    def begin(self, step: int, digest: str) -> None:
        """A checkpoint is on its way."""
        self._written[step] = digest

    def stored(self, step: int) -> bool:
        """A checkpoint is kept. True where it is the newest, and news."""
        digest = self._written.pop(step, None)
        if digest is None or step <= (self.reported[0] if self.reported else 0):
            return False
        self.reported = (step, digest)
        return True

    def confirmed(self, step: int, forget: int) -> bool:
        """The coordinator knows of the checkpoint at `step`. True where neighbours may forget more than before."""
        if self.reported is not None and step >= self.reported[0]:
            self.reported = None
        if forget <= self.oldest:
            return False
        self.oldest = forget
        return True


class Recovery:
    """Checkpoints to try, and why some of them could not be read."""

    def __init__(self, run: int, name: str, checkpoints: Iterable[CheckpointRef]) -> None:
        self.run, self.name = run, name
        self._left = list(checkpoints)
        self.unreadable: list[str] = []

    @property
    def candidate(self) -> CheckpointRef | None:
        """The checkpoint to try now, or None where all were tried."""
        return self._left[0] if self._left else None

    def read(self, ref: CheckpointRef, blob: bytes | None) -> Snapshot:
        """The candidate from its bytes, or Malformed."""
        where = f"checkpoint of '{self.name}' at step {ref.step}"
        if blob is None:
            raise Malformed(f"{where}: not there.")
        snapshot = decode(blob, where)
        if (snapshot.run, snapshot.name, snapshot.step) != (self.run, self.name, ref.step):
            raise Malformed(f"{where}: it is of '{snapshot.name}' at step {snapshot.step} of run {snapshot.run}.")
        if snapshot.digest != ref.digest:
            raise Malformed(f"{where}: the state has digest {snapshot.digest}; the coordinator has {ref.digest}.")
        return snapshot

    def pass_over(self, reason: Malformed) -> None:
        """The candidate is of no use; try the next one."""
        self._left.pop(0)
        self.unreadable.append(str(reason))
