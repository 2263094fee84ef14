"""Formulas() through places where rows lose their grip, and with forces that are stiffer than its step."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import references
import scenarios
from coordinator import Ensemble, Formulas, Simulation, resume
from modular import Diverged
from modular.errors import ModelError

FOLD = -0.5 * np.pi


def fold_of(angle: float) -> float:
    """When the crank hangs and the rod is folded onto it, where both could part."""
    there = lambda t, y: y[0] - FOLD  # noqa: E731
    there.terminal = True  # type: ignore[attr-defined]
    found = solve_ivp(references.slider_crank_rates, (0.0, 5.0), (angle, 0.0), rtol=1e-12, atol=1e-12, events=there)
    return float(found.t_events[0][0])


@pytest.mark.parametrize(
    "seed", [2, *(pytest.param(k, marks=pytest.mark.campaign("more")) for k in (1, *range(3, 12)))]
)
def test_slider_cranks_go_through_their_fold_where_a_tick_ends_beside_it(seed):
    """From less than a micrometre to a tenth of a millimetre beside it, at steps by lot, against one angle."""
    draw = np.random.default_rng(seed)
    angle, steps, beside = draw.uniform(0.3, 1.2), int(draw.integers(200, 3000)), 10.0 ** draw.uniform(-8.0, -4.0)
    dt = (fold_of(angle) + beside) / steps
    with Simulation(scenarios.load("slider-crank", angle=angle), dt, Formulas()) as simulation:
        run = simulation.run(1.2 * steps * dt)
    exact = references.slider_crank(dt, len(run) - 1, angle)
    assert np.abs(run.position("rod.end") - exact[:, 1]).max() < 1e-10
    assert np.abs(run.position("crank.end") - exact[:, 0]).max() < 1e-10
    reaction, acceleration = run.reaction("elbow"), run.acceleration("rod.end")
    for course, off in ((acceleration, 1e-6), (reaction, 5e-3)):  # what is told at the fold lies between its neighbours
        there = slice(steps - 3, steps + 4)
        bent = np.abs(np.diff(course[there], 2, axis=0)).max()
        assert bent < off * np.abs(course[there]).max() + 60.0 * dt**2 * np.abs(course).max()


@pytest.mark.campaign
def test_variants_go_through_it_with_the_bits_of_single_runs_and_checkpoints_are_refused_there(tmp_path):
    steps = 400
    model = scenarios.load("slider-crank", angle=0.7)
    dt = (fold_of(0.7) + 1e-7) / steps
    variants = Ensemble(model, dt, Formulas(), vary={"rod.masses.1": [0.6, 0.8, 1.0, 1.3, 1.7]}, record_every=10)
    until = 1.1 * steps * dt
    variants.run(until)
    assert not variants.retired
    with Simulation(variants.variants.model_of(2), dt, Formulas(), record_every=10) as simulation:
        simulation.run(steps * dt, checkpoints=tmp_path)
        assert "passages" in simulation.system.memory  # it stands there
        whole = simulation.run(until)
    assert variants.run_of(2).digest == whole.digest
    with pytest.raises(ModelError, match="resume from an earlier one"):  # formulas are written where a model stands
        resume(tmp_path)


@pytest.mark.campaign
def test_a_damper_that_is_stiffer_than_the_step_takes_ticks_in_parts():
    """From 30 to 300 microseconds of time constant, at half a millisecond; each variant by itself."""
    dampings = np.array([15.0, 40.0, 75.0, 110.0, 150.0])
    model, until = scenarios.load("spring-pendulum"), 0.05
    asked = {"vary": {"spring.damping": dampings}}
    coarse = Ensemble(model, 5e-4, Formulas(), record_every=10, **asked).run(until)
    fine = Ensemble(model, 2e-5, Formulas(), record_every=250, **asked).run(until)
    assert not coarse.retired
    off = np.abs(coarse.position("solid.P") - fine.position("solid.P")).max(axis=(1, 2))
    assert (off < 1e-6).all()
    for k in (0, 4):
        with Simulation(coarse.variants.model_of(k), 5e-4, Formulas(), record_every=10) as alone:
            assert coarse.run_of(k).digest == alone.run(until).digest
            assert ("parts" in alone.system.memory) == (k == 4)


def test_what_no_part_resolves_is_told():
    variants = Ensemble(scenarios.load("spring-pendulum"), 5e-3, Formulas(), vary={"spring.damping": [1e4, 2e4]})
    assert "for stiff forces" in variants.run(0.05).retired[0].reason
    with (
        pytest.raises(Diverged, match="take dt = "),
        Simulation(variants.variants.model_of(0), 5e-3, Formulas()) as alone,
    ):
        alone.run(0.05)
