"""What an ensemble has recorded: pieces of one variant or of several that ran side by side.

Where a port is in all variants of a piece.

What stays of the samples of an ensemble: all of them, some, or what they come to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from coordinator.ensemble.parameters import BODY
from coordinator.ensemble.variants import Variants
from coordinator.record.recorder import Segment
from coordinator.record.series import PARTS
from modular.body import Body, StackMembers
from modular.elements import Array, Indices
from modular.errors import ModelError
from modular.tiles import TileRows, Which


@dataclass
class VariantNotices:
    """What is told of a variant beside its samples."""

    events: list[dict[str, Any]] = field(default_factory=list)
    margins: list[dict[str, Any]] = field(default_factory=list)
    forms: dict[str, dict[str, Any]] = field(default_factory=dict)
    estimate: dict[str, Any] | None = None  # about how far it is off; None: to be found from the samples
    reason: str = ""  # why it was retired; nothing where it came to its end
    component: str = ""  # the body or joint to look at first
    missed: float | None = None  # what its steps left out [m], where the method tells
    tick: int = 0  # the tick that it reached, or in which it went wrong


@dataclass
class Piece:
    """Variants that were recorded together; arrays are shared, names say whose."""

    segments: list[Segment]
    told: Mapping[int, VariantNotices]  # by variant
    mark: str | None = None  # between a name of the model and the number of the variant, where there are several
    seconds: float = 0.0  # of computing
    places: dict[str, Array] = field(default_factory=dict)  # of ports, (samples, variants, d), where no more was kept
    place_ticks: Indices = field(default_factory=lambda: np.empty(0, np.int64))
    extremes: dict[str, Array] = field(default_factory=dict)  # of ports, lowest and highest, (variants, 2, d)
    which: Which | None = None  # of those that were laid out together: what members are called in each

    @property
    def variants(self) -> tuple[int, ...]:
        """Their numbers."""
        return tuple(self.told)

    @property
    def retired(self) -> dict[int, VariantNotices]:
        """Those that did not come to their end; what ran side by side did."""
        return {k: told for k, told in self.told.items() if told.reason} if isinstance(self.told, dict) else {}

    def called(self, name: str, variant: int) -> str:
        """What a member of the model is called in the samples."""
        return name if self.mark is None else f"{name}{self.mark}{variant}"

    def named(self, name: str) -> str:
        """What something that is called so in the samples is called in the model."""
        return name if self.mark is None else name.rpartition(self.mark)[0]

    @cached_property
    def ticks(self) -> Indices:
        """Of the samples."""
        return np.concatenate([s.ticks[: s.used] for s in self.segments]) if self.segments else np.empty(0, np.int64)

    def series(self, part: str, name: str, key: str) -> Array | None:
        """A series of a member in all variants, (samples, variants, …); NaN while it was not there, None where it never was."""
        found: list[Array | None] = []
        for segment in self.segments:
            if (quick := self._in_order(segment, part, name, key)) is not None:
                found.append(quick)
                continue
            places = [segment.series(part, self.called(name, variant)) for variant in self.variants]
            there = [place for place in places if place is not None and key in place[0]]
            if not there:
                found.append(None)
                continue
            table = there[0][0][key]
            if len(there) == len(places) and all(place[0] is there[0][0] for place in there):
                found.append(table[: segment.used, [place[1] for place in there]])
                continue
            values = np.full((segment.used, len(places), *table.shape[2:]), np.nan)
            for k, place in enumerate(places):
                if place is not None and key in place[0]:
                    values[:, k] = place[0][key][: segment.used, place[1]]
            found.append(values)
        shapes = [values.shape[2:] for values in found if values is not None]
        if not shapes:
            return None
        absent = [
            np.full((segment.used, len(self.told), *shapes[0]), np.nan) if values is None else values
            for segment, values in zip(self.segments, found, strict=True)
        ]
        return np.concatenate(absent)

    def _in_order(self, segment: Segment, part: str, name: str, key: str) -> Array | None:
        """The same where rows of all variants follow each other as at the beginning; None: they have to be looked for."""
        if self.mark is None or len(self.told) < 2:
            return None
        for names, series in getattr(segment, part):
            if key in series and (found := self._row_of_first(names, name)) is not None:
                row, step = found
                return series[key][: segment.used, row::step] if step else None
        return None

    def _row_of_first(self, names: list[str], name: str) -> tuple[int, int] | None:
        """Where a member is in the first variant, and how far on it is in each that follows, 0 where they stand otherwise.

        None where it is not there. Segments share lists of names, so each list is looked through once.
        """
        known, place = self._looked_through.get((id(names), name), (None, None))
        if known is names:
            return place
        step, more = divmod(len(names), len(self.told))
        called = self.beside.called(name)
        found: tuple[int, int] | None = None
        if not more and called[0] in (head := names[:step]):
            row = head.index(called[0])
            found = row, step if names[row::step] == called else 0
        self._looked_through[id(names), name] = names, found
        return found

    @cached_property
    def beside(self) -> Which:
        """Its variants, and what members of the model are called in each."""
        return Which(self.variants) if self.which is None else self.which

    @cached_property
    def _looked_through(self) -> dict[tuple[int, str], tuple[list[str], tuple[int, int] | None]]:
        """By a list of names and a member where it stands there; lists are kept, so that no other takes the place of one."""
        return {}

    def of(self, variant: int) -> list[Segment]:
        """The samples of one, by the names of the model."""
        if self.mark is None:
            return self.segments
        return list(together(self._part(segment, variant) for segment in self.segments))

    def _part(self, segment: Segment, variant: int) -> Segment:
        ending = f"{self.mark}{variant}"

        def mine(names: Sequence[str], series: Mapping[str, Array]) -> tuple[list[str], dict[str, Array]] | None:
            rows = [row for row, name in enumerate(names) if name.endswith(ending)]
            if not rows:
                return None
            first, last = rows[0], rows[-1] + 1
            which: Any = slice(first, last) if last - first == len(rows) else rows
            own = {key: array[:, which] for key, array in series.items()}
            return [self.named(names[row]) for row in rows], own

        bodies, joints, forces = (
            [part for group in getattr(segment, part_name) if (part := mine(*group)) is not None] for part_name in PARTS
        )
        closed = {self.named(name): ledger for name, ledger in segment.closed.items() if name.endswith(ending)}
        return Segment(segment.ticks, bodies, joints, forces, closed, segment.used, segment.finished)

    def sampled(self, which: Any) -> Piece:
        """The same with some of its samples, by their numbers, in memory of their own."""
        chosen = np.arange(len(self.ticks))[which]
        segments, start = [], 0
        for segment in self.segments:
            here = chosen[(chosen >= start) & (chosen < start + segment.used)] - start
            start += segment.used
            if len(here):
                segments.append(_picked(segment, here))
        return Piece(segments, self.told, self.mark, self.seconds, which=self.which)


def _picked(segment: Segment, which: Indices) -> Segment:
    def picked(part: list[tuple[list[str], dict[str, Array]]]) -> list[tuple[list[str], dict[str, Array]]]:
        return [(names, {key: array[which] for key, array in series.items()}) for names, series in part]

    bodies, joints, forces = (picked(getattr(segment, part)) for part in PARTS)
    return Segment(segment.ticks[which], bodies, joints, forces, segment.closed, len(which), True)


def together(segments: Iterator[Segment]) -> Iterator[Segment]:
    """Segments in which the same are there, one after the other, as one: others came or went between them."""
    run: list[Segment] = []
    for segment in segments:
        if run and not _alike(run[-1], segment):
            yield _joined(run)
            run = []
        run.append(segment)
    if run:
        yield _joined(run)


def _alike(one: Segment, other: Segment) -> bool:
    same = all(
        [names for names, _ in getattr(one, part)] == [names for names, _ in getattr(other, part)] for part in PARTS
    )
    return same and one.closed.keys() == other.closed.keys()


def _joined(run: list[Segment]) -> Segment:
    if len(run) == 1:
        return run[0]

    def joined(part: str) -> list[tuple[list[str], dict[str, Array]]]:
        return [
            (names, {key: np.concatenate([getattr(s, part)[k][1][key][: s.used] for s in run]) for key in series})
            for k, (names, series) in enumerate(getattr(run[0], part))
        ]

    ticks = np.concatenate([segment.ticks[: segment.used] for segment in run])
    return Segment(ticks, joined("bodies"), joined("joints"), joined("forces"), run[-1].closed, len(ticks), True)


def places_in(piece: Piece, variants: Variants, port: str) -> Array | None:
    """Positions of a port [m], (samples, variants, d); None where its body never was there."""
    if port in piece.places:
        return piece.places[port]
    body, name = port_of(variants, port)
    return places_on(piece, variants, body, [name]).get(name)


def places_on(piece: Piece, variants: Variants, body: str, ports: Sequence[str]) -> dict[str, Array]:
    """The same of ports of one body, by their names; nothing where it never was there."""
    q = piece.series("bodies", body, "q")
    if q is None:
        return {}
    bodies = bodies_of(variants, body, piece.beside)
    if isinstance(bodies, TileRows) or len({each.port_names for each in bodies}) == 1:
        found = type(bodies[0]).port_places(bodies, q)
        of_each, order = found.reshape(*q.shape[:2], -1, found.shape[-1]), bodies[0].port_names
        return {port: np.asarray(of_each[:, :, order.index(port)]) for port in ports}

    def place(port: str) -> Array:
        return of_each_body(bodies, lambda one, k: one.port_motion(port, q[:, k], q[:, k], q[:, k])[0])

    return {port: place(port) for port in ports}


def rates_in(piece: Piece, variants: Variants, port: str) -> Array | None:
    """Velocities of a port [m/s], (samples, variants, d)."""
    body, name = port_of(variants, port)
    q, v, a = (piece.series("bodies", body, key) for key in "qva")
    if q is None or v is None or a is None:
        return None
    bodies = bodies_of(variants, body, piece.beside)
    return of_each_body(bodies, lambda one, k: one.port_motion(name, q[:, k], v[:, k], a[:, k])[1])


def bodies_of(variants: Variants, name: str, which: Which) -> StackMembers | TileRows:
    """A body as each of these variants describes it."""
    if name in variants.columns:
        return variants.bodies(which).rows_of([name])
    if not any(found.kind == BODY and found.owner == name for found in variants.parameters):
        return StackMembers([variants.model.bodies[name]] * len(which))
    return StackMembers(variants.member(BODY, name, k) for k in which)


def of_each_body(bodies: Sequence[Body], read: Callable[[Body, int], Array]) -> Array:
    """What is read of each body, (samples, bodies, …)."""
    return np.stack([read(body, k) for k, body in enumerate(bodies)], axis=1)


def port_of(variants: Variants, port: str) -> tuple[str, str]:
    """The body and the port of it that a name means."""
    found = variants.model.port(port, "Ensemble")
    if found.body not in variants.model.bodies:
        raise ModelError(f"Ensemble: '{port}' is no port of a body; give one such as 'upper.end'.")
    return found.body, found.port


ALL, FINAL, EXTREMES, PLACES = "all", "final", "extremes", "places"


@dataclass(frozen=True)
class Keep:
    """What stays."""

    name: str
    every: int = 1

    @property
    def as_given(self) -> str | int:
        """As people give it."""
        return self.name if self.name in (ALL, FINAL, EXTREMES, PLACES) else self.every

    @property
    def whole(self) -> bool:
        """Whether all samples stay."""
        return self.name == ALL

    def piece(self, piece: Piece, variants: Variants) -> Piece:
        """A piece with what stays of it."""
        if self.name == ALL:
            return piece
        if self.name == FINAL:
            return piece.sampled(slice(-1, None))
        if self.name not in (EXTREMES, PLACES):
            return piece.sampled(slice(None, None, self.every))
        kept = piece.sampled(slice(-1, None))
        for name, body in variants.model.bodies.items():
            for port, places in places_on(piece, variants, name, body.port_names).items():
                if self.name == PLACES:  # of one port: it was read with others
                    kept.places[f"{name}.{port}"], kept.place_ticks = places.copy(), piece.ticks
                else:
                    extremes = [places.min(axis=0), places.max(axis=0)]
                    kept.extremes[f"{name}.{port}"] = np.stack(extremes, axis=1)
        return kept


def ports_of(variants: Variants) -> list[str]:
    """All ports of the bodies that a model begins with."""
    return [f"{name}.{port}" for name, body in variants.model.bodies.items() for port in body.port_names]


def keep_of(keep: Any) -> Keep:
    """What `keep=` says."""
    known: Keep | None = None
    if isinstance(keep, str):
        known = Keep(keep) if keep in (ALL, FINAL, EXTREMES, PLACES) else None
    elif isinstance(keep, int | np.integer) and not isinstance(keep, bool) and keep > 0:
        known = Keep(f"every {int(keep)}", int(keep))
    if known is None:
        raise ModelError(
            f"Ensemble: keep = {keep!r}; give 'all', 'final', 'extremes', 'places', or a whole number n for every n-th sample."
        )
    return known
