"""Natural, canonical and point coordinates and four masses: one family, one motion (Séguy 2003, III.2)."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

import kinds
from campaign import later, shortened
from components import Distance, PointMassRod, RigidBody, Spherical
from components.bodies.natural.basis import FAMILY
from coordinator import Centralized, Glued, Penalty, Relaxed, Run, Simulation
from coordinator.continuation.reconfigure import with_body
from lazily import Lazily
from modular import Assembly, ModelError

integrate = Lazily("scipy.integrate")

OTHERS = [basis for basis in FAMILY if basis != "natural"]
COUPLINGS = {"penalty": Penalty(), "glued": Glued(4), "relaxed": Relaxed(), "centralized": Centralized()}


def moved(dimension, coupling, basis, until=0.4):
    mechanism = kinds.FREE[dimension][1]
    with Simulation(mechanism(lambda **data: RigidBody(**data, basis=basis)), 2e-3, coupling) as simulation:
        run = simulation.run(until)
    return kinds.paths(run, dimension), run


@pytest.mark.parametrize(
    ("dimension", "name"),
    shortened([(2, "penalty"), (2, "centralized")], itertools.product([2, 3], COUPLINGS)),
)
def test_the_motion_is_the_same_to_rounding_in_every_basis(name, dimension):
    until = 0.1 if name == "centralized" else 0.4
    natural, _ = moved(dimension, COUPLINGS[name], "natural", until)
    assert np.ptp(natural, axis=0).max() > 0.1
    for basis in OTHERS:
        path, run = moved(dimension, COUPLINGS[name], basis, until)
        # of lengths of 1 m; 2e-14 measured but for centralized solvers
        assert np.abs(path - natural).max() < 1e-11, basis
        assert run.state(kinds.FREE[dimension][0])[0].shape[1:] == (dimension + 1, dimension)


def two(bases, dimension):
    """Two bodies, one hung from the other."""
    model, inertia = Assembly(gravity=(0.4, -9.81, 0.7)[:dimension]), 0.02 if dimension == 2 else (0.03, 0.02, 0.04)
    for k, basis in enumerate(bases):
        centre, ports = (0.3 + k, 0.1, 0.0)[:dimension], {"a": (k, 0, 0)[:dimension], "b": (k + 1, 0, 0)[:dimension]}
        model.add(f"body{k}", RigidBody(mass=1.0 + k, inertia=inertia, centre=centre, ports=ports, basis=basis))
    model.join("upper", Spherical(), "ground", "body0.a")
    model.join("lower", Spherical(), "body0.b", "body1.a")
    return model


@pytest.mark.parametrize("dimension", [2, *later([3])])
@pytest.mark.parametrize("pair", list(itertools.permutations(FAMILY, 2)))
def test_bodies_in_different_bases_begin_together_and_move_as_in_one(pair, dimension):
    paths = []
    for bases in (("natural", "natural"), pair):
        with Simulation(two(bases, dimension), 2e-3) as simulation:
            paths.append(simulation.run(0.1).position("body1.b"))
    assert np.ptp(paths[0], axis=0).max() > 0.02
    assert np.abs(paths[1] - paths[0]).max() < 1e-11


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("basis", FAMILY)
def test_internal_constraints_are_closed_and_energy_is_that_of_newton_and_euler(basis, dimension):
    body = replace(RigidBody.example(dimension), basis=basis)
    q, v = body.elements, body.initial_velocity
    assert np.abs(body.internal_violation(q)).max() < 1e-15
    assert np.abs(body.internal_violation_rate(q, v)).max() < 1e-14
    w, u = np.atleast_1d(body.angular_velocity), np.asarray(body.velocity)
    inertia = np.atleast_2d(np.asarray(body.inertia, float))
    assert body.kinetic_energy(q, v) == pytest.approx(0.5 * body.mass * u @ u + 0.5 * w @ inertia @ w, rel=1e-13)
    assert body.momentum(q, v) == pytest.approx(body.mass * u, rel=1e-13)


def test_canonical_coordinates_are_the_mass_centre_and_the_rotation_from_the_start():
    body = replace(RigidBody.example(3), basis="canonical")
    q = body.elements
    assert np.array_equal(q[0], body.centre)
    assert np.array_equal(q[1:], np.eye(3))
    assert body.mass_matrix[0] == pytest.approx([body.mass, 0.0, 0.0, 0.0], abs=1e-15)


@pytest.mark.parametrize("dimension", [2, 3])
def test_the_masses_of_plexus_carry_equal_shares_and_have_no_inertia_between_them(dimension):
    body = replace(RigidBody.example(dimension), basis="masses")
    share = body.mass / (dimension + 1)
    assert body.mass_matrix == pytest.approx(share * np.eye(dimension + 1), abs=1e-13)


@pytest.mark.campaign
def test_a_rod_has_a_basis_of_each_name_as_well():
    ends, paths = {"start": (0.0, 0.0, 0.0), "end": (0.6, 0.0, 0.8)}, []
    for basis in FAMILY:
        model = Assembly(gravity=(0.0, 0.0, -9.81))
        rod = RigidBody(
            mass=1.2, inertia=((0.064, 0, -0.048), (0, 0.1, 0), (-0.048, 0, 0.036)), centre=(0.3, 0.0, 0.4),
            ports=ends, angular_velocity=(0.8, 2.0, -0.6), velocity=(0.5, 0.0, 0.0), basis=basis,
        )  # fmt: skip
        model.add("rod", rod)
        with Simulation(model, 1e-3) as simulation:
            run = simulation.run(0.3)
        paths.append(np.concatenate([run.position("rod.start"), run.position("rod.end")]))
        assert run.state("rod")[0].shape[1:] == (2, 3)
    assert np.abs(np.array(paths) - paths[0]).max() < 1e-13


def test_elements_are_placed_by_hand_in_every_basis_but_masses():
    points = ((0.0, 0.0, 0.0), (0.3, 0.1, 0.0), (0.0, 0.4, 0.1), (0.1, 0.0, 0.5))
    by_hand = replace(RigidBody.example(3), basis="points", points=points)
    assert np.array_equal(by_hand.elements, points)
    paths = []
    for body in (by_hand, RigidBody.example(3)):
        model = Assembly(gravity=(0.0, 0.0, -9.81))
        model.add("body", body)
        with Simulation(model, 1e-3) as simulation:
            paths.append(simulation.run(0.3).position("body.left"))
    assert np.abs(paths[1] - paths[0]).max() < 1e-12


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        ({"basis": "euler"}, "give one of 'natural', 'canonical', 'points', 'masses'"),
        ({"basis": "masses", "points": ((0.0, 0.0, 0.0),) * 4}, "places its elements itself; leave them out"),
        ({"basis": "canonical", "points": ((0.0, 0.0, 0.0),) * 2}, "needs 1 of them in the canonical basis"),
        ({"basis": "points", "vectors": ((1.0, 0.0, 0.0),)}, "needs 0 of them in the points basis"),
    ],
)
def test_bases_that_do_not_exist_or_elements_that_do_not_fit_are_refused_by_name(data, sentence):
    model = Assembly(gravity=(0.0, 0.0, -9.81))
    with pytest.raises(ModelError, match=sentence) as refused:
        model.add("wing", replace(RigidBody.example(3), **data))
    assert "wing" in str(refused.value)


def test_a_run_folder_and_a_change_of_basis_while_it_moves_keep_the_motion(tmp_path):
    _, run = moved(3, Glued(4), "points")
    run.save(tmp_path)
    assert Run.load(tmp_path) == run
    simulation = Simulation(kinds.double_pendulum(), 2e-3, Glued(4))
    simulation.run(0.2)
    simulation = with_body(simulation, "lower", RigidBody(**kinds.LOWER, basis="masses"))
    with simulation:
        end = simulation.run(0.4).position("lower.right")[-1]
    assert np.abs(end - run.position("lower.right")[-1]).max() < 1e-10


@pytest.mark.short(1)
@pytest.mark.parametrize("dimension", [2, *later([3])])
@pytest.mark.parametrize("name", COUPLINGS)
def test_a_mass_on_a_massless_rod_is_what_the_messages_say(name, dimension):
    """Refused as a rod and as a port off a point mass, with one remedy; followed, it swings as a mathematical pendulum."""

    def place(x, y):
        """In the plane, or in an upright one that is askew to all axes of space."""
        return (x, y) if dimension == 2 else (0.6 * x, y, 0.8 * x)

    turning = {2: 0.0, 3: ((0.0, 0.0, 0.0),) * 3}[dimension]
    lonely = RigidBody(mass=2.0, inertia=turning, centre=place(1, 0), ports={"end": place(0, 0)})
    for body in (PointMassRod(place(0, 0), place(1, 0), (0.0, 2.0)), lonely):
        assert "held by a Distance joint" in "".join(body.check("bob"))
    model = Assembly(gravity=place(0, -9.81))
    model.add("bob", RigidBody(mass=2.0, inertia=turning, centre=place(1, 0), ports={"centre": place(1, 0)}))
    model.join("rod", Distance(), "ground", "bob.centre", at=place(0, 0))
    with Simulation(model, 1e-3, COUPLINGS[name]) as simulation:
        run = simulation.run(0.5)
    angle = integrate.solve_ivp(
        lambda _, y: [y[1], -9.81 * np.cos(y[0])], (0, 0.5), [0.0, 0.0], rtol=1e-10, atol=1e-12
    ).y[0, -1]
    assert run.position("bob.centre")[-1] == pytest.approx(place(np.cos(angle), np.sin(angle)), abs=3e-5)
