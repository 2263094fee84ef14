"""Forces that begin, end, hold or bend within ticks: the order in the step that a run with them has is that which it declares."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from both_ways import scattered
from campaign import later, named
from components import (
    Bushing,
    Clearance,
    Contact,
    Friction,
    HalfSpace,
    Hand,
    Load,
    Moment,
    Motor,
    Ramp,
    Regulator,
    Revolute,
    RigidBody,
    Rod,
    Smooth,
    Sphere,
    SpringDamper,
    Stop,
    Table,
    TableSpring,
    TorsionSpring,
)  # fmt: skip
from coordinator import Checkpoints, Glued, Penalty, Relaxed, Simulation, resume
from coordinator.couplings.compositions import order_of
from modular import Apply, Assembly, ModelError

STEPS = (8e-3, 4e-3, 2e-3, 1e-3, 5e-4)
UNTIL = 0.56
TIMES = (0.0, 0.1237, 0.3119, 1.0)


def swung(force, *ports, spin=2.0, **settings):
    """A rod that is thrown upwards about a pin and comes back, and a force on it."""
    model = Assembly(gravity=(0.0, -9.81))
    model.add("rod", Rod((0, 0), (1, 0), 1.0, angular_velocity=spin, velocity=(0, 0.5 * spin)))
    model.join("pin", Revolute(), "ground", "rod.start")
    model.apply("force", force, *(ports or ("ground", "rod.start")), **settings)
    return model


def flown(force, place, velocity=(0.0, 0.0)):
    """A body that falls onto something."""
    model = Assembly(gravity=(0.0, -9.81))
    body = RigidBody(mass=1.0, inertia=0.01, centre=place, ports={"end": place}, velocity=velocity)
    model.add("rod", body)
    model.apply("force", force, "ground", "rod.end")
    return model


# what acts, and of which order in the step it lets a run be
CASES = {
    "spring": (lambda: swung(SpringDamper(50.0, 2.0, length=0.6), "ground", "rod.end", at=(1.0, 0.6)), None),
    "torsion spring": (lambda: swung(TorsionSpring(20.0, 0.3)), None),
    "bent spring": (lambda: swung(TableSpring((-1.0, 0.05, 0.13, 0.5), (-9.0, -1.0, 6.0, 9.0))), 2),
    "straight table": (lambda: swung(TableSpring((-1.0, 0.0, 0.5), (-8.0, 0.0, 4.0))), None),
    "bushing": (lambda: swung(Bushing((300.0, 200.0), 2.0, 5.0, 0.1), "ground", "rod.end"), None),
    "motor": (lambda: swung(Motor(3.0, no_load=10.0)), None),
    "smooth motor": (lambda: swung(Motor(Smooth(TIMES, (0.0, 4.0, -2.0, -2.0)))), None),
    "motor at its most": (lambda: swung(Motor(target=Ramp(2.0), stiffness=300.0, damping=10.0, most=4.0)), 2),
    "regulator": (lambda: swung(Regulator(20.0, 5.0, 2.0, 0.3), "ground", "rod.start", "rod.end"), None),
    "regulator at its most": (
        lambda: swung(Regulator(60.0, 5.0, 2.0, 0.3, most=6.0), "ground", "rod.start", "rod.end"), 2
    ),
    "hand": (lambda: swung(Hand.example(2), "rod.end"), 2),
    "moment by a table": (lambda: swung(Moment(Table(TIMES, (0.0, 4.0, -2.0, -2.0))), "rod.start"), 2),
    "load by a table": (lambda: swung(Load(Table(TIMES, ((0, 0), (0, 4), (1, -2), (0, -2)))), "rod.end"), 2),
    "viscous friction": (lambda: swung(Friction(0.0, 0.3)), None),
    "dry friction": (lambda: swung(Friction(2.0)), 2),
    "dry friction from rest": (lambda: swung(Friction(2.0), spin=0.0), 2),
    "dry friction that sticks": (lambda: swung(Friction(6.0)), 2),
    "dry friction that holds more than it slides with": (lambda: swung(Friction(2.0, static=3.0)), 1),
    "elastic friction": (lambda: swung(Friction(2.0, stiffness=300.0)), 2),
    "stop": (lambda: swung(Stop(low=-0.3)), 1),
    "elastic stop": (lambda: swung(Stop(low=-0.3, stiffness=1e3)), 2),
    "stop with restitution": (lambda: swung(Stop(low=-0.3, restitution=0.5)), 1),
    "clearance": (lambda: flown(Clearance(2e-2, restitution=0.5), (0.0, 0.0)), 1),
    "elastic clearance": (lambda: flown(Clearance(2e-2, stiffness=2e3, restitution=1.0), (0.0, 0.0)), 2),
    "contact": (lambda: flown(Contact(HalfSpace(), Sphere(0.1), 0.3, 0.8), (0.0, 0.3), (0.5, 0.0)), 2),
    "contact with a damper": (lambda: flown(Contact(HalfSpace(), Sphere(0.1), stiffness=500.0), (0.0, 0.3)), 1),
}  # fmt: skip
COUPLINGS = [Penalty(), Glued(), Glued(4), Relaxed()]
PRODUCT = [(name, coupling) for name in CASES for coupling in COUPLINGS]
SHORT = [("dry friction", Penalty()), ("dry friction from rest", Glued()), ("dry friction that sticks", Glued()),
         ("elastic stop", Glued()), ("stop", Penalty()), ("clearance", Glued(4)), ("contact with a damper", Glued()),
         ("regulator", Glued(4)), ("straight table", Glued(4)), ("motor at its most", Relaxed())]  # fmt: skip


def spread(model, coupling):
    """Differences of runs at steps that are halved, in the mean of time."""
    paths = []
    for dt in STEPS:
        with Simulation(model, dt, coupling, record_every=round(STEPS[0] / dt)) as simulation:
            paths.append(simulation.run(UNTIL).position("rod.end"))
    return np.array([np.sqrt(np.square(a - b).sum(axis=1).mean()) for a, b in itertools.pairwise(paths)])


@pytest.mark.filterwarnings("ignore::modular.errors.RunWarning")
@pytest.mark.parametrize(
    ("name", "coupling"), [*SHORT, *later([case for case in PRODUCT if case not in SHORT])], ids=named
)
def test_a_run_is_of_the_order_that_it_declares_or_refused(name, coupling):
    build, order = CASES[name]
    model = build()
    located = name.startswith("dry friction") and isinstance(coupling, Glued)
    declared = coupling.declared_order if order is None or located else min(order, coupling.declared_order)
    assert order_of(coupling, model) == declared
    if coupling.declared_order > 2 and ("elastic friction" in name or "contact" in name):
        with pytest.raises(ModelError, match="take order=2"):
            Simulation(model, 1e-3, coupling)
        return
    found = spread(model, coupling)  # from step to step the order jumps with where in a tick something begins
    assert found[-1] < 1e-9 or np.log2(found[0] / found[-1]) / (len(found) - 1) > declared - 0.5


@pytest.mark.campaign
def test_an_elastic_wall_acts_for_the_part_of_a_tick_in_which_it_is_touched():
    """A mass leaves a spring as fast as it came, wherever in a tick the spring was met: to second order in one bounce."""
    found = []
    for dt in (2e-3, 1e-3):
        off = []
        for k in range(7):
            model = Assembly(gravity=(0.0, 0.0))
            body = RigidBody(mass=2.0, inertia=0.1, centre=(0, 0), ports={"end": (0, 0)}, velocity=(1.0, 0.0))
            model.add("ball", body)
            way = 0.02 + k * dt / 7.0
            model.apply("wall", Stop(high=way, stiffness=2e3, measure="way", axis=(1, 0)), "ground", "ball.end")
            with Simulation(model, dt, Glued()) as simulation:
                run = simulation.run(0.2)
            off.append(abs(run.velocity("ball.end")[-1, 0] + 1.0))
        found.append(max(off))
    assert found[1] < found[0] / 6.0 and found[0] < 5e-4  # without the part that is touched 2e-3, and a fourth


@pytest.mark.parametrize("order", [4, 6])
def test_a_step_of_higher_order_keeps_it_until_a_wall_is_near_and_goes_in_even_stages_there(order):
    """A rod that falls on a stop: before, as without one, with the same bits; behind, as glued steps as long as a stage do it."""
    stages, dt, fall, end = {4: 5, 6: 9}[order], 2e-3, 0.15, 0.7
    wall, free = (swung(Stop(low=low, restitution=0.5), spin=0.0) for low in (-0.3, -3.0))
    paths = {}
    for name, model, step, coupling in (
        ("wall", wall, dt, Glued(order)), ("free", free, dt, Glued(order)), ("fine", wall, dt / stages, Glued()),
        ("coarse", wall, dt, Glued()),
    ):  # fmt: skip
        with Simulation(model, step, coupling, record_every=round(dt / step)) as simulation:
            paths[name] = simulation.run(end).position("rod.end")
    until = round(fall / dt)
    assert np.array_equal(paths["wall"][:until], paths["free"][:until])
    assert np.abs(paths["wall"] - paths["free"]).max() > 0.1
    off = {name: np.abs(paths[name] - paths["fine"]).max() for name in ("wall", "coarse")}
    assert off["wall"] < 0.4 * off["coarse"]


@pytest.mark.campaign
@pytest.mark.parametrize("coupling", [Glued(4), *later([Relaxed(4)])], ids=named)
def test_all_workers_take_even_stages_where_a_wall_of_one_of_them_is_near(coupling):
    def played(**settings):
        model = Assembly(gravity=(0.0, -9.81))
        for k, before in enumerate(("ground", "rod0.end", "rod1.end")):
            model.add(f"rod{k}", Rod((k, 0), (k + 1, 0), 1.0))
            model.join(f"pin{k}", Revolute(), before, f"rod{k}.start")
        model.apply("wall", Stop(low=-0.02, high=0.02, restitution=0.5), "rod0.end", "rod1.start")
        with Simulation(model, 1e-3, coupling, **settings) as simulation:
            return simulation.run(0.15)

    alone = played()
    assert alone.ledger("wall")["dissipated"].max() > 1e-3
    for where in ({"a": ["rod0", "rod1"], "b": ["rod2"]}, {"a": ["rod0", "rod2"], "b": ["rod1"]}):
        assert played(workers=where, launcher="here").digest == alone.digest


class Sudden(Stop):
    """A wall of somebody else's, which knows of no stages."""

    def new_stack(self, dimension):
        stack = super().new_stack(dimension)
        del stack.loops["look_ahead"]
        return stack


def test_what_begins_within_stages_and_asks_for_no_even_ones_is_refused():
    with pytest.raises(ModelError, match="force cannot; take order=2"):
        Simulation(swung(Sudden(low=-0.3)), 1e-3, Glued(4))
    with Simulation(swung(Sudden(low=-0.3)), 1e-3, Glued()) as simulation:
        assert len(simulation.run(0.01)) == 11


REVERSALS = {"springs": Penalty(), "glued": Glued(), "relaxed": Relaxed()}


@pytest.mark.parametrize("coupling", REVERSALS.values(), ids=REVERSALS)
def test_dry_friction_turns_round_within_a_tick(coupling):
    """A spring k with friction M: half swings of pi / w about M / k on one side and the other, 2 M / k less each time."""
    inertia, stiffness, dry, start = 0.2, 20.0, 0.7, 0.5
    off = []
    for dt in (4e-3, 2e-3):
        model = Assembly(gravity=(0.0, 0.0))
        model.add("disc", RigidBody(mass=1.0, inertia=inertia, centre=(0, 0), ports={"hub": (0, 0), "rim": (0.3, 0)}))
        model.join("hinge", Revolute(), "ground", "disc.hub")
        model.apply("spring", TorsionSpring(stiffness, rest=start), "ground", "disc.hub")
        model.apply("friction", Friction(dry), "ground", "disc.hub")
        with Simulation(model, dt, coupling) as simulation:
            run = simulation.run(1.6)
            ledger = simulation.ledger("friction")
        half = np.floor(run.time / (np.pi * np.sqrt(inertia / stiffness)))
        reach = start - (2.0 * half + 1.0) * dry / stiffness  # of the half swing about its own middle
        angle = start - dry / stiffness * (-1.0) ** half - reach * np.cos(run.time * np.sqrt(stiffness / inertia))
        rim = 0.3 * np.stack([np.cos(angle), np.sin(angle)], axis=-1)
        off.append(np.abs(run.position("disc.rim") - rim).max())
        assert abs(ledger["leaked"]) < 1e-3 * ledger["dissipated"]
    assert off[0] < 3e-4 and off[1] < off[0] / 3.0  # a spring that has to turn round first: 2e-3, and half of it


def braked():
    """Two arms whose hinges rub, the one against the ground thrown so that it turns round at 0.09 s."""
    model = swung(Friction(2.0))
    model.add("tip", Rod((1, 0), (1.4, 0.1), 0.3, velocity=(0.0, 2.0)))
    model.join("elbow", Revolute(), "rod.end", "tip.start")
    model.apply("rub", Friction(0.2), "rod.end", "tip.start")
    return model


@pytest.mark.parametrize(
    "coupling", [Penalty(), *later([kind(implicit_forces=False) for kind in (Glued, Relaxed)])], ids=named
)
def test_a_slide_that_turns_has_the_same_bits_step_by_step_among_workers_and_from_a_checkpoint(coupling, tmp_path):
    def played(step=False, **settings):
        with Simulation(braked(), 1e-3, coupling, **settings) as simulation:
            while step and simulation.tick < 100:
                simulation.step()
                if simulation.tick in range(60, 100, 13):
                    Checkpoints(tmp_path / f"{simulation.tick}").write(simulation)
            return simulation.run(0.13).digest

    digests = {played(), played(step=True), played(grouped=False)}
    digests.add(played(workers=scattered(braked(), 2), launcher="here"))
    for folder in sorted(tmp_path.iterdir()):
        with resume(folder) as simulation:
            digests.add(simulation.run(0.13).digest)
    assert len(digests) == 1
    assert len(list(tmp_path.iterdir())) == 4


def test_what_is_held_gives_way_by_the_square_of_the_step_and_stays():
    """A weight on an arm that is held by hardly more than it needs; a load is known after two ticks."""
    found = []
    for dt in (2e-3, 1e-3):
        model = Assembly(gravity=(0.0, -9.81))
        arm = RigidBody(mass=1.0, inertia=0.16, centre=(0.2, 0), ports={"hub": (0, 0), "end": (1, 0)})
        model.add("arm", arm)
        model.join("hinge", Revolute(), "ground", "arm.hub")
        model.apply("friction", Friction(1.01 * 9.81 * 0.2), "ground", "arm.hub")
        with Simulation(model, dt, Glued(implicit_forces=False)) as simulation:
            run = simulation.run(1.0)
        height = run.position("arm.end")[:, 1]
        found.append(abs(height[-1]))
        assert np.ptp(height[run.time > 0.5]) < 1e-12
    assert found[0] < 10.0 * 9.81 * (2e-3) ** 2 and found[1] == pytest.approx(found[0] / 4.0, rel=0.05)


def test_forces_that_are_to_come_count_for_the_order():
    model = swung(SpringDamper(50.0, 2.0, length=0.6), "ground", "rod.end", at=(1.0, 0.6))
    assert order_of(Glued(4), model) == 4
    model.at(0.1, Apply("wall", Stop(low=-0.3), "ground", "rod.start"))
    assert order_of(Glued(4), model) == 1 == order_of(Penalty(), model)


def test_an_estimate_of_higher_order_is_the_least_where_a_force_bends_within_ticks():
    """Samples tell nothing of such ticks, and no coupling of higher order helps: neither before, nor after the force has gone."""
    for leaves in (False, True):
        with Simulation(swung(Motor(9.0, most=8.0)), 0.05, Glued(4)) as simulation:
            simulation.run(0.5)
            if leaves:
                simulation.remove("force")
                simulation.run(0.6)
            found = simulation.past.estimate(simulation)
        assert found.least and found.order == 4 and "or more" in found.about
        assert "Glued(6)" not in replace(found, bent=1.0).sentence(0.05)
    with Simulation(swung(Motor(9.0)), 0.05, Glued(4)) as simulation:
        simulation.run(0.5)
        assert "Glued(6)" in replace(simulation.past.estimate(simulation), bent=1.0).sentence(0.05)
