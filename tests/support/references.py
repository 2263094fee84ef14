"""Reference motions in minimal coordinates, computed independently of the package to about 1e-12.

How far each is from the same motion in 40 digits (`many_digits.py`, from a Lagrangian differentiated by sympy) stands in its
docstring, over its whole time and at the intervals that the tests use; `tests/laws/test_references.py` checks it.
"""

from functools import cache
from itertools import pairwise

import numpy as np

from lazily import Lazily

integrate, optimize, special = Lazily("scipy.integrate"), Lazily("scipy.optimize"), Lazily("scipy.special")

G = 9.81


def solve(rates, start, times):
    """States at `times` without interpolation: the integrator stops at each of them."""
    states = [np.asarray(start, float)]
    for begin, end in pairwise(times):
        part = integrate.solve_ivp(rates, (begin, end), states[-1], method="DOP853", rtol=3e-14, atol=1e-14)
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
    """Elbow and tip of the double pendulum of VI.2 at multiples of `interval`, (count + 1, 2, 2).

    Over 5 s from (pi/2, -pi/2) the angles are right to 1e-13 rad with stops every 2 ms or less, to 6e-13 with stops every
    0.1 s: the longer the stretches, the more the integrator leaves to its tolerance. From (pi/10, 0): 2e-15 and 6e-15.
    """
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
    """Ends of both rods of VI.4 at multiples of `interval`, (count + 1, 2, 3).

    With stops every 2 ms the angles are right to 5e-14 rad over the first 2 s and to 5e-13 over 5 s; the motion is
    sensitive, and stops every 0.4 ms, with as much more rounding, leave 1.5e-12.
    """
    start = (np.pi / 4, np.pi / 2, -np.pi / 2, 0.0, 0.0, 0.0)
    a, p, r = solve(spatial_rates, start, interval * np.arange(count + 1)).T[:3]
    tip = LENGTH * np.stack([np.cos(a), np.sin(a), 0 * a], axis=-1)
    direction = np.stack([np.sin(p) * np.cos(r), np.cos(p), np.sin(p) * np.sin(r)], axis=-1)
    return np.stack([tip, tip + direction], axis=1)


# --- two rods with masses, lengths and moments of inertia of their own ---------------------------------------------------


def two_rods_motion(state, lengths):
    """Mass centres of both rods, their Jacobians by the two angles, (rods, 2, angles), and what is left of accelerations."""
    angles, spins = np.asarray(state[:2]), np.asarray(state[2:])
    e = np.stack([np.sin(angles), -np.cos(angles)], axis=-1)
    n = np.stack([np.cos(angles), np.sin(angles)], axis=-1)
    along = np.array([[0.5, 0.0], [1.0, 0.5]]) * lengths  # of each rod, on the way to each mass centre
    return along @ e, along[:, None, :] * n.T, -along @ (spins[:, None] ** 2 * e)


def two_rods_rates(masses, lengths, inertias, gravity):
    """Kane's form, as for VI.4; each angle from the downward vertical."""
    masses, weight = np.asarray(masses), np.array([0.0, -gravity])

    def rates(t, y):
        _, jacobian, bias = two_rods_motion(y, lengths)
        mass = np.einsum("k,kxi,kxj->ij", masses, jacobian, jacobian) + np.diag(inertias)
        force = np.einsum("k,kxi,kx->i", masses, jacobian, weight - bias)
        return [*y[2:], *np.linalg.solve(mass, force)]

    return rates


def two_rods_ends(states, lengths):
    """Ends of both rods, (n, 2, 2)."""
    arms = np.asarray(lengths)[:, None] * np.stack([np.sin(states[:, :2]), -np.cos(states[:, :2])], axis=-1)
    return np.cumsum(arms, axis=1)


def two_rods_reactions(states, masses, lengths, inertias, gravity):
    """Newton's law of all that hangs below: forces on the first rod at the pivot, on the second at the elbow, (n, 2, 2)."""
    rates, found = two_rods_rates(masses, lengths, inertias, gravity), []
    for state in states:
        _, jacobian, bias = two_rods_motion(state, lengths)
        accelerations = jacobian @ rates(0.0, state)[2:] + bias
        loads = np.asarray(masses)[:, None] * (accelerations - [0.0, -gravity])
        found.append([loads.sum(axis=0), loads[1]])
    return np.array(found)


# --- slider-crank --------------------------------------------------------------------------------------------------------


def slider_crank_rates(t, y):
    """VI.3 on its regular branch, one angle: the rod mirrors the crank, also where both are folded on each other.

    Lengths 1 m, 1 kg at the elbow and 1 kg at the tip, x = 2 cos a: T = (1/2 + 2 sin^2 a) a'^2, V = g sin a.
    """
    a, da = y
    s, c = np.sin(a), np.cos(a)
    return [da, -c * (G + 4 * s * da**2) / (1 + 4 * s**2)]


@cache
def slider_crank(interval, count, angle=np.pi / 4):
    """Elbow and tip from rest at multiples of `interval`, (count + 1, 2, 2); angles right to 3e-14 rad over 5 s."""
    a = solve(slider_crank_rates, (angle, 0.0), interval * np.arange(count + 1))[:, 0]
    elbow = np.stack([np.cos(a), np.sin(a)], axis=-1)
    return np.stack([elbow, np.stack([2 * np.cos(a), 0 * a], axis=-1)], axis=1)


def slider_crank_energy(states):
    a, da = states.T
    return (0.5 + 2 * np.sin(a) ** 2) * da**2 + G * np.sin(a)


# --- four-bar ------------------------------------------------------------------------------------------------------------

PINS = np.array([[0.0, 0.0], [0.96, 0.28]])  # of crank and rocker on the ground, 1 m apart
BARS = np.array([0.3, 0.9, 0.7])  # crank, coupler, rocker [m]: the shortest and the longest are less than the others
BAR_MASSES = np.array([0.6, 1.3, 0.9])  # [kg], uniform
CRANK_START = (0.7, 6.0)  # [rad], [rad/s]: enough to go round


def four_bar_angles(crank):
    """Angles of the three bars from the x axis, rocker seen from its pin on the ground: the loop closed, (..., 3).

    The end of the coupler is where two circles meet; of their two meetings the one to the left of the diagonal.
    """
    _, coupler, rocker = BARS
    diagonal = PINS[1] - PINS[0] - BARS[0] * heading(crank)
    far = np.linalg.norm(diagonal, axis=-1)
    opening = np.arccos((coupler**2 + far**2 - rocker**2) / (2 * coupler * far))
    middle = np.arctan2(diagonal[..., 1], diagonal[..., 0]) + opening
    last = coupler * heading(middle) - diagonal
    return np.stack([crank + 0 * middle, middle, np.arctan2(last[..., 1], last[..., 0])], axis=-1)


def four_bar_slopes(angles):
    """First and second derivatives of the three angles by that of the crank, (..., 3) each.

    From a e(1) + b e(2) - c e(3) = pin: once and twice differentiated, and held against the normals of the other two bars.
    """
    a, b, c = BARS
    first, middle, last = np.moveaxis(angles, -1, 0)
    lean, apart = np.sin(middle - last), np.cos(middle - last)
    m = a * np.sin(last - first) / (b * lean)
    r = a * np.sin(middle - first) / (c * lean)
    mm = (c * r**2 - a * np.cos(last - first) - b * m**2 * apart) / (b * lean)
    rr = (c * r**2 * apart - a * np.cos(middle - first) - b * m**2) / (c * lean)
    one = np.ones_like(m)
    return np.stack([one, m, r], axis=-1), np.stack([0 * one, mm, rr], axis=-1)


def heading(angle):
    return np.stack([np.cos(angle), np.sin(angle)], axis=-1)


def four_bar_centres(angles, slopes, curves):
    """Mass centres of the bars and their first and second derivatives by the crank angle, (..., 3 bars, 2) each."""
    e = heading(angles)
    n = np.stack([-e[..., 1], e[..., 0]], axis=-1)
    arm, swing = BARS[:, None] * e, (BARS * slopes)[..., None] * n
    bend = (BARS * curves)[..., None] * n - (BARS * slopes**2)[..., None] * e
    middles = np.array([[0.5, 0, 0], [1, 0.5, 0], [0, 0, 0.5]])  # of each bar, along the bars
    return PINS[[0, 0, 1]] + middles @ arm, middles @ swing, middles @ bend


def four_bar_inertia(crank):
    """Reduced mass M of T = M theta'^2 / 2, its derivative, potential energy and its derivative, by the crank angle."""
    angles = four_bar_angles(crank)
    slopes, curves = four_bar_slopes(angles)
    centre, swing, bend = four_bar_centres(angles, slopes, curves)
    moments = BAR_MASSES * BARS**2 / 12
    mass = np.sum(BAR_MASSES * np.sum(swing**2, -1) + moments * slopes**2, -1)
    d_mass = 2 * np.sum(BAR_MASSES * np.sum(swing * bend, -1) + moments * slopes * curves, -1)
    return mass, d_mass, G * centre[..., 1] @ BAR_MASSES, G * swing[..., 1] @ BAR_MASSES


def four_bar_rates(t, y):
    """M theta'' + M' theta'^2 / 2 + V' = 0 for the crank angle of a crank-rocker of three uniform bars."""
    crank, rate = y
    mass, d_mass, _, d_potential = four_bar_inertia(crank)
    return [rate, -(0.5 * d_mass * rate**2 + d_potential) / mass]


@cache
def four_bar(interval, count):
    """Ends of crank and coupler at multiples of `interval`, (count + 1, 2, 2); angles right to 1e-13 rad over 2 s.

    With stops every 2 ms or less; 3e-12 with stops every 50 ms, because the crank runs at up to 17 rad/s.
    """
    return four_bar_points(solve(four_bar_rates, CRANK_START, interval * np.arange(count + 1)))


def four_bar_points(states):
    angles = four_bar_angles(states[:, 0])
    return np.stack([PINS[0] + BARS[0] * heading(angles[:, 0]), PINS[1] + BARS[2] * heading(angles[:, 2])], axis=1)


def four_bar_energy(states):
    mass, _, potential, _ = four_bar_inertia(states[:, 0])
    return 0.5 * mass * states[:, 1] ** 2 + potential


def orders(errors):
    """Orders of convergence between steps that halve."""
    errors = np.asarray(errors)
    return np.log2(errors[:-1] / errors[1:])


def push(t, x, v):
    """A law of force that can be found by its name."""
    return [np.cos(3.0 * t), -0.5 * v[0]]


def torque(t, s, rate):
    """A law of torque that can be found by its name."""
    return 2.0 * np.sin(2 * np.pi * 0.7 * t)


def elastica(alpha):
    """Tip of a cantilever of length 1 under a load P l^2 / E I = alpha across: K. E. Bisshopp, D. C. Drucker, Quart. Appl.
    Math. 3 (1945) 272-275."""

    def share(turn):
        k2 = 0.5 * (1.0 + np.sin(turn))
        first = np.arcsin(1.0 / np.sqrt(2.0 * k2))
        return k2, first

    def open_(turn):
        k2, first = share(turn)
        return special.ellipk(k2) - special.ellipkinc(first, k2) - np.sqrt(alpha)

    turn = optimize.brentq(open_, 1e-6, np.pi / 2 - 1e-9)
    k2, first = share(turn)
    sag = 1.0 - 2.0 / np.sqrt(alpha) * (special.ellipe(k2) - special.ellipeinc(first, k2))
    return np.array([np.sqrt(2.0 * np.sin(turn) / alpha), -sag])
