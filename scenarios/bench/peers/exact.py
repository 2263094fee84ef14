"""The motion of rods on frictionless joints, exactly: independent of all programs compared, of ours too.

Coordinates are the angles of the rods. The forces in the joints follow from a banded system, so a chain of a thousand is
no harder per rod than one of two; time is integrated by DOP853 to 1e-11.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from modular.elements import Array
from modular.errors import ModelError
from scenarios.bench.peers.mechanism import Mechanism

RELATIVE_TOLERANCE = 1e-11


def exact_ends(mechanism: Mechanism, until: float) -> Array:
    """Ends of all rods at the end of an open chain let go from rest [m], (rods, 2)."""
    from scipy.integrate import solve_ivp  # takes long, and few runs are held against an exact one

    if mechanism.slide:
        raise ModelError("exact_ends: this chain is closed; take a centralized solver in minimal coordinates.")
    count = len(mechanism.links)
    start = np.concatenate([[link.angle for link in mechanism.links], np.zeros(count)])
    accelerations = _accelerations(mechanism)

    def rate(time: float, state: Array) -> Array:
        return np.concatenate([state[count:], accelerations(state[:count], state[count:])])

    solved = solve_ivp(rate, (0.0, until), start, method="DOP853", rtol=RELATIVE_TOLERANCE, atol=RELATIVE_TOLERANCE)
    angles = solved.y[:count, -1]
    lengths = np.array([link.length for link in mechanism.links])
    steps = lengths[:, None] * np.stack([np.cos(angles), np.sin(angles)], axis=-1)
    ends: Array = np.asarray(mechanism.links[0].start) + np.cumsum(steps, axis=0)
    return ends


def _accelerations(mechanism: Mechanism) -> Callable[[Array, Array], Array]:
    """A function of angles and rates that gives angular accelerations."""
    from scipy.linalg import solveh_banded

    links, count = mechanism.links, len(mechanism.links)
    mass, inertia, c, length = (
        np.array([getattr(link, key) for link in links]) for key in ("mass", "inertia", "centre", "length")
    )
    d = length - c
    down = np.array([0.0, -mechanism.gravity])

    def accelerations(angle: Array, rate: Array) -> Array:
        e = np.stack([np.cos(angle), np.sin(angle)], axis=-1)
        n = np.stack([-e[:, 1], e[:, 0]], axis=-1)
        nn = n[:, :, None] * n[:, None, :] / inertia[:, None, None]
        one = np.eye(2) / mass[:, None, None]
        here = one + (c * c)[:, None, None] * nn  # start of a rod, force at its start
        across = -one + (c * d)[:, None, None] * nn  # start of a rod, force at its end
        there = one + (d * d)[:, None, None] * nn  # end of a rod, force at its end
        blocks = here.copy()
        blocks[1:] += there[:-1]
        spin = (rate * rate)[:, None] * e
        right = -c[:, None] * spin
        right[1:] -= d[:-1, None] * spin[:-1]
        right[0] -= down
        band = np.zeros((4, 2 * count))  # upper band: row 3 - (column - row)
        band[3, 0::2], band[3, 1::2], band[2, 1::2] = blocks[:, 0, 0], blocks[:, 1, 1], blocks[:, 0, 1]
        next_ = across[:-1]  # rows of joint i, columns of joint i + 1
        band[1, 2::2], band[0, 3::2] = next_[:, 0, 0], next_[:, 0, 1]
        band[2, 2::2], band[1, 3::2] = next_[:, 1, 0], next_[:, 1, 1]
        force = solveh_banded(band, right.ravel()).reshape(count, 2)
        after = np.vstack([force[1:], np.zeros((1, 2))])
        turned: Array = -(c * (n * force).sum(1) + d * (n * after).sum(1)) / inertia
        return turned

    return accelerations
