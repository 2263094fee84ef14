"""Angles, ways, efforts and angular velocities of a run, held against closed forms."""

import numpy as np
import pytest

import scenarios
import zoo
from campaign import later
from components import (
    DrivenDistance,
    DrivenRotation,
    DrivenTranslation,
    LedBody,
    Motor,
    Planar,
    Prismatic,
    Ramp,
    Revolute,
    RigidBody,
    Smooth,
    SpringDamper,
)
from components.bodies.natural.records import turned_by
from coordinator import Glued, RunWarning, Simulation
from coordinator.record.export import columns
from coordinator.record.sensors import angle as angle_of_ports
from coordinator.record.turning import distance
from modular import Assembly, ModelError

GRAVITY, MASS, ARM, INERTIA = 9.81, 2.0, 0.5, 0.3
both = pytest.mark.parametrize("dimension", [2, *later([3])])
every_body = pytest.mark.parametrize(("body_type", "dimension"), zoo.MOVED, ids=zoo.label)


def bar(dimension):
    """A bar that can turn about z at its left end, gravity along -y."""
    model = Assembly(gravity=(0.0, -GRAVITY, 0.0)[:dimension])
    start, middle, end = ((x, 0.0, 0.0)[:dimension] for x in (0.0, ARM, 2 * ARM))
    inertia = INERTIA if dimension == 2 else (0.1, 0.25, INERTIA)
    model.add("bar", RigidBody(mass=MASS, inertia=inertia, centre=middle, ports={"a": start, "b": end}))
    return model


def about(dimension, z):
    return {} if dimension == 2 else {"axis": (0.0, 0.0, z)}


@both
def test_a_drive_turns_as_its_course_says_with_the_torque_that_takes(dimension):
    model, course = bar(dimension), Smooth((0.0, 0.5, 1.0), (0.0, 0.7, -4.0))
    model.join("hinge", Revolute(**about(dimension, -1.0)), "ground", "bar.a")
    model.join("drive", DrivenRotation(course, **about(dimension, 1.0)), "ground", "bar.a")
    with Simulation(model, 1e-3, Glued(4)) as simulation:
        run = simulation.run(1.0)
    theta = run.angle("drive")
    assert theta[[0, 500, 1000]] == pytest.approx([0.0, 0.7, -4.0], abs=1e-9)
    assert run.angle("hinge") == pytest.approx(theta if dimension == 2 else -theta, abs=1e-12)
    rate = run.angular_velocity("bar")
    assert (rate if dimension == 2 else rate[:, 2])[1:-1] == pytest.approx(np.gradient(theta, run.time)[1:-1], abs=2e-3)
    a = run.acceleration("bar.b")
    across = (-np.sin(theta) * a[:, 0] + np.cos(theta) * a[:, 1]) / (2 * ARM)
    torque = (INERTIA + MASS * ARM**2) * across + MASS * GRAVITY * ARM * np.cos(theta)
    assert run.effort("drive") == pytest.approx(torque, abs=1e-6 * np.abs(torque).max())


@both
def test_angles_are_the_same_however_seldom_they_are_recorded(dimension):
    """A wheel on a turntable, both about axes of their own sense: up to a hundred turns between two samples, and half of one."""
    draw = np.random.default_rng(4)
    spins, efforts = draw.normal(size=2) * 80.0, draw.normal(size=2) * 3.0
    model = Assembly(gravity=(0.0, 0.0, 0.0)[:dimension])
    for name, spin in zip(("table", "wheel"), spins, strict=True):
        inertia, turn = (INERTIA, spin) if dimension == 2 else ((0.2, 0.25, INERTIA), (0.0, 0.0, spin))
        centre = (0.0,) * dimension
        model.add(
            name, RigidBody(mass=MASS, inertia=inertia, centre=centre, ports={"a": centre}, angular_velocity=turn)
        )
    model.join("hinge", Revolute(**about(dimension, -1.0)), "ground", "table.a")
    model.join("bearing", Revolute(**about(dimension, 1.0)), "table.a", "wheel.a")
    model.apply("starter", Motor(efforts[0], **about(dimension, 1.0)), "ground", "table.a")
    model.apply("motor", Motor(efforts[1], **about(dimension, 1.0)), "table.a", "wheel.a")
    runs = []
    for every in (1, 17, 400):
        with Simulation(model, 1e-3, Glued(4), record_every=every) as simulation:
            runs.append(simulation.run(1.0))
    half = 0.5 / INERTIA
    table = spins[0] + half * (efforts[0] - efforts[1])
    between = spins[1] - spins[0] + half * (2.0 * efforts[1] - efforts[0])
    for run in runs:
        assert run.angle("hinge")[-1] == pytest.approx(table if dimension == 2 else -table, abs=1e-4)
        for found in (run.angle("motor"), angle_of_ports(run, "table.a", "wheel.a")):
            assert found[-1] == pytest.approx(between, abs=1e-4)
    with pytest.raises(ModelError, match=r"turns by about .* rad between two samples"):
        LedBody.of(runs[-1], "wheel")


def test_whole_turns_that_nothing_tells_are_warned_of():
    """It swings to and fro between two samples, and stands at both of them."""
    model = bar(2)
    model.join("hinge", Revolute(), "ground", "bar.a")
    with Simulation(model, 1e-3, Glued(), record_every=1100) as simulation:  # about half a swing
        run = simulation.run(2.2)
    with pytest.warns(RunWarning, match=r"'hinge' turns by .* Record more often"):
        run.angle("hinge")


@both
def test_a_motor_and_a_spring_say_what_they_do_with_its_sign(dimension):
    model = bar(dimension)
    model.join("hinge", Revolute(**about(dimension, 1.0)), "ground", "bar.a")
    model.apply("motor", Motor(effort=-3.0, **about(dimension, 1.0)), "ground", "bar.a")
    far = (2 * ARM, 2.0, 0.0)[:dimension]
    model.apply("spring", SpringDamper(stiffness=40.0, damping=0.0, length=1.5), "ground", "bar.b", at=far)
    with Simulation(model, 1e-3) as simulation:
        run = simulation.run(0.3)
    assert run.effort("motor") == pytest.approx(-3.0, abs=1e-12)
    length = np.linalg.norm(run.position("bar.b") - far, axis=1)
    assert run.effort("spring") == pytest.approx(-40.0 * (length - 1.5), abs=1e-9)
    assert run.angle("motor") == pytest.approx(run.angle("hinge"), abs=1e-12)
    with pytest.raises(ModelError, match="is not a drive"):
        run.effort("hinge")
    with pytest.raises(ModelError, match="did you mean 'motor'"):
        run.angle("moter")


@both
def test_a_slide_goes_its_way(dimension):
    model, axis = bar(dimension), (0.6, 0.8, 0.0)[:dimension]
    model.join("slide", Prismatic(axis), "ground", "bar.a")
    model.join("drive", DrivenTranslation(Smooth((0.0, 0.4), (0.0, -0.3)), axis=axis), "ground", "bar.a")
    with Simulation(model, 1e-3, Glued(4)) as simulation:
        run = simulation.run(0.4)
    assert run.way("slide") == pytest.approx(run.way("drive"), abs=1e-12)
    assert run.way("slide")[-1] == pytest.approx(-0.3, abs=1e-9)
    along = run.acceleration("bar.a") @ np.array(axis)
    assert run.effort("drive") == pytest.approx(MASS * (along + GRAVITY * axis[1]), rel=1e-6, abs=1e-6)


def test_angles_go_on_over_turns_and_begin_where_a_joint_is_made():
    model = bar(2)
    model.join("hinge", Revolute(), "ground", "bar.a")
    model.apply("motor", Motor(effort=60.0), "ground", "bar.a")
    with Simulation(model, 1e-3) as simulation:
        simulation.run(1.0)
        simulation.cut("hinge")
        run = simulation.run(1.1)
    whole = run.angle("motor")
    assert whole.max() > 4 * np.pi and np.abs(np.diff(whole)).max() < 0.2
    assert np.isnan(run.angle("hinge")[-1]) and run.angle("hinge")[900] == pytest.approx(whole[900], abs=1e-12)


def test_what_turns_about_no_single_axis_is_refused():
    with Simulation(scenarios.load("double-pendulum-3d"), 1e-3) as simulation:
        run = simulation.run(0.3)
    with pytest.raises(ModelError, match="does not turn about one axis"):
        run.angle("ball")


def test_the_way_of_a_jack_is_what_it_has_lengthened_and_of_what_has_none_it_is_refused():
    """Both read along an axis that they do not have, and told 0, or a number that meant nothing."""
    model = Assembly(gravity=(0.0, 0.0))
    model.add("body", RigidBody(mass=2, inertia=0.03, centre=(0, 1), ports={"c": (0, 1)}, velocity=(0, 0.5)))
    model.join("jack", DrivenDistance(Ramp(0.5)), "ground", "body.c", at=(0, 0))
    assert Simulation(model, 1e-3, Glued()).run(0.5).way("jack")[-1] == pytest.approx(0.25, abs=1e-9)
    model = Assembly(gravity=(0.0, 0.0, 0.0))
    ports, pace = {"c": (0.2, 0, 0)}, {"velocity": (1.0, 0, 2.0), "angular_velocity": (0, 3.0, 0)}
    model.add("body", RigidBody(mass=2, inertia=(0.03, 0.04, 0.05), centre=(0.2, 0, 0), ports=ports, **pace))
    model.join("planar", Planar(normal=(0, 1, 0)), "ground", "body.c")
    run = Simulation(model, 1e-3, Glued()).run(0.5)
    assert run.angle("planar")[-1] == pytest.approx(1.5, abs=1e-5)
    with pytest.raises(ModelError, match="does not slide along one axis"):
        run.way("planar")


def test_what_resists_about_all_axes_and_what_is_slender_turn_alike_sample_by_sample():
    """Slender ones not at all about their line; each sample by itself."""
    draw = np.random.default_rng(5)
    axes = np.linalg.qr(draw.normal(size=(40, 3, 3)))[0]
    least = np.geomspace(1.0, 1e-9, 40)
    least[-5:] = 0.0
    sizes = np.stack([np.ones(40), 0.3 + least, least], axis=1)
    resistance = np.einsum("nij,nj,nkj->nik", axes, sizes, axes)
    spin = np.einsum("nij,nj->ni", axes, np.where(sizes > 1e-12, draw.normal(size=(40, 3)), 0.0))
    turning = np.einsum("nij,nj->ni", resistance, spin)
    found = turned_by(resistance, turning)
    assert (np.abs(found - spin).max(axis=1) < 1e-14 / np.where(least > 0.0, least, 1e-2)).all()
    alone = [turned_by(resistance[k : k + 1], turning[k : k + 1])[0] for k in range(40)]
    assert np.array_equal(found, alone)


@every_body
def test_bodies_turn_as_their_axes_do(body_type, dimension):
    """Angular velocity against axes a little later, for what is known in closed form and what is not."""
    body = body_type.example(dimension)
    _, q, v = zoo.start(body)
    port = body.port_names[0]
    try:
        now, short = body.port_axes(port, q), 1e-6
        later, before = body.port_axes(port, q + short * v), body.port_axes(port, q - short * v)
    except ModelError:
        pytest.skip("it does not say how its axes turn")
    rate = np.atleast_1d(body.angular_velocity_of(port, q, v))
    spin = [[0.0, -rate[0]], [rate[0], 0.0]] if dimension == 2 else np.cross(np.eye(3), rate).T.T
    turned = now @ (np.array(spin).T if dimension == 2 else np.cross(rate, np.eye(3)))
    assert (later - before) / (2 * short) == pytest.approx(turned, abs=1e-6 * (1.0 + np.abs(rate).max()))


@pytest.mark.short(4)
@pytest.mark.parametrize(("body_type", "dimension"), [*zoo.MOVED, *zoo.LED], ids=zoo.label)
def test_what_acts_on_a_body_of_any_kind_is_seen_along_its_axis_and_exported(body_type, dimension):
    """Bodies keep their coordinates by rows of points or as one list; neither the distance nor a table may mind."""
    model = Assembly(gravity=(0.3, -GRAVITY, 0.1)[:dimension])
    model.add("body", body_type.example(dimension))
    port = f"body.{model.bodies['body'].port_names[0]}"
    model.apply("spring", SpringDamper(7.0, 0.1, 0.2), "ground", port, at=(0.7, -0.9, 0.5)[:dimension])
    with Simulation(model, 1e-4) as simulation:
        run = simulation.run(5e-4)
    apart = np.linalg.norm(run.position(port) - (0.7, -0.9, 0.5)[:dimension], axis=1)
    assert distance(run, "spring") == pytest.approx(apart, rel=1e-12)
    assert np.isfinite(run.effort("spring")).all()
    assert {"spring distance [m]"} <= {name for name, _ in columns(run)}
