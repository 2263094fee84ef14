"""Torsors: at every point the same thing, in numbers and symbols; of runs, where {D} = {F}; of joints, which hold what they say."""

import numpy as np
import pytest
import sympy

import zoo
from campaign import shortened
from components import Beam, LedBody, Load, NewtonEulerBody, Revolute, RigidBody, Rod, Screw, SpringDamper
from coordinator import Centralized, Simulation
from coordinator.analysis.torsors import torsors
from coordinator.equations import Torsor, joint_torsors
from modular import Assembly, ModelError

FEW = {("Revolute", 3), ("Gear", 2), ("KnifeEdge", 3), ("DrivenPlace", 2)}
SOME = [case for case in zoo.JOINTS if (case[0].__name__, case[1]) in FEW]
JOINTS = shortened(SOME, zoo.JOINTS)
AT_ONE_PLACE = shortened(
    [case for case in SOME if not case[0].apart], [case for case in zoo.JOINTS if not case[0].apart]
)
IDS = {"ids": zoo.label}
MOTION = {
    2: {"left": {"angular_velocity": 1.3, "velocity": (0.2, 0.5)}, "right": {"angular_velocity": -0.8}},
    3: {"left": {"angular_velocity": (1.3, -0.4, 0.7), "velocity": (0.2, 0.5, 0.1)},
        "right": {"angular_velocity": (-0.8, 0.3, 1.1)}},
}  # fmt: skip


def moved(cls, d):
    """A pair that tumbles, with a spring across and a load on it, over three ticks."""
    model = zoo.pair(cls.example(d), d, gravity=(0.3, -9.81, 0.5)[:d], **MOTION[d])
    model.apply("spring", SpringDamper(40.0, 0.3), "left.start", "right.end")
    model.apply("load", Load((1.0, 2.0, -1.0)[:d]), "right.start")
    with Simulation(model, 1e-3, Centralized(), project_velocities=True) as simulation:
        return simulation.run(3e-3)


def size(torsor):
    return max(float(np.abs(torsor.resultant).max()), float(np.abs(torsor.moment).max()))


def drawn(kind, seed):
    return getattr(Torsor, kind)(*np.random.default_rng(seed).normal(size=(3, 3)))


# --- by themselves -------------------------------------------------------------------------------------------------------


def test_powers_do_not_depend_on_points_nor_on_who_looks():
    twist, wrench = drawn("twist", 1), drawn("wrench", 2)
    power = twist.comoment(wrench)
    there = np.array([0.3, -2.0, 0.7])
    assert np.isclose(twist.at(there).comoment(wrench), power, rtol=1e-13)
    assert np.isclose(wrench.comoment(twist.at(there)), power, rtol=1e-13)
    turn, offset = zoo.rotation(3), (0.4, 1.1, -0.2)
    assert np.isclose(twist.carried(turn, offset).comoment(wrench.carried(turn, offset)), power, rtol=1e-12)
    axes = zoo.rotation(3, 8)
    force, moment = wrench.along(axes)
    turning, velocity = twist.at(wrench.point).along(axes)
    assert np.isclose(force @ velocity + moment @ turning, power, rtol=1e-13)


def test_velocities_of_a_body_that_turns_are_those_of_its_points():
    """The one place where signs go wrong: v_B = v_A + w x AB."""
    spin, velocity, a, b = np.random.default_rng(4).normal(size=(4, 3))
    assert np.allclose(Torsor.twist(spin, velocity, a).at(b).moment, velocity + np.cross(spin, b - a), rtol=1e-14)
    assert np.allclose(Torsor.twist(0.7, (0.0, 0.0)).at((2.0, 1.0)).moment, (-0.7, 1.4, 0.0))


def test_sums_hold_at_every_point_and_kinds_do_not_mix():
    one, two = drawn("wrench", 5), drawn("wrench", 6)
    total, there = one + 2.0 * two - one, (1.0, -0.3, 0.2)
    assert np.allclose(total.at(there).moment, 2.0 * two.at(there).moment, rtol=1e-12)
    with pytest.raises(ModelError, match="wrench and a twist"):
        one + drawn("twist", 7)
    with pytest.raises(ModelError, match="not a power"):
        one.comoment(two)
    with pytest.raises(ModelError, match="not a vector"):
        Torsor.wrench((1.0,))
    with pytest.raises(ModelError, match=r"column \(n, 1\)"):
        Torsor.twist(np.ones(5), np.ones((5, 2)))


def test_about_its_axis_the_moment_of_a_wrench_is_along_its_force():
    wrench = drawn("wrench", 9)
    point, force = wrench.axis()
    assert np.allclose(wrench.at(point).moment, wrench.pitch() * force, rtol=1e-12, atol=1e-13)


def test_in_symbols_a_pendulum_has_the_momentum_and_the_power_of_its_course():
    """The pendulum of the fifth text: mass m at the end of a rod without mass, about y."""
    angle, rate, length, mass, gravity = sympy.symbols("theta omega L m g", real=True)
    turn = np.array(
        [[sympy.cos(angle), 0, sympy.sin(angle)], [0, 1, 0], [-sympy.sin(angle), 0, sympy.cos(angle)]], object)  # fmt: skip
    centre = turn @ np.array([0, 0, -length], object)
    twist = Torsor.twist(
        np.array([0, rate, 0], object), np.zeros(3, int).astype(object), np.zeros(3, int).astype(object)
    )
    momentum = twist.momentum_of(mass, np.zeros((3, 3), int).astype(object), centre)
    energy = sympy.simplify(twist.comoment(momentum) / 2)
    assert sympy.simplify(energy - mass * length**2 * rate**2 / 2) == 0
    weight = Torsor.wrench(np.array([0, 0, -mass * gravity], object), sympy.Integer(0), centre)
    power = sympy.simplify(twist.comoment(weight))
    assert sympy.simplify(power + mass * gravity * length * sympy.sin(angle) * rate) == 0  # as the text prints it
    # and its own change of point, which has the arm the wrong way round
    wrong = np.array([0, 0, -length], object)
    assert list(twist.at(wrong).moment) == [-length * rate, 0, 0]  # the text: [L theta', 0, 0]


# --- of runs -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("cls", "d"), JOINTS, **IDS)
def test_what_acts_on_a_body_is_how_its_momentum_changes(cls, d):
    told = torsors(moved(cls, d))
    for body in ("left", "right"):
        rate, acts = told.momentum_rate(body), told.applied(body)
        assert size(rate - acts) < 1e-11 * size(rate)
        assert size(told.wrench("joint")) > 1e-3  # it does something


@pytest.mark.parametrize(("cls", "d"), AT_ONE_PLACE, **IDS)
def test_joints_hold_what_their_torsors_say(cls, d):
    """At the first sample they stand as they were made."""
    run, joint = moved(cls, d), joint_torsors(cls.example(d), dimension=d)
    told = torsors(run)
    wrench = told.wrench("joint")[0]
    twist = told.twist("right.start")[0] - told.twist("left.end").at(run.position("right.start"))[0]
    moving, acting = (
        np.concatenate(pair) for pair in ((twist.moment, twist.resultant), (wrench.resultant, wrench.moment))
    )
    shares = np.linalg.lstsq(joint.rows.T, acting)[0]
    assert np.allclose(joint.rows.T @ shares, acting, atol=1e-9)
    if not cls.drive:
        assert np.abs(joint.rows @ moving).max(initial=0.0) < 1e-9


def test_twice_the_kinetic_energy_is_the_comoment_of_twist_and_momentum():
    model = Assembly(gravity=(0.0, 0.0, -9.81))
    spin = {"angular_velocity": (0.4, -1.1, 2.0), "velocity": (0.1, 0.3, -0.2)}
    model.add(
        "posed",
        NewtonEulerBody(mass=1.2, inertia=(0.3, 0.4, 0.5), centre=(0.1, 0.2, 0.3), ports={"p": (1, 0, 0)}, **spin),
    )
    model.add(
        "natural", RigidBody(mass=1.2, inertia=(0.3, 0.4, 0.5), centre=(2.1, 0.2, 0.3), ports={"p": (1, 0, 0)}, **spin)
    )
    model.add("rod", Rod((0.0, 1.0, 0.0), (0.5, 1.0, 0.2), 0.7, velocity=(0.4, 0.0, 1.0)))
    with Simulation(model, 1e-3, Centralized()) as simulation:
        run = simulation.run(2e-3)
    told = torsors(run)
    for body in run.bodies:
        doubled, energy = told.twist(body).comoment(told.momentum(body)), run.kinetic_energy(body)
        assert np.isclose(doubled[0], 2.0 * energy[0], rtol=1e-13)
        assert np.allclose(doubled, 2.0 * energy, rtol=1e-6)  # natural bodies are rigid but for the scheme's error
        assert size(told.momentum_rate(body) - told.applied(body)) < 1e-10
    # two descriptions of one body
    assert np.allclose(told.momentum("posed").moment, told.momentum("natural").moment, rtol=1e-6)


def test_what_bends_has_a_twist_at_each_port_alone():
    model = Assembly(gravity=(0.0, -9.81))
    model.add("beam", Beam.example(2))
    with Simulation(model, 1e-4, Centralized()) as simulation:
        told = torsors(simulation.run(2e-4))
    with pytest.raises(ModelError, match=r"'beam'.*not move as one piece.*'beam\."):
        told.twist("beam")
    assert size(told.momentum_rate("beam") - told.applied("beam")) < 1e-8 * size(told.weight("beam"))


def test_what_is_led_has_a_twist_and_no_momentum():
    model = Assembly(gravity=(0.0, -9.81))
    model.add("hand", LedBody.example(2))
    with Simulation(model, 1e-3, Centralized()) as simulation:
        run = simulation.run(3e-3)
    told = torsors(run)
    for port in run.bodies["hand"].port_names:
        twist = told.twist("hand").at(run.position(f"hand.{port}"))
        assert np.allclose(twist.moment[:, :2], run.velocity(f"hand.{port}"), atol=1e-12)
    for asked in (told.momentum, told.momentum_rate, told.weight, told.applied):
        with pytest.raises(ModelError, match=r"'hand'.*follows a prescribed motion"):
            asked("hand")


# --- of joints -----------------------------------------------------------------------------------------------------------


def test_the_table_of_joints():
    turn = joint_torsors(Revolute())
    assert [str(x) for x in (*turn.twist.resultant, *turn.twist.moment)] == ["0", "0", "w_z", "0", "0", "0"]
    assert [str(x) for x in (*turn.wrench.resultant, *turn.wrench.moment)] == ["F_x", "F_y", "F_z", "M_x", "M_y", "0"]
    screw, pace = joint_torsors(Screw(pitch=0.3)), sympy.Rational(3, 20) / sympy.pi
    assert sympy.simplify(screw.twist.moment[2] - pace * sympy.Symbol("w_z", real=True)) == 0
    assert sympy.simplify(screw.wrench.moment[2] + pace * sympy.Symbol("F_z", real=True)) == 0
    assert r"\begin{Bmatrix}" in screw.latex()
    with pytest.raises(ModelError, match="give a joint"):
        joint_torsors("Revolute")
    with pytest.raises(ModelError, match="2 dimensions"):
        joint_torsors(Screw(pitch=0.3), dimension=2)


@pytest.mark.parametrize(("cls", "d"), JOINTS, **IDS)
def test_joints_without_drives_do_no_work(cls, d):
    joint = joint_torsors(cls.example(d), dimension=d)
    power = sympy.expand(joint.twist.comoment(joint.wrench))
    driven = [one for one in power.free_symbols if one.name.startswith("f")]
    assert bool(driven) == cls.drive
    left = power.xreplace(dict.fromkeys(driven, sympy.Integer(0)))
    assert all(abs(float(part.as_coeff_Mul()[0])) < 1e-9 for part in sympy.Add.make_args(left))
    freedoms = {
        one for part in (*joint.twist.resultant, *joint.twist.moment) for one in sympy.sympify(part).free_symbols
    }
    free = len([one for one in freedoms if not one.name.startswith("f")])
    assert free + joint.locks == (6 if d == 3 else 3)
