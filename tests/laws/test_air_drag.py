"""Drag against closed forms, and against the bound that it asks the step to keep."""

import itertools

import numpy as np
import pytest

import references
from both_ways import scattered
from campaign import later, named, shortened
from components import AirDrag, Revolute, RigidBody, Rod
from coordinator import HHT, Centralized, Glued, Mixed, Penalty, Relaxed, Simulation
from coordinator.checks.exact import exact_margin
from modular import Assembly, ModelError

COUPLINGS = {
    "penalty": Penalty(),
    "glued": Glued(),
    "relaxed": Relaxed(),
    "mixed": Mixed(),
    "centralized": Centralized(HHT(alpha=0.0)),
}
MASS, C, B, G = 1.7, 0.6, 0.9, 9.81
coupled = pytest.mark.parametrize("coupling", shortened([*COUPLINGS.values()][:2], COUPLINGS.values()), ids=named)


def ball(drag, dimension=3, gravity=(0.0, 0.0, -G), **motion):
    model = Assembly(gravity=gravity[-dimension:])
    at, inertia = (0.4, -0.3, 0.2)[:dimension], 0.0 if dimension == 2 else (0.0, 0.0, 0.0)
    model.add("ball", RigidBody(mass=MASS, inertia=inertia, centre=at, ports={"here": at}, **motion))
    model.apply("air", drag, "ball.here")
    return model


@pytest.mark.campaign
@pytest.mark.parametrize(
    ("coupling", "dimension"),
    shortened([(Penalty(), 2)], itertools.product(COUPLINGS.values(), [2, 3])),
    ids=named,
)
def test_a_ball_that_falls_comes_to_its_last_velocity(coupling, dimension):
    """v = v_l tanh(g t / v_l), v_l^2 = m g / c: to second order, at every velocity on the way."""
    last = np.sqrt(MASS * G / C)
    errors = []
    for dt in (8e-3, 4e-3):
        with Simulation(ball(AirDrag(C), dimension), dt, coupling) as simulation:
            run = simulation.run(1.2)
        fallen = last**2 / G * np.log(np.cosh(G * run.time / last))
        errors.append(np.abs(run.position("ball.here")[0, -1] - run.position("ball.here")[:, -1] - fallen).max())
    assert references.orders(errors).min() >= 1.9
    assert errors[-1] < 1e-4  # C dt^2
    np.testing.assert_allclose(-run.velocity("ball.here")[-1, -1], last * np.tanh(G * 1.2 / last), rtol=1e-5)


@coupled
def test_slow_drag_takes_velocity_as_an_exponential(coupling):
    errors = []
    for dt in (4e-3, 2e-3):
        with Simulation(ball(AirDrag(0.0, B), 3, (0, 0, 0), velocity=(2.0, -1.0, 0.5)), dt, coupling) as simulation:
            run = simulation.run(0.6)
        law = np.outer(np.exp(-B / MASS * run.time), (2.0, -1.0, 0.5))
        errors.append(np.abs(run.velocity("ball.here") - law).max())
    assert references.orders(errors).min() >= 1.9
    assert errors[-1] < 1e-5


def test_a_wind_takes_a_ball_along_and_pays_for_it():
    """Its work is the kinetic energy; with slow drag the ball comes to the velocity of the wind."""
    wind = np.array((3.0, -1.0, 0.5))
    with Simulation(ball(AirDrag(0.2, 4.0, wind=tuple(wind)), 3, (0, 0, 0)), 1e-3) as simulation:
        run = simulation.run(8.0)
    np.testing.assert_allclose(run.velocity("ball.here")[-1], wind, atol=1e-6)
    np.testing.assert_allclose(run.work("air")[-1], 0.5 * MASS * wind @ wind, rtol=1e-6)


def test_its_margin_is_that_of_the_exact_bound_and_falls_as_it_gets_faster():
    model = Assembly(gravity=(0.0, 0.0, 0.0))
    model.add("rod", Rod((0, 0, 0), (1, 0, 0), MASS, velocity=(0.0, 5.0, 0.0)))
    model.apply("air", AirDrag(C, B), "rod.end")
    with Simulation(model, 1e-2) as simulation:
        exact = exact_margin(simulation.system, 1e-2)
        assert 0.9 * exact <= simulation.margins["air"] <= exact * (1 + 1e-9)
    model = ball(AirDrag(C), 3, (0, 0, 0), velocity=(0.0, 400.0, 0.0))
    fast = 1e-2
    with Simulation(model, fast) as simulation:
        assert simulation.margins["air"] < 1.0
        assert simulation.tightest[0] == "air"
    limit = 4.0 / (4.0 * 2.0 * C * 400.0 / MASS)  # 4 dt (2 c |u|) / m < 4
    for dt, holds in ((0.9 * limit, True), (1.2 * limit, False)):
        with Simulation(model, dt) as simulation:
            assert (simulation.margins["air"] > 1.0) is holds


def swing():
    model = Assembly(gravity=(0.0, 0.0, -G))
    model.add("upper", Rod((0, 0, 0), (1, 0, 0), 1.0, radius=0.05))
    model.add("lower", Rod((1, 0, 0), (1, 0, -1), 1.0, radius=0.05))
    model.join("pivot", Revolute((0, 1, 0)), "ground", "upper.start")
    model.join("elbow", Revolute((0, 1, 0)), "upper.end", "lower.start")
    model.apply("air", AirDrag(0.4, 0.1, wind=(1.0, 0.5, 0.0)), "lower.end")
    return model


@pytest.mark.parametrize("coupling", [Penalty(), *later([Glued(), Relaxed()])], ids=named)
def test_single_steps_stacks_of_their_own_and_workers_have_the_same_bits(coupling):
    def played(step=False, **settings):
        with Simulation(swing(), 1e-3, coupling, **settings) as simulation:
            while step and simulation.tick < 100:
                simulation.step()
            simulation.run(0.1)
            simulation.cut("elbow")
            return simulation.run(0.2).digest

    digests = {played(), played(step=True), played(grouped=False)}
    digests |= {played(workers=2, launcher="here"), played(workers=scattered(swing(), 2), launcher="here")}
    assert len(digests) == 1


@pytest.mark.parametrize(
    ("drag", "said"),
    [
        (AirDrag(-1.0), "drag 'air': quadratic = -1.0; give a finite number from 0 on"),
        (AirDrag(1.0, float("nan")), "linear = nan"),
        (AirDrag(True), "quadratic = True"),
        (AirDrag(1.0, wind=(1.0, 2.0)), "wind = (1.0, 2.0); give 3 finite numbers"),
        (AirDrag(1.0, wind="west"), "wind = 'west'"),
    ],
)
def test_drags_that_cannot_be_are_refused_by_name(drag, said):
    with pytest.raises(ModelError) as refused:
        Simulation(ball(drag), 1e-3)
    assert said in str(refused.value)
