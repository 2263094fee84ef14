"""Motions that drives or paths prescribe: against closed forms, against runs, there and back; and where ports can be led."""

import numpy as np
import pytest

import scenarios
from campaign import more, some
from components import Beam, Cylindrical, DrivenRotation, Prismatic, Ramp, Revolute, RigidBody, Rod, Sine, Spherical
from coordinator import Glued, Run, Simulation, rerun
from coordinator.analysis import inverse_dynamics, inverse_kinematics, kinematics, workspace
from modular import Assembly, Cut, ModelError
from modular.assembly import Beginning
from modular.errors import RunWarning

TIMES = np.linspace(0.0, 1.0, 21)
MANY = np.linspace(0.0, 1.0, 101)


def arm(lengths=(0.5, 0.4), dimension=2):
    """Two bars on two hinges, the second at right angles."""
    model = Assembly(gravity=(0.0, -9.81, 0.0)[:dimension])
    corners = [(0.0, 0.0), (lengths[0], 0.0), (lengths[0], lengths[1])]
    for name, start, end in zip(("upper", "fore"), corners, corners[1:], strict=False):
        if dimension == 2:
            model.add(name, Rod(start, end, 1.0))
        else:
            ends = {"start": (*start, 0.0), "end": (*end, 0.0)}
            centre = tuple(np.mean(list(ends.values()), axis=0))
            model.add(name, RigidBody(mass=1.0, inertia=(0.1, 0.12, 0.15), centre=centre, ports=ends))
    hinge = Revolute() if dimension == 2 else Revolute(axis=(0.0, 0.0, 1.0))
    model.join("shoulder", hinge, "ground", "upper.start")
    model.join("elbow", hinge, "upper.end", "fore.start")
    return model


def circle(centre, radius, dimension=2, times=TIMES):
    turn = 2.0 * np.pi * times
    path = np.zeros((len(times), dimension))
    path[:, 0], path[:, 1] = centre[0] + radius * np.cos(turn), centre[1] + radius * np.sin(turn)
    return path


def test_a_slider_crank_goes_as_its_formula():
    r, length, pace = 0.2, 0.7, 5.0
    model = Assembly(gravity=(0.0, -9.81))
    model.add("crank", Rod((0.0, 0.0), (r, 0.0), 1.0))
    model.add("rod", Rod((r, 0.0), (r + length, 0.0), 1.0))
    model.add("piston", RigidBody(mass=1.0, inertia=0.1, centre=(r + length, 0.0), ports={"pin": (r + length, 0.0)}))
    model.join("pivot", Revolute(), "ground", "crank.start")
    model.join("crankpin", Revolute(), "crank.end", "rod.start")
    model.join("wrist", Revolute(), "rod.end", "piston.pin")
    model.join("slide", Prismatic(axis=(1.0, 0.0)), "ground", "piston.pin")
    run = kinematics(model, {"pivot": Ramp(pace)}, TIMES)
    angle = pace * TIMES
    s, c = np.sin(angle), np.cos(angle)
    root = np.sqrt(length**2 - r**2 * s**2)
    place = r * c + root
    speed = pace * (-r * s - r**2 * s * c / root)
    acceleration = pace**2 * (-r * c - r**2 * (c**2 - s**2) / root - (r**2 * s * c) ** 2 / root**3)
    assert np.abs(run.position("piston.pin")[:, 0] - place).max() < 1e-13
    assert np.abs(run.velocity("piston.pin")[:, 0] - speed).max() < 1e-12
    assert np.abs(run.acceleration("piston.pin")[:, 0] - acceleration).max() < 1e-10
    assert (
        np.abs(run.angle("pivot") - angle).max() < 1e-12 and np.abs(run.way("slide") - place + place[0]).max() < 1e-13
    )


def test_a_driven_mechanism_that_runs_goes_the_same_way():
    model = scenarios.load("four-bar", speed=2.0 * np.pi)
    run = kinematics(model, {}, TIMES)
    with Simulation(model, 1e-3, Glued(4)) as simulation:
        other = simulation.run(1.0)
    for told in (Run.position, Run.velocity, Run.acceleration):
        mine, its = told(run, "coupler.end"), told(other, "coupler.end")[::50]
        assert np.abs(mine - its).max() < 1e-9 * np.abs(its).max()


@pytest.mark.short(1)
@pytest.mark.parametrize("dimension", [2, 3])
def test_there_and_back(dimension):
    """Angles with which a port is led along a path lead it along that path."""
    model, path = arm(dimension=dimension), circle((0.5, 0.2), 0.1, dimension)
    led = inverse_kinematics(model, {"fore.end": path}, TIMES)
    assert np.abs(led.position("fore.end") - path).max() < 1e-13
    shoulder, elbow = led.angle("shoulder"), led.angle("elbow")
    reach = np.hypot(*path.T[:2])
    # law of cosines, the elbow on the side where it stands
    inner = np.arccos((0.5**2 + 0.4**2 - reach**2) / (2.0 * 0.5 * 0.4))
    assert np.abs(np.diff(np.pi - inner) - np.diff(elbow)).max() < 1e-12
    joints = {"shoulder": shoulder - shoulder[0], "elbow": elbow - elbow[0]}
    begun = model.copy()
    begun.begin = {body: Beginning(*(array[0] for array in led.state(body)[:2])) for body in led.bodies}
    back = kinematics(begun, joints, TIMES)
    assert np.abs(back.position("fore.end") - path).max() < 1e-9
    efforts = inverse_dynamics(begun, joints, TIMES)
    assert np.abs(efforts.positions["fore.end"] - path).max() < 1e-9


@pytest.mark.campaign
def test_drives_of_a_path_are_those_of_inverse_dynamics():
    """The torques that lead an arm along a path drive a run along it."""
    model = arm()
    times = np.linspace(0.0, 1.0, 401)
    bend = 0.4 * np.sin(np.pi * times) ** 2
    run = kinematics(model, {"shoulder": bend, "elbow": -bend}, times)
    again = inverse_kinematics(model, {"fore.end": run.position("fore.end")}, times)
    assert np.abs(again.angle("shoulder") - bend).max() < 1e-9
    efforts = inverse_dynamics(model, {"shoulder": bend, "elbow": -bend}, times)
    assert np.abs(efforts.positions["fore.end"] - run.position("fore.end")).max() < 1e-12


@pytest.mark.campaign
def test_what_is_left_free_moves_as_little_as_it_can():
    """Three bars for two coordinates: the motion that is found has no share in what the path leaves free."""
    model = arm()
    model.add("hand", Rod((0.5, 0.4), (0.8, 0.4), 0.3))
    model.join("wrist", Revolute(), "fore.end", "hand.start")
    path = circle((0.7, 0.4), 0.1)
    run = inverse_kinematics(model, {"hand.end": path}, TIMES)
    assert np.abs(run.position("hand.end") - path).max() < 1e-12
    energy = run.kinetic_energy()
    model.remove("hand")
    # the hand held level: one of its motions
    held = inverse_kinematics(model, {"fore.end": circle((0.4, 0.4), 0.1)}, TIMES)
    assert np.trapezoid(energy, TIMES) < np.trapezoid(held.kinetic_energy(), TIMES) + 0.5 * 0.3 * (0.2 * np.pi) ** 2


def test_a_workspace_is_that_of_its_formula_and_singular_where_bars_are_in_line():
    a, b = np.linspace(-1.0, 1.0, 3), np.linspace(-np.pi / 2, 1.5, 8)
    found = workspace(arm(), "fore.end", {"shoulder": a, "elbow": b})
    both = a[:, None] + b[None, :] + np.pi / 2
    x = 0.5 * np.cos(a)[:, None] + 0.4 * np.cos(both)
    y = 0.5 * np.sin(a)[:, None] + 0.4 * np.sin(both)
    assert found.reached.all() and np.abs(found.places - np.stack([x, y], -1)).max() < 1e-11
    # stretched out at its first value
    assert np.abs(found.slowest[:, 0]).max() < 1e-9 and found.slowest[:, 4].min() > 0.1
    slopes = np.array([[-y[2, 5], -0.4 * np.sin(both[2, 5])], [x[2, 5], 0.4 * np.cos(both[2, 5])]])
    assert found.slowest[2, 5] == pytest.approx(np.linalg.svd(slopes, compute_uv=False)[-1], rel=1e-9)


@pytest.mark.campaign
def test_where_a_loop_cannot_be_closed_the_workspace_has_a_hole():
    """A double rocker turns its crank by so much and no more."""
    model = scenarios.load("four-bar", crank=0.3, coupler=0.2, rocker=0.25, ground=0.4, angle=0.6)
    turns = np.linspace(-2.0, 2.0, 41)
    found = workspace(model, "rocker.end", {"pivot": turns})
    pin = 0.3 * np.stack([np.cos(0.6 + turns), np.sin(0.6 + turns)], 1)
    far = np.linalg.norm(pin - (0.4, 0.0), axis=1)
    closes = (far < 0.45) & (far > 0.05)
    inside = np.abs(np.gradient(closes.astype(float))) == 0.0  # but for those beside the edge
    assert 0 < found.reached.sum() < len(turns) and (found.reached == closes)[inside].all()


@pytest.mark.campaign
@pytest.mark.parametrize("seed", range(some(20)))
def test_robots_by_lot_follow_paths_that_they_can_reach(seed):
    """Chains in space with hinges and slides; the path is that of a motion of theirs."""
    draw = np.random.default_rng(seed)
    model, place = Assembly(), np.zeros(3)
    before = "ground"
    motions = {}
    for k in range(int(draw.integers(3, 6))):
        there = place + draw.normal(size=3)
        ends = {"a": tuple(place), "b": tuple(there)}
        model.add(
            f"b{k}", RigidBody(mass=1.0, inertia=(0.1, 0.12, 0.15), centre=tuple(0.5 * (place + there)), ports=ends)
        )
        kind = Revolute if draw.uniform() < 0.7 else Prismatic
        model.join(f"j{k}", kind(axis=tuple(draw.normal(size=3))), before, f"b{k}.a")
        motions[f"j{k}"] = Sine(draw.uniform(0.1, 0.4), 0.5)
        place, before = there, f"b{k}.b"
    run = kinematics(model, motions, MANY)
    led = inverse_kinematics(model, {before: run.position(before)}, MANY)
    assert np.abs(led.position(before) - run.position(before)).max() < 1e-10


def test_a_prescribed_motion_is_a_run_that_is_saved_and_is_not_repeated(tmp_path):
    run = kinematics(arm(), {"shoulder": Ramp(1.0), "elbow": Ramp(-2.0)}, TIMES)
    assert not run.estimate and not any(event["kind"] == "verdict" for event in run.events)
    run.save(tmp_path / "kin")
    again = Run.load(tmp_path / "kin")
    assert (again.position("fore.end") == run.position("fore.end")).all() and again.angle("elbow")[-1] == pytest.approx(
        -2.0
    )
    with pytest.raises(ModelError, match="nothing was integrated"):
        rerun(again)


@pytest.mark.campaign
@pytest.mark.parametrize("span", [0.1, *more([1.0, 10.0])])
def test_a_path_is_followed_as_fast_from_its_beginning_to_its_end(span):
    """However fast it is, and wherever it lies: how a port comes to its beginning does not show in it."""
    times = np.linspace(0.0, span, len(MANY))
    for centre in ((0.5, 0.2), (-0.5, -0.2)):
        run = inverse_kinematics(arm(), {"fore.end": circle(centre, 0.1, times=MANY)}, times)
        pace = 2.0 * np.pi / span
        assert np.linalg.norm(run.velocity("fore.end"), axis=1) == pytest.approx(0.1 * pace, rel=1e-5)
        assert np.linalg.norm(run.acceleration("fore.end"), axis=1) == pytest.approx(0.1 * pace**2, rel=5e-3)


@pytest.mark.campaign
def test_what_moves_least_has_the_accelerations_of_its_velocities():
    model = arm()
    model.add("hand", Rod((0.5, 0.4), (0.8, 0.4), 0.3))
    model.join("wrist", Revolute(), "fore.end", "hand.start")
    off = []
    for count in (101, 401):
        times = np.linspace(0.0, 1.0, count)
        turn = 2.0 * np.pi * times
        path = np.stack([0.7 + 0.1 * np.cos(turn), 0.4 + 0.1 * np.sin(turn)], 1)
        run, h = inverse_kinematics(model, {"hand.end": path}, times), times[1]
        place, pace, bend = (told(run, "fore.end") for told in (Run.position, Run.velocity, Run.acceleration))
        off.append(max(np.abs((pace[2:] - pace[:-2]) / (2 * h) - bend[1:-1]).max() / 5.0,
                       np.abs((place[2:] - place[:-2]) / (2 * h) - pace[1:-1]).max()))  # fmt: skip
    assert off[0] < 1e-2 and off[0] / off[1] > 8.0


@pytest.mark.campaign
def test_drives_stand_while_a_port_is_led_elsewhere():
    model = arm()
    model.join("motor", DrivenRotation(Ramp(0.5)), "ground", "upper.start")
    found = workspace(model, "fore.end", {"elbow": [0.0, 0.2]})
    assert np.abs(found.places[0] - (0.5, 0.4)).max() < 1e-12
    model.add("hand", Rod((0.5, 0.4), (0.8, 0.4), 0.3))
    model.join("wrist", Revolute(), "fore.end", "hand.start")
    path = np.stack([0.75 - 0.05 * TIMES, 0.4 + 0.0 * TIMES], 1)
    run = inverse_kinematics(model, {"hand.end": path}, TIMES)
    assert np.abs(run.position("upper.end")[0] - (0.5, 0.0)).max() < 1e-12
    with pytest.raises(ModelError, match="'shoulder' is led by 'motor' already"):
        workspace(model, "fore.end", {"shoulder": [0.0, 0.1]})


@pytest.mark.short(1)
@pytest.mark.parametrize("count", [11, 41, 161])
def test_a_workspace_stays_on_one_branch(count):
    turns = np.linspace(-3.0, 3.0, count)
    model = scenarios.load("four-bar", crank=0.3, coupler=0.2, rocker=0.25, ground=0.4, angle=0.6)
    found = workspace(model, "coupler.end", {"pivot": turns})
    pin = 0.3 * np.stack([np.cos(0.6 + turns), np.sin(0.6 + turns)], 1)
    bar, base = found.places - pin, np.array([0.4, 0.0]) - pin
    sides = np.sign(bar[:, 0] * base[:, 1] - bar[:, 1] * base[:, 0])[found.reached]
    assert len(set(sides.tolist())) == 1 and len(sides) > 3


def test_of_forces_nothing_is_told():
    run = kinematics(scenarios.load("four-bar", speed=2.0), {}, TIMES)
    assert np.isnan(run.reaction("pivot")).all() and np.isnan(run.effort("motor")).all()
    assert np.isfinite(run.energy).all()


def test_where_a_motion_is_not_determined_it_is_refused():
    model = Assembly(gravity=(0.0, -9.81))
    for name, ends in (
        ("crank", ((0, 0), (0, 0.3))),
        ("coupler", ((0, 0.3), (1, 0.3))),
        ("rocker", ((1, 0), (1, 0.3))),
    ):
        model.add(name, Rod(*ends, 1.0))
    for name, first, second in (("pivot", "ground", "crank.start"), ("pin", "crank.end", "coupler.start"),
                                ("top", "coupler.end", "rocker.end"), ("foot", "ground", "rocker.start")):  # fmt: skip
        model.join(name, Revolute(), first, second)
    with pytest.raises(ModelError, match=r"at 0\.25 s the mechanism stands where branches meet"):
        kinematics(model, {"pivot": Ramp(2.0 * np.pi)}, TIMES)
    with pytest.warns(
        RunWarning, match=r"at 0\.25 s it goes through a singular configuration: 'coupler', 'rocker'"
    ) as told:
        run = kinematics(model, {"pivot": Ramp(2.0 * np.pi)}, np.linspace(0.0, 1.0, 184))  # that pass it by
    assert len(told) == 1 and [round(event["time"], 6) for event in run.events[-2:]] == [0.25, 0.75]
    assert np.abs(run.position("coupler.end") - run.position("coupler.start") - (1.0, 0.0)).max() < 1e-12
    with pytest.raises(ModelError, match=r"body 'upper' turns by 10 rad from one time to the next"):
        kinematics(arm(), {"shoulder": Ramp(10.0), "elbow": Ramp(0.0)}, [0.0, 1.0, 2.0])
    bends = Assembly(gravity=(0.0, -9.81))
    bends.add(
        "beam", Beam.of_rectangle((0.0, 0.0), (1.0, 0.0), width=0.03, height=0.02, density=1e3, young=2e9, elements=4)
    )
    bends.join("pivot", Revolute(), "ground", "beam.start")
    with pytest.raises(ModelError, match="beam are flexible"):
        inverse_kinematics(bends, {"beam.end": np.stack([1.0 + TIMES, TIMES], 1)}, TIMES)
    later = arm()
    later.at(0.5, Cut("elbow"))
    with pytest.raises(ModelError, match="the model has events"):
        kinematics(later, {"shoulder": Ramp(1.0), "elbow": Ramp(1.0)}, TIMES)


def test_what_cannot_be_led_is_told():
    with pytest.raises(ModelError, match="kinematics: nothing leads these motions: 'fore' turns"):
        kinematics(arm(), {"shoulder": Ramp(1.0)}, TIMES)
    with pytest.raises(ModelError, match=r"inverse_kinematics: ports cannot be where their paths begin: .* lacks"):
        inverse_kinematics(arm(), {"fore.end": circle((2.0, 0.0), 0.1)}, TIMES)
    with pytest.raises(ModelError, match="has no port 'tip'"):
        inverse_kinematics(arm(), {"fore.tip": circle((0.5, 0.2), 0.1)}, TIMES)
    with pytest.raises(ModelError, match=r"the path of 'fore.end' has the shape \(5, 2\)"):
        inverse_kinematics(arm(), {"fore.end": np.zeros((5, 2))}, TIMES)
    for times in ((0.0, 0.1, 0.3), (1.0, 2.0), (0.0,)):
        with pytest.raises(ModelError, match="evenly spread from 0 on"):
            kinematics(arm(), {"shoulder": Ramp(1.0), "elbow": Ramp(1.0)}, times)
    with pytest.raises(ModelError, match="give ranges of at least one joint"):
        workspace(arm(), "fore.end", {})
    with pytest.raises(ModelError, match="the range of 'elbow'"):
        workspace(arm(), "fore.end", {"elbow": [np.nan]})
    model = arm(dimension=3)
    model.add(
        "ball", RigidBody(mass=1.0, inertia=(0.1, 0.1, 0.1), centre=(0.5, 0.4, 0.0), ports={"c": (0.5, 0.4, 0.0)})
    )
    model.join("free", Spherical(), "fore.end", "ball.c")
    with pytest.raises(ModelError, match="'ball' turns about"):
        kinematics(model, {"shoulder": Ramp(1.0), "elbow": Ramp(1.0)}, TIMES)
    model.remove("ball")
    model.cut("elbow")
    model.join("elbow", Cylindrical(axis=(0.0, 0.0, 1.0)), "upper.end", "fore.start")
    with pytest.raises(ModelError, match="motion of 'elbow': a motion is given for a hinge or a slider"):
        kinematics(model, {"shoulder": Ramp(1.0), "elbow": Ramp(1.0)}, TIMES)
