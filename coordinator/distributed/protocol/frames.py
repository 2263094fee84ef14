"""Data frames: a header of 40 bytes and raw float64, all little-endian, guarded by one checksum.

    offset  bytes  field
         0      2  magic, "mb"
         2      1  version of this layout
         3      1  kind
         4      4  run
         8      4  nothing: the numbers begin at a multiple of eight
        12      4  sender: number of the worker
        16      4  incarnation of the sender
        20      8  step
        28      2  stage: counts the exchanges of the edge within the step
        30      2  joints across the edge
        32      4  layout: hash of what stands where in the numbers
        36      4  CRC-32 of the numbers followed by bytes 0 to 35
        40      …  numbers

The checksum runs over the numbers first, so that the checksum of the numbers alone comes for free: it is the same
when a later incarnation sends the same numbers again, and that is how two copies are compared.
"""

from __future__ import annotations

from enum import IntEnum, StrEnum
from struct import Struct
from typing import NamedTuple
from zlib import crc32

import numpy as np

Buffer = bytes | bytearray | memoryview

MAGIC = b"mb"
VERSION = 2
HEADER_BYTES = 40  # [bytes] of the header
CHECKED_BYTES = 36  # [bytes] of the header that the checksum covers
MAX_STAGES = 1 << 16  # stages of a step
MAX_STEPS = 1 << 48  # steps of a run, so that step and stage together are one key of 64 bits

_CHECKED = Struct("<2sBBI4xIIQHHI")
_CHECKSUM = Struct("<I")
_WHOLE = Struct("<2sBBI4xIIQHHII")
assert _CHECKED.size == CHECKED_BYTES and _WHOLE.size == HEADER_BYTES


class Kind(IntEnum):
    """What a frame is for."""

    DATA = 1  # numbers of a step and stage
    RESEND = 2  # "send again from this step and stage on"
    NEWEST = 3  # ends an answer to a resend: "this is the last that I have sent so far"
    DURABLE = 4  # "I shall never ask again for what is before this step"


class Rejection(StrEnum):
    """Why bytes are not a frame of this run; counted, never raised."""

    LENGTH = "length"
    MAGIC = "magic"
    VERSION = "version"
    CHECKSUM = "checksum"
    KIND = "kind"
    RUN = "run"
    STEP = "step"


class Header(NamedTuple):
    """Who says what, about which exchange."""

    kind: int
    run: int
    sender: int
    incarnation: int
    step: int
    stage: int
    joints: int
    layout: int


class Frame(NamedTuple):
    """A frame that has passed all checks that need no knowledge of the edge: its header, and what comes with it."""

    kind: int
    run: int
    sender: int
    incarnation: int
    step: int
    stage: int
    joints: int
    layout: int
    check: int  # CRC-32 of the numbers alone
    payload: memoryview


_LAST = max(Kind)
_new = tuple.__new__


def key_of(step: int, stage: int) -> int:
    """Step and stage as one number that grows in program order."""
    return step << 16 | stage


def encode(header: tuple[int, int, int, int, int, int, int, int], payload: Buffer = b"") -> bytes:
    """A frame. `header` has the fields of `Header`; `payload` is contiguous little-endian float64: `array.data`."""
    head = _CHECKED.pack(MAGIC, VERSION, *header)
    return b"".join((head, _CHECKSUM.pack(crc32(head, crc32(payload))), payload))


def decode(frame: Buffer, run: int) -> Frame | Rejection:
    """The frame in some bytes, or why they are none. Does not copy: the payload is a view of `frame`."""
    length = len(frame)
    if length < HEADER_BYTES or length & 7:
        return Rejection.LENGTH
    fields = _WHOLE.unpack_from(frame)
    magic, version, kind, of_run, _, _, step, _, _, _, checksum = fields
    if magic != MAGIC:
        return Rejection.MAGIC
    if version != VERSION:
        return Rejection.VERSION
    payload = memoryview(frame)[HEADER_BYTES:]
    check = crc32(payload)
    if crc32(frame[:CHECKED_BYTES], check) != checksum:
        return Rejection.CHECKSUM
    if not 0 < kind <= _LAST:
        return Rejection.KIND
    if of_run != run:
        return Rejection.RUN
    if step >= MAX_STEPS:
        return Rejection.STEP
    return _new(Frame, (*fields[2:10], check, payload))  # as Frame(…), in half the time


def stamped(frame: bytes, incarnation: int) -> bytes:
    """The same frame as a later incarnation of its sender sends it."""
    _, _, kind, run, sender, _, step, stage, joints, layout, _ = _WHOLE.unpack_from(frame)
    return encode((kind, run, sender, incarnation, step, stage, joints, layout), memoryview(frame)[HEADER_BYTES:])


_NUMBERS = np.dtype("<f8")


def first_not_finite(payload: Buffer) -> int | None:
    """Position of the first number that is infinite or not a number, or None."""
    finite = np.isfinite(np.frombuffer(payload, _NUMBERS)).tobytes()
    return finite.index(0) if 0 in finite else None  # bytes are searched faster than .all() reduces
