"""New joints start in equilibrium: they carry from their first instant the load that holds their sides together.

A penalty joint made under load (at the start of a run, or by an event) would first have to stretch: its sides fall into
its spring and ring until the damper has taken the energy, a disturbance of order dt^2 that a sensitive motion keeps. So
its marks are set off by K^-1 sigma_0, where sigma_0 is the load at which its sides do not accelerate against each other:
phi''(sigma_0) = phi''(0) - W sigma_0 = 0. That system couples all joints made at one instant; it is solved by conjugate
gradients in their rows, with the blocks E = dt^2 K of the stability rule as preconditioner (they make W E of order one; for
a joint alone it is the inverse of its own W), and W is never formed: the bodies answer each trial load. Rows that depend
on each other (three rows of a cross product lock two directions) can hold loads that move nothing; rounding alone would
decide on those, and they would begin to act as the bodies turn. So loads and answers stay among what the rows of each
joint can do. The thesis is silent here.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from coordinator.couplings.models_beside import New, any_alone, by_name, models_in
from coordinator.couplings.rules import Stable
from coordinator.engine.program import compiled, exerting
from coordinator.engine.region import CHOSEN, EventOperation, Region
from coordinator.system import System
from modular.elements import GAIN_STEP, STEP, TIME, Array, Indices
from modular.joints import Joints
from modular.port import GROUND
from modular.tiles import Tiles, kinds_of

MAX_ITERATIONS = 100  # iterations; a load not quite found only leaves some ringing
RESIDUAL_TOLERANCE = 1e-5  # of the acceleration that the joints find at first


def just_made(region: Region) -> New:
    """Joints whose ledgers are not yet open; one cut at this very instant and made again keeps what it carried."""
    homes, new = region.system.joint_home, []
    for joints in region.joints:
        if not joints.form.holonomic:
            continue
        fresh, names = joints.fresh, joints.names
        if region.restricted:
            rows = np.array([row for row in region.rows(joints) if fresh[row] == 1], np.int64)
        else:
            rows = np.flatnonzero(fresh[: joints.count] == 1)
        if homes.made_apart:
            rows = np.array([row for row in rows.tolist() if not homes.again(names[row])], np.int64)
        if len(rows):
            new.append((joints, rows))
    return new


def carry_loads(region: Region, dt: float, new: New) -> None:
    """Find the preload of new joints, on the bodies that an event touched.

    Bodies answer as rigid ones: the gains that pull their shape back, which at a corrected state are still at work
    against the predicted one, hang on the step and must rest meanwhile.
    """
    if any_alone(region.system, new):
        for part in models_in(region.system, new).values():  # a joint alone is asked in a way of its own
            owners = dict.fromkeys(owner for joints, rows in part for owner in _owners(region, joints, rows))
            carry_loads(Region.of(region.system, [owner for owner in owners if owner != GROUND]), dt, part)
        return
    joints, rows = new[0]
    if len(new) == 1 and len(rows) == 1:
        row = int(rows[0])
        region.choose(row)
        region.play(("meet", id(joints)), partial(_meeting_one, joints))
        trial: Trial = OfOne(region, dt, joints, row)
    else:
        region.perform([*region.save_forces(), *_meeting(region), *Stable().program(region)])
        region.registry.forget()  # what is kept there was written for another rule
        trial = OfMany(region, dt, new)
    trial.carry(_conjugate_gradients(trial))
    region.elements.clock[STEP] = 0.0  # it is now again


def _owners(region: Region, joints: Joints, rows: Indices) -> list[str]:
    return [owner for row in rows.tolist() for owner in region.system.joint_home[joints.names[row]].owners]


def start_as_predicted(region: Region, dt: float, new: New, turns: Callable[[Region], bool]) -> None:
    """Joints read places that are predicted, and so older than the accelerations: they begin with the gap that this leaves.

    Of a joint that stays closed phi'' = J a + J' v - f'' = 0, and of predicted places phi = -beta dt^2 J a. Where J' v or f'' is
    not 0 as it begins (a link or an eccentric hinge at speed, a drive that sets out), its spring would fall into that, by a force
    of the size of its load at every step, for K goes with dt^-2. So one looks at what the first tick will see. `turns`: the rule
    lets preloads turn with the bodies.
    """
    described, elements = region.system.described, region.elements
    straight = all(described[bodies.names[0]].straight for bodies in region.bodies)
    asked = [(j, rows) for j, rows in new if not straight or j.form.drives or _bends(j)]
    if not asked:
        return
    # of all copies at once
    once = isinstance(described, Tiles) and all(body.steps == 1 for body in kinds_of(described))
    bending = asked if once else _some(asked, lambda joint: _steps_once(region.system, joint))
    if region.system.parted is not None:
        bending = _in_motion(region, bending)
    if not bending or not (any(j.form.drives for j, _ in bending) or any(b.state()["v"].any() for b in region.bodies)):
        return
    clock, now = elements.clock, float(elements.clock[TIME])
    clock[STEP], clock[TIME] = dt, now + dt
    region.play("first tick", _first_tick)
    for joints, rows in bending:
        rate, driven = joints.rate[rows].copy(), joints.form.drives
        if driven:  # as springs and dampers see it: modular/joints.py, follow_on
            rate[:, -driven:] += 0.5 * dt * joints.course[rows][:, :, 2]
        off = np.einsum("nij,nj->ni", joints.stiffness[rows], joints.error[rows])
        joints.preload[rows] -= off + np.einsum("nij,nj->ni", joints.damping[rows], rate)
    clock[STEP], clock[TIME] = 0.0, now
    region.play("as it is", _meeting)
    if turns(region):
        region.play("loads as they are", lambda region: [(joints, "compute_parting") for joints in region.joints])


def _in_motion(region: Region, new: New) -> New:
    """New joints of those models, of several side by side, in which a body moves or a joint drives."""
    parted = region.system.parted
    assert parted is not None
    moving = {
        parted(bodies.names[row])[1]
        for bodies in region.bodies
        for row in np.flatnonzero(bodies.state()["v"].reshape(len(bodies.names), -1).any(axis=1)).tolist()
    }
    moving |= {parted(joints.names[row])[1] for joints, rows in new if joints.form.drives for row in rows.tolist()}
    return _some(new, lambda joint: parted(joint)[1] in moving)


def _some(new: New, wanted: Callable[[str], bool]) -> New:
    """Those new joints that are wanted, by name."""
    kept = [
        (joints, np.array([row for row in rows.tolist() if wanted(joints.names[row])], np.int64))
        for joints, rows in new
    ]
    return [(joints, rows) for joints, rows in kept if len(rows)]


def _first_tick(region: Region) -> list[EventOperation]:
    """Errors of the joints and their rates as the first tick will see them."""
    ahead: list[EventOperation] = [(bodies, "predict") for bodies in region.bodies]
    return [*ahead, *((joints, verb) for joints in region.joints for verb in ("linearise", "measure_rates"))]


def _steps_once(system: System, joint: str) -> bool:
    """Whether its bodies take one step in a tick: those with several lag by less as they go on."""
    return all(
        system.described[owner].steps == 1 for owner in system.joint_home[joint].owners if owner in system.described
    )


def _bends(joints: Joints) -> bool:
    """Whether its rows change as its sides move: those that say where points coincide do not."""
    return joints.form.coincident < joints.form.rows


def _meeting(region: Region) -> list[EventOperation]:
    """How the joints stand, and how fast their sides move."""
    operations: list[EventOperation] = [(bodies, "show") for bodies in region.bodies]
    return operations + [(joints, verb) for joints in region.joints for verb in ("linearise", "measure_rates")]


def _meeting_one(joints: Joints, region: Region) -> list[EventOperation]:
    """The same, what the chosen joint sees, and how bodies answer forces that choose their stiffness by it."""
    responding = [(bodies, "respond") for bodies in region.bodies]
    mobilities = [(forces, "compute_mobility") for forces in region.forces if compiled((forces, "compute_mobility"))]
    return [*region.save_forces(), *_meeting(region), *responding, *mobilities, (joints, "compute_compliance", CHOSEN)]


class Trial(ABC):
    """phi'' of the new joints while they carry a load and nothing else, from their rates now and a tick ahead."""

    def __init__(self, region: Region, dt: float, given: Array) -> None:
        self.region, self.dt, self.given = (
            region,
            dt,
            given,
        )  # the load that they carry as yet: none, or one found before
        self._now = self.rates().copy()
        self.size = len(self._now)
        self.ends: Indices = np.array([self.size])  # where the rows of a model end, of several side by side
        clock = region.elements.clock
        clock[STEP], clock[TIME] = dt, region.system.time(dt)

    def acceleration(self, load: Array) -> Array:
        """With a load, in the order of the rows; what of it a load could answer."""
        self.carry(load)
        self.region.play("trial", _trying)
        return self.able((self.rates() - self._now) / self.dt)

    @abstractmethod
    def able(self, rows: Array) -> Array:
        """What of it lies among the directions that the rows of each joint can act in."""

    @abstractmethod
    def rates(self) -> Array:
        """phi' as last measured; what is measured next may be written into the same array."""

    @abstractmethod
    def carry(self, load: Array) -> None:
        """Let the new joints carry a load."""

    @abstractmethod
    def ease(self, residual: Array) -> Array:
        """The load that would about make up for a residual."""


class OfOne(Trial):
    """A joint alone: its own W is all there is."""

    def __init__(self, region: Region, dt: float, joints: Joints, row: int) -> None:
        self.joints, self.row = joints, row
        self._able = _among(joints, np.array([row]))
        joints.stiffness[row] = joints.damping[row] = 0.0
        super().__init__(region, dt, joints.preload[row].copy())

    def rates(self) -> Array:
        """phi' as last measured."""
        rate: Array = self.joints.rate[self.row]
        return rate

    def carry(self, load: Array) -> None:
        """Let it carry a load."""
        self.joints.preload[self.row] = load

    def ease(self, residual: Array) -> Array:
        """W^-1 times it."""
        own, form = self.joints.compliance[self.row : self.row + 1], self.joints.form
        redundant = form.locks < form.rows
        inverse = np.linalg.pinv(own, rcond=1e-10, hermitian=True) if redundant else np.linalg.inv(own)
        return self.able(_times(np.asarray(inverse), residual))

    def able(self, rows: Array) -> Array:
        """Of the one joint."""
        return rows if self._able is None else _times(self._able, rows)


class OfMany(Trial):
    """Joints made at one instant: the blocks E = dt^2 K of the stability rule."""

    def __init__(self, region: Region, dt: float, new: New) -> None:
        self.new = new
        # sums go by the names of joints: in whatever stacks these live, the last bits stay
        self._order, ends = by_name(region.system, new)
        self._back = np.argsort(self._order)
        self._blocks = [dt**2 * joints.stiffness[rows] for joints, rows in new]
        self._able = [_among(joints, rows) for joints, rows in new]
        for joints, rows in new:
            joints.stiffness[rows] = joints.damping[rows] = 0.0
        super().__init__(region, dt, np.concatenate([j.preload[rows].ravel() for j, rows in new])[self._order])
        self.ends = ends

    def rates(self) -> Array:
        """phi' as last measured."""
        found = np.concatenate([joints.rate[rows].ravel() for joints, rows in self.new])
        return np.asarray(found[self._order])

    def carry(self, load: Array) -> None:
        """Let them carry a load."""
        for (joints, rows), part in zip(self.new, self._parts(load), strict=True):
            joints.preload[rows] = part.reshape(len(rows), -1)

    def ease(self, residual: Array) -> Array:
        """E times it."""
        parts = zip(self._blocks, self._parts(residual), strict=True)
        return self.able(np.concatenate([_times(block, part) for block, part in parts])[self._order])

    def able(self, rows: Array) -> Array:
        """Of each joint."""
        parts = zip(self._able, self._parts(rows), strict=True)
        found = np.concatenate([part if able is None else _times(able, part) for able, part in parts])
        return np.asarray(found[self._order])

    def _parts(self, vector: Array) -> list[Array]:
        sizes = [len(rows) * joints.form.rows for joints, rows in self.new]
        return np.split(vector[self._back], np.cumsum(sizes)[:-1])


def _trying(region: Region) -> list[EventOperation]:
    """Accelerations under the loads as they stand, and the rates to which they lead."""
    elements, meeting = region.elements, _meeting(region)
    ahead: list[EventOperation] = [(bodies, "predict") for bodies in region.bodies]
    ahead += [(bodies, "show_end_velocity") for bodies in region.bodies if compiled((bodies, "show_end_velocity"))]
    driven = any(joints.form.drives for joints in region.joints)
    return [
        *meeting,
        (elements, "use_present_velocity"),
        *([partial(_tell_step, dt=0.0)] if driven else []),
        *exerting((*region.joints, *region.forces)),
        *((bodies, "reevaluate") for bodies in region.bodies),
        *([_tell_step] if driven else []),
        *ahead,
        (elements, "use_end_velocity"),
        *([partial(_look_beyond, ticks=1.0)] if driven else []),
        *((joints, verb) for joints in region.joints for verb in ("linearise", "measure_rates")),
        *([partial(_look_beyond, ticks=0.0)] if driven else []),
    ]


def _look_beyond(region: Region, *, ticks: float) -> None:
    """What joints follow is so much further on than the clock says."""
    region.elements.beyond[0] = ticks * region.elements.clock[STEP]


def _tell_step(region: Region, *, dt: float | None = None) -> None:
    """Velocities are those of now (0), or of a tick ahead."""
    clock = region.elements.clock
    clock[STEP] = clock[GAIN_STEP] if dt is None else dt


def _conjugate_gradients(trial: Trial) -> Array:
    """sigma_0 from W sigma_0 = phi''(0); from the load on that was found last, where others only changed theirs since.

    Models that stand side by side are solved at once, each with sums, steps and an end of its own.
    """
    each = Sum() if len(trial.ends) == 1 else Sums(trial.ends)
    load = trial.given
    free = trial.acceleration(np.zeros(trial.size))
    start = each.largest(free)
    given_load = each.largest(load) > 0.0
    residual = np.where(each.spread(given_load), trial.acceleration(load), free) if given_load.any() else free
    load = np.where(each.spread(start == 0.0), 0.0, load)
    done = (start == 0.0) | (given_load & (each.largest(residual) <= RESIDUAL_TOLERANCE * start))
    direction, before = np.zeros(trial.size), 0.0 * start
    for _ in range(MAX_ITERATIONS):
        if done.all():
            break
        eased = trial.ease(residual)
        now = each.sums(residual * eased)
        done = done | (now <= 0.0)
        share = each.ratio(now, before, before != 0.0)
        direction = np.where(each.spread(done), 0.0, eased + each.spread(share) * direction)
        if done.all():
            break
        answer = free - trial.acceleration(direction)  # W direction
        given = each.sums(direction * answer)
        done = done | (given <= 0.0)  # what is left is rounding
        step = each.spread(each.ratio(now, given, ~done))
        still = each.spread(done)
        load, residual = (
            np.where(still, load, load + step * direction),
            np.where(still, residual, residual - step * answer),
        )
        before = np.where(done, before, now)
        done = done | (each.largest(residual) <= RESIDUAL_TOLERANCE * start)
    return load


class Sum:
    """Sums over all rows, as numbers."""

    def sums(self, values: Array) -> Any:
        """Of all."""
        return np.add.reduce(values)

    def largest(self, values: Array) -> Any:
        """The largest magnitude."""
        return np.maximum.reduce(np.abs(values))

    def ratio(self, above: Any, below: Any, where: Any) -> Any:
        """One over the other where that is asked for, elsewhere 0."""
        return above / below if where else 0.0 * above

    def spread(self, values: Any) -> Any:
        """What holds for all rows."""
        return values


class Sums:
    """Sums over the rows of each of several models, one after the other."""

    def __init__(self, ends: Any) -> None:
        self._sizes = np.diff(ends, prepend=0)
        self._starts = ends - self._sizes
        self._even = len(set(self._sizes.tolist())) == 1

    def sums(self, values: Array) -> Array:
        """Of each, as if it stood alone."""
        if self._even:
            return np.asarray(np.add.reduce(values.reshape(len(self._sizes), -1), axis=1))
        spans = zip(self._starts, self._starts + self._sizes, strict=True)
        return np.array([np.add.reduce(values[first:last]) for first, last in spans])

    def largest(self, values: Array) -> Array:
        """The largest magnitude of each."""
        return np.asarray(np.maximum.reduceat(np.abs(values), self._starts))

    def ratio(self, above: Any, below: Any, where: Any) -> Any:
        """Of each, where that is asked for, elsewhere 0."""
        return np.divide(above, below, out=np.zeros_like(above), where=where)

    def spread(self, values: Any) -> Any:
        """A number of each for all its rows."""
        return np.repeat(values, self._sizes)


def _among(joints: Joints, rows: Indices) -> Array | None:
    """Projectors on what the rows of joints can do, their rank being known; None where that is everything."""
    form = joints.form
    if form.locks == form.rows:
        return None
    seen, split = joints.compliance[rows], form.translations
    found = np.zeros_like(seen)
    for part, rank in ((slice(split), form.locks - form.rotations), (slice(split, None), form.rotations)):
        if rank:
            most = np.linalg.eigh(seen[:, part, part])[1][:, :, -rank:]
            found[:, part, part] = most @ most.swapaxes(1, 2)
    return found


def _times(blocks: Array, vector: Array) -> Array:
    """Blocks along a diagonal, times a vector."""
    n, m = blocks.shape[:2]
    return np.asarray(np.einsum("nij,nj->ni", blocks, vector.reshape(n, m)).ravel())
