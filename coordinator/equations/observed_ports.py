"""What ports show as formulas: place, axes, velocities and accelerations, in coordinates, rates and accelerations of bodies.

Axes of ports as expressions: directions of their bodies, shown as joints see them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy

from coordinator.equations.terms import exact, tidy
from coordinator.equations.written import Written
from coordinator.system import System
from modular.assembly import Assembly
from modular.elements import Array
from modular.errors import ModelError
from modular.port import GROUND


@dataclass(frozen=True)
class Frame:
    """Elements that show directions of a body, and how axes are put together from these and, in the plane, from what is across."""

    elements: list[int]
    shares: Array  # (axes, directions), or (axes, 2) of one direction and of what is across it

    def axes(self, directions: list[list[Any]]) -> Any:
        """As rows, from what the elements show."""
        known = [self._unit(one) for one in directions]
        if len(known) == 1 and self.shares.shape[1] == 2:
            known.append([-known[0][1], known[0][0]])
        return sympy.Matrix(self.exact_shares) * sympy.Matrix(known)

    @property
    def exact_shares(self) -> list[list[Any]]:
        """The numbers that they were meant to be."""
        return [[exact(tidy(float(x))) for x in row] for row in self.shares]

    @staticmethod
    def _unit(direction: list[Any]) -> list[Any]:
        """Of length one also where a parameter makes what shows it longer."""
        length = sympy.sqrt(sum(x * x for x in direction))
        return [x / length for x in direction]


def hold_axes(system: System, model: Assembly, name: str) -> Frame:
    """Let a body show the axes of a port from now on."""
    port = model.port(name, "axes")
    if port.body == GROUND:
        raise ModelError(f"axes = '{name}': those of the ground are those of the world; leave them out.")
    stack = system.body_home[port.body]
    side = stack.side(port.body, port)
    frame, d = np.asarray(side.frame), model.dimension
    held = list(np.asarray(side.directions).reshape(-1, d))
    if len(held) < d and not (d == 2 and len(held) == 1):
        raise ModelError(
            f"axes = '{name}': body '{port.body}' has no axes across its line; take those of another body, or of the world."
        )
    elements = []
    for direction in held:
        mark = side.direction(direction)
        assert mark is not None
        element = system.elements.acquire(1)
        stack.attach(port.body, element, mark)
        elements.append(element)
    known = np.array(held if len(held) == d else [held[0], (-held[0][1], held[0][0])])
    return Frame(elements, np.linalg.solve(known.T, frame.T).T)


@dataclass(frozen=True)
class Seen:
    """Formulas of one port; axes as rows, nothing of turning where a port has no orientation."""

    position: list[Any]
    velocity: list[Any]
    acceleration: list[Any]
    axes: list[list[Any]]
    spin: list[Any]  # angular velocity: one number in the plane, three in space
    bend: list[Any]  # angular acceleration


class ObservedPort:
    """A port that is looked at: bodies of a running system show its point, and its directions, from now on."""

    def __init__(self, system: System, model: Assembly, name: str, turns: bool) -> None:
        port = model.port(name, "a port that is shown")
        stack, self.dimension = system.body_home[port.body], model.dimension
        side = stack.side(port.body, port)
        mark = side.point(side.position)
        if mark is None:
            raise ModelError(f"port '{name}' is no point that its body can show; choose another one.")
        self.point = system.elements.acquire(1)
        stack.attach(port.body, self.point, mark)
        self.frame: Frame | None = hold_axes(system, model, name) if turns else None

    @property
    def elements(self) -> list[int]:
        """All that show it."""
        return [self.point, *(self.frame.elements if self.frame else [])]

    def seen(self, written: Written, accelerations: Sequence[Any]) -> Seen:
        """Formulas, with symbols for accelerations."""
        point = written.motions[self.point]
        whole = point.place, point.pace, point.acceleration(accelerations)
        if self.frame is None:
            return Seen(*whole, [], [], [])
        lines = [written.motions[element] for element in self.frame.elements]
        axes = self.frame.axes([line.place for line in lines])
        rows = [list(axes.row(k)) for k in range(axes.rows)]
        ways = [(line.place, line.pace, line.acceleration(accelerations)) for line in lines]
        if self.dimension == 2:  # w = d x d' / d.d, and d.d stays
            d, first, second = ways[0]
            square = d[0] * d[0] + d[1] * d[1]
            turned = [(d[0] * x[1] - d[1] * x[0]) / square for x in (first, second)]
            return Seen(*whole, rows, turned[:1], turned[1:])
        lengths = [sympy.sqrt(sum(x * x for x in line.place)) for line in lines]
        shares = self.frame.exact_shares
        spin, bend = [sympy.Integer(0)] * 3, [sympy.Integer(0)] * 3
        for row, share in zip(rows, shares, strict=True):  # w = sum of e x e' / 2 over three axes e
            first, second = (
                [sum((s * way[n][c] / size for s, way, size in zip(share, ways, lengths, strict=True)), sympy.Integer(0))
                 for c in range(3)]
                for n in (1, 2)
            )  # fmt: skip
            spin = [total + part / 2 for total, part in zip(spin, _cross(row, first), strict=True)]
            bend = [total + part / 2 for total, part in zip(bend, _cross(row, second), strict=True)]
        return Seen(*whole, rows, spin, bend)


def _cross(a: Sequence[Any], b: Sequence[Any]) -> list[Any]:
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
