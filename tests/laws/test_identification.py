"""Numbers from noisy measurements: within the bound of Cramér and Rao, and what cannot be known is named."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from budget import within
from components.bodies import PointMassRod, RigidBody
from components.forces import SpringDamper, TorsionSpring
from components.joints import Revolute
from coordinator import Formulas, Glued, Recording, Simulation, identify
from coordinator.ensemble.identification import _Problem
from coordinator.ensemble.parameters import parameter
from modular.assembly import Assembly
from modular.errors import ModelError

DT, EVERY, UNTIL, NOISE = 5e-3, 4, 1.0, 1e-3
TRUE, GUESS = (1.1, 34.0, 0.45), (0.8, 25.0, 0.6)  # mass at the tip, stiffness and length of the spring


def swing(numbers=TRUE, tilt=0.0) -> Assembly:
    tip, stiffness, length = numbers
    model = Assembly((tilt, -9.81))
    model.add("upper", PointMassRod((0.0, 0.0), (0.9, 0.0), (0.6, 0.5)))
    model.add("lower", PointMassRod((0.9, 0.0), (0.9, -0.8), (0.4, tip)))
    model.join("pivot", Revolute(), "ground", "upper.start")
    model.join("elbow", Revolute(), "upper.end", "lower.start")
    model.apply("spring", SpringDamper(stiffness=stiffness, length=length), "ground", "lower.end", at=(1.0, 0.5))
    return model


def angles(run):
    ends = [run.position(port) for port in ("upper.start", "upper.end", "lower.end")]
    lines = [b - a for a, b in pairwise(ends)]
    return np.stack([np.arctan2(line[:, 0], -line[:, 1]) for line in lines], axis=1)


def measured(model: Assembly, seed: int):
    run = Simulation(model, DT, Glued(), record_every=EVERY).run(UNTIL)
    clean = angles(run)
    return clean + NOISE * np.random.default_rng(seed).normal(size=clean.shape)


BY = ["lower.masses.1", "spring.stiffness", "spring.length"]


def errors_of(seed: int) -> np.ndarray:
    """By how much numbers were missed, in deviations: two recordings, one of a tilted frame, and samples are missing."""
    first, second = measured(swing(), seed), measured(swing(tilt=2.0), 100 + seed)
    first[3:9, 1] = np.nan
    recordings = [Recording(angles, first, NOISE), Recording(angles, second, NOISE, {"gravity.0": 2.0})]
    found = identify(swing(GUESS), DT, Glued(), by=BY, recordings=recordings, until=UNTIL, record_every=EVERY)
    assert not found.undetermined
    assert 0.6 < found.chi_square < 1.4
    assert found.model.force_edges["spring"].force.stiffness == found.values[1]
    return np.linalg.solve(np.linalg.cholesky(found.covariance), found.values - TRUE)


def test_numbers_are_found_within_the_bound_and_missing_samples_do_no_harm():
    assert np.abs(errors_of(0)).max() < 4.0  # standard deviations


@pytest.mark.campaign("more")
def test_numbers_are_missed_as_a_normal_law_has_it():
    """The bound of Cramer and Rao is reached, and no more is promised: 36 squares, whose mean is 1 and deviates by 0.24."""
    errors = np.array([errors_of(seed) for seed in range(12)])
    assert 0.3 < np.mean(np.square(errors)) < 1.9


@pytest.mark.campaign
def test_what_is_said_sample_by_sample_is_looked_at_from_its_beginning():
    """What asks for later samples, or is not one number after the other, is taken as a whole; answers are the same."""
    clean = measured(swing(), 3)
    asked = {"by": BY, "until": UNTIL, "record_every": EVERY}

    def less_the_last(run):
        return angles(run) - angles(run)[-1]

    def backwards(run):
        return angles(run)[::-1]

    found = {}
    for of, values in (
        (angles, clean),
        (lambda run: np.ravel(angles(run)), clean.ravel()),
        (less_the_last, clean - clean[-1]),
        (backwards, clean[::-1]),
    ):
        problem = _Problem(
            swing(GUESS), DT, Glued(), {n: {n: 1.0} for n in BY}, [Recording(of, values, NOISE)], UNTIL, EVERY, "differences"
        )  # fmt: skip
        beginning = problem.beginning()
        assert (beginning is not None) == (of is angles)
        if beginning is not None:
            assert beginning.until == pytest.approx(UNTIL / 4, abs=DT * EVERY)
            assert np.array_equal(beginning.measured[0], clean[: len(beginning.measured[0])])
        if of is not less_the_last:
            found[of] = identify(swing(GUESS), DT, Glued(), recordings=[Recording(of, values, NOISE)], **asked)
    first, *others = found.values()
    for other in others:
        assert other.values == pytest.approx(first.values, abs=0.05 * first.deviations.min())


@pytest.mark.parametrize(("dt", "every", "longer"), [(5e-3, 4, True), (0.08, 2, False), (0.02, 1, False)])
def test_derivatives_are_of_longer_steps_only_where_runs_over_these_say_the_same(dt, every, longer):
    """Residuals are those of the step that was asked for, to the bit; derivatives are to a hundredth of the largest."""
    values = np.tile(np.linspace(0.0, 1.0, round(UNTIL / dt) // every + 1)[:, None], 2)
    until = (len(values) - 1) * every * dt
    told = [Recording(angles, values, NOISE)]
    problem = _Problem(swing(), dt, Glued(), {n: {n: 1.0} for n in BY}, told, until, every, "differences")
    here = np.array([0.05, -1.0, 0.02])
    residual, jacobian = problem.look(here, roughly=True)
    _, right = problem._look(here, 1, dt, every)
    assert np.array_equal(residual, problem.residuals(here[None, :])[0])
    assert (problem.coarse is not None) == longer
    assert np.array_equal(jacobian, right) != longer
    assert (np.abs(jacobian - right).max(axis=0) <= 0.01 * np.abs(right).max(axis=0)).all()


def test_places_that_are_no_models_have_no_residuals_and_the_others_those_that_they_have_alone():
    told = [Recording(angles, measured(swing(), 4), NOISE)]
    problem = _Problem(swing(), DT, Glued(), {n: {n: 1.0} for n in BY}, told, UNTIL, EVERY, "differences")
    places = np.array(
        [[0.1, 0.0, 0.0], [-5.0, 0.0, 0.0], [0.0, 2.0, 0.1], [0.2, 0.0, 0.0]]
    )  # a mass of less than nothing
    first, none, *others = problem.residuals(places)
    assert none is None and problem.residuals(places[1:2]) == [None]
    for found, place in zip((first, *others), places[[0, 2, 3]], strict=True):
        assert np.array_equal(found, problem.residuals(place[None, :])[0])


@pytest.mark.campaign
def test_exact_tangents_take_the_same_step():
    recordings = [Recording(angles, measured(swing(), 5), NOISE)]
    asked = {"by": BY, "recordings": recordings, "until": UNTIL, "record_every": 2, "max_iterations": 1}
    one, other = (
        identify(swing(GUESS), 1e-2, Formulas(), method=method, **asked) for method in ("exact", "differences")
    )
    assert one.iterations == 1 and (np.abs(one.values - GUESS) > 0.01).any()
    assert one.values == pytest.approx(other.values, rel=1e-5)
    assert one.deviations == pytest.approx(other.deviations, rel=1e-4)


def test_what_the_angles_of_a_pendulum_do_not_tell_is_named():
    """The scale of all masses, and the mass at the pivot."""
    model = swing()
    model.remove("spring")
    by = ["upper.masses.0", "upper.masses.1", "lower.masses.0", "lower.masses.1"]
    found = identify(
        model,
        DT,
        Glued(),
        by=by,
        recordings=[Recording(angles, measured(model, 1), NOISE)],
        until=UNTIL,
        record_every=EVERY,
    )
    told = [set(each) for each in found.undetermined]
    assert {"upper.masses.0"} in told  # it moves nothing
    assert any({"upper.masses.1", "lower.masses.1"} <= each for each in told)  # alike in everything but their sum
    assert np.isinf(found.deviations).all()
    assert "not told apart" in str(found)


def test_what_does_not_fit_is_refused():
    model, values = swing(), np.zeros((3, 2))
    for recordings, words in (
        ([], "at least one Recording"),
        ([Recording(angles, values, NOISE)], r"of\(run\) has shape \(51, 2\), and what was measured \(3, 2\)"),
        ([Recording(angles, values, 0.0)], "give positive standard deviations"),
        ([Recording(angles, values * np.nan, NOISE)], "every sample is missing"),
    ):
        with pytest.raises(ModelError, match=words):
            identify(model, DT, Glued(), by=BY, recordings=recordings, until=UNTIL, record_every=EVERY)


def arm(numbers=None) -> Assembly:
    """Seven links in space with bodies, axes, springs and dampers by lot."""
    draw, model, before, pivot = np.random.default_rng(3), Assembly((1.1, -2.3, -9.2)), "ground", np.zeros(3)
    numbers = numbers or {}
    for k in range(7):
        end, axis, corners = pivot + 0.25 * draw.normal(size=3), draw.normal(size=3), 0.1 * draw.normal(size=(6, 3))
        axis, corners, mass = axis / np.linalg.norm(axis), corners - corners.mean(axis=0), draw.uniform(0.5, 3.0)
        inertia = mass / 6.0 * (np.sum(corners**2) * np.eye(3) - corners.T @ corners)
        own = {"stiffness": draw.uniform(4, 12) * (8 - k) ** 1.5 / 4, "damping": draw.uniform(0.02, 0.06) * (8 - k)}
        own["rest"] = 0.15 if k < 3 else 0.0
        own = {name: numbers.get(f"spring{k}.{name}", value) for name, value in own.items()}
        body = {
            "centre": tuple(0.5 * (pivot + end) + 0.03 * draw.normal(size=3)),
            "inertia": tuple(map(tuple, inertia)),
        }
        ports = {"start": tuple(pivot), "end": tuple(end)}
        model.add(f"link{k}", RigidBody(mass=numbers.get(f"link{k}.mass", mass), ports=ports, **body))
        model.join(f"joint{k}", Revolute(tuple(axis)), before, f"link{k}.start")
        spring = TorsionSpring(axis=tuple(axis), **own)
        model.apply(f"spring{k}", spring, "ground" if k == 0 else f"link{k - 1}.end", f"link{k}.start")
        before, pivot = f"link{k}.end", end
    return model


@pytest.mark.campaign("more")
@pytest.mark.filterwarnings("ignore::modular.errors.RunWarning")
def test_twenty_four_numbers_of_an_arm_of_seven_joints_are_found_from_ten_seconds():
    """From noise of 1 mrad, by fewer runs than three derivatives of the whole take; the data are of finer steps."""
    by = [
        f"{part}{k}.{one}"
        for part, one in (("link", "mass"), ("spring", "stiffness"), ("spring", "damping"))
        for k in range(7)
    ]
    by += [f"spring{k}.rest" for k in range(3)]

    def seen(run):
        return np.stack([run.angle(f"joint{k}") for k in range(7)], axis=1)

    true = np.array([parameter(arm(), name).of(arm()) for name in by])
    clean, draw = seen(Simulation(arm(), 0.0025, Glued(order=4), record_every=40).run(10.0)), np.random.default_rng(2)
    noisy = clean + NOISE * draw.normal(size=clean.shape)
    guess = dict(zip(by, true * (1.0 + 0.15 * draw.uniform(-1.0, 1.0, 24)), strict=True))
    told = [Recording(seen, noisy, NOISE)]
    with within(30.0):  # 10 where the machine does nothing else
        found = identify(arm(guess), 0.02, Glued(order=4), by=by, recordings=told, until=10.0, record_every=5)
    assert np.abs((found.values - true) / found.deviations).max() < 3.0
    assert 0.8 < found.chi_square < 1.2 and not found.undetermined
