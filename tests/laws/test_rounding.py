"""What is open by rounding is closed: short links far from the origin, light ones beside heavy ones, ports far beyond small bodies.

A gap is measured against what the numbers that it is made of are rounded by: EPSILON times how far away the mechanism stands, or
one (directions are numbers about one), and what a share EPSILON of a reaction does to the lightest body in a step.
"""

from dataclasses import replace

import numpy as np
import pytest

from campaign import each_once, first_of, named
from components import Distance, NewtonEulerBody, PointMassRod, Revolute, RigidBody, Rod, Spherical
from components.bodies.natural.basis import FAMILY
from coordinator import GGL, HHT, Centralized, Glued, Relaxed, Simulation
from modular import Assembly

EPSILON = 2.0**-52
MOST = 200.0  # times rounding: 73 measured over 260 chains


def link(rng, mass, start, end):
    """A body of any kind between two points, its radius of gyration a thirtieth to thirty times their distance."""
    dimension, length = len(start), np.linalg.norm(end - start)
    ends = tuple(map(float, start)), tuple(map(float, end))
    kind = rng.integers(3 + len(FAMILY))
    if kind == 0:
        return Rod(*ends, mass, float(rng.choice([0.0, 0.1 * length])))
    if kind == 1:
        return PointMassRod(*ends, (0.3 * mass, 0.7 * mass))
    radius = length * 10.0 ** rng.uniform(-1.5, 1.5)
    data = {
        "mass": mass,
        "inertia": mass * radius**2 * (1.0 if dimension == 2 else np.array([1.0, 0.8, 0.6])),
        "centre": tuple(map(float, start + 0.4 * (end - start) + 0.1 * length * rng.normal(size=dimension))),
        "ports": dict(zip(("start", "end"), ends, strict=True)),
    }
    data["inertia"] = float(data["inertia"]) if dimension == 2 else tuple(map(float, data["inertia"]))
    return NewtonEulerBody(**data) if kind == 2 else RigidBody(**data, basis=FAMILY[kind - 3])


def chain(rng, dimension, count, length, away, ratio, *, spin=0.0):
    """Links in random directions; the first one `away` from the origin, the last `ratio` times as heavy as the first.

    With a `spin` it turns freely about its first end, else it hangs from there.
    """
    gravity = (0.0, 0.0, 0.0) if spin else (0.3, -9.81, 0.5)
    model, place = Assembly(gravity=gravity[:dimension]), away * turned(rng, dimension)
    first = place
    for k in range(count):
        end = place + length * turned(rng, dimension)
        body = link(rng, 0.1 * ratio ** (k / max(1, count - 1) - 0.5), place, end)
        if spin:
            body = replace(body, **about(first, body, spin))
        model.add(f"link{k}", body)
        if k or not spin:
            joint = Revolute() if dimension == 2 else Spherical()
            model.join(f"hinge{k}", joint, f"link{k - 1}.end" if k else "ground", f"link{k}.start")
        place = end
    return model, 0.01 * np.sqrt(length / 9.81)


def about(point, body, spin):
    """How a body moves that turns about a point."""
    centre = body.mass_centre(body.elements) if hasattr(body, "elements") else np.asarray(body.centre)
    x, y = (centre - point)[:2]
    pace = (-spin * y, spin * x, 0.0)[: len(centre)]
    return {"velocity": pace, "angular_velocity": spin if len(centre) == 2 else (0.0, 0.0, spin)}


def turned(rng, dimension):
    found = rng.normal(size=dimension)
    return found / np.linalg.norm(found)


def widest(model, run, dt, ratio=1.0):
    """The largest gap, as a multiple of rounding; `ratio`: how many times as much as its mass tells the lightest body gives way."""
    gap = max(np.abs(run.violation(name)).max() for name in run.joints)
    reaction = max(np.abs(run.reaction(name)).max() for name in run.joints)
    lightest = min(body.total_mass for body in model.bodies.values())
    far = max(1.0, *(np.abs(run.state(name)[0]).max() for name in run.bodies))
    return gap / (EPSILON * (far + 0.5 * dt * dt * reaction * ratio / lightest))


@pytest.mark.parametrize("seed", first_of(2, range(400)))
def test_no_chain_stops_at_rounding(seed):
    rng = np.random.default_rng(seed)
    count, length, away = int(rng.integers(1, 11)), 10.0 ** rng.uniform(-4, 1), float(rng.choice([0, 1, 10, 100]))
    model, dt = chain(rng, 2 + seed % 2, count, length, away, 10.0 ** rng.uniform(-6, 6))
    for coupling in (Glued(2), Glued(4), Relaxed()):
        with Simulation(model, dt, coupling) as simulation:
            run = simulation.run(10 * dt)
        if not isinstance(coupling, Relaxed):  # which leaves 1e-10 of the extent on purpose
            assert widest(model, run, dt) < MOST


@pytest.mark.parametrize("dimension", [2, 3])
def test_ten_links_of_a_millimetre_swing_ten_metres_away_as_at_the_origin(dimension):
    paths = []
    for away in (0.0, 10.0):
        model, _ = chain(np.random.default_rng(1), dimension, 10, 1e-3, away, 1.0)
        with Simulation(model, 1e-4, Glued()) as simulation:
            run = simulation.run(0.02)
        assert widest(model, run, 1e-4) < MOST
        path = run.position("link9.end") - run.position("link0.start")[:1]
        paths.append(path)
    assert np.ptp(paths[0], axis=0).max() > 3e-4
    assert np.abs(paths[1] - paths[0]).max() < 1e-10


def cord(lengths, masses, away):
    """Full rods in space, hung from a point so far from the origin, each a tenth as thick as it is long."""
    model, place = Assembly(gravity=(0.3, 0.5, -9.81)), np.array([0.6, -0.5, 0.62]) * away
    rng = np.random.default_rng(1)
    for k, (length, mass) in enumerate(zip(lengths, masses, strict=True)):
        end = place + length * turned(rng, 3)
        model.add(f"rod{k}", Rod(tuple(map(float, place)), tuple(map(float, end)), mass, 0.1 * length))
        model.join(f"joint{k}", Spherical(), f"rod{k - 1}.end" if k else "ground", f"rod{k}.start")
        place = end
    return model


@pytest.mark.parametrize(
    ("lengths", "masses", "away", "ticks"),
    [([2e-4] * 6, [0.1] * 6, 100.0, 100), ([0.1] * 2, [2e-7, 6e4], 0.0, 40)],
    ids=["short ones far away", "a light one that holds a heavy one"],
)
def test_full_bodies_keep_their_shape_as_far_as_rounding_lets_them(lengths, masses, away, ticks):
    """Two points tell their direction no sharper than their places; pulls in balance are far more than what is left of them."""
    model, dt = cord(lengths, masses, away), 0.015 * np.sqrt(lengths[0] / 9.81)
    with Simulation(model, dt, Glued()) as simulation:
        run = simulation.run(ticks * dt)
    assert widest(model, run, dt) < MOST
    for name in run.bodies:
        assert np.abs(run.internal_violation(name)).max() < 1e-8


@pytest.mark.parametrize("seed", first_of(4, range(100)))
def test_a_free_chain_keeps_momentum_and_energy_as_far_as_rounding_allows(seed):
    """Both bodies feel a reaction to the last bit, so momentum is rounded as sums of forces are.

    A place is rounded by EPSILON times its distance from the origin, and closing shapes and joints there takes that for a velocity.
    """
    rng = np.random.default_rng(seed)
    length, away = 10.0 ** rng.uniform(-4, 1), float(rng.choice([0, 1, 10, 100]))
    pace = np.sqrt(9.81 / length)
    model, dt = chain(rng, 2 + seed % 2, 5, length, away, 10.0 ** rng.uniform(-6, 6), spin=pace)
    with Simulation(model, dt, Glued(6)) as simulation:
        run = simulation.run(20 * dt)
    momenta = [body.momentum(*run.state(name)[:2]) for name, body in model.bodies.items()]
    assert np.abs(np.ptp(sum(momenta), axis=0)).max() < 1e3 * EPSILON * max(
        np.abs(momentum).max() for momentum in momenta
    )
    blurred = EPSILON * max(1.0, away) / (length * pace * dt)
    assert np.ptp(run.energy) < (1e-9 + 1e2 * blurred) * run.energy.max()


COUPLINGS = {
    "glued": Glued(),
    "order 4": Glued(4),
    "relaxed": Relaxed(),
    "HHT": Centralized(HHT()),
    "GGL": Centralized(GGL()),
}
PAIR = ((0.0, 0.0, 0.0), (0.6, -0.8, 0.0), (1.5, -1.2, 0.3))


def pair(dimension, masses):
    """Two rods, one hung from the other."""
    ends = [end[:dimension] for end in PAIR]
    model = Assembly(gravity=(0.0, -9.81, 0.0)[:dimension])
    for k, mass in enumerate(masses):
        model.add(f"rod{k}", Rod(ends[k], ends[k + 1], mass))
        model.join(f"joint{k}", Spherical(), f"rod{k - 1}.end" if k else "ground", f"rod{k}.start")
    return model


@pytest.mark.parametrize("masses", [(1e-6, 1e6), (1e6, 1e-6)], ids=["heavy below", "light below"])
@pytest.mark.parametrize(("name", "dimension"), each_once(COUPLINGS, [2, 3]), ids=named)
def test_masses_twelve_decades_apart_swing_as_those_of_ten_decades(name, dimension, masses):
    """The lighter ones are so light that they no longer matter."""
    ends, dt = [], 1e-3
    until = 0.02 if isinstance(COUPLINGS[name], Centralized) else 0.06
    light = tuple(max(mass, 1e-4) for mass in masses)
    for some in (masses, light):
        with Simulation(pair(dimension, some), dt, COUPLINGS[name]) as simulation:
            run = simulation.run(until)
        ends.append(run.position("rod1.end"))
        reaction = max(np.abs(run.reaction(joint)).max() for joint in run.joints)
        most = 1e-9 * (name == "relaxed") + MOST * EPSILON * (1.0 + 0.5 * dt * dt * reaction / min(some))
        assert max(np.abs(run.violation(joint)).max() for joint in run.joints) < most
        assert np.ptp(run.energy) < 1e-4 * sum(run.kinetic_energy(body) for body in run.bodies).max()
    assert np.ptp(ends[0], axis=0).max() > 5e-4
    assert np.abs(ends[1] - ends[0]).max() < 1e-6


@pytest.mark.parametrize("seed", first_of(3, range(60)))
def test_a_light_link_between_heavy_ones_is_not_flung_about(seed):
    """What expected reactions do across it would throw it beyond its length, and nothing closes from there."""
    rng = np.random.default_rng(seed)
    model, _ = chain(rng, 2 + seed % 2, 2, 6e-3, 1.0, 1.0)
    model, start = Assembly(gravity=model.gravity), model.bodies["link0"].places["start"].point
    middle = tuple(map(float, np.asarray(start) + 6e-3 * turned(rng, len(start))))
    end = tuple(map(float, np.asarray(middle) + 6e-3 * turned(rng, len(start))))
    model.add("link", PointMassRod(start, middle, (2e-6, 3e-6)))
    model.add("weight", Rod(middle, end, 2e3, 1e-3))
    model.join("upper", Spherical(), "ground", "link.start")
    model.join("lower", Spherical(), "link.end", "weight.start")
    with Simulation(model, 5e-4, Glued()) as simulation:
        run = simulation.run(0.03)
    assert widest(model, run, 5e-4) < MOST
    assert np.ptp(run.energy) < 2e-2 * run.kinetic_energy("weight").max()


def parallel(rng, dimension, ratio, count):
    """A light body with a long arm, and slender rods side by side from there to a heavy one: all but one of them are redundant.

    `ratio`: how many times more easily the end of the arm goes aside than along it.
    """
    start, middle, end, eye = (size * turned(rng, dimension) for size in (0.3, 0.4, 0.5, 1.2))
    spread = 0.02 * float(np.sum((middle - start) ** 2)) / ratio
    model = Assembly(gravity=(0.3, -9.81, 0.5)[:dimension])
    for name, mass, centre, inertia, ports in (
        ("light", 0.02, start + 0.01 * (middle - start), spread, (start, middle)),
        ("heavy", 2.0, 0.5 * (middle + end) + 0.1, 0.06, (middle, end)),
    ):
        places = {port: tuple(map(float, place)) for port, place in zip(("start", "end"), ports, strict=True)}
        turning = inertia if dimension == 2 else tuple(map(float, inertia * np.array([1.0, 0.9, 0.8])))
        model.add(name, RigidBody(mass=mass, inertia=turning, centre=tuple(map(float, centre)), ports=places))
    model.join("hung", Distance(), "ground", "light.start", at=tuple(map(float, start + eye)))
    model.join("held", Distance(), "light.start", "heavy.start")
    for k in range(count):
        model.add(f"rod{k}", Rod(tuple(map(float, middle)), tuple(map(float, end)), 0.05 + 0.02 * k))
        model.join(f"near{k}", Spherical(), "light.end", f"rod{k}.start")
        model.join(f"far{k}", Spherical(), f"rod{k}.end", "heavy.end")
    return model


@pytest.mark.parametrize("seed", first_of(3, range(200)))
def test_redundant_rods_on_a_long_light_arm_are_closed_to_rounding(seed):
    """What the arm answers aside rounds the rows of the rods; those that depend on others must not take it for a pivot."""
    rng = np.random.default_rng(seed)
    ratio, dt = 10.0 ** rng.uniform(2, 7), 5e-4
    model = parallel(rng, 2 + seed % 2, ratio, int(rng.integers(2, 4)))
    for coupling in (Glued(2), Glued(4)):
        ends = []
        for every in (1, 80):
            with Simulation(model, dt, coupling, record_every=every) as simulation:
                run = simulation.run(80 * dt)
            ends.append([run.state(name)[0][-1].tobytes() for name in run.bodies])
            assert every > 1 or widest(model, run, dt, ratio) < MOST
        assert ends[0] == ends[1]  # what is shown, the smallest of many reactions, leaves no mark


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("radius", [1e-2, 1e-3, 1e-5])
def test_ports_far_beyond_a_small_body_are_rounded_as_its_place_is(radius, dimension):
    """A and B a radius of gyration apart would round a port as often as that goes into its arm."""
    inertia = radius**2 if dimension == 2 else tuple(radius**2 * np.array([1.0, 0.8, 0.7]))
    ports = {"near": (30.0, 40.0, 50.0)[:dimension], "far": (30.6, 40.7, 50.2)[:dimension]}
    centre = (30.2, 40.4, 50.3)[:dimension]
    body = RigidBody(mass=2.0, inertia=inertia, centre=centre, ports=ports)
    weights = np.abs(np.array(list(body.port_weights.values())))
    points = weights[:, : body.point_count].sum(axis=1)
    assert points.max() < 2 * 128.0
    if radius < 5e-3:
        assert points.max() < 4.0
    nearest = RigidBody(mass=2.0, inertia=inertia, centre=centre, ports={"centre": centre})
    assert np.linalg.norm(nearest.elements[1] - nearest.elements[0]) < radius  # well conditioned: where it was


CORNERS = ((0.0, 0.0, 0.0), (0.1, 0.0, 0.3), (0.6, 0.0, 0.5), (0.7, 0.0, 0.0))


def hinged(masses, *, closed):
    """Bars on hinges in space, every one of which has a row too many; a loop of four locks itself three times over."""
    model = Assembly()
    for k, (mass, start, end) in enumerate(zip(masses, CORNERS[:-1], CORNERS[1:], strict=True)):
        inertia = mass * float(np.sum(np.subtract(end, start) ** 2)) / 12.0 * np.array([0.5, 1.0, 0.8])
        ports = {"start": start, "end": end}
        centre = tuple(map(float, np.add(start, end) / 2))
        model.add(f"bar{k}", RigidBody(mass=mass, inertia=tuple(map(float, inertia)), centre=centre, ports=ports))
        model.join(f"hinge{k}", Revolute(axis=(0, 1, 0)), f"bar{k - 1}.end" if k else "ground", f"bar{k}.start")
    if closed:
        model.join("last", Revolute(axis=(0, 1, 0)), "ground", f"bar{len(masses) - 1}.end", at=CORNERS[-1])
    return model


@pytest.mark.parametrize("closed", [True, False], ids=["loop", "chain"])
@pytest.mark.parametrize("heavy", [(0, 1, 0), (1, 0, 1)], ids=["heavy inside", "heavy outside"])
def test_reactions_of_redundant_hinges_are_as_large_as_the_heavy_ones_ask(heavy, closed):
    """In newtons per kilogram of the heavy ones they are the same for all that are heavy enough."""
    found = []
    for ratio, coupling in ((1e4, Centralized(HHT())), (1e6, Glued()), (1e12, Glued(4))):
        with Simulation(hinged([1e-6 * ratio**one for one in heavy], closed=closed), 1e-3, coupling) as simulation:
            run = simulation.run(5e-3)
        found.append(np.array([run.reaction(name)[-1, :3] for name in run.joints]) / (1e-6 * ratio))
    size = np.abs(found[0]).max()
    assert size > 1.0
    for other in found[1:]:
        assert np.abs(other - found[0]).max() < 1e-2 * size
