"""Whatever happens on a day: the bits of a single process at every checkpoint and at the end, or a named error in time.

Every day that goes wrong prints its seed; `python tests/coordinator/protocol/bad_days.py SEED` plays it alone.
"""

import random
import re
from dataclasses import replace

import pytest
from bad_days import DEADLINES, Day, Process, World, play

from campaign import as_far_as, first_of, some

CHUNK = 20
FIRST = 9  # every fault of test_mutants.py shows in the twenty days from there on


def all_well(days):
    bad = [told for day in days if (told := World(day).run()) is not None]
    assert not bad, "\n".join(bad)


@pytest.mark.parametrize("chunk", first_of(1, range(10)))
def test_two_hundred_days(chunk):
    all_well(Day.drawn(seed) for seed in range(FIRST + CHUNK * chunk, FIRST + CHUNK * (chunk + 1)))


@pytest.mark.campaign
@pytest.mark.parametrize("chunk", range(some(100)))
def test_two_thousand_days(chunk):
    all_well(Day.drawn(seed) for seed in range(1000 + CHUNK * chunk, 1000 + CHUNK * (chunk + 1)))


@pytest.mark.campaign
@pytest.mark.parametrize("chunk", [0, *(pytest.param(k, marks=pytest.mark.campaign) for k in range(1, 1 + some(99)))])
def test_days_that_are_worse_than_promised(chunk):
    all_well(Day.violent(seed) for seed in range(5 * chunk, 5 * (chunk + 1)))


@pytest.mark.campaign
@pytest.mark.parametrize("seed", range(some(20)))
def test_a_thousand_workers(seed):
    all_well(
        [Day(seed, as_far_as(1000, 300), 10, 4, 5, loss=0.05, twice=0.05, flips=0.01, kills=10, clogs=1, zombies=1)]
    )


def test_a_day_follows_from_its_seed():
    first, second = World(Day.drawn(7)), World(Day.drawn(7))
    assert first.run() is None and second.run() is None
    assert first.states == second.states and first.counts == second.counts and first.now == second.now


def test_a_calm_day_sends_each_frame_once():
    world = World(Day(3, workers=5, steps=40, every=8, slice=8, jitter=0.0))
    assert world.run() is None
    assert world.counts["asked"] == world.counts["resent"] == world.counts["duplicate"] == 0
    assert world.counts["accepted"] > 500


def test_the_coordinator_says_nothing_more_in_a_longer_slice():
    told = []
    for steps in (8, 32):
        world = World(Day(3, workers=4, steps=steps, every=100, slice=100, jitter=0.0))
        world.model.event = -1
        assert world.run() is None
        assert world.now < DEADLINES.report
        told.append(world.performed)
    assert told[0] == told[1]


def test_a_coordinator_that_is_gone_is_named_by_the_workers():
    class Alone(World):
        def pump_coordinator(self):
            if self.performed < 40:
                super().pump_coordinator()

        def is_over(self):
            return bool(self.endings) and not self.processes

    world = Alone(Day(5, workers=3, steps=30, every=5, slice=5))
    world.run()
    assert len(world.endings) == 3
    for name, _, reason in world.endings:
        assert f"'{name}'" in reason and "the coordinator was last heard" in reason
    assert world.now < 1.5 * DEADLINES.orphan


# --- workers die ------------------------------------------------------------------------------------------------------------

MOMENTS = ["Store", "Load", "Resume", "Connect", "Send", "welcome", "grant", "durable", "roster"]


@pytest.mark.parametrize("moment", MOMENTS)
def test_workers_die_at_this_moment(moment):
    days = [Day(s, 2 + s % 4, 24, 4, 6, loss=0.05, kills=3, die_at=moment, dying_chance=0.6) for s in range(5)]
    worlds = [World(day) for day in days]
    assert [told for world in worlds if (told := world.run()) is not None] == []
    assert sum(world.counts["died at the moment"] for world in worlds) > 2


SHORT = Day(17, workers=3, steps=12, every=3, slice=4, jitter=0.3)


def events_of(day):
    world = World(day)
    assert world.run() is None
    return world.counts["events"]


@pytest.mark.campaign
@pytest.mark.parametrize("part", first_of(1, range(4)))
def test_a_worker_dies_at_any_eighth_event_of_a_day(part):
    all_well(replace(SHORT, dies_at_event=n) for n in range(2 * part, events_of(SHORT), 8))


@pytest.mark.campaign
@pytest.mark.parametrize("seed", range(some(10)))
def test_a_worker_dies_at_every_event_of_a_day(seed):
    day = replace(SHORT, seed=seed)
    all_well(replace(day, dies_at_event=n) for n in range(events_of(day)))


@pytest.mark.campaign
@pytest.mark.parametrize("chunk", first_of(1, range(4)))
def test_two_at_once_and_neighbours_and_again_during_the_replay(chunk):
    seeds = range(12 * chunk, 12 * (chunk + 1))
    all_well(Day(s, 2 + s % 3, 24, 6, 8, kills=1, pairs=2, die_at="Resume", loss=0.02) for s in seeds)


def test_a_zombie_speaks_nonsense_and_nobody_listens():
    worlds = [World(Day(s, 2 + s % 4, 30, 5, 10, zombies=1)) for s in range(20)]
    assert [told for world in worlds if (told := world.run()) is not None] == []
    spoilt = [world for world in worlds if world.counts["spoilt"]]
    assert len(spoilt) > 8
    assert sum(world.counts["sent away"] for world in spoilt) >= len(spoilt)


def test_a_worker_that_dies_again_and_again_stops_the_run_with_the_cause():
    world = World(
        Day(2, workers=3, steps=30, every=50, slice=6, die_at="Resume", dying=100, dying_chance=1.0, deaths=3)
    )
    assert world.run() is None
    assert re.search(r"died \((killed|silent .*)\); that was death number 3 without a new checkpoint", world.failure)


def test_a_checkpoint_that_cannot_be_read_is_passed_over_for_the_one_before():
    worlds = [World(Day(s, 3, 40, 4, 10, kills=3, rot=1.0)) for s in range(12)]
    assert [told for world in worlds if (told := world.run()) is not None] == []
    assert sum(world.counts["rot"] for world in worlds) > 6


def test_whatever_is_said_of_checkpoints_may_be_lost_where_they_are_kept_on_another_machine():
    """A worker is alive and waits for nobody while it loads: all others would wait for it for ever."""
    worlds = [World(Day(s, 3, 24, 4, 6, loss=0.2, slow=0.1, die_at="durable", afar=True)) for s in range(12)]
    assert [told for world in worlds if (told := world.run()) is not None] == []
    assert sum(world.counts["loads"] for world in worlds) > 12


def test_no_checkpoint_that_can_be_read_is_said_by_name():
    class Rotten(World):
        def load(self, name, kept):
            return None

    world = next(w for s in range(20) if (w := Rotten(Day(s, 3, 40, 4, 10, kills=3))).run() is not None)
    assert "no checkpoint of 'w" in world.failure and "not there" in world.failure


def test_a_worker_that_is_ten_times_slower_is_waited_for():
    class Slow(Process):
        def step(self):
            yield from super().step()
            if self.number == 1:
                self.pause(0.3)

    class World3(World):
        make_process = Slow

    world = World3(Day(4, workers=3, steps=30, every=5, slice=6))
    assert world.run() is None
    assert world.now > 30 * 0.3 and all(incarnation == 1 for _, incarnation in world.started)


# --- what the physics does wrong --------------------------------------------------------------------------------------------


def test_a_component_that_draws_random_numbers_is_named():
    class Dice(Process):
        def step(self):
            if self.number == 1 and self.body is not None:
                self.body.v[self.body.own[0]] += random.uniform(0, 1e-6)
            yield from super().step()

    class World3(World):
        make_process = Dice

    worlds = [World3(Day(s, 3, 30, 5, 6, kills=8, deaths=9)) for s in range(8)]
    found = [world.failure for world in worlds if world.run() is not None and world.failure]
    assert len(found) > 2
    assert all("'w1'" in failure and "not deterministic" in failure for failure in found)


def test_a_number_that_is_not_finite_is_named_with_its_place():
    class Diverging(Process):
        def step(self):
            if self.number == 1 and self.core.step == 7:
                self.body.x[self.body.own[0]] = float("nan")
            yield from super().step()

    class World3(World):
        make_process = Diverging

    world = World3(Day(9, 3, 30, 5, 6))
    world.run()
    assert "worker 'w1' sent a number that is not finite in step 7, stage 0 (number " in world.failure


def test_workers_that_run_different_programs_are_named():
    class Longer(Process):
        def post(self, other, step, stage, numbers):
            super().post(other, step, stage, [*numbers, 0.0] if self.number == 1 and step == 7 else numbers)

    class World3(World):
        make_process = Longer

    world = World3(Day(9, 3, 30, 5, 6))
    world.run()
    assert "do not run the same program: from 'w1', step 7, stage 0 has" in world.failure


# --- rates ------------------------------------------------------------------------------------------------------------------


@pytest.mark.campaign
def test_a_thousand_workers_step_as_fast_as_ten():
    rates, many = {}, as_far_as(1000, 300)
    for workers in (10, many):
        rates[workers] = 0.0

        class Timed(World):
            def stepped(self, process):
                super().stepped(process)
                if process.core.step == 10:
                    self.begun = self.now
                if process.core.step == 60:
                    self.ended = self.now

        world = Timed(Day(3, workers, 60, 20, 60))
        world.model.event, world.model.gathers = -1, False
        assert world.run() is None
        rates[workers] = 50 / (world.ended - world.begun)
    assert rates[many] >= 0.95 * rates[10]


def test_a_drawn_day_can_be_changed():
    assert play(12, kills=0, zombies=0) is None
