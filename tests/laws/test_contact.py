"""Contact against closed forms: bounces, slopes, blows; stacks at rest; energy; the same bits everywhere."""

import warnings
from dataclasses import replace

import numpy as np
import pytest

import scenarios
from both_ways import scattered
from campaign import each_once, more, named
from components import Box, Capsule, Contact, HalfSpace, Hand, LedBody, PointMassRod, Revolute, RigidBody, Rod, Sphere
from coordinator import HHT, Centralized, Glued, Mixed, Penalty, Relaxed, Simulation, resume
from coordinator.record.sensors import exerted
from modular import Assembly, ModelError
from modular.errors import CouplingError

G, R, MASS = 9.81, 0.1, 1.3
COUPLINGS = {"penalty": Penalty(), "glued": Glued(), "relaxed": Relaxed(), "mixed": Mixed()}
coupled = pytest.mark.parametrize("coupling", COUPLINGS.values(), ids=COUPLINGS)
both = pytest.mark.parametrize("dimension", [2, 3])
coupled_in_both = pytest.mark.parametrize(("coupling", "dimension"), each_once(COUPLINGS.values(), [2, 3]), ids=named)


def put(model, name, at, inertia=0.4 * MASS * R**2, mass=MASS, **motion):
    at = tuple(at)
    spread = inertia if len(at) == 2 else (inertia,) * 3
    model.add(name, RigidBody(mass=mass, inertia=spread, centre=at, ports={"G": at}, **motion))


def ball(restitution, height, dimension=3, **motion):
    model = Assembly(gravity=(0.0, 0.0, -G)[-dimension:])
    put(model, "ball", (0.3, -0.2, height + R)[-dimension:], **motion)
    model.apply("floor", Contact(HalfSpace(), Sphere(R), restitution=restitution), "ground", "ball.G")
    return model


def bounces(time, height, restitution, count=10):
    """Height over the ground at these times, and when the last of so many bounces ends."""
    speed, start = np.sqrt(2.0 * G * height), np.sqrt(2.0 * height / G)
    found = height - 0.5 * G * time**2
    for _ in range(count):
        speed *= restitution
        since = time - start
        found = np.where(since >= 0.0, speed * since - 0.5 * G * since**2, found)
        start += 2.0 * speed / G
    return found, start


@pytest.mark.parametrize(
    ("coupling", "restitution", "dt"), each_once(COUPLINGS.values(), [0.9, 0.75], [1e-3, 2e-4]), ids=named
)
def test_a_ball_bounces_ten_times_as_its_closed_form(coupling, restitution, dt):
    """Every bounce is exact wherever in a tick it happens (Séguy 2003, I.3.6), so what is left is rounding and the corrected
    place of Newmark within the tick of a bounce, beta (1 + e) v dt."""
    end = bounces(np.zeros(1), 1.0, restitution)[1]
    with Simulation(ball(restitution, 1.0), dt, coupling) as simulation:
        run = simulation.run(round(end / dt) * dt)
    height = run.position("ball.G")[:, -1] - R
    law, _ = bounces(run.time, 1.0, restitution)
    near = 0.25 * 2.0 * np.sqrt(2.0 * G) * dt if isinstance(coupling, Penalty) else 1e-4
    assert np.abs(height - law).max() < near
    assert 0.01 * height.max() > near  # that is less than 1 %
    speed = np.sqrt(2.0 * run.energy[-10] / MASS - 2.0 * G * R)  # before the next one
    np.testing.assert_allclose(speed, np.sqrt(2.0 * G) * restitution**10, rtol=1e-2)


@both
def test_slow_bounces_come_to_an_end(dimension):
    """With e = 1/2 a ball has made all its bounces after 3 sqrt(2 h / g); then it rests, and is held by a spring."""
    with Simulation(ball(0.5, 0.2, dimension), 1e-3) as simulation:
        run = simulation.run(2.0)
    rest = run.time > 3.2 * np.sqrt(2.0 * 0.2 / G)
    assert np.abs(run.position("ball.G")[rest, -1] - R).max() < 2e-4  # some g dt^2
    assert np.abs(run.velocity("ball.G")[-1]).max() < 1e-9
    assert (np.diff(run.energy) < 1e-9).all() or run.energy.max() < run.energy[0] * (1 + 1e-6)


def sloped(slope, friction, shape, inertia, dimension):
    """A floor on which gravity slopes."""
    pull = G * np.array((np.sin(slope), 0.0, -np.cos(slope)))
    model = Assembly(gravity=tuple(pull[[0, 2]] if dimension == 2 else pull))
    put(model, "solid", (0.0, 0.0, R)[-dimension:], inertia)
    model.apply("floor", Contact(HalfSpace(), shape, friction=friction), "ground", "solid.G")
    return model


@coupled_in_both
def test_a_block_sticks_below_the_angle_of_friction_and_slides_above(coupling, dimension):
    """It creeps less than 1e-6 m/s, or goes down with g (sin - mu cos)."""
    slope, box = 0.3, Box((2 * R,) * dimension)
    with Simulation(
        sloped(slope, 1.05 * np.tan(slope), box, MASS * (2 * R) ** 2 / 6, dimension), 1e-3, coupling
    ) as simulation:
        simulation.run(0.5)
        here = simulation.body("solid").state()["q"][0, 0].copy()
        simulation.run(1.0)
        assert np.abs(simulation.body("solid").state()["q"][0, 0] - here).max() / 0.5 < 1e-6
    with Simulation(sloped(slope, 0.2, box, MASS * (2 * R) ** 2 / 6, dimension), 1e-3, coupling) as simulation:
        run = simulation.run(0.6)
    velocity = run.velocity("solid.G")[:, 0]
    pull = (velocity[-1] - velocity[300]) / (run.time[-1] - run.time[300])
    np.testing.assert_allclose(pull, G * (np.sin(slope) - 0.2 * np.cos(slope)), rtol=1e-6)
    assert -run.work("floor")[-1] > 0.1


def leaning(slope, heading, share, size, drop, dimension):
    """A box on a floor on which gravity slopes in any direction, with `share` of the friction that just holds it."""
    pull = G * np.array((np.sin(slope) * np.cos(heading), np.sin(slope) * np.sin(heading), -np.cos(slope)))
    model = Assembly(gravity=tuple((G * np.sin(slope), -G * np.cos(slope)) if dimension == 2 else pull))
    put(model, "solid", (0.0, 0.0, 0.5 * size[2] + drop)[-dimension:], MASS * (size[0] ** 2 + size[2] ** 2) / 12)
    shape = Box((size[0], size[2]) if dimension == 2 else tuple(size))
    model.apply("floor", Contact(HalfSpace(), shape, friction=share * np.tan(slope)), "ground", "solid.G")
    return model


@pytest.mark.parametrize(
    ("coupling", "dimension", "slope", "heading", "share", "size", "drop"),
    each_once(
        COUPLINGS.values(), [2, 3], [0.3, 0.1, 0.5], [0.0, 0.7, 2.9], [1.0, 1.0001, 1.001, 1.05],
        [[0.2, 0.2, 0.2], [0.4, 0.3, 0.1]], [0.0, 1e-4],
    ),
    ids=named,
)  # fmt: skip
def test_a_block_that_friction_just_holds_stands_still(coupling, dimension, slope, heading, share, size, drop):
    """It moves while its springs take up their load, by some g dt^2 (and what it slides in a fall), and then not at all.

    Friction that its ringing springs could bear let it go with a tick's worth of velocity, which at the edge it kept: 9 mm/s.
    """
    model, dt = leaning(slope, heading, share, size, drop, dimension), 1e-3
    with Simulation(model, dt, coupling) as simulation:
        place = simulation.run(1.5).position("solid.G")[:, : dimension - 1]
    moved = np.linalg.norm(place - place[0], axis=1)
    assert moved.max() < 10 * G * dt**2 + drop
    assert np.abs(place[1000:] - place[-1]).max() < 1e-9


def test_a_block_that_friction_just_does_not_hold_slides():
    """From a thousandth on, with g (sin - mu cos)."""
    with Simulation(leaning(0.3, 0.7, 0.999, (0.2, 0.2, 0.2), 0.0, 3), 1e-3) as simulation:
        run = simulation.run(2.0)
    speed = np.linalg.norm(run.velocity("solid.G")[:, :2], axis=1)
    np.testing.assert_allclose(speed[-1] - speed[1000], 1e-3 * G * np.sin(0.3), rtol=1e-3)


@coupled_in_both
def test_a_ball_rolls_down_a_slope_or_slips(coupling, dimension):
    """5/7 g sin where it sticks, g (sin - mu cos) where friction is less than 2/7 tan; of a disc 2/3 g sin."""
    slope = 0.3
    share = 2 / 5 if dimension == 3 else 1 / 2
    for friction, law in (
        (0.5, G * np.sin(slope) / (1.0 + share)),
        (0.05, G * (np.sin(slope) - 0.05 * np.cos(slope))),
    ):
        with Simulation(
            sloped(slope, friction, Sphere(R), share * MASS * R**2, dimension), 1e-3, coupling
        ) as simulation:
            run = simulation.run(1.0)
        velocity = run.velocity("solid.G")[:, 0]
        pull = (velocity[-1] - velocity[500]) / (run.time[-1] - run.time[500])
        np.testing.assert_allclose(pull, law, rtol=5e-4)


ON_SLOPES = {  # friction, shape, share of m R^2 in the inertia, acceleration over g, on a slope of 0.3
    "slides": (0.2, "box", 2 / 3, lambda slope, d: np.sin(slope) - 0.2 * np.cos(slope)),
    "sticks": (0.5, "box", 2 / 3, lambda slope, d: 0.0),
    "glides": (0.0, "box", 2 / 3, lambda slope, d: np.sin(slope)),
    "rolls": (0.5, "ball", 2 / 5, lambda slope, d: np.sin(slope) / (7 / 5)),
    "slips": (0.05, "ball", 2 / 5, lambda slope, d: np.sin(slope) - 0.05 * np.cos(slope)),
}


@pytest.mark.parametrize(("coupling", "dimension", "how"), each_once(COUPLINGS.values(), [2, 3], ON_SLOPES), ids=named)
def test_what_starts_in_contact_is_carried_and_rubbed_from_the_first_tick(coupling, dimension, how):
    """Second order from rest on, as if the floor had borne it before; no blow, and the ledgers tell what friction takes.

    A floor that had to be pressed first let it fall for two ticks and slide meanwhile: 1.3 % of the way at 1 ms, of first order.
    """
    friction, shape, share, law = ON_SLOPES[how]
    body = Box((2 * R,) * dimension) if shape == "box" else Sphere(R)
    ways, slope = [], 0.3
    for dt in (2e-3, 1e-3):
        with Simulation(sloped(slope, friction, body, share * MASS * R**2, dimension), dt, coupling) as simulation:
            run = simulation.run(0.4)
        ways.append(run.position("solid.G")[-1, 0] - 0.5 * G * law(slope, dimension) * 0.4**2)
        assert np.abs(run.position("solid.G")[:, -1] - R).max() < 1.5 * G * dt**2
    assert abs(ways[1]) < 2.0 * G * 1e-6, ways
    assert abs(ways[1]) < 0.3 * abs(ways[0]) + 1e-9, ways
    pressed, rubbed = exerted(run, "floor")[-1, dimension - 1], exerted(run, "floor")[-1, 0]
    assert pressed == pytest.approx(MASS * G * np.cos(slope), rel=1e-5)
    assert rubbed == pytest.approx(MASS * G * (law(slope, dimension) - np.sin(slope)), rel=1e-3, abs=1e-6)
    if how in ("slides", "slips"):
        taken = -run.work("floor")[-1]
        slid = run.position("solid.G")[-1, 0] - (0.0 if how == "slides" else 0.5 * rubbed / (-share * MASS) * 0.4**2)
        assert taken == pytest.approx(friction * MASS * G * np.cos(slope) * slid, rel=2e-3)


@pytest.mark.parametrize(
    ("coupling", "count", "reach"),
    each_once(COUPLINGS.values(), [(3, 0.1), (12, 0.1), (5, 0.45), (5, 0.1)]),
    ids=named,
)
def test_a_plank_on_many_supports_stays_where_it_is(coupling, count, reach):
    """It stays, and no support makes energy: twelve threw it up by centimetres, and it sank in by some g dt^2."""
    model, dt = Assembly(gravity=(0.0, -G)), 1e-3
    put(model, "plank", (0.0, 0.2), inertia=10.0 * 1.04 / 12, mass=10.0)
    for k, x in enumerate(np.linspace(-reach, reach, count)):
        law = Contact(Sphere(R, centre=(x, 0.0)), Box((1.0, 0.2)), friction=0.3)
        model.apply(f"support{k}", law, "ground", "plank.G")
    with warnings.catch_warnings(), Simulation(model, dt, coupling) as simulation:
        warnings.simplefilter("error")
        run = simulation.run(0.3)
    assert np.ptp(run.position("plank.G"), axis=0).max() < 1e-9 * 0.1
    assert run.energy.max() <= run.energy[0] + 1e-12
    assert min(run.ledger(name)["dissipated"].min() for name in run.forces) >= -1e-15  # rounding


@coupled
def test_many_bodies_on_one_that_is_led_are_each_carried_alone(coupling):
    """Nobody carries what is led, so its contacts share nothing: each ball sinks as deep as one alone, from the start on."""
    model, dt = Assembly(gravity=(0.0, -G)), 1e-3
    model.add("table", LedBody(centre=(0.0, 0.0), ports={"G": (0.0, 0.0)}))
    for k in range(8):
        put(model, f"ball{k}", (0.5 * k - 1.75, 0.1 + R))
        model.apply(f"contact{k}", Contact(Box((5.0, 0.2)), Sphere(R)), "table.G", f"ball{k}.G")
    with Simulation(model, dt, coupling) as simulation:
        run = simulation.run(0.1)
    for k in range(8):
        assert np.abs(run.position(f"ball{k}.G")[:, 1] - 0.1 - R).max() < 1.5 * G * dt**2


@coupled_in_both
def test_what_is_shot_up_a_slope_comes_back_with_friction_against_it(coupling, dimension):
    """It turns within a tick, and its friction with it; the corners that sway then do not tell which way it slides."""
    slope, friction, start = 0.3, 0.25, 1.0
    up, down = (G * (np.sin(slope) + sign * friction * np.cos(slope)) for sign in (1.0, -1.0))
    turn, late, errors = start / up, 0.6, []
    right = -0.5 * start**2 / up + 0.5 * down * (late - turn) ** 2
    for dt in (1e-3, 5e-4):
        model = sloped(slope, friction, Box((2 * R,) * dimension), 2 / 3 * MASS * R**2, dimension)
        model.bodies["solid"] = replace(model.bodies["solid"], velocity=(-start, 0.0, 0.0)[:dimension])
        with Simulation(model, dt, coupling) as simulation:
            errors.append(abs(simulation.run(late).position("solid.G")[-1, 0] - right))
    assert max(errors) < 1e-4, errors


@pytest.mark.parametrize(("coupling", "restitution"), each_once(COUPLINGS.values(), [1.0, 0.6, 0.0]), ids=named)
def test_two_balls_part_with_their_restitution_and_keep_their_momentum(coupling, restitution):
    model = Assembly(gravity=(0.0, 0.0, 0.0))
    put(model, "one", (0.0, 0.0, 0.0), velocity=(2.0, 0.0, 0.0))
    put(model, "other", (0.4, 0.0, 0.0), mass=3.0)
    model.apply("blow", Contact(Sphere(R), Sphere(R), restitution=restitution, friction=0.3), "one.G", "other.G")
    with Simulation(model, 1e-3, coupling) as simulation:
        run = simulation.run(0.3)
    one, other = run.velocity("one.G")[-1], run.velocity("other.G")[-1]
    np.testing.assert_allclose(other - one, (2.0 * restitution, 0.0, 0.0), atol=1e-9)
    np.testing.assert_allclose(MASS * one + 3.0 * other, (2.0 * MASS, 0.0, 0.0), atol=1e-12)
    lost = 0.5 * (1.0 - restitution**2) * 2.0**2 / (1.0 / MASS + 1.0 / 3.0)
    ledger = {line: series[-1] for line, series in run.ledger("blow").items()}
    np.testing.assert_allclose(run.energy[0] - run.energy[-1], lost, atol=1e-9)
    np.testing.assert_allclose(ledger["dissipated"], lost, atol=1e-9)
    assert abs(ledger["leaked"]) < 1e-9


def test_the_scenarios_are_what_they_say():
    with Simulation(scenarios.load("bouncing-ball", restitution=0.7), 1e-3) as simulation:
        run = simulation.run(1.0)
    law, _ = bounces(run.time, 1.0, 0.7)
    assert np.abs(run.position("ball.centre")[:, 2] - 0.1 - law).max() < 3e-3  # within the tick of a bounce
    with Simulation(scenarios.load("stacked-boxes"), 1e-3) as simulation:
        run = simulation.run(1.5)
    assert np.abs(run.position("box5.centre")[-1] - run.position("box5.centre")[0]).max() < 2e-3
    with Simulation(scenarios.load("stacked-boxes", speed=6.0), 1e-3) as simulation:
        run = simulation.run(2.0)
    assert run.energy.max() < run.energy[0] * (1 + 1e-6)
    for k in range(1, 6):
        np.testing.assert_allclose(run.position(f"box{k}.centre")[-1, 2], 0.1, atol=1e-3)  # all lie on the ground


def test_balls_in_a_row_pass_a_blow_on():
    model = Assembly(gravity=(0.0, 0.0, 0.0))
    for k in range(4):
        put(model, f"ball{k}", (k * (2 * R + 0.01), 0.0, 0.0), velocity=(float(k == 0), 0.0, 0.0))
    for k in range(3):
        model.apply(f"blow{k}", Contact(Sphere(R), Sphere(R), restitution=1.0), f"ball{k}.G", f"ball{k + 1}.G")
    with Simulation(model, 1e-3) as simulation:
        run = simulation.run(0.1)
    found = [run.velocity(f"ball{k}.G")[-1, 0] for k in range(4)]
    np.testing.assert_allclose(found, [0.0, 0.0, 0.0, 1.0], atol=1e-9)


def test_a_ball_that_hits_the_ground_aslant_is_set_spinning():
    """Friction takes at most mu (1 + e) m v_n; where it sticks, the point that touches stops: v = 5/7 v_t of a solid ball."""
    for friction, law in ((0.05, 2.0 - 0.05 * 1.5 * 3.0), (0.9, 2.0 * 5.0 / 7.0)):
        model = Assembly(gravity=(0.0, 0.0, 0.0))
        put(model, "ball", (0.0, 0.0, 0.5), velocity=(2.0, 0.0, -3.0))
        model.apply("floor", Contact(HalfSpace(), Sphere(R), restitution=0.5, friction=friction), "ground", "ball.G")
        with Simulation(model, 1e-3) as simulation:
            run = simulation.run(0.4)
        np.testing.assert_allclose(run.velocity("ball.G")[-1], (law, 0.0, 1.5), atol=1e-4)


@pytest.mark.parametrize("coupling", [Penalty(), Glued()], ids=["springs", "glued"])
@pytest.mark.parametrize("friction", [0.0, 0.4])
def test_the_books_of_a_damped_contact_close(coupling, friction):
    """A damper that holds back a spring which comes off takes what that still holds: 5 % of all were missing, at every step."""
    left = []
    for dt in (1e-3, 1e-4):
        model = Assembly(gravity=(0.0, 0.0, -G))
        put(model, "ball", (0.0, 0.0, 0.5), velocity=(1.0, 0.0, 0.0))
        law = Contact(HalfSpace(), Sphere(R), friction=friction, stiffness=1e5, damping=60.0)
        model.apply("floor", law, "ground", "ball.G")
        with Simulation(model, dt, coupling) as simulation:
            run = simulation.run(0.45)
        ledger = run.ledger("floor")
        assert run.energy[0] - run.energy[-1] > 1.0
        left.append(abs(ledger["leaked"][-1]) / ledger["dissipated"][-1])
    assert left[0] < 5e-2 and left[1] < 1e-3, left


def stack(dimension=3, count=5, **more):
    """Boxes on each other, each a little beside the one below."""
    model = Assembly(gravity=(0.0, 0.0, -G)[-dimension:])
    box = Box((2 * R,) * dimension)
    for k in range(count):
        at = (0.01 * (k % 2), -0.007 * (k % 3), R + 2 * R * k)
        put(model, f"box{k}", at if dimension == 3 else at[::2], inertia=MASS * (2 * R) ** 2 / 6)
        below, shape = (f"box{k - 1}.G", box) if k else ("ground", HalfSpace())
        model.apply(f"contact{k}", Contact(shape, box, friction=0.5, **more), below, f"box{k}.G")
    return model


@pytest.mark.short(3)
@coupled
@both
def test_a_stack_of_five_boxes_stays_at_rest(coupling, dimension):
    """Once its springs have given way it sways by less than 0.3 mm, and ever less (a minute of it: the next test)."""
    with Simulation(stack(dimension), 1e-3, coupling) as simulation:
        run = simulation.run(6.0)
    places = np.array([run.position(f"box{k}.G") for k in range(5)])
    assert np.abs(places - places[:, 1000:1001])[:, 1000:].max() < 3e-4
    assert np.abs(places - places[:, :1]).max() < 3e-3  # its springs give way
    assert run.energy.max() <= run.energy[0] * (1 + 1e-9)


@pytest.mark.campaign
def test_a_stack_of_five_boxes_stays_where_it_is_for_a_minute():
    with Simulation(stack(), 1e-3, record_every=100) as simulation:
        run = simulation.run(60.0)
    places = np.array([run.position(f"box{k}.G") for k in range(5)])
    assert np.abs(places - places[:, 10:11])[:, 10:].max() < 1e-3
    assert np.abs(places[:, -1] - places[:, -100]).max() < 1e-5


SHAPES = {"sphere": Sphere(0.1), "capsule": Capsule(0.06, 0.2), "box": Box((0.2, 0.15, 0.12))}


def thrown(first, second, seed, restitution=0.3, friction=0.4):
    """Two bodies thrown at each other, over a floor."""
    rng = np.random.default_rng(seed)
    model = Assembly(gravity=(0.0, 0.0, -G))
    put(model, "lower", (0.0, 0.0, 0.25), 0.006, angular_velocity=tuple(rng.normal(size=3)))
    put(model, "upper", (*(0.05 * rng.normal(size=2)), 0.6), 0.005, velocity=tuple(0.5 * rng.normal(size=3)),
        angular_velocity=tuple(2.0 * rng.normal(size=3)))  # fmt: skip
    for name, shape in (("lower", first), ("upper", second)):
        model.apply(f"{name}-floor", Contact(HalfSpace(), shape, friction, restitution), "ground", f"{name}.G")
    model.apply("each-other", Contact(first, second, friction, restitution), "lower.G", "upper.G")
    return model


@pytest.mark.short(3)
@pytest.mark.parametrize("first", SHAPES)
@pytest.mark.parametrize("second", SHAPES)
def test_bodies_that_fall_on_each_other_come_to_rest_and_make_no_energy(first, second):
    for seed in range(3):
        model = thrown(SHAPES[first], SHAPES[second], seed)
        with Simulation(model, 1e-3) as simulation:
            run = simulation.run(2.5)
        assert run.energy.max() <= run.energy[0] * (1 + 1e-4)
        assert run.energy[-1] < 0.6 * run.energy[0]
        for name in ("lower", "upper"):
            assert run.position(f"{name}.G")[:, 2].min() > 0.055  # nobody sinks in
        for name in model.forces:
            # bodies that an impact has turned: order 1
            assert abs(run.ledger(name)["leaked"][-1]) < 0.05 * run.energy[0]


def test_a_hand_that_presses_a_box_on_the_ground_does_not_blow_it_up():
    model = Assembly(gravity=(0.0, 0.0, -G))
    put(model, "box", (0.0, 0.0, 0.3), MASS * (2 * R) ** 2 / 6)
    model.apply("floor", Contact(HalfSpace(), Box((2 * R,) * 3), friction=0.5), "ground", "box.G")
    with Simulation(model, 1e-3) as simulation:
        simulation.run(0.1)
        simulation.apply("hand", Hand(2000.0, 60.0, 60.0, target=(0.0, 0.0, 0.3)), "box.G")
        for k, target in enumerate(((0.2, 0.1, -0.5), (-0.3, 0.2, -0.2), (0.0, 0.0, 0.4), (0.1, 0.0, -1.0))):
            simulation.aim("hand", np.array(target))
            run = simulation.run(0.1 + 0.3 * (k + 1))
        assert np.abs(run.velocity("box.G")).max() < 10.0
        assert run.position("box.G")[:, 2].min() > R - 0.01
        simulation.remove("hand")
        run = simulation.run(3.0)
    assert np.abs(run.velocity("box.G")[-1]).max() < 1e-6
    np.testing.assert_allclose(run.position("box.G")[-1, 2], R, atol=1e-4)


def test_a_given_stiffness_has_the_margin_of_the_exact_bound_and_sinks_in_by_what_it_carries():
    """dt^2 k / m + 2 dt c / m < 4: a damper that reads where things were a tick ago counts half of one of velocities."""
    dt = 1e-3
    for stiffness, damping in ((1e4, 40.0), (1e6, 300.0), (8e6, 0.0)):
        model = Assembly(gravity=(0.0, 0.0, -G))
        put(model, "ball", (0.0, 0.0, R))
        model.apply("spring", Contact(HalfSpace(), Sphere(R), stiffness=stiffness, damping=damping), "ground", "ball.G")
        with Simulation(model, dt) as simulation:
            margin = simulation.margins["spring"]
            asked = margin**2 * dt**2 * stiffness / MASS + margin * 2.0 * dt * damping / MASS
            assert 0.97 * 4.0 <= asked <= 4.0 * (1 + 1e-9)
            if margin > 1.0:
                run = simulation.run(0.5)
                np.testing.assert_allclose(run.position("ball.G")[-1, 2], R - MASS * G / stiffness, atol=1e-6)


def pendulum(coupling):
    """A hinged rod that falls on a post."""
    model = Assembly(gravity=(0.0, 0.0, -G))
    model.add("rod", Rod((0, 0, 0), (1, 0, 0), 1.0, radius=0.03))
    model.join("hinge", Revolute((0, 1, 0)), "ground", "rod.start")
    model.apply(
        "post",
        Contact(Box((0.1, 0.2, 0.2), centre=(0.9, 0.0, -0.4)), Sphere(0.03), restitution=0.5),
        "ground",
        "rod.end",
    )
    return Simulation(model, 2e-4, coupling)


@pytest.mark.parametrize("coupling", [Penalty(), Glued()], ids=["penalty", "glued"])
def test_a_hinged_rod_comes_to_rest_on_a_post(coupling):
    with pendulum(coupling) as simulation:
        run = simulation.run(3.0)
    assert run.energy.max() <= run.energy[0] + 1e-3
    assert np.abs(run.velocity("rod.end")[-1]).max() < 1e-3
    assert run.position("rod.end")[:, 2].min() > -0.35


def mixed_bag():
    """A pile, with joints in it."""
    model = stack(3, 3, restitution=0.2)
    put(model, "ball", (0.02, 0.01, 1.0), velocity=(0.1, 0.0, -1.0))
    model.apply("blow", Contact(Box((2 * R,) * 3), Sphere(R), friction=0.3, restitution=0.4), "box2.G", "ball.G")
    model.add("arm", Rod((0.02, 0.01, 1.0), (0.6, 0.01, 1.0), 0.4, radius=0.02, velocity=(0.1, 0.0, -1.0)))
    model.join("wrist", Revolute((0, 1, 0)), "ball.G", "arm.start")
    return model


@pytest.mark.short(1)
@pytest.mark.filterwarnings("ignore:contact 'blow'. Relaxed finds blows as if no glued joints held what they strike")
@pytest.mark.parametrize("coupling", [Glued(), Penalty(), *more([Relaxed()])], ids=named)
def test_single_steps_stacks_of_their_own_and_workers_have_the_same_bits(coupling):
    def played(step=False, **settings):
        with Simulation(mixed_bag(), 1e-3, coupling, **settings) as simulation:
            while step and simulation.tick < 120:
                simulation.step()
            simulation.run(0.12)
            simulation.cut("wrist")
            return simulation.run(0.2).digest

    digests = {played(), played(step=True), played(grouped=False)}
    digests |= {played(workers=2, launcher="here"), played(workers=scattered(mixed_bag(), 2), launcher="here")}
    assert len(digests) == 1


def test_a_run_that_goes_on_from_a_checkpoint_has_the_same_bits(tmp_path):
    with Simulation(mixed_bag(), 1e-3) as simulation:
        whole = simulation.run(0.25).digest
    with Simulation(mixed_bag(), 1e-3) as simulation:
        simulation.run(0.14, checkpoints=tmp_path / "kept")
    with resume(tmp_path / "kept") as simulation:
        assert simulation.run(0.25).digest == whole


def test_a_point_mass_and_a_rod_touch_the_ground():
    """A point mass has no axes, and a rod only one: spheres and a capsule along it."""
    model = Assembly(gravity=(0.0, 0.0, -G))
    model.add("rod", Rod((0, 0, 0.3), (1, 0, 0.5), 1.0))
    model.add("masses", PointMassRod((0, 1, 0.3), (1, 1, 0.4), (0.5, 0.5)))
    model.apply(
        "a",
        Contact(HalfSpace(), Capsule(0.05, np.sqrt(1.04), axis=(1.0, 0.0, 0.2), centre=(0.5, 0.0, 0.1)), 0.3),
        "ground",
        "rod.start",
    )
    model.apply("b", Contact(HalfSpace(), Sphere(0.05), 0.3), "ground", "masses.start")
    model.apply("c", Contact(HalfSpace(), Sphere(0.05), 0.3), "ground", "masses.end")
    with Simulation(model, 1e-3) as simulation:
        run = simulation.run(2.0)
    for port in ("rod.start", "rod.end", "masses.start", "masses.end"):
        np.testing.assert_allclose(run.position(port)[-1, 2], 0.05, atol=1e-4)
        assert np.abs(run.velocity(port)[-1]).max() < 1e-6


@pytest.mark.parametrize("coupling", [Penalty(), Glued()], ids=["penalty", "glued"])
def test_a_place_that_looks_like_a_direction_is_none(coupling):
    """A floor at (0, 1) with its normal along (0, 1), and a disc that starts at (1, 0) with its first axis along (1, 0)."""
    model = Assembly(gravity=(0.0, -G))
    put(model, "disc", (1.0, 0.0), 0.5 * MASS * R**2)
    model.apply("wall", Contact(HalfSpace(normal=(-1.0, 0.0), centre=(1.0 + R, 0.0)), Sphere(R)), "ground", "disc.G")
    model.apply("floor", Contact(HalfSpace(centre=(0.0, -1.0)), Sphere(R), 0.5), "ground", "disc.G")
    put(model, "other", (0.0, 1.5), 0.5 * MASS * R**2)
    model.apply("shelf", Contact(HalfSpace(centre=(0.0, 1.0)), Box((2 * R, 2 * R))), "ground", "other.G")
    with Simulation(model, 1e-3, coupling) as simulation:
        run = simulation.run(1.5)
    np.testing.assert_allclose(run.position("disc.G")[-1], (1.0, -1.0 + R), atol=1e-4)
    np.testing.assert_allclose(run.position("other.G")[-1], (0.0, 1.0 + R), atol=1e-4)


@pytest.mark.filterwarnings("ignore:contact 'floor'.* inside:coordinator.StartWarning")
@both
def test_what_sticks_beside_the_only_joint_while_that_is_made_bears_and_carries(dimension):
    """How bodies answer is known to what touches before the joint looks for what it carries."""
    model = ball(0.0, -1e-4, dimension)
    put(model, "other", (0.3, -0.2, 5.0 * R)[-dimension:])
    model.apply("between", Contact(Sphere(2.2 * R), Sphere(2.0 * R), friction=0.4, stiffness=1e3), "ball.G", "other.G")
    model.join("held", Revolute(), "ground", "other.G")
    with Simulation(model, 1e-4, Penalty()) as simulation:
        run = simulation.run(0.01)
    assert np.abs(run.position("other.G") - run.position("other.G")[0]).max() < 1e-5
    assert run.ledger("between")["stored"].max() > 0.0


@pytest.mark.parametrize(
    ("coupling", "said"), [(Centralized(HHT()), "can only step forward"), (Glued(order=4), "take order=2")]
)
def test_couplings_that_go_back_and_forth_refuse_it(coupling, said):
    with pytest.raises(CouplingError) as refused:
        Simulation(ball(0.5, 0.1), 1e-3, coupling)
    assert "floor" in str(refused.value)
    assert said in str(refused.value)


@pytest.mark.parametrize(
    ("contact", "said"),
    [
        (Contact(HalfSpace(), HalfSpace()), "two half spaces do not touch"),
        (Contact(HalfSpace(normal=(0, 0, 0)), Sphere(0.1)), "first: normal"),
        (Contact(HalfSpace(), Sphere(-0.1)), "second: radius = -0.1"),
        (Contact(HalfSpace(), Box((0.1, 0.2))), "second: size"),
        (Contact(HalfSpace(), Capsule(0.1, 0.0)), "length = 0.0"),
        (Contact(HalfSpace(), Sphere(0.1), friction=-1.0), "friction = -1.0"),
        (Contact(HalfSpace(), Sphere(0.1), restitution=1.5), "restitution = 1.5; give a number from 0 to 1"),
        (Contact(HalfSpace(), Sphere(0.1), damping=1.0), "damping = 1.0 without a stiffness"),
        (Contact("floor", Sphere(0.1)), "first = 'floor' is not a shape"),
    ],
)
def test_contacts_that_cannot_be_are_refused_by_name(contact, said):
    model = ball(0.5, 0.2)
    with pytest.raises(ModelError) as refused:
        model.apply("wrong", contact, "ground", "ball.G")
    assert "'wrong'" in str(refused.value)
    assert said in str(refused.value)


@pytest.mark.parametrize("radius", [0.0, 1e-9, 0.05])
def test_a_brick_slides_on_points_as_on_balls(radius):
    """On four feet, of whatever size: g (sin - mu cos), without turning; what one point presses on is no area."""
    model = Assembly(gravity=(3.0, 0.0, -9.0))
    model.add("brick", RigidBody(mass=2.0, inertia=(0.02, 0.01, 0.02), centre=(0, 0, 0.1), ports={"p": (0, 0, 0.1)}))
    for k, (x, y) in enumerate(((-0.1, -0.15), (-0.1, 0.15), (0.1, -0.15), (0.1, 0.15))):
        foot = Sphere(radius, (x, y, radius - 0.1))
        model.apply(f"foot{k}", Contact(HalfSpace((0, 0, 1)), foot, friction=0.2), "ground", "brick.p")
    with Simulation(model, 1e-3, Glued()) as simulation:
        run = simulation.run(0.6)
    np.testing.assert_allclose(run.position("brick.p")[:, 0], 0.5 * 1.2 * run.time**2, atol=6e-4)
    assert np.abs(run.angular_velocity("brick")).max() < 1e-6
