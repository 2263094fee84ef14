"""Whatever is asked of a session, sense or nonsense: it goes on, says why not, takes no more memory, and can be repeated."""

import gc
import tracemalloc

import numpy as np
import pytest

import scenarios
from campaign import as_far_as, first_of, some
from coordinator import Simulation
from coordinator.laboratory.acts import Receipt, Reset
from coordinator.laboratory.replaying import replay
from coordinator.laboratory.session import Session
from hands_on import digests
from monkey import play


@pytest.mark.parametrize("seed", first_of(1, range(2)))
def test_a_hundred_acts_of_sense_and_nonsense_are_repeated_to_the_last_bit(tmp_path, seed):
    with Session(Simulation(scenarios.load("double-pendulum"), 1e-3), tmp_path) as session:
        refused = play(session, 100, seed)
        then = digests(session)
        assert 10 < refused < 80
        assert all(np.isfinite(states.q).all() for states in session.snapshot.bodies)
    assert len(then) > 1
    found = replay(tmp_path)
    assert (found.same, found.first) == (True, None)


@pytest.mark.campaign
def test_an_hour_of_acts_kills_nothing_and_fills_no_memory():
    """Ten thousand acts with a third of a second of motion after each."""
    acts, ticks = some(10_000), as_far_as(360, 60)
    with Session(Simulation(scenarios.load("double-pendulum"), 1e-3, record_every=10), memory=8e6) as session:
        play(session, max(acts // 3, 100), 7, walked=ticks)
        gc.collect()
        tracemalloc.start()
        try:
            before = tracemalloc.get_traced_memory()[0]
            play(session, acts - acts // 3, 8, walked=ticks)
            gc.collect()
            grown = tracemalloc.get_traced_memory()[0] - before
        finally:
            tracemalloc.stop()
        assert session.diary.count > 0
        assert grown < 40e6, f"{grown / 1e6:.0f} MB more after {acts} acts"
        receipt = Receipt(Reset())
        session.carry_out(receipt)
        assert not receipt.error
