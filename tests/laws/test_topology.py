"""Cutting, joining and adding while the mechanism moves."""

import numpy as np
import pytest

import references
import scenarios
import zoo
from components import Fixed, Law, Load, PointMassRod, PointOnLine, Revolute, Rod, Spherical
from coordinator import Centralized, Penalty, Simulation
from modular import Assembly, Crossing, Cut, Join, Limit, ModelError
from modular.elements import ASKED
from modular.joints import ANSWERS


def memory(simulation):
    """Everything that a cut and a new joint must leave alone, bit for bit."""
    bodies = {
        name: {key: simulation.body(name).state()[key][0].copy() for key in ("q", "v")}
        for name in simulation.assembly.bodies
    }
    markers = {}
    for name, home in simulation.system.joint_home.items():
        attachment = simulation.system.attachment_of(name, simulation.assembly.joint_edges[name])
        marks = [*attachment.first, *attachment.second]
        preload = home.stack.preload[home.stack.row[name]].copy()
        markers[name] = [mark.weights.copy() for mark in marks] + [np.array(attachment.marker), preload]
    return bodies, markers


def same(a, b):
    return all(np.array_equal(x, y) for x, y in zip(a, b, strict=True))


def test_a_joint_cut_and_made_again_at_once_changes_nothing_but_accelerations():
    with Simulation(scenarios.load("chain", bodies=6), 1e-4) as simulation:
        simulation.run(0.3)
        bodies, markers = memory(simulation)
        far = {name: simulation.body(name).state()["a"][0].copy() for name in ("rod0", "rod5")}
        stored = simulation.ledger("ball3")["stored"]
        simulation.cut("ball3")
        simulation.join("ball3", Spherical(), "rod2.end", "rod3.start")
        again, new_markers = memory(simulation)
        for name in bodies:
            assert same(bodies[name].values(), again[name].values())
        for name in markers:
            assert same(markers[name], new_markers[name])
        for name, acceleration in far.items():  # bodies that the event did not touch keep theirs too
            assert np.array_equal(simulation.body(name).state()["a"][0], acceleration)
        assert simulation.ledger("ball3")["stored"] == pytest.approx(stored, rel=1e-2)
        assert [event["kind"] for event in simulation.events] == ["cut", "join"]
        assert "impact" not in simulation.events[-1]


def test_all_joints_cut_and_made_again_at_once_are_the_same_joints_even_while_they_ring():
    model = scenarios.load("double-pendulum-3d")
    with Simulation(model, 1e-3) as simulation:
        for k in range(1, 21):
            simulation.run(0.03 * k)
            bodies, markers = memory(simulation)
            gaps = {name: simulation.recorded.violation(name)[-1] for name in model.joints}
            for name in model.joints:
                simulation.cut(name)
            for name, edge in model.joint_edges.items():
                simulation.join(name, edge.joint, str(edge.first), str(edge.second))
            again, markers_again = memory(simulation)
            for name in markers:
                assert same(markers[name], markers_again[name])
            for name in bodies:
                assert same(bodies[name].values(), again[name].values())
            assert all("impact" not in event for event in simulation.events)
            for name in model.joints:  # also the springs, at the ground too
                assert np.array_equal(simulation.recorded.violation(name)[-1], gaps[name])


def test_a_cut_and_remade_joint_hardly_changes_the_motion():
    tips = []
    for remake in (False, True):
        with Simulation(scenarios.load("double-pendulum"), 1e-4) as simulation:
            simulation.run(0.5)
            if remake:
                simulation.cut("elbow")
                simulation.join("elbow", Revolute(), "upper.end", "lower.start")
            tips.append(simulation.run(0.8).position("lower.end")[-1])
    assert np.abs(tips[0] - tips[1]).max() < 1e-6


def test_after_the_cut_the_lower_rod_flies_freely_and_its_mass_centre_falls_with_g():
    with Simulation(scenarios.load("cut-double-pendulum"), 1e-4) as simulation:
        run = simulation.run(1.2)
    assert [(event["kind"], event["name"], event["tick"]) for event in run.events] == [
        ("cut", "elbow", 5000),
        ("cut", "pivot", 8000),
    ]
    for body, tick in (("lower", 5000), ("upper", 8000)):
        flight = run.ticks >= tick
        t = run.time[flight] - run.time[tick]
        height = run.mass_centre(body)[flight, 1]
        fit = np.polynomial.polynomial.polyfit(t, height, 2)
        assert 2 * fit[2] == pytest.approx(-references.G, rel=1e-6)
        x = run.mass_centre(body)[flight, 0]
        assert np.abs(np.polynomial.polynomial.polyfit(t, x, 2)[2]) < 1e-6
    assert np.isnan(run.violation("elbow")[run.ticks >= 5000]).all()
    assert np.isfinite(run.violation("elbow")[run.ticks < 5000]).all()


def test_scheduled_cuts_and_cuts_by_hand_give_the_same_bits():
    with Simulation(scenarios.load("cut-double-pendulum"), 1e-3) as simulation:
        scheduled = simulation.run(1.0)
    with Simulation(scenarios.load("double-pendulum"), 1e-3) as simulation:
        simulation.run(0.5)
        simulation.cut("elbow")
        simulation.run(0.8)
        simulation.cut("pivot")
        by_hand = simulation.run(1.0)
    assert np.array_equal(scheduled.position("lower.end"), by_hand.position("lower.end"))
    assert np.array_equal(scheduled.acceleration("upper.end"), by_hand.acceleration("upper.end"))


@pytest.mark.parametrize("joint", [Revolute(), Fixed()], ids=zoo.label)
def test_joining_a_moving_point_is_an_inelastic_impact_with_the_energy_booked(joint):
    rod = PointMassRod(start=(0, 0), end=(1, 0), masses=(1.0, 1.0), velocity=(0.0, -2.0))
    assembly = Assembly(gravity=(0.0, 0.0))
    assembly.add("rod", rod)
    with Simulation(assembly, 1e-4) as simulation:
        simulation.run(0.01)
        simulation.join("pin", joint, "ground", "rod.start")
        # angular momentum about the pin: 1 kg at 1 m with 2 m/s; hinged it goes on, welded it stops
        speed = 2.0 if isinstance(joint, Revolute) else 0.0
        assert simulation.port_motion("rod.end")[1] == pytest.approx([0.0, -speed], abs=1e-12)
        lost = 4.0 - 0.5 * speed**2
        assert simulation.ledger("pin")["impact"] == pytest.approx(lost, rel=1e-12)
        assert simulation.events[-1]["impact"] == pytest.approx(lost, rel=1e-12)
        run = simulation.run(0.5)
    assert np.abs(run.position("rod.start")[-1] - [0.0, -0.02]).max() < 1e-6
    ledger = run.ledger("pin")
    assert sum(column[-1] for column in ledger.values()) == pytest.approx(0.0, abs=1e-12)


def test_a_point_pinned_after_a_cut_stays_where_it_was():
    with Simulation(scenarios.load("double-pendulum"), 1e-4) as simulation:
        simulation.run(0.5)
        simulation.cut("elbow")
        simulation.run(0.55)
        place = simulation.port_motion("lower.end")[0]
        simulation.join("hook", Revolute(), "ground", "lower.end")
        run = simulation.run(0.8)
    held = run.ticks >= 5500
    assert np.abs(run.position("lower.end")[held] - place).max() < 1e-5
    assert np.abs(run.violation("hook")[held]).max() < 1e-5


def test_an_impact_between_two_free_bodies_conserves_momentum():
    left = zoo.full(3, *zoo.PLACES[3][:2], velocity=(0.5, 0.2, -0.3), angular_velocity=(0.3, -0.8, 0.5))
    right = zoo.full(3, *zoo.PLACES[3][1:], velocity=(-1.0, 0.4, 0.6), angular_velocity=(-0.9, 0.1, 0.4))
    assembly = Assembly(gravity=(0.0, 0.0, 0.0))
    assembly.add("left", left)
    assembly.add("right", right)
    with Simulation(assembly, 1e-4) as simulation:
        before = total_momentum(simulation)
        energy = simulation.recorded.energy[-1]
        simulation.join("ball", Spherical(), "left.end", "right.start")
        assert total_momentum(simulation) == pytest.approx(before, abs=1e-13)
        gap = simulation.port_motion("left.end")[1] - simulation.port_motion("right.start")[1]
        assert np.abs(gap).max() < 1e-12
        lost = energy - simulation.recorded.energy[-1]
        assert 0 < lost == pytest.approx(simulation.ledger("ball")["impact"], rel=1e-9)


def total_momentum(simulation):
    states = {name: simulation.body(name).state() for name in simulation.assembly.bodies}
    return sum(simulation.assembly.bodies[n].momentum(s["q"][0], s["v"][0]) for n, s in states.items())


def test_a_joint_between_points_apart_is_refused_unless_told_where():
    assembly = Assembly(gravity=(0.0, -9.81))
    assembly.add("a", zoo.full(2, (0, 0), (1, 0)))
    assembly.add("b", zoo.full(2, (1.5, 0), (2.5, 0)))
    assembly.join("pin", Revolute(), "ground", "a.start")
    with Simulation(assembly, 1e-3) as simulation:
        with pytest.raises(ModelError, match=r"'link': ports 'a.end' .* 'b.start' .* 0.5 m.*at="):
            simulation.join("link", Revolute(), "a.end", "b.start")
        assert simulation.assembly.joints == ("pin",)  # nothing half done
        simulation.join("link", Revolute(), "a.end", "b.start", at=(1.25, 0.0))
        run = simulation.run(0.5)
        assert np.abs(run.violation("link")).max() < 1e-4
        gap = np.linalg.norm(run.position("a.end") - run.position("b.start"), axis=1)
        assert 0.3 < gap[-1] <= 0.5 + 1e-4


def test_bodies_and_loads_come_and_go_without_touching_the_others():
    with Simulation(scenarios.load("double-pendulum"), 1e-3) as simulation:
        simulation.run(0.2)
        q = simulation.body("lower").state()["q"][0].copy()
        place = simulation.port_motion("lower.end")[0]
        simulation.add("extra", PointMassRod(tuple(place), (place[0] + 0.5, place[1]), (0.1, 0.1)))
        assert np.array_equal(simulation.body("lower").state()["q"][0], q)
        simulation.join("link", Revolute(), "lower.end", "extra.start")
        simulation.apply("wind", Load(force=(3.0, 0.0)), "extra.end")
        simulation.run(0.4)
        assert simulation.recorded.work("wind")[-1] != 0
        simulation.remove("wind")
        simulation.remove("extra")
        assert simulation.assembly.joints == ("pivot", "elbow")
        run = simulation.run(0.5)
    assert np.isnan(run.position("extra.end")[-1]).all()
    assert np.isfinite(run.position("lower.end")).all()
    assert [event["kind"] for event in run.events] == ["add", "join", "apply", "remove", "cut", "remove"]


def test_a_load_accelerates_a_free_body_as_newton_says_and_its_work_is_the_energy():
    assembly = Assembly(gravity=(0.0, 0.0, 0.0))
    assembly.add("body", Rod((0, 0, 0), (1, 0.2, -0.1), 2.0, 0.1))
    assembly.apply("push", Load(force=(1.0, -2.0, 0.5)), "body.end")
    with Simulation(assembly, 1e-4) as simulation:
        run = simulation.run(1.0)
    t = run.time[:, None]
    start = run.mass_centre("body")[0]
    assert np.abs(run.mass_centre("body") - start - 0.25 * np.array([1.0, -2.0, 0.5]) * t**2).max() < 1e-11
    assert run.work("push")[-1] == pytest.approx(run.energy[-1] - run.energy[0], rel=1e-6)


def test_ten_metres_away_and_turned_nothing_changes_and_renumbering_neither():
    def track(*, turn=None, shift=0.0, order=(0, 1, 2), swap=False):
        turn = np.eye(3) if turn is None else turn
        points = [turn @ np.array(p) + shift for p in ((0, 0, 0), (0.5, 0.1, 0.2), (0.9, -0.2, 0.1), (1.4, 0.1, -0.3))]
        assembly = Assembly(gravity=tuple(turn @ np.array([0.5, -9.81, 1.0])))
        names = ("a", "b", "c")
        inertia = turn @ np.array([[0.11, 0.01, -0.02], [0.01, 0.14, 0.015], [-0.02, 0.015, 0.09]]) @ turn.T
        for k in order:
            start, end = points[k], points[k + 1]
            body = zoo.RigidBody(
                mass=1.1, inertia=tuple(map(tuple, inertia)), centre=tuple(0.45 * start + 0.55 * end),
                ports={"start": tuple(start), "end": tuple(end)},
            )  # fmt: skip
            assembly.add(names[k], body)
        axis = tuple(turn @ np.array([0.3, -0.5, 0.8]))
        joints = [
            ("hook", Spherical(), "ground", "a.start"),
            ("hinge", Revolute(axis=axis), "a.end", "b.start"),
            ("weld", Fixed(), "b.end", "c.start"),
        ]
        for name, joint, first, second in joints if order == (0, 1, 2) else reversed(joints):
            assembly.join(name, joint, *((second, first) if swap else (first, second)))
        with Simulation(assembly, 1e-4) as simulation:
            run = simulation.run(0.1)
        return (run.position("c.end") - shift) @ turn, run.velocity("c.end") @ turn

    x, v = track()
    for variant in (
        {"order": (2, 0, 1)},
        {"swap": True},
        {"turn": zoo.rotation(3)},
        {"shift": np.array([10.0, -10.0, 10.0])},
    ):
        x_new, v_new = track(**variant)
        assert np.abs(x_new - x).max() <= 1e-12, variant
        assert np.abs(v_new - v).max() <= 1e-9, variant


def test_a_joint_placed_by_hand_is_the_same_joint_too_when_cut_and_made_again():
    model = Assembly(gravity=(0.0, -9.81))
    model.add("a", zoo.full(2, (0, 0), (1, 0)))
    model.add("b", zoo.full(2, (1.5, 0), (2.5, 0)))
    model.join("pin", Revolute(), "ground", "a.start")
    model.join("link", Revolute(), "a.end", "b.start", at=(1.25, 0.0))
    with Simulation(model, 1e-3) as simulation:
        simulation.run(0.3)
        bodies, markers = memory(simulation)
        gap = simulation.recorded.violation("link")[-1]
        simulation.cut("link")
        simulation.join("link", Revolute(), "a.end", "b.start", at=(1.25, 0.0))
        again, markers_again = memory(simulation)
        assert all(same(bodies[name].values(), again[name].values()) for name in bodies)
        assert all(same(markers[name], markers_again[name]) for name in markers)
        assert np.array_equal(simulation.recorded.violation("link")[-1], gap)


def test_a_body_that_went_takes_the_memory_of_its_joints_along():
    """A reset at one tick is no cut and re-made joint: the old place on the ground means nothing to the new body."""
    model = scenarios.load("double-pendulum")
    with Simulation(model, 1e-3) as simulation:
        simulation.run(0.3)
        simulation.remove("lower")
        simulation.cut("pivot")
        simulation.remove("upper")
        simulation.add("upper", model.bodies["upper"])
        simulation.join("pivot", Revolute(), "ground", "upper.start")
        run = simulation.run(0.5)
    late = run.ticks >= 300
    assert np.abs(run.violation("pivot")[late]).max() < 1e-4


@pytest.mark.short(1)
@pytest.mark.parametrize(("dt", "speed"), [(1e-3, 0.15), (1e-2, 1.5), (1e-4, 1e-3)])
def test_slow_impacts_are_impacts_too(dt, speed):
    model = Assembly(gravity=(0.0, -9.81))
    model.add("bob", zoo.RigidBody(mass=2.0, inertia=0.0, centre=(0, 0), ports={"here": (0, 0)}, velocity=(speed, 0.0)))
    with Simulation(model, dt) as simulation:
        simulation.join("pin", Spherical(), "ground", "bob.here")
        assert simulation.ledger("pin")["impact"] == pytest.approx(speed**2, rel=1e-12)
        assert np.abs(simulation.port_motion("bob.here")[1]).max() < 1e-15


def test_events_at_one_instant_all_happen_then():
    """Two mirror pendulums reach their levels together, between two ticks; both are cut there."""
    model = Assembly(gravity=(0.0, -9.81))
    for name, side in (("left", -1), ("right", 1)):
        model.add(name, zoo.masses(2, (3.0 * side, 0), (4.0 * side, 0)))
        model.join(f"{name}-pin", Revolute(), "ground", f"{name}.start")
        model.when(Crossing(f"{name}.end", "y", -0.5), Cut(f"{name}-pin"))
    with Simulation(model, 1e-3) as simulation:
        run = simulation.run(0.6)
    assert [event["name"] for event in run.events] == ["left-pin", "right-pin"]
    assert run.events[0]["time"] == pytest.approx(run.events[1]["time"], abs=1e-9)


@pytest.mark.parametrize("order", [("cut", "join"), ("join", "cut")])
def test_events_that_fall_on_one_tick_happen_in_the_order_of_their_times(order):
    """However the model lists them, here the last one first."""
    model = Assembly(gravity=(0.0, -9.81))
    model.add("rod", zoo.masses(2, (0, 0), (1.0, 0)))
    if order[0] == "cut":
        model.join("pin", Revolute(), "ground", "rod.start")
    events = {"cut": Cut("pin"), "join": Join("pin", Revolute(), "ground", "rod.start")}
    model.at(0.01004, events[order[1]])
    model.at(0.00996, events[order[0]])
    with Simulation(model, 1e-3) as simulation:
        run = simulation.run(0.02)
    assert tuple(event["kind"] for event in run.events) == order
    assert ("pin" in simulation.assembly.joint_edges) == (order[1] == "join")


def test_the_kinematic_law_is_for_joints_that_only_hold_two_points():
    with Simulation(scenarios.load("double-pendulum"), 1e-3) as simulation:
        simulation.run(0.2)
        simulation.cut("elbow")
        simulation.run(0.3)
        for joint in (Fixed(), PointOnLine(axis=(1.0, 0.0))):
            with pytest.raises(ModelError, match=r"'hook': law='kinematic' is for joints"):
                simulation.join("hook", joint, "ground", "lower.end", law="kinematic")
            assert simulation.assembly.joints == ("pivot",)
            assert "hook" not in simulation.system.joint_home
        simulation.run(0.31)


def test_the_own_copy_of_the_model_has_its_own_gravity():
    model = scenarios.load("double-pendulum")
    with Simulation(model, 1e-3) as simulation:
        model.gravity[1] = 0.0
        simulation.cut("pivot")
        assert simulation.run(0.1).acceleration("upper.end")[-1, 1] < -5.0


def test_an_event_that_a_law_spoils_leaves_the_gains_of_the_bodies_as_they_were():
    def law(t, x, v):
        return (np.nan if spoilt else 0.0, 0.1, 0.0)

    spoilt = False
    model = scenarios.load("chain", bodies=4)
    model.apply("push", Load(Law(law)), "rod3.end")
    with Simulation(model, 1e-3) as simulation:
        simulation.run(0.01)
        before = [bodies.gains.copy() for bodies in simulation.system.bodies]
        spoilt = True
        with pytest.raises(ModelError, match="'push': its law returned"):
            simulation.join("nail", Spherical(), "rod3.end", "ground")
        after = [bodies.gains for bodies in simulation.system.bodies]
        assert before[0][2] > 0.0 and all(np.array_equal(*pair) for pair in zip(before, after, strict=True))


def everything(simulation):
    """All that a simulation remembers, but for what an event only works with: rows of all components, and the rest as a text."""
    system = simulation.system
    tables = [*system.bodies, *system.joints, *system.forces, system.elements]
    worked_with = (*ASKED, *ANSWERS, "bound", "taken")
    rows = [{name: array for name, array in table.copy_rows().items() if name not in worked_with} for table in tables]
    logs = [simulation.events, simulation.recorded.margins, simulation.recorded.forms]
    names = [simulation.assembly.to_data(), list(system.joint_home), list(system.force_home), system.uses]
    ledgers = {name: ledger.tobytes() for name, ledger in system.closed.items()}
    return rows, repr(
        [logs, names, ledgers, simulation.breakage.gone, [getattr(table, "names", 0) for table in tables]]
    )


def has_not_changed(before, after):
    """Lists of elements may have become longer, and more elements be at hand: of zeros."""
    for old, new in zip(before[0], after[0], strict=True):
        assert old.keys() == new.keys()
        for name, rows in old.items():
            assert np.array_equal(new[name][tuple(map(slice, rows.shape))], rows), name
            assert np.count_nonzero(new[name]) == np.count_nonzero(rows), name
    assert before[1] == after[1]


@pytest.mark.short(4)
@pytest.mark.parametrize("coupling", [Penalty(), Penalty(preload=False), Centralized()], ids=zoo.label)
@pytest.mark.parametrize("change", ["join", "join again", "apply"])
def test_an_event_that_a_law_spoils_has_not_happened(coupling, change):
    def law(t, x, v):
        if spoilt:
            raise ValueError("no idea")
        return (0.0, 0.1, 0.0)

    def act(simulation):
        if change == "apply":
            simulation.apply("more", Load(Law(law)), "rod1.end")
        elif change == "join":
            simulation.join("nail", Fixed(), "rod3.end", "ground", breaks_at=Limit(force=1e6, window=0.1))
        else:
            simulation.join("ball3", Spherical(), "rod2.end", "rod3.start", at=simulation.port_motion("rod3.start")[0])

    def moving():
        model = scenarios.load("chain", bodies=5)
        if change != "apply":
            model.apply("push", Load(Law(law)), "rod3.end")
        simulation = Simulation(model, 1e-3, coupling)
        simulation.run(0.02)
        if change == "join again":
            simulation.cut("ball3")
        simulation.run(0.03)
        return simulation

    spoilt = False
    with moving() as simulation, moving() as untouched:
        before, spoilt = everything(simulation), True
        with pytest.raises(ModelError, match="its law raised ValueError"):
            act(simulation)
        spoilt = False
        has_not_changed(before, everything(simulation))
        act(simulation)
        act(untouched)
        assert simulation.run(0.05).digest == untouched.run(0.05).digest
