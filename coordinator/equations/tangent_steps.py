"""Steps of tangents beside those of a motion, four directions side by side: the method of `runge_kutta.py`, differentiated.

Each row is a direction. Where the motion was, where it is after the step and the numbers of the model are the same in all rows.
"""

from __future__ import annotations

import functools
from typing import Any

from coordinator.equations.runge_kutta import STAGES, TIMES, WEIGHTS
from coordinator.equations.source import function_of
from modular.blocks import like, shaped
from modular.elements import Array
from modular.kernel import kernel
from modular.lane_rows import fetch, store
from modular.lanes import LANES, lanes
from modular.loop import NO_FAILED_ROW, Loop
from modular.table import Table
from modular.views import View


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
                    within(t + TIMES[s] * h, x, u, p, p, dx, du, dp, found)
                    for i in range(n):
                        kq[s, i], kv[s, i] = u[i], found[i]
                        kdq[s, i], kdv[s, i] = du[i], found[n + i]
            at_the_end(t + h, q_end, v_end, p, p, dx, du, dp, ended)
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
    return tangent_loop(kernel(function_of(within)), kernel(function_of(at_the_end)))
