"""What rests after it has fallen: it does not sink in, gains nothing, and comes to rest; contacts carry it together."""

import warnings

import numpy as np
import pytest

from campaign import as_far_as
from components import Box, Contact, HalfSpace, LedBody, Revolute, RigidBody, Sine, Sphere, Surface
from coordinator import Glued, Mixed, Penalty, Relaxed, Simulation, resume
from coordinator.record.sensors import exerted
from modular import Assembly

G, SIDE, DT = 9.81, 0.1, 1e-3
COUPLINGS = {"penalty": Penalty(), "glued": Glued(), "relaxed": Relaxed(), "mixed": Mixed()}
coupled = pytest.mark.parametrize("coupling", COUPLINGS.values(), ids=COUPLINGS)


def put(model, name, at, mass=1.0, inertia=None, **ports):
    inertia = mass * SIDE**2 / 6 if inertia is None else inertia
    model.add(name, RigidBody(mass=mass, inertia=inertia, centre=at, ports={"G": at, **ports}))


def tower(count, drop, masses=None, backwards=False):
    """Boxes over each other, each to be dropped by so much onto the one below."""
    model, box = Assembly(gravity=(0.0, -G)), Box((SIDE, SIDE))
    for k in range(count):
        put(model, f"box{k}", (0.0, SIDE / 2 + k * SIDE + (k + 1) * drop), 1.0 if masses is None else masses[k])
    for k in reversed(range(count)) if backwards else range(count):
        below, law = ("ground", HalfSpace()) if k == 0 else (f"box{k - 1}.G", box)
        model.apply(f"under{k}", Contact(law, box, 0.5), below, f"box{k}.G")
    return model


def fallen(model, until, coupling, dt=DT, **settings):
    with warnings.catch_warnings(), Simulation(model, dt, coupling, record_every=20, **settings) as simulation:
        warnings.simplefilter("ignore")
        return simulation.run(until)


def places(run, names):
    return np.array([run.position(f"{name}.G")[-1] for name in names])


@coupled
def test_a_tower_of_ten_that_was_dropped_does_not_sink_in(coupling):
    """By 8.3 mm it did, on springs as stiff as the step allows."""
    run = fallen(tower(10, 5e-4), 2.0, coupling)
    heights = np.array([run.position(f"box{k}.G")[-1, 1] for k in range(10)])
    np.testing.assert_allclose(heights, SIDE / 2 + SIDE * np.arange(10), rtol=0, atol=1e-8)
    assert np.maximum(np.diff(run.energy), 0.0).sum() < 1e-7 * (run.energy[0] - run.energy.min())
    assert max(np.abs(run.velocity(f"box{k}.G")[-1]).max() for k in range(10)) < 1e-6


@pytest.mark.parametrize("seed", [3, 4, 5])
def test_light_boxes_carry_heavy_ones(seed):
    """Fifteen, of weights up to ten to one, in no order: they stand."""
    masses = 10.0 ** np.random.default_rng(seed).uniform(-0.5, 0.5, 15)
    run = fallen(tower(15, 2e-4, masses), 1.0, Glued())
    for k in range(15):
        assert run.position(f"box{k}.G")[-1, 1] == pytest.approx(SIDE / 2 + k * SIDE, abs=1e-7)


@pytest.mark.campaign
def test_a_tower_of_ten_stays_for_a_minute():
    """By less than a rounding error in each tick."""
    run = fallen(tower(10, 5e-4), 60.0, Penalty())
    assert run.position("box9.G")[-1, 1] == pytest.approx(SIDE / 2 + 9 * SIDE, abs=1e-9)


def test_what_many_points_carry_comes_to_rest():
    """A tower whose boxes touch each other by two contacts each: sweeps from point to point never ended, and it kept swaying."""
    model, half, drop = Assembly(gravity=(0.0, 0.0, -G)), Box((0.5 * SIDE, SIDE, SIDE)), 5e-4
    for k in range(4):
        height = (k + 0.5) * SIDE + (k + 1) * drop
        ports = {"G": (0.0, 0.0, height), "left": (-0.25 * SIDE, 0.0, height), "right": (0.25 * SIDE, 0.0, height)}
        model.add(f"box{k}", RigidBody(mass=1.0, inertia=(SIDE**2 / 6,) * 3, centre=ports["G"], ports=ports))
        for side in ("left", "right"):
            below, law = ("ground", HalfSpace()) if k == 0 else (f"box{k - 1}.{side}", half)
            model.apply(f"under{k}-{side}", Contact(law, half, 0.5), below, f"box{k}.{side}")
    run = fallen(model, 0.6, Penalty())
    assert np.abs(run.position("box3.G")[-1] - (0.0, 0.0, 3.5 * SIDE)).max() < 1e-9
    assert np.abs(run.velocity("box3.G")[-1]).max() < 1e-8
    for side in ("left", "right"):
        assert exerted(run, f"under0-{side}")[-1, 2] == pytest.approx(2.0 * G, rel=1e-4)


def test_the_order_in_which_contacts_are_written_does_not_matter():
    names = [f"box{k}" for k in range(6)]
    one, other = (fallen(tower(6, 5e-4, backwards=backwards), 0.5, Glued()) for backwards in (False, True))
    np.testing.assert_allclose(places(one, names), places(other, names), rtol=0, atol=1e-9)


def test_bits_are_those_of_every_other_path(tmp_path):
    """Rows, stacks, threads, workers, checkpoints."""
    model, names = tower(6, 5e-4), [f"box{k}" for k in range(6)]
    alone = places(fallen(model, 0.3, Penalty()), names)
    for settings in ({"grouped": False}, {"threads": 2}, {"workers": 2, "launcher": "here"}):
        np.testing.assert_array_equal(places(fallen(model, 0.3, Penalty(), **settings), names), alone)
    with Simulation(model, DT, Penalty(), record_every=20) as first:
        first.run(0.15, checkpoints=tmp_path)
    with resume(tmp_path) as rest:
        np.testing.assert_array_equal(places(rest.run(0.3), names), alone)


def test_what_is_let_go_by_a_joint_is_carried_with_all_others():
    """A pinned box has springs, for its pin answers as well; cut loose it stands on the tower as if it had never been pinned."""
    model = tower(4, 0.0)
    at = (0.0, SIDE / 2 + 4 * SIDE + 1e-3)
    put(model, "top", at, pin=(0.0, at[1] + 0.02))
    model.apply("under4", Contact(Box((SIDE, SIDE)), Box((SIDE, SIDE)), 0.5), "box3.G", "top.G")
    model.join("pin", Revolute(), "ground", "top.pin")
    with warnings.catch_warnings(), Simulation(model, DT, Glued(), record_every=20) as simulation:
        warnings.simplefilter("ignore")
        simulation.run(0.1)
        simulation.cut("pin")
        run = simulation.run(1.0)
    assert run.position("top.G")[-1, 1] == pytest.approx(SIDE / 2 + 4 * SIDE, abs=1e-9)


def test_a_tower_on_a_lift_goes_with_it():
    """Up and down by 5 cm, with almost half of the weight more or less; on springs it went in by 5 mm."""
    model, box = Assembly(gravity=(0.0, -G)), Box((SIDE, SIDE))
    model.add("lift", LedBody(way=Sine((0.0, 0.05), 1.5, -np.pi / 2), centre=(0, 0), ports={"G": (0, 0)}))
    for k in range(8):
        put(model, f"box{k}", (0.0, SIDE / 2 + k * SIDE + (k + 1) * 2e-4))
        below, law = ("lift.G", HalfSpace()) if k == 0 else (f"box{k - 1}.G", box)
        model.apply(f"under{k}", Contact(law, box, 0.5), below, f"box{k}.G")
    run = fallen(model, 1.5, Penalty())
    for k in range(8):
        over = run.position(f"box{k}.G")[20:, 1] - run.position("lift.G")[20:, 1]
        np.testing.assert_allclose(over, SIDE / 2 + k * SIDE, rtol=0, atol=2e-6)


def heap(count, backwards=False):
    """Balls and boxes of many weights that fall between two walls."""
    draw, model = np.random.default_rng(5), Assembly(gravity=(0.0, -G))
    for k, (centre, normal) in enumerate(
        (((0.0, 0.0), (0.0, 1.0)), ((-0.4, 0.0), (1.0, 0.0)), ((0.4, 0.0), (-1.0, 0.0)))
    ):
        model.apply(f"wall{k}", Surface(HalfSpace(centre=centre, normal=normal), 0.4, 0.0), "ground")
    for k in range(count):
        mass = 10.0 ** draw.uniform(-0.7, 0.7)
        put(model, f"part{k}", (draw.uniform(-0.25, 0.25), 0.1 + 0.13 * k), mass, 0.002 * mass)
        model.apply(f"skin{k}", Surface(Sphere(0.06) if k % 2 else Box((0.1, 0.1)), 0.4, 0.0), f"part{k}.G")
    return model


@pytest.mark.campaign
@pytest.mark.parametrize("coupling", [Penalty(), Glued()], ids=["penalty", "glued"])
def test_a_heap_between_walls_comes_to_rest_and_gains_nothing(coupling):
    run = fallen(heap(20), 4.0, coupling)
    at, speeds = places(run, [f"part{k}" for k in range(20)]), [run.velocity(f"part{k}.G")[-1] for k in range(20)]
    balls = at[1::2]
    apart = np.linalg.norm(balls[:, None] - balls[None], axis=2)[np.triu_indices(10, 1)]
    assert apart.min() > 0.12 - 1e-5 and balls[:, 1].min() > 0.06 - 1e-5 and np.abs(balls[:, 0]).max() < 0.34 + 1e-5
    assert np.abs(speeds[::2]).max() < 1e-3  # a ball may roll
    lost = run.energy[0] - run.energy[-1]
    assert np.maximum(np.diff(run.energy[len(run.energy) // 2 :]), 0.0).sum() < 1e-4 * lost


@pytest.mark.campaign
def test_balls_between_walls_come_to_rest():
    """150 of 300: on springs alone these went into each other by half of a radius, and gained 0.36 J of 24 in all."""
    count, until = as_far_as((150, 2.0), (60, 1.2))
    draw, model, names = np.random.default_rng(1), Assembly(gravity=(0.0, 0.0, -G)), []
    for k, (centre, size) in enumerate(
        (((0, 0, -0.05), (1, 1, 0.1)), ((0.14, 0, 1), (0.1, 1, 2.4)), ((-0.14, 0, 1), (0.1, 1, 2.4)),
         ((0, 0.14, 1), (1, 0.1, 2.4)), ((0, -0.14, 1), (1, 0.1, 2.4)))
    ):  # fmt: skip
        model.apply(f"wall{k}", Surface(Box(size, centre=centre), 0.3, 0.1), "ground")
    for k in range(count):
        at = (*(0.055 * (np.array(divmod(k % 9, 3)) - 1) + 1e-3 * draw.normal(size=2)), 0.03 + 0.045 * (k // 9))
        put(model, f"ball{k}", at, 0.03, (4.8e-6,) * 3)
        model.apply(f"skin{k}", Surface(Sphere(0.02), 0.3, 0.1), f"ball{k}.G")
        names.append(f"ball{k}")
    run = fallen(model, until, Penalty())
    at = places(run, names)
    apart = np.linalg.norm(at[:, None] - at[None], axis=2)[np.triu_indices(count, 1)]
    assert apart.min() > 0.04 - 1e-5 and at[:, 2].min() > 0.02 - 1e-5
    assert np.maximum(np.diff(run.energy), 0.0).sum() < 1e-5 * run.energy[0]


def arch(count, friction, thick, radius=1.0):
    """Half a circle of stones that touch with their flat sides: each shows both as slabs of its own."""
    model, wide, slab = Assembly(gravity=(0.0, -G)), np.pi / count, 0.02
    inner, outer = radius - thick / 2, radius + thick / 2
    area = 0.5 * wide * (outer**2 - inner**2)
    out_to = 4.0 * np.sin(wide / 2) * (outer**3 - inner**3) / (3.0 * wide * (outer**2 - inner**2))
    inertia = 0.25 * wide * (outer**4 - inner**4) - area * out_to**2

    def axes(angle):
        return np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])

    def side(angle):
        return Box((thick, slab), turned=tuple(map(tuple, axes(angle))))

    for k in range(count):
        first, last = axes(k * wide), axes((k + 1) * wide)
        ports = {"first": radius * first[0] + slab / 2 * first[1], "last": radius * last[0] - slab / 2 * last[1]}
        ports = {name: tuple(place.tolist()) for name, place in ports.items()}
        put(
            model,
            f"stone{k}",
            tuple((out_to * axes((k + 0.5) * wide)[0]).tolist()),
            500.0 * area,
            500.0 * inertia,
            **ports,
        )
    model.apply("side0", Contact(HalfSpace(), side(0.0), friction), "ground", "stone0.first")
    for k in range(1, count):
        angle = k * wide
        model.apply(f"side{k}", Contact(side(angle), side(angle), friction), f"stone{k - 1}.last", f"stone{k}.first")
    model.apply(f"side{count}", Contact(HalfSpace(), side(np.pi), friction), "ground", f"stone{count - 1}.last")
    return model


@pytest.mark.short(1, each=True)
@pytest.mark.parametrize(
    ("friction", "thick", "stands"), [(0.7, 0.115, True), (0.7, 0.100, False), (0.4, 0.22, True), (0.28, 0.22, False)]
)
def test_an_arch_stands_where_it_is_thick_enough_and_does_not_slide(friction, thick, stands):
    """Half a circle does from t = 0.1075 r on (M. Milankovitch, Zeitschrift für Mathematik und Physik 55 (1907) 1-27)."""
    run = fallen(arch(25, friction, thick), 2.0, Glued())
    sinks = run.position("stone12.G")[0, 1] - run.position("stone12.G")[-1, 1]
    assert abs(sinks) < 1e-6 if stands else sinks > 0.1
