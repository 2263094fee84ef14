"""Bodies by place and angle, or place and quaternion: the equations of the course texts, the motion of natural coordinates."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import kinds
import references
import zoo
from both_ways import on_every_path
from campaign import each_once, named
from components import NewtonEulerBody, RigidBody, Spherical, SpringDamper
from components.bodies.natural.basis import FAMILY
from coordinator import Centralized, Glued, MinimalCoordinates, Penalty, Relaxed, Run, Simulation
from coordinator.continuation.reconfigure import with_body
from modular import Assembly, ModelError

BOTH = pytest.mark.parametrize("dimension", [2, 3])


# --- the equations -----------------------------------------------------------------------------------------------------


def test_mass_and_velocity_terms_are_those_of_the_text():
    """Course text "Systèmes multi-corps et paramétrage cartésien": M = G^T I G and Q_v = -2 G'^T I omega, omega = G p'."""

    def g(p):
        p1, p2, p3, p4 = p
        return 2.0 * np.array([[-p2, p1, p4, -p3], [-p3, -p4, p1, p2], [-p4, p3, -p2, p1]])

    body, q, v = zoo.start(NewtonEulerBody.example(3))
    inertia = np.diag(body.principal_inertia)
    along = np.outer(q[3:], q[3:])  # where nothing moves, and an inertia of ours leaves the matrix regular
    mine = body.mass_matrix(q)
    across = np.eye(4) - along
    assert across @ mine[3:, 3:] @ across == pytest.approx(g(q[3:]).T @ inertia @ g(q[3:]), abs=1e-15)
    assert mine[:3, :3] == pytest.approx(body.mass * np.eye(3))
    spin = g(q[3:]) @ v[3:]
    assert spin == pytest.approx(body.own_axes.T @ np.array(body.angular_velocity), rel=1e-14)
    assert body.drive(q, v, np.zeros(3))[3:] == pytest.approx(-2.0 * g(v[3:]).T @ inertia @ spin, rel=1e-14)


@BOTH
def test_axes_of_ports_turn_as_those_of_natural_coordinates(dimension):
    runs = []
    for kind in (RigidBody, NewtonEulerBody):
        model = Assembly(gravity=(0.0,) * dimension)
        model.add("body", kind.example(dimension))
        with Simulation(model, 1e-3, Glued(4)) as simulation:
            runs.append(simulation.run(0.5))
    assert np.abs(runs[1].axes("body.left") - runs[0].axes("body.left")).max() < 1e-10


# --- the motion --------------------------------------------------------------------------------------------------------


def ends(run, dimension):
    return kinds.paths(run, dimension).reshape(-1, len(run.time), dimension)[:, -1]


@cache
def truth(dimension, until):
    with Simulation(kinds.FREE[dimension][1](), 1e-3, Glued(8)) as simulation:
        return ends(simulation.run(until), dimension)


@pytest.mark.short(2)
@pytest.mark.parametrize(
    ("dimension", "coupling", "order", "most", "until"),
    each_once(
        [2, 3],
        [
            (Penalty(), 2, 2e-2, 0.4),
            (Glued(), 2, 2e-5, 0.4),
            (Glued(4), 4, 1e-9, 0.4),
            (Relaxed(), 2, 2e-5, 0.4),
            (Centralized(), 2, 1e-5, 0.1),
            (Centralized(MinimalCoordinates()), 4, 1e-9, 0.1),
        ],
    ),
    ids=named,
)
def test_a_four_bar_and_a_double_pendulum_move_as_with_natural_coordinates(coupling, order, most, until, dimension):
    """One body of the mechanism by place and turning: at the declared order towards the motion of all in natural coordinates."""
    errors = []
    for dt in (4e-3, 2e-3) if order == 4 and until < 0.4 else (2e-3, 1e-3):
        with Simulation(kinds.FREE[dimension][1](NewtonEulerBody), dt, coupling) as simulation:
            errors.append(np.abs(ends(simulation.run(until), dimension) - truth(dimension, until)).max())
    assert errors[1] < most
    assert abs(references.orders(errors)[0] - order) < 0.3


@BOTH
def test_what_glued_joints_carry_is_what_they_carry_with_natural_coordinates(dimension):
    """Reactions and accelerations follow from positions and velocities, which agree to the fourth power of the step."""
    found = []
    for kind in (RigidBody, NewtonEulerBody):
        with Simulation(kinds.FREE[dimension][1](kind), 1e-3, Glued(4)) as simulation:
            run = simulation.run(0.1)
        ports = [f"{name}.{port}" for name, body in run.bodies.items() for port in body.port_names]
        found.append([*(run.reaction(joint) for joint in run.joints), *(run.acceleration(port) for port in ports)])
    for one, other in zip(*found, strict=True):
        assert other == pytest.approx(one, abs=1e-6 * max(1.0, np.abs(one).max()))


def spinning(kind):
    """A book thrown with its spin about the axis of middle inertia, nearly."""
    places = {"a": (0.3, 0.1, 0.0), "b": (0.0, 0.4, 0.1), "c": (0.1, 0.0, 0.3)}
    model = Assembly(gravity=(0.0, 0.0, 0.0))
    data = {"mass": 1.2, "inertia": (0.1, 0.2, 0.28), "centre": (0.0, 0.0, 0.0), "ports": places}
    model.add("book", kind(**data, angular_velocity=(0.02, 3.0, 0.01), velocity=(0.1, -0.2, 0.05)))
    return model


def angular_momentum(run, every):
    """m r x v + R J R^T w, with w from the velocities of three ports."""
    turn = np.swapaxes(run.axes("book.a"), 1, 2)[::every]
    centre = run.mass_centre("book")[::every]
    pace = run.velocity("book.a")[::every]
    arms, rates = [], []
    for port in ("a", "b", "c"):
        arms.append(run.position(f"book.{port}")[::every] - centre)
        rates.append(run.velocity(f"book.{port}")[::every])
    found = []
    for k in range(len(centre)):
        rows, right = [], []
        for arm, rate in zip(arms[1:], rates[1:], strict=True):
            x, y, z = arm[k] - arms[0][k]
            rows.append([[0, z, -y], [-z, 0, x], [y, -x, 0]])
            right.append(rate[k] - rates[0][k])
        w = np.linalg.lstsq(np.concatenate(rows), np.concatenate(right), rcond=None)[0]
        v = pace[k] - np.cross(w, arms[0][k])
        found.append(1.2 * np.cross(centre[k], v) + turn[k] @ (np.array([0.1, 0.2, 0.28]) * (turn[k].T @ w)))
    return np.array(found)


@pytest.mark.short(2, each=True)
@pytest.mark.parametrize("until", [10.0, pytest.param(100.0, marks=pytest.mark.campaign)])
@pytest.mark.parametrize("kind", [*FAMILY, "newton-euler"])
def test_a_tennis_racket_keeps_energy_and_angular_momentum_for_a_hundred_thousand_steps(kind, until):
    """It turns over and over; symplectic steps lose nothing that can be seen."""
    make = NewtonEulerBody if kind == "newton-euler" else lambda **data: RigidBody(**data, basis=kind)
    with Simulation(spinning(make), 1e-3, Glued(6), record_every=100) as simulation:
        run = simulation.run(until)
    assert np.ptp(run.energy) < 1e-9 * run.energy[0]
    momentum = angular_momentum(run, 10)
    assert np.abs(momentum - momentum[0]).max() < 1e-9 * np.linalg.norm(momentum[0])
    height = run.axes("book.a")[:, 1, 1]
    assert height.min() < -0.9  # it turned over


@BOTH
def test_reactions_and_accelerations_are_those_of_natural_coordinates(dimension):
    """What the record says of an instant: an element of such a body swings round even where its accelerations are none."""
    name, mechanism = kinds.FREE[dimension]
    runs = []
    for kind in (RigidBody, NewtonEulerBody):
        with Simulation(mechanism(kind), 1e-3, Glued(6)) as simulation:
            runs.append(simulation.run(0.3))
    for joint in runs[0].joints:
        force = runs[0].reaction(joint)
        assert np.abs(runs[1].reaction(joint) - force).max() < 1e-7 * np.abs(force).max()
    bend = runs[0].acceleration(f"{name}.right")
    assert np.abs(runs[1].acceleration(f"{name}.right") - bend).max() < 1e-7 * np.abs(bend).max()


# --- the same on every path --------------------------------------------------------------------------------------------


def train(dimension):
    """Three bodies by place and turning on a spring and joints, the mechanism with another on top."""
    model = kinds.FREE[dimension][1](NewtonEulerBody)
    name, port = {2: ("coupler", "top"), 3: ("lower", "right")}[dimension]
    place = np.array({2: kinds.COUPLER, 3: kinds.LOWER}[dimension]["ports"][port])
    data = dict({2: kinds.COUPLER, 3: kinds.LOWER}[dimension])
    offset = place - data["ports"]["left"]
    data["centre"] = tuple(data["centre"] + offset)
    data["ports"] = {key: tuple(x + offset) for key, x in data["ports"].items()}
    model.add("more", NewtonEulerBody(**data))
    model.join("more", kinds.HINGE[dimension], f"{name}.{port}", "more.left")
    model.apply("spring", SpringDamper(80.0, 0.5), "more.right", "ground", at=(1.0,) * dimension)
    return model


@pytest.mark.parametrize(("dimension", "coupling"), each_once([2, 3], [Penalty(), Glued(4)]), ids=named)
def test_single_steps_stacks_of_their_own_and_workers_have_the_same_bits(coupling, dimension):
    digests = on_every_path(lambda: train(dimension), 5e-4, coupling, 0.04, lambda simulation: simulation.cut("more"))
    assert len(digests) == 1


def test_it_is_cut_caught_and_kept_in_a_run_folder(tmp_path):
    model = kinds.double_pendulum(NewtonEulerBody)
    with Simulation(model, 1e-3, Glued()) as simulation:
        simulation.run(0.1)
        simulation.cut("elbow")
        before = simulation.run(0.2).energy[-1]
        simulation.join("catch", Spherical(), "ground", "lower.right")
        lost = simulation.ledger("catch")["impact"]
        run = simulation.run(0.3)
    assert lost > 0.1
    assert run.energy[-1] == pytest.approx(before - lost, abs=1e-4)  # what the catch took is what the body lost
    run.save(tmp_path)
    assert Run.load(tmp_path) == run


# --- changes and refusals ----------------------------------------------------------------------------------------------


@BOTH
def test_other_numbers_leave_it_where_it_stands_whatever_axes_become_principal(dimension):
    data = {2: kinds.COUPLER, 3: kinds.LOWER}[dimension]
    name, mechanism = kinds.FREE[dimension]
    simulation = Simulation(mechanism(NewtonEulerBody), 1e-3)
    simulation.run(0.2)
    before = [simulation.port_motion(f"{name}.{port}")[:2] for port in data["ports"]]
    inertia = 0.09 if dimension == 2 else ((0.06, 0.01, 0.0), (0.01, 0.03, 0.004), (0.0, 0.004, 0.07))
    centre = tuple(np.array(data["centre"]) + 0.03)
    simulation = with_body(simulation, name, NewtonEulerBody(**{**data, "inertia": inertia, "centre": centre}))
    with simulation:
        after = [simulation.port_motion(f"{name}.{port}")[:2] for port in data["ports"]]
        assert np.abs(np.array(after) - np.array(before)).max() < 1e-13
        simulation.run(0.3)


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        ({"inertia": (0.0, 0.2, 0.2)}, "rotation about an axis without inertia is undetermined"),
        ({"mass": -1.0}, "a mass must be positive"),
        ({"inertia": (0.1, 0.1, 0.5)}, "triangle inequality"),
        ({"velocity": (1.0, 2.0)}, "needs 3 finite components"),
    ],
)
def test_impossible_bodies_are_refused_by_name(data, sentence):
    model = Assembly(gravity=(0.0, 0.0, -9.81))
    with pytest.raises(ModelError, match=sentence) as refused:
        model.add("wing", replace(NewtonEulerBody.example(3), **data))
    assert "wing" in str(refused.value)
