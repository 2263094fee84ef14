"""Variants side by side, laid out column by column: what stands in the tables is what copies put there one by one leave."""

from __future__ import annotations

import numpy as np
import pytest

from components import PointMassRod, Revolute, RigidBody, Rod, Spherical
from components.forces import SpringDamper
from coordinator import Ensemble
from coordinator.couplings.interface.projection import largest_of
from coordinator.couplings.interface.side_by_side import members_of
from coordinator.couplings.interface.tiled_members import tiled_members
from coordinator.couplings.models_beside import any_alone, by_name
from coordinator.ensemble.copies import side_by_side
from coordinator.ensemble.variants import Variants
from coordinator.events.bulk_add import put_together
from coordinator.system import System
from modular.assembly import Assembly
from modular.errors import ModelError
from modular.tiles import Tiles, Which, parted

COUNT = 9
DRAW = np.random.default_rng(11)


def pendulums() -> Assembly:
    model = Assembly((0.0, -9.81))
    model.add("upper", PointMassRod((0.0, 0.0), (0.9, 0.1), (0.5, 0.7), angular_velocity=0.3))
    model.add("still", Rod((0.3, 2.0), (0.7, 2.2), 1.1))
    model.add("lower", PointMassRod((0.9, 0.1), (1.1, -0.8), (0.4, 1.2)))
    model.join("pivot", Revolute(), "ground", "upper.start")
    model.join("elbow", Revolute(), "upper.end", "lower.start")
    model.join("pin", Revolute(), "ground", "still.start")
    model.apply("spring", SpringDamper(30.0, 0.4), "still.end", "lower.end")
    return model


def in_space() -> Assembly:
    model = Assembly()
    model.add("rod", Rod((0.0, 0.0, 0.0), (0.6, 0.2, 0.1), 1.3, radius=0.02))
    model.add("end", PointMassRod((0.6, 0.2, 0.1), (0.9, -0.3, 0.2), (0.4, 0.9), velocity=(0.1, 0.2, -0.3)))
    model.join("ball", Spherical(), "ground", "rod.start")
    model.join("hinge", Revolute(axis=(0.0, 1.0, 0.0)), "rod.start", "ground")
    model.join("other", Spherical(), "rod.end", "end.start")
    return model


def with_a_plate() -> Assembly:
    model = pendulums()
    ports = {"hole": (1.1, -0.8), "edge": (1.4, -0.9)}
    model.add("plate", RigidBody(mass=1.7, inertia=0.3, centre=(1.3, -0.7), ports=ports))
    model.join("bolt", Revolute(), "lower.end", "plate.hole")
    return model


def lengths(low: float, high: float) -> np.ndarray:
    return DRAW.uniform(low, high, COUNT)


def reaching() -> dict[str, np.ndarray]:
    elbow = np.c_[lengths(0.7, 1.2), lengths(-0.2, 0.2)]
    return {
        "upper.end": elbow,
        "lower.start": elbow,
        "upper.masses.0": lengths(0.5, 2.0),
        "lower.masses": elbow**2 + 0.1,
    }


def faster() -> dict[str, np.ndarray]:
    return {"end.velocity.1": lengths(-1.0, 1.0), "rod.mass": lengths(0.5, 2.0), "end.masses.1": lengths(0.5, 2.0)}


CASES = {
    "lengths and masses": (pendulums, reaching),
    "speeds, and joints with axes": (in_space, faster),
    "a body that is no column": (with_a_plate, lambda: {**reaching(), "plate.inertia": lengths(0.2, 0.4)}),
    "a spring and a place": (
        pendulums,
        lambda: {"spring.stiffness": lengths(10.0, 50.0), "still.mass": lengths(0.5, 2.0)},
    ),
}


def tables(system: System) -> dict[tuple[str, str], np.ndarray]:
    """Rows of all components and of what they take hold of, by name; element rows as the places that are shown there."""
    system.show()
    found = {}
    for stack in (*system.bodies, *system.joints, *system.forces):
        for who, row in stack.row.items():
            own = {}
            for name, kind, *_ in stack.fields():
                array = getattr(stack, name)
                if kind == "column" and name not in ("make", *stack.pointing) and len(array) > row:
                    own[name] = array[row]
                elif kind == "common":
                    own[name] = array[stack.make[row]]
            for name in stack.pointing:
                used = getattr(stack, name)[row]
                used = used[: stack.numbers[row]] if name == "attached" else used
                own[f"at {name}"] = system.elements.position[used]
            found |= {(who, name): np.array(array) for name, array in own.items()}
    return found


@pytest.mark.parametrize("case", CASES)
def test_tables_of_tiles_are_those_of_copies_one_by_one(case: str):
    model, vary = (make() for make in CASES[case])
    copies = side_by_side(Variants(model, vary), range(COUNT))
    assert isinstance(copies.bodies, Tiles)
    tiled = System(copies.gravity, copies.bodies)
    put_together(tiled, copies)
    plain = copies.copy()
    plain.bodies, plain.joint_edges, plain.force_edges = (
        dict(each.items()) for each in (copies.bodies, copies.joint_edges, copies.force_edges)
    )
    single = System(plain.gravity, plain.bodies)
    put_together(single, plain)
    one, other = tables(tiled), tables(single)
    assert one.keys() == other.keys() and len(one) > COUNT * 20
    for key, array in one.items():
        assert np.array_equal(array, other[key], equal_nan=True), key
    assert tiled.uses == single.uses and list(tiled.joint_home) == list(single.joint_home)
    assert {name: tiled.joint_home[name].owners for name in tiled.joint_home} == {
        name: single.joint_home[name].owners for name in single.joint_home
    }
    assert dict(tiled.facts()) == dict(single.facts())


@pytest.mark.parametrize("case", CASES)
def test_who_takes_part_in_each_is_who_is_found_by_name(case: str):
    model, vary = (make() for make in CASES[case])
    copies = side_by_side(Variants(model, vary), range(COUNT))
    system = System(copies.gravity, copies.bodies)
    system.parted = copies.parted
    put_together(system, copies)
    tiled = tiled_members(system)
    assert tiled is not None
    assert list(tiled) == members_of(system) and tiled.named() == [each.joints[0] for each in members_of(system)]
    rates = DRAW.normal(size=(2, *next(iter(system.joints)).rate.shape))[0]
    next(iter(system.joints)).rate[:] = rates
    assert tiled.largest("stacks", "rate").tolist() == [
        largest_of((joints.rate, rows) for joints, rows in each.stacks) for each in members_of(system)
    ]


def test_rows_that_stand_variant_after_variant_are_known_without_reading_their_names():
    which = Which(range(3, 7))
    every = [f"{name}~{k}" for k in which for name in ("upper", "last~one")]
    assert which.laid_out(every) == ("upper", "last~one")
    for names in (
        every[::-1],
        every[:-1],
        every[1:] + every[:1],
        [],
        ["upper"] * 4,
        [*every[:-2], "upper~9", "last~one~9"],
    ):
        assert which.laid_out(names) is None


@pytest.mark.parametrize("case", CASES)
def test_rows_of_new_joints_come_in_the_same_order_with_names_read_and_unread(case: str):
    model, vary = (make() for make in CASES[case])
    copies = side_by_side(Variants(model, vary), range(COUNT))
    system = System(copies.gravity, copies.bodies)
    system.parted = copies.parted
    put_together(system, copies)
    new = [(joints, list(range(joints.count))) for joints in system.joints]
    some = [(joints, rows[1::2]) for joints, rows in new]
    for asked in (new, some):
        order, ends = by_name(system, asked)
        names = [parted(joints.names[row]) for joints, rows in asked for row in rows for _ in range(joints.form.rows)]
        assert order.tolist() == sorted(range(len(names)), key=lambda k: (names[k][1], names[k][0]))
        counts = [sum(owner == k for _, owner in names) for k in range(COUNT)]
        assert ends.tolist() == np.cumsum([count for count in counts if count]).tolist()
        alone = len(ends) > 1 and any(
            sum(parted(joints.names[row])[1] == k for joints, rows in asked for row in rows) == 1 for k in range(COUNT)
        )
        assert any_alone(system, asked) == alone


def test_members_come_and_go_among_tiles():
    copies = side_by_side(Variants(pendulums(), reaching()), range(3, 7))
    bodies = copies.bodies
    assert list(bodies)[:4] == ["upper~3", "still~3", "lower~3", "upper~4"] and len(bodies) == 12
    assert "upper~2" not in bodies and "upper" not in bodies and "upper~7" not in bodies
    del bodies["still~4"]
    with pytest.raises(KeyError):
        bodies["still~4"]
    bodies["guest"] = bodies["upper~3"]
    assert len(bodies) == 12 and "guest" in bodies and list(bodies)[-1] == "guest"
    bodies["still~4"] = bodies["still~5"]
    assert len(bodies) == 13 and sorted(bodies) == sorted(dict(bodies.items()))


@pytest.mark.parametrize(
    ("name", "values", "words"),
    [
        ("upper.masses.0", [1.0, 2.0, -3.0, -4.0], "variant 2: upper.masses.0 = -3.0"),
        ("upper.masses.1", [1.0, 0.0, 2.0], "variant 1: upper.masses.1 = 0.0"),
        ("upper.end", [(1.0, 0.0), (0.0, 0.0)], "variant 1: upper.end = (0.0, 0.0)"),
        ("still.mass", [1e-70, 1.0], "variant 0: still.mass = 1e-70"),
        ("upper.masses.0", [1.0, 1e70], "variant 1: upper.masses.0 = 1e+70"),
        ("upper.angular_velocity", [0.0, 1e70], "variant 1: upper.angular_velocity = 1e+70"),
    ],
)
def test_the_first_variant_that_cannot_be_is_named(name, values, words):
    with pytest.raises(ModelError) as told:
        Ensemble(pendulums(), 1e-3, vary={name: values})
    assert words in str(told.value)
