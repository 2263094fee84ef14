"""Chains between stops, masses, restitutions, limits and steps drawn by lot: walls bring no energy, and their ledgers close."""

import numpy as np
import pytest

from campaign import first_of
from components import Revolute, Rod, Stop
from coordinator import Glued, Penalty, Simulation
from modular import Assembly


def drawn(rng):
    """Up to three rods, each with a stop of its hinge on one side or both, that begins free; and a step."""
    restitution = float(rng.choice([0.0, 0.3, 0.7, 1.0]))
    model = Assembly(gravity=(3.0 * float(rng.normal()), -float(rng.uniform(0.0, 10.0))))
    for k in range(int(rng.integers(1, 4))):
        before = "ground" if k == 0 else f"rod{k - 1}.end"
        model.add(f"rod{k}", Rod((k, 0), (k + 1, 0), float(10.0 ** rng.uniform(-1, 1))))
        model.join(f"pin{k}", Revolute(), before, f"rod{k}.start")
        low, high = -float(rng.uniform(0.05, 1.0)), float(rng.uniform(0.1, 1.0)) if rng.random() < 0.5 else None
        model.apply(f"wall{k}", Stop(low=low, high=high, restitution=restitution), before, f"rod{k}.start")
    return model, float(10.0 ** rng.uniform(-4, -2))


@pytest.mark.parametrize("seed", first_of(6, range(60), least=6))
def test_walls_bring_no_energy_and_their_books_close(seed):
    """A touch lasts long where all hangs on a light body, and what else acts meanwhile is taken for what the wall gives back."""
    model, dt = drawn(np.random.default_rng(seed))
    for coupling, step in ((Glued(), dt), (Glued(4), dt), (Penalty(), min(dt, 1e-3))):
        with Simulation(model, step, coupling) as simulation:
            run = simulation.run(min(1.0, 2000 * step))
        extent = np.ptp(run.energy)
        assert np.isfinite(run.energy).all()
        if coupling != Penalty():
            assert run.energy.max() - run.energy[0] < 0.1 * extent + 0.01
            assert all(abs(run.ledger(wall)["leaked"][-1]) < 0.03 * extent + 0.01 for wall in model.force_edges)
