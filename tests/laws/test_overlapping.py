"""Shapes that begin in each other, and stops that begin beyond a limit, are told before the run, with the way out.

What is rigid can only throw them apart.
"""

import re
import warnings

import numpy as np
import pytest

from components import (
    Box,
    Clearance,
    Contact,
    HalfSpace,
    LedBody,
    Prismatic,
    Ramp,
    Revolute,
    RigidBody,
    Rod,
    Sphere,
    Stop,
)
from coordinator import Ensemble, Glued, Penalty, Relaxed, Simulation, StartWarning, VerdictWarning
from coordinator.checks.examination import examine
from modular import Apply, Assembly, ModelError

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


def stopped(measure, low, high, gravity=G, **law):
    """A rod on a hinge, a slide, or a ball in a socket with play whose centre is 0.3 m from that of the socket."""
    model = Assembly(gravity=(0.0, -gravity))
    if measure == "angle":
        model.add("body", Rod((0.0, 0.0), (0.4, 0.0), 1.3))
        model.join("joint", Revolute(), "ground", "body.start")
        model.apply("stop", Stop(low, high, **law), "ground", "body.start")
    else:
        ports = {"at": (0.3, 0.0), "far": (0.3, 0.7)}
        model.add("body", RigidBody(mass=1.3, inertia=0.1, centre=(0.3, 0.0), ports=ports))
        model.join("joint", Prismatic(axis=(0.0, 1.0) if measure == "way" else (1.0, 0.0)), "ground", "body.at")
        if measure == "way":
            model.apply("stop", Stop(low, high, measure="way", axis=(0.0, 1.0), **law), "ground", "body.at")
        else:
            model.apply("stop", Clearance(high, **law), "ground", "body.at", at=(0.0, 0.0))
    return model


BEYOND = {
    "angle": ((0.2, 1.0), (-0.1, 1.0), "begins at 0, 0.2 below its lower limit of 0.2"),
    "way": ((-1.0, -0.2), (-1.0, 0.1), "begins at 0, 0.2 above its upper limit of -0.2"),
    "distance": ((None, 0.1), (None, 0.31), "begins at 0.3, 0.2 above its upper limit of 0.1"),
}
stops = pytest.mark.parametrize(
    ("measure", "beyond", "within", "words"), [(k, *v) for k, v in BEYOND.items()], ids=BEYOND
)


@pytest.mark.parametrize("coupling", [Penalty(), Glued(), Glued(4), Relaxed()], ids=str)
@stops
def test_stops_that_begin_beyond_a_limit_are_told_and_the_remedies_help(measure, beyond, within, words, coupling):
    """Their walls, as stiff as the step allows, gave a rod of a kilogram a hundred radians a second without a word."""
    with Simulation(stopped(measure, *beyond), 1e-3, coupling) as simulation:
        assert any(words in advice for advice in examine(simulation).advice)
        with pytest.warns(StartWarning, match=rf"force 'stop' {words}, and throws .* Remedy: begin between"):
            simulation.run(2e-3)
        (entry,) = [event for event in simulation.recorded.events if event["kind"] == "beyond"]
        assert (entry["name"], entry["others"], entry["tick"]) == ("stop", [], 0) and abs(entry["by"] - 0.2) < 1e-12
        with warnings.catch_warnings():  # and told once
            warnings.simplefilter("error", StartWarning)
            simulation.run(4e-3)
    for mended in (stopped(measure, *within), stopped(measure, *beyond, stiffness=10.0)):
        with Simulation(mended, 1e-3, coupling) as simulation, warnings.catch_warnings():
            warnings.simplefilter("error", StartWarning)
            simulation.run(2e-3)


@stops
def test_stops_that_an_event_makes_beyond_a_limit_are_told_too(measure, beyond, within, words):
    """Also where two begin so, and where nobody looks any more before the run ends."""
    model, other = stopped(measure, *within, gravity=0.0), stopped(measure, *beyond)
    force = other.force_edges["stop"].force
    port = "body.start" if measure == "angle" else "body.at"
    for name in ("late", "later"):
        model.at(2e-3, Apply(name, force, ("ground", port), at=(0.0, 0.0) if measure == "distance" else None))
    with Simulation(model, 1e-3) as simulation:
        simulation.run(1e-3)
        with pytest.warns(StartWarning) as said:
            simulation.run(4e-3)
    told = [str(one.message) for one in said if one.category is StartWarning]
    assert [words in line for line in told] == [True, True] and "'late'" in told[0] and "'later'" in told[1]


def test_the_verdict_on_what_a_stop_has_thrown_out_does_not_ask_for_a_shorter_step():
    with (
        Simulation(stopped("angle", 0.2, 1.0), 1e-3) as simulation,
        pytest.warns(VerdictWarning, match="'stop' begins beyond its limit.* no step helps"),
    ):
        warnings.simplefilter("ignore", StartWarning)
        simulation.run(0.05)


@pytest.mark.parametrize("dt", [1e-3, 1e-4])
@pytest.mark.parametrize("measure", ["angle", "way"])
def test_what_weight_presses_beyond_a_limit_is_no_such_beginning(measure, dt):
    """A wall under weight gives way by a few times of what gravity brings about in a tick."""
    model = stopped(measure, 5.0 * G * dt**2, 1.0)
    with Simulation(model, dt) as simulation, warnings.catch_warnings():
        warnings.simplefilter("error", StartWarning)
        simulation.run(3 * dt)


def test_variants_that_begin_beyond_a_limit_are_told():
    model = stopped("angle", -0.1, 1.0)
    with pytest.warns(StartWarning, match="stop.* begins at 0, 0.2 below its lower limit of 0.2"):
        warnings.simplefilter("ignore", VerdictWarning)
        Ensemble(model, 1e-3, vary={"stop.low": [-0.1, 0.2]}).run(until=3e-3)
