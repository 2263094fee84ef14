"""Why a run went wrong: the joint or body to look at, and what would hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from coordinator import carrying
from coordinator.carrying import overloaded, overloaded_on_the_way
from coordinator.margins import tightest
from modular.errors import Diverged

if TYPE_CHECKING:
    from coordinator.simulation import Simulation


def diagnose(simulation: Simulation, body: str) -> Diverged:
    """The error to raise when `body` lost its shape in the step after the present tick."""
    tick, dt = simulation.tick, simulation.dt
    where = f"at tick {tick + 1} ({(tick + 1) * dt:.6g} s)"
    kept = f"What was recorded until tick {tick - tick % simulation.recorder.every} is kept."
    reason = simulation.coupling.reason(simulation.system, body)
    over = beyond(simulation, now=False)
    if reason is not None:
        if over is not None:  # what is explicit rings first, and then nothing closes
            name, what, margin, sentence, step = over
            reason = f"{reason}; {what} '{name}' is beyond its stability limit (margin {margin:.2g} < 1)"
        else:
            sentence, step = simulation.coupling.cure(simulation.system, dt)
            calm = quieter(simulation, body)
            if step is not None and calm < step:
                sentence, step = simulation.coupling.shorter(simulation.system, calm)
        return Diverged(
            f"the run stopped {where}: {reason}. Remedy: {sentence}. {kept}",
            component=body if over is None else over[0], tick=tick + 1, holding_step=step,
        )  # fmt: skip
    if over is not None:
        name, what, margin, sentence, step = over
        return Diverged(
            f"the run diverged {where}: {what} '{name}' is beyond its stability limit (margin {margin:.2g} < 1; body '{body}' "
            f"lost its shape first). Remedy: {sentence}. {kept}",
            component=name, tick=tick + 1, holding_step=step,
        )  # fmt: skip
    sentence, gained = simulation.coupling.remedy(1.0, dt)
    rate = turning_rate(simulation, body)
    if gained is not None:
        step, reason = gained, sentence
    elif rate * dt > 0.1:
        step = 0.05 / rate
        reason = f"the body turned {rate * dt:.2g} rad per tick in its last samples: take dt = {step:.2g} s"
    else:
        step = min(dt / 4, 0.005 * natural_time(simulation))
        reason = f"forces change faster than the step can follow: take dt = {step:.2g} s"
    return Diverged(
        f"the run diverged {where}: body '{body}' lost its shape. Remedy: {reason}. {kept}",
        component=body, tick=tick + 1, holding_step=step,
    )  # fmt: skip


def beyond(simulation: Simulation, *, now: bool = True) -> tuple[str, str, float, str, float | None] | None:
    """What is beyond its stability limit, if anything: name, kind, margin, remedy, and a step [s] that would hold.

    Springs come first: their stiffness is their own, and joints beside one that is too stiff have no room left. Loads on bodies
    come last: those of now, or the largest that were recorded.
    """
    margins = simulation.margins
    springs = {name: margin for name, margin in margins.items() if name in simulation.assembly.forces}
    name, margin = tightest(springs) or ("", 1.0)
    if margin < 1.0:
        step = 0.8 * margin * simulation.dt
        return name, "spring", margin, f"take dt = {step:.2g} s, or soften '{name}'", step
    name, margin = tightest(margins) or ("", 1.0)
    if margin < 1.0:
        return name, "joint", margin, *simulation.coupling.remedy(margin, simulation.dt)
    over = overloaded(simulation) if now else overloaded_on_the_way(simulation)
    if over is not None:
        return over[0], "body", over[1], *carrying.remedy(*over, simulation.dt)
    return None


def quieter(simulation: Simulation, body: str) -> float:
    """A step in which bodies turn and fall little [s]; a quarter of the present one at most."""
    rate = turning_rate(simulation, body) if body in simulation.assembly.bodies else 0.0
    turning = 0.1 / rate if rate > 0.0 else np.inf
    return float(min(simulation.dt / 4, turning, 0.05 * natural_time(simulation)))


def natural_time(simulation: Simulation) -> float:
    """sqrt(l / g) of the shortest distance between two ports of a body [s]; infinite without gravity."""
    gravity = float(np.linalg.norm(simulation.assembly.gravity))
    lengths = []
    for name, description in simulation.assembly.bodies.items():
        q, v, a = (array[:1] for array in simulation.recorded.state(name))
        points = [description.port_motion(port, q, v, a)[0][0] for port in description.port_names[:8]]
        lengths += [float(np.linalg.norm(x - y)) for k, x in enumerate(points) for y in points[:k]]
    lengths = [length for length in lengths if length > 0]
    return float(np.sqrt(min(lengths) / gravity)) if lengths and gravity > 0 else float("inf")


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
