"""Gradients of runs by numbers of the model, against closed forms and against derivatives of another program."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import minimize

from components.bodies import PointMassRod, RigidBody
from components.courses import Sine
from components.forces import Load, Motor, SpringDamper
from components.joints import Revolute
from coordinator import Formulas, Glued, Objective, Run, Simulation, gradient
from modular.assembly import Assembly
from modular.errors import ModelError, RunWarning
from modular.events import Cut
from modular.limit import Limit

MASS, STIFFNESS, LENGTH, START = 1.3, 20.0, 1.0, 1.5
G = 9.81


def oscillator() -> Assembly:
    model = Assembly((0.0, 0.0))
    model.add("bob", RigidBody(mass=MASS, inertia=0.1, centre=(START, 0.0), ports={"middle": (START, 0.0)}))
    model.apply("spring", SpringDamper(stiffness=STIFFNESS, length=LENGTH), "ground", "bob.middle", at=(0.0, 0.0))
    return model


def end_of_bob(run):
    return run.position("bob.middle")[-1, 0]


@pytest.mark.parametrize(("order", "tolerance"), [(4, 1e-9), (2, 1e-6)])
def test_a_mass_on_a_spring_has_the_derivatives_of_its_cosine(order, tolerance):
    until = 1.1
    found = gradient(
        oscillator(),
        2e-3,
        Glued(order=4),
        of=end_of_bob,
        by=["spring.stiffness", "bob.mass", "spring.length"],
        until=until,
        order=order,
    )
    pace = np.sqrt(STIFFNESS / MASS)
    slope = -(START - LENGTH) * np.sin(pace * until) * until
    exact = [slope * pace / (2 * STIFFNESS), -slope * pace / (2 * MASS), 1.0 - np.cos(pace * until)]
    assert found.value == pytest.approx(LENGTH + (START - LENGTH) * np.cos(pace * until), rel=1e-8)
    assert found.jacobian == pytest.approx(exact, rel=tolerance)
    assert found.of("bob.mass") == found.jacobian[1]
    if order == 4:
        assert (np.abs(found.jacobian - exact) <= 100 * found.error).all()


def test_what_falls_has_the_derivatives_of_its_parabola():
    """By gravity too, which variants side by side have in common."""
    model = Assembly((0.4, -G))
    model.add(
        "stone", RigidBody(mass=1.0, inertia=0.1, centre=(0.0, 0.0), ports={"middle": (0.0, 0.0)}, velocity=(3.0, 2.0))
    )
    by = ["gravity.0", "gravity.1", "stone.velocity.0", "stone.mass"]
    found = gradient(model, 1e-2, Glued(), of=lambda run: run.position("stone.middle")[-1], by=by, until=0.7)
    assert found.jacobian == pytest.approx(np.array([[0.245, 0.0, 0.7, 0.0], [0.0, 0.245, 0.0, 0.0]]), abs=1e-10)


def double_pendulum() -> Assembly:
    model = Assembly((0.0, -G))
    model.add("upper", PointMassRod((0.0, 0.0), (1.0, 0.0), (1.0, 0.5)))
    model.add("lower", PointMassRod((1.0, 0.0), (1.0, -1.0), (0.5, 1.0)))
    model.join("pivot", Revolute(), "ground", "upper.start")
    model.join("elbow", Revolute(), "upper.end", "lower.start")
    return model


def rates(_, state, m, tip, a, b):
    """Angles of both rods from the vertical; masses at the elbow and at the tip, lengths."""
    p, q, dp, dq = state
    c, s = np.cos(p - q), np.sin(p - q)
    mass = np.array([[(m + tip) * a, tip * b * c], [tip * a * c, tip * b]])
    force = [-tip * b * dq**2 * s - (m + tip) * G * np.sin(p), tip * a * dp**2 * s - tip * G * np.sin(q)]
    return [dp, dq, *np.linalg.solve(mass, force)]


def tip_of(m, tip, a, b, until):
    start = np.array([np.pi / 2, 0.0, 0.0, 0.0], complex)
    p, q = solve_ivp(rates, (0.0, until), start, "DOP853", rtol=1e-13, atol=1e-13, args=(m, tip, a, b)).y[:2, -1]
    return np.array([a * np.sin(p) + b * np.sin(q), -a * np.cos(p) - b * np.cos(q)])


def test_a_double_pendulum_has_the_derivatives_of_another_program():
    """Complex steps through an adaptive integrator in angles; lengths are several numbers that change together."""
    until, h = 1.5, 1e-25
    numbers = (1.0, 1.0, 1.0, 1.0)  # at the elbow, at the tip, lengths
    exact = np.stack(
        [
            np.imag(tip_of(*(x + (1j * h if i == k else 0.0) for i, x in enumerate(numbers)), until)) / h
            for k in range(4)
        ],
        axis=-1,
    )
    by = {
        "elbow": {"upper.masses.1": 1.0}, "tip": {"lower.masses.1": 1.0}, "lower length": {"lower.end.1": -1.0},
        "upper length": {"upper.end.0": 1.0, "lower.start.0": 1.0, "lower.end.0": 1.0},
    }  # fmt: skip
    found = gradient(
        double_pendulum(),
        2.5e-3,
        Glued(order=6),
        of=lambda run: run.position("lower.end")[-1],
        by=by,
        until=until,
        record_every=600,
    )
    jacobian = np.stack([found.of(name) for name in ("elbow", "tip", "upper length", "lower length")], axis=-1)
    assert np.abs(jacobian - exact).max() <= 1e-7 * np.abs(exact).max()


def test_scipy_finds_the_spring_that_was_asked_for():
    wanted = LENGTH + (START - LENGTH) * np.cos(np.sqrt(31.0 / MASS) * 0.4)
    spring = Objective(
        oscillator(),
        2e-3,
        Glued(order=4),
        of=lambda run: (100.0 * (end_of_bob(run) - wanted)) ** 2,
        by=["spring.stiffness"],
        until=0.4,
    )
    best = minimize(spring, spring.start, jac=True)
    assert best.x == pytest.approx([31.0], rel=1e-6)


def test_a_run_that_is_there_knows_what_it_was_run_with(tmp_path):
    settings = {"of": end_of_bob, "by": ["spring.stiffness", "bob.mass"]}
    with Simulation(oscillator(), 2e-3, Glued(order=4), record_every=25) as simulation:
        run = simulation.run(0.5)
    told = gradient(oscillator(), 2e-3, Glued(order=4), until=0.5, record_every=25, **settings)
    for one in (run, Run.load(run.save(tmp_path / "run"))):
        found = gradient(one, **settings)
        assert np.array_equal(found.jacobian, told.jacobian) and found.value == end_of_bob(run)
    assert gradient(run, until=0.25, **settings).value == run.position("bob.middle")[len(run) // 2, 0]
    with pytest.raises(ModelError, match="'chain' is neither a model nor a run"):
        gradient("chain", 1e-3, until=0.1, **settings)
    with pytest.raises(ModelError, match="give dt, the step, and until"):
        gradient(oscillator(), **settings)
    with Simulation(oscillator(), 2e-3) as simulation:
        simulation.run(0.1)
        simulation.apply("push", Load((1.0, 0.0)), "bob.middle")
        pushed = simulation.run(0.2)
    by_hand = gradient(pushed, **settings)
    assert by_hand.value == end_of_bob(pushed)


def test_what_nobody_can_differ_by_is_refused_with_a_way_out():
    model = Assembly((0.0, -G))
    model.add("rod", PointMassRod((0.0, 0.0), (1.0, 0.0), (0.4, 0.7)))
    model.join("pin", Revolute(), "ground", "rod.start")
    model.apply("motor", Motor(target=Sine(0.1, 2.0)), "ground", "rod.start")
    with pytest.raises(ModelError, match="give a function of a run, such as lambda run"):
        gradient(model, 0.01, Glued(), of="rod.end", by=["motor.stiffness"], until=0.1)
    settings = {"of": lambda run: run.position("rod.end")[-1], "by": ["motor.stiffness"], "until": 0.1}
    with pytest.raises(ModelError, match=r"stiffness = -.*finite number from 0 on.*order=1, which goes to one side"):
        gradient(model, 0.01, Glued(), **settings)
    aside = gradient(model, 0.01, Glued(order=4), order=1, **settings)
    exact = gradient(model, 0.01, Formulas(), method="exact", **settings)
    assert aside.jacobian == pytest.approx(exact.jacobian, rel=1e-3) and np.abs(exact.jacobian).max() > 1e-5


@pytest.mark.parametrize("sign", [1, -1])
def test_a_motor_with_a_line_has_the_derivatives_of_its_exponential(sign):
    """I omega' = tau (1 - omega / omega_0): omega = omega_0 (1 - exp(-tau t / (I omega_0))), of whatever sign both are."""
    model, inertia, effort, none_left, until = Assembly((0.0, 0.0)), 0.4, sign * 0.9, sign * 2.5, 0.8
    model.add("wheel", RigidBody(mass=1.0, inertia=inertia, centre=(0.0, 0.0), ports={"hub": (0.0, 0.0)}))
    model.join("axle", Revolute(), "ground", "wheel.hub")
    model.apply("motor", Motor(effort, no_load=none_left), "ground", "wheel.hub")
    rate = effort * until / (inertia * none_left)
    fading = np.exp(-rate)
    expected = [fading * until / inertia, 1.0 - fading - rate * fading]
    for coupling, method in ((Glued(order=6), "differences"), (Formulas(), "differences"), (Formulas(), "exact")):
        found = gradient(
            model, 0.02, coupling, of=lambda run: run.angular_velocity("wheel.hub")[-1], by=["motor.effort", "motor.no_load"],
            until=until, method=method,
        )  # fmt: skip
        assert found.jacobian.ravel() == pytest.approx(expected, rel=1e-7), (coupling, method)


def test_where_there_is_no_derivative_it_is_refused_or_said():
    model = oscillator()
    model.at(0.2, Cut("pin"))
    with pytest.raises(ModelError, match="events happen at the nearest tick"):
        gradient(model, 1e-3, of=end_of_bob, by=["events.0.time"], until=0.1)
    with pytest.raises(ModelError, match=r"name a single number, such as 'upper.masses.0'"):
        gradient(double_pendulum(), 1e-3, of=end_of_bob, by=["upper.masses"], until=0.1)
    with pytest.raises(ModelError, match=r"names 'upper\.masses\.1' twice"):
        gradient(double_pendulum(), 1e-3, of=end_of_bob, by=["upper.masses.1", "upper.masses.1"], until=0.1)
    breaking = double_pendulum()
    edge = breaking.joint_edges["elbow"]
    breaking.joint_edges["elbow"] = edge._replace(breaks_at=Limit(force=25.0, window=0.05))
    with pytest.raises(ModelError, match="'elbow' breaks at tick"):
        gradient(
            breaking,
            1e-4,
            of=lambda run: run.position("lower.end")[-1],
            by=["lower.masses.1"],
            until=0.6,
            record_every=50,
        )
    with pytest.warns(RunWarning, match="do not agree"):
        gradient(double_pendulum(), 4e-3, Glued(), of=lambda run: np.sin(1e6 * run.position("lower.end")[-1, 0]),
                 by=["lower.masses.1"], until=0.8, record_every=50)  # fmt: skip
