"""The skate under the penalty coupling: first order, and no work but what its damper takes (tests/support/sleigh.py)."""

import warnings

import numpy as np
import pytest

import references
from components import KnifeEdge, Revolute, RigidBody
from coordinator import Glued, Simulation
from modular import Assembly, Diverged
from sleigh import SPEED, SPIN, rates, sleigh


def test_the_chaplygin_sleigh_is_first_order_as_declared():
    times = 0.01 * np.arange(201)
    reference = references.solve(rates, (0, 0, 0, SPEED, SPIN), times)[:, :2]
    errors = []
    for dt in (4e-4, 2e-4, 1e-4):
        with Simulation(sleigh(), dt) as simulation:
            run = simulation.run(2.0)
        errors.append(np.linalg.norm(run.position("sleigh.blade")[:: round(0.01 / dt)] - reference, axis=1).max())
    assert np.all(np.abs(references.orders(errors) - 1.0) < 0.1)
    assert errors[-1] < 1e-3


def test_the_blade_does_no_work_but_what_its_damper_takes():
    with Simulation(sleigh(), 1e-4) as simulation:
        run = simulation.run(2.0)
    assert np.abs(run.violation_rate("skate")).max() < 1e-3
    ledger = run.ledger("skate")
    assert ledger["stored"][-1] == 0.0
    assert 0 <= ledger["dissipated"][-1] < 2e-3 * run.energy[0]
    assert abs(run.energy[-1] - run.energy[0]) < 2e-3 * run.energy[0]


def test_a_blade_that_no_step_follows_is_named_and_no_other_joint():
    """A tail on a hinge, which comes first, swings too fast for the step."""
    model = Assembly(gravity=(0.0, 0.0))
    blade = {"blade": (-0.3, 0.0), "front": (0.4, 0.0)}
    sleigh_ = RigidBody(
        mass=1.0, inertia=0.1, centre=(0.0, 0.0), ports=blade, velocity=(1.0, 3.0), angular_velocity=10.0
    )
    model.add("sleigh", sleigh_)
    tail = RigidBody(
        mass=5.0, inertia=0.02, centre=(0.7, 0.0), ports={"a": (0.4, 0.0)}, velocity=(1.0, 10.0), angular_velocity=10.0
    )
    model.add("tail", tail)
    model.join("hinge", Revolute(), "sleigh.front", "tail.a")
    model.join("blade", KnifeEdge(), "ground", "sleigh.blade")
    with Simulation(model, 0.05, Glued(), project_velocities=True) as simulation, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(Diverged, match="the reactions of 'blade', which locks velocities alone, did not") as told:
            simulation.run(2.5)
    assert told.value.component == "blade"
