"""What goes between a run and its workers can get lost: they say it again, and nobody can tell from the bits.

A connection that tears is made again within a tenth of a second, without anybody's noticing; what was on its way is lost.
"""

import random

import pytest

import scenarios
from campaign import first_of, spread
from coordinator import LaunchConfig, Simulation
from coordinator.distributed.protocol import Deadlines
from coordinator.distributed.workers import process, process_pool
from coordinator.distributed.workers.messages import FIELDS
from modular import Crossing, Cut
from waiting import GUARD
from worker_threads import Losing, Threads

DT, UNTIL, EVERY = 1e-4, 0.04, 20  # steps between checkpoints
STILL = Deadlines(silence=GUARD, start=GUARD, stuck=GUARD)  # what is lost is said again long before
APART = {"call", "answer", "leave", "refused", "quit"}  # of black boxes, and of ends
OF_RUN = {"begin", "core", "get_samples", "get_state", "stored", "loaded", "end_run", "ping"}
OF_WORKER = {"hello", "idle", "core", "halted", "samples", "state", "store", "load"}


def model():
    chain = scenarios.load("chain", bodies=6)
    chain.when(Crossing("rod5.end", "z", -5e-3, direction=-1), Cut("ball4"))
    chain.at(0.035, Cut("ball2"))
    return chain


@pytest.fixture(scope="module")
def alone():
    with Simulation(model(), DT, record_every=7) as simulation:
        return simulation.run(UNTIL)


@pytest.fixture
def launch_config(monkeypatch):
    monkeypatch.setattr(process_pool, "Mailbox", Losing)
    monkeypatch.setattr(process.gc, "freeze", lambda: None)
    return LaunchConfig(Threads(), deadlines=STILL)


def run(launch_config, monkeypatch, loses):
    """A run on a way that loses what it loses; with the mailbox of the run."""
    monkeypatch.setattr(Losing, "loses", staticmethod(loses))
    with Simulation(model(), DT, record_every=7, workers=2, launcher=launch_config) as simulation:
        pool = simulation.distributed_run.pool
        pool.every = EVERY
        found = simulation.run(UNTIL)
        assert found.events
        return found, pool.mailbox, pool.deaths


@pytest.mark.campaign
@pytest.mark.parametrize("seed", first_of(1, range(21)))
def test_a_tenth_of_all_words_is_lost_and_a_worker_dies(seed, alone, launch_config, monkeypatch):
    def loses(said_by, word, count):
        if (said_by, word) == ("worker", "samples") and count == 16:  # then there are checkpoints
            launch_config.launcher.say_dead("worker1", 1)
        by_chance = random.Random(f"{seed} {said_by} {word} {count}").random() < 0.1
        return word != "quit" and (count == 1 or by_chance)

    found, mailbox, deaths = run(launch_config, monkeypatch, loses)
    assert found.digest == alone.digest and found.events == alone.events
    assert deaths == ["'worker1': killed"]
    assert {word for said_by, word in mailbox.gone if said_by == "run"} >= OF_RUN
    assert {word for said_by, word in mailbox.gone if said_by == "worker"} >= OF_WORKER
    assert set(FIELDS) == OF_RUN | OF_WORKER | APART


@pytest.mark.campaign
@pytest.mark.parametrize(
    ("said_by", "word"),
    spread([*(("run", word) for word in sorted(OF_RUN)), *(("worker", word) for word in sorted(OF_WORKER))]),
)
def test_one_word_is_lost_often(said_by, word, alone, launch_config, monkeypatch):
    def loses(by, what, count):
        if (by, what) == ("worker", "samples") and count == 16:
            launch_config.launcher.say_dead("worker1", 1)
        if (word, by, what, count) == ("idle", "run", "begin", 1):
            return True  # who has its job at once is never idle
        return (by, what) == (said_by, word) and (count <= 3 or count % 7 == 0)

    found, mailbox, _ = run(launch_config, monkeypatch, loses)
    assert found.digest == alone.digest and mailbox.gone[said_by, word]


def test_whoever_takes_a_place_while_all_go_back_goes_where_the_others_are(alone, launch_config, monkeypatch):
    """It has a way to go to there: its checkpoint is older, and it takes long to come."""

    def loses(said_by, word, count):
        if (said_by, word) == ("run", "get_state") and count == 1:  # a condition has come true
            launch_config.launcher.say_dead("worker0", 1)
        return (said_by, word) == ("run", "loaded") and count <= 2

    found, mailbox, deaths = run(launch_config, monkeypatch, loses)
    assert deaths and mailbox.gone["run", "loaded"] == 2
    assert found.digest == alone.digest and found.events == alone.events
