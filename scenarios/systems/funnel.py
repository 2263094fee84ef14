"""Balls that pour through a funnel onto the ground; who touches whom is found as they go.

Four boards lean against each other and leave a square hole in the middle. Every ball has a surface, and so have the boards and the
ground: contacts come and go by themselves (docs/method.md, section 10).
"""

from __future__ import annotations

from math import ceil, cos, radians, sin

import numpy as np

from components import Box, HalfSpace, RigidBody, Sphere, Surface
from modular import Assembly

GROUP = "Contact"


def build(
    count: int = 40, radius: float = 0.02, mass: float = 0.03, hole: float = 0.11, slope: float = 45.0, friction: float = 0.3,
    restitution: float = 0.3, seed: int = 1,
) -> Assembly:  # fmt: skip
    """How many balls, their radius [m] and mass [kg]; the hole [m] and the slope of the boards [degrees]; friction, restitution."""
    model = Assembly(gravity=(0.0, 0.0, -9.81), title="funnel")
    rng = np.random.default_rng(seed)
    across = 2.6 * radius  # between balls in their layers
    side = max(3, ceil((2.0 * count) ** (1.0 / 3.0)))
    width = side * across + 2.0 * radius
    board, thick, up = 0.5 * width / cos(radians(slope)), radius, 8.0 * radius
    shapes = {"ground": [HalfSpace(), *_boards(hole, board, thick, radians(slope), up)]}
    for k in range(count):
        column, layer = k % side**2, k // side**2
        place = np.array([column % side - 0.5 * (side - 1), column // side - 0.5 * (side - 1), 0.0]) * across
        place[2] = up + sin(radians(slope)) * board + layer * across
        place += 0.15 * radius * rng.uniform(-1.0, 1.0, 3)
        centre = tuple(place.tolist())
        ball = RigidBody(mass=mass, inertia=(0.4 * mass * radius**2,) * 3, centre=centre, ports={"centre": centre})
        model.add(f"ball{k + 1}", ball)
        shapes[f"ball{k + 1}.centre"] = [Sphere(radius)]
    Surface.all(model, shapes, friction, restitution)
    model.suggested = {"dt": 1e-3, "until": 2.0, "record_every": 10, "coupling": "glued"}
    return model


def _boards(hole: float, length: float, thick: float, slope: float, up: float) -> list[Box]:
    """Four boards that rise from the edges of the hole."""
    found = []
    for turn in range(4):
        out = np.array([(1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (-1.0, 0.0, 0.0), (0.0, -1.0, 0.0)][turn])
        rises = cos(slope) * out + np.array([0.0, 0.0, sin(slope)])
        across = np.cross([0.0, 0.0, 1.0], out)
        normal = np.cross(rises, across)
        middle = 0.5 * hole * out + np.array([0.0, 0.0, up]) + 0.5 * length * rises - 0.5 * thick * normal
        size = (length, hole + 2.0 * length, thick)
        found.append(
            Box(
                size,
                centre=tuple(middle.tolist()),
                turned=tuple(map(tuple, np.array([rises, across, normal]).tolist())),
            )
        )
    return found
