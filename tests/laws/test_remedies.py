"""Remedies of messages are followed, as whoever reads them would: what they propose can be taken, and holds."""

import re
import warnings

import pytest

import scenarios
from campaign import later, more, named
from components import Controller, DrivenRotation, Revolute, Rod, Smooth
from coordinator import Glued, Penalty, Simulation, VerdictWarning
from coordinator.checks.diagnosis import fitting, proposed
from modular import Assembly, Diverged

AGAIN = 2  # a remedy, and another one where loads have grown meanwhile
MOST = 30_000  # ticks that one is ready to take


def followed(name, dt, coupling, until):
    """Steps that were taken until a run came to its end; where a message names no step, the coupling that it names."""
    steps = [dt]
    while True:
        try:
            with (
                warnings.catch_warnings(),
                Simulation(scenarios.load(name), dt, coupling, record_every=max(1, round(1e-3 / dt))) as simulation,
            ):
                warnings.simplefilter("ignore")
                simulation.run(max(1, round(until / dt)) * dt)
            return steps
        except Diverged as error:
            assert len(steps) <= AGAIN, (steps, str(error))
            if error.holding_step is None:
                assert "as Glued()" in str(error), error
                coupling = Glued()
            else:
                typed = re.search(r"dt = (\S+) s", str(error))
                assert float(typed[1]) == pytest.approx(error.holding_step, rel=0.05)
                dt = float(typed[1])
            steps.append(dt)
            if until / dt > MOST:
                return steps


FEW = [
    ("bicycle-chain", 1e-3, Penalty(), 0.06),
    ("kapitza-pendulum", 1e-2, Penalty(), 0.3),
]
EVERY = [(n, dt, coupling, None) for n in scenarios.names() for dt in (1e-2, 1e-3) for coupling in (Penalty(), Glued())]


@pytest.mark.parametrize(
    ("name", "dt", "coupling", "until"),
    [*FEW, *later([("flexible-slider-crank", 1e-3, Penalty(), 0.1)]), *more(EVERY)],
    ids=named,
)
def test_a_remedy_holds_when_it_is_followed_or_the_one_after_it(name, dt, coupling, until):
    steps = followed(name, dt, coupling, until or min(scenarios.load(name).suggested.get("until", 0.5), 0.3))
    assert until is None or len(steps) > 1


def test_a_step_that_a_verdict_proposes_divides_the_period_of_a_controller():
    """It was 0.0011 s, and refused: 10 ms are no multiple of that."""
    with (
        Simulation(scenarios.load("inverted-pendulum"), 1e-2, Penalty()) as simulation,
        pytest.warns(VerdictWarning) as said,
    ):
        simulation.run(0.3)
    step = float(re.search(r"dt = (\S+) s", str(said[0].message))[1])
    with Simulation(scenarios.load("inverted-pendulum"), step, Penalty(), record_every=10) as simulation:
        assert simulation.run(30 * 1e-2).estimate["share"] < 1e-3


def asked(*periods):
    """A rod with controllers that are asked so often."""
    model = Assembly(gravity=(0.0, -9.81))
    model.add("rod", Rod((0.0, 0.0), (1.0, 0.0), 1.0))
    model.join("pin", Revolute(), "ground", "rod.start")
    for k, period in enumerate(periods):
        model.apply(f"drive{k}", Controller("math:hypot", period=period), "ground", "rod.start")
    return Simulation(model, min(periods, default=1.0) / 100)


@pytest.mark.parametrize(
    ("periods", "step", "found"),
    [
        ((), 0.00111, 0.00111),
        ((0.01,), 0.00111, 0.001),
        ((0.01,), 0.5, 0.01),
        ((0.01, 0.025), 0.0049, 0.0025),
        ((0.003,), 0.0029, 0.0015),
        ((0.0123457,), 0.02, 0.0123457),
    ],
)
def test_steps_divide_all_periods_and_are_typed_as_they_are(periods, step, found):
    with asked(*periods) as simulation:
        sentence, fits = proposed(simulation, f"take dt = {step:.2g} s, or wait", step)
        assert fits == fitting(simulation, step) == found
        assert float(re.search(r"dt = (\S+) s", sentence)[1]) == pytest.approx(found, rel=1e-9 if periods else 0.05)


def test_a_drive_that_asks_for_what_cannot_be_reached_is_told_so():
    """A rocker of a four-bar that is to turn by three radians: springs open, and no step brings them together."""
    model = Assembly(gravity=(0.0, -9.81))
    places = [(0.0, 0.0), (0.5, 0.0), (1.0, 1.0), (1.5, 0.0)]
    for k, name in enumerate("abc"):
        model.add(name, Rod(places[k], places[k + 1], 1.0))
    ends = ["ground", "a.start", "a.end", "b.start", "b.end", "c.start", "ground", "c.end"]
    for k in range(4):
        model.join(f"hinge{k}", Revolute(), ends[2 * k], ends[2 * k + 1])
    model.join("drive", DrivenRotation(Smooth((0.0, 1.0), (0.0, 3.0))), "ground", "c.end")
    words = "check whether the drives demand more than the mechanism can reach"
    for dt in (1e-3, 3e-4):
        with pytest.warns(VerdictWarning, match=words):
            Simulation(model, dt, Penalty()).run(1.0)
    with warnings.catch_warnings(), pytest.raises(Diverged, match="no smaller step helps"):
        warnings.simplefilter("ignore")
        Simulation(model, 1e-3, Glued()).run(1.0)
