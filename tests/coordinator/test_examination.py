"""Degrees of freedom, seen masses and advice, against what one counts by hand."""

import pytest

import scenarios
import zoo
from components import Fixed, Revolute, Rod, Spherical, SpringDamper
from coordinator import Penalty, Shannon, Simulation, examine
from modular import Assembly


def look(model, dt=1e-3, **settings):
    with Simulation(model, dt, **settings) as simulation:
        return examine(simulation)


@pytest.mark.parametrize(
    ("name", "freedoms", "locks", "mobility"),
    [
        ("double-pendulum", 6, 4, 2),
        ("double-pendulum-3d", 10, 7, 3),
        ("slider-crank", 6, 5, 1),
        ("switching-pendulum", 3, 2, 1),
        ("chain", 60, 30, 30),
    ],
)
def test_mobility_is_what_one_counts_by_hand(name, freedoms, locks, mobility):
    found = look(scenarios.load(name))
    assert (found.freedoms, found.locks, found.mobility) == (freedoms, locks, mobility)
    assert found.redundancy == 0


def test_a_redundant_loop_is_told():
    """A planar four-bar in space on four parallel hinges: Grübler counts -2, it moves with 1."""
    model = Assembly()
    points = [(0, 0, 0), (0, 0, 1), (1, 0, 1), (1, 0, 0)]
    for k, name in enumerate("abc"):
        model.add(name, Rod(points[k], points[k + 1], 1.0, 0.05))
    for name, first, second in (
        ("1", "ground", "a.start"),
        ("2", "a.end", "b.start"),
        ("3", "b.end", "c.start"),
        ("4", "c.end", "ground"),
    ):
        model.join(f"hinge{name}", Revolute(axis=(0, 1, 0)), first, second)
    found = look(model)
    assert found.freedoms - found.locks == -2
    assert found.mobility == 1 and found.redundancy == 3


def test_the_seen_mass_of_a_pinned_rod_is_that_of_its_end():
    model = Assembly()
    model.add("rod", Rod((0, 0, 0), (2.0, 0, 0), 3.0))
    model.join("pin", Spherical(), "ground", "rod.start")
    (joint,) = look(model).joints
    # along the rod m, across it twice m/4: compliance 1/m + 4/m + 4/m in three directions
    assert joint.seen_mass == pytest.approx(3 * 3.0 / 9)
    assert joint.seen_inertia is None and joint.locks == 3
    weld = Assembly()
    weld.add("rod", Rod((0, 0, 0), (2.0, 0, 0), 3.0))
    weld.join("weld", Fixed(), "ground", "rod.start")
    (joint,) = look(weld).joints
    assert joint.seen_inertia == pytest.approx(3.0 * 4 / 12)  # two turns, each with m l^2 / 12
    assert joint.locks == 5


def test_advice_names_what_is_too_stiff_and_what_gives():
    found = look(scenarios.load("chain", bodies=3), coupling=Penalty(rule=Shannon(0.3)))
    assert any("beyond the limit" in line and "Stable()" in line for line in found.advice)
    model = Assembly(gravity=(0.0, -9.81))
    model.add("rod", zoo.masses(2, (0, 0), (1, 0)))
    model.join("pin", Revolute(), "ground", "rod.start")
    model.apply("spring", SpringDamper(1e4), "ground", "rod.end", at=(1.0, 1.0))
    found = look(model)
    assert set(found.springs) == {"spring"}
    assert any("soften 'spring'" in line for line in found.advice)
    assert any("'pin' opens" in line for line in found.advice)
