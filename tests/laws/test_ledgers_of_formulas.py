"""Works of forces and joints under Formulas() are integrated with the motion, so that its verdict tells of the motion alone."""

from functools import cache
from math import pi

import numpy as np
import pytest

from components import DrivenTranslation, Load, Prismatic, Revolute, Rod, Sine, SpringDamper
from coordinator import Centralized, Ensemble, Formulas, MinimalCoordinates, Simulation
from modular import Assembly
from modular.ledger import LEAKED


def sledge():
    """Led along one of two slides in a line, whose rows follow from each other; a rod on it with a spring, a damper and a load."""
    model = Assembly(gravity=(2.0, -9.81))
    model.add("sledge", Rod((0.0, 0.0), (0.8, 0.6), 3.0))
    model.add("bob", Rod((0.8, 0.6), (1.5, 0.6), 0.8))
    model.join("start", Prismatic(axis=(0.8, 0.6)), "ground", "sledge.start")
    model.join("end", DrivenTranslation(Sine(0.3, 2.0, pi / 2), (0.8, 0.6)), "ground", "sledge.end")
    model.join("pin", Revolute(), "sledge.end", "bob.start")
    model.apply("spring", SpringDamper(60.0, 0.5), "ground", "bob.end", at=(1.3, 2.0))
    model.apply("load", Load((0.3, -2.0)), "bob.end")
    return model


def ledgers(run):
    """Of all joints and forces at the end, (n, lines)."""
    last = run.segments[-1]
    return np.concatenate([series["ledger"][last.used - 1] for _, series in (*last.joints, *last.forces)])


def ran(dt, coupling):
    with Simulation(sledge(), dt, coupling) as simulation:
        return simulation.run(0.24)


@cache
def exact():
    """The run that others are held against."""
    return ran(0.0025, Formulas())


def test_works_are_as_right_as_the_motion():
    ends = [ledgers(run) for run in (ran(0.04, Formulas()), ran(0.02, Formulas()), exact())]
    coarse, fine = (float(np.abs(end - ends[-1]).max()) for end in ends[:2])
    assert fine < 1e-9 * np.abs(ends[-1]).max() and coarse > 64.0 * fine  # trapezoids leave 4e-3, and a fourth of it
    assert np.abs(ends[-1][:, LEAKED]).max() < 1e-13 * np.abs(ends[-1]).max()


@pytest.mark.campaign
def test_solvers_of_high_order_book_what_formulas_book():
    """Between ends of ticks a solver that goes its own steps is interpolated: another way to the same works."""
    adaptive = Centralized(MinimalCoordinates(method="DOP853", rtol=1e-12, atol=1e-12))
    runs = [ran(0.02, adaptive), ran(0.01, adaptive), exact()]
    ends, told = [ledgers(run) for run in runs], [run.estimate["swallowed"] for run in runs]
    largest = np.abs(ends[-1]).max()
    coarse, fine = (float(np.abs(end - ends[-1]).max()) for end in ends[:2])
    assert fine < 1e-6 * largest and coarse > 16.0 * fine
    assert max(told) < 1e-6


def swing():
    model = Assembly(gravity=(0.0, -9.81))
    model.add("upper", Rod((0.0, 0.0), (1.0, 0.0), 1.0))
    model.add("lower", Rod((1.0, 0.0), (1.8, 0.1), 0.7))
    model.join("pin", Revolute(), "ground", "upper.start")
    model.join("elbow", Revolute(), "upper.end", "lower.start")
    model.apply("spring", SpringDamper(60.0, 0.5), "ground", "lower.end", at=(0.3, 1.0))
    return model


@pytest.mark.campaign
def test_estimates_neither_keep_silent_nor_cry_out():
    """Over models by lot, from soft springs to some that a step hardly follows, with dampers that take nearly nothing or much."""
    draw, count = np.random.default_rng(5), 24
    vary = {
        "upper.mass": draw.uniform(0.3, 3.0, count), "lower.mass": draw.uniform(0.3, 3.0, count),
        "spring.stiffness": 10.0 ** draw.uniform(0.5, 3.0, count), "spring.damping": draw.choice([1e-3, 0.1, 3.0], count),
    }  # fmt: skip
    fine = Ensemble(swing(), 0.005, Formulas(), vary=vary, record_every=20).run(until=1.0)
    off, over = [], []
    for dt in (0.1, 0.05, 0.02):
        coarse = Ensemble(swing(), dt, Formulas(), vary=vary, record_every=round(0.1 / dt)).run(until=1.0)
        for k in sorted(set(range(count)) - set(coarse.retired)):
            one, other = coarse.run_of(k), fine.run_of(k)
            told, extent = one.estimate, one.estimate["extent"]
            true = max(
                float(np.abs(one.position(end) - other.position(end)).max()) for end in ("upper.end", "lower.end")
            )
            off.append(true / extent)
            assert told["share"] > 0.2 * off[-1] or off[-1] < 1e-12, (dt, k)
            assert told["swallowed"] < max(1e-12, 100.0 * off[-1]), (dt, k)
            over.append(told["share"] / max(off[-1], 1e-11))
    assert min(off) < 1e-12 and max(off) > 1e-5
    assert np.median(over) < 10.0 and max(over) < 1e3  # most where stiff dampers take what steps have missed
