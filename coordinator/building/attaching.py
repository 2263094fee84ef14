"""How a joint takes hold: its marks where its sides stand, and whether these are near enough."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import hypot

import numpy as np

from modular.assembly import JointEdge
from modular.body import Bodies
from modular.elements import Array
from modular.errors import ModelError
from modular.joint import Attachment, JointForm
from modular.port import GROUND
from modular.side import Mark, Side

JOINING_GAP_TOLERANCE = 1e-6  # how far apart the points of a joint may be, for a model of size 1 m

ASSEMBLE = "let the model be assembled: coordinator.analysis.assemble, modular run --assemble"


def of_ports(form: JointForm, edge: JointEdge, places: Array, homes: Mapping[str, Bodies]) -> Attachment:
    """The attachment of a joint of two ports as they are; `places` is where they were on the ground."""
    marks = []
    for port, place in zip((edge.first, edge.second), places, strict=True):
        mark: Mark | None = Mark(np.empty(0), place.copy())
        if port.body != GROUND:
            side = homes[port.body].side(port.body, port)
            mark = side.point(side.position)
        assert mark is not None
        marks.append(mark)
    return Attachment(form, marks[:1], marks[1:])


def tolerance_for(sides: Sequence[Side], gravity: Array, moving: float | None) -> float:
    """How far apart the points of a joint may be [m]: rounding, and while things move what penalty joints leave open.

    That is a few times a dt^2 where one joint takes the place of another (docs/decisions/0007); never more than a
    thousandth of the size of things.
    """
    size, fastest = 1.0, hypot(*gravity.tolist())
    for side in sides:
        if side.owner != GROUND:
            size = max(size, *map(abs, side.position.tolist()))
            fastest = max(fastest, hypot(*side.acceleration.tolist()))
    if moving is None:
        return JOINING_GAP_TOLERANCE * size
    return JOINING_GAP_TOLERANCE * size + min(20.0 * fastest * moving**2, 1e-3 * size)


def attach(name: str, edge: JointEdge, first: Side, second: Side, tolerance: float) -> Attachment:
    """Let a joint take its marks where its sides stand."""
    spans = not edge.joint.coincident and GROUND in (first.owner, second.owner)  # then `at` places the ground alone
    a, b = (first.position, second.position) if edge.at is None or spans else (np.array(edge.at, float),) * 2
    attachment = edge.joint.attach(name, first, second, a, b)
    gap = edge.joint.gap(first, second, a, b)
    if gap > tolerance:
        if wrong := edge.joint.misfit(a, b):
            raise ModelError(f"joint '{name}': {wrong}; or {ASSEMBLE}.")
        where = "lie" if edge.joint.coincident else "lie off its line or plane,"
        free = [x for x in (0.5 * (a + b), a, b) if first.point(x) is not None and second.point(x) is not None]
        remedy = f"place the joint with at={_shown(free[0])}" if free else "join other ports"
        raise ModelError(
            f"joint '{name}': ports '{edge.first}' at {_shown(a)} and '{edge.second}' at {_shown(b)} {where} {gap:.4g} m "
            f"apart (tolerance {tolerance:.2g} m). Bring the bodies together, {remedy}, or {ASSEMBLE}."
        )
    return attachment


def _shown(x: Array) -> str:
    return "(" + ", ".join(f"{value:.6g}" for value in x) + ")"
