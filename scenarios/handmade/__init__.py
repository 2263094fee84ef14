"""The double pendulum solved by hand, twice, as a French course text does it: what a modular run can be held against.

"Pendule double", parts 2 and 3: `newton_euler.py` solves ten equations with the reactions in every step, `lagrange.py` two
equations without them; both take the step of `euler.py`. What the text leaves out or gets wrong is said where it happens:
a22 in `lagrange.py`, the hidden g and the names of the lengths in `newton_euler.py`, the name of the method in `euler.py`.

    from scenarios.handmade import model, solve

    by_hand = solve("newton-euler", dt=1e-3, until=5.0, masses=(1.0, 0.6))
    ours = Simulation(model(masses=(1.0, 0.6)), dt=1e-3).run(5.0)
    ours.position("lower.end") - by_hand.positions[:, 1]
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from modular import Assembly, ModelError
from modular.elements import Array
from modular.numbers import number
from scenarios.handmade import lagrange, newton_euler
from scenarios.handmade.euler import integrate
from scenarios.handmade.rods import Rods
from scenarios.systems import two_rods

__all__ = ["METHODS", "Motion", "Rods", "model", "solve"]

METHODS = ("newton-euler", "lagrange")


@dataclass(frozen=True)
class Motion:
    """What a solver by hand gives, at multiples of its step, (n, ...)."""

    time: Array  # [s], (n,)
    angles: Array  # of each rod from the downward vertical [rad], (n, 2)
    rates: Array  # [rad/s], (n, 2)
    positions: Array  # of the ends of both rods, x to the right, y upward [m], (n, 2, 2)
    energy: Array  # kinetic and of gravity [J], (n,)
    # on the first rod at the pivot, on the second at the elbow [N], (n, 2, 2); None by Lagrange
    reactions: Array | None


def solve(
    method: str,
    dt: float,
    until: float,
    masses: Sequence[float] = (1.0, 1.0),
    lengths: Sequence[float] = (1.0, 1.0),
    inertias: Sequence[float] = (1.0, 1.0),
    angles: Sequence[float] = (1.0, 0.0),
    rates: Sequence[float] = (0.0, 0.0),
    published: bool = False,
) -> Motion:
    """The motion up to the step nearest to `until` [s], first order in `dt` [s].

    method: "newton-euler" or "lagrange"; the rest as in `model`. `published` takes the equations as printed, with the slip
    in Lagrange's a22; those of Newton and Euler are printed without one, and the same either way. Reactions are those of
    the new angles and the old rates, as the text computes them.
    """
    if method not in METHODS:
        near = difflib.get_close_matches(str(method), METHODS, 1)
        hint = f"did you mean {near[0]!r}?" if near else f"give {' or '.join(map(repr, METHODS))}."
        raise ModelError(f"handmade: method = {method!r}; {hint}")
    dt, until = number(dt, "handmade: dt", "s"), number(until, "handmade: until", "s")
    if dt <= 0 or until < 0:
        raise ModelError(f"handmade: dt = {dt} s, until = {until} s; give a positive step and a time from 0 on.")
    rods = Rods(masses, lengths, inertias)

    def by_newton_euler(theta: Array, w: Array) -> tuple[Array, Array | None]:
        return newton_euler.accelerations(rods, theta, w)

    def by_lagrange(theta: Array, w: Array) -> tuple[Array, Array | None]:
        return lagrange.accelerations(rods, theta, w, published), None

    start = np.array(two_rods.pair("angles", angles, "rad")), np.array(two_rods.pair("rates", rates, "rad/s"))
    steps = round(until / dt)
    law = by_newton_euler if method == "newton-euler" else by_lagrange
    theta, w, kept = integrate(law, *start, dt, steps)
    return Motion(
        time=np.asarray(dt * np.arange(steps + 1), float),
        angles=theta,
        rates=w,
        positions=rods.ends(theta),
        energy=rods.energy(theta, w),
        reactions=np.array(kept) if method == "newton-euler" else None,
    )


def model(
    masses: Sequence[float] = (1.0, 1.0),
    lengths: Sequence[float] = (1.0, 1.0),
    inertias: Sequence[float] = (1.0, 1.0),
    angles: Sequence[float] = (1.0, 0.0),
    rates: Sequence[float] = (0.0, 0.0),
) -> Assembly:
    """The same system as bodies and joints, the scenario `two-rods`: bodies "upper" and "lower", joints "pivot" and "elbow"."""
    return two_rods.build(masses, lengths, inertias, angles, rates)
