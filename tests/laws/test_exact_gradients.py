"""Exact gradients: tangents beside a run, against closed forms, and against derivatives that were found with 50 digits."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize

import scenarios
from components import Load, PointMassRod, Prismatic, Revolute, RigidBody, Rod, SpringDamper
from coordinator import Formulas, Glued, Objective, gradient
from coordinator.equations.common_code import Code
from modular import Assembly, Cut, Join, Limit
from modular.errors import ModelError, RunWarning
from modular.events import Crossing

MASS, STIFFNESS, LENGTH, START = 1.3, 20.0, 1.0, 1.5


def oscillator() -> Assembly:
    """A mass on a spring, along x; it does not turn."""
    model = Assembly((0.0, 0.0))
    ports = {"hook": (START, 0.0), "end": (START + 0.3, 0.2)}
    model.add("bob", RigidBody(mass=MASS, inertia=0.1, centre=(START, 0.0), ports=ports))
    model.apply("spring", SpringDamper(stiffness=STIFFNESS, length=LENGTH), "ground", "bob.hook", at=(0.0, 0.0))
    return model


def end_of_bob(run):
    return run.position("bob.hook")[-1, 0]


def test_a_mass_on_a_spring_has_the_derivatives_of_its_cosine():
    """Damping and gravity are nothing here, and have derivatives: of the damped and of the loaded oscillator."""
    until = 1.1
    by = [
        "spring.stiffness",
        "bob.mass",
        "spring.length",
        "spring.damping",
        "gravity.0",
        "bob.ports.hook.point.0",
        "bob.inertia",
    ]
    found = gradient(oscillator(), 0.01, Formulas(), of=end_of_bob, by=by, until=until, method="exact")
    pace, away = np.sqrt(STIFFNESS / MASS), START - LENGTH
    cosine, sine = np.cos(pace * until), np.sin(pace * until)
    exact = [
        -away * sine * until * pace / (2 * STIFFNESS), away * sine * until * pace / (2 * MASS), 1.0 - cosine,
        away * (sine / pace - until * cosine) / (2 * MASS), (1.0 - cosine) / pace**2, cosine, 0.0,
    ]  # fmt: skip
    assert found.value == pytest.approx(LENGTH + away * cosine, rel=1e-12)
    assert found.jacobian == pytest.approx(exact, rel=1e-11, abs=1e-11)
    assert (np.abs(found.jacobian - exact) <= 10 * found.error).all()


# --- twenty numbers of a double pendulum, with springs, dampers and loads --------------------------------------------------

VALUE = (0.24442372134857693, -0.6574526621801109)
# by the equations of motion in two angles: extrapolation (Gragg, Bulirsch, Stoer) to 1e-33, central differences of 1e-17
SLOPES = {
    "u0": (0.0, 0.0),
    "u1": (0.826638684753136, 4.317324494089472),
    "l0": (0.826638684753136, 4.317324494089472),
    "l1": (1.0810340798358502, 3.207080308578793),
    "L1": (0.5343324786286255, 5.46056360070432),
    "L2": (0.11344067161564093, -4.798720372053476),
    "gx": (-0.3490824918667227, -1.8452230654273796),
    "gy": (-0.18895574678073274, -1.057977993233238),
    "kA": (-0.10542549398956758, -0.4259184520638599),
    "cA": (0.5007491009751514, 0.21681159310076267),
    "sA": (2.336130284034577, 11.288717863075606),
    "kB": (0.02623201856664722, 0.21693270425573005),
    "cB": (-0.40885156702895076, -5.736206096662563),
    "sB": (-4.309509302667925, -23.245240489587832),
    "Fx": (-0.2141149869145017, -0.9461214264974729),
    "Fy": (-0.014117562517727765, -0.1283893207341846),
    "Hx": (-0.13496750495222096, -0.8991016389299066),
    "Hy": (-0.17483818426300496, -0.9295886724990534),
    "w1": (0.25149357158035357, 1.063763271040756),
    "w2": (0.6365663305108126, 3.089639135032544),
}
BY = {
    "u0": {"upper.masses.0": 1.0}, "u1": {"upper.masses.1": 1.0}, "l0": {"lower.masses.0": 1.0}, "l1": {"lower.masses.1": 1.0},
    "L1": {"upper.end.0": 1.0, "lower.start.0": 1.0, "lower.end.0": 1.0}, "L2": {"lower.end.1": -1.0},
    "gx": {"gravity.0": 1.0}, "gy": {"gravity.1": 1.0},
    "kA": {"A.stiffness": 1.0}, "cA": {"A.damping": 1.0}, "sA": {"A.length": 1.0},
    "kB": {"B.stiffness": 1.0}, "cB": {"B.damping": 1.0}, "sB": {"B.length": 1.0},
    "Fx": {"F.force.0": 1.0}, "Fy": {"F.force.1": 1.0}, "Hx": {"H.force.0": 1.0}, "Hy": {"H.force.1": 1.0},
    "w1": {"upper.angular_velocity": 1.0, "upper.velocity.1": 1 / 3, "lower.velocity.1": 1.0},
    "w2": {"lower.angular_velocity": 1.0, "lower.velocity.0": 2 / 3},
}  # fmt: skip


def pulled() -> Assembly:
    model = Assembly((0.5, -9.81))
    still = {"velocity": (0.0, 0.0), "angular_velocity": 0.0}
    model.add("upper", PointMassRod((0.0, 0.0), (1.0, 0.0), (1.0, 0.5), **still))
    model.add("lower", PointMassRod((1.0, 0.0), (1.0, -1.0), (0.5, 1.0), **still))
    model.join("pivot", Revolute(), "ground", "upper.start")
    model.join("elbow", Revolute(), "upper.end", "lower.start")
    model.apply("A", SpringDamper(20.0, 0.3, length=1.2), "ground", "lower.end", at=(1.5, 0.5))
    model.apply("B", SpringDamper(15.0, 0.2, length=0.6), "ground", "upper.end", at=(-0.5, -0.75))
    model.apply("F", Load((0.7, -0.4)), "lower.end")
    model.apply("H", Load((-0.3, 0.9)), "upper.end")
    return model


@pytest.mark.filterwarnings("ignore::modular.errors.VerdictWarning")  # of a run of which two samples are kept
def test_twenty_numbers_of_a_double_pendulum_have_the_derivatives_of_a_reference_of_fifty_digits():
    tip = lambda run: run.position("lower.end")[-1]  # noqa: E731
    found = gradient(pulled(), 5e-3, Formulas(), of=tip, by=BY, until=5.0, record_every=1000, method="exact")
    exact = np.array([SLOPES[name] for name in BY]).T
    assert found.value == pytest.approx(VALUE, abs=1e-12)
    assert np.abs(found.jacobian - exact).max() <= 1e-12 * np.abs(exact).max()
    sizes = np.abs(exact).max(axis=0)
    assert np.abs(found.jacobian - exact).max(axis=0)[1:] == pytest.approx(np.zeros(19), abs=1e-11 * sizes[1:].min())
    assert np.abs(found.of("u0")).max() < 1e-13  # the mass at the pivot moves nothing


@pytest.mark.campaign
@pytest.mark.filterwarnings("ignore::modular.errors.VerdictWarning")
def test_differences_of_twenty_numbers_are_taken_again_where_the_motion_is_sensitive():
    """Over one step alone they would be off by 5e-5."""
    tip = lambda run: run.position("lower.end")[-1]  # noqa: E731
    found = gradient(pulled(), 5e-3, Formulas(), of=tip, by=BY, until=5.0, record_every=1000)
    exact = np.array([SLOPES[name] for name in BY]).T
    off = np.abs(found.jacobian - exact)
    assert off.max() <= 1e-8 * np.abs(exact).max()
    assert (off <= 20.0 * found.error + 1e-11).all()


# --- events ----------------------------------------------------------------------------------------------------------------

GX, GY, GAP, UNTIL, PACE = 2.0, -9.0, 0.7, 1.4, 0.3


def rail() -> Assembly:
    """A sledge on a rail along x, which is cut where it has gone so far: then it falls."""
    model = Assembly((GX, GY))
    model.add("sledge", Rod((0.0, 0.0), (0.5, 0.0), 1.3, velocity=(PACE, 0.0), angular_velocity=0.0))
    model.join("rail", Prismatic(axis=(1.0, 0.0)), "ground", "sledge.start")
    return model


def place(run):
    return run.position("sledge.end")[-1]


def test_tangents_go_through_a_cut_at_the_instant_of_its_condition():
    model = rail()
    model.when(Crossing("sledge.end", "x", 0.5 + GAP, direction=1), Cut("rail"))
    by = ["gravity.0", "gravity.1", "events.0.condition.value", "sledge.velocity.0", "sledge.mass"]
    found = gradient(model, 0.01, Formulas(), of=place, by=by, until=UNTIL, record_every=140, method="exact")
    root = np.sqrt(PACE**2 + 2 * GX * GAP)
    left = UNTIL - (root - PACE) / GX  # after the instant
    instants = [-(root - PACE) / GX**2 + GAP / root / GX, 0.0, 1.0 / root, (PACE / root - 1.0) / GX, 0.0]
    exact = np.array([[0.5 * UNTIL**2, 0.0, 0.0, UNTIL, 0.0], [-GY * left * slope for slope in instants]])
    exact[1, 1] = 0.5 * left**2
    assert found.jacobian == pytest.approx(exact, abs=1e-10)


def test_tangents_go_through_a_cut_at_a_time():
    model = rail()
    model.at(0.5, Cut("rail"))
    found = gradient(model, 0.01, Formulas(), of=place, by=["gravity.0", "gravity.1"], until=UNTIL, method="exact")
    assert found.jacobian == pytest.approx(np.diag([0.5 * UNTIL**2, 0.5 * (UNTIL - 0.5) ** 2]), abs=1e-10)


def test_what_tangents_do_not_go_through_is_refused():
    model = rail()
    model.at(0.5, Cut("rail"))
    model.at(0.6, Join("rail", Prismatic(axis=(1.0, 0.0)), "ground", "sledge.start"))
    with pytest.raises(ModelError, match=r"cannot be continued through Join; take method='differences'"):
        gradient(model, 0.01, Formulas(), of=place, by=["gravity.0"], until=UNTIL, method="exact")
    breaking = rail()
    breaking.joint_edges["rail"] = breaking.joint_edges["rail"]._replace(breaks_at=Limit(force=5.0, window=0.2))
    with pytest.raises(ModelError, match=r"'rail' breaks at tick"):
        gradient(breaking, 0.01, Formulas(), of=place, by=["gravity.0"], until=UNTIL, method="exact")
    for coupling, of, more, words in (
        (Glued(), place, {}, r"goes by formulas.*give Formulas\(\)"),
        (Formulas(), place, {"method": "dual"}, "give 'differences' or 'exact'"),
        (Formulas(), lambda run: run.reaction("rail")[-1], {}, r"by 'gravity.0': it reads more than places"),
    ):
        with pytest.raises(ModelError, match=words):
            gradient(rail(), 0.01, coupling, of=of, by=["gravity.0"], until=0.1, **({"method": "exact"} | more))


def test_a_force_without_a_formula_is_named_once():
    """However many variants stand side by side."""
    model = scenarios.load("bouncing-ball")
    with pytest.raises(ModelError, match=r"^gradient: Formulas: floor can only step forward.*method='differences'"):
        gradient(
            model,
            0.01,
            Formulas(),
            of=lambda run: run.position("ball.G")[-1],
            by=["ball.mass"],
            until=0.1,
            method="exact",
        )


# --- what else -------------------------------------------------------------------------------------------------------------


def test_chaos_is_told():
    """A rod upside down: what differs a little grows as the hyperbolic cosine."""
    model = Assembly((0.0, -9.81))
    model.add("rod", Rod((0.0, 0.0), (0.0, 1.0), 1.0, angular_velocity=0.0, velocity=(0.0, 0.0)))
    model.join("pin", Revolute(), "ground", "rod.start")
    by, pace = {"turn": {"rod.angular_velocity": 1.0, "rod.velocity.0": -0.5}}, np.sqrt(1.5 * 9.81)
    with pytest.warns(RunWarning, match=r"tangents by 'turn' grew \d+ times longer"):
        found = gradient(
            model, 0.01, Formulas(), of=lambda run: run.position("rod.end")[-1, 0], by=by, until=3.0, method="exact"
        )
    assert found.jacobian == pytest.approx([-np.sinh(3.0 * pace) / pace], rel=1e-9)
    assert found.growth == pytest.approx([np.exp(1.5 * pace)], rel=0.05)


def test_places_of_ports_that_nothing_holds_have_derivatives_too():
    """What is asked hangs on the description, not on the motion."""
    model = oscillator()
    found = gradient(
        model,
        0.01,
        Formulas(),
        of=lambda run: run.position("bob.end")[-1, 0],
        by=["bob.ports.end.point.0"],
        until=0.5,
        method="exact",
    )
    assert found.jacobian == pytest.approx([1.0], rel=1e-12)


@pytest.mark.campaign
def test_scipy_finds_the_spring_that_was_asked_for(monkeypatch):
    """Its code is written once; at every place answers are those of that model alone, to the bit."""
    written, of = [], Code.of
    monkeypatch.setattr(Code, "of", lambda *about: written.append(about) or of(*about))
    wanted = LENGTH + (START - LENGTH) * np.cos(np.sqrt(31.0 / MASS) * 0.4)
    spring = Objective(
        oscillator(), 0.01, Formulas(), of=lambda run: (100.0 * (end_of_bob(run) - wanted)) ** 2, by=["spring.stiffness"],
        until=0.4, method="exact",
    )  # fmt: skip
    best = minimize(spring, spring.start, jac=True)
    assert best.x == pytest.approx([31.0], rel=1e-8)
    assert len(written) == 1  # as models differ in numbers alone
    model = oscillator()
    stiffer = SpringDamper(24.0, length=LENGTH)
    model.force_edges["spring"] = replace(model.force_edges["spring"], force=stiffer)
    alone = gradient(model, 0.01, Formulas(), of=spring.of, by=spring.by, until=0.4, method="exact")
    value, slope = spring([24.0])
    assert value == alone.value and np.array_equal(slope, alone.jacobian)


@pytest.mark.campaign("more")
@pytest.mark.parametrize("name", ["slider-crank", "four-bar", "double-pendulum-3d", "kapitza-pendulum"])
def test_ready_systems_have_the_derivatives_of_differences(name):
    model = scenarios.load(name)
    body = list(model.bodies)[-1]
    port, by = f"{body}.{model.bodies[body].port_names[-1]}", ["gravity.0", "gravity.1"]

    def asked(run):
        return np.concatenate([run.position(port)[-1], run.velocity(port)[-1], run.acceleration(port)[-1]])

    one, other = (
        gradient(model, 1e-3, Formulas(), of=asked, by=by, until=0.1, record_every=100, method=method)
        for method in ("exact", "differences")
    )
    assert np.abs(one.jacobian - other.jacobian).max() <= 1e-9 * np.abs(other.jacobian).max()
