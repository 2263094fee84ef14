"""What straight bodies with two ends share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from components.bodies.short_sums import cross, length
from modular.elements import Array
from modular.errors import ModelError
from modular.tiles import TileRows

NUMBERS = frozenset({float, int})
ENDS = ("start", "end")  # ports of a straight body, in order
# what a quick look takes for granted: nothing that vanishes or overflows when it is squared
MIN_QUICK_SQUARE, MAX_QUICK_MAGNITUDE = 1e-200, 1e18
MOTIONS = ("velocity", "angular_velocity")  # of bodies at the start


def ends_as_ports(start: Array, end: Array) -> Array:
    """Start and end of each body in turn, (2 n, d)."""
    return np.stack([start, end], axis=1).reshape(-1, start.shape[1])


def straight_elements(start: Array, end: Array, *, full: bool) -> Array:
    """A and B at the ends and, for full bodies in space, u and v across, (n, e, d)."""
    ends = np.stack([start, end], axis=1)
    return np.concatenate([ends, across(end - start)], axis=1) if full else ends


def across(x: Array) -> Array:
    """Unit vectors completing `x` to an orthogonal, right-handed basis, as rows, (..., d - 1, d)."""
    x = x / length(x)[..., None]
    if x.shape[-1] == 2:
        return np.stack([-x[..., 1], x[..., 0]], axis=-1)[..., None, :]
    u = cross(x, np.eye(3)[np.argmin(np.abs(x), axis=-1)])
    u /= length(u)[..., None]
    return np.stack([u, cross(x, u)], axis=-2)


def plain_length(start: Sequence[float], end: Sequence[float]) -> float:
    """How far two points of plain finite numbers, both in the plane or both in space, are apart; else 0 [m].

    A quick look at data as most people give them; what it does not pass may still be sound (`check_straight`).
    """
    if start.__class__ is not tuple or end.__class__ is not tuple or not NUMBERS.issuperset(map(type, start + end)):
        return 0.0
    try:
        if len(start) == 3 == len(end):
            x, y, z = end[0] - start[0], end[1] - start[1], end[2] - start[2]
            square = x * x + y * y + z * z
        elif len(start) == 2 == len(end):
            x, y = end[0] - start[0], end[1] - start[1]
            square = x * x + y * y
        else:
            return 0.0
    except OverflowError:  # a whole number beyond all floats
        return 0.0
    # also where a number is not finite
    return float(square**0.5) if MIN_QUICK_SQUARE < square < MAX_QUICK_MAGNITUDE else 0.0


def plain_motion(d: int, velocity: Sequence[float] | None, angular_velocity: Sequence[float] | float | None) -> bool:
    """Whether initial velocities are left out or plain finite numbers of the right size; a quick look as above."""
    return (velocity is None or is_plain(velocity, d)) and (
        angular_velocity is None or is_plain(angular_velocity if d == 3 else (angular_velocity,), 2 * d - 3)
    )


def is_plain(values: object, size: int) -> bool:
    """Whether values are a tuple of so many plain finite numbers."""
    if not isinstance(values, tuple) or len(values) != size or not NUMBERS.issuperset(map(type, values)):
        return False
    return all(-MAX_QUICK_MAGNITUDE < value < MAX_QUICK_MAGNITUDE for value in values)


def lengthened(start: Sequence[float], end: Sequence[float], to: float | None) -> tuple[float, ...]:
    """The other end of a straight body that keeps its first end and its direction; None: it stays as long as it is."""
    if to is None:
        return tuple(end)
    if not 0.0 < to < float("inf"):
        raise ModelError(f"length = {to:g} m; a length must be positive.")
    share = to / float(np.linalg.norm(np.subtract(end, start)))
    return tuple(a + share * (b - a) for a, b in zip(start, end, strict=True))


def plain_rows(bodies: TileRows) -> tuple[Any, Array]:
    """The same quick look at many straight bodies that differ in plain fields: which pass, and how long each is [m], (n,)."""
    found: Any = np.ones(len(bodies), bool)
    given = [field for field in MOTIONS if bodies.varied(field)]
    for one in bodies.originals:
        still = dict.fromkeys(given)
        own = {field: getattr(one, field) for field in MOTIONS} | still
        if one.integrator is not None or not plain_motion(one.dimension, own["velocity"], own["angular_velocity"]):
            return np.zeros(len(bodies), bool), np.zeros(len(bodies))
    for field in given:
        found &= (np.abs(bodies.column(field)) < MAX_QUICK_MAGNITUDE).all(axis=1)
    square = np.square(bodies.column("end") - bodies.column("start")).sum(axis=1)
    return found & (square > MIN_QUICK_SQUARE) & (square < MAX_QUICK_MAGNITUDE), np.sqrt(square)


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
