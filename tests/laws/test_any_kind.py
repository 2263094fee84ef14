"""Random mechanisms of bodies of every kind, light ones on long arms, every joint, every coupling: who is off says so."""

import warnings

import numpy as np
import pytest

import zoo
from campaign import as_far_as, some
from coordinator import Centralized, Glued, Mixed, Penalty, Relaxed, Simulation, StabilityWarning
from modular import Diverged
from random_assemblies import random_assembly
from truth import off, paths

COUPLINGS = as_far_as([Penalty(), Glued(), Mixed(), Relaxed()], [Penalty(), Glued()])
WHOLE = as_far_as(30, 0)  # mechanisms that are solved as a whole too, which takes a hundred times as long
TICKS, BETWEEN = 200, 10


def step_for(model):
    """A two-hundredth of the time in which the shortest body would swing, and at most a thousandth of a second."""
    lengths = []
    for body in model.bodies.values():
        _, q, v = zoo.start(body)
        places = np.array([body.port_motion(port, q, v, v)[0] for port in body.port_names])
        lengths.append(float(np.linalg.norm(np.ptp(places, axis=0))))
    return min(1e-3, np.sqrt(min(lengths) / 9.81) / 200)


def played(model, dt, coupling, every):
    """What a run has recorded, why it ended too soon if it did, whether that was foretold, and whether any joint is a spring."""
    with (
        Simulation(model, dt, coupling, record_every=every) as simulation,
        warnings.catch_warnings(record=True) as said,
    ):
        warnings.simplefilter("always")
        springs = isinstance(coupling, Penalty) and {kind for kind, _ in simulation.ways.values()} != {"glued"}
        try:
            simulation.run(round(TICKS * every / BETWEEN) * dt)
        except Diverged as error:
            return None, str(error), any(issubclass(word.category, StabilityWarning) for word in said), springs
        return simulation.recorded, "", False, springs


@pytest.mark.campaign
@pytest.mark.parametrize("seed", range(some(200)))
def test_who_is_off_says_so_and_who_goes_wrong_says_why(seed):
    model = random_assembly(seed, most=5, ratio=1e4, kinds=True)
    dt = step_for(model)
    exact, *_ = played(model, dt / 2, Glued(4), 2 * BETWEEN)
    for coupling in [*COUPLINGS, *([Centralized()] if seed < WHOLE else [])]:
        run, why, foretold, springs = played(model, dt, coupling, BETWEEN)
        if run is None:
            assert "Remedy: " in why
            assert not springs or foretold or "beyond its stability limit" in why or exact is None, why
        elif exact is not None:
            true, found = paths(model, exact), paths(model, run)
            error = off(true, found) / np.ptp(true[:, 0], axis=0).max()
            said = any(event["kind"] == "verdict" for event in run.events)
            assert said or error < 1e-2, (coupling, error, run.estimate)
