"""Several bodies as one component in relative coordinates: the motion of the same bodies apart, exact inside."""

import itertools
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import references
import zoo
from both_ways import scattered
from campaign import each_once, first_of, later, named, shortened
from components import (
    Cylindrical,
    Distance,
    Fixed,
    NewtonEulerBody,
    PointMassRod,
    Prismatic,
    Revolute,
    RigidBody,
    Rod,
    Screw,
    Spherical,
    SpringDamper,
    Subassembly,
    Universal,
)
from coordinator import Centralized, Glued, MinimalCoordinates, Penalty, Relaxed, Run, Simulation
from modular import Assembly, ModelError
from modular.tables_as_data import described, revived
from scenarios.laboratory.figure import parts_of
from scenarios.report.mechanism import outline

BOTH = pytest.mark.parametrize("dimension", [2, *later([3])])
TENSOR = ((0.031, 0.002, -0.003), (0.002, 0.027, 0.001), (-0.003, 0.001, 0.018))


def limbs(dimension):
    """An arm of three bodies of three kinds, and what joins them."""
    if dimension == 2:
        hand = {"mass": 0.7, "inertia": 0.03, "centre": (1.7, -0.1), "ports": {"wrist": (1.4, -0.3), "tip": (1.9, 0.2)}}
        bodies = {
            "upper": Rod((0.0, 0.0), (0.8, 0.1), 1.1),
            "lower": PointMassRod((0.8, 0.1), (1.4, -0.3), (0.4, 0.3)),
            "hand": NewtonEulerBody(**hand),
        }
        return bodies, [(Revolute(), "upper.end", "lower.start"), (Revolute(), "hand.wrist", "lower.end")]
    ports = {"elbow": (0.8, 0.1, 0.2), "wrist": (1.4, -0.3, 0.1)}
    bodies = {
        "upper": Rod((0.0, 0.0, 0.0), (0.8, 0.1, 0.2), 1.1, 0.03),
        "lower": RigidBody(mass=0.9, inertia=TENSOR, centre=(1.1, -0.15, 0.2), ports=ports),
        "hand": NewtonEulerBody(
            mass=0.7, inertia=(0.01, 0.02, 0.025), centre=(1.7, -0.1, 0.2),
            ports={"wrist": (1.4, -0.3, 0.1), "tip": (1.9, 0.2, 0.3)},
        ),
    }  # fmt: skip
    wrist = Universal(axis=(0.1, 0.3, 1.0), cross=(1.0, 0.2, 0.0))
    return bodies, [(Spherical(), "upper.end", "lower.elbow"), (wrist, "hand.wrist", "lower.wrist")]


PORTS = {"shoulder": "upper.start", "tip": "hand.tip"}


def arm(dimension, *, whole=True):
    """It falls from rest, its shoulder on the ground, its tip on a spring."""
    bodies, joints = limbs(dimension)
    model = Assembly(gravity=(0.0, -9.81, 0.0)[:dimension])
    put(model, bodies, joints, PORTS, whole)
    at = {port: f"arm.{port}" if whole else PORTS[port] for port in PORTS}
    model.join("shoulder", Spherical(), "ground", at["shoulder"])
    model.apply("spring", SpringDamper(40.0, 0.3, length=0.5), "ground", at["tip"], at=(1.0, 1.0, 0.5)[:dimension])
    return model


def put(model, bodies, joints, ports, whole):
    """The same bodies as one component, or one by one."""
    if whole:
        model.add("arm", Subassembly(bodies, joints, ports))
        return
    for name, body in bodies.items():
        model.add(name, body)
    for number, (joint, first, second) in enumerate(joints):
        model.join(f"inner{number}", joint, first, second)


@cache
def truth(dimension):
    with Simulation(arm(dimension, whole=False), 5e-4, Glued(8)) as simulation:
        return simulation.run(0.3).position("hand.tip")


@pytest.mark.short(2)
@pytest.mark.parametrize(
    ("coupling", "order", "most", "until"),
    [
        (Penalty(), 2, 5e-3, 0.3),
        (Glued(), 2, 1e-3, 0.3),
        (Glued(4), 4, 1e-6, 0.3),
        (Relaxed(), 2, 1e-3, 0.3),
        (Centralized(), 2, 1e-4, 0.1),
        (Centralized(MinimalCoordinates()), 4, 1e-7, 0.04),
    ],
    ids=named,
)
@BOTH
def test_an_arm_as_one_component_moves_as_its_bodies_apart_do(coupling, order, most, until, dimension):
    """At the declared order towards the motion of the bodies apart, in their own coordinates, joined by Glued(8)."""
    errors = []
    for dt in (2e-3, 1e-3) if until > 0.2 else (4e-3, 2e-3):
        with Simulation(arm(dimension), dt, coupling) as simulation:
            tip = simulation.run(until).position("arm.tip")[-1]
        errors.append(np.abs(tip - truth(dimension)[round(until / 5e-4)]).max())
    assert errors[1] < most
    assert abs(references.orders(errors)[0] - order) < 0.3


@BOTH
def test_reactions_outside_are_those_of_the_bodies_apart(dimension):
    runs = []
    for whole in (True, False):
        with Simulation(arm(dimension, whole=whole), 1e-3, Glued(6)) as simulation:
            runs.append(simulation.run(0.2))
    one, apart = (run.reaction("shoulder") for run in runs)
    assert np.abs(one - apart).max() < 1e-7 * np.abs(apart).max()
    one, apart = runs[0].acceleration("arm.tip"), runs[1].acceleration("hand.tip")
    assert np.abs(one - apart).max() < 1e-7 * np.abs(apart).max()


# --- inner joints ------------------------------------------------------------------------------------------------------

INNER = {
    2: {"Revolute": Revolute(), "Spherical": Spherical(), "Prismatic": Prismatic(axis=(0.6, 0.8)), "Fixed": Fixed()},
    3: {
        "Revolute": Revolute(axis=(0.3, -0.5, 0.8)),
        "Spherical": Spherical(),
        "Prismatic": Prismatic(axis=(0.3, -0.5, 0.8)),
        "Cylindrical": Cylindrical(axis=(0.3, -0.5, 0.8)),
        "Universal": Universal(axis=(0.3, -0.5, 0.8), cross=(1.0, 0.4, 0.1)),
        "Screw": Screw(0.7, axis=(0.3, -0.5, 0.8)),
        "Fixed": Fixed(),
    },
}
CASES = [(dimension, name) for dimension, joints in INNER.items() for name in joints]


@pytest.mark.short(2, each=True)
@pytest.mark.parametrize(("swapped", "dimension", "name"), each_once([False, True], CASES), ids=named)
def test_every_inner_joint_leaves_the_motions_that_it_leaves_outside(dimension, name, swapped):
    """Two bodies that fly apart as far as their joint lets them; the first given carries the other, whatever side of it it is."""
    places = zoo.PLACES[dimension]
    make = {"left": zoo.full(dimension, *places[:2]), "right": zoo.full(dimension, *places[1:])}
    bodies = dict(reversed(make.items())) if swapped else make
    joints = [(INNER[dimension][name], "left.end", "right.start")]
    paths = []
    for whole in (True, False):
        model = Assembly(gravity=(0.3, -9.81, 0.7)[:dimension])
        put(model, bodies, joints, {"left": "left.start", "right": "right.end"}, whole)
        left, right = ("arm.left", "arm.right") if whole else ("left.start", "right.end")
        anchors = ((0.4, 1.0, 0.3), (1.1, 0.9, -0.5))
        model.apply("one", SpringDamper(60.0), "ground", left, at=anchors[0][:dimension])
        model.apply("other", SpringDamper(90.0), "ground", right, at=anchors[1][:dimension])
        with Simulation(model, 1e-3, Glued(6)) as simulation:
            run = simulation.run(0.2)
        paths.append(np.stack([run.position(left)[-1], run.position(right)[-1]]))
    assert np.abs(paths[0] - paths[1]).max() < 1e-9


# --- what is kept ------------------------------------------------------------------------------------------------------


def angular_momentum(body, q, v):
    """Sum of r x v over all that moves, about the mass centre."""
    still = q.copy()
    still[..., : body.dimension] = 0.0
    pace = v.copy()
    pace[..., : body.dimension] = 0.0
    pose, rate, _ = body.tree.motion(still, pace, np.zeros_like(q))
    product = np.einsum("...kia,kab,...kjb->...ij", pose, body.tree.moments, rate)
    return np.stack(
        [product[..., (c + 1) % 3, (c + 2) % 3] - product[..., (c + 2) % 3, (c + 1) % 3] for c in range(3)], -1
    )


@BOTH
@pytest.mark.parametrize("until", first_of(1, [10.0, 40.0]))
def test_a_free_arm_keeps_its_energy_and_all_its_momentum(until, dimension):
    """Symplectic steps keep what is bilinear to rounding; the mass centre goes straight on, whatever turns about it."""
    body = Subassembly.example(dimension)
    model = Assembly(gravity=(0.0,) * dimension)
    model.add("arm", body)
    with Simulation(model, 2e-3, Glued(4), record_every=20) as simulation:
        run = simulation.run(until)
    q, v, _ = run.state("arm")
    assert np.ptp(run.energy) < 1e-8 * run.energy[0]
    assert np.abs(v[:, :dimension] - v[0, :dimension]).max() < 1e-13
    turning = angular_momentum(body, q, v)
    assert np.abs(turning - turning[0]).max() < 1e-11 * np.linalg.norm(turning[0])
    assert np.abs(run.internal_violation("arm")).max(initial=0.0) < 1e-14


# --- the same on every path --------------------------------------------------------------------------------------------


def test_what_is_nested_moves_as_if_it_were_not_to_the_last_bit():
    bodies, joints = limbs(3)
    inner = Subassembly(
        {name: bodies[name] for name in ("lower", "hand")}, joints[1:], {"a": "lower.elbow", "tip": "hand.tip"}
    )
    nested = Subassembly({"upper": bodies["upper"], "fore": inner}, [(Spherical(), "upper.end", "fore.a")], {
        "shoulder": "upper.start", "tip": "fore.tip",
    })  # fmt: skip
    assert list(nested.inner_bodies) == ["upper", "fore.lower", "fore.hand"]
    found = []
    for body in (nested, Subassembly(bodies, joints, PORTS)):
        model = Assembly(gravity=(0.0, -9.81, 0.0))
        model.add("arm", body)
        model.join("shoulder", Spherical(), "ground", "arm.shoulder")
        with Simulation(model, 1e-3, Glued(4)) as simulation:
            found.append(simulation.run(0.1).state("arm")[0])
    assert np.array_equal(*found)


def pair_of_arms(dimension):
    """Two arms and a rod between their tips."""
    model = arm(dimension)
    bodies, _ = limbs(dimension)
    tip = np.array(bodies["hand"].ports["tip"].point)
    far = tip + (0.3, 0.5, 0.2)[:dimension]
    model.add("rod", Rod(tuple(tip), tuple(far), 0.4, 0.02))
    model.join("grip", Spherical(), "arm.tip", "rod.start")
    bend, end = far + 0.4, far + (0.4, 0.9, 0.3)[:dimension]
    links = {"one": Rod(tuple(far), tuple(bend), 0.3, 0.02), "two": Rod(tuple(bend), tuple(end), 0.5, 0.02)}
    other = Subassembly(links, [(Spherical(), "one.end", "two.start")], {"a": "one.start", "b": "two.end"})
    model.add("other", other)
    model.join("more", Spherical(), "rod.end", "other.a")
    return model


@pytest.mark.parametrize(
    ("dimension", "coupling"),
    shortened([(2, Glued(4))], itertools.product([2, 3], [Penalty(), Glued(4)])),
    ids=named,
)
def test_single_steps_stacks_of_their_own_and_workers_have_the_same_bits(coupling, dimension):
    def played(step=False, **settings):
        with Simulation(pair_of_arms(dimension), 5e-4, coupling, **settings) as simulation:
            while step and simulation.tick < 20:
                simulation.step()
            simulation.run(0.01)
            simulation.cut("more")
            return simulation.run(0.02).digest

    digests = {played(), played(step=True), played(grouped=False)}
    digests |= {played(workers=scattered(pair_of_arms(dimension), 2), launcher="here")}
    assert len(digests) == 1


@pytest.mark.short(1)
@pytest.mark.parametrize(
    ("dimension", "ends"),
    [
        (2, (Spherical(), Spherical())),
        (3, (Spherical(), Spherical())),
        (3, (Revolute(axis=(0.3, 0.2, 1.0)), Universal(axis=(1.0, 0.1, 0.2), cross=(0.0, 1.0, 0.3)))),
    ],
    ids=["plane", "balls", "nine rows"],
)
def test_a_loop_is_closed_outside_between_two_ports(dimension, ends):
    """A chain of three bodies held at both ends; in space its ports answer in more than six ways."""
    bodies, joints = limbs(dimension)
    paths = []
    for whole in (True, False):
        model = Assembly(gravity=(0.0, -9.81, 0.0)[:dimension])
        put(model, bodies, joints, PORTS, whole)
        for joint, (port, place) in zip(ends, PORTS.items(), strict=True):
            model.join(port, joint, "ground", f"arm.{port}" if whole else place)
        with Simulation(model, 1e-3, Glued(6)) as simulation:
            run = simulation.run(0.2)
        if whole:
            paths.append(Subassembly(bodies, joints, PORTS).port_motion("hand.wrist", *run.state("arm"))[0][-1])
        else:
            paths.append(run.position("hand.wrist")[-1])
    assert np.abs(paths[0] - bodies["hand"].ports["wrist"].point).max() > 0.02  # it moved
    assert np.abs(paths[0] - paths[1]).max() < 1e-8


def test_it_is_cut_caught_and_kept_in_a_run_folder(tmp_path):
    model = arm(2)
    with Simulation(model, 1e-3, Glued()) as simulation:
        simulation.run(0.1)
        simulation.cut("shoulder")
        before = simulation.run(0.2).energy[-1] + simulation.ledger("spring")["stored"]
        simulation.join("catch", Spherical(), "ground", "arm.tip")
        lost = simulation.ledger("catch")["impact"]
        run = simulation.run(0.3)
    assert lost > 0.1 and np.isfinite(before)
    run.save(tmp_path)
    assert Run.load(tmp_path) == run


def test_stacks_come_back_from_data_and_trees_that_were_made_up_are_refused():
    """Loops go from link to link by these numbers, and nothing stops them."""
    stack = Subassembly.example(3).new_stack()
    for k, density in enumerate((1.0, 2.0, 3.0)):  # of three makes there are rows to spare
        palm, finger = Subassembly.example(3).bodies.values()
        heavy = replace(palm, mass=density * palm.mass)
        stack.add(f"arm{k}", replace(Subassembly.example(3), bodies={"palm": heavy, "finger": finger}))
    data, arrays = described(stack)
    again = revived(data, arrays, "file")
    assert np.array_equal(again.q[:3], stack.q[:3]) and again.names == stack.names
    for name, number in (("parent", 1), ("ball", 1), ("coordinate", 9), ("speed", 5)):
        forged = {**arrays, name: arrays[name].copy()}
        forged[name][1, 1] = number
        with pytest.raises(ModelError, match="do not fit each other"):
            revived(data, forged, "file")


# --- how it looks, and what is refused -----------------------------------------------------------------------------------


def test_pictures_show_what_is_inside():
    body = Subassembly(*limbs(3), PORTS)
    parts = parts_of("arm", body, 1.0)
    assert {(part.first, part.second) for part in parts} >= {
        ("shoulder", "upper.end"),
        ("lower.", "lower.elbow"),
        ("hand.", "tip"),
    }
    with Simulation(arm(3), 1e-3) as simulation:
        run = simulation.run(0.01)
    line = outline(run, "arm", np.array([0, 5]))
    wrist = body.port_motion("lower.wrist", *run.state("arm"))[0][[0, 5]]
    assert np.nanmin(np.abs(line - wrist[:, None]).max(axis=2), axis=1) == pytest.approx([0.0, 0.0], abs=1e-15)


def broken(**changes):
    bodies, joints = limbs(3)
    return Subassembly(**{"bodies": bodies, "joints": joints, "ports": PORTS, **changes})


WRIST = (Spherical(), "hand.wrist", "lower.wrist")


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda b, j: {"joints": j[:1]}, "no inner joint holds 'hand'"),
        (lambda b, j: {"joints": [*j, WRIST]}, "closes a loop; leave it out, and make it outside"),
        (lambda b, j: {"joints": [*j[:1], (Spherical(), "hand.tip", "lower.wrist")]}, "is open by 0.7"),
        (lambda b, j: {"joints": [*j[:1], (Distance(), "hand.tip", "lower.wrist")]}, "cannot be an inner joint"),
        (lambda b, j: {"ports": {"tip": "hand.thumb"}}, "not a port of an inner body; there are 'upper.start'"),
        (lambda b, j: {"bodies": {}}, "is not a port of an inner body"),
        (lambda b, j: {"bodies": {**b, "upper": Rod((0.0, 0.0, 0.0), (0.8, 0.1, 0.2), 1.1)}}, "can move without inertia"),
        (lambda b, j: {"bodies": {**b, "upper": Rod((0.0, 0.0, 0.0), (0.8, 0.1, 0.2), 1.1, 0.03, velocity=(1.0, 0.0, 0.0))}},
         "violate its inner joints"),
        (lambda b, j: {"bodies": {**b, "upper": Rod((0.0, 0.0, 0.0), (0.8, 0.1, 0.2), -1.1, 0.03)}}, "mass"),
    ],
)  # fmt: skip
def test_what_cannot_be_solved_inside_is_refused_by_name(change, sentence):
    model = Assembly(gravity=(0.0, 0.0, -9.81))
    with pytest.raises(ModelError, match=sentence) as refused:
        model.add("arm", broken(**change(*limbs(3))))
    assert "arm" in str(refused.value)
