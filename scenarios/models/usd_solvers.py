"""What stages say of joints in words of one solver, beside UsdPhysics: PhysX, Newton, MuJoCo."""

from __future__ import annotations

from typing import Any

import numpy as np

ARMATURES = ("physxJoint:armature", "newton:armature", "mjc:armature")  # the first that is written counts
OTHERS = ("physxJoint:jointFriction", "newton:friction", "mjc:frictionloss", "mjc:damping", "mjc:stiffness")


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


def unread(prim: Any) -> list[str]:
    """What is written there that bears on the motion and is not read."""
    return [name for name in OTHERS if written(prim, name) != 0.0]
