"""A mechanism as a tree of joints from the ground on, and the joints that close its loops."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from modular.elements import Array
from modular.errors import ModelError
from modular.force import Force
from modular.names import first_few
from modular.port import PortName
from scenarios.models.rigid import TURN, Axis, Held, Mechanism, Rigid, axis_of

DEEPEST = 400  # bodies in a row: others nest their elements


@dataclass
class Branch:
    """A body, what it hangs on, and by what; None: the ground, and by nothing."""

    body: Rigid
    parent: Rigid | None
    joint: Held | None
    free: list[Axis]  # as its parent sees them
    origin: Array  # of its frame [m]
    depth: int

    @property
    def name(self) -> str:
        """Of its joint, or its own where it has none."""
        return self.body.name if self.joint is None else self.joint.name

    def rates(self) -> Array:
        """How fast what is free goes at the start, in the order of `free`; three numbers of a ball."""
        spin = self.body.spin - (0.0 if self.parent is None else self.parent.spin)
        pace = self.body.velocity_at(self.origin)
        if self.parent is not None:
            pace = pace - self.parent.velocity_at(self.origin)
        columns = []
        for kind, axis in self.free:
            columns += [np.concatenate([np.zeros(3), axis] if kind == TURN else [axis, np.zeros(3)])]
        if not columns:
            return np.zeros(0)
        return np.asarray(np.linalg.lstsq(np.array(columns).T, np.concatenate([pace, spin]), rcond=None)[0])


def branches(found: Mechanism) -> tuple[list[Branch], list[Held]]:
    """All bodies, each after what it hangs on, and the joints that are left over."""
    waiting: list[tuple[Rigid | None, int]] = [(None, 0)]
    reached: dict[str, Branch] = {}
    used: set[str] = set()
    at: dict[str | None, list[Held]] = {}
    for held in found.joints:
        for side in (held.first, held.second):
            at.setdefault(None if side is None else side.name, []).append(held)
    order: list[Branch] = []
    unheld = iter(found.bodies.values())
    while True:
        while waiting:
            parent, depth = waiting.pop(0)
            for held in at.get(None if parent is None else parent.name, []):
                child = held.second if held.first is parent else held.first
                if child is None or child.name in reached or held.name in used:
                    continue
                sign = 1.0 if held.second is child else -1.0
                free = [(kind, sign * axis) for kind, axis in (held.free if sign > 0.0 else held.free[::-1])]
                branch = Branch(child, parent, held, free, held.point, depth + 1)
                order.append(branch)
                reached[child.name] = branch
                used.add(held.name)
                waiting.append((child, depth + 1))
        loose = next((body for body in unheld if body.name not in reached), None)
        if loose is None:
            break
        free = found.motion_free() if found.plane else []
        reached[loose.name] = Branch(loose, None, None, free, loose.centre, 1)
        order.append(reached[loose.name])
        waiting.append((loose, 1))
    if deep := [branch.body.name for branch in order if branch.depth > DEEPEST]:
        raise ModelError(
            f"{first_few(deep)}: more than {DEEPEST} bodies in a row, which other programs nest in each other; take "
            "fewer."
        )
    return order, [held for held in found.joints if held.name not in used]


def joint_along(
    force: Force, ports: tuple[PortName, ...], order: list[Branch], found: Mechanism
) -> tuple[Branch, float] | None:
    """The joint with one coordinate that a force acts along, and 1, or -1 where it counts the other way."""
    measure = force.coordinate or ("angle" if hasattr(force, "rest") else None)
    if measure not in ("angle", "way") or len(ports) != 2:
        return None
    names = tuple(port.body if port.body in found.bodies else None for port in ports)
    for branch in order:
        ends = (None if branch.parent is None else branch.parent.name, branch.body.name)
        if len(branch.free) != 1 or branch.joint is None or names not in (ends, ends[::-1]):
            continue
        kind, axis = branch.free[0]
        if (kind == TURN) != (measure == "angle"):
            return None
        line: Any = getattr(force, "line", None) if force.coordinate else getattr(force, "axis", None)
        row = 0 if found.plane and measure == "way" else 2
        along = np.eye(3)[2] if found.plane and measure == "angle" else axis_of(line, ports, found, row)
        cosine = float(along @ axis) * (1.0 if names == ends else -1.0)
        return (branch, float(np.sign(cosine))) if abs(abs(cosine) - 1.0) < 1e-9 else None
    return None
