"""What turns, or turns aside, in contact: against closed forms from the first tick on, and to second order.

A box on a turntable was held by twice what friction bears, and crept to the axis where it was held.
"""

import numpy as np
import pytest

from components import Box, Capsule, Contact, HalfSpace, LedBody, Ramp, RigidBody, Sphere
from coordinator import Glued, Mixed, Penalty, Relaxed, Simulation
from coordinator.record.sensors import exerted
from modular import Assembly

G, SIDE = 9.81, 0.2
COUPLINGS = {"penalty": Penalty(), "glued": Glued(), "relaxed": Relaxed(), "mixed": Mixed()}
coupled = pytest.mark.parametrize("coupling", COUPLINGS.values(), ids=COUPLINGS)


@coupled
@pytest.mark.parametrize("dimension", [2, 3])
def test_what_lies_in_a_drum_that_turns_is_pressed_by_its_turning_from_the_first_tick(coupling, dimension):
    """m w^2 r, with r that of its mass centre and not of its face."""
    spin, radius, box = 5.0, 1.0, Box((SIDE,) * dimension)
    r = radius - SIDE / 2
    nothing, turn = (0.0,) * dimension, spin if dimension == 2 else (0.0, 0.0, spin)
    out, there = (radius, *nothing[1:]), (r, *nothing[1:])
    model = Assembly(gravity=nothing)
    model.add("drum", LedBody(turning=Ramp(spin), centre=nothing, ports={"hub": nothing}))
    about = SIDE**2 / 6
    model.add(
        "box",
        RigidBody(
            mass=1.0, inertia=about if dimension == 2 else (about,) * 3, centre=there, ports={"G": there},
            velocity=(0.0, spin * r, *nothing[2:]), angular_velocity=turn,
        ),
    )  # fmt: skip
    wall = HalfSpace(centre=out, normal=(-1.0, *nothing[1:]))
    model.apply("wall", Contact(wall, box, 0.5), "drum.hub", "box.G")
    with Simulation(model, 1e-3, coupling) as simulation:
        run = simulation.run(0.05)
    force = np.linalg.norm(exerted(run, "wall"), axis=1)
    assert force[0] == pytest.approx(spin**2 * r, rel=1e-5)
    np.testing.assert_allclose(force[:10], spin**2 * r, rtol=0.02)
    assert np.ptp(np.linalg.norm(run.position("box.G"), axis=1)) < 5e-6


TABLES = {"half space": HalfSpace(), "box": Box((4.0, 4.0, 0.2), centre=(0.0, 0.0, -0.1))}
RIDERS = {"box": Box((SIDE,) * 3), "capsule": Capsule(radius=SIDE / 2, length=0.3, axis=(1.0, 0.0, 0.0))}


def on_a_turntable(friction, table="half space", rider="box", spin=3.0, r=0.3, mass=2.0):
    """Something beside the middle of a table, with which it turns."""
    at = (r, 0.0, SIDE / 2)
    model = Assembly(gravity=(0.0, 0.0, -G))
    model.add("table", LedBody(turning=Ramp(spin), centre=(0.0, 0.0, 0.0), ports={"hub": (0.0, 0.0, 0.0)}))
    model.add(
        "box",
        RigidBody(
            mass=mass, inertia=(mass * SIDE**2 / 6,) * 3, centre=at, ports={"G": at},
            velocity=(0.0, spin * r, 0.0), angular_velocity=(0.0, 0.0, spin),
        ),
    )  # fmt: skip
    model.apply("top", Contact(TABLES[table], RIDERS[rider], friction), "table.hub", "box.G")
    return model, mass * spin**2 * r, mass * G


@pytest.mark.short(4)
@coupled
@pytest.mark.parametrize(("table", "rider"), [("half space", "box"), ("half space", "capsule"), ("box", "box")])
def test_what_rides_on_a_turntable_is_held_by_friction_and_stays_where_it_is(coupling, table, rider):
    """By m w^2 r towards the axis; to second order, or better (it crept inwards by w^2 r dt / 2)."""
    model, force, weight = on_a_turntable(0.8, table, rider)
    crept = []
    for dt in (2e-3, 1e-3):
        with Simulation(model, dt, coupling) as simulation:
            run = simulation.run(1.0)
        found = exerted(run, "top")
        assert np.linalg.norm(found[0, :2]) == pytest.approx(force, rel=1e-5)
        np.testing.assert_allclose(np.linalg.norm(found[:10, :2], axis=1), force, rtol=0.05)
        np.testing.assert_allclose(np.linalg.norm(found[-10:, :2], axis=1), force, rtol=1e-4)
        np.testing.assert_allclose(found[:, 2], weight, rtol=1e-4)
        crept.append(np.ptp(np.linalg.norm(run.position("box.G")[:, :2], axis=1)))
    assert crept[1] < 1e-6 and crept[0] > 3.5 * crept[1]


@coupled
@pytest.mark.parametrize("friction", [0.1, 0.2])
def test_what_friction_cannot_hold_slides_off_a_turntable(coupling, friction):
    """Who goes round needs a force, whichever frame is at rest in it: friction held twice what it can bear."""
    model, force, weight = on_a_turntable(friction)
    assert force > friction * weight
    with Simulation(model, 1e-3, coupling) as simulation:
        run = simulation.run(0.2)
    np.testing.assert_allclose(np.linalg.norm(exerted(run, "top")[3:, :2], axis=1), friction * weight, rtol=1e-3)
    radius = np.linalg.norm(run.position("box.G")[:, :2], axis=1)
    assert radius[-1] - radius[0] > 0.3 * (force - friction * weight) / 2.0 * 0.5 * 0.2**2


@coupled
def test_a_block_that_is_shot_across_a_slope_turns_down_it_as_its_closed_form(coupling):
    """Where friction is just the slope, v + v_down stays what it was, at last v_0 / 2 straight down; to second order."""
    slope, speed, height = 0.4, 1.0, 0.01
    at, errors = (0.0, 0.0, height / 2), []
    model = Assembly(gravity=(G * np.sin(slope), 0.0, -G * np.cos(slope)))
    about = {"mass": 1.0, "inertia": (0.007,) * 3, "centre": at, "ports": {"G": at}}
    model.add("box", RigidBody(**about, velocity=(0.0, speed, 0.0)))
    model.apply("slope", Contact(HalfSpace(), Box((SIDE, SIDE, height)), np.tan(slope)), "ground", "box.G")
    for dt in (2e-3, 1e-3):
        with Simulation(model, dt, coupling) as simulation:
            v = simulation.run(0.5).velocity("box.G")
        errors.append(np.abs(np.linalg.norm(v[:, :2], axis=1) + v[:, 0] - speed)[5:].max())
    assert errors[1] < 3e-6 and errors[0] / errors[1] == pytest.approx(4.0, rel=0.1)


@coupled
def test_a_ball_rolls_round_on_a_turntable_two_sevenths_as_fast_as_the_table(coupling):
    """In circles, wherever it begins, to second order: a = 2/7 w x v for a ball that is full."""
    spin, size, at, speed = 4.0, 0.05, np.array([0.2, 0.0, 0.05]), np.array([0.0, 0.3, 0.0])
    axis, inertia = np.array([0.0, 0.0, 1.0]), 0.4 * size**2
    model = Assembly(gravity=(0.0, 0.0, -G))
    model.add("table", LedBody(turning=Ramp(spin), centre=(0.0, 0.0, 0.0), ports={"hub": (0.0, 0.0, 0.0)}))
    model.add(
        "ball",
        RigidBody(
            mass=1.0, inertia=(inertia,) * 3, centre=tuple(at), ports={"G": tuple(at)}, velocity=tuple(speed),
            angular_velocity=tuple(np.cross(axis, speed - spin * np.cross(axis, at)) / size),
        ),
    )  # fmt: skip
    model.apply("top", Contact(HalfSpace(), Sphere(size), 0.8), "table.hub", "ball.G")
    errors, k = [], 2.0 / 7.0 * spin
    for dt in (2e-3, 1e-3):
        with Simulation(model, dt, coupling) as simulation:
            run = simulation.run(1.0)
        way = np.outer(np.sin(k * run.time), speed) + np.outer(1.0 - np.cos(k * run.time), np.cross(axis, speed))
        errors.append(np.linalg.norm(run.position("ball.G") - at - way / k, axis=1).max())
    assert errors[1] < 1e-4 and errors[0] / errors[1] == pytest.approx(4.0, rel=0.05)


@coupled
@pytest.mark.parametrize("dimension", [2, 3])
def test_what_passes_over_a_dome_is_lighter_from_the_first_tick(coupling, dimension):
    """m (g - v^2 / R), with R from middle to middle."""
    speed, dome, ball = 0.8, 0.5, 0.1
    up, nothing = dome + ball, (0.0,) * (dimension - 2)
    model = Assembly(gravity=(0.0, *nothing, -G))
    top = (0.0, *nothing, up)
    inertia = 0.004 if dimension == 2 else (0.004,) * 3
    model.add(
        "ball", RigidBody(mass=1.0, inertia=inertia, centre=top, ports={"G": top}, velocity=(speed, *nothing, 0.0))
    )
    model.apply("dome", Contact(Sphere(dome, centre=(0.0, *nothing, 0.0)), Sphere(ball), 0.0), "ground", "ball.G")
    with Simulation(model, 1e-3, coupling) as simulation:
        run = simulation.run(0.02)
    force = exerted(run, "dome")[:10, dimension - 1]
    assert force[0] == pytest.approx(G - speed**2 / up, rel=1e-5)
    np.testing.assert_allclose(force, G - speed**2 / up, rtol=0.03)
