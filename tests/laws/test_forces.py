"""Forces against closed forms and references; second order also where they depend on velocity or time."""

import re
import warnings
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

import references
import zoo
from components import (
    DrivenRotation,
    Law,
    LedBody,
    Load,
    Moment,
    Motor,
    Revolute,
    RigidBody,
    Rod,
    Sine,
    Spherical,
    SpringDamper,
    Table,
)  # fmt: skip
from coordinator import Centralized, Glued, Penalty, Relaxed, Run, Simulation, UnseenWarning
from modular import Assembly, Diverged, ModelError
from modular.force import Force
from modular.forces import ForceStack
from modular.ledger import supply_loop
from modular.loop import NO_FAILED_ROW, loop

STEPS = (4e-3, 2e-3, 1e-3)


def bob(at, mass=1.0, velocity=(0.0, 0.0)):
    """A point mass with one port."""
    return RigidBody(mass=mass, inertia=0.0, centre=at, ports={"here": at}, velocity=velocity)


def errors_against(model, port, reference, until=2.0, interval=0.02):
    found = []
    for dt in STEPS:
        with Simulation(model, dt) as simulation:
            run = simulation.run(until)
        found.append(np.linalg.norm(run.position(port)[:: round(interval / dt)] - reference, axis=1).max())
    return found


def test_a_damped_spring_pendulum_is_second_order():
    """Dampers read v + dt a; the predicted velocity, half a step old, would make it first order."""
    k, c, rest = 60.0, 1.5, 0.8
    model = Assembly(gravity=(0.0, -9.81))
    model.add("bob", bob((0.9, -0.3), velocity=(0.4, 0.2)))
    model.apply("spring", SpringDamper(stiffness=k, damping=c, length=rest), "ground", "bob.here", at=(0.0, 0.0))

    def rates(t, y):
        x, v = y[:2], y[2:]
        length = np.hypot(*x)
        along = x / length
        return [*v, *(-(k * (length - rest) + c * (v @ along)) * along + [0.0, -9.81])]

    reference = references.solve(rates, (0.9, -0.3, 0.4, 0.2), 0.02 * np.arange(101))[:, :2]
    errors = errors_against(model, "bob.here", reference)
    assert references.orders(errors).min() >= 1.9


def test_a_dashpot_between_two_jointed_bodies_is_second_order():
    """Two pinned rods side by side, a dashpot between their ends; reference in the two angles."""
    c, gap = 4.0, 0.6
    model = Assembly(gravity=(0.0, -9.81))
    model.add("left", zoo.masses(2, (0.0, 0.0), (0.5, 0.0)))
    model.add("right", zoo.masses(2, (gap, 0.0), (gap, -0.5)))
    model.join("a", Spherical(), "ground", "left.start")
    model.join("b", Spherical(), "ground", "right.start")
    model.apply("dashpot", SpringDamper(stiffness=0.0, damping=c), "left.end", "right.end")

    def rates(t, y):
        p = np.stack([0.5 * np.sin(y[:2]), -0.5 * np.cos(y[:2])], axis=1)
        turn = np.stack([0.5 * np.cos(y[:2]), 0.5 * np.sin(y[:2])], axis=1)
        v = turn * y[2:, None]
        arm = p[1] + [gap, 0.0] - p[0]
        along = arm / np.hypot(*arm)
        pull = c * ((v[1] - v[0]) @ along) * along
        weight = np.array([0.0, -0.9 * 9.81])
        force = np.array([turn[0] @ (weight + pull), turn[1] @ (weight - pull)])
        return [*y[2:], *(force / (0.9 * 0.25))]

    angles = references.solve(rates, (np.pi / 2, 0.0, 0.0, 0.0), 0.02 * np.arange(51))[:, 0]
    reference = np.stack([0.5 * np.sin(angles), -0.5 * np.cos(angles)], axis=1)
    errors = errors_against(model, "left.end", reference, until=1.0)
    assert references.orders(errors).min() >= 1.9


def shake(t, x, v):
    """For the tests of laws: a force of time, place and speed."""
    return [3.0 * np.sin(5.0 * t) - 2.0 * x[0], -1.5 * v[1]]


def test_a_law_of_time_and_state_is_second_order():
    model = Assembly(gravity=(0.0, 0.0))
    model.add("bob", bob((0.2, 0.1), velocity=(0.0, 1.0)))
    model.apply("shake", Load(Law(shake)), "bob.here")
    reference = references.solve(
        lambda t, y: [*y[2:], *shake(t, y[:2], y[2:])], (0.2, 0.1, 0.0, 1.0), 0.02 * np.arange(101)
    )[:, :2]
    assert references.orders(errors_against(model, "bob.here", reference)).min() >= 1.9


def test_a_table_is_followed_between_its_times_and_held_beyond():
    model = Assembly(gravity=(0.0, 0.0))
    model.add("bob", bob((0.0, 0.0), mass=2.0))
    model.apply("ramp", Load(Table((0.5, 1.0), ((0.0, 1.0), (4.0, -1.0)))), "bob.here")
    with Simulation(model, 1e-3) as simulation:
        run = simulation.run(1.5)
    # momentum: 0.5 s of (0, 1), half a second from there to (4, -1), 0.5 s of (4, -1)
    assert run.bodies["bob"].momentum(*run.state("bob")[:2])[-1] == pytest.approx([3.0, 0.0], abs=5e-3)
    assert run.acceleration("bob.here")[750] == pytest.approx([1.0, 0.0], abs=1e-9)


def test_a_moment_turns_a_body_as_euler_says():
    flat = Assembly(gravity=(0.0, 0.0))
    flat.add("disc", RigidBody(mass=2.0, inertia=0.3, centre=(0.1, 0.2), ports={"rim": (0.6, 0.2)}))
    flat.apply("motor", Moment(0.6), "disc.rim")
    with Simulation(flat, 1e-3) as simulation:
        run = simulation.run(1.0)
    arm = run.position("disc.rim") - [0.1, 0.2]
    angle = np.unwrap(np.arctan2(arm[:, 1], arm[:, 0]))
    assert angle == pytest.approx(0.5 * 2.0 * run.time**2, abs=1e-5)  # C dt^2
    assert np.abs(run.mass_centre("disc") - [0.1, 0.2]).max() < 1e-12  # a pure moment moves no mass centre
    assert run.ledger("motor")["supplied"][-1] == pytest.approx(-0.6 * angle[-1], rel=1e-5)

    axis = zoo.rotation(3)[0]
    space = Assembly(gravity=(0.0, 0.0, 0.0))
    inertia = 0.3 * np.eye(3) + 0.2 * np.outer(axis, axis)
    space.add(
        "top", RigidBody(mass=1.0, inertia=tuple(map(tuple, inertia)), centre=(0, 0, 0), ports={"tip": (0.3, 0, 0)})
    )
    space.apply("motor", Moment(tuple(0.8 * axis)), "top.tip")
    with Simulation(space, 1e-3) as simulation:
        run = simulation.run(1.0)
    assert run.energy[-1] == pytest.approx(0.5 * 0.8**2 / 0.5, rel=1e-5)  # M^2 t^2 / (2 I)


def test_a_moment_bends_a_slender_rod_and_cannot_twist_it():
    model = Assembly(gravity=(0.0, 0.0, 0.0))
    model.add("rod", Rod((0, 0, 0), (2.0, 0, 0), 3.0))
    model.apply("motor", Moment((5.0, 0.0, 1.0)), "rod.end")
    with Simulation(model, 1e-3) as simulation:
        run = simulation.run(0.5)
    inertia = 3.0 * 4.0 / 12
    # while it has hardly turned, the component along the rod does nothing
    assert run.acceleration("rod.end")[0] == pytest.approx([0.0, 1.0 / inertia, 0.0], abs=1e-9)


def test_spring_ledgers_close_and_a_stretched_spring_brings_its_energy_along():
    model = Assembly(gravity=(0.0, 0.0))
    model.add("bob", bob((1.0, 0.0)))
    model.apply("spring", SpringDamper(stiffness=50.0, damping=0.5, length=0.6), "ground", "bob.here", at=(0.0, 0.0))
    with Simulation(model, 1e-3) as simulation:
        run = simulation.run(2.0)
        ledger = run.ledger("spring")
        assert ledger["released"][0] == pytest.approx(-0.5 * 50.0 * 0.16)
        assert np.abs(sum(ledger.values())).max() < 1e-12
        assert np.abs(ledger["leaked"]).max() < 1e-3
        assert run.energy + ledger["stored"] + ledger["dissipated"] == pytest.approx(4.0, abs=1e-3)
        simulation.remove("spring")
        assert simulation.ledger("spring")["stored"] == 0.0
        assert simulation.events[-1]["released"] == pytest.approx(ledger["stored"][-1])


def test_springs_too_stiff_for_the_step_are_named_by_their_margin():
    model = Assembly(gravity=(0.0, 0.0))
    model.add("bob", bob((1.0, 0.0)))
    model.apply("stiff", SpringDamper(stiffness=1e5), "ground", "bob.here", at=(0.0, 0.0))
    with Simulation(model, 1e-3) as simulation:  # omega dt = 0.316, limit 2
        assert simulation.margins["stiff"] == pytest.approx(2 / np.sqrt(0.1), rel=0.03)
    with Simulation(model, 1e-2, Penalty(implicit_forces=False)) as simulation:
        assert simulation.tightest[0] == "stiff" and simulation.tightest[1] < 1
    with Simulation(model, 1e-2) as simulation:
        assert simulation.tightest is None and simulation.implicit_forces == ["stiff"]


def test_springs_beside_joints_leave_the_mechanism_stable():
    """Joints give way: with a spring near its own limit on the same body the joint gets the rest of the bound."""
    model = Assembly(gravity=(0.0, -9.81))
    model.add("rod", zoo.masses(2, (0, 0), (1, 0)))
    model.join("pin", Spherical(), "ground", "rod.start")
    model.apply("stiff", SpringDamper(stiffness=1.5e6), "ground", "rod.start", at=(0.0, 1.0))
    with Simulation(model, 1e-3) as simulation:
        assert simulation.tightest[1] >= 1.0
        run = simulation.run(2.0)
    assert np.abs(run.violation("pin")).max() < 1e-2


def test_wrong_values_of_forces_are_refused_by_name():
    model = Assembly(gravity=(0.0, 0.0))
    model.add("bob", bob((1.0, 0.0)))
    for force, message in (
        (SpringDamper(stiffness=-1.0), "'f': stiffness = -1.0; give a finite number"),
        (Moment((1.0, 2.0)), "'f': moment = .* give 1 finite number"),
        (Load(Table((0.0, 1.0), ((1.0,), (2.0,)))), "give 2 finite numbers"),
    ):
        ports = ("ground", "bob.here")[2 - force.sides :]
        with pytest.raises(ModelError, match=message):
            model.apply("f", force, *ports)
    with pytest.raises(ModelError, match="rising"):
        Table((1.0, 0.0), (1.0, 2.0))
    for force, message in (
        (Load(Law("nowhere:nothing")), "cannot find 'nowhere:nothing'"),
        (Moment(1.0), "'f': 'bob' is a point mass"),
    ):
        trial = model.copy()
        trial.apply("f", force, "bob.here")
        with pytest.raises(ModelError, match=message):
            Simulation(trial, 1e-3)
    trial = model.copy()
    trial.apply("f", SpringDamper(1.0, length=0.3), "ground", "bob.here")
    with pytest.raises(ModelError, match="at one place"):
        Simulation(trial, 1e-3)
    trial = model.copy()
    trial.apply("f", Load(Law(lambda t, x, v: [1.0])), "bob.here")
    with pytest.raises(ModelError, match="'f': its law returned"):
        Simulation(trial, 1e-3)


def test_a_named_law_is_repeated_from_the_run_folder(tmp_path):
    model = Assembly(gravity=(0.0, 0.0))
    model.add("bob", bob((0.2, 0.1)))
    model.apply("shake", Load(Law("references:push")), "bob.here")
    with Simulation(model, 1e-3) as simulation:
        first = simulation.run(0.2)
    first.save(tmp_path)
    with Simulation(Run.load(tmp_path).assembly(), 1e-3) as simulation:
        second = simulation.run(0.2)
    assert np.array_equal(first.position("bob.here"), second.position("bob.here"))


def test_a_spring_that_turns_against_its_body_keeps_the_joints_stable():
    """Its share of the bound changes with its direction, also where all joints are mere points."""
    dt = 1e-3
    model = Assembly(gravity=(0.0, 0.0))
    model.add("rod", RigidBody(mass=1.0, inertia=0.02, centre=(0.5, 0), ports={"a": (0, 0), "b": (1, 0)}))
    wheel = {"mass": 1e4, "inertia": 1e5, "centre": (1.0, 0.0), "ports": {"h": (3.0, 0.0)}, "angular_velocity": 8.0}
    model.add("wheel", RigidBody(**wheel))  # its rim carries the spring's end round the tip of the rod
    model.join("pin", Spherical(), "ground", "rod.a")
    model.apply("spring", SpringDamper(stiffness=0.25 / dt**2), "rod.b", "wheel.h")
    with Simulation(model, dt) as simulation:
        run = simulation.run(0.3)
    assert np.abs(run.violation("pin")).max() < 1e-2


def test_a_spring_too_stiff_is_blamed_itself_and_the_step_proposed_holds():
    model = Assembly(gravity=(0.0, -9.81))
    model.add("rod", zoo.masses(2, (0, 0), (1, 0)))
    model.join("pin", Spherical(), "ground", "rod.start")
    model.apply("stiff", SpringDamper(stiffness=1e8), "ground", "rod.end", at=(1.0, 1.0))
    explicit = Penalty(implicit_forces=False)
    beyond = pytest.raises(Diverged, match="spring 'stiff' is beyond")
    with Simulation(model, 1e-3, explicit) as simulation, beyond as error:
        simulation.run(1.0)
    with Simulation(model, error.value.holding_step, explicit) as simulation:
        simulation.run(0.2)
    with Simulation(model, 1e-3) as simulation:  # found, it holds at any
        simulation.run(0.2)


def test_a_law_that_goes_wrong_is_named():
    model = Assembly(gravity=(0.0, 0.0))
    model.add("bob", bob((1.0, 0.0)))
    for law, message in (
        (lambda t, x, v: [1 / 0, 0], "'f': its law raised ZeroDivisionError"),
        (lambda t: [0, 0], "'f': its law raised TypeError"),
        (lambda t, x, v: None, "'f': its law returned None"),
    ):
        trial = model.copy()
        trial.apply("f", Load(Law(law)), "bob.here")
        with pytest.raises(ModelError, match=message):
            Simulation(trial, 1e-3)


@pytest.mark.short(3)
@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("coupling", [Penalty(), Glued(), Glued(4), Relaxed(), Centralized()], ids=zoo.label)
def test_a_spring_whose_ends_begin_at_one_place_swings_through_it(coupling, dimension):
    """x'' = -k/m x from the place where it has no direction; with a length of its own it would push in none, and is refused."""
    velocity, start = (1.0, 0.5, -0.7)[:dimension], (0.0,) * dimension
    inertia = 0.1 if dimension == 2 else (0.1, 0.1, 0.1)

    def model(length):
        made = Assembly(gravity=start)
        made.add("bob", RigidBody(mass=2.0, inertia=inertia, centre=start, ports={"here": start}, velocity=velocity))
        made.apply("spring", SpringDamper(200.0, length=length), "ground", "bob.here")
        return made

    dt = 4e-3 if isinstance(coupling, Centralized) else 1e-3  # its steps are Python's
    for length in (None, 0.0):
        with Simulation(model(length), dt, coupling) as simulation:
            run = simulation.run(0.4)
        exact = np.outer(np.sin(10.0 * run.time) / 10.0, velocity)
        assert np.abs(run.position("bob.here") - exact).max() < 20.0 * dt**2
    with pytest.raises(ModelError, match=r"spring 'spring'.*at one place.*leave the length out"):
        Simulation(model(0.3), 1e-3, coupling)


@pytest.mark.parametrize("seed", range(12))
def test_a_pulse_that_no_tick_sees_is_told_and_one_that_lasts_is_not(seed):
    rng, dt = np.random.default_rng(seed), 1e-3
    width = dt * 10.0 ** rng.uniform(-1.5, 1.0)
    start = rng.uniform(0.005, 0.03)
    model = Assembly(gravity=(0.0, 0.0))
    model.add("bob", bob((0.0, 0.0)))
    model.apply("push", Load(Table((start, start + width / 2, start + width), [(0, 0), (3, 0), (0, 0)])), "bob.here")
    with Simulation(model, dt) as simulation, warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        simulation.run(0.05)
        arrived = simulation.body("bob").v.ravel()[0] / (1.5 * width)
    told = [str(one.message) for one in said if issubclass(one.category, UnseenWarning)]
    assert bool(told) or abs(arrived - 1.0) < 0.21, (width, arrived)
    if width < dt / 2:
        assert len(told) == 1 and "force 'push'" in told[0] and "lasts about one step" in told[0]
    if width > 4 * dt:
        assert not told and abs(arrived - 1.0) < 0.1


def test_steps_and_corners_of_tables_are_no_pulses():
    model = Assembly(gravity=(0.0, 0.0))
    model.add("bob", bob((0.0, 0.0)))
    model.apply("step", Load(Table((0.0103, 0.0103 + 1e-9), [(0, 0), (3, 0)])), "bob.here")
    model.apply("ramp", Load(Table((0.0107, 0.0155, 0.0305), [(0, 0), (3, 1), (0, -2)])), "bob.here")
    with Simulation(model, 1e-3) as simulation, warnings.catch_warnings():
        warnings.simplefilter("error", UnseenWarning)
        simulation.run(0.05)
    assert [edge.force.unseen(1e-3, 0.0) for edge in model.force_edges.values()] == [None, None]


def test_a_pulse_that_is_put_on_while_it_moves_is_told_once():
    model = Assembly(gravity=(0.0, 0.0))
    model.add("bob", bob((0.0, 0.0)))
    with Simulation(model, 1e-3) as simulation:
        simulation.run(0.01)
        simulation.apply("push", Load(Table((0.0201, 0.0203, 0.0205), [(0, 0), (3, 0), (0, 0)])), "bob.here")
        with pytest.warns(UnseenWarning, match="force 'push' has a pulse at 0.0203 s"):
            simulation.run(0.015)
        with warnings.catch_warnings():
            warnings.simplefilter("error", UnseenWarning)
            simulation.run(0.03)


def swinging(kind, pace):
    """A rod that a motor drives, that is driven, or whose pivot is led, with a sine of so many swings in a second."""
    model, course = Assembly(gravity=(0.0, -9.81)), Sine(0.2, pace, 0.5 * np.pi)
    model.add("rod", Rod((0.0, 0.0), (1.0, 0.0), 1.0))
    if kind == "led":
        model.add("what", LedBody(turning=course, centre=(0.0, 0.0), ports={"pin": (0.0, 0.0)}))
    model.join("pin", Revolute(), "what.pin" if kind == "led" else "ground", "rod.start")
    if kind == "driven":
        model.join("what", DrivenRotation(course), "ground", "rod.start")
    if kind == "motor":
        model.apply("what", Motor(course), "ground", "rod.start")
    return model


@pytest.mark.parametrize("kind", ["motor", "driven", "led"])
def test_a_course_that_swings_too_fast_for_the_step_is_told_and_the_remedy_helps(kind):
    """Two steps to a swing show nothing of it, and half the step may show the same."""
    with Simulation(swinging(kind, 50.0), 1e-2, Glued()) as simulation:
        with pytest.warns(UnseenWarning, match="'what' swings at 50 Hz, 2 steps to a swing .* Remedy: ") as said:
            simulation.run(0.02)
        with warnings.catch_warnings():
            warnings.simplefilter("error", UnseenWarning)
            simulation.run(0.04)
    told = next(str(one.message) for one in said if issubclass(one.category, UnseenWarning))
    step = float(re.search(r"step of (\S+) s", told)[1])
    for pace, dt in ((50.0, step), (1.0, 1e-2)):
        with Simulation(swinging(kind, pace), dt, Glued()) as simulation, warnings.catch_warnings():
            warnings.simplefilter("error", UnseenWarning)
            simulation.run(2 * dt)


@dataclass(frozen=True)
class Magnet(Force):
    """Two poles that attract each other by `strength` / r^2, as docs/extending.md tells how to write a force."""

    strength: float  # [N m^2]
    sides: ClassVar[int] = 2

    def check(self, name, dimension):
        return []

    def new_stack(self, dimension):
        return Magnets(dimension)

    def marks(self, name, sides):
        return [[side.point(side.position)] for side in sides]

    @classmethod
    def example(cls, dimension=3):
        return cls(0.3)


class Magnets(ForceStack):
    requests_demand = turns = False

    def __init__(self, dimension):
        super().__init__(1, 1, dimension)
        self.column("strength")
        self.loops = {"exert": magnet_loop, "account": supply_loop}

    def add(self, name, force, starts):
        row = self.add_row(name)
        self.first[row], self.second[row] = starts
        self.strength[row] = force.strength


@loop
def magnet_loop(start, stop, magnets, elements):
    for n in range(start, stop):
        a, b = elements.position[magnets.first[n]], elements.position[magnets.second[n]]
        on_a, on_b = elements.force[magnets.first[n]], elements.force[magnets.second[n]]
        square = 0.0
        for c in range(a.shape[0]):
            square += (b[c] - a[c]) ** 2
        share = magnets.strength[n] / (square * np.sqrt(square))
        for c in range(a.shape[0]):
            on_a[c] = share * (b[c] - a[c])
            on_b[c] = -on_a[c]
    return NO_FAILED_ROW


@pytest.mark.parametrize("coupling", [Penalty(), Glued()], ids=["penalty", "glued"])
def test_a_force_of_ones_own_between_two_bodies_is_booked_on_both_sides(coupling):
    """Two stars on ellipses: the work on both is the energy that they gain."""
    rests = []
    for dt in (2e-3, 1e-3):
        model = Assembly(gravity=(0.0, 0.0))
        for name, mass, x, velocity in (("heavy", 2.0, 0.0, (0.1, -0.2)), ("light", 1.0, 1.0, (0.2, 0.4))):
            ports, place = {"c": (x, 0)}, (x, 0)
            model.add(
                name,
                RigidBody(mass=mass, inertia=0.1, centre=place, ports=ports, velocity=velocity, angular_velocity=0.0),
            )
        model.apply("pull", Magnet(0.5), "heavy.c", "light.c")
        run = Simulation(model, dt, coupling).run(0.5)
        rests.append(np.abs(run.work("pull") - (run.energy - run.energy[0])).max())
    assert np.abs(run.work("pull")).max() > 5e-3
    assert rests[1] < 0.3 * rests[0] or rests[0] < 1e-12
