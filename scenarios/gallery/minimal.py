"""The double pendulum in its two angles, integrated as the thesis did: Runge-Kutta 4 with a fixed step.

Séguy 2003, VI.2.1 and (VI.1). The print leaves the velocity terms out of the first row and has θ̇1² + θ̇1 θ̇2 in the second,
where Lagrange's equations have θ̇1²; here they are as Lagrange gives them, for m = 1 kg and ℓ = 1 m:

    (3 + 2 cos θ2) θ̈1 + (1 + cos θ2) θ̈2 = sin θ2 (2 θ̇1 θ̇2 + θ̇2²) − g (2 sin θ1 + sin(θ1 + θ2))
        (1 + cos θ2) θ̈1 +            θ̈2 = −sin θ2 θ̇1² − g sin(θ1 + θ2)
"""

from __future__ import annotations

from math import cos, pi, sin

import numpy as np

from modular.elements import Array

G = 9.81  # [m/s^2]
START = (pi / 2, -pi / 2, 0.0, 0.0)  # θ1, θ2 [rad], at rest: VI.2.2
State = tuple[float, float, float, float]  # θ1, θ2 [rad], θ̇1, θ̇2 [rad/s]


def rates(state: State) -> State:
    """Velocities and accelerations of the angles, (VI.1)."""
    first, second, w1, w2 = state
    c, s = cos(second), sin(second)
    a, b = 3.0 + 2.0 * c, 1.0 + c
    f1 = s * (2.0 * w1 * w2 + w2 * w2) - G * (2.0 * sin(first) + sin(first + second))
    f2 = -s * w1 * w1 - G * sin(first + second)
    determinant = a - b * b
    return w1, w2, (f1 - b * f2) / determinant, (a * f2 - b * f1) / determinant


def rk4(start: State, dt: float, steps: int) -> Array:
    """States at the multiples of `dt` seconds, (steps + 1, 4)."""
    states = [start]
    y = start
    for _ in range(steps):
        k1 = rates(y)
        k2 = rates(_ahead(y, k1, 0.5 * dt))
        k3 = rates(_ahead(y, k2, 0.5 * dt))
        k4 = rates(_ahead(y, k3, dt))
        mean = tuple((p + 2.0 * (q + r) + s) / 6.0 for p, q, r, s in zip(k1, k2, k3, k4, strict=True))
        y = _ahead(y, mean, dt)
        states.append(y)
    return np.array(states)


def tip(states: Array) -> Array:
    """Where the end of the second rod is [m], (n, 2)."""
    first, both = states[:, 0], states[:, 0] + states[:, 1]
    return np.stack([np.sin(first) + np.sin(both), -np.cos(first) - np.cos(both)], axis=1)


def energy(states: Array) -> Array:
    """Kinetic and potential energy [J], (n,)."""
    first, both = states[:, 0], states[:, 0] + states[:, 1]
    w1, w2 = states[:, 2], states[:, 2] + states[:, 3]
    kinetic = w1**2 + 0.5 * w2**2 + w1 * w2 * np.cos(both - first)
    potential = -G * (2.0 * np.cos(first) + np.cos(both))
    return np.asarray(kinetic + potential)


def _ahead(y: State, rate: tuple[float, ...], dt: float) -> State:
    a, b, c, d = y
    return a + dt * rate[0], b + dt * rate[1], c + dt * rate[2], d + dt * rate[3]
