"""Bodies with an integrator of their own: bits, order, margins, what is refused, and several steps in a tick."""

import re
import warnings
from dataclasses import replace

import numpy as np
import pytest

import components
import coordinator.distributed.workers.distributed_run
from both_ways import same as same_among_workers
from both_ways import scattered
from by_payload import ByPayload
from campaign import each_once, first_of, more, named, shortened
from components import (
    Beam,
    Fixed,
    LedBody,
    Load,
    ModalBody,
    NewtonEulerBody,
    Revolute,
    RigidBody,
    Rod,
    Spherical,
    SpringDamper,
    Subassembly,
)
from coordinator import BlackBox, Centralized, Glued, Mixed, Penalty, Simulation, StabilityWarning, resume
from coordinator.checks.exact import exact_margin
from coordinator.checks.examination import examine
from divergence import Scaled, stays_bounded, unit_rows
from modular import Assembly, Crossing, Cut, Diverged, Integrator, InternalGains, Join, ModelError, Newmark
from modular.body import Body
from modular.component import Component
from random_assemblies import random_assembly

DEFAULTS = (
    Integrator(beta=0.25, gamma=0.5, frequency_per_step=0.8, damping=0.5, iterations=2),
    Integrator(beta=0.25),
    Integrator(frequency_per_step=0.8),
    Integrator(gamma=0.5),
)  # what couplings have, said again
STEPS = (Integrator(steps=2), Integrator(steps=3), Integrator(steps=4, frequency_per_step=0.6), None)
OF_ALL = (*STEPS[:3], Integrator(steps=2))  # of the subassembly too, whose kernels in steps take long to compile
GAINS = (
    Integrator(beta=0.2),
    Integrator(beta=0.3),
    Integrator(frequency_per_step=0.6, damping=0.7, artificial_mass=1e6, iterations=3),
    None,
)
MEANS = {"defaults": DEFAULTS, "steps": STEPS, "gains": GAINS, "steps of all": OF_ALL}


def swinging(owns):
    """Four kinds of bodies in a row, a spring and loads on them."""
    crank, plate, tail, whip = owns
    model = Assembly(gravity=(0.0, -9.81))
    model.add("crank", Rod((0.0, 0.0), (0.4, 0.3), 0.8, integrator=crank))
    ports = {"left": (0.4, 0.3), "right": (1.0, 0.4), "top": (0.7, 0.5)}
    model.add("plate", NewtonEulerBody(mass=1.1, inertia=0.05, centre=(0.7, 0.35), ports=ports, integrator=plate))
    ports = {"left": (1.0, 0.4), "end": (1.4, 0.2)}
    model.add("tail", RigidBody(mass=0.7, inertia=0.02, centre=(1.2, 0.3), ports=ports, integrator=tail))
    links = {f"link{k}": Rod((1.4 + 0.2 * k, 0.2), (1.6 + 0.2 * k, 0.2), 0.2) for k in range(2)}
    inner = [(Revolute(), "link0.end", "link1.start")]
    model.add("whip", Subassembly(links, inner, {"start": "link0.start", "end": "link1.end"}, integrator=whip))
    places = (
        ("ground", "crank.start"),
        ("crank.end", "plate.left"),
        ("plate.right", "tail.left"),
        ("tail.end", "whip.start"),
    )
    for k, (first, second) in enumerate(places):
        model.join(f"hinge{k}", Revolute(), first, second)
    model.apply("spring", SpringDamper(200.0, 1.0), "ground", "plate.top", at=(0.5, 1.2))
    model.apply("push", Load((0.3, -2.0)), "whip.end")
    return model


def eventful(owns):
    """With events at a time, and between two ticks."""
    model = swinging(owns)
    model.at(0.01, Cut("hinge3"))
    model.at(0.014, Join("again", Revolute(), "ground", "tail.end"))
    model.when(Crossing("whip.end", "y", 0.1988), Cut("hinge2"))
    return model


def played(model, until=0.03, dt=1e-3, *settings, **more):
    with warnings.catch_warnings(), Simulation(model, dt, *settings, **more) as simulation:
        warnings.simplefilter("ignore")
        return simulation.run(until)


# --- bits --------------------------------------------------------------------------------------------------------------


@pytest.mark.campaign
def test_said_again_the_settings_of_the_coupling_change_no_bit():
    assert played(eventful(DEFAULTS)).digest == played(eventful((None,) * 4)).digest


def test_settings_of_one_coupling_over_another_are_those_of_the_first():
    """All that can be said, over a coupling that has everything else."""
    own = Integrator(beta=0.2, gamma=0.6, frequency=40.0, damping=1.0, artificial_mass=np.inf, iterations=3)
    theirs = Penalty(newmark=Newmark(0.2, 0.6), internal=InternalGains(frequency=40.0, damping=1.0, iterations=3))
    other = Penalty(internal=InternalGains(artificial_mass=1e5, frequency_per_step=0.3))

    def pair(integrator):
        model = Assembly(gravity=(0.0, -9.81))
        model.add("upper", Rod((0.0, 0.0), (0.4, 0.3), 0.8, integrator=integrator))
        model.add("lower", Rod((0.4, 0.3), (0.9, 0.2), 0.5, integrator=integrator))
        model.join("hook", Revolute(), "ground", "upper.start")
        model.join("elbow", Revolute(), "upper.end", "lower.start")
        return model

    assert played(pair(own), 0.03, 1e-3, other).digest == played(pair(None), 0.03, 1e-3, theirs).digest


@pytest.mark.campaign
@pytest.mark.parametrize("owns", first_of(2, MEANS))
def test_whatever_the_path_the_bits_are_the_same(owns, tmp_path):
    """Alone and in company, tick by tick, on two threads, from data, put away and taken out again."""

    def model():
        return eventful(MEANS[owns])

    digest = played(model()).digest
    for settings in ({"grouped": False}, {"threads": 2}):
        assert played(model(), **settings).digest == digest
    assert played(Assembly.from_data(model().to_data())).digest == digest
    with Simulation(model(), 1e-3) as simulation:
        while simulation.tick < 30:
            simulation.step()
        assert simulation.recorded.digest == digest
    with Simulation(model(), 1e-3) as simulation:
        simulation.run(0.012, checkpoints=tmp_path)
    with resume(tmp_path) as simulation:
        assert simulation.run(0.03).digest == digest


@pytest.mark.campaign
@pytest.mark.parametrize("owns", ["steps", *more(["gains", "steps of all"], 1)])
def test_among_workers_the_bits_are_the_same(owns, monkeypatch):
    """Given to them as bytes."""
    monkeypatch.setattr(coordinator.distributed.workers.distributed_run, "InProcessPool", ByPayload)

    def model():
        return eventful(MEANS[owns])

    same_among_workers(model, 1e-3, 0.03, scattered(model(), 3, 1), record_every=3)


def boxed(box=None, **data):
    """A pendulum of a black box and a rod."""
    model = Assembly(gravity=(0.0, -9.81))
    told = {"start": (0.0, 0.0), "end": (0.4, 0.3), "mass": 0.8}
    if box is None and data.keys() <= {"plain"}:
        model.add("crank", Rod(**told, integrator=data.get("plain")))
    else:
        about = {"worker": "plant", "ports": ("start", "end"), "dimension": 2, "data": {**told, **data}}
        model.add("crank", BlackBox("components:Rod", **about, integrator=box))
    model.add("tail", Rod((0.4, 0.3), (0.9, 0.2), 0.5))
    model.join("hook", Revolute(), "ground", "crank.start")
    model.join("elbow", Revolute(), "crank.end", "tail.start")
    return model


@pytest.mark.campaign
def test_of_black_boxes_too():
    """Told to the box, which hands on what every stack is told; or in its data, where its class takes one."""
    for own in (Integrator(gamma=0.6), Integrator(steps=3)):
        path = played(boxed(plain=own)).position("tail.end")
        assert np.array_equal(played(boxed(integrator=own.to_data())).position("tail.end"), path)
        if own.steps == 1:
            assert np.array_equal(played(boxed(own)).position("tail.end"), path)


@pytest.mark.parametrize("coupling", [Glued(), Mixed(), Centralized()], ids=named)
def test_couplings_for_which_it_means_nothing_say_so_and_go_the_same_way(coupling):
    """Refused it would be in the way of comparisons: one model under many couplings."""
    owns = GAINS if isinstance(coupling, Mixed) else STEPS  # who steps by himself is not glued
    with Simulation(swinging(owns), 1e-3, coupling) as simulation:
        advice = [line for line in examine(simulation).advice if "integrator" in line]
        path = simulation.run(0.005).position("whip.end")
    said = ", ".join(f"'{name}'" for name, own in zip(("crank", "plate", "tail", "whip"), owns, strict=True) if own)
    assert advice[0].startswith(f"the integrator of {said} has no effect under {type(coupling).__name__}: ")
    plain = played(swinging((None,) * 4), 0.005, 1e-3, coupling).position("whip.end")
    # under Mixed artificial masses and iterations reach flights, to rounding
    assert np.allclose(path, plain, rtol=0.0, atol=1e-12 if isinstance(coupling, Mixed) else 0.0)


def test_where_it_counts_nothing_is_said():
    with Simulation(swinging(GAINS), 1e-3) as simulation:
        assert not [line for line in examine(simulation).advice if "integrator" in line]


# --- order -------------------------------------------------------------------------------------------------------------


def in_space(owns):
    """Two bodies that tumble in space, by elements and by a quaternion."""
    first, second = owns
    tensor = ((0.02, 0.001, 0.0), (0.001, 0.03, 0.002), (0.0, 0.002, 0.04))
    model = Assembly(gravity=(0.3, -0.2, -9.81))
    ports = {"top": (0.0, 0.0, 0.0), "tip": (0.6, 0.1, 0.0)}
    spin = (3.0, -1.0, 2.0)
    slip = tuple(np.cross(spin, (0.3, 0.05, 0.02)).tolist())
    about = {"mass": 1.2, "inertia": tensor, "centre": (0.3, 0.05, 0.02), "ports": ports}
    model.add("one", RigidBody(**about, velocity=slip, angular_velocity=spin, integrator=first))
    ports = {"start": (0.6, 0.1, 0.0), "end": (0.9, 0.4, 0.1)}
    about = {"mass": 0.5, "inertia": (0.004, 0.005, 0.006), "centre": (0.75, 0.2, 0.1), "ports": ports}
    model.add(
        "two", NewtonEulerBody(**about, velocity=tuple(np.cross(spin, (0.6, 0.1, 0.0)).tolist()), integrator=second)
    )
    model.join("nail", Spherical(), "ground", "one.top")
    model.join("ball", Spherical(), "one.tip", "two.start")
    return model


ORDERS = {
    "plane, steps": (swinging, STEPS, "whip.end"),
    "plane, steps of all": (swinging, OF_ALL, "whip.end"),
    "plane, gains": (swinging, GAINS, "whip.end"),
    "plane, one of them": (swinging, (None, None, Integrator(steps=5), None), "whip.end"),
    "space, steps": (in_space, (Integrator(steps=3), Integrator(steps=4)), "two.end"),
    "space, one of them": (in_space, (None, Integrator(steps=2, beta=0.2)), "two.end"),
}


@pytest.mark.campaign
@pytest.mark.parametrize(
    "case", shortened(["plane, steps", "plane, gains", "plane, one of them", "space, one of them"], ORDERS)
)
def test_bodies_with_different_integrators_keep_second_order(case):
    """And lead to the same motion as without."""
    make, owns, port = ORDERS[case]
    plain = [played(make((None,) * len(owns)), 0.128, dt).position(port)[-1] for dt in (1e-3, 5e-4)]
    limit = plain[1] + (plain[1] - plain[0]) / 3.0
    errors = [np.linalg.norm(played(make(owns), 0.128, dt).position(port)[-1] - limit) for dt in (4e-3, 2e-3, 1e-3)]
    assert errors[0] / errors[2] == pytest.approx(16.0, rel=0.3)


# --- margins -----------------------------------------------------------------------------------------------------------


def chain(owns, joint):
    """Rods of different mass in a bent row, without weight."""
    model = Assembly(gravity=(0.0, 0.0, 0.0))
    rng = np.random.default_rng(len(owns))
    ways = 0.1 * unit_rows(rng.normal(loc=(2, 0, 0), size=(len(owns), 3)))
    points = np.cumsum(np.concatenate([[np.zeros(3)], ways]), axis=0)
    for k, own in enumerate(owns):
        model.add(f"rod{k}", Rod(tuple(points[k]), tuple(points[k + 1]), 0.1 * (1 + k), 0.01, integrator=own))
    model.join("joint0", joint, "ground", "rod0.start")
    for k in range(1, len(owns)):
        model.join(f"joint{k}", joint, f"rod{k - 1}.end", f"rod{k}.start")
    return model


CHAINS = {
    "one gamma": [Integrator(gamma=0.6)] * 3,
    "different gammas": [Integrator(gamma=0.8), None, Integrator(gamma=0.6)],
    "largest gamma": [Integrator(gamma=1.0), None, None],
    "steps": [Integrator(steps=3), None, Integrator(steps=2, gamma=0.7)],
    "other betas": [Integrator(beta=0.0), Integrator(beta=0.5), None],
}


@pytest.mark.short(1)
@pytest.mark.filterwarnings("ignore::coordinator.StabilityWarning", "ignore::coordinator.VerdictWarning")
@pytest.mark.parametrize(
    ("owns", "joint", "damping"), each_once(CHAINS, [Spherical(), Fixed()], [0.0, 0.05, 0.3]), ids=named
)
def test_divergence_begins_within_three_percent_of_the_exact_bound(owns, joint, damping):
    model = chain(CHAINS[owns], joint)
    with Simulation(model, 1e-3, Penalty(rule=Scaled(1.0, damping))) as simulation:
        exact, local = exact_margin(simulation.system, 1e-3), min(simulation.stiffness_margins.values())
    assert stays_bounded(model, 0.97 * exact, damping)
    assert not stays_bounded(model, 1.03 * exact, damping)
    assert local == pytest.approx(1.0, abs=1e-6) and exact >= 1.0 - 1e-9  # the rule counts with it, safely


def test_gamma_of_the_coupling_counts_as_that_of_the_bodies():
    """It did not: with 1.0 a pair of rods diverged at a margin of 1.25."""
    margins = []
    for owns, coupling in (([Integrator(gamma=1.0)] * 3, Penalty()), ([None] * 3, Penalty(newmark=Newmark(gamma=1.0)))):
        with Simulation(chain(owns, Spherical()), 1e-3, coupling) as simulation:
            margins.append((dict(simulation.margins), exact_margin(simulation.system, 1e-3)))
    assert margins[0] == margins[1]
    assert margins[0][1] >= min(margins[0][0].values()) >= 1.25 - 1e-6


@pytest.mark.parametrize(("gamma", "steps"), [(0.5, 1), (0.8, 1), (0.8, 3)])
def test_a_spring_on_one_body_diverges_where_its_margin_says(gamma, steps):
    """k dt^2 = 4 m / (2 gamma); as an impulse, 4 m."""

    def on_a_spring(stiffness):
        model = Assembly(gravity=(0.0, 0.0))
        own = Integrator(gamma=gamma, steps=steps)
        about = {"mass": 2.0, "inertia": 0.1, "centre": (0.0, 0.0), "ports": {"hook": (0.0, 0.0)}}
        model.add("body", NewtonEulerBody(**about, integrator=own))
        model.apply("spring", SpringDamper(stiffness, length=0.5), "ground", "body.hook", at=(0.5001, 0.0))
        return model

    def holds(stiffness):
        try:
            run = played(on_a_spring(stiffness), 0.5, record_every=10)
        except Diverged:
            return False
        return np.abs(run.position("body.hook")).max() < 0.5

    with Simulation(on_a_spring(1e6), 1e-3) as simulation:
        limit = 1e6 * simulation.margins["spring"] ** 2
    assert limit == pytest.approx(4.0 * 2.0 / (2.0 * gamma if steps == 1 else 1.0) / 1e-6, rel=0.07)  # 1.028 in lambda
    assert holds(0.97 * limit) and not holds(1.09 * limit)


@pytest.mark.campaign
@pytest.mark.parametrize("seed", first_of(4, range(400), least=10))
def test_the_local_rule_is_safe_whatever_integrators_random_bodies_have(seed):
    rng = np.random.default_rng(seed)
    model = random_assembly(seed, most=8, ratio=1e6)
    for name, body in model.bodies.items():
        own = Integrator(gamma=float(rng.uniform(0.5, 1.0)), steps=int(rng.integers(1, 4)))
        model.bodies[name] = replace(body, integrator=own if rng.random() < 0.7 else None)
    with Simulation(model, 1e-3, Penalty(rule=Scaled(1.0))) as simulation:
        assert exact_margin(simulation.system, 1e-3) >= 1.0 - 1e-9


def frozen(rng):
    """Springs and dampers between a few bodies of frozen geometry: K, C over their motions, what each is asked, and gammas."""
    count, motions, rows = rng.integers(2, 5), rng.integers(1, 4), rng.integers(1, 3)
    gammas = np.where(rng.random(count) < 0.5, 0.5, rng.uniform(0.5, 1.0, count))
    turns = [np.linalg.qr(rng.normal(size=(motions, motions)))[0] for _ in range(count)]
    roots = [10.0 ** rng.uniform(-1.5, 1.5, (motions, 1)) * turn for turn in turns]
    springs, dampers = np.zeros((2, count * motions, count * motions))
    asked = np.zeros((count, motions, motions))
    for _ in range(rng.integers(count - 1, count + 3)):
        pair = rng.choice(np.arange(-1, count), 2, replace=False)  # -1: the ground
        sides = {
            b: sign * rng.normal(size=(rows, motions)) @ roots[b]
            for b, sign in zip(pair, (1, -1), strict=True)
            if b >= 0
        }
        rate, ratio = rng.uniform(0.2, 1.6), 10.0 ** rng.uniform(-2.0, 0.3)
        whole = np.zeros((rows, count * motions))
        for b, side in sides.items():
            whole[:, b * motions : (b + 1) * motions] = side
            share = np.sum(side**2) / sum(np.sum(other**2) for other in sides.values())
            asked[b] += (rate**2 + 4.0 * ratio * rate) / share * side.T @ side
        springs += rate**2 * whole.T @ whole
        dampers += 2.0 * ratio * rate * whole.T @ whole
    return springs, dampers, asked, gammas


@pytest.mark.parametrize("seed", first_of(1, range(40)))
def test_within_the_local_bound_no_motion_grows(seed):
    """Also where bodies differ in gamma and joints in damping, where the proof is of real roots alone."""
    rng = np.random.default_rng(seed)
    for _ in range(150):
        springs, dampers, asked, gammas = frozen(rng)
        limit = 4.0 / max(2.0 * gamma * np.linalg.eigvalsh(body)[-1] for gamma, body in zip(gammas, asked, strict=True))
        motions, one = len(springs) // len(gammas), np.eye(len(springs))
        found = -0.99 * limit * np.hstack([springs, dampers])  # accelerations from places and rates
        ahead = (0.5 + np.repeat(gammas, motions))[:, None] * found
        step = np.vstack([np.hstack([one, one]) + ahead, np.hstack([0.0 * one, one]) + found])
        assert np.abs(np.linalg.eigvals(step)).max() < 1.0 + 1e-6


def test_a_run_beyond_its_limit_says_so_before_it_begins():
    """Of a spring that a body with gamma = 1/2 would bear."""
    for gamma, said in ((0.5, None), (1.0, "spring 'spring' is beyond its stability limit .margin 0.8")):
        model = Assembly(gravity=(0.0, 0.0))
        about = {"mass": 2.0, "inertia": 0.1, "centre": (0.0, 0.0), "ports": {"hook": (0.0, 0.0)}}
        model.add("body", NewtonEulerBody(**about, integrator=Integrator(gamma=gamma)))
        model.apply("spring", SpringDamper(5e6, length=0.5), "ground", "body.hook", at=(0.5001, 0.0))
        with Simulation(model, 1e-3) as simulation, warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", StabilityWarning)
            simulation.run(0.002)
        assert [bool(re.match(said or "", str(each.message))) for each in caught] == ([] if said is None else [True])


# --- several steps in a tick -------------------------------------------------------------------------------------------


def rotor(own, kind=NewtonEulerBody):
    """A wheel that turns 0.2 rad in a tick, at the end of a rod."""
    model = Assembly(gravity=(0.0, 0.0, -9.81))
    model.add("arm", Rod((0.0, 0.0, 0.0), (0.5, 0.0, 0.0), 1.0, 0.02))
    spin, arm = (0.0, 3.0, 200.0), (0.0, 0.0, 0.1)
    about = {
        "mass": 0.5,
        "inertia": (0.002, 0.0025, 0.004),
        "centre": (0.5, 0.0, 0.1),
        "ports": {"hub": (0.5, 0.0, 0.0)},
    }
    model.add(
        "wheel", kind(**about, velocity=tuple(np.cross(spin, arm).tolist()), angular_velocity=spin, integrator=own)
    )
    model.join("hook", Spherical(), "ground", "arm.start")
    model.join("pin", Spherical(), "arm.end", "wheel.hub")
    return model


def test_a_fast_wheel_in_four_steps_keeps_its_books_twenty_times_better():
    """Its neighbours take one: only the wheel needs more."""
    leaks = []
    for own in (None, Integrator(steps=4)):
        with Simulation(rotor(own), 1e-3, project_velocities=True) as simulation:
            simulation.run(0.1)
            leaks.append(max(abs(simulation.ledger(joint)["leaked"]) for joint in ("hook", "pin")))
    assert leaks[1] < 0.05 * leaks[0]


@pytest.mark.parametrize("case", ["plane, one of them", "space, one of them"])
def test_dampers_take_little_and_books_close_to_second_order(case):
    """Velocities half-way are those of one instant on both sides; at the end of a flight they would differ to first order."""
    make, owns, _ = ORDERS[case]
    taken, leaks = [], []
    for dt in (1e-3, 5e-4):
        run = played(make(owns), 0.128, dt)
        ledgers = [run.ledger(joint) for joint in run.joints]
        taken.append(sum(ledger["dissipated"][-1] for ledger in ledgers))
        leaks.append(sum(np.abs(ledger["leaked"]).max() for ledger in ledgers))
    assert taken[0] < 5e-6 and leaks[0] < 2e-5
    assert taken[1] < 0.3 * taken[0] and leaks[1] < 0.3 * leaks[0]


def test_between_two_exchanges_a_body_flies_as_it_would_alone_in_shorter_steps():
    """No joint, no force: many steps in a tick are as many ticks, to what gains and the first acceleration differ by."""
    about = {
        "mass": 0.5,
        "inertia": (0.002, 0.0025, 0.004),
        "centre": (0.5, 0.0, 0.1),
        "angular_velocity": (9.0, 3.0, 70.0),
    }
    ends = []
    for own, dt in ((Integrator(steps=4), 4e-3), (None, 1e-3), (None, 4e-3)):
        model = Assembly(gravity=(0.0, 0.3, -9.81))
        model.add("free", NewtonEulerBody(**about, ports={"mark": (0.6, 0.0, 0.1)}, integrator=own))
        ends.append(played(model, 0.1, dt).position("free.mark")[-1])
    assert np.linalg.norm(ends[0] - ends[1]) < 0.05 * np.linalg.norm(ends[2] - ends[1])


# --- what is refused ---------------------------------------------------------------------------------------------------


BAD = [
    (
        Integrator(beta=0.7),
        r"body 'rod': integrator: Newmark: beta = 0.7 lies outside 0 ... 0.5; the usual value is 0.25",
    ),
    (Integrator(gamma=0.4), r"body 'rod': integrator: Newmark: gamma = 0.4 .* The usual value is 0.5"),
    (Integrator(gamma=float("nan")), r"body 'rod': integrator: gamma = nan; give a number, or leave it out"),
    (Integrator(steps=0), r"body 'rod': integrator: steps = 0; give a whole number from 1"),
    (Integrator(steps=2.5), r"body 'rod': integrator: steps = 2.5; give a whole number"),
    (Integrator(iterations=0), r"body 'rod': integrator: InternalGains: iterations = 0; at least one is needed"),
    (
        Integrator(frequency=-3.0),
        r"body 'rod': integrator: frequency = -3.0 rad/s; give a positive one, or leave it out",
    ),
    (Integrator(frequency=9.0, frequency_per_step=0.5), r"body 'rod': integrator: .* are given; give one of them"),
    (Integrator(frequency_per_step=1.3), r"body 'rod': integrator: .* 1.3 is unstable; .* must stay below 1.236"),
    ("fast", r"body 'rod': integrator = 'fast'; give one such as Integrator"),
]


@pytest.mark.parametrize(("own", "said"), BAD, ids=lambda value: None if isinstance(value, str) else repr(value))
def test_bad_values_are_refused_by_the_name_of_the_body(own, said):
    with pytest.raises(ModelError, match=said):
        Assembly(gravity=(0.0, -9.81)).add("rod", Rod((0.0, 0.0), (1.0, 0.0), 1.0, integrator=own))


@pytest.mark.campaign
def test_what_does_not_go_with_the_step_or_the_coupling_is_refused_and_the_remedy_helps():
    stiff, damped = Integrator(frequency=2000.0), Integrator(damping=0.9)
    with pytest.raises(
        ModelError, match=r"body 'crank': .* frequency = 2000 rad/s is 2 in a step .* Take dt = 0.00049 s"
    ):
        Simulation(boxed(plain=stiff), 1e-3)
    played(boxed(plain=stiff), 0.1, 0.00049)
    played(boxed(plain=Integrator(frequency=2000.0, steps=3)), 0.1)
    with pytest.raises(ModelError, match=r"body 'crank': integrator: .* 1.1 is unstable; with damping 0.9"):
        Simulation(boxed(plain=damped), 1e-3, Penalty(internal=InternalGains(frequency_per_step=1.1)))


BODIES = [
    kind
    for name in components.__all__
    if isinstance(kind := getattr(components, name), type) and issubclass(kind, Body) and kind is not LedBody
]


@pytest.mark.parametrize("kind", BODIES, ids=named)
@pytest.mark.parametrize("dimension", [2, 3])
def test_every_kind_of_body_takes_one_with_what_means_something_for_it(kind, dimension):
    """And it is part of the data; whatever means nothing is refused by name."""
    values = {
        "beta": 0.3,
        "gamma": 0.55,
        "frequency_per_step": 0.5,
        "damping": 0.4,
        "artificial_mass": 1e5,
        "iterations": 3,
    }
    values["steps"] = 2
    body = kind.example(dimension)
    means = body.integrates - {"frequency"}
    own = replace(body, integrator=Integrator(**{name: values[name] for name in means}))
    assert own.problems("it") == []
    assert Component.from_data(own.to_data()) == own
    assert own.stack_kind != body.stack_kind
    for name in values.keys() - means:
        idle = replace(body, integrator=Integrator(**{name: values[name]}))
        assert idle.problems("it")[0].startswith(f"body 'it': integrator: {name} = {values[name]} does not apply to a ")


def test_what_is_elastic_inside_takes_one_step_and_a_beta_that_fits():
    """Impulses and vibrations would swing each other up; with less than gamma / 2 vibrations limit the step."""
    assert "steps" not in Beam.example(2).integrates | ModalBody.example(2).integrates
    beam = Beam((0.0, 0.0), (1.0, 0.0), mass=1.0, axial=1e4, bending=1.0)
    for own, said in ((Integrator(gamma=0.6), "take beta = 0.3025"), (Integrator(beta=0.1), "take beta = 0.25")):
        model = Assembly(gravity=(0.0, -9.81))
        model.add("beam", replace(beam, integrator=own))
        with pytest.raises(ModelError, match=rf"body 'beam': integrator: .*beta must be at least gamma / 2: {said}"):
            Simulation(model, 1e-3)


def test_what_is_inside_a_subassembly_steps_as_one():
    links = {"link": Rod((0.0, 0.0), (1.0, 0.0), 1.0, integrator=Integrator(gamma=0.6))}
    with pytest.raises(ModelError, match=r"'link' has an integrator of its own, .* give it to the Subassembly"):
        Assembly(gravity=(0.0, -9.81)).add("arm", Subassembly(links, []))
