"""Blows that reach several contacts: found together, in any order and by anybody, and true to momentum and energy."""

import itertools

import numpy as np
import pytest

from campaign import each_once, first_of, more, named
from components import Box, Capsule, Contact, HalfSpace, PointMassRod, Revolute, RigidBody, Sphere
from coordinator import Glued, Mixed, Penalty, Relaxed, Simulation
from modular import Assembly

R, MASS = 0.1, 1.0
COUPLINGS = [Glued(), Penalty(), Relaxed(), Mixed()]


def put(model, name, at, velocity=None, mass=MASS, radius=R):
    at, inertia = tuple(at), 0.4 * mass * radius**2
    spread = inertia if len(at) == 2 else (inertia,) * 3
    speed = None if velocity is None else tuple(velocity)
    model.add(name, RigidBody(mass=mass, inertia=spread, centre=at, ports={"G": at}, velocity=speed))


def cradle(gap=0.0, restitution=1.0, dimension=3, count=5, hung=False, order=1):
    """Balls in a row; the first one comes with 1 m/s, or hung up, from the side."""
    down, out = np.eye(dimension)[-1], np.eye(dimension)[0]
    model = Assembly(gravity=tuple((-9.81 if hung else 0.0) * down))
    for k in range(count):
        at = k * (2 * R + gap) * out
        if hung:
            angle = -0.3 if k == 0 else 0.0
            end = at + np.sin(angle) * out - np.cos(angle) * down
            model.add(f"ball{k}", PointMassRod(start=tuple(at), end=tuple(end), masses=(1e-4, MASS)))
            axis = () if dimension == 2 else ((0, 1, 0),)
            model.join(f"hook{k}", Revolute(*axis), "ground", f"ball{k}.start")
        else:
            put(model, f"ball{k}", at - (0.05 * out if k == 0 else 0.0), out if k == 0 else None)
    port = "end" if hung else "G"
    for k in list(range(count - 1))[::order]:
        bump = Contact(Sphere(R), Sphere(R), restitution=restitution)
        model.apply(f"bump{k}", bump, f"ball{k}.{port}", f"ball{k + 1}.{port}")
    return model


def speeds(run, count=5, port="G"):
    return np.array([run.velocity(f"ball{k}.{port}")[-1, 0] for k in range(count)])


@pytest.mark.parametrize(
    ("coupling", "dimension", "gap", "dt"),
    each_once(COUPLINGS, [3, 2], [0.0, 1e-9, 1e-3, 3e-4], [1e-3, 1e-2, 1e-4]),
    ids=named,
)
def test_of_balls_in_a_row_the_last_one_flies_off(coupling, dimension, gap, dt):
    """With all of the energy, whether they touch or are a little apart; one after the other they kept 40 % of it, or 120 %."""
    with Simulation(cradle(gap, dimension=dimension), dt, coupling) as simulation:
        run = simulation.run(0.2)
    np.testing.assert_allclose(speeds(run), [0, 0, 0, 0, 1], atol=1e-9)
    assert run.energy[-1] == pytest.approx(run.energy[0], rel=1e-9)
    start = 4 * (2 * R + gap)  # and it has gone since the first one came
    np.testing.assert_allclose(run.position("ball4.G")[-1, 0] - start, 0.2 - 0.05 - 4 * gap, atol=1e-9)


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("gap", [0.0, 1e-3])
def test_a_cradle_that_hangs_passes_its_swing_on(gap, dimension):
    with Simulation(cradle(gap, hung=True, dimension=dimension), 1e-3, Glued()) as simulation:
        run = simulation.run(0.75)
    assert run.energy[-1] == pytest.approx(run.energy[0], rel=1e-3)
    found = speeds(run, port="end")
    assert np.abs(found[:-1]).max() < 0.02 * found[-1] and found[-1] > 0.5


@pytest.mark.parametrize("restitution", [0.9, 0.5])
@pytest.mark.parametrize("count", [2, 5])
def test_each_of_a_row_gets_its_share(restitution, count):
    """The last one ((1 + e) / 2)^(n - 1), and momentum stays; those behind it are the slower the further behind."""
    with Simulation(cradle(0.0, restitution, count=count), 1e-3, Glued()) as simulation:
        run = simulation.run(0.2)
    found = speeds(run, count)
    np.testing.assert_allclose(found[-1], (0.5 + 0.5 * restitution) ** (count - 1), rtol=1e-9)
    np.testing.assert_allclose(found.sum(), 1.0, rtol=1e-12)
    assert (np.diff(found) > 0.0).all()


def test_a_plastic_row_goes_on_together():
    with Simulation(cradle(0.0, 0.0), 1e-3, Glued()) as simulation:
        run = simulation.run(0.2)
    np.testing.assert_allclose(speeds(run), 0.2, rtol=1e-9)


def by_events(places, velocities, masses, radius, restitution, until):
    """Smooth discs or balls by events, one collision after the other: the usual program for hard spheres."""
    x, v, now = places.copy(), velocities.copy(), 0.0
    while True:
        soon, who = until - now, None
        for i, j in itertools.combinations(range(len(x)), 2):
            d, w = x[j] - x[i], v[j] - v[i]
            b, c = d @ w, d @ d - 4 * radius**2
            square = b * b - (w @ w) * c
            if b < 0.0 and square > 0.0:
                time = max(c / (-b + np.sqrt(square)), 0.0)
                if time < soon:
                    soon, who = time, (i, j)
        x, now = x + soon * v, now + soon
        if who is None:
            return x, v
        i, j = who
        n = (x[j] - x[i]) / np.linalg.norm(x[j] - x[i])
        p = (1.0 + restitution) * ((v[j] - v[i]) @ n) / (1.0 / masses[i] + 1.0 / masses[j])
        v[i], v[j] = v[i] + p / masses[i] * n, v[j] - p / masses[j] * n


def cluster(seed, friction=0.0, gaps=(0.0, 1e-4, 1e-2), shuffled=False):
    """Balls near each other, one of which flies into them; with all contacts that there may be."""
    rng = np.random.default_rng(seed)
    dimension, count = 2 + seed % 2, int(rng.integers(4, 8))
    restitution = rng.choice([1.0, 0.8, 0.3])
    places, masses = [np.zeros(dimension)], rng.uniform(0.5, 2.0, count)
    while len(places) < count - 1:
        way = rng.normal(size=dimension)
        at = places[rng.integers(len(places))] + (2 * R + rng.choice(gaps)) * way / np.linalg.norm(way)
        if all(np.linalg.norm(at - other) >= 2 * R - 1e-12 for other in places):
            places.append(at)
    way = rng.normal(size=dimension)
    way /= np.linalg.norm(way)
    speed = 2.0
    start = np.mean(places, axis=0) - (max(np.linalg.norm(p) for p in places) + 4 * R) * way
    places, velocities = np.array([*places, start]), np.zeros((count, dimension))
    velocities[-1] = speed * way
    model = Assembly(gravity=(0.0,) * dimension)
    for k, (at, velocity, mass) in enumerate(zip(places, velocities, masses, strict=True)):
        put(model, f"ball{k}", at, velocity, mass)
    pairs = list(itertools.combinations(range(count), 2))
    for i, j in rng.permutation(pairs) if shuffled else pairs:
        bump = Contact(Sphere(R), Sphere(R), restitution=restitution, friction=friction)
        model.apply(f"bump{i}-{j}", bump, f"ball{i}.G", f"ball{j}.G")
    return model, (places, velocities, masses, restitution)


def momenta(run, masses, radius=R):
    """Momentum and its moment about the origin, of all balls, and kinetic energy, at the end."""
    x = np.array([run.position(f"ball{k}.G")[-1] for k in range(len(masses))])
    v = np.array([run.velocity(f"ball{k}.G")[-1] for k in range(len(masses))])
    w = np.array([np.atleast_1d(run.angular_velocity(f"ball{k}")[-1]) for k in range(len(masses))])
    own = 0.4 * masses[:, None] * radius**2 * w
    return masses @ v, (moments(x, masses[:, None] * v) + own).sum(axis=0)


def moments(x, p):
    """x cross p, row by row; in the plane one number."""
    return np.cross(x, p) if x.shape[1] == 3 else (x[:, :1] * p[:, 1:] - x[:, 1:] * p[:, :1])


@pytest.mark.parametrize("seed", first_of(1, range(40)))
def test_a_cluster_flies_apart_as_it_does_by_events(seed):
    """To first order in the step, as normals are those of its beginning; friction is left out."""
    model, (places, velocities, masses, restitution) = cluster(seed, gaps=(3e-3, 1e-2))
    until = 0.25
    _, right = by_events(places, velocities, masses, R, restitution, until)
    errors = []
    for dt in (1e-4, 1e-5):
        with Simulation(model.copy(), dt, Glued()) as simulation:
            run = simulation.run(until)
        found = np.array([run.velocity(f"ball{k}.G")[-1] for k in range(len(masses))])
        errors.append(np.abs(found - right).max())
        np.testing.assert_allclose(momenta(run, masses)[0], masses @ velocities, atol=1e-11)
    assert errors[1] < 0.01 and (errors[1] < 0.3 * errors[0] or errors[1] < 5e-4), errors


@pytest.mark.parametrize(("seed", "friction"), each_once(range(6), [0.0, 0.3, 1.0]))
def test_momentum_stays_and_energy_does_not_grow(seed, friction):
    model, (places, velocities, masses, _) = cluster(seed, friction)
    with Simulation(model, 1e-3, Glued()) as simulation:
        run = simulation.run(0.6)
    linear, about = momenta(run, masses)
    np.testing.assert_allclose(linear, masses @ velocities, atol=1e-11)
    np.testing.assert_allclose(about, moments(places, masses[:, None] * velocities).sum(axis=0), atol=5e-3)
    assert run.energy[-1] < run.energy[0] * (1 + 1e-3)


@pytest.mark.parametrize(
    ("seed", "friction"),
    [*each_once(range(4), [0.0, 0.5]), *more((seed, friction) for seed in range(4, 20) for friction in (0.0, 0.5))],
)
def test_the_order_of_contacts_does_not_matter(seed, friction):
    ends = []
    for shuffled in (False, True):
        model, (_, _, masses, _) = cluster(seed, friction, shuffled=shuffled)
        with Simulation(model, 1e-3, Glued()) as simulation:
            run = simulation.run(0.35)
        ends.append([run.velocity(f"ball{k}.G")[-1] for k in range(len(masses))])
    np.testing.assert_allclose(*ends, atol=1e-7)


@pytest.mark.parametrize("restitution", [1.0, 0.5, 0.0])
def test_who_hits_two_at_once_parts_them_alike(restitution):
    """A ball between two: by symmetry they part alike, with Newton's law at both contacts at once."""
    model, apart = Assembly(gravity=(0.0, 0.0)), 2 * R + 1e-12
    way = np.array([np.cos(np.pi / 6), np.sin(np.pi / 6)])
    put(model, "cue", (-0.05, 0.0), (1.0, 0.0))
    for k, sign in enumerate((1.0, -1.0)):
        put(model, f"ball{k}", apart * way * (1.0, sign))
    for k in range(2):
        model.apply(f"bump{k}", Contact(Sphere(R), Sphere(R), restitution=restitution), "cue.G", f"ball{k}.G")
    model.apply("beside", Contact(Sphere(R), Sphere(R), restitution=restitution), "ball0.G", "ball1.G")
    with Simulation(model, 1e-4, Glued()) as simulation:
        run = simulation.run(0.2)
    found = [run.velocity(f"{name}.G")[-1] for name in ("cue", "ball0", "ball1")]
    np.testing.assert_allclose(found[1] * (1.0, -1.0), found[2], atol=1e-9)
    np.testing.assert_allclose(sum(found), (1.0, 0.0), atol=1e-11)
    parting = (found[1] - found[0]) @ way
    if restitution == 1.0:  # closed form: P = 2 v cos / (W + w), with w what one does to the other over the cue
        p = (1.0 + restitution) * np.cos(np.pi / 6) / (2.0 + np.cos(np.pi / 3))
        np.testing.assert_allclose(found[1], p * way, rtol=2e-3)
    assert parting == pytest.approx(restitution * np.cos(np.pi / 6), rel=5e-3, abs=2e-3)


@pytest.mark.short(1)
@pytest.mark.parametrize("coupling", [Penalty(), Glued()], ids=["penalty", "glued"])
def test_workers_threads_and_stacks_of_their_own_find_the_same_bits(coupling):
    """Each worker works all contacts out that are joined over bodies to one of its own."""

    def played(**settings):
        with Simulation(cradle(1e-3, 0.9, hung=True, count=6), 1e-3, coupling, **settings) as simulation:
            return simulation.run(0.25).digest

    apart = {"left": ["ball0", "ball2", "ball4"], "right": ["ball1", "ball3", "ball5"]}
    ends = {"one": ["ball0"], "two": ["ball5"], "three": ["ball1", "ball2", "ball3", "ball4"]}
    found = {played(), played(grouped=False), played(threads=2)}
    found |= {played(workers=parts, launcher="here") for parts in (2, apart, ends)}
    assert len(found) == 1


def test_a_blow_on_what_stands_on_others_comes_down_to_the_ground():
    """A ball on a tower: all impulses of an instant reach the floor, and the tower stands."""
    model = Assembly(gravity=(0.0, 0.0, -9.81))
    for k in range(3):
        at = (0.0, 0.0, R + 2 * k * R)
        model.add(f"box{k}", RigidBody(mass=1.0, inertia=(0.01,) * 3, centre=at, ports={"G": at}))
        below = "ground" if k == 0 else f"box{k - 1}.G"
        shape = HalfSpace() if k == 0 else Box((2 * R,) * 3)
        model.apply(f"on{k}", Contact(shape, Box((2 * R,) * 3), friction=0.5), below, f"box{k}.G")
    put(model, "ball", (0.0, 0.0, 7 * R + 0.05))
    model.apply("fall", Contact(Box((2 * R,) * 3), Sphere(R), friction=0.5), "box2.G", "ball.G")
    with Simulation(model, 1e-3, Glued()) as simulation:
        run = simulation.run(1.0)
    for k in range(3):
        np.testing.assert_allclose(run.position(f"box{k}.G")[-1], (0.0, 0.0, R + 2 * k * R), atol=1e-3)
    assert np.abs(run.velocity("ball.G")[-1]).max() < 1e-3


def elastic_heap(seed):
    """Smooth bodies of all shapes that turn, fall on a floor and on each other, and lose nothing."""
    rng = np.random.default_rng(seed)
    dimension = 2 + seed % 2
    model = Assembly(gravity=(0.0, 0.0, -9.81)[3 - dimension :])
    shapes = [Sphere(0.1), Box((0.2, 0.14, 0.17)[:dimension]), Capsule(0.06, 0.12), Box((0.12, 0.2, 0.1)[:dimension])]
    for k, shape in enumerate(shapes):
        at = (*rng.uniform(-0.1, 0.1, dimension - 1), 0.3 + 0.35 * k)
        mass, turning = rng.uniform(0.5, 2.0), tuple(2.0 * rng.normal(size=3))
        spread, turns = (0.01 * mass, turning[0]) if dimension == 2 else ((0.01 * mass,) * 3, turning)
        model.add(f"b{k}", RigidBody(mass=mass, inertia=spread, centre=at, ports={"G": at}, angular_velocity=turns))
        model.apply(f"floor{k}", Contact(HalfSpace(), shape, restitution=1.0), "ground", f"b{k}.G")
        for j in range(k):
            model.apply(f"bump{j}-{k}", Contact(shapes[j], shape, restitution=1.0), f"b{j}.G", f"b{k}.G")
    return model


@pytest.mark.parametrize("seed", first_of(2, range(20)))
def test_what_is_smooth_and_elastic_keeps_its_energy_however_it_turns(seed):
    """A blow takes what it should, though bodies turn between its two parts; ten blows lost some per cent."""
    with Simulation(elastic_heap(seed), 2e-4, Glued()) as simulation:
        run = simulation.run(1.5)
    ends = run.energy[-4:]  # one of the last ticks may be in the middle of a blow
    assert np.abs(ends / run.energy[0] - 1.0).min() < 1e-2


def dropped_tower(seed):
    """Boxes of any size above each other, a little apart and askew, that fall onto a floor."""
    rng = np.random.default_rng(seed)
    dimension, count = 2 + seed % 2, int(rng.integers(2, 13))
    law = {"restitution": rng.choice([0.0, 0.3, 0.7]), "friction": rng.choice([0.0, 0.3, 0.8])}
    gap, off, height, below = rng.choice([0.0, 1e-4, 1e-3, 1e-2]), rng.choice([0.0, 0.01, 0.05]), 0.0, HalfSpace()
    model = Assembly(gravity=(0.0, 0.0, -9.81)[3 - dimension :])
    for k in range(count):
        side, mass = rng.uniform(0.1, 0.3), rng.uniform(0.5, 3.0)
        at = (off * rng.uniform(-1.0, 1.0), *(0.0,) * (dimension - 2), height + 0.5 * side + gap)
        spread = mass * side**2 / 6
        spread = spread if dimension == 2 else (spread,) * 3
        model.add(f"box{k}", RigidBody(mass=mass, inertia=spread, centre=at, ports={"G": at}))
        box = Box((side,) * dimension)
        model.apply(f"on{k}", Contact(below, box, **law), "ground" if k == 0 else f"box{k - 1}.G", f"box{k}.G")
        height, below = height + side + gap, box
    return model


@pytest.mark.parametrize("seed", first_of(2, range(80)))
def test_towers_that_are_dropped_make_no_energy(seed):
    """Blows run up and down among contacts that bear loads: what those exert, and what blows did a tick ago, is no blow to come."""
    with Simulation(dropped_tower(seed), 1e-3, Glued()) as simulation:
        run = simulation.run(1.0)
    assert run.energy.max() < run.energy[0] * (1 + 1e-2)
