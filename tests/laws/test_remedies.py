"""Remedies are followed: what an error names as its remedy is done, and the error is gone."""

import re
import warnings

import pytest

import scenarios
from campaign import later, named
from components import Beam, Box, Contact, Fixed, Friction, HalfSpace, Revolute, RigidBody, Rod, SpringDamper
from coordinator import (
    GGL,
    HHT,
    AugmentedLagrangian,
    Centralized,
    GlobalPenalty,
    Glued,
    MinimalCoordinates,
    Penalty,
    Relaxed,
    Shannon,
    Simulation,
    Stable,
    Substitution,
)
from modular import Assembly, CouplingError, Diverged, ModelError
from modular.internal_gains import InternalGains


def sprung(stiffness, damping=0.0):
    """A rod on a hinge, and a spring at its end that is at ease."""
    model = Assembly(gravity=(0.0, -9.81))
    model.add("rod", Rod((0.0, 0.0), (1.0, 0.0), 1.0))
    model.join("pin", Revolute(), "ground", "rod.start")
    spring = SpringDamper(stiffness=stiffness, damping=damping, length=0.6)
    model.apply("spring", spring, "ground", "rod.end", at=(1.0, 0.6))
    return model


def spun(rate):
    model = Assembly(gravity=(0.0, -9.81))
    model.add("rod", Rod((0.0, 0.0), (1.0, 0.0), 1.0, angular_velocity=rate, velocity=(0.0, 0.5 * rate)))
    model.join("pin", Revolute(), "ground", "rod.start")
    return model


def cantilever():
    model = Assembly(gravity=(0.0, -9.81))
    model.add("beam", Beam.of_rectangle((0, 0), (1, 0), width=0.02, height=0.02, density=1e3, young=2e9, elements=3))
    model.join("wall", Fixed(), "ground", "beam.start")
    return model


def rubbing():
    model = Assembly(gravity=(0.0, -9.81))
    model.add("box", RigidBody(mass=1.0, inertia=0.01, centre=(0.0, 0.1), ports={"G": (0.0, 0.1)}))
    model.apply("floor", Contact(HalfSpace(), Box((0.2, 0.2)), friction=0.3), "ground", "box.G")
    return model


def braked(stiffness=None):
    model = spun(2.0)
    model.apply("brake", Friction(0.5, stiffness=stiffness), "ground", "rod.start")
    return model


def chain(bodies=6):
    return scenarios.load("chain", bodies=bodies)


def pendulum():
    return scenarios.load("double-pendulum")


def try_it(model, dt, coupling, ticks=20):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what the run is warned of before it begins
        with Simulation(model, dt, coupling) as simulation:
            return simulation.run(ticks * dt)


STEPS = [
    (lambda: sprung(1e8), 1e-3, Penalty()),
    (lambda: sprung(1e8), 1e-3, Glued()),
    (lambda: sprung(1e8), 1e-3, Relaxed()),
    (lambda: sprung(1.0, 1e5), 1e-3, Penalty()),
    (lambda: sprung(1.0, 1e5), 1e-3, Glued()),
    (lambda: sprung(1.0, 1e5), 1e-3, Glued(4)),
    (lambda: sprung(1.0, 1e5), 1e-3, Relaxed()),
    (lambda: sprung(1e8), 1e-3, Centralized(Substitution())),
    (lambda: sprung(1e8), 1e-3, Centralized(GlobalPenalty())),
    (lambda: sprung(1e8), 1e-3, Centralized(MinimalCoordinates("RK4"))),
    (cantilever, 1e-3, Centralized(MinimalCoordinates("RK4"))),
    (cantilever, 1e-3, Centralized(Substitution())),
    (pendulum, 1e-3, Penalty(internal=InternalGains(frequency=5000.0))),
    (lambda: spun(3000.0), 1e-3, Penalty()),
    (lambda: spun(3000.0), 1e-3, Glued()),
    (pendulum, 1.0, Glued()),
    (pendulum, 1.0, Centralized(GGL())),
    (pendulum, 1e3, Centralized(HHT())),
    (pendulum, 1e3, Centralized(AugmentedLagrangian())),
]


@pytest.mark.parametrize("case", range(len(STEPS)))
def test_a_step_that_is_named_holds(case):
    """Of everything that stopped or diverged at the step that it was given; to the two digits that are printed."""
    make, dt, coupling = STEPS[case]
    with pytest.raises(Diverged) as told:
        try_it(make(), dt, coupling, 200)
    step = float(re.search(r"dt = (\S+) s", str(told.value))[1])
    assert step < dt
    try_it(make(), step, coupling, 60)


def test_a_rule_that_is_named_holds():
    for rule in (Shannon(delta=0.45), Stable(safety=1.0, damping=1.0)):
        try:
            try_it(chain(), 1e-3, Penalty(rule=rule), 500)
        except Diverged as error:
            for name in re.findall(r"(?:Stable|Shannon)\([^)]*\)", str(error)):
                try_it(chain(), 1e-3, Penalty(rule=eval(name)), 500)
                assert name
        else:
            assert isinstance(rule, Stable)  # which keeps what it promises


@pytest.mark.parametrize("method", ["conjugate-gradients", "gauss-seidel", "jacobi"])
def test_as_many_iterations_as_are_named_suffice(method):
    with pytest.raises(Diverged, match="allow more iterations") as told:
        try_it(chain(20), 1e-2, Relaxed(iterations=1, method=method), 25)
    more = int(re.search(r"iterations=(\d+)", str(told.value))[1])
    try_it(chain(20), 1e-2, Relaxed(iterations=more, method=method), 25)


@pytest.mark.parametrize(
    ("make", "coupling"),
    [
        (rubbing, Centralized()),
        (rubbing, Glued(4)),
        (braked, Glued(4)),
        *later([(rubbing, Glued(6)), (braked, Glued(8))]),
    ],
    ids=named,
)
def test_couplings_that_are_named_take_what_was_refused(make, coupling):
    with pytest.raises(CouplingError) as told:
        try_it(make(), 1e-3, coupling)
    ways = [Glued(order=int(n)) for n in re.findall(r"order=(\d)", str(told.value))]
    ways += [eval(name) for name in re.findall(r"(?:Penalty|Glued|Relaxed)\(\)", str(told.value))]
    assert ways
    for way in ways:
        try_it(make(), 1e-3, way)


def test_a_stiffness_that_is_asked_for_is_enough():
    with pytest.raises(ModelError, match=r"give stiffness="):
        try_it(braked(), 1e-3, Centralized())
    try_it(braked(1e3), 1e-3, Centralized())
