"""An examination before a run: what moves, what each joint locks and sees, how near the limit it is, and what would help.

What share of the compliance at a joint is the joint's own, beside that of the flexible bodies on it.

A joint that is a spring gives way under a load, and so do the bodies that it holds; where it gives more than they do, the motion is
that of the springs. Both are compared under the same loads sigma on the rows of the joint, of a force F and of the moment F L
that it has at a lever as long as the body: with C_joint = K^-1 and C_body = J K_e^+ J^T, K_e what is elastic in a body,

    share = tr(D C_joint) / tr(D (C_joint + C_body)),    D = 1 for translations, L^2 for rotations.

K_e^+ is static and of a body that nothing else holds: a load is borne by the inertia of the body (inertia relief: its rigid
motions, the lowest modes, are left out). Between rigid bodies a joint has no share; it is all there is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import combinations
from math import inf
from typing import Any

import numpy as np

from coordinator.building import JointHome
from coordinator.checks.context import CheckContext
from coordinator.checks.diagnosis import beyond, in_words
from coordinator.checks.run_warnings import across_joints
from coordinator.couplings.implicit import located_friction
from coordinator.couplings.interface.bounds import resolving_steps
from coordinator.record.verdict import MAX_ERROR_SHARE
from coordinator.record.ways import extent_of
from coordinator.system import System
from modular.assembly import Assembly
from modular.component import class_name
from modular.elements import Array
from modular.errors import ModelError
from modular.port import GROUND
from modular.seen_mass import responses_of


def joint_share(system: System, home: JointHome, row: int) -> float | None:
    """The share where the system stands, its joints linearised; None where no body is flexible or the joint is no spring."""
    form, stiffness = home.stack.form, home.stack.stiffness[row]
    if not form.holonomic or not stiffness.any():
        return None
    body, lever = np.zeros_like(stiffness), 0.0
    flexible = False
    for side, (owner, start, count) in enumerate(zip(home.owners, home.starts, home.counts, strict=True)):
        stack = None if owner == GROUND else system.body_home[owner]
        if stack is None or not getattr(stack, "elastic", False):
            continue
        flexible = True
        blocks = (home.stack.on_first, home.stack.on_second)[side][row]
        own = stack.row[owner]
        slopes = _slopes(stack, own, range(start, start + count))
        modes = elastic_modes(stack, owner, own, system.gravity)
        moved = np.einsum("med,edk->mk", blocks, slopes) @ modes
        body += moved @ moved.T
        lever = max(lever, _extent(stack, owner))
    if not flexible:
        return None
    weights = np.where(np.arange(form.rows) < form.translations, 1.0, lever**2)
    gives = float(weights @ np.diag(np.linalg.pinv(stiffness, hermitian=True)))
    return gives / (gives + float(weights @ np.diag(body)))


def elastic_modes(stack: Any, name: str, row: int, gravity: Array) -> Array:
    """Columns x with sum x x^T = K_e^+: modes of the body that stands free, each over its frequency; rigid motions left out."""
    from scipy import linalg  # a seventh of a second, for models that bend

    from coordinator.couplings.centralized.tangents import inner_block

    stiffness = inner_block(stack, name, row, gravity, "q")
    mass, border = stack.mass()[row], stack.closure()[2][row]
    free = linalg.null_space(border) if len(border) else np.eye(len(mass))
    stiffness = free.T @ (0.5 * (stiffness + stiffness.T)) @ free
    squares, shapes = linalg.eigh(stiffness, free.T @ mass @ free)
    rigid = 3 if len(gravity) == 2 else 6
    return np.asarray(free @ shapes[:, rigid:] / np.sqrt(squares[rigid:]))


def _slopes(stack: Any, own: int, wanted: range) -> Array:
    """How elements of a body follow its coordinates, (elements, d, k)."""
    served, owners, blocks = stack.reach()
    places = {int(element): k for k, (element, owner) in enumerate(zip(served, owners, strict=True)) if owner == own}
    return np.array([blocks[places[element]] for element in wanted])


def _extent(stack: Any, name: str) -> float:
    """The largest distance of two of its ports [m]."""
    description = stack.bodies[name]
    q, v, a = (stack.state()[key][stack.row[name]][None] for key in ("q", "v", "a"))
    points = np.array([description.port_motion(port, q, v, a)[0][0] for port in description.port_names])
    return float(max(np.linalg.norm(points - point, axis=1).max() for point in points))


# of the compliance at a joint between flexible bodies: what may be its own without a word
MAX_OWN_COMPLIANCE_SHARE = 0.1
MAX_BODIES_FOR_RANK = 300  # bodies up to which the rank of all joint equations is found


@dataclass(frozen=True)
class JointReport:
    """One joint; numbers that a joint does not have are None."""

    name: str
    kind: str
    locks: int
    seen_mass: float | None  # in the translations that it locks [kg]
    seen_inertia: float | None  # in the rotations [kg m^2]
    stiffness: float | None  # of its translations [N/m]
    give: float | None  # gap per 100 N [m]
    share: float | None  # of the compliance at a joint with flexible bodies: what is the joint's own
    margin: float
    carrier: str | None = None  # the body that passes on its load, where the margin is what that leaves


@dataclass(frozen=True)
class Examination:
    """What `modular check` tells."""

    masses: dict[str, float]
    freedoms: int  # of all bodies, before joints
    locks: int  # directions that joints lock, one by one
    mobility: int | None  # what is left; None for models too large to find it
    joints: list[JointReport]
    springs: dict[str, float]  # margin of every spring and damper
    # those that limit no step, because they are found; with which step [s] they would be exerted
    implicit: dict[str, float]
    advice: list[str]
    friction: list[str] = field(default_factory=list)  # dry, whose switches are located within steps

    @property
    def redundancy(self) -> int | None:
        """How many locks say what others say already (overconstrained loops)."""
        return None if self.mobility is None else self.locks - (self.freedoms - self.mobility)


def examine(simulation: CheckContext) -> Examination:
    """Look a simulation over at its present pose."""
    if not hasattr(type(simulation), "stiffness_margins"):
        raise ModelError(f"examine: {simulation!r} is not a Simulation; give Simulation(assembly, dt=…).")
    system, assembly, margins, loads = simulation.system, simulation.assembly, simulation.margins, simulation.loads
    system.respond()
    for joints in system.joints:
        joints.compute_compliance(system.elements)
    reports = [
        _joint(
            system, home, class_name(type(assembly.joint_edges[name].joint)), margins.get(name, inf), loads.get(name)
        )
        for name, home in system.joint_home.items()
    ]
    freedoms = sum(body.freedoms for body in assembly.bodies.values())
    equations = _equations(simulation) if len(assembly.bodies) <= MAX_BODIES_FOR_RANK else {}
    return Examination(
        masses={name: body.total_mass for name, body in assembly.bodies.items() if not body.led},
        freedoms=freedoms,
        locks=sum(report.locks for report in reports),
        mobility=freedoms - _rank(list(equations.values())) if len(assembly.bodies) <= MAX_BODIES_FOR_RANK else None,
        joints=reports,
        springs={name: margins[name] for name in system.force_home if name in margins},
        implicit=resolving_steps(system, simulation.dt),
        friction=located_friction(system),
        advice=[*(_said_twice(simulation, equations) if equations else []), *_advice(simulation, reports)],
    )


def _joint(system: System, home: JointHome, kind: str, margin: float, carrier: str | None) -> JointReport:
    name, form, row = home.name, home.stack.form, home.stack.row[home.name]
    compliance = home.stack.compliance[row]
    split, turns = form.translations, form.rotations
    translations = form.locks - turns
    slip, spin = float(np.trace(compliance[:split, :split])), float(np.trace(compliance[split:, split:]))
    k = _stiffness(home)
    return JointReport(
        name=name,
        kind=kind,
        locks=form.locks,
        seen_mass=translations / slip if translations and slip > 0 else None,
        seen_inertia=turns / spin if turns and spin > 0 else None,
        stiffness=k if k > 0 else None,
        give=100.0 / k if k > 0 else None,
        share=joint_share(system, home, row),
        margin=margin,
        carrier=carrier,
    )


def _stiffness(home: JointHome) -> float:
    """The largest of a joint in the translations that it locks [N/m]; 0 where it has none."""
    stack, split = home.stack, home.stack.form.translations
    return float(stack.stiffness[stack.row[home.name], :split, :split].max(initial=0.0))


def _softer(reports: list[JointReport]) -> list[JointReport]:
    """The joint that is the softest beside the flexible bodies on it, where it is too soft."""
    soft = (r for r in reports if (r.share or 0.0) > MAX_OWN_COMPLIANCE_SHARE)
    return sorted(soft, key=lambda r: -(r.share or 0.0))[:1]


def _soft(simulation: CheckContext, name: str, share: float | None) -> str:
    """Own compliance falls with the square of the step, that of bodies stays."""
    assert share is not None
    step = (
        0.95
        * simulation.dt
        * np.sqrt(MAX_OWN_COMPLIANCE_SHARE / (1.0 - MAX_OWN_COMPLIANCE_SHARE) * (1.0 - share) / share)
    )
    return (
        f"'{name}' is soft compared with the flexible bodies that it connects: {share:.0%} of the compliance there "
        "is the joint's own. "
        f"Take dt = {in_words(simulation, step)} s, which brings it below a tenth, or rigid joints: Glued()."
    )


def _equations(simulation: CheckContext) -> dict[str, Array]:
    """The equations of each joint over the motions that the bodies have, at this pose."""
    system = simulation.system
    motions = system.elements.motions
    column = {name: motions * k for k, name in enumerate(system.body_home)}
    blocks = {}
    for name, home in system.joint_home.items():
        row = home.stack.row[name]
        block = np.zeros((home.stack.form.rows, motions * len(column)))
        for owner, seen in zip(home.owners, responses_of(home.stack, system.elements, row), strict=True):
            if owner in column:
                block[:, column[owner] : column[owner] + motions] += seen[:, :motions]
        largest = np.abs(block).max()
        blocks[name] = block / largest if largest > 0 else block
    return blocks


def _rank(blocks: list[Array]) -> int:
    """Of all of them together."""
    return int(np.linalg.matrix_rank(np.concatenate(blocks), tol=1e-9)) if blocks else 0


def _gives(simulation: CheckContext) -> list[str]:
    """The joint that gives most under what it carries at the start, which its preload bears until the load turns."""
    gaps = {name: _gap(home) for name, home in simulation.system.joint_home.items()}
    name = max(gaps, key=lambda joint: gaps[joint], default="")
    extent = extent_of(simulation.recorder.segments, simulation.assembly.bodies)
    allowed = MAX_ERROR_SHARE * extent
    if not name or not gaps[name] > allowed > 0.0:
        return []
    step = 0.95 * simulation.dt * np.sqrt(allowed / gaps[name])
    return [
        f"'{name}' gives way by about {gaps[name]:.2g} m under what it carries now, {gaps[name] / extent:.1%} of the extent of "
        f"the model ({extent:.2g} m): the step is too large for joints that are springs. Take dt = "
        f"{in_words(simulation, step)} s, or rigid joints: Glued()."
    ]


def _gap(home: JointHome) -> float:
    """What its preload would open a joint by in its translations, if its spring bore it alone [m]."""
    stack, split = home.stack, home.stack.form.translations
    row = stack.row[home.name]
    stiffness = stack.stiffness[row, :split, :split]
    return (
        float(np.linalg.norm(np.linalg.pinv(stiffness, hermitian=True) @ stack.preload[row, :split])) if split else 0.0
    )


def _said_twice(simulation: CheckContext, equations: Mapping[str, Array]) -> list[str]:
    """Joints between the same two bodies of which one locks nothing that the other does not lock as well.

    Not of those that may break, and leave the other; nor of links, which say the same at one pose alone.
    """
    between: dict[frozenset[str], list[str]] = {}
    for name, edge in simulation.assembly.joint_edges.items():
        if edge.breaks_at is None and not edge.joint.apart:
            between.setdefault(frozenset((edge.first.body, edge.second.body)), []).append(name)
    lines = []
    for names in between.values():
        for one, other in combinations(names, 2):
            both = _rank([equations[one], equations[other]])
            idle = other if both == _rank([equations[one]]) else one if both == _rank([equations[other]]) else ""
            if idle:
                lines.append(
                    f"'{idle}' locks nothing that '{one if idle == other else other}' does not lock already, so "
                    "the share of each in the reaction is undetermined; leave one of them out."
                )
    return lines


def _advice(simulation: CheckContext, reports: list[JointReport]) -> list[str]:
    dt, margins = simulation.dt, simulation.margins
    across = list(across_joints(simulation))
    lines = [
        *across,
        *(words for words in simulation.warning_memory.starts if words not in across),
        *_set_aside(simulation),
    ]
    over = beyond(simulation)
    lines += [_soft(simulation, report.name, report.share) for report in _softer(reports)]
    if over is not None:
        return [f"'{over[0]}' is beyond the limit; {over[3]}.", *lines]
    edges = simulation.assembly.force_edges
    found = simulation.coupling.forces_found(simulation.system)
    springs = {
        name: m
        for name, m in margins.items()
        if name in edges and name not in found and not edges[name].force.follows_step
    }
    if springs:
        name, margin = min(springs.items(), key=lambda item: item[1])
        lines.append(
            f"for a step beyond {margin * dt:.2g} s soften '{name}': its stiffness is fixed and does not follow "
            "the step."
        )
    lines += _gives(simulation)
    lines += [ringing] if (ringing := rings(simulation)) else []
    soft = max((r for r in reports if r.give is not None), key=lambda r: r.give or 0.0, default=None)
    if soft is not None and soft.give is not None:
        lines.append(
            "the stiffness of joints follows the step, so no step is too large for them, but their compliance "
            "grows with its square: "
            f"'{soft.name}' opens {soft.give:.2g} m per 100 N now, {4 * soft.give:.2g} m with twice the step."
        )
        light = min((r for r in reports if r.seen_mass is not None), key=lambda r: r.seen_mass or inf, default=None)
        if light is not None and light.seen_mass is not None:
            lines.append(
                f"stiffness is proportional to the seen mass; the smallest is {light.seen_mass:.3g} kg at "
                f"'{light.name}'. A heavier "
                "body there, or one body instead of two, would stiffen it most."
            )
    return lines


def rings(simulation: CheckContext) -> str:
    """Where reactions of springs show their own swing beside the load, in closed loops and at drives; empty where nowhere."""
    homes = simulation.system.joint_home.values()
    if not any(_stiffness(home) > 0.0 for home in homes):
        return ""
    loops = _loops(simulation.assembly)
    drives = sum(1 for home in homes if home.stack.form.drives)
    found = [f"{n} {what}{'s' * (n > 1)}" for n, what in ((loops, "closed loop"), (drives, "drive")) if n]
    if not found:
        return ""
    return (
        f"{' and '.join(found)}: reactions oscillate about their true values where joints are springs. Where "
        "reactions matter, take rigid joints: --coupling glued, or auto (in Python Glued(), Mixed.auto())."
    )


def _loops(assembly: Assembly) -> int:
    """Loops of the joint graph: pairs of neighbours that are connected without each other too. A load closes none."""
    joints = {(edge.first_body, edge.second_body) for edge in assembly.joint_edges.values()}
    forces = {tuple(port.body for port in edge.ports) for edge in assembly.force_edges.values()}
    pairs = {frozenset(pair) for pair in joints | forces if len(set(pair)) == 2}
    parent: dict[str, str] = {}

    def root(body: str) -> str:
        while (above := parent.get(body, body)) != body:
            parent[body] = body = parent.get(above, above)  # halves the way for those who come after
        return body

    loops = 0
    for first, second in pairs:
        one, other = root(first), root(second)
        loops += one == other
        parent[one] = other
    return loops


def _set_aside(simulation: CheckContext) -> list[str]:
    """Integrators of bodies that mean nothing under this coupling, by the reason."""
    coupling, found = simulation.coupling, dict[str, list[str]]()
    for name, body in simulation.assembly.bodies.items():
        reason = None if body.integrator is None else coupling.sets_aside(simulation.system, name)
        if reason is not None:
            found.setdefault(reason, []).append(f"'{name}'")
    kind = type(coupling).__name__
    return [f"the integrator of {', '.join(who)} has no effect under {kind}: {why}." for why, who in found.items()]
