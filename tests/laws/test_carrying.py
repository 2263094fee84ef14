"""Loads that a body of little inertia passes on between its joints: they ask of the step what no stiffness rule knows."""

import contextlib
import warnings
from array import array

import numpy as np
import pytest

import scenarios
from campaign import first_of, more
from components import Fixed, Load, PointOnLine, Prismatic, Revolute, RigidBody, Rod, Spherical
from coordinator import Glued, Run, Simulation, StabilityWarning, beyond, examine
from coordinator.checks import load_stiffness
from coordinator.checks.load_stiffness import bear, first_few
from coordinator.couplings.compositions import LIMITS
from coordinator.couplings.margins import Margins, as_dict, tightest
from modular import Apply, Assembly, Diverged
from random_assemblies import random_assembly


def test_the_first_few_are_those_of_all_in_order():
    """Of equal ones the first, and what is no number last."""
    draw = np.random.default_rng(0)
    for count in (1, 5, 40):
        for share in (0.0, 0.3, 1.0):
            values = draw.integers(0, 12, 60).astype(float)
            values[draw.random(60) < share] = np.nan
            values[:3] = -np.inf, np.inf, 4.0
            assert first_few(values, count) == np.argsort(values, kind="stable")[:count].tolist()


def test_margins_in_lists_tell_what_margins_by_name_tell():
    draw = np.random.default_rng(1)
    for count in (1, 7, 50):
        names, values = [f"j{k}" for k in range(count)], draw.integers(1, 5, count).astype(float)
        listed, known = Margins(names, array("d", values)), dict(zip(names, values.tolist(), strict=True))
        assert tightest(listed) == tightest(known) == (min(known, key=known.get), min(known.values()))
        assert listed == known == as_dict(listed) == dict(listed.items())
    assert tightest(Margins([], array("d"))) is tightest({}) is None


@pytest.mark.parametrize("cut", [False, True])
def test_what_stiffness_leaves_is_asked_of_what_is_there(cut):
    """At once where nothing has changed since all were logged, and by their names afterwards."""
    with Simulation(carrier(0.1, 0.3), 1e-3) as simulation:
        logged = simulation.past.margins[0]["margins"]
        if cut:
            simulation.cut("hook")
        own = simulation.stiffness_margins
        assert list(own) == (["pin"] if cut else ["pin", "hook"])
        assert cut or own == {name: logged[name] for name in ("pin", "hook")}


def test_before_a_run_loads_are_looked_at_once_and_anew_after_every_change(monkeypatch):
    looks = []
    heaviest = load_stiffness.heaviest
    monkeypatch.setattr(load_stiffness, "heaviest", lambda system: looks.append(1) or heaviest(system))
    with Simulation(carrier(0.1, 0.3), 1e-3) as simulation:
        simulation.run(0.003)
        assert len(looks) == 1
        simulation.apply("push", Load((0.0, -1.0)), "load.end")
        simulation.run(0.006)
        assert len(looks) == 2


def carrier(inertia, aside):
    """A light frame that a heavy rod hangs on, far from its mass centre."""
    model = Assembly(gravity=(0.0, -9.81))
    frame = RigidBody(mass=1.0, inertia=inertia, centre=(0.5, aside), ports={"start": (0, 0), "end": (1, 0)})
    model.add("frame", frame)
    model.add("load", Rod((1, 0), (2, 0), 20.0))
    model.join("pin", Revolute(), "ground", "frame.start")
    model.join("hook", Revolute(), "frame.end", "load.start")
    return model


def went_wrong(model, dt, until, **more):
    """What a run says when it goes wrong, if it does; judged before too, where it says so."""
    with Simulation(model, dt, **more) as simulation, warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            simulation.run(until)
        except Diverged as error:
            return error, [word for word in said if issubclass(word.category, StabilityWarning)]
    return None, [word for word in said if issubclass(word.category, StabilityWarning)]


@pytest.mark.parametrize(("inertia", "aside"), [(1e-3, 0.3), (1e-7, 0.0)])
def test_a_body_that_cannot_bear_its_loads_is_named_with_a_step_that_holds(inertia, aside):
    """Joints keep their margin of 1.25 all the while: they know nothing of what they will bear."""
    model = carrier(inertia, aside)
    error, _ = went_wrong(model, 1e-3, 0.7)
    assert error is not None and error.component == "frame"
    assert "little inertia compared with the loads that it transmits" in str(error)
    assert went_wrong(model, error.holding_step, 0.7 if inertia > 1e-6 else 0.002, record_every=100)[0] is None
    assert went_wrong(model, 1e-3, 0.7, coupling=Glued())[0] is None


def test_where_the_load_is_there_from_the_start_it_is_said_before():
    _, said = went_wrong(carrier(1e-7, 0.0), 1e-3, 0.05)
    assert "body 'frame' is beyond its stability limit" in str(said[0].message)


def test_loads_that_leave_little_to_spare_are_told_of_too():
    """Nine tenths of what the step bears at the start, and more than it bears as the frame swings."""
    error, said = went_wrong(carrier(3e-6, 0.3), 1e-3, 0.3)
    assert error is not None
    assert "body 'frame' is beyond its stability limit" in str(said[0].message)


def test_what_a_load_leaves_is_the_margin_of_the_joint_that_brings_it(tmp_path):
    with Simulation(carrier(1e-7, 0.0), 1e-3) as simulation:
        joint, margin = simulation.tightest
        assert margin < 1.0 and simulation.loads == {joint: "frame"}
        assert beyond(simulation)[:3] == ("frame", "body", margin)
        assert simulation.margins == {**simulation.stiffness_margins, joint: margin}
        assert min(simulation.stiffness_margins.values()) == pytest.approx(1.25)
        assert {report.name: report.carrier for report in examine(simulation).joints}[joint] == "frame"
        assert f"tightest joint: {joint} (load on frame)" in repr(simulation)
        run = simulation.recorded
    run.save(tmp_path / "run")
    for one in (run, Run.load(tmp_path / "run")):
        assert one.margins[0]["margins"][joint] == margin and one.margins[0]["loads"][joint]["body"] == "frame"
        assert one.summary()["stability margin"].endswith(f"tightest joint: {joint} (load on frame)")


@pytest.mark.parametrize("d", [2, 3])
def test_what_joints_bring_to_a_body_is_what_the_library_says_of_its_matrices(d):
    lot = np.random.default_rng(d)
    position, force, centre = *lot.normal(size=(2, 12, d)), lot.normal(size=d)
    response = lot.normal(size=(12, d, 9)) * 10.0 ** lot.uniform(-6, 6, (12, d, 1))
    response[1], response[2] = 0.0, 3.0 * np.eye(d, 9)  # nothing moves it; alike in all directions
    response[3], response[4, 0] = np.outer(np.arange(1.0, d + 1), np.ones(9)), np.nan  # in one direction alone; lost
    rows = np.array([(at, 11 - count, count) for at in range(12) for count in (1, 2, 3)])
    found = np.empty((len(rows), 4))
    bear(position, response, force, rows, centre, found)
    for (at, second, count), (arm, answer, size, moment) in zip(rows, found, strict=True):
        axes, forces = position[second + 1 : second + count], force[second + 1 : second + count]
        turned = axes.T @ forces
        assert np.isclose(arm, np.linalg.norm(position[at] - centre), rtol=1e-14)
        assert np.isclose(size, np.linalg.norm(force[second]), rtol=1e-14)
        assert np.isclose(moment, np.linalg.norm(turned - turned.T) / np.sqrt(2.0), rtol=1e-13)
        square = response[at] @ response[at].T
        wanted = np.linalg.eigvalsh(square)[-1] if np.isfinite(square).all() else 0.0
        assert np.isclose(answer, wanted, rtol=1e-13), at  # both to some rounding errors of the largest


def test_without_loads_margins_are_what_stiffness_leaves():
    model = carrier(1e-7, 0.0)
    model.gravity[:] = 0.0
    with Simulation(model, 1e-3) as simulation:
        assert simulation.loads == {} and simulation.margins == simulation.stiffness_margins


@pytest.mark.parametrize("workers", [None, 2])
def test_a_load_that_comes_with_an_event_is_told_once(workers):
    model = carrier(1e-4, 0.0)
    model.gravity[:] = 0.0
    model.at(0.02, Apply("pull", Load((900.0, 0.0)), ("load.end",)))
    error, said = went_wrong(model, 1e-3, 0.2, workers=workers, launcher="here")
    assert error is None or error.component == "frame"
    assert len(said) == 1 and "body 'frame'" in str(said[0].message) and " at 0.0" in str(said[0].message)


@pytest.mark.parametrize("workers", [None, 2])
def test_loads_that_grow_are_told_on_the_way_once(workers):
    """A chain that is let go has 4.7 times the step in hand at first, and falls to pieces after 2 216 ticks."""
    model = scenarios.load("bicycle-chain")
    error, said = went_wrong(model, 1e-4, 0.23, record_every=10, workers=workers, launcher="here")
    assert error is not None and error.component == "solid1"
    assert len(said) == 1 and "body 'solid1'" in str(said[0].message) and "at 0.1" in str(said[0].message)


def cantilevered(length):
    """A short rod in the wall that a heavy load is fixed to, and a push that doubles the moment in it."""
    model = Assembly(gravity=(0.0, -9.81))
    model.add("stub", Rod((0, 0), (length, 0), 1.0))
    ports = {"root": (length, 0), "centre": (length + 0.5, 0)}
    model.add("load", RigidBody(mass=10.0, inertia=1.0, centre=(length + 0.5, 0), ports=ports))
    model.join("wall", Fixed(), "ground", "stub.start")
    model.join("weld", Fixed(), "stub.end", "load.root")
    model.at(0.02, Apply("push", Load((0.0, -98.1)), ("load.centre",)))
    return model


@pytest.mark.parametrize(("length", "holds"), [(0.03, True), (0.01, False)])
def test_a_moment_in_the_plane_asks_for_no_more_than_by_what_it_may_change(length, holds):
    """It turns nothing itself: a body tilts by dt^2 dM / I over what joints bear, 1.3 and 12 against 1.44 here."""
    with Simulation(cantilevered(length), 1e-3) as simulation:
        assert (beyond(simulation) is None) is holds
    error, _ = went_wrong(cantilevered(length), 1e-3, 0.3)
    assert (error is None) is holds


def test_looking_changes_no_bit():
    runs = []
    for parts in (1, 90):
        with Simulation(scenarios.load("double-pendulum-3d"), 1e-3) as simulation:
            if parts == 1:
                simulation.run(0.09)
            else:
                for _ in range(parts):
                    simulation.step()
            runs.append(simulation.recorded)
    assert runs[0].digest == runs[1].digest


# --- between joints without play -----------------------------------------------------------------------------------------------


def pulled(inertia):
    """An arm on a pin, and a load that keeps its direction."""
    model = Assembly(gravity=(0.0, 0.0))
    model.add("arm", RigidBody(mass=0.1, inertia=inertia, centre=(0, 0), ports={"centre": (0, 0), "tip": (0.3, 0)}))
    model.join("pin", Revolute(), "ground", "arm.centre")
    model.apply("pull", Load((99.5, 10.0)), "arm.tip")
    return model


def pulled_in_space(inertia):
    model = Assembly(gravity=(0.0, 0.0, -9.81))
    arms = {"centre": (0, 0, 0), "tip": (0.02, 0.01, -0.3)}
    tensor = ((inertia, 0, 0), (0, inertia, 0), (0, 0, inertia))
    model.add("arm", RigidBody(mass=0.1, inertia=tensor, centre=(0, 0, 0), ports=arms))
    model.join("pin", Spherical(), "ground", "arm.centre")
    model.apply("pull", Load((3.0, 2.0, -99.8)), "arm.tip")
    return model


def stretched(inertia):
    """An arm between a pin and a heavy box that hangs on it, and is not lifted by a small turn of it."""
    model = Assembly(gravity=(5.1, 0.0))
    model.add("arm", RigidBody(mass=0.1, inertia=inertia, centre=(0, 0), ports={"centre": (0, 0), "tip": (0.3, 0)}))
    model.add("box", RigidBody(mass=19.6, inertia=1.0, centre=(0.5, 0), ports={"centre": (0.5, 0), "eye": (0.3, 0)}))
    model.join("pin", Revolute(), "ground", "arm.centre")
    model.join("guide", Prismatic(axis=(1, 0)), "ground", "box.centre", at=(0.5, 0))
    model.join("line", PointOnLine(axis=(0, 1)), "box.eye", "arm.tip")
    model.apply("push", Load((0.0, 1e-4)), "arm.tip")
    return model


def swung(model, coupling):
    """How far the tip of the arm goes [m], and whether somebody said so before; infinitely far where the run stops."""
    with Simulation(model, 1e-3, coupling) as simulation, warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        with contextlib.suppress(Diverged):
            simulation.run(0.3)
        way = simulation.recorded.position("arm.tip")
        told = [word for word in said if issubclass(word.category, StabilityWarning)]
        return np.inf if simulation.tick < 300 else float(np.linalg.norm(way - way[0], axis=1).max()), bool(told)


@pytest.mark.parametrize("order", [2, 4])
@pytest.mark.parametrize("made", [pulled, pulled_in_space, stretched])
def test_between_glued_joints_the_limit_is_where_a_body_swings_faster_than_the_step(made, order):
    """dt^2 F r / I below and above 4, and 7.4 at order 4: it swings as it should, or stops and has been told."""
    for share in (0.95, 1.1):
        model = made(1e-6 * 100.0 * 0.3 / (share * LIMITS[order]) ** 2)
        with Simulation(model, 1e-3, Glued(order)) as simulation:
            assert bool(simulation.loads) is (share > 1.0)
            assert min(simulation.margins.values(), default=1.0 / share) == pytest.approx(1.0 / share, rel=0.03)
        way, told = swung(model, Glued(order))
        assert (way > 0.1) is told is (share > 1.0)


@pytest.mark.parametrize(
    "name", ["double-pendulum-3d", "slider-crank", "bricard", "robot-arm", *more(["flexible-slider-crank"])]
)
def test_ready_systems_bear_their_loads(name):
    model = scenarios.load(name)
    with Simulation(model, model.suggested.get("dt", 1e-3)) as simulation:
        assert beyond(simulation) is None


@pytest.mark.parametrize("seed", first_of(3, [2, 59, 119, *(k for k in range(150) if k not in (2, 59, 119))]))
def test_random_mechanisms_with_masses_over_six_decades_are_warned_of_and_what_holds_is_said(seed):
    """Margins are on the safe side: three of 141 that hold are warned of too."""
    error, said = went_wrong(random_assembly(seed, most=8, ratio=1e6), 5e-4, 0.2, record_every=10)
    if error is not None:
        assert said and "little inertia compared with the loads" in str(error)
        again = random_assembly(seed, most=8, ratio=1e6)
        assert went_wrong(again, error.holding_step, 0.02, record_every=100)[0] is None


@pytest.mark.parametrize("seed", first_of(6, range(150)))
def test_ordinary_mechanisms_are_not_warned_of(seed):
    with Simulation(random_assembly(seed, most=8), 5e-4) as simulation:
        assert beyond(simulation) is None
