"""What is around a mechanism in the page: light, and a grid to tell lengths by."""

from __future__ import annotations

from typing import Any

import numpy as np

from coordinator.laboratory.snapshot import Plan
from modular.elements import Array
from scenarios.laboratory.figure import extent_of
from scenarios.laboratory.view import cell_of, format_length, up_of

GRID_LABEL_OFFSET = 0.03  # of the size of a mechanism: how far below it the spacing of the grid is told
AMBIENT_LIGHT, FRONT_LIGHT, BACK_LIGHT = 0.9, 2.0, 1.0  # intensities of lights


def light(server: Any, away: Array, up: Array) -> None:
    """From above whoever looks, and less from behind: the lights of the viewer leave all sides dark but the upper ones."""
    scene = server.scene
    scene.configure_environment_map(hdri=None)  # a picture of a city, which costs seconds without a GPU
    scene.configure_default_lights(enabled=False, cast_shadow=False)  # shadows cost half of the pictures there
    right = np.cross(up, away)
    scene.add_light_ambient("/lights/around", intensity=AMBIENT_LIGHT)
    for name, direction, intensity in (
        ("before", away + 0.8 * up - 0.4 * right, FRONT_LIGHT),
        ("behind", -away + 0.4 * up + 0.4 * right, BACK_LIGHT),
    ):
        scene.add_light_directional(f"/lights/{name}", position=tuple(direction), intensity=intensity)


def lay_grid(server: Any, plan: Plan, points: Array, away: Array, size: float) -> None:
    """Lines to tell lengths by, and how far they are apart."""
    (middle, side), up, cell = extent_of(points), up_of(plan), cell_of(size)
    flat = plan.dimension == 2
    plane = "xy" if flat else ("yz", "xz", "xy")[int(np.argmax(np.abs(up)))]
    place = np.array([0.0, 0.0, -0.15 * size]) if flat else middle - (0.9 * side) * up
    server.scene.add_grid(
        "/grid", plane=plane, position=tuple(place), infinite_grid=True, cell_size=cell, section_size=5.0 * cell,
        cell_color=(232, 232, 236), section_color=(210, 210, 216), fade_distance=12 * max(side, size),
        **({"shadow_opacity": 0.0} if flat else {}),
    )  # fmt: skip
    right = np.cross(up, away)
    axes = np.array([right / np.linalg.norm(right), up, np.cross(right, up)])
    low, high = (points @ axes.T).min(axis=0), (points @ axes.T).max(axis=0)
    corner = np.array([low[0], low[1] - GRID_LABEL_OFFSET * max(side, size), 0.5 * (low[2] + high[2])]) @ axes
    server.scene.add_label(
        "/spacing", f"grid {format_length(cell)}", position=tuple(corner), anchor="top-left", font_screen_scale=0.8
    )
