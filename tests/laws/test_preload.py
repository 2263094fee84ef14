"""New joints carry their load from the first instant and do not ring into it."""

import numpy as np
import pytest

import scenarios
import zoo
from campaign import first_of, shortened
from components import (
    Distance,
    DrivenRotation,
    DrivenTranslation,
    Fixed,
    KnifeEdge,
    NewtonEulerBody,
    PointMassRod,
    PointOnLine,
    Ramp,
    Revolute,
    RigidBody,
)
from coordinator import Glued, Penalty, Shannon, Simulation
from modular import Assembly, Cut, InternalGains, Join
from random_assemblies import random_assembly

DT = 1e-4
BARE = Penalty(preload=False)


def square(dimension):
    """Four rods that close a loop, one corner pinned; in space with four hinges, which is redundant."""
    loop = Assembly(gravity=(0.0, -9.81, 0.0)[:dimension])
    corners = [(0, 0, 0), (0.3, -1, 0), (1.3, -1.2, 0), (1, 0, 0)]
    for k in range(3):
        loop.add(f"rod{k}", zoo.MAKERS["full"](dimension, corners[k][:dimension], corners[k + 1][:dimension]))
    hinge = Revolute() if dimension == 2 else Revolute(axis=(0, 0, 1))
    loop.join("pin0", hinge, "ground", "rod0.start")
    loop.join("pin1", hinge, "rod0.end", "rod1.start")
    loop.join("pin2", hinge, "rod1.end", "rod2.start")
    loop.join("pin3", hinge, "rod2.end", "ground")
    return loop


MODELS = {
    "double-pendulum": lambda: scenarios.load("double-pendulum"),
    "chain": lambda: scenarios.load("chain", bodies=6),
    "slider-crank": lambda: scenarios.load("slider-crank"),
    "loop": lambda: square(2),
    "redundant loop": lambda: square(3),
}


def unrest(model, coupling, ticks=30):
    """Largest motion of the sides of any joint against each other in the first ticks [m/s], [1/s]."""
    with Simulation(model, DT, coupling) as simulation:
        run = simulation.run(ticks * DT)
    return max(np.abs(run.violation_rate(name)).max() for name in run.joints)


@pytest.mark.parametrize("name", MODELS)
def test_a_run_starts_without_ringing(name):
    assert unrest(MODELS[name](), Penalty()) < 0.02 * unrest(MODELS[name](), BARE)


def test_a_pin_starts_with_the_weight_it_holds():
    """A horizontal rod at rest, two point masses m: the outer one falls freely, the pin carries the inner one."""
    rod = Assembly(gravity=(0, -9.81))
    rod.add("rod", PointMassRod(start=(0, 0), end=(1, 0), masses=(2.0, 3.0)))
    rod.join("pin", Revolute(), "ground", "rod.start")
    for coupling, overshoot in ((Penalty(), 1.001), (BARE, 2.7)):  # bare, it falls into its spring
        with Simulation(rod, DT, coupling) as simulation:
            reaction = simulation.run(60 * DT).reaction("pin")
        assert np.abs(reaction[:, 1]).max() / (2.0 * 9.81) == pytest.approx(
            overshoot, rel=0.06 if coupling is BARE else 2e-3
        )


def tree(lot):
    """A random mechanism without loops, so that one set of reactions holds it, and without blades, which dampers hold."""
    for seed in range(1000 * lot, 1000 * lot + 1000):
        model = random_assembly(seed, most=6, ratio=10.0)
        joints = model.joint_edges.items()
        if not any(name.startswith("close") or isinstance(edge.joint, KnifeEdge) for name, edge in joints):
            return model


@pytest.mark.parametrize("lot", first_of(2, range(60)))
def test_a_run_starts_with_the_reactions_of_glued_joints(lot):
    model, dt = tree(lot), 1e-5
    with Simulation(model, dt, Glued()) as simulation:
        glued = simulation.run(2 * dt)
    with Simulation(model, dt) as simulation:
        springs = simulation.run(2 * dt)
    reactions = {name: glued.reaction(name)[0] for name in glued.joints}
    scale = max(np.abs(one).max() for one in reactions.values())
    for name, reaction in reactions.items():
        assert springs.reaction(name)[0] == pytest.approx(reaction, abs=2e-3 * scale)


@pytest.mark.parametrize("seed", shortened((0, 15, 17, 40), range(120)))
def test_the_load_that_joints_start_with_hangs_on_no_step(seed):
    """Where rows depend on each other, what they cannot do is none of it; curvature would put a million newtons there at the longer
    step, in one mechanism of twenty."""
    model, loads = random_assembly(seed, most=6, ratio=100.0), []
    for dt in (1e-3, 1e-5):
        with Simulation(model, dt) as simulation:
            loads.append(max(np.abs(joints.preload[: joints.count]).max() for joints in simulation.system.joints))
    assert loads[0] == pytest.approx(loads[1], rel=0.1, abs=1e-9)


def test_a_joint_made_by_an_event_carries_its_load_at_once():
    """A rod held by a weld that gives way to a hinge: it starts to fall, and the hinge holds from the first instant."""
    unrest = {}
    for coupling in (Penalty(), BARE):
        rod = Assembly(gravity=(0, -9.81))
        rod.add("rod", PointMassRod(start=(0, 0), end=(1, 0), masses=(2.0, 3.0)))
        rod.join("weld", Fixed(), "ground", "rod.start")
        rod.at(0.05, Cut("weld"), Join("hinge", Revolute(), "ground", "rod.start"))
        with Simulation(rod, DT, coupling) as simulation:
            run = simulation.run(0.053)
        unrest[coupling.preload] = np.nanmax(np.abs(run.violation_rate("hinge")))
    assert unrest[True] < 0.02 * unrest[False]


def test_a_joint_at_rest_with_nothing_to_carry_gets_no_preload():
    floating = zoo.pair(Fixed(), 3, gravity=(0.0, 0.0, 0.0))
    with Simulation(floating, DT) as simulation:
        for joints in simulation.system.joints:
            assert np.abs(joints.preload[: joints.count]).max() == 0.0


def test_the_preload_is_a_choice_and_the_thesis_has_none():
    thesis = Penalty(Shannon(), internal=InternalGains.thesis(), preload=False)
    with Simulation(scenarios.load("double-pendulum"), DT, thesis) as simulation:
        assert all(not joints.preload.any() for joints in simulation.system.joints)


def link(made):
    """A mass on a link at speed."""
    made.add("body", RigidBody(mass=1, inertia=0.1, centre=(1, 0), ports={"c": (1, 0)}, velocity=(0, 2.0)))
    made.join("joint", Distance(), "ground", "body.c", at=(0, 0))
    return 1.0 * 2.0**2 / 1.0


def slide(made):
    """A slide that is driven from rest."""
    made.add("body", RigidBody(mass=2, inertia=0.1, centre=(0, 0), ports={"c": (0, 0)}))
    made.join("guide", PointOnLine(axis=(1, 0)), "ground", "body.c")
    made.join("joint", DrivenTranslation(Ramp(0.0, acceleration=3.0), axis=(1, 0)), "ground", "body.c")
    return 2.0 * 3.0


def wheel(made):
    """A wheel that is driven from rest."""
    made.add("body", RigidBody(mass=1, inertia=0.2, centre=(0, 0), ports={"c": (0, 0)}))
    made.join("axle", Revolute(), "ground", "body.c")
    made.join("joint", DrivenRotation(Ramp(0.0, acceleration=20.0)), "ground", "body.c")
    return 0.2 * 20.0


def spun(kind):
    """A body that turns about a hinge off its middle."""

    def make(made):
        motion = {"velocity": (0, 3.0), "angular_velocity": 6.0}
        made.add("body", kind(mass=1, inertia=0.1, centre=(0.5, 0), ports={"c": (0, 0)}, **motion))
        made.join("joint", Revolute(), "ground", "body.c")
        return 1.0 * 6.0**2 * 0.5

    return make


MOVING = {"link": link, "slide": slide, "wheel": wheel, "rigid": spun(RigidBody), "posed": spun(NewtonEulerBody)}


@pytest.mark.parametrize("dt", [1e-3, 1e-4])
@pytest.mark.parametrize("name", MOVING)
def test_what_moves_already_or_is_driven_away_does_not_ring_either(name, dt):
    """Predicted places lag by beta dt^2 a: a link at speed pulled with anything from nothing to twice its force, at every step."""
    model = Assembly(gravity=(0.0, 0.0))
    exact = MOVING[name](model)
    with Simulation(model, dt) as simulation:
        reaction = simulation.run(200 * dt).reaction("joint")
    assert np.linalg.norm(reaction, axis=1) == pytest.approx(exact, rel=1e-3)


@pytest.mark.parametrize("name", ["link", "rigid", "posed"])
def test_nor_does_what_is_taken_hold_of_while_it_moves(name):
    model, dt = Assembly(gravity=(0.0, 0.0)), 1e-3
    exact = MOVING[name](model)
    with Simulation(model, dt) as simulation:
        simulation.run(10 * dt)
        edge = simulation.assembly.joint_edges["joint"]
        simulation.cut("joint")
        simulation.run(11 * dt)
        simulation.join("joint", edge.joint, str(edge.first), str(edge.second), at=edge.at)
        reaction = np.linalg.norm(simulation.run(200 * dt).reaction("joint")[-185:], axis=1)
    assert np.ptp(reaction) < 1e-2 * exact
