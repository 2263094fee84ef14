"""The two solvers by hand of the French course text, our model of its system, and a solution independent of both."""

import functools

import numpy as np
import pytest

import references
import scenarios
from coordinator import Simulation
from modular import ModelError
from scenarios.handmade import METHODS, lagrange, model, solve
from scenarios.handmade.euler import integrate
from scenarios.handmade.rods import Rods
from scenarios.systems.two_rods import GRAVITY

UNEQUAL = {"masses": (1.3, 0.7), "lengths": (0.9, 1.4), "inertias": (0.5, 0.3)}
ALIKE = {"masses": (1.0, 1.0), "lengths": (1.0, 1.0), "inertias": (0.8, 0.3)}
BALANCED = {"masses": (1.0, 4.0), "lengths": (1.2, 0.6), "inertias": (0.5, 0.3)}  # m l^2 the same for both
SWING = {"angles": (1.1, -0.4), "rates": (0.3, -0.6)}
STEPS, UNTIL, SHARED = (4e-3, 2e-3, 1e-3), 1.6, 4e-3  # [s]


@functools.cache
def _independent(rods):
    times = SHARED * np.arange(round(UNTIL / SHARED) + 1)
    rates = references.two_rods_rates(**dict(rods), gravity=GRAVITY)
    return references.solve(rates, (*SWING["angles"], *SWING["rates"]), times)


def independent(rods):
    """States at multiples of 4 ms by a Runge-Kutta method of order 8, from the start of SWING."""
    return _independent(tuple(rods.items()))


@functools.cache
def _by_hand(method, dt, rods, published):
    return solve(method, dt, UNTIL, **dict(rods), **SWING, published=published)


def by_hand(method, dt, rods, published=False):
    """The motion by one of the two methods, from the same start."""
    return _by_hand(method, dt, tuple(rods.items()), published)


def at_shared(series, dt):
    return series[:: round(SHARED / dt)]


def errors_of(method, rods, published=False):
    """Largest error of an end at 4, 2 and 1 ms [m]."""
    reference = references.two_rods_ends(independent(rods), rods["lengths"])
    found = []
    for dt in STEPS:
        motion = by_hand(method, dt, rods, published)
        found.append(np.linalg.norm(at_shared(motion.positions, dt) - reference, axis=-1).max())
    return np.array(found)


# --- both methods -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_both_methods_are_first_order_for_rods_of_unequal_masses_and_lengths(method):
    errors = errors_of(method, UNEQUAL)
    assert references.orders(errors) == pytest.approx([1.0, 1.0], abs=0.05)
    assert errors[-1] < 2e-3


def test_newton_with_euler_and_lagrange_are_two_roads_to_one_motion():
    first, second = (by_hand(method, 1e-3, UNEQUAL) for method in METHODS)
    assert first.angles == pytest.approx(second.angles, abs=1e-12)
    assert first.rates == pytest.approx(second.rates, abs=1e-12)
    assert second.reactions is None


def test_the_printed_a22_of_lagrange_converges_to_another_motion():
    errors = errors_of("lagrange", UNEQUAL, published=True)
    assert errors.min() > 50 * errors_of("lagrange", UNEQUAL)[-1]
    assert np.ptp(errors) < 0.1 * errors[-1]  # it does converge, not there


@pytest.mark.parametrize("rods", [ALIKE, BALANCED], ids=["alike", "m l^2 the same"])
def test_the_printed_a22_is_right_where_m_l2_is_the_same_for_both_rods(rods):
    errors = errors_of("lagrange", rods, published=True)
    assert references.orders(errors) == pytest.approx([1.0, 1.0], abs=0.05)


def test_the_printed_newton_euler_system_has_no_such_slip():
    printed, ours = (solve("newton-euler", 1e-3, 0.5, **UNEQUAL, **SWING, published=p) for p in (True, False))
    assert np.array_equal(printed.angles, ours.angles)


def test_energy_wanders_at_first_order_in_the_step():
    ranges = [np.ptp(solve("lagrange", dt, 10.0, **UNEQUAL, **SWING).energy) for dt in STEPS]
    assert references.orders(ranges) == pytest.approx([1.0, 1.0], abs=0.1)


def test_the_step_called_symplectic_is_so_only_for_rods_that_do_not_feel_each_other():
    """det of the map of (angles, momenta) for one step; 1 for a symplectic one."""

    def determinant(rods, dt):
        def mass(angles):
            (m2, m3), (l2, l3), (j2, j3) = rods.masses, rods.lengths, rods.inertias
            a12 = 0.5 * m3 * l2 * l3 * np.cos(angles[0] - angles[1])
            return np.array([[m2 * l2**2 / 4 + m3 * l2**2 + j2, a12], [a12, m3 * l3**2 / 4 + j3]])

        def step(z):
            law = lambda theta, w: (lagrange.accelerations(rods, theta, w), None)  # noqa: E731
            theta, w, _ = integrate(law, z[:2], np.linalg.solve(mass(z[:2]), z[2:]), dt, 1)
            return np.concatenate([theta[-1], mass(theta[-1]) @ w[-1]])

        at, h = np.array([1.1, -0.4, 0.9, -0.7]), 1e-5
        jacobian = np.array([(step(at + h * e) - step(at - h * e)) / (2 * h) for e in np.eye(4)]).T
        return np.linalg.det(jacobian)

    assert abs(determinant(Rods(**UNEQUAL), 0.1) - 1) > 1e-4
    assert abs(determinant(Rods((1.3, 1e-9), (0.9, 1.4), (0.5, 0.3)), 0.1) - 1) < 1e-8


def test_steps_are_counted_and_end_where_they_should():
    motion = solve("lagrange", 1e-3, 5.0)
    assert len(motion.time) == len(motion.angles) == 5001
    assert motion.time[-1] == pytest.approx(5.0, rel=1e-15)


# --- reactions ----------------------------------------------------------------------------------------------------------


def test_reactions_are_first_order_against_newtons_law_of_what_hangs_below():
    reference = references.two_rods_reactions(independent(UNEQUAL), **UNEQUAL, gravity=GRAVITY)
    errors = []
    for dt in STEPS:
        motion = by_hand("newton-euler", dt, UNEQUAL)
        errors.append(np.linalg.norm(at_shared(motion.reactions, dt) - reference, axis=-1).max(axis=0))
    assert np.all(np.abs(references.orders(errors) - 1) < 0.1)  # pivot and elbow
    assert np.max(errors[-1]) < 1e-2  # of 3 N


def test_pivot_and_weight_give_the_whole_its_momentum():
    """Sum of dt (R + m g) against the momentum of both mass centres, whose velocities are differences of positions."""
    m = np.array(UNEQUAL["masses"])
    misses = []
    for dt in STEPS:
        motion = by_hand("newton-euler", dt, UNEQUAL)
        starts = np.concatenate([np.zeros_like(motion.positions[:, :1]), motion.positions[:, :1]], axis=1)
        momentum = np.einsum("k,nkx->nx", m, np.diff(0.5 * (starts + motion.positions), axis=0)) / dt
        forces = motion.reactions[1:-1, 0] + [0.0, -GRAVITY * m.sum()]
        misses.append(np.abs(np.cumsum(dt * forces, axis=0) - (momentum[1:] - momentum[0])).max())
    assert references.orders(misses) == pytest.approx([1.0, 1.0], abs=0.1)
    assert misses[-1] < 5e-3  # of 3 N s


# --- our model ----------------------------------------------------------------------------------------------------------


def test_a_modular_run_of_the_same_system_agrees_with_the_independent_solution_at_second_order():
    reference = references.two_rods_ends(independent(UNEQUAL), UNEQUAL["lengths"])
    errors = []
    for dt in STEPS:
        with Simulation(model(**UNEQUAL, **SWING), dt) as simulation:
            run = simulation.run(UNTIL)
        ends = np.stack([run.position("upper.end"), run.position("lower.end")], axis=1)
        errors.append(np.linalg.norm(at_shared(ends, dt) - reference, axis=-1).max())
    assert references.orders(errors).min() >= 1.9
    assert errors[-1] < 2e-5


def test_a_modular_run_and_the_ten_equations_agree_on_energy_and_reactions_from_rest():
    by_hand = solve("newton-euler", 1e-4, 1.0, **UNEQUAL, angles=(1.1, -0.4))
    with Simulation(model(**UNEQUAL, angles=(1.1, -0.4)), 1e-3) as simulation:
        run = simulation.run(1.0)
    assert run.energy[0] == pytest.approx(by_hand.energy[0], rel=1e-14)
    assert run.energy == pytest.approx(by_hand.energy[::10], abs=2e-4)
    assert run.reaction("pivot") == pytest.approx(by_hand.reactions[::10, 0], abs=2e-3)
    assert run.reaction("elbow") == pytest.approx(by_hand.reactions[::10, 1], abs=2e-3)


def test_the_model_is_the_ready_scenario_with_the_numbers_of_the_text():
    assert scenarios.load("two-rods").to_data() == model().to_data()
    assert model().bodies["upper"].inertia == model().bodies["lower"].mass == 1.0
    start = solve("lagrange", 1e-3, 0.0)
    assert model().bodies["lower"].ports["end"].point == pytest.approx(start.positions[0, 1])


# --- refused ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"method": "lagrang"}, "did you mean 'lagrange'"),
        ({"method": "magic"}, "'newton-euler' or 'lagrange'"),
        ({"dt": 0.0}, "positive step"),
        ({"until": "long"}, "until = 'long'"),
        ({"masses": (1.0, -2.0)}, "masses = \\(1.0, -2.0\\) \\[kg\\]; both must be greater than 0"),
        ({"lengths": (1.0,)}, "lengths = \\(1.0,\\); give two numbers \\[m\\]"),
        ({"angles": "ab"}, "angles = 'ab'; give two numbers \\[rad\\]"),
        ({"rates": (0.0, float("nan"))}, "rates = nan; give a finite number"),
    ],
)
def test_bad_input_is_refused_by_name(wrong, said):
    with pytest.raises(ModelError, match=said):
        solve(**{"method": "lagrange", "dt": 1e-3, "until": 0.1} | wrong)


@pytest.mark.parametrize("setting", ["masses", "lengths", "inertias"])
def test_the_scenario_refuses_what_no_rod_has(setting):
    with pytest.raises(ModelError, match=f"two-rods: {setting}"):
        scenarios.load("two-rods", **{setting: (1.0, 0.0)})
