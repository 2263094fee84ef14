"""What centralized solvers refuse, and how they stop where they find no next state."""

import numpy as np
import pytest
from scipy import sparse

import scenarios
import zoo
from components import KnifeEdge
from coordinator import (
    GGL,
    HHT,
    AugmentedLagrangian,
    Baumgarte,
    Centralized,
    GlobalPenalty,
    MinimalCoordinates,
    Simulation,
)
from coordinator.couplings.centralized.saddle import Saddle
from modular import CouplingError, Diverged, ModelError
from solvers import ALL, EXACT


def test_what_a_method_cannot_treat_is_named_with_those_that_can():
    sleigh = zoo.pair(KnifeEdge.example(3), 3)
    with pytest.raises(CouplingError, match=r"'joint'.*non-holonomic.*HHT"):
        Simulation(sleigh, 1e-3, EXACT, project_velocities=True)


def test_a_step_that_finds_no_solution_stops_with_its_reason():
    stiff = scenarios.load("double-pendulum")
    with (
        pytest.raises(Diverged, match=r"GGL found no next state.*dt ="),
        Simulation(stiff, 1.0, Centralized(GGL())) as simulation,
    ):
        simulation.run(20.0)
    assert len(simulation.recorded) >= 1


@pytest.mark.parametrize("name", ["AL", "AL, accelerations", "Substitution", "penalty"])
def test_numbers_that_leave_the_world_end_the_run_with_its_reason(name):
    """And not with a warning of the arithmetic, which the tests take as an error."""
    with (
        pytest.raises(Diverged, match=r"found no next state.*dt ="),
        Simulation(scenarios.load("double-pendulum"), 1e3, Centralized(ALL[name])) as simulation,
    ):
        simulation.run(2e4)


def test_the_remedy_for_a_solver_is_another_one():
    with (
        pytest.raises(Diverged) as told,
        Simulation(scenarios.load("double-pendulum"), 1e3, Centralized(HHT())) as simulation,
    ):
        simulation.run(2e4)
    assert "such as HHT" not in str(told.value)


@pytest.mark.parametrize("matrix", [np.eye, sparse.eye_array])
def test_a_singular_system_is_no_solution_on_either_path(matrix):
    with pytest.raises(np.linalg.LinAlgError):
        Saddle(0.0 * matrix(3), 0.0 * matrix(3), np.ones(3))


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: HHT(alpha="0.1"), "finite number"),
        (lambda: AugmentedLagrangian(omega=float("nan")), "omega = nan"),
        (lambda: AugmentedLagrangian(xi=float("inf")), "xi = inf"),
        (lambda: Baumgarte(beta=float("inf")), "beta = inf"),
        (lambda: GlobalPenalty(alpha=float("inf")), "alpha = inf"),
        (lambda: MinimalCoordinates(rtol="fine"), "rtol"),
        (lambda: HHT(alpha=0.5), "0 .*1/3"),
        (lambda: AugmentedLagrangian(form=3), "form"),
        (lambda: AugmentedLagrangian(projections="all"), "velocities"),
        (lambda: Baumgarte(method="Euler"), "RK45"),
        (lambda: Baumgarte(variant=4), "variant"),
        (lambda: MinimalCoordinates(rtol=0.0), "rtol"),
        (lambda: GlobalPenalty(alpha=-1.0), "alpha"),
        (lambda: Centralized("hht"), "not a solver"),
    ],
)
def test_settings_that_mean_nothing_are_refused(make, words):
    with pytest.raises(ModelError, match=words):
        make()
