"""What joints exert, as formulas: what runs record, in any axes; accelerations by elimination are those of the engine."""

import numpy as np
import pytest
import sympy

import scenarios
import zoo
from campaign import shortened
from components import PointMassRod, Prismatic, Revolute, RigidBody, Rod, Spherical
from coordinator import Baumgarte, Centralized, Simulation
from coordinator.couplings.centralized.equations import Equations
from coordinator.equations import efforts, equations
from coordinator.equations.solved import Solved
from mechanisms import rods_in_a_row
from modular import Assembly, ModelError

CLOSED = ["slider-crank", "four-bar", "double-pendulum-3d"]
SYSTEMS = shortened(
    CLOSED, [*CLOSED, "simple-pendulum", "scissors", "bricard", "spring-pendulum", "rolling-disc", "flyball-governor"]
)
BENDING = {"rolling-disc", "flyball-governor"}  # whose gamma the engine finds by differences


def pendulum(length=1.0):
    model = Assembly(gravity=(0.0, -9.81))
    model.add("rod", PointMassRod((0.0, 0.0), (length * 0.6, -length * 0.8), (0.3, 0.7)))
    model.join("pin", Revolute(), "ground", "rod.start")
    return model


def states(run):
    return [np.concatenate([run.state(b)[part].reshape(len(run), -1) for b in run.bodies], axis=1) for part in (0, 1)]


def moved(model, until=0.05):
    with Simulation(model.copy(), 1e-3, Centralized(Baumgarte(method="RK4", alpha=0.0, beta=0.0))) as simulation:
        return simulation.run(until)


@pytest.mark.parametrize("name", SYSTEMS)
def test_accelerations_by_elimination_are_those_of_the_engine(name):
    model, near = scenarios.load(name), 1e-6 if name in BENDING else 1e-9
    with Simulation(model.copy(), 1e-3, Centralized(), project_velocities=True) as simulation:
        engine = Equations(simulation.system)
        written = equations(model)
        solved, (q, v) = Solved(written, engine.read()), engine.read()
        draw = np.random.default_rng(3)
        for _ in range(3):
            rates = engine.project_velocity(q, v + 0.3 * draw.normal(size=engine.size))
            a, multipliers = engine.accelerate(0.02, q, rates)
            jacobian = np.asarray(engine.jacobian())
            found, held = solved.at(q, rates, 0.02)
            assert np.abs(found - a).max() < near * max(1.0, np.abs(a).max())
            pushed = jacobian.T @ multipliers
            assert np.abs(jacobian.T @ held - pushed).max() < near * max(1.0, np.abs(pushed).max())
        assert len(solved.dependent) == engine.rows - np.linalg.matrix_rank(jacobian)


def hung(joint, dimension):
    """One body on the ground by a joint that bends it."""
    model = Assembly(gravity=(0.3, -9.81, 0.5)[:dimension])
    model.add("body", zoo.full(dimension, *zoo.PLACES[dimension][:2]))
    model.join("joint", joint, "ground", "body.start")
    return model


MODELS = {
    "slider-crank": scenarios.load("slider-crank"), "three rods": rods_in_a_row(3), "hinge": hung(Revolute((0.3, -0.5, 0.8)), 3),
    "slide": hung(Prismatic((0.6, 0.8)), 2),
}  # fmt: skip


@pytest.mark.short(1)
@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_efforts_are_the_reactions_of_a_run(model):
    run = moved(model)
    q, v = states(run)
    for joint in model.joint_edges:
        found, told = efforts(model, joint), run.reaction(joint)
        d = told.shape[1]
        numbers = np.array([found.at(q[k], v[k], run.time[k]) for k in range(len(run))])
        scale = np.abs(told).max()
        assert np.abs(numbers[:, :d] - told).max() < 1e-10 * scale
        assert np.abs(numbers[:, d:]).max(initial=0.0) < 1e-10 * scale


def test_in_the_axes_of_a_port_and_on_the_other_side():
    model = scenarios.load("slider-crank")
    run = moved(model, 0.02)
    q, v = states(run)
    axes, told = run.axes("crank.end"), run.reaction("elbow")
    along, first = efforts(model, "elbow", [1, 0, 0], axes="crank.end"), efforts(model, "elbow", [0, 1, 0], on="first")
    assert along.names == ("F_x",)
    for k in range(len(run)):
        assert np.isclose(along.at(q[k], v[k], run.time[k])[0], axes[k, 0] @ told[k], rtol=1e-9, atol=1e-9)
        assert np.isclose(first.at(q[k], v[k], run.time[k])[0], -told[k, 1], rtol=1e-9, atol=1e-9)


def test_the_pendulum_of_the_fifth_text_pulls_as_it_has_to():
    """m a = F + m g with a of a point on a circle; what the text prints has both signs turned (docs/methode-hamiltonienne.md)."""
    half, rate = sympy.symbols("h omega", real=True)  # tangent of half the angle: all is rational in it
    sine, cosine = 2 * half / (1 + half**2), (1 - half**2) / (1 + half**2)
    found = efforts(pendulum(), "pin")
    w = found.solved.written
    length, gravity = (w.parameter(name) for name in ("rod.length", "gravity"))
    upper, mass = (one for one in w.parameters if "mass" in one.name)
    q = [0, 0, -length * sine, -length * cosine]
    v = [0, 0, -length * cosine * rate, length * sine * rate]
    here = dict(zip([*w.coordinates, *w.rates], [*q, *v], strict=True))
    x, z, about = (value.xreplace(here) for value in found.expanded().values())
    slowing = -gravity / length * sine
    assert sympy.cancel(x - mass * length * (sine * rate**2 - cosine * slowing)) == 0
    lifted = mass * (gravity + length * (cosine * rate**2 + sine * slowing)) + upper * gravity
    assert sympy.cancel(z - lifted) == 0
    assert sympy.cancel(about) == 0
    assert r"F_{x}" in found.latex()


def test_parameters_by_name_are_those_of_another_model():
    q, v = np.array([0.0, 0.0, 1.02, -1.36]), np.array([0.0, 0.0, 0.8, 0.6])
    one, two = (efforts(pendulum(length), "pin", axes="rod.end") for length in (1.0, 1.7))
    assert np.allclose(one.at(q, v, parameters={"rod.length": 1.7}), two.at(q, v), rtol=1e-12, atol=1e-12)


def parallelogram(angle):
    """Three rods; flat at angle 0, where all rows of the loop along the line say the same."""
    tip = (np.cos(angle), np.sin(angle))
    model = Assembly(gravity=(0.0, -9.81))
    model.add("left", Rod((0.0, 0.0), tip, 1.0))
    model.add("top", Rod(tip, (tip[0] + 2.0, tip[1]), 1.0))
    model.add("right", Rod((2.0, 0.0), (tip[0] + 2.0, tip[1]), 1.0))
    model.join("a", Revolute(), "ground", "left.start")
    model.join("b", Revolute(), "left.end", "top.start")
    model.join("c", Revolute(), "top.end", "right.end")
    model.join("d", Revolute(), "ground", "right.start", at=(2.0, 0.0))
    return model


def test_what_was_written_at_a_singular_pose_is_refused_at_others():
    """A row that followed from others there does not here: without it the mechanism would have a freedom too many."""
    flat, open_ = equations(parallelogram(0.0)), equations(parallelogram(0.7))
    at_flat, at_open = (Solved(one, (one.start[0], one.start[1])) for one in (flat, open_))
    assert len(at_flat.dependent) == 1
    assert not at_open.dependent
    q, v = open_.start
    assert np.isfinite(at_open.at(q, v)[0]).all()
    with pytest.raises(ModelError, match="depend on others in another way here"):
        at_flat.at(q, v)
    with pytest.raises(ModelError, match="not finite"):
        at_open.at(np.nan * q, v)


def test_what_cannot_be_told_is_refused():
    model = rods_in_a_row(2)
    for mask in ([1, 0], [0, 0, 0], [2, 0, 0]):
        with pytest.raises(ModelError, match="a 0 or 1 for each of F_x, F_y, M_z"):
            efforts(model, "pin1", mask)
    with pytest.raises(ModelError, match="joint"):
        efforts(model, "pin7")
    with pytest.raises(ModelError, match=r"'second' \(rod1.start\) or 'first' \(rod0.end\)"):
        efforts(model, "pin1", on="third")
    with pytest.raises(ModelError, match="those of the world"):
        efforts(model, "pin1", axes="ground")
    gate = Assembly(gravity=(0.0, 0.0, -9.81))
    gate.add(
        "gate",
        RigidBody(
            mass=2.0, inertia=(0.3, 0.2, 0.4), centre=(0.5, 0.0, 0.5), ports={"low": (0, 0, 0), "high": (0, 0, 1)}
        ),
    )
    gate.join("low", Spherical(), "ground", "gate.low")
    gate.join("high", Spherical(), "ground", "gate.high")
    with pytest.raises(ModelError, match=r"'low'.*not unique"):
        efforts(gate, "low")
