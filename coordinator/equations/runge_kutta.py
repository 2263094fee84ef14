"""Motions of models with the same formulas, four side by side: the method of Dormand and Prince of order eight.

Hairer, Norsett, Wanner: Solving Ordinary Differential Equations I, section II.5; the numbers are those that scipy has. Its first
eleven evaluations and one at the end, whose accelerations the next step begins with. After each step places are put back on the
constraints, then velocities (`smallest.py`). Nothing that one model does has any influence on another.

A step is compiled once, for all formulas there are: it calls those of a model by their addresses (modular/formula.py), and asks its
table how many numbers there are of each kind.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from math import sqrt
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy.integrate._ivp import dop853_coefficients

from coordinator.engine.threads import cores
from modular.blocks import lanes_of
from modular.elements import Array, Elements
from modular.formula import CompiledFormula, Formula, evaluate, jump
from modular.kernel import kernel
from modular.lane_rows import fetch_item, store_item
from modular.lanes import LANES
from modular.loop import NO_FAILED_ROW, loop
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


class StepFormulas(NamedTuple):
    """What a step evaluates, compiled."""

    rates: CompiledFormula  # accelerations, multipliers, guards, what else is asked for, and powers
    place: CompiledFormula  # what corrects places, and errors
    pace: CompiledFormula  # what corrects rates


def compiled(source: str) -> CompiledFormula:
    """Formulas of (t, q, v, p); no value of a course is left in them."""
    formula = Formula(source)

    def of_models(t: float, q: Array, v: Array, p: Array, out: Array) -> int:
        evaluate(formula, t, q, v, p, p, out)
        return 0

    return CompiledFormula(of_models)


def tell_loops(table: Any, sizes: Sequence[int], formulas: Mapping[str, CompiledFormula]) -> None:
    """What a loop for all models reads from its table: how many numbers there are of each kind, and where formulas lie."""
    table.fixed("sizes", len(sizes), dtype=np.int64)
    table.sizes = sizes
    table.formulas = formulas  # their code lives as long as the table
    for name, one in formulas.items():
        table.fixed(name, dtype=np.int64)
        setattr(table, name, one.address)


class Motions(Table):
    """One row per model: where it stands, its parameters, and what tells whether its formulas hold."""

    untold: ClassVar[tuple[str, ...]] = (
        "q", "v", "a", "multipliers", "errors", "guards", "parameters", "more", "powers", "works",
    )  # fmt: skip
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
    sizes: Array  # how many numbers there are of each kind
    rates: int  # where machine code of formulas lies
    place: int
    pace: int

    def __init__(self, count: int, sizes: tuple[int, int, int, int, int, int], formulas: StepFormulas) -> None:
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
        tell_loops(self, sizes, formulas._asdict())

    def run(self, elements: Elements, time: float, step: float, one: int | None = None) -> None:
        """All models, or one of them; each is worked out by itself, so the bits do not depend on the number of threads."""
        self.time, self.step = time, step
        step_loop.address(self, elements)  # compiled once
        if one is not None:
            step_loop(self, elements, one, one + 1)
            return
        threads = max(1, min(cores(), self.count // MODELS_PER_THREAD))
        if threads == 1:
            step_loop(self, elements, 0, self.count)
            return
        ends = [LANES * (self.count * k // (LANES * threads)) for k in range(threads)] + [self.count]
        list(_threads(os.getpid()).map(lambda k: step_loop(self, elements, ends[k], ends[k + 1]), range(threads)))


@functools.lru_cache(maxsize=1)
def _threads(process: int) -> ThreadPoolExecutor:
    """Threads of this process; a forked one has its own."""
    return ThreadPoolExecutor(cores(), thread_name_prefix="formulas")


@kernel(apart=True)
def take(rows: View, number: int, k: int, stop: int, into: Array) -> None:
    """Rows of four models, `number` long, as lanes."""
    for i in range(number):
        into[i] = fetch_item(rows, i, k, stop)


@kernel(apart=True)
def tell(found: Array, behind: int, rows: View, number: int, k: int, stop: int) -> None:
    """The way back, of lanes that begin behind others."""
    for i in range(number):
        store_item(found[behind + i], rows, i, k, stop)


@kernel(apart=True)
def h_lambda_of(n: int, h: float, x: Any, u: Any, a: Any, there: Any, kq: Any, kv: Any) -> Any:
    """h lambda, from the end of a step and its last stage, which is near: lambda^2 |dq| + lambda |dv| = |da|.

    What accelerations differ by for rounding counts little. Hairer, Norsett, Wanner, section IV.2 of the second volume (2.2), which
    take |dy'| / |dy|.
    """
    dq, dv, da, size = 0.0 * h * x[0], 0.0 * h * x[0], 0.0 * h * x[0], 0.0 * h * x[0]
    last = (STAGES - 1) * n
    for i in range(n):
        dq += (x[i] - there[i]) * (x[i] - there[i])
        dv += (u[i] - kq[last + i]) * (u[i] - kq[last + i])
        da += (a[i] - kv[last + i]) * (a[i] - kv[last + i])
        size += a[i] * a[i]
    pulled, paced = h * h * sqrt(da), h * sqrt(dv) + ROUNDING * h * h * sqrt(size)
    return 2.0 * pulled / (paced + sqrt(paced * paced + 4.0 * sqrt(dq) * pulled) + LEAST)


@kernel(apart=True)
def missed_of(n: int, h: float, kq: Any) -> Any:
    """What a step leaves out of places, as methods of orders five and three that it embeds tell it: e5^2 / e3, which goes as h^8.

    Hairer, Norsett, Wanner, section II.10, have a hundredth of e5 below as well. Of places, for what is stiff errs in rates.
    """
    fifths, thirds = 0.0 * kq[0], LEAST + 0.0 * kq[0]
    for i in range(n):
        fifth, third = 0.0 * kq[0], 0.0 * kq[0]
        for s in range(STAGES):
            if FIFTH[s] != 0.0:
                fifth += FIFTH[s] * kq[s * n + i]
            if THIRD[s] != 0.0:
                third += THIRD[s] * kq[s * n + i]
        fifths += fifth * fifth
        thirds += third * third
    return h * fifths / sqrt(thirds)


@loop
def step_loop(start: int, stop: int, motions: View, elements: View) -> int:
    """A step of all models, or no more than what holds where they stand, with a step of nothing.

    Powers are integrated by the weights of the step, so that works are right to its order (ledgers.py). `kq` and `kv` hold
    velocities and accelerations of all stages, one stage behind the other.
    """
    n, m, parameters = motions.sizes[0], motions.sizes[1], motions.sizes[2]
    guards, more, powers = motions.sizes[3], motions.sizes[4], motions.sizes[5]
    q, v, p, works = lanes_of(n), lanes_of(n), lanes_of(parameters), lanes_of(powers)
    kq, kv, x, u, there = lanes_of(STAGES * n), lanes_of(STAGES * n), lanes_of(n), lanes_of(n), lanes_of(n)
    behind = n + m + guards + more
    found, moved, paced = lanes_of(behind + powers), lanes_of(n + m), lanes_of(n)
    t, h = motions.time, motions.step
    first, corrections = (1, CORRECTIONS) if h != 0.0 else (STAGES, 1)
    for k in range(start, stop, LANES):
        take(motions.q, n, k, stop, q)
        take(motions.v, n, k, stop, v)
        take(motions.v, n, k, stop, kq)
        take(motions.a, n, k, stop, kv)
        take(motions.parameters, parameters, k, stop, p)
        take(motions.powers, powers, k, stop, works)
        for i in range(powers):
            works[i] = h * WEIGHTS[STAGES, 0] * works[i]
        for s in range(first, STAGES + 1):
            for i in range(n):
                dq, dv = 0.0 * q[i], 0.0 * q[i]
                for j in range(s if h != 0.0 else 0):
                    weight = WEIGHTS[s, j]
                    if weight != 0.0:
                        dq += weight * kq[j * n + i]
                        dv += weight * kv[j * n + i]
                x[i] = q[i] + h * dq
                u[i] = v[i] + h * dv
            if s == STAGES:
                for _ in range(corrections):
                    jump(motions.place, t + h, x, u, p, moved)
                    if h != 0.0:
                        for i in range(n):
                            x[i] = x[i] + moved[i]
                jump(motions.pace, t + h, x, u, p, paced)
                if h != 0.0:
                    for i in range(n):
                        u[i] = u[i] + paced[i]
            jump(motions.rates, t + TIMES[s] * h, x, u, p, found)
            if s < STAGES:
                for i in range(n):
                    there[i] = x[i]
                    kq[s * n + i] = u[i]
                    kv[s * n + i] = found[i]
                for i in range(powers):
                    works[i] += h * WEIGHTS[STAGES, s] * found[behind + i]
        store_item(h_lambda_of(n, h, x, u, found, there, kq, kv), motions.h_lambda, 0, k, stop)
        if h != 0.0:
            store_item(missed_of(n, h, kq), motions.missed, 0, k, stop)
        tell(x, 0, motions.q, n, k, stop)
        tell(u, 0, motions.v, n, k, stop)
        tell(found, 0, motions.a, n, k, stop)
        tell(found, n, motions.multipliers, m, k, stop)
        tell(moved, n, motions.errors, m, k, stop)
        tell(found, n + m, motions.guards, guards, k, stop)
        tell(found, n + m + guards, motions.more, more, k, stop)
        tell(found, behind, motions.powers, powers, k, stop)
        tell(works, 0, motions.works, powers, k, stop)
    return NO_FAILED_ROW
