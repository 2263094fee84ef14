"""Why a run went wrong: the joint or body to look at, and what would hold: a step that the model can take;
and what grew in the last ticks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import gcd

import numpy as np

from coordinator.checks import load_stiffness
from coordinator.checks.context import CheckContext
from coordinator.couplings.implicit import names_of, stiffest
from coordinator.couplings.margins import tightest
from coordinator.record.run import Run
from modular.elements import Array
from modular.errors import Diverged
from modular.forces import ForceStack
from modular.numbers import even_part, exactly


def fitting(simulation: CheckContext, step: float) -> float:
    """The longest step up to this one [s] of which the periods of all controllers are multiples; of two digits if one is."""
    whole = _period(simulation)
    return step if whole is None or not step > 0.0 else even_part(whole, step)


def in_words(simulation: CheckContext, step: float) -> str:
    """Such a step as a number to type."""
    return f"{step:.2g}" if _period(simulation) is None else exactly(fitting(simulation, step))


def proposed(simulation: CheckContext, sentence: str, step: float | None) -> tuple[str, float | None]:
    """A remedy whose sentence names its step, with one that the model can take."""
    if step is None:
        return sentence, None
    words = in_words(simulation, step)
    return sentence.replace(f"dt = {step:.2g} s", f"dt = {words} s"), fitting(simulation, step)


def _period(simulation: CheckContext) -> float | None:
    """The longest time of which the periods of all controllers are multiples [s]; None where there are none."""
    periods = [getattr(edge.force, "period", None) for edge in simulation.assembly.force_edges.values()]
    exact = [Fraction(str(float(period))) for period in periods if period is not None]
    if not exact:
        return None
    below = max(one.denominator for one in exact)
    for one in exact:
        below = below * one.denominator // gcd(below, one.denominator)
    return float(Fraction(gcd(*(int(one * below) for one in exact)), below))


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


def beyond(
    simulation: CheckContext, *, now: bool = True, loads: Sequence[load_stiffness.Load] | None = None
) -> tuple[str, str, float, str, float | None] | None:
    """What is beyond its stability limit, if anything: name, kind, margin, remedy, and a step [s] that would hold.

    Springs come first: their stiffness is their own, and joints beside one that is too stiff have no room left. Loads on bodies
    come last: those of now, or those that were recorded before the run went wrong. `loads`: those of now, where they are known.
    """
    found = _beyond(simulation, now, loads)
    return None if found is None else (*found[:3], *proposed(simulation, *found[3:]))


def _beyond(
    simulation: CheckContext, now: bool, loads: Sequence[load_stiffness.Load] | None
) -> tuple[str, str, float, str, float | None] | None:
    margins, dt = simulation.stiffness_margins, simulation.dt
    forces = simulation.assembly.force_edges
    springs = {name: margin for name, margin in margins.items() if name in forces} if len(forces) else {}
    name, margin = tightest(springs) or ("", 1.0)
    if margin < 1.0:
        here = not simulation.is_distributed  # to ask for the system would call it home
        room = margin
        if here:
            name, room = stiffest(
                simulation.system, {each: least for each, least in springs.items() if least < 1.0}, name
            )
            margin = springs[name]
        step = 0.8 * room * dt
        finds = here and name in names_of(simulation.system) - simulation.coupling.forces_found(simulation.system)
        other = ", or take Glued(), which finds it together with the reactions of joints" if finds else ""
        other = other or (_instead(simulation, name) if here else "")
        return name, "spring", margin, f"take dt = {step:.2g} s, or soften '{name}'{other}", step
    name, margin = tightest(margins) or ("", 1.0)
    if margin < 1.0:
        return name, "joint", margin, *simulation.coupling.remedy(margin, dt)
    if now:
        load, grows = load_stiffness.least(load_stiffness.now(simulation, margins) if loads is None else loads), 1.0
    else:
        load, grows = load_stiffness.on_the_way(simulation)
    if load is None:
        return None
    return load.body, "body", load.margin, *load_stiffness.remedy(load, simulation.coupling, dt, grows)


def _instead(simulation: CheckContext, name: str) -> str:
    """Another force that does the same at any step, if there is one."""
    stack = simulation.system.force_home[name].stack
    found = stack.instead(stack.row[name]) if isinstance(stack, ForceStack) else ""
    return f", or take {found}, which is found together with the reactions of joints" if found else ""


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


SMALLEST_SIZE = 1e-300
ROUNDING_SIZE = 1e-12  # [m], [-]: errors that are no larger at the end are none
GROWTH_RATIO = 10.0  # times what it was before


@dataclass(frozen=True)
class Growth:
    """An error that grew: of a joint (its equations) or of a body (its internal constraints)."""

    name: str
    kind: str
    per_tick: float  # factor, over the last third of the ticks
    size: float  # at the end
    ratio: float  # at the end over the median of the first half
    since: int  # tick from which on it is ten times that median; the last one where it never was


def growth(run: Run) -> list[Growth]:
    """All joints and bodies, the one that grew most at first; a run of a few ticks says nothing."""
    if len(run) < 6:
        return []
    found = [_grown(name, kind, errors, run) for name, kind, errors in _errors(run)]
    seen = [one for one in found if np.isfinite(one.ratio) and one.size > ROUNDING_SIZE]
    return sorted(seen, key=lambda one: -one.ratio)


def _errors(run: Run) -> Iterator[tuple[str, str, Array]]:
    for joint in run.joints:
        yield joint, "joint", run.violation(joint)
    for body in run.bodies:
        yield body, "body", run.internal_violation(body)


def _grown(name: str, kind: str, errors: Array, run: Run) -> Growth:
    sizes = np.abs(errors).max(axis=1, initial=0.0)
    there = np.isfinite(sizes)
    sizes, ticks = sizes[there], run.ticks[there]
    if len(sizes) < 6 or not sizes.any():
        return Growth(name, kind, 1.0, 0.0, 0.0, int(run.ticks[-1]))
    usual = max(float(np.median(sizes[: len(sizes) // 2])), SMALLEST_SIZE)
    third = slice(-max(len(sizes) // 3, 3), None)
    slope = float(np.polyfit(ticks[third] - ticks[-1], np.log(np.maximum(sizes[third], SMALLEST_SIZE)), 1)[0])
    small = np.flatnonzero(sizes <= GROWTH_RATIO * usual)
    since = int(ticks[min(small[-1] + 1, len(ticks) - 1)]) if len(small) else int(ticks[0])
    return Growth(name, kind, float(np.exp(slope)), float(sizes[-1]), float(sizes[-1]) / usual, since)
