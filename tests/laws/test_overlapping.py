"""Shapes that begin in each other are told before the run, with the way out: what is rigid can only throw them apart."""

import re
import warnings

import numpy as np
import pytest

from components import Box, Contact, HalfSpace, LedBody, Ramp, RigidBody, Sphere
from coordinator import Penalty, Simulation, StartWarning, VerdictWarning
from coordinator.checks.examination import examine
from modular import Assembly, ModelError

G, SIDE = 9.81, 0.2


def calmly(model, dt, until):
    """A run of which nobody warns."""
    with warnings.catch_warnings(), Simulation(model, dt, Penalty()) as simulation:
        warnings.simplefilter("error")
        return simulation.run(until)


def overlapping(shape, other, depth, way, planar=False, turned=False, led=False, **law):
    """A body whose shape is so deep in a table or in another body, the way out given."""
    dimension = 2 if planar else 3
    model, way = Assembly(gravity=(0.0, -G) if planar else (0.0, 0.0, -G)), np.array(way[:dimension], float)
    place = (0.5 * SIDE - depth) * way if isinstance(other, HalfSpace) else (SIDE - depth) * way
    inertia = 2.0 * SIDE**2 / 6.0
    for name, centre in (("other", np.zeros(dimension)), ("body", place)):
        if name == "other" and led:
            model.add(name, LedBody(turning=Ramp(0.0), centre=centre, ports={"G": centre}))
        elif name == "body" or not isinstance(other, HalfSpace):
            model.add(
                name,
                RigidBody(mass=2.0, inertia=inertia if planar else (inertia,) * 3, centre=centre, ports={"G": centre}),
            )
    on = "ground" if isinstance(other, HalfSpace) else "other.G"
    sides = [(other, on), (shape, "body.G")][:: -1 if turned else 1]
    model.apply("touch", Contact(*(side[0] for side in sides), **law), *(side[1] for side in sides))
    return model, place


UP, ASIDE = (0.0, 0.0, 1.0), (1.0, 0.0, 0.0)


@pytest.mark.short(4)
@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize(
    ("shape", "other", "way", "planar", "led"),
    [
        (Box((SIDE,) * 3), HalfSpace(), UP, False, False),
        (Sphere(0.5 * SIDE), HalfSpace(), UP, False, False),
        (Box((SIDE,) * 3), Box((SIDE,) * 3), ASIDE, False, False),
        (Sphere(0.5 * SIDE), Sphere(0.5 * SIDE), (0.6, 0.0, 0.8), False, False),
        (Sphere(0.5 * SIDE), Sphere(0.5 * SIDE), (0.6, 0.0, 0.8), False, True),
        (Box((SIDE,) * 2), Box((SIDE,) * 2), ASIDE, True, False),
    ],
)
def test_shapes_that_begin_in_each_other_are_told_and_the_remedy_helps(shape, other, way, planar, led, turned):
    """Before the run, with depth and the way out; moved that way nothing is said, and nothing is thrown."""
    model, place = overlapping(shape, other, 0.04, way, planar, turned, led)
    with Simulation(model, 1e-3) as simulation:
        with pytest.warns(StartWarning, match=r"'(body|other)' begins 0.04 m inside '\w+' .* Remedy: move") as said:
            simulation.run(1e-3)
        with warnings.catch_warnings():
            warnings.simplefilter("error", StartWarning)
            run = simulation.run(0.1)
    (entry,) = [event for event in run.events if event["kind"] == "overlap"]
    assert (entry["name"], entry["others"], entry["tick"]) == ("touch", [], 0) and abs(entry["depth"] - 0.04) < 1e-12
    mover, line = re.search(r"move '(\w+)' by 0.04 m along \((.*)\)", str(said[0].message)).groups()
    out = np.array([float(number) for number in line.split(",")]) * (1.0 if mover == "body" else -1.0)
    np.testing.assert_allclose(out, way[: len(place)], atol=1e-12)
    assert mover == "body" or not led
    mended, _ = overlapping(shape, other, 0.0, out if len(out) == 3 else (*out, 0.0), planar, turned, led)
    assert np.ptp(calmly(mended, 1e-3, 0.01).position("body.G"), axis=0).max() < G * 0.01**2


def test_the_verdict_on_what_was_thrown_apart_does_not_ask_for_a_shorter_step():
    """Which would throw it faster."""
    model, _ = overlapping(Box((SIDE,) * 3), HalfSpace(), 0.04, UP)
    with Simulation(model, 1e-3) as simulation, pytest.warns(VerdictWarning, match="inside each other.* no step helps"):
        warnings.simplefilter("ignore", StartWarning)
        simulation.run(0.2)


@pytest.mark.parametrize("dt", [1e-3, 1e-4])
def test_what_weight_and_approach_press_in_is_no_overlap(dt):
    """A model taken from a motion, and shapes with a stiffness of their own, begin without a word."""
    resting, _ = overlapping(Box((SIDE,) * 3), HalfSpace(), 2.0 * G * dt**2, UP)
    own, _ = overlapping(Box((SIDE,) * 3), HalfSpace(), 0.04, UP, stiffness=1e3, damping=1.0)
    for model in (resting, own):
        with Simulation(model, dt) as simulation, warnings.catch_warnings():
            warnings.simplefilter("error", StartWarning)
            simulation.run(10 * dt)


def test_an_examination_tells_of_it():
    model, _ = overlapping(Box((SIDE,) * 3), HalfSpace(), 0.04, UP)
    with Simulation(model, 1e-3) as simulation:
        assert any("'body' begins 0.04 m inside 'ground'" in advice for advice in examine(simulation).advice)


def test_shapes_in_each_other_that_meet_fast_are_told_too():
    """However fast: a run has brought nothing about when it begins."""
    model = Assembly(gravity=(0.0, 0.0, 0.0))
    ball = RigidBody(
        mass=1.0, inertia=(0.01,) * 3, centre=(0, 0, 0.07), ports={"G": (0, 0, 0.07)}, velocity=(0, 0, -50.0)
    )
    model.add("ball", ball)
    model.apply("floor", Contact(HalfSpace(), Sphere(0.1), restitution=1.0), "ground", "ball.G")
    with (
        Simulation(model, 1e-2) as simulation,
        pytest.warns(StartWarning, match="'ball' begins 0.03 m inside 'ground'"),
    ):
        warnings.simplefilter("ignore", VerdictWarning)
        simulation.run(1e-2)


def test_where_a_shape_on_the_ground_stands_is_told_by_the_shape_alone():
    model, _ = overlapping(Sphere(0.1), HalfSpace(), 0.0, UP)
    with pytest.raises(ModelError, match=r"force 'other': at = .* has no meaning for a Contact; give centre="):
        model.apply("other", Contact(HalfSpace(), Sphere(0.1)), "ground", "body.G", at=(0.0, 0.0, -5.0))
