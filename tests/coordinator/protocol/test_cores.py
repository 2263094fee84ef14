"""Worker and coordinator, one message at a time: who is let in, who is refused, what is decided and what is written first."""

import re

import pytest

from coordinator.protocol import (
    Called,
    Coordinator,
    Deadlines,
    Edge,
    Hello,
    Malformed,
    Member,
    Neighbour,
    Opened,
    Plan,
    Share,
    State,
    Worker,
    checkpoint,
    effects,
    journal,
    schema,
)
from coordinator.protocol.control import (
    Abort,
    Answer,
    Checkpointed,
    Commit,
    Durable,
    Failed,
    Grant,
    Prepare,
    Progress,
    Refused,
    Roster,
    Stop,
    Welcome,
    from_coordinator,
    from_worker,
)
from coordinator.protocol.plan import START, Kept
from modular.errors import ModelError

TIMES = Deadlines(silence=10.0, start=20.0, prepare=5.0, stuck=100.0, orphan=50.0)
OPENED = Opened(7, "numpy 2.1", "cafe", 10, 20, 3, (Called("a"), Called("b"), Called("c")),
                Plan(1, 0, 0, (Edge(0, 1, 5, 1), Edge(1, 2, 6, 2))))  # fmt: skip


def hello(name="a", incarnation=1, token="t", **other):
    return Hello(**{"name": name, "incarnation": incarnation, "token": token, "run": 7, "fingerprint": "numpy 2.1",
                    "model": "cafe", "address": f"tcp://{name}"} | other)  # fmt: skip


def opened(joined="abc", goal=100, every=10):
    core = Coordinator.open(Opened(**{**vars(OPENED), "every": every}), TIMES, 0.0)
    for name in joined:
        say(core, hello(name, token=name))
    core.run_to(goal, 0.0)
    core.effects()
    return core


def say(core, message, now=0.0, sender=None):
    core.hear(schema.encode(message), now, sender)
    return core.effects()


def told(out, kind):
    """Messages of one kind, as (to whom, message)."""
    messages = [(e.name, from_coordinator(e.message)) for e in out if isinstance(e, effects.Tell)]
    return [(name, message) for name, message in messages if isinstance(message, kind)]


def written(out):
    return [entry for e in out if isinstance(e, effects.Write) for entry in journal.read(e.line)[0]]


def progress(name, step, incarnation=1, plan=1, horizon=20, roster=99, prepared=0, exchanges=0):
    return Progress(name, incarnation, 1, plan, step, exchanges, horizon, roster, prepared, "", 0)


# --- the door ---------------------------------------------------------------------------------------------------------------


def test_a_worker_that_says_hello_is_written_down_before_it_is_welcomed():
    core = opened("")
    out = say(core, hello("b"))
    kinds = [type(effect).__name__ for effect in out]
    assert kinds.index("Write") < kinds.index("Tell")
    assert written(out) == [journal.Joined("b", 1, "t", "tcp://b")]
    ((name, welcome),) = told(out, Welcome)
    assert name == "b" and welcome.number == 1 and welcome.kept == (START,)
    assert [edge.name for edge in welcome.shares[0].neighbours] == ["a", "c"]


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"run": 8}, "worker 'a' has run 8; this run has 7."),
        ({"fingerprint": "numpy 1.9"}, "has fingerprint 'numpy 1.9'; this run has 'numpy 2.1'"),
        ({"model": "beef"}, "has model 'beef'; this run has 'cafe'"),
        ({"name": "z"}, "worker 'z' is none of a, b, c"),
        ({"incarnation": 2}, "1 is the newest"),
    ],
)
def test_who_does_not_fit_is_refused_and_told_why(change, why):
    core = opened("")
    out = say(core, hello(**change))
    ((_, refused),) = told(out, Refused)
    assert why in refused.reason and written(out) == []


def test_of_two_processes_that_claim_one_place_the_first_is_taken():
    core = opened("")
    say(core, hello(token="first"))
    ((_, refused),) = told(say(core, hello(token="second")), Refused)
    assert "another process has taken this place" in refused.reason and refused.token == "second"
    assert told(say(core, hello(token="first")), Welcome)


def test_a_worker_that_was_started_by_hand_is_given_its_incarnation():
    core = opened("")
    core.exited("a", 1, "killed", 1.0)
    core.effects()
    ((_, welcome),) = told(say(core, hello(incarnation=0)), Welcome)
    assert welcome.incarnation == 2


def test_a_name_that_does_not_belong_to_the_key_is_not_heard():
    core = opened("")
    assert say(core, hello("a"), sender="b") == [] and core.counts["impostor"] == 1
    assert told(say(core, hello("a"), sender="a"), Welcome)


def test_everyone_around_learns_of_a_new_incarnation_before_and_after_its_hello():
    core = opened()
    core.exited("a", 1, "killed", 1.0)
    out = core.effects()
    assert written(out) == [journal.Replaced("a", 2, "killed")]
    assert [effect for effect in out if isinstance(effect, effects.Start)] == [effects.Start("a", 2)]
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
        if started := [effect for effect in out if isinstance(effect, effects.Start)]:
            break
    assert started == [effects.Start("c", 2)] and 10 < now <= 12
    assert "silent for 11.0 s" in written(out)[0].reason


@pytest.mark.parametrize("silent", ["silence", "stuck"])
def test_time_in_which_a_worker_was_held_up_is_no_silence_and_nothing_more(silent):
    """Nine seconds in ten it has no processor: it counts as dead, or all as stuck, ten times later."""
    core, limit = opened(), getattr(TIMES, silent)
    for now in range(1, 2000):
        for name in "ab" if silent == "silence" else "abc":
            say(core, progress(name, 1), float(now))
        core.excuse("c", 0.9, float(now))
        core.wake(float(now))
        if any(isinstance(effect, effects.Start | effects.Ended) for effect in core.effects()):
            break
    assert 10.0 * limit <= now <= 10.0 * limit + 13.0


def test_nobody_is_excused_for_the_future():
    core = opened()
    core.excuse("c", 1e6, 1.0)
    for now in range(1, 14):
        for name in "ab":
            say(core, progress(name, now), float(now))
        core.wake(float(now))
        if effects.Start("c", 2) in core.effects():
            break
    assert 11.0 < now < 13.0


def test_the_dead_are_refused_whatever_they_say():
    core = opened()
    core.exited("c", 1, "killed", 1.0)
    core.effects()
    for message in (hello("c", 1), progress("c", 50), Checkpointed("c", 1, 50, "x"), Failed("c", 1, 5, "oh")):
        out = say(core, message)
        ((_, refused),) = told(out, Refused)
        assert "replaced by incarnation 2" in refused.reason and written(out) == []


def test_a_worker_that_never_says_hello_is_started_again():
    core = opened("ab")
    core.wake(21.0)
    assert effects.Start("c", 2) in core.effects()


def test_news_of_an_exit_counts_once():
    core = opened()
    for _ in range(3):
        core.exited("a", 1, "killed", 1.0)
    assert len(written(core.effects())) == 1


def test_deaths_are_counted_from_the_last_new_checkpoint():
    core = opened()
    for life in range(1, 7):
        core.exited("a", life, "killed", 1.0)
        core.effects()
        say(core, hello("a", life + 1))
        if life % 2 == 0:
            say(core, Checkpointed("a", life + 1, 10 * life, "x"))
    for life in (7, 8):
        assert core.history.closed is None
        core.exited("a", life, "killed", 1.0)
        say(core, hello("a", life + 1))
        say(core, Checkpointed("a", life + 1, 60, "x"))  # an old one again is no progress
    core.exited("a", 9, "killed", 1.0)
    assert "worker 'a' died (killed); that was death number 3 without a new checkpoint" in core.history.closed


def test_a_failure_stops_the_run_with_the_words_of_the_worker():
    core = opened()
    out = say(core, Failed("b", 1, 17, "knee diverged"))
    assert written(out) == [journal.Closed("worker 'b' at step 17: knee diverged")]
    assert [name for name, _ in told(out, Stop)] == ["a", "b", "c"]
    assert effects.Ended("worker 'b' at step 17: knee diverged", True) in out


def test_when_nothing_moves_the_run_is_stopped_and_says_who_waits():
    core = opened()
    for now in range(1, 120):
        for name in "abc":
            message = progress(name, 5)
            say(core, Progress(**{**vars(message), "waits_for": "b", "waiting": 1000 * now}), float(now))
        core.wake(float(now))
        if core.history.closed is not None:
            break
    assert 100 < now < 104
    assert "nothing has moved for" in core.history.closed and "waits for 'b' since" in core.history.closed


# --- horizons ---------------------------------------------------------------------------------------------------------------


def test_the_horizon_moves_when_all_have_come_close_and_is_written_first():
    core = opened()
    assert core.history.horizon == 20
    say(core, progress("a", 15))
    say(core, progress("b", 15))
    assert core.history.horizon == 20
    out = say(core, progress("c", 15))
    kinds = [type(effect).__name__ for effect in out]
    assert core.history.horizon == 40 and written(out) == [journal.Horizon(40)]
    assert [m.horizon for _, m in told(out[: kinds.index("Write")], Grant)] == [20]
    assert [m.horizon for _, m in told(out[kinds.index("Write") :], Grant)] == [40] * 3


def test_the_goal_is_reached_once_by_all():
    core = opened(goal=20)
    assert not any(isinstance(e, effects.Reached) for n in "ab" for e in say(core, progress(n, 20)))
    assert effects.Reached(20) in say(core, progress("c", 20))
    assert core.history.horizon == 20
    core.run_to(30, 0.0)
    assert core.history.horizon == 30


# --- checkpoints ------------------------------------------------------------------------------------------------------------


def test_a_checkpoint_is_written_down_before_it_is_confirmed_and_the_one_before_is_kept():
    core = opened()
    out = say(core, Checkpointed("a", 1, 10, "x"))
    assert [type(effect).__name__ for effect in out] == ["Write", "Tell"]
    assert told(out, Durable) == [("a", Durable(1, 10, 0))]
    assert told(say(core, Checkpointed("a", 1, 20, "y")), Durable) == [("a", Durable(1, 20, 10))]
    assert core.history.seats["a"].kept == (Kept(20, 1, "y"), Kept(10, 1, "x"))


def test_a_state_that_comes_out_differently_in_the_replay_is_named():
    core = opened()
    say(core, Checkpointed("a", 1, 10, "x"))
    core.exited("a", 1, "killed", 1.0)
    say(core, hello("a", 2))
    say(core, Checkpointed("a", 2, 10, "z"))
    assert "worker 'a' is not deterministic: at step 10 incarnation 1 had state x, and incarnation 2 has z" in (
        core.history.closed
    )


# --- plans ------------------------------------------------------------------------------------------------------------------


def test_a_plan_holds_when_all_have_agreed_and_is_written_before_anybody_hears():
    core = opened()
    version = core.propose((Edge(0, 2, 9, 1),), "swap", 0.0)
    out = core.effects()
    assert [name for name, _ in told(out, Prepare)] == ["a", "b", "c"] and version == 2
    assert written(out)[0].plan.start == 20
    for name in "ab":
        assert say(core, Answer(name, 1, 2, True, "")) == []
    out = say(core, Answer("c", 1, 2, True, ""))
    assert isinstance(out[0], effects.Write) and written(out)[0] == journal.Settled(2, True, "")
    assert effects.Decided(2, True, "") in out
    commits = dict(told(out, Commit))
    assert [edge.name for edge in commits["a"].share.neighbours] == ["c"] and commits["b"].share.neighbours == ()


@pytest.mark.parametrize("way", ["no", "death", "time", "restart"])
def test_all_or_nothing(way):
    core = opened()
    core.propose((), "x", 0.0)
    log = [journal.line(OPENED), journal.line(journal.Epoch(1))]
    say(core, Answer("a", 1, 2, True, ""))
    if way == "no":
        out = say(core, Answer("b", 1, 2, False, "knee is gone"))
    elif way == "death":
        core.exited("b", 1, "killed", 1.0)
        out = core.effects()
    elif way == "time":
        core.wake(6.0)
        out = core.effects()
    else:
        entries = [*journal.read(b"".join(log))[0], journal.Proposed(core.history.proposal)]
        core = Coordinator.resume(entries, TIMES, 0.0)
        out = core.effects()
    decided = next(effect for effect in out if isinstance(effect, effects.Decided))
    expected = {"no": "worker 'b': knee is gone", "death": "worker 'b' died (killed)", "time": "no answer from b, c in 5 s",
                "restart": "the coordinator was started again"}[way]  # fmt: skip
    assert decided == effects.Decided(2, False, expected)
    assert core.history.version == 1 and core.history.proposal is None
    assert say(core, Answer("c", 1, 2, True, "")) == [] or core.history.version == 1
    if way != "restart":
        assert core.propose((), "again", 0.0) == 3  # a version is never given twice


def test_horizons_wait_for_an_open_plan():
    core = opened()
    core.propose((), "x", 0.0)
    for name in "abc":
        say(core, progress(name, 20))
    assert core.history.horizon == 20
    for name in "abc":
        say(core, Answer(name, 1, 2, True, ""))
    assert core.history.horizon == 40


def test_a_report_that_shows_a_gap_is_answered_with_what_is_missing():
    core = opened()
    core.propose((), "x", 0.0)
    for name in "abc":
        say(core, Answer(name, 1, 2, True, ""))
    out = say(core, progress("a", 20, plan=1, roster=0))
    assert told(out, Commit) and told(out, Roster) and told(out, Grant)
    out = say(core, progress("a", 20, plan=2, prepared=3))
    assert told(out, Abort) == [("a", Abort(1, 3, "it was not committed"))]


@pytest.mark.parametrize(
    ("edges", "why"),
    [
        ((Edge(0, 3, 1, 1),), "edge 0-3 does not join two of the 3 workers"),
        ((Edge(1, 1, 1, 1),), "edge 1-1 does not join"),
        ((Edge(0, 1, 1, 1), Edge(1, 0, 1, 1)), "workers 'a' and 'b' have two edges"),
    ],
)
def test_edges_that_make_no_sense_are_refused(edges, why):
    core = opened()
    with pytest.raises(ModelError, match=why):
        core.propose(edges, "", 0.0)
    assert core.effects() == []


def test_two_plans_at_once_are_refused():
    core = opened()
    core.propose((), "x", 0.0)
    with pytest.raises(ModelError, match="plan 2 is open"):
        core.propose((), "y", 0.0)


# --- the worker -------------------------------------------------------------------------------------------------------------

WELCOME = Welcome(3, 7, "t", 2, 1, 10, 20, 10, 4, (Member("a", 0, 1, "tcp://a"),),
                  (Share(1, 0, 0, (Neighbour("a", 0, 5, 1),)),), (START,))  # fmt: skip


def worker(welcome=WELCOME):
    core = Worker(hello("b", 2), TIMES, 0.0)
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
        core.begin()
        if core.finish(0.0):
            core.checkpoint(b"state")
        steps += 1
    assert steps == 20
    out = core.effects()
    assert [effect.step for effect in out if isinstance(effect, effects.Store)] == [10, 20]
    reports = [from_worker(e.message).step for e in out if isinstance(e, effects.Report)]
    assert reports == [10, 20]  # early enough for the next horizon, and at the end


def test_an_older_coordinator_is_not_heard():
    core = worker()
    hear(core, Grant(2, 90, 80, 1))
    assert core.horizon == 20
    hear(core, Grant(4, 90, 80, 1))
    assert core.horizon == 90
    hear(core, Grant(3, 95, 80, 1))
    assert core.horizon == 90


def test_a_grant_of_a_plan_that_is_not_known_waits_for_it():
    core = worker()
    core.effects()
    hear(core, Grant(3, 40, 30, 2))
    assert core.horizon == 20
    assert said(core, Progress)[0].plan == 1
    hear(core, Commit(3, Share(2, 1, 20, ()), ()))
    hear(core, Grant(3, 40, 30, 2))
    assert core.horizon == 40


def test_commits_are_taken_in_order_and_once():
    core = worker()
    second, third = Share(2, 1, 20, (), "x"), Share(4, 2, 20, (), "y")
    hear(core, Commit(3, third, ()))
    assert core.near.version == 1
    for share in (second, second, third, second):
        hear(core, Commit(3, share, ()))
    assert [share.version for share in core.near.shares] == [1, 2, 4]
    core.step = 20
    assert core.begin() == [second, third]


def test_the_physics_is_asked_once_and_its_answer_is_repeated_until_it_is_decided():
    core = worker()
    core.effects()
    prepare = Prepare(3, Share(2, 1, 20, (), "x"), ())
    for _ in range(3):
        hear(core, prepare)
    assert [effect for effect in core.effects() if isinstance(effect, effects.Validate)] == [
        effects.Validate(prepare.share)
    ]
    core.validated(2, "knee is gone")
    core.validated(2, None)
    core.wake(1.0)
    assert said(core, Answer) == [Answer("b", 2, 2, False, "knee is gone")] * 2
    hear(core, Abort(3, 2, "no"))
    assert effects.Forget(2, "no") in core.effects()
    hear(core, prepare)  # a late copy
    core.wake(2.0)
    assert not any(isinstance(effect, effects.Validate) for effect in core.effects())
    assert core._change.version == 0


def test_a_checkpoint_belongs_to_the_plan_before_the_changes_of_its_step():
    core = worker()
    hear(core, Commit(3, Share(2, 1, 20, (), "x"), ()))
    hear(core, Grant(3, 40, 30, 2))
    plans = {}
    while core.may_step:
        if core.finish(0.0):
            core.checkpoint(b"state")
            plans[core.step] = checkpoint.decode(core.effects()[-1].blob).plan
    assert plans == {10: 1, 20: 1, 30: 2, 40: 2}


def test_a_confirmed_checkpoint_is_told_to_the_neighbours_and_an_unconfirmed_one_is_repeated():
    core = worker()
    for _ in range(10):
        core.finish(0.0)
    core.checkpoint(b"state")
    core.effects()
    core.stored(10)
    core.wake(1.0)
    assert len(said(core, Checkpointed)) == 2
    hear(core, Durable(3, 10, 0))
    core.wake(2.0)
    assert said(core, Checkpointed) == []
    hear(core, Durable(3, 20, 10))
    out = core.effects()
    assert [type(effect).__name__ for effect in out] == ["Send", "Discard"]
    assert out[1] == effects.Discard("b", 10)


@pytest.mark.parametrize(
    "refused",
    [Refused(3, "b", 2, "t", "no"), Refused(3, "b", 2, "", "replaced")],
)
def test_a_refused_worker_ends(refused):
    core = worker()
    hear(core, refused)
    assert core.state is State.ENDED and effects.Ended(refused.reason, True) in core.effects()


def test_a_refusal_of_somebody_else_is_not_heard():
    core = worker()
    hear(core, Refused(3, "b", 2, "other process", "no"))
    hear(core, Refused(3, "b", 1, "", "no"))
    assert core.state is State.RUNNING


def test_a_worker_without_a_coordinator_gives_up_in_time_and_says_so():
    core = worker()
    hear(core, Grant(3, 20, 10, 1), 5.0)
    core.step = 20
    core.wake(54.0)
    assert core.state is State.RUNNING
    core.wake(56.0)
    ended = next(effect for effect in core.effects() if isinstance(effect, effects.Ended))
    assert (
        ended.failed and "waits at step 20 for a new horizon; the coordinator was last heard 51 s ago" in ended.reason
    )


def test_a_worker_that_ended_is_still():
    core = worker()
    hear(core, Stop(3, ""))
    core.effects()
    hear(core, Grant(3, 90, 80, 1))
    core.receive(core.links["a"].notice(3), 0.0)
    core.wake(100.0)
    assert core.effects() == [] and not core.may_step


def test_a_welcome_for_another_process_of_the_same_name_is_not_taken():
    core = worker(Welcome(**{**vars(WELCOME), "token": "other process"}))
    assert core.state is State.JOINING
    hear(core, WELCOME)
    assert core.state is State.RUNNING


# --- what makes no sense ------------------------------------------------------------------------------------------------


def test_a_change_that_fits_in_no_message_is_refused_before_anything_is_written():
    core = opened()
    for _ in range(2):
        core.propose((), "x" * 400_000, 0.0)
        for name in "abc":
            say(core, Answer(name, 1, core.history.newest_version, True, ""))
    with pytest.raises(
        ModelError, match=r"plan 4: .* takes 12\d{5} bytes to tell worker 'a'.*wait for the next checkpoints"
    ):
        core.propose((), "x" * 400_000, 0.0)
    assert core.effects() == [] and core.propose((), "y", 0.0) == 4


@pytest.mark.parametrize("change", [{"stride": 0}, {"deaths": 0}, {"workers": ()}, {"workers": (Called("a"),) * 3}])
def test_a_run_that_makes_no_sense_is_refused(change):
    with pytest.raises(ModelError):
        Coordinator.open(Opened(**{**vars(OPENED), **change}), TIMES, 0.0)


@pytest.mark.parametrize("times", [{"patience": 0.0}, {"stuck": -1.0}, {"orphan": float("nan")}, {"silence": 1.0}])
def test_deadlines_that_make_no_sense_are_refused_by_name(times):
    with pytest.raises(ModelError, match=f"deadline '{next(iter(times))}' is"):
        Deadlines(**times)


# --- the neighbours of a worker -----------------------------------------------------------------------------------------


def test_a_roster_fences_and_connects_and_what_is_older_changes_nothing():
    core = worker()
    core.effects()
    hear(core, Roster(3, 5, (Member("a", 0, 2, ""),)))  # replaced, and not yet there
    assert core.links["a"].incarnation == 2 and core.effects() == []
    newer = Member("a", 0, 2, "tcp://new")
    for members in ((newer,), (newer,), (Member("a", 0, 1, "tcp://old"),), (Member("a", 0, 2, ""),)):
        hear(core, Roster(3, 4, members))
    assert core.effects() == [effects.Connect("a", 2, "tcp://new")]
    assert core.links["a"].incarnation == 2 and core.near.roster == 5


def test_neighbours_of_a_plan_to_come_are_connected_before_it_holds():
    core = worker()
    core.effects()
    share = Share(2, 1, 20, (Neighbour("c", 2, 9, 1),))
    hear(core, Prepare(3, share, (Member("c", 2, 3, "tcp://c"),)))
    assert effects.Connect("c", 3, "tcp://c") in core.effects() and "c" not in core.links
    hear(core, Roster(3, 1, (Member("c", 2, 1, "tcp://older"),)))  # a late one
    hear(core, Commit(3, share, ()))
    assert core.links["c"].incarnation == 3
    assert not any(isinstance(effect, effects.Connect) for effect in core.effects())
    core.step = 20
    assert len(core.links["c"].post(20, 0, b"")) == 40
    with pytest.raises(ModelError, match="the plan has no such edge"):
        core.links["a"].post(20, 0, b"")


# --- checkpoints that do not fit ------------------------------------------------------------------------------------------


def saved(name="b", links=(), state=b"good", step=10):
    snapshot = checkpoint.Snapshot(7, name, 1, step, 1, state, links)
    return checkpoint.encode(snapshot), Kept(10, 1, checkpoint.digest(b"good"))


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"state": b"other"}, "the state has digest .* the journal has"),
        ({"name": "a"}, "it is of 'a' at step 10 of run 7"),
        ({"step": 20}, "it is of 'b' at step 20 of run 7"),
    ],
)
def test_a_checkpoint_of_something_else_is_passed_over(change, why):
    blob, kept = saved(**change)
    core = worker(Welcome(**{**vars(WELCOME), "kept": (kept, Kept(5, 1, "x"))}))
    core.effects()
    core.loaded(kept, blob, 0.0)
    assert core.effects() == [effects.Load("b", Kept(5, 1, "x"))]
    core.loaded(Kept(5, 1, "x"), None, 0.0)
    (failed,) = said(core, Failed)
    assert not core.may_step and failed.reason.startswith("no checkpoint of 'b' can be read: ")
    assert re.search(why, failed.reason) and "at step 5: not there." in failed.reason


def test_the_right_checkpoint_is_taken_on():
    blob, kept = saved()
    core = worker(Welcome(**{**vars(WELCOME), "kept": (kept, START)}))
    core.effects()
    core.loaded(kept, blob, 0.0)
    assert core.effects()[0] == effects.Resume(10, 1, b"good") and core.step == 10 and core.may_step


def test_a_checkpoint_is_asked_for_until_it_is_there_and_less_and_less_often():
    """It may be kept on another machine: the question can get lost, and so can the answer."""
    blob, kept = saved()
    core = worker(Welcome(**{**vars(WELCOME), "kept": (kept, START)}))
    asked, now = [0.0] * core.effects().count(effects.Load("b", kept)), 0.0
    while now < 40.0:
        now = core.next_wake()
        core.wake(now)
        asked += [now] * core.effects().count(effects.Load("b", kept))
    assert asked == [0.0, 0.5, 1.5, 3.5, 7.5, 15.5, 25.5, 35.5]  # `silence` is 10 s here
    core.loaded(kept, blob, now)
    core.loaded(kept, blob, now)  # it came twice
    assert core.effects()[0] == effects.Resume(10, 1, b"good") and core.effects() == []
    core.wake(now + 20.0)
    assert not any(isinstance(effect, effects.Load | effects.Resume) for effect in core.effects())


def test_of_a_checkpoint_that_is_passed_over_nothing_stays():
    good = {"peer": 0, "posted": 5 << 16, "taken": 4 << 16, "log": []}
    blob, kept = saved(links=((good, b""), ({**good, "posted": None}, b"")))
    core = worker(Welcome(**{**vars(WELCOME), "kept": (kept, START)}))
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
    hear(core, Durable(3, 10, 0))
    core.wake(1.0)
    assert [message.step for message in said(core, Checkpointed)] == [20]
    hear(core, Durable(3, 20, 0))
    core.wake(2.0)
    assert said(core, Checkpointed) == []


def test_a_plan_that_follows_another_one_than_ours_is_not_looked_at_yet():
    core = worker()
    core.effects()
    hear(core, Prepare(3, Share(5, 4, 20, ()), ()))
    assert core.effects() == []


# --- the coordinator remembers --------------------------------------------------------------------------------------------


def test_a_checkpoint_that_a_successor_wrote_again_is_the_one_to_start_from():
    core = opened()
    say(core, Checkpointed("a", 1, 10, "x"))
    say(core, Checkpointed("a", 1, 20, "y"))
    core.exited("a", 1, "killed", 1.0)
    say(core, hello("a", 2))
    out = say(core, Checkpointed("a", 2, 20, "y"))
    assert written(out) == [journal.Saved("a", 2, 20, "y")]
    assert core.history.seats["a"].kept == (Kept(20, 2, "y"), Kept(10, 1, "x"))
    assert written(say(core, Checkpointed("a", 2, 20, "y"))) == []


def test_plans_are_told_back_to_the_oldest_checkpoint_of_anybody():
    """Former neighbours that are far behind may still ask for frames of an edge that is gone."""
    core = opened(goal=1000)
    for start in (20, 40, 60):
        assert core.history.horizon == start
        version = core.propose((), f"at {start}", 0.0)
        for name in "abc":
            say(core, Answer(name, 1, version, True, ""))
        for name in "abc":
            say(core, progress(name, start, plan=version))
    for name in "ab":
        for step in (50, 60):
            say(core, Checkpointed(name, 1, step, "x"))
    for step in (20, 30):
        say(core, Checkpointed("c", 1, step, "x"))
    ((_, welcome),) = told(say(core, hello("a", token="a")), Welcome)
    assert [share.start for share in welcome.shares] == [20, 40, 60]
    assert [member.name for member in welcome.members] == []
    for step in (40, 50):
        say(core, Checkpointed("c", 1, step, "x"))
    ((_, welcome),) = told(say(core, hello("a", token="a")), Welcome)
    assert [share.start for share in welcome.shares] == [40, 60]


def test_a_coordinator_that_starts_again_starts_who_has_not_said_hello():
    log = [OPENED, journal.Epoch(1), journal.Joined("a", 1, "t", "x"), journal.Joined("b", 1, "t", "x")]
    core = Coordinator.resume([*log, journal.Replaced("b", 2, "killed")], TIMES, 0.0)
    out = core.effects()
    assert written(out) == [journal.Epoch(2)]
    assert [effect for effect in out if isinstance(effect, effects.Start)] == [
        effects.Start("b", 2),
        effects.Start("c", 1),
    ]


def test_a_step_of_many_stages_gets_on_although_it_is_one_step():
    core = opened()
    for now in range(1, 300):
        for name in "abc":
            say(core, progress(name, 5, exchanges=now if name == "b" else 7), float(now))
        core.wake(float(now))
    assert core.history.closed is None


def test_a_long_run_that_gets_on_is_not_stopped():
    core = opened(goal=400)
    for now in range(1, 300):
        for name in "abc":
            say(core, progress(name, now, horizon=core.history.horizon), float(now))
        core.wake(float(now))
    assert core.history.closed is None and now > 2 * TIMES.stuck


@pytest.mark.parametrize("entries", [[], [journal.Epoch(1)], [OPENED, OPENED], [OPENED, journal.Settled(2, True, "")],
                                     [OPENED, journal.Saved("z", 1, 10, "x")]])  # fmt: skip
def test_a_journal_that_makes_no_sense_is_refused(entries):
    with pytest.raises(Malformed, match=r"^journal"):
        Coordinator.resume(entries, TIMES, 0.0)
