"""Reference motions in minimal coordinates, computed independently of the package to about 1e-11."""

from functools import cache
from itertools import pairwise

import numpy as np
from scipy.integrate import solve_ivp

G = 9.81


def solve(rates, start, times):
    """States at `times` without interpolation: the integrator stops at each of them."""
    states = [np.asarray(start, float)]
    for begin, end in pairwise(times):
        part = solve_ivp(rates, (begin, end), states[-1], method="DOP853", rtol=3e-14, atol=1e-14)
        assert part.success
        states.append(part.y[:, -1])
    return np.array(states)


def planar_rates(t, y):
    """Séguy 2003, (VI.1), with the velocity terms of Lagrange's equations.

    The print leaves them out of its first row and has d1^2 + d1 d2 in its second, where d1^2 belongs.
    """
    first, second, d_first, d_second = y
    c, s = np.cos(second), np.sin(second)
    mass = np.array([[3 + 2 * c, 1 + c], [1 + c, 1.0]])
    force = np.array(
        [
            2 * G * np.sin(first) + G * np.sin(first + second) - s * (2 * d_first * d_second + d_second**2),
            s * d_first**2 + G * np.sin(first + second),
        ]
    )
    return [d_first, d_second, *np.linalg.solve(mass, -force)]


@cache
def planar_double_pendulum(start, interval, count):
    """Elbow and tip of the double pendulum of VI.2 at multiples of `interval`, (count + 1, 2, 2)."""
    states = solve(planar_rates, (*start, 0.0, 0.0), interval * np.arange(count + 1))
    return planar_points(states)


def planar_points(states):
    first, both = states[:, 0], states[:, 0] + states[:, 1]
    elbow = np.stack([np.sin(first), -np.cos(first)], axis=-1)
    return np.stack([elbow, elbow + np.stack([np.sin(both), -np.cos(both)], axis=-1)], axis=1)


def planar_energy(states):
    first, second, d_first, d_second = states.T
    both, d_both = first + second, d_first + d_second
    kinetic = 0.5 * d_first**2 + 0.5 * (d_first**2 + d_both**2 + 2 * d_first * d_both * np.cos(second))
    return kinetic - G * np.cos(first) - G * (np.cos(first) + np.cos(both))


LENGTH = np.sqrt(2.0)


def spatial_rates(t, y):
    """VI.4: a hinged slender rod (angle a about z) with a second one (polar angles about y) on a ball joint.

    Kane's form: J^T M (J y'' + bias) = J^T F for tip and direction of the second rod, both 1 kg.
    """
    a, p, r, da, dp, dr = y
    e, tangent = np.array([np.cos(a), np.sin(a), 0.0]), np.array([-np.sin(a), np.cos(a), 0.0])
    n_p = np.array([np.cos(p) * np.cos(r), -np.sin(p), np.cos(p) * np.sin(r)])
    n_r = np.array([-np.sin(p) * np.sin(r), 0.0, np.sin(p) * np.cos(r)])
    n_pr = np.array([-np.cos(p) * np.sin(r), 0.0, np.cos(p) * np.cos(r)])
    n_rr = np.array([-np.sin(p) * np.cos(r), 0.0, -np.sin(p) * np.sin(r)])
    n = np.array([np.sin(p) * np.cos(r), np.cos(p), np.sin(p) * np.sin(r)])
    tip, tip_bias = LENGTH * tangent, -LENGTH * e * da**2
    turn = np.stack([n_p, n_r], axis=1)
    turn_bias = -n * dp**2 + 2 * n_pr * dp * dr + n_rr * dr**2
    mass = np.zeros((3, 3))
    mass[0, 0] = LENGTH**2 / 3 + tip @ tip
    mass[0, 1:] = mass[1:, 0] = 0.5 * tip @ turn
    mass[1:, 1:] = turn.T @ turn / 3
    bias = np.array([tip @ tip_bias + 0.5 * tip @ turn_bias, *(0.5 * turn.T @ tip_bias + turn.T @ turn_bias / 3)])
    gravity = np.array([0.0, -G, 0.0])
    force = np.array([1.5 * tip @ gravity, *(0.5 * turn.T @ gravity)])
    return [da, dp, dr, *np.linalg.solve(mass, force - bias)]


@cache
def spatial_double_pendulum(interval, count):
    """Ends of both rods of VI.4 at multiples of `interval`, (count + 1, 2, 3)."""
    start = (np.pi / 4, np.pi / 2, -np.pi / 2, 0.0, 0.0, 0.0)
    a, p, r = solve(spatial_rates, start, interval * np.arange(count + 1)).T[:3]
    tip = LENGTH * np.stack([np.cos(a), np.sin(a), 0 * a], axis=-1)
    direction = np.stack([np.sin(p) * np.cos(r), np.cos(p), np.sin(p) * np.sin(r)], axis=-1)
    return np.stack([tip, tip + direction], axis=1)


def orders(errors):
    """Orders of convergence between steps that halve."""
    errors = np.asarray(errors)
    return np.log2(errors[:-1] / errors[1:])


def push(t, x, v):
    """A law of force that can be found by its name."""
    return [np.cos(3.0 * t), -0.5 * v[0]]
