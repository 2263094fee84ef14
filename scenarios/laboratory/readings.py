"""What there is to read of one component now: numbers with their units, from a snapshot."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from coordinator.laboratory.snapshot import Snapshot
from modular.elements import Array
from modular.errors import ModelError
from modular.ledger import LEDGER


class Reading(NamedTuple):
    """One number."""

    what: str
    value: float
    unit: str


def readings(snapshot: Snapshot, name: str) -> list[Reading]:
    """Of a body, joint or force; nothing where there is none of this name."""
    plan = snapshot.plan
    if name in plan.bodies:
        return _of_body(snapshot, name)
    if name in plan.joints:
        return _of_joint(snapshot, name)
    return _of_force(snapshot, name) if name in plan.forces else []


def _of_body(snapshot: Snapshot, name: str) -> list[Reading]:
    body, gravity = snapshot.plan.bodies[name], np.array(snapshot.plan.gravity)
    try:
        q, v = snapshot.state(name)
        centre, momentum = body.mass_centre(q), body.momentum(q, v)
        found = [Reading(f"mass centre {axis}", float(x), "m") for axis, x in zip("xyz", centre, strict=False)]
        if not body.led:
            found.append(Reading("speed", float(np.linalg.norm(momentum)) / body.total_mass, "m/s"))
        found.append(Reading("kinetic energy", float(body.kinetic_energy(q, v)), "J"))
        found.append(Reading("potential energy", float(body.potential_energy(q, gravity)), "J"))
        inner = body.internal_violation(q)
        if inner.size:
            found.append(Reading("internal violation", float(np.abs(inner).max()), ""))
    except (KeyError, ModelError):  # just gone, or a black box that nobody can ask
        return []
    return found


def _of_joint(snapshot: Snapshot, name: str) -> list[Reading]:
    for states in snapshot.joints:
        if name not in states.names:
            continue
        row, d, lengths = list(states.names).index(name), snapshot.plan.dimension, states.translations
        error, reaction = np.abs(states.error[row]), states.reaction[row]
        found = []
        if lengths:
            found.append(Reading("violation", float(error[:lengths].max()), "m"))
        if len(error) > lengths:
            found.append(Reading("violation of angles", float(error[lengths:].max()), "-"))
        found.append(Reading("force", float(np.linalg.norm(reaction[:d])), "N"))
        if len(reaction) > d:
            found.append(Reading("moment", float(np.linalg.norm(reaction[d:])), "N m"))
        return found + _ledger_lines(states.ledger[row])
    return []


def _of_force(snapshot: Snapshot, name: str) -> list[Reading]:
    for states in snapshot.forces:
        if name in states.names:
            row = list(states.names).index(name)
            size = float(np.linalg.norm(states.force[row]))
            acting = [Reading("force", size, "N")] if size else []  # a moment acts on directions alone
            return [*acting, *_ledger_lines(states.ledger[row])]
    return []


def _ledger_lines(ledger: Array) -> list[Reading]:
    """The lines of a ledger that are not empty."""
    return [
        Reading(line.replace("_", " on "), float(value), "J")
        for line, value in zip(LEDGER, ledger, strict=True)
        if value != 0.0
    ]
