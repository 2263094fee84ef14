"""A run in one process and among workers, tick by tick, in stacks of its own, from a checkpoint: the same bits."""

import numpy as np

from coordinator import Run, Simulation, resume


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


def on_every_path(model, dt, coupling, until, by_hand):
    """The bits of a run with a change by hand in its middle: all at once, tick by tick, in stacks of their own, among workers."""

    def played(step=False, **settings):
        with Simulation(model(), dt, coupling, **settings) as simulation:
            while step and simulation.time < 0.5 * until - 0.5 * dt:
                simulation.step()
            simulation.run(0.5 * until)
            by_hand(simulation)
            return simulation.run(until).digest

    ways = {"step": True}, {"grouped": False}, {"workers": scattered(model(), 2), "launcher": "here"}
    return {played(), *(played(**way) for way in ways)}


def goes_on_and_is_kept(model, dt, coupling, until, folder, **settings):
    """From a checkpoint to the same bits, and back from its run folder as it was."""
    with Simulation(model(), dt, coupling, **settings) as simulation:
        whole = simulation.run(until)
    with Simulation(model(), dt, coupling, **settings) as simulation:
        simulation.run(0.5 * until, checkpoints=folder / "kept")
    with resume(folder / "kept") as simulation:
        assert simulation.run(until).digest == whole.digest
    whole.save(folder / "run")
    assert Run.load(folder / "run") == whole
