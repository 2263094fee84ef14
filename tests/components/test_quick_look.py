"""A straight body with plain numbers passes a quick look; it must pass nothing that the close one refuses."""

import itertools
import warnings
from fractions import Fraction

import numpy as np
import pytest

from components import PointMassRod, Rod
from components.bodies.natural.description import NaturalBody

NOTHING, EVERYTHING = float("nan"), float("inf")
NUMBERS = (
    0, 1, 1.0, -1.0, NOTHING, EVERYTHING, -EVERYTHING, True, None, "heavy", Fraction(1, 2), 10**400, 10**200, 1e-170, 1e170, 1j,
    1e-5, 9.9999e-5, 1e-4, 1.0005e-4, 1.01e-4,
)  # fmt: skip
POINTS = (
    (0, 0, 0), (1, 0, 0), (1.0, 0.5, 0), (0, 0), (1, 0), (1,), (0, 0, 0, 1), (NOTHING, 0, 0), (EVERYTHING, 0, 0), (True, False, 0),
    ("a", 0, 0), (Fraction(1, 2), 0, 0), (10**400, 0, 0), (1e-170, 0, 0), (1e170, 0, 0), "abc", None, 5, (1j, 0, 0), (1e308, 0, 0),
)  # fmt: skip


def verdict(check):
    """What a check says, or what kind of error the data made it raise."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # numbers that overflow do so in both
        try:
            return check("rod")
        except (TypeError, ValueError, AttributeError, OverflowError) as error:
            return type(error)


def rods():
    for start, end in itertools.product(POINTS, POINTS):
        yield Rod(start, end, 1.0, 0.01)
        yield PointMassRod(start, end, (1.0, 2.0))
    for mass, radius in itertools.product(NUMBERS, NUMBERS):
        yield Rod((0, 0, 0), (1, 0, 0), mass, radius)
        yield Rod((0, 0), (1, 0), mass, radius)
        yield PointMassRod((0, 0, 0), (1, 0, 0), (mass, radius))
    for velocity, spin in itertools.product(NUMBERS + POINTS, NUMBERS + POINTS):
        yield Rod((0, 0, 0), (1, 0, 0), 1.0, velocity=velocity, angular_velocity=spin)
        yield Rod((0, 0), (1, 0), 1.0, velocity=velocity, angular_velocity=spin)


def test_the_quick_look_passes_nothing_that_the_close_one_refuses():
    passed = 0
    for rod in rods():
        found = verdict(rod.check)
        assert found == verdict(lambda name, rod=rod: NaturalBody.check(rod, name)), rod
        passed += found == []
    assert passed > 100


@pytest.mark.parametrize("radius", [0.0, 0.02])
def test_plain_bodies_are_not_looked_at_twice(radius, monkeypatch):
    monkeypatch.setattr(NaturalBody, "check", lambda body, name: pytest.fail("a plain rod was looked at closely"))
    assert (
        Rod((0, 0, 0), np.array([0.0, 0.3, 0.4]), 1.5, radius, velocity=(1, 2, 3), angular_velocity=[0, 0, 1]).check(
            "r"
        )
        == []
    )
    assert Rod((0, 0), (0.3, 0.4), 1.5, radius, angular_velocity=2.0).check("r") == []
    assert PointMassRod((0, 0), (0.3, 0.4), (1.5, 1 + radius), velocity=(1, 2)).check("r") == []
