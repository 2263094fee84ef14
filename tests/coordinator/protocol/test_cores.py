"""Worker and coordinator, one message at a time: who is let in, who counts as dead, what is asked for and what is told."""

import re

import pytest

from coordinator.distributed.protocol import (
    CheckpointRef,
    Coordinator,
    Deadlines,
    Edge,
    Member,
    Neighbour,
    Plan,
    State,
    Worker,
    checkpoint,
    effects,
    schema,
)
from coordinator.distributed.protocol.control import (
    Checkpointed,
    Durable,
    Failed,
    Grant,
    Hello,
    Progress,
    Roster,
    Stop,
    Welcome,
    from_coordinator,
    from_worker,
)
from coordinator.distributed.protocol.plan import START
from modular.errors import ModelError

TIMES = Deadlines(silence=10.0, start=20.0, stuck=100.0, orphan=50.0)
PLAN = Plan(7, ("a", "b", "c"), (Edge(0, 1, 5, 1), Edge(1, 2, 6, 2)), 10, 3)


def hello(name="a", incarnation=1):
    return Hello(name, incarnation, f"tcp://{name}")


def opened(joined="abc", goal=100):
    core = Coordinator(PLAN, TIMES, 0.0)
    for name in joined:
        say(core, hello(name))
    core.run_to(goal, 0.0)
    core.effects()
    return core


def say(core, message, now=0.0, sender=None):
    core.hear(schema.encode(message), now, sender or message.name)
    return core.effects()


def told(out, kind):
    """Messages of one kind, as (to whom, message)."""
    messages = [(e.name, from_coordinator(e.message)) for e in out if isinstance(e, effects.Tell)]
    return [(name, message) for name, message in messages if isinstance(message, kind)]


def started(out):
    return [effect for effect in out if isinstance(effect, effects.Start)]


def progress(name, step, incarnation=1, roster=99, exchanges=0):
    return Progress(name, incarnation, step, exchanges, roster, "", 0)


# --- the door ---------------------------------------------------------------------------------------------------------------


def test_a_run_begins_with_asking_for_its_workers():
    assert Coordinator(PLAN, TIMES, 0.0).effects() == [effects.Start(name, 1) for name in "abc"]


def test_a_worker_that_says_hello_is_welcome_and_told_of_its_neighbours():
    core = opened("")
    ((name, welcome),) = told(say(core, hello("b")), Welcome)
    assert name == "b" and welcome.number == 1 and welcome.checkpoints == (START,)
    assert welcome.neighbours == (Neighbour("a", 0, 5, 1), Neighbour("c", 2, 6, 2))


@pytest.mark.parametrize("stranger", [hello("z"), hello("a", 2), progress("a", 5)])
def test_who_has_no_place_is_not_heard(stranger):
    core = opened("")
    assert say(core, stranger) == [] and core.counts["stranger"] == 1


def test_a_name_that_is_not_that_of_the_sender_is_not_heard():
    core = opened("")
    assert say(core, hello("a"), sender="b") == [] and core.counts["impostor"] == 1
    assert told(say(core, hello("a"), sender="a"), Welcome)


def test_everyone_around_learns_of_a_new_incarnation_before_and_after_its_hello():
    core = opened()
    core.exited("a", 1, "killed", 1.0)
    out = core.effects()
    assert out[:2] == [effects.End("a", 1), effects.Start("a", 2)]
    ((name, roster),) = told(out, Roster)
    assert name == "b" and Member("a", 0, 2, "") in roster.members
    ((name, roster),) = told(say(core, hello("a", 2)), Roster)[:1]
    assert Member("a", 0, 2, "tcp://a") in dict(told(say(core, hello("a", 2)), Roster))["b"].members


# --- life and death ---------------------------------------------------------------------------------------------------------


def test_silence_is_death_and_any_word_is_life():
    core = opened()
    for now in range(1, 40):
        for name in "ab":
            say(core, progress(name, now), float(now))
        core.wake(float(now))
        out = core.effects()
        if started(out):
            break
    assert started(out) == [effects.Start("c", 2)] and 10 < now <= 12


@pytest.mark.parametrize(("joined", "why"), [("abc", "silent for 21.0 s"), ("", "no hello in 21.0 s")])
def test_the_last_death_says_how_it_was_noticed(joined, why):
    core = Coordinator(Plan(**{**vars(PLAN), "deaths": 1}), TIMES, 0.0)
    for name in joined:
        say(core, hello(name))
    core.wake(21.0)
    assert core.failure.startswith(f"worker 'a' died ({why}); that was death number 1 without a new checkpoint")


@pytest.mark.parametrize("silent", ["silence", "stuck"])
def test_time_in_which_a_worker_was_held_up_is_no_silence_and_nothing_more(silent):
    """Nine seconds in ten it has no processor: it counts as dead, or all as stuck, ten times later."""
    core, limit = opened(), getattr(TIMES, silent)
    for now in range(1, 2000):
        for name in "ab" if silent == "silence" else "abc":
            say(core, progress(name, 1), float(now))
        core.extend_deadline("c", 0.9, float(now))
        core.wake(float(now))
        if any(isinstance(effect, effects.Start | effects.Ended) for effect in core.effects()):
            break
    assert 10.0 * limit <= now <= 10.0 * limit + 13.0


def test_nobody_is_excused_for_the_future():
    core = opened()
    core.extend_deadline("c", 1e6, 1.0)
    for now in range(1, 14):
        for name in "ab":
            say(core, progress(name, now), float(now))
        core.wake(float(now))
        if effects.Start("c", 2) in core.effects():
            break
    assert 11.0 < now < 13.0


def test_the_dead_are_not_heard_whatever_they_say():
    core = opened()
    core.exited("c", 1, "killed", 1.0)
    core.effects()
    for message in (hello("c", 1), progress("c", 50), Checkpointed("c", 1, 50, "x"), Failed("c", 1, 5, "oh")):
        assert say(core, message) == []
    assert core.counts["fenced"] == 4 and core.registry["c"].checkpoints == (START,) and not core.failure


def test_a_worker_that_never_says_hello_is_started_again():
    core = opened("ab")
    core.wake(21.0)
    assert effects.Start("c", 2) in core.effects()


def test_news_of_an_exit_counts_once():
    core = opened()
    for _ in range(3):
        core.exited("a", 1, "killed", 1.0)
    assert started(core.effects()) == [effects.Start("a", 2)]


def test_deaths_are_counted_from_the_last_new_checkpoint():
    core = opened()
    for life in range(1, 7):
        core.exited("a", life, "killed", 1.0)
        core.effects()
        say(core, hello("a", life + 1))
        if life % 2 == 0:
            say(core, Checkpointed("a", life + 1, 10 * life, "x"))
    for life in (7, 8):
        assert not core.failure
        core.exited("a", life, "killed", 1.0)
        say(core, hello("a", life + 1))
        say(core, Checkpointed("a", life + 1, 60, "x"))  # an old one again is no progress
    core.exited("a", 9, "killed", 1.0)
    assert "worker 'a' died (killed); that was death number 3 without a new checkpoint" in core.failure


def test_a_failure_stops_the_run_with_the_words_of_the_worker():
    core = opened()
    out = say(core, Failed("b", 1, 17, "knee diverged"))
    assert [name for name, _ in told(out, Stop)] == ["a", "b", "c"]
    assert effects.Ended("worker 'b' at step 17: knee diverged") in out
    assert told(say(core, progress("a", 18)), Stop) == [("a", Stop(core.failure))]  # the first may have got lost


def test_when_nothing_moves_the_run_is_stopped_and_says_who_waits():
    core = opened()
    for now in range(1, 120):
        for name in "abc":
            message = progress(name, 5)
            say(core, Progress(**{**vars(message), "waits_for": "b", "waiting": 1000 * now}), float(now))
        core.wake(float(now))
        if core.failure:
            break
    assert 100 < now < 104
    assert "no progress for" in core.failure and "waits for 'b' since" in core.failure


# --- horizons ---------------------------------------------------------------------------------------------------------------


def test_the_horizon_moves_to_the_goal_as_soon_as_all_are_there():
    core = opened("ab", goal=20)
    assert core.horizon == 0
    assert told(say(core, hello("c")), Grant) == [(name, Grant(20)) for name in "abc"]
    core.exited("b", 1, "killed", 1.0)
    core.run_to(30, 1.0)
    assert core.horizon == 20
    assert told(say(core, hello("b", 2)), Grant) == [(name, Grant(30)) for name in "abc"]


def test_the_goal_is_reached_once_by_all():
    core = opened(goal=20)
    assert not any(isinstance(e, effects.Reached) for n in "ab" for e in say(core, progress(n, 20)))
    assert effects.Reached(20) in say(core, progress("c", 20))
    assert not any(isinstance(e, effects.Reached) for e in say(core, progress("c", 20)))


def test_who_is_replaced_at_the_goal_has_to_come_there_again():
    core = opened(goal=20)
    for name in "ab":
        say(core, progress(name, 20))
    core.exited("a", 1, "killed", 1.0)
    say(core, hello("a", 2))
    assert effects.Reached(20) not in say(core, progress("c", 20))
    assert effects.Reached(20) in say(core, progress("a", 20, 2))


def test_a_report_that_shows_a_gap_is_answered_with_what_is_missing():
    core = opened()
    out = say(core, progress("a", 20, roster=0))
    assert [name for name, _ in told(out, Roster)] == ["a"] and told(out, Grant) == [("a", Grant(100))]
    assert told(say(core, progress("a", 20, roster=99)), Roster) == []


# --- checkpoints ------------------------------------------------------------------------------------------------------------


def test_a_checkpoint_is_confirmed_and_the_one_before_is_kept():
    core = opened()
    assert told(say(core, Checkpointed("a", 1, 10, "x")), Durable) == [("a", Durable(10, 0))]
    assert told(say(core, Checkpointed("a", 1, 20, "y")), Durable) == [("a", Durable(20, 10))]
    assert core.registry["a"].checkpoints == (CheckpointRef(20, 1, "y"), CheckpointRef(10, 1, "x"))


def test_a_state_that_comes_out_differently_in_the_replay_is_named():
    core = opened()
    say(core, Checkpointed("a", 1, 10, "x"))
    core.exited("a", 1, "killed", 1.0)
    say(core, hello("a", 2))
    say(core, Checkpointed("a", 2, 10, "z"))
    assert "worker 'a' is not deterministic: at step 10 incarnation 1 had state x, and incarnation 2 has z" in (
        core.failure
    )


# --- the worker -------------------------------------------------------------------------------------------------------------

WELCOME = Welcome(2, 1, 10, 20, 4, (Member("a", 0, 1, "tcp://a"),), (Neighbour("a", 0, 5, 1),), (START,))


def worker(welcome=WELCOME):
    core = Worker(7, "b", 2, "tcp://b", TIMES, 0.0)
    core.wake(0.0)
    if welcome is not None:
        core.hear(schema.encode(welcome), 0.0)
    return core


def said(core, kind):
    messages = [from_worker(e.message) for e in core.effects() if isinstance(e, effects.Report)]
    return [message for message in messages if isinstance(message, kind)]


def hear(core, message, now=0.0):
    core.hear(schema.encode(message), now)


def test_a_worker_says_hello_until_it_is_welcome():
    core = worker(None)
    for now in (0.5, 1.0, 1.5):
        core.wake(now)
    assert len(said(core, Hello)) == 4 and core.state is State.JOINING and not core.may_step


def test_a_worker_runs_to_its_horizon_and_no_further():
    core = worker()
    core.effects()
    steps = 0
    while core.may_step:
        if core.finish(0.0):
            core.checkpoint(b"state")
        steps += 1
    assert steps == 20
    out = core.effects()
    assert [effect.step for effect in out if isinstance(effect, effects.Store)] == [10, 20]
    reports = [from_worker(e.message).step for e in out if isinstance(e, effects.Report)]
    assert reports == [20]


def test_a_horizon_never_goes_back():
    core = worker()
    for horizon in (90, 40):
        hear(core, Grant(horizon))
    assert core.horizon == 90


def test_steps_may_be_passed_over_up_to_the_next_that_matters():
    core, due = worker(), []
    hear(core, Grant(25))
    while core.may_step:
        core.pass_over(core.next_due() - core.step - 1)
        due.append((core.step + 1, core.finish(0.0)))
    assert due == [(10, True), (20, True), (25, False)]


def test_a_confirmed_checkpoint_is_told_to_the_neighbours_and_an_unconfirmed_one_is_repeated():
    core = worker()
    for _ in range(10):
        core.finish(0.0)
    core.checkpoint(b"state")
    core.effects()
    core.stored(10)
    core.wake(1.0)
    assert len(said(core, Checkpointed)) == 2
    hear(core, Durable(10, 0))
    core.wake(2.0)
    assert said(core, Checkpointed) == []
    hear(core, Durable(20, 10))
    assert core.effects() == [effects.Send("a", core.links["a"].notice(10))]


@pytest.mark.parametrize("welcome", [None, WELCOME])
def test_a_worker_that_is_stopped_ends_with_the_reason(welcome):
    core = worker(welcome)
    core.effects()
    hear(core, Stop("knee diverged"))
    assert core.state is State.ENDED and core.effects() == [effects.Ended("knee diverged")]


def test_a_worker_without_a_coordinator_gives_up_in_time_and_says_so():
    core = worker()
    hear(core, Grant(20), 5.0)
    core.step = 20
    core.wake(54.0)
    assert core.state is State.RUNNING
    core.wake(56.0)
    ended = next(effect for effect in core.effects() if isinstance(effect, effects.Ended))
    assert "waits at step 20 for a new horizon; the coordinator was last heard 51 s ago" in ended.reason


def test_a_worker_that_ended_is_still():
    core = worker()
    hear(core, Stop("knee diverged"))
    core.effects()
    hear(core, Grant(90))
    core.receive(core.links["a"].notice(3), 0.0)
    core.wake(100.0)
    assert core.effects() == [] and not core.may_step


def test_a_welcome_for_another_incarnation_is_not_taken():
    core = worker(Welcome(**{**vars(WELCOME), "incarnation": 3}))
    assert core.state is State.JOINING
    hear(core, WELCOME)
    assert core.state is State.RUNNING


# --- what makes no sense ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"names": ()}, r"workers \(none\): give at least one"),
        ({"names": ("a", "a", "b")}, "workers a, a, b: give at least one, each with its own name"),
        ({"every": 0}, "every 0 and deaths 3: both are at least 1"),
        ({"deaths": 0}, "every 10 and deaths 0: both are at least 1"),
        ({"edges": (Edge(0, 3, 1, 1),)}, "edge 0-3 does not join two of the 3 workers: a, b, c"),
        ({"edges": (Edge(1, 1, 1, 1),)}, "edge 1-1 does not join"),
        ({"edges": (Edge(0, 1, 1, 1), Edge(1, 0, 1, 1))}, "workers 'a' and 'b' have two edges"),
    ],
)
def test_a_plan_that_makes_no_sense_is_refused(change, why):
    with pytest.raises(ModelError, match=why):
        Plan(**{**vars(PLAN), **change})


def test_a_worker_with_more_neighbours_than_a_message_holds_is_refused():
    names = ("hub", *(f"worker with a long name {k:0100d}" for k in range(3000)))
    star = Plan(7, names, tuple(Edge(0, k, 5, 1) for k in range(1, len(names))), 10, 3)
    with pytest.raises(
        ModelError,
        match=r"worker 'hub' has 3000 neighbours: the list of them takes 1\d{6} bytes, .*; take fewer workers",
    ):
        Coordinator(star, TIMES, 0.0)


@pytest.mark.parametrize("times", [{"patience": 0.0}, {"stuck": -1.0}, {"orphan": float("nan")}, {"silence": 1.0}])
def test_deadlines_that_make_no_sense_are_refused_by_name(times):
    with pytest.raises(ModelError, match=f"deadline '{next(iter(times))}' is"):
        Deadlines(**times)


# --- the neighbours of a worker -----------------------------------------------------------------------------------------


def test_a_roster_fences_and_connects_and_what_is_older_changes_nothing():
    core = worker()
    core.effects()
    hear(core, Roster(5, (Member("a", 0, 2, ""),)))  # replaced, and not yet there
    assert core.links["a"].incarnation == 2 and core.effects() == []
    newer = Member("a", 0, 2, "tcp://new")
    for members in ((newer,), (newer,), (Member("a", 0, 1, "tcp://old"),), (Member("a", 0, 2, ""),)):
        hear(core, Roster(4, members))
    assert core.effects() == [effects.Connect("a", "tcp://new")]
    assert core.links["a"].incarnation == 2 and core.near.roster == 5


# --- checkpoints that do not fit ------------------------------------------------------------------------------------------


def saved(name="b", links=(), state=b"good", step=10):
    snapshot = checkpoint.Snapshot(7, name, 1, step, state, links)
    return checkpoint.encode(snapshot), CheckpointRef(10, 1, checkpoint.digest(b"good"))


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"state": b"other"}, "the state has digest .* the coordinator has"),
        ({"name": "a"}, "it is of 'a' at step 10 of run 7"),
        ({"step": 20}, "it is of 'b' at step 20 of run 7"),
    ],
)
def test_a_checkpoint_of_something_else_is_passed_over(change, why):
    blob, kept = saved(**change)
    core = worker(Welcome(**{**vars(WELCOME), "checkpoints": (kept, CheckpointRef(5, 1, "x"))}))
    core.effects()
    core.loaded(kept, blob, 0.0)
    assert core.effects() == [effects.Load(CheckpointRef(5, 1, "x"))]
    core.loaded(CheckpointRef(5, 1, "x"), None, 0.0)
    (failed,) = said(core, Failed)
    assert not core.may_step and failed.reason.startswith("no checkpoint of 'b' can be read: ")
    assert re.search(why, failed.reason) and "at step 5: not there." in failed.reason


def test_the_right_checkpoint_is_taken_on():
    blob, kept = saved()
    core = worker(Welcome(**{**vars(WELCOME), "checkpoints": (kept, START)}))
    core.effects()
    core.loaded(kept, blob, 0.0)
    assert core.effects()[0] == effects.Resume(b"good") and core.step == 10 and core.may_step


def test_a_checkpoint_is_asked_for_until_it_is_there_and_less_and_less_often():
    """It may be kept on another machine: the question can get lost, and so can the answer."""
    blob, kept = saved()
    core = worker(Welcome(**{**vars(WELCOME), "checkpoints": (kept, START)}))
    asked, now = [0.0] * core.effects().count(effects.Load(kept)), 0.0
    while now < 40.0:
        now = core.next_wake()
        core.wake(now)
        asked += [now] * core.effects().count(effects.Load(kept))
    assert asked == [0.0, 0.5, 1.5, 3.5, 7.5, 15.5, 25.5, 35.5]  # `silence` is 10 s here
    core.loaded(kept, blob, now)
    core.loaded(kept, blob, now)  # it came twice
    assert core.effects()[0] == effects.Resume(b"good") and core.effects() == []
    core.wake(now + 20.0)
    assert not any(isinstance(effect, effects.Load | effects.Resume) for effect in core.effects())


def test_of_a_checkpoint_that_is_passed_over_nothing_stays():
    good = {"peer": 0, "posted": 5 << 16, "taken": 4 << 16, "log": []}
    blob, kept = saved(links=((good, b""), ({**good, "posted": None}, b"")))
    core = worker(Welcome(**{**vars(WELCOME), "checkpoints": (kept, START)}))
    core.loaded(kept, blob, 0.0)
    assert core.step == 0 and core.may_step
    assert core.links["a"].posted == core.links["a"].inbox.taken == -1
    assert core.links["a"].incarnation == 1
    assert len(core.links["a"].post(0, 0, bytes(8))) == 48


def test_checkpoints_are_reported_by_the_newest_and_confirmed_by_nothing_older():
    core = worker()
    for step in range(1, 21):
        if core.finish(0.0):
            core.checkpoint(b"state %d" % step)
    core.effects()
    core.stored(20)
    core.stored(10)  # was written more slowly
    assert [message.step for message in said(core, Checkpointed)] == [20]
    hear(core, Durable(10, 0))
    core.wake(1.0)
    assert [message.step for message in said(core, Checkpointed)] == [20]
    hear(core, Durable(20, 0))
    core.wake(2.0)
    assert said(core, Checkpointed) == []


# --- the coordinator remembers --------------------------------------------------------------------------------------------


def test_a_checkpoint_that_a_successor_wrote_again_is_the_one_to_start_from():
    core = opened()
    say(core, Checkpointed("a", 1, 10, "x"))
    say(core, Checkpointed("a", 1, 20, "y"))
    core.exited("a", 1, "killed", 1.0)
    say(core, hello("a", 2))
    say(core, Checkpointed("a", 2, 20, "y"))
    assert core.registry["a"].checkpoints == (CheckpointRef(20, 2, "y"), CheckpointRef(10, 1, "x"))


def test_a_step_of_many_stages_gets_on_although_it_is_one_step():
    core = opened()
    for now in range(1, 300):
        for name in "abc":
            say(core, progress(name, 5, exchanges=now if name == "b" else 7), float(now))
        core.wake(float(now))
    assert not core.failure


def test_a_long_run_that_gets_on_is_not_stopped():
    core = opened(goal=400)
    for now in range(1, 300):
        for name in "abc":
            say(core, progress(name, now), float(now))
        core.wake(float(now))
    assert not core.failure and now > 2 * TIMES.stuck
