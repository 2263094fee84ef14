"""The two solvers by hand of the double pendulum, as methods of the scenario that is the same system."""

from __future__ import annotations

import time as clock

import numpy as np

from scenarios.comparison.methods import BY_HAND, Method
from scenarios.comparison.plan import Plan
from scenarios.comparison.trace import Trace


def trace_by_hand(method: Method, plan: Plan, dt: float) -> Trace:
    """Both rods as in scenarios/systems/two_rods.py; they have no joints and no constraints that could be violated."""
    from scenarios.handmade import solve

    started = clock.perf_counter()
    motion = solve(BY_HAND[method.name], dt, plan.until, **plan.settings)
    seconds = clock.perf_counter() - started
    every = round(plan.interval / dt)
    at = every * np.arange(plan.samples + 1)
    first, second = motion.positions[at, 0], motion.positions[at, 1]
    ends = {"upper.start": 0.0 * first, "upper.end": first, "lower.start": first, "lower.end": second}
    drift = np.abs(motion.energy - motion.energy[0])
    starts = np.concatenate([[0], np.arange(1, len(drift), every)])
    steps = len(motion.time) - 1
    return Trace(
        positions=ends,
        drift=np.asarray(np.maximum.reduceat(drift, starts)),
        quality={"drift": float(drift.max())},
        steps=steps,
        evaluations=steps,
        seconds=seconds,
    )
