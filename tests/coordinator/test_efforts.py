"""What forces did, told from samples alone: whenever they came and went, whatever they keep in mind, however seldom one looked."""

import numpy as np
import pytest

from components import (
    Controller,
    DrivenRotation,
    Friction,
    Hand,
    Motor,
    Regulator,
    Revolute,
    RigidBody,
    Smooth,
    SpringDamper,
    TorsionSpring,
)
from components.sensors import AngleBetween
from coordinator import Glued, Simulation
from coordinator.record.export import columns
from coordinator.record.sensors import exerted, worked_out
from coordinator.record.turning import along_axes, some_samples
from modular import Assembly, ModelError


def pull_back(time, readings, memory):
    memory[0] += readings["turn"]
    return -3.0 * readings["turn"] - 0.2 * memory[0]


def arm():
    """An arm on a hinge that a controller, a servo, a spring with a remainder of turning and dry friction act on."""
    model = Assembly(gravity=(0.0, -9.81))
    model.add("arm", RigidBody(mass=1.3, inertia=0.2, centre=(0.4, 0.1), ports={"a": (0.0, 0.0), "b": (0.9, 0.2)}))
    model.join("hinge", Revolute(), "ground", "arm.a")
    turn = {"turn": AngleBetween("ground", "arm.a")}
    model.apply("pilot", Controller(pull_back, turn, every=4, memory=(0.0,)), "ground", "arm.a")
    model.apply("servo", Regulator(8.0, integral=5.0, derivative=1.0, target=0.4), "ground", "arm.a", "arm.b")
    model.apply("rub", Friction(0.4, stiffness=300.0), "ground", "arm.a")
    return model


NAMES = ["pilot", "servo", "rub"]


@pytest.mark.campaign
def test_what_is_kept_in_mind_is_recorded_so_seldom_samples_tell_the_same():
    runs = []
    for every in (1, 7):
        with Simulation(arm(), 1e-3, record_every=every) as simulation:
            runs.append(simulation.run(0.49))
    often, seldom = (worked_out(run, NAMES) for run in runs)
    for name in NAMES:
        assert np.abs(often[name].wrench[:, 2]).max() > 0.3
        assert seldom[name].wrench == pytest.approx(often[name].wrench[::7], abs=1e-12)


def test_the_effort_of_a_controller_is_what_it_decided():
    with Simulation(arm(), 1e-3) as simulation:
        run = simulation.run(0.5)
    turn, total, held = run.angle("hinge"), 0.0, []
    for tick in range(0, 500, 4):
        total += turn[tick]
        held += 4 * [-3.0 * turn[tick] - 0.2 * total]
    assert run.effort("pilot")[1:501] == pytest.approx(held, abs=1e-9)


def test_a_hand_is_told_at_the_target_that_it_was_led_to():
    model = Assembly(gravity=(0.0, -9.81))
    model.add("arm", RigidBody(mass=1.3, inertia=0.2, centre=(0.4, 0.1), ports={"a": (0.0, 0.0), "b": (0.9, 0.2)}))
    model.join("hinge", Revolute(), "ground", "arm.a")
    model.apply("hand", Hand(stiffness=30.0, damping=0.0, most=100.0), "arm.b")
    with Simulation(model, 1e-3) as simulation:
        simulation.run(0.1)
        simulation.aim("hand", (0.5, 1.0))
        run = simulation.run(0.3)
    assert exerted(run, "hand")[150] == pytest.approx(30.0 * ((0.5, 1.0) - run.position("arm.b")[150]), abs=1e-9)


def come_and_go():
    """A spring that is removed and applied again, and a motor that comes by hand and goes with its body."""
    model = arm()
    model.apply("spring", SpringDamper(stiffness=40.0), "ground", "arm.b", at=(0.9, 1.0))
    with Simulation(model, 1e-3) as simulation:
        simulation.run(0.1)
        simulation.remove("spring")
        simulation.apply("motor", Motor(effort=0.7), "ground", "arm.a")
        simulation.run(0.2)
        simulation.apply("spring", SpringDamper(stiffness=40.0), "ground", "arm.b", at=(0.9, 1.0))
        simulation.apply("coil", TorsionSpring(stiffness=2.0), "ground", "arm.a")
        simulation.run(0.3)
        simulation.remove("arm")
        return simulation.run(0.32)


def test_forces_are_told_while_they_were_there_and_from_where_they_were_made():
    run = come_and_go()
    far = run.position("arm.b") - (0.9, 1.0)
    length, natural = np.linalg.norm(far, axis=1), np.where(run.ticks < 150, 0, 200)
    expected = -40.0 * (length - length[natural])
    there = (run.ticks < 100) | ((run.ticks >= 200) & (run.ticks < 300))
    assert np.isfinite(run.effort("spring")) == pytest.approx(there)
    assert run.effort("spring")[there] == pytest.approx(expected[there], abs=1e-9)
    assert run.effort("motor")[100:300] == pytest.approx(0.7, abs=1e-12)
    turn = run.angle("hinge")
    assert run.angle("coil")[200:300] == pytest.approx((turn - turn[200])[200:300], abs=1e-9)
    assert run.effort("coil")[200:300] == pytest.approx(-2.0 * (turn - turn[200])[200:300], abs=1e-9)


@pytest.mark.campaign
def test_tables_show_all_that_goes_along_an_axis():
    run = come_and_go()
    table = dict(columns(run))
    for name, what, unit in (
        ("hinge", "angle", "rad"), ("pilot", "torque", "N m"), ("servo", "torque", "N m"), ("spring", "distance", "m"),
        ("spring", "effort", "N"), ("coil", "torque", "N m"), ("motor", "angle", "rad"),
    ):  # fmt: skip
        assert np.isfinite(table[f"{name} {what} [{unit}]"]).any()
    assert table["spring effort [N]"] == pytest.approx(run.effort("spring"), nan_ok=True, abs=1e-12)


def test_the_torque_of_a_drive_has_its_sign_in_tables():
    model = Assembly(gravity=(0.0, 0.0, -9.81))
    model.add("bar", RigidBody(mass=2.0, inertia=(0.1, 0.25, 0.3), centre=(0.5, 0, 0), ports={"a": (0, 0, 0)}))
    model.join("hinge", Revolute(axis=(0.0, -1.0, 0.0)), "ground", "bar.a")
    model.join("drive", DrivenRotation(Smooth((0.0, 1.0), (0.0, 0.0)), axis=(0.0, -1.0, 0.0)), "ground", "bar.a")
    with Simulation(model, 1e-3, Glued()) as simulation:
        run = simulation.run(0.02)
    found = {(column.of, column.what): column for column in along_axes(run)}
    assert found["drive", "torque"].values == pytest.approx(2.0 * 9.81 * 0.5, rel=1e-9)


def test_what_was_made_between_two_samples_is_refused_and_left_out_of_tables():
    model = arm()
    with Simulation(model, 1e-3, record_every=5) as simulation:
        simulation.run(0.007)
        simulation.apply("coil", TorsionSpring(stiffness=2.0), "ground", "arm.a")
        run = simulation.run(0.03)
    with pytest.raises(ModelError, match="at tick 7, between two samples"):
        exerted(run, "coil")
    assert ("pilot", "torque") in (found := {(column.of, column.what) for column in along_axes(run)})
    assert ("coil", "torque") not in found


def test_some_samples_of_a_run_tell_the_same():
    run = come_and_go()
    few = some_samples(run, 50)
    assert len(few) < 60
    at = np.isin(run.ticks, few.ticks)
    for name in ("spring", "motor", "coil", "pilot"):
        assert few.effort(name) == pytest.approx(run.effort(name)[at], nan_ok=True, abs=1e-12)
