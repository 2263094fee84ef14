"""A mechanism whose freedoms are led: where it is at one time after the other, how fast and how it speeds up, without its masses.

    phi(q, t) = 0,    G v = -d phi/dt,    G a = -dG/dt v - d2 phi/dt2

Each time is begun from where the one before leads; where that is far off, on a way in halves. So a branch is kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from coordinator.analysis.mobility import mobility
from coordinator.couplings.centralized.equations import STENCIL, UNIT, Equations
from coordinator.couplings.centralized.freedoms import find_freedoms
from modular.assembly import Assembly
from modular.component import class_name
from modular.elements import Array
from modular.errors import ModelError

CLOSED = 1e-9  # of the extent: what constraints may leave open
DRIVE = "-drive"  # the name of a drive that is added: that of its joint, and this
ASTRAY = 0.05  # of the extent, or rad: from where a motion was expected to where it was put; the rest is gone in halves
NEARBY = 1e-3  # of the time in which the extent is gone through
FARTHEST_TURN = 1.5  # rad in a step: springs about hinges count on from the nearest turn
FAST = "*"  # no name of a joint: what turns too far for that
SHORTEST = 2.0**-12  # of the time from one sample to the next

State = tuple[float, Array, Array]


def rising(times: Sequence[float] | Array, who: str) -> Array:
    """Times as numbers."""
    try:
        instants = np.asarray(times, float)
    except (TypeError, ValueError):
        instants = np.empty(0)
    if instants.ndim != 1 or len(instants) < 1 or not np.isfinite(instants).all() or (np.diff(instants) <= 0.0).any():
        raise ModelError(f"{who}: times: give at least one time [s], rising, all finite.")
    return instants


def with_drives(model: Assembly, motions: Mapping[str, Any], times: Array) -> tuple[Assembly, dict[str, str]]:
    """A copy with a drive beside every joint for which a motion is given; the names by which drives are known."""
    led, names = model.copy(), {}
    for joint, given in motions.items():
        led.known(joint, led.joint_edges, "joint")
        edge = led.joint_edges[joint]
        drive = None if edge.joint.drive else edge.joint.leading(_checked(joint, given, times), led.dimension)
        if drive is None:
            raise ModelError(
                f"motion of '{joint}': a motion is given for a hinge or a slider, which have one coordinate, and not for a "
                f"{class_name(type(edge.joint))}; join a drive beside it, such as DrivenRotation."
            )
        where: dict[str, Any] = {} if edge.at is None else {"at": edge.at}
        led.join(joint + DRIVE, drive, str(edge.first), str(edge.second), **where)
        names[joint + DRIVE] = joint
    return led, names


def _checked(joint: str, given: Any, times: Array) -> Any:
    """A course as it is; values at times with these."""
    if hasattr(given, "pieces"):
        return given
    try:
        values = np.asarray(given, float)
    except (TypeError, ValueError):
        values = np.empty(0)
    if values.shape != times.shape or not np.isfinite(values).all() or len(times) < 2:
        raise ModelError(
            f"motion of '{joint}': give a course, or as many finite values as there are times ({len(times)}, at least two); it is "
            f"{type(given).__name__} of the shape {values.shape}."
        )
    if times[0] != 0.0:
        raise ModelError(
            f"motion of '{joint}': values are counted from where the model stands, which is at the time 0; give times from 0 "
            f"on, not from {times[0]:g} s."
        )
    return tuple(table.tolist() for table in spline(times, values))


def spline(times: Array, ways: Array) -> tuple[Array, Array, Array]:
    """Times, ways and rates of a spline that begins and ends as it goes: with a piece before and one behind."""
    from scipy.interpolate import CubicSpline  # for those who lead along values

    step = times[1] - times[0]
    longer = np.array([-step, *times, times[-1] + step])
    through = CubicSpline(times, ways)  # third derivatives go on at both ends; of three values it is a parabola
    return longer, through(longer), through(longer, 1)


def refuse_freedoms(equations: Equations, led: Assembly, who: str) -> None:
    """Whatever is free would move by itself."""
    if find_freedoms(equations).number:
        found = mobility(led)
        free = "; ".join(map(str, found.motions[:3])) + (" and more" if found.freedoms > 3 else "")
        raise ModelError(f"{who}: nothing leads these motions: {free}. Give motions for their joints, or drives.")


def refuse_events(model: Assembly, who: str, until: float) -> None:
    """What the schedule of a model would change on the way to a time: only runs carry it out."""
    due = [event.time for event in model.schedule if event.time is None or event.time <= until]
    if not due or until <= 0.0:
        return
    known = [time for time in due if time is not None]
    first = f"the first at {min(known):g} s" if known else "on conditions"
    before = "end before it (on the command line --until), or " if known and min(known) > 0.0 else ""
    raise ModelError(
        f"{who}: the model has events, {first}, and only runs carry them out; {before}give a copy of the model without "
        "them: model.schedule.clear()."
    )


def along(equations: Equations, times: Array, who: str) -> Iterator[State]:
    """Time, coordinates and velocities at all times; accelerations are asked for by `acceleration`. Leaves the system there."""
    walk = LedSystem(equations, float(times[0]), acting=True)
    for time in times.tolist():
        if (joint := walk.to(time)) == FAST:
            raise ModelError(
                f"{who}: at {time:.6g} s something turns too fast for the forces about it; give times closer to each other."
            )
        if joint is not None:
            raise ModelError(
                f"{who}: at {time:.6g} s the mechanism cannot follow: '{joint}' stays open by {walk.open_by:.2g} m. "
                "Give times closer to each other, or motions within reach."
            )
        yield time, walk.q, walk.v


class LedSystem:
    """A system on its way through time; `free`: what nothing leads moves as little as it can.

    `acting`: forces go along, for springs about hinges count whole turns, and dry friction remembers where it holds.
    """

    def __init__(self, equations: Equations, time: float, *, free: bool = False, acting: bool = False) -> None:
        self.equations, self.time, self.free = equations, time, free
        self.acting = acting and bool(equations.system.forces)
        self.q, self.v = equations.read()
        self.a = np.zeros(equations.size)
        self.open_by = 0.0

    def to(self, time: float) -> str | None:
        """Go on to a time; the joint that stays open by most where that cannot be, and then it stays where it was."""
        begin, state = self.time, (self.time, self.q, self.v, self.a)
        part = whole = time - begin
        while True:
            end = time if abs(time - self.time) <= abs(part) * (1.0 + 1e-9) else self.time + part
            joint = self._step(end)
            if joint is None and end == time:
                return None
            if joint is None:
                part = 2.0 * part
            elif abs(part) <= SHORTEST * abs(whole):
                self.time, self.q, self.v, self.a = state
                return joint
            else:
                part = 0.5 * part

    def _step(self, time: float) -> str | None:
        equations, h = self.equations, time - self.time
        equations.at(time)
        expected = self.q + h * self.v + 0.5 * h * h * self.a
        q, astray = _projected(equations, expected, self.v)
        errors = np.abs(equations.errors())
        self.open_by = float(errors.max(initial=0.0))
        if not self.open_by <= CLOSED * equations.extent or astray > ASTRAY:
            widest = {name: float(errors[rows].max(initial=0.0)) for name, rows in equations.rows_of.items()}
            return max(widest, key=lambda name: widest[name], default="")
        v = equations.project_velocity(q, np.zeros(equations.size))
        if self.acting and not self._take_along(time, h, q, v):
            return FAST
        self.time, self.q, self.v = time, q, v
        self.a = self._change() if self.free else acceleration(equations, q, self.v)
        return None

    def _take_along(self, time: float, h: float, q: Array, v: Array) -> bool:
        """Let forces keep what they keep from one tick to the next; not where something turns too far for that."""
        equations, elements = self.equations, self.equations.system.elements
        equations.go(q, v)
        unit = np.abs(np.einsum("ij,ij->i", elements.position, elements.position) - 1.0) <= UNIT
        if abs(h) * float(np.abs(elements.velocity[unit]).max(initial=0.0)) > FARTHEST_TURN:
            return False
        equations.forces(time)
        for forces in equations.system.forces:
            forces.account(elements, abs(h))
        return True

    def _change(self) -> Array:
        """How the smallest velocities change on the way: what is left free has no equation of its own."""
        equations = self.equations
        equations.go(self.q, self.v)
        h = NEARBY * min(1.0 / max(equations.pace(self.v), 1e-300), 1.0)
        least, total = acceleration(equations, self.q, self.v), np.zeros(equations.size)
        for place, weight in STENCIL:
            equations.at(self.time + place * h)
            q = equations.project_position(self.q + place * h * self.v + 0.5 * (place * h) ** 2 * least, self.v)
            total += weight / h * equations.project_velocity(q, np.zeros(equations.size))
        equations.at(self.time)
        equations.go(self.q, self.v)
        return total


def _projected(equations: Equations, expected: Array, v: Array) -> tuple[Array, float]:
    """Where constraints put what was expected elsewhere, and how far that is, of the extent, or rad of what has turned.

    A mechanism that is small, and whose coordinates are places of points, could turn over within a small part of a metre.
    """
    elements = equations.system.elements
    equations.go(expected, v)
    before = elements.position.copy()
    q = equations.project_position(expected, v)
    unit = np.abs(np.einsum("ij,ij->i", elements.position, elements.position) - 1.0) <= UNIT
    turned = float(np.abs(elements.position - before)[unit].max(initial=0.0))
    return q, max(float(np.abs(q - expected).max(initial=0.0)) / equations.extent, turned)


class Inputs:
    """Drives that stand at values, from where the model stands, while time stands still; what else is driven stays."""

    def __init__(self, equations: Equations, drives: Sequence[str]) -> None:
        self.equations, self.q = equations, equations.read()[0]
        homes = [equations.system.joint_home[name] for name in drives]
        self.rows = [(home.stack, home.stack.row[home.name]) for home in homes]
        self.first = [float(stack.marker[row, 1]) for stack, row in self.rows]
        self.values = np.zeros(len(drives))

    def to(self, values: Array) -> bool:
        """Go to other values on a straight way; whether that can be, and else all stays as it is."""
        here, place, done, part = self.values.copy(), self.q, 0.0, 1.0
        while done < 1.0:
            part = min(part, 1.0 - done)
            if self._step(here + (done + part) * (values - here)):
                done, part = done + part, 2.0 * part
            elif part <= SHORTEST:
                self.set(here, place)
                return False
            else:
                part = 0.5 * part
        self.values = values.copy()
        return True

    def set(self, values: Array, q: Array) -> None:
        """Stand at values, and there."""
        self.values, self.q = values.copy(), q
        for (stack, row), first, value in zip(self.rows, self.first, values, strict=True):
            stack.marker[row, 1] = first - value

    def _step(self, values: Array) -> bool:
        equations, before, old = self.equations, self.q, self.values
        self.set(values, before)
        q, astray = _projected(equations, before, np.zeros(equations.size))
        open_by = float(np.abs(equations.errors()).max(initial=0.0))
        if open_by <= CLOSED * equations.extent and astray <= ASTRAY:
            self.q = q
            return True
        self.set(old, before)
        return False


def acceleration(equations: Equations, q: Array, v: Array) -> Array:
    """The smallest, in the metric of the masses, that constraints ask for; leaves the system at q and v."""
    bias = equations.bias(q, v)
    return np.asarray(equations.saddle(equations.mass, equations.jacobian()).solve(np.zeros(equations.size), -bias)[0])


def singular(equations: Equations, freedoms: int) -> bool:
    """Whether the mechanism has more freedoms where it stands than these: branches meet there."""
    return find_freedoms(equations).number > freedoms
