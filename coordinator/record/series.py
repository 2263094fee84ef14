"""The series of a run one by one, whatever stacks and segments they were recorded in, and a digest of their bits.

A run that was recorded in parts, or with its bodies stacked in another way, has the same series and the same digest.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from coordinator.record.recorder import Segment
from modular.elements import Array, Indices

Name = tuple[str, str]  # component and series, such as ("elbow", "reaction")
Piece = tuple[Indices, Array]  # ticks (n,) and values (n, ...) of one segment

LEDGER_OF = "ledger"
PARTS = ("bodies", "joints", "forces")
MAX_WORDS = 2000  # that are hashed at once


def parts_of(segments: Sequence[Segment], part: str) -> Iterator[tuple[slice, Sequence[str], dict[str, Array]]]:
    """The tables of "bodies", "joints" or "forces": which samples of the run, whose rows, and the series."""
    start = 0
    for segment in segments:
        for names, series in getattr(segment, part):
            yield (
                slice(start, start + segment.used),
                names,
                {key: array[: segment.used] for key, array in series.items()},
            )
        start += segment.used


def series_of(segments: Sequence[Segment]) -> dict[Name, list[Piece]]:
    """All series in the order of their appearance, in pieces as they were recorded; nothing is copied.

    The ledger of a joint or force goes on after it went, with its final lines.
    """
    found: dict[Name, list[Piece]] = {}
    for segment in segments:
        ticks = segment.ticks[: segment.used]
        for part in PARTS:
            for names, series in getattr(segment, part):
                for row, name in enumerate(names):
                    for key, table in series.items():
                        found.setdefault((name, key), []).append((ticks, table[: segment.used, row]))
        for name, book in segment.closed.items():  # none that is there again: it has taken its book back
            final = np.broadcast_to(book, (len(ticks), len(book)))
            found.setdefault((name, LEDGER_OF), []).append((ticks, final))
    return found


def digest_of(segments: Sequence[Segment]) -> str:
    """SHA-256 of the bits of all series in the order of their names, with the ticks at which they were taken."""
    tables: dict[str, list[tuple[Bits, int]]] = {}
    for segment in segments:
        for names, bits in _bits_of(segment):
            for row, name in enumerate(names):
                tables.setdefault(name, []).append((bits, row))
    digest, words = hashlib.sha256(), list[Any]()
    known: dict[tuple[Bits, ...], Words] = {}  # most were there as long as others, in the same tables
    for name in sorted(tables):
        held, rows = zip(*tables[name], strict=True)
        if held not in known:
            known[held] = Words(held)
        words += known[held].of(name, rows)
        if len(words) > MAX_WORDS:
            digest.update(b"".join(words))
            words = []
    digest.update(b"".join(words))
    return digest.hexdigest()


class Bits:
    """Of a table of a segment."""

    def __init__(self, ticks: bytes, tables: dict[str, tuple[tuple[int, ...], int, Any]]) -> None:
        """`tables`: per series the shape of a sample, bytes of a row, all rows."""
        self.ticks, self.tables = ticks, tables


class Words:
    """What is to be hashed of a name that stands in these tables one after the other: the same words for all such names."""

    def __init__(self, held: Sequence[Bits]) -> None:
        self._series: list[
            list[tuple[bytes, int, int, Any]]
        ] = []  # words before the bits of a piece, which piece, bytes, rows
        for key in sorted({key for bits in held for key in bits.tables}):
            pieces = [(k, bits) for k, bits in enumerate(held) if key in bits.tables]
            lead = f" {key}\n".encode() + b"".join(bits.ticks for _, bits in pieces)
            shape: tuple[int, ...] = ()
            parts: list[tuple[bytes, int, int, Any]] = []
            for k, bits in pieces:
                of_one, size, table = bits.tables[key]
                lead += repr(of_one).encode() if of_one != shape else b""
                parts.append((lead, k, size, table))
                lead, shape = b"", of_one
            self._series.append(parts)

    def of(self, name: str, rows: Sequence[int]) -> list[Any]:
        """All series of that name, in the order of theirs."""
        start = name.encode()
        words: list[Any] = []
        for parts in self._series:
            words.append(start)
            for lead, k, size, table in parts:
                words += (lead, table[rows[k] * size : (rows[k] + 1) * size])
        return words


def _bits_of(segment: Segment) -> Iterator[tuple[Sequence[str], Bits]]:
    """Whose rows, and their bits; final lines of ledgers are tables of one row."""
    ticks = np.ascontiguousarray(segment.ticks[: segment.used], "<i8").tobytes()

    def bits(series: Mapping[str, Array], count: int) -> Bits:
        tables = {}
        for key, array in series.items():
            table = canonical(np.swapaxes(array, 0, 1))
            tables[key] = table.shape[2:], table.nbytes // max(count, 1), table.reshape(-1).view(np.uint8).data
        return Bits(ticks, tables)

    for part in PARTS:
        for names, series in getattr(segment, part):
            yield names, bits({key: array[: segment.used] for key, array in series.items()}, len(names))
    for name, book in segment.closed.items():
        yield [name], bits({LEDGER_OF: np.broadcast_to(book, (segment.used, 1, len(book)))}, 1)


def canonical(values: Array) -> Array:
    """Little-endian, contiguous, and with one NaN for all: how machines sign theirs is no result."""
    plain = np.ascontiguousarray(values, "<f8")
    return np.where(np.isnan(plain), np.nan, plain) if np.isnan(plain).any() else plain


def differ(first: Array, second: Array) -> Array:
    """Where the bits of two arrays of one shape differ; a NaN is a NaN, and -0.0 is not 0.0."""
    return np.asarray(canonical(first).view(np.uint64) != canonical(second).view(np.uint64))
