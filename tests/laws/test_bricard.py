"""Bricard's mechanism under glued joints: closed, on its closed form, without drift, and with reactions as smooth as its motion.

Y. Chen, Z. You, T. Tarnai, "Threefold-symmetric Bricard linkages for deployable structures", Int. J. Solids and Structures 42
(2005) 2287: with a twist of 90 degrees every other hinge stands at the same angle, and cos a + cos b + cos a cos b = 0.
"""

import numpy as np
import pytest

import references
import scenarios
from coordinator import Glued, Relaxed, Simulation, examine
from solvers import EXACT

UNTIL = 1.0
RODS = [f"rod{k}" for k in range(1, 6)]


def run_of(coupling, dt, until=UNTIL, **settings):
    with Simulation(scenarios.load("bricard"), dt, coupling, **settings) as simulation:
        return simulation.run(until)


def reactions(run):
    """Of all hinges, forces and moments, (n, 36)."""
    return np.concatenate([run.reaction(hinge) for hinge in run.joints], axis=1)


@pytest.fixture(scope="module")
def exact():
    return run_of(EXACT, 0.02)


def test_it_counts_no_freedom_and_has_one():
    with Simulation(scenarios.load("bricard"), 1e-3) as simulation:
        found = examine(simulation)
    assert (found.freedoms, found.locks, found.mobility, found.redundancy) == (30, 30, 1, 1)


def test_it_closes_follows_its_closed_form_and_keeps_its_energy():
    run = run_of(Glued(4), 5e-3, 10.0)
    assert max(np.abs(run.violation(hinge)).max() for hinge in run.joints) < 1e-12  # of an extent of 1 m
    assert max(np.abs(run.violation_rate(hinge)).max() for hinge in run.joints) < 1e-12
    corners = np.array([run.position(f"{rod}.start") for rod in RODS] + [run.position("rod5.end")])
    edges = np.roll(corners, -1, axis=0) - corners
    cosines = (np.roll(edges, 1, axis=0) * edges).sum(axis=-1)  # of the angle at every hinge
    a, b = cosines[:2]
    assert np.ptp(a) > 0.9 and np.ptp(b) > 0.4  # it moves
    assert np.abs(cosines[::2] - a).max() < 1e-12 and np.abs(cosines[1::2] - b).max() < 1e-12
    assert np.abs(a + b + a * b).max() < 1e-12
    error = np.abs(run.energy - run.energy[0])
    assert error.max() < 2e-9  # [J], where up to 4.6 J move
    assert error[1000:].max() < 1.5 * error[:1001].max()  # as much in the second half as in the first


@pytest.mark.campaign
@pytest.mark.parametrize(("order", "steps"), [(2, (4e-3, 2e-3)), (4, (2e-2, 1e-2))])
def test_it_moves_as_in_independent_coordinates(exact, order, steps):
    errors = []
    for dt in steps:
        run = run_of(Glued(order), dt, record_every=round(2e-2 / dt))
        errors.append(max(np.abs(run.position(f"{rod}.end") - exact.position(f"{rod}.end")).max() for rod in RODS))
    assert errors[-1] < (5e-6, 5e-9)[order == 4]
    assert abs(references.orders(errors)[0] - order) < 0.2
    # the smallest reactions, here and there by measures of their own: of rotations, one number per hinge or a matrix
    assert np.abs(reactions(run) - reactions(exact)).max() < 5e-4 * np.abs(reactions(exact)).max()


def test_its_reactions_are_as_smooth_as_its_motion():
    """Which of all reactions are shown must not hang on rounding: second differences fall with dt^2."""
    bends = [np.abs(np.diff(reactions(run_of(Glued(), dt)), 2, axis=0)).max() for dt in (2e-3, 1e-3)]
    assert bends[1] < 2e-4  # [N], where they are up to 29 N
    assert bends[0] / bends[1] == pytest.approx(4.0, rel=0.05)


def test_neighbours_alone_move_it_the_same_and_answer_no_rounding():
    relaxed, glued = run_of(Relaxed(), 1e-3), run_of(Glued(), 1e-3)
    assert relaxed.timings["left open"] == 0.0
    assert max(np.abs(relaxed.position(f"{rod}.end") - glued.position(f"{rod}.end")).max() for rod in RODS) < 1e-9
    # the smallest reactions by a measure of their own, the blocks of the seen masses
    assert np.abs(reactions(relaxed) - reactions(glued)).max() < 0.05 * np.abs(reactions(glued)).max()
