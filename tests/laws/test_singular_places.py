"""How near a motion comes to singular configurations and when it goes through them; freedoms and redundant locks counted."""

import numpy as np
import pytest

from budget import within
from campaign import first_of
from components import Distance, Revolute, RigidBody, Rod
from coordinator import Centralized, Glued, Simulation
from coordinator.analysis import count_now, kinematics, mobility, mobility_along
from modular import Assembly
from modular.errors import RunWarning
from random_assemblies import random_assembly

TIMES = np.linspace(0.0, 1.0, 402)


def four_bar(crank, coupler, rocker, ground, angle=0.4, gravity=0.0):
    """By lengths, its crank at an angle; in the plane."""
    tip, foot = crank * np.array([np.cos(angle), np.sin(angle)]), np.array([ground, 0.0])
    way = foot - tip
    length = np.linalg.norm(way)
    along = (length**2 + coupler**2 - rocker**2) / (2.0 * length)
    unit = way / length
    top = tip + along * unit + np.sqrt(coupler**2 - along**2) * np.array([-unit[1], unit[0]])
    model = Assembly(gravity=(0.0, gravity), title="four-bar")
    for name, start, end in (("crank", (0.0, 0.0), tip), ("coupler", tip, top), ("rocker", foot, top)):
        model.add(name, Rod(tuple(start), tuple(end), 1.0))
    model.join("o", Revolute(), "ground", "crank.start")
    model.join("a", Revolute(), "crank.end", "coupler.start")
    model.join("b", Revolute(), "coupler.end", "rocker.end")
    model.join("d", Revolute(), "ground", "rocker.start")
    return model


@pytest.mark.campaign
def test_a_parallelogram_goes_through_its_flat_places_when_its_crank_is_flat():
    """Twice in a turn: where the crank is at pi and at 2 pi, between two samples."""
    with pytest.warns(RunWarning, match="goes through a singular configuration"):
        run = kinematics(four_bar(1.0, 2.0, 1.0, 2.0), {"o": 2.0 * np.pi * TIMES}, TIMES)
    found = mobility_along(run)
    assert [one.passed for one in found.singular] == [True, True] and not found.doubtful
    when = (np.pi * np.array([1.0, 2.0]) - 0.4) / (2.0 * np.pi)
    np.testing.assert_allclose([one.time for one in found.singular], when, atol=1e-6)
    assert all({"coupler", "rocker"} <= set(one.bodies) for one in found.singular)
    assert (found.freedoms == 0).all() and found.smallest.min() > 0.0
    k = int(np.searchsorted(found.times, when[0])) - 8
    assert found.ahead[k] == pytest.approx(when[0] - found.times[k], rel=1e-2)
    speed = np.linalg.norm(run.velocity("coupler.start")[k])
    assert found.way[k] == pytest.approx(found.ahead[k] * speed, rel=1e-9)


def test_a_free_run_goes_through_them_too():
    with Simulation(four_bar(1.0, 2.0, 1.0, 2.0, gravity=-9.81), 2e-3, Glued()) as simulation:
        run = simulation.run(0.6)
    found = mobility_along(run)
    angle = np.unwrap(np.arctan2(*run.position("crank.end").T[::-1]))
    flat = np.interp(0.0, -angle, run.time) if angle[-1] < 0.0 else np.nan
    assert len(found.singular) == 1 and found.singular[0].time == pytest.approx(flat, abs=1e-5)
    assert found.freedoms.tolist() == [1] * len(found.times)


@pytest.mark.campaign
def test_what_passes_by_a_singular_place_comes_as_near_as_its_lengths_leave_it():
    """A parallelogram whose rocker is longer by e passes its flat place at a distance of the root of e, on its branch."""
    least, times = [], np.linspace(0.0, 1.0, 202)
    for longer in (5e-4, 2e-3):
        with pytest.warns(
            RunWarning, match="nearly singular .* move differently there; where it is near one velocities"
        ):
            run = kinematics(four_bar(1.0, 2.0, 1.0 + longer, 2.0), {"o": 2.0 * np.pi * times}, times)
        found = mobility_along(run)
        assert not any(one.passed for one in found.singular)
        least.append(float(found.smallest.min()))
    assert least[1] / least[0] == pytest.approx(2.0, rel=0.05) and least[0] < 0.01


def test_a_cut_on_the_way_gives_freedoms_and_is_no_singular_place():
    model = Assembly(gravity=(0.0, -9.81))
    model.add("upper", Rod((0.0, 0.0), (1.0, 0.2), 1.0))
    model.add("lower", Rod((1.0, 0.2), (1.7, 0.0), 1.0))
    model.join("pivot", Revolute(), "ground", "upper.start")
    model.join("elbow", Revolute(), "upper.end", "lower.start")
    with Simulation(model, 1e-3) as simulation:
        simulation.run(0.02)
        simulation.cut("elbow")
        simulation.run(0.04)
        simulation.join("again", Distance(), "upper.end", "lower.end")
        run = simulation.run(0.06)
    found = mobility_along(run)
    assert found.freedoms[0] == 2 and found.freedoms[-1] == 4 and not found.singular
    assert found.until == pytest.approx(0.039) and "was joined or added there" in found.summary()[-1]


def ladder(stages, askew=False):
    """Three bodies and four hinges for each of its loops, which cannot do without redundant locks."""
    model = Assembly(gravity=(0.0, 0.0, -9.81))

    def bar(name, p, q):
        centre = tuple(0.5 * (np.array(p) + q) + (0.01, 0.02, 0.03))
        model.add(name, RigidBody(mass=1.0, inertia=(0.1, 0.2, 0.15), centre=centre, ports={"a": p, "b": q}))

    for k in range(stages):
        for side in (0, 1):
            bar(f"side{k}{side}", (float(side), 0.05 * k, float(k)), (float(side), 0.05 * (k + 1), k + 1.0))
        bar(f"rung{k}", (0.0, 0.05 * (k + 1), k + 1.0), (1.0, 0.05 * (k + 1), k + 1.0))
    axis = (0.0, 1.0, 0.1) if askew else (1.0, 0.0, 0.0)
    for k in range(stages):
        for side in (0, 1):
            below = "ground" if k == 0 else f"side{k - 1}{side}.b"
            model.join(f"low{k}{side}", Revolute(axis=axis), below, f"side{k}{side}.a")
            model.join(f"high{k}{side}", Revolute(axis=(1.0, 0.0, 0.0)), f"side{k}{side}.b", f"rung{k}.{'ab'[side]}")
    return model


def both(model):
    whole = mobility(model)
    for name in list(model.force_edges):
        model.remove(name)
    with Simulation(model, 1e-3, Centralized(), project_velocities=True) as simulation:
        quick = count_now(simulation)
    assert (quick.free, quick.locks, quick.freedoms) == (whole.free, whole.locks, whole.freedoms)
    assert quick.redundancies == whole.redundancies and quick.sharing == whole.sharing
    return quick


def test_a_tree_and_its_loops_count_as_the_whole_does():
    assert both(ladder(3)).redundancies == 12 and both(ladder(3, askew=True)).redundancies == 9
    assert both(four_bar(1.0, 2.0, 1.3, 2.1)).freedoms == 1


@pytest.mark.parametrize("seed", first_of(6, range(200)))
def test_so_it_is_with_mechanisms_drawn_by_lot(seed):
    both(random_assembly(seed, most=8, ratio=10.0))


def test_freedoms_are_counted_anew_after_a_cut_of_a_hundred_bodies():
    """5 ms where they were measured, 16 ms where loops hold each other; ten times as much here, for slow days."""
    model = ladder(33, askew=True)
    with Simulation(model, 1e-3, Centralized(), project_velocities=True) as simulation:
        before = count_now(simulation)
        simulation.cut("high320")
        with within(0.2):
            after = count_now(simulation)
    assert (
        before.freedoms == 33 and (after.freedoms - after.redundancies) - (before.freedoms - before.redundancies) == 5
    )
    assert "high320" in [name for group in before.sharing for name in group.joints]
    assert "high320" not in [name for group in after.sharing for name in group.joints]
