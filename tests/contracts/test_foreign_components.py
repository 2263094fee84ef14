"""A body and a joint written in plain Python work beside ours."""

from dataclasses import dataclass

import numpy as np
import pytest

from components import Spherical
from coordinator import HHT, Centralized, MinimalCoordinates, Run, Simulation
from foreign import Particle, Particles, Wire, pendulum
from modular import CouplingError


def test_a_foreign_body_on_a_foreign_joint_swings_at_second_order_beside_ours():
    """Energy, length of the wire and reactions of a pendulum made of strangers; release by a cut."""
    drift, stretch = [], []
    for dt in (2e-3, 1e-3):
        particle = Particle(1.3, (0.3, 0.8, 0.0), (0.2, 0.0, 0.0))
        with Simulation(pendulum(particle, Wire(0.8)), dt) as simulation:
            run = simulation.run(1.0)
        drift.append(np.ptp(run.energy))
        length = np.linalg.norm(run.position("bob.here") - run.position("frame.end"), axis=1)
        stretch.append(np.abs(length - 0.8).max())
    assert drift[1] < 0.3 * drift[0]
    assert stretch[1] < 0.3 * stretch[0]


def test_a_foreign_body_takes_part_in_events_impacts_and_run_folders(tmp_path):
    particle = Particle(1.3, (0.3, 0.8, 0.0), (0.2, 0.0, 0.0))
    with Simulation(pendulum(particle, Wire(0.8)), 1e-3) as simulation:
        simulation.run(0.2)
        simulation.cut("wire")
        simulation.run(0.3)
        simulation.join("catch", Spherical(), "ground", "bob.here")
        lost = simulation.ledger("catch")["impact"]
        run = simulation.run(0.4)
    assert lost > 1.0
    assert np.ptp(run.position("bob.here")[-50:], axis=0).max() < 1e-3
    run.save(tmp_path)
    assert Run.load(tmp_path) == run
    assert run.reaction("catch")[-1] == pytest.approx([0, 0, 1.3 * 9.81], rel=0.5)


class WrittenParticles(Particles):
    """The same, with its equations written down: four lines of physics."""

    def mass(self):
        return np.array([m * np.eye(self.motion.shape[2]) for m in self.kilos])

    def drive(self):
        return np.array([m * self.gravity for m in self.kilos])

    def closure(self):
        n, d = len(self.names), self.motion.shape[2]
        return np.zeros((n, 0)), np.zeros((n, 0)), np.zeros((n, 0, d))

    def reach(self):
        rows = [(row, k) for k, shown in enumerate(self.shown) for row in shown]
        elements, owners = (np.array([pair[k] for pair in rows], np.int64) for k in (0, 1))
        return elements, owners, np.tile(np.eye(self.motion.shape[2]), (len(rows), 1, 1))


@dataclass(frozen=True)
class WrittenParticle(Particle):
    def new_stack(self):
        return WrittenParticles(len(self.at))

    def kind(self):
        return ("written particle", len(self.at))


def test_a_black_box_is_refused_by_centralized_solvers_by_name():
    model = pendulum(Particle(1.3, (0.3, 0.8, 0.0), (0.2, 0.0, 0.0)), Wire(0.8))
    with pytest.raises(CouplingError, match=r"bob cannot.*Penalty"):
        Simulation(model, 1e-3, Centralized(MinimalCoordinates()))


def test_a_foreign_body_that_writes_its_equations_down_moves_alike_on_two_roads():
    ends = []
    for solver, dt in ((MinimalCoordinates(method="DOP853"), 1e-2), (HHT(), 4e-3), (HHT(), 2e-3)):
        model = pendulum(WrittenParticle(1.3, (0.3, 0.8, 0.0), (0.2, 0.0, 0.0)), Wire(0.8))
        with Simulation(model, dt, Centralized(solver)) as simulation:
            ends.append(simulation.run(0.15).position("bob.here")[-1])
    errors = [np.abs(end - ends[0]).max() for end in ends[1:]]
    assert errors[1] < 0.3 * errors[0] < 1e-3
