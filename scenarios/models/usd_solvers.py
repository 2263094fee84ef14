"""What stages say in words of one solver, beside UsdPhysics (PhysX, Newton, MuJoCo), and what of UsdPhysics is not read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from scenarios.models.import_report import DROPPED, Report
from scenarios.models.markup import Element

ARMATURES = ("physxJoint:armature", "newton:armature", "mjc:armature")  # the first that is written counts
OF_SOLVERS = (
    "physxJoint:jointFriction", "newton:friction", "mjc:frictionloss", "mjc:damping", "mjc:stiffness", "mjc:gravcomp",
    "physxRigidBody:disableGravity", "physxRigidBody:linearDamping", "physxRigidBody:angularDamping",
    "physxRigidBody:lockedPosAxis", "physxRigidBody:lockedRotAxis",
)  # fmt: skip
BREAKING = ("physics:breakForce", "physics:breakTorque")
CONES = ("physics:coneAngle0Limit", "physics:coneAngle1Limit")
VELOCITY = ":physics:velocity"  # of the state of a joint at the start
ENDLESS = 1e30  # what stages write where there is no end


def written(prim: Any, name: str) -> float:
    """A number that a prim is given, 0 where it is not, or where it is none."""
    attribute = prim.GetAttribute(name)
    try:
        value = np.ravel(attribute.Get() if attribute and attribute.HasAuthoredValue() else 0.0)
        found = float(value[0]) if len(value) else 0.0
    except (TypeError, ValueError):
        return 0.0
    return found if np.isfinite(found) else 0.0


def armature_of(prim: Any) -> float:
    """The inertia of a rotor as the joint sees it, in units of the stage."""
    return next((found for name in ARMATURES if (found := written(prim, name)) > 0.0), 0.0)


def tell_unread(prim: Any, kind: str, element: Element, report: Report) -> None:
    """What is written at a body or a joint that bears on the motion and is not read."""
    for told in unread(prim, kind):
        report.tell(DROPPED, element, told)


def unread(prim: Any, kind: str) -> Iterator[str]:
    """The same as sentences; `kind` of joint where it is one, as SDFormat has it."""
    if told := [name for name in OF_SOLVERS if written(prim, name) != 0.0]:
        yield f"{', '.join(told)}: words for one solver, which are not read"
    if told := [name for name in BREAKING if 0.0 < written(prim, name) < ENDLESS]:
        yield f"{', '.join(told)}: joints break where `breaks_at` says so, and this is not read"
    names = [str(name) for name in prim.GetAuthoredPropertyNames()]
    limits = [name for name in names if name.startswith("limit:")] if kind in ("ball", "universal") else []
    if told := [name for name in (*CONES, *limits) if 0.0 < abs(written(prim, name)) < ENDLESS and _open(prim, name)]:
        yield f"{', '.join(told)}: limits of a {kind} joint, which has none here"
    if told := [name for name in names if name.endswith(VELOCITY) and written(prim, name) != 0.0]:
        yield f"{', '.join(told)}: velocities at the start"


def _open(prim: Any, name: str) -> bool:
    """Whether a limit leaves a way to go; a cone of less than 0 is none."""
    if name in CONES:
        return written(prim, name) > 0.0
    stem = name.rpartition(":")[0]
    return written(prim, f"{stem}:low") <= written(prim, f"{stem}:high")
