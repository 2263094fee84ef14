"""Glued joints: declared orders, joints closed to rounding, energy without drift, reactions, and the same bits on every road."""

import copy

import numpy as np
import pytest

import mechanisms
import references
import scenarios
from campaign import each_once, first_of, named, some
from components import Law, Load, Revolute, RigidBody, Rod, Spherical, SpringDamper
from coordinator import Glued, Penalty, Relaxed, Simulation, resume
from foreign import Glider, Gliders, Particle, Wire, pendulum
from mixture import mixture
from modular import Assembly, CouplingError, Cut, Diverged, Join, Limit, ModelError
from random_assemblies import random_assembly
from scenarios.bench.models import LENGTH as LINK
from scenarios.bench.models import planar_chain
from sleigh import pole, rates, sleigh
from solvers import EXACT


def glued(model, dt, until, order=4, **settings):
    with Simulation(model, dt, Glued(order), **settings) as simulation:
        return simulation.run(until)


LAST = {"double-pendulum": "lower", "double-pendulum-3d": "second"}


def violations(run):
    """The largest in place and in velocity, of joints and within bodies."""
    places = [run.violation(name) for name in run.joints] + [run.internal_violation(name) for name in run.bodies]
    pace = [run.violation_rate(name) for name in run.joints]
    return tuple(max(np.nanmax(np.abs(x), initial=0.0) for x in found) for found in (places, pace))


def extent(run):
    return max(1.0, *(np.abs(run.state(name)[0]).max() for name in run.bodies))


# --- accuracy --------------------------------------------------------------------------------------------------------


@pytest.mark.short(2, each=True)
@pytest.mark.parametrize(
    ("order", "dt", "evaluations", "most"), [(2, 1e-3, 5000, 5e-5), (4, 1e-2, 2500, 3e-6), (6, 1e-2, 4500, 3e-8)]
)
def test_few_evaluations_give_many_digits(order, dt, evaluations, most):
    """The double pendulum of the thesis over 5 s, from rest."""
    reference = references.planar_double_pendulum((np.pi / 2, -np.pi / 2), 1e-2, 500)
    run = glued(scenarios.load("double-pendulum"), dt, 5.0, order, record_every=round(1e-2 / dt))
    assert run.timings["evaluations"] == evaluations
    assert np.abs(run.position("lower.end") - reference[:, 1]).max() < most
    places, pace = violations(run)
    assert places < 1e-12 and pace < 1e-12


def with_forces(name, kind):
    model = scenarios.load(name)
    if kind != "free":
        damper = SpringDamper(stiffness=8.0, damping=1.5, length=0.3)
        model.apply("damper", damper, "ground", f"{LAST[name]}.end", at=(0.9, 0.4, 0.3)[: model.dimension])
    if kind == "law":
        model.apply("push", Load(Law(references.push)), "upper.end")
    return model


STEPS = {2: (256, 512), 4: (80, 160), 6: (32, 64), 8: (32, 40)}
OTHERS = {
    ("double-pendulum", "free", 8): (64, 80),  # at longer steps its errors fall even faster
    ("double-pendulum-3d", "free", 8): (56, 64),
    ("double-pendulum-3d", "damped", 8): (56, 64),
}
UNTIL = {"double-pendulum": 1.0, "double-pendulum-3d": 0.75}


@pytest.mark.short(2)
@pytest.mark.parametrize(
    ("order", "name", "kind"),
    each_once(
        [2, 4, 6, 8],
        [
            ("double-pendulum", "free"),
            ("double-pendulum", "damped"),
            ("double-pendulum", "law"),
            ("double-pendulum-3d", "free"),
            ("double-pendulum-3d", "damped"),
        ],
    ),
    ids=named,
)
def test_it_converges_at_the_declared_order_also_with_forces_that_take_energy_or_depend_on_time(name, kind, order):
    until, counts, errors = UNTIL[name], OTHERS.get((name, kind, order), STEPS[order]), []
    with Simulation(with_forces(name, kind), until / 8, EXACT) as simulation:
        exact = simulation.run(until).position(f"{LAST[name]}.end")
    for count in counts:
        run = glued(with_forces(name, kind), until / count, until, order, record_every=count // 8)
        errors.append(np.abs(run.position(f"{LAST[name]}.end") - exact).max())
    assert 5e-14 < errors[1] < 1e-4
    assert abs(np.log(errors[0] / errors[1]) / np.log(counts[1] / counts[0]) - order) < 0.3


def test_a_skate_keeps_the_declared_order():
    times = 0.02 * np.arange(101)
    reference = references.solve(rates, (0, 0, 0, 0.4, 1.5), times)[:, :2]
    for order, steps in ((2, (1e-2, 5e-3)), (4, (2e-2, 1e-2))):
        runs = [glued(sleigh(), dt, 2.0, order, record_every=round(2e-2 / dt)) for dt in steps]
        errors = [np.abs(run.position("sleigh.blade") - reference).max() for run in runs]
        assert abs(references.orders(errors)[0] - order) < 0.1
        assert max(np.abs(run.violation_rate("skate")).max() for run in runs) < 1e-14


@pytest.mark.short(1, each=True)
@pytest.mark.parametrize("coupling", [Glued(), Glued(4), Relaxed()], ids=named)
def test_a_blade_under_a_pole_that_hardly_bends_keeps_its_step(coupling):
    """A stiff pole has shaken off by the end of a step much of what its blade was given at the beginning."""

    def tip(dt, coupling):
        with Simulation(pole(), dt, coupling) as simulation:
            return simulation.run(0.04).position("load.G")[-1]

    assert np.abs(tip(1e-3, coupling) - tip(2.5e-4, Glued(4))).max() < 5e-7  # half of dt^2: the pole rings at 1e4 rad/s


def test_a_fold_is_passed_on_the_right_branch():
    """The slider-crank loses a constraint where it is folded, and could go either way there."""
    run = glued(scenarios.load("slider-crank"), 1e-3, 5.0)
    reference = references.slider_crank(1e-2, 500)
    assert np.abs(run.position("crank.end")[::10] - reference[:, 0]).max() < 1e-9
    assert violations(run)[0] < 1e-13
    assert np.abs(run.energy - run.energy[0]).max() < 1e-8


@pytest.mark.parametrize("until", [20.0, pytest.param(1000.0, marks=pytest.mark.campaign)])
def test_energy_stays_without_drift(until):
    run = glued(scenarios.load("double-pendulum"), 5e-3, until, record_every=20)
    error = (run.energy - run.energy[0]) / sum(run.kinetic_energy(name) for name in run.bodies).max()
    assert np.abs(error).max() < 1e-6
    means = error[1:].reshape(20, -1).mean(axis=1)  # of stretches that know nothing of each other
    slope, covariance = np.polyfit(np.arange(20), means, 1, cov=True)
    assert abs(slope[0]) < 4.0 * np.sqrt(covariance[0, 0])


# --- every mechanism -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", first_of(4, range(12)))
def test_random_mechanisms_stay_closed_redundant_or_not(seed):
    run = glued(random_assembly(seed), 1e-3, 0.03, 2)
    assert max(violations(run)) < 1e-12 * extent(run)


@pytest.mark.campaign
@pytest.mark.parametrize("part", first_of(1, range(4)))
def test_many_random_mechanisms_stay_closed(part):
    for seed in range(100 * (part + 1), 100 * (part + 1) + some(60)):
        try:
            run = glued(random_assembly(seed), 1e-3, 0.03, 4)
        except Diverged as error:  # a mechanism that locks itself: its reactions grow without end
            assert "did not converge" in str(error) or "stays open" in str(error)
            continue
        assert max(violations(run)) < 1e-12 * extent(run)


@pytest.mark.parametrize("dimension", [2, 3])
def test_reactions_are_those_of_the_whole_at_once_the_smallest_where_joints_are_redundant(dimension):
    model = mechanisms.four_bar(dimension)
    with Simulation(model, 1e-2, EXACT) as simulation:
        whole = simulation.run(0.1)
    run = glued(model, 1e-3, 0.1)
    for name in run.joints:
        assert run.reaction(name)[::10] == pytest.approx(
            whole.reaction(name), abs=1e-6 * np.abs(whole.reaction(name)).max()
        )


@pytest.mark.campaign
@pytest.mark.parametrize("count", first_of(1, [250, 1000]))
def test_reactions_of_a_long_chain_of_hinges_in_space_are_those_in_the_plane(count):
    """Every hinge has a row too many there; looking for the smallest reactions must not soften joints that have one choice."""
    rods = Assembly(gravity=(0.0, 0.0, -9.81))
    for k in range(count):
        rod = {"mass": LINK, "inertia": (1e-6, LINK**3 / 12, LINK**3 / 12), "centre": ((k + 0.5) * LINK, 0.0, 0.0)}
        rods.add(f"rod{k}", RigidBody(**rod, ports={"start": (k * LINK, 0.0, 0.0), "end": ((k + 1) * LINK, 0.0, 0.0)}))
        rods.join(f"hinge{k}", Revolute(axis=(0, 1, 0)), f"rod{k - 1}.end" if k else "ground", f"rod{k}.start")
    space, plane = (glued(model, 1e-3, 0.1, 2, record_every=50) for model in (rods, planar_chain(count)))
    for one, other in zip(space.joints, plane.joints, strict=True):
        assert space.reaction(one)[:, [0, 2]] == pytest.approx(plane.reaction(other)[:, :2], abs=1e-6)  # of 140 N


def test_rigid_joints_store_and_leak_nothing():
    with Simulation(mixture(), 1e-3, Glued(4)) as simulation:
        run = simulation.run(0.5)
    for name in run.joints:
        ledger = run.ledger(name)
        assert not np.any(ledger["stored"])
        assert np.abs(ledger["leaked"]).max() < 1e-12
    spring = run.ledger("spring")
    assert np.abs(spring["leaked"]).max() < 1e-9 < spring["dissipated"][-1]


@pytest.mark.parametrize("coupling", [Glued(2), Glued(4), Penalty()], ids=["Glued(2)", "Glued(4)", "Penalty"])
def test_a_light_chain_with_a_heavy_end_needs_no_settings(coupling):
    model = Assembly(gravity=(0.0, 0.0, -9.81), title="heavy end")
    at = [(0.1 * k, 0.0, 0.0) for k in range(7)]
    for k in range(6):
        model.add(f"rod{k}", Rod(at[k], at[k + 1], 1e-3 if k < 5 else 1.0, 0.0))
        model.join(f"joint{k}", Spherical(), f"rod{k - 1}.end" if k else "ground", f"rod{k}.start")
    with Simulation(model, 5e-4, coupling) as simulation:
        run = simulation.run(0.3)
    assert np.all(np.isfinite(run.energy))
    if isinstance(coupling, Glued):
        assert np.abs(run.energy - run.energy[0]).max() < {2: 1e-3, 4: 1e-5}[coupling.order]
        assert violations(run)[0] < 1e-12


@pytest.mark.parametrize("bodies", first_of(1, [400, 1000, 2000]))
def test_a_long_chain_pulls_as_one(bodies):
    """Many gaps that are each nothing would be one that is not."""
    with Simulation(scenarios.load("chain", bodies=bodies), 1e-3, Glued(2), record_every=5) as simulation:
        run = simulation.run(0.02)
    assert max(violations(run)) < 1e-12 * extent(run)


# --- events ----------------------------------------------------------------------------------------------------------


def test_a_cut_pendulum_flies_as_the_whole_at_once_does():
    model = scenarios.load("cut-double-pendulum", elbow=0.1, pivot=0.2)
    with Simulation(model, 2e-2, EXACT) as simulation:
        whole = simulation.run(0.3)
    run = glued(model, 1e-3, 0.3, 6)
    assert run.position("lower.end")[::20] == pytest.approx(whole.position("lower.end"), abs=1e-9)


def test_an_impact_is_that_of_the_whole_at_once():
    """A joint made between moving points: all joints take the blow together, and its energy is booked."""
    ledgers = []
    for coupling, dt in ((EXACT, 2e-2), (Glued(4), 1e-3)):
        with Simulation(scenarios.load("switching-pendulum", spin=-6.0), dt, coupling) as simulation:
            run = simulation.run(0.26)
        assert run.events
        ledgers.append({name: run.ledger(name)["impact"][-1] for name in run.joints})
        ends = run.position("rod.end")[-1] if "rod" in run.bodies else run.position(f"{next(iter(run.bodies))}.end")[-1]
        ledgers[-1]["end"] = ends
    assert ledgers[0].keys() == ledgers[1].keys()
    for name, value in ledgers[0].items():
        assert ledgers[1][name] == pytest.approx(value, abs=1e-6)


def test_joints_come_and_go_by_hand_and_nothing_opens():
    with Simulation(scenarios.load("chain", bodies=6), 1e-3, Glued(4)) as simulation:
        simulation.run(0.1)
        simulation.cut("ball3")
        simulation.run(0.15)
        simulation.add(
            "bob", RigidBody(mass=0.3, inertia=(0.01, 0.02, 0.015), centre=(0, 0, -3), ports={"eye": (0, 0, -3)})
        )
        simulation.run(0.2)
        simulation.remove("bob")
        run = simulation.run(0.3)
    assert violations(run)[0] < 1e-12


@pytest.mark.campaign
def test_a_foreign_body_on_a_foreign_joint_swings_at_the_declared_order_beside_ours():
    ends = []
    for dt in (2e-2, 1e-2, 2.5e-3):
        model = pendulum(Glider(1.3, (0.3, 0.8, 0.0), (0.2, 0.0, 0.0)), Wire(0.8))
        run = glued(model, dt, 0.4, 4, record_every=round(0.1 / dt))
        length = np.linalg.norm(run.position("bob.here") - run.position("frame.end"), axis=1)
        assert np.abs(length - 0.8).max() < 1e-13
        ends.append(run.position("bob.here")[-1])
    errors = [np.abs(end - ends[-1]).max() for end in ends[:-1]]
    assert np.all(np.abs(references.orders(errors) - 4.0) < 0.3)


def test_a_component_that_raises_is_heard():
    class Broken(RuntimeError):
        pass

    def shatter(t, x, v):
        if t > 0.0105:
            raise Broken("no more")
        return [0.0, 0.0]

    model = scenarios.load("double-pendulum")
    model.apply("push", Load(Law(shatter)), "lower.end")
    with Simulation(model, 1e-3, Glued(4)) as simulation, pytest.raises(Exception, match="no more"):
        simulation.run(0.1)
    assert simulation.tick == 10


# --- bits ------------------------------------------------------------------------------------------------------------


def digests(model, coupling, count=20):
    for settings in ({}, {"grouped": False}, {"record_every": 7}, {"threads": 2}):
        for stepwise in (False, True):
            with Simulation(model(), 1e-3, coupling, **settings) as simulation:
                if stepwise:
                    for _ in range(count):
                        simulation.step()
                else:
                    simulation.run(count * 1e-3)
                simulation.run(1e-3 * (count + 1))
                bodies = simulation.assembly.bodies
                yield [simulation.body(name).state()[key].tobytes() for name in bodies for key in ("q", "v", "a")]


@pytest.mark.short(2)
@pytest.mark.parametrize("law", [False, True], ids=["compiled", "with a law in Python"])
@pytest.mark.parametrize("order", [2, 6])
def test_the_engine_single_steps_and_components_on_their_own_give_the_same_bits(order, law):
    first, *others = digests(lambda: mixture(law=law), Glued(order))
    assert all(other == first for other in others)


def test_the_same_bits_where_events_lie_between_ticks():
    first, *others = digests(lambda: scenarios.load("switching-pendulum", spin=-6.0), Glued(4), 300)
    assert all(other == first for other in others)


def test_it_goes_on_from_a_checkpoint_and_in_a_copy_to_the_same_bits(tmp_path):
    with Simulation(sleigh_on_a_lead(), 1e-3, Glued(4), project_velocities=True) as simulation:
        simulation.run(0.1, checkpoints=tmp_path)
        other = copy.deepcopy(simulation)
        ends = [run.run(0.2).digest for run in (simulation, other, resume(tmp_path))]
    assert ends[0] == ends[1] == ends[2]


def sleigh_on_a_lead():
    model = sleigh()
    model.add("lead", Rod((0.0, 0.0), (-0.4, 0.1), 0.3, 0.01))
    model.join("tow", Spherical(), "sleigh.blade", "lead.start")
    model.apply("drag", SpringDamper(stiffness=1.0, damping=0.4, length=0.2), "ground", "lead.end", at=(0.3, 0.9))
    return model


@pytest.mark.parametrize("order", [2, 4])
def test_when_a_joint_breaks_does_not_depend_on_when_samples_are_taken(order):
    """The limit of the elbow lies within the forces that it sees on its way."""
    found = []
    for settings, stepwise in (({}, True), ({}, False), ({"record_every": 7}, False)):
        model = scenarios.load("double-pendulum")
        elbow = model.joint_edges["elbow"]
        model.cut("elbow")
        model.join("elbow", elbow.joint, str(elbow.first), str(elbow.second), breaks_at=Limit(25.0, window=0.05))
        with Simulation(model, 1e-3, Glued(order), **settings) as simulation:
            if stepwise:
                for _ in range(1000):
                    simulation.step()
            run = simulation.run(1.0)
        assert [event["kind"] for event in run.events] == ["break"]
        found.append(run.events)
    assert found[0] == found[1] == found[2]


# --- refusals --------------------------------------------------------------------------------------------------------


def test_what_cannot_be_glued_is_refused_by_name():
    with pytest.raises(CouplingError, match=r"Glued needs bodies that drift and can be kicked .*; bob cannot"):
        Simulation(pendulum(Particle(1.3, (0.3, 0.8, 0.0), (0.2, 0.0, 0.0)), Wire(0.8)), 1e-3, Glued())

    class Diode(Gliders):
        forward_only = True

    class OneWay(Glider):
        def new_stack(self):
            return Diode(len(self.at))

    black_box = pendulum(OneWay(1.3, (0.3, 0.8, 0.0), (0.2, 0.0, 0.0)), Wire(0.8))
    with pytest.raises(
        CouplingError, match="a step of order 4 goes back in time in some of its stages, and bob cannot; take order=2"
    ):
        Simulation(black_box, 1e-3, Glued(order=4))
    Simulation(black_box, 1e-3, Glued(order=2)).run(0.01)
    with pytest.raises(ModelError, match="order = 3; give 2, 4, 6 or 8"):
        Glued(order=3)
    with pytest.raises(ModelError, match="tolerance = 0"):
        Glued(tolerance=0)


def test_a_damper_beyond_the_step_is_told():
    model = scenarios.load("double-pendulum")
    model.apply("brake", SpringDamper(stiffness=0.0, damping=1e5, length=0.3), "ground", "lower.end", at=(0.9, 0.4))
    with pytest.raises(Diverged, match="dampers are too strong for this step"):
        glued(model, 1e-2, 0.1)


def test_a_step_too_long_to_close_the_joints_is_told():
    model = scenarios.load("double-pendulum")
    with pytest.raises(Diverged, match=r"Glued found no reactions that close all joints|lost its shape"):
        glued(model, 1.0, 10.0)


def test_events_of_the_model_are_taken_at_their_ticks():
    model = mixture(law=False)
    joint = next(iter(model.joint_edges))
    edge = model.joint_edges[joint]
    model.at(0.01, Cut(joint))
    model.at(0.01, Join(joint, edge.joint, str(edge.first), str(edge.second)))
    with Simulation(model, 1e-3, Glued(2)) as simulation:
        run = simulation.run(0.02)
    assert [event["kind"] for event in run.events] == ["cut", "join"]
    with Simulation(mixture(law=False), 1e-3, Glued(2)) as simulation:
        plain = simulation.run(0.02)
    for name in run.bodies:
        assert run.state(name)[0][-1] == pytest.approx(plain.state(name)[0][-1], abs=1e-13)


@pytest.mark.parametrize("coupling", [Glued(), Glued(4), Relaxed()], ids=["glued", "glued of order 4", "relaxed"])
@pytest.mark.parametrize("damping", [10.0, 100.0])
def test_what_is_damped_comes_to_rest_and_stays_there(coupling, damping):
    """Velocities are rounding in the end, and so is what forces that read them still change."""
    rest = -1.0 - 9.81e-3
    model = Assembly(gravity=(0.0, -9.81))
    centre = (0.0, rest - 1e-3)
    model.add("weight", RigidBody(mass=1, inertia=0.1, centre=centre, ports={"hook": centre}))
    model.apply("spring", SpringDamper(1e3, damping, 1.0), "ground", "weight.hook", at=(0.0, 0.0))
    with Simulation(model, 1e-3, coupling, record_every=100) as simulation:
        run = simulation.run(8.0)
    assert np.abs(run.position("weight.hook")[-1] - (0.0, rest)).max() < 1e-13
    assert np.abs(run.velocity("weight.hook")[-1]).max() < 1e-11
