"""Impacts: the relative motion that a new joint stops, and velocities that violate joints before a run."""

from __future__ import annotations

import itertools
from functools import partial
from typing import cast

import numpy as np

from coordinator.engine.region import CHOSEN, EventOperation, Region
from coordinator.system import System
from modular.body import GivesCompliance
from modular.elements import Array
from modular.errors import ModelError
from modular.joints import Joints
from modular.ledger import IMPACT, SUPPLIED, WORK_FIRST
from modular.port import GROUND
from modular.seen_mass import responses_of

MAX_SWEEPS = 2000  # of all joints, until initial velocities agree
FEW_JOINTS, FEW_SWEEPS = 100, 50  # so few are solved together after so many
MAX_SOLUTIONS = 3  # for all joints together, where that was not enough
RANK_TOLERANCE = 1e-10  # below this share of the largest, an eigenvalue is nothing


def stop_by_impulse(system: System, name: str) -> float:
    """Stop the relative motion that a joint locks by one impulse from the seen mass; the energy lost [J].

    The joint has been measured as things stand; now its bodies move differently, and have not shown it yet.
    p = -W^+ phi': neighbours of the two bodies are not asked, their joints take up the jump afterwards.
    """
    home = system.joint_home[name]
    row = home.stack.row[name]
    impulse = -_pseudo_inverse(home.stack.compliance[row]) @ home.stack.rate[row]
    return _push(system, name, impulse)


def _push(system: System, name: str, impulse: Array) -> float:
    """Let a joint push its bodies; the energy lost [J]."""
    home = system.joint_home[name]
    row = home.stack.row[name]
    lost = 0.0
    for column, (owner, start, jacobian) in enumerate(
        zip(home.owners, home.starts, (home.stack.on_first[row], home.stack.on_second[row]), strict=True)
    ):
        if owner == GROUND:
            continue
        pushes = {start + k: jacobian[:, k, :].T @ impulse for k in range(jacobian.shape[1])}
        work = cast(GivesCompliance, system.body_home[owner]).push(owner, pushes, system.elements)
        home.stack.ledger[row, WORK_FIRST + column] += work
        lost -= work
    drives = home.stack.form.drives
    if drives:  # what moves the drive along comes from outside
        brought = float(impulse[-drives:] @ home.stack.course[row, :, 1])
        home.stack.ledger[row, SUPPLIED] -= brought
        lost += brought
    home.stack.ledger[row, IMPACT] += lost
    return lost


def stop_by_shift(system: System, name: str) -> float:
    """Stop the relative motion of the two points of a joint by shifting its bodies, angular velocities kept.

    The law of Séguy 2003, Figure VI-18, which no impulse at the joint obeys. Two bodies share the shift so that
    their linear momentum stays. Returns the energy lost [J].
    """
    home = system.joint_home[name]
    velocity = system.elements.velocity
    gap = velocity[home.starts[1]] - velocity[home.starts[0]]
    lightness = [0.0 if owner == GROUND else 1.0 / system.described[owner].total_mass for owner in home.owners]
    row, lost = home.stack.row[name], 0.0
    for column, (owner, sign) in enumerate(zip(home.owners, (1.0, -1.0), strict=True)):
        if owner != GROUND:
            share = sign * lightness[column] / sum(lightness)
            work = cast(GivesCompliance, system.body_home[owner]).shift(owner, share * gap)
            home.stack.ledger[row, WORK_FIRST + column] += work
            lost -= work
    home.stack.ledger[row, IMPACT] += lost
    return lost


def measure_joint(system: System, name: str) -> None:
    """Error, rate and compliance of one joint as its bodies stand now."""
    home = system.joint_home[name]
    region = Region.of(system, home.owners)
    region.choose(home.stack.row[name])
    region.play(("measure", id(home.stack)), partial(_measuring, home.stack))
    home.stack.check_points()


def _measuring(stack: Joints, region: Region) -> list[EventOperation]:
    operations: list[EventOperation] = [(bodies, verb) for verb in ("show", "respond") for bodies in region.bodies]
    return [*operations, *((stack, verb, CHOSEN) for verb in ("linearise", "measure_rates", "compute_compliance"))]


def _pseudo_inverse(matrix: Array) -> Array:
    """Of a symmetric matrix, as `numpy.linalg.pinv` works it out."""
    values, vectors = np.linalg.eigh(matrix)
    if values[0] > RANK_TOLERANCE * values[-1]:  # they rise, and all count
        vectors = vectors[:, ::-1]
        return np.asarray(vectors @ ((1.0 / values[::-1])[:, None] * vectors.T))
    sizes = np.abs(values)
    order = np.argsort(sizes)[::-1]
    sizes, vectors = sizes[order], vectors[:, order]
    held = sizes > RANK_TOLERANCE * sizes[0]
    shares = np.divide(1.0, sizes, where=held, out=np.zeros_like(sizes))
    signs = np.sign(values)[order]
    return np.asarray((vectors * signs) @ (shares[:, None] * vectors.T))


def agree_velocities(system: System, *, project: bool) -> float:
    """Refuse initial velocities that violate a joint, or let all joints stop theirs in turn; the energy lost [J].

    Gauss-Seidel over the joints: neighbours only, and as many sweeps as it takes; where the joints are few, all together are sooner
    at the end.
    """
    lost, worst = 0.0, ("", 0.0)
    limit = 1e-9 * max(1.0, *(float(np.abs(b.state()["v"]).max(initial=0.0)) for b in system.bodies), 1.0)
    for _ in range(MAX_SWEEPS if len(system.joint_home) > FEW_JOINTS else FEW_SWEEPS):
        worst = _fastest(system)
        if worst[1] <= limit or not project:
            break
        for name, home in system.joint_home.items():
            home.stack.measure(system.elements)
            if np.abs(home.stack.rate[home.stack.row[name]]).max() > 0.1 * limit:
                measure_joint(system, name)
                lost += stop_by_impulse(system, name)
                measure_joint(system, name)
    if project:
        # heavy bodies on light ones: one by one joints hardly get on
        for _ in range(MAX_SOLUTIONS if worst[1] > limit else 0):
            lost += _stop_all(system)
            worst = _fastest(system)
    if worst[1] > max(1e-6, limit):
        helps = (
            "no impulse of its joints stops that: check for a drive or a led body that moves against them."
            if project
            else "Make them agree, or let them be projected with Simulation(…, project_velocities=True)."
        )
        raise ModelError(
            f"joint '{worst[0]}': the initial velocities violate it by {worst[1]:.4g} m/s (or rad/s). {helps}"
        )
    return lost


def _stop_all(system: System) -> float:
    """One impulse of all joints together stops what moves against them: W p = -phi', the smallest p; the energy lost [J]."""
    names = list(system.joint_home)
    for name in names:
        measure_joint(system, name)
    homes = [system.joint_home[name] for name in names]
    rows = [home.stack.row[home.name] for home in homes]
    sides = [responses_of(home.stack, system.elements, row) for home, row in zip(homes, rows, strict=True)]
    ends = np.cumsum([0, *(home.stack.form.rows for home in homes)])
    spans = [slice(first, last) for first, last in itertools.pairwise(ends)]
    rates = np.concatenate([home.stack.rate[row] for home, row in zip(homes, rows, strict=True)])
    answers = np.zeros((len(rates), len(rates)))
    for i, j, mine, theirs in itertools.product(range(len(names)), range(len(names)), range(2), range(2)):
        if homes[i].owners[mine] == homes[j].owners[theirs] != GROUND:
            answers[spans[i], spans[j]] += sides[i][mine] @ sides[j][theirs].T
    impulses = np.linalg.lstsq(answers, -rates, rcond=RANK_TOLERANCE)[0]
    return sum(_push(system, name, impulses[span]) for name, span in zip(names, spans, strict=True))


def _fastest(system: System) -> tuple[str, float]:
    """The joint whose sides move fastest against it, and how fast."""
    worst = ("", 0.0)
    for joints in system.joints:
        joints.measure(system.elements)
        joints.check_points()
        rates = np.abs(joints.rate[: joints.count]).max(axis=1)
        k = int(np.argmax(rates))
        worst = max(worst, (joints.names[k], float(rates[k])), key=lambda item: item[1])
    return worst
