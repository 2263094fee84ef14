"""Joints that read angles: gears, racks and screws against what mechanics says, over many turns."""

import copy

import numpy as np
import pytest

from both_ways import scattered
from campaign import as_far_as, each_once, later, more, named
from components import Fixed, Gear, Moment, Prismatic, Rack, Revolute, RigidBody, Screw
from coordinator import Glued, Penalty, Relaxed, Simulation, first_difference
from modular import Assembly, ModelError

# what spins fast is stretched by the springs inside, as the square of the step
COUPLINGS = pytest.mark.parametrize(("coupling", "dt"), [(Glued(4), 1e-3), *later([(Penalty(), 1e-4)])], ids=named)


def wheel(centre, inertia, mass=1.0, **motion):
    ports = {"hub": centre, "rim": (centre[0] + 0.1, centre[1])}
    return RigidBody(mass=mass, inertia=inertia, centre=centre, ports=ports, **motion)


def turned(run, body):
    """Angle of a wheel, whole turns included."""
    arm = run.position(f"{body}.rim") - run.position(f"{body}.hub")
    return np.unwrap(np.arctan2(arm[:, 1], arm[:, 0]))


@pytest.mark.parametrize(
    ("coupling", "dt", "internal", "sign"),
    each_once([(Penalty(), 1e-4), (Glued(4), 1e-3)], [(False, -1), (True, 1)]),
    ids=named,
)
@pytest.mark.parametrize(("turns", "until"), [(1, 1.5), *more([as_far_as((85, 12.0), (9, 4.0))])])
def test_wheels_on_bearings_turn_as_their_teeth(coupling, dt, internal, sign, turns, until):
    """A torque of 0.4 N m on the first of two wheels: (J_1 + (z_1/z_2)^2 J_2) alpha = M, for as many turns."""
    model = Assembly(gravity=(0.0, 0.0))
    model.add("small", wheel((0, 0), 0.02))
    model.add("large", wheel((0.5, 0.2), 0.3))
    model.join("left", Revolute(), "ground", "small.hub")
    model.join("right", Revolute(), "ground", "large.hub")
    model.join("mesh", Gear((18, 54), internal=internal), "small.hub", "large.hub")
    model.apply("motor", Moment(0.4), "small.hub")
    run = Simulation(model, dt, coupling, record_every=round(2e-3 / dt)).run(until)
    small, large = turned(run, "small"), turned(run, "large")
    alpha = 0.4 / (0.02 + (18 / 54) ** 2 * 0.3)
    assert small[-1] > turns * 2 * np.pi
    # springs carry the load at a deflection of its square of the step; the teeth stay in their place all the same
    tolerance, drawn = (1e-9, 1e-7) if isinstance(coupling, Glued) else (2e-4, 1e-4)
    np.testing.assert_allclose(small[-1], 0.5 * alpha * run.time[-1] ** 2, rtol=drawn)
    np.testing.assert_allclose(large, sign * small * 18 / 54, atol=tolerance + 1e-9 * small[-1])


def test_a_planet_rolls_about_a_sun_that_stands(tmp_path):
    """Its arm turns by w: the planet by w (1 + z_s / z_p) in the world; Willis' formula."""
    model = Assembly(gravity=(0.0, 0.0))
    model.add(
        "arm",
        RigidBody(mass=1, inertia=0.1, centre=(0, 0), ports={"hub": (0, 0), "end": (0.6, 0)}, angular_velocity=3.0),
    )
    spin = 3.0 * (1 + 40 / 20)
    model.add("planet", wheel((0.6, 0.0), 0.01, velocity=(0.0, 1.8), angular_velocity=spin))
    model.join("middle", Revolute(), "ground", "arm.hub")
    model.join("pin", Revolute(), "arm.end", "planet.hub")
    model.join("mesh", Gear((40, 20)), "ground", "planet.hub", at=(0.0, 0.0))
    run = Simulation(model, 1e-3, Glued(4)).run(10.0)
    arm = np.unwrap(np.arctan2(*run.position("arm.end").T[::-1]))
    np.testing.assert_allclose(turned(run, "planet"), 3.0 * arm, atol=1e-9)
    np.testing.assert_allclose(arm[-1], 30.0, rtol=1e-6)  # nothing drives it and nothing holds it up
    assert np.ptp(run.energy) < 1e-8


@COUPLINGS
def test_a_wheel_rolls_down_a_rack_as_down_an_incline(coupling, dt):
    """a = g sin / (1 + J / (m r^2)) for a wheel that rolls without slip: 30 degrees, a solid disc."""
    slope, radius = np.radians(30), 0.25
    along, up = np.array([np.cos(slope), -np.sin(slope)]), np.array([np.sin(slope), np.cos(slope)])
    model = Assembly(gravity=(0.0, -9.81))
    centre = radius * up
    model.add("wheel", wheel(tuple(centre), 0.5 * 2.0 * radius**2, mass=2.0))
    model.add("rail", RigidBody(mass=1, inertia=0.1, centre=(0, 0), ports={"start": (0, 0)}))
    model.add("shoe", RigidBody(mass=1e-3, inertia=1e-5, centre=tuple(centre), ports={"hub": tuple(centre)}))
    model.join("bed", Fixed(), "ground", "rail.start")
    model.join("guide", Prismatic(tuple(along)), "ground", "shoe.hub")
    model.join("bearing", Revolute(), "shoe.hub", "wheel.hub")
    model.join("teeth", Rack(40, line=tuple(along)), "rail.start", "wheel.hub")
    run = Simulation(model, dt, coupling, record_every=round(2e-3 / dt)).run(3.0)
    path = (run.position("wheel.hub")[-1] - run.position("wheel.hub")[0]) @ along
    share = 2.0 * (1 + 0.5) + 1e-3  # mass that is moved, with what turns and the shoe
    exact = 0.5 * (2.001 * 9.81 * np.sin(slope) / share) * 9.0
    assert path > 10 * 2 * np.pi * radius / 2
    np.testing.assert_allclose(path, exact, rtol=1e-4)
    np.testing.assert_allclose(turned(run, "wheel")[-1] - turned(run, "wheel")[0], -path / radius, rtol=1e-5)


@COUPLINGS
def test_a_nut_falls_along_a_screw_and_turns(coupling, dt):
    """m z'' + J (2 pi / p)^2 z'' = -m g: energy in closed form, over many turns."""
    pitch, mass, inertia = 0.05, 1.5, 0.05
    model = Assembly(gravity=(0.0, 0.0, -9.81))
    nut = RigidBody(mass=mass, inertia=(inertia,) * 3, centre=(0, 0, 0), ports={"hole": (0, 0, 0), "arm": (0.1, 0, 0)})
    model.add("nut", nut)
    model.join("thread", Screw(pitch, axis=(0, 0, 1)), "ground", "nut.hole")
    run = Simulation(model, dt, coupling, record_every=round(2e-3 / dt)).run(10.0)
    arm = run.position("nut.arm") - run.position("nut.hole")
    angle, height = np.unwrap(np.arctan2(arm[:, 1], arm[:, 0])), run.position("nut.hole")[:, 2]
    exact = -0.5 * mass * 9.81 / (mass + inertia * (2 * np.pi / pitch) ** 2) * run.time**2
    assert abs(angle[-1]) > 18 * 2 * np.pi
    np.testing.assert_allclose(height, angle * pitch / (2 * np.pi), atol=1e-9 if isinstance(coupling, Glued) else 1e-5)
    np.testing.assert_allclose(height[-1], exact[-1], rtol=1e-5)


def test_a_screw_of_any_phase_goes_on_where_it_was_copied_and_cut():
    """Nothing is remembered from turn to turn: a copy of a simulation in its thirtieth turn goes on to the same bits."""
    model = Assembly(gravity=(0.0, 0.0, -9.81))
    body = RigidBody(mass=1, inertia=(0.01,) * 3, centre=(0, 0, 0), ports={"hole": (0, 0, 0)}, angular_velocity=(0, 0, 60.0),
                     velocity=(0, 0, 60.0 * 0.02 / (2 * np.pi)))  # fmt: skip
    model.add("nut", body)
    model.join("thread", Screw(0.02, axis=(0, 0, 1)), "ground", "nut.hole")
    simulation = Simulation(model, 1e-3, Glued())
    simulation.run(2.0)
    again = copy.deepcopy(simulation)
    assert first_difference(simulation.run(3.0), again.run(3.0)) is None


def train():
    """Two wheels, a rack that they drive, and nothing else that is held."""
    model = Assembly(gravity=(0.0, -9.81))
    model.add("small", wheel((0, 0), 0.02, angular_velocity=0.0))
    model.add("large", wheel((0.5, 0.0), 0.3))
    model.add("bar", RigidBody(mass=1, inertia=0.1, centre=(0.8, 0), ports={"line": (0.75, 0.0), "guide": (0.8, 0)}))
    model.join("left", Revolute(), "ground", "small.hub")
    model.join("right", Revolute(), "ground", "large.hub")
    model.join("slide", Prismatic((0, 1)), "ground", "bar.guide")
    model.join("mesh", Gear((18, 54)), "small.hub", "large.hub")
    model.join("teeth", Rack(30, line=(0, 1)), "bar.line", "large.hub")
    return model


@pytest.mark.parametrize("coupling", [Glued(4), *later([Penalty(), Relaxed()])], ids=named)
def test_single_steps_stacks_of_their_own_and_workers_have_the_same_bits(coupling):
    def played(step=False, **settings):
        with Simulation(train(), 1e-3, coupling, **settings) as simulation:
            while step and simulation.tick < 50:
                simulation.step()
            simulation.run(0.05)
            simulation.cut("mesh")
            return simulation.run(0.1).digest

    digests = {played(), played(step=True), played(grouped=False)}
    digests |= {played(workers=2, launcher="here"), played(workers=scattered(train(), 2), launcher="here")}
    assert len(digests) == 1


@COUPLINGS
def test_a_bar_that_falls_turns_a_train_of_wheels(coupling, dt):
    """All is one mass: (m + J_l / r^2 + J_s (3 / r)^2) a = m g."""
    radius = 0.25
    with Simulation(train(), dt, coupling, record_every=round(2e-3 / dt)) as simulation:
        run = simulation.run(0.4)
    seen = 1.0 + 0.3 / radius**2 + 0.02 * (3 / radius) ** 2
    fallen = run.position("bar.guide")[:, 1]
    np.testing.assert_allclose(fallen[-1], -0.5 * 9.81 / seen * 0.16, rtol=1e-3)
    np.testing.assert_allclose(turned(run, "large")[-1], fallen[-1] / radius, rtol=1e-3)


@pytest.mark.parametrize(
    ("joint", "reason"),
    [
        (Gear((0, 20)), "whole numbers"), (Gear((10.5, 20)), "two whole numbers"),
        (Gear((20, 20), internal=True), "fewer teeth"),
        (Gear((10, 20), axis=(0, 0, 1)), "leave axis out"), (Rack(0), "give a whole number"),
        (Rack(12, line=(0, 0)), "is not a direction"),
        (Rack(12, line=(1, 0)), "lies on the pitch line"),
    ],
)  # fmt: skip
def test_wheels_that_cannot_be_are_refused(joint, reason):
    model = Assembly(gravity=(0.0, 0.0))
    model.add("left", wheel((0, 0), 0.1))
    model.add("right", wheel((0.5, 0), 0.1))
    model.join("mesh", joint, "left.hub", "right.hub")
    with pytest.raises(ModelError, match=f"joint 'mesh'.*{reason}"):
        Simulation(model, 1e-3)


@pytest.mark.parametrize(
    ("pitch", "reason"), [(0.0, "a screw needs a pitch"), (float("nan"), "finite"), ("x", "finite")]
)
def test_screws_that_cannot_be_are_refused(pitch, reason):
    model = Assembly(gravity=(0.0, 0.0, 0.0))
    model.add("nut", RigidBody(mass=1, inertia=(0.01,) * 3, centre=(0, 0, 0), ports={"hole": (0, 0, 0)}))
    model.join("thread", Screw(pitch), "ground", "nut.hole")
    with pytest.raises(ModelError, match=f"joint 'thread'.*{reason}"):
        Simulation(model, 1e-3)
