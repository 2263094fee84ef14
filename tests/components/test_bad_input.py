"""Wrong data of bodies: refused with the body, the value and the remedy."""

import numpy as np
import pytest

from components import Distance, Load, PointMassRod, Revolute, RigidBody, Rod, Spherical
from coordinator import Simulation
from modular import Assembly, ModelError, Port


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
    "too few vectors": (rigid(vectors=((0, 1, 0),)), "its inertia asks for 2"),
    "axes not orthonormal": (rigid(ports={"tip": Port((0, 0, 0), axes=((1, 0, 0), (0, 1, 0), (0, 1, 1)))}), "not orthonormal"),
    "axes left-handed": (rigid(ports={"tip": Port((0, 0, 0), axes=((1, 0, 0), (0, 1, 0), (0, 0, -1)))}), "right-handed"),
    "port in the plane": (rigid(ports={"tip": (0.3, 0.1)}), r"'body.tip' has 2 coordinates where its body has 3"),
    "port nowhere": (rigid(ports={"tip": (0.3, 0.1, float("inf"))}), r"finite"),
    "port off a line": (rigid(inertia=(0.0, 0.1, 0.1)), r"'body.tip' .* lies off .*inertia"),
    "velocity in the plane": (rigid(velocity=(1.0, 0.0)), r"velocity = \(1.0, 0.0\) needs 3 components"),
    "spin in the plane": (rigid(angular_velocity=2.0), r"angular_velocity = 2.0 needs 3 components"),
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
    with pytest.raises(ModelError, match="is no body"):
        assembly.add("a", Revolute())
    assembly.add("a", rigid())
    with pytest.raises(ModelError, match="exists already"):
        assembly.add("a", rigid())
    with pytest.raises(ModelError, match="is no joint"):
        assembly.join("j", rigid(), "ground", "a.tip")
    with pytest.raises(ModelError, match="is no force"):
        assembly.apply("f", rigid(), "a.tip")
    with pytest.raises(ModelError, match=r"force = \(1.0, 2.0\); give 3"):
        assembly.apply("f", Load((1.0, 2.0)), "a.tip")
    with pytest.raises(ModelError, match="is no event"):
        assembly.at(0.1, "cut")
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
