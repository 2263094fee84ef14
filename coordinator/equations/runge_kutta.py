"""Motions of models with the same formulas, four side by side: the method of Dormand and Prince of order eight.

Hairer, Norsett, Wanner: Solving Ordinary Differential Equations I, section II.5; the numbers are those that scipy has. Its first
eleven evaluations and one at the end, whose accelerations the next step begins with. After each step places are put back on the
constraints, then velocities (`smallest.py`). Nothing that one model does has any influence on another.
"""

from __future__ import annotations

import functools
import os
from concurrent.futures import ThreadPoolExecutor
from math import sqrt
from typing import Any

import numpy as np
from scipy.integrate._ivp import dop853_coefficients

from coordinator.engine.threads import cores
from modular.blocks import like, shaped
from modular.elements import Array, Elements
from modular.formula import evaluate
from modular.kernel import kernel
from modular.lane_rows import fetch, store
from modular.lanes import LANES, lanes
from modular.loop import NO_FAILED_ROW, Loop
from modular.table import Table
from modular.views import View

STAGES = 12
WEIGHTS = np.ascontiguousarray(  # the last row: the end of a step
    np.vstack([dop853_coefficients.A[:STAGES, :STAGES], dop853_coefficients.B])
)
TIMES = np.append(dop853_coefficients.C[:STAGES], 1.0)
FIFTH, THIRD = (np.ascontiguousarray(one[:STAGES]) for one in (dop853_coefficients.E5, dop853_coefficients.E3))
MODELS_PER_THREAD = 512  # from which on another thread pays
ROUNDING = 1e-9  # of accelerations: what they may differ by and say nothing
LEAST = 1e-300
MISSED = (
    "rates",
    "pace",
    "pull",
)  # by how much rates are off [m/s]; squares of rates and accelerations, times the step
CORRECTIONS = 2  # of places after a step: after the first they are off by the square of what they were off by


class Motions(Table):
    """One row per model: where it stands, its parameters, and what tells whether its formulas hold."""

    q: Array
    v: Array
    a: Array
    multipliers: Array
    errors: Array
    guards: Array
    parameters: Array
    more: Array
    powers: Array
    works: Array
    h_lambda: Array
    missed: Array
    time: float
    step: float

    def __init__(self, count: int, sizes: tuple[int, int, int, int, int, int]) -> None:
        super().__init__(count)
        coordinates, rows, parameters, guards, more, powers = sizes
        self.column("q", coordinates)
        self.column("v", coordinates)
        self.column("a", coordinates)
        self.column("multipliers", rows)
        self.column("errors", rows)  # of constraints, before the last correction
        self.column("guards", guards)
        self.column("parameters", parameters)
        self.column("more", more)  # what else is asked for where a model stands
        self.column("powers", powers)  # of forces and joints, by lines of their ledgers [W]
        self.column("works", powers)  # what these did in the last step [J]
        self.column("h_lambda", 1)  # in how many time constants of the swiftest force the last step went
        self.column("missed", 1)  # what the last step left out of places [m]
        self.fixed("time")
        self.fixed("step")

    def run(self, loop: Loop, elements: Elements, time: float, step: float, one: int | None = None) -> None:
        """All models, or one of them; each is worked out by itself, so the bits do not depend on the number of threads."""
        self.time, self.step = time, step
        loop.address(self, elements)  # compiled once
        if one is not None:
            loop(self, elements, one, one + 1)
            return
        threads = max(1, min(cores(), self.count // MODELS_PER_THREAD))
        if threads == 1:
            loop(self, elements, 0, self.count)
            return
        ends = [LANES * (self.count * k // (LANES * threads)) for k in range(threads)] + [self.count]
        list(_threads(os.getpid()).map(lambda k: loop(self, elements, ends[k], ends[k + 1]), range(threads)))


@functools.lru_cache(maxsize=1)
def _threads(process: int) -> ThreadPoolExecutor:
    """Threads of this process; a forked one has its own."""
    return ThreadPoolExecutor(cores(), thread_name_prefix="formulas")


def _room(motions: Any) -> list[tuple[int, ...]]:
    names = ("q", "multipliers", "guards", "more", "powers")
    (n,), (m,), (guards,), (more,), (powers,) = (motions.shape_of(name) for name in names)
    return [(STAGES, n), (STAGES, n), (n,), (n,), (n + m + guards + more + powers,), (n + m,), (n,), (n,)]


room_of = shaped(lanes, _room)


@kernel
def h_lambda_of(n: int, h: float, x: Any, u: Any, a: Any, there: Any, kq: Any, kv: Any) -> Any:
    """h lambda, from the end of a step and its last stage, which is near: lambda^2 |dq| + lambda |dv| = |da|.

    What accelerations differ by for rounding counts little. Hairer, Norsett, Wanner, section IV.2 of the second volume (2.2), which
    take |dy'| / |dy|.
    """
    dq, dv, da, size = 0.0 * h * x[0], 0.0 * h * x[0], 0.0 * h * x[0], 0.0 * h * x[0]
    for i in range(n):
        dq += (x[i] - there[i]) * (x[i] - there[i])
        dv += (u[i] - kq[STAGES - 1, i]) * (u[i] - kq[STAGES - 1, i])
        da += (a[i] - kv[STAGES - 1, i]) * (a[i] - kv[STAGES - 1, i])
        size += a[i] * a[i]
    pulled, paced = h * h * sqrt(da), h * sqrt(dv) + ROUNDING * h * h * sqrt(size)
    return 2.0 * pulled / (paced + sqrt(paced * paced + 4.0 * sqrt(dq) * pulled) + LEAST)


@kernel
def missed_of(n: int, h: float, kq: Any) -> Any:
    """What a step leaves out of places, as methods of orders five and three that it embeds tell it: e5^2 / e3, which goes as h^8.

    Hairer, Norsett, Wanner, section II.10, have a hundredth of e5 below as well. Of places, for what is stiff errs in rates.
    """
    fifths, thirds = 0.0 * kq[0, 0], LEAST + 0.0 * kq[0, 0]
    for i in range(n):
        fifth, third = 0.0 * kq[0, 0], 0.0 * kq[0, 0]
        for s in range(STAGES):
            if FIFTH[s] != 0.0:
                fifth += FIFTH[s] * kq[s, i]
            if THIRD[s] != 0.0:
                third += THIRD[s] * kq[s, i]
        fifths += fifth * fifth
        thirds += third * third
    return h * fifths / sqrt(thirds)


def stepping_loop(rates: Any, place: Any, pace: Any) -> Loop:
    """A step of all models, or no more than what holds where they stand, with a step of nothing.

    `rates` gives accelerations, multipliers, guards, what else is asked for, and powers; these are integrated by the weights of the
    step, so that works are right to its order (ledgers.py). `place` what corrects places, and errors; `pace` what corrects rates.
    Each is called in one place, for it is as long as the model is large.
    """

    def step_loop(start: int, stop: int, motions: View, elements: View) -> int:
        q, v, a, p = like(motions.q), like(motions.v), like(motions.a), like(motions.parameters)
        multipliers, errors, guards = like(motions.multipliers), like(motions.errors), like(motions.guards)
        more, powers, works = like(motions.more), like(motions.powers), like(motions.works)
        kq, kv, x, u, found, moved, paced, there = room_of(motions)
        h_lambda, missed = like(motions.h_lambda), like(motions.missed)
        n, m = q.shape[0], multipliers.shape[0]
        behind = n + m + guards.shape[0] + more.shape[0]
        t, h = motions.time, motions.step
        first, corrections = (1, CORRECTIONS) if h != 0.0 else (STAGES, 1)
        for k in range(start, stop, LANES):
            fetch(motions.q, k, stop, q)
            fetch(motions.v, k, stop, v)
            fetch(motions.a, k, stop, a)
            fetch(motions.parameters, k, stop, p)
            for i in range(n):
                kq[0, i] = v[i]
                kv[0, i] = a[i]
            fetch(motions.powers, k, stop, powers)
            for i in range(works.shape[0]):
                works[i] = h * WEIGHTS[STAGES, 0] * powers[i]
            for s in range(first, STAGES + 1):
                for i in range(n):
                    dq, dv = 0.0 * q[i], 0.0 * q[i]
                    for j in range(s if h != 0.0 else 0):
                        weight = WEIGHTS[s, j]
                        if weight != 0.0:
                            dq += weight * kq[j, i]
                            dv += weight * kv[j, i]
                    x[i] = q[i] + h * dq
                    u[i] = v[i] + h * dv
                if s == STAGES:
                    for _ in range(corrections):
                        evaluate(place, t + h, x, u, p, p, moved)
                        if h != 0.0:
                            for i in range(n):
                                x[i] = x[i] + moved[i]
                    evaluate(pace, t + h, x, u, p, p, paced)
                    if h != 0.0:
                        for i in range(n):
                            u[i] = u[i] + paced[i]
                evaluate(rates, t + TIMES[s] * h, x, u, p, p, found)
                if s < STAGES:
                    for i in range(n):
                        there[i] = x[i]
                        kq[s, i] = u[i]
                        kv[s, i] = found[i]
                    for i in range(works.shape[0]):
                        works[i] += h * WEIGHTS[STAGES, s] * found[behind + i]
            h_lambda[0] = h_lambda_of(n, h, x, u, found, there, kq, kv)
            if h != 0.0:
                missed[0] = missed_of(n, h, kq)
            for i in range(n):
                q[i] = x[i]
                v[i] = u[i]
                a[i] = found[i]
            for i in range(m):
                multipliers[i] = found[n + i]
                errors[i] = moved[n + i]
            for i in range(guards.shape[0]):
                guards[i] = found[n + m + i]
            for i in range(more.shape[0]):
                more[i] = found[n + m + guards.shape[0] + i]
            for i in range(powers.shape[0]):
                powers[i] = found[behind + i]
            store(q, motions.q, k, stop)
            store(v, motions.v, k, stop)
            store(a, motions.a, k, stop)
            store(multipliers, motions.multipliers, k, stop)
            store(errors, motions.errors, k, stop)
            store(guards, motions.guards, k, stop)
            store(more, motions.more, k, stop)
            store(powers, motions.powers, k, stop)
            store(works, motions.works, k, stop)
            store(h_lambda, motions.h_lambda, k, stop)
            store(missed, motions.missed, k, stop)
        return NO_FAILED_ROW

    return Loop(step_loop)
