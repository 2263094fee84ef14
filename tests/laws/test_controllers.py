"""Controllers asked between two ticks: what their instruments show, what they hold, and that nothing of it is lost."""

import numpy as np
import pytest
from scipy.linalg import expm

import both_ways
import control_laws
import references
from components import (
    Accelerometer,
    AngleBetween,
    Controller,
    DistanceBetween,
    ForceIn,
    Friction,
    Prismatic,
    Revolute,
    RigidBody,
    Rod,
    SpringDamper,
    TorsionSpring,
    TurningBetween,
    WayBetween,
)  # fmt: skip
from coordinator import Centralized, Checkpoints, Glued, Penalty, Relaxed, Simulation, resume
from coordinator.continuation.reconfigure import with_names
from coordinator.continuation.rerun import rewind
from coordinator.record.sensors import accelerometer, angle, distance, exerted, joint_force, spring_force
from modular import Assembly, Component, ModelError, Port
from modular.force import Force
from modular.typed import read_component

G = 9.81
LEAN = 1e-4


def cart(lean=LEAN, every=10, law="control_laws:balance", **more):
    """An inverted pendulum on a cart that is driven along its rail."""
    mass, half = control_laws.POLE, control_laws.HALF
    up, right = np.array([np.sin(lean), np.cos(lean)]), np.array([np.cos(lean), -np.sin(lean)])
    model = Assembly(gravity=(0.0, -G))
    model.add("cart", RigidBody(mass=control_laws.CART, inertia=0.1, centre=(0, 0), ports={"pin": (0, 0)}))
    model.add(
        "pole",
        RigidBody(
            mass=mass, inertia=mass * (2 * half) ** 2 / 12, centre=tuple(half * up),
            ports={"foot": Port((0.0, 0.0), axes=(tuple(right), tuple(up))), "tip": tuple(2 * half * up)},
        ),
    )  # fmt: skip
    model.join("rail", Prismatic(axis=(1.0, 0.0)), "ground", "cart.pin")
    model.join("hinge", Revolute(), "cart.pin", "pole.foot")
    inputs = {
        "way": WayBetween("ground", "cart.pin", (1.0, 0.0)), "pace": WayBetween("ground", "cart.pin", (1.0, 0.0), rate=True),
        "lean": AngleBetween("ground", "pole.foot"), "turning": TurningBetween("ground", "pole.foot"),
    }  # fmt: skip
    drive = Controller(law, inputs, every=every, memory=(0.0,), measure="way", axis=(1.0, 0.0), **more)
    model.apply("drive", drive, "ground", "cart.pin")
    return model


def sampled(periods):
    """x_{k+1} = (Phi - Gamma K) x_k: what a linear cart does that is held from one decision to the next."""
    a, b = control_laws.continuous()
    whole = expm(np.block([[a, b], [np.zeros((1, 5))]]) * control_laws.PERIOD)
    step = whole[:4, :4] - whole[:4, 4:] @ np.array([control_laws.GAINS])
    states = [np.array([0.0, LEAN, 0.0, 0.0])]
    for _ in range(periods):
        states.append(step @ states[-1])
    return np.array(states)


@pytest.mark.short(2)
@pytest.mark.parametrize(
    ("coupling", "order", "most"),
    [
        (Penalty(), None, 3e-3),
        (Glued(), 2, 1e-2),
        (Glued(4), None, 1e-6),
        (Relaxed(), 2, 1e-2),
        (Centralized(), 2, 1e-2),
    ],
    ids=["penalty", "glued", "glued 4", "relaxed", "HHT"],
)
def test_a_cart_holds_its_pole_as_the_theory_of_sampled_systems_says(coupling, order, most):
    """The period of decisions stays, the step is halved: the order is that of the coupling, though the effort jumps.

    Under springs the joints ring at every jump, by little and never alike, so no order is told."""
    errors = []
    for every in (4, 8):
        with Simulation(cart(every=every), control_laws.PERIOD / every, coupling) as simulation:
            run = simulation.run(0.2)
            assert simulation.system.force_home["drive"].stack.store[0, 0] == 20.0  # once a period
        expected = sampled(20)
        found = np.stack([run.position("cart.pin")[::every, 0], -angle(run, "ground", "pole.foot")[::every]], axis=1)
        errors.append(np.abs(found - expected[:, :2]).max() / LEAN)
    assert errors[0] < most
    if order is not None:
        assert abs(references.orders(errors)[0] - order) < 0.4


def test_a_pole_that_leans_far_is_caught_and_the_books_say_what_that_took():
    with Simulation(cart(lean=0.3, every=5), 2e-3, Glued()) as simulation:
        run = simulation.run(4.0)
    assert np.abs(angle(run, "ground", "pole.foot")[-1]) < 1e-3
    lines = run.ledger("drive")
    assert np.abs(run.energy - run.energy[0] + lines["supplied"] + lines["leaked"]).max() < 1e-4
    assert np.abs(sum(run.balance().values())).max() < 1e-12


def gripper():
    """A finger that presses on a pad of rubber."""
    model = Assembly(gravity=(0.0, 0.0))
    model.add("finger", RigidBody(mass=0.5, inertia=0.01, centre=(0.1, 0), ports={"tip": (0, 0)}))
    model.join("slide", Prismatic(axis=(1.0, 0.0)), "ground", "finger.tip")
    model.apply("pad", SpringDamper(stiffness=800.0, length=0.2, damping=2.0), "ground", "finger.tip", at=(-0.2, 0.0))
    inputs = {"pad": ForceIn("pad", tension=True), "pace": WayBetween("ground", "finger.tip", (1.0, 0.0), rate=True)}
    hand = Controller("control_laws:grip", inputs, every=5, memory=(0.0,), most=60.0, measure="way", axis=(1.0, 0.0))
    model.apply("hand", hand, "ground", "finger.tip")
    return model


def test_a_gripper_presses_with_the_force_that_it_is_told():
    """The integral of what is missing leaves nothing missing; the pad gives way by F / k."""
    with Simulation(gripper(), 1e-3) as simulation:
        run = simulation.run(2.0)
    assert -spring_force(run, "pad")[-1] == pytest.approx(20.0, rel=1e-3)
    assert run.position("finger.tip")[-1, 0] == pytest.approx(-20.0 / 800.0, rel=1e-3)


# --- instruments -------------------------------------------------------------------------------------------------------


def watched(dimension):
    """A swinging body whose instruments are written down at every tick."""
    space = lambda *x: (*x, 0.2)[:dimension]  # noqa: E731
    turn = ((0.6, 0.8), (-0.8, 0.6)) if dimension == 2 else ((0.6, 0.8, 0), (-0.8, 0.6, 0), (0, 0, 1))
    model = Assembly(gravity=(0.0, -G, 0.3)[:dimension])
    inertia = 0.05 if dimension == 2 else (0.05, 0.04, 0.06)
    ports = {"pin": space(0.0, 0.0), "tip": Port(space(0.5, 0.1), axes=turn)}
    model.add("body", RigidBody(mass=1.2, inertia=inertia, centre=space(0.3, 0.1), ports=ports))
    model.add("other", Rod(space(0.9, 0.3), space(1.2, 0.5), 0.4))
    model.join("hinge", Revolute() if dimension == 2 else Revolute((0, 0.1, 1)), "ground", "body.pin")
    model.apply("spring", SpringDamper(stiffness=25.0, length=0.2, damping=0.3), "body.tip", "other.start")
    inputs = {
        "felt": Accelerometer("body.tip"), "carried": ForceIn("hinge", "body.tip"), "pull": ForceIn("spring", tension=True),
        "length": DistanceBetween("body.tip", "other.start"), "growth": DistanceBetween("body.tip", "other.start", rate=True),
        "angle": AngleBetween("ground", "body.tip"), "turning": TurningBetween("ground", "body.tip"),
        "way": WayBetween("body.tip", "other.end", (0.6, 0.8, 0.0)[:dimension]),
        "pace": WayBetween("body.tip", "other.end", (0.6, 0.8, 0.0)[:dimension], rate=True),
    }  # fmt: skip
    memory = (0.0,) * (2 * dimension + 8)
    model.apply("watch", Controller("control_laws:note", inputs, memory=memory), "ground", "body.pin")
    return model


@pytest.mark.short(2)
@pytest.mark.parametrize("coupling", [Penalty(), Glued()], ids=["penalty", "glued"])
@pytest.mark.parametrize("dimension", [2, 3])
def test_instruments_show_while_it_moves_what_sensors_find_afterwards(dimension, coupling):
    seen = []
    with Simulation(watched(dimension), 1e-3, coupling) as simulation:
        for _ in range(60):
            simulation.step()
            seen.append(simulation.system.force_home["watch"].stack.store[0].copy())
        run = simulation.recorded
    seen, d = np.array(seen[1:]), dimension
    tick = slice(1, 60)  # asked before the tick, they saw the end of the one before
    assert seen[:, -1] == pytest.approx(run.time[tick], abs=1e-15)
    assert seen[:, :d] == pytest.approx(accelerometer(run, "body.tip")[tick], abs=1e-9)
    assert seen[:, d : 2 * d] == pytest.approx(joint_force(run, "hinge", "body.tip")[tick], rel=1e-9, abs=1e-9)
    lag = 0.05 if coupling == Penalty() else 1e-9  # what acted in the tick was worked out at predicted places
    assert seen[:, 2 * d] == pytest.approx(spring_force(run, "spring")[tick], abs=lag)
    assert seen[:, 2 * d + 1] == pytest.approx(distance(run, "body.tip", "other.start")[tick], abs=1e-12)
    assert seen[:, 2 * d + 3] == pytest.approx(angle(run, "ground", "body.tip")[tick], abs=1e-12)
    for value, rate in ((2 * d + 1, 2 * d + 2), (2 * d + 3, 2 * d + 4), (2 * d + 5, 2 * d + 6)):
        slope = (seen[2:, value] - seen[:-2, value]) / 2e-3
        assert seen[1:-1, rate] == pytest.approx(slope, abs=2e-3 if value != 2 * d + 3 or d == 2 else 0.05)


def test_an_angle_goes_on_over_turns():
    model = Assembly(gravity=(0.0, 0.0))
    model.add("wheel", RigidBody(mass=1.0, inertia=0.2, centre=(0, 0), ports={"hub": (0, 0)}, angular_velocity=-30.0))
    model.join("hinge", Revolute(), "ground", "wheel.hub")
    watch = Controller("control_laws:note", {"angle": AngleBetween("ground", "wheel.hub")}, every=50, memory=(0.0,) * 2)
    model.apply("watch", watch, "ground", "wheel.hub")
    with Simulation(model, 1e-3, Glued(4)) as simulation:
        simulation.run(1.001)
        shown = simulation.system.force_home["watch"].stack.store[0]
    assert shown == pytest.approx((-30.0, 1.0), abs=1e-5)


def test_forces_of_springs_are_found_in_a_run():
    """k (l - l_0) + c l', a moment k a about an axis, and dry friction, sample by sample."""
    with Simulation(watched(2), 1e-3, Glued()) as simulation:
        run = simulation.run(0.1)
    length = distance(run, "body.tip", "other.start")
    along = (run.position("other.start") - run.position("body.tip")) / length[:, None]
    rate = np.sum((run.velocity("other.start") - run.velocity("body.tip")) * along, axis=1)
    pull = 25.0 * (length - 0.2) + 0.3 * rate
    assert spring_force(run, "spring") == pytest.approx(pull, abs=1e-12)
    assert exerted(run, "spring") == pytest.approx(-pull[:, None] * along, abs=1e-12)
    model = Assembly(gravity=(0.0, -G))
    model.add("arm", Rod((0, 0), (1, 0), 1.0))
    model.join("hinge", Revolute(), "ground", "arm.start")
    model.apply("coil", TorsionSpring(stiffness=3.0), "ground", "arm.start")
    model.apply("rub", Friction(0.4), "ground", "arm.start")
    with Simulation(model, 1e-3, Glued()) as simulation:
        run = simulation.run(0.3)
    tip = run.position("arm.end")
    turned = np.unwrap(np.arctan2(tip[:, 1], tip[:, 0]))
    assert exerted(run, "coil")[:, 2] == pytest.approx(-3.0 * turned, abs=1e-9)
    assert np.abs(exerted(run, "rub")[:, 2]).max() == pytest.approx(0.4, rel=1e-9)
    with pytest.raises(ModelError, match="coul"):
        exerted(run, "coul")


# --- nothing is lost ---------------------------------------------------------------------------------------------------


@pytest.mark.short(1)
@pytest.mark.parametrize("coupling", [Penalty(), Glued(4), Centralized()], ids=["penalty", "glued", "centralized"])
def test_what_it_remembers_is_saved_restored_and_repeated(coupling, tmp_path):
    model = gripper()
    assert Assembly.from_data(model.to_data()).to_data() == model.to_data()
    with Simulation(model, 1e-3, coupling) as simulation:
        whole = simulation.run(0.05)
        memory = simulation.system.force_home["hand"].stack.store[0].copy()
    with Simulation(gripper(), 1e-3, coupling) as simulation:
        simulation.run(0.022, checkpoints=Checkpoints(tmp_path / "half", every=0.0))  # between two decisions
    with resume(tmp_path / "half") as simulation:
        assert simulation.run(0.05).digest == whole.digest
        assert np.array_equal(simulation.system.force_home["hand"].stack.store[0], memory)
    with Simulation(gripper(), 1e-3, coupling) as simulation:
        for _ in range(50):
            simulation.step()
        assert simulation.recorded.digest == whole.digest
    with Simulation(gripper(), 1e-3, coupling) as simulation:
        simulation.run(0.05, checkpoints=Checkpoints(tmp_path / "whole", every=0.0)).save(tmp_path / "whole")
    again = rewind(tmp_path / "whole", 30)
    assert np.array_equal(again.position("finger.tip"), whole.position("finger.tip")[-31:])


def test_a_controller_is_described_by_a_line_of_text():
    text = "controller(function='my:law', inputs={lean: anglebetween(first=ground, second='pole.foot')}, every=5)"
    found = read_component(Force, text, "force")
    assert found == Controller("my:law", {"lean": AngleBetween("ground", "pole.foot")}, every=5)


@pytest.mark.parametrize("coupling", [Penalty(), Glued()], ids=["penalty", "glued"])
def test_decisions_have_the_same_bits_among_workers(coupling):
    """The whole is taken back for each of them."""
    both_ways.same(lambda: cart(every=10), 1e-3, 0.04, {"one": ["cart"], "two": ["pole"]}, coupling)


def test_what_was_cut_carries_nothing_and_what_is_read_keeps_its_name():
    with Simulation(watched(2), 1e-3) as simulation:
        simulation.run(0.01)
        with pytest.raises(ModelError, match="'body' cannot be renamed: a sensor of 'watch'"):
            with_names(simulation, {"body": "arm"})
        simulation.cut("hinge")
        simulation.run(0.02)
        assert np.abs(simulation.system.force_home["watch"].stack.store[0, 2:4]).max() == 0.0


def test_what_cannot_be_is_refused_by_name():
    with (
        Simulation(cart(law="control_laws:wrong"), 1e-3) as simulation,
        pytest.raises(ModelError, match=r"'drive'.*nan"),
    ):
        simulation.run(0.05)
    with Simulation(cart(law=lambda t, readings, memory: readings["speed"]), 1e-3) as simulation:
        with pytest.raises(ModelError, match=r"'drive'.*KeyError"):
            simulation.run(0.05)
        assert any("cannot be imported" in text for text in simulation.recorded.obstacles)
    with pytest.raises(ModelError, match="module:function"):
        Simulation(cart(law="control_laws:nothing"), 1e-3)
    model = cart()
    for text, data in (
        ("every = 0", {"every": 0}), ("give a sensor", {"inputs": {"x": 3.0}}), ("memory", {"memory": (np.nan,)}),
        ("function = 3", {"function": 3}),
    ):  # fmt: skip
        with pytest.raises(ModelError, match=f"controller 'again'.*{text}"):
            model.apply("again", Controller(**{"function": "control_laws:note", **data}), "cart.pin", "pole.foot")
    model.remove("drive")
    model.apply("drive", Controller("control_laws:note", {"x": Accelerometer("cart.pen")}), "cart.pin", "pole.foot")
    with Simulation(model, 1e-3) as simulation, pytest.raises(ModelError, match=r"cart.*pen"):
        simulation.run(0.01)
    assert Component.from_data(Controller.example().to_data()).to_data() == Controller.example().to_data()


# --- seconds ---------------------------------------------------------------------------------------------------------


def test_a_period_in_seconds_is_the_same_controller_at_every_step():
    """Ticks are another one at another step: at a tenth of it the cart was asked ten times as often, and went elsewhere."""
    ways = []
    for dt in (2e-3, 1e-3, 5e-4):
        with Simulation(cart(every=1, period=control_laws.PERIOD), dt, Glued(4)) as simulation:
            ways.append(simulation.run(0.2).position("pole.tip")[-1])
    assert np.abs(ways[0] - ways[2]).max() < 1e-8
    with Simulation(cart(every=10), 1e-3, Glued(4)) as simulation:
        assert (simulation.run(0.2).position("pole.tip")[-1] == ways[1]).all()


@pytest.mark.parametrize(
    ("pace", "dt", "words"),
    [
        ({"period": 0.01, "every": 2}, 1e-3, "every = 2 and period = 0.01; give ticks or seconds"),
        ({"period": -1.0}, 1e-3, "period = -1.0; give a positive time"),
        (
            {"period": 0.01},
            3e-3,
            "period = 0.01 s is not a whole number of steps of 0.003 s; take a step .* dt = 0.0025",
        ),
        ({"period": 1e-4}, 1e-3, "period = 0.0001 s is not a whole number of steps of 0.001 s; take .* dt = 0.0001"),
    ],
)
def test_periods_that_are_none_are_refused_with_a_step_that_divides_them(pace, dt, words):
    with pytest.raises(ModelError, match=words):
        Simulation(cart(**{"every": 1, **pace}), dt).run(0.02)


@pytest.mark.parametrize("period", [0.0105, 0.01, 1 / 3, 0.0123456789, 7e-4])
def test_the_step_that_a_refusal_names_is_taken(period):
    with pytest.raises(ModelError) as refusal, Simulation(cart(every=1, period=period), 1.1e-3) as simulation:
        simulation.run(0.002)
    step = float(str(refusal.value).rpartition("dt = ")[2].removesuffix(" s."))
    assert step <= 1.1e-3
    with Simulation(cart(every=1, period=period), step) as simulation:
        simulation.run(3 * step)
