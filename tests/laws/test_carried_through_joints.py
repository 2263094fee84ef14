"""What hangs in joints is carried as what is free: contacts know through glued joints how all that hangs together answers them.

A contact that knew its own body alone was as soft as that: a hundredweight on a foot of ten grams went 1.3 m into the floor, and
each of four legs stopped a table as if it were the only one.
"""

import warnings

import numpy as np
import pytest

from campaign import more, named
from components import (
    Box,
    Capsule,
    Contact,
    Fixed,
    HalfSpace,
    KnifeEdge,
    Load,
    Moment,
    Prismatic,
    Revolute,
    RigidBody,
    Sphere,
    Spherical,
    SpringDamper,
    Surface,
    Table,
)  # fmt: skip
from coordinator import Glued, Penalty, Relaxed, Simulation, resume
from coordinator.record.sensors import exerted
from modular import Assembly

G, DT = 9.81, 1e-3


def put(model, name, at, mass, size, **ports):
    """A box."""
    squares = np.square(size)
    inertia = mass / 12.0 * (squares.sum() - squares) if len(at) == 3 else mass / 12.0 * squares.sum()
    spread = tuple(inertia.tolist()) if len(at) == 3 else float(inertia)
    model.add(name, RigidBody(mass=mass, inertia=spread, centre=tuple(at), ports={"G": tuple(at), **ports}))


def moved(model, until, coupling=None, **settings):
    """A run of which nobody warns."""
    with warnings.catch_warnings(), Simulation(model, DT, coupling or Glued(), **settings) as simulation:
        warnings.simplefilter("error")
        return simulation.run(until)


def table(legs, light, gap, restitution=None, joint=Fixed):
    """A plate on legs, each of which touches the floor."""
    model = Assembly(gravity=(0.0, 0.0, -G))
    feet = [(0.6 * np.cos(2 * np.pi * k / legs), 0.6 * np.sin(2 * np.pi * k / legs)) for k in range(legs)]
    tops = {f"p{k}": (*foot, 0.8 + gap) for k, foot in enumerate(feet)}
    put(model, "top", (0.0, 0.0, 0.85 + gap), 10.0, (1.5, 1.5, 0.1), **tops)
    for k, foot in enumerate(feet):
        put(model, f"leg{k}", (*foot, 0.4 + gap), light, (0.1, 0.1, 0.8), top=tops[f"p{k}"])
        model.join(f"weld{k}", joint(), f"leg{k}.top", f"top.p{k}")
        floor = Contact(HalfSpace(), Box((0.1, 0.1, 0.8)), 0.5, restitution)
        model.apply(f"floor{k}", floor, "ground", f"leg{k}.G")
    return model


def test_what_stands_on_a_light_foot_does_not_sink_in():
    """As deep as it was dropped, and pressed by all that stands on it; with the compliance of the foot alone it was 1.3 m."""
    model, gap, heavy, light = Assembly(gravity=(0.0, 0.0, -G)), 5e-4, 100.0, 0.01
    put(model, "foot", (0, 0, 0.05 + gap), light, (0.1, 0.1, 0.1), top=(0, 0, 0.1 + gap))
    put(model, "body", (0, 0, 0.6 + gap), heavy, (0.5, 0.5, 1.0), bottom=(0, 0, 0.1 + gap))
    model.join("weld", Fixed(), "foot.top", "body.bottom")
    model.apply("floor", Contact(HalfSpace(), Box((0.1, 0.1, 0.1)), 0.5), "ground", "foot.G")
    run = moved(model, 0.5)
    height = run.position("body.G")[:, 2]
    assert abs(height[-1] - 0.6) < 1e-8
    np.testing.assert_allclose(exerted(run, "floor")[-50:, 2], (heavy + light) * G, rtol=1e-6)


@pytest.mark.parametrize(
    ("legs", "light", "restitution"),
    [(4, 1.0, 0.5), (8, 0.01, 1.0), *more([(3, 3.0, 0.8), (4, 1.0, 1.0), (8, 0.01, 0.3)])],
)
def test_a_table_parts_with_its_restitution_however_many_legs_it_has(legs, light, restitution):
    """One that falls on four with e = 1 flew off with 219 J instead of 127 J."""
    gap = 0.05
    with Simulation(table(legs, light, gap, restitution), DT, Glued()) as simulation:
        run = simulation.run(0.15)
    speed = run.velocity("top.G")[:, 2]
    k = int(np.argmax(np.diff(speed) > 0.0))  # the blow
    assert speed[k + 3] == pytest.approx(-restitution * speed[k], rel=0.03)
    assert abs(run.velocity("top.G")[k + 3, :2]).max() < 1e-6
    energy = run.energy - (10.0 * 0.85 + legs * light * 0.4) * G
    assert energy[k + 3] == pytest.approx(restitution**2 * energy[0], rel=0.05)


@pytest.mark.parametrize("joint", [Fixed, lambda: Revolute((0, 1, 0))], ids=["welded", "hinged"])
def test_a_table_that_has_fallen_stands(joint):
    run = moved(table(4, 1.0, 0.05, joint=joint), 1.0, record_every=5)
    assert abs(run.position("top.G")[-1, 2] - 0.85) < 1e-9
    assert np.ptp(run.position("top.G")[-20:], axis=0).max() < 1e-6
    assert np.diff(run.energy).max() < 1e-4 * (run.energy[0] - run.energy[-1])
    pressed = [exerted(run, f"floor{k}")[-1, 2] for k in range(4)]
    assert sum(pressed) == pytest.approx(14.0 * G, rel=1e-4)


def test_a_knee_presses_by_its_angle():
    """P / (2 tan a) on a die of a hundred grams: while the force grows it goes in by twenty times what it does in a tick."""
    model, angle, length, push = Assembly(gravity=(0.0, 0.0)), np.radians(5.0), 0.5, 1000.0
    top, knee, low = (
        (0.0, 2 * length * np.cos(angle) + 0.1),
        (length * np.sin(angle), length * np.cos(angle) + 0.1),
        (0.0, 0.1),
    )
    for name, a, b in (("upper", top, knee), ("lower", knee, low)):
        middle = tuple(0.5 * (np.array(a) + b))
        model.add(name, RigidBody(mass=1.0, inertia=length**2 / 12, centre=middle, ports={"a": a, "b": b}))
    put(model, "die", (0.0, 0.05), 0.1, (0.1, 0.1), top=low)
    model.join("bearing", Revolute(), "ground", "upper.a", at=top)
    model.join("knee", Revolute(), "upper.b", "lower.a")
    model.join("foot", Revolute(), "lower.b", "die.top")
    model.join("guide", Prismatic((0, 1)), "ground", "die.G", at=(0, 0.05))
    model.apply("push", Load(Table((0.0, 0.1, 1.0), ((0.0, 0.0), (-push, 0.0), (-push, 0.0)))), "lower.a")
    model.apply("floor", Contact(HalfSpace(), Box((0.1, 0.1)), 0.3), "ground", "die.G")
    run = moved(model, 0.25)
    assert exerted(run, "floor")[-1, 1] == pytest.approx(push / (2.0 * np.tan(angle)), rel=1e-4)
    height = run.position("die.G")[:, 1]
    assert abs(height[-1] - 0.05) < 1e-6 and np.ptp(height) < 1e-4


def steps(friction):
    """A pair of steps: two ladders that lean on each other."""
    model, length, angle, r, mass = Assembly(gravity=(0.0, -G)), 2.0, np.radians(60.0), 0.02, 5.0
    top = np.array((0.0, length * np.sin(angle) + r))
    for name, side in (("left", -1.0), ("right", 1.0)):
        foot = np.array((side * length * np.cos(angle), r))
        ports = {"top": tuple(top), "foot": tuple(foot), "G": tuple(0.5 * (top + foot))}
        model.add(name, RigidBody(mass=mass, inertia=mass * length**2 / 12, centre=ports["G"], ports=ports))
        model.apply(f"floor-{name}", Contact(HalfSpace(), Sphere(r), friction), "ground", f"{name}.foot")
    model.join("hinge", Revolute(), "left.top", "right.top")
    return model, mass * G * 0.5 * length * np.cos(angle) / top[1]  # what the floor holds each foot with


@pytest.mark.parametrize("coupling", [Penalty(), Glued(), Relaxed()], ids=named)
def test_ladders_that_lean_on_each_other_stand_or_slide_by_friction(coupling):
    _, holds = steps(0.5)
    needed = holds / (5.0 * G)
    run = moved(steps(1.01 * needed)[0], 0.3, coupling)
    assert np.ptp(run.position("left.G"), axis=0).max() < 1e-9
    np.testing.assert_allclose(np.abs(exerted(run, "floor-left")[:, 0]), holds, rtol=1e-6)
    with Simulation(steps(0.98 * needed)[0], DT, coupling) as simulation:
        assert simulation.run(0.3).position("left.foot")[-1, 0] < -2.0 * np.cos(np.radians(60.0)) - 1e-3


def test_pliers_bite_with_their_moment():
    """Both jaws hang in one pin: what moves one moves the other too. M / l."""
    model, moment, arm = Assembly(gravity=(0.0, 0.0)), 3.0, 0.1
    for name, side in (("upper", 1.0), ("lower", -1.0)):
        ports = {"pin": (0, 0), "jaw": (arm, side * 0.0102), "G": (0.02, side * 0.02)}
        model.add(name, RigidBody(mass=0.3, inertia=1e-3, centre=ports["G"], ports=ports))
        model.apply(f"grip-{name}", Moment(-side * moment), f"{name}.pin")
    model.join("pin", Revolute(), "upper.pin", "lower.pin")
    model.join("base", Revolute(), "ground", "lower.pin")
    model.apply("bite", Contact(Sphere(0.01), Sphere(0.01), 0.3), "lower.jaw", "upper.jaw")
    run = moved(model, 0.2)
    closed = np.linalg.norm(run.position("upper.jaw") - run.position("lower.jaw"), axis=1)[-50:]
    assert np.abs(closed - 0.02).max() < 1e-9
    across = arm * np.cos(np.arcsin(0.01 / np.hypot(arm, 0.0102)))  # of the line between both middles from the pin
    np.testing.assert_allclose(np.hypot(*exerted(run, "bite")[-50:, :2].T), moment / across, rtol=1e-2)


def car(drop):
    """In the plane: a body on two wheels, with springs and dampers."""
    model, height, load = Assembly(gravity=(0.0, -G)), 0.6 + drop, 100.0 * G / 2
    put(model, "body", (0.0, height), 100.0, (1.5, 0.3), front=(0.8, height), rear=(-0.8, height))
    for name, x in (("front", 0.8), ("rear", -0.8)):
        put(model, f"hub-{name}", (x, 0.2 + drop), 2.0, (0.1, 0.1))
        put(model, f"wheel-{name}", (x, 0.2 + drop), 5.0, (0.3, 0.3))
        model.join(f"axle-{name}", Revolute(), f"hub-{name}.G", f"wheel-{name}.G")
        model.join(f"slide-{name}", Prismatic((0, 1)), f"body.{name}", f"hub-{name}.G")
        model.apply(
            f"spring-{name}", SpringDamper(4e3, 200.0, length=0.4 + load / 4e3), f"body.{name}", f"hub-{name}.G"
        )
        model.apply(f"road-{name}", Contact(HalfSpace(), Sphere(0.2), 0.8), "ground", f"wheel-{name}.G")
    return model


def test_a_car_stands_on_its_springs():
    """From its first instant, dampers or not (the first kick, tried again for these, took its own velocity for what others do)."""
    run = moved(car(0.0), 0.2)
    assert np.ptp(run.position("body.G"), axis=0).max() < 1e-9
    np.testing.assert_allclose(exerted(run, "road-rear")[:, 1], 57.0 * G, rtol=1e-8)


def test_a_car_that_is_dropped_does_not_sink_into_the_road():
    run = moved(car(0.05), 4.0, record_every=10)
    assert np.abs(run.position("wheel-front.G")[-100:, 1] - 0.2).max() < 1e-7
    assert abs(run.position("body.G")[-1, 1] - 0.6) < 1e-3


def dolls(seed, count=2, links=4):
    """Chains of capsules of any mass on ball joints and hinges that fall on a floor and on each other."""
    draw, model = np.random.default_rng(seed), Assembly(gravity=(0.0, 0.0, -G))
    for c in range(count):
        at, before = np.array([*draw.uniform(-0.1, 0.1, 2), 0.5 + 0.6 * c]), None
        along = draw.normal(size=3)
        for k in range(links):
            along = along / np.linalg.norm(along)
            length, mass, r, name = draw.uniform(0.15, 0.3), 10.0 ** draw.uniform(-0.7, 0.5), 0.03, f"link{c}-{k}"
            end, middle = at + length * along, at + 0.5 * length * along
            across = mass * (r**2 / 4 + length**2 / 12)
            inertia = across * np.eye(3) + (mass * r**2 / 2 - across) * np.outer(along, along)
            ports = {"G": tuple(middle), "start": tuple(at), "end": tuple(end)}
            model.add(name, RigidBody(mass=mass, inertia=tuple(map(tuple, inertia)), centre=tuple(middle), ports=ports))
            if before is not None:
                axis = np.cross(along, draw.normal(size=3))
                joint = Spherical() if k % 2 else Revolute(tuple(axis / np.linalg.norm(axis)))
                model.join(f"joint{c}-{k}", joint, before, f"{name}.start")
            model.apply(f"skin{c}-{k}", Surface(Capsule(r, length - 2 * r, axis=tuple(along)), 0.5), f"{name}.G")
            before, at, along = f"{name}.end", end, along + 0.7 * draw.normal(size=3)
    model.apply("floor", Surface(HalfSpace(), 0.5), "ground")
    return model


@pytest.mark.parametrize("seed", [3, *more(range(12))])
def test_chains_that_fall_gain_nothing_and_lie_on_the_floor(seed):
    """They gained up to 0.8 J while they landed, and lay some tenths of a millimetre in the floor."""
    with warnings.catch_warnings(), Simulation(dolls(seed), DT, Glued(), record_every=5) as simulation:
        warnings.simplefilter("ignore")
        run = simulation.run(2.0)
    lost = run.energy[0] - run.energy[-1]
    assert np.diff(run.energy).max() < 1e-3 * lost
    lowest = min(
        run.position(f"{name}.{end}")[-1, 2] for name in simulation.assembly.bodies for end in ("start", "end")
    )
    assert lowest > 0.0


def test_bits_are_those_of_every_other_path(tmp_path):
    """Stacks, threads, workers between which a table is shared, steps one by one with a look at each, and checkpoints."""
    model = table(4, 1.0, 5e-3)

    def places(run):
        return np.stack([run.position(f"{name}.G") for name in model.bodies])

    alone = places(moved(model, 0.1))
    for settings in ({"grouped": False}, {"threads": 2}, {"workers": 2, "launcher": "here"}):
        np.testing.assert_array_equal(places(moved(model, 0.1, **settings)), alone)
    with Simulation(model, DT, Glued()) as simulation:
        while simulation.tick < 60:
            simulation.step()
        simulation.run(0.07, checkpoints=tmp_path)
        np.testing.assert_array_equal(places(simulation.run(0.1)), alone)
    with resume(tmp_path) as rest:
        np.testing.assert_array_equal(places(rest.run(0.1)), alone)


@pytest.mark.campaign
def test_a_stretch_that_workers_take_back_leaves_nothing_behind():
    """Where surfaces have strayed, workers go back and come less far: they had forgotten which blows were near."""
    with Simulation(dolls(3), DT, Glued()) as simulation:
        alone = simulation.run(0.4).digest
    with Simulation(dolls(3), DT, Glued(), workers=2, launcher="here") as simulation:
        assert simulation.run(0.4).digest == alone


@pytest.mark.campaign
def test_a_leg_that_is_cut_is_carried_alone():
    with warnings.catch_warnings(), Simulation(table(4, 1.0, 0.0), DT, Glued(), record_every=10) as simulation:
        warnings.simplefilter("ignore")
        simulation.run(0.1)
        simulation.cut("weld1")
        run = simulation.run(0.6)
    assert abs(run.position("leg1.G")[-1, 2] - 0.4) < 1e-6
    assert np.diff(run.energy).max() < 1e-3


def carried(model, coupling=None):
    with warnings.catch_warnings(), Simulation(model, DT, coupling or Glued()) as simulation:
        warnings.simplefilter("ignore")
        simulation.run(DT)
        (contacts,) = [stack for stack in simulation.system.forces if hasattr(stack, "free")]
        return dict(zip(contacts.names, contacts.free[: contacts.count].tolist(), strict=True))


def test_who_answers_otherwise_keeps_springs():
    """Where joints are springs or found by neighbours, what glides, and what a stiff spring holds."""
    assert set(carried(car(0.0)).values()) == {1}
    assert set(carried(car(0.0), Relaxed()).values()) == set(carried(car(0.0), Penalty()).values()) == {0}
    stiff = car(0.0)
    stiff.apply("stiff", SpringDamper(1e6, 10.0, length=0.4), "body.front", "hub-front.G")
    assert set(carried(stiff).values()) == {0}
    glides = car(0.0)
    glides.join("blade", KnifeEdge((1, 0)), "ground", "body.G", at=(0.0, 0.6))
    assert set(carried(glides).values()) == {0}
