"""After an event: glued joints that are open are closed, and one impulse of all together stops what moves against them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from coordinator.couplings.interface.interface import Interface
from coordinator.engine.program import Ranges
from coordinator.system import System
from modular.elements import STEP, Array, Elements
from modular.errors import CouplingError
from modular.ledger import IMPACT, LEAKED

CLOSED_TOLERANCE_FACTOR = 1e3  # times what may stay open: joints that are left as they are
IMPACT_STEP_SHARE = 1e-2  # of a step: weight moves hardly anything in it
REST_SPEED_TOLERANCE = 1e-9  # of the largest velocity: what joints may find moving against them after an event


def project_positions(system: System, interfaces: Sequence[Interface], dt: float) -> None:
    """Joints that were springs until now have left gaps; bodies move to the nearest places without, and no faster for it.

    Closed in the next step instead, a gap would take its length in the time of a step: a light body would be flung about.
    """
    elements = system.elements
    for interface in interfaces:
        if interface.open_by() <= CLOSED_TOLERANCE_FACTOR and not system.dry_run:
            continue
        held = [bodies.state()["v"][first:last] for bodies, rows in interface.members.bodies for first, last in rows]
        kept = [velocities.copy() for velocities in held]
        for velocities in held:
            velocities[:] = 0.0
        elements.force[:] = 0.0
        clock = elements.clock.copy()
        elements.clock[STEP] = IMPACT_STEP_SHARE * dt
        wrong = interface.perform("project_positions")
        elements.clock[:] = clock
        for velocities, before in zip(held, kept, strict=True):
            velocities[:] = before
        if wrong is not None and not system.dry_run:
            raise CouplingError(
                f"'{wrong}' cannot be closed in its present position; merge while its load is smaller, or take a "
                "smaller step."
            )
        interface.perform("update_operator")


def project_velocities(system: System, interfaces: Sequence[Interface]) -> None:
    """The operator is of now (`update_operator`); each books what it takes as an impact."""
    elements = system.elements
    fastest = max([float(np.abs(bodies.state()["v"]).max(initial=0.0)) for bodies in system.bodies] or [0.0])
    stacks = [(joints, rows) for interface in interfaces for joints, rows in interface.members.stacks]
    moving = largest_of((joints.rate, rows) for joints, rows in stacks)
    if moving == 0.0 and not system.dry_run:
        return
    elements.velocity_before[:] = elements.velocity
    elements.force[:] = 0.0
    for interface in interfaces:
        interface.perform("apply_joint_impulses")
    if moving <= REST_SPEED_TOLERANCE * max(1.0, fastest) and not system.dry_run:
        return
    elements.force_before[:] = elements.force
    book_impacts(elements, stacks)


def largest_of(arrays: Iterable[tuple[Array, Ranges]]) -> float:
    """The largest magnitude in some rows."""
    return max(
        (float(np.abs(a[first:last]).max(initial=0.0)) for a, rows in arrays for first, last in rows), default=0.0
    )


def book_impacts(elements: Elements, stacks: Sequence[tuple[Any, Ranges]]) -> None:
    """What impulses of joints took from their sides, from the velocities before to those of now."""
    elements.clock[STEP] = 1.0
    for joints, rows in stacks:
        for first, last in rows:
            left = joints.ledger[first:last, LEAKED].copy()
            joints.power[first:last] = joints.power_before[first:last] = 0.0
            joints.loops["account"](joints, elements, first, last)
            joints.ledger[first:last, IMPACT] += joints.ledger[first:last, LEAKED] - left
            joints.ledger[first:last, LEAKED] = left
    elements.clock[STEP] = 0.0
