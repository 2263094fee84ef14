"""Frames that go as expected, in compiled code: written and recognised without Python.

Nothing is decided here. `recognised` knows one frame only, the one that is wanted next, and says yes where the protocol
(coordinator/distributed/protocol) would take it in; everything else is handed to the protocol, byte by byte as it came.
"""

from __future__ import annotations

import numpy as np

from modular.elements import Array, Indices
from modular.kernel import kernel

HEAD = 10  # words of the header, the last of which is the checksum
PART = 32  # bits of a word
LOW = 0xFFFFFFFF


def _tables() -> Indices:
    """What eight bytes do to a checksum, each in its place (slicing by eight)."""
    tables = np.zeros((8, 256), np.int64)
    value = np.arange(256)
    for _ in range(8):
        value = np.where(value & 1, 0xEDB88320 ^ (value >> 1), value >> 1)
    tables[0] = value
    for k in range(1, 8):
        tables[k] = tables[0][tables[k - 1] & 255] ^ (tables[k - 1] >> 8)
    return tables


_T = _tables()


@kernel
def checksum(words: Indices, start: int, stop: int, before: int) -> int:
    """CRC-32 of words, going on from that of what comes before; the same as zlib's."""
    found = before ^ LOW
    k = start
    while k + 1 < stop:
        one, two = found ^ np.int64(words[k]), np.int64(words[k + 1])
        found = (
            _T[7, one & 255] ^ _T[6, (one >> 8) & 255] ^ _T[5, (one >> 16) & 255] ^ _T[4, (one >> 24) & 255]
            ^ _T[3, two & 255] ^ _T[2, (two >> 8) & 255] ^ _T[1, (two >> 16) & 255] ^ _T[0, (two >> 24) & 255]
        )  # fmt: skip
        k += 2
    if k < stop:
        one = found ^ np.int64(words[k])
        found = _T[3, one & 255] ^ _T[2, (one >> 8) & 255] ^ _T[1, (one >> 16) & 255] ^ _T[0, (one >> 24) & 255]
    return found ^ LOW


@kernel
def write(words: Indices, start: int, count: int, head: Indices, step: int, stage: int) -> None:
    """A frame whose numbers are in place already: `count` words of header and numbers. `head`: its header at step 0, stage 0."""
    for k in range(HEAD - 1):
        words[start + k] = head[k]
    words[start + 5] = step & LOW
    words[start + 6] = step >> PART
    words[start + 7] = head[7] | stage
    check = checksum(words, start + HEAD, start + count, 0)
    words[start + HEAD - 1] = checksum(words, start, start + HEAD - 1, check)


@kernel
def recognised(words: Indices, count: int, head: Indices, step: int, stage: int, numbers: Array) -> int:
    """The checksum of its numbers where `count` words are the frame with this header, step and stage, undamaged; or -1.

    `numbers`: the same memory as float64, which must all be finite.
    """
    for k in range(HEAD - 1):
        wanted: int = head[k]
        if k == 5:
            wanted = step & LOW
        elif k == 6:
            wanted = step >> PART
        elif k == 7:
            wanted |= stage
        if np.int64(words[k]) != wanted:
            return -1
    check = checksum(words, HEAD, count, 0)
    if checksum(words, 0, HEAD - 1, check) != np.int64(words[HEAD - 1]):
        return -1
    for k in range(HEAD // 2, count // 2):
        if not np.isfinite(numbers[k]):
            return -1
    return check
