"""After an event: glued joints that are open are closed, and one impulse of all together stops what moves against them.

After an event in a mixture: what is glued is stopped, springs get stiffness and load, and accelerations are found anew.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from coordinator.couplings.interface.interface import Interface
from coordinator.couplings.interface.members import Members, rows_of
from coordinator.couplings.interface.mixture import Mixture
from coordinator.couplings.rules import StiffnessRule
from coordinator.engine.program import RangedOperation, Ranges, compiled, perform
from coordinator.system import System
from modular.compliant import DAMPING
from modular.elements import STEP, Array, Elements
from modular.errors import CouplingError
from modular.joints import Joints
from modular.ledger import IMPACT, LEAKED, RELEASED, STORED

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


Row = tuple[Joints, int, str]  # a stack, a row of it, and its name


def settle(mixture: Mixture, rule: StiffnessRule, dt: float, *, preload: bool) -> None:
    """The state stays, but for what moves against joints; gains of bodies must rest."""
    system, elements = mixture.system, mixture.system.elements
    elements.clock[:] = 0.0, system.time(dt), dt
    play(system, [(bodies, "show", None) for bodies in system.bodies])
    elements.play("use_present_velocity", elements)
    for level in mixture.levels:
        level.perform("update_operator")
    project_positions(system, mixture.levels, dt)
    project_velocities(system, mixture.levels)
    release_springs(system, mixture.plan.glued)
    play(system, [(joints, "linearise", rows) for joints, rows in mixture.springs])
    new = list(_just_made(mixture))
    operations = rule.program(system) if type(rule).refresh is StiffnessRule.refresh else None
    if operations is None:
        rule.refresh(system, dt)
        release_springs(system, mixture.plan.glued)
    else:
        play(system, mixture.stiffening(operations))
    play(system, mixture.exerting())
    if preload and new:
        _carry_loads(mixture, new)
        if operations is None:
            rule.refresh(system, dt)  # once more, for what parts with these loads
            release_springs(system, mixture.plan.glued)
        elif any(verb == "compute_parting" for _, verb in operations):
            play(system, [(joints, "compute_parting", rows) for joints, rows in mixture.springs])
        play(system, mixture.exerting())
    for level in mixture.levels:
        level.perform("settle")
    for bodies, rows in mixture.others:
        if compiled((bodies, "reevaluate")):
            play(system, [(bodies, "reevaluate", rows)])
        else:
            bodies.reevaluate(elements, bodies.names)
    elements.force_before[:], elements.velocity_before[:], elements.work[:] = elements.force, elements.velocity, 0.0
    for stack in system.booked:
        stack.open_ledgers()


def play(system: System, operations: Iterable[RangedOperation | tuple[Any, str, None]]) -> None:
    """Play operations for their rows where they are compiled, as wholes elsewhere."""
    asked = [
        (stack, verb, rows) if rows is not None and compiled((stack, verb)) else (stack, verb)
        for stack, verb, rows in operations
    ]
    perform(system.elements, asked)


def _rows(system: System, names: Iterable[str]) -> Iterator[Row]:
    for name in names:
        stack = system.joint_home[name].stack
        yield stack, stack.row[name], name


def release_springs(system: System, names: Iterable[str]) -> None:
    """Glued joints are no springs: what they held as such is released, and they ask nothing of the step."""
    elements = system.elements
    for joints, row, name in _rows(system, names):
        joints.stiffness[row] = joints.damping[row] = joints.preload[row] = 0.0
        joints.power[row] = 0.0
        joints.ledger[row, RELEASED] += joints.ledger[row, STORED]
        joints.ledger[row, STORED] = 0.0
        if len(elements.demand) >= elements.capacity:
            for start, count in zip(*_sides(system, name), strict=True):
                elements.demand[start : start + count] = 0.0


def _sides(system: System, name: str) -> tuple[tuple[int, int], tuple[int, int]]:
    home = system.joint_home[name]
    return home.starts, home.counts


def preload_from_reactions(system: System, names: Iterable[str]) -> None:
    """Joints that were glued until now go on as springs, with the load that they carry."""
    for joints, row, _ in _rows(system, names):
        joints.preload[row] = joints.effort[row] if joints.form.holonomic else 0.0


def _just_made(mixture: Mixture) -> Iterator[Row]:
    """Springs whose ledgers are not yet open; one cut at this very instant and made again keeps what it carried."""
    system = mixture.system
    for joints, row, name in _rows(system, mixture.plan.springs):
        if joints.form.holonomic and joints.fresh[row] == 1 and not system.joint_home.again(name):
            yield joints, row, name


def _carry_loads(mixture: Mixture, new: list[Row]) -> None:
    """New springs carry from their first instant what they would carry if they were glued (equilibrium.py says why)."""
    system = mixture.system
    members = Members.everyone(system)
    held = {*mixture.plan.glued, *(name for _, _, name in new)}
    names = [name for name in system.joint_home if name in held]
    interface = Interface(
        system,
        [1.0],
        members=Members(names, rows_of(system.joints, names), members.bodies, members.forces, members.elements),
    )
    for rows in interface.found_forces.stacks:  # what stiff dampers ask for is over long before a step is
        rows.law[: rows.count, :, DAMPING] = 0.0
    interface.perform("update_operator")
    interface.perform("settle")
    for joints, row, _ in new:
        joints.preload[row] = joints.effort[row]
