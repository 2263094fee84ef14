"""Laws in Python that are stiffer than the step: found as the lines that touch them, by derivatives or by differences."""

import warnings

import numpy as np
import pytest

from components import Law, Motor, Revolute, Rod, TorsionSpring
from coordinator import Glued, Penalty, Relaxed, Simulation
from modular import Assembly, ModelError

DT = 1e-3
SPRING, DAMPER, TARGET = 1e6, 1e3, 0.3


def straight(t, s, rate):
    return SPRING * (TARGET - s) - DAMPER * rate


def slopes(t, s, rate):
    return -SPRING, -DAMPER


def bent(t, s, rate):
    """A hardening spring that follows a course, and a damper that softens with speed."""
    off = s - 0.3 * (1.0 - np.cos(20.0 * t))
    return -2e5 * off * (1.0 + 100.0 * off * off) - 3e3 * rate / (1.0 + (rate / 20.0) ** 2)


def bent_slopes(t, s, rate):
    off, share = s - 0.3 * (1.0 - np.cos(20.0 * t)), (rate / 20.0) ** 2
    return -2e5 * (1.0 + 300.0 * off * off), -3e3 * (1.0 - share) / (1.0 + share) ** 2


def pushing(t, s, rate):
    return 1e6 * s


def arm(force):
    """A rod on a hinge in the plane."""
    model = Assembly(gravity=(0.0, -9.81))
    model.add("rod", Rod((0.0, 0.0), (1.0, 0.0), mass=1.0))
    model.join("hinge", Revolute(), "ground", "rod.start")
    model.apply("servo", force, "ground", "rod.start")
    return model


def ran(model, coupling=None, dt=DT, until=0.1):
    with Simulation(model, dt, coupling or Glued()) as simulation, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return simulation.run(until), simulation.implicit_forces


@pytest.mark.parametrize("coupling", [Glued(), Penalty(), Relaxed()])
def test_a_stiff_law_of_ones_own_does_what_the_component_does_that_it_describes(coupling):
    spring, _ = ran(arm(TorsionSpring(SPRING, DAMPER, TARGET)), coupling)
    for law in (Law(straight), Law(straight, derivatives=slopes)):
        run, found = ran(arm(Motor(law=law)), coupling)
        assert found == ["servo"]
        assert np.abs(run.position("rod.end") - spring.position("rod.end")).max() < 1e-8


def test_it_runs_at_any_step():
    for dt in (1e-2, 5e-2):
        run, found = ran(arm(Motor(law=Law(straight))), dt=dt, until=0.5)
        assert found == ["servo"] and abs(np.arctan2(*run.position("rod.end")[-1, ::-1]) - TARGET) < 1e-4


def test_a_bent_law_over_time_is_of_second_order_and_differences_do_for_derivatives():
    def end(law, dt):
        run, found = ran(arm(Motor(law=law)), dt=dt, until=0.2)
        assert found == ["servo"]
        return run.position("rod.end")[:: round(8e-3 / dt)]

    true = end(Law(bent, derivatives=bent_slopes), 2.5e-4)
    off = [np.abs(end(Law(bent, derivatives=bent_slopes), dt) - true).max() for dt in (4e-3, 2e-3, 1e-3)]
    assert off[0] < 2e-3 and np.log2(off[0] / off[2]) > 2.5, off
    assert np.abs(end(Law(bent), 2e-3) - end(Law(bent, derivatives=bent_slopes), 2e-3)).max() < 1e-8


def test_what_pushes_is_not_taken_for_what_holds_back():
    with Simulation(arm(Motor(law=Law(pushing))), 1e-5, Glued()) as simulation:
        assert simulation.implicit_forces == []


def test_a_soft_law_keeps_being_exerted():
    _, found = ran(arm(Motor(law=Law(lambda t, s, rate: -10.0 * s - rate))))
    assert found == []


def test_its_work_comes_from_outside():
    run, _ = ran(arm(Motor(law=Law(straight))))
    ledger = run.ledger("servo")
    assert (
        np.abs(ledger["work_first"] + ledger["work_second"] + ledger["supplied"]).max()
        < 1e-9 * np.abs(ledger["supplied"]).max() + 1e-9
    )


def test_derivatives_that_are_none_are_told_by_name():
    with pytest.raises(ModelError, match=r"motor 'servo': the derivatives of its law are nan .* leave derivatives out"):
        ran(arm(Motor(law=Law(straight, derivatives=lambda t, s, rate: (float("nan"), -1.0)))))
    with pytest.raises(ModelError, match="motor 'servo': the derivatives of its law raised TypeError"):
        ran(arm(Motor(law=Law(straight, derivatives=lambda t, s, rate: -1.0))))
