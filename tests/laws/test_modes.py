"""Vibrations about a place where a model rests, held against closed forms, other kinds of bodies and runs."""

from functools import partial

import numpy as np
import pytest
from scipy.special import roots_laguerre

import scenarios
from campaign import as_far_as, first_of, more
from components import (
    Beam,
    Distance,
    Fixed,
    KnifeEdge,
    Load,
    NewtonEulerBody,
    Prismatic,
    Revolute,
    RigidBody,
    Rod,
    Spherical,
    SpringDamper,
    Stop,
    TorsionSpring,
)
from coordinator import Centralized, MinimalCoordinates, Simulation
from coordinator.analysis import linearise, modes
from modular import Assembly, ModelError
from random_assemblies import random_assembly

G = 9.81


def squares(found):
    """The squares of the frequencies, [1/s^2]; less than nothing of what grows."""
    assert np.abs((found.eigenvalues**2).imag).max() == 0.0
    return np.sort(-(found.eigenvalues**2).real)


def pendulum(angle=0.0):
    """A rod of 1.5 m on a pin, turned from where it hangs."""
    model = Assembly(gravity=(0.0, -G))
    model.add("rod", Rod((0.0, 0.0), (1.5 * np.sin(angle), -1.5 * np.cos(angle)), 2.0))
    model.join("pin", Revolute(), "ground", "rod.start")
    return model


@pytest.mark.parametrize("count", first_of(1, [1, 2, 10, 50]))
def test_a_chain_of_masses_swings_by_the_zeros_of_laguerres_polynomial(count):
    """omega^2 = g / l times them (D. Bernoulli); the stiffness is that of the forces that the links carry, and of nothing else."""
    length, model = 0.1, Assembly(gravity=(0.0, -G))
    for k in range(count):
        place = (0.0, -(k + 1) * length)
        model.add(f"mass{k}", RigidBody(mass=0.3, inertia=0.0, centre=place, ports={"P": place}))
        before = ("ground",) if k == 0 else (f"mass{k - 1}.P",)
        model.join(f"link{k}", Distance(), *before, f"mass{k}.P", at=(0.0, 0.0) if k == 0 else None)
    assert squares(modes(model)) == pytest.approx(roots_laguerre(count)[0] * G / length, rel=1e-12)


def test_a_pendulum_swings_upright_it_falls_and_a_spring_holds_it():
    assert squares(modes(pendulum())) == pytest.approx([G], rel=1e-12)
    upright = modes(pendulum(np.pi))
    assert squares(upright) == pytest.approx([-G], rel=1e-12)
    assert not upright.stable and upright.eigenvalues[0].real > 0.0
    held = pendulum(np.pi)
    held.apply("spring", TorsionSpring(30.0, 0.6), "ground", "rod.start")
    inertia = 2.0 * 1.5**2 / 3.0
    expected = np.roots([inertia, 0.6, 30.0 - 2.0 * G * 0.75])
    found = modes(held)
    assert found.eigenvalues == pytest.approx(expected[expected.imag > 0.0], rel=1e-9)
    assert found.stable and found.frequencies == pytest.approx(np.abs(expected[:1].imag) / (2 * np.pi))


def test_damped_beyond_the_critical_it_creeps_back_by_both_eigenvalues():
    model = Assembly(gravity=(0.0, 0.0))
    model.add("mass", RigidBody(mass=2.0, inertia=0.1, centre=(0.0, 0.0), ports={"P": (0.0, 0.0)}))
    model.apply("spring", SpringDamper(50.0, 40.0, length=1.0), "ground", "mass.P", at=(1.0, 0.0))
    found = modes(model)
    free, creeping = found.eigenvalues[:2], found.eigenvalues[2:]
    assert not free.any() and np.isnan(found.damping[:2]).all()  # across the spring and about itself
    assert np.sort(creeping.real) == pytest.approx(np.sort(np.roots([2.0, 40.0, 50.0])), rel=1e-9)
    assert found.damping[2:] == pytest.approx(1.0)


@pytest.mark.short(1)
@pytest.mark.parametrize(("slenderness", "elements"), [(1e-4, 24), (1e-2, 64), (1e-3, 64), (1e-4, 64)])
def test_the_first_swings_of_slender_beams_are_not_taken_for_none(slenderness, elements):
    """Waves along a beam are up to 1e6 times faster: with a share of the stiffest as the limit its first swings were 0 Hz."""
    model = Assembly(gravity=(0.0, 0.0))
    beam = {"width": slenderness, "height": slenderness, "density": 1000.0, "young": 2e11, "elements": elements}
    model.add("beam", Beam.of_rectangle((0.0, 0.0), (1.0, 0.0), **beam))
    model.join("root", Fixed(), "ground", "beam.start")
    unit = np.sqrt(2e11 * slenderness**2 / 12.0 / 1000.0)
    found = 2.0 * np.pi * modes(model).frequencies[:3] / unit
    assert found == pytest.approx([3.5160152685, 22.0344915647, 61.6972144136], rel=2e-3)


@pytest.mark.campaign
def test_a_stiff_beam_that_nothing_holds_rests_wherever_it_is_written():
    """Its last digits alone make accelerations, and three motions of it are free."""
    draw = np.random.default_rng(0)
    for _ in range(5):
        way = draw.normal(size=2)
        start = draw.normal(size=2)
        model = Assembly(gravity=(0.0, 0.0))
        beam = {"width": 1e-2, "height": 1e-2, "density": 1000.0, "young": 2e11, "elements": 16}
        model.add("beam", Beam.of_rectangle(tuple(start), tuple(start + way / np.linalg.norm(way)), **beam))
        found = modes(model)
        unit = np.sqrt(2e11 * 1e-4 / 12.0 / 1000.0)
        assert (found.eigenvalues == 0.0).sum() == 3
        assert 2.0 * np.pi * found.frequencies[3] / unit == pytest.approx(22.3733, rel=2e-2)


@pytest.mark.campaign
def test_in_nets_of_springs_what_nothing_resists_is_told_from_what_is_soft():
    """Chains of bodies with springs over nine decades, by lot: as many motions swing as there are springs."""
    draw = np.random.default_rng(1)
    for k in range(as_far_as(120, 12)):
        dimension, count = 2 + k % 2, int(draw.integers(2, 6))
        model = Assembly(gravity=(0.0,) * dimension)
        for i in range(count):
            centre = draw.normal(size=dimension)
            ports = {"c": tuple(centre), "p": tuple(centre + 0.3 * draw.normal(size=dimension))}
            inertia = 0.1 if dimension == 2 else (0.1, 0.12, 0.15)
            mass = 10.0 ** draw.uniform(-2.0, 1.0)
            model.add(f"b{i}", RigidBody(mass=mass, inertia=inertia, centre=tuple(centre), ports=ports))
        for i in range(count - 1):
            model.apply(f"s{i}", SpringDamper(10.0 ** draw.uniform(1.0, 9.0)), f"b{i}.p", f"b{i + 1}.c")
        found = modes(model)
        assert (found.eigenvalues != 0.0).sum() == count - 1 and found.stable, k


LOWER = {
    2: {"mass": 0.7, "inertia": 0.02, "centre": (0.03, -1.3), "ports": {"A": (0.0, -1.0), "B": (0.0, -1.8)}},
    3: {
        "mass": 0.7, "inertia": np.diag([0.02, 0.015, 0.01]), "centre": (0.03, 0.05, -1.3),
        "ports": {"A": (0.0, 0.0, -1.0), "B": (0.0, 0.0, -1.8)},
    },
}  # fmt: skip


def hanging(make, dimension):
    model = Assembly(gravity=(0.0,) * (dimension - 1) + (-G,))
    zero = (0.0,) * dimension
    model.add("upper", Rod(zero, (*zero[1:], -1.0), 1.1, **({"radius": 0.02} if dimension == 3 else {})))
    model.add("lower", make(**LOWER[dimension]))
    joint = Revolute if dimension == 2 else Spherical
    model.join("shoulder", joint(), "ground", "upper.start")
    model.join("elbow", joint(), "upper.end", "lower.A")
    return model


@pytest.mark.parametrize("dimension", [2, 3])
def test_whatever_kind_a_body_is_of_it_swings_alike(dimension):
    kinds = [partial(RigidBody, basis=basis) for basis in ("natural", "canonical", "points", "masses")]
    found = [squares(modes(hanging(make, dimension), seek=True)) for make in (RigidBody, NewtonEulerBody, *kinds)]
    for other in found[1:]:
        assert other == pytest.approx(found[0], rel=1e-9, abs=1e-9)


def test_a_cantilever_has_the_frequencies_of_bernoulli_to_fourth_order():
    roots = np.array([1.8751040687, 4.6940911330])
    errors = []
    for elements in (8, 16):
        model = Assembly(gravity=(0.0, 0.0))
        beam = Beam.of_rectangle(
            (0.0, 0.0), (1.0, 0.0), width=0.002, height=5e-4, young=2e11, density=7800.0, elements=elements
        )
        model.add("beam", beam)
        model.join("wall", Fixed(), "ground", "beam.start")
        found = modes(model).eigenvalues.imag[:2]
        bending = min(beam.bending) if np.ndim(beam.bending) else beam.bending
        exact = roots**2 * np.sqrt(bending / (beam.mass * 1.0**3))
        errors.append(np.abs(found / exact - 1.0))
    assert errors[0].max() < 1e-3 and errors[1].max() < 1.2e-4
    assert errors[0][0] / errors[1][0] > 12.0


def test_a_load_that_follows_nobody_shifts_the_place_and_the_frequency():
    """A pendulum in gravity and a wind hangs along their sum, and swings as in that."""
    model = pendulum()
    model.apply("wind", Load((7.0, 0.0)), "rod.end")
    weight, wind = 2.0 * G * 0.75, 7.0 * 1.5
    found = modes(model, seek=True)
    assert squares(found) == pytest.approx([np.hypot(weight, wind) / (2.0 * 1.5**2 / 3.0)], rel=1e-9)
    assert found.linear.way[0] == "rod.end"


def test_a_knife_edge_leaves_more_places_than_motions():
    model = Assembly(gravity=(0.0, 0.0))
    model.add("sled", RigidBody(mass=2.0, inertia=0.3, centre=(0.0, 0.0), ports={"P": (0.0, 0.0)}))
    model.join("blade", KnifeEdge(normal=(0.0, 1.0)), "ground", "sled.P")
    model.apply("spring", SpringDamper(8.0, length=1.0), "ground", "sled.P", at=(1.0, 0.0))
    linear = linearise(model)
    assert (linear.places.shape[1], linear.motions.shape[1]) == (3, 2)
    assert np.abs(modes(model).eigenvalues.imag).max() == pytest.approx(2.0, rel=1e-6)


@pytest.mark.short(2)
@pytest.mark.parametrize(
    ("name", "settings"),
    [
        *((name, {}) for name in ("double-pendulum", "double-pendulum-3d", "slider-crank", "bricard", "scissors")),
        ("chain", {"bodies": 10}),
        *more([("bicycle-chain", {}), ("chain", {"bodies": 25}), ("chain", {"bodies": 60})]),
    ],
)
def test_ready_systems_come_to_a_place_where_they_stay(name, settings):
    found = modes(scenarios.load(name, **settings), seek=True)
    assert found.stable
    assert found.linear.steps < 200
    assert found.linear.way[1] > 0.0


@pytest.mark.campaign
def test_a_run_that_begins_beside_that_place_swings_as_a_mode_says():
    slow = modes(pendulum()).eigenvalues[0].imag
    with Simulation(pendulum(1e-3), 1e-2, Centralized(MinimalCoordinates())) as simulation:
        run = simulation.run(6.0)
    assert run.position("rod.end")[:, 0] == pytest.approx(1.5e-3 * np.cos(slow * run.time), abs=2e-8)


@pytest.mark.parametrize("seed", first_of(1, range(40)))
def test_random_mechanisms_are_let_down_to_where_nothing_grows(seed):
    """Or it is said that none was found, as where something hangs from nothing."""
    model = random_assembly(seed, most=5)
    try:
        found = modes(model, seek=True)
    except ModelError as error:
        assert "equilibrium" in str(error)
        return
    assert found.eigenvalues.real.max() <= 1e-5 * np.abs(found.eigenvalues).max()
    heights = {name: found.linear.rest[name][0] for name in model.bodies}
    assert all(np.isfinite(place).all() for place in heights.values())


@pytest.mark.parametrize("beside", [0.0, 7.0])
@pytest.mark.parametrize("gravity", [0.7, 1.0, 9.81])
@pytest.mark.parametrize("walled", [False, True])
def test_bodies_on_which_all_forces_balance_come_to_rest(gravity, walled, beside):
    """No joint bears anything there, so what drives the bodies is rounding itself, and no measure of what is left."""
    model = Assembly(gravity=(0.0, -gravity))
    frequencies = []
    for name, x, mass, stiffness in (("one", beside, 2.0, 50.0), ("other", beside + 1.3, 3.1, 70.0)):
        model.add(name, RigidBody(mass=mass, inertia=0.1, centre=(x, 0.0), ports={"eye": (x, 0.0)}))
        model.join(f"slide-{name}", Prismatic(axis=(0.0, 1.0)), "ground", f"{name}.eye")
        spring = SpringDamper(stiffness=stiffness, length=0.5)
        model.apply(f"spring-{name}", spring, "ground", f"{name}.eye", at=(x, -0.5))
        if walled:
            wall = Stop(low=0.01, stiffness=1e3, measure="way", axis=(0.0, 1.0))
            model.apply(f"wall-{name}", wall, "ground", f"{name}.eye")
        frequencies.append(np.sqrt((stiffness + 1e3 * walled) / mass) / (2.0 * np.pi))
    np.testing.assert_allclose(modes(model, seek=True).frequencies, sorted(frequencies), rtol=1e-6)


def test_what_does_not_rest_or_moves_or_acts_forward_only_is_refused_by_name():
    with pytest.raises(ModelError, match=r"'rod' does not rest .* seek=True"):
        modes(pendulum(1.0))
    moving = Assembly(gravity=(0.0, 0.0))
    moving.add("rod", Rod((0.0, 0.0), (1.0, 0.0), 1.0, velocity=(1.0, 0.0)))
    with pytest.raises(ModelError, match=r"body 'rod' moves .* leave velocities"):
        modes(moving)
    falling = Assembly(gravity=(0.0, -G))
    falling.add("rod", Rod((0.0, 0.0), (1.0, 0.0), 1.0))
    with pytest.raises(ModelError, match=r"no equilibrium was found: .*'rod'.*anything holds the model"):
        modes(falling, seek=True)
    with pytest.raises(ModelError, match="forward in time"):
        modes(scenarios.load("stacked-boxes"))
