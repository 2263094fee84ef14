"""The robot arm: it puts its load where it should be, and its drives give what statics and energy ask."""

import numpy as np
import pytest

import scenarios
from coordinator import Glued, Penalty, Simulation


@pytest.mark.short(1, each=True)
@pytest.mark.parametrize(
    ("coupling", "dt", "gap"), [(Glued(), 1e-3, 1e-11), (Penalty(), 2e-4, 1e-3)], ids=["glued", "penalty"]
)
def test_the_arm_puts_its_load_down_where_it_should_be(coupling, dt, gap):
    with Simulation(scenarios.load("robot-arm"), dt, coupling) as simulation:
        run = simulation.run(4.0)
        ledgers = {name: simulation.ledger(name) for name in ("turning", "lifting", "bending")}
    foot = run.position("load.foot")
    angle = 2 * np.pi / 3
    due = np.array([[np.cos(angle), -np.sin(angle), 0], [np.sin(angle), np.cos(angle), 0], [0, 0, 1]]) @ foot[0]
    np.testing.assert_allclose(foot[-1], due, atol=gap)
    np.testing.assert_allclose(run.position("forearm.hand")[-1], run.position("forearm.hand")[0], atol=gap)
    # nothing is higher or faster than before: all work of the drives is back, but for what the scheme leaves open
    assert abs(sum(ledger["supplied"] for ledger in ledgers.values())) < (1e-2 if coupling == Glued() else 1.0)


def test_while_it_rests_the_shoulder_bears_the_weights_at_their_levers():
    """Over the load, forearm hanging: 6 g 0.35 + (3 + 4) g 0.7 about the shoulder, once the load hangs on the hand."""
    with Simulation(scenarios.load("robot-arm"), 1e-3, Glued()) as simulation:
        run = simulation.run(1.15)
    g = 9.81
    torque = np.abs(run.reaction("lifting")[-1, 3:] @ (0.0, 1.0, 0.0))
    assert torque == pytest.approx(6 * g * 0.35 + 7 * g * 0.7, rel=1e-9)
