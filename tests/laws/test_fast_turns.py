"""Bodies that turn by more than a step bears, as the end of a whip does: those ticks go in parts, and nothing is lost."""

import warnings

import numpy as np
import pytest

import scenarios
from components import Revolute, RigidBody
from coordinator import Glued, Relaxed, Simulation
from modular import Assembly

DT = 1e-3


def spun(rate, dimension, bodies=1):
    """Bars of a metre and a kilogram in a row on a hinge, which turn at so many radians a second about it."""
    model = Assembly(gravity=(0.0,) * dimension)
    for k in range(bodies):
        ports = {"a": (float(k), 0.0, 0.0)[:dimension], "b": (k + 1.0, 0.0, 0.0)[:dimension]}
        turn, inertia = (rate, 0.1) if dimension == 2 else ((0.0, 0.0, rate), (0.03, 0.1, 0.11))
        bar = RigidBody(
            mass=1.0, inertia=inertia, centre=(k + 0.5, 0.0, 0.0)[:dimension], ports=ports,
            velocity=(0.0, (k + 0.5) * rate, 0.0)[:dimension], angular_velocity=turn,
        )  # fmt: skip
        model.add(f"bar{k}", bar)
        hinge = Revolute() if dimension == 2 else Revolute(axis=(0, 0, 1))
        model.join(f"hinge{k}", hinge, f"bar{k - 1}.b" if k else "ground", f"bar{k}.a")
    return model


def ran(model, coupling, until, **settings):
    with Simulation(model, DT, coupling, **settings) as simulation, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return simulation.run(until)


@pytest.mark.parametrize("dimension", [2, 3])
def test_a_bar_that_turns_by_more_than_sixty_degrees_in_a_step_keeps_its_energy_and_its_hinge(dimension):
    """A drift keeps the shape of a body up to 2 sin(angle / 2) = 1: from 1.05 rad on its iteration grows, and the run stopped."""
    for rate in (900.0, 1060.0, 1550.0):
        run = ran(spun(rate, dimension), Glued(), 0.02)
        assert np.abs(run.energy / run.energy[0] - 1.0).max() < 1e-11
        assert np.abs(run.violation("hinge0")).max() < 1e-12
        reach = np.linalg.norm(run.position("bar0.b"), axis=1)
        assert np.abs(reach - 1.0).max() < 1e-12


def test_so_it_does_among_neighbours_alone():
    run = ran(spun(1200.0, 2), Relaxed(), 0.02)
    assert np.abs(run.energy / run.energy[0] - 1.0).max() < 1e-7


def test_such_ticks_have_the_same_bits_on_every_path():
    model = spun(1200.0, 2, bodies=3)
    alone = ran(model, Glued(), 0.02).digest
    assert ran(model, Glued(), 0.02, grouped=False).digest == alone
    assert ran(model, Glued(), 0.02, workers=2, launcher="here").digest == alone


def test_what_is_told_of_them_is_the_least():
    """Samples do not see a turn of a radian within a tick: what they tell of the error is no bound."""
    run = ran(spun(1200.0, 2), Glued(), 0.02)
    assert run.timings["parts"] >= 2 * run.timings["ticks"] and run.estimate["least"]
    slow = ran(spun(500.0, 2), Glued(), 0.02)
    assert "parts" not in slow.timings and not slow.estimate["least"]


@pytest.mark.campaign
def test_a_long_chain_that_cracks_as_a_whip_does_goes_on():
    """Its last rod turns by 1.2 rad in a step of a millisecond; it stopped at 4.378 s, "open by 1.7e-12 m"."""
    run = ran(scenarios.load("chain", bodies=100), Glued(), 5.0, record_every=50)
    assert run.timings["ticks"] == 5000 and 0 < run.timings["parts"] < 100
    assert max(np.abs(run.violation(joint)).max() for joint in run.joints) < 1e-11
