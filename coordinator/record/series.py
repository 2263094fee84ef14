"""The series of a run one by one, whatever stacks and segments they were recorded in, and a digest of their bits.

A run that was recorded in parts, or with its bodies stacked in another way, has the same series and the same digest.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from coordinator.record.recorder import Segment
from modular.elements import Array, Indices

Name = tuple[str, str]  # component and series, such as ("elbow", "reaction")
Bytes = npt.NDArray[np.uint8]
Piece = tuple[Indices, Array]  # ticks (n,) and values (n, ...) of one segment

LEDGER_OF = "ledger"
PARTS = ("bodies", "joints", "forces")
MAX_NAMES = 1000  # whose series are put down at once to be hashed


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
    digest, ordered = hashlib.sha256(), sorted(tables)
    known: dict[tuple[Bits, ...], Words] = {}  # most were there as long as others, in the same tables
    for start in range(0, len(ordered), MAX_NAMES):
        for words in _words_of({name: tables[name] for name in ordered[start : start + MAX_NAMES]}, known):
            digest.update(words)
    return digest.hexdigest()


def _words_of(
    tables: Mapping[str, Sequence[tuple[Bits, int]]], known: dict[tuple[Bits, ...], Words]
) -> Iterator[memoryview]:
    """What is to be hashed of some names, in their order: those as long as each other in the same tables are put down at once."""
    alike: dict[tuple[tuple[Bits, ...], int], list[int]] = {}
    rows, starts = [], []
    for k, (name, held_at) in enumerate(tables.items()):
        held, at = zip(*held_at, strict=True)
        rows.append(at)
        starts.append(name.encode())
        alike.setdefault((held, len(starts[-1])), []).append(k)
    kind, place = np.empty((2, len(starts)), np.int64)
    sheets: list[Iterable[Bytes]] = []
    for number, ((held, _), members) in enumerate(alike.items()):
        if held not in known:
            known[held] = Words(held)
        kind[members], place[members] = number, range(len(members))
        names = np.frombuffer(b"".join(starts[k] for k in members), np.uint8).reshape(len(members), -1)
        columns = known[held].of(names, np.array([rows[k] for k in members]))
        sheets.append(columns if len(members) == 1 else [np.concatenate(list(columns), axis=1)])
    breaks = np.flatnonzero(np.diff(kind)) + 1  # neighbours of one kind lie side by side: its members are in order
    for first, last in zip([0, *breaks.tolist()], [*(breaks - 1).tolist(), len(kind) - 1], strict=True):
        for words in sheets[kind[first]]:
            yield words[place[first] : place[last] + 1].data


class Bits:
    """Of a table of a segment."""

    def __init__(self, ticks: bytes, tables: dict[str, tuple[tuple[int, ...], Bytes]]) -> None:
        """`tables`: per series the shape of a sample, and the bytes of all rows, (rows, bytes)."""
        self.ticks, self.tables = ticks, tables


class Words:
    """What is to be hashed of a name that stands in these tables one after the other: the same words for all such names."""

    def __init__(self, held: Sequence[Bits]) -> None:
        self._series: list[list[tuple[Bytes, int, Bytes]]] = []  # bytes before those of a piece, which piece, its rows
        for key in sorted({key for bits in held for key in bits.tables}):
            pieces = [(k, bits) for k, bits in enumerate(held) if key in bits.tables]
            lead = f" {key}\n".encode() + b"".join(bits.ticks for _, bits in pieces)
            shape: tuple[int, ...] = ()
            parts: list[tuple[Bytes, int, Bytes]] = []
            for k, bits in pieces:
                of_one, table = bits.tables[key]
                lead += repr(of_one).encode() if of_one != shape else b""
                parts.append((np.frombuffer(lead, np.uint8), k, table))
                lead, shape = b"", of_one
            self._series.append(parts)

    def of(self, names: Bytes, rows: Indices) -> Iterator[Bytes]:
        """All series of these names, in the order of theirs, as bytes (names, ...) each; `rows`: where each stands in which table.

        Of a name alone nothing is copied: its series may be long.
        """
        alone = len(names) == 1
        for parts in self._series:
            yield names
            for lead, k, table in parts:
                yield np.broadcast_to(lead, (len(names), len(lead)))
                yield table[rows[0, k] : rows[0, k] + 1] if alone else table[rows[:, k]]


def _bits_of(segment: Segment) -> Iterator[tuple[Sequence[str], Bits]]:
    """Whose rows, and their bits; final lines of ledgers are tables of one row."""
    ticks = np.ascontiguousarray(segment.ticks[: segment.used], "<i8").tobytes()

    def bits(series: Mapping[str, Array], count: int) -> Bits:
        tables = {}
        for key, array in series.items():
            table = canonical(np.swapaxes(array, 0, 1))
            size = table.nbytes // max(count, 1)
            tables[key] = table.shape[2:], table.reshape(-1).view(np.uint8).reshape(count, size)
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
