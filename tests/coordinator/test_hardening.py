"""What grows stiffer as it moves is told when it comes to its limit, with a step that holds; whoever looks changes no bit."""

import re
import warnings

import numpy as np
import pytest

import scenarios
from campaign import named
from components import AirDrag, RigidBody
from coordinator import Glued, Penalty, Relaxed, Simulation, StabilityWarning
from coordinator.checks import run_warnings
from modular import Assembly

QUADRATIC, MASS = 10.0, 1e-3
LAST_VELOCITY = -np.sqrt(MASS * 9.81 / QUADRATIC)  # [m/s]


def falling():
    model = Assembly(gravity=(0.0, -9.81))
    model.add("ball", RigidBody(mass=MASS, inertia=1e-6, centre=(0.0, 0.0), ports={"G": (0.0, 0.0)}))
    model.apply("air", AirDrag(quadratic=QUADRATIC), "ball.G")
    return model


def test_a_velocity_that_goes_to_and_fro_is_told_with_a_step_that_holds():
    with Simulation(falling(), 2e-3) as simulation, pytest.warns(StabilityWarning, match="'air' .*margin 0") as told:
        run = simulation.run(1.0)
    assert abs(run.velocity("ball.G")[-1, 1] - LAST_VELOCITY) > 0.1 * abs(LAST_VELOCITY)
    assert len(told) == 1
    assert simulation.tightest[0] == "air"
    step = float(re.search(r"take dt = ([\d.e-]+) s", str(told[0].message))[1])
    with Simulation(falling(), step) as simulation, warnings.catch_warnings():
        warnings.simplefilter("error", StabilityWarning)
        run = simulation.run(1.0)
    assert run.velocity("ball.G")[-1, 1] == pytest.approx(LAST_VELOCITY, rel=1e-6)


@pytest.mark.parametrize("coupling", [Penalty(), Glued(), Relaxed()], ids=named)
def test_looking_changes_no_bit(coupling, monkeypatch):
    def digest():
        model = scenarios.load("double-pendulum-3d")
        model.apply("air", AirDrag(quadratic=0.4), "second.end")
        with Simulation(model, 1e-3, coupling) as simulation:
            return simulation.run(0.3).digest

    looked = []
    seen = run_warnings.hardened
    monkeypatch.setattr(run_warnings, "hardened", lambda simulation: looked.append(simulation.tick) or seen(simulation))
    with_looks = digest()
    assert len(looked) > 5
    monkeypatch.setattr(run_warnings, "hardened", lambda simulation: {})
    assert digest() == with_looks
