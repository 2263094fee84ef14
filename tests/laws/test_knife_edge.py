"""The Chaplygin sleigh: a body on a skate, against its equations (A. M. Bloch, "Nonholonomic Mechanics and Control",
Springer 2003, 1.7): v' = a w^2, w' = -m a v w / (I + m a^2), with v along the blade and the mass centre a ahead of it."""

import numpy as np

import references
from components import KnifeEdge, RigidBody
from coordinator import Simulation
from modular import Assembly

MASS, INERTIA, AHEAD = 1.3, 0.2, 0.25
SPEED, SPIN = 0.4, 1.5


def sleigh():
    model = Assembly(gravity=(0.0, 0.0))
    velocity = (SPEED, SPIN * AHEAD)
    model.add(
        "sleigh",
        RigidBody(
            mass=MASS,
            inertia=INERTIA,
            centre=(AHEAD, 0),
            ports={"blade": (0, 0)},
            velocity=velocity,
            angular_velocity=SPIN,
        ),
    )
    model.join("skate", KnifeEdge(normal=(0, 1)), "sleigh.blade", "ground")
    return model


def rates(t, y):
    angle, v, w = y[2:]
    return [v * np.cos(angle), v * np.sin(angle), w, AHEAD * w**2, -MASS * AHEAD * v * w / (INERTIA + MASS * AHEAD**2)]


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
