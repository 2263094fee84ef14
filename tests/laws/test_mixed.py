"""Glued groups among springs, merged components, and several steps in a tick."""

import copy

import numpy as np
import pytest

import references
import scenarios
from campaign import each_once, first_of, named
from components import Revolute, RigidBody, Rod, Spherical, SpringDamper, TableSpring, TorsionSpring
from coordinator import Centralized, Glued, Merged, Mixed, Penalty, Shannon, Simulation, Stable, resume
from foreign import Glider, Particle, Wire
from mixture import mixture
from modular import Assembly, CouplingError, Crossing, Cut, Diverged, Merge, ModelError, Unmerge
from sleigh import sleigh


def end_of(model, coupling, until=0.3, dt=1e-3, **settings):
    with Simulation(model, dt, coupling, **settings) as simulation:
        run = simulation.run(until)
    return run, np.concatenate([run.state(name)[0][-1].ravel() for name in run.bodies])


def bits(simulation):
    return [simulation.body(name).state()[key].tobytes() for name in simulation.assembly.bodies for key in "qv"]


@pytest.mark.parametrize("model", [mixture, sleigh, lambda: scenarios.load("slider-crank")])
def test_where_all_can_be_glued_it_is_glued_bit_for_bit(model):
    _, glued = end_of(model(), Glued(), 0.05)
    _, mixed = end_of(model(), Mixed(), 0.05)
    assert glued.tobytes() == mixed.tobytes()


@pytest.mark.short(2)
@pytest.mark.parametrize(
    ("name", "coupling"),
    [
        ("double-pendulum", Mixed(joints={"elbow": "penalty"})),
        ("double-pendulum-3d", Mixed(joints={"hinge": "penalty"}, steps={"*": 3})),
        ("double-pendulum-3d", Mixed(default="penalty", steps={"second": 2})),
        ("double-pendulum", Merged(groups=[["upper", "lower"]])),
        ("double-pendulum-3d", Merged(groups=[["ground", "first"]])),
    ],
    ids=["elbow", "hinge, three steps", "all, two steps", "merged", "merged with the ground"],
)
def test_it_is_of_second_order(name, coupling):
    model = scenarios.load(name)
    _, truth = end_of(model, Glued(8), dt=5e-3)
    errors = [np.abs(end_of(model, coupling, dt=dt)[1] - truth).max() for dt in (1e-3, 5e-4, 2.5e-4)]
    assert 1.8 < np.log2(errors[0] / errors[2]) / 2 < 2.2, errors
    assert errors[0] < np.abs(end_of(model, Penalty())[1] - truth).max() * 1.1


def test_joints_inside_a_component_have_no_play_and_its_outer_ones_do():
    model = scenarios.load("chain", bodies=6)
    inner = ["ball2", "ball3"]
    run, _ = end_of(model, Merged(groups=[["rod1", "rod2", "rod3"]]))
    for name in run.joints:
        worst = np.abs(run.violation(name)).max()
        assert worst < 1e-13 if name in inner else worst > 1e-9, name
        assert (run.ledger(name)["stored"][-1] == 0.0) == (name in inner)


def free_chain():
    """Four rods that turn without weight, on balls, with springs between and within."""
    model = Assembly(gravity=(0, 0, 0))
    for k in range(4):
        model.add(f"rod{k}", Rod((k, 0, 0), (k + 1, 0, 0), 1.0 + k, 0.05, velocity=(0, 0.3 * k, 0)))
    for k in range(3):
        model.join(f"ball{k}", Spherical(), f"rod{k}.end", f"rod{k + 1}.start")
    model.apply("long", SpringDamper(40.0, 0.8, 2.0), "rod0.start", "rod3.end")
    model.apply("short", SpringDamper(40.0, 0.8, 0.5), "rod1.start", "rod2.end")
    return model


@pytest.mark.parametrize(
    "coupling",
    [
        Mixed(joints={"ball0": "penalty"}),
        Mixed(joints={"ball0": "penalty"}, steps={"rod0": 4}),
        Mixed(default="penalty", steps={"rod0": 4, "rod3": 3}),
        Merged(groups=[["rod1", "rod2"]]),
        Merged(groups=[["rod0", "rod1"], ["rod2", "rod3"]]),
    ],
)
def test_works_in_the_books_are_what_the_kinetic_energy_gains(coupling):
    """But for what the shape of a body takes and gives back while it turns: that falls with the square of the step."""
    left = []
    for dt in (2e-3, 1e-3):
        with Simulation(free_chain(), dt, coupling, project_velocities=True) as simulation:
            run = simulation.run(0.5)
        ledgers = [run.ledger(name) for name in (*run.joints, "long", "short")]
        works = sum(ledger["work_first"] + ledger["work_second"] for ledger in ledgers)
        gained = run.kinetic_energy() - run.kinetic_energy()[0]
        left.append(np.abs(works - works[0] - gained).max() / np.ptp(gained))
        for ledger in ledgers:
            assert sum(ledger.values()) == pytest.approx(0.0, abs=1e-12)
    assert left[0] < 3e-4
    assert 3.4 < left[0] / left[1] < 4.6


# --- several steps in a tick -----------------------------------------------------------------------------------------


def stiff_pair(*, straight=False):
    """Two rods on one pin with a spring between their ends that is too stiff for one step in a tick, on a heavy frame.

    Its line of force bends, so that it has to be exerted as it stands; one that is straight is found with the reactions.
    """
    model = Assembly(gravity=(0.0, -9.81))
    model.add("frame", Rod((0, 0), (0, 1), 20.0))
    model.join("foot", Revolute(), "ground", "frame.start")
    model.add("left", Rod((0, 1), (-0.3, 1.4), 0.1))
    model.add("right", Rod((0, 1), (0.3, 1.4), 0.1))
    model.join("neck", Revolute(), "frame.end", "left.start")
    model.join("pin", Revolute(), "left.start", "right.start")
    bent = TableSpring((0.1, 0.6005, 1.1), (-4e5 * 0.5005, 0.0, 4.001e5 * 0.4995))
    model.apply("stiff", SpringDamper(4e5, length=0.6005) if straight else bent, "left.end", "right.end")
    return model


def test_a_straight_spring_within_a_component_needs_no_steps_of_its_own():
    coupling = Mixed(joints={"neck": "penalty"})
    with Simulation(stiff_pair(straight=True), 1e-3, coupling) as simulation:
        assert simulation.implicit_forces == ["stiff"]
    truth = end_of(stiff_pair(straight=True), Glued(4), 0.1, 1e-4)[1]
    assert np.abs(end_of(stiff_pair(straight=True), coupling, 0.1)[1] - truth).max() < 1e-2


@pytest.mark.campaign
def test_a_stiff_component_takes_its_own_steps_while_the_others_take_one():
    """Its spring is beyond the limit of the tick, and of half of it, and the margin says from where on it is not."""
    found = {}
    for steps in (1, 2, 3, 10):
        coupling = Mixed(joints={"neck": "penalty"}, steps={"left": steps})
        found[steps] = Simulation(stiff_pair(), 1e-3, coupling).margins["stiff"]
        if found[steps] < 1.0:
            with pytest.raises(Diverged, match="spring 'stiff' is beyond its stability limit"):
                end_of(stiff_pair(), coupling, 0.1)
    assert [steps for steps, margin in found.items() if margin < 1.0] == [1, 2]
    assert found[10] == pytest.approx(10 * found[1], rel=1e-2)
    truth, coupling = end_of(stiff_pair(), Glued(4), 0.1, 1e-4)[1], Mixed(joints={"neck": "penalty"}, steps={"left": 3})
    run, end = end_of(stiff_pair(), coupling, 0.1)
    assert run.timings["evaluations"] == 3 * run.timings["ticks"]
    errors = [np.abs(each - truth).max() for each in (end, end_of(stiff_pair(), coupling, 0.1, 2.5e-4)[1])]
    assert errors[0] < 5e-3
    assert errors[1] < 0.2 * errors[0]


@pytest.mark.parametrize("steps", [1, 2, 5])
def test_undamped_springs_between_components_of_different_rates_keep_the_energy(steps):
    """One impulse per tick with the bound of the tick: nothing is pumped up, for any number of steps in between."""
    coupling = Mixed(rule=Stable(damping=0.0), joints={"elbow": "penalty"}, steps={"lower": steps})
    run, _ = end_of(scenarios.load("double-pendulum"), coupling, 20.0, 2e-3, record_every=10)
    drift = np.abs(run.energy - run.energy[0])
    assert drift.max() < 2e-2 * np.ptp(run.kinetic_energy())
    assert drift[-200:].max() < 2.0 * drift[:400].max()


def test_extrapolated_forces_pump_up_what_impulses_do_not():
    """The experiment: at the stiffness that the tick allows it ends at once; with a soft joint it runs, to the same motion."""
    model = scenarios.load("double-pendulum")

    def end(safety, extrapolate):
        coupling = Mixed(rule=Stable(safety), joints={"elbow": "penalty"}, steps={"lower": 4}, extrapolate=extrapolate)
        return end_of(model, coupling, 0.3, 5e-4)[1]

    with pytest.raises(Diverged):
        end(1.25, True)
    soft, impulses = end(40.0, True), end(40.0, False)
    assert 0.0 < np.abs(soft - impulses).max() < 0.02


# --- events ----------------------------------------------------------------------------------------------------------


def merging(coupling, dt=5e-4):
    """A double pendulum, merged for a while: where the tip is in the end."""
    with Simulation(scenarios.load("double-pendulum"), dt, coupling) as simulation:
        simulation.run(0.2)
        simulation.merge("upper", "lower")
        simulation.run(0.5)
        simulation.unmerge("lower")
        run = simulation.run(0.8)
    return run, run.position("lower.end")[-1]


@pytest.mark.parametrize(
    "coupling",
    first_of(3, [Penalty(), Penalty(rule=Shannon(0.2)), Mixed(joints={"elbow": "penalty"}), Glued(), Centralized()]),
    ids=named,
)
def test_merged_for_a_while_it_is_the_same_motion_under_every_coupling(coupling):
    _, truth = merging(Glued(4), 1e-3)
    run, tip = merging(coupling)
    assert [event["kind"] for event in run.happenings] == ["merge", "unmerge"]
    assert run.happenings[0]["name"] == "upper + lower"
    apart, _ = end_of(scenarios.load("double-pendulum"), coupling, 0.8, 5e-4)
    usual = np.abs(apart.position("lower.end")[-1] - truth).max()
    assert np.abs(tip - truth).max() < 1.5 * usual + 1e-6
    error = np.abs(run.violation("elbow")).max(axis=1)
    merged = (run.time > 0.2 + 2e-3) & (run.time < 0.5 - 1e-3)
    if isinstance(coupling, Penalty):
        assert error[merged].max() < 1e-13 < 1e-8 < error[run.time > 0.55].max()


def test_a_joint_that_parts_goes_on_with_the_load_that_it_had():
    """It does not swing into its spring: the force on it after parting is that before, to what a tick changes."""
    with Simulation(scenarios.load("chain", bodies=5), 1e-3, Merged(groups=[["rod1", "rod2"]])) as simulation:
        simulation.run(0.3)
        twin = copy.deepcopy(simulation)
        for each in (simulation, twin):
            each.unmerge("rod1")
            run = each.run(0.32)
        assert bits(simulation) == bits(twin)
    force = run.reaction("ball2")
    changes = np.abs(np.diff(force, axis=0)).max(axis=1)
    parted = np.searchsorted(run.time, 0.3)
    assert changes[parted - 1 : parted + 2].max() < 1.5 * changes[parted - 10 : parted - 1].max()
    assert np.abs(run.ledger("ball2")["stored"]).max() < 1e-2


def test_events_of_the_model_merge_and_part():
    model = scenarios.load("double-pendulum")
    model.at(0.1, Merge(["upper", "lower"]))
    model.at(0.2, Unmerge(["upper"]))
    model.at(0.3, Cut("elbow"))
    with Simulation(model, 1e-3) as simulation:
        run = simulation.run(0.4)
    assert [(event["kind"], event["tick"]) for event in run.happenings] == [
        ("merge", 100),
        ("unmerge", 200),
        ("cut", 300),
    ]
    assert not run.obstacles


def test_a_weak_joint_is_merged_by_itself_and_it_is_said_why():
    model = Assembly(gravity=(0.0, 0.0, -9.81))
    at = [(0.1 * k, 0.0, 0.0) for k in range(4)]
    for k, mass in enumerate((0.1, 1e-3, 3.0)):
        model.add(f"rod{k}", Rod(at[k], at[k + 1], mass))
        model.join(f"ball{k}", Spherical(), f"rod{k - 1}.end" if k else "ground", f"rod{k}.start")
    light, _ = end_of(model, Merged(light=0.02), 0.02)
    assert [event["kind"] for event in light.happenings] == ["merge", "merge"]
    assert all("of the mean mass of the bodies" in event["why"] for event in light.happenings)
    heavy, _ = end_of(model, Merged(heavy=1e-5), 0.3)
    assert heavy.happenings
    assert all("of the total energy" in event["why"] and event["tick"] % 50 == 0 for event in heavy.happenings)
    never, _ = end_of(model, Merged(heavy=0.5), 0.02)
    assert not never.happenings


def test_located_events_repeat_a_tick_to_the_same_bits():
    found = []
    for stepwise in (False, True):
        model = scenarios.load("double-pendulum")
        model.when(Crossing("lower.end", "x", 0.6, band=1e-4), Cut("elbow"))
        with Simulation(model, 1e-3, Mixed(joints={"pivot": "penalty"}, steps={"upper": 2})) as simulation:
            while stepwise and simulation.tick < 600:
                simulation.step()
            simulation.run(0.7)
            assert [event["kind"] for event in simulation.events] == ["cut"]
            found.append(bits(simulation))
    assert found[0] == found[1]


# --- who can and who cannot ------------------------------------------------------------------------------------------


def guest(kind):
    """A body of plain Python at the end of a wire on ours, which is on a joint of ours."""
    model = Assembly(gravity=(0.0, -9.81))
    model.add("rod", Rod((0, 0), (0.5, 0), 1.0))
    model.join("pin", Revolute(), "ground", "rod.start")
    model.add("bob", kind(1.3, (0.5, -0.8), (0.2, 0.0)))
    model.join("wire", Wire(0.8), "rod.end", "bob.here")
    return model


def test_a_component_that_only_predicts_and_corrects_takes_part_by_a_spring():
    simulation = Simulation(guest(Particle), 1e-3, Mixed())
    plan = simulation.coupling.plan(simulation.system)
    assert plan.ways["pin"] == ("glued", "both sides step on their own")
    assert plan.ways["wire"][0] == "penalty"
    assert "'bob' cannot drift and be kicked" in plan.ways["wire"][1]
    errors = []
    truth = end_of(guest(Glider), Glued(4), 0.4, 5e-3)[0].position("bob.here")[-1]
    for dt in (2e-3, 1e-3):
        run, _ = end_of(guest(Particle), Mixed(), 0.4, dt)
        assert np.abs(run.violation("pin")).max() < 1e-13
        errors.append(np.abs(run.position("bob.here")[-1] - truth).max())
    assert 1.7 < references.orders(errors)[0] < 2.4
    with pytest.raises(CouplingError, match="joint 'wire' cannot be glued: body 'bob' cannot drift and be kicked"):
        Simulation(guest(Particle), 1e-3, Mixed(joints={"wire": "glued"}))
    with pytest.raises(ModelError, match="merge: body 'bob' cannot drift and be kicked"):
        simulation.merge("rod", "bob")


def test_a_skate_is_a_damper_where_springs_reach_it():
    model = sleigh()
    model.add("cart", Rod((0.0, 0.0), (0.5, 0.1), 0.4))
    model.join("hitch", Revolute(), "sleigh.blade", "cart.start")
    simulation = Simulation(model, 1e-3, Mixed(joints={"hitch": "penalty"}), project_velocities=True)
    assert simulation.coupling.plan(simulation.system).ways["skate"][0] == "penalty"
    with pytest.raises(CouplingError, match="joint 'skate' cannot be glued: it locks only velocities"):
        Simulation(model, 1e-3, Mixed(joints={"hitch": "penalty", "skate": "glued"}), project_velocities=True)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda s: s.merge("upper"), "'upper' is one body; name two neighbours or more"),
        (lambda s: s.merge("upper", "lowr"), "merge: there is no body 'lowr'; did you mean 'lower'?"),
        (lambda s: s.merge("ground", "lower"), "no joint connects 'ground' with 'lower'"),
        (lambda s: s.unmerge("upper"), "body 'upper' is not merged; merged bodies: none"),
    ],
)
def test_what_cannot_be_merged_is_refused_and_nothing_has_happened(change, said):
    with (
        Simulation(scenarios.load("double-pendulum"), 1e-3) as simulation,
        Simulation(scenarios.load("double-pendulum"), 1e-3) as other,
    ):
        with pytest.raises(ModelError, match=said):
            change(simulation)
        for each in (simulation, other):
            each.run(0.02)
        assert bits(simulation) == bits(other)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"default": "weld"}, "Mixed: default = 'weld'; give one of glued, penalty, auto"),
        ({"joints": {"elbow": "weld"}}, "Mixed: joint 'elbow' = 'weld'"),
        ({"steps": {"upper": 0}}, "Mixed: steps of 'upper' = 0"),
        ({"tolerance": 2.0}, "Mixed: tolerance = 2.0"),
        ({"joints": {"ellbow": "glued"}}, "Mixed: there is no joint 'ellbow'; did you mean 'elbow'?"),
        ({"steps": {"uper": 2}}, "Mixed: steps: there is no body 'uper'; did you mean 'upper'?"),
    ],
)
def test_settings_that_are_none_are_refused(settings, said):
    with pytest.raises(ModelError, match=said):
        Simulation(scenarios.load("double-pendulum"), 1e-3, Mixed(**settings))


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"heavy": 0}, "Merged: heavy = 0"),
        ({"light": 3.0}, "Merged: light = 3.0"),
        ({"groups": ["upper", "lower"]}, "give lists of two bodies or more"),
        ({"groups": [["upper", "lowr"]]}, "Merged: groups: there is no body 'lowr'"),
    ],
)
def test_so_are_those_of_merged(settings, said):
    with pytest.raises(ModelError, match=said):
        Simulation(scenarios.load("double-pendulum"), 1e-3, Merged(**settings))


# --- bits ------------------------------------------------------------------------------------------------------------

COUPLINGS = [
    Mixed(joints={"knee": "penalty"}),
    Mixed(joints={"knee": "penalty"}, steps={"tail": 3}),
    Merged(groups=[["rod", "tail"]]),
    Merged(groups=[["rod", "tail", "flag"], ["ground", "post"]], rule=Shannon(0.2)),
]


@pytest.mark.short(2)
@pytest.mark.parametrize(("law", "coupling"), each_once([False, True], COUPLINGS), ids=named)
def test_the_engine_single_steps_and_components_on_their_own_give_the_same_bits(coupling, law):
    found = []
    for settings in ({}, {"grouped": False}, {"record_every": 7}, {"threads": 2}):
        for stepwise in (False, True):
            with Simulation(mixture(law=law), 1e-3, coupling, **settings) as simulation:
                while stepwise and simulation.tick < 20:
                    simulation.step()
                simulation.run(0.021)
                found.append(bits(simulation))
    assert all(other == found[0] for other in found)


@pytest.mark.parametrize("coupling", [*COUPLINGS, Penalty()])
def test_a_copy_and_a_resumed_run_go_on_to_the_same_bits(coupling, tmp_path):
    with Simulation(mixture(law=False), 1e-3, coupling) as simulation:
        if type(coupling) is Penalty:
            simulation.merge("post", "rod")
        simulation.run(0.02, checkpoints=tmp_path)
        other = copy.deepcopy(simulation)
        for each in (simulation, other):
            each.run(0.04)
    with resume(tmp_path) as resumed:
        resumed.run(0.04)
        assert bits(simulation) == bits(other) == bits(resumed)


class InPython(Stable):
    """The usual rule, called and not played."""

    def refresh(self, system, dt):
        super().refresh(system, dt)


@pytest.mark.parametrize("merged", [False, True])
def test_a_rule_in_python_is_the_same_rule(merged):
    """Among components that step on their own too: what turns fast showed 1e-2 m of difference."""
    model = Assembly(gravity=(0.0, -9.81, 0.0))
    spin, upright = (0.0, 0.0, 60.0), (0.0, 0.0, 1.0)
    for name, mass, inertia, reach in (("rotor", 2.0, 0.05, 0.3), ("disc", 1.0, 0.02, 0.2)):
        ports = {"o": (0.0, 0.0, 0.0), "e": (reach, 0.0, 0.0)}
        body = RigidBody(mass=mass, inertia=(inertia,) * 3, centre=(0.0, 0.0, 0.0), ports=ports, angular_velocity=spin)
        model.add(name, body)
    ports = {"a": (0.3, 0.0, 0.0), "b": (0.5, 0.0, 0.0)}
    link = RigidBody(mass=0.3, inertia=(0.001,) * 3, centre=(0.4, 0.0, 0.0), ports=ports, velocity=(0.0, 18.0, 0.0))
    model.add("link", link)
    model.join("h0", Revolute(axis=upright), "ground", "rotor.o")
    model.join("h1", Revolute(axis=upright), "rotor.o", "disc.o")
    model.join("h2", Revolute(axis=upright), "rotor.e", "link.a")
    model.apply("spring", TorsionSpring(1e6, 1e2, axis=upright), "rotor.o", "disc.o")
    places = []
    for rule in (Stable(), InPython()):
        coupling = Merged(rule=rule, groups=[["rotor", "disc"]]) if merged else Penalty(rule=rule)
        with Simulation(model, 1e-3, coupling) as simulation:
            assert simulation.implicit_forces == ["spring"]
            places.append(simulation.run(0.1).position("link.b"))
    assert (places[0] == places[1]).all()
