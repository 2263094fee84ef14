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

import numpy as np

from coordinator.region import Region
from coordinator.rules import Stable
from coordinator.score import compiled, perform
from modular.body import PredictsAndCorrects
from modular.elements import STEP, TIME, Array, Indices
from modular.internal_gains import InternalGains
from modular.joints import Joints
from modular.newmark import Newmark

MOST = 100  # iterations; a load not quite found only leaves some ringing
ENOUGH = 1e-5  # of the acceleration that the joints find at first

New = list[tuple[Joints, Indices]]  # joints just made: their stack and rows


def carry_loads(region: Region, dt: float, newmark: Newmark, internal: InternalGains) -> None:
    """Find the preload of joints whose books are not yet open, on the bodies that an event touched.

    Bodies answer as rigid ones: the gains that pull their shape back, which at a corrected state are still at work
    against the predicted one, hang on the step and rest while it is infinite.
    """
    new = [
        (joints, rows) for joints in region.joints if joints.form.holonomic and len(rows := _new_rows(region, joints))
    ]
    if not new:
        return
    system = region.system
    parts = region.over((bodies, "show") for bodies in system.bodies)
    parts += region.over((joints, "linearise") for joints in region.joints)
    if len(new) == 1 and len(new[0][1]) == 1:  # alone: its own W is all there is
        ((joints, (row,)),) = new
        parts += region.over((bodies, "respond") for bodies in region.bodies)
        perform(region.elements, [*parts, (joints, "see", [(row, row + 1)])])
        own, form = joints.compliance[row : row + 1], joints.form
        redundant = form.locks < form.rows
        blocks = [np.asarray(np.linalg.pinv(own, rcond=1e-10, hermitian=True) if redundant else np.linalg.inv(own))]
    else:
        perform(region.elements, [*parts, *region.over(Stable().score(region))])
        blocks = [dt**2 * joints.stiffness[rows] for joints, rows in new]
    for joints, rows in new:
        joints.stiffness[rows] = joints.damping[rows] = 0.0
    for bodies in system.bodies_as(PredictsAndCorrects):
        bodies.configure(newmark, internal, float("inf"))
    load = _conjugate_gradients(Trial(region, dt, new), blocks)
    _put(new, load)
    for bodies in system.bodies_as(PredictsAndCorrects):
        bodies.configure(newmark, internal, dt)


def _new_rows(region: Region, joints: Joints) -> Indices:
    """Rows of joints just made; one cut at this very instant and made again keeps what it carried."""
    rows = np.arange(joints.count)[region.rows(joints)]
    fresh = rows[joints.fresh[rows] == 1]
    homes = region.system.joint_home
    return np.array([row for row in fresh.tolist() if not homes.again(joints.names[row])], np.int64)


class Trial:
    """phi'' of the new joints while they carry a load and nothing else, from their rates now and a tick ahead."""

    def __init__(self, region: Region, dt: float, new: New) -> None:
        self.region, self.dt, self.new = region, dt, new
        elements, system = region.elements, region.system
        rows = region.all_rows
        elements.current_velocity[rows] = elements.velocity[rows]
        self._shown = region.over((bodies, "show") for bodies in system.bodies)
        self._joints = region.over(
            (joints, verb) for joints in region.joints for verb in ("linearise", "measure_rates")
        )
        self._now = self._rates()
        forces = [(stack, "exert") for stack in (*region.joints, *region.forces)]
        self._forces = region.over(forces)
        ahead = [(bodies, "predict") for bodies in system.bodies]
        ahead += [(bodies, "foresee") for bodies in system.bodies if compiled((bodies, "foresee"))]
        self._ahead = region.over(ahead)
        self._rows = rows

    def acceleration(self, load: Array | None) -> Array:
        """With a load, in the order of the rows."""
        elements, system = self.region.elements, self.region.system
        _put(self.new, load)
        perform(elements, self._shown)
        elements.current_velocity[self._rows] = elements.velocity[self._rows]
        elements.clock[TIME] = system.time(self.dt)
        perform(elements, [*self._joints, *self._forces])
        self.region.reevaluate()
        elements.clock[STEP] = self.dt
        perform(elements, self._ahead)
        elements.velocity[self._rows] = elements.current_velocity[self._rows]
        return (self._rates() - self._now) / self.dt

    def _rates(self) -> Array:
        perform(self.region.elements, self._joints)
        return np.concatenate([joints.rate[rows].ravel() for joints, rows in self.new])


def _conjugate_gradients(trial: Trial, blocks: list[Array]) -> Array:
    """sigma_0 from W sigma_0 = phi''(0)."""
    free = trial.acceleration(None)
    load, residual = np.zeros_like(free), free
    direction, before = np.zeros_like(free), 0.0
    start = float(np.abs(free).max())
    for _ in range(MOST):
        eased = _times(blocks, residual)
        now = float(np.sum(residual * eased))
        if float(np.abs(residual).max()) <= ENOUGH * start or now <= 0.0:
            break
        direction = eased + (now / before if before else 0.0) * direction
        answer = free - trial.acceleration(direction)  # W direction
        given = float(np.sum(direction * answer))
        if given <= 0.0:
            break  # what is left is rounding
        step = now / given
        load, residual, before = load + step * direction, residual - step * answer, now
    return load


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
