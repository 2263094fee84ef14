"""Centralized(Generated()): code from formulas as one more reference; it agrees with solvers that share nothing with it."""

import numpy as np
import pytest
from typer.testing import CliRunner

import scenarios
from campaign import as_far_as, shortened
from components import Revolute, RigidBody, Rod, SpringDamper
from coordinator import Centralized, Generated, MinimalCoordinates, Simulation
from modular import Assembly, CouplingError, Cut, Diverged, ModelError
from scenarios.cli import app

SYSTEMS = shortened(
    ["slider-crank"], ["slider-crank", "double-pendulum", "four-bar", "double-pendulum-3d", "spring-pendulum"]
)
EXACT = MinimalCoordinates(method="DOP853", rtol=1e-12, atol=1e-12)


def both(model, dt=1e-2, until=0.5):
    runs = []
    for solver in (Generated(), EXACT):
        with Simulation(model.copy(), dt, Centralized(solver)) as simulation:
            runs.append(simulation.run(until))
    return runs


def apart(one, other):
    return max(float(np.nanmax(np.abs(one.state(body)[0] - other.state(body)[0]))) for body in one.bodies)


@pytest.mark.parametrize("name", SYSTEMS)
def test_it_goes_where_independent_coordinates_go(name):
    one, other = both(scenarios.load(name), until=as_far_as(0.5, 0.2))
    assert apart(one, other) < 1e-9
    for joint in one.joints:
        assert np.allclose(one.reaction(joint), other.reaction(joint), rtol=1e-7, atol=1e-7)


@pytest.mark.campaign
def test_a_change_of_the_model_has_other_code():
    """As the system stands then: springs keep their lengths, joints their marks."""
    model = Assembly(gravity=(0.0, -9.81))
    model.add("upper", Rod((0.0, 0.0), (1.0, 0.0), 1.0))
    model.add("lower", Rod((1.0, 0.0), (1.8, 0.1), 0.7))
    model.join("pin", Revolute(), "ground", "upper.start")
    model.join("elbow", Revolute(), "upper.end", "lower.start")
    model.apply("spring", SpringDamper(60.0, 0.5), "ground", "lower.end", at=(0.3, 1.0))
    model.at(0.2, Cut("elbow"))
    one, other = both(model)
    assert apart(one, other) < 1e-9
    assert np.isnan(one.reaction("elbow")[-1]).all()


@pytest.mark.campaign
def test_a_step_that_is_too_long_is_told_as_such():
    """A beam swings at 4e5 rad/s: no row alone is to blame."""
    model, coupling = scenarios.load("flexible-slider-crank"), Centralized(Generated(method="RK4"))
    with (
        Simulation(model, 1e-3, coupling) as simulation,
        pytest.raises(Diverged, match=r"not finite|run away.*a shorter step"),
    ):
        simulation.run(0.05)


def test_what_has_no_formula_is_refused_in_words():
    model = Assembly(gravity=(0.0, -9.81))
    model.add("ball", RigidBody(mass=1.0, inertia=0.1, centre=(0.0, 1.0), ports={"c": (0.0, 1.0)}))
    model.join("pin", Revolute(), "ground", "ball.c", at=(0.0, 1.0))
    model.apply("spring", SpringDamper(60.0, 0.5, length=0.2), "ground", "ball.c", at=(0.0, 1.5))
    with Simulation(model.copy(), 1e-2, Centralized(Generated())):
        pass
    with pytest.raises(ModelError, match="RK9"):
        Generated(method="RK9")
    hanging = scenarios.load("worn-crank")
    with (
        pytest.raises((CouplingError, ModelError), match="'elbow' has no"),
        Simulation(hanging, 1e-3, Centralized(Generated())),
    ):
        pass


@pytest.mark.campaign
def test_it_is_a_method_and_a_reference_of_compare(tmp_path):
    words = [
        "compare",
        "double-pendulum",
        "--methods",
        "generated",
        "--reference",
        "generated",
        "--dt",
        "2e-2",
        "--until",
        "0.1",
    ]
    done = CliRunner().invoke(app, [*words, "--out", str(tmp_path / "found")])
    assert done.exit_code == 0, done.output
    assert "generated" in done.output
