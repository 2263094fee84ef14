"""A worker's checkpoint as bytes: its state and what a successor needs of its links, under one checksum.

    offset  bytes  field
         0      8  magic and version
         8     32  SHA-256 of all that follows
        40      8  length of the head
        48      …  head, JSON: whose, when, and how long each part is
         …      …  parts: the state, then the log of each link

Any byte that changed, is missing or is too much is found. Nothing is executed, only read.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from struct import Struct
from typing import Any

from coordinator.distributed.protocol.errors import Malformed

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
