"""Bodies that are led along courses, or do what another body did: nothing moves them, and what hangs on them follows."""

import numpy as np
import pytest

import both_ways
import references
from campaign import each_once, later, named
from components import (
    DrivenPlace,
    Fixed,
    LedBody,
    Load,
    NewtonEulerBody,
    PointOnLine,
    Ramp,
    Revolute,
    RigidBody,
    Rod,
    Sine,
    Smooth,
    Spherical,
    SpringDamper,
)  # fmt: skip
from coordinator import (
    GGL,
    HHT,
    AugmentedLagrangian,
    Baumgarte,
    Centralized,
    Checkpoints,
    GlobalPenalty,
    Glued,
    Merged,
    MinimalCoordinates,
    Mixed,
    Penalty,
    Relaxed,
    Run,
    Simulation,
    Substitution,
    resume,
)  # fmt: skip
from modular import Assembly, Component, CouplingError, ModelError
from scenarios import load

G = 9.81
SHAKEN = Sine((0.1, 0.05), 1.1, (-np.pi / 2, np.pi / 2))
BOTH = pytest.mark.parametrize("dimension", [2, 3])


def tip_of_shaken(times):
    """Lagrange: (l / 3) theta'' = -((g + z'') sin theta + x'' cos theta) / 2, theta from straight down."""
    length, w = np.sqrt(0.5), 2 * np.pi * 1.1

    def rates(t, y):
        x, z = 0.1 * w * w * np.cos(w * t), -0.05 * w * w * np.cos(w * t)
        return [y[1], -1.5 / length * ((G + z) * np.sin(y[0]) + x * np.cos(y[0]))]

    angle = references.solve(rates, (np.pi / 4, 0.0), times)[:, 0]
    t = np.asarray(times)
    place = np.stack([0.1 * (1 - np.cos(w * t)), 0.05 * (np.cos(w * t) - 1)], -1)
    return place + length * np.stack([np.sin(angle), -np.cos(angle)], -1)


def shaken(led=True):
    """A rod on a bearing that is led around: at rest at first."""
    model = Assembly(gravity=(0.0, -G))
    model.add("rod", Rod((0, 0), (0.5, -0.5), 2.0))
    if led:
        model.add("table", LedBody(way=SHAKEN, centre=(0, 0), ports={"pin": (0, 0)}))
        model.join("drive", Revolute(), "table.pin", "rod.start")
    else:
        model.join("drive", DrivenPlace(SHAKEN), "ground", "rod.start")
    return model


@pytest.mark.short(2)
@pytest.mark.parametrize(
    ("coupling", "order", "dt", "most"),
    [
        (Penalty(), 2, 2e-3, 2e-3), (Relaxed(), 2, 8e-3, 2e-3), (Glued(4), 4, 8e-3, 1e-6), (Merged(), 2, 2e-3, 2e-3),
        (Centralized(HHT()), 2, 8e-3, 1e-2), (Centralized(Substitution()), 4, 8e-3, 1e-6),
        *later(
            [
                (Glued(), 2, 8e-3, 2e-3), (Mixed(), 2, 8e-3, 2e-3), (Centralized(HHT(alpha=0.0)), 2, 8e-3, 4e-3),
                (Centralized(AugmentedLagrangian()), 2, 8e-3, 4e-3), (Centralized(GGL()), 2, 8e-3, 4e-3),
                (Centralized(MinimalCoordinates()), 4, 8e-3, 1e-6), (Centralized(Baumgarte(method="RK4")), 4, 8e-3, 1e-6),
            ],
        ),
    ],
    ids=lambda value: repr(value) if isinstance(value, Centralized) else type(value).__name__,
)  # fmt: skip
def test_a_pendulum_on_a_led_bearing_swings_as_lagrange_says(coupling, order, dt, most):
    """And as one whose bearing is driven by a joint: with a known place nothing else is left to do for either."""
    errors = []
    for step in (dt, dt / 2):
        with Simulation(shaken(), step, coupling) as simulation:
            run = simulation.run(0.2)
        errors.append(np.abs(run.position("rod.end") - tip_of_shaken(run.time)).max())
    assert errors[0] < most
    assert abs(references.orders(errors)[0] - order) < 0.4
    table = run.position("table.pin") - np.array([SHAKEN.at(t)[0] for t in run.time]) + SHAKEN.at(0.0)[0]
    assert np.abs(table).max() < (1e-12 if order == 2 else 1e-8)  # some solvers leave constraints open at their order
    lines = run.ledger("drive")
    assert np.abs(run.energy - run.energy[0] + lines["supplied"] + lines["stored"]).max() < 40 * dt**2
    assert np.abs(lines["work_first"]).max() == 0.0  # nothing that has energy is there
    assert np.abs(sum(run.balance().values())).max() < 1e-12


def test_what_leads_brings_what_a_driven_joint_brings():
    ledgers = []
    for led in (True, False):
        with Simulation(shaken(led), 2e-3, Glued(4)) as simulation:
            run = simulation.run(0.8)
        ledgers.append(run.ledger("drive")["supplied"])
        reaction = run.reaction("drive")
    assert np.abs(ledgers[0] - ledgers[1]).max() < 1e-7
    assert np.abs(reaction).max() > 10.0


@pytest.mark.parametrize(("frequency", "stands"), [(40.0, True), (12.0, False)])
def test_a_rod_on_a_shaken_bearing_stands_where_kapitza_says(frequency, stands):
    """(a w)^2 against 4 g l / 3: 25 and 2.3 against 5.2 m^2/s^2."""
    with Simulation(load("kapitza-pendulum", frequency=frequency), 5e-4, Glued()) as simulation:
        run = simulation.run(2.0)
    arm = run.position("rod.end") - run.position("rod.start")
    lean = np.abs(np.arctan2(arm[:, 0], arm[:, 1]))
    assert (lean.max() < 0.25) == stands
    # what a joint does to a led side is what moves the other
    assert np.abs(run.ledger("bearing")["leaked"]).max() < 1e-11


# --- a recorded motion -------------------------------------------------------------------------------------------------


def of_the_crank(run):
    """The slider-crank of the thesis whose crank does what it did."""
    whole = load("slider-crank")
    model = Assembly(gravity=whole.gravity)
    model.add("crank", LedBody.of(run, "crank"))
    model.add("rod", whole.bodies["rod"])
    model.join("elbow", Revolute(), "crank.end", "rod.start")
    model.join("slide", PointOnLine(axis=(1.0, 0.0)), "ground", "rod.end")
    return model


@pytest.mark.campaign
def test_the_rest_of_a_recorded_slider_crank_moves_as_it_did(tmp_path):
    """The crank is read from a run folder, the rod simulated on it, through the place where both are folded (1.163 s)."""
    with Simulation(load("slider-crank"), 1e-3, Glued(4)) as simulation:
        simulation.run(1.3).save(tmp_path / "run")
    run = Run.load(tmp_path / "run")
    model = of_the_crank(run)
    model = Assembly.from_data(model.to_data())  # nothing of the run is needed any more
    with Simulation(model, 1e-3, Glued(4)) as simulation:
        again = simulation.run(1.3)
    assert np.abs(again.position("crank.end") - run.position("crank.end")).max() < 1e-12  # at the samples
    assert np.abs(again.velocity("crank.end") - run.velocity("crank.end")).max() < 1e-11
    assert np.abs(again.position("rod.end") - run.position("rod.end")).max() < 2e-9  # between them a cubic: dt^4
    inside = slice(None, 1150)  # before it is folded, where reactions are ill told
    assert again.reaction("slide")[inside] == pytest.approx(run.reaction("slide")[inside], abs=1e-3)
    assert again.reaction("slide")[-1] == pytest.approx(run.reaction("slide")[-1], abs=1e-3)
    brought = -again.ledger("elbow")["supplied"]  # what the crank gave the rod
    gained = again.energy_of("rod") - again.energy_of("rod")[0]
    assert np.abs(brought - gained)[inside].max() < 1e-9


@pytest.mark.short(2)
@pytest.mark.parametrize("kind", [RigidBody, NewtonEulerBody, Rod])
@BOTH
def test_a_led_body_does_what_any_body_did(kind, dimension):
    model = Assembly(gravity=(0.3, -G, 0.4)[:dimension])
    model.add("body", kind.example(dimension))
    with Simulation(model, 2e-3, Glued(4)) as simulation:
        run = simulation.run(0.3)
    lead = LedBody.of(run, "body")
    assert Component.from_data(lead.to_data()) == lead
    model = Assembly(gravity=(0.0,) * dimension)
    model.add("body", lead)
    model.add("mass", RigidBody.example(dimension))
    with Simulation(model, 2e-3, Glued(4)) as simulation:
        again = simulation.run(0.3)
    for port in lead.port_names:
        assert np.abs(again.position(f"body.{port}") - run.position(f"body.{port}")).max() < 1e-9
        assert np.abs(again.velocity(f"body.{port}") - run.velocity(f"body.{port}")).max() < 1e-7
        if kind is not Rod:
            assert np.abs(again.axes(f"body.{port}") - run.axes(f"body.{port}")).max() < 1e-9


# --- turning -----------------------------------------------------------------------------------------------------------


def quaternions(times, axis, angle):
    """(cos, sin e) of half angles, of growing length: only their direction counts."""
    half = 0.5 * angle(times)
    return (1.0 + 0.3 * times)[:, None] * np.column_stack([np.cos(half), np.sin(half)[:, None] * axis])


@pytest.mark.parametrize(
    ("quaternion", "coupling"), each_once([False, True], [Penalty(), Glued(), Glued(4), Centralized()]), ids=named
)
def test_what_is_welded_to_a_turning_body_feels_the_force_of_its_circle(coupling, quaternion):
    """m a of a mass centre on a circle, and J w' about the axis; the wrench of the weld against the closed form."""
    axis, turning = np.array([0.0, 0.6, 0.8]), Ramp(1.5, 2.0)
    times = np.linspace(-0.05, 0.5, 221)
    course = turning
    if quaternion:
        course = Smooth(times.tolist(), quaternions(times, axis, lambda t: 1.5 * t + t * t).tolist(), goes_on=True)
    arm = np.array([0.4, -0.3, 0.2])
    across = arm - (arm @ axis) * axis
    model = Assembly(gravity=(0.0, 0.0, 0.0))
    model.add(
        "wheel",
        LedBody(turning=course, axis=None if quaternion else axis, centre=(0, 0, 0), ports={"hub": tuple(arm)}),
    )
    spin = 1.5 * axis
    model.add(
        "mass",
        RigidBody(
            mass=2.0, inertia=(0.1, 0.1, 0.1), centre=tuple(arm), ports={"at": tuple(arm)},
            velocity=tuple(np.cross(spin, arm)), angular_velocity=tuple(spin),
        ),
    )  # fmt: skip
    model.join("weld", Fixed(), "wheel.hub", "mass.at")
    dt = 5e-3 if isinstance(coupling, Centralized) else 1e-3
    with Simulation(model, dt, coupling, project_velocities=quaternion) as simulation:
        run = simulation.run(0.4)
    angle, rate = 1.5 * run.time + run.time**2, 1.5 + 2.0 * run.time
    e1, e2 = across, np.cross(axis, across)
    c, s = np.cos(angle)[:, None], np.sin(angle)[:, None]
    place = (arm @ axis) * axis + c * e1 + s * e2
    assert np.abs(run.position("wheel.hub") - place).max() < (1e-6 if quaternion else 1e-13)
    close = 2e-3 if quaternion else 1e-4
    assert np.abs(run.mass_centre("mass") - place).max() < 1e-5
    force = 2.0 * (2.0 * (c * e2 - s * e1) - (rate**2)[:, None] * (c * e1 + s * e2))
    calm = slice(round(0.1 / dt), None)  # springs of joints ring at first
    assert run.reaction("weld")[calm, :3] == pytest.approx(force[calm], abs=40 * close)
    assert run.reaction("weld")[calm, 3:] == pytest.approx(
        np.broadcast_to(0.1 * 2.0 * axis, force[calm].shape), abs=40 * close
    )


# --- where and how it lives --------------------------------------------------------------------------------------------


def ferris(dimension=3, bodies=4):
    """A wheel that is led, with a chain on either side of it and a spring between them."""
    model = Assembly(gravity=(0.0, -G, 0.3)[:dimension])
    line = {"axis": (0.0, 0.2, 1.0)} if dimension == 3 else {}
    ports = {"left": (-0.5, 0.0, 0.1)[:dimension], "right": (0.5, 0.1, 0.0)[:dimension]}
    way = Sine((0.1, 0.2, 0.05)[:dimension], 0.9, -np.pi / 2)
    model.add(
        "wheel", LedBody(way=way, turning=Sine(0.8, 1.3, -np.pi / 2), centre=(0.0,) * dimension, ports=ports, **line)
    )
    for side, sign in (("left", -1.0), ("right", 1.0)):
        before, place = f"wheel.{side}", np.array(ports[side], float)
        for k in range(bodies // 2):
            after = place + np.array([0.3 * sign, -0.2, 0.1])[:dimension]
            model.add(f"{side}{k}", Rod(tuple(place), tuple(after), 0.7))
            model.join(f"{side}-{k}", Spherical(), before, f"{side}{k}.start")
            before, place = f"{side}{k}.end", after
    last = bodies // 2 - 1
    model.apply("spring", SpringDamper(stiffness=30.0, length=0.5, damping=0.2), f"left{last}.end", f"right{last}.end")
    model.apply("band", SpringDamper(stiffness=20.0, length=0.2, damping=0.1), "wheel.left", f"right{last}.start")
    return model


@pytest.mark.short(1)
@pytest.mark.parametrize(
    "coupling", [Penalty(), Glued(), Glued(4), Relaxed()], ids=["penalty", "glued", "glued 4", "relaxed"]
)
def test_what_hangs_on_a_led_body_has_the_same_bits_among_workers(coupling):
    model = ferris()
    run = both_ways.same(ferris, 1e-3, 0.03, both_ways.scattered(model, 2), coupling)
    assert np.ptp(run.position("right1.end")[:, 0]) > 1e-3


@pytest.mark.short(1)
@BOTH
@pytest.mark.parametrize("coupling", [Penalty(), Glued(4)], ids=["penalty", "glued"])
def test_it_goes_on_from_a_checkpoint_with_the_same_bits(coupling, dimension, tmp_path):
    with Simulation(ferris(dimension), 1e-3, coupling) as simulation:
        whole = simulation.run(0.06)
    with Simulation(ferris(dimension), 1e-3, coupling) as simulation:
        simulation.run(0.03, checkpoints=Checkpoints(tmp_path, every=0.0))
    with resume(tmp_path) as simulation:
        again = simulation.run(0.06)
    assert again.digest == whole.digest


@pytest.mark.parametrize("coupling", [Penalty(), Glued()], ids=["penalty", "glued"])
def test_single_steps_have_the_bits_of_many_at_once(coupling):
    with Simulation(ferris(2), 1e-3, coupling) as simulation:
        many = simulation.run(0.03)
    with Simulation(ferris(2), 1e-3, coupling, grouped=False) as simulation:
        for _ in range(30):
            simulation.step()
        assert simulation.recorded.digest == many.digest


def test_one_that_comes_later_stands_where_its_courses_are_by_then():
    """Joined to a rod that falls past, it takes it along; what that takes is told."""
    for coupling in (Penalty(), Glued()):
        model = Assembly(gravity=(0.0, -G))
        model.add("rod", Rod((0.3, 0.0), (0.8, 0.0), 1.0))
        with Simulation(model, 1e-3, coupling) as simulation:
            simulation.run(0.1)
            simulation.add("lift", LedBody(way=Ramp((0.0, 0.5)), centre=(0.3, -0.0991), ports={"hook": (0.3, -0.0991)}))
            place = simulation.recorded.position("lift.hook")[-1]
            assert place == pytest.approx((0.3, -0.0491), abs=1e-12)
            simulation.join("hook", Revolute(), "lift.hook", "rod.start")
            ledger = simulation.ledger("hook")
            # p = (v_lift - v_rod) m / 4 on the end of a rod, the lift brings p v_lift, and p^2 4 / (2 m) are lost
            impulse = (0.5 + 0.1 * G) / 4.0
            assert ledger["impact"] == pytest.approx(2.0 * impulse**2, rel=1e-3)
            assert ledger["supplied"] == pytest.approx(-0.5 * impulse, rel=1e-3)
            run = simulation.run(0.2)
            assert run.position("lift.hook")[-1] == pytest.approx((0.3, 0.0009), abs=1e-12)
            assert run.position("rod.start")[-1] == pytest.approx((0.3, 0.0009), abs=1e-3)
            assert np.isnan(run.position("lift.hook")[50]).all()
            simulation.cut("hook")
            assert simulation.ledger("hook")["work_first"] == 0.0


def test_a_load_on_a_led_body_changes_nothing():
    runs = []
    for load_ in (False, True):
        model = ferris(2)
        if load_:
            model.apply("push", Load((1e4, -1e3)), "wheel.right")
        with Simulation(model, 1e-3) as simulation:
            runs.append(simulation.run(0.02))
    assert np.array_equal(runs[0].position("right1.end"), runs[1].position("right1.end"))


def test_what_cannot_be_is_refused_by_name():
    def refused(text, **data):
        with pytest.raises(ModelError, match=text):
            model = Assembly(gravity=(0.0, -G, 0.0))
            model.add("wheel", LedBody(**{"centre": (0, 0, 0), **data}))

    refused("'wheel'.*way has 2 numbers", way=Ramp((1.0, 2.0)))
    refused("'wheel'.*turning has 3 numbers at each time; give 1 or 4", turning=Ramp((1.0, 2.0, 0.0)))
    refused("'wheel'.*axis", axis=(0, 0, 0))
    refused("'wheel'.*zero length", turning=Smooth((0.0, 1.0), ((1.0, 0, 0, 0), (0.0, 0, 0, 0))))
    refused("wheel.a.*3 finite", ports={"a": (0, 0)})
    refused("give a course", way=3.0)
    refused("way=.*or centre=", centre=None)
    with pytest.raises(CouplingError, match=r"GlobalPenalty.*'table'"):
        Simulation(shaken(), 1e-3, Centralized(GlobalPenalty()))
    model = Assembly(gravity=(0.0, -G))
    model.add("wheel", LedBody(centre=(0, 0), ports={"a": (0, 0)}))
    with pytest.raises(ModelError, match=r"'bolt'.*connect a body that moves under forces"):
        model.join("bolt", Revolute(), "ground", "wheel.a")
    with Simulation(shaken(), 1e-3) as simulation:
        run = simulation.run(0.01)
    with pytest.raises(ModelError, match="no body 'rot'"):
        LedBody.of(run, "rot")


def test_a_table_goes_on_as_it_went():
    course = Smooth((0.0, 0.1, 0.2, 0.4), (1.0, 1.2, 1.3, 2.0), goes_on=True)
    for time in (0.0, 0.4):
        before, after = course.at(time - 1e-9), course.at(time + 1e-9)
        assert after == pytest.approx(before, abs=1e-6)  # place, rate and acceleration
    assert course.at(0.5)[0] == pytest.approx(2.0 + 0.1 * course.at(0.4)[1])
    rates = [[3.0], [1.0], [-2.0], [0.5]]
    given = Smooth((0.0, 0.1, 0.2, 0.4), (1.0, 1.2, 1.3, 2.0), np.ravel(rates).tolist(), goes_on=True)
    assert (given.at(-1.0)[0], given.at(1.0)[0]) == (pytest.approx(-2.0), pytest.approx(2.3))
