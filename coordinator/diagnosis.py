"""Why a run went wrong: the joint or body to look at, and what would hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from coordinator.margins import tightest
from modular.errors import Diverged

if TYPE_CHECKING:
    from coordinator.simulation import Simulation


def diagnose(simulation: Simulation, body: str) -> Diverged:
    """The error to raise when `body` lost its shape in the step after the present tick."""
    tick, dt = simulation.tick, simulation.dt
    where = f"at tick {tick + 1} ({(tick + 1) * dt:.6g} s)"
    kept = f"What was recorded until tick {tick} is kept."
    tight = tightest(simulation.margins)
    if tight is not None and tight[1] < 1.0:
        joint, margin = tight
        sentence, step = simulation.coupling.remedy(margin, dt)
        return Diverged(
            f"the run diverged {where}: joint '{joint}' is beyond its stability limit (margin {margin:.2f} < 1; body '{body}' lost "
            f"its shape first). Remedy: {sentence}. {kept}",
            component=joint, tick=tick + 1, holding_step=step,
        )  # fmt: skip
    sentence, gained = simulation.coupling.remedy(1.0, dt)
    rate = turning_rate(simulation, body)
    if gained is not None:
        step, reason = gained, sentence
    elif rate * dt > 0.1:
        step = 0.05 / rate
        reason = f"the body turned {rate * dt:.2g} rad per tick in its last samples: take dt = {step:.2g} s"
    else:
        step = dt / 4
        reason = f"forces change faster than the step can follow: take dt = {step:.2g} s"
    return Diverged(
        f"the run diverged {where}: body '{body}' lost its shape. Remedy: {reason}. {kept}",
        component=body, tick=tick + 1, holding_step=step,
    )  # fmt: skip


def turning_rate(simulation: Simulation, body: str) -> float:
    """How fast a body turned in its last hundred samples [rad/s], from the relative speed of its elements."""
    q, v, _ = simulation.recorded.state(body)
    q, v = q[-100:], v[-100:]
    if q.shape[1] < 2:
        return 0.0
    length = np.linalg.norm(q[:, 1] - q[:, 0], axis=-1)
    with np.errstate(all="ignore"):
        rates = np.linalg.norm(v[:, 1] - v[:, 0], axis=-1) / length
    rates = rates[np.isfinite(rates)]
    return float(np.median(rates)) if len(rates) else 0.0
