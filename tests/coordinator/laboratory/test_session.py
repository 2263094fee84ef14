"""A session: what is done to a simulation while it runs, and that nothing else changes a bit."""

import threading
import time
from functools import cache

import numpy as np
import pytest

import scenarios
from calm import Calm
from components import Distance, Load, Moment, PointMassRod, Revolute, Rod, SpringDamper
from coordinator import Glued, Mixed, Penalty, Relaxed, Run, Simulation, first_difference
from coordinator.laboratory.acts import (
    Adjust,
    Drag,
    Follow,
    Grab,
    Pause,
    Redo,
    Release,
    Rename,
    Reset,
    Resume,
    SetCoupling,
    SetGravity,
    SetLimit,
    SetSpeed,
    SetStep,
    Undo,
    describe,
)
from coordinator.laboratory.diary import DIARY, END, read_diary
from coordinator.laboratory.replaying import replay
from coordinator.laboratory.session import Session
from hands_on import digests, session_of, walk
from modular import Add, Apply, Cut, Join, Limit, Merge, ModelError, Remove, Unmerge
from waiting import GUARD, wait_for

COUPLINGS = [Penalty(), Glued(), Glued(4), Relaxed(), Mixed(joints={"elbow": "penalty"})]


def names(couplings):
    return [f"{type(c).__name__}{getattr(c, 'order', '')}" for c in couplings]


def everything(session):
    """One of every act that there is."""
    do = session.do
    walk(session, 300)
    do(Grab("lower", "start", "end", 0.7))
    for k in range(12):
        do(Drag((1.0 + 0.02 * k, -1.0 - 0.05 * k)))
        walk(session, 7 + k)
    do(Release())
    walk(session, 100)
    do(Cut("elbow"))
    walk(session, 120)
    do(Undo())
    walk(session, 40)
    do(Redo())
    walk(session, 60)
    do(Join("hook", Distance(), "upper.end", "lower.start"))
    do(SetLimit("hook", Limit(force=1e6)))
    walk(session, 50)
    do(Add("third", Rod((2.0, 0.0), (2.0, -0.5), mass=0.4, velocity=(0.1, 0.3))))
    do(Apply("pull", Load((0.5, -0.2)), ("third.end",)))
    do(Apply("spring", SpringDamper(30.0, 0.5), ("third.start", "lower.end")))
    walk(session, 77)
    do(Adjust("pull", {"force": (1.0, 0.0)}))
    do(Adjust("upper", {"mass_at_end": 1.7}))
    walk(session, 31)
    do(Adjust("lower", {"length": 1.4}))
    do(Rename("lower", "forearm"))
    walk(session, 90)
    do(SetGravity((1.0, -6.0)))
    do(SetStep(2e-4))
    walk(session, 60)
    do(Apply("twist", Moment(0.3), ("third.start",)))
    walk(session, 20)
    do(Remove("third"))
    do(Rename("hook", "elbow-again"))
    walk(session, 10)
    do(SetCoupling(Glued(4)))
    walk(session, 25)
    do(Merge(("upper", "ground")))
    walk(session, 10)
    do(Unmerge(("upper",)))
    do(SetCoupling(Penalty()))
    walk(session, 30)
    do(Reset())
    walk(session, 30)
    do(Undo())
    walk(session, 10)


@pytest.fixture(scope="module")
def everything_done(tmp_path_factory):
    """The folder of a session of all that, what it recorded, and how many acts it took."""
    folder = tmp_path_factory.mktemp("everything")
    with session_of(folder=folder) as session:
        everything(session)
        return folder, digests(session), session.diary.count


@cache
def with_nobody_acting():
    """Sixty ticks."""
    with session_of(dt=1e-3) as session:
        walk(session, 30)
        walk(session, 30)
        return digests(session)


# --- the same bits ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("step", [5e-4, 2e-3, 7e-4, 3e-3, 0.03])
def test_another_step_keeps_the_clock_still_and_the_samples_as_far_apart(step, tmp_path):
    with session_of(dt=1e-3, record_every=10, folder=tmp_path) as session:
        walk(session, 53)
        q, _ = session.snapshot.state("lower")
        session.do(SetStep(step))
        recorder = session.simulation.recorder
        assert abs(recorder.every * step - 0.01) <= 0.5 * step or recorder.every == 1
        assert session.snapshot.time == pytest.approx(0.053, abs=1e-15)
        session.do(Cut("elbow"))
        session.do(Undo())
        assert session.snapshot.time == pytest.approx(0.053, abs=1e-15)
        np.testing.assert_allclose(session.snapshot.state("lower")[0], q, atol=2e-6)  # gaps of springs are closed
        walk(session, 1)
        assert 0.0 < session.snapshot.time - 0.053 <= step * (1 + 1e-9)
        walk(session, 2 * session.simulation.recorder.every)
        run = session.simulation.recorded
        assert np.diff(run.time) == pytest.approx(recorder.every * step)
    assert replay(tmp_path).same


@pytest.mark.parametrize("coupling", COUPLINGS, ids=names(COUPLINGS))
def test_a_session_in_which_nobody_acts_has_the_bits_of_a_run(coupling):
    with Simulation(scenarios.load("double-pendulum"), 1e-3, coupling) as simulation:
        plain = simulation.run(0.4).digest
    with session_of(dt=1e-3, coupling=coupling) as session:
        for ticks in (1, 2, 97, 100, 200):
            walk(session, ticks)
        assert digests(session) == [plain]


def test_what_is_held_by_a_controller_and_what_is_led_stay_so_when_it_is_acted_on(tmp_path):
    """Grabbed, undone, gone on with another coupling; the diary repeats it."""
    for model, body, ports in (
        ("inverted-pendulum", "pole", ("foot", "tip")),
        ("kapitza-pendulum", "rod", ("start", "end")),
    ):
        folder = tmp_path / model
        with session_of(model, dt=1e-3, folder=folder) as session:
            walk(session, 55)
            session.do(Grab(body, *ports, 0.8))
            session.do(Drag((0.3, 0.9)))
            walk(session, 23)
            session.do(Release())
            walk(session, 12)
            session.do(Apply("push", Load((0.3, 0.0)), (f"{body}.{ports[1]}",)))
            walk(session, 33)
            session.do(Undo())
            walk(session, 20)
            session.do(SetCoupling(Glued()))
            walk(session, 25)
        assert replay(folder).same


def test_cuts_by_hand_are_those_of_the_model():
    """Figures VI-30 and VI-31 of the thesis."""
    with Simulation(scenarios.load("cut-double-pendulum"), 1e-4) as simulation:
        run = simulation.run(0.9)
    with session_of() as session:
        walk(session, 5000)
        session.do(Cut("elbow"))
        walk(session, 3000)
        session.do(Cut("pivot"))
        walk(session, 1000)
        assert first_difference(run, session.simulation.recorded) is None


def test_a_session_with_every_act_is_repeated_to_the_last_bit(everything_done, tmp_path):
    folder, then, acts = everything_done
    found = replay(folder, out=tmp_path)
    assert (found.same, found.acts, found.same_machine) == (True, acts, True)
    assert len(then) > 8
    assert list(read_diary(folder)) == list(read_diary(tmp_path))
    runs = sorted(path.name for path in folder.glob("stretch-*"))
    assert [Run.load(tmp_path / name).digest for name in runs] == then


@pytest.mark.short(2)
@pytest.mark.parametrize("coupling", COUPLINGS, ids=names(COUPLINGS))
def test_cuts_grabs_and_undoing_are_repeated_under_every_coupling(tmp_path, coupling):
    with session_of(dt=1e-3, coupling=coupling, folder=tmp_path) as session:
        walk(session, 50)
        session.do(Grab("lower", "", "end", 0.5))
        for k in range(5):
            session.do(Drag((0.5, -1.0 - 0.1 * k)))
            walk(session, 9)
        session.do(Release())
        session.do(Cut("pivot"))
        walk(session, 30)
        session.do(Undo())
        walk(session, 10)
        session.do(Redo())
        session.do(Join("back", Revolute(), "ground", "upper.start"))
        walk(session, 30)
    assert replay(tmp_path).same


def test_looking_changes_nothing():
    found = []
    for often in (False, True):
        with session_of() as session:
            for _ in range(40):
                walk(session, 25)
                if often:
                    session._window.look()
            found.append(digests(session))
    assert found[0] == found[1]


def test_a_ghost_changes_nothing_and_is_near(tmp_path):
    found = []
    for with_ghost in (False, True):
        with session_of() as session:
            if with_ghost:
                session.do(Follow())
            walk(session, 1000)
            session.do(Adjust("upper", {"mass_at_end": 1.3}))
            walk(session, 377)
            session.do(Grab("lower", "start", "end", 1.0))
            session.do(Drag((1.2, -1.3)))
            walk(session, 300)
            if with_ghost:
                times, apart = np.array(session.ghost.distances).T
                assert times[-1] == session.simulation.time
                assert apart.max() < 1e-4
            session.do(Undo())
            walk(session, 700)
            if with_ghost:
                assert session.ghost.distances[-1][1] < 1e-5
            found.append(digests(session))
    assert found[0] == found[1]


@pytest.mark.campaign
def test_workers_give_the_bits_of_one_process(everything_done):
    with session_of(workers=2, launcher="here") as session:
        everything(session)
        assert digests(session) == everything_done[1]


def test_what_was_done_among_workers_is_repeated_to_the_last_bit(tmp_path):
    with session_of(dt=1e-3, folder=tmp_path, workers=2, launcher="here") as session:
        walk(session, 30)
        session.do(Grab("lower", "start", "end", 0.7))
        session.do(Drag((1.0, -1.2)))
        walk(session, 12)
        session.do(Cut("elbow"))
        walk(session, 20)
        session.do(Undo())
        session.do(SetCoupling(Glued(4)))
        walk(session, 20)
    found = replay(tmp_path)
    assert found.same and found.acts == 5


# --- back and forth --------------------------------------------------------------------------------------------------


def test_undoing_stands_where_it_stood():
    with session_of() as session:
        walk(session, 500)
        before = session.simulation.recorded
        for act in (Cut("elbow"), SetStep(1e-3), SetCoupling(Glued(4)), Adjust("upper", {"length": 1.5}), Reset()):
            session.do(act)
            walk(session, 50)
            session.do(Undo())
            assert session.simulation.tick == 500
            assert first_difference(before, session.simulation.recorded) is None
            assert session.simulation.assembly.joints == ("pivot", "elbow")
        walk(session, 500)
        there = session.simulation.recorded.digest
    with session_of() as session:
        walk(session, 1000)
        assert session.simulation.recorded.digest == there


def test_what_cannot_be_undone_says_so():
    with session_of() as session:
        for act, why in ((Undo(), "nothing to undo"), (Redo(), "nothing to redo")):
            with pytest.raises(ModelError, match=why):
                session.do(act)


def test_a_model_with_a_law_that_has_no_name_runs_and_cannot_be_undone():
    from components import Law

    model = scenarios.load("double-pendulum")
    model.apply("wind", Load(Law(lambda t, x, v: (0.1, 0.0))), "lower.end")
    with session_of(model, dt=1e-3) as session:
        walk(session, 20)
        session.do(Cut("elbow"))
        walk(session, 20)
        with pytest.raises(ModelError, match="cannot be undone"):
            session.do(Undo())
        assert session.simulation.tick == 40


# --- refusals --------------------------------------------------------------------------------------------------------

WRONG = [
    (Cut("elbo"), "did you mean 'elbow'"),
    (Join("elbow", Revolute(), "ground", "lower.end"), "exists already"),
    (Join("j", Revolute(), "ground", "lower.tip"), "no port 'tip'"),
    (Join("j", Revolute(), "upper.start", "lower.end"), "apart"),
    (Join("j", Revolute(), "upper.start", "upper.end"), "itself"),
    (Add("upper", Rod((0, 0), (1, 0), mass=1.0)), "exists already"),
    (Add("rod", Rod((0, 0), (1, 0), mass=-1.0)), "must be positive"),
    (Add("rod", Rod((0, 0, 0), (1, 0, 0), mass=1.0)), "in the plane"),
    (Remove("nobody"), "there is no body or force"),
    (Apply("pull", Load((1.0, 2.0, 3.0)), ("lower.end",)), "force"),
    (Adjust("upper", {"mass": 1.0}), "no number 'mass'"),
    (Adjust("upper", {"mass_at_end": -1.0}), "positive"),
    (Adjust("upper", {"mass_at_end": "heavy"}), "give a number"),
    (Adjust("upper", {"length": 0.0}), "positive"),
    (Adjust("nobody", {"length": 1.0}), "there is no body or force"),
    (Rename("upper", "lower"), "exists already"),
    (Rename("upper", "elbow"), "exists already"),
    (Rename("upper", "ground"), "name"),
    (Rename("nobody", "somebody"), "there is no"),
    (SetLimit("nobody", None), "there is no joint"),
    (SetLimit("elbow", Limit(force=1.0, window=1e-5)), "window"),
    (SetGravity((0.0, 0.0, -9.81)), "give 2 numbers"),
    (SetStep(-1e-3), "positive"),
    (SetStep(float("nan")), "finite"),
    (Grab("nobody"), "there is no body"),
    (Grab("upper", "start", "tip", 0.5), "tip"),
    (Drag((0.0, 0.0)), "holds nothing"),
    (Merge(("upper", "nobody")), "nobody"),
    (Unmerge(("upper",)), "merged"),
]  # fmt: skip


@pytest.mark.parametrize(("act", "why"), WRONG, ids=[f"{k}-{type(act).__name__}" for k, (act, _) in enumerate(WRONG)])
def test_a_refused_act_has_a_reason_and_leaves_nothing_behind(act, why):
    with session_of(dt=1e-3) as session:
        walk(session, 30)
        with pytest.raises(ModelError, match=why):
            session.do(act)
        assert session.snapshot.notices[-1].kind == "refused"
        assert session.diary.count == 0
        walk(session, 30)
        assert digests(session) == with_nobody_acting()


def test_what_is_no_act_is_refused_at_once():
    with session_of() as session, pytest.raises(ModelError, match="is not an act"):
        session.post("cut the elbow")


def test_a_motion_that_ends_can_be_undone():
    with session_of(dt=1e-3) as session:
        walk(session, 100)
        session.do(SetStep(0.5))
        session.do(SetCoupling(Penalty(preload=False)))
        walk(session, 400)
        assert "diverged" in session.trouble
        assert np.isfinite(session.snapshot.bodies[0].q).all()
        with pytest.raises(ModelError, match="the motion has stopped"):
            session.do(Cut("elbow"))
        with pytest.raises(ModelError, match="the motion has stopped"):
            session.do(Resume())
        session.do(Undo())
        session.do(Undo())
        assert (session.trouble, session.simulation.dt, session.simulation.tick) == ("", 1e-3, 100)
        walk(session, 50)
        assert session.simulation.tick == 150


# --- by the clock ----------------------------------------------------------------------------------------------------


def test_time_goes_by_the_clock_and_stands_still_when_asked():
    with session_of(dt=1e-3) as session:
        session.start()
        session.do(SetSpeed(0.5))
        began = time.monotonic()
        session.do(Resume())
        wait_for(lambda: session.snapshot.time > 0.4)
        took = time.monotonic() - began
        session.do(Pause())
        stood = session.snapshot.time
        assert took > 0.75
        assert not session.snapshot.playing
        time.sleep(0.1)
        assert session.snapshot.time == stood


def test_acts_from_many_threads_are_all_answered():
    with session_of(dt=1e-3) as session:
        session.start()
        session.post(Resume())
        receipts, lock = [], threading.Lock()

        def act(number):
            for k in range(6):
                mine = [
                    session.post(Add(f"rod-{number}-{k}", Rod((k, number), (k + 1, number), mass=1.0))),
                    session.post(Cut("nobody")),
                    session.post(Remove(f"rod-{number}-{k}")),
                ]
                with lock:
                    receipts.extend(mine)

        threads = [threading.Thread(target=act, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for receipt in receipts:
            assert receipt.wait(GUARD)
        assert [bool(receipt.error) for receipt in receipts] == [False, True, False] * 24
        assert session.trouble == ""


def test_a_closed_session_is_gone_at_once_and_answers_what_waits():
    session = Session(Simulation(scenarios.load("chain", bodies=50), 1e-4)).start()
    session.post(SetSpeed(0.0))
    session.post(Resume())
    wait_for(lambda: session.simulation.tick >= 100)  # what is being compiled cannot be interrupted
    time.sleep(0.3)
    with Calm() as took:
        session.close()
    assert took.seconds < 1.0
    assert not any(thread.name == "modular-session" for thread in threading.enumerate())
    assert "closed" in session.post(Pause()).error


def test_drags_that_come_faster_than_turns_are_one():
    with session_of(dt=1e-3) as session:
        session.do(Grab("lower", "start", "end", 1.0))
        receipts = [session.post(Drag((1.0, -1.0 - 0.01 * k))) for k in range(50)]
        session.turn()
        assert all(receipt.over for receipt in receipts)
        assert session.diary.count == 2
        assert session.snapshot.target.tolist() == [1.0, -1.49]


# --- what is kept ----------------------------------------------------------------------------------------------------


def test_a_diary_that_was_cut_off_is_carried_out_as_far_as_it_goes(tmp_path):
    with session_of(folder=tmp_path) as session:
        walk(session, 100)
        session.do(Cut("elbow"))
        walk(session, 100)
        session.do(Cut("pivot"))
    text = (tmp_path / DIARY).read_text()
    (tmp_path / DIARY).write_text(text[:-20])
    (tmp_path / END).unlink()
    found = replay(tmp_path)
    assert (found.acts, found.same, found.tick) == (1, None, 100)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda text: text.replace("modular-diary-1", "diary"), "not a diary of format"),
        (lambda text: text.replace('"tick":100', '"tick":-1'), "not an act of a diary"),
        (lambda text: text.replace("modular:Cut", "modular:Penetrate"), "not a known component"),
        (lambda text: text.replace('"joint":"elbow"', '"joint":"knee"'), "refused now"),
        (lambda text: "{" + text, "line 1"),
    ],
)
def test_a_diary_that_was_changed_is_refused_in_words(tmp_path, change, why):
    with session_of(folder=tmp_path) as session:
        walk(session, 100)
        session.do(Cut("elbow"))
    path = tmp_path / DIARY
    path.write_text(change(path.read_text()))
    with pytest.raises(ModelError, match=why):
        replay(tmp_path)


def test_other_bits_are_told(tmp_path):
    with session_of(folder=tmp_path) as session:
        walk(session, 100)
        session.do(Cut("elbow"))
        walk(session, 10)
    path = tmp_path / DIARY
    path.write_text(path.read_text().replace('"tick":100', '"tick":99'))
    found = replay(tmp_path)
    assert (found.same, found.first) == (False, 1)


def test_the_record_takes_no_more_memory_than_it_may(tmp_path):
    from coordinator.laboratory.history import size_of

    simulation = Simulation(scenarios.load("double-pendulum"), 1e-4)
    with Session(simulation, tmp_path, memory=1e6) as session:
        sizes = []
        for _ in range(15):
            walk(session, 500)
            sizes.append(sum(size_of(run.segments) for run in session.runs))
        assert session.stretches.latest > 5
        assert max(sizes) < 1.5e6
    assert replay(tmp_path).same


def test_a_simulation_that_has_moved_already_goes_on_from_there(tmp_path):
    simulation = Simulation(scenarios.load("double-pendulum"), 1e-3)
    simulation.run(0.1)
    with Session(simulation, tmp_path) as session:
        walk(session, 50)
        session.do(Cut("elbow"))
        walk(session, 50)
        assert [len(run) for run in session.runs] == [101, 101]
    assert replay(tmp_path).same


def test_a_full_disk_is_told_and_the_motion_goes_on(tmp_path, monkeypatch):
    with session_of(folder=tmp_path, dt=1e-3) as session:

        def full(text):
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(session.diary._file, "write", full)
        session.do(Cut("elbow"))
        walk(session, 10)
        assert "cannot be written" in session.diary.failure
        assert session.simulation.tick == 10


# --- what is shown ---------------------------------------------------------------------------------------------------


def test_a_snapshot_is_what_the_record_says():
    with session_of() as session:
        walk(session, 321)
        session.do(Grab("lower", "start", "end", 0.25))
        walk(session, 79)
        snapshot, run = session.snapshot, session.simulation.recorded
        assert snapshot.tick == 400
        for name in ("upper", "lower"):
            q, v = snapshot.state(name)
            np.testing.assert_array_equal(q, run.state(name)[0][-1])
            np.testing.assert_array_equal(v, run.state(name)[1][-1])
        states = snapshot.joints[0]
        for row, name in enumerate(states.names):
            np.testing.assert_array_equal(states.reaction[row], run.reaction(name)[-1])
            np.testing.assert_array_equal(states.error[row], run.violation(name)[-1])
        np.testing.assert_allclose(states.second[1], run.position("lower.start")[-1], atol=1e-12)
        assert snapshot.held == "lower"
        assert "hand" in snapshot.plan.forces


def test_what_was_done_is_told_with_its_numbers():
    assert describe(SetLimit("elbow", Limit(force=20.0))) == "set limit elbow limit(force = 20)"
    assert describe(SetLimit("elbow", None)) == "set limit elbow None"
    assert describe(SetCoupling(Glued(order=4))) == "set coupling glued(order = 4)"
    assert describe(Adjust("upper", {"length": 1.5})) == "adjust upper length = 1.5"


def test_joints_that_break_are_told():
    with session_of(dt=1e-3) as session:
        session.do(SetLimit("elbow", Limit(force=1.0)))
        revision = session.snapshot.plan.revision
        walk(session, 200)
        assert "elbow" not in session.snapshot.plan.joints
        assert session.snapshot.plan.revision > revision
        assert any(n.kind == "happened" and "break elbow" in n.text for n in session.snapshot.notices)


@pytest.mark.short(1, each=True)
@pytest.mark.parametrize("before", [True, False], ids=["limit first", "reference first"])
def test_the_reference_breaks_where_the_mechanism_breaks(before):
    with session_of(dt=1e-3) as session:
        acts = [SetLimit("elbow", Limit(force=20.0)), Follow()]
        for act in acts if before else reversed(acts):
            session.do(act)
        walk(session, 400)
        assert "elbow" not in session.snapshot.plan.joints
        assert not [n.text for n in session.snapshot.notices if n.kind == "refused"]
        assert "elbow" not in session.snapshot.ghost.plan.joints
        assert session.ghost.distances[-1][1] < 2e-3


def test_the_work_of_the_hand_is_a_line_of_the_ledger():
    with session_of(dt=1e-3, coupling=Glued(4)) as session:
        before = session.simulation.recorded.energy[-1]
        session.do(Grab("lower", "start", "end", 1.0))
        session.do(Drag((1.3, -0.6)))
        walk(session, 200)
        gained = session.simulation.recorded.energy[-1] - before
        assert abs(gained) > 0.05
        np.testing.assert_allclose(-session.simulation.ledger("hand")["supplied"], gained, rtol=2e-3)


def test_bodies_of_every_type_can_be_adjusted():
    model = scenarios.load("double-pendulum")
    model.add("bar", Rod((3.0, 0.0), (4.0, 0.2), mass=2.0))
    model.add("dumbbell", PointMassRod((5.0, 0.0), (6.0, 0.2), (1.0, 2.0)))
    with session_of(model, dt=1e-3) as session:
        walk(session, 20)
        for name, body in list(session.simulation.assembly.bodies.items()):
            for number, value in body.adjustable().items():
                session.do(Adjust(name, {number: 1.25 * value + 0.01 * (value == 0.0)}))
                walk(session, 3)
        for name, body in session.simulation.assembly.bodies.items():
            q, _ = session.snapshot.state(name)
            assert np.abs(body.internal_violation(q)).max() < 1e-5
