"""The spatial notions of a course on Cartesian coordinates, as scenarios, against closed forms."""

import numpy as np
import pytest

import references
import scenarios
from campaign import later
from coordinator import Glued, Penalty, Simulation
from coordinator.record.sensors import angle


def turned(run, body, line):
    """The angle by which a shaft has turned about its line."""
    x = run.axes(f"{body}.start")[:, 2]  # of a body that began along the axes of the world
    line = np.asarray(line)
    up = np.array([0.0, 0.0, 1.0])
    across = np.cross(line, up)
    return np.unwrap(np.arctan2(x @ across, x @ up))


@pytest.mark.parametrize("phase", [0.0, np.pi / 2])
def test_a_cardan_shaft_turns_unevenly_as_its_closed_form_says(phase):
    """tan(a') = tan(a) / cos(b) from fork to fork; in line the second joint takes it back, across it doubles it."""
    bend = np.pi / 6
    with Simulation(scenarios.load("cardan-shaft", phase=phase), 5e-4, Glued(4)) as simulation:
        run = simulation.run(1.0)
    a = 2 * np.pi * 2.0 * run.time
    c = np.cos(bend)
    line = np.array([np.cos(bend), np.sin(bend), 0.0])
    middle = np.unwrap(np.arctan2(np.sin(a), c * np.cos(a)))  # the arm of the drive lies in the plane of bending
    assert np.abs(turned(run, "middle", line) - middle).max() < 1e-8
    driven = a if phase == 0.0 else np.unwrap(np.arctan2(np.sin(a), c**2 * np.cos(a)))
    assert np.abs(turned(run, "driven", (1.0, 0.0, 0.0)) - driven).max() < 1e-8


@pytest.mark.parametrize("kind", ["natural", *later(["newton-euler"])])
def test_a_spinning_book_turns_over_as_euler_says(kind):
    """Euler's equations in the axes of the body, integrated to rounding; energy and angular momentum stay."""
    with Simulation(scenarios.load("spinning-book", kind=kind), 1e-3, Glued(4)) as simulation:
        run = simulation.run(3.0)
    mass, (x, y, z) = 0.6, np.array((0.16, 0.24, 0.03)) ** 2
    inertia = mass * np.array([y + z, x + z, x + y]) / 12

    def rates(_, w):
        return [(inertia[i - 2] - inertia[i - 1]) * w[i - 2] * w[i - 1] / inertia[i] for i in range(3)]

    expected = references.solve(rates, (12.0, 0.24, 0.24), run.time)
    axes = run.axes("book.corner")
    change = (axes[2:] - axes[:-2]) / 2e-3  # R' of second order
    spin = np.einsum("nij,nkj->nik", change, axes[1:-1])  # rows are the axes: -[w]x in the body
    found = np.stack([spin[:, 1, 2], spin[:, 2, 0], spin[:, 0, 1]], axis=1)
    assert np.abs(found - expected[1:-1]).max() < 5e-3  # of the difference: w^3 dt^2 / 6
    assert found[:, 0].min() < -11.5  # it has turned over
    assert np.ptp(run.energy) < 1e-6 * run.kinetic_energy()[0]
    assert run.mass_centre("book")[-1] == pytest.approx((0.0, 0.0, 15.0 * 3.0 - 0.5 * 9.81 * 9.0), abs=1e-9)


def test_the_cardan_shaft_runs_on_springs():
    with Simulation(scenarios.load("cardan-shaft"), 5e-4, Penalty()) as simulation:
        run = simulation.run(0.5)
    assert angle(run, "ground", "drive.start").shape == run.time.shape
    assert run.worst_violation()[1] < 1e-2
