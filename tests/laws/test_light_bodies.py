"""Bodies that answer much more one way than another: light ones on arms, heavy ones beside them."""

from functools import cache

import numpy as np
import pytest

from campaign import first_of, more, some
from components import Load, NewtonEulerBody, Revolute, RigidBody, Rod, Spherical, SpringDamper
from coordinator import Glued, Penalty, Shannon, Simulation, Stable
from coordinator.checks.exact import exact_margin
from lazily import Lazily
from modular import Assembly
from random_assemblies import random_assembly

integrate = Lazily("scipy.integrate")

MASS, GRAVITY = 2.0, 9.81
INERTIAS = (1e-1, 1e-2, 1e-4, 1e-7, 1e-9)
ARMS = (0.0, 0.01, 0.1, 0.5, 1.0)
SIDE, DOWN = 0.6, 0.4  # the mass centre from the pivot, for an arm of one


def bob(kind, inertia, arm, dimension=2):
    """A body that hangs by a point beside its mass centre."""
    across = (0.0,) * (dimension - 2)
    assembly = Assembly(gravity=(0.0, *across, -GRAVITY))
    centre, turning = (SIDE * arm, *across, -DOWN * arm), inertia
    if dimension == 3:
        turning = tuple(map(tuple, np.diag([inertia, 0.7 * inertia, 0.5 * inertia])))
    assembly.add("bob", kind(mass=MASS, inertia=turning, centre=centre, ports={"pivot": (0.0,) * dimension}))
    assembly.join("pivot", Revolute() if dimension == 2 else Spherical(), "ground", "bob.pivot")
    return assembly


def widest(simulation, until, joint="pivot"):
    return np.abs(simulation.run(until).violation(joint)).max()


@pytest.mark.short(1)
@pytest.mark.parametrize("kind", [NewtonEulerBody, RigidBody])
def test_a_pivot_gives_as_little_whatever_the_inertia_and_the_arm(kind):
    """Where one number stands for the seen mass, directions up to four times as hard are held as softly as the softest of them."""
    for arm in ARMS:
        for inertia in INERTIAS:
            for dt, most in ((1e-3, 1e-5), (1e-4, 1e-7)):
                with Simulation(bob(kind, inertia, arm), dt) as simulation:
                    limit = most if simulation.system.turns or dt < 1e-3 else 2 * most
                    assert widest(simulation, 200 * dt if dt < 1e-3 else 0.3) <= limit, (arm, inertia, dt)
                    assert simulation.margins["pivot"] == pytest.approx(1.25, rel=1e-6)


@pytest.mark.parametrize("inertia", [1e-3, 1e-7])
def test_a_pivot_in_space_too(inertia):
    with Simulation(bob(NewtonEulerBody, inertia, 0.7, dimension=3), 1e-3) as simulation:
        assert widest(simulation, 0.5) <= 1e-5


def place_of(simulation):
    body = simulation.body("bob")
    return body.bodies["bob"].mass_centre(body.q[0])


@pytest.mark.parametrize("kind", [NewtonEulerBody, RigidBody])
def test_a_light_bob_swings_as_a_pendulum_does_to_second_order(kind):
    inertia, arm, until = 1e-6, 1.0, 0.5
    length2 = (SIDE**2 + DOWN**2) * arm**2
    found = integrate.solve_ivp(
        lambda _, y: (y[1], -MASS * GRAVITY * np.sqrt(length2) * np.sin(y[0]) / (inertia + MASS * length2)),
        (0.0, until),
        (np.arctan2(SIDE, DOWN), 0.0),
        rtol=1e-12,
        atol=1e-12,
    )
    angle = found.y[0, -1]
    right = np.sqrt(length2) * np.array([np.sin(angle), -np.cos(angle)])
    errors = []
    for dt in (1e-3, 5e-4):
        with Simulation(bob(kind, inertia, arm), dt) as simulation:
            simulation.run(until)
            errors.append(np.linalg.norm(place_of(simulation) - right))
    assert errors[0] < 2e-5
    assert errors[1] < 0.35 * errors[0]


def turning(simulation, bodies):
    """Angular momentum about the origin."""
    total = 0.0
    for name, mass, inertia in bodies:
        body = simulation.body(name)
        row = body.row[name]
        (x, y, _), (vx, vy, spin) = body.q[row], body.v[row]
        total += mass * (x * vy - y * vx) + inertia * spin
    return total


def test_a_free_pair_keeps_its_energy_and_its_angular_momentum():
    """A light body that turns on a heavy one: what the joint holds makes nothing."""
    bodies = [("one", 1.0, 1e-5), ("other", 3.0, 0.05)]
    assembly = Assembly(gravity=(0.0, 0.0))
    for (name, mass, inertia), centre, motion in zip(
        bodies, ((-0.5, 0.1), (0.4, 0.3)), (((-0.1, -0.5), 1.0), ((0.0, 0.0), 0.0)), strict=True
    ):
        assembly.add(
            name,
            NewtonEulerBody(
                mass=mass,
                inertia=inertia,
                centre=centre,
                velocity=motion[0],
                angular_velocity=motion[1],
                ports={"end": (0, 0)},
            ),
        )
    assembly.join("hinge", Revolute(), "one.end", "other.end")
    with Simulation(assembly, 1e-3, record_every=20) as simulation:
        before = turning(simulation, bodies)
        run = simulation.run(10.0)
        assert turning(simulation, bodies) == pytest.approx(before, rel=1e-5)
    assert np.ptp(run.energy) < 5e-6 * run.energy[0]
    assert np.abs(run.violation("hinge")).max() < 1e-6


def test_what_a_joint_bears_turns_with_what_its_bodies_answer():
    """Held where it began, the load would soon pull in directions in which nothing but the load is there."""
    loads = []
    for rule in (Stable(), Shannon(0.2)):
        with Simulation(bob(NewtonEulerBody, 1e-5, 1.0), 1e-3, Penalty(rule=rule)) as simulation:
            joints = next(simulation.system.joints)
            before = joints.preload[0].copy()
            simulation.run(0.4)
            loads.append(np.linalg.norm(joints.preload[0] - before) / np.linalg.norm(before))
    assert loads[0] > 0.3
    assert loads[1] == 0.0  # as printed


@cache
def share_of_the_bound(seed):
    """The local bound as a share of the exact one, on a mechanism with masses over eight decades; the rule meets the local one."""
    with Simulation(random_assembly(seed, most=8, ratio=1e8), 1e-3, Penalty(rule=Stable(safety=1.0))) as simulation:
        exact, local = exact_margin(simulation.system, 1e-3), min(simulation.stiffness_margins.values())
    assert local >= 1 - 1e-6
    return local / exact


@pytest.mark.parametrize("seed", first_of(6, range(2000), least=12))
def test_the_rule_is_safe_for_masses_over_eight_decades(seed):
    assert 0.5 <= share_of_the_bound(seed) <= 1 + 1e-8


@pytest.mark.campaign
@pytest.mark.parametrize("count", [20, *more([some(2000)])])
def test_the_rule_gives_away_a_tenth_of_the_exact_bound_at_most_in_the_median(count):
    """0.974 of it over 2 000 mechanisms, 0.79 of it in nineteen of twenty; never above."""
    shares = [share_of_the_bound(seed) for seed in range(count)]
    assert np.median(shares) >= 0.9
    assert max(shares) <= 1 + 1e-8


def arm(bush, ball, mass):
    """A wishbone from its bush to its ball."""
    bush, ball = np.array(bush), np.array(ball)
    way = ball - bush
    spread = way @ way * np.eye(3) - np.outer(way, way)
    inertia = tuple(map(tuple, mass * (spread / 12.0 + 0.01 * np.eye(3))))
    ports = {"bush": tuple(bush), "ball": tuple(ball), "seat": tuple(0.4 * bush + 0.6 * ball)}
    return RigidBody(mass=mass, inertia=inertia, centre=tuple(0.6 * bush + 0.4 * ball), ports=ports)


def suspension_corner(tie):
    """Two wishbones and a tie rod that guide an upright on a strut, from no load to that of a braked and steered wheel."""
    model = Assembly(gravity=(0.0, 0.0, -9.81))
    model.add("lower", arm((0, 0.3, 0.2), (0, 0.7, 0.2), 4.0))
    model.add("upper", arm((0, 0.35, 0.5), (0, 0.65, 0.5), 2.5))
    ports = {"low": (0, 0.7, 0.2), "high": (0, 0.65, 0.5), "steer": (-0.15, 0.68, 0.3), "contact": (0.03, 0.85, 0.05)}
    model.add("upright", RigidBody(mass=30.0, inertia=(0.9, 0.9, 1.2), centre=(0, 0.78, 0.35), ports=ports))
    model.add("tie", Rod((-0.15, 0.3, 0.3), (-0.15, 0.68, 0.3), tie))
    for name in ("lower", "upper"):
        model.join(f"{name}-bush", Revolute((1, 0, 0)), "ground", f"{name}.bush")
    model.join("low-ball", Spherical(), "lower.ball", "upright.low")
    model.join("high-ball", Spherical(), "upper.ball", "upright.high")
    model.join("rack", Spherical(), "ground", "tie.start")
    model.join("rod-end", Spherical(), "tie.end", "upright.steer")
    strut = SpringDamper(stiffness=25e3, damping=1500.0, length=0.4)
    model.apply("strut", strut, "ground", "lower.seat", at=(0, 0.45, 0.65))
    model.apply("road", Load(force=(300.0, 200.0, 900.0)), "upright.contact")
    return model


@pytest.mark.parametrize("tie", [0.5, 0.1])
def test_a_light_tie_rod_bears_what_it_bears_where_joints_are_exact(tie):
    """Between two springs that were as soft as its lightest direction asked it rang with thirty times its load."""
    forces = []
    for coupling in (Glued(), Penalty()):
        with Simulation(suspension_corner(tie), 1e-4, coupling, record_every=10) as simulation:
            run = simulation.run(0.4)
        forces.append(np.linalg.norm(run.reaction("rod-end")[:, :3], axis=1))
    exact, held = forces
    assert 150.0 < exact[300:].max() < 200.0
    assert np.abs(held - exact)[300:].max() < 0.05 * exact[300:].max()
    assert held.max() < 1.05 * exact.max()
