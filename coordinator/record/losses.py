"""Energy that came or went where none should: in joints, in the ledgers of forces, and within bodies.

A joint takes what its damper takes and its ledgers leave open, as far as its bodies have given it anything: where a load that it
has carried from the start goes, its spring gives less than its ledgers tell, and that is nobody's loss. Elastic energy comes back.

A force gives and takes as it likes, and has lost what its ledgers leave open, but for dampers: where those rise or fall within a
few ticks their ledgers are less right than the motion, which forgets what they took. Nothing is said of walls that tell by
themselves how fast they let go what came.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import fsum, nan
from typing import Any

import numpy as np

from coordinator.record.recorder import Segment
from coordinator.record.verdict import Loss
from coordinator.record.ways import MAX_CORNER_BODIES, Bodies, Pull
from modular.elements import Array
from modular.ledger import DISSIPATED, IMPACT, LEAKED, RELEASED, STORED, SUPPLIED

BOOKED = [STORED, DISSIPATED, SUPPLIED, RELEASED, IMPACT, LEAKED]  # all lines but works: what bodies have not any more
DAMPER_ACCURACY = 1e-3  # of what they take: so far are their ledgers right
RINGING_TICKS = 500  # ticks; a joint that sees a tenth of its mass has then 1e-3 of its energy left
MAX_RINGING_JOINTS = 32  # joints of one form whose ringing is told apart


def kept(ledgers: Array) -> Array:
    """What joints do not give back [J]; `ledgers`: (..., lines)."""
    total: Array = ledgers[..., DISSIPATED] + ledgers[..., LEAKED]
    return total


@dataclass(frozen=True)
class Blows:
    """When joints ring: one made between moving points stops its own two sides at once, and those around it take up the jump."""

    segments: int = 0  # that were looked at
    until: int = -1  # the tick up to which they ring
    taken: Mapping[str, float] = field(default_factory=dict)  # by blows, at each joint that is there [J]

    def then(self, segment: Segment) -> Blows:
        """With another segment: whoever comes, comes at its beginning."""
        taken = {
            names[row]: float(series["ledger"][0, row, IMPACT])
            for names, series in segment.joints
            for row in np.flatnonzero(series["ledger"][0][:, IMPACT]).tolist()
        }
        struck = self.segments > 0 and any(lost != self.taken.get(name) for name, lost in taken.items())
        return Blows(self.segments + 1, int(segment.ticks[0]) + RINGING_TICKS if struck else self.until, taken)


@dataclass(frozen=True)
class Ringing:
    """What joints took while they rang: energy of the blow, which in truth they would have taken at once as well.

    As with lifetimes below, it does not matter into how many segments it is parted while the same joints are there.
    """

    blows: Blows = field(default_factory=Blows)
    before: Mapping[str, float] = field(default_factory=dict)  # what each took in times that are over [J]
    there: Sequence[Sequence[str]] = ()  # who rings
    first: Sequence[Array] = ()  # what they had kept when they began to
    last: Sequence[Array] = ()

    @property
    def took(self) -> Mapping[str, float]:
        """All of it [J]."""
        took = dict(self.before)
        for names, first, last in zip(self.there, self.first, self.last, strict=True):
            rang = last - first
            for row in np.argsort(-np.abs(rang), kind="stable")[:MAX_RINGING_JOINTS].tolist():
                took[names[row]] = took.get(names[row], 0.0) + float(rang[row])
        return took

    def then(self, segment: Segment) -> Ringing:
        """With another segment."""
        blows = self.blows.then(segment)
        within = int(np.searchsorted(segment.ticks[: segment.used], blows.until, side="right"))
        if not within:
            return Ringing(blows, self.took)
        last = [kept(series["ledger"][within - 1]) for _, series in segment.joints]
        there = [names for names, _ in segment.joints]
        if there == self.there and blows.until == self.blows.until:
            return replace(self, blows=blows, last=last)
        first = [kept(series["ledger"][0]) for _, series in segment.joints]
        return Ringing(blows, self.took, there, first, last)


@dataclass(frozen=True)
class InternalLosses:
    """Energy that came or went and that no ledger tells of [J]: what bodies lost or gained within themselves.

    It is looked at from beginning to end while the same components are there, into how many segments that may be parted.
    Nothing is said of many bodies, of those that have damping, and of those that are led.
    """

    segments: int = 0  # that were looked at
    before: float = 0.0  # what was lost in those that are over
    there: Any = None  # who takes part
    first: float = 0.0  # energy of bodies and in ledgers where this one began
    last: float = 0.0

    @property
    def strayed(self) -> float:
        """All of it."""
        return self.before + abs(self.last - self.first)

    def then(self, segment: Segment, bodies: Bodies, pull: Pull) -> InternalLosses:
        """With another segment."""
        who = [names for names, _ in (*segment.bodies, *segment.joints, *segment.forces)]
        if who == self.there:
            last = accounted(segment, segment.used - 1, bodies, pull)
            return replace(self, segments=self.segments + 1, last=last)
        ends = (accounted(segment, at, bodies, pull) for at in (0, segment.used - 1))
        return InternalLosses(self.segments + 1, self.strayed, who, *ends)


@dataclass(frozen=True)
class Losses:
    """Both, up to some segment."""

    ringing: Ringing = field(default_factory=Ringing)
    internal_losses: InternalLosses = field(default_factory=InternalLosses)

    def then(self, segments: Iterable[Segment], bodies: Bodies, pull: Pull) -> Losses:
        """With other segments."""
        ringing, internal_losses = self.ringing, self.internal_losses
        for segment in segments:
            ringing, internal_losses = ringing.then(segment), internal_losses.then(segment, bodies, pull)
        return Losses(ringing, internal_losses)

    def worst(self, last: Segment, joints: Mapping[str, Any], *, damps: bool = False) -> tuple[Loss, Loss]:
        """What joints took, and what forces and bodies lost, of all that were ever there; `joints`: by name.

        `damps`: dampers that are stiffer than the step may take all that there is within one, and bodies know a share of it.
        """
        gone: tuple[dict[str, Array], dict[str, Array]] = {}, {}  # joints and forces
        for name, ledger in last.closed.items():
            gone[0 if name in joints else 1][name] = ledger
        rang = self.ringing.took
        taken = Loss.of(
            "joint",
            ((names, _for_good(names, ledgers, rang)) for names, ledgers in _ledgers_of(last.joints, last, gone[0])),
        )
        ledgers = list(_ledgers_of(_silent(last), last, gone[1]))
        together, blows = _struck(last)
        leaked = Loss.of(
            "force", (*((names, _beyond_dampers(ledger)) for names, ledger in ledgers), (together, np.array(blows)))
        )
        found = replace(leaked, struck=leaked.name in together)
        known = DAMPER_ACCURACY * sum(_sum(ledger[:, DISSIPATED].tolist()) for _, ledger in ledgers) if damps else 0.0
        return taken, found.beside(max(self.internal_losses.strayed - known, 0.0))


def _ledgers_of(
    stacks: Sequence[tuple[list[str], dict[str, Array]]], last: Segment, gone: Mapping[str, Array]
) -> Iterator[tuple[list[str], Array]]:
    """As they stand in the end, of those that are there and of those that went."""
    yield from ((names, series["ledger"][last.used - 1]) for names, series in stacks)
    if gone:
        yield list(gone), np.array(list(gone.values()))


def _strikes(last: Segment) -> bool:
    """Whether shapes have met in blows."""
    return any(series["sunk"][last.used - 1, :, 1].any() for _, series in last.forces if "sunk" in series)


def _struck(last: Segment) -> tuple[list[str], list[float]]:
    """Contacts after blows leak into each other, as one tick shares a blow between them: their sum, by who leaked most [J]."""
    ledgers = [(names, series["ledger"][last.used - 1]) for names, series in last.forces if "sunk" in series]
    if not _strikes(last):
        return [], []
    names = [name for part, _ in ledgers for name in part]
    ledger = np.concatenate([part for _, part in ledgers])
    left = abs(_sum(ledger[:, LEAKED].tolist())) - DAMPER_ACCURACY * _sum(np.abs(ledger[:, DISSIPATED]).tolist())
    return [names[int(np.argmax(np.abs(ledger[:, LEAKED])))]], [max(left, 0.0)]


def _silent(last: Segment) -> list[tuple[list[str], dict[str, Array]]]:
    """Forces that tell of no lateness, with their ledgers; contacts without blows."""
    found, struck = [], _strikes(last)
    for names, series in last.forces:
        if struck and "sunk" in series:
            continue
        tells = series["late"][last.used - 1].any(axis=-1) if "late" in series else np.zeros(len(names), bool)
        rows = np.flatnonzero(~tells).tolist()
        found.append(([names[row] for row in rows], {"ledger": series["ledger"][:, rows]}))
    return found


def _for_good(names: Sequence[str], ledgers: Array, rang: Mapping[str, float]) -> Array:
    """What joints keep, without what they took while they rang, and no more than their bodies gave."""
    rest = kept(ledgers) - np.array([rang.get(name, 0.0) for name in names]) if rang else kept(ledgers)
    least: Array = np.minimum(np.abs(rest), np.abs(rest + ledgers[:, STORED] + ledgers[:, RELEASED]))
    return least


def _beyond_dampers(ledgers: Array) -> Array:
    """Leaks of forces, as far as no damper explains them."""
    left: Array = np.maximum(np.abs(ledgers[:, LEAKED]) - DAMPER_ACCURACY * np.abs(ledgers[:, DISSIPATED]), 0.0)
    return left


def accounted(segment: Segment, at: int, bodies: Bodies, pull: Pull) -> float:
    """Energy of the bodies, and what ledgers tell of [J], at a sample; nothing where nothing is to be said."""
    if sum(len(names) for names, _ in segment.bodies) > MAX_CORNER_BODIES:
        return 0.0
    held = [
        (bodies[name], row, series, pull(name)) for names, series in segment.bodies for row, name in enumerate(names)
    ]
    if any(body.damped or body.led for body, *_ in held):
        return 0.0
    energies: list[float] = []
    for body, row, series, gravity in held:
        q, v = series["q"][at, row], series["v"][at, row]
        energies += (float(body.kinetic_energy(q, v)), float(body.potential_energy(q, gravity)))
    for _, series in (*segment.joints, *segment.forces):
        energies += series["ledger"][at][..., BOOKED].ravel().tolist()
    return _sum(energies)


def _sum(numbers: Sequence[float]) -> float:
    """In whatever order they stand: the same bits. None that could be told of numbers that have left the world."""
    try:
        return fsum(numbers)
    except (OverflowError, ValueError):
        return nan
