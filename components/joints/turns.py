"""Blocks of joint equations that read angles: the angle between two directions about an axis, with its derivatives.

Angles come from positions alone, so they are known up to whole turns. A joint that couples them to lengths, or to other angles,
knows the rest from its own error, which is small beside a thread or a tooth: `wrapped` takes the whole threads out. Nothing is
remembered from tick to tick, so such joints may be cut, copied, repeated and undone like all others.
"""

import numpy as np

from modular.elements import Array
from modular.kernel import kernel
from modular.lanes import angle, nearest


@kernel
def wrapped(value: float, period: float) -> float:
    """What is left of a value when whole periods are taken out, from -period/2 to period/2."""
    left: float = value - period * nearest(value / period)
    return left


@kernel
def unwound(angle: float, near: float) -> float:
    """An angle with as many whole turns added as bring it next to another one [rad].

    Of that other angle nothing but its turns counts: whoever comes there by another way finds the same, to the last bit.
    """
    found: float = angle + 2.0 * np.pi * nearest((near - angle) / (2.0 * np.pi))
    return found


@kernel
def turn(
    k: Array, h: int, x: Array, i: int, y: Array, j: int, row: int, weight: float, on_k: Array, on_x: Array, on_y: Array
) -> float:
    """The angle from x_i to y_j about the axis k_h, and `weight` times its derivatives, added to the rows of all three.

    tan(angle) = k . (x cross y) / (x . y), so d(angle) = (C dS - S dC) / (S^2 + C^2); along the axis x and y may lean.
    """
    sine = 0.0
    cosine = 0.0
    for r in range(3):
        s = (r + 1) % 3
        t = (r + 2) % 3
        sine += k[h, r] * (x[i, s] * y[j, t] - x[i, t] * y[j, s])
        cosine += x[i, r] * y[j, r]
    square = sine * sine + cosine * cosine
    by_sine = weight * cosine / square
    by_cosine = weight * sine / square
    for r in range(3):
        s = (r + 1) % 3
        t = (r + 2) % 3
        on_k[row, h, r] += by_sine * (x[i, s] * y[j, t] - x[i, t] * y[j, s])
        on_x[row, i, r] += by_sine * (y[j, s] * k[h, t] - y[j, t] * k[h, s]) - by_cosine * y[j, r]
        on_y[row, j, r] += by_sine * (k[h, s] * x[i, t] - k[h, t] * x[i, s]) - by_cosine * x[i, r]
    found: float = angle(sine, cosine)
    return found


@kernel
def turn_in_plane(x: Array, i: int, y: Array, j: int, row: int, weight: float, on_x: Array, on_y: Array) -> float:
    """The same in the plane, about z."""
    sine = x[i, 0] * y[j, 1] - x[i, 1] * y[j, 0]
    cosine = x[i, 0] * y[j, 0] + x[i, 1] * y[j, 1]
    square = sine * sine + cosine * cosine
    by_sine = weight * cosine / square
    by_cosine = weight * sine / square
    on_x[row, i, 0] += by_sine * y[j, 1] - by_cosine * y[j, 0]
    on_x[row, i, 1] -= by_sine * y[j, 0] + by_cosine * y[j, 1]
    on_y[row, j, 0] -= by_sine * x[i, 1] + by_cosine * x[i, 0]
    on_y[row, j, 1] += by_sine * x[i, 0] - by_cosine * x[i, 1]
    found: float = angle(sine, cosine)
    return found
