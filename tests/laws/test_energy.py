"""Energy: conservation at second order, and a ledger that closes."""

import numpy as np
import pytest

import references
import scenarios
import zoo
from components import Fixed, Load, Prismatic, Revolute, Spherical
from coordinator import LeakWarning, Penalty, Simulation, Stable
from modular import Assembly


def mixed(dimension):
    """A pair on a weld or slider, hung from the ground: every kind of row."""
    joint = Fixed() if dimension == 2 else Prismatic(axis=(0.3, -0.5, 0.8))
    assembly = zoo.pair(joint, dimension, gravity=(0.3, -9.81, 1.1)[:dimension])
    hinge = Revolute() if dimension == 2 else Revolute(axis=(0.8, 0.6, 0.0))
    assembly.join("pin", hinge, "ground", "left.start")
    return assembly


MODELS = {
    "double-pendulum": lambda: scenarios.load("double-pendulum"),
    "chain": lambda: scenarios.load("chain", bodies=4),
    "plane": lambda: mixed(2),
    "space": lambda: mixed(3),
}


STEPS = (5e-4, 2.5e-4, 1.25e-4)


@pytest.mark.parametrize("name", MODELS)
def test_what_joints_do_is_the_change_of_energy_but_for_the_shape_that_bodies_keep(name):
    """The rest is the work of the internal constraints; it falls with the square of the step."""
    rests = []
    for dt in STEPS:
        with Simulation(MODELS[name](), dt) as simulation:
            run = simulation.run(0.4)
        works = sum(run.ledger(joint)["work_first"] + run.ledger(joint)["work_second"] for joint in run.joints)
        rests.append(np.abs(works - (run.energy - run.energy[0])).max())
    assert references.orders(rests)[-1] >= 1.9
    assert rests[-1] < 1e-4 * run.kinetic_energy().max()


@pytest.mark.parametrize("preload", [False, True])
@pytest.mark.parametrize("name", MODELS)
def test_every_ledger_sums_to_zero_and_its_leak_falls_with_the_square_of_the_step(name, preload):
    leaks = []
    for dt in STEPS:
        with Simulation(MODELS[name](), dt, Penalty(preload=preload)) as simulation:
            run = simulation.run(0.4)
        ledgers = [run.ledger(joint) for joint in run.joints]
        for ledger in ledgers:
            total = sum(ledger.values())
            assert np.abs(total).max() < 1e-12 * max(1.0, *(np.abs(column).max() for column in ledger.values()))
            assert np.diff(ledger["dissipated"]).min() >= 0.0
            assert preload or ledger["stored"].min() >= 0.0  # preloaded, it counts from the load it started with
        leaks.append(max(abs(ledger["leaked"]).max() for ledger in ledgers))
    assert references.orders(leaks)[-1] >= 1.9


def test_total_energy_drifts_at_second_order():
    drift = []
    for dt in (4e-4, 2e-4, 1e-4):
        with Simulation(scenarios.load("double-pendulum"), dt) as simulation:
            energy = simulation.run(2.0).energy
        drift.append(np.abs(energy - energy[0]).max())
    assert references.orders(drift).min() > 1.8
    assert drift[-1] < 1e-4


def kept_energy_slope(until):
    """How fast energy comes out of nothing [J/s]: what dampers have taken is counted as if it were there still."""
    with Simulation(scenarios.load("double-pendulum"), 1e-3, record_every=10) as simulation:
        run = simulation.run(until)
    whole = run.energy + sum(run.ledger(joint)["dissipated"] for joint in run.joints)
    return np.polyfit(run.time, whole, 1)[0]


def test_bodies_make_no_energy_while_they_turn():
    """Gains of internal constraints that read a predicted state would: 1.2e-4 J/s of 9.8 J (components/bodies/scheme.py)."""
    assert abs(kept_energy_slope(60.0)) < 1e-5


@pytest.mark.campaign
def test_nor_in_a_thousand_seconds():
    assert abs(kept_energy_slope(1000.0)) < 1e-6


def test_a_cut_releases_what_the_joint_stored_and_no_more():
    with Simulation(scenarios.load("double-pendulum"), 1e-3) as simulation:
        simulation.run(0.6)
        stored = simulation.ledger("elbow")["stored"]
        energy = simulation.recorded.energy[-1]
        simulation.cut("elbow")
        assert simulation.ledger("elbow")["released"] == stored > 0
        assert simulation.recorded.energy[-1] == energy
        run = simulation.run(0.8)
    assert run.ledger("elbow")["released"][-1] == stored
    assert run.ledger("elbow")["stored"][-1] == 0.0


def test_a_hanging_mechanism_at_rest_is_held_by_its_weight():
    """Reactions settle on statics; a penalty joint sags by force over stiffness."""
    assembly = Assembly(gravity=(0.0, 0.0, -9.81))
    assembly.add("upper", zoo.masses(3, (0, 0, 0), (0, 0, -1)))
    assembly.add("lower", zoo.masses(3, (0, 0, -1), (0, 0, -2)))
    assembly.join("hook", Spherical(), "ground", "upper.start")
    assembly.join("ball", Spherical(), "upper.end", "lower.start")
    with Simulation(assembly, 1e-3) as simulation:
        run = simulation.run(2.0)
    assert run.reaction("hook")[-1] == pytest.approx([0, 0, 3.0 * 9.81], abs=1e-3)  # on the second side: upwards
    assert run.reaction("ball")[-1] == pytest.approx([0, 0, 1.5 * 9.81], abs=1e-3)


def test_what_a_damper_takes_is_what_a_shaken_joint_loses():
    """A rod kicked along itself against its pin: all of the kick ends in the damper, by name."""
    assembly = Assembly(gravity=(0.0, 0.0))
    assembly.add("rod", zoo.masses(2, (0, 0), (1, 0)))
    assembly.join("pin", Spherical(), "ground", "rod.start")
    with Simulation(assembly, 1e-4, Penalty(rule=Stable(safety=30.0, damping=0.2))) as simulation:
        simulation.run(0.01)
        simulation.body("rod").v[0, :, 0] += 1e-3
        simulation.system.show()
        simulation.coupling.settle(simulation.system, 1e-4, ["rod"])
        run = simulation.run(1.0)
    kick = 0.5 * 1.5 * 1e-6
    ledger = run.ledger("pin")
    assert run.kinetic_energy()[-1] < 1e-3 * kick
    assert ledger["dissipated"][-1] == pytest.approx(kick, rel=0.02)
    assert abs(ledger["leaked"][-1]) < 0.02 * kick


def test_the_balance_closes_and_its_internal_line_is_the_work_of_the_internal_constraints():
    """Two roads: what the ledgers leave of the change of energy, and M a - J^T sigma - M g along the motion."""
    dt, internals = 1e-3, []
    for dt in STEPS:
        with Simulation(scenarios.load("double-pendulum"), dt) as simulation:
            run = simulation.run(0.4)
        ledger = run.balance()
        assert np.abs(sum(ledger.values())).max() < 1e-10
        on = {"upper": (run.reaction("pivot"), -run.reaction("elbow")), "lower": (run.reaction("elbow"), 0.0)}
        work = np.zeros(len(run))
        for name, (first, second) in on.items():
            _, v, a = run.state(name)
            weight = run.bodies[name].mass_matrix.sum(axis=0)[:, None] * [0.0, -references.G]
            force = np.einsum("ij,njc->nic", run.bodies[name].mass_matrix, a) - weight
            force[:, 0] -= first
            force[:, 1] -= second
            power = 0.25 * (force[1:] + force[:-1]) * (v[1:] + v[:-1])
            work[1:] += dt * np.cumsum(power.sum(axis=(1, 2)))
        assert ledger["internal"] == pytest.approx(-work, abs=1e-10)
        internals.append(np.abs(work).max())
    assert references.orders(internals).min() >= 1.9


def test_an_alarm_names_the_joint_that_leaks_and_rings_once():
    with (
        Simulation(scenarios.load("double-pendulum"), 2e-3, leak_limit=1e-6) as simulation,
        pytest.warns(LeakWarning, match=r"'(pivot|elbow)' has leaked .* J at .* more than the 1e-06 J allowed"),
    ):
        run = simulation.run(0.5)
    alarms = [event for event in run.events if event["kind"] == "alarm"]
    assert [event["name"] for event in alarms].count("pivot") == 1
    assert abs(alarms[0]["leaked"]) > 1e-6


def test_ledgers_sum_to_zero_at_every_sample_also_at_events():
    with Simulation(scenarios.load("chain", bodies=6), 1e-3) as simulation:
        simulation.run(0.2)
        simulation.cut("ball5")
        simulation.apply("wind", Load((0.0, 0.3, 0.0)), "rod5.end")
        simulation.run(0.25)
        simulation.join("ball5", Spherical(), "rod4.end", "ground")
        simulation.cut("ball3")
        simulation.remove("wind")
        simulation.apply("ball3", Load((0.1, 0.0, 0.0)), "rod1.end")  # a force may take over the name and its book
        run = simulation.run(0.3)
    for name in (*run.joints, *run.forces):
        total = sum(run.ledger(name).values())
        assert np.abs(total[np.isfinite(total)]).max() < 1e-12
    assert abs(run.ledger("ball3")["leaked"][-1]) < 1e-3
