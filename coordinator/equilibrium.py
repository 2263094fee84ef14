"""New joints start in equilibrium: they carry from their first instant the load that holds their sides together.

A penalty joint made under load (at the start of a run, or by an event) would first have to stretch: its sides fall into
its spring and ring until the damper has taken the energy, a disturbance of order dt^2 that a sensitive motion keeps. So
its marks are set off by K^-1 sigma_0, where sigma_0 is the load at which its sides do not accelerate against each other:
phi''(sigma_0) = phi''(0) - W sigma_0 = 0. That system couples all joints made at one instant; it is solved by conjugate
gradients in their rows, with the blocks E = dt^2 K of the stability rule as preconditioner (they make W E of order one),
and W is never formed: the bodies answer each trial load. The thesis is silent here.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from coordinator.rules import Stable
from coordinator.system import System
from modular.body import PredictsAndCorrects
from modular.elements import Array
from modular.internal_gains import InternalGains
from modular.joints import Joints
from modular.newmark import Newmark

MOST = 100  # iterations; a load not quite found only leaves some ringing
ENOUGH = 1e-5  # of the acceleration that the joints find at first

New = list[tuple[Joints, list[int]]]  # joints just made: their stack and rows


def carry_loads(system: System, dt: float, touched: Sequence[str], newmark: Newmark, internal: InternalGains) -> None:
    """Find the preload of joints whose books are not yet open, on the bodies that an event touched.

    Bodies answer as rigid ones: the gains that pull their shape back, which at a corrected state are still at work
    against the predicted one, hang on the step and rest while it is infinite.
    """
    new = [(joints, rows) for joints in system.joints if joints.form.holonomic and (rows := _new_rows(system, joints))]
    if not new:
        return
    system.show()
    for joints in system.joints:
        joints.linearise(system.elements)
    Stable().refresh(system, dt)
    blocks = [dt**2 * joints.stiffness[rows] for joints, rows in new]
    for joints, rows in new:
        joints.stiffness[rows] = joints.damping[rows] = 0.0
    for bodies in system.bodies_as(PredictsAndCorrects):
        bodies.configure(newmark, internal, float("inf"))
    load = _conjugate_gradients(system, dt, touched, new, blocks)
    _put(new, load)
    for bodies in system.bodies_as(PredictsAndCorrects):
        bodies.configure(newmark, internal, dt)


def _new_rows(system: System, joints: Joints) -> list[int]:
    """Rows of joints just made; one cut at this very instant and made again keeps what it carried."""
    return [row for name, row in joints.row.items() if joints.fresh[row] and not system.joint_home[name].again]


def _conjugate_gradients(system: System, dt: float, touched: Sequence[str], new: New, blocks: list[Array]) -> Array:
    """sigma_0 from W sigma_0 = phi''(0)."""
    free = _acceleration(system, dt, touched, new, None)
    load, residual = np.zeros_like(free), free
    direction, before = np.zeros_like(free), 0.0
    start = float(np.abs(free).max())
    for _ in range(MOST):
        eased = _times(blocks, residual)
        now = float(residual @ eased)
        if float(np.abs(residual).max()) <= ENOUGH * start or now <= 0.0:
            break
        direction = eased + (now / before if before else 0.0) * direction
        answer = free - _acceleration(system, dt, touched, new, direction)  # W direction
        given = float(direction @ answer)
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


def _acceleration(system: System, dt: float, touched: Sequence[str], new: New, load: Array | None) -> Array:
    """phi'' of the new joints while they carry a load and nothing else, from their rates now and a tick ahead."""
    _put(new, load)
    elements = system.elements
    system.show()
    elements.current_velocity[:] = elements.velocity
    for joints in system.joints:
        joints.measure(elements)
    now = [joints.rate[rows].copy() for joints, rows in new]
    for joints in system.joints:
        joints.exert(elements)
    for forces in system.forces:
        forces.exert(elements, system.time(dt))
    for bodies in system.bodies_as(PredictsAndCorrects):
        bodies.reevaluate(elements, touched)
        bodies.predict(elements, dt)
    elements.velocity[:] = elements.current_velocity
    for joints in system.joints:
        joints.measure(elements)
    return np.concatenate(
        [(joints.rate[rows] - rate).ravel() / dt for (joints, rows), rate in zip(new, now, strict=True)]
    )
