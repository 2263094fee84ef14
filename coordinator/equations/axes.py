"""Axes of ports as expressions: directions of their bodies, shown as joints see them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy

from coordinator.equations.terms import exact, tidy
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
