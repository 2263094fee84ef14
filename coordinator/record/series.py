"""The series of a run one by one, whatever stacks and segments they were recorded in, and a digest of their bits.

A run that was recorded in parts, or with its bodies stacked in another way, has the same series and the same digest.
"""

from __future__ import annotations

import functools
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
MAX_PUT_DOWN = 2**20  # bytes of a table of which all are put down at once


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
        for name, ledger in segment.closed.items():  # none that is there again: it has taken its ledger back
            final = np.broadcast_to(ledger, (len(ticks), len(ledger)))
            found.setdefault((name, LEDGER_OF), []).append((ticks, final))
    return found


def digest_of(segments: Sequence[Segment]) -> str:
    """SHA-256 of the bits of all series in the order of their names, with the ticks at which they were taken."""
    digest, groups = hashlib.sha256(), _groups(segments)
    names = [name for group in groups for name in group.names]
    sizes = [len(group.names) for group in groups]
    numbers = np.repeat(np.arange(len(sizes)), sizes)  # whose group each name is in, and which of it
    members = np.concatenate([np.arange(size) for size in sizes]) if sizes else numbers
    order = sorted(range(len(names)), key=names.__getitem__)
    for start in range(0, len(order), MAX_NAMES):
        some = order[start : start + MAX_NAMES]
        starts = [names[k].encode() for k in some]
        for words in _words_of(groups, starts, numbers[some], members[some]):
            digest.update(words)
    return digest.hexdigest()


class NameGroup:
    """Names that stand in the same tables one after the other."""

    def __init__(self, names: Sequence[str], held: Sequence[Bits], rows: Indices) -> None:
        """`rows`: where each stands in which table, (names, tables)."""
        self.names, self.rows, self._held = names, rows, held

    @functools.cached_property
    def words(self) -> Words:
        """What is to be hashed of each."""
        return Words(self._held)


def _groups(segments: Sequence[Segment]) -> list[NameGroup]:
    """All names. Most stand together from the first segment to the last; the others are looked up one by one."""
    tables = [(tuple(names), bits) for segment in segments for names, bits in _bits_of(segment)]
    together: dict[tuple[str, ...], list[Bits]] = {}
    for names, bits in tables:
        together.setdefault(names, []).append(bits)
    if len(set().union(*together)) == sum(map(len, together)):
        return [
            NameGroup(names, held, np.broadcast_to(np.arange(len(names))[:, None], (len(names), len(held))))
            for names, held in together.items()
        ]
    places: dict[str, list[tuple[Bits, int]]] = {}
    for names, bits in tables:
        for row, name in enumerate(names):
            places.setdefault(name, []).append((bits, row))
    alike: dict[tuple[Bits, ...], list[str]] = {}
    for name, found in places.items():
        alike.setdefault(tuple(bits for bits, _ in found), []).append(name)
    return [
        NameGroup(names, held, np.array([[row for _, row in places[name]] for name in names]))
        for held, names in alike.items()
    ]


def _words_of(
    groups: Sequence[NameGroup], starts: Sequence[bytes], numbers: Indices, members: Indices
) -> Iterator[memoryview]:
    """What is to be hashed of some names, in their order; those of one group and of one length are put down at once."""
    lengths = np.array([len(start) for start in starts])
    kinds, kind = np.unique(np.stack([numbers, lengths]), axis=1, return_inverse=True)
    place = np.empty(len(starts), np.int64)
    sheets: list[Iterable[Bytes]] = []
    for k, (number, _) in enumerate(kinds.T):
        alike = np.flatnonzero(kind == k)
        place[alike] = range(len(alike))
        letters = np.frombuffer(b"".join(starts[one] for one in alike.tolist()), np.uint8).reshape(len(alike), -1)
        columns = groups[number].words.of(letters, groups[number].rows[members[alike]])
        sheets.append(columns if len(alike) == 1 else [np.concatenate(list(columns), axis=1)])
    breaks = np.flatnonzero(np.diff(kind)) + 1  # neighbours of one kind lie side by side: its members are in order
    for first, last in zip([0, *breaks.tolist()], [*(breaks - 1).tolist(), len(kind) - 1], strict=True):
        for words in sheets[kind[first]]:
            yield words[place[first] : place[last] + 1].data


class Sheet:
    """The bits of a series of a table, a row of bytes for each name; of a large one those that are asked for are put down."""

    def __init__(self, series: Array) -> None:
        """`series`: (samples, names, ...)."""
        self.of_one, self._series = series.shape[2:], series
        self._whole = _bytes_of(series) if series.nbytes <= MAX_PUT_DOWN else None

    def __getitem__(self, rows: Indices | slice) -> Bytes:
        if self._whole is not None:
            return self._whole[rows]
        return _bytes_of(self._series[:, rows] if isinstance(rows, slice) else np.take(self._series, rows, axis=1))


def _bytes_of(series: Array) -> Bytes:
    """(samples, names, ...) to (names, bytes)."""
    table = canonical(np.swapaxes(series, 0, 1))
    return table.reshape(-1).view(np.uint8).reshape(len(table), table.nbytes // max(len(table), 1))


class Bits:
    """Of a table of a segment."""

    def __init__(self, ticks: bytes, series: Mapping[str, Array]) -> None:
        self.ticks, self.sheets = ticks, {key: Sheet(array) for key, array in series.items()}


class Words:
    """What is to be hashed of a name that stands in these tables one after the other: the same words for all such names."""

    def __init__(self, held: Sequence[Bits]) -> None:
        self._series: list[list[tuple[Bytes, int, Sheet]]] = []  # bytes before those of a piece, which piece, its rows
        for key in sorted({key for bits in held for key in bits.sheets}):
            pieces = [(k, bits) for k, bits in enumerate(held) if key in bits.sheets]
            lead = f" {key}\n".encode() + b"".join(bits.ticks for _, bits in pieces)
            shape: tuple[int, ...] = ()
            parts: list[tuple[Bytes, int, Sheet]] = []
            for k, bits in pieces:
                sheet = bits.sheets[key]
                lead += repr(sheet.of_one).encode() if sheet.of_one != shape else b""
                parts.append((np.frombuffer(lead, np.uint8), k, sheet))
                lead, shape = b"", sheet.of_one
            self._series.append(parts)

    def of(self, names: Bytes, rows: Indices) -> Iterator[Bytes]:
        """All series of these names, in the order of theirs, as bytes (names, ...) each; `rows`: where each stands in which table.

        Of a name alone nothing is copied: its series may be long.
        """
        alone = len(names) == 1
        for parts in self._series:
            yield names
            for lead, k, sheet in parts:
                yield np.broadcast_to(lead, (len(names), len(lead)))
                yield sheet[rows[0, k] : rows[0, k] + 1] if alone else sheet[rows[:, k]]


def _bits_of(segment: Segment) -> Iterator[tuple[Sequence[str], Bits]]:
    """Whose rows, and their bits; final lines of ledgers are tables of one row."""
    ticks = np.ascontiguousarray(segment.ticks[: segment.used], "<i8").tobytes()

    for part in PARTS:
        for names, series in getattr(segment, part):
            yield names, Bits(ticks, {key: array[: segment.used] for key, array in series.items()})
    for name, ledger in segment.closed.items():
        yield [name], Bits(ticks, {LEDGER_OF: np.broadcast_to(ledger, (segment.used, 1, len(ledger)))})


def canonical(values: Array) -> Array:
    """Little-endian, contiguous, and with one NaN for all: how machines sign theirs is no result."""
    plain = np.ascontiguousarray(values, "<f8")
    return np.where(np.isnan(plain), np.nan, plain) if np.isnan(plain).any() else plain


def differ(first: Array, second: Array) -> Array:
    """Where the bits of two arrays of one shape differ; a NaN is a NaN, and -0.0 is not 0.0."""
    return np.asarray(canonical(first).view(np.uint64) != canonical(second).view(np.uint64))
