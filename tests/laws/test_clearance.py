"""Hinges with play: nothing within it, a wall beyond it."""

import numpy as np
import pytest

import both_ways
import scenarios
from campaign import each_once, named
from components import Clearance, PointMassRod, Prismatic, Revolute, RigidBody, Rod, Spherical, Stop
from coordinator import Centralized, Checkpoints, Glued, Mixed, Penalty, Relaxed, Simulation, resume
from modular import Assembly, ModelError

G, PLAY = 9.81, 1e-3


def dropped(restitution, dimension=2, slow=2e-2):
    """A ball in the middle of its socket, let go; a rail keeps it upright."""
    model = Assembly(gravity=(0.0, -G, 0.0)[:dimension])
    zero = (0.0,) * dimension
    inertia = 0.1 if dimension == 2 else (0.1, 0.1, 0.1)
    model.add("ball", RigidBody(mass=2.0, inertia=inertia, centre=zero, ports={"at": zero}))
    model.apply("socket", Clearance(PLAY, stiffness=2e6, restitution=restitution, slow=slow), "ground", "ball.at")
    return model


@pytest.mark.parametrize(("dimension", "coupling"), each_once([3, 2], [Penalty(), Glued(), Centralized()]), ids=named)
def test_a_ball_falls_through_the_play_and_comes_to_rest_on_the_wall(coupling, dimension):
    """Free fall until sqrt(2 p / g); at last it hangs m g / k below the play, and the energy of the way down is gone."""
    dt = 5e-5 if isinstance(coupling, Centralized) else 2e-5
    with Simulation(dropped(0.3, dimension), dt, coupling, record_every=round(2e-4 / dt)) as simulation:
        run = simulation.run(0.16 if dimension == 2 else 0.02)
    y, t = run.position("ball.at")[:, 1], run.time
    free = t < np.sqrt(2 * PLAY / G)
    assert y[free] == pytest.approx(-0.5 * G * t[free] ** 2, abs=1e-9)
    assert y.min() > -1.2 * PLAY  # sqrt(m / k) v deep
    if dimension == 2:
        weight, slack = (
            2.0 * G,
            2.0 * G / (2e6 * 0.5 * (1 + 0.3**2)),
        )  # at rest half of what it gives back, half of what it took
        rest = PLAY + slack
        assert y[-1] == pytest.approx(-rest, abs=1e-3 * slack)
        lines = run.ledger("socket")
        assert lines["dissipated"][-1] == pytest.approx(weight * rest - 0.5 * 2e6 * slack**2, rel=1e-3)


COUPLINGS = [Penalty(), Glued(), Relaxed()]


@pytest.mark.parametrize(("dimension", "coupling"), each_once([2, 3], COUPLINGS), ids=named)
def test_a_journal_that_begins_in_the_middle_is_held_by_a_wall_of_our_choice(coupling, dimension):
    """In the middle the distance has no direction yet; the stiffness of the wall is chosen there all the same."""
    model = Assembly(gravity=(0.0, -G, 0.0)[:dimension])
    end = (1.0, 0.0, 0.0)[:dimension]
    model.add("rod", Rod((0.0,) * dimension, end, 1.0, *([0.05] if dimension == 3 else [])))
    model.apply("play", Clearance(PLAY), "ground", "rod.start")
    with Simulation(model, 1e-3, coupling) as simulation:
        run = simulation.run(1.0)
    # in the middle all ways count together, three of them in space: the wall gives way by more
    assert PLAY < np.linalg.norm(run.position("rod.start"), axis=1).max() < {2: 1.5, 3: 2.0}[dimension] * PLAY
    lowest = run.position("rod.end")[:, 1].min()
    assert lowest == pytest.approx(-1.0, abs=0.05)  # it swings like one that has no play


def on_its_stop():
    model = Assembly(gravity=(0.0, -G))
    model.add("rod", Rod((0, 0), (1, 0), 1.0))
    model.join("pivot", Revolute(), "ground", "rod.start")
    model.apply("stop", Stop(low=-0.3, restitution=0.5), "ground", "rod.start")
    return model


@pytest.mark.parametrize("coupling", [Penalty(), Glued()], ids=named)
def test_who_goes_on_while_it_leans_on_a_wall_has_the_same_bits(coupling, tmp_path):
    """What was seen when the wall was made belongs to what is saved."""
    with Simulation(on_its_stop(), 1e-3, coupling) as simulation:
        simulation.run(0.45)
        Checkpoints(tmp_path).write(simulation)
        assert simulation.ledger("stop")["stored"] != 0.0 or simulation.ledger("stop")["dissipated"] > 0.0
        whole = simulation.run(0.6).digest
    with resume(tmp_path) as simulation:
        assert simulation.run(0.6).digest == whole


@pytest.mark.parametrize("dt", [2e-3, 1e-3, 2.5e-4])
@pytest.mark.parametrize("coupling", COUPLINGS, ids=named)
def test_a_pendulum_that_falls_on_a_stop_stays_there_whatever_the_step(coupling, dt):
    """What a restitution asks where a wall is left is no damper that no step can bear; it ends at rest on the wall."""
    with Simulation(on_its_stop(), dt, coupling) as simulation:
        run = simulation.run(3.0)
    x, y = run.position("rod.end").T
    angle = np.arctan2(y, x)
    assert -0.3 - 12.0 * dt < angle.min() < -0.3
    assert angle[-1] == pytest.approx(-0.3, abs=2.0 * dt)
    assert np.ptp(angle[run.time > 2.8]) < 0.2 * dt


def test_it_leaves_a_wall_with_its_share_of_energy():
    """m g (p + x) = k x^2 / 2 on the way in, of which e^2 lifts it from the wall by h: m g (x + h) = e^2 k x^2 / 2."""
    model = dropped(0.6, slow=2e-3)
    model.join("rail", Prismatic(axis=(0.0, 1.0)), "ground", "ball.at")
    with Simulation(model, 5e-6, Glued(), record_every=4) as simulation:
        run = simulation.run(0.033)
    y, v = run.position("ball.at")[:, 1], run.velocity("ball.at")[:, 1]
    after = np.flatnonzero((v[1:] < 0.0) & (v[:-1] >= 0.0))  # highest places: the first is where it began
    give = 2.0 * G / 2e6
    depth = give + np.sqrt(give**2 + 2 * give * PLAY)
    assert y.min() + PLAY == pytest.approx(-depth, rel=1e-3)
    assert y[after[1]] + PLAY == pytest.approx(0.36 * (PLAY + depth) - depth, rel=1e-2)


def crank(play):
    """A driven slider-crank whose elbow has play."""
    return scenarios.load("worn-crank", play=play)


def test_the_smaller_the_play_the_nearer_the_crank_without():
    with Simulation(crank(0.0), 5e-5, record_every=20) as simulation:
        exact = simulation.run(0.3)
    apart = []
    for play in (2e-3, 1e-3, 5e-4):
        with Simulation(crank(play), 5e-5, record_every=20) as simulation:
            run = simulation.run(0.3)
        gap = np.linalg.norm(run.position("rod.start") - run.position("crank.end"), axis=1)
        assert play < gap.max() < play + 2e-4  # it meets the wall, which hardly gives way
        apart.append(np.abs(run.position("rod.end") - exact.position("rod.end")).max())
    assert apart[0] < 3 * 2e-3
    assert apart[2] < apart[1] < apart[0]


def test_a_worn_crank_has_the_same_bits_among_workers():
    both_ways.same(lambda: crank(1e-3), 1e-4, 0.02, {"one": ["crank"], "two": ["rod"]})


def test_a_chain_with_play_swings_under_a_mixture():
    model = Assembly(gravity=(0.0, -G, 0.0))
    for k in range(3):
        model.add(f"link{k}", PointMassRod((0.3 * k, 0, 0), (0.3 * (k + 1), 0, 0), (0.5, 0.4)))
    model.join("top", Spherical(), "ground", "link0.start")
    model.apply("first", Clearance(PLAY), "link0.end", "link1.start")
    model.join("last", Spherical(), "link1.end", "link2.start")
    with Simulation(model, 1e-4, Mixed(joints={"top": "penalty"})) as simulation:
        run = simulation.run(0.2)
    gap = np.linalg.norm(run.position("link1.start") - run.position("link0.end"), axis=1)
    assert PLAY < gap.max() < 1.5 * PLAY


def test_play_that_is_none_is_refused_by_name():
    model = Assembly(gravity=(0.0, -G))
    model.add("ball", RigidBody(mass=2.0, inertia=0.1, centre=(0, 0), ports={"at": (0, 0)}))
    for text, data in (
        ("Revolute", {"play": 0.0}),
        ("play", {"play": -1.0}),
        ("restitution", {"play": 1e-3, "restitution": 2.0}),
    ):
        with pytest.raises(ModelError, match=f"clearance 'worn'.*{text}"):
            model.apply("worn", Clearance(**data), "ground", "ball.at")
