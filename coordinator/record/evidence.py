"""What samples tell of how far a run is off: gaps, slips, energy that joints took, and the way that was gone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from coordinator.record.losses import Blows, Losses
from coordinator.record.recorder import Segment, Taken
from coordinator.record.verdict import SAGITTA_DIVISOR, Estimate, Loss
from coordinator.record.ways import Bodies, Ways, extent_of, sizes_of, spread_of
from modular.elements import Array, Indices

# of the extent: joints that open so far where something is driven may be asked for what cannot be
GYROSCOPIC_DIVISOR = 24.0  # of the square of the angle of a step: by so much a gyroscopic moment is off, at order 2
WIDE_GAP_SHARE = 1e-2
STRIKE_ERROR_WEIGHT = 0.2  # of what a sample is off by in which something strikes: it is right again a tick later
MAX_WEIGHED_JOINTS = 32  # joints of one form that are weighed by the size of what hangs on them
Forms = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True)
class Recorded:
    """What a run has recorded, and of whom."""

    taken: Taken
    forms: Forms
    bodies: Bodies
    dt: float
    gravity: Array
    beta: float = 0.0  # Newmark's: by so much of a jump of velocity in a tick, times dt, a sample of it is off
    at_once: bool = False  # whether all joints hold at once: then a free turn is followed exactly in space as well
    damps: bool = (
        False  # whether forces that are stiffer than the step are: then what they begin with is over within one
    )

    gravity_of: Callable[[str], Array] | None = None  # what pulls at each body, where that is not the same

    def pull(self, body: str) -> Array:
        """What pulls at a body [m/s^2]."""
        return self.gravity if self.gravity_of is None else self.gravity_of(body)

    @property
    def segments(self) -> Sequence[Segment]:
        """All of them hold samples."""
        return self.taken.segments


@dataclass(frozen=True)
class Deflection:
    """By how much a joint gave when that was most, the angle taken as far as the model reaches."""

    joint: str
    form: str
    tick: int
    gap: float  # [m]
    turn: float  # [rad]
    size: float  # [m]
    rings: bool  # after a blow


class Evidence:
    """Looks at samples that were taken since it looked last; at the last one each time, for an event may take it back."""

    def __init__(self) -> None:
        self._forget()
        self._last: tuple[Any, Estimate | None] = (None, None)

    def _forget(self) -> None:
        self._seen: tuple[int, Segment | None, int] = (
            0,
            None,
            0,
        )  # the segment up to which, and how many of its samples
        self._before: int | None = None  # the tick of the last of them
        self._ways = Ways()
        self._losses = Losses()
        self._sizes: dict[str, float] = {}
        self._extent = 0.0
        self._gave: dict[tuple[str, bool], Deflection] = {}  # while joints ring after a blow, and else
        self._blows = Blows()
        self._slid: dict[str, tuple[float, float]] = {}  # ways [m] and angles [rad]
        self._behind: dict[str, Behind] = {}

    def estimate(
        self, recorded: Recorded, order: int | None, *, least: bool = False, missed: float | None = None
    ) -> Estimate | None:
        """How far the run is off; None where there is nothing to judge by.

        `least`: forces begin and end inside ticks. `missed`: what steps left out of paths [m], where the method has told.
        """
        segments = recorded.segments
        mark = (segments[-1], segments[-1].used, len(segments), missed) if segments else None
        if mark is None or (self._last[0] is not None and same(self._last[0], mark)):
            return self._last[1] if mark is not None else None
        with np.errstate(all="ignore"):  # what has diverged says so itself
            found = self._judged(recorded, order, least, missed)
        self._last = (mark, found)
        return found

    def _judged(self, recorded: Recorded, order: int | None, least: bool, missed: float | None) -> Estimate | None:
        if not self._goes_on(recorded.segments):
            self._forget()
        segments, dt = recorded.segments, recorded.dt
        self._extent = self._extent or extent_of(segments, recorded.bodies)
        way, bend, bending, kinetic, moved, twist = self._ways.travelled(
            recorded.taken, recorded.bodies, dt, recorded.pull, at_once=recorded.at_once,
            damps=recorded.damps,
        )  # fmt: skip
        # of one point, also the way that it goes
        extent = self._extent or max(way, spread_of(segments, recorded.bodies))
        if not extent:
            return None
        last = segments[-1].used - 1
        self._look_at_new(recorded, last)
        sure = self._seen, self._before, dict(self._gave), dict(self._slid), self._blows, dict(self._behind)
        self._look_at_new(recorded, last + 1)
        taken, lost = (loss.over(kinetic) for loss in self._lost(recorded))
        gave, most = self._worst(recorded, extent, way / extent)
        slides = {name: there / extent + turn for name, (there, turn) in self._slid.items()}
        slid = max(slides.values(), default=0.0)
        if slid > gave:
            joint = max(slides, key=lambda name: slides[name])
            most = {"joint": joint, "tick": int(segments[-1].ticks[last])}
        most |= self._latest(extent)
        wide = any(one.gap > WIDE_GAP_SHARE * extent for one in self._gave.values())
        most["strained"] = wide and any(form["drives"] for form in recorded.forms.values())
        self._seen, self._before, self._gave, self._slid, self._blows, self._behind = sure
        if not np.isfinite([way, bending, gave, slid, taken.share, lost.share, bend, most.get("late", 0.0)]).all():
            return None
        spun = twist / GYROSCOPIC_DIVISOR * SAGITTA_DIVISOR ** (2.0 / (order or 2))  # as a bend that errs as much
        parts = (way / extent, gave, slid, taken, lost, max(bend / extent, spun), bending / extent)
        if missed is not None:
            missed = missed / extent if np.isfinite(missed) else 1.0
        return Estimate.of(extent, *parts, order, missed, least=least, moved=moved, **most)

    def _latest(self, extent: float) -> dict[str, Any]:
        """The wall behind which things fall back most, and by what share of the extent."""
        shares = {name: behind.way / extent + behind.turn for name, behind in self._behind.items()}
        wall = max(shares, key=lambda name: shares[name], default="")
        if not wall or shares[wall] <= 0.0:
            return {}
        return {"late": shares[wall], "wall": wall, "shorter": self._behind[wall].shorter}

    def _goes_on(self, segments: Sequence[Segment]) -> bool:
        """Whether nothing has been taken back of what was looked at: that is done at the end alone, or with other segments."""
        k, segment, used = self._seen
        return segment is None or (k < len(segments) and segments[k] is segment and used <= segment.used)

    def _lost(self, recorded: Recorded) -> tuple[Loss, Loss]:
        """Energy that joints took, and that forces and bodies lost, in the whole run; what is finished is asked once."""
        segments, about = recorded.segments, (recorded.bodies, recorded.pull)
        self._losses = self._losses.then(segments[self._losses.internal_losses.segments : -1], *about)
        return self._losses.then(segments[-1:], *about).worst(segments[-1], recorded.forms, damps=recorded.damps)

    def _look_at_new(self, recorded: Recorded, last: int) -> None:
        """Up to so many samples of the last segment."""
        (start, _, first), segments = self._seen, recorded.segments
        for k in range(start, len(segments)):
            segment = segments[k]
            stop = last if k == len(segments) - 1 else segment.used
            ticks = segment.ticks[first:stop]
            if len(ticks):
                if k >= self._blows.segments:
                    self._blows = self._blows.then(segment)
                pauses = recorded.dt * np.diff(ticks, prepend=ticks[0] if self._before is None else self._before)
                for names, series in segment.joints:
                    new = {key: values[first:stop] for key, values in series.items()}
                    self._look(names, new, ticks, pauses, recorded.forms)
                for names, series in segment.forces:
                    self._behind.update(fallen_behind(names, series, stop - 1, STRIKE_ERROR_WEIGHT * recorded.beta))
                self._before = int(ticks[-1])
            if stop or k == 0:  # a segment of which nothing was looked at may be another one next time
                self._seen = k, segment, stop
            first = 0

    def _look(
        self, names: Sequence[str], series: Mapping[str, Array], ticks: Indices, pauses: Array, forms: Forms
    ) -> None:
        if not names:
            return
        form = forms[names[0]]  # joints of one form stand together
        split = int(form["translations"])
        if not form["holonomic"]:
            ways, turns = parted(series["violation_rate"], split)
            slides = pauses[:, None, None] * np.stack([ways, turns], axis=-1)
            so_far = np.array([[self._slid.get(name, (0.0, 0.0)) for name in names]])
            total = np.cumsum(np.concatenate([so_far, slides]), axis=0)[-1]  # in order: the same bits in parts
            self._slid.update((name, (there, turn)) for name, (there, turn) in zip(names, total.tolist(), strict=True))
            return
        gaps, turns = parted(series["violation"], split)
        sizes = gaps + self._extent * turns
        if not np.isfinite(sizes).all():
            return  # what has diverged says so itself
        ringing = int(np.searchsorted(ticks, self._blows.until, side="right"))
        for rings, start, stop in ((True, 0, ringing), (False, ringing, len(ticks))):
            if start == stop:
                continue
            most = start + np.argmax(sizes[start:stop], axis=0)
            for k in np.argsort(-sizes[start:stop].max(axis=0), kind="stable")[:MAX_WEIGHED_JOINTS].tolist():
                at, name = int(most[k]), names[k]
                size, key = float(sizes[at, k]), (name, rings)
                if size > (self._gave[key].size if key in self._gave else 0.0):
                    gap, turn = float(gaps[at, k]), float(turns[at, k])
                    self._gave[key] = Deflection(name, str(form["form"]), int(ticks[at]), gap, turn, size, rings)

    def _worst(self, recorded: Recorded, extent: float, way: float) -> tuple[float, dict[str, Any]]:
        """Gap over the size of what hangs there, and the angle, of the joint where that is most; what rings goes no way askew."""
        share, most, weighed = 0.0, {}, Counter[str]()
        sides = (side for gave in self._gave.values() for side in recorded.forms[gave.joint].get("between", ()))
        new = dict.fromkeys(side for side in sides if side in recorded.bodies and side not in self._sizes)
        self._sizes |= sizes_of(new, recorded.segments, recorded.bodies) if new else {}
        for gave in sorted(self._gave.values(), key=lambda one: -one.size):
            weighed[gave.form] += 1
            if weighed[gave.form] > MAX_WEIGHED_JOINTS:
                continue
            size = self._size(recorded, gave.joint) or extent
            found = (gave.gap / size + gave.turn) / (1.0 + 0.5 * way if gave.rings else 1.0)
            if found > share:
                share = found
                most = {"joint": gave.joint, "tick": gave.tick, "gap": gave.gap, "turn": gave.turn}
        return share, most

    def _size(self, recorded: Recorded, joint: str) -> float:
        """Of the smaller body at the sides of a joint; 0 where none has a size."""
        sides = [side for side in recorded.forms[joint].get("between", ()) if side in recorded.bodies]
        return min((self._sizes[side] for side in sides if self._sizes[side] > 0.0), default=0.0)


class Behind(NamedTuple):
    """By how much a force has let things fall behind, or sink in."""

    way: float  # [m]
    turn: float  # [rad]
    shorter: bool  # whether a shorter step makes it less, also where joints give


def fallen_behind(names: Sequence[str], series: Mapping[str, Array], at: int, jumps: float) -> dict[str, Behind]:
    """What forces tell of that at a sample; it only grows."""
    key = next((key for key in ("sunk", "late", "yielded") if key in series), None)
    if key is None:
        return {}
    delays = zip(names, series[key][at].tolist(), strict=True)
    if key == "sunk":
        return {name: Behind(max(deep, jumps * jump), 0.0, True) for name, (deep, jump) in delays}
    return {name: Behind(way, turn, key != "late") for name, (way, turn) in delays}


def same(before: tuple[Any, ...], now: tuple[Any, ...]) -> bool:
    """Whether nothing has come, nor been taken back."""
    return before[0] is now[0] and before[1:] == now[1:]


def parted(values: Array, split: int) -> tuple[Array, Array]:
    """Sizes of the rows that lock translations, and of those that lock rotations, (t, n) each."""
    squares = np.square(values)
    return np.sqrt(squares[..., :split].sum(axis=-1)), np.sqrt(squares[..., split:].sum(axis=-1))
