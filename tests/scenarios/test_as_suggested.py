"""Ready systems run as they suggest: whoever types their name and nothing else sees them to their end."""

import warnings

import numpy as np
import pytest

import scenarios
from campaign import shortened
from coordinator import Simulation


@pytest.mark.short(1, each=True)
@pytest.mark.parametrize("name", shortened(["four-bar", "bricard", "chain", "bicycle-chain"], scenarios.names()))
def test_a_ready_system_comes_to_the_end_that_it_suggests(name):
    """The light links of a chain shook themselves off their springs after half of it."""
    model = scenarios.load(name)
    asked = model.suggested
    every = int(asked.get("record_every", 1))
    with (
        Simulation(model, float(asked["dt"]), asked.get("coupling"), record_every=every) as simulation,
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        run = simulation.run(float(asked["until"]))
    assert run.time[-1] == pytest.approx(asked["until"], abs=every * simulation.dt)
    assert np.isfinite(run.energy).all()
