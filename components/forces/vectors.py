"""Vectors inside kernels."""

from __future__ import annotations

from math import sqrt
from typing import Any

from modular.elements import Array
from modular.kernel import kernel


@kernel
def cross(a: Array, b: Array, out: Array) -> None:
    """out = a x b."""
    out[0] = a[1] * b[2] - a[2] * b[1]
    out[1] = a[2] * b[0] - a[0] * b[2]
    out[2] = a[0] * b[1] - a[1] * b[0]


@kernel
def dot(a: Array, b: Array) -> Any:
    """a . b."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@kernel
def axes_across(normal: Array, flat: int, t: Array) -> None:
    """Two axes across the normal and each other."""
    least = 0
    for c in range(1, 3):
        if abs(normal[c]) < abs(normal[least]) and not flat:
            least = c
    for c in range(3):
        t[0, c] = 1.0 if c == (2 if flat else least) else 0.0
    cross(t[0], normal, t[1])
    length = sqrt(dot(t[1], t[1]))
    for c in range(3):
        t[1, c] /= length
    cross(normal, t[1], t[0])


@kernel
def measure_line(a: Array, b: Array, velocity: Array, first: int, second: int, on_a: Array, on_b: Array) -> Any:
    """The distance of two points, with its derivatives; from one place they part the way they go."""
    square, parting = 0.0, 0.0
    for c in range(a.shape[1]):
        square += (b[0, c] - a[0, c]) ** 2
        parting += (velocity[second, c] - velocity[first, c]) ** 2
    s, speed = sqrt(square), sqrt(parting)
    for c in range(a.shape[1]):
        along = 0.0
        if s > 0.0:
            along = (b[0, c] - a[0, c]) / s
        elif speed > 0.0:
            along = (velocity[second, c] - velocity[first, c]) / speed
        on_a[0, 0, c] = -along
        on_b[0, 0, c] = along
    return s
