"""Through places where rows lose their grip for an instant, as those of a slider-crank do when it is folded.

Near such a place a pivot goes to nothing with the square of the distance, and what is divided by it, accelerations and reactions,
becomes rounding, while the motion itself has nothing special there. So a tick that ends beside one is no place to set out from:
the next one begins where the last tick ended that was not, and goes over it in one step. What is told meanwhile lies on the way
from there to a place beyond; reactions are those that stood there and the least that has to come to them.

Every model goes by itself, so its bits are those of its single run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from coordinator.couplings.centralized.solver import State
from coordinator.equations.parts import MORE, STATE, divide, too_long_for
from coordinator.equations.solved import LOST_PIVOT
from modular.elements import Array, Indices

if TYPE_CHECKING:
    from coordinator.equations.common_formulas import CommonFormulas

NEAR = 1e-6  # of what a pivot is where the model stood at first: less may be such a place
FALLEN = 0.5  # of what it was at the last tick: then it is
LONGEST = 16.5  # ticks that one step may go over
BEYOND = 1.5  # times the way from where a model set out to where it is held: how far beyond is looked
GRIP = 1e-3  # of the largest singular value of G^T: directions with less are left to what stood there
KEPT = (*STATE, "multipliers", "errors", "guards", "more", "works", "missed")

Held = dict[int, dict[str, Any]]  # by model: where the last good tick ended, and what has been booked since


class Passages:
    """Where each of the models that are beside such a place set out from."""

    def __init__(self, common: CommonFormulas) -> None:
        self.common, self.count = common, len(common.solved.pivots)
        self.sizes = {name: getattr(common.motions, name).shape[1] for name in (*STATE, "guards", "works")}

    def read(self, packed: Array | None) -> Held:
        """Out of what is remembered from tick to tick."""
        found: Held = {}
        for row in packed if packed is not None else ():
            ends = np.cumsum([2, *self.sizes.values()])
            parts = {name: row[a:b].copy() for name, a, b in zip(self.sizes, ends[:-1], ends[1:], strict=True)}
            found[int(row[0])] = parts | {"time": float(row[1])}
        return found

    def pack(self, held: Held) -> dict[str, Array]:
        """As it is remembered."""
        if not held:
            return {}
        rows = [np.concatenate([[k, one["time"]], *(one[name] for name in self.sizes)]) for k, one in held.items()]
        return {"passages": np.array(rows)}

    def step(
        self, start: tuple[Array, ...], held: Held, parts: Array, time: float, h: float, dt: float, share: float
    ) -> Held:  # fmt: skip
        """All models by one step, those that are held from where they set out; who is held from here on.

        `start`: coordinates, rates and accelerations of all, and powers of each. `parts`: in how many each goes, more
        where a step is too long, or constraints open by more than a `share` of the extent.
        """
        common, motions = self.common, self.common.motions
        common.step(time, h)
        for k, before in held.items():
            self._run(k, before, before["time"], time + h - before["time"])
            motions.works[k] -= before["works"]
        beside = self._beside()
        long = np.logical_or(too_long_for(common, share)[: len(parts)], parts > 1)
        long[[*held, *beside]] = False  # there accelerations are rounding, and parts would set out from it
        for k in map(int, np.flatnonzero(long) if common.system.observer is None else ()):
            parts[k] = divide(common, k, self._start(start, k, time), time, h, max(MORE, int(parts[k])), share)
        motions.missed[beside] = (
            0.0  # what the next step misses that goes over such a place from where this one set out is all
        )
        found: Held = {}
        for k in map(int, beside):
            known = held.get(k)
            one: dict[str, Any] = self._start(start, k, time) if known is None else known
            if known is None:
                one["guards"], one["works"] = self._elsewhere(k, one, 0.0)["guards"], np.zeros(self.sizes["works"])
            left = np.abs(motions.guards[k, : self.count]) / common.pivots[k]
            stood = np.abs(one["guards"][: self.count]) / common.pivots[k]
            falls = ((left < NEAR) & (left < FALLEN * stood)).any() or (left < LOST_PIVOT).any()
            if falls and time + h - one["time"] <= LONGEST * dt:
                found[k] = one | {"works": one["works"] + motions.works[k]}
                self._between(k, one, time + h - one["time"])
        return found

    def _beside(self) -> Indices:
        """Who stands beside such a place now."""
        if not self.count or self.common.system.observer is not None:  # tangents go by whole ticks
            return np.empty(0, np.int64)
        common = self.common
        with np.errstate(invalid="ignore"):
            left = np.abs(common.motions.guards[: len(common.models), : self.count]) < NEAR * common.pivots
        return np.flatnonzero(left.any(axis=1))

    def _start(self, start: tuple[Array, ...], k: int, time: float) -> dict[str, Any]:
        *states, powers = start
        own = [array[self.common.columns[k]] for array in states]
        return dict(zip(STATE, [*own, powers[k].copy()], strict=True)) | {"time": time}

    def _run(self, k: int, one: dict[str, Any], time: float, h: float) -> None:
        """One model from a place, by a step of its own."""
        motions = self.common.motions
        for name in STATE:
            getattr(motions, name)[k] = one[name]
        self.common.step_of(k, time, h)

    def _elsewhere(self, k: int, one: dict[str, Any], h: float) -> dict[str, Array]:
        """Where one model comes to so much later than it set out, or what holds there; it stands where it stood again."""
        motions = self.common.motions
        after = {name: getattr(motions, name)[k].copy() for name in KEPT}
        self._run(k, one, one["time"], h)
        found = {name: getattr(motions, name)[k].copy() for name in KEPT}
        for name, values in after.items():
            getattr(motions, name)[k] = values
        return found

    def _between(self, k: int, one: dict[str, Any], h: float) -> None:
        """State and accelerations of one that is held: on the way to a place beyond (Hermite's polynomial of degree five).

        The last stages of a step that ends at such a place are rounding too.
        """
        motions = self.common.motions
        far = BEYOND * h
        there = self._elsewhere(k, one, far)
        q, v, a = (there[name] for name in ("q", "v", "a"))
        if not (np.isfinite(q).all() and np.isfinite(a).all()):
            return
        gone = q - one["q"] - far * (one["v"] + 0.5 * far * one["a"])
        faster = far * (v - one["v"] - far * one["a"])
        swifter = far**2 * (a - one["a"])
        c3 = 10.0 * gone - 4.0 * faster + 0.5 * swifter
        c4 = -15.0 * gone + 7.0 * faster - swifter
        c5 = 6.0 * gone - 3.0 * faster + 0.5 * swifter
        s = h / far
        motions.q[k] = one["q"] + h * (one["v"] + 0.5 * h * one["a"]) + s**3 * (c3 + s * (c4 + s * c5))
        motions.v[k] = one["v"] + h * one["a"] + s**2 * (3.0 * c3 + s * (4.0 * c4 + s * 5.0 * c5)) / far
        motions.a[k] = one["a"] + s * (6.0 * c3 + s * (12.0 * c4 + s * 20.0 * c5)) / far**2

    def tell(self, held: Held, state: State, multipliers: Array, time: float) -> None:
        """Reactions of those that are held, in a state over all coordinates; `multipliers`: of the last tick."""
        common, equations = self.common, self.common.equations
        if not held:
            return
        equations.at(time)
        equations.go(state.q, state.v)
        left = common.loads(time) - equations.mass @ state.a - equations.jacobian().T @ multipliers
        for k in held:
            rows, own = common.rows[k], common.columns[k]
            pull = equations.jacobian()[np.ix_(rows, own)].T
            more = np.linalg.lstsq(pull, left[own], rcond=GRIP)[0]
            state.multipliers[rows] = multipliers[rows] + more
