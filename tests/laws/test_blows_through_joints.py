"""What is struck answers as its joints let it: a blow on a hinged rod turns it about its hinge, and not about its centre."""

import warnings

import numpy as np
import pytest

from campaign import each_once
from components import Box, Contact, Revolute, RigidBody, Rod, Sphere
from coordinator import Glued, Penalty, Relaxed, Simulation, StartWarning
from modular import Assembly

LENGTH, MASS, R = 1.0, 1.5, 0.05
G = 9.81


def hinge(dimension):
    return Revolute() if dimension == 2 else Revolute((0, 1, 0))


def lever(restitution, dimension):
    """A rod that falls about its hinge onto a post, from the horizontal."""
    down = -np.eye(dimension)[-1]
    model = Assembly(gravity=tuple(G * down))
    end = LENGTH * np.eye(dimension)[0]
    model.add("rod", Rod(tuple(0.0 * end), tuple(end), MASS, **({"radius": 0.02} if dimension == 3 else {})))
    model.join("hinge", hinge(dimension), "ground", "rod.start")
    post = Box((6.0, 1.0, 1.0)[:dimension], centre=tuple(0.0 * end + (R + 0.2 + 0.5) * down))
    model.apply("blow", Contact(post, Sphere(R), restitution=restitution), "ground", "rod.end")
    return model


@pytest.mark.parametrize(
    ("restitution", "dimension", "dt"), each_once([1.0, 0.5, 0.0, 0.9], [2, 3], [1e-3, 3e-3, 1e-4])
)
def test_a_hinged_rod_bounces_with_its_restitution(restitution, dimension, dt):
    """Its energy after the blow is e^2 of what it had; found as if it were free, a blow with e = 1 took 7 %."""
    with Simulation(lever(restitution, dimension), dt, Glued()) as simulation:
        run = simulation.run(0.35)
    speed = run.velocity("rod.end")[:, -1]
    k = int(np.argmax(np.diff(speed) > 0.0))  # the blow
    energy = 0.5 * MASS * LENGTH**2 / 3.0 * (run.velocity("rod.end") ** 2).sum(axis=1) / LENGTH**2
    before, after = energy[k], energy[k + 3]
    np.testing.assert_allclose(before, MASS * G * 0.5 * 0.2, rtol=0.1)
    assert after == pytest.approx(restitution**2 * before, abs=20.0 * dt * before)
    assert np.abs(run.position("rod.end")[-1]).max() < LENGTH * (1 + 1e-9)


@pytest.mark.parametrize(("restitution", "dimension"), each_once([1.0, 0.6, 0.0], [3, 2]))
def test_a_ball_that_hits_a_lever_flies_off_by_what_the_lever_shows(restitution, dimension):
    """p = (1 + e) v / (1/m + l^2 / I) with I about the hinge."""
    out, up = np.eye(dimension)[0], np.eye(dimension)[-1]
    model, mass, speed = Assembly(gravity=(0.0,) * dimension), 0.7, 2.0
    model.add("rod", Rod(tuple(0.0 * out), tuple(LENGTH * out), MASS, **({"radius": 0.02} if dimension == 3 else {})))
    model.join("hinge", hinge(dimension), "ground", "rod.start")
    at = tuple(LENGTH * out + (2 * R + 0.1) * up)
    inertia = 0.4 * mass * R**2
    spread = inertia if dimension == 2 else (inertia,) * 3
    model.add("ball", RigidBody(mass=mass, inertia=spread, centre=at, ports={"G": at}, velocity=tuple(-speed * up)))
    model.apply("blow", Contact(Sphere(R), Sphere(R), restitution=restitution), "rod.end", "ball.G")
    with Simulation(model, 1e-4, Glued()) as simulation:
        run = simulation.run(0.1)
    impulse = (1.0 + restitution) * speed / (1.0 / mass + LENGTH**2 / (MASS * LENGTH**2 / 3.0))
    np.testing.assert_allclose(run.velocity("ball.G")[-1, -1], impulse / mass - speed, rtol=1e-3)
    tip = np.linalg.norm(run.velocity("rod.end")[-1])
    np.testing.assert_allclose(tip, impulse * LENGTH / (MASS * LENGTH / 3.0) / LENGTH, rtol=1e-3)


def swinging(count, restitution, seed):
    """A chain of rods of different lengths that falls onto a floor with its end."""
    rng = np.random.default_rng(seed)
    model = Assembly(gravity=(0.0, -G))
    at, angle = np.array([0.0, 0.9 * count]), -0.4
    before = "ground"
    for k in range(count):
        angle += rng.uniform(-0.3, 0.3)
        length = rng.uniform(0.4, 0.8)
        end = at + length * np.array([np.cos(angle), np.sin(angle)])
        model.add(f"rod{k}", Rod(tuple(at), tuple(end), rng.uniform(0.5, 2.0)))
        model.join(f"hinge{k}", Revolute(), before, f"rod{k}.start")
        before, at = f"rod{k}.end", end
    floor = Box((40.0, 1.0), centre=(0.0, at[1] - 0.5 - R - 0.02))
    model.apply("blow", Contact(floor, Sphere(R), restitution=restitution), "ground", before)
    return model, before


@pytest.mark.parametrize(("seed", "count", "restitution"), each_once(range(3), [2, 3, 4], [1.0, 0.5]))
def test_the_end_of_a_chain_parts_with_its_restitution(seed, count, restitution):
    """Whatever hangs on it: Newton's law at the point that is struck, and with e = 1 all of the energy, to first order in dt."""
    model, end = swinging(count, restitution, seed)
    left = []
    for dt in (1e-3, 1e-4):
        with Simulation(model.copy(), dt, Glued()) as simulation:
            run = simulation.run(0.5)
        speed = run.velocity(end)[:, -1]
        k = int(np.flatnonzero((np.diff(speed) > 0.1) & (speed[:-1] < -0.2))[0]) - 1  # it comes down, and is struck
        after = speed[k + 4]
        left.append((abs(after + restitution * speed[k]) / abs(speed[k]), abs(run.energy[k + 4] / run.energy[k] - 1.0)))
    assert left[1][0] < 0.02 + 0.1 * left[0][0], left
    if restitution == 1.0:
        assert left[1][1] < 1e-3, left


def test_a_cradle_of_hinged_bodies_passes_its_swing_on():
    """Each turns about its hook: between bodies that were taken as free, nothing but a part of it came through."""
    model, count, length = Assembly(gravity=(0.0, -G)), 4, 0.8
    for k in range(count):
        hook, angle = np.array([2 * R * k, 0.0]), -0.4 if k == 0 else 0.0
        ball = hook + length * np.array([np.sin(angle), -np.cos(angle)])
        centre = hook + 0.6 * (ball - hook)
        ports = {"hook": tuple(hook), "ball": tuple(ball)}
        model.add(f"arm{k}", RigidBody(mass=1.0, inertia=0.05, centre=tuple(centre), ports=ports))
        model.join(f"hinge{k}", Revolute(), "ground", f"arm{k}.hook")
    for k in range(count - 1):
        bump = Contact(Sphere(R), Sphere(R), restitution=1.0)
        model.apply(f"bump{k}", bump, f"arm{k}.ball", f"arm{k + 1}.ball")
    with Simulation(model, 5e-4, Glued()) as simulation:
        run = simulation.run(0.7)
    found = np.array([run.velocity(f"arm{k}.ball")[-1, 0] for k in range(count)])
    assert run.energy[-1] == pytest.approx(run.energy[0], abs=1e-3)
    assert found[-1] > 0.3 and np.abs(found[:-1]).max() < 0.02 * found[-1], found


def test_who_cannot_see_joints_says_so():
    """Relaxed solves for no answer of joints to each other: what should bounce parts too slowly, and that is told before."""
    model = lever(1.0, 2)
    with pytest.warns(
        StartWarning, match=r"contact 'blow': Relaxed finds blows as if no glued joints held .* Remedy: Glued\(\)"
    ):
        run = Simulation(model, 1e-3, Relaxed()).run(0.01)
    assert [event["name"] for event in run.events if event["kind"] == "rebound"] == ["blow"]
    for fine, coupling in ((lever(0.0, 2), Relaxed()), (model, Glued()), (model, Penalty())):
        with warnings.catch_warnings():
            warnings.simplefilter("error", StartWarning)
            Simulation(fine, 1e-3, coupling).run(0.01)
