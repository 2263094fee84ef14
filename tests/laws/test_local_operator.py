"""The local operator S = H M^-1 H^T is factorised once per body: along a motion it changes as little as the shape does."""

import numpy as np
import pytest

import scenarios
import zoo
from components import Spherical
from components.bodies.natural.many import local_operators
from coordinator import Simulation
from modular.body import GivesEquations


def operators(stack):
    """H M^-1 H^T of every body as it stands now, from the equations that it writes down."""
    _, _, jacobian = stack.closure()
    return jacobian @ np.linalg.inv(stack.mass()) @ jacobian.transpose(0, 2, 1)


def spinning(dimension):
    turn = 3.0 if dimension == 2 else (3.0, -2.0, 4.0)
    return zoo.pair(
        Spherical(), dimension, gravity=(0.3, -9.81, 0.5)[:dimension],
        left={"angular_velocity": turn}, right={"angular_velocity": turn},
    )  # fmt: skip


@pytest.mark.parametrize(
    ("make", "until"),
    [
        (lambda: scenarios.load("double-pendulum-3d"), 2.0),
        (lambda: scenarios.load("chain", bodies=5), 1.0),
        (lambda: spinning(2), 1.0),
        (lambda: spinning(3), 1.0),
    ],
    ids=["double-pendulum-3d", "chain", "plane", "space"],
)
def test_the_local_operator_changes_no_more_than_the_internal_violation(make, until):
    with Simulation(make(), 1e-3, project_velocities=True) as simulation:
        for _ in range(10):
            simulation.run(simulation.time + 0.1 * until)
            for stack in simulation.system.bodies_as(GivesEquations):
                kept = local_operators(stack.each("gram"), stack.each("inverse_mass"), len(stack.points))
                size = np.abs(kept).max(axis=(1, 2))
                change = np.abs(operators(stack) - kept).max(axis=(1, 2)) / size
                # S is bilinear in the Gram matrix of the body's vectors, which the internal constraints hold: relative change of
                # one against relative change of the other, a constraint w . w counting half
                gram = np.abs(stack.each("gram")).max(axis=(1, 2))
                drift = 2.0 * np.abs(stack.closure()[0]).max(axis=1) / gram
                assert (change <= 4.0 * drift + 1e-13).all()
                assert change.max() < 5e-3  # and that is little
