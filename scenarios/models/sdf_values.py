"""What single elements of SDFormat say: poses, masses, limits that may be endless, friction, looks."""

from __future__ import annotations

import re

import numpy as np

from modular.elements import Array
from scenarios.models.looks import colour_of
from scenarios.models.markup import Element, shown
from scenarios.models.robot import USUAL_FRICTION, Frame, Touching
from scenarios.models.touching import of_geometry
from scenarios.models.urdf import turned

TENSOR = ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")
ENDLESS = 1e16  # what SDFormat wrote before it wrote inf


def matter_of(link: Element) -> tuple[float, Array]:
    """Mass [kg] and inertia about the centre [kg m^2], in the axes of <inertial>; 1 and 1 where nothing is said."""
    inertial = link.one("inertial")
    if inertial is None:
        return 1.0, np.eye(3)
    if inertial.attributes.get("auto", "false").strip() in ("true", "1"):
        raise inertial.refuse(
            "mass and inertia by the shapes for contact (auto), which are not read; write <mass> and <inertia>."
        )
    mass, inertia = inertial.inner_number("mass", 1.0), inertial.one("inertia")
    if mass <= 0.0:
        raise link.refuse(f"{mass:g} kg; give a mass above 0.")
    found = [1.0, 1.0, 1.0, 0.0, 0.0, 0.0]
    if inertia is not None:
        found = [inertia.inner_number(tag, value) for tag, value in zip(TENSOR, found, strict=True)]
    xx, yy, zz, xy, xz, yz = found
    return mass, np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def bound(limit: Element, tag: str, default: float) -> float:
    """A number that may be endless, which newer files write as inf."""
    text = limit.inner(tag, "").lower()
    if text.lstrip("+-") in ("inf", "infinity"):
        return -ENDLESS if text.startswith("-") else ENDLESS
    return limit.inner_number(tag, default)


def look_of(visual: Element, frame: Frame) -> Touching:
    """What is seen of a link."""
    found = of_geometry(visual, frame, 0.0, inner=True)
    if (material := visual.one("material")) is not None:
        found.colour = colour_of(material.inner("diffuse", ""))
    return found


def friction_of(collision: Element) -> float:
    """Coulomb's coefficient of <surface>."""
    at: Element | None = collision
    for tag in ("surface", "friction", "ode"):
        at = None if at is None else at.one(tag)
    found = USUAL_FRICTION if at is None else at.inner_number("mu", USUAL_FRICTION)
    if found < 0.0:
        raise collision.refuse(f"mu = {found:g}; a friction is a number from 0 on.")
    return found


def pose_of(pose: Element | None) -> Frame:
    """x y z and roll, pitch and yaw; whatever it is relative to."""
    if pose is None or not pose.content.strip():
        return Frame.none()
    form = pose.attributes.get("rotation_format", "euler_rpy")
    if form != "euler_rpy":
        raise pose.refuse(f'rotation_format="{shown(form)}"; write roll, pitch and yaw.')
    numbers = pose.own_numbers(6)
    angles = np.radians(numbers[3:]) if pose.attributes.get("degrees") in ("true", "1") else numbers[3:]
    return Frame(numbers[:3], turned(angles))


def version_of(root: Element) -> tuple[int, int]:
    """Of the format: 1.10 is later than 1.9."""
    text = root.attributes.get("version", "")
    found = re.fullmatch(r"(\d{1,3})\.(\d{1,3})(\.\d{1,3})?", text.strip())
    if found is None:
        raise root.refuse(f'version="{shown(text)}"; give the version of the format, such as 1.10.')
    return int(found[1]), int(found[2])
