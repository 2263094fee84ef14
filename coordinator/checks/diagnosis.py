"""Why a run went wrong: the joint or body to look at, and what would hold."""

from __future__ import annotations

import numpy as np

from coordinator.checks import carrying
from coordinator.checks.context import CheckContext
from coordinator.checks.proposals import proposed
from coordinator.couplings.implicit import names_of
from coordinator.couplings.margins import tightest
from modular.errors import Diverged


def diagnose(simulation: CheckContext, body: str) -> Diverged:
    """The error to raise when `body` lost its shape in the step after the present tick."""
    tick, dt = simulation.tick, simulation.dt
    where = f"at tick {tick + 1} ({(tick + 1) * dt:.6g} s)"
    reason = simulation.coupling.reason(simulation.system, body)
    over = beyond(simulation, now=False)
    who = body
    if over is not None:
        who, what, margin, sentence, step = over
        limit = f"{what} '{who}' is beyond its stability limit (margin {margin:.2g} < 1"
        if reason is not None:  # what is explicit rings first, and then nothing closes
            why = f"the run stopped {where}: {reason}; {limit})"
        else:
            why = f"the run diverged {where}: {limit}; body '{body}' lost its shape first)"
    elif reason is not None:
        why = f"the run stopped {where}: {reason}"
        sentence, step = simulation.coupling.cure(simulation.system, dt)
        calm = quieter(simulation, body)
        if step is not None and calm < step:
            sentence, step = simulation.coupling.shorter(simulation.system, calm)
    else:
        why = f"the run diverged {where}: body '{body}' lost its shape"
        sentence, step = what_is_too_fast(simulation, body)
    sentence, step = proposed(simulation, sentence, step)
    kept = f"What was recorded until tick {tick - tick % simulation.recorder.every} is kept."
    return Diverged(f"{why}. Remedy: {sentence}. {kept}", component=who, tick=tick + 1, holding_step=step)


def what_is_too_fast(simulation: CheckContext, body: str) -> tuple[str, float | None]:
    """The remedy where nothing is beyond its stability limit."""
    dt = simulation.dt
    sentence, gained = simulation.coupling.remedy(1.0, dt)
    if gained is not None:
        return sentence, gained
    rate = turning_rate(simulation, body)
    if rate * dt > 0.1:
        step = 0.05 / rate
        return f"the body turned {rate * dt:.2g} rad per tick in its last samples: take dt = {step:.2g} s", step
    step = min(dt / 4, 0.005 * natural_time(simulation))
    return f"forces change faster than the step can follow: take dt = {step:.2g} s", step


def beyond(simulation: CheckContext, *, now: bool = True) -> tuple[str, str, float, str, float | None] | None:
    """What is beyond its stability limit, if anything: name, kind, margin, remedy, and a step [s] that would hold.

    Springs come first: their stiffness is their own, and joints beside one that is too stiff have no room left. Loads on bodies
    come last: those of now, or those that were recorded before the run went wrong.
    """
    found = _beyond(simulation, now=now)
    return None if found is None else (*found[:3], *proposed(simulation, *found[3:]))


def _beyond(simulation: CheckContext, *, now: bool) -> tuple[str, str, float, str, float | None] | None:
    margins, dt = simulation.stiffness_margins, simulation.dt
    springs = {name: margin for name, margin in margins.items() if name in simulation.assembly.forces}
    name, margin = tightest(springs) or ("", 1.0)
    if margin < 1.0:
        step = 0.8 * margin * dt
        here = not simulation.is_distributed  # to ask for the system would call it home
        finds = here and name in names_of(simulation.system) - simulation.coupling.forces_found(simulation.system)
        other = ", or take Glued(), which finds it together with the reactions of joints" if finds else ""
        return name, "spring", margin, f"take dt = {step:.2g} s, or soften '{name}'{other}", step
    name, margin = tightest(margins) or ("", 1.0)
    if margin < 1.0:
        return name, "joint", margin, *simulation.coupling.remedy(margin, dt)
    if now:
        load, grows = carrying.least(carrying.now(simulation, margins)), 1.0
    else:
        load, grows = carrying.on_the_way(simulation)
    if load is None:
        return None
    return load.body, "body", load.margin, *carrying.remedy(load, simulation.coupling, dt, grows)


def quieter(simulation: CheckContext, body: str) -> float:
    """A step in which bodies turn and fall little [s]; a quarter of the present one at most."""
    rate = turning_rate(simulation, body) if body in simulation.assembly.bodies else 0.0
    turning = 0.1 / rate if rate > 0.0 else np.inf
    return float(min(simulation.dt / 4, turning, 0.05 * natural_time(simulation)))


def natural_time(simulation: CheckContext) -> float:
    """sqrt(l / g) of the shortest distance between two ports of a body [s]; infinite without gravity."""
    gravity = float(np.linalg.norm(simulation.assembly.gravity))
    lengths = []
    for name, description in simulation.assembly.bodies.items():
        q, v, a = (array[:1] for array in simulation.recorded.state(name))
        points = [description.port_motion(port, q, v, a)[0][0] for port in description.port_names[:8]]
        lengths += [float(np.linalg.norm(x - y)) for k, x in enumerate(points) for y in points[:k]]
    lengths = [length for length in lengths if length > 0]
    return float(np.sqrt(min(lengths) / gravity)) if lengths and gravity > 0 else float("inf")


def turning_rate(simulation: CheckContext, body: str) -> float:
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
