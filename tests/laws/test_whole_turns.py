"""What acts about a hinge goes on over whole turns, whoever asks: statics, inverse dynamics, formulas; a crank in closed form."""

import numpy as np
import pytest
from scipy.optimize import brentq

from components import Controller, Motor, Ramp, Regulator, Revolute, Rod, TorsionSpring
from coordinator import Formulas, Glued, Simulation
from coordinator.analysis import equilibrium, inverse_dynamics, linearise, modes, statics
from modular import Assembly, CouplingError, ModelError

MASS, LENGTH, G = 1.3, 0.8, 9.81
INERTIA, WEIGHT = MASS * LENGTH**2 / 3, 0.5 * MASS * LENGTH * G
HINGE = ("ground", "crank.start")


def crank(spin=0.0):
    model = Assembly(gravity=(0.0, -G))
    velocity = (0.0, 0.5 * LENGTH * spin)
    model.add("crank", Rod((0.0, 0.0), (LENGTH, 0.0), MASS, velocity=velocity, angular_velocity=spin))
    model.join("main", Revolute(), *HINGE)
    return model


def with_everything(model):
    """A spring, a motor that tires and follows, and a servo."""
    model.apply("spring", TorsionSpring(0.5, 0.01, rest=0.3), *HINGE)
    model.apply("motor", Motor(2.0, no_load=40.0, target=Ramp(9.0), stiffness=0.2, damping=0.03), *HINGE)
    model.apply("servo", Regulator(0.4, derivative=0.02, target=5.0), *HINGE, HINGE[1])
    return model


def torque(angle, rate, times):
    """What all of these do at the hinge [N m]."""
    spring = 0.5 * (0.3 - angle) - 0.01 * rate
    motor = 2.0 * (1.0 - rate / 40.0) + 0.2 * (9.0 * times - angle) + 0.03 * (9.0 - rate)
    return spring + motor + 0.4 * (5.0 - angle) - 0.02 * rate


def test_inverse_dynamics_knows_efforts_at_all_times_over_any_number_of_turns():
    """Values at times are a cubic by lot: its accelerations are those of the ends as well, and few times lie between two turns."""
    draw, times = np.random.default_rng(3), np.linspace(0.0, 1.0, 16)
    course = np.polynomial.Polynomial([0.0, *draw.normal(size=3) * (8.0, 20.0, 30.0)])
    angle, rate, bend = (course.deriv(k)(times) if k else course(times) for k in (0, 1, 2))
    assert np.abs(np.diff(angle)).max() > 2.0 and np.ptp(angle) > 2.0 * np.pi
    found = inverse_dynamics(with_everything(crank()), {"main": angle}, times).efforts["main"]
    wanted = INERTIA * bend + WEIGHT * np.cos(angle) - torque(angle, rate, times)
    assert found == pytest.approx(wanted, abs=1e-9 * np.abs(wanted).max())


@pytest.mark.parametrize("rest", [-17.0, 4.0])
def test_a_spring_that_is_wound_up_comes_to_rest_after_some_turns(rest):
    model = crank()
    model.apply("spring", TorsionSpring(30.0, 2.0, rest=rest), *HINGE)
    angle = brentq(lambda a: 30.0 * (rest - a) - WEIGHT * np.cos(a), rest - 1.0, rest + 1.0, xtol=1e-14)
    found = modes(model, seek=True)
    wanted = np.roots([INERTIA, 2.0, 30.0 - WEIGHT * np.sin(angle)])
    assert found.eigenvalues == pytest.approx(wanted[wanted.imag > 0.0], rel=1e-6)


def test_formulas_go_on_over_turns_and_book_what_motors_bring():
    runs = []
    for coupling in (Formulas(), Glued(6)):
        with Simulation(with_everything(crank(20.0)), 2e-3, coupling) as simulation:
            runs.append(simulation.run(0.8))
    exact, glued = runs
    assert np.ptp(glued.angle("main")) > 4.0 * np.pi
    assert exact.angle("main") == pytest.approx(glued.angle("main"), abs=1e-6)
    for name in ("spring", "motor", "servo"):
        ledger, other = exact.ledger(name), glued.ledger(name)
        for line in ("work_second", "stored", "dissipated", "supplied"):
            assert ledger[line][-1] == pytest.approx(other[line][-1], abs=1e-4), (name, line)
        assert abs(ledger["leaked"][-1]) < 1e-9
    assert exact.estimate["swallowed"] < 1e-9


def test_what_time_alone_tells_is_refused_where_no_time_passes():
    summing, asked = crank(), crank()
    summing.apply("servo", Regulator(50.0, integral=30.0, derivative=3.0, target=1.0), *HINGE, HINGE[1])
    asked.apply("servo", Controller(lambda time, readings, memory: 3.0), *HINGE)
    for model, reason in ((summing, "sum over time"), (asked, "what a program sets")):
        for ask in (lambda one: modes(one, seek=True), equilibrium, statics, linearise):
            with pytest.raises(ModelError, match=f"servo.*{reason}"):
                ask(model)
    with pytest.raises(ModelError, match=r"servo.*what a program sets"):
        inverse_dynamics(asked, {"main": Ramp(1.0)}, [0.0, 0.1])
    with pytest.raises(CouplingError, match=r"servo.*sum over time"):
        Simulation(summing, 1e-3, Formulas())
