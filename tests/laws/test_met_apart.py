"""Surfaces that meet before they touch: what is done for their contact alone is what would be done for the whole."""

import warnings

import numpy as np
import pytest

import scenarios
from components import RigidBody, Sphere, Surface
from components.forces.surface import Surfaces
from coordinator import Glued, Simulation
from coordinator.couplings import glued

DT, UNTIL = 1e-3, 0.2


def poured(until, **changes):
    """A few balls that fall into the funnel, a point mass among them; the simulation where that ends."""
    model = scenarios.load("funnel", count=14, **changes)
    at = (0.01, 0.02, 0.3)
    model.add(
        "drop",
        RigidBody(mass=0.02, inertia=(0.0, 0.0, 0.0), centre=at, ports={"centre": at}, velocity=(0.0, 0.0, -2.0)),
    )
    model.apply("drop-surface", Surface(Sphere(0.015), 0.3, 0.3), "drop.centre")
    with warnings.catch_warnings(), Simulation(model, DT, Glued(), record_every=10, threads=1) as simulation:
        warnings.simplefilter("ignore")
        simulation.run(until)
    return simulation


def left_by(simulation):
    """Bodies, books and what contacts remember, by names."""
    system = simulation.system
    found = {f"{k} {name}": a for k, b in enumerate(system.bodies) for name, a in b.state().items()}
    for name, home in system.force_home.items():
        stack, row = home.stack, home.stack.row[name]
        found |= {f"{name} {column}": rows[row] for column, rows in stack.memory().items()}
        found[f"{name} ledger"] = stack.ledger[row]
        found[f"{name} forces"] = system.elements.force[home.starts[0] : home.starts[0] + home.counts[0]]
    return {name: np.array(array) for name, array in found.items()}


@pytest.fixture(scope="module")
def alone():
    """What is left where encounters are settled alone, and how often that was so."""
    taken, settle_apart = [], glued.settle_apart
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(glued, "settle_apart", lambda *asked: taken.append(settle_apart(*asked)) or taken[-1])
        return left_by(poured(UNTIL)), sum(taken)


@pytest.mark.short(2)
@pytest.mark.parametrize("how", ["with all others", "alone, and then with all others"])
def test_encounters_that_begin_apart_may_be_settled_alone(monkeypatch, alone, how):
    expected, times = alone
    assert times >= 5
    if how == "with all others":
        monkeypatch.setattr(glued, "settle_apart", lambda *asked: False)
    else:
        monkeypatch.setattr("coordinator.couplings.begun_apart._does_something", lambda *asked: True)
    found = left_by(poured(UNTIL))
    assert found.keys() == expected.keys()
    assert not [name for name in found if not np.array_equal(found[name], expected[name], equal_nan=True)]


@pytest.mark.short(1)
def test_pairs_that_are_asked_about_are_near_as_they_are_among_all():
    simulation = poured(0.15, seed=2)
    (surfaces,) = [stack for stack in simulation.system.forces if isinstance(stack, Surfaces)]
    surfaces.look(simulation.system.elements, DT)
    rng, count = np.random.default_rng(1), surfaces.count
    pairs = np.array([(one, other) for one in range(count) for other in range(one)])
    for times in (0.0, 1.0, 2.0):
        near = {frozenset(pair) for pair in surfaces.near(times).tolist()}
        asked = pairs[rng.permutation(len(pairs))[: len(pairs) // 2]]
        found = [frozenset(pair) for pair in surfaces.near(times, asked).tolist()]
        assert len(found) == len(set(found))
        assert set(found) == near & set(map(frozenset, asked.tolist()))
    assert len(surfaces.near(1.0, pairs[:0])) == 0
