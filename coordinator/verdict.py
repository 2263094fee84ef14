"""A verdict on a run from what it has recorded: whether its joints gave way by more than anybody would want.

A joint that is a spring opens by load over stiffness, and what hangs on it stands wrong by that much: by its gap, or by the angle
it gives times as far as the mechanism reaches. Compared with the extent of the model this is what a reader of the run should know
first; it says nothing of how such errors grow in motions that are sensitive. It hangs on samples alone, not on how they were made.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np

from coordinator.record.recorder import Segment
from modular.elements import Array, Indices

TOO_MUCH = 0.01  # of the extent of the model
LITTLE = 1e-3  # of it: what a smaller step should bring it down to


@dataclass(frozen=True)
class Finding:
    """A joint, and by how much it gave way when that was most."""

    joint: str
    tick: int
    gap: float  # [m]
    turn: float  # [rad]
    share: float  # of the extent of the model

    def event(self, dt: float) -> dict[str, Any]:
        """As it stands in the log."""
        found = {"tick": self.tick, "time": self.tick * dt, "kind": "verdict", "name": self.joint}
        return found | {"gap": self.gap, "turn": self.turn, "share": self.share}

    def sentence(self, dt: float) -> str:
        """What it means, and what helps."""
        gave = [f"opened by {self.gap:.2g} m"] * (self.gap > 0.0) + [f"given by {self.turn:.2g} rad"] * (
            self.turn > 0.0
        )
        return (
            f"joint '{self.joint}' has {' and '.join(gave)} at {self.tick * dt:.6g} s: what hangs on it is off by "
            f"{self.share:.0%} of the extent of the model. Remedy: take dt = {dt * sqrt(LITTLE / self.share):.2g} s, since gaps "
            "fall with its square, or joints that do not give: Glued()."
        )


def summed_up(findings: Sequence[Finding], dt: float) -> str:
    """The worst of them in a sentence, and how many there are beside it."""
    worst = max(findings, key=lambda found: found.share)
    others = len(findings) - 1
    more = f" So it is with {others} more joint{'s' * (others > 1)}, less." if others else ""
    return worst.sentence(dt) + more


class Verdict:
    """Looks at samples that were taken since it looked last."""

    def __init__(self) -> None:
        self._seen: list[tuple[Indices, int]] = []  # ticks of the segments, and how many of them
        self._extent = 0.0
        self._worst: dict[str, Finding] = {}
        self.told: set[str] = set()  # of whom a warning has told

    def findings(
        self, segments: Sequence[Segment], forms: Mapping[str, Mapping[str, Any]], bodies: Mapping[str, Any]
    ) -> list[Finding]:
        """Joints that gave way by too much, in the order of their names."""
        extent = extent_of(bodies)
        seen = [(segment.ticks, segment.used) for segment in segments]
        if extent != self._extent or not goes_on(self._seen, seen):
            self._extent, self._seen, self._worst = extent, [], {}
        for k, segment in enumerate(segments):
            first = self._seen[k][1] if k < len(self._seen) else 0
            for names, series in segment.joints if first < segment.used else ():
                self._look(names, series["violation"][first : segment.used], segment.ticks[first : segment.used], forms)
        self._seen = seen
        return [self._worst[name] for name in sorted(self._worst)]

    def _look(
        self, names: Sequence[str], violation: Array, ticks: Indices, forms: Mapping[str, Mapping[str, Any]]
    ) -> None:
        if self._extent <= 0.0 or not names:
            return
        split = int(forms[names[0]]["translations"])  # joints of one form stand together
        gaps = np.sqrt(np.einsum("tnr,tnr->tn", violation[..., :split], violation[..., :split]))
        turns = np.sqrt(np.einsum("tnr,tnr->tn", violation[..., split:], violation[..., split:]))
        shares = gaps / self._extent + turns
        if not np.isfinite(shares).all():
            return  # what has diverged says so itself
        most = np.argmax(shares, axis=0)
        for k in np.flatnonzero(shares.max(axis=0) > TOO_MUCH).tolist():
            at = int(most[k])
            found = Finding(names[k], int(ticks[at]), float(gaps[at, k]), float(turns[at, k]), float(shares[at, k]))
            if names[k] not in self._worst or self._worst[names[k]].share < found.share:
                self._worst[names[k]] = found


def goes_on(before: Sequence[tuple[Indices, int]], now: Sequence[tuple[Indices, int]]) -> bool:
    """Whether nothing has been taken back."""
    if len(before) > len(now):
        return False
    return all(old is new and k <= m for (old, k), (new, m) in zip(before, now, strict=False))


def extent_of(bodies: Mapping[str, Any]) -> float:
    """The longest side of a box around all ports, as bodies were described [m]; 0 where that says nothing."""
    points: list[Any] = []
    for body in bodies.values():
        places = getattr(body, "places", None)
        points += (
            [place.point for place in places.values() if hasattr(place, "point")] if isinstance(places, Mapping) else []
        )
        points += [
            end for end in (getattr(body, "start", ()), getattr(body, "end", ())) if 1 < len(np.atleast_1d(end)) < 4
        ]
    lengths = {len(point) for point in points}
    return float(np.ptp(np.array(points, float), axis=0).max()) if len(lengths) == 1 else 0.0
