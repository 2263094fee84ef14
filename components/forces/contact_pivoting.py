"""The forces that carry what rests, by elimination: for groups of few points, where sweeps from point to point take too long.

    0 <= x  perp  A x + q >= 0

with A symmetric and positive, for a share of each answer holds against changes (contact_carrying.py). Who carries is guessed, and
the others carry nothing; those forces are solved for (Cholesky), and all whose sign is wrong change sides; where that brings no
fewer of them for some rounds, only the last one does, which ends for certain (J. J. Júdice, F. M. Pires, "A block principal
pivoting algorithm for large-scale strictly monotone linear complementarity problems", Computers & Operations Research 21 (1994)
587-596). From the guess of the sweeps that is mostly right after one round, and what sweeps leave, which would keep a heap moving,
is gone.
"""

from __future__ import annotations

from math import sqrt

from modular.blocks import room
from modular.elements import Array
from modular.kernel import kernel

MOST_POINTS = 96  # of a group
MAX_ROUNDS = 40
PATIENT_ROUNDS = 3  # in which all change sides though that brings no fewer
FORCE_TOLERANCE, GAP_TOLERANCE = 1e-12, 1e-9  # of the largest force, and of how fast anything would come without them
LEAST_PIVOT = 1e-14  # of a diagonal: what is less is none


@kernel(written_out=False)
def solve_carried(a: Array, carried: Array, count: int, factor: Array, x: Array) -> bool:
    """a x = -q of those that carry, where x holds q; the others get 0. Whether a is positive there."""
    for i in range(count):
        if carried[i] == 0.0:
            continue
        for j in range(i + 1):
            if carried[j] == 0.0:
                continue
            value = a[i, j]
            for k in range(j):
                if carried[k] != 0.0:
                    value -= factor[i, k] * factor[j, k]
            if i > j:
                factor[i, j] = value / factor[j, j]
            elif value > LEAST_PIVOT * a[i, i]:
                factor[i, i] = sqrt(value)
            else:
                return False
    for i in range(count):
        if carried[i] != 0.0:
            value = -x[i]
            for k in range(i):
                if carried[k] != 0.0:
                    value -= factor[i, k] * x[k]
            x[i] = value / factor[i, i]
        else:
            x[i] = 0.0
    for back in range(count):
        i = count - 1 - back
        if carried[i] != 0.0:
            value = x[i]
            for k in range(i + 1, count):
                if carried[k] != 0.0:
                    value -= factor[k, i] * x[k]
            x[i] = value / factor[i, i]
    return True


@kernel(written_out=False)
def pivot(a: Array, q: Array, count: int, fastest: float, x: Array) -> bool:
    """x of the problem, from a guess of who is above 0; whether it was found, and else x is what it was."""
    factor, carried, found = room((96, 96)), room((96,)), room((96,))
    for i in range(count):
        carried[i] = 1.0 if x[i] > 0.0 else 0.0
    fewest, patience = count + 1, PATIENT_ROUNDS
    for _ in range(MAX_ROUNDS):
        for i in range(count):
            found[i] = q[i]
        if not solve_carried(a, carried, count, factor, found):
            return False
        most, wrong, last = 0.0, 0, -1
        for i in range(count):
            most = max(most, abs(found[i]))
        for i in range(count):
            if is_wrong(a, q, count, found, carried, i, most, fastest):
                wrong, last = wrong + 1, i
        if wrong == 0:
            for i in range(count):
                x[i] = max(found[i], 0.0)
            return True
        if wrong < fewest:
            fewest, patience = wrong, PATIENT_ROUNDS
        else:
            patience -= 1
        if patience < 0:
            carried[last] = 1.0 - carried[last]
            continue
        change_sides(a, q, count, found, carried, most, fastest)
    return False


@kernel
def is_wrong(a: Array, q: Array, count: int, x: Array, carried: Array, i: int, most: float, fastest: float) -> bool:
    """Whether a point pulls, or goes into something."""
    if carried[i] != 0.0:
        return bool(x[i] < -FORCE_TOLERANCE * most)
    parts = q[i]
    for j in range(count):
        parts += a[i, j] * x[j]
    return bool(parts < -GAP_TOLERANCE * fastest)


@kernel(written_out=False)
def change_sides(a: Array, q: Array, count: int, x: Array, carried: Array, most: float, fastest: float) -> None:
    """All that are wrong."""
    wrong = room((96,))
    for i in range(count):
        wrong[i] = 1.0 if is_wrong(a, q, count, x, carried, i, most, fastest) else 0.0
    for i in range(count):
        if wrong[i] != 0.0:
            carried[i] = 1.0 - carried[i]
