"""A hand draws a point of a body to a target that moves: closed forms, books, and the same bits however it is run."""

from dataclasses import dataclass

import numpy as np
import pytest

import references
import scenarios
from both_ways import scattered
from campaign import each_once, first_of, named
from components import Hand, Law, Load, Revolute, RigidBody, Rod, Spherical, SpringDamper
from coordinator import HHT, Centralized, Glued, Mixed, Penalty, Relaxed, Run, Simulation, rerun, resume
from coordinator.checks.exact import exact_margin
from coordinator.continuation.resume import latest
from coordinator.events.grip import grip, seen_mass_at
from foreign import Particle, Particles, Wire, pendulum
from modular import Apply, Assembly, ModelError
from modular.events import Event

COUPLINGS = {
    "penalty": Penalty(),
    "glued": Glued(),
    "relaxed": Relaxed(),
    "mixed": Mixed(),
    "mixed in steps": Mixed(steps={"held": 3}),
    "centralized": Centralized(HHT(alpha=0.0)),
}
FROM, TO = np.array((0.4, -0.3, 0.2)), np.array((-0.1, 0.5, 0.6))
MASS, W = 1.7, 6.0


def ball(dimension, velocity=(0.0, 0.0, 0.0)):
    """A point mass."""
    at, inertia = tuple(FROM[:dimension]), 0.0 if dimension == 2 else (0.0, 0.0, 0.0)
    return RigidBody(mass=MASS, inertia=inertia, centre=at, ports={"here": at}, velocity=velocity[:dimension])


def rod(dimension):
    """A slender rod with its middle where the ball would be."""
    along = np.array((0.5, 0.3, -0.4))[:dimension]
    return Rod(tuple(FROM[:dimension] - along), tuple(FROM[:dimension] + along), MASS)


def held(body, dimension, hand, port):
    model = Assembly(gravity=(0.0,) * dimension)
    model.add("held", body)
    model.apply("hand", hand, port)
    return model


def critical(mass=MASS, most=1e6, **more):
    return Hand(stiffness=mass * W**2, damping=2.0 * mass * W, most=most, **more)


# --- the law -------------------------------------------------------------------------------------------------------------


@pytest.mark.short(1)
@pytest.mark.parametrize(("dimension", "coupling"), each_once([2, 3], COUPLINGS.values()), ids=named)
def test_what_is_held_comes_to_the_target_as_a_critically_damped_oscillator(coupling, dimension):
    """x - target = (x0 - target) (1 + w t) exp(-w t): a point mass at its port, a rod in its middle."""
    start, target = FROM[:dimension], TO[:dimension]
    for body, port, point in ((ball(dimension), "held.here", None), (rod(dimension), "held.start", tuple(start))):
        errors = []
        for dt in (5e-3, 2.5e-3):
            model = held(body, dimension, critical(point=point, target=tuple(target)), port)
            with Simulation(model, dt, coupling) as simulation:
                run = simulation.run(0.8)
            t = run.time[:, None]
            law = target + (start - target) * (1.0 + W * t) * np.exp(-W * t)
            errors.append(np.abs(run.mass_centre("held") - law).max())
        assert references.orders(errors).min() >= 1.9
        assert errors[-1] < 1e-4  # C dt^2


@pytest.mark.parametrize("coupling", [Penalty(), Glued(), Centralized(HHT(alpha=0.0))], ids=lambda c: type(c).__name__)
def test_jumps_of_the_target_leave_the_order_and_the_sample_shows_the_state_after_them(coupling):
    """Each stretch is x - target = (b + (v0 + w b) t) exp(-w t) from where the last one has led."""
    targets, errors = np.array(((0.5, 0.2), (-0.3, 0.7), (0.1, -0.4), (0.6, 0.6))), []
    for dt in (8e-3, 4e-3):
        x, v, law = FROM[:2], np.zeros(2), []
        with Simulation(held(ball(2), 2, critical(), "held.here"), dt, coupling) as simulation:
            for k, target in enumerate(targets):
                b, t = x - target, dt * np.arange(1, round(0.24 / dt) + 1)[:, None]
                law.append(target + (b + (v + W * b) * t) * np.exp(-W * t))
                end = np.exp(-W * 0.24)
                x, v = law[-1][-1], end * (v - W * (v + W * b) * 0.24)
                simulation.aim("hand", target)
                here, speed, acceleration = simulation.port_motion("held.here")
                expected = -(W**2) * (here - target) - 2.0 * W * speed
                assert acceleration == pytest.approx(expected, rel=1e-9)
                assert simulation.recorded.acceleration("held.here")[-1] == pytest.approx(expected, rel=1e-9)
                simulation.run(0.24 * (k + 1))
        errors.append(np.abs(simulation.recorded.position("held.here")[1:] - np.concatenate(law)).max())
    assert references.orders(errors).min() >= 1.9


def test_without_a_target_it_holds_on_where_it_has_taken_hold():
    """The first pull is none, wherever on the body that was; left to itself nothing moves."""
    for body, port, point in (
        (ball(3), "held.here", None),
        (rod(3), "held.start", tuple(FROM + np.array((0.05, 0.03, -0.04)))),
    ):
        with Simulation(held(body, 3, critical(point=point), port), 1e-3) as simulation:
            run = simulation.run(0.1)
            hands = simulation.system.force_home["hand"].stack
            assert hands.target[0] == pytest.approx(FROM if point is None else point, abs=1e-15)
        assert np.ptp(run.position(port), axis=0).max() < 1e-15  # rounding
        assert abs(run.work("hand")[-1]) < 1e-25


def test_the_pull_is_never_more_than_the_most_and_then_mass_times_acceleration():
    """x = F t^2 / 2 m while the pull is shortened; afterwards, and through jumps and turns, it stays below."""
    most, target = 12.0, FROM[:2] + np.array((60.0, 80.0))
    with Simulation(held(ball(2), 2, critical(most=most, target=tuple(target)), "held.here"), 1e-3) as simulation:
        run = simulation.run(0.5)
        far = FROM[:2] + 0.5 * most / MASS * np.outer(run.time**2, (0.6, 0.8))
        assert run.position("held.here") == pytest.approx(far, abs=1e-12)
        assert run.acceleration("held.here") == pytest.approx(np.tile((0.6 * most / MASS, 0.8 * most / MASS), (501, 1)))
        element, pulls = simulation.system.force_home["hand"].starts[0], []
        rng = np.random.default_rng(5)
        for k in range(1500):
            if k % 150 == 0:
                simulation.aim("hand", rng.normal(scale=1.0 if k < 900 else 0.02, size=2))
            simulation.step()
            pulls.append(np.linalg.norm(simulation.system.elements.force[element]))
    assert max(pulls) <= most * (1.0 + 1e-15)  # rounding of the square root
    assert 0.3 < np.mean(np.array(pulls) > most * (1.0 - 1e-12)) < 0.8  # often at the limit, not always


def test_its_margin_is_that_of_the_exact_bound():
    """A hand on one point of a rod that hangs on a joint: joints leave it its share, and the local bound is safe."""
    model = Assembly(gravity=(0.0, 0.0, -9.81))
    model.add("held", rod(3))
    model.apply("hand", critical(), "held.end")
    with Simulation(model, 1e-2) as simulation:
        free = exact_margin(simulation.system, 1e-2)
        assert 0.97 * free <= simulation.margins["hand"] <= free
        before = simulation.margins["hand"]
        simulation.run(0.5)
        turned = exact_margin(simulation.system, 1e-2)
        assert turned == pytest.approx(free, rel=1e-2)  # it does not turn with the body, whose length drifts a little
        simulation.join("pin", Spherical(), "ground", "held.start")
        assert simulation.margins["hand"] < before  # the joint asks too
        assert simulation.tightest[1] <= exact_margin(simulation.system, 1e-2)
    with Simulation(model, 0.5) as simulation:
        assert simulation.tightest[0] == "hand" and simulation.tightest[1] < 1.0


# --- the ledgers -----------------------------------------------------------------------------------------------------------


def jumping(simulation, until, seed=1, scale=0.8, every=0.05):
    """Run, and let the target jump every so often."""
    rng, dimension = np.random.default_rng(seed), simulation.assembly.dimension
    while simulation.time < until - 1e-9:
        simulation.aim("hand", rng.normal(scale=scale, size=dimension))
        simulation.run(min(until, simulation.time + every))
    return simulation.recorded


@pytest.mark.parametrize("coupling", [Penalty(), Glued(), Relaxed()], ids=lambda coupling: type(coupling).__name__)
def test_what_a_point_mass_gains_the_hand_has_supplied_to_rounding(coupling):
    """Without weight and joints nothing else does work, and a tick is booked with its own forces and velocities."""
    model = held(ball(3, (0.3, 0.1, -0.2)), 3, critical(most=20.0), "held.here")
    with Simulation(model, 5e-3, coupling) as simulation:
        run = jumping(simulation, 1.0)
    ledger = run.ledger("hand")
    assert np.ptp(run.energy) > 0.3
    assert run.energy - run.energy[0] == pytest.approx(-ledger["supplied"], abs=1e-13)
    assert np.array_equal(ledger["work_first"], -ledger["supplied"])
    for line in ("stored", "dissipated", "released", "impact", "leaked"):
        assert not ledger[line].any()


@pytest.mark.parametrize("coupling", [Penalty(), Glued()], ids=lambda coupling: type(coupling).__name__)
def test_what_a_mechanism_gains_the_hand_has_supplied_to_second_order(coupling):
    """Two rods in the plane that are drawn about, jump by jump: what is open falls by four where the step is halved."""
    rests = []
    for dt in (2e-3, 1e-3, 5e-4):
        model = scenarios.load("double-pendulum")
        model.apply("hand", Hand(stiffness=60.0, damping=9.0, most=40.0, target=(0.5, 0.5)), "lower.end")
        with Simulation(model, dt, coupling) as simulation:
            run = jumping(simulation, 1.0, every=0.1)
        assert np.ptp(run.energy) > 5.0
        joints = sum(run.work(name) for name in run.joints)
        rests.append(np.abs(run.work("hand") + joints - (run.energy - run.energy[0])).max())
    assert references.orders(rests).min() >= 1.7


# --- by hand -------------------------------------------------------------------------------------------------------------


def swing():
    model = Assembly(gravity=(0.0, 0.0, -9.81))
    model.add("upper", Rod((0.0, 0.0, 0.0), (0.7, 0.1, -0.2), 1.2, 0.03))
    model.add("lower", Rod((0.7, 0.1, -0.2), (1.1, 0.3, -0.6), 0.6, 0.02))
    model.add("last", Rod((1.1, 0.3, -0.6), (1.5, 0.2, -0.9), 0.5))
    model.join("pivot", Revolute(axis=(0.1, 1.0, 0.2)), "ground", "upper.start")
    model.join("elbow", Spherical(), "upper.end", "lower.start")
    model.join("wrist", Spherical(), "lower.end", "last.start")
    return model


def grabbed(simulation):
    """Take hold of the middle of the last rod, as somebody with a mouse would."""
    point = 0.5 * (simulation.port_motion("last.start")[0] + simulation.port_motion("last.end")[0])
    hand = Hand(*grip(simulation.system, "last", point, simulation.dt), point=point)
    simulation.apply("hand", hand, "last.end")


def played(model, *settings, stop=lambda simulation: simulation, step=False, **more):
    """Grabbed, aimed here and there, and let go, with another hand beside it that goes before.

    After each aim the simulation may be put away (`stop`), and it may be taken tick by tick (`step`).
    """
    rng = np.random.default_rng(3)
    simulation = Simulation(model(), 1e-3, *settings, **more)
    try:
        simulation.run(0.05)
        simulation.apply("brace", Hand(30.0, 3.0, 8.0, target=(0.4, 0.5, -0.1)), "upper.end")
        grabbed(simulation)
        for k in range(6):
            if k == 3:
                simulation.remove("brace")
            simulation.aim("hand", np.array((1.0, 0.2, -0.6)) + rng.normal(scale=0.5, size=3))
            simulation = stop(simulation)
            until = 0.05 + 0.02 * (k + 1)
            if step:
                while simulation.tick < round(until / 1e-3):
                    simulation.step()
            simulation.run(until)
        simulation.remove("hand")
        return simulation.run(0.2)
    finally:
        simulation.close()


BITS = {"penalty": Penalty(), "glued": Glued(), "relaxed": Relaxed(), "mixed": Mixed(joints={"elbow": "penalty"})}


@pytest.mark.short(1, each=True)
@pytest.mark.parametrize("coupling", BITS.values(), ids=BITS)
def test_objects_stacks_and_chunks_give_the_same_bits_through_aims(coupling):
    run = played(swing, coupling)
    assert np.abs(run.ledger("hand")["supplied"][~np.isnan(run.ledger("hand")["supplied"])]).max() > 0.1
    for other in (played(swing, coupling, grouped=False), played(swing, coupling, step=True)):
        assert other.digest == run.digest
        assert other.events == run.events


@pytest.mark.parametrize("coupling", first_of(1, [*BITS.values(), Centralized()]), ids=named)
def test_a_target_goes_with_the_checkpoint(coupling, tmp_path):
    """Kept right after each aim, read again, and gone on with."""
    folders = iter(range(100))

    def stop(simulation):
        folder = tmp_path / str(next(folders))
        simulation.run(simulation.time, checkpoints=folder)
        simulation.close()
        return resume(folder)

    run, kept = played(swing, coupling), played(swing, coupling, stop=stop)
    assert kept.digest == run.digest
    assert (kept.events, kept.margins, kept.obstacles) == (run.events, run.margins, run.obstacles)
    assert latest(tmp_path / "0").simulation().system.force_home["hand"].stack.aimed[0] == 1


@pytest.mark.parametrize("coupling", first_of(1, [*list(BITS.values())[:3]]), ids=named)
def test_two_workers_give_the_same_bits_through_aims(coupling):
    run = played(swing, coupling)
    for workers in (2, scattered(swing(), 2)):
        other = played(swing, coupling, workers=workers, launcher="here")
        assert other.digest == run.digest
        assert other.events == run.events


@pytest.mark.campaign
def test_two_processes_give_the_same_bits_through_aims():
    assert played(swing, workers=2).digest == played(swing).digest


def test_aiming_is_no_change_of_topology_and_leaves_no_line_in_the_log():
    with Simulation(swing(), 1e-3) as simulation:
        grabbed(simulation)
        version, segments, events = (
            simulation.system.version,
            len(simulation.recorder.segments),
            list(simulation.events),
        )
        margins = len(simulation.past.margins)
        for k in range(20):
            simulation.aim("hand", (1.0 + 0.01 * k, 0.2, -0.6))
            simulation.run(0.002 * (k + 1))
        assert (simulation.system.version, len(simulation.recorder.segments)) == (version, segments)
        assert simulation.events == events and len(simulation.past.margins) == margins
        run = simulation.recorded
        assert len(run.ticks) == 41 and len(set(run.ticks)) == 41
        assert [obstacle for obstacle in run.obstacles if "apply 'hand'" in obstacle]


def test_a_run_whose_own_hand_was_aimed_by_hand_says_so_once(tmp_path):
    """The model knows the hand and not where it was aimed: repeated from its folder it would be another run."""
    model = swing()
    model.at(0.01, Apply("hand", Hand(20.0, 2.0, 30.0, target=(1.0, 0.0, 0.0)), ["last.end"]))
    with Simulation(model, 1e-3) as simulation:
        assert not simulation.run(0.02).obstacles
        for k in range(5):
            simulation.aim("hand", (0.1 * k, 0.5, 0.5))
            simulation.run(0.03 + 0.01 * k)
        run = simulation.recorded
    assert [(event["kind"], event["tick"]) for event in run.happenings] == [("apply", 10), ("aim", 20)]
    assert "by hand" in run.obstacles[0] and "aim 'hand' at 0.02 s" in run.obstacles[0]
    run.save(tmp_path)
    with pytest.raises(ModelError, match="aim 'hand'"):
        rerun(Run.load(tmp_path))


@dataclass(frozen=True)
class Beckon(Event):
    """For the test below: an event of the model that aims."""

    def apply(self, target):
        target.aim("hand", (0.2, 0.4, 0.6))


def test_a_model_may_aim_by_itself():
    model = swing()
    model.apply("hand", Hand(20.0, 2.0, 30.0), "last.end")
    model.at(0.01, Beckon())
    with Simulation(model, 1e-3) as simulation:
        run = simulation.run(0.02)
        assert simulation.system.force_home["hand"].stack.target[0].tolist() == [0.2, 0.4, 0.6]
    assert not run.happenings and not any("by hand" in obstacle for obstacle in run.obstacles)


@pytest.mark.parametrize(
    ("name", "target", "said"),
    [
        ("hnad", (0, 0, 0), "aim: there is no force 'hnad'; did you mean 'hand'"),
        ("pivot", (0, 0, 0), "aim: there is no force 'pivot'"),
        ("spring", (0, 0, 0), r"force 'spring' \(components:SpringDamper\) has no target"),
        ("hand", (0.0, 1.0), r"'hand': target = \(0.0, 1.0\); give 3 finite numbers"),
        ("hand", (0.0, 1.0, float("nan")), "'hand': target = .*nan.*; give 3 finite numbers"),
        ("hand", "there", "'hand': target = 'there'; give 3 finite numbers"),
        ("hand", 3.0, "'hand': target = 3.0; give 3 finite numbers"),
    ],
)
def test_targets_that_are_none_are_refused_and_change_nothing(name, target, said):
    def end(wrong):
        with Simulation(swing(), 1e-3) as simulation:
            grabbed(simulation)
            simulation.apply("spring", SpringDamper(5.0), "upper.end", "last.end")
            simulation.run(0.01)
            if wrong:
                with pytest.raises(ModelError, match=said):
                    simulation.aim(name, target)
            return simulation.run(0.02)

    one, two = end(True), end(False)
    assert one.digest == two.digest and one.events == two.events


def moody(t, x, v):
    """A law that has no answer while the hand pulls hard."""
    if MOOD:
        raise RuntimeError("not now")
    return 0.0, 0.0, 0.1


MOOD: list[int] = []


def test_an_aim_that_cannot_settle_leaves_the_old_target():
    def end(wrong):
        model = swing()
        model.apply("moody", Load(Law(moody)), "last.end")
        with Simulation(model, 1e-3) as simulation:
            grabbed(simulation)
            simulation.run(0.01)
            if wrong:
                MOOD.append(1)
                with pytest.raises(ModelError, match="not now"):
                    simulation.aim("hand", (5.0, 5.0, 5.0))
                MOOD.clear()
            return simulation.run(0.02)

    assert end(True).digest == end(False).digest


def test_wrong_hands_are_refused_by_name():
    for wrong, said in (
        (Hand(-1.0, 1.0, 5.0), "hand 'hand': stiffness = -1.0; give a finite number from 0 on"),
        (Hand(1.0, float("nan"), 5.0), "hand 'hand': damping = nan"),
        (Hand(1.0, 1.0, 0.0), "hand 'hand': most = 0.0; give the largest pull"),
        (Hand(1.0, 1.0, "much"), "hand 'hand': most = 'much'"),
        (Hand(1.0, 1.0, 5.0, point=(0.0, 1.0)), "hand 'hand': point = .*give 3 finite numbers"),
        (Hand(1.0, 1.0, 5.0, target="there"), "hand 'hand': target = 'there'; give 3 finite numbers"),
    ):
        with pytest.raises(ModelError, match=said):
            swing().apply("hand", wrong, "last.end")
    model = swing()
    model.apply("hand", Hand(1.0, 1.0, 5.0, point=(1.3, 0.4, -0.7)), "last.end")
    with pytest.raises(ModelError, match=r"hand 'hand': body 'last' cannot follow the point \(1.3, 0.4, -0.7\).*line"):
        Simulation(model, 1e-3)


# --- the mass in the hand ------------------------------------------------------------------------------------------------


def alone(body):
    model = Assembly(gravity=(0.0, 0.0, -9.81)[3 - body.dimension :])
    model.add("held", body)
    return Simulation(model, 1e-3)


@pytest.mark.parametrize("dimension", [2, 3])
def test_a_ball_shows_its_mass_and_a_rod_at_its_end_a_quarter(dimension):
    """m at the centre; at the end of a uniform rod 1/m + (l/2)^2 / (m l^2 / 12) = 4/m across, 1/m along."""
    with alone(ball(dimension)) as simulation:
        assert seen_mass_at(simulation.system, "held", FROM[:dimension]) == pytest.approx(MASS, rel=1e-14)
    inertia = 0.4 if dimension == 2 else (0.4, 0.4, 0.4)
    sphere = RigidBody(
        mass=MASS, inertia=inertia, centre=(0.1, 0.2, 0.3)[:dimension], ports={"here": (0.0,) * dimension}
    )
    with alone(sphere) as simulation:
        assert seen_mass_at(simulation.system, "held", (0.1, 0.2, 0.3)[:dimension]) == pytest.approx(MASS, rel=1e-12)
        off = (0.1, 0.2 + 0.5, 0.3)[:dimension]
        assert seen_mass_at(simulation.system, "held", off) == pytest.approx(1 / (1 / MASS + 0.25 / 0.4), rel=1e-12)
    with alone(rod(dimension)) as simulation:
        simulation.run(0.1)
        start, end = (simulation.port_motion(f"held.{port}")[0] for port in ("start", "end"))
        for share in (-1.0, -0.4, 0.0, 0.7, 1.0):  # from the middle, of half the length
            point = 0.5 * (start + end) + 0.5 * share * (end - start)
            expected = MASS / (1.0 + 3.0 * share**2)
            assert seen_mass_at(simulation.system, "held", point) == pytest.approx(expected, rel=1e-9)


class Silent(Particles):
    """They do not say how they give way."""

    respond = None


def test_a_body_in_plain_python_is_asked_and_one_that_does_not_answer_shows_its_mass():
    with Simulation(pendulum(Particle(1.3, (0.3, 0.8, 0.0), (0.2, 0.0, 0.0)), Wire(0.8)), 1e-3) as simulation:
        stack, point = simulation.system.body_home["bob"], (0.3, 0.8, 0.0)
        shown = [list(rows) for rows in stack.shown]
        stack.kilos = [1.1]  # as it answers now
        assert seen_mass_at(simulation.system, "bob", point) == pytest.approx(1.1)
        assert stack.shown == shown
        stack.__class__ = Silent
        assert seen_mass_at(simulation.system, "bob", point) == 1.3


@pytest.mark.short(1)
@pytest.mark.parametrize("coupling", BITS.values(), ids=BITS)
def test_asking_for_a_seen_mass_leaves_everything_untouched_to_the_bit(coupling):
    def run(ask):
        with Simulation(swing(), 1e-3, coupling) as simulation:
            for k in range(12):
                simulation.run(0.01 * (k + 1))
                if ask:
                    system = simulation.system
                    tables = (*system.bodies, *system.joints, system.elements)
                    before = [table.copy_rows() for table in tables], system.version, len(simulation.recorder.segments)
                    free = {count: list(rows) for count, rows in system.elements._free.items()}
                    for body in ("upper", "lower", "last"):
                        seen_mass_at(system, body, simulation.port_motion(f"{body}.end")[0])
                    after = [table.copy_rows() for table in tables], system.version, len(simulation.recorder.segments)
                    for one, two in zip(before[0], after[0], strict=True):
                        assert all(np.array_equal(one[name], two[name], equal_nan=True) for name in one)
                    assert before[1:] == after[1:] and free == system.elements._free
                if k == 5:
                    simulation.cut("wrist")
            return simulation.recorded

    asked, silent = run(True), run(False)
    assert asked.digest == silent.digest and asked.events == silent.events


def test_a_grip_is_critically_damped_on_what_it_sees_and_can_carry_the_body():
    with Simulation(swing(), 1e-3) as simulation:
        system, point = simulation.system, simulation.port_motion("upper.end")[0]
        mass = seen_mass_at(system, "upper", point)
        k, c, most = grip(system, "upper", point, 1e-3)
        assert np.sqrt(k / mass) == pytest.approx(2 * np.pi * 2.0)
        assert c == pytest.approx(2.0 * np.sqrt(k * mass))
        assert most == pytest.approx(60.0 * mass + 1.2 * 9.81)
        k, c, _ = grip(system, "upper", point, 0.02)
        assert np.sqrt(k / mass) * 0.02 == pytest.approx(0.05)  # the step is too long for 2 Hz
        for wrong in ({"dt": 0.0}, {"dt": 1e-3, "hertz": -1.0}):
            with pytest.raises(ModelError, match=r"grip: .*positive"):
                grip(system, "upper", point, **wrong)
        for body, place, said in (
            ("uper", point, "no body 'uper'; did you mean 'upper'"),
            ("upper", (0.0, 1.0), "'upper': point = .*give 3 finite numbers"),
            ("last", (0.0, 3.0, 0.0), r"body 'last' cannot follow the point \(0.0, 3.0, 0.0\)"),
        ):
            with pytest.raises(ModelError, match=said):
                seen_mass_at(system, body, place)


def stiffnesses(simulation):
    return np.array(
        [home.stack.stiffness[home.stack.row[name], 0, 0] for name, home in simulation.system.joint_home.items()]
    )


@pytest.mark.parametrize("name", ["double-pendulum", "chain", "slider-crank"])
def test_a_grip_holds_on_to_any_body_of_a_mechanism_and_leaves_the_joints_stable(name):
    model = scenarios.load(name)
    dt = model.suggested.get("dt", 1e-3)
    for body in list(model.bodies)[:3]:
        with Simulation(model, dt) as simulation:
            port = f"{body}.{model.bodies[body].port_names[-1]}"
            at = simulation.port_motion(port)[0]
            before = stiffnesses(simulation)
            simulation.apply("hand", Hand(*grip(simulation.system, body, at, dt)), port)
            assert simulation.tightest[1] >= 1.0
            assert min(stiffnesses(simulation) / before) > 0.85  # a tenth of the bound goes to the hand
            simulation.run(100 * dt)
            simulation.aim("hand", at + 0.3)
            run = simulation.run(400 * dt)
            assert np.isfinite(run.energy).all()
            assert max(np.abs(run.violation(joint)).max() for joint in run.joints) < 1e-2
