"""Joints that follow a course over time, against closed forms and independent references."""

import numpy as np
import pytest

import references
from both_ways import scattered
from campaign import later, named
from components import (
    DrivenDistance,
    DrivenPlace,
    DrivenRotation,
    DrivenTranslation,
    Prismatic,
    Ramp,
    Revolute,
    RigidBody,
    Rod,
    Sine,
    Smooth,
)  # fmt: skip
from coordinator import (
    GGL,
    HHT,
    AugmentedLagrangian,
    Baumgarte,
    Centralized,
    Checkpoints,
    Glued,
    Merged,
    MinimalCoordinates,
    Mixed,
    Penalty,
    Relaxed,
    Simulation,
    Substitution,
    resume,
)  # fmt: skip
from modular import Assembly, Component, Crossing, Cut, ModelError

G = 9.81
SHAKEN = Sine((0.1, 0.05), 1.1, (-np.pi / 2, np.pi / 2))


def shaken():
    """A rod on a bearing that is led around: at rest at first."""
    model = Assembly(gravity=(0.0, -G))
    model.add("rod", Rod((0, 0), (0.5, -0.5), 2.0))
    model.join("drive", DrivenPlace(SHAKEN), "ground", "rod.start")
    return model


def tip_of_shaken(times):
    """Lagrange: (l / 3) theta'' = -((g + z'') sin theta + x'' cos theta) / 2, theta from straight down."""
    length, w = np.sqrt(0.5), 2 * np.pi * 1.1

    def rates(t, y):
        x, z = 0.1 * w * w * np.cos(w * t), -0.05 * w * w * np.cos(w * t)
        return [y[1], -1.5 / length * ((G + z) * np.sin(y[0]) + x * np.cos(y[0]))]

    angle = references.solve(rates, (np.pi / 4, 0.0), times)[:, 0]
    pivot = np.stack([0.1 * (1 - np.cos(w * times)), 0.05 * (np.cos(w * times) - 1)], -1)
    return pivot + length * np.stack([np.sin(angle), -np.cos(angle)], -1)


@pytest.mark.short(1, each=True)
@pytest.mark.parametrize(
    ("coupling", "order", "steps", "error"),
    [
        (Penalty(), 2, (8e-3, 4e-3, 2e-3), 3e-4),
        (Glued(4), 4, (2e-2, 1e-2, 5e-3), 3e-9),
        (Merged(), 2, (8e-3, 4e-3, 2e-3), 3e-4),
        (Centralized(GGL()), 2, (2e-2, 1e-2), 5e-4),
        (Centralized(MinimalCoordinates(method="RK4")), 4, (4e-2, 2e-2), 2e-6),
        *later(
            [
                (Glued(), 2, (2e-2, 1e-2, 5e-3), 2e-4),
                (Relaxed(), 2, (2e-2, 1e-2, 5e-3), 2e-4),
                (Mixed(), 2, (8e-3, 4e-3, 2e-3), 3e-4),
                (Centralized(HHT(alpha=0.0)), 2, (2e-2, 1e-2), 2e-3),
                (Centralized(AugmentedLagrangian()), 2, (2e-2, 1e-2), 2e-3),
            ],
        ),
    ],
    ids=lambda value: str(value) if isinstance(value, Penalty | Glued | Centralized) else "",
)
def test_a_pendulum_on_a_bearing_that_is_led_around_moves_as_lagrange_says(coupling, order, steps, error):
    """Measured orders; the ledger: what the bearing brought is what there is more of, to the order of the scheme."""
    errors, leaks = [], []
    for dt in steps:
        with Simulation(shaken(), dt, coupling) as simulation:
            run = simulation.run(1.6)
            ledger = simulation.ledger("drive")
        errors.append(np.abs(run.position("rod.end") - tip_of_shaken(run.time))[run.time >= 0.8].max())
        leaks.append(abs(ledger["leaked"]))
        assert run.energy[-1] - run.energy[0] == pytest.approx(
            -ledger["supplied"], abs=20 * errors[-1] * G + 50 * dt**2
        )
    assert references.orders(errors).min() >= order - 0.15
    assert errors[-1] < error
    assert references.orders(leaks).min() >= min(order, 2) - 0.2  # Runge and Kutta's books are those of trapezes


@pytest.mark.campaign
def test_explicit_solvers_follow_a_drive_to_their_tolerance():
    for solver, error in ((Baumgarte(), 1e-7), (Substitution(), 1e-6)):
        with Simulation(shaken(), 1e-2, Centralized(solver)) as simulation:
            run = simulation.run(0.2)
        assert np.abs(run.position("rod.end") - tip_of_shaken(run.time)).max() < error


@pytest.mark.parametrize("dimension", [2, 3])
def test_a_motor_at_constant_speed_turns_a_rod_and_bears_its_weight(dimension):
    """Inverse dynamics: M = m g l / 2 cos(w t), for twelve turns; the ledger keeps what goes up and down."""
    speed, axis = 8.0, {2: {}, 3: {"axis": (0, 1, 0)}}[dimension]
    start, end = ((0, 0), (0.6, 0)) if dimension == 2 else ((0, 0, 0), (0, 0, 0.6))
    spin = speed if dimension == 2 else (0, speed, 0)
    middle = 0.5 * np.array(end, float)
    velocity = speed * np.array((-middle[1], middle[0]) if dimension == 2 else (middle[2], 0, -middle[0]))
    model = Assembly(gravity=(0.0, -G) if dimension == 2 else (-G, 0.0, 0.0))
    inertia = 0.05 if dimension == 2 else (0.05, 0.06, 0.02)
    model.add(
        "arm",
        RigidBody(
            mass=1.5, inertia=inertia, centre=tuple(middle), ports={"hub": start, "end": end}, velocity=tuple(velocity),
            angular_velocity=spin,
        ),
    )  # fmt: skip
    model.join("bearing", Revolute(**axis), "ground", "arm.hub")
    model.join("motor", DrivenRotation(Ramp(speed), **axis), "ground", "arm.hub")
    with Simulation(model, 1e-3, Glued(4)) as simulation:
        run = simulation.run(10.0)
    turned = speed * run.time
    tip = run.position("arm.end")
    along = tip @ np.array(end) / 0.36
    assert np.abs(along - np.cos(turned)).max() < 1e-11  # positions are closed to rounding
    lever = 1.5 * G * 0.3 * np.cos(turned)
    moment = run.reaction("motor")[:, 2] if dimension == 2 else run.reaction("motor")[:, 4]
    np.testing.assert_allclose(moment, lever, atol=1e-8)
    assert np.abs(simulation.ledger("motor")["leaked"]) < 1e-6


@pytest.mark.campaign
def test_a_jack_and_a_slide_carry_what_they_lift():
    """m (g + s'') on the way up, and s itself to rounding."""
    course = Smooth((0.0, 0.4, 1.0), (0.0, 0.3, 0.5))
    for drive, at in ((DrivenTranslation(course, axis=(0, 0, 1)), None), (DrivenDistance(course), (0.0, 0.0, -1.0))):
        model = Assembly()
        model.add("load", RigidBody(mass=3.0, inertia=(0.1, 0.1, 0.1), centre=(0, 0, 0), ports={"hook": (0, 0, 0)}))
        model.join("guide", Prismatic((0, 0, 1)), "ground", "load.hook")
        model.join("drive", drive, "ground", "load.hook", at=at)
        with Simulation(model, 1e-3, Glued()) as simulation:
            run = simulation.run(1.2)
        followed = np.array([course.at(t)[:, 0] for t in run.time])
        np.testing.assert_allclose(run.position("load.hook")[:, 2], followed[:, 0], atol=1e-13)
        # the acceleration jumps where it starts and stops
        within = (run.time > 0.002) & (np.abs(run.time - 1.0) > 0.002)
        np.testing.assert_allclose(run.reaction("drive")[within, 2], (3.0 * (G + followed[:, 2]))[within], atol=1e-9)


def arm():
    model = Assembly(gravity=(0.0, 0.0, -G))
    model.add("upper", Rod((0, 0, 0), (1, 0, 0), 1.0, radius=0.05))
    model.add("lower", Rod((1, 0, 0), (1, 0, -1), 1.0, radius=0.05))
    model.join("pivot", Revolute((0, 1, 0)), "ground", "upper.start")
    model.join("elbow", Revolute((0, 1, 0)), "upper.end", "lower.start")
    course = Smooth((0.0, 0.05, 0.1, 0.3), (0.0, 0.1, -0.1, 0.2))
    model.join("shoulder", DrivenRotation(course, axis=(0, 1, 0)), "ground", "upper.start")
    model.join("bend", DrivenRotation(Sine(0.3, 2.0), axis=(0, 1, 0)), "upper.end", "lower.start")
    return model


@pytest.mark.parametrize("coupling", [Glued(4), *later([Penalty(), Relaxed()])], ids=named)
def test_single_steps_stacks_of_their_own_and_workers_have_the_same_bits(coupling, tmp_path):
    def played(step=False, **settings):
        with Simulation(arm(), 1e-3, coupling, project_velocities=True, **settings) as simulation:
            while step and simulation.tick < 30:
                simulation.step()
            simulation.run(0.03)
            simulation.cut("bend")
            simulation.join("again", DrivenRotation(Ramp(2.0), axis=(0, 1, 0)), "upper.end", "lower.start")
            return simulation.run(0.06).digest

    digests = {played(), played(step=True), played(grouped=False)}
    digests |= {played(workers=2, launcher="here"), played(workers=scattered(arm(), 2), launcher="here")}
    assert len(digests) == 1


def test_a_drive_made_on_the_way_begins_where_its_bodies_stand():
    """It follows the change of its course from then on, wherever that stood; its speed comes by an impact."""
    with Simulation(arm(), 1e-3, Glued(), project_velocities=True) as simulation:
        simulation.run(0.1)
        simulation.cut("shoulder")
        simulation.run(0.15)
        before = simulation.recorded.position("upper.end")[-1]
        simulation.join("again", DrivenRotation(Sine(0.5, 1.0), axis=(0, 1, 0)), "ground", "upper.start")
        run = simulation.run(0.4)
        ledger = simulation.ledger("again")
    angle = np.arctan2(-run.position("upper.end")[:, 2], run.position("upper.end")[:, 0])
    due = 0.5 * (np.sin(2 * np.pi * run.time) - np.sin(2 * np.pi * 0.15)) + np.arctan2(-before[2], before[0])
    assert np.abs(angle - due)[run.time > 0.15].max() < 1e-12
    assert ledger["impact"] > 0.0 and ledger["supplied"] != 0.0
    assert abs(sum(ledger.values())) < 1e-12


@pytest.mark.parametrize("coupling", [Penalty(), Glued(), Glued(4)], ids=["penalty", "glued", "order 4"])
def test_events_on_the_way_find_drives_where_they_are_at_that_time(coupling):
    """A slide follows A sin(w t), and is let go where it passes a place: then it flies on with A w cos(w t)."""
    model = Assembly(gravity=(0.0, 0.0))
    model.add("cart", RigidBody(mass=1, inertia=0.1, centre=(0, 0), ports={"pin": (0, 0)}, velocity=(0.6 * np.pi, 0.0)))
    model.join("rail", Prismatic((1, 0)), "ground", "cart.pin")
    model.join("drive", DrivenTranslation(Sine(0.3, 1.0), axis=(1, 0)), "ground", "cart.pin")
    model.when(Crossing("cart.pin", "x", value=0.21), Cut("drive"))
    with Simulation(model, 1e-2, coupling) as simulation:
        run = simulation.run(0.3)
    cut = next(event for event in run.events if event["kind"] == "cut")
    exact = np.arcsin(0.7) / (2 * np.pi)
    # springs carry what accelerates the cart at a gap of its square of the step
    assert cut["time"] == pytest.approx(exact, abs=1e-12 if isinstance(coupling, Glued) else 5e-4)
    speed = 0.6 * np.pi * np.sqrt(1 - 0.49)
    assert run.velocity("cart.pin")[-1, 0] == pytest.approx(speed, abs=2e-2 if coupling != Glued(4) else 1e-5)


def test_adaptive_steps_and_repeated_ticks_read_the_time_at_which_they_end():
    with Simulation(shaken(), 1e-2, Penalty(adaptive=1e-3)) as simulation:
        run = simulation.run(1.0)
    assert np.abs(run.position("rod.end") - tip_of_shaken(run.time)).max() < 1e-2  # gains stay those of the tick
    assert np.abs(run.position("rod.start") - tip_of_shaken(run.time)).max() > 0.1


def test_a_run_goes_on_from_its_folder(tmp_path):
    with Simulation(arm(), 1e-3, Glued(), project_velocities=True) as simulation:
        simulation.run(0.05)
        Checkpoints(tmp_path).write(simulation)
        whole = simulation.run(0.1).digest
    with resume(tmp_path) as again:
        assert again.run(0.1).digest == whole


def test_courses_are_data_and_tell_their_rates():
    for course in (
        Ramp((1.0, 2.0), 0.5),
        Sine((0.3, 0.1), 2.0, (0.1, 0.2)),
        Smooth((0.0, 0.4, 1.0), ((0.0, 1.0), (0.5, 0.2), (0.1, 0.3))),
        Smooth.of(lambda t: (np.sin(3 * t), np.exp(-t)), 0.0, 1.0, 1e-2),
    ):
        assert Component.from_data(course.to_data()) == course
        h = 1e-5
        for t in (0.1337, 0.5713, 0.9321):
            before, now, after = (course.at(t + k * h) for k in (-1, 0, 1))
            np.testing.assert_allclose((after[:2] - before[:2]) / (2 * h), now[1:], atol=1e-6)
    smooth = Smooth.of(np.sin, 0.0, 2.0, 1e-2)
    assert max(abs(smooth.at(t)[0, 0] - np.sin(t)) for t in np.linspace(0, 2, 997)) < 1e-10  # h^4 / 384
    spline = Smooth((0.0, 1.0, 3.0, 4.0), (0.0, 2.0, -1.0, 0.5))
    for t in (1.0, 3.0):
        np.testing.assert_allclose(spline.at(t - 1e-9), spline.at(t + 1e-9), atol=1e-6)
    assert not spline.at(0.0)[1].any() and not spline.at(4.0)[1].any() and spline.at(9.0)[0, 0] == 0.5


@pytest.mark.parametrize(
    ("drive", "said"),
    [
        (lambda: DrivenRotation(3.0), "joint 'drive': course = 3.0; give a Ramp, a Sine or a Smooth table"),
        (lambda: DrivenRotation(Ramp((1.0, 2.0))), "its course has 2 numbers at each time; give 1"),
        (lambda: DrivenPlace(Ramp(1.0)), "its course has 1 numbers at each time; give 2"),
        (lambda: DrivenRotation(Ramp(1.0), axis=(0, 0, 1)), "in the plane everything turns about z"),
        (lambda: DrivenDistance(Ramp(1.0)), "a driven distance cannot be zero"),
        (lambda: DrivenRotation(Ramp(float("nan"))), "Ramp: rate = nan"),
        (lambda: DrivenRotation(Smooth((0.0, 0.0), (1.0, 2.0))), "Smooth: 2 times"),
        (lambda: DrivenRotation(Sine((1.0, 2.0), (1.0, 2.0, 3.0))), "give equally many numbers"),
    ],
)
def test_drives_that_cannot_be_are_refused_by_name(drive, said):
    with pytest.raises(ModelError) as refused:
        model = shaken()
        model.cut("drive")
        model.join("drive", drive(), "ground", "rod.start")
        Simulation(model, 1e-3)
    assert said in str(refused.value)
