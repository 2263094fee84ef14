"""Mass properties from shapes, against integrals, each other and the bodies made of them."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.spatial.transform import Rotation

from components import RigidBody, Solid
from modular import ModelError

EXACT = 1e-14  # a few roundings
TURN = Rotation.from_euler("xyz", (0.3, -0.7, 1.1)).as_matrix()


def by_slices(density, low, high, slice_of):
    """Mass and inertia of what is symmetric about z, from the area of its slices and their second moments x^2, y^2."""
    mass = density * quad(lambda z: slice_of(z)[0], low, high, epsabs=0.0, epsrel=1e-13)[0]
    x = density * quad(lambda z: slice_of(z)[1], low, high, epsabs=0.0, epsrel=1e-13)[0]
    y = density * quad(lambda z: slice_of(z)[2], low, high, epsabs=0.0, epsrel=1e-13)[0]
    z = density * quad(lambda z: slice_of(z)[0] * z * z, low, high, epsabs=0.0, epsrel=1e-13)[0]
    return mass, (y + z, x + z, x + y)


def disc(r):
    return np.pi * r**2, np.pi * r**4 / 4.0, np.pi * r**4 / 4.0


SHAPES = {
    "box": (
        Solid.box(0.3, 0.5, 1.1, density=7.0),
        by_slices(7.0, -0.55, 0.55, lambda z: (0.15, 0.3**3 * 0.5 / 12.0, 0.3 * 0.5**3 / 12.0)),
    ),
    "ball": (Solid.ball(0.4, density=7.0), by_slices(7.0, -0.4, 0.4, lambda z: disc(np.sqrt(0.16 - z * z)))),
    "cylinder": (Solid.cylinder(0.2, 0.9, density=7.0), by_slices(7.0, -0.45, 0.45, lambda z: disc(0.2))),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_shapes_have_the_moments_of_their_slices(shape: str):
    solid, (mass, inertia) = SHAPES[shape]
    assert solid.mass == pytest.approx(mass, rel=1e-10)
    assert np.allclose(np.diag(solid.inertia), inertia, rtol=1e-10, atol=0.0)


def test_a_capsule_has_the_moments_of_its_slices_and_comes_to_a_ball_and_to_a_cylinder():
    r, h = 0.3, 0.7

    def half(low, high):
        return by_slices(7.0, low, high, lambda z: disc(np.sqrt(max(r * r - max(abs(z) - h / 2, 0.0) ** 2, 0.0))))

    parts = [half(-h / 2 - r, -h / 2), half(-h / 2, h / 2), half(h / 2, h / 2 + r)]
    solid = Solid.capsule(r, h, density=7.0)
    assert solid.mass == pytest.approx(sum(mass for mass, _ in parts), rel=1e-10)
    assert np.allclose(np.diag(solid.inertia), np.sum([inertia for _, inertia in parts], axis=0), rtol=1e-10)
    short, thin = Solid.capsule(r, 1e-15, density=7.0), Solid.capsule(1e-12, h, mass=2.0)
    assert np.allclose(short.inertia, Solid.ball(r, density=7.0).inertia, rtol=1e-12)
    assert np.allclose(thin.inertia, Solid.cylinder(1e-12, h, mass=2.0).inertia, rtol=1e-10)


def test_a_box_is_the_sum_of_its_parts_and_what_is_left_without_one_is_the_other():
    whole = Solid.box(0.4, 0.6, 1.0, density=3.0).moved((0.1, -0.2, 0.5)).turned(TURN)
    low = Solid.box(0.4, 0.6, 0.3, density=3.0).moved((0.1, -0.2, 0.15)).turned(TURN)
    high = Solid.box(0.4, 0.6, 0.7, density=3.0).moved((0.1, -0.2, 0.65)).turned(TURN)
    for found, wanted in ((low + high, whole), (Solid.sum(high, low), whole), (whole - low, high)):
        assert found.mass == pytest.approx(wanted.mass, rel=EXACT)
        assert np.allclose(found.centre, wanted.centre, rtol=0.0, atol=EXACT)
        assert np.allclose(found.inertia, wanted.inertia, rtol=0.0, atol=EXACT)


def test_turning_and_moving_are_those_of_points_by_lot():
    draw = np.random.default_rng(5)
    points, masses = draw.normal(size=(7, 3)), draw.uniform(0.5, 2.0, 7)
    cloud = Solid.sum(*(Solid.point(m, p) for m, p in zip(masses, points)))
    moved = points @ TURN.T + (0.3, 0.1, -0.4)
    found = cloud.turned(TURN).moved((0.3, 0.1, -0.4))
    arms = moved - masses @ moved / masses.sum()
    assert np.allclose(found.centre, masses @ moved / masses.sum(), atol=EXACT)
    assert np.allclose(
        found.inertia,
        sum(m * (r @ r * np.eye(3) - np.outer(r, r)) for m, r in zip(masses, arms)),
        atol=1e-13,
    )
    assert np.allclose(
        Solid.given(cloud.mass, cloud.inertia, cloud.centre).second_moment, cloud.second_moment, atol=1e-13
    )


def test_a_body_made_of_a_solid_swings_as_the_solid_does():
    plate = Solid.box(0.3, 0.2, 0.01, density=2700.0) - Solid.cylinder(0.05, 0.01, density=2700.0).moved(
        (0.05, 0.0, 0.0)
    )
    in_space, in_plane = plate.body({"hook": (0.15, 0.1, 0.0)}), plate.body({"hook": (0.15, 0.1)}, plane=True)
    assert isinstance(in_space, RigidBody) and in_space.problems("plate") == in_plane.problems("plate") == []
    assert in_plane.inertia == pytest.approx(in_space.inertia_tensor[2, 2], rel=EXACT)
    assert np.allclose(in_space.mass_properties.second_moment, plate.second_moment, atol=EXACT)
    assert plate.body(velocity=(1.0, 0.0, 0.0)).velocity == (1.0, 0.0, 0.0)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Solid.box(1.0, -2.0, 1.0, density=1.0), "y = -2.0 m"),
        (lambda: Solid.box(1.0, 2.0, 1.0), "give one of both"),
        (lambda: Solid.ball(1.0, density=1.0, mass=2.0), "give one of both"),
        (lambda: Solid.ball("wide", mass=2.0), "radius"),
        (lambda: Solid.ball(1.0, mass=0.0), "mass = 0.0 kg"),
        (lambda: Solid.point(1.0, (1.0, 2.0)), "three finite numbers"),
        (lambda: Solid.ball(1.0, mass=1.0).turned(-np.eye(3)), "rotation matrix"),
        (lambda: Solid.ball(1.0, mass=1.0) - Solid.ball(1.0, mass=1.0), "take out less"),
        (lambda: Solid.ball(1.0, mass=1.0) - Solid.ball(0.1, mass=0.1).moved((9.0, 0.0, 0.0)), "does not lie inside"),
        (lambda: Solid.given(1.0, (1.0, 2.0)), "inertia"),
        (lambda: Solid.sum(), "nothing to add"),
    ],
)
def test_what_is_no_solid_is_refused(make, said: str):
    with pytest.raises(ModelError, match=said):
        make()
