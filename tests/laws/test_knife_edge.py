"""The skate under the penalty coupling: first order, and no work but what its damper takes (tests/support/sleigh.py)."""

import numpy as np

import references
from coordinator import Simulation
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
    book = run.ledger("skate")
    assert book["stored"][-1] == 0.0
    assert 0 <= book["dissipated"][-1] < 2e-3 * run.energy[0]
    assert abs(run.energy[-1] - run.energy[0]) < 2e-3 * run.energy[0]
