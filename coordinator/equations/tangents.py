"""Tangents of a motion as formulas: how accelerations, places and velocities change with whatever moves or numbers a model.

Accelerations and multipliers z = (a, lambda) solve K z = r. What they change by solves the same matrix, whose factors are there:

    K dz = dr - dK z,    K = [M G^T; G 0],    r = (Q, gamma)

The entries of K and r are differentiated name by name. At the end of a step tangents are put on those of the constraints, in the
metric of M as places and velocities are (smallest.py): G dq = -d(phi) by numbers, G dv = d(flow) - dG v.

Steps of tangents beside those of a motion, four directions side by side: the method of `runge_kutta.py`, differentiated.

Each row is a direction. Where the motion was, where it is after the step and the numbers of the model are the same in all rows.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any

import sympy

from coordinator.equations.runge_kutta import STAGES, TIMES, WEIGHTS
from coordinator.equations.solved import Solved
from coordinator.equations.source import python_source
from modular.blocks import like, shaped
from modular.elements import Array
from modular.formula import Formula, evaluate
from modular.lane_rows import fetch, store
from modular.lanes import LANES, lanes
from modular.loop import NO_FAILED_ROW, Loop
from modular.table import Table
from modular.views import View

NOTHING = sympy.Integer(0)


class Tangents:
    """Source code of what moves tangents of a model; functions (t, q, v, p, f, dq, dv, dp, out)."""

    def __init__(self, solved: Solved) -> None:
        self.solved, self.written = solved, solved.written
        written = self.written
        self.dq, self.dv, self.dp = (
            [sympy.Symbol(f"d({one.name})", real=True) for one in symbols]
            for symbols in (written.coordinates, written.rates, written.parameters)
        )

    def within(self) -> str:
        """Accelerations and what they change by."""
        solved = self._solved()
        a, da = self._accelerate(solved, self.dq, self.dv)
        return self._source(solved, [*a, *da])

    def at_the_end(self) -> str:
        """Tangents of places and velocities on those of the constraints; accelerations, and what these change by."""
        solved, w = self._solved(), self.written
        n, right = len(w.coordinates), [NOTHING] * solved.elimination.count
        still = _Differential(solved, self._known(self.dq, []))
        for r, gap in enumerate(w.constraints):
            right[n + r] = solved.name(-still.of(gap))
        dq = self._moved(solved, self.dq, right)
        right = [NOTHING] * solved.elimination.count
        there = _Differential(solved, self._known(dq, []))
        for r, flow in w.flow.items():
            right[n + r] += there.of(flow)
        for (r, c), slope in solved.elimination.jacobian.items():
            right[n + r] -= there.of(slope) * w.rates[c] + slope * self.dv[c]
        dv = self._moved(solved, self.dv, [solved.name(value) for value in right])
        a, da = self._accelerate(solved, dq, dv)
        return self._source(solved, [*dq, *dv, *a, *da])

    def _solved(self) -> Solved:
        found = self.solved.branch()
        found.know([*self.dq, *self.dv, *self.dp])
        return found

    def _source(self, solved: Solved, values: Sequence[Any]) -> str:
        return python_source(solved, values, {"dq": self.dq, "dv": self.dv, "dp": self.dp})

    def _known(self, dq: Sequence[Any], dv: Sequence[Any]) -> dict[Any, Any]:
        """By what each symbol changes."""
        w = self.written
        found = dict(zip(w.coordinates, dq, strict=True)) | dict(zip(w.parameters, self.dp, strict=True))
        return found | dict(zip(w.rates, dv, strict=False))

    @staticmethod
    def _moved(solved: Solved, tangent: Sequence[Any], right: list[Any]) -> list[Any]:
        change = solved.elimination.again(right)
        return [solved.name(one + more) for one, more in zip(tangent, change, strict=False)]

    def _accelerate(self, solved: Solved, dq: Sequence[Any], dv: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        """a, and da from dr - dK z."""
        w, elimination, n = self.written, solved.elimination, len(self.written.coordinates)
        a, multipliers = solved.accelerations, solved.multipliers
        differential = _Differential(solved, self._known(dq, dv))
        right = [differential.of(value) for value in elimination.asked]
        for (i, j), value in w.mass.items():
            right[i] -= differential.of(value) * a[j]
        for (r, c), slope in elimination.jacobian.items():
            change = differential.of(slope)
            right[c] -= change * multipliers[r]
            right[n + r] -= change * a[c]
        return a, elimination.again([solved.name(value) for value in right])[:n]


class _Differential:
    """By what formulas change where their symbols do: forward, step by step."""

    def __init__(self, solved: Solved, known: Mapping[Any, Any]) -> None:
        self.solved, self.known = solved, dict(known)
        for one, step in solved.steps[: solved.entries]:
            self.known[one] = self.of(step)

    def of(self, value: Any) -> Any:
        """The differential of a formula, named."""
        total = NOTHING
        for one in sorted(value.free_symbols & self.known.keys(), key=str):
            if self.known[one] != 0:
                total += value.diff(one) * self.known[one]
        return self.solved.name(total)


class Directions(Table):
    """One row per direction: the motion before and after a step, and tangents."""

    q: Array
    v: Array
    a: Array
    q_end: Array
    v_end: Array
    dq: Array
    dv: Array
    da: Array
    parameters: Array
    changes: Array  # of parameters
    time: float
    step: float

    def __init__(self, count: int, coordinates: int, parameters: int) -> None:
        super().__init__(count)
        for name in ("q", "v", "a", "q_end", "v_end", "dq", "dv", "da"):
            self.column(name, coordinates)
        self.column("parameters", parameters)
        self.column("changes", parameters)
        self.fixed("time")
        self.fixed("step")


def _room(motions: Any) -> list[tuple[int, ...]]:
    (n,) = motions.shape_of("q")
    stages = [(STAGES, n)] * 4
    return [*stages, (n,), (n,), (n,), (n,), (2 * n,), (4 * n,)]


room_of = shaped(lanes, _room)


def tangent_loop(within: Any, at_the_end: Any) -> Loop:
    """A step of tangents, or with a step of nothing what holds where all stands."""

    def step_loop(start: int, stop: int, motions: View, elements: View) -> int:
        q, v, a, p = like(motions.q), like(motions.v), like(motions.a), like(motions.parameters)
        dq, dv, da, dp = like(motions.dq), like(motions.dv), like(motions.da), like(motions.changes)
        q_end, v_end = like(motions.q_end), like(motions.v_end)
        kq, kv, kdq, kdv, x, u, dx, du, found, ended = room_of(motions)
        n = q.shape[0]
        t, h = motions.time, motions.step
        for k in range(start, stop, LANES):
            fetch(motions.q, k, stop, q)
            fetch(motions.v, k, stop, v)
            fetch(motions.a, k, stop, a)
            fetch(motions.q_end, k, stop, q_end)
            fetch(motions.v_end, k, stop, v_end)
            fetch(motions.dq, k, stop, dq)
            fetch(motions.dv, k, stop, dv)
            fetch(motions.da, k, stop, da)
            fetch(motions.parameters, k, stop, p)
            fetch(motions.changes, k, stop, dp)
            for i in range(n):
                kq[0, i], kv[0, i] = v[i], a[i]
                kdq[0, i], kdv[0, i] = dv[i], da[i]
            for s in range(1 if h != 0.0 else STAGES, STAGES + 1):
                for i in range(n):
                    xi, ui, dxi, dui = 0.0 * q[i], 0.0 * q[i], 0.0 * q[i], 0.0 * q[i]
                    for j in range(s if h != 0.0 else 0):
                        weight = WEIGHTS[s, j]
                        if weight != 0.0:
                            xi += weight * kq[j, i]
                            ui += weight * kv[j, i]
                            dxi += weight * kdq[j, i]
                            dui += weight * kdv[j, i]
                    x[i] = q[i] + h * xi
                    u[i] = v[i] + h * ui
                    dx[i] = dq[i] + h * dxi
                    du[i] = dv[i] + h * dui
                if s < STAGES:
                    evaluate(within, t + TIMES[s] * h, x, u, p, p, dx, du, dp, found)
                    for i in range(n):
                        kq[s, i], kv[s, i] = u[i], found[i]
                        kdq[s, i], kdv[s, i] = du[i], found[n + i]
            evaluate(at_the_end, t + h, q_end, v_end, p, p, dx, du, dp, ended)
            for i in range(n):
                dq[i] = ended[i]
                dv[i] = ended[n + i]
                da[i] = ended[3 * n + i]
            store(dq, motions.dq, k, stop)
            store(dv, motions.dv, k, stop)
            store(da, motions.da, k, stop)
        return NO_FAILED_ROW

    return Loop(step_loop)


@functools.lru_cache(maxsize=8)
def compiled_tangents(within: str, at_the_end: str) -> Loop:
    """The loop of some formulas."""
    return tangent_loop(Formula(within), Formula(at_the_end))
