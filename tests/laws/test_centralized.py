"""Centralized solvers: two independent roads to one motion, orders, violations, reactions, impacts."""

import time
from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import mechanisms
import references
import scenarios
import zoo
from campaign import first_of, later, named
from components import (
    Beam,
    Fixed,
    KnifeEdge,
    Load,
    ModalBody,
    PointMassRod,
    Revolute,
    Rod,
    Rolling,
    Spherical,
    SpringDamper,
    Table,
)
from coordinator import (
    GGL,
    HHT,
    AugmentedLagrangian,
    Baumgarte,
    Centralized,
    GlobalPenalty,
    MinimalCoordinates,
    Penalty,
    Simulation,
    Substitution,
)
from coordinator.couplings.centralized.equations import Equations
from modular import Assembly
from modular.elements import TIME
from solvers import ALL, EXACT, IMPLICIT, simulate


@pytest.mark.parametrize("bodies", [2, 120])
def test_rows_that_are_scaled_when_somebody_asks_are_scaled_as_at_once(bodies):
    """For the state in which the equations were written, wherever the system has come to since; and it stays there."""
    system = Simulation(scenarios.load("chain", bodies=bodies), 1e-3).system
    at_once, later_on = Equations(system), Equations(system, scaled=False)
    assert at_once.dense == (bodies == 2)
    q, v = later_on.read()
    draw = np.random.default_rng(1)
    moved = q + 0.3 * draw.normal(size=q.shape), v + draw.normal(size=v.shape)
    later_on.at(0.7)
    later_on.go(*moved)
    shown = system.elements.position.copy()
    assert np.array_equal(later_on.scale, at_once.scale)
    assert np.array_equal(later_on.read(), moved) and np.array_equal(system.elements.position, shown)
    assert system.elements.clock[TIME] == 0.7


def largest_violation(run):
    joints = [np.nanmax(np.abs(run.violation(name))) for name in run.joints]
    return max(joints + [np.abs(run.internal_violation(name)).max(initial=0.0) for name in run.bodies])


# --- against independent references ----------------------------------------------------------------------------------

TICK = 5e-2  # [s], of methods that choose their steps within it


def four_bar_error(dimension, until):
    reference = references.four_bar(TICK, round(until / TICK))
    run = simulate(mechanisms.four_bar(dimension), EXACT, TICK, until)
    points = [run.position("crank.end"), run.position("rocker.end")]
    return max(np.abs(x[:, :2] - reference[:, k]).max() for k, x in enumerate(points))


def pendulum_error(name, until):
    count = round(until / TICK)
    spatial = name == "double-pendulum-3d"
    reference = (
        references.spatial_double_pendulum(TICK, count)
        if spatial
        else references.planar_double_pendulum((np.pi / 2, -np.pi / 2), TICK, count)
    )
    model = scenarios.load(name)
    run = simulate(model, EXACT, TICK, until)
    return max(np.abs(run.position(f"{body}.end") - reference[:, k]).max() for k, body in enumerate(model.bodies))


@pytest.mark.campaign
def test_minimal_coordinates_follow_independent_references():
    assert pendulum_error("double-pendulum", 0.5) < 1e-9
    assert pendulum_error("double-pendulum-3d", 0.5) < 1e-8
    assert four_bar_error(2, 0.3) < 1e-9


@pytest.mark.campaign("more")
@pytest.mark.parametrize(
    ("error", "case", "until", "most"),
    later(
        [
            (pendulum_error, "double-pendulum", 5.0, 1e-9),
            (pendulum_error, "double-pendulum-3d", 5.0, 1e-8),
            (four_bar_error, 2, 2.0, 1e-9),
            (four_bar_error, 3, 2.0, 1e-9),
        ]
    ),
)
def test_minimal_coordinates_follow_them_to_the_end(error, case, until, most):
    assert error(case, until) < most


# --- order -----------------------------------------------------------------------------------------------------------


@pytest.mark.short(2)
@pytest.mark.parametrize("name", ["HHT", "AL", "AL, accelerations", "GGL", "RK4"])
def test_the_measured_order_is_the_declared_one(name):
    reference = references.planar_double_pendulum((np.pi / 2, -np.pi / 2), 1e-2, 20)[:, 1]
    errors = []
    for dt in (1e-2, 5e-3) if name == "RK4" else (5e-3, 2.5e-3):
        run = simulate(scenarios.load("double-pendulum"), ALL[name], dt, 0.2)
        errors.append(np.abs(run.position("lower.end")[:: round(1e-2 / dt)] - reference).max())
    assert references.orders(errors)[0] >= (3.8 if name == "RK4" else 1.9)


@pytest.mark.parametrize("name", first_of(1, ["HHT", "AL", "GGL"]), ids=named)
def test_springs_and_dampers_keep_the_order(name):
    model = zoo.pair(Spherical(), 3, gravity=(0.3, -9.81, 0.5))
    model.apply("spring", SpringDamper(stiffness=40.0, damping=1.5, length=0.4), "left.start", "right.end")
    model.apply(
        "tie", SpringDamper(stiffness=20.0, damping=1.0, length=0.2), "ground", "left.start", at=(0.0, 0.6, 0.1)
    )
    exact = simulate(model, EXACT, 1e-2, 0.1).position("right.end")
    errors = [
        np.abs(simulate(model, ALL[name], dt, 0.1).position("right.end")[:: round(1e-2 / dt)] - exact).max()
        for dt in (1e-2, 5e-3)
    ]
    assert references.orders(errors)[0] >= 1.9


ONCE = [(cls, dimension) for cls, dimension in zoo.JOINTS if dimension == max(cls.dimensions)]


@pytest.mark.short(5)
@pytest.mark.parametrize(
    ("cls", "dimension"),
    [*ONCE, *later(joint for joint in zoo.JOINTS if joint not in ONCE)],
    ids=zoo.label,
)
def test_every_joint_moves_alike_on_two_roads(cls, dimension):
    joint = cls.example(dimension)
    motion = {"velocity": (0.4, -0.3, 0.5)[:dimension], "angular_velocity": 1.1 if dimension == 2 else (0.9, -0.7, 1.2)}
    model = zoo.pair(joint, dimension, gravity=(0.3, -9.81, 0.5)[:dimension], left=motion)
    blade = cls in (KnifeEdge, Rolling)
    method = Baumgarte if blade else MinimalCoordinates
    exact = method(method="DOP853", rtol=1e-10, atol=1e-11)
    fine = simulate(model, exact, 6e-2, 6e-2, project_velocities=True).position("right.end")[-1]
    errors = [
        np.abs(simulate(model, HHT(), dt, 6e-2, project_velocities=True).position("right.end")[-1] - fine).max()
        for dt in (1e-2, 5e-3)
    ]
    assert errors[1] < 1e-3 and (references.orders(errors)[0] > 1.7 or errors[1] < 1e-7)


# --- violations and reactions ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["HHT", "AL", "GGL"])
@pytest.mark.parametrize("dimension", [2, 3])
def test_positions_are_closed_to_rounding(name, dimension):
    assert largest_violation(simulate(mechanisms.four_bar(dimension), ALL[name], 2e-3, 0.03)) <= 1e-10


def test_projected_velocities_and_accelerations_obey_too():
    run = simulate(mechanisms.four_bar(3), AugmentedLagrangian(), 2e-3, 0.03)
    assert max(np.abs(run.violation_rate(name)).max() for name in run.joints) < 1e-11
    assert max(np.abs(run.internal_violation_rate(name)).max() for name in run.bodies) < 1e-11
    bare = simulate(mechanisms.four_bar(3), AugmentedLagrangian(projections="none"), 2e-3, 0.03)
    assert max(np.abs(bare.internal_violation_rate(name)).max() for name in bare.bodies) > 1e-6


def test_without_stabilisation_violations_drift_and_with_it_they_do_not():
    drifts = {}
    for name, solver in (("bare", Substitution()), ("pulled", Baumgarte(method="RK4")), ("masses", GlobalPenalty())):
        run = simulate(scenarios.load("double-pendulum"), solver, 2e-2, 3.0)
        error = np.abs(np.concatenate([run.internal_violation(body) for body in run.bodies], axis=1)).max(axis=1)
        drifts[name] = (error[:75].max(), error[75:].max())
    assert drifts["bare"][1] > 3 * drifts["bare"][0]
    assert drifts["pulled"][1] < 0.2 * drifts["bare"][1]
    assert drifts["masses"][1] > 1e-9


@pytest.mark.campaign
def test_the_three_variants_of_the_course_give_one_motion():
    runs = [
        simulate(scenarios.load("double-pendulum"), Baumgarte(method="RK4", variant=variant), 5e-3, 0.15)
        for variant in (1, 2, 3)
    ]
    ends = [run.position("lower.end") for run in runs]
    assert np.abs(ends[0] - ends[2]).max() < 1e-11 and np.abs(ends[1] - ends[2]).max() < 1e-11
    reactions = [run.reaction("pivot")[1:] for run in runs]
    assert np.abs(reactions[1] - reactions[2]).max() < 1e-8  # at the tick
    middle = 0.5 * (runs[2].reaction("pivot")[1:] + runs[2].reaction("pivot")[:-1])
    assert np.abs(reactions[0] - middle).max() < 0.02 * np.abs(middle).max()  # variant 1: the mean over the tick


@pytest.mark.parametrize("name", first_of(2, ["HHT", "AL", "GGL", "Baumgarte", "RK4"]), ids=named)
def test_redundant_reactions_are_finite_smooth_and_the_smallest(name):
    """Four hinges in space on a mechanism that is planar: three rows too many."""
    run = simulate(mechanisms.four_bar(3), ALL[name], 2e-3, 0.05)
    plane = simulate(mechanisms.four_bar(2), ALL[name], 2e-3, 0.05)
    for joint in run.joints:
        reaction = run.reaction(joint)
        assert np.isfinite(reaction).all()
        assert np.abs(np.diff(reaction, n=2, axis=0)).max() < 0.05 * np.abs(reaction).max()
        assert np.abs(reaction[:, :2] - plane.reaction(joint)).max() < 2e-2 * np.abs(reaction).max()
        # nothing pulls out of the plane, so the smallest reactions have no part there
        assert np.abs(reaction[:, 2:5]).max() < 1e-6 * np.abs(reaction).max()


@pytest.mark.parametrize("name", IMPLICIT)
def test_reactions_and_accelerations_obey_the_equations_of_motion(name):
    """M a + G^T lambda = Q at every recorded instant, also where a joint is made with a gap that the first step closes."""
    rods = Assembly(gravity=(0.0, -9.81))
    rods.add("first", PointMassRod(start=(0, 0), end=(1, 0), masses=(1.0, 2.0)))
    rods.add("second", PointMassRod(start=(1 + 9e-7, 0), end=(2, 0.3), masses=(1.0, 2.0)))
    rods.join("pivot", Revolute(), "ground", "first.start")
    rods.join("elbow", Revolute(), "first.end", "second.start")
    with Simulation(rods, 1e-3, Centralized(IMPLICIT[name])) as simulation:
        equations = simulation.system.cache["equations"]
        for _ in range(3):
            simulation.step()
            q, v = equations.read()
            a, multipliers = equations.accelerate(simulation.time, q, v)
            assert np.abs(equations.collect("a") - a).max() < 1e-9 * np.abs(a).max()
            for joints, rows in zip(equations.joints, equations.joint_rows, strict=True):
                effort = joints.preload[: joints.count].ravel()
                assert np.abs(effort - multipliers[rows]).max() < 1e-9 * np.abs(multipliers).max()


@pytest.mark.parametrize("solver", [HHT(), HHT(alpha=0.0), AugmentedLagrangian(projections="none"), GGL()])
def test_a_gap_within_the_tolerance_gives_no_kick(solver):
    """9e-7 m, closed within a step of 1e-5 s, would be a velocity of 0.2 m/s."""
    rods = Assembly(gravity=(0.0, -9.81))
    rods.add("first", PointMassRod(start=(0, 0), end=(1, 0), masses=(1.0, 2.0)))
    rods.add("second", PointMassRod(start=(1 + 9e-7, 0), end=(2, 0.3), masses=(1.0, 2.0)))
    rods.join("pivot", Revolute(), "ground", "first.start")
    rods.join("elbow", Revolute(), "first.end", "second.start")
    run = simulate(rods, solver, 1e-5, 1e-4)
    assert np.abs(run.violation_rate("elbow")).max() < 1e-6
    assert np.abs(run.energy - run.energy[0]).max() < 1e-4  # m g gap, and no more


@pytest.mark.parametrize("name", first_of(1, ["HHT", "AL", "GGL"]), ids=named)
def test_slider_crank_passes_its_singular_position(name):
    run = simulate(scenarios.load("slider-crank"), ALL[name], 8e-3, 1.304)
    folded = np.argmin(np.abs(run.time - 1.163))
    for joint in run.joints:
        near = run.reaction(joint)[folded - 15 : folded + 15]
        assert np.isfinite(near).all()
        assert np.abs(np.diff(near, axis=0)).max() < 0.02 * np.abs(run.reaction(joint)).max()
    assert run.position("rod.end")[-1, 0] < -0.5  # it went on along the axis
    assert largest_violation(run) <= 1e-10


def test_reactions_are_those_of_the_modular_run():
    whole = simulate(scenarios.load("double-pendulum"), HHT(), 2e-3, 0.15).reaction("elbow")
    modular = simulate(scenarios.load("double-pendulum"), Penalty(), 1e-4, 0.15).reaction("elbow")[::20]
    assert np.abs(whole - modular).max() < 1e-2 * np.abs(modular).max()


# --- events ----------------------------------------------------------------------------------------------------------


def test_events_happen_and_ledgers_close():
    run = simulate(scenarios.load("cut-double-pendulum", elbow=0.05, pivot=0.1), HHT(alpha=0.0), 1e-3, 0.13)
    assert {event["kind"] for event in run.events} == {"cut"}
    balance = run.balance()
    assert np.abs(sum(balance.values())).max() < 1e-10
    for joint in run.joints:
        assert np.nanmax(np.abs(sum(run.ledger(joint).values()))) < 1e-12


def test_an_impact_is_one_impulse_of_all_joints():
    """A hanging rod caught at its end: the joint at its top takes its part of the blow, and all rates vanish at once."""
    rods = Assembly(gravity=(0, 0))
    rods.add(
        "upper", PointMassRod(start=(0, 0), end=(1, 0), masses=(1.0, 1.0), angular_velocity=2.0, velocity=(0, 1.0))
    )
    rods.add(
        "lower", PointMassRod(start=(1, 0), end=(2, 0), masses=(1.0, 1.0), angular_velocity=2.0, velocity=(0, 3.0))
    )
    rods.join("pivot", Revolute(), "ground", "upper.start")
    rods.join("elbow", Revolute(), "upper.end", "lower.start")
    with Simulation(rods, 1e-3, Centralized(HHT())) as simulation:
        before = simulation.recorded.energy[0]
        simulation.join("weld", Fixed(), "ground", "lower.end")
        run = simulation.run(0.01)
        ledger = {name: simulation.ledger(name) for name in ("pivot", "elbow", "weld")}
    assert run.energy[-1] == pytest.approx(0.0, abs=1e-12)
    assert sum(line["impact"] for line in ledger.values()) == pytest.approx(before, rel=1e-9)
    assert all(abs(sum(line.values())) < 1e-12 for line in ledger.values())


def test_conditions_are_located_between_ticks():
    model = scenarios.load("switching-pendulum", law="kinematic", spin=-6.0)
    run = simulate(model, HHT(alpha=0.0), 1e-3, 0.26)
    modular = simulate(model, Penalty(), 1e-4, 0.26)
    times = [next(e["time"] for e in r.events if e["kind"] == "join") for r in (run, modular)]
    assert times[0] == pytest.approx(times[1], abs=2e-5)


@pytest.mark.campaign
def test_a_method_that_chooses_its_steps_starts_anew_in_any_part_of_a_tick():
    model = scenarios.load("switching-pendulum", law="kinematic", spin=-6.0)
    solver = Baumgarte(method="DOP853", rtol=1e-10, atol=1e-11)
    run = simulate(model, solver, 1e-2, 0.26)
    exact = simulate(model, EXACT, 1e-2, 0.26)
    times = [next(e["time"] for e in r.events if e["kind"] == "join") for r in (run, exact)]
    assert times[0] == pytest.approx(times[1], abs=1e-7)


# --- the same again, and how dear -------------------------------------------------------------------------------------


def test_the_same_run_twice_gives_the_same_bits():
    runs = [simulate(mechanisms.four_bar(3), HHT(), 2e-3, 0.02) for _ in range(2)]
    assert all(np.array_equal(runs[0].reaction(name), runs[1].reaction(name)) for name in runs[0].joints)


@pytest.mark.campaign
def test_the_cost_of_a_step_grows_no_faster_than_the_chain():
    """In time of the processor, the shortest of some; both take turns, as others may slow the machine down."""
    chains = [Simulation(scenarios.load("chain", bodies=bodies), 1e-3, Centralized(HHT())) for bodies in (50, 200)]
    costs = np.full((6, 2), np.inf)
    for k in range(len(costs)):
        for which, simulation in enumerate(chains):
            start = time.process_time()
            simulation.run((3 + 5 * k) * 1e-3)
            if k:  # the first has to be compiled
                costs[k, which] = time.process_time() - start
    for simulation in chains:
        simulation.close()
    short, long = costs.min(axis=0)
    assert np.log(long / short) / np.log(4) <= 1.15


@pytest.mark.parametrize("method", ["RK4", "DOP853"])
def test_no_method_goes_over_a_corner_of_a_load(method):
    """A pulse between two ticks and ramps at odd times: of order four, or to the tolerance, as if they had been ticks.

    An adaptive method that went over the corners was off by 138 nm, and said that it was sure to 0.2.
    """
    times, pulls = (0.0123, 0.0205, 0.02061, 0.0207, 0.0311), (0.0, 0.2, 9.0, 0.1, 0.0)
    model = Assembly(gravity=(0.0, -9.81))
    model.add("rod", Rod((0, 0), (1.0, 0), 1.2))
    model.join("pin", Revolute(), "ground", "rod.start")
    model.apply("tap", Load(Table(times, [(0.0, pull) for pull in pulls])), "rod.end")

    def rates(t, y):
        pull = np.interp(t, times, pulls)
        return [y[1], (pull - 0.6 * 9.81) * np.cos(y[0]) / 0.4]

    y, end = np.zeros(2), 0.048
    for start, stop in pairwise((0.0, *times, end)):
        y = solve_ivp(rates, (start, stop), y, method="DOP853", rtol=1e-13, atol=1e-15).y[:, -1]
    errors = []
    for dt in (4e-3, 2e-3):
        solver = MinimalCoordinates(method=method, rtol=1e-12, atol=1e-13)
        run = Simulation(model, dt, Centralized(solver)).run(end)
        errors.append(np.abs(run.position("rod.end")[-1] - (np.cos(y[0]), np.sin(y[0]))).max())
    assert errors[1] < 1e-11, errors
    assert method == "DOP853" or errors[1] < errors[0] / 10.0 or errors[0] < 1e-13, errors


def by_modes(k):
    return ModalBody.of_beam(slender(k), modes=2)


def slender(k):
    return Beam((2.0 * k, 0), (2.0 * k + 1, 0), elements=2, mass=(1.0, 2.5, 7.0)[k], axial=1e4, bending=20.0 * (k + 1))


@pytest.mark.short(1, each=True)
@pytest.mark.parametrize("kind", [by_modes, slender])
def test_bodies_move_on_as_they_are_when_the_first_of_their_kind_leaves(kind):
    """Its row is taken by the last one. Bodies had the mass of their neighbours from then on, and soon there was no next step."""
    ends = {}
    for first in (0, 1):
        model = Assembly(gravity=(0.0, -9.81))
        for k in range(first, 3):
            model.add(f"arm{k}", kind(k))
            model.join(f"pin{k}", Revolute(), "ground", f"arm{k}.start")
        sim = Simulation(model, 1e-3, Centralized(HHT()))
        sim.run(0.005)
        if first == 0:
            sim.remove("arm0")
        run = sim.run(0.03)
        ends[first] = np.array([run.position(f"arm{k}.end")[-1] for k in (1, 2)])
    assert np.abs(ends[0] - ends[1]).max() < 1e-6  # an event starts the multistep method anew
