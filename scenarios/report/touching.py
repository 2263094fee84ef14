"""What touches, as strokes: the edges of boxes, the outlines of spheres and capsules, where their ports are."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np

from components.forces.shapes import Box, Capsule, HalfSpace, Shape, Sphere
from coordinator.record.run import Run
from modular.component import Component
from modular.elements import Array, Indices
from modular.errors import ModelError
from modular.port import GROUND

CONTACT, SURFACE = "components:Contact", "components:Surface"
CIRCLE_POINTS = 24  # points of a circle
GROUND_SHARE = 4.0  # times the extent of a mechanism: larger parts of the ground are not drawn
EARTH = "#b58a5a"  # what touches on the ground


def touching(run: Run) -> set[str]:
    """Bodies on which something touches by the contacts and surfaces of the model."""
    return {port.partition(".")[0] for port, _ in _carried(run)}


def _carried(run: Run) -> Iterator[tuple[str, dict[str, Any]]]:
    """Ports, and the shapes on them as data."""
    for data in run.model["forces"].values():
        if data["class"] == CONTACT:
            yield from zip(data["on"], (data["first"], data["second"]), strict=True)
        elif data["class"] == SURFACE:
            yield data["on"][0], data["shape"]


def shapes_on(run: Run, body: str) -> list[tuple[str, Shape]]:
    """What of a body touches by the contacts and surfaces of the model, each once: its port and the shape."""
    found: dict[str, tuple[str, Shape]] = {}
    for port, shape in _carried(run):
        if port.partition(".")[0] == body:
            found[f"{port} {shape}"] = port, Component.from_data(shape)
    return list(found.values())


def edges_of(shape: Shape, d: int) -> Array:
    """One stroke along its edges in the axes of its port, lifted (NaN) in between, (points, d)."""
    half, radius = np.asarray(shape.sizes(d)[:d]), shape.sizes(d)[3]
    gap = np.full((1, d), np.nan)
    lines: list[Array] = []
    if isinstance(shape, Box):
        for along in range(d):
            for signs in product((-1.0, 1.0), repeat=d - 1):
                corner = np.insert(np.asarray(signs), along, 1.0) * half
                lines += [np.array([corner * np.where(np.arange(d) == along, -1.0, 1.0), corner]), gap]
    elif isinstance(shape, Sphere | Capsule) and radius > 0.0:
        angle = np.linspace(0.0, 2.0 * np.pi, CIRCLE_POINTS + 1)
        for other, across in [(0, 1)] if d == 2 else [(0, 1), (0, 2), (1, 2)]:
            line = np.zeros((CIRCLE_POINTS + 1, d))
            line[:, other], line[:, across] = radius * np.cos(angle), radius * np.sin(angle)
            if other == 0:  # a capsule's line is its first axis
                line[:, 0] += half[0] * np.sign(np.round(np.cos(angle), 9))
            lines += [line, gap]
    elif isinstance(shape, Capsule):
        lines += [np.array([-half, half]), gap]
    local = np.concatenate([gap, *lines])
    return np.asarray(shape.place(d) + local @ shape.axes(d))


def outlines(run: Run, body: str, at: Indices) -> list[Array]:
    """Of all that touches on a body, at some samples, (samples, points, d) each; half spaces have no edges."""
    found = []
    for port, shape in shapes_on(run, body):
        if isinstance(shape, HalfSpace):
            continue
        try:
            frame = run.axes(port)[at]
        except ModelError:  # somebody's body that does not say how it turns: drawn without
            continue
        edges = edges_of(shape, frame.shape[-1])
        found.append(run.position(port)[at][:, None] + np.einsum("pj,njc->npc", edges, frame))
    return found


def ground_outlines(run: Run, largest: float) -> list[Array]:
    """Of all that touches on the ground, (points, d) each; what is larger than the rest of the picture is left out."""
    found = []
    for _, shape in shapes_on(run, GROUND):
        edges = edges_of(shape, len(run.model["gravity"]))
        if not isinstance(shape, HalfSpace) and (np.nanmax(edges, axis=0) - np.nanmin(edges, axis=0)).max() <= largest:
            found.append(edges)
    return found
