"""New joints start in equilibrium: they carry from their first instant the load that holds their sides together.

A penalty joint made under load (at the start of a run, or by an event) would first have to stretch: its sides fall into
its spring and ring until the damper has taken the energy, a disturbance of order dt^2 that a sensitive motion keeps. So
its marks are set off by K^-1 sigma_0, where sigma_0 is the load at which its sides do not accelerate against each other:
phi''(sigma_0) = phi''(0) - W sigma_0 = 0. That system couples all joints made at one instant; it is solved by conjugate
gradients in their rows, with the blocks E = dt^2 K of the stability rule as preconditioner (they make W E of order one; for
a joint alone it is the inverse of its own W), and W is never formed: the bodies answer each trial load. The thesis is
silent here.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np

from coordinator.passage import Step
from coordinator.region import CHOSEN, Region
from coordinator.rules import Stable
from coordinator.score import compiled
from modular.elements import STEP, TIME, Array
from modular.joints import Joints

MOST = 100  # iterations; a load not quite found only leaves some ringing
ENOUGH = 1e-5  # of the acceleration that the joints find at first

New = list[tuple[Joints, list[int]]]  # joints just made: their stack and rows
Ease = Callable[[Array], Array]


def carry_loads(region: Region, dt: float) -> None:
    """Find the preload of joints whose books are not yet open, on the bodies that an event touched.

    Bodies answer as rigid ones: the gains that pull their shape back, which at a corrected state are still at work
    against the predicted one, hang on the step and must rest meanwhile.
    """
    new = [(joints, rows) for joints in region.joints if joints.form.holonomic and (rows := _new_rows(region, joints))]
    if not new:
        return
    joints, rows = new[0]
    if len(new) == 1 and len(rows) == 1:  # alone: its own W is all there is
        region.choose(rows[0])
        region.play(("meet", id(joints)), lambda region: [*_meeting(region), *_seeing(region, joints)])
        ease = _own_inverse(joints, rows[0])
    else:
        region.perform([*_meeting(region), *Stable().score(region)])
        region.system.workshop.pop("passages", None)  # what is kept there was written for another rule
        ease = _blocks([dt**2 * joints.stiffness[rows] for joints, rows in new])
    for joints, rows in new:
        joints.stiffness[rows] = joints.damping[rows] = 0.0
    _put(new, _conjugate_gradients(Trial(region, dt, new), ease))


def _new_rows(region: Region, joints: Joints) -> list[int]:
    """Rows of joints just made; one cut at this very instant and made again keeps what it carried."""
    fresh, homes, names = joints.fresh, region.system.joint_home, joints.names
    rows = region.rows(joints) if region.local else np.flatnonzero(fresh[: joints.count]).tolist()
    return [row for row in rows if fresh[row] == 1 and not homes[names[row]].again]


def _meeting(region: Region) -> list[Step]:
    """How the joints stand, and how fast their sides move."""
    steps: list[Step] = [(bodies, "show") for bodies in region.bodies]
    return steps + [(joints, verb) for joints in region.joints for verb in ("linearise", "measure_rates")]


def _seeing(region: Region, joints: Joints) -> list[Step]:
    """What the chosen joint sees."""
    return [*((bodies, "respond") for bodies in region.bodies), (joints, "see", CHOSEN)]


class Trial:
    """phi'' of the new joints while they carry a load and nothing else, from their rates now and a tick ahead."""

    def __init__(self, region: Region, dt: float, new: New) -> None:
        self.region, self.dt, self.new = region, dt, new
        self._now = self._rates()
        clock = region.elements.clock
        clock[STEP], clock[TIME] = dt, region.system.time(dt)

    def acceleration(self, load: Array | None) -> Array:
        """With a load, in the order of the rows."""
        _put(self.new, load)
        self.region.play("trial", _trying)
        return (self._rates() - self._now) / self.dt

    def _rates(self) -> Array:
        if len(self.new) == 1 and len(self.new[0][1]) == 1:
            ((joints, (row,)),) = self.new
            return joints.rate[row].copy()
        return np.concatenate([joints.rate[rows].ravel() for joints, rows in self.new])


def _trying(region: Region) -> list[Step]:
    """Accelerations under the loads as they stand, and the rates to which they lead."""
    elements, meeting = region.elements, _meeting(region)
    ahead: list[Step] = [(bodies, "predict") for bodies in region.bodies]
    ahead += [(bodies, "foresee") for bodies in region.bodies if compiled((bodies, "foresee"))]
    return [
        *meeting,
        (elements, "stand"),
        *((stack, "exert") for stack in (*region.joints, *region.forces)),
        *((bodies, "reevaluate") for bodies in region.bodies),
        *ahead,
        (elements, "look_ahead"),
        *((joints, verb) for joints in region.joints for verb in ("linearise", "measure_rates")),
    ]


def _conjugate_gradients(trial: Trial, ease: Ease) -> Array:
    """sigma_0 from W sigma_0 = phi''(0)."""
    free = trial.acceleration(None)
    load, residual = np.zeros_like(free), free
    direction, before = np.zeros_like(free), 0.0
    enough = ENOUGH * float(np.abs(free).max())
    for _ in range(MOST):
        if float(np.abs(residual).max()) <= enough:
            break
        eased = ease(residual)
        now = float(np.sum(residual * eased))
        if now <= 0.0:
            break
        direction = eased + (now / before if before else 0.0) * direction
        answer = free - trial.acceleration(direction)  # W direction
        given = float(np.sum(direction * answer))
        if given <= 0.0:
            break  # what is left is rounding
        step = now / given
        load, residual, before = load + step * direction, residual - step * answer, now
    return load


def _own_inverse(joints: Joints, row: int) -> Ease:
    """W^-1 of a joint alone, times a vector; worked out where there is anything to ease."""

    @functools.cache
    def inverse() -> list[Array]:
        own, form = joints.compliance[row : row + 1], joints.form
        redundant = form.locks < form.rows
        return [np.asarray(np.linalg.pinv(own, rcond=1e-10, hermitian=True) if redundant else np.linalg.inv(own))]

    return lambda vector: _times(inverse(), vector)


def _blocks(blocks: list[Array]) -> Ease:
    """E of many joints, times a vector over all their rows."""
    return lambda vector: _times(blocks, vector)


def _times(blocks: list[Array], rows: Array) -> Array:
    """E times a vector over all rows."""
    parts, start = [], 0
    for block in blocks:
        n, m = block.shape[:2]
        parts.append(np.einsum("nij,nj->ni", block, rows[start : start + n * m].reshape(n, m)).ravel())
        start += n * m
    return np.concatenate(parts)


def _put(new: New, load: Array | None) -> None:
    """Let the new joints carry a load."""
    start = 0
    for joints, rows in new:
        size = len(rows) * joints.form.rows
        joints.preload[rows] = 0.0 if load is None else load[start : start + size].reshape(len(rows), -1)
        start += size
