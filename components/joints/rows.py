"""Blocks of joint equations for one joint: rows phi and their Jacobians, from which joints are put together.

They fill in errors and Jacobian blocks that were all zero before.

Cross products keep all three of their rows. Annexe 2 of the thesis picks two of three, (A2.4), which becomes
singular when the axis turns into the row left out; three rows of rank two never do, and the seen mass of such a
block is inverted on its range (modular/seen_mass.py).
"""

import numpy as np

from modular.elements import Array
from modular.kernel import kernel
from modular.lanes import share


@kernel
def measure_apart(a: Array, b: Array, row: int, on_first: Array, on_second: Array) -> float:
    """|P_a P_b| with its derivatives, none where the points coincide. Element 0 of both sides."""
    square = 0.0
    for c in range(a.shape[1]):
        arm = b[0, c] - a[0, c]
        square += arm * arm
    length: float = np.sqrt(square)
    for c in range(a.shape[1]):
        along = share(b[0, c] - a[0, c], length)
        on_first[row, 0, c] = -along
        on_second[row, 0, c] = along
    return length


@kernel
def coincide(a: Array, b: Array, row: int, error: Array, on_first: Array, on_second: Array) -> None:
    """P_a = P_b: d rows (III.9). Element 0 of both sides."""
    for c in range(a.shape[1]):
        error[row + c] = b[0, c] - a[0, c]
        on_first[row + c, 0, c] = -1.0
        on_second[row + c, 0, c] = 1.0


@kernel
def cross(x: Array, y: Array, row: int, sign: float, i: int, j: int, error: Array, on_x: Array, on_y: Array) -> None:
    """error += sign x_i cross y_j: three rows, with their Jacobians on both."""
    for r in range(3):
        s = (r + 1) % 3
        t = (r + 2) % 3
        error[row + r] += sign * (x[i, s] * y[j, t] - x[i, t] * y[j, s])
        on_x[row + r, i, s] += sign * y[j, t]
        on_x[row + r, i, t] -= sign * y[j, s]
        on_y[row + r, j, t] += sign * x[i, s]
        on_y[row + r, j, s] -= sign * x[i, t]


@kernel
def align(a: Array, b: Array, row: int, i: int, j: int, error: Array, on_first: Array, on_second: Array) -> None:
    """Directions a_i and b_j stay parallel: a_i cross b_j = 0 (III.10.a), the small rotation from a to b."""
    cross(a, b, row, 1.0, i, j, error, on_first, on_second)


@kernel
def lock(a: Array, b: Array, row: int, error: Array, on_first: Array, on_second: Array) -> None:
    """All axes stay parallel: 1/2 sum_i a_i cross b_i = sin(angle) n, over elements 1, 2, 3."""
    for i in range(1, 4):
        cross(a, b, row, 0.5, i, i, error, on_first, on_second)


@kernel
def stay_on_line(a: Array, b: Array, row: int, i: int, error: Array, on_first: Array, on_second: Array) -> None:
    """P_b stays on the line through P_a along direction a_i: a_i cross (P_b - P_a) = 0 (III.10.b)."""
    for r in range(3):
        s = (r + 1) % 3
        t = (r + 2) % 3
        ds = b[0, s] - a[0, s]
        dt = b[0, t] - a[0, t]
        error[row + r] = a[i, s] * dt - a[i, t] * ds
        on_first[row + r, i, s] = dt
        on_first[row + r, i, t] = -ds
        on_first[row + r, 0, t] = -a[i, s]
        on_first[row + r, 0, s] = a[i, t]
        on_second[row + r, 0, t] = a[i, s]
        on_second[row + r, 0, s] = -a[i, t]


@kernel
def stay_on_plane(a: Array, b: Array, row: int, i: int, error: Array, on_first: Array, on_second: Array) -> None:
    """P_b stays on the plane through P_a across direction a_i: a_i . (P_b - P_a) = 0, one row."""
    for c in range(a.shape[1]):
        arm = b[0, c] - a[0, c]
        error[row] += a[i, c] * arm
        on_first[row, i, c] = arm
        on_first[row, 0, c] = -a[i, c]
        on_second[row, 0, c] = a[i, c]


@kernel
def stay_on_line_in_plane(
    a: Array, b: Array, row: int, i: int, cosine: float, sine: float, error: Array, on_first: Array, on_second: Array
) -> None:
    """P_b stays on the line through P_a at a fixed angle to direction a_i: u cross (P_b - P_a) = 0, in the plane."""
    ux = cosine * a[i, 0] - sine * a[i, 1]
    uy = sine * a[i, 0] + cosine * a[i, 1]
    dx = b[0, 0] - a[0, 0]
    dy = b[0, 1] - a[0, 1]
    error[row] = ux * dy - uy * dx
    on_first[row, 0, 0] = uy
    on_first[row, 0, 1] = -ux
    on_first[row, i, 0] = cosine * dy - sine * dx
    on_first[row, i, 1] = -sine * dy - cosine * dx
    on_second[row, 0, 0] = -uy
    on_second[row, 0, 1] = ux


@kernel
def keep_angle_in_plane(
    a: Array,
    b: Array,
    row: int,
    i: int,
    j: int,
    cosine: float,
    sine: float,
    error: Array,
    on_first: Array,
    on_second: Array,
) -> None:
    """sin of the angle from a_i to b_j less the one they had: cos (a x b) - sin (a . b), one row, in the plane."""
    error[row] = cosine * (a[i, 0] * b[j, 1] - a[i, 1] * b[j, 0]) - sine * (a[i, 0] * b[j, 0] + a[i, 1] * b[j, 1])
    on_first[row, i, 0] = cosine * b[j, 1] - sine * b[j, 0]
    on_first[row, i, 1] = -cosine * b[j, 0] - sine * b[j, 1]
    on_second[row, j, 0] = -cosine * a[i, 1] - sine * a[i, 0]
    on_second[row, j, 1] = cosine * a[i, 0] - sine * a[i, 1]


@kernel
def keep_cosine(
    a: Array, b: Array, row: int, i: int, j: int, cosine: float, error: Array, on_first: Array, on_second: Array
) -> None:
    """The angle between a_i and b_j stays: a . b = const, one row."""
    error[row] = -cosine
    for c in range(a.shape[1]):
        error[row] += a[i, c] * b[j, c]
        on_first[row, i, c] = b[j, c]
        on_second[row, j, c] = a[i, c]


@kernel
def go_along_in_plane(
    a: Array, b: Array, row: int, i: int, cosine: float, sine: float, error: Array, on_first: Array, on_second: Array
) -> None:
    """u . (P_b - P_a) with u at a fixed angle to direction a_i, in the plane: added to a row."""
    ux, uy = cosine * a[i, 0] - sine * a[i, 1], sine * a[i, 0] + cosine * a[i, 1]
    dx, dy = b[0, 0] - a[0, 0], b[0, 1] - a[0, 1]
    error[row] += ux * dx + uy * dy
    on_first[row, 0, 0] -= ux
    on_first[row, 0, 1] -= uy
    on_first[row, i, 0] += cosine * dx + sine * dy
    on_first[row, i, 1] += cosine * dy - sine * dx
    on_second[row, 0, 0] += ux
    on_second[row, 0, 1] += uy


@kernel
def go_along(a: Array, b: Array, row: int, i: int, error: Array, on_first: Array, on_second: Array) -> None:
    """a_i . (P_b - P_a), added to a row."""
    for c in range(3):
        arm = b[0, c] - a[0, c]
        error[row] += a[i, c] * arm
        on_first[row, i, c] += arm
        on_first[row, 0, c] -= a[i, c]
        on_second[row, 0, c] += a[i, c]


@kernel
def rate_along(on_first: Array, on_second: Array, velocity: Array, first: int, second: int) -> float:
    """J v: how fast a coordinate changes as the elements of both sides move."""
    rate = 0.0
    for k in range(on_first.shape[1]):
        for c in range(on_first.shape[2]):
            rate += on_first[0, k, c] * velocity[first + k, c]
    for k in range(on_second.shape[1]):
        for c in range(on_second.shape[2]):
            rate += on_second[0, k, c] * velocity[second + k, c]
    return rate
