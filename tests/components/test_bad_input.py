"""Wrong data of bodies: refused with the body, the value and the remedy."""

import numpy as np
import pytest

from components import (
    Distance,
    Friction,
    Law,
    Load,
    Motor,
    PointMassRod,
    Revolute,
    RigidBody,
    Rod,
    Spherical,
    SpringDamper,
    Table,
)
from coordinator import Penalty, Simulation, Stable, examine
from modular import Assembly, Crossing, Cut, Join, Limit, ModelError, Port


def rigid(**changes):
    data = {
        "mass": 1.0,
        "inertia": (0.1, 0.12, 0.15),
        "centre": (0.0, 0.0, 0.0),
        "ports": {"tip": (0.3, 0.1, 0.0)},
    }
    return RigidBody(**{**data, **changes})


WRONG = {
    "negative mass": (rigid(mass=-1.0), r"mass = -1.0 kg; a mass must be positive"),
    "no mass": (Rod((0, 0, 0), (1, 0, 0), 0.0), r"mass = 0.0 kg"),
    "mass without value": (rigid(mass=float("nan")), r"mass = nan"),
    "triangle inequality": (rigid(inertia=(0.1, 0.1, 0.3)), r"0\.1, 0\.1, 0\.3 kg m\^2 violate the triangle inequality"),
    "negative inertia": (rigid(inertia=(-0.1, 0.1, 0.15)), r"violate the triangle inequality"),
    "skew inertia": (rigid(inertia=((1, 0.5, 0), (0, 1, 0), (0, 0, 1))), "symmetric"),
    "lamina": (rigid(inertia=(0.1, 0.1, 0.2)), "lamina"),
    "coplanar": (
        rigid(points=((0, 0, 0), (1, 0, 0)), vectors=((0, 1, 0), (0.6, 0.8, 0))),
        r"B - A, u and v are coplanar .*leave points and vectors out",
    ),
    "one point twice": (rigid(points=((0, 0, 0), (0, 0, 0)), vectors=((0, 1, 0), (0, 0, 1))), r"coplanar \(or A = B\)"),
    "no unit vectors": (rigid(points=((0, 0, 0), (1, 0, 0)), vectors=((0, 2, 0), (0, 0, 1))), "unit vectors"),
    "too few vectors": (rigid(vectors=((0, 1, 0),)), "its inertia needs 2"),
    "axes not orthonormal": (rigid(ports={"tip": Port((0, 0, 0), axes=((1, 0, 0), (0, 1, 0), (0, 1, 1)))}), "not orthonormal"),
    "axes left-handed": (rigid(ports={"tip": Port((0, 0, 0), axes=((1, 0, 0), (0, 1, 0), (0, 0, -1)))}), "right-handed"),
    "port in the plane": (rigid(ports={"tip": (0.3, 0.1)}), r"'body.tip' has 2 coordinates where its body has 3"),
    "port nowhere": (rigid(ports={"tip": (0.3, 0.1, float("inf"))}), r"finite"),
    "port off a line": (rigid(inertia=(0.0, 0.1, 0.1)), r"'body.tip' .* lies off .*inertia"),
    "velocity without value": (rigid(velocity=(float("nan"), 0, 0)), "needs 3 finite components"),
    "centre without value": (rigid(centre=(float("nan"), 0, 0)), "is not finite"),
    "velocity in the plane": (rigid(velocity=(1.0, 0.0)), r"velocity = \(1.0, 0.0\) needs 3 finite components"),
    "spin in the plane": (rigid(angular_velocity=2.0), r"angular_velocity = 2.0 needs 3 finite components"),
    "rod without length": (Rod((1, 0, 0), (1, 0, 0), 1.0), "a rod needs a length"),
    "mixed ends": (Rod((1, 0), (1, 0, 0), 1.0), "two coordinates each, or three each"),
    "negative radius": (Rod((0, 0, 0), (1, 0, 0), 1.0, -0.1), r"radius = -0.1 m"),
    "hair": (Rod((0, 0, 0), (1, 0, 0), 1.0, 1e-6), r"radius = 1e-06 m .*use radius=0"),
    "one mass": (PointMassRod((0, 0, 0), (1, 0, 0), (1.0,)), "give two positive masses"),
    "massless end": (PointMassRod((0, 0, 0), (1, 0, 0), (1.0, 0.0)), r"masses = \(1.0, 0.0\); give two positive"),
    "plane in space": (Rod((0, 0), (1, 0), 1.0), r"build both in the plane or both in space"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_impossible_bodies_are_refused_by_name_with_the_remedy(case):
    body, message = WRONG[case]
    with pytest.raises(ModelError, match=message) as refused:
        Assembly().add("body", body)
    assert "'body" in str(refused.value)


def test_names_gravity_and_types_are_checked():
    assembly = Assembly()
    for name in ("", "ground", "a.b", "a b", "a/b"):
        with pytest.raises(ModelError, match="a name needs"):
            assembly.add(name, rigid())
    with pytest.raises(ModelError, match="gravity"):
        Assembly(gravity=(0.0,))
    with pytest.raises(ModelError, match="is not a body"):
        assembly.add("a", Revolute())
    assembly.add("a", rigid())
    with pytest.raises(ModelError, match="exists already"):
        assembly.add("a", rigid())
    with pytest.raises(ModelError, match="is not a joint"):
        assembly.join("j", rigid(), "ground", "a.tip")
    with pytest.raises(ModelError, match="is not a force"):
        assembly.apply("f", rigid(), "a.tip")
    with pytest.raises(ModelError, match=r"force = \(1.0, 2.0\); give 3"):
        assembly.apply("f", Load((1.0, 2.0)), "a.tip")
    with pytest.raises(ModelError, match="is not an event"):
        assembly.at(0.1, "cut")
    with pytest.raises(ModelError, match=r"Assembly\.at: say what is to happen"):
        assembly.at(0.1)
    with pytest.raises(ModelError, match="time = -1"):
        assembly.at(-1.0)


def test_a_point_mass_is_a_body_without_inertia_and_takes_ball_joints_only():
    assembly = Assembly()
    assembly.add("bob", rigid(inertia=(0, 0, 0), ports={"tip": (0.0, 0.0, 0.0)}))
    assembly.add("rod", Rod((0, 0, 0), (0, 0.6, 0.8), 0.5))
    assembly.join("link", Spherical(), "bob.tip", "rod.start")
    assembly.join("pin", Spherical(), "rod.end", "ground")
    with Simulation(assembly, 1e-3) as simulation:
        assert simulation.body("bob").state()["q"].shape == (1, 1, 3)
        run = simulation.run(0.5)
    length = np.linalg.norm(run.position("bob.tip") - [0, 0.6, 0.8], axis=1)
    assert length == pytest.approx(1.0, abs=1e-3)
    wrong = assembly.copy()
    wrong.cut("link")
    wrong.join("hinge", Revolute(axis=(1, 0, 0)), "bob.tip", "rod.start")
    with pytest.raises(ModelError, match=r"joint 'hinge'.*Spherical"):
        Simulation(wrong, 1e-3)


def test_a_slender_rigid_body_takes_the_reduced_form_of_a_rod():
    """No inertia about its axis: two points, as Rod(radius=0), whatever its data are called."""
    rod = Rod((0, 0, 0), (0, 0, 2), 3.0)
    body = RigidBody(mass=3.0, inertia=(1.0, 1.0, 0.0), centre=(0, 0, 1), ports={"start": (0, 0, 0), "end": (0, 0, 2)})
    assert body.elements.shape == (2, 3)
    tracks = []
    for made in (rod, body):
        assembly = Assembly(gravity=(1.0, -2.0, -9.81))
        assembly.add("body", made)
        assembly.join("ball", Spherical(), "ground", "body.start")
        with Simulation(assembly, 1e-4) as simulation:
            tracks.append(simulation.run(0.3).position("body.end"))
    assert np.abs(tracks[0] - tracks[1]).max() < 1e-7


def test_a_link_between_points_that_coincide_but_for_rounding_is_refused():
    """A length of 1e-17 m would make forces of any size."""
    assembly = Assembly()
    assembly.add("a", Rod((0, 0, 0), (0.1 + 0.2, 0, 0), 1.0))
    assembly.add("b", Rod((0.3, 0, 0), (1, 0, 0), 1.0))
    assembly.join("link", Distance(), "a.end", "b.start")
    with pytest.raises(ModelError, match=r"joint 'link': its points are 5\.55e-17 m apart; a link needs a length"):
        Simulation(assembly, 1e-3)


def test_descriptions_keep_their_own_copy_of_arrays_and_lists():
    place = np.array([1.0, 0.0, 0.0])
    rod = Rod([0, 0, 0], place, np.float64(1.0))
    place[0] = 9.0
    assert rod.end == (1.0, 0.0, 0.0) and rod.elements[1, 0] == 1.0
    assert rod == Rod((0, 0, 0), (1.0, 0.0, 0.0), 1.0) and hash(rod) == hash(Rod((0, 0, 0), (1.0, 0.0, 0.0), 1.0))
    assert Revolute(axis=np.array([0, 0, 1.0])) == Revolute(axis=(0.0, 0.0, 1.0))


def test_what_people_mistake_for_each_other_is_told_apart():
    assembly = Assembly()
    assembly.add("rod", Rod((0, 0, 0), (1, 0, 0), 1.0))
    for wrong, message in (
        (
            lambda: Simulation(assembly, 1e-3, Stable()),
            r"coupling = Stable.* is not a coupling; give one such as "
            r"Penalty",
        ),
        (lambda: Simulation("chain", 1e-3), "'chain' is not an Assembly"),
        (lambda: Simulation(assembly, "1e-4"), "dt = '1e-4' s; give a positive step"),
        (lambda: Penalty(rule="stable"), "rule = 'stable' is not a stiffness rule"),
        (lambda: examine(assembly), "is not a Simulation"),
        (lambda: assembly.join("j", Spherical(), "ground.o", "rod.end"), "the ground has none of its own"),
        (lambda: assembly.join("j", Spherical(), None, "rod.end"), "None is not a port"),
        (lambda: assembly.at(Cut("j"), 1), "time = Cut"),
        (lambda: Assembly(gravity="earth"), "gravity"),
        (lambda: RigidBody(mass=1, inertia=1, centre=(0, 0), ports=[(0, 0)]), "give a mapping"),
        (lambda: assembly.add("b", Rod((0, 0, 0), (1, 0, 0), "heavy")), "'b': mass = 'heavy'; give a number"),
        (lambda: assembly.add("b", Rod(None, (1, 0, 0), 1.0)), "'b': start = None; give numbers"),
        (lambda: assembly.add("b", rigid(inertia="x")), "'b': inertia = 'x'; give numbers"),
        (lambda: assembly.apply("l", Load((0, 0, 1)), "rod.end", at=(1, 0, 0)), "'rod.end' is no ground; leave it out"),
        (lambda: Crossing("rod.end", "y", float("nan")), "value = nan; give a finite number"),
        (lambda: Crossing("rod.end", "y", "-0.5"), "value = '-0.5'; give a finite number"),
        (lambda: Simulation(assembly, 1e-300), "dt = 1e-300 s; give a positive step"),
        (
            lambda: Join("j", Spherical(), "ground", "rod.end", law="foo"),
            "law = 'foo'; give one of momentum, kinematic",
        ),
    ):
        with pytest.raises(ModelError, match=message):
            wrong()
    for length, message in (
        (5.0, "length = 5 m, but its points are 2 m apart; give length=2"),
        (-1.0, "a positive length"),
    ):
        trial = assembly.copy()
        trial.join("j", Distance(length=length), "ground", "rod.end", at=(3.0, 0.0, 0.0))
        with pytest.raises(ModelError, match=message):
            Simulation(trial, 1e-3)


@pytest.mark.parametrize("angle", [np.pi, np.pi - 1e-8])
def test_a_rod_turned_by_half_keeps_right_handed_axes(angle):
    from components.bodies.natural.stack import turned

    now = np.array([[np.cos(angle), np.sin(angle), 0.0]])
    frame = turned(np.eye(3), np.array([[1.0, 0.0, 0.0]]), now)
    assert np.linalg.det(frame) == pytest.approx(1.0)
    assert frame[0] == pytest.approx(now[0], abs=1e-7)


@pytest.mark.parametrize("wrong", ["two", 0, -1, 2.5, True, float("nan"), float("inf")])
def test_numbers_of_threads_and_ticks_are_whole(wrong):
    with pytest.raises(ModelError, match=r"threads = .*whole number from 1 on"):
        Simulation(Assembly(), 1e-3, threads=wrong)
    if wrong is not True:  # one, to Python
        with pytest.raises(ModelError, match=r"record_every = .*whole number of ticks from 1 on"):
            Simulation(Assembly(), 1e-3, record_every=wrong)


@pytest.mark.parametrize("wrong", ["much", -1.0, float("nan"), True])
def test_a_leak_limit_is_an_energy(wrong):
    with pytest.raises(ModelError, match="leak_limit = "):
        Simulation(Assembly(), 1e-3, leak_limit=wrong)


TABLES = {
    "times without end": (((0.0, float("inf")), ((0, 0, 0), (1, 1, 1))), "times finite and rising"),
    "letters": (((0, "late"), ((0, 0, 0), (1, 1, 1))), "could not convert .*late"),
    "one number": ((3, 3), "1 times and 1 values"),
    "a gap": (((0, 1), ((0, 0, 0), (1, 1))), "equally many at each time"),
}


@pytest.mark.parametrize("case", TABLES)
def test_tables_that_say_nothing_are_refused(case):
    data, message = TABLES[case]
    with pytest.raises(ModelError, match=message):
        Table(*data)


@pytest.mark.parametrize("force", [Load(((1, 2, 3),)), Load(Table((0, 1), (((0, 0, 0),), ((1, 1, 1),))))])
def test_forces_nested_too_deeply_are_refused(force):
    model = Assembly()
    model.add("rod", Rod((0, 0, 0), (1, 0, 0), 1.0))
    with pytest.raises(ModelError, match=r"load 'push': .*give 3 finite numbers"):
        model.apply("push", force, "rod.end")


@pytest.mark.parametrize("data", [(None,), ("stiff",), (1.0, None), (1.0, 0.0, "long")])
def test_springs_are_described_by_numbers(data):
    model = Assembly()
    model.add("rod", Rod((0, 0, 0), (1, 0, 0), 1.0))
    with pytest.raises(ModelError, match=r"spring 'pull': .*give a finite number from 0 on"):
        model.apply("pull", SpringDamper(*data), "rod.end", "ground", at=(2, 0, 0))


@pytest.mark.parametrize("place", [float("nan"), "abc", 3.0, (1, 2), (1, "x", 3), (1, float("inf"), 3)])
def test_a_place_that_is_none_is_refused(place):
    model = Assembly()
    model.add("rod", Rod((0, 0, 0), (1, 0, 0), 1.0))
    with pytest.raises(ModelError, match=r"joint 'pin': at = .*give 3 finite numbers"):
        model.join("pin", Spherical(), "ground", "rod.start", at=place)


@pytest.mark.parametrize("force", ["x", float("nan"), -1.0, (1, 2)])
def test_a_limit_is_a_positive_number(force):
    with pytest.raises(ModelError, match=r"Limit: force = .*give a positive force"):
        Limit(force=force)


def test_laws_that_are_no_functions_and_forces_put_on_a_joint_as_on_a_port_say_what_to_write():
    model = Assembly(gravity=(0.0, -9.81))
    model.add("rod", Rod((0.0, 0.0), (1.0, 0.0), mass=1.0))
    model.join("hinge", Revolute(), "ground", "rod.start")
    for force, said in (
        (Load(Law(4)), "load 'push': force: function = 4; give a function, or its name as 'module:function'"),
        (Motor(law=Law("laws:pull", derivatives=4)), "motor 'push': law: derivatives = 4; give a function"),
    ):
        with pytest.raises(ModelError, match=said):
            if force.sides == 1:
                model.apply("push", force, "rod.end")
            else:
                model.apply("push", force, joint="hinge")
    with pytest.raises(ModelError, match=r"acts on 2 ports, got \['hinge'\]. 'hinge' is a joint: .*joint='hinge'"):
        model.apply("rub", Friction(dry=2.0), "hinge")
