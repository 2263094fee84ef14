"""Formulas are solved once for a model that runs again, and anew for any that differs, be it by a number."""

import numpy as np
import pytest

from components import Revolute, Rod, SpringDamper
from coordinator import Formulas, Simulation
from coordinator.equations import common_code
from modular import Assembly


def pendulum(mass=1.3, pull=-9.81, damping=0.2, end=(0.8, 0.3), spin=0.4):
    model = Assembly(gravity=(0.1, pull))
    model.add(
        "rod", Rod((0.0, 0.0), end, mass, angular_velocity=spin, velocity=(-0.5 * spin * end[1], 0.5 * spin * end[0]))
    )
    model.join("pin", Revolute(), "ground", "rod.start")
    model.apply("spring", SpringDamper(20.0, damping, length=0.9), "ground", "rod.end", at=(0.2, 1.1))
    return model


def ran(model, dt=0.01):
    with Simulation(model, dt, Formulas()) as simulation:
        return simulation.run(0.02).digest


@pytest.fixture
def solved(monkeypatch):
    """Models whose formulas were solved."""
    found, usual = [], common_code.Solved
    monkeypatch.setattr(common_code, "Solved", lambda written, *more: found.append(written) or usual(written, *more))
    common_code.Code._kept.cache_clear()
    return found


def test_a_model_that_runs_again_has_the_formulas_that_it_had_and_the_same_bits(solved):
    first = ran(pendulum())
    ran(pendulum(), 0.005)
    assert ran(pendulum()) == first and len(solved) == 1


@pytest.mark.parametrize(
    "other", [{"mass": np.nextafter(1.3, 2.0)}, {"pull": -9.8}, {"damping": 0.0}, {"end": (0.8, 0.31)}, {"spin": 0.5}]
)
def test_a_model_that_differs_by_a_number_has_its_own(solved, other):
    ran(pendulum())
    ran(pendulum(**other))
    assert len(solved) == 2
