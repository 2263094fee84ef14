"""The series of a run one by one, whatever stacks and segments they were recorded in, and a digest of their bits.

A run that was recorded in parts, or with its bodies stacked in another way, has the same series and the same digest.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from coordinator.record.recorder import Segment
from modular.elements import Array, Indices

Name = tuple[str, str]  # component and series, such as ("elbow", "reaction")
Piece = tuple[Indices, Array]  # ticks (n,) and values (n, ...) of one segment

LEDGER_OF = "ledger"
PARTS = ("bodies", "joints", "forces")


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


def series_of(
    segments: Sequence[Segment], shown: Callable[[Array], Array] = lambda table: table
) -> dict[Name, list[Piece]]:
    """All series in the order of their appearance, in pieces as they were recorded; nothing is copied.

    `shown`: what is to be done with a whole table (rows, n, ...) before it is taken apart. The ledger of a joint or force goes
    on after it went, with its final lines.
    """
    found: dict[Name, list[Piece]] = {}
    for segment in segments:
        ticks = segment.ticks[: segment.used]
        for part in PARTS:
            for names, series in getattr(segment, part):
                tables = {key: shown(np.swapaxes(array[: segment.used], 0, 1)) for key, array in series.items()}
                for row, name in enumerate(names):
                    for key, table in tables.items():
                        found.setdefault((name, key), []).append((ticks, table[row]))
        for name, book in segment.closed.items():  # none that is there again: it has taken its book back
            final = np.broadcast_to(book, (len(ticks), len(book)))
            found.setdefault((name, LEDGER_OF), []).append((ticks, shown(final)))
    return found


def digest_of(segments: Sequence[Segment]) -> str:
    """SHA-256 of the bits of all series in the order of their names, with the ticks at which they were taken."""
    digest = hashlib.sha256()
    for (name, key), pieces in sorted(series_of(segments, canonical).items()):
        digest.update(f"{name} {key}\n".encode())
        for ticks, _ in pieces:
            digest.update(np.ascontiguousarray(ticks, "<i8").data)
        shape: tuple[int, ...] = ()
        for _, values in pieces:
            if values.shape[1:] != shape:
                shape = values.shape[1:]
                digest.update(repr(shape).encode())
            digest.update(values.data)
    return digest.hexdigest()


def canonical(values: Array) -> Array:
    """Little-endian, contiguous, and with one NaN for all: how machines sign theirs is no result."""
    plain = np.ascontiguousarray(values, "<f8")
    return np.where(np.isnan(plain), np.nan, plain) if np.isnan(plain).any() else plain


def differ(first: Array, second: Array) -> Array:
    """Where the bits of two arrays of one shape differ; a NaN is a NaN, and -0.0 is not 0.0."""
    return np.asarray(canonical(first).view(np.uint64) != canonical(second).view(np.uint64))
