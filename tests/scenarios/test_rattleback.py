"""The rattleback: turned the one way it goes on, turned the other it rattles and turns back."""

import numpy as np

import scenarios
from coordinator import Glued, Simulation


def turning(spin, askew=0.09):
    """Mean spin about the vertical over parts of half a second [rad/s], and the run."""
    with Simulation(
        scenarios.load("rattleback", spin=spin, askew=askew), 1e-3, Glued(4), record_every=25
    ) as simulation:
        run = simulation.run(3.0)
    nose = run.axes("stone.nose")[:, 0]
    angle = np.unwrap(np.arctan2(nose[:, 1], nose[:, 0]))
    return np.diff(angle[::20]) / 0.5, run


def test_it_turns_back_one_way_and_not_the_other_and_keeps_its_energy():
    back, run = turning(-6.0)
    assert back[0] < -5.9 and back[-1] > 3.0
    assert np.ptp(run.energy) < 1e-6 * run.kinetic_energy()[0]
    assert turning(6.0)[0].min() > 5.9


def test_a_stone_with_its_mass_along_its_axes_has_no_such_will():
    assert turning(-6.0, askew=0.0)[0].max() < -5.9
