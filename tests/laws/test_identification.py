"""Numbers from noisy measurements: within the bound of Cramér and Rao, and what cannot be known is named."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from components.bodies import PointMassRod
from components.forces import SpringDamper
from components.joints import Revolute
from coordinator import Formulas, Glued, Recording, Simulation, identify
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
