"""Models that are written roughly: bodies are moved as wholes until all joints are closed, as little as that takes."""

import json

import numpy as np
import pytest
from scipy import optimize
from scipy.spatial.transform import Rotation

import mechanisms
import scenarios
from budget import within
from campaign import as_far_as, more, some
from components import (
    Beam,
    Cylindrical,
    Distance,
    DrivenRotation,
    Fixed,
    Planar,
    Prismatic,
    Ramp,
    Revolute,
    RigidBody,
    Rod,
    Sine,
    Spherical,
)
from coordinator import Glued, Simulation
from coordinator.analysis import assemble, branches
from coordinator.analysis.poses import put_down
from modular import Assembly, ModelError
from modular.assembly import Beginning

CLOSED = 1e-14  # of the extent


def four_bar(crank, coupler, rocker, ground, angle=0.5):
    """Its crank stands, the other bars are written anywhere."""
    model = Assembly(gravity=(0.0, -9.81))
    pin = crank * np.array([np.cos(angle), np.sin(angle)])
    model.add("crank", Rod((0.0, 0.0), tuple(pin), 1.0))
    model.add("coupler", Rod(tuple(pin), (pin[0] + coupler, pin[1]), 1.0))
    model.add("rocker", Rod((ground, 0.0), (ground, rocker), 1.0))
    model.join("pivot", Revolute(), "ground", "crank.start")
    model.join("pin", Revolute(), "crank.end", "coupler.start")
    model.join("top", Revolute(), "coupler.end", "rocker.end")
    model.join("foot", Revolute(), "ground", "rocker.start")
    return model


def circles(pin, foot, coupler, rocker):
    """Where the top of a four-bar may be, both places; none where the bars do not reach."""
    way = foot - pin
    far = np.linalg.norm(way)
    along = (coupler**2 - rocker**2 + far**2) / (2.0 * far)
    square = coupler**2 - along**2
    if square < 0.0:
        return []
    across = np.array([-way[1], way[0]]) / far
    return [pin + along * way / far + side * np.sqrt(square) * across for side in (1.0, -1.0)]


def misplaced(model, share=0.1, seed=1):
    """All bodies moved by a share of the extent and turned by as many rad, anyhow; and the extent."""
    draw = np.random.default_rng(seed)
    rough = model.copy()
    with put_down(model) as poses:
        ways = draw.normal(size=(len(poses.names), poses.dimension))
        turns = draw.normal(size=(len(poses.names), poses.turns))
        for each in (ways, turns):
            each *= share / np.maximum(np.linalg.norm(each, axis=1, keepdims=True), 1e-300)
        poses.advance(np.concatenate([poses.extent * ways, poses.sizes[:, None] * turns], axis=1).ravel())
        rough.begin |= {name: Beginning(*poses.state(name)) for name in poses.names}
        return rough, poses.extent


@pytest.mark.parametrize(
    "name", [*mechanisms.COMMON, *more([n for n in scenarios.names() if n not in mechanisms.COMMON])]
)
def test_ready_systems_close_again_from_a_tenth_of_their_extent(name):
    rough, extent = misplaced(scenarios.load(name))
    closed = assemble(rough)
    assert len(closed.residuals) <= 21 and closed.residuals[-1] <= CLOSED * extent, closed.residuals
    with Simulation(closed, 1e-5) as simulation:
        assert simulation.tick == 0
    again = assemble(closed)
    assert len(again.residuals) == 1 and not again.moved


@pytest.mark.parametrize("seed", range(some(200)))
def test_a_four_bar_of_any_lengths_closes_in_both_ways_or_lacks_what_its_bars_do_not_reach(seed):
    draw = np.random.default_rng(seed)
    lengths, angle = draw.uniform(0.1, 1.0, 4), draw.uniform(-3.0, 3.0)
    model = four_bar(*lengths, angle=angle)
    pin, foot = lengths[0] * np.array([np.cos(angle), np.sin(angle)]), np.array([lengths[3], 0.0])
    tops = circles(pin, foot, lengths[1], lengths[2])
    if not tops:
        far = np.linalg.norm(foot - pin)
        lacks = max(far - lengths[1] - lengths[2], abs(lengths[1] - lengths[2]) - far)
        with pytest.raises(ModelError, match=r"loop (ground–)?(rocker|coupler).*lacks") as error:
            assemble(model, hold=["crank"])
        told = float(str(error.value).partition("lacks ")[2].partition(" m")[0])
        assert told == pytest.approx(lacks, rel=0.01, abs=1e-6)
        return
    found = branches(model, hold=["crank"])
    assert len(found) == 2
    for one in found:
        top = one.after["rocker.end"]
        assert min(np.abs(top - place).max() for place in tops) < 1e-12
        assert np.abs(one.after["coupler.end"] - top).max() < 1e-13
        assert np.abs(one.after["crank.end"] - pin).max() < 1e-15


def test_as_little_is_moved_as_that_takes():
    """The sum over bodies of the square of the way of its middle and of its size times its turn, against a general optimiser."""
    model = four_bar(0.1, 0.4, 0.3, 0.35)
    closed = assemble(model)

    def weight(moved):
        with put_down(model) as poses:
            sizes = dict(zip(poses.names, poses.sizes, strict=True))
        return sum(one.way**2 + (sizes[name] * one.turn) ** 2 for name, one in moved.items())

    with put_down(model) as poses:

        def gaps(step):
            poses.go(poses.start)
            poses.advance(step)
            return poses.constraints()[0]

        least = optimize.minimize(
            lambda step: step @ step, np.full(9, 1e-3), constraints={"type": "eq", "fun": gaps}, method="SLSQP",
            options={"ftol": 1e-14, "maxiter": 500},
        )  # fmt: skip
    assert least.success and weight(closed.moved) <= 1.001 * least.fun


def test_what_is_held_stays_to_the_bit():
    model = four_bar(0.1, 0.4, 0.3, 0.35)
    assert assemble(model, hold=["crank"]).moved.keys() == {"coupler", "rocker"}
    closed = assemble(model, hold=["rocker.end", "rocker"])
    assert closed.moved.keys() == {"crank", "coupler"}
    at = assemble(model, hold=["rocker.end"])
    assert np.abs(at.after["rocker.end"] - at.before["rocker.end"]).max() < 1e-14 and "crank" in at.moved


def test_driven_joints_begin_as_they_are_written_and_follow_their_courses_from_there():
    model = four_bar(0.1, 0.4, 0.3, 0.35)
    model.join("motor", DrivenRotation(Sine(0.3, 1.0, np.pi / 2)), "ground", "crank.start")
    closed = assemble(model)
    heading = closed.after["crank.end"] - closed.after["crank.start"]
    assert np.arctan2(heading[1], heading[0]) == pytest.approx(0.5, abs=1e-12)
    with Simulation(closed, 1e-4, Glued()) as simulation:
        run = simulation.run(1.0)
    heading = run.position("crank.end") - run.position("crank.start")
    turned = np.arctan2(heading[:, 1], heading[:, 0])
    assert np.abs(turned - 0.2 - 0.3 * np.cos(2 * np.pi * run.time)).max() < 1e-9


@pytest.mark.parametrize(
    "joint", [Distance(0.5), Prismatic(axis=(1.0, 0.0)), Fixed()], ids=lambda joint: type(joint).__name__
)
def test_joints_of_all_kinds_are_closed(joint):
    model = Assembly(gravity=(0.0, -9.81))
    for name, x in (("one", 0.0), ("two", 1.3)):
        ports = {"a": (x, 0.1 * x), "b": (x + 1.0, 0.2)}
        model.add(name, RigidBody(mass=1.0, inertia=0.1, centre=(x + 0.5, 0.1), ports=ports))
    model.join("hinge", Revolute(), "ground", "one.a")
    model.join("link", joint, "one.b", "two.a")
    closed = assemble(model)
    with Simulation(closed, 1e-3) as simulation:
        assert np.abs(simulation.recorded.violation("link")).max() < 1e-13


@pytest.mark.parametrize("seed", range(some(60)))
def test_loops_in_space_close(seed):
    """Bodies of any shape round a loop, joined by balls and hinges as they stand, then misplaced."""
    draw = np.random.default_rng(seed)
    count = int(draw.integers(3, 8))
    corners = np.array([(np.cos(t), np.sin(t), 0.2 * draw.normal()) for t in 2 * np.pi * np.arange(count) / count])
    model = Assembly()
    for k in range(count - 1):
        ends = {"a": tuple(corners[k]), "b": tuple(corners[k + 1])}
        centre = tuple(0.5 * (corners[k] + corners[k + 1]))
        model.add(f"b{k}", RigidBody(mass=1.0, inertia=(0.1, 0.12, 0.15), centre=centre, ports=ends))
    sides = ["ground", *(f"b{k}" for k in range(count - 1)), "ground"]
    for k in range(count):
        kind = Spherical() if draw.uniform() < 0.7 else Revolute(axis=tuple(draw.normal(size=3)))
        one, other = (
            f"{side}.{port}" if side != "ground" else side for side, port in zip(sides[k : k + 2], "ba", strict=True)
        )
        model.join(f"j{k}", kind, one, other)
    rough, extent = misplaced(model, 0.1, seed)
    closed = assemble(rough)
    assert len(closed.residuals) <= 21 and closed.residuals[-1] <= CLOSED * extent, closed.residuals


def test_what_flexes_keeps_its_shape_and_what_is_round_it_goes():
    model = Assembly(gravity=(0.0, -9.81))
    beam = Beam.of_rectangle((0.0, 0.02), (1.0, 0.0), width=0.03, height=0.02, density=1000.0, young=2e9, elements=6)
    model.add("beam", beam)
    model.add("bar", Rod((1.1, 0.1), (1.5, -0.5), 1.0))
    model.join("pivot", Revolute(), "ground", "beam.start")
    model.join("tip", Revolute(), "beam.end", "bar.start")
    model.join("foot", Revolute(), "ground", "bar.end", at=(1.5, -0.5))
    closed = assemble(model)
    q = closed.begin["beam"].q
    steps = np.linalg.norm(np.diff(q[:, :2], axis=0), axis=1)
    assert np.ptp(steps) < 1e-14 and np.ptp(q[:, 2]) == 0.0
    with Simulation(closed, 1e-4) as simulation:
        simulation.run(0.01)


def test_velocities_turn_with_bodies_and_agree_with_joints():
    model = four_bar(0.1, 0.4, 0.3, 0.35)
    model.bodies["crank"] = Rod((0.0, 0.0), model.bodies["crank"].end, 1.0, angular_velocity=3.0)
    model.bodies["crank"] = Rod(
        (0.0, 0.0), model.bodies["crank"].end, 1.0, angular_velocity=3.0,
        velocity=tuple(1.5 * np.array([-model.bodies["crank"].end[1], model.bodies["crank"].end[0]])),
    )  # fmt: skip
    closed = assemble(model)
    assert closed.begin.keys() == {"crank", "coupler", "rocker"}
    with Simulation(closed, 1e-4, Glued()) as simulation:  # refused where they do not
        run = simulation.run(1e-3)
    assert run.angular_velocity("crank")[0] > 0.1 and run.kinetic_energy()[0] > 1e-4


UPRIGHT = (0.0, 0.0, 1.0)


@pytest.mark.parametrize(
    "joint",
    [Fixed(), Revolute(axis=UPRIGHT), Cylindrical(axis=UPRIGHT), Planar(normal=UPRIGHT), Prismatic(axis=UPRIGHT)],
    ids=lambda joint: type(joint).__name__,
)
@pytest.mark.parametrize("seed", range(some(20)))
def test_nothing_is_closed_the_wrong_way_round(joint, seed):
    """Two directions that are to be parallel are as content against each other: begun far off, most joints closed so."""
    draw = np.random.default_rng(seed)
    model = Assembly(gravity=(0.0, 0.0, 0.0))
    ports = {"s": (0.0, 0.0, 0.0), "x": (1.0, 0.0, 0.0), "z": (0.0, 0.0, 1.0)}
    model.add("body", RigidBody(mass=1.0, inertia=(0.1, 0.12, 0.15), centre=(0.5, 0.1, 0.0), ports=ports))
    model.join("joint", joint, "ground", "body.s")
    with Simulation(model, 1e-3) as simulation:
        q, v = (array[0] for array in simulation.recorded.state("body")[:2])
    axis = draw.normal(size=3)
    turn = Rotation.from_rotvec(draw.uniform(1.7, 3.1) * axis / np.linalg.norm(axis)).as_matrix()
    model.begin["body"] = Beginning(*model.bodies["body"].turned(q, v, turn))
    after = assemble(model).after
    assert (after["body.z"] - after["body.s"])[2] > 0.999
    if isinstance(joint, Fixed | Prismatic):
        assert (after["body.x"] - after["body.s"])[0] > 0.999


@pytest.mark.campaign
def test_a_body_turned_round_is_no_branch():
    model = Assembly(gravity=(0.0, -9.81))
    model.add("crank", Rod((0.0, 0.0), (0.1, 0.1), 1.0))
    model.add("rod", Rod((0.1, 0.1), (0.6, 0.1), 1.0))
    ports = {"pin": (0.55, 0.0), "nose": (0.7, 0.0)}
    model.add("piston", RigidBody(mass=1.0, inertia=0.1, centre=(0.55, 0.0), ports=ports))
    model.join("pivot", Revolute(), "ground", "crank.start")
    model.join("crankpin", Revolute(), "crank.end", "rod.start")
    model.join("wrist", Revolute(), "rod.end", "piston.pin")
    model.join("slide", Prismatic(axis=(1.0, 0.0)), "ground", "piston.pin")
    found = branches(model, hold=["crank"])
    assert len(found) == 2
    assert all(one.after["piston.nose"][0] > one.after["piston.pin"][0] for one in found)
    assert [len(branches(mechanisms.four_bar(d), hold=["crank"])) for d in (2, 3)] == [2, 2]


# --- where bodies begin ---------------------------------------------------------------------------------------------------------


def test_a_model_begins_where_it_is_told_and_is_kept_so(tmp_path):
    model = scenarios.load("double-pendulum")
    with Simulation(model, 1e-3, Glued()) as simulation:
        whole = simulation.run(as_far_as(1.0, 0.2))
    half = len(whole) // 2
    later = model.copy()
    later.begin = {body: Beginning(*(array[half] for array in whole.state(body)[:2])) for body in whole.bodies}
    later.save(tmp_path / "later.json")
    kept = Assembly.load(tmp_path / "later.json")
    assert json.dumps(kept.to_data()) == json.dumps(later.to_data()) and "begin" not in model.to_data()
    with Simulation(kept, 1e-3, Glued()) as simulation:
        rest = simulation.run(whole.time[-1] - whole.time[half])
    assert np.abs(rest.position("lower.end") - whole.position("lower.end")[half:]).max() < 1e-9


@pytest.mark.parametrize(
    ("name", "state", "message"),
    [
        ("upper", Beginning(np.array([[1.0, 1.0], [2.0, 1.0]]), np.zeros((2, 2))), "joint 'pivot' is open by 1 where its"),
        ("upper", Beginning(np.ones((2, 2)), np.zeros((2, 2))), "would begin in another shape than it is described"),
        ("upper", Beginning(np.ones(3), np.zeros(3)), r"begin: body 'upper' has coordinates of shape \(2, 2\)"),
        ("upper", Beginning(np.full((2, 2), np.nan), np.zeros((2, 2))), "give finite numbers"),
    ],
)  # fmt: skip
def test_beginnings_that_do_not_fit_are_refused(name, state, message):
    model = scenarios.load("double-pendulum")
    model.begin[name] = state
    with pytest.raises(ModelError, match=message):
        Simulation(model, 1e-3)


def test_who_writes_roughly_is_told_what_helps():
    with pytest.raises(ModelError, match=r"joint 'top': ports .* 0.2\d+ m apart .* let the model be assembled"):
        Simulation(four_bar(0.1, 0.4, 0.3, 0.35), 1e-3)
    for hold, message in (
        (["krank"], "there is no body 'krank'; did you mean 'crank'"),
        (["crank.tip"], "body 'crank' has no port 'tip'"),
    ):
        with pytest.raises(ModelError, match=message):
            assemble(four_bar(0.1, 0.4, 0.3, 0.35), hold=hold)
    with pytest.raises(ModelError, match="can still move in 1 way as it is held"):
        branches(four_bar(0.1, 0.4, 0.3, 0.35))
    with pytest.raises(ModelError, match=r"loop .* lacks 0\.15 m"):
        assemble(four_bar(0.1, 0.2, 0.3, 0.75))
    model = four_bar(0.1, 0.4, 0.3, 0.35)
    model.join("motor", DrivenRotation(Ramp(2.0)), "ground", "crank.start")
    assert len(branches(model)) == 2


def test_a_loop_that_is_too_short_is_told_quickly_and_by_how_much():
    """Twelve bars on balls, of 0.1 m each, between walls that are 1.4 m apart: in seconds, where it took five."""
    model = Assembly(gravity=(0.0, 0.0, -9.81))
    for k in range(12):
        ends = {"s": (0.1 * k, 0.0, 0.0), "e": (0.1 * (k + 1), 0.0, 0.0)}
        model.add(
            f"b{k}", RigidBody(mass=1.0, inertia=(0.01, 0.012, 0.011), centre=(0.1 * k + 0.05, 0.001, 0.0), ports=ends)
        )
        first = "ground" if k == 0 else f"b{k - 1}.e"
        model.join(f"j{k}", Spherical(), first, f"b{k}.s", at=(0.0, 0.0, 0.0) if k == 0 else None)
    model.add(
        "wall", RigidBody(mass=1.0, inertia=(0.01, 0.012, 0.011), centre=(1.4, 0.0, 0.0), ports={"p": (1.4, 0.0, 0.0)})
    )
    model.join("hold", Fixed(), "ground", "wall.p")
    model.join("last", Spherical(), "b11.e", "wall.p")
    with within(3.0), pytest.raises(ModelError, match=r"lacks 0\.2 m"):
        assemble(model)


@pytest.mark.parametrize("bars", [3, 40, 120])
def test_a_polygon_whose_longest_side_is_too_long_is_told_at_once(bars):
    """However many bars there are, and wherever the longest is: among the ground, hooked to a second loop, and not held at all."""
    draw = np.random.default_rng(bars)
    lengths = draw.uniform(0.05, 0.1, bars)
    lengths[bars // 2] = lengths.sum() - lengths[bars // 2] + 0.25
    corners = np.cumsum(np.concatenate([np.zeros((1, 2)), draw.normal(size=(bars, 2))]), axis=0)
    model = Assembly(gravity=(0.0, -9.81))
    for k, length in enumerate(lengths):
        way = corners[k + 1] - corners[k]
        model.add(f"b{k}", Rod(tuple(corners[k]), tuple(corners[k] + length / np.linalg.norm(way) * way), mass=1.0))
    model.add("beside", Rod(tuple(corners[1]), tuple(corners[1] + (0.3, 0.0)), mass=1.0))
    model.join("hook", Revolute(), "b1.start", "beside.start")
    for k in range(bars):
        model.join(f"j{k}", Revolute(), f"b{k}.end", f"b{(k + 1) % bars}.start")
    with within(0.5 + 0.01 * bars), pytest.raises(ModelError, match=r"loop b\d+–.* lacks 0\.25 m") as error:
        assemble(model)
    assert str(error.value).count("–") == bars - 1 and "beside" not in str(error.value)
