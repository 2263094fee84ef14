"""What instruments show, against closed forms."""

import numpy as np
import pytest

import scenarios
from components import Fixed, Gear, Moment, Revolute, RigidBody, Rod
from coordinator import Glued, Simulation
from coordinator.record.sensors import accelerometer, angle, distance, in_axes_of, joint_force
from modular import Assembly, ModelError, Port

G, L = 9.81, 0.8


def pendulum(dimension):
    """A rod with its mass at one place, that swings from level; its port has x along the rod."""
    model = Assembly(gravity=(0.0, -G) if dimension == 2 else (0.0, -G, 0.0))
    space = lambda *x: (*x, 0.0)[:dimension]  # noqa: E731
    axes = np.eye(dimension)[[1, 0]] * [[-1], [1]] if dimension == 2 else np.array([[0, -1, 0], [1, 0, 0], [0, 0, 1.0]])
    model.add(
        "bob",
        RigidBody(
            mass=1.3, inertia=1e-9 if dimension == 2 else (1e-4,) * 3, centre=space(L, 0.0),
            ports={"hang": space(0.0, 0.0), "G": space(L, 0.0), "turned": Port(space(L, 0.0), axes=axes.tolist())},
        ),
    )  # fmt: skip
    model.join("pin", Revolute() if dimension == 2 else Revolute((0, 0, 1)), "ground", "bob.hang")
    return model


@pytest.mark.parametrize("dimension", [2, 3])
def test_what_swings_feels_three_times_its_weight_at_its_lowest_place_along_its_string(dimension):
    """Along the string 3 g sin(a), across it g cos(a) of gravity is not felt: a point on a string feels the string alone."""
    with Simulation(pendulum(dimension), 1e-3, Glued(4)) as simulation:
        run = simulation.run(1.5)
    fallen = angle(run, "ground", "bob.G")
    felt, share = accelerometer(run, "bob.G"), 1e-3 if dimension == 2 else 2e-3
    np.testing.assert_allclose(felt[:, 0], 3 * G * np.sin(fallen), atol=share * G)
    np.testing.assert_allclose(felt[:, 1:], 0.0, atol=share * G)
    force = joint_force(run, "pin", "bob.G")
    np.testing.assert_allclose(force, 1.3 * felt, atol=1e-3 * 1.3 * G)
    other = accelerometer(run, "bob.turned")  # x of that port is -y of the body, and y is x
    np.testing.assert_allclose(other[:, 0], -felt[:, 1], atol=1e-9)
    np.testing.assert_allclose(other[:, 1], felt[:, 0], atol=1e-9)
    np.testing.assert_allclose(distance(run, "bob.hang", "bob.G"), L, rtol=1e-9)


def test_an_accelerometer_shows_nothing_in_free_fall_and_g_upwards_at_rest():
    model = Assembly(gravity=(0.0, 0.0, -G))
    body = RigidBody(
        mass=1, inertia=(0.1, 0.2, 0.25), centre=(0, 0, 0), ports={"G": (0, 0, 0)}, angular_velocity=(1.0, 2.0, 0.3)
    )
    model.add("free", body)
    model.add("post", Rod((1, 0, 0), (1, 0, 1), 1.0, radius=0.1))
    model.join("foot", Fixed(), "ground", "post.start")
    with Simulation(model, 1e-3, Glued()) as simulation:
        run = simulation.run(0.5)
    np.testing.assert_allclose(accelerometer(run, "free.G"), 0.0, atol=1e-6)
    np.testing.assert_allclose(accelerometer(run, "post.end"), np.tile((0.0, 0.0, G), (len(run), 1)), atol=1e-6)


def test_angles_go_on_over_turns_between_bodies_and_against_the_ground():
    model = Assembly(gravity=(0.0, 0.0))
    for name, x, inertia in (("small", 0.0, 0.02), ("large", 0.5, 0.3)):
        model.add(name, RigidBody(mass=1, inertia=inertia, centre=(x, 0), ports={"hub": (x, 0)}))
        model.join(f"{name}-bearing", Revolute(), "ground", f"{name}.hub")
    model.join("mesh", Gear((18, 54)), "small.hub", "large.hub")
    model.apply("motor", Moment(6.4), "small.hub")
    with Simulation(model, 1e-3, Glued(4)) as simulation:
        run = simulation.run(2.0)
    small, large = angle(run, "ground", "small.hub"), angle(run, "ground", "large.hub")
    assert small[-1] > 30 * 2 * np.pi
    np.testing.assert_allclose(large, -small / 3, atol=1e-6)
    np.testing.assert_allclose(angle(run, "small.hub", "large.hub"), large - small, atol=1e-6)


def test_what_is_not_there_shows_nothing_and_wrong_names_are_refused():
    with Simulation(scenarios.load("double-pendulum"), 1e-3) as simulation:
        simulation.run(0.05)
        simulation.remove("lower")
        run = simulation.run(0.1)
    assert np.isnan(run.axes("lower.end")[-1]).all() and np.isfinite(run.axes("lower.end")[0]).all()
    with pytest.raises(ModelError, match="nowhere"):
        run.axes("upper.nowhere")
    with pytest.raises(ModelError, match="vectors have shape"):
        in_axes_of(run, "upper.end", run.energy)
