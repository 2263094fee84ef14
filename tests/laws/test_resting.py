"""What rests on something from the start on is in equilibrium from there on, however many contacts and joints carry it together.

A stack of ten sank into its springs by a centimetre at 1 ms, while each contact began by itself.
"""

import functools
import warnings
from math import cos

import numpy as np
import pytest

from campaign import as_far_as, more
from components import Box, Contact, HalfSpace, LedBody, Revolute, RigidBody, Sine, Sphere, SpringDamper
from coordinator import Glued, Mixed, Penalty, Relaxed, Simulation, StartWarning
from coordinator.record.sensors import exerted
from modular import Assembly

G, SIDE = 9.81, 0.2
COUPLINGS = {"penalty": Penalty(), "glued": Glued(), "relaxed": Relaxed(), "mixed": Mixed()}
coupled = pytest.mark.parametrize("coupling", COUPLINGS.values(), ids=COUPLINGS)


def put(model, name, at, mass=1.0, size=SIDE, **ports):
    inertia = mass * size**2 / 6.0
    spread = inertia if len(at) == 2 else (inertia,) * 3
    model.add(name, RigidBody(mass=mass, inertia=spread, centre=tuple(at), ports={"G": tuple(at), **ports}))


def calmly(model, dt, coupling, until):
    """A run of which nobody warns."""
    with warnings.catch_warnings(), Simulation(model, dt, coupling) as simulation:
        warnings.simplefilter("error")
        return simulation.run(until)


def moved(run, names):
    return max(np.ptp(run.position(f"{name}.G"), axis=0).max() for name in names)


def stack(masses, offsets, dimension, down, friction=0.6, floor=0.6):
    """Boxes on each other, each a little beside the one below, and a force field that looks down, or askew."""
    model, box = Assembly(gravity=down), Box((SIDE,) * dimension)
    for k, (mass, offset) in enumerate(zip(masses, offsets, strict=True)):
        put(model, f"box{k}", (*offset[: dimension - 1], (k + 0.5) * SIDE), mass)
        below, law = ("ground", HalfSpace()) if k == 0 else (f"box{k - 1}.G", box)
        model.apply(f"under{k}", Contact(law, box, floor if k == 0 else friction), below, f"box{k}.G")
    return model


@pytest.mark.short(4)
@coupled
@pytest.mark.parametrize("seed", [0, 1, 2, *more(range(3, 60))])
def test_stacks_at_rest_stay_where_they_are(coupling, seed):
    """Whatever they weigh and wherever they lie, none sinks, and each carries from the start what lies above it.

    Springs of light boxes are soft: with a hundred times their weight on them, and long steps, such a column would buckle.
    """
    draw = np.random.default_rng(seed)
    dimension, count, dt = int(draw.integers(2, 4)), int(draw.integers(2, 9)), float(draw.choice([2e-3, 1e-3, 2e-4]))
    masses = 10.0 ** draw.uniform(-0.5, 0.5, count)
    offsets = 0.25 * SIDE * draw.uniform(-0.5, 0.5, (count, 2))
    model = stack(masses, offsets, dimension, (0.0, 0.0, -G)[-dimension:])
    run = calmly(model, dt, coupling, 100 * dt)
    names = [f"box{k}" for k in range(count)]
    assert moved(run, names) < 1e-3 * G * dt**2 * count**2
    for k in range(count):
        weight = G * masses[k:].sum()
        np.testing.assert_allclose(np.abs(exerted(run, f"under{k}")[:, dimension - 1]), weight, rtol=1e-5)


@coupled
@pytest.mark.parametrize("dimension", [2, 3])
def test_a_stack_slides_down_as_one_block(coupling, dimension):
    """On a slope with friction mu below, and enough between: x = g (sin a - mu cos a) t^2 / 2, all boxes alike."""
    slope, friction, dt = 0.3, 0.1, 1e-3
    down = (G * np.sin(slope), *(0.0,) * (dimension - 2), -G * np.cos(slope))
    model = stack((1.0, 2.0, 3.0), np.zeros((3, 2)), dimension, down, floor=friction)
    run = calmly(model, dt, coupling, 0.3)
    way = 0.5 * G * (np.sin(slope) - friction * np.cos(slope)) * run.time**2
    for k in range(3):
        assert np.abs(run.position(f"box{k}.G")[:, 0] - way).max() < 1e-3 * G * dt**2
        np.testing.assert_allclose(run.position(f"box{k}.G")[:, -1], (k + 0.5) * SIDE, atol=1e-3 * G * dt**2)


def ladder(angle, friction, wall, length=2.0, mass=5.0, radius=0.02):
    """Its feet are balls, on a floor and at a wall; the second is where its middle is."""
    along = np.array([np.cos(angle), np.sin(angle)])
    foot = np.array([0.0, radius])
    middle, top = foot + 0.5 * length * along, foot + length * along
    model = Assembly(gravity=(0.0, -G))
    ports = {"G": tuple(middle), "foot": tuple(foot), "top": tuple(top)}
    model.add("ladder", RigidBody(mass=mass, inertia=mass * length**2 / 12, centre=tuple(middle), ports=ports))
    model.apply("floor", Contact(HalfSpace(), Sphere(radius), friction), "ground", "ladder.foot")
    at_wall = HalfSpace(centre=(top[0] + radius, 0.0), normal=(-1.0, 0.0))
    model.apply("wall", Contact(at_wall, Sphere(radius), wall), "ground", "ladder.top")
    return model


@coupled
def test_a_ladder_leans_at_a_smooth_wall(coupling):
    """With friction enough at its foot it stands; m g there, and m g / (2 tan a) at the wall, against each other across."""
    angle, mass = np.radians(60.0), 5.0
    run = calmly(ladder(angle, 0.5, 0.0), 1e-3, coupling, 0.2)
    assert moved(run, ["ladder"]) < 1e-9
    across = mass * G / (2.0 * np.tan(angle))
    moment_free = (
        1e-6  # of the weight: the balls are small, and their points of contact not quite where their middles are
    )
    np.testing.assert_allclose(exerted(run, "floor")[:, 1], mass * G, rtol=moment_free)
    np.testing.assert_allclose(np.abs(exerted(run, "wall")[:, 0]), np.abs(exerted(run, "floor")[:, 0]), rtol=1e-6)
    assert np.abs(exerted(run, "wall")[0, 0]) == pytest.approx(across, rel=0.03)


@functools.cache
def slid(angle, length, until, steps=4000):
    """Where such a ladder comes to: by leapfrog, far finer than what is measured."""
    h, speed = until / steps, 0.0
    for _ in range(steps):
        speed -= 0.5 * h * 1.5 * G / length * cos(angle)
        angle += h * speed
        speed -= 0.5 * h * 1.5 * G / length * cos(angle)
    return angle


@coupled
def test_a_ladder_begins_to_slide_as_its_closed_form(coupling):
    """Without friction it turns by a'' = -3 g cos(a) / (2 L): second order in the step from the first tick on."""
    angle, length, until, errors = np.radians(60.0), 2.0, 0.2, []
    at = slid(angle, length, until)
    for dt in (2e-3, 1e-3):
        with Simulation(ladder(angle, 0.0, 0.0), dt, coupling) as simulation:
            run = simulation.run(until)
        place = run.position("ladder.G")[-1] - [0.0, 0.02]
        # its foot has slid towards -x: the middle lies at L cos(a)/2 before the wall
        found = np.arctan2(place[1], length * np.cos(angle) - place[0])
        errors.append(found - at)
    assert abs(errors[1]) < 3.0 * G * 1e-6, errors
    assert abs(errors[1]) < 0.4 * abs(errors[0]) + 1e-9, errors


@coupled
def test_joints_and_contacts_share_what_rests(coupling):
    """A lever on a hinge, whose end lies on the floor: half its weight each, also where both are springs."""
    model, dt = Assembly(gravity=(0.0, 0.0, -G)), 1e-3
    put(model, "bar", (0.5, 0.0, 0.0), 2.0, 1.0, left=(0.0, 0.0, 0.0), right=(1.0, 0.0, 0.0))
    model.join("hinge", Revolute((0, 1, 0)), "ground", "bar.left", at=(0, 0, 0))
    model.apply("floor", Contact(HalfSpace(centre=(0, 0, -0.1)), Sphere(0.1)), "ground", "bar.right")
    run = calmly(model, dt, coupling, 0.2)
    assert moved(run, ["bar"]) < 1e-3 * G * dt**2
    np.testing.assert_allclose(exerted(run, "floor")[:, 2], G, rtol=2e-5)


@coupled
@pytest.mark.parametrize("friction", [0.0, 0.3])
@pytest.mark.parametrize("dimension", [2, 3])
def test_what_lies_alike_on_two_boxes_is_carried_by_both_alike(coupling, friction, dimension):
    """How much each point carries statics does not say; half and half is what equal springs would do, whoever comes first."""
    down, size = (0.0, 0.0, -G)[-dimension:], (1.2, 0.1, 0.1)[:dimension]
    up = (0.0,) * (dimension - 1)
    model = Assembly(gravity=down)
    put(model, "plank", (*up, 0.05), 2.0, 0.8)
    for name, x in (("left", -0.3), ("right", 0.3)):
        box = Box((SIDE,) * dimension, centre=(x, *up[1:], -0.1))
        model.apply(name, Contact(box, Box(size), friction), "ground", "plank.G")
    run = calmly(model, 1e-3, coupling, 0.1)
    for name in ("left", "right"):
        np.testing.assert_allclose(np.abs(exerted(run, name)[:, dimension - 1]), G, rtol=1e-6)
    assert moved(run, ["plank"]) < 1e-9


@pytest.mark.campaign
def test_columns_that_have_nothing_to_do_with_each_other_are_found_as_fast_as_one():
    """Many columns of four, each with weights and offsets of its own: nobody moves."""
    draw, model, box = np.random.default_rng(1), Assembly(gravity=(0.0, 0.0, -G)), Box((SIDE,) * 3)
    names = []
    for row in range(as_far_as(30, 15)):
        for k in range(4):
            name, x, y = f"box{row}-{k}", *(0.02 * draw.uniform(-1.0, 1.0, 2))
            put(model, name, (0.5 * row + x, y, (k + 0.5) * SIDE), 10.0 ** draw.uniform(-0.5, 0.5))
            below = ("ground", HalfSpace()) if k == 0 else (f"{names[-1]}.G", box)
            model.apply(f"under-{name}", Contact(below[1], box, 0.5), below[0], f"{name}.G")
            names.append(name)
    run = calmly(model, 1e-3, Penalty(), 0.05)
    assert moved(run, names) < 1e-7


def test_a_start_that_is_not_found_to_the_end_is_said(monkeypatch):
    """Where there are too few iterations: the contact that is furthest off is named, in the log too; each time only once."""
    draw = np.random.default_rng(3)
    model = stack(10.0 ** draw.uniform(-0.5, 0.5, 8), 0.05 * draw.uniform(-0.5, 0.5, (8, 2)), 3, (0.0, 0.0, -G))
    calmly(model, 1e-3, Penalty(), 0.005)
    monkeypatch.setattr("coordinator.couplings.resting.MAX_ITERATIONS", 12)
    with Simulation(model, 1e-3) as simulation:
        with pytest.warns(StartWarning, match=r"contact 'under\d' and 7 more: .* Remedy: ") as said:
            run = simulation.run(0.005)
        (entry,) = [event for event in run.events if event["kind"] == "unsettled"]
        assert entry["left"] > 1e-8 and sorted([entry["name"], *entry["others"]]) == [f"under{k}" for k in range(8)]
        assert f"contact '{entry['name']}'" in str(said[0].message)
        with warnings.catch_warnings():
            warnings.simplefilter("error", StartWarning)
            simulation.run(0.01)


@coupled
def test_springs_lighten_what_rests(coupling):
    """A crate that hangs at a spring as well presses with what that leaves."""
    model = Assembly(gravity=(0.0, 0.0, -G))
    put(model, "crate", (0.0, 0.0, 0.1), 2.0)
    model.apply("floor", Contact(HalfSpace(), Box((SIDE,) * 3), 0.3), "ground", "crate.G")
    model.apply("spring", SpringDamper(stiffness=100.0, damping=0.5, length=0.9), "ground", "crate.G", at=(0, 0, 1.1))
    run = calmly(model, 1e-3, coupling, 0.2)
    assert moved(run, ["crate"]) < 1e-12
    np.testing.assert_allclose(exerted(run, "floor")[:, 2], 2.0 * G - 10.0, rtol=1e-9)


@coupled
def test_a_lift_that_sets_out_presses_with_its_acceleration_at_once(coupling):
    """m (g + a) from the first instant on; the velocity of the lift then is a rounding error, and no blow."""
    height, frequency, mass, dt = 0.05, 1.0, 2.0, 1e-3
    model, rate = Assembly(gravity=(0.0, 0.0, -G)), 2.0 * np.pi * frequency
    way = Sine((0.0, 0.0, height), frequency, -np.pi / 2)
    model.add("lift", LedBody(way=way, centre=(0, 0, 0), ports={"floor": (0, 0, 0)}))
    put(model, "crate", (0.0, 0.0, 0.1), mass)
    model.apply("floor", Contact(HalfSpace(), Box((SIDE,) * 3), 0.4), "lift.floor", "crate.G")
    run = calmly(model, dt, coupling, 0.2)
    law = mass * (G + height * rate**2 * np.cos(rate * run.time))
    np.testing.assert_allclose(exerted(run, "floor")[:2, 2], law[:2], rtol=1e-5)
    np.testing.assert_allclose(exerted(run, "floor")[:20, 2], law[:20], rtol=1e-3)  # springs follow what changes later
    lifted = height * (1.0 - np.cos(rate * run.time)) + 0.1
    assert np.abs(run.position("crate.G")[:, 2] - lifted).max() < 4.0 * G * dt**2


@pytest.mark.parametrize("workers", [2, 3])
def test_the_start_is_the_same_among_workers(workers):
    """Bit for bit: it is found before bodies go to their workers."""
    offsets = 0.02 * np.arange(8).reshape(4, 2) / 8.0
    model = stack((1.0, 2.0, 0.5, 1.5), offsets, 3, (0.0, 0.0, -G))
    with Simulation(model, 1e-3) as alone, Simulation(model, 1e-3, workers=workers, launcher="here") as apart:
        assert alone.run(0.05).digest == apart.run(0.05).digest


@pytest.mark.parametrize("dimension", [2, *more([3])])
def test_a_pyramid_of_55_boxes_stands(dimension):
    """Ten rows, each box on two, beside each other with a little air: nothing moves."""
    side, gap, rows, model = 0.2, 0.01, 10, Assembly(gravity=(0.0, 0.0, -9.81)[3 - dimension :])
    box, inertia = Box((side,) * dimension), side**2 / 6
    for row, k in [(r, k) for r in range(rows) for k in range(rows - r)]:
        at = ((k - 0.5 * (rows - row - 1)) * (side + gap), *(0.0,) * (dimension - 2), (row + 0.5) * side)
        spread = inertia if dimension == 2 else (inertia,) * 3
        model.add(f"box{row}-{k}", RigidBody(mass=1.0, inertia=spread, centre=at, ports={"G": at}))
        below = [f"box{row - 1}-{j}" for j in (k, k + 1)] if row else []
        for other in below + ([f"box{row}-{k - 1}"] if k else []):
            model.apply(f"{other}+box{row}-{k}", Contact(box, box, friction=0.5), f"{other}.G", f"box{row}-{k}.G")
        if not row:
            model.apply(f"floor-{k}", Contact(HalfSpace(), box, friction=0.5), "ground", f"box{row}-{k}.G")
    with Simulation(model, 1e-3, Glued(), record_every=50) as simulation:
        run = simulation.run(as_far_as(2.0, 0.7))
    assert max(np.abs(run.position(f"{name}.G") - run.position(f"{name}.G")[0]).max() for name in model.bodies) < 1e-9
