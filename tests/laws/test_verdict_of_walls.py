"""Walls as stiff as the step allows give way for some ticks: by how much bounces come late a run says, against rigid ones."""

import itertools
import warnings
from dataclasses import replace

import numpy as np
import pytest

from campaign import first_of
from components import (
    Box,
    Clearance,
    Contact,
    Fixed,
    Friction,
    HalfSpace,
    Revolute,
    RigidBody,
    Rod,
    Sphere,
    SpringDamper,
    Stop,
)
from coordinator import Glued, Penalty, Run, Simulation, VerdictWarning
from modular import Assembly, Integrator, Newmark

G, DEEP, LOW, PLAY = 9.81, 0.3, -0.3, 0.02


def rigid(times, state, rates, gap, bounce, fine=10):
    """States at these times between rigid walls: Runge and Kutta's step, cut where a wall is met; slow bounces end at rest."""

    def step(state, dt):
        k1 = rates(state)
        k2 = rates(state + 0.5 * dt * k1)
        k3 = rates(state + 0.5 * dt * k2)
        return state + dt / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + rates(state + dt * k3))

    found, rests = [np.array(state, float)], False
    for span in np.diff(times):
        state, left = found[-1], span
        while left > 0.0 and not rests:
            part = min(left, span / fine)
            if gap(step(state, part)) < 0.0:
                low, high = 0.0, part
                for _ in range(50):
                    low, high = (
                        (middle, high) if gap(step(state, middle := 0.5 * (low + high))) > 0.0 else (low, middle)
                    )
                part, state = low, bounce(step(state, low))
                rests = bounce.speed < 1e-3
            else:
                state = step(state, part)
            left -= part
        found.append(state)
    return np.array(found)


class Bounce:
    """Newton's law at a wall; `speed` is that with which it was left last."""

    def __init__(self, restitution, normal):
        self.restitution, self.normal, self.speed = restitution, normal, np.inf

    def __call__(self, state):
        half = len(state) // 2
        along = self.normal(state[:half])
        coming = state[half:] @ along
        self.speed = self.restitution * abs(coming)
        return np.concatenate([state[:half] - 1e-12 * along, state[half:] - (1.0 + self.restitution) * coming * along])


def ball(restitution):
    """Falls on a stop."""
    model = Assembly(gravity=(0.0, -G))
    ports = {"at": (0, 0), "low": (0, -1.0)}
    model.add("body", RigidBody(mass=1.0, inertia=0.01, centre=(0, 0), ports=ports))
    model.apply("wall", Stop(low=-DEEP, restitution=restitution, measure="way", axis=(0, 1)), "ground", "body.at")
    bounce = Bounce(restitution, lambda x: np.array([-1.0]))
    flight = ([0.0, 0.0], lambda s: np.array([s[1], -G]), lambda s: s[0] + DEEP, bounce)
    return model, flight, lambda s: np.stack([np.zeros(len(s)), s[:, 0]], axis=1)


def rod(restitution):
    """Is thrown upwards about a pin, and falls on a stop of its hinge."""
    model = Assembly(gravity=(0.0, -G))
    model.add("body", Rod((0, 0), (1, 0), 1.0, angular_velocity=2.0, velocity=(0, 1.0)))
    model.join("pin", Revolute(), "ground", "body.start")
    model.apply("wall", Stop(low=LOW, restitution=restitution), "ground", "body.start")
    bounce = Bounce(restitution, lambda x: np.array([-1.0]))
    flight = ([0.0, 2.0], lambda s: np.array([s[1], -1.5 * G * np.cos(s[0])]), lambda s: s[0] - LOW, bounce)
    return model, flight, lambda s: np.stack([np.cos(s[:, 0]), np.sin(s[:, 0])], axis=1)


def pin(restitution):
    """Is thrown about in a bush with play."""
    model = Assembly(gravity=(0.0, -G))
    ports = {"at": (0, 0), "far": (0.1, 0)}
    model.add("body", RigidBody(mass=1.0, inertia=0.01, centre=(0, 0), ports=ports, velocity=(0.6, 0.2)))
    model.apply("wall", Clearance(PLAY, restitution=restitution), "ground", "body.at")
    bounce = Bounce(restitution, lambda x: x / np.linalg.norm(x))
    fall = np.array([0.0, -G])
    flight = (
        [0.0, 0.0, 0.6, 0.2], lambda s: np.concatenate([s[2:], fall]), lambda s: PLAY - np.hypot(*s[:2]), bounce
    )  # fmt: skip
    return model, flight, lambda s: s[:, :2]


def bounced(restitution):
    """A ball on a floor: impacts are in one instant, and what rests does so on springs."""
    model = Assembly(gravity=(0.0, -G))
    ports = {"at": (0, 0), "low": (0, -1.0)}
    model.add("body", RigidBody(mass=1.0, inertia=0.01, centre=(0, 0), ports=ports))
    floor = Contact(HalfSpace(centre=(0, -DEEP - 0.1)), Sphere(0.1), restitution=restitution)
    model.apply("wall", floor, "ground", "body.at")
    return model, *ball(restitution)[1:]


MADE = {"ball": (ball, "at", 1.5), "bounced": (bounced, "at", 1.5), "rod": (rod, "end", 1.5), "pin": (pin, "at", 0.2)}
RESTITUTIONS = {
    "ball": [1.0, 0.3, 0.0, 0.7, 0.9],
    "bounced": [0.9, 0.0, 0.5, 1.0],
    "rod": [0.0, 1.0, 0.5],
    "pin": [1.0, 0.8],
}
STEPS = {
    "ball": [1e-2, 1e-3, 1e-4],
    "bounced": [1e-2, 3e-3, 1e-3],
    "rod": [1e-2, 1e-3, 1e-4],
    "pin": [2e-3, 1e-3, 1e-4],
}
CASES = [
    (name, restitution, dt)
    for name in MADE
    for restitution, dt in itertools.product(RESTITUTIONS[name], STEPS[name])
]  # fmt: skip
BOUNCING = first_of(
    3,
    [("rod", 0.5), ("ball", 0.9), ("pin", 0.8), ("rod", 0.0), ("rod", 1.0), ("ball", 0.0), ("ball", 1.0), ("rod", 0.7)],
)
FIRST = [
    ("ball", 1.0, 1e-3),
    ("ball", 0.3, 1e-2),
    ("bounced", 0.0, 1e-3),
    ("rod", 0.0, 1e-3),
    ("rod", 0.5, 1e-4),
    ("pin", 1.0, 1e-3),
]


def ran(model, dt, coupling, until, every=1):
    with Simulation(model, dt, coupling, record_every=every) as simulation, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return simulation.run(until)


def judged(name, restitution, dt, coupling):
    """A run, and by what share of the extent it is off."""
    made, port, until = MADE[name]
    model, flight, shown = made(restitution)
    every = 1 if name == "bounced" else max(1, round(until / 300 / dt))  # what is off at a blow is right a tick later
    run = ran(model, dt, coupling, until, every=every)
    apart = run.position(f"body.{port}") - shown(rigid(run.time, *flight))
    return run, np.linalg.norm(apart, axis=1).max() / run.estimate["extent"]


@pytest.mark.parametrize(
    ("name", "restitution", "dt"), first_of(2, [*FIRST, *(case for case in CASES if case not in FIRST)])
)
def test_how_late_bounces_come_is_told_within_a_factor_of_ten(name, restitution, dt):
    """2.5 (1 + e) v dt at each, more where joints make what touches heavier; and speeds that are not e v."""
    for coupling in (Penalty(), Glued()):
        run, error = judged(name, restitution, dt, coupling)
        assert error > 1e-6 or name == "bounced"  # between glued joints impacts are exact
        if error > 1e-6:
            assert error / 10.0 < run.estimate["share"] < 10.0 * error, (coupling, error, run.estimate)
            # joints lose at blows
            most = max(run.estimate["late"], run.estimate["swallowed"] if coupling == Penalty() else 0.0)
            assert most > 0.5 * run.estimate["share"] and run.estimate["wall"] == "wall"


@pytest.mark.parametrize("coupling", [Penalty(), Glued()], ids=["springs", "glued"])
@pytest.mark.parametrize("dt", [1e-2, 1e-3])
def test_what_rests_on_springs_of_a_contact_sinks_in_by_what_the_run_says(dt, coupling):
    """3.3 g dt^2, and a little more where it comes to rest; from the start on not at all, nor where nothing else holds it.

    A stiffness of its own is the model.
    """
    for stiffness, drop, held in (
        (None, 3.0 * G * dt**2, True), (None, 3.0 * G * dt**2, False), (None, 0.0, True), (None, 0.0, False), (1e4, 0.0, False)
    ):  # fmt: skip
        model = Assembly(gravity=(0.0, -G))
        ports = {"at": (0, 0.1 + drop), "far": (0, 1.1 + drop)}
        model.add("body", RigidBody(mass=1.0, inertia=0.01, centre=(0, 0.1 + drop), ports=ports))
        model.apply("floor", Contact(HalfSpace(), Sphere(0.1), stiffness=stiffness), "ground", "body.at")
        if held:
            model.apply("thread", SpringDamper(1e-9, length=1.0), "ground", "body.far", at=(0, 2.1))
        run = ran(model, dt, coupling, 0.5)
        deep = 0.1 - run.position("body.at")[-1, 1]
        if drop and not held:
            assert abs(deep) < 1e-3 * G * dt**2 and run.estimate["share"] < 3.0 * G * dt**2
        elif drop:
            assert deep == pytest.approx(1 / 0.3 * G * dt**2, rel=1e-2)
            assert deep < run.estimate["share"] < 3.0 * deep and run.estimate["wall"] == "floor"
        elif stiffness is None:
            assert abs(deep) < 1e-9 * G * dt**2 and run.estimate["share"] < 1e-9
        if stiffness is not None or not drop:
            assert run.estimate["late"] < 1e-12


@pytest.mark.parametrize("coupling", [Penalty(), Glued()], ids=["springs", "glued"])
@pytest.mark.parametrize("friction", [0.31, 0.5])
def test_what_rests_is_not_spoken_against(friction, coupling):
    """A block with one port, on a slope that just holds it: nothing moves, and nobody says that it does."""
    model = Assembly(gravity=(G * np.sin(0.3), -G * np.cos(0.3)))
    model.add("block", RigidBody(mass=2.0, inertia=0.0133, centre=(0, 0.1), ports={"G": (0, 0.1)}))
    model.apply("floor", Contact(HalfSpace(), Box((0.2, 0.2)), friction=friction), "ground", "block.G")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run = Simulation(model, 1e-3, coupling).run(1.0)
    ledger = run.ledger("floor")
    assert ledger["dissipated"].min() >= -1e-12 and abs(ledger["leaked"][-1]) < 1e-9  # rounding


def pile(**soft):
    """A ball falls on a crate that stands on the ground: two contacts take the blow at once."""
    model = Assembly(gravity=(0.0, 0.0, -G))
    up, aside = (0.0, 0.0, 1.1), (0.3, 0.0, 0.15)
    ports = ({"G": up}, {"G": aside})
    model.add("ball", RigidBody(mass=1, inertia=(4e-3,) * 3, centre=up, ports=ports[0], velocity=(0.4, 0, 0)))
    model.add("crate", RigidBody(mass=8, inertia=(0.12,) * 3, centre=aside, ports=ports[1]))
    law, ball, crate = {"friction": 0.4, **(soft or {"restitution": 0.6})}, Sphere(0.1), Box((0.3, 0.3, 0.3))
    model.apply("floor-crate", Contact(HalfSpace(), crate, **law), "ground", "crate.G")
    model.apply("bump", Contact(crate, ball, **law), "crate.G", "ball.G")
    return model


@pytest.mark.campaign
def test_blows_that_contacts_take_at_once_lead_to_the_same_place_at_any_step():
    """Found one by one they were shared by accident, and the ball flew elsewhere at each step: by 30 % of the extent."""
    right = ran(pile(), 3e-5, Penalty(), 1.0).position("ball.G")[-1, 0]
    for dt in (1e-3, 3e-4, 1e-4):
        run = ran(pile(), dt, Penalty(), 1.0)
        assert abs(run.position("ball.G")[-1, 0] - right) / run.estimate["extent"] < 1e-2, dt
        assert not [event for event in run.events if event["kind"] == "verdict"]
    for dt in (1e-4, 3e-5):
        run = ran(pile(stiffness=1e5, damping=60.0), dt, Glued(), 1.0)
        assert not [event for event in run.events if event["kind"] == "verdict"]


def test_a_body_with_weights_of_its_own_is_judged_by_these():
    """A sample with a blow in it is off by beta dt [v], with the beta by which the body steps."""

    def late(of_the_coupling, own):
        model = bounced(0.9)[0]
        body = model.bodies["body"]
        model.bodies["body"] = replace(body, integrator=None if own is None else Integrator(beta=own))
        return ran(model, 3e-3, Penalty(newmark=Newmark(beta=of_the_coupling)), 0.6).estimate["late"]

    assert late(0.25, None) == late(0.1, 0.25) > 1.5 * late(0.1, None)


@pytest.mark.parametrize("coupling", [Penalty(), Glued(implicit_forces=False)], ids=["springs", "glued"])
@pytest.mark.parametrize("dt", [3e-3, 1e-3])
def test_friction_that_is_soft_for_what_hangs_on_it_says_by_how_much_that_moves(dt, coupling):
    """A small hub that rubs holds a long arm: its spring is as stiff as the hub alone bears, and friction should hold it still."""
    model = Assembly(gravity=(0.0, -G))
    model.add("hub", RigidBody(mass=0.1, inertia=2e-5, centre=(0, 0), ports={"axle": (0, 0), "rim": (0.02, 0)}))
    model.add("arm", Rod((0.02, 0), (0.5, 0), 1.0))
    model.join("hinge", Revolute(), "ground", "hub.axle")
    model.join("weld", Fixed(), "hub.rim", "arm.start")
    model.apply("friction", Friction(4.0), "ground", "hub.axle")
    run = ran(model, dt, coupling, 0.3)
    way = np.linalg.norm(run.position("arm.end") - (0.5, 0.0), axis=1).max() / run.estimate["extent"]
    assert way > 1e-3
    assert way / 10.0 < run.estimate["share"] < 10.0 * way, run.estimate
    assert run.estimate["late"] > 0.5 * way and run.estimate["wall"] == "friction"
    held = ran(model, dt, Glued(), 0.3)
    assert np.ptp(held.position("arm.end"), axis=0).max() < 1e-9  # a joint holds it


def test_the_wall_is_named_with_a_remedy(tmp_path):
    model, _, _ = ball(0.9)
    words = (
        r"'wall' is only as stiff as the step allows.* Remedy: give it a stiffness of its own, or take dt = .* s and rigid "
        r"joints, Glued\(\)"
    )
    with Simulation(model, 1e-3) as simulation, pytest.warns(VerdictWarning, match=words):
        run = simulation.run(0.6)
    (found,) = [event for event in run.events if event["kind"] == "verdict"]
    assert found["name"] == "wall"
    run.save(tmp_path / "run")
    assert Run.load(tmp_path / "run").estimate == run.estimate


@pytest.mark.parametrize("name", ["rod", "ball", "pin"])
def test_the_books_of_a_wall_close_and_what_it_takes_is_what_its_restitution_says(name):
    """It holds what a spring that is pressed so far holds; with e it keeps 1 - e^2 of what came against it."""
    made, _, until = MADE[name]
    for restitution in (0.5, 1.0):
        run = ran(made(restitution)[0], 2.5e-4, Glued(), until)
        ledger = {line: values[-1] for line, values in run.ledger("wall").items()}
        lost = run.energy[0] - run.energy[-1]
        assert abs(ledger["leaked"]) < 1e-5 and ledger["stored"] < 1e-2
        assert ledger["dissipated"] + ledger["stored"] == pytest.approx(lost, abs=1e-5)
        assert abs(lost) < 0.05 if restitution == 1.0 else lost > 0.2


@pytest.mark.parametrize("restitution", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("every", [1, 7])
def test_what_a_run_says_of_the_push_of_a_wall_is_what_it_gave(restitution, every):
    """Worked out from samples: all of it is what turns a ball and bears it, and its weight where it has come to rest."""
    model = ball(restitution)[0]
    run = ran(model, 1e-3, Glued(), 0.35, every=every)
    push = np.abs(run.effort("wall"))
    if every == 1:
        rates = np.gradient(run.position("body.at")[:, 1], run.time)
        needed = rates[-3] - rates[3] + G * (run.time[-3] - run.time[3])
        assert push[3:-3].sum() * 1e-3 == pytest.approx(needed, rel=2e-2)
    if restitution == 0.0:
        assert push[-1] == pytest.approx(G, rel=1e-6)


@pytest.mark.short(1, each=True)
@pytest.mark.parametrize("name", ["ball", "rod"])
def test_the_remedies_for_a_late_wall_are_followed_and_help(name):
    """A shorter step and joints that do not give; or a stiffness with which a touch lasts fifty steps, pi sqrt(m / k)."""
    made, port, until = MADE[name]
    _, flight, shown = made(0.9)

    def off(dt, coupling, stiffness=None):
        model = made(0.9)[0]
        wall = replace(model.force_edges.pop("wall").force, stiffness=stiffness)
        model.apply("wall", wall, "ground", "body.at" if name == "ball" else "body.start")
        run = ran(model, dt, coupling, 0.4 * until, every=max(1, round(2e-3 / dt)))
        error = run.position(f"body.{port}") - shown(rigid(run.time, *flight))
        return np.linalg.norm(error, axis=1).max(), [event for event in run.events if event["kind"] == "verdict"]

    late, told = off(1e-3, Penalty())
    assert told and off(1e-4, Glued())[0] < 0.15 * late
    for stiffness in (1e6, 1e8) if name == "ball" else ():
        error, told = off(np.pi / np.sqrt(stiffness) / 50, Penalty(), stiffness)
        assert error < 8.0 / np.sqrt(stiffness) and not told


@pytest.mark.short(1)
@pytest.mark.parametrize(("name", "restitution"), BOUNCING)
def test_several_bounces_are_of_first_order_where_joints_do_not_give(name, restitution):
    """What a wall gives back hangs on no step: neither on how its few ticks fall nor on what joints make of it."""
    made, port, until = MADE[name]
    errors = []
    for dt in (2e-3, 5e-4, 1.25e-4):
        model, flight, shown = made(restitution)
        run = ran(model, dt, Glued(), until, every=round(2e-3 / dt))
        apart = run.position(f"body.{port}") - shown(rigid(run.time, *flight))
        errors.append(np.sqrt(np.square(apart).sum(axis=1).mean()))
    assert errors[2] < errors[0] / 8.0, errors


@pytest.mark.parametrize("coupling", [Penalty(), Glued()], ids=["springs", "glued"])
def test_what_lies_against_a_wall_or_never_comes_to_it_is_not_late(coupling):
    """A weight that is let down on it, and one that swings before it; a wall with a stiffness of its own is the model."""
    for restitution, high, stiffness in ((0.0, 0.0, None), (1.0, 0.0, None), (0.5, 2.0, None), (0.5, 0.1, 2e4)):
        model = Assembly(gravity=(3.0, 0.0))
        ports = {"at": (0, 0), "far": (1, 0)}
        model.add("body", RigidBody(mass=1.0, inertia=0.01, centre=(0, 0), ports=ports))
        wall = Stop(high=high, restitution=restitution, stiffness=stiffness, measure="way", axis=(1, 0))
        model.apply("wall", wall, "ground", "body.at")
        run = ran(model, 1e-3, coupling, 1.0)
        assert run.estimate["late"] < 1e-4, (restitution, high, stiffness)
