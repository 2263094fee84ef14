"""The shapes that mechanisms are drawn with, as triangles, and how finely. Knows no viewer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from modular.elements import Array, Indices


@dataclass(frozen=True)
class Detail:
    """How finely things are drawn. Without a GPU a page draws about 10 000 triangles and 300 pieces of lines in 20 ms."""

    ball: int  # times that the triangles of a ball are divided
    sides: int  # of a stick
    trace: int  # points of a trace
    often: float  # seconds of the motion between two of them
    pause: float  # seconds between two pictures of lines, which a page builds from scratch


FINE_DETAIL, COARSE_DETAIL = Detail(2, 20, 240, 1 / 80, 0.0), Detail(1, 10, 70, 1 / 40, 0.08)
MAX_FINE_PARTS = 24  # parts of a mechanism from which on it is drawn coarsely


def detail_for(parts: int) -> Detail:
    """How finely so many parts are drawn."""
    return FINE_DETAIL if parts <= MAX_FINE_PARTS else COARSE_DETAIL


def cylinder(sides: int) -> tuple[Array, Indices]:
    """A closed cylinder of radius 1 from z = -1/2 to 1/2: corners and triangles."""
    angle = 2 * np.pi * np.arange(sides) / sides
    ring = np.column_stack([np.cos(angle), np.sin(angle)])
    low, high = np.column_stack([ring, np.full(sides, -0.5)]), np.column_stack([ring, np.full(sides, 0.5)])
    corners = np.concatenate([low, high, low, high, [[0, 0, -0.5], [0, 0, 0.5]]])  # rims twice, so that edges are sharp
    k, after = np.arange(sides), (np.arange(sides) + 1) % sides
    wall = np.concatenate([np.column_stack([k, after, sides + after]), np.column_stack([k, sides + after, sides + k])])
    lids = np.concatenate(
        [
            np.column_stack([2 * sides + after, 2 * sides + k, np.full(sides, 4 * sides)]),
            np.column_stack([3 * sides + k, 3 * sides + after, np.full(sides, 4 * sides + 1)]),
        ]
    )
    return corners, np.concatenate([wall, lids])


def box() -> tuple[Array, Indices]:
    """A cube of side 2 with sharp edges."""
    corners: list[Array] = []
    triangles: list[list[int]] = []
    for axis in range(3):
        for sign in (-1.0, 1.0):
            u, v = np.roll(np.eye(3), 0, axis=0)[(axis + 1) % 3], np.eye(3)[(axis + 2) % 3]
            n = sign * np.eye(3)[axis]
            first = len(corners)
            corners += [n + a * u + b * v for a, b in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
            order = (0, 1, 2, 0, 2, 3) if sign > 0 else (0, 2, 1, 0, 3, 2)
            triangles += [[first + k for k in order[:3]], [first + k for k in order[3:]]]
    return np.array(corners), np.array(triangles, np.int64)


def sphere(level: int) -> tuple[Array, Indices]:
    """A ball of radius 1 from a divided octahedron."""
    corners = [np.array(x, float) for x in ((1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1))]
    triangles = [(0, 2, 4), (2, 1, 4), (1, 3, 4), (3, 0, 4), (2, 0, 5), (1, 2, 5), (3, 1, 5), (0, 3, 5)]
    for _ in range(level):
        known: dict[tuple[int, int], int] = {}

        def middle(a: int, b: int, known: dict[tuple[int, int], int] = known) -> int:
            key = (min(a, b), max(a, b))
            if key not in known:
                known[key] = len(corners)
                x = corners[a] + corners[b]
                corners.append(x / np.linalg.norm(x))
            return known[key]

        fine = []
        for a, b, c in triangles:
            ab, bc, ca = middle(a, b), middle(b, c), middle(c, a)
            fine += [(a, ab, ca), (b, bc, ab), (c, ca, bc), (ab, bc, ca)]
        triangles = fine
    return np.array(corners), np.array(triangles, np.int64)


def octahedron() -> tuple[Array, Indices]:
    """Of radius 1, flat."""
    return sphere(0)


def mesh(shape: str, detail: Detail) -> tuple[Array, Indices]:
    """Corners and triangles of a shape by its name, as meshes are sent to a page."""
    corners, triangles = {
        "ball": lambda: sphere(detail.ball),
        "cylinder": lambda: cylinder(detail.sides),
        "box": box,
        "octahedron": octahedron,
    }[shape]()
    return corners.astype(np.float32), triangles.astype(np.uint32)


SHAPES = ("ball", "cylinder", "box", "octahedron")
KINDS: Mapping[str, str] = {
    "Spherical": "ball", "Revolute": "cylinder", "Cylindrical": "cylinder", "Prismatic": "box", "Fixed": "box",
    "Universal": "octahedron", "Distance": "ball", "KnifeEdge": "octahedron", "PointOnLine": "octahedron",
    "PointOnPlane": "octahedron", "Planar": "box",
}  # fmt: skip


def shape_of(joint: object) -> str:
    """Which mark stands for a kind of joint."""
    return KINDS.get(type(joint).__name__, "octahedron")


def sizes_of_marks(shape: str, size: float, around: Array) -> Array:
    """Sizes of the marks of joints, (joints, 3): as large as everywhere, or so large that they stand out of what is around them.

    `around`: radius of the thickest part of a body that ends at the joint [m]. A cylinder goes through it like a pin; others
    enclose it, at least with their corners.
    """
    usual = {"ball": 0.022, "cylinder": 0.026, "box": 0.022, "octahedron": 0.03}[shape] * size
    found = np.full((len(around), 3), usual)
    if shape == "cylinder":
        found[:, 2] = np.maximum(2.2 * usual, 2.4 * around)  # its length; the others go from -1 to 1
        return found
    out = {"ball": 1.15, "box": 0.8, "octahedron": 1.4}[shape]
    return np.asarray(np.maximum(found, out * around[:, None]))
