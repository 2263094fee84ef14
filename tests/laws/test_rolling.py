"""Discs, balls and rattlebacks that roll on a plane, against closed forms."""

import numpy as np
import pytest

import references
import scenarios
from both_ways import scattered
from components import EllipsoidOnPlane, NewtonEulerBody, Revolute, RigidBody, Rod, Rolling
from coordinator import Glued, Penalty, Relaxed, Simulation
from modular import Assembly, ModelError

G = references.G
UP = (0.0, 0.0, 1.0)


def rolls(model, body, half, **more):
    """A body with a port at the centre of its ellipsoid rolls on the ground."""
    model.join("stands", EllipsoidOnPlane(half, normal=UP, **more), "ground", f"{body}.middle")
    model.join("rolls", Rolling(half, normal=UP, **more), "ground", f"{body}.middle")


# --- a coin that goes round --------------------------------------------------------------------------------------------

RADIUS, MASS, LEAN, ROUND = (
    0.3,
    1.7,
    1.1,
    2.0,
)  # angle of the axis from the vertical; turns of the lean about it [rad/s]
AXIAL, ACROSS = 0.5 * MASS * RADIUS**2, 0.27 * MASS * RADIUS**2  # of some thickness


def steady_spin():
    """Angular velocity about the axis of a disc that rolls steadily in a circle.

    From m a_C = F and L' = (contact - C) x F with w = ROUND k + s n, w = ROUND cos + s:
    (C + m r^2) w ROUND sin = A ROUND^2 sin cos - m g r cos. E. J. Routh, "Advanced rigid dynamics", 1905, art. 244; O. M. O'Reilly,
    "The dynamics of rolling disks and sliding disks", Nonlinear Dynamics 10 (1996) 287-305.
    """
    sine, cosine = np.sin(LEAN), np.cos(LEAN)
    return (ACROSS * ROUND**2 * sine * cosine - MASS * G * RADIUS * cosine) / (
        (AXIAL + MASS * RADIUS**2) * ROUND * sine
    )


def coin(kind=RigidBody):
    """It leans towards -x, its axis n = (sin, 0, cos); with the velocity that steady rolling asks for."""
    axis = np.array([np.sin(LEAN), 0.0, np.cos(LEAN)])
    up = np.array([-np.cos(LEAN), 0.0, np.sin(LEAN)])  # in the disc, away from the contact
    spin = ROUND * np.array(UP) + (steady_spin() - ROUND * np.cos(LEAN)) * axis
    inertia = ACROSS * np.eye(3) + (AXIAL - ACROSS) * np.outer(axis, axis)
    model = Assembly(gravity=(0.0, 0.0, -G))
    centre = RADIUS * up
    velocity = np.cross(spin, RADIUS * up)
    model.add(
        "coin",
        kind(
            mass=MASS, inertia=tuple(map(tuple, inertia)), centre=tuple(centre), ports={"middle": tuple(centre)},
            velocity=tuple(velocity), angular_velocity=tuple(spin),
        ),
    )  # fmt: skip
    rolls(model, "coin", (RADIUS, RADIUS, 0.0), axes=(tuple(up), (0.0, 1.0, 0.0)))
    return model


@pytest.mark.short(1)
@pytest.mark.parametrize("push", [0.0, 0.4])
def test_the_rolling_disc_keeps_its_energy_and_left_alone_its_lean(push):
    with Simulation(scenarios.load("rolling-disc", push=push), 1e-3, Glued(4)) as simulation:
        run = simulation.run(3.0)
    height = run.mass_centre("disc")[:, 2]
    assert np.ptp(run.energy) < 1e-8 * run.kinetic_energy("disc")[0]
    assert np.ptp(height) < 1e-7 if push == 0.0 else 1e-3 < np.ptp(height) < 0.2
    rim = np.linalg.norm(run.position("disc.top") - run.position("disc.middle"), axis=1)
    assert np.abs(rim - 0.3).max() < 1e-12


def strayed(coupling, dt, kind=RigidBody, until=1.0):
    """The largest distance of the centre from where it should be, of the radius of its circle [-]."""
    with Simulation(coin(kind), dt, coupling, record_every=max(1, round(0.01 / dt))) as simulation:
        run = simulation.run(until)
    place = run.position("coin.middle")
    radius = RADIUS * abs(steady_spin()) / ROUND
    start, pace = place[0], run.velocity("coin.middle")[0]
    middle = start + np.cross(UP, pace) / ROUND
    arm, across = start - middle, np.cross(UP, start - middle)
    angle = ROUND * run.time[:, None]
    truth = middle + np.cos(angle) * arm + np.sin(angle) * across
    assert np.linalg.norm(arm) == pytest.approx(radius, rel=1e-12)
    return np.abs(place - truth).max() / radius, run


@pytest.mark.parametrize("kind", [RigidBody, NewtonEulerBody])
def test_a_coin_rolls_in_its_circle_and_keeps_its_energy(kind):
    error, run = strayed(Glued(4), 2e-3, kind)
    assert error < 1e-6
    assert np.ptp(run.energy) < 1e-6 * MASS * G * RADIUS
    assert np.abs(run.position("coin.middle")[:, 2] - RADIUS * np.sin(LEAN)).max() < 1e-7


@pytest.mark.parametrize(
    ("coupling", "order", "steps"),
    [(Glued(), 2, (4e-3, 2e-3)), (Relaxed(), 2, (4e-3, 2e-3)), (Penalty(), 1, (2e-4, 1e-4))],
    ids=["glued", "relaxed", "penalty"],
)
def test_the_way_of_the_coin_is_of_the_declared_order(coupling, order, steps):
    errors = [strayed(coupling, dt, until=0.5)[0] for dt in steps]
    assert abs(references.orders(errors)[0] - order) < 0.35


# --- balls -------------------------------------------------------------------------------------------------------------


def test_a_ball_rolls_down_an_incline_with_five_sevenths_of_what_pulls_it():
    slope, radius = 0.4, 0.2
    model = Assembly(gravity=(G * np.sin(slope), 0.0, -G * np.cos(slope)))
    model.add(
        "ball",
        RigidBody(
            mass=2.0, inertia=(0.4 * 2.0 * radius**2,) * 3, centre=(0, 0, radius), ports={"middle": (0, 0, radius)}
        ),
    )
    rolls(model, "ball", (radius,) * 3)
    with Simulation(model, 1e-3, Glued()) as simulation:
        run = simulation.run(0.5)
    fallen = 0.5 * 5.0 / 7.0 * G * np.sin(slope) * run.time**2
    assert np.abs(run.position("ball.middle")[:, 0] - fallen).max() < 1e-9
    force = run.reaction("rolls")[-1][:3]
    assert np.linalg.norm(force) == pytest.approx(2.0 / 7.0 * 2.0 * G * np.sin(slope), rel=1e-6)


def test_a_ball_on_a_turntable_goes_round_in_two_sevenths_of_its_turns():
    """A. Gersten, H. Soodak, M. Tiersten, "Ball moving on stationary or rotating horizontal surface", Am. J. Phys. 60 (1992) 43."""
    radius, turns = 0.1, 3.0
    model = Assembly(gravity=(0.0, 0.0, -G))
    table = {
        "inertia": (6e5, 6e5, 1e6),
        "centre": (0, 0, 0),
        "ports": {"top": (0, 0, 0)},
        "angular_velocity": (0, 0, turns),
    }
    model.add("table", RigidBody(mass=1e6, **table))
    model.join("axle", Revolute(axis=UP), "ground", "table.top")
    place, inertia = (0.3, 0.0, radius), (0.4 * 0.1 * radius**2,) * 3
    motion = {"velocity": (0, 0.2, 0), "angular_velocity": (7.0, 0.0, 0.0)}  # at the contact 0.9 m/s, as the table
    model.add("ball", RigidBody(mass=0.1, inertia=inertia, centre=place, ports={"middle": place}, **motion))
    model.join("stands", EllipsoidOnPlane((radius,) * 3, normal=UP), "table.top", "ball.middle")
    model.join("rolls", Rolling((radius,) * 3, normal=UP), "table.top", "ball.middle")
    with Simulation(model, 2e-3, Glued(4)) as simulation:
        run = simulation.run(2 * np.pi / (2.0 / 7.0 * turns))
    place = run.position("ball.middle")[:, :2]
    assert np.ptp(place, axis=0).min() > 0.1
    assert np.abs(place[-1] - place[0]).max() < 1e-3 * np.ptp(place)  # the last tick is not quite the whole turn
    middle = 0.5 * (place.max(axis=0) + place.min(axis=0))
    assert np.ptp(np.linalg.norm(place - middle, axis=1)) < 1e-4


# --- on every path, and refused ---------------------------------------------------------------------------------------


def test_single_steps_and_workers_have_the_same_bits():
    def model():
        found = coin()
        found.add("rod", Rod((2.0, 0.0, 0.0), (2.5, 0.0, 0.0), 1.0, 0.02))
        return found

    def played(step=False, **settings):
        with Simulation(model(), 1e-3, Glued(4), **settings) as simulation:
            while step and simulation.tick < 20:
                simulation.step()
            simulation.run(0.02)
            simulation.cut("rolls")
            return simulation.run(0.04).digest

    digests = {
        played(),
        played(step=True),
        played(grouped=False),
        played(workers=scattered(model(), 2), launcher="here"),
    }
    assert len(digests) == 1


@pytest.mark.parametrize(
    ("joint", "sentence"),
    [
        (Rolling((0.1, 0.0, 0.0), normal=UP), "at most one of them 0"),
        (EllipsoidOnPlane((0.1, -0.1, 0.1), normal=UP), "three lengths"),
        (EllipsoidOnPlane((0.1, 0.1, 0.0), normal=UP), "lies flat"),
        (Rolling((0.1, 0.1, 0.1), normal=UP, axes=((1, 0, 0), (1, 1, 0))), "are not perpendicular"),
    ],
)
def test_what_cannot_roll_is_refused_by_name(joint, sentence):
    model = Assembly(gravity=(0.0, 0.0, -G))
    model.add("body", RigidBody(mass=1.0, inertia=(0.1, 0.1, 0.1), centre=(0, 0, 1), ports={"middle": (0, 0, 1)}))
    with pytest.raises(ModelError, match=sentence) as refused:
        model.join("wheel", joint, "ground", "body.middle")
        Simulation(model, 1e-3)
    assert "wheel" in str(refused.value)
