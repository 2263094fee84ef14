"""What touches, as it is drawn: balls, boxes and sticks that go along with the bodies that they are on. Knows no viewer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from components import Box, Capsule, Contact, HalfSpace, Sphere, Surface
from components.forces.shapes import Shape
from coordinator.laboratory.snapshot import Plan, Snapshot
from modular.elements import Array
from modular.port import GROUND
from scenarios.laboratory.figure import in_space

# shares of the size of the mechanism: how deep plane boxes are drawn, and how thick half spaces
HALF_SPACE_DEPTH, HALF_SPACE_THICKNESS = 0.15, 0.004
HALF_SPACE_HALF_WIDTH = 2.0  # half of the width of a half space, in that size


@dataclass(frozen=True)
class Outline:
    """One mesh of a shape: `mesh` by its name, with three sizes, placed and turned in the axes of a port."""

    body: str
    port: str
    mesh: str
    place: tuple[float, ...]
    axes: tuple[tuple[float, ...], ...]  # rows
    sizes: tuple[float, float, float]


def outlines_of(plan: Plan, size: float) -> list[Outline]:
    """Everything that the contacts and surfaces of a plan let touch, each once."""
    found: dict[Outline, None] = {}
    for edge in plan.forces.values():
        force = edge.force
        if isinstance(force, Contact | Surface):
            shapes = (force.first, force.second) if isinstance(force, Contact) else (force.shape,)
            for port, shape in zip(edge.ports, shapes, strict=True):
                found.update(dict.fromkeys(_meshes(port.body, port.port, shape, plan.dimension, size)))
    return list(found)


def _meshes(body: str, port: str, shape: Shape, dimension: int, size: float) -> Iterator[Outline]:
    place = in_space(shape.place(dimension)[None])[0]
    axes = np.eye(3)
    axes[:dimension, :dimension] = shape.axes(dimension)
    half, radius = shape.sizes(dimension)[:3], shape.sizes(dimension)[3]

    def outline(mesh: str, at: Array, rows: Array, sizes: tuple[float, float, float]) -> Outline:
        return Outline(body, port, mesh, tuple(at.tolist()), tuple(map(tuple, rows.tolist())), sizes)

    if isinstance(shape, Sphere) and radius > 0.0:
        yield outline("ball", place, axes, (radius,) * 3)
    elif isinstance(shape, Box):
        yield outline(
            "box", place, axes, (half[0], half[1], half[2] if dimension == 3 else 0.5 * HALF_SPACE_DEPTH * size)
        )
    elif isinstance(shape, HalfSpace):
        flat = (HALF_SPACE_HALF_WIDTH if dimension == 3 else HALF_SPACE_DEPTH) * size
        yield outline(
            "box",
            place - HALF_SPACE_THICKNESS * size * axes[0],
            axes,
            (HALF_SPACE_THICKNESS * size, HALF_SPACE_HALF_WIDTH * size, flat),
        )
    elif isinstance(shape, Capsule):
        for sign in (-1.0, 1.0):
            yield outline("ball", place + sign * half[0] * axes[0], axes, (radius,) * 3)
        # its mesh stands along the third
        yield outline("cylinder", place, axes[[1, 2, 0]], (radius, radius, 2.0 * half[0]))


def poses(outlines: list[Outline], snapshot: Snapshot) -> tuple[Array, Array]:
    """Places (n, 3) and turns (n, 4), w first, of all outlines; of the ground those that they were given."""
    places, turns = np.zeros((len(outlines), 3)), np.zeros((len(outlines), 3, 3))
    known: dict[tuple[str, str], tuple[Array, Array]] = {}
    for k, outline in enumerate(outlines):
        key = outline.body, outline.port
        if key not in known:
            known[key] = _port(snapshot, *key)
        origin, frame = known[key]
        places[k] = origin + np.asarray(outline.place) @ frame
        turns[k] = (np.asarray(outline.axes) @ frame).T
    if not len(outlines):
        return places, np.zeros((0, 4))
    from scipy.spatial.transform import Rotation  # only where bodies touch

    return places, Rotation.from_matrix(turns).as_quat()[:, [3, 0, 1, 2]]


def _port(snapshot: Snapshot, body: str, port: str) -> tuple[Array, Array]:
    """Place and axes of a port in space."""
    if body == GROUND:
        return np.zeros(3), np.eye(3)
    described = snapshot.plan.bodies[body]
    q, v = snapshot.state(body)
    frame = np.eye(3)
    d = snapshot.plan.dimension
    frame[:d, :d] = described.port_axes(port, q)
    return in_space(described.port_motion(port, q, v, v)[0][None])[0], frame
