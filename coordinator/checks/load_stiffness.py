"""Bodies that pass loads on though little resists their turning: what springs at their joints cannot hold in step.

A force F at an arm r, with a moment M, changes its moment about the mass centre by up to (F r + M) theta as the body turns by
theta. That is a stiffness of which no rule knows, since it hangs on the load; it asks dt^2 (F r + M) / I of the step, beside what
joints ask (modular/demand_sharing.py), and of what all ask together the step bears four. A body at one joint alone is not
concerned: what that joint bears turns with it.

In the plane a moment stays one about the same axis, and turns nothing; but by what it changes the body tilts, dt^2 dM / I over what
joints bear, and is lost by a radian or so. It changes as a mechanism swings by no more than about what it is.

Loads grow as a mechanism swings, so they may ask for half of what joints leave, but for moments in the plane. Of 1 000 random
mechanisms nine had less to spare at the start and diverged though the whole was not spent; of the 31 that ran with so little the
verdict has told each time. By how much the step could grow is a margin like others; it stands under the name of the joint that
brings most of the load.

Bodies do not tell I. They answer a force at a point with 1/m + r^2 / I in the direction in which they answer most.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import inf, sqrt
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from coordinator.checks.context import CheckContext
from coordinator.checks.load_oscillation import oscillation_of
from coordinator.couplings.margins import as_dict
from coordinator.record.ways import acquainted
from modular.body import GivesCompliance
from modular.elements import ASKED, Array, Indices
from modular.errors import ModelError
from modular.kernel import kernel

if TYPE_CHECKING:
    from coordinator.couplings.coupling import Coupling
    from coordinator.record.run import Run
    from coordinator.system import System

STABILITY_LIMIT = 4.0  # of all demands on a body
LOAD_GROWTH_RESERVE = 2.0  # times what loads ask, since they grow as a mechanism swings
MAX_EXAMINED_SIDES = 24  # sides of joints with the largest loads, on whose bodies one looks
STEP_SAFETY_FACTOR = 0.7  # of the step that would just do: the same once more
MAX_LOAD_GROWTH = 16.0  # times the load of a part of the way on the whole of it, at most
DIVERGED_LOAD_RATIO = 4.0  # times what the step bears: a load beyond, after smaller ones, is the divergence itself
DIVERGED_TICKS = 20  # ticks at the end of a run that went wrong, of which loads are no loads any more
MAX_SWEEPS, ROUNDING = 12, 1e-16  # of rotations: three rows take four or five; what they may leave beside the diagonal
MIN_STEP_RATIO = 1e-3  # of a step: a smaller one is no remedy
# ticks after which a run looks again at the earliest, and times so many from there on
FIRST_CHECK_TICK, CHECK_INTERVAL_FACTOR = 64, 1.2
# times so many where nothing was near its limit: no load left less than three times the step
FAR_INTERVAL_FACTOR, NEAR_MARGIN = 2.0, 3.0
Loads = Mapping[str, tuple[Any, Any]]  # of joints: force [N] and moment [N m], now or in each sample


class Load(NamedTuple):
    """What a body passes on: the joint that brings most of it, and by how much the step could grow."""

    body: str
    joint: str
    margin: float


@dataclass(frozen=True)
class Carrier:
    """A body and the joints through which loads pass, with r / I [1/(kg m)] and 1 / I [1/(kg m^2)], half of it in the plane."""

    body: str
    levers: Mapping[str, tuple[float, float]]
    room: float  # what its joints leave of the limit

    def demands(self, loads: Loads, dt: float) -> dict[str, Any]:
        """What each joint asks of the step by its force and moment."""
        found = {}
        for joint, (over, one) in self.levers.items():
            force, moment = loads[joint]
            found[joint] = dt**2 * (force * over + moment * one)
        return found

    def growth(self, demand: float) -> float:
        """By how much the step could grow under twice the load; infinite where there is none."""
        return sqrt(self.room / (LOAD_GROWTH_RESERVE * demand)) if demand > 0.0 else inf

    def load(self, loads: Loads, dt: float) -> Load:
        """What these loads leave."""
        demands = self.demands(loads, dt)
        return Load(self.body, max(demands, key=lambda joint: demands[joint]), self.growth(sum(demands.values())))


# --- as things stand -------------------------------------------------------------------------------------------------------


def now(simulation: CheckContext, margins: Mapping[str, float], below: float = 1.0) -> list[Load]:
    """What bodies bear that pass on the largest loads; `margins`: what stiffness leaves to joints.

    Between joints without play only those that leave a margin `below` that.

    Those between springs are kept, for what has to be told when a run goes wrong.
    """
    system = simulation.system
    if not concerns(simulation, margins):
        return []
    with answers_kept(system):
        system.respond()
        return among(simulation, margins) if not simulation.coupling.at_once else swinging(simulation, below)


@contextmanager
def answers_kept(system: System) -> Iterator[None]:
    """What bodies answer inside is asked by somebody who looks: afterwards all is as it was."""
    elements = system.elements
    folded, kept = not len(elements.demand), elements.response.copy()
    try:
        yield
    finally:
        if folded:
            elements.fold(*ASKED)
        else:
            elements.response[:] = kept


def after(simulation: CheckContext, margins: Mapping[str, float], touched: Sequence[str] | None) -> list[Load]:
    """The same after an event, of the bodies that it touched, which have answered for their margins."""
    if not simulation.coupling.at_once:
        return among(simulation, margins, touched)
    few = touched is None or len(simulation.system.body_home) <= MAX_EXAMINED_SIDES
    return now(simulation, margins) if few else []  # of many, that is seen at the next look


def among(simulation: CheckContext, margins: Mapping[str, float], bodies: Sequence[str] | None = None) -> list[Load]:
    """The same between springs, of some bodies, or of all, that have just answered."""
    system, carriers = simulation.system, simulation.warning_memory.carriers
    if simulation.coupling.at_once or not _all_answer(system):
        return []
    if bodies is None or len(bodies) > MAX_EXAMINED_SIDES:
        if not concerns(simulation, margins):
            return []
        carriers.clear()
        bodies = _known_heaviest(system)
    margins, found = as_dict(margins), []
    for body in bodies:
        bearing = _carrier(system, margins, body) if body in system.body_home else None
        carriers.pop(body, None)
        if bearing is not None:
            carrier, loads = bearing
            carriers[body] = carrier
            found.append(carrier.load(loads, simulation.dt))
    return found


def sampled(simulation: CheckContext) -> list[Load]:
    """The same by the last sample, of those that were looked at last: where the mechanism is with workers."""
    segments = simulation.recorder.segments
    if not segments or not segments[-1].used:
        return []
    at, d, found = segments[-1].used - 1, simulation.assembly.dimension, []
    for carrier in simulation.warning_memory.carriers.values():
        places = {joint: segments[-1].series("joints", joint) for joint in carrier.levers}
        if all(place is not None for place in places.values()):
            wrenches = {
                joint: place[0]["reaction"][at, place[1]] for joint, place in places.items() if place is not None
            }
            sizes = {joint: (np.linalg.norm(one[:d]), np.linalg.norm(one[d:])) for joint, one in wrenches.items()}
            found.append(carrier.load(sizes, simulation.dt))
    return found


def next_look(tick: int, *, near: bool = True) -> int:
    """The tick at which a run looks again that has looked at this one; `near`: something may soon be at its limit."""
    return max(tick + 1, FIRST_CHECK_TICK, int((CHECK_INTERVAL_FACTOR if near else FAR_INTERVAL_FACTOR) * tick))


def swinging(simulation: CheckContext, below: float = 1.0) -> list[Load]:
    """The same between joints without play; only those with a margin `below` that: one is what a step just follows."""
    system, limit, found = simulation.system, simulation.coupling.swings, []
    if limit is None:
        return []
    least = (limit / (below * simulation.dt)) ** 2
    for body in _known_heaviest(system):
        how = oscillation_of(system, body, least)
        if how is not None and how.square > least:
            found.append(Load(body, how.joint, limit / (float(np.sqrt(how.square)) * simulation.dt)))
    return found


def concerns(simulation: CheckContext, margins: Mapping[str, float]) -> bool:
    """Whether there are joints that bear loads within a limit, and bodies that can be asked."""
    system = simulation.system
    stacks = [joints for joints in system.joints if joints.form.translations]
    if not simulation.coupling.at_once:
        stacks = [joints for joints in stacks if any(name in joints.row for name in margins)]  # few, at an event
    return bool(stacks) and _all_answer(system)


def _all_answer(system: System) -> bool:
    """Whether all bodies can be asked how they answer forces; found out once while no stack comes or goes."""
    turnover, answer = system.cache.get("all answer", (-1, False))
    if turnover != system.turnover:
        answer = all(isinstance(stack, GivesCompliance) for stack in system.bodies)
        system.cache["all answer"] = system.turnover, answer
    return bool(answer)


def least(loads: Sequence[Load]) -> Load | None:
    """The load beyond the limit that is furthest beyond."""
    load = min(loads, key=lambda one: one.margin, default=None)
    return load if load is not None and load.margin < 1.0 else None


def tell(margins: Mapping[str, float], loads: Sequence[Load]) -> tuple[Mapping[str, float], dict[str, dict[str, Any]]]:
    """Margins in which what loads leave counts; of joints where that is less, whose load it is, and what stiffness leaves."""
    overloaded: dict[str, dict[str, Any]] = {}
    for body, joint, margin in sorted(loads, key=lambda load: -load.margin):
        if margin < margins.get(joint, np.inf):
            overloaded[joint] = {"body": body, "margin": margin, "without": margins.get(joint)}
    return (
        {**margins, **{joint: entry["margin"] for joint, entry in overloaded.items()}} if overloaded else margins
    ), overloaded


def heaviest(system: System) -> list[str]:
    """Bodies at the sides of joints that bear most for how they answer."""
    elements, stacks = system.elements, [joints for joints in system.joints if joints.form.translations]
    starts = [np.stack([joints.first[: joints.count], joints.second[: joints.count]], axis=1) for joints in stacks]
    rows, used = np.concatenate(starts), elements.count
    with np.errstate(all="ignore"):  # numbers that have left the world say so themselves
        force, answers = elements.force[:used], elements.response[:used].reshape(used, -1)
        borne = np.sqrt(np.einsum("ni,ni->n", force, force)) * np.einsum("ni,ni->n", answers, answers)
        chosen = first_few(-borne[rows].ravel(), MAX_EXAMINED_SIDES)
    ends, found = np.cumsum([joints.count for joints in stacks]), []
    for k in chosen:
        part = int(np.searchsorted(ends, k // 2, side="right"))
        joints = stacks[part]
        found.append(system.joint_home[joints.names[k // 2 - int(ends[part]) + joints.count]].owners[k % 2])
    return list(dict.fromkeys(found))


def _known_heaviest(system: System) -> list[str]:
    """Those of them that are here, about to be asked one by one."""
    found = [body for body in heaviest(system) if body in system.body_home]
    acquainted(found, system.described)
    return found


def first_few(values: Array, count: int) -> list[int]:
    """Places of the smallest, in order; of equal ones the first, and what is no number last."""
    places: Indices = np.arange(len(values))
    if len(values) > count:
        near = np.flatnonzero(values <= np.partition(values, count - 1)[count - 1])
        places = near if len(near) >= count else places  # else the others are no numbers
    found: list[int] = places[np.argsort(values[places], kind="stable")[:count]].tolist()
    return found


def _carrier(system: System, margins: Mapping[str, float], body: str) -> tuple[Carrier, Loads] | None:
    """A body that passes loads on, and what its joints bear now."""
    homes = system.joint_home
    names = [name for name in dict.fromkeys(system.uses[body]) if name in homes]
    if len(names) < 2 or any(name not in margins for name in names):  # others hold it
        return None
    described, stack, elements = system.described[body], system.body_home[body], system.elements
    try:
        centre = described.mass_centre(stack.state()["q"][stack.row[body]])
    except ModelError:  # nobody can be asked
        return None
    mass = described.total_mass
    if not mass > 0.0:  # nobody says, as of an FMU
        return None
    room = STABILITY_LIMIT * (1.0 - min(min(margins[name] for name in names), 1e9) ** -2)
    bearing: list[str] = []
    rows: list[tuple[int, int, int]] = []
    for name in names:
        joints, _, (first, second) = homes.reach(name)
        if joints.form.translations:
            bearing.append(name)
            rows.append((first[1] if first[0] == body else second[1], *second[1:]))
    if not bearing or not room > 0.0:
        return None
    found = np.empty((len(rows), 4))
    bear(elements.position, elements.response, elements.force, np.array(rows, np.int64), centre, found)
    over: dict[str, float] = {}  # r / I of each joint
    loads: dict[str, tuple[float, float]] = {}
    easiest = 0.0  # 1 / I
    for name, (arm, answer, force, moment) in zip(bearing, found.tolist(), strict=True):
        turning = max(answer - 1.0 / mass, 0.0)
        over[name] = turning / arm if arm > 0.0 else 0.0
        easiest = max(easiest, turning / arm**2 if arm > 0.0 else 0.0)
        loads[name] = force, moment
    if elements.dimension == 2:
        easiest /= LOAD_GROWTH_RESERVE
    return Carrier(body, {name: (lever, easiest) for name, lever in over.items()}, room), loads


@kernel
def bear(position: Array, response: Array, force: Array, rows: Indices, centre: Array, found: Array) -> None:
    """Of joints on a body: arm about its mass centre [m], its largest answer there [1/kg], force [N] and moment [N m] of the joint.

    `rows`: the element of the body, then the first one on the second side of the joint, and how many there are.
    """
    d = position.shape[1]
    square, turned = np.empty((d, d)), np.empty((d, d))
    for k in range(rows.shape[0]):
        at, second, count = rows[k, 0], rows[k, 1], rows[k, 2]  # in numba the row as a whole takes seconds to compile
        arm, size, moment = 0.0, 0.0, 0.0
        for i in range(d):
            arm += (position[at, i] - centre[i]) ** 2
            size += force[second, i] ** 2
            for j in range(d):
                square[i, j], turned[i, j] = 0.0, 0.0
                for mode in range(response.shape[2]):
                    square[i, j] += response[at, i, mode] * response[at, j, mode]
                for axis in range(1, count):  # sum of e f^T, whose skew part is the moment
                    turned[i, j] += position[second + axis, i] * force[second + axis, j]
        for i in range(d):
            for j in range(i):
                moment += (turned[i, j] - turned[j, i]) ** 2
        found[k, 0], found[k, 1], found[k, 2], found[k, 3] = (
            np.sqrt(arm),
            largest_eigenvalue(square),
            np.sqrt(size),
            np.sqrt(moment),
        )


@kernel
def largest_eigenvalue(matrix: Array) -> Any:
    """Of a small symmetric matrix, by the rotations of Jacobi, in place; 0 of numbers that have left the world."""
    n, size = matrix.shape[0], 0.0
    for i in range(n):
        for j in range(n):
            size += matrix[i, j] ** 2
    if not np.isfinite(size):
        return 0.0
    for _ in range(MAX_SWEEPS):
        left = 0.0
        for i in range(n):
            for j in range(i):
                left += matrix[i, j] ** 2
        if left <= ROUNDING**2 * size:
            break
        for i in range(n):
            for j in range(i):
                if matrix[i, j] != 0.0:
                    ratio = (matrix[j, j] - matrix[i, i]) / (2.0 * matrix[i, j])
                    tangent = 1.0 / (abs(ratio) + np.sqrt(ratio * ratio + 1.0))
                    tangent = tangent if ratio >= 0.0 else -tangent
                    cosine = 1.0 / np.sqrt(tangent * tangent + 1.0)
                    for k in range(n):
                        one, other = matrix[i, k], matrix[j, k]
                        matrix[i, k], matrix[j, k] = cosine * (one - tangent * other), cosine * (tangent * one + other)
                    for k in range(n):
                        one, other = matrix[k, i], matrix[k, j]
                        matrix[k, i], matrix[k, j] = cosine * (one - tangent * other), cosine * (tangent * one + other)
    most = matrix[0, 0]
    for i in range(1, n):
        most = max(most, matrix[i, i])
    return most


# --- on the way to where a run went wrong --------------------------------------------------------------------------------------


def on_the_way(simulation: CheckContext) -> tuple[Load | None, float]:
    """The load that a step did not bear, and by how much loads may grow as the run goes on; None where all were borne.

    From where a load asks for more than the step bears, it is the divergence that one sees: the first one counts.
    """
    run, found = simulation.recorded, []
    for carrier in simulation.warning_memory.carriers.values():
        if set(carrier.levers) <= set(run.joints):
            demands = carrier.demands(dict(_recorded(run, carrier, simulation.assembly.dimension)), simulation.dt)
            at, worst = _sound(sum(demands.values()), run.ticks, simulation.tick, carrier.room)
            joint = max(demands, key=lambda name: np.nan_to_num(demands[name][at]))
            load, tick = Load(carrier.body, joint, carrier.growth(worst)), int(run.ticks[at])
            found.append(((worst <= carrier.room, tick if worst > carrier.room else 0, load.margin), load, tick))
    if not found:
        return None, 1.0
    _, load, tick = min(found, key=lambda one: one[0])
    return (load if load.margin < 1.0 else None), float(
        np.clip(simulation.bound_for / max(tick, 1), 1.0, MAX_LOAD_GROWTH)
    )


def _recorded(run: Run, carrier: Carrier, d: int) -> Iterator[tuple[str, tuple[Array, Array]]]:
    for joint in carrier.levers:
        wrench = run.reaction(joint)
        yield joint, (np.linalg.norm(wrench[:, :d], axis=-1), np.linalg.norm(wrench[:, d:], axis=-1))


def _sound(demand: Array, ticks: Indices, tick: int, room: float) -> tuple[int, float]:
    """The sample of the largest demand that was one of loads, and that demand."""
    beyond = np.flatnonzero(np.nan_to_num(demand) > room)
    sound = max(1, int(np.searchsorted(ticks, tick - DIVERGED_TICKS)))
    if len(beyond):
        first = int(beyond[0])
        if ticks[first] <= 1 or first == 0:  # no step has been lost yet
            return first, float(demand[first])
        if first < sound or demand[first] <= DIVERGED_LOAD_RATIO * room:
            return first, float(min(demand[first], DIVERGED_LOAD_RATIO * room))
        sound = max(1, first)
    at = int(np.argmax(np.nan_to_num(demand[:sound])))
    return at, float(np.nan_to_num(demand[at]))


def remedy(load: Load, coupling: Coupling, dt: float, grows: float = 1.0) -> tuple[str, float | None]:
    """What helps, and a step [s] if one within reason does; `grows`: times the load as it will be."""
    body, margin = load.body, load.margin
    step = STEP_SAFETY_FACTOR * margin * dt / float(np.sqrt(grows))
    why = f"'{body}' has little inertia compared with the loads that it transmits, and springs cannot hold it at this step"
    if coupling.at_once:
        return (
            f"'{body}' has so little inertia that it oscillates under its loads faster than the step resolves: "
            f"take dt = {step:.2g} s",
            step,
        )
    others = "joints without springs, such as Glued() or Centralized(HHT())"
    if step < MIN_STEP_RATIO * dt:
        return f"{why}, nor at one a thousandth as long: take {others}", None
    return f"{why}: take dt = {step:.2g} s, or {others}", step
