"""Joints of ours, and the forces along them, for those that files of robots have."""

from __future__ import annotations

from typing import Any

from components import (
    Cylindrical,
    Fixed,
    Friction,
    Motor,
    Planar,
    Prismatic,
    Revolute,
    Spherical,
    Stop,
    TableSpring,
    Universal,
)
from components.forces.coordinate import AlongCoordinate
from modular.joint import Joint
from scenarios.models.robot import TURNING, RobotJoint


def joint_of(kind: str, axis: tuple[float, ...], cross: tuple[float, ...] | None = None) -> Joint:
    """A joint of a kind about or along an axis."""
    if kind == "universal":
        return Universal(axis=axis, cross=cross)
    if kind == "cylindrical":
        return Cylindrical(axis=axis)
    if kind in TURNING:
        return Revolute(axis=axis)
    if kind == "prismatic":
        return Prismatic(axis=axis)
    if kind in ("planar", "sliding"):
        return Planar(normal=axis)
    return Fixed() if kind == "fixed" else Spherical()


def forces_of(joint: RobotJoint, begins: float, axis: tuple[float, ...]) -> dict[str, AlongCoordinate]:
    """Stops, friction, a spring and a motor of a joint with one coordinate, which is counted from where it begins."""
    along: dict[str, Any] = {"measure": "angle" if joint.kind in TURNING else "way", "axis": axis}
    found: dict[str, AlongCoordinate] = {}
    if joint.low is not None and joint.high is not None:
        found["stop"] = Stop(low=joint.low - begins, high=joint.high - begins, **along)
    if joint.damping > 0.0 or joint.friction > 0.0:
        found["friction"] = Friction(joint.friction, joint.damping, **along)
    if joint.stiffness > 0.0:
        rest = joint.rest - begins
        found["spring"] = TableSpring((rest, rest + 1.0), (0.0, joint.stiffness), **along)
    if joint.effort is not None:
        found["motor"] = Motor(most=joint.effort, **along)
    return found
