"""What straight bodies with two ends share."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from modular.elements import Array


def straight_elements(start: Sequence[float], end: Sequence[float], *, full: bool) -> Array:
    """A and B at the ends and, for a full body in space, u and v across."""
    a, b = np.asarray(start, float), np.asarray(end, float)
    return np.array([a, b, *across(b - a)]) if full else np.array([a, b])


def across(x: Array) -> Array:
    """Unit vectors completing `x` to an orthogonal, right-handed basis, as rows."""
    x = x / np.linalg.norm(x)
    if len(x) == 2:
        return np.array([[-x[1], x[0]]])
    u = np.cross(x, np.eye(3)[np.argmin(np.abs(x))])
    u /= np.linalg.norm(u)
    return np.array([u, np.cross(x, u)])


def check_straight(
    name: str,
    start: Sequence[float],
    end: Sequence[float],
    velocity: Sequence[float] | None,
    angular_velocity: Sequence[float] | float | None,
) -> list[str]:
    """Ends of different dimension or at the same place, velocities of the wrong size."""
    d = len(start)
    if d not in (2, 3) or len(end) != d:
        return [
            f"body '{name}': start = {tuple(start)} and end = {tuple(end)} need two coordinates each, or three each."
        ]
    if not np.all(np.isfinite([start, end])):
        return [f"body '{name}': start = {tuple(start)} or end = {tuple(end)} is not finite."]
    problems = check_motion(name, d, velocity, angular_velocity)
    if np.linalg.norm(np.subtract(end, start)) <= 0:
        problems.append(f"body '{name}': start and end are both at {tuple(start)}; a rod needs a length.")
    return problems


def check_motion(
    name: str, d: int, velocity: Sequence[float] | None, angular_velocity: Sequence[float] | float | None
) -> list[str]:
    """Initial velocities of the wrong size or without a value."""
    problems = []
    for label, value, size in (("velocity", velocity, d), ("angular_velocity", angular_velocity, 2 * d - 3)):
        if value is not None and (np.size(value) != size or not np.all(np.isfinite(np.asarray(value, float)))):
            numbers = "1 finite component" if size == 1 else f"{size} finite components"
            problems.append(f"body '{name}': {label} = {value} needs {numbers}.")
    return problems
