"""Courses: what a driven row follows over time, as numbers that compiled loops read.

A course is a list of pieces, one after the other in time. In the piece that begins at t_k, with s = t - t_k,

    f(t) = c_0 + c_1 s + c_2 s^2 + c_3 s^3 + A sin(w s + p)

for each of the rows that it drives; the first piece holds before it begins too. A piece is the numbers t_k, c_0 … c_3, A, w, p,
with seven more for every further row. The numbers that a joint fixed when it was made (`JointForm.marker`) begin with how many
pieces there are, and where the course was then: what is followed is the way from there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from modular.elements import Array
from modular.kernel import kernel

NUMBERS_PER_ROW = 7  # numbers of a piece for each row


@kernel(apart=True)
def follow(marker: Any, pieces: Any, time: float, beyond: float, course: Any) -> None:
    """The way of a course from where it began, its rate and its acceleration, (rows, 3 or more).

    The rate is that at the time, and as much more as it grows in
    `beyond` at its present acceleration: those who look along a motion find the acceleration so.
    """
    rows = course.shape[0]
    width = 1 + NUMBERS_PER_ROW * rows
    low, high = 0, int(marker[0])
    while high - low > 1:
        middle = (low + high) // 2
        if pieces[width * middle] <= time:
            low = middle
        else:
            high = middle
    at = width * low
    s = time - pieces[at]
    for i in range(rows):
        c = at + 1 + NUMBERS_PER_ROW * i
        value = pieces[c] + s * (pieces[c + 1] + s * (pieces[c + 2] + s * pieces[c + 3]))
        rate = pieces[c + 1] + s * (2.0 * pieces[c + 2] + s * 3.0 * pieces[c + 3])
        bend = 2.0 * pieces[c + 2] + s * 6.0 * pieces[c + 3]
        size, pulse = pieces[c + 4], pieces[c + 5]
        if size != 0.0:
            sine, cosine = np.sin(pulse * s + pieces[c + 6]), np.cos(pulse * s + pieces[c + 6])
            value += size * sine
            rate += size * pulse * cosine
            bend -= size * pulse * pulse * sine
        course[i, 0] = value - marker[1 + i]
        course[i, 1] = rate + beyond * bend
        course[i, 2] = bend


def begun(marker: Sequence[float], head: int, rows: int, time: float) -> tuple[float, ...]:
    """The numbers of a joint whose course begins at a time; `head`: where its pieces begin among them."""
    numbers = np.array(marker, float)
    numbers[1 : 1 + rows] = 0.0
    course: Array = np.zeros((rows, 3))
    follow(numbers, numbers[head:], time, 0.0, course)
    numbers[1 : 1 + rows] = course[:, 0]
    return tuple(numbers.tolist())
