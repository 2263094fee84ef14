"""Curves of the laboratory: all samples count, few points are drawn, and time that is taken back is cut off."""

import numpy as np
import pytest

import scenarios
from campaign import more
from components import Load, Revolute, RigidBody
from coordinator import Glued, Simulation
from coordinator.laboratory.acts import Adjust, Reset, SetCoupling, SetStep, Step, Undo
from coordinator.laboratory.session import Session
from modular import Cut, ModelError
from modular.events import Add, Join
from modular.ledger import LEDGER
from scenarios.laboratory import curves as curves_module
from scenarios.laboratory.curves import Curves
from scenarios.laboratory.quantities import Quantity, choices

DT = 1e-3
ENERGIES = [Quantity("energy", "", part) for part in ("kinetic", "potential", "total")]
TIP = Quantity("position", "lower.end", "x")


@pytest.fixture
def session():
    with Session(Simulation(scenarios.load("double-pendulum"), DT)) as one:
        yield one


def go(session, ticks):
    session.post(Step(ticks))
    session.turn()
    while session.pace.moving and not session.trouble:
        session.turn()
    session.turn()
    assert not session.trouble
    return session.snapshot


def curves_of(quantities, window=100.0, points=1000):
    curves = Curves(window, points)
    curves.watch(quantities)
    return curves


def by_name(curves):
    time, *columns = curves.arrays()
    return time, dict(zip(curves.quantities, columns, strict=True))


def series(run, quantity):
    """What a run says of the same quantity."""
    what, of, part = quantity
    if what == "energy" and part in ("stored", "whole"):
        stored = sum(np.nan_to_num(run.ledger(name)["stored"]) for name in (*run.joints, *run.forces))
        return stored if part == "stored" else run.energy + stored
    if what == "energy":
        kinetic, potential = run.kinetic_energy(of or None), run.potential_energy(of or None)
        return {"kinetic": kinetic, "potential": potential, "total": kinetic + potential}[part]
    if what == "ledger":
        return run.work(of) if part == "work" else run.ledger(of)[part]
    if what in ("violation", "log violation"):
        sizes = [np.abs(run.violation(name)).max(axis=1) for name in ([of] if of else run.joints)]
        largest = np.nanmax(sizes, axis=0)
        return largest if what == "violation" else np.log10(np.where(largest > 0, largest, np.nan))
    if what in ("force", "moment"):
        reaction, d = run.reaction(of), len(run.model["gravity"])
        return np.linalg.norm(reaction[:, :d] if what == "force" else reaction[:, d:], axis=1)
    return getattr(run, what)(of)[:, "xyz".index(part)]


# --- what is drawn ---------------------------------------------------------------------------------------------------


def test_few_samples_are_drawn_as_they_are(session):
    snapshot = go(session, 40)
    curves = curves_of([TIP, *ENERGIES], window=0.9)  # one sample or two in a slot, some rising and some falling
    curves.take(snapshot)
    time, found = by_name(curves)
    run = session.simulation.recorded
    assert np.array_equal(time, run.time)
    for quantity in (TIP, *ENERGIES):
        expected = series(run, quantity)
        assert np.allclose(found[quantity], expected, rtol=0, atol=1e-13 * np.abs(expected).max())
    assert np.any(np.diff(found[ENERGIES[0]]) > 0) and np.any(np.diff(found[ENERGIES[1]]) < 0)


@pytest.mark.short(1)
@pytest.mark.parametrize("target", ["double-pendulum", "mixed bodies", *more(["double-pendulum-3d", "slider-crank"])])
def test_every_quantity_is_what_the_run_says(target):
    if target == "mixed bodies":  # a body without extent among them, a spring's place taken by a load
        model = scenarios.load("double-pendulum")
        model.add("point", RigidBody(mass=0.7, inertia=0.0, centre=(0.3, 0.9), ports={"at": (0.3, 0.9)}))
        model.apply("push", Load((0.4, 1.3)), "point.at")
    else:
        model = scenarios.load(target)
    with Session(Simulation(model, DT)) as session:
        snapshot = go(session, 30)
        offered = choices(snapshot.plan)
        wanted = [
            Quantity(what, of, part) for what, (names, parts) in offered.items() for of in names for part in parts
        ]
        inside_joints = ("stored", "whole")  # which bodies do not have
        wanted = [q for q in wanted if q.of != "hand" and not (q.of and q.what == "energy" and q.part in inside_joints)]
        curves = curves_of(wanted)
        curves.window = 0.2  # every sample has a slot of its own
        curves.take(snapshot)
        time, found = by_name(curves)
        run = session.simulation.recorded
        assert set(offered) == {q.what for q in wanted} and len(time) == 31
        for quantity in wanted:
            expected = series(run, quantity)
            size = np.nanmax(np.abs(expected), initial=1.0)
            assert np.allclose(found[quantity], expected, rtol=0, atol=1e-13 * size, equal_nan=True), quantity


def test_no_peak_is_lost_and_few_points_are_drawn(session):
    wanted = [TIP, *ENERGIES, Quantity("force", "pivot"), Quantity("ledger", "elbow", "stored")]
    curves = curves_of(wanted, window=3.0, points=60)
    for _ in range(9):
        curves.take(go(session, 331))
    time, found = by_name(curves)
    run = session.simulation.recorded
    assert len(time) <= 60 and np.all(np.diff(time) > 0)
    for quantity in wanted:
        expected = series(run, quantity)
        size = np.abs(expected).max()
        assert np.isclose(found[quantity].max(), expected.max(), rtol=0, atol=1e-13 * size), quantity
        assert np.isclose(found[quantity].min(), expected.min(), rtol=0, atol=1e-13 * size), quantity
        assert np.allclose(curves.latest[wanted.index(quantity)], expected[-1], rtol=0, atol=1e-13 * size)


def test_curves_do_not_depend_on_how_often_somebody_looks(session):
    often, seldom = curves_of([TIP, *ENERGIES], 1.0, 80), curves_of([TIP, *ENERGIES], 1.0, 80)
    for ticks in (1, 7, 64, 129, 300, 2, 499, 33):
        often.take(go(session, ticks))
    seldom.take(session.snapshot)
    for one, other in zip(often.arrays(), seldom.arrays(), strict=True):
        assert np.array_equal(one, other)


def test_the_window_slides(session):
    curves = curves_of([TIP], window=0.4, points=100)
    for _ in range(20):
        curves.take(go(session, 50))
    time, *_ = curves.arrays()
    assert time[-1] == session.snapshot.time and 0.39 <= time[-1] - time[0] <= 0.41


def test_another_window_keeps_what_is_known(session):
    curves = curves_of([TIP], window=2.0, points=100)
    curves.take(go(session, 1500))
    _, tip = curves.arrays()
    curves.window = 4.0
    wider_time, wider = curves.arrays()
    assert (wider.min(), wider.max()) == (tip.min(), tip.max())
    assert len(wider_time) < 100 and wider_time[-1] >= 1.5 - 4.0 / 49
    with pytest.raises(ModelError, match=r"window = 0.0 s"):
        curves.window = 0.0


def test_where_samples_are_too_many_every_so_manyth_is_looked_at_and_the_last_one(session, monkeypatch):
    snapshot = go(session, 1000)
    monkeypatch.setattr(curves_module, "MAX_NUMBERS", 500)
    curves = curves_of([TIP])
    curves.take(snapshot)
    time, _ = curves.arrays()
    assert 0 < len(time) < 260 and time[-1] == snapshot.time
    assert curves.latest[0] == session.simulation.recorded.position("lower.end")[-1, 0]


# --- what is followed ------------------------------------------------------------------------------------------------


def test_a_quantity_that_is_asked_for_later_has_its_past(session):
    curves = curves_of([TIP])
    curves.take(go(session, 200))
    later = Quantity("energy", "", "kinetic")
    curves.watch([later, TIP])
    curves.take(go(session, 100))
    together = curves_of([later, TIP])
    together.take(session.snapshot)
    for one, other in zip(curves.arrays(), together.arrays(), strict=True):
        assert np.array_equal(one, other)


def test_what_is_no_longer_asked_for_goes_and_the_rest_stays(session):
    curves = curves_of([*ENERGIES, TIP])
    curves.take(go(session, 200))
    time, found = by_name(curves)
    curves.watch([TIP, ENERGIES[1]])
    after, left = by_name(curves)
    assert np.array_equal(after, time) and np.array_equal(left[TIP], found[TIP])
    assert np.array_equal(left[ENERGIES[1]], found[ENERGIES[1]])


def test_who_comes_and_goes_has_a_curve_while_there(session):
    force, closed = Quantity("force", "hook"), Quantity("ledger", "hook", "released")
    curves = curves_of([force, closed, Quantity("energy", "", "total")], window=0.5)
    curves.take(go(session, 20))
    session.do(Join("hook", Revolute(), "ground", "lower.end"))
    curves.take(go(session, 20))
    session.do(Cut("hook"))
    curves.take(go(session, 20))
    time, found = by_name(curves)
    there = (time > 0.0205) & (time < 0.0395)
    assert np.all(np.isfinite(found[force][there])) and np.all(np.isnan(found[force][time < 0.0195]))
    assert np.all(np.isnan(found[force][time > 0.0405])) and np.all(np.isfinite(found[closed][time > 0.0405]))
    assert np.all(np.isfinite(found[Quantity("energy", "", "total")]))


def test_a_body_more_counts_in_the_energy(session):
    curves = curves_of(ENERGIES, window=0.5)
    curves.take(go(session, 20))
    session.do(Add("ball", RigidBody(mass=2.0, inertia=0.1, centre=(0.0, 3.0))))
    curves.take(go(session, 20))
    _, found = by_name(curves)
    run = session.simulation.recorded
    assert np.allclose(found[ENERGIES[2]][-1], run.energy[-1], rtol=1e-14)
    assert found[ENERGIES[2]][-1] - found[ENERGIES[2]][0] > 2.0 * 9.81 * 2.9


# --- time ------------------------------------------------------------------------------------------------------------


def test_curves_go_on_with_another_step_another_coupling_and_other_bodies(session):
    curves = curves_of([TIP, *ENERGIES], window=1.0, points=4000)
    acts = [SetStep(5e-4), SetCoupling(Glued(order=4)), Adjust("lower", {"mass_at_end": 1.7}), SetStep(2e-3)]
    for act in acts:
        curves.take(go(session, 40))
        session.do(act)
    curves.take(go(session, 40))
    time, found = by_name(curves)
    assert np.all(np.diff(time) > 0) and np.diff(time).max() < 2.1e-3 and time[-1] == session.snapshot.time
    assert np.abs(np.diff(found[TIP])).max() < 0.02
    expected = np.concatenate([run.position("lower.end")[:, 0] for run in session.runs])
    assert set(expected) >= set(found[TIP])


def test_undoing_cuts_off_what_has_not_happened(session):
    curves = curves_of([TIP, *ENERGIES], window=1.0, points=100)
    curves.take(go(session, 310))
    before = curves.arrays()
    session.do(Cut("elbow"))
    curves.take(go(session, 205))
    session.do(Undo())
    curves.take(session.snapshot)
    for one, other in zip(curves.arrays(), before, strict=True):
        assert np.allclose(one, other, rtol=1e-13, atol=0)  # samples of the last slot were read again, in another row


@pytest.mark.parametrize("later", [1, 90, 400])
def test_undoing_and_going_on_between_two_looks_is_noticed(session, later):
    curves = curves_of([TIP], window=2.0, points=100)
    curves.take(go(session, 310))
    session.do(Cut("elbow"))
    curves.take(go(session, 205))
    session.do(Undo())
    curves.take(go(session, later))
    fresh = curves_of([TIP], window=2.0, points=100)
    fresh.take(session.snapshot)
    for one, other in zip(curves.arrays(), fresh.arrays(), strict=True):
        assert np.array_equal(one, other)


def test_undoing_into_an_earlier_stretch_keeps_its_past(session):
    curves = curves_of([TIP], window=2.0, points=100)
    curves.take(go(session, 300))
    before = curves.arrays()
    session.do(SetCoupling(Glued()))
    curves.take(go(session, 100))
    session.do(SetStep(2e-3))
    curves.take(go(session, 100))
    session.do(Undo())
    session.do(Undo())
    curves.take(session.snapshot)
    for one, other in zip(curves.arrays(), before, strict=True):
        assert np.array_equal(one, other)
    curves.take(go(session, 50))
    assert curves.arrays()[0][-1] == pytest.approx(0.35, abs=1e-12)


def test_after_a_reset_time_begins_anew(session):
    curves = curves_of([TIP], window=0.5)
    curves.take(go(session, 300))
    session.do(Reset())
    curves.take(session.snapshot)
    assert [array.tolist() for array in curves.arrays()] == [[0.0], [session.simulation.port_motion("lower.end")[0][0]]]
    curves.take(go(session, 5))
    assert len(curves.arrays()[0]) == 6


def test_a_page_that_is_turned_leaves_no_gap(session):
    curves = curves_of([TIP], window=0.5)
    session.stretches.most = 2e5  # bytes: some hundred samples
    looked = []
    for _ in range(40):
        curves.take(go(session, 10))
        looked.append(session.stretches.latest)
    time, _ = curves.arrays()
    assert len(set(looked)) > 3, "no page was turned"
    assert np.allclose(np.diff(time), DT, rtol=1e-9) and len(time) == 401


def test_every_line_of_a_book_can_be_followed(session):
    assert set(LEDGER) < set(choices(session.snapshot.plan)["ledger"][1])


def test_the_work_of_the_hand_has_a_name_of_its_own(session):
    assert "hand" in choices(session.snapshot.plan)["ledger"][0]
    assert Quantity("ledger", "hand", "work").label == "work of the hand"
