"""A run in one process and among workers: the same bits."""

import numpy as np

from coordinator import Simulation


def same(model, dt, until, workers, *settings, by_hand=lambda simulation: None, **more):
    """Run it both ways, with a change by hand in the middle; the run."""
    runs = []
    for number in (None, workers):
        with Simulation(model(), dt, *settings, workers=number, launcher="here", **more) as simulation:
            simulation.run(round(0.5 * until / dt) * dt)
            by_hand(simulation)
            runs.append(simulation.run(until))
            assert simulation.recorded.timings["evaluations"] > 0
    one, two = runs
    assert one.digest == two.digest
    assert one.events == two.events
    assert [entry["margins"] for entry in one.margins] == [entry["margins"] for entry in two.margins]
    return two


def scattered(model, count, seed=0):
    """Bodies given to workers by lot, so that nearly every joint goes across."""
    names = list(model.bodies)
    lots = np.random.default_rng(seed).permutation(np.arange(len(names)) % count)
    return {f"worker{k}": [name for name, lot in zip(names, lots, strict=True) if lot == k] for k in range(count)}
