"""Motors, stops, friction, bushings and springs along a coordinate, against closed forms."""

import numpy as np
import pytest

import references
from both_ways import scattered
from campaign import each_once, first_of, later, named
from components import (
    Bushing,
    Fixed,
    Friction,
    Law,
    Motor,
    Prismatic,
    Ramp,
    Regulator,
    Revolute,
    RigidBody,
    Sine,
    Smooth,
    Spherical,
    Stop,
    TableSpring,
    TorsionSpring,
)
from coordinator import Centralized, Checkpoints, Glued, MinimalCoordinates, Penalty, Relaxed, Simulation, resume
from coordinator.analysis import modes
from modular import Assembly, ModelError

J = 0.2
AXIS = {2: {}, 3: {"axis": (0.0, 1.0, 0.0)}}
COUPLINGS = {
    "penalty": (Penalty(), 2),
    "glued": (Glued(), 2),
    "order 4": (Glued(4), 4),
    "relaxed": (Relaxed(), 2),
    "centralized": (Centralized(MinimalCoordinates(method="RK4")), 4),
}
coupled = pytest.mark.parametrize(("coupling", "order"), COUPLINGS.values(), ids=COUPLINGS)


def disc(force, dimension=2, spin=0.0, gravity=0.0):
    """A disc of inertia J on a hinge at its middle, about y in space."""
    model = Assembly(gravity=(0.0, -gravity) if dimension == 2 else (0.0, 0.0, -gravity))
    inertia, turning = (J, spin) if dimension == 2 else ((0.15, J, 0.15), (0.0, spin, 0.0))
    middle, rim = (0.0,) * dimension, (0.3, *(0.0,) * (dimension - 1))
    ports = {"hub": middle, "rim": rim}
    model.add("disc", RigidBody(mass=1.0, inertia=inertia, centre=middle, ports=ports, angular_velocity=turning))
    model.join("hinge", Revolute(**AXIS[dimension]), "ground", "disc.hub")
    model.apply("force", force, "ground", "disc.hub")
    return model


def turned(run, dimension=2):
    arm = run.position("disc.rim") - run.position("disc.hub")
    return np.unwrap(np.arctan2(arm[:, 1], arm[:, 0]) if dimension == 2 else np.arctan2(-arm[:, 2], arm[:, 0]))


def errors_of(model, law, coupling, dimension, steps, until):
    found = []
    for dt in steps:
        with Simulation(model, dt, coupling) as simulation:
            run = simulation.run(until)
        found.append(np.abs(turned(run, dimension) - law(run.time)).max())
    return np.array(found)


@pytest.mark.short(1)
@coupled
def test_a_torsion_spring_swings_over_many_turns(coupling, order):
    """theta = v / w sin w t with an amplitude of two turns and a half; it knows where it is, whole turns included."""
    rate, dimension = 1.0, 3 if order == 4 else 2
    model = disc(TorsionSpring(J * rate**2, **AXIS[dimension]), dimension, spin=15.7 * rate)
    steps = (2e-2, 1e-2) if order == 4 else (4e-3, 2e-3)
    found = errors_of(model, lambda t: 15.7 * np.sin(rate * t), coupling, dimension, steps, 2.0)
    assert references.orders(found).min() >= order - 0.2
    assert found[-1] < (5e-4 if order == 4 else 0.075)  # of an amplitude of 15.7


@pytest.mark.short(1)
@coupled
def test_a_motor_comes_up_to_speed_along_its_line(coupling, order):
    """J w' = M_0 (1 - w / w_0): w_0 (t - tau (1 - exp(-t / tau))) with tau = J w_0 / M_0."""
    tau, dimension = J * 20.0 / 8.0, 3 if order == 2 else 2
    model = disc(Motor(8.0, no_load=20.0, **AXIS[dimension]), dimension)
    steps = (2e-2, 1e-2) if order == 4 else (4e-3, 2e-3)
    law = lambda t: 20.0 * (t - tau * (1 - np.exp(-t / tau)))  # noqa: E731
    found = errors_of(model, law, coupling, dimension, steps, 1.0)
    assert references.orders(found).min() >= order - 0.2
    assert found[-1] < (1e-3 if order == 4 else 2e-2)
    with Simulation(model, steps[-1], coupling) as simulation:
        run, ledger = simulation.run(1.0), simulation.ledger("force")
    assert run.energy[-1] == pytest.approx(-ledger["supplied"], rel=1e-3)


def test_a_motor_draws_to_its_target():
    """J e'' + c e' + k e = 0 for the error behind a ramp, for three turns; held to the most it can."""
    k, c, speed = 30.0, 2.0, 10.0
    model = disc(Motor(target=Ramp(speed), stiffness=k, damping=c))
    decay, pulse = c / (2 * J), np.sqrt(k / J - (c / (2 * J)) ** 2)
    law = lambda t: speed * (t - np.exp(-decay * t) * np.sin(pulse * t) / pulse)  # noqa: E731
    found = errors_of(model, law, Glued(), 2, (1e-2, 5e-3), 2.0)
    assert references.orders(found).min() > 1.9 and found[-1] < 2e-3
    weak = disc(Motor(target=Ramp(speed), stiffness=k, damping=c, most=0.5))
    assert errors_of(weak, lambda t: 0.5 * 0.5 / J * t**2, Penalty(), 2, (1e-3,), 0.5)[0] < 1e-6  # shape


def test_a_course_and_a_law_of_torque_do_the_same():
    course = Motor(Sine(2.0, 0.7))
    law = Motor(law=Law("references:torque"))
    runs = []
    for motor in (course, law):
        with Simulation(disc(motor), 1e-3) as simulation:
            simulation.run(0.5)
            runs.append(turned(simulation.run(1.0)))
    np.testing.assert_allclose(runs[0], runs[1], atol=1e-12)
    w = 2 * np.pi * 0.7
    exact = 2.0 / J / w * (1.0 - np.sin(w) / w)
    assert runs[0][-1] == pytest.approx(exact, rel=1e-4)


@pytest.mark.parametrize("coupling", [Penalty(), Glued(), Relaxed()], ids=["penalty", "glued", "relaxed"])
def test_dry_friction_takes_twice_its_width_from_every_half_swing(coupling):
    """A spring k with friction M: 2 M / k less on the other side each time, and an end where |k theta| < M."""
    k, dry, start = 20.0, 0.7, 0.5
    model = disc(TorsionSpring(k, rest=start))
    model.apply("friction", Friction(dry), "ground", "disc.hub")
    with Simulation(model, 1e-3, coupling) as simulation:
        run = simulation.run(6.0)
        ledger = simulation.ledger("friction")
    swing = turned(run) - start
    turns = np.flatnonzero(np.diff(np.sign(np.diff(swing))) != 0) + 1
    peaks = np.abs(swing[turns])
    due = start - 2 * dry / k * np.arange(1, len(peaks) + 1)
    moving = due > dry / k
    np.testing.assert_allclose(peaks[: moving.sum()], due[moving], atol=2e-3)  # the hold gives way by M / k_hold
    assert np.ptp(swing[run.time > 5.0]) < 1e-7  # stuck
    held = start - 2 * dry / k * (moving.sum() + 1)
    assert np.abs(swing[-1]) == pytest.approx(abs(held), abs=3e-3)
    lost = 0.5 * k * (start**2 - swing[-1] ** 2)
    assert ledger["dissipated"] + ledger["stored"] == pytest.approx(lost, rel=5e-3)


@pytest.mark.parametrize("order", [2, 4, 6])
@pytest.mark.parametrize("kind", [Penalty, Glued, Relaxed], ids=["penalty", "glued", "relaxed"])
def test_a_rotor_is_braked_by_dry_friction_as_coulomb_says_or_not_at_all(kind, order):
    """w = w_0 - M t / J; where springs hold, steps with stages that go back in time would be pushed along there."""
    model = disc(Friction(dry := 0.3), spin=3.0)
    coupling = kind() if kind is Penalty else kind(order)
    with Simulation(model, 1e-3, coupling) as simulation:
        run = simulation.run(1.0)
    assert turned(run)[-1] == pytest.approx(
        3.0 - 0.5 * dry / J, abs=2e-3 if kind is Penalty else 3e-6 if order == 2 else 1e-10
    )
    if order > 2 and kind is not Penalty:
        for sprung, other in (
            (disc(Friction(dry, stiffness=9.0)), coupling),
            (model, kind(order, implicit_forces=False)),
        ):
            with pytest.raises(
                ModelError, match=r"goes back in time in some of its stages, and .* cannot; take order=2"
            ):
                Simulation(sprung, 1e-3, other)


@pytest.mark.short(1, each=True)
@pytest.mark.parametrize(
    ("dimension", "coupling"), each_once([2, 3], [Penalty(), Glued(), Relaxed(), Centralized()]), ids=named
)
def test_a_servo_that_reads_its_own_hinge_comes_to_its_target(coupling, dimension):
    """J theta'' = P (target - theta) - D theta', read on the driven body and on no third one."""
    stiffness, damping, target = 200.0, 2.5, 0.5
    model = disc(TorsionSpring(0.0, **AXIS[dimension]), dimension)
    servo = Regulator(stiffness, derivative=damping, target=target, **AXIS[dimension])
    model.apply("servo", servo, "ground", "disc.hub", "disc.rim")
    with Simulation(model, 1e-3, coupling) as simulation:
        run = simulation.run(0.15)
    decay = damping / (2.0 * J)
    swing = np.sqrt(stiffness / J - decay**2)
    phase = swing * run.time
    exact = target * (1.0 - np.exp(-decay * run.time) * (np.cos(phase) + decay / swing * np.sin(phase)))
    assert np.abs(turned(run, dimension) - exact).max() < 2e-4
    for ports in (("ground", "ground", "disc.rim"), ("disc.hub", "ground", "disc.rim")):
        with pytest.raises(ModelError, match="different bodies"):
            model.apply("other", servo, *ports)


def test_a_stuck_hinge_does_not_creep_and_a_loaded_one_slips():
    """A weight on an arm: held where M > m g l, and sliding with (m g l - M) / J at first where not."""
    model = Assembly(gravity=(0.0, -9.81))
    ports = {"hub": (0, 0), "rim": (0.3, 0)}
    model.add("disc", RigidBody(mass=1.0, inertia=J - 0.04, centre=(0.2, 0), ports=ports))
    model.join("hinge", Revolute(), "ground", "disc.hub")
    model.apply("friction", Friction(2.1), "ground", "disc.hub")
    with Simulation(model, 1e-3) as simulation:
        run = simulation.run(4.0)
    angle = turned(run)
    assert np.abs(angle).max() < 1e-3  # what the hold gives way
    assert np.ptp(angle[run.time > 3.0]) < 1e-9
    model.remove("friction")
    model.apply("friction", Friction(1.2), "ground", "disc.hub")
    with Simulation(model, 1e-4) as simulation:
        run = simulation.run(0.05)
    fall = -(0.2 * 9.81 - 1.2) / J * 0.5 * run.time**2
    np.testing.assert_allclose(turned(run)[-1], fall[-1], rtol=2e-2)  # cos of a small angle, and the hold


@pytest.mark.parametrize("coupling", [Penalty(), Glued()], ids=["penalty", "glued"])
def test_a_slide_bounces_between_its_stops_with_their_restitution(coupling):
    """Speeds fall by e each time, whatever the stiffness and the mass."""
    model = Assembly(gravity=(0.0, 0.0))
    model.add("cart", RigidBody(mass=2.0, inertia=0.1, centre=(0, 0), ports={"here": (0, 0)}, velocity=(2.0, 0.0)))
    model.join("guide", Prismatic((1, 0)), "ground", "cart.here")
    stop = Stop(-0.1, 0.1, stiffness=2e4, restitution=0.8, measure="way", axis=(1, 0))
    model.apply("ends", stop, "ground", "cart.here")
    with Simulation(model, 2e-4, coupling) as simulation:
        run = simulation.run(1.0)
    place, speed = run.position("cart.here")[:, 0], np.abs(run.velocity("cart.here")[:, 0])
    free = np.abs(place) < 0.05
    between = [part.mean() for part in np.split(speed[free], np.flatnonzero(np.diff(np.flatnonzero(free)) > 1) + 1)]
    assert len(between) >= 5
    np.testing.assert_allclose(between, 2.0 * 0.8 ** np.arange(len(between)), rtol=0.01)


def test_a_ball_with_play_in_its_socket_is_free_within_it():
    model = Assembly(gravity=(0.0, 0.0))
    model.add("ball", RigidBody(mass=1.0, inertia=0.1, centre=(0, 0), ports={"here": (0, 0)}, velocity=(0.1, 0.05)))
    model.apply("socket", Stop(high=0.02, measure="distance"), "ground", "ball.here")
    with Simulation(model, 1e-3) as simulation:
        run = simulation.run(3.0)
    away = np.linalg.norm(run.position("ball.here"), axis=1)
    assert 0.02 < away.max() < 0.0205
    free = run.time < 0.02 / np.hypot(0.1, 0.05) - 2e-3
    np.testing.assert_allclose(away[free], np.hypot(0.1, 0.05) * run.time[free], atol=1e-14)
    speed = np.linalg.norm(run.velocity("ball.here"), axis=1)
    # what bounces off has met its spring between two ticks
    assert np.abs(speed[away < 0.02] - np.hypot(0.1, 0.05)).max() < 2e-3


@pytest.mark.campaign
def test_a_spring_with_a_table_gives_what_its_line_holds():
    """Hardening: the speed in the middle is that of the area under the line."""
    model = Assembly(gravity=(0.0, 0.0))
    ball = RigidBody(mass=0.5, inertia=0.1, centre=(0.4, 0), ports={"here": (0.4, 0)})
    model.add("ball", ball)
    model.join("guide", Prismatic((1, 0)), "ground", "ball.here")
    spring = TableSpring((-0.2, -0.1, 0.1, 0.2), (-7.0, -1.0, 1.0, 7.0), measure="way", axis=(1, 0))
    model.apply("spring", spring, "ground", "ball.here")
    model.apply("push", Motor(Smooth((0.0, 0.2), (0.0, 0.0)), measure="way", axis=(1, 0)), "ground", "ball.here")
    for speed in (1.0, 3.0):
        with Simulation(model, 5e-4, Glued()) as simulation:
            simulation.body("ball").state()["v"][0, :2] += (speed, 0.0)
            simulation.settle_anew("push", "ball")
            run = simulation.run(1.0)
        reach = np.abs(run.position("ball.here")[:, 0] - 0.4).max()
        energy = 0.5 * 0.5 * speed**2
        # 5 x^2 to 0.1, then 0.05 + (x - 0.1) + 30 (x - 0.1)^2
        x = np.sqrt(energy / 5) if energy < 0.05 else 0.1 + (-1 + np.sqrt(1 + 120 * (energy - 0.05))) / 60
        assert reach == pytest.approx(x, rel=1e-4)
        ledger = simulation.ledger("spring")
        assert run.energy[-1] + ledger["stored"] == pytest.approx(energy, rel=1e-3)


@coupled
def test_a_mass_in_a_bushing_swings_along_and_about_each_axis(coupling, order):
    """sqrt(k / m) and sqrt(k_r / J), each on its own; damped as exp(-c t / 2 m)."""
    k, c, turning = np.array((40.0, 60.0, 90.0)), 0.3, np.array((2.0, 3.0, 1.5))
    model = Assembly(gravity=(0.0, 0.0, 0.0))
    inertia, speed, spin = np.array((0.05, 0.06, 0.07)), np.array((0.2, -0.1, 0.15)), 1e-4
    model.add(
        "block",
        RigidBody(
            mass=1.3, inertia=tuple(inertia), centre=(0, 0, 0), ports={"here": (0, 0, 0), "x": (1, 0, 0), "y": (0, 1, 0)},
            velocity=tuple(speed), angular_velocity=(spin,) * 3,
        ),
    )  # fmt: skip
    model.apply("bushing", Bushing(tuple(k), c, tuple(turning)), "ground", "block.here")
    found, turns = [], []
    for dt in (4e-2, 2e-2) if order == 4 else (1e-2, 5e-3):
        with Simulation(model, dt, coupling) as simulation:
            run = simulation.run(1.0)
        t = run.time[:, None]
        decay = c / 2 / 1.3
        w = np.sqrt(k / 1.3 - decay**2)
        place = run.position("block.here")
        found.append(np.abs(place - speed / w * np.exp(-decay * t) * np.sin(w * t)).max())
        about = np.sqrt(turning / inertia)
        due = spin / about * np.sin(about * t)
        angle = np.stack([(run.position("block.y") - place)[:, 2], -(run.position("block.x") - place)[:, 2],
                          (run.position("block.x") - place)[:, 1]], -1)  # fmt: skip
        turns.append(np.abs(angle - due).max() / spin)
    assert references.orders(found)[0] >= order - 0.2 and found[-1] < (1e-6 if order == 4 else 2e-4)
    assert turns[-1] < (2e-4 if order == 4 else 2e-2)  # small angles: products of 1e-5 stay


def held_up(dimension):
    """An inverted pendulum that starts leaning, on a cart that a regulator drives by the lean of the pole."""
    side, up = np.eye(dimension)[0], np.eye(dimension)[-1]
    model = Assembly(gravity=tuple(-9.81 * up))
    foot, tip = (0.0,) * dimension, tuple(0.1 * side + 0.8 * up)
    middle = tuple(0.5 * np.array(tip))
    model.add(
        "cart", RigidBody(mass=1.0, inertia=0.1 if dimension == 2 else (0.1,) * 3, centre=foot, ports={"pin": foot})
    )
    inertia = 0.05 if dimension == 2 else (0.05, 0.06, 0.055)
    model.add("pole", RigidBody(mass=0.3, inertia=inertia, centre=middle, ports={"foot": foot, "tip": tip}))
    model.join("rail", Prismatic(tuple(side)), "ground", "cart.pin")
    model.join("hinge", Revolute(**AXIS[dimension]), "cart.pin", "pole.foot")
    sign = 1.0 if dimension == 2 else -1.0  # what leans to the side turns about -z in the plane, about y in space
    hold = Regulator(
        90.0 * sign, 40.0 * sign, 15.0 * sign, sign * np.arctan(0.125), along=tuple(side), **AXIS[dimension]
    )
    model.apply("hold", hold, "ground", "cart.pin", "pole.foot")
    return model


@pytest.mark.campaign
@pytest.mark.parametrize("dimension", first_of(1, [2, 3]))
def test_a_regulator_holds_a_pendulum_up(dimension):
    """Alike under all couplings, to their order; what it gives is the energy that comes and goes."""
    leans = {}
    for name in ("penalty", "glued", "order 4", "centralized"):
        dt = {"penalty": 1e-3, "glued": 5e-3}.get(name, 1e-2)
        with Simulation(held_up(dimension), dt, COUPLINGS[name][0]) as simulation:
            run = simulation.run(2.0)
            ledger = simulation.ledger("hold")
        pole = run.position("pole.tip") - run.position("pole.foot")
        lean = np.arctan2(pole[:, 0], pole[:, -1])
        assert abs(lean[-1]) < 0.02 < 0.12 < lean[0]  # the sum of what it leaned keeps it a little on the other side
        leans[name] = np.array([lean[run.time >= t - 1e-9][0] for t in (0.2, 0.5, 1.0, 2.0)])
        if name == "order 4":
            assert run.energy[-1] - run.energy[0] == pytest.approx(-ledger["supplied"], abs=1e-6)
    for name, error in (("penalty", 2e-4), ("glued", 2e-4), ("order 4", 1e-6)):
        np.testing.assert_allclose(leans[name], leans["centralized"], atol=error)


def towed(reads, dimension):
    """A cart on a rail that is drawn by what is read of a mass welded to it, a metre ahead; all turned a little."""
    turn = (
        np.array([[0.8, 0.6], [-0.6, 0.8]])
        if dimension == 2
        else np.linalg.qr(np.arange(9).reshape(3, 3) ** 2 + np.eye(3))[0]
    )
    if np.linalg.det(turn) < 0:
        turn[2] *= -1
    side, ahead = turn[0], tuple(turn[0])
    zero = (0.0,) * dimension
    inertia = 0.1 if dimension == 2 else (0.1, 0.1, 0.1)
    model = Assembly(gravity=zero)
    model.add("cart", RigidBody(mass=1.0, inertia=inertia, centre=zero, ports={"pin": zero}))
    model.add("mass", RigidBody(mass=0.5, inertia=inertia, centre=ahead, ports={"back": zero, "middle": ahead}))
    model.join("rail", Prismatic(tuple(side)), "ground", "cart.pin")
    model.join("weld", Fixed(), "cart.pin", "mass.back")
    target, axis = (1.3, None) if reads == "distance" else (0.3, tuple(side))
    tow = Regulator(60.0, derivative=6.0, target=target, along=tuple(side), axis=axis, reads=reads)
    model.apply("tow", tow, "ground", "cart.pin", "mass.middle")
    return model, side


@pytest.mark.short(1)
@pytest.mark.parametrize(("reads", "dimension"), each_once(["way", "distance"], [2, 3]), ids=named)
def test_a_regulator_drives_by_a_way_or_a_distance(dimension, reads):
    """m x'' = k (0.3 - x) - c x': x = 0.3 (1 - e^(-a t) (cos(w t) + a / w sin(w t)))."""
    errors = []
    for dt in (8e-3, 4e-3):
        model, side = towed(reads, dimension)
        with Simulation(model, dt, Glued()) as simulation:
            run = simulation.run(1.6)
        a, t = 6.0 / 3.0, run.time
        w = np.sqrt(60.0 / 1.5 - a * a)
        expected = 0.3 * (1.0 - np.exp(-a * t) * (np.cos(w * t) + a / w * np.sin(w * t)))
        errors.append(np.abs(run.position("cart.pin") @ side - expected).max())
    assert errors[0] < 2e-3
    assert abs(references.orders(errors)[0] - 2.0) < 0.2
    with pytest.raises(ModelError, match="reads"):
        model.apply("other", Regulator(1.0, reads="speed"), "ground", "cart.pin", "mass.middle")


def with_servo():
    """The cart with its pole, and a servo that reads the hinge between them, which it drives."""
    model = held_up(3)
    model.apply("servo", Regulator(3.0, 1.0, target=0.1, **AXIS[3]), "cart.pin", "pole.foot", "pole.foot")
    return model


@pytest.mark.campaign
def test_workers_that_hold_a_part_of_a_regulator_each_have_the_same_bits():
    """Its three ports are on the ground and on two bodies, of which each is moved elsewhere; those of a servo on two bodies."""
    for coupling in (Penalty(), Glued()):
        digests = set()
        for settings in ({}, {"grouped": False}, {"workers": scattered(with_servo(), 2), "launcher": "here"}):
            with Simulation(with_servo(), 2e-3, coupling, **settings) as simulation:
                digests.add(simulation.run(0.1).digest)
        assert len(digests) == 1


def mixed_machine():
    """Everything at once, across two bodies and the ground."""
    model = Assembly(gravity=(0.0, 0.0, -9.81))
    for name, x in (("upper", 0.0), ("lower", 0.5)):
        inertia = (0.02, 0.03, 0.025)
        ports = {"start": (x, 0, 0), "end": (x + 0.5, 0, 0)}
        model.add(name, RigidBody(mass=1.0, inertia=inertia, centre=(x + 0.25, 0.01, 0), ports=ports))
    axis = (0, 1, 0)
    model.join("shoulder", Revolute(axis), "ground", "upper.start")
    model.join("elbow", Spherical(), "upper.end", "lower.start")
    model.apply("motor", Motor(3.0, no_load=15.0, axis=axis), "ground", "upper.start")
    model.apply("pads", Stop(-0.3, 0.3, stiffness=30.0, damping=0.1, axis=axis), "ground", "upper.start")
    model.apply("friction", Friction(0.2, 0.01, stiffness=40.0, axis=axis), "upper.end", "lower.start")
    model.apply("ring", Bushing(0.0, 0.0, 2.0, 0.02), "upper.end", "lower.start")
    model.apply("spring", TorsionSpring(1.0, 0.02, 0.1, axis=axis), "upper.end", "lower.start")
    return model


@pytest.mark.campaign
@pytest.mark.parametrize("coupling", [Relaxed(), *later([Penalty(), Glued()])], ids=named)
def test_single_steps_stacks_of_their_own_workers_and_checkpoints_have_the_same_bits(coupling, tmp_path):
    def played(step=False, **settings):
        with Simulation(mixed_machine(), 1e-3, coupling, **settings) as simulation:
            while step and simulation.tick < 30:
                simulation.step()
            simulation.run(0.03)
            if not settings and not step:
                Checkpoints(tmp_path).write(simulation)
            simulation.remove("spring")
            return simulation.run(0.06).digest

    digests = {played(), played(step=True), played(grouped=False)}
    digests |= {played(workers=2, launcher="here"), played(workers=scattered(mixed_machine(), 2), launcher="here")}
    with resume(tmp_path) as simulation:
        simulation.remove("spring")
        digests.add(simulation.run(0.06).digest)
    assert len(digests) == 1


@pytest.mark.parametrize(
    ("force", "said"),
    [
        (Stop(), "stop 'force': give low or high, or both"),
        (Stop(0.2, 0.1), "low must lie below high"),
        (Stop(0.0, stiffness=-1.0), "stop 'force': stiffness = -1.0; give a finite number from 0 on"),
        (Stop(0.0, restitution=1.2), "restitution from 0 to 1"),
        (Stop(0.0, measure="length"), "measure = 'length'; give one of angle, way, distance"),
        (Friction(-1.0), "friction 'force': dry = -1.0"),
        (Motor(True), "motor 'force': effort = True"),
        (Motor(target=3.0), "target = 3.0; give a course"),
        (Motor(1.0, no_load=-2.0), "a line needs two numbers of one sign"),
        (Motor(Sine((1.0, 2.0), 1.0)), "its effort has 2 numbers at each time"),
        (TorsionSpring(float("nan")), "spring 'force': stiffness = nan"),
        (TorsionSpring(1.0, axis=(0, 0, 1)), "in the plane everything turns about z"),
        (TableSpring((0.0, 0.0), (1.0, 2.0)), "give at least two places that rise"),
        (Bushing((1.0, 2.0, 3.0)), "bushing 'force': stiffness = (1.0, 2.0, 3.0)"),
    ],
)
def test_forces_that_cannot_be_are_refused_by_name(force, said):
    with pytest.raises(ModelError) as refused:
        Simulation(disc(force), 1e-3)
    assert said in str(refused.value)


def test_a_stiffness_that_the_step_should_choose_is_refused_where_no_step_limits_it():
    with pytest.raises(ModelError, match=r"Give a stiffness, Friction\(0.1, stiffness=…\), or leave"):
        Simulation(disc(Friction(0.1)), 1e-3, Centralized())
    for remedy in (Friction(0.1, stiffness=50.0), Friction(0.0, viscous=0.02)):  # both of them help
        assert np.isfinite(Simulation(disc(remedy), 1e-3, Centralized()).run(0.02).position("disc.rim")).all()


@pytest.mark.parametrize("coupling", [Penalty(), Glued(), Centralized()])
def test_friction_that_is_viscous_alone_is_a_damper_under_every_coupling(coupling):
    """To the last bit, with its ledgers and efforts; so it has modes, formulas and references, as joints of most robots do."""
    runs = [
        Simulation(disc(force, spin=4.0), 1e-3, coupling).run(0.05)
        for force in (Friction(0.0, 0.03), TorsionSpring(0.0, 0.03))
    ]
    for read in (
        lambda run: run.position("disc.rim"),
        lambda run: run.effort("force"),
        lambda run: run.ledger("force")["dissipated"],
    ):
        np.testing.assert_array_equal(*(read(run) for run in runs))
    assert np.abs(runs[0].effort("force")).max() > 0.0


def test_a_stop_that_is_open_bears_on_nothing_where_no_step_limits_it_and_one_that_touches_is_refused():
    """Limits of robots whose stiffness is left to the step: analyses ask what is where it is, and never guess a wall."""
    heavy = {"ports": {"hub": (0.0, 0.0), "rim": (0.3, 0.0)}}

    def hanging(high):
        model = Assembly(gravity=(0.0, -9.81))
        model.add("disc", RigidBody(mass=1.0, inertia=J, centre=(0.3, 0.0), **heavy))
        model.join("hinge", Revolute(), "ground", "disc.hub")
        if high is not None:
            model.apply("stop", Stop(low=-high), "ground", "disc.hub")
        return model

    free, stopped = modes(hanging(None), seek=True), modes(hanging(1.8), seek=True)  # it rests a quarter of a turn down
    np.testing.assert_allclose(stopped.eigenvalues, free.eigenvalues, rtol=1e-9)
    with pytest.raises(ModelError, match=r"'stop' is against its stop, whose stiffness .* --set stops=false"):
        modes(hanging(1.2), seek=True)
    with (
        Simulation(hanging(0.4), 4e-3, Centralized()) as simulation,
        pytest.raises(ModelError, match="is against its stop"),
    ):
        simulation.run(1.0)
    fall = Simulation(hanging(None), 4e-3, Centralized()).run(1.0)
    kept = simulation.recorded
    assert -0.4 < turned(kept)[-1] < -0.38  # it came to the wall, as without it, and not further
    np.testing.assert_allclose(turned(kept), turned(fall)[: len(kept)], atol=1e-12)
