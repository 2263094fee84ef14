"""Relaxed joints: local iterations between neighbours lead to what the whole at once would find."""

import numpy as np
import pytest

import mechanisms
import scenarios
from coordinator import Glued, Relaxed, Simulation, resume
from coordinator.couplings.interface.relaxing import METHODS
from mixture import mixture
from modular import Diverged, ModelError
from random_assemblies import random_assembly
from sleigh import sleigh


def end_of(model, coupling, until=0.1, dt=1e-3, **settings):
    with Simulation(model, dt, coupling, **settings) as simulation:
        run = simulation.run(until)
    return run, np.concatenate([run.state(name)[0][-1].ravel() for name in run.bodies])


@pytest.mark.short(2)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("order", [2, 4])
def test_it_leads_to_the_glued_motion_as_the_tolerance_goes_to_zero(method, order):
    model = scenarios.load("chain", bodies=4)
    _, whole = end_of(model, Glued(order))
    errors = []
    for tolerance in (1e-4, 1e-7, 1e-10):
        run, end = end_of(model, Relaxed(order, tolerance=tolerance, iterations=5000, method=method))
        errors.append(np.abs(end - whole).max())
        assert run.timings["left open"] == 0.0
        assert max(np.abs(run.violation(name)).max() for name in run.joints) < 2.0 * tolerance
    assert errors[2] < 1e-8
    assert errors[2] <= errors[0]


@pytest.mark.parametrize("seed", [0, 1, 3])
def test_random_mechanisms_redundant_or_not(seed):
    model = random_assembly(seed)
    _, whole = end_of(model, Glued(), 0.02)
    run, end = end_of(model, Relaxed(iterations=20000, tolerance=1e-11), 0.02)
    assert run.timings["left open"] == 0.0
    assert np.abs(end - whole).max() < 1e-8


def test_with_few_iterations_it_goes_on_with_what_it_has_and_says_so():
    model = scenarios.load("double-pendulum-3d")
    open_, energy = [], []
    for iterations in (2, 6, 20):
        run, _ = end_of(model, Relaxed(iterations=iterations, tolerance=1e-13), 0.25)
        open_.append(run.timings["left open"])
        assert max(np.abs(run.violation(name)).max() for name in run.joints) <= 1.5 * max(open_[-1], 1e-13) * 2.0
        energy.append(np.ptp(run.energy))
    assert open_[0] > open_[1] >= open_[2]
    assert open_[0] > 0.0


def test_gradients_need_fewer_iterations_than_sweeps():
    model = scenarios.load("chain", bodies=20)
    counts = {
        method: end_of(model, Relaxed(iterations=20000, tolerance=1e-8, method=method), 0.01)[0].timings["iterations"]
        for method in METHODS
    }
    assert counts["conjugate-gradients"] < 0.5 * counts["gauss-seidel"] < 0.5 * counts["jacobi"]


def test_a_skate_and_a_loop_are_held_too():
    for model in (sleigh(), mechanisms.four_bar(3)):
        _, whole = end_of(model, Glued(4), 0.1, 2e-3)
        _, end = end_of(model, Relaxed(4, tolerance=1e-12, iterations=5000), 0.1, 2e-3)
        assert np.abs(end - whole).max() < 1e-9


@pytest.mark.parametrize("law", [False, True], ids=["compiled", "with a law in Python"])
def test_the_same_bits_on_every_road(law, tmp_path):
    found = []
    for settings in ({}, {"grouped": False}, {"record_every": 7}):
        with Simulation(mixture(law=law), 1e-3, Relaxed(4), **settings) as simulation:
            simulation.run(0.02, **({} if law else {"checkpoints": tmp_path / str(len(found))}))
            for _ in range(5):
                simulation.step()
            bodies = simulation.assembly.bodies
            found.append([simulation.body(name).state()["q"].tobytes() for name in bodies])
    if not law:
        with resume(tmp_path / "0") as simulation:
            simulation.run(0.025)
            found.append([simulation.body(name).state()["q"].tobytes() for name in simulation.assembly.bodies])
    assert all(other == found[0] for other in found)


def test_what_is_no_setting_is_refused():
    with pytest.raises(ModelError, match="Relaxed: iterations = 0"):
        Relaxed(iterations=0)
    with pytest.raises(
        ModelError, match="Relaxed: method = 'sor'; give one of jacobi, gauss-seidel, conjugate-gradients"
    ):
        Relaxed(method="sor")
    with pytest.raises(ModelError, match="Relaxed: order = 5"):
        Relaxed(order=5)


def test_too_few_iterations_for_a_long_chain_are_told():
    with pytest.raises(Diverged, match=r"allow more iterations \(2 now\)"):
        end_of(scenarios.load("chain", bodies=30), Relaxed(iterations=2), 1.0)
