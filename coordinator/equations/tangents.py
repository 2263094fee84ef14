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
from typing import Any, ClassVar, NamedTuple

import sympy

from coordinator.equations.runge_kutta import STAGES, TIMES, WEIGHTS, take, tell, tell_loops
from coordinator.equations.solved import Solved
from coordinator.equations.source import python_source
from modular.blocks import lanes_of
from modular.elements import Array
from modular.formula import CompiledFormula, Formula, evaluate, jump
from modular.lanes import LANES
from modular.loop import NO_FAILED_ROW, loop
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


class TangentFormulas(NamedTuple):
    """What a step of tangents evaluates, compiled."""

    within: CompiledFormula  # accelerations, and what they change by
    at_the_end: CompiledFormula  # tangents on those of the constraints


class Directions(Table):
    """One row per direction: the motion before and after a step, and tangents."""

    untold: ClassVar[tuple[str, ...]] = (
        "q", "v", "a", "q_end", "v_end", "dq", "dv", "da", "parameters", "changes",
    )  # fmt: skip
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
    sizes: Array  # coordinates, parameters
    within: int  # where machine code of formulas lies
    at_the_end: int

    def __init__(self, count: int, coordinates: int, parameters: int, formulas: TangentFormulas) -> None:
        super().__init__(count)
        for name in ("q", "v", "a", "q_end", "v_end", "dq", "dv", "da"):
            self.column(name, coordinates)
        self.column("parameters", parameters)
        self.column("changes", parameters)
        self.fixed("time")
        self.fixed("step")
        tell_loops(self, (coordinates, parameters), formulas._asdict())


@loop
def tangent_loop(start: int, stop: int, motions: View, elements: View) -> int:
    """A step of tangents, or with a step of nothing what holds where all stands; stages stand one behind the other."""
    n, parameters = motions.sizes[0], motions.sizes[1]
    q, v, p, dq, dv, dp = lanes_of(n), lanes_of(n), lanes_of(parameters), lanes_of(n), lanes_of(n), lanes_of(parameters)
    q_end, v_end, x, u, dx, du = lanes_of(n), lanes_of(n), lanes_of(n), lanes_of(n), lanes_of(n), lanes_of(n)
    kq, kv, kdq, kdv = lanes_of(STAGES * n), lanes_of(STAGES * n), lanes_of(STAGES * n), lanes_of(STAGES * n)
    found, ended = lanes_of(2 * n), lanes_of(4 * n)
    t, h = motions.time, motions.step
    for k in range(start, stop, LANES):
        take(motions.q, n, k, stop, q)
        take(motions.v, n, k, stop, v)
        take(motions.q_end, n, k, stop, q_end)
        take(motions.v_end, n, k, stop, v_end)
        take(motions.dq, n, k, stop, dq)
        take(motions.dv, n, k, stop, dv)
        take(motions.parameters, parameters, k, stop, p)
        take(motions.changes, parameters, k, stop, dp)
        take(motions.v, n, k, stop, kq)
        take(motions.a, n, k, stop, kv)
        take(motions.dv, n, k, stop, kdq)
        take(motions.da, n, k, stop, kdv)
        for s in range(1 if h != 0.0 else STAGES, STAGES + 1):
            for i in range(n):
                xi, ui, dxi, dui = 0.0 * q[i], 0.0 * q[i], 0.0 * q[i], 0.0 * q[i]
                for j in range(s if h != 0.0 else 0):
                    weight = WEIGHTS[s, j]
                    if weight != 0.0:
                        xi += weight * kq[j * n + i]
                        ui += weight * kv[j * n + i]
                        dxi += weight * kdq[j * n + i]
                        dui += weight * kdv[j * n + i]
                x[i] = q[i] + h * xi
                u[i] = v[i] + h * ui
                dx[i] = dq[i] + h * dxi
                du[i] = dv[i] + h * dui
            if s < STAGES:
                jump(motions.within, t + TIMES[s] * h, x, u, p, dx, du, dp, found)
                for i in range(n):
                    kq[s * n + i], kv[s * n + i] = u[i], found[i]
                    kdq[s * n + i], kdv[s * n + i] = du[i], found[n + i]
        jump(motions.at_the_end, t + h, q_end, v_end, p, dx, du, dp, ended)
        tell(ended, 0, motions.dq, n, k, stop)
        tell(ended, n, motions.dv, n, k, stop)
        tell(ended, 3 * n, motions.da, n, k, stop)
    return NO_FAILED_ROW


@functools.lru_cache(maxsize=8)
def compiled_tangents(within: str, at_the_end: str) -> TangentFormulas:
    """Machine code of some formulas."""
    return TangentFormulas(_compiled(within), _compiled(at_the_end))


def _compiled(source: str) -> CompiledFormula:
    formula = Formula(source)

    def of_directions(t: float, q: Array, v: Array, p: Array, dq: Array, dv: Array, dp: Array, out: Array) -> int:
        evaluate(formula, t, q, v, p, p, dq, dv, dp, out)
        return 0

    return CompiledFormula(of_directions)
