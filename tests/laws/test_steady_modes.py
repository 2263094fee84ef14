"""Linear equations about motions that go on: bicycles, discs, tops and rotors against their closed forms, and against runs."""

from dataclasses import replace

import numpy as np
import pytest
from typer.testing import CliRunner

import scenarios
from campaign import each_once, first_of, shortened, spread
from components import (
    Beam,
    Cylindrical,
    Distance,
    DrivenRotation,
    EllipsoidOnPlane,
    Fixed,
    Load,
    Ramp,
    Revolute,
    RigidBody,
    Rod,
    Rolling,
    Spherical,
    SpringDamper,
)
from coordinator import Glued, Simulation
from coordinator.analysis import linearise, modes
from modular import Assembly, Component
from modular.errors import ModelError
from scenarios.cli import app

G = 9.81
BENCHMARK = {  # Meijaard et al. 2007, table 2, and their exact values
    0.0: [3.13164324790656, 5.53094371765393],
    5.0: [-0.77534188219585 + 4.46486771378823j, -0.32286642900409, -14.07838969279822],
    10.0: [-3.72016840437287 + 10.90681139476287j, 0.16105338653172, -24.62459635017404],
}


def nearest(found, value):
    return np.abs(found.eigenvalues - value).min()


@pytest.mark.parametrize("speed", BENCHMARK)
def test_the_benchmark_bicycle(speed):
    found = modes(scenarios.load("bicycle", speed=speed), steady=True)
    for value in BENCHMARK[speed]:
        assert nearest(found, value) < 1e-9
    assert found.stable == (speed == 5.0)


def test_the_bicycle_weaves_and_capsizes_at_its_speeds():
    """What turns round at them has no real part; a little faster and slower it has."""
    for speed, swings in ((4.29238253634111, True), (6.02426201538837, False)):
        found = modes(scenarios.load("bicycle", speed=speed), steady=True).eigenvalues
        most = found.real.max()
        assert abs(most) < 1e-9
        assert (np.abs(found.imag[np.abs(found.real) < 1e-9]) > 1.0).any() == swings
    by_speed = [modes(scenarios.load("bicycle", speed=speed), steady=True).stable for speed in (4.2, 4.4, 5.9, 6.1)]
    assert by_speed == [False, True, True, False]


# of the linear equations of Meijaard et al. (5.3): M q'' + v C1 q' + (g K0 + v^2 K2) q = 0 in lean and steer
M = np.array([[80.81722, 2.31941332208709], [2.31941332208709, 0.29784188199686]])
K0 = np.array([[-80.95, -2.59951685249872], [-2.59951685249872, -0.80329488458618]])
K2 = np.array([[0.0, 76.59734589573222], [0.0, 2.65431523794604]])
C1 = np.array([[0.0, 33.86641391492494], [-0.85035641456978, 1.68540397397560]])


@pytest.mark.parametrize("speed", first_of(3, [0.5, 3.1, 7.7, 1.4, 2.2, 4.0, 4.9, 6.0, 8.3, 9.6]))
def test_the_bicycle_at_any_speed(speed):
    whole = np.block(
        [
            [np.zeros((2, 2)), np.eye(2)],
            [-np.linalg.solve(M, G * K0 + speed**2 * K2), -np.linalg.solve(M, speed * C1)],
        ]
    )
    found = modes(scenarios.load("bicycle", speed=speed), steady=True)
    for value in np.linalg.eigvals(whole):
        if value.imag >= 0.0:
            assert nearest(found, value) < 1e-9 * max(1.0, abs(value))


def test_a_run_that_was_nudged_swings_as_it_is_told():
    """The eigenvalue of the weave in the lean of the frame over time, from a run of glued joints."""
    speed, nudge = 4.6, 1e-3
    others = modes(scenarios.load("bicycle", speed=speed), steady=True).eigenvalues
    value = others[-1]
    with Simulation(scenarios.load("bicycle", speed=speed, nudge=nudge), 1e-3, Glued()) as simulation:
        run = simulation.run(4.0)
    rate = run.angular_velocity("frame")[:, 0]
    time, columns = run.time - run.time[0], []
    for each in [value, *[one for one in others if abs(one) > 1e-3 and not one.imag]]:
        columns += [np.exp(each.real * time) * np.cos(each.imag * time)]
        columns += [np.exp(each.real * time) * np.sin(each.imag * time)] if each.imag else []
    columns = np.array([*columns, np.ones_like(time)]).T
    left = rate - columns @ np.linalg.lstsq(columns, rate, rcond=None)[0]
    assert np.abs(left).max() < 2e-4 * np.abs(rate).max()


def disc(spin, radius=0.3, mass=1.3, hoop=False):
    axial, across = mass * radius**2 * (1.0 if hoop else 0.5), mass * radius**2 * (0.52 if hoop else 0.27)
    model = Assembly(gravity=(0.0, 0.0, -G))
    at = (0.0, 0.0, radius)
    model.add(
        "disc",
        RigidBody(
            mass=mass, inertia=(across, axial, across), centre=at, ports={"hub": at},
            velocity=(spin * radius, 0.0, 0.0), angular_velocity=(0.0, spin, 0.0),
        ),
    )  # fmt: skip
    half = (radius, 0.0, radius)
    model.join("stands", EllipsoidOnPlane(half, normal=(0, 0, 1)), "ground", "disc.hub", at=(0, 0, 0))
    model.join("rolls", Rolling(half, normal=(0, 0, 1)), "ground", "disc.hub", at=(0, 0, 0))
    return model, axial, across


@pytest.mark.parametrize(("hoop", "spin"), each_once([False, True], [3.0, 7.0, 12.0]))
def test_a_disc_or_a_hoop_that_rolls_upright(hoop, spin):
    """(A + m r^2) s^2 + C (C + m r^2) w^2 / A - m g r = 0: below a speed it falls."""
    model, axial, across = disc(spin, hoop=hoop)
    radius, mass = 0.3, 1.3
    square = (mass * G * radius - axial * (axial + mass * radius**2) * spin**2 / across) / (across + mass * radius**2)
    found = modes(model, steady=True)
    assert nearest(found, np.sqrt(square + 0j)) < 1e-9 * np.sqrt(abs(square))
    assert found.stable == (square < 0.0)


@pytest.mark.parametrize("spin", [0.0, 15.0, 60.0, 200.0])
def test_a_sleeping_top(spin):
    """A s^2 - i C w s - m g l = 0 in space: it sleeps where (C w)^2 > 4 A m g l."""
    mass, length, across, axial = 0.5, 0.06, 4e-4, 2.5e-4  # about its centre
    model = Assembly(gravity=(0.0, 0.0, -G))
    model.add(
        "top",
        RigidBody(
            mass=mass, inertia=(across, across, axial), centre=(0, 0, length), ports={"tip": (0.0, 0.0, 0.0)},
            angular_velocity=(0.0, 0.0, spin),
        ),
    )  # fmt: skip
    model.join("floor", Spherical(), "ground", "top.tip")
    whole = across + mass * length**2
    roots = np.roots([whole, -1j * axial * spin, -mass * G * length])
    found = modes(model, steady=True)
    for root in roots:
        assert min(nearest(found, root), nearest(found, root.conjugate())) < 1e-9 * max(1.0, abs(root))
    assert found.stable == ((axial * spin) ** 2 > 4.0 * whole * mass * G * length)


@pytest.mark.parametrize("spin", [0.0, 40.0, 300.0])
def test_a_rotor_on_springs_whirls_forwards_and_backwards(spin):
    """A rigid gyroscopic rotor, its middle held: A s^2 -+ i C w s + k = 0; and Jeffcott's, which its spin does not touch."""
    mass, across, axial, arm, stiffness = 2.0, 0.02, 0.036, 0.25, 4e3
    model = Assembly(gravity=(0.0, 0.0, 0.0))
    ports = {"left": (0.0, 0.0, -arm), "right": (0.0, 0.0, arm), "middle": (0.0, 0.0, 0.0)}
    model.add(
        "rotor",
        RigidBody(
            mass=mass, inertia=(across, across, axial), centre=(0, 0, 0), ports=ports, angular_velocity=(0, 0, spin)
        ),
    )
    for k, way in enumerate(((1, 0), (-1, 0), (0, 1), (0, -1))):
        for port, z in (("left", -arm), ("right", arm)):
            at = (2.0 * way[0], 2.0 * way[1], z)
            model.apply(f"{port}{k}", SpringDamper(stiffness, 0.0, 2.0), "ground", f"rotor.{port}", at=at)
    found = modes(model, steady=True)
    both = 2.0 * stiffness  # of a bearing, in either direction
    for root in np.roots([across, -1j * axial * spin, 2.0 * both * arm**2]):
        assert min(nearest(found, root), nearest(found, root.conjugate())) < 1e-8 * abs(root)
    assert nearest(found, 1j * np.sqrt(2.0 * both / mass)) < 1e-8 * np.sqrt(2.0 * both / mass)


def test_a_conical_pendulum():
    """It goes round at a lean: s^2 = -w^2 (1 + 3 cos^2) about that, in the frame that goes along."""
    length, lean = 0.8, 0.7
    pace = np.sqrt(G / (length * np.cos(lean)))
    at = length * np.array([np.sin(lean), 0.0, -np.cos(lean)])
    model = Assembly(gravity=(0.0, 0.0, -G))
    model.add(
        "bob",
        RigidBody(
            mass=1.0, inertia=(0.0,) * 3, centre=tuple(at), ports={"P": tuple(at)}, velocity=(0.0, pace * at[0], 0.0)
        ),
    )
    model.join("string", Distance(), "ground", "bob.P", at=(0.0, 0.0, 0.0))
    found = modes(model, steady=True)
    assert nearest(found, 1j * pace * np.sqrt(1.0 + 3.0 * np.cos(lean) ** 2)) < 1e-9 * pace


def test_what_does_not_move_is_as_about_a_place_of_rest():
    model = Assembly(gravity=(0.0, -G))
    model.add("rod", Rod((0.0, 0.0), (0.0, -1.2), 2.0))
    model.join("pin", Revolute(), "ground", "rod.start")
    still, steady = modes(model), modes(model, steady=True)
    np.testing.assert_allclose(steady.eigenvalues, still.eigenvalues, atol=1e-11)
    np.testing.assert_allclose(
        np.sort_complex(np.linalg.eigvals(linearise(model, steady=True).matrix)),
        np.sort_complex(np.linalg.eigvals(linearise(model).matrix)), atol=1e-10,
    )  # fmt: skip


@pytest.mark.parametrize("basis", ["canonical", "points", "masses"])
def test_a_basis_does_not_change_what_is_found(basis):
    """Coordinates are names: what a body shows of itself is the same."""
    model, _, _ = disc(9.0)
    right = modes(model, steady=True).eigenvalues
    model.bodies["disc"] = replace(model.bodies["disc"], basis=basis)
    np.testing.assert_allclose(modes(model, steady=True).eigenvalues, right, atol=1e-9)


def swinging():
    model = Assembly(gravity=(0.0, -G))
    model.add("rod", Rod((0.0, 0.0), (1.0, 0.0), 2.0))
    model.join("pin", Revolute(), "ground", "rod.start")
    return model


def test_what_does_not_go_on_is_refused_by_name():
    with pytest.raises(
        ModelError, match=r"body 'rod' does not go on as it sets out: it would leave that motion with 14\.7 m/s"
    ):
        modes(swinging(), steady=True)
    tumbling = Assembly(gravity=(0.0, 0.0, 0.0))
    tumbling.add(
        "book", RigidBody(mass=1.0, inertia=(1.0, 2.0, 2.5), centre=(0, 0, 0), angular_velocity=(0.3, 1.0, 0.2))
    )
    with pytest.raises(ModelError, match="body 'book' does not go on as it sets out"):
        modes(tumbling, steady=True)
    falling, _, _ = disc(5.0)
    falling.bodies["disc"] = RigidBody(
        mass=1.0, inertia=(0.02, 0.04, 0.03), centre=(0, 0, 0.3), ports={"hub": (0, 0, 0.3)}, velocity=(1.5, 0, 0),
        angular_velocity=(0, 5.0, 0),
    )  # fmt: skip
    with pytest.raises(ModelError, match="body 'disc' changes the shape of the model as it moves"):
        modes(falling, steady=True)
    with pytest.raises(ModelError, match="seek=True needs joints that lock positions"):
        modes(scenarios.load("bicycle"), steady=True, seek=True)


@pytest.mark.campaign
@pytest.mark.parametrize("name", ["top", "wheel", "disc", "bicycle"])
def test_bodies_by_newton_and_euler_have_the_same(name):
    """Angles and quaternions in place of points and vectors; round ones spin about themselves."""
    if name == "bicycle":
        model = scenarios.load("bicycle", speed=5.0)
    elif name == "disc":
        model = disc(7.0)[0]
    else:
        model = Assembly(gravity=(0.0, 0.0, -G if name == "top" else 0.0))
        about = {"mass": 1.0, "inertia": (0.01, 0.01, 0.004), "centre": (0, 0, 0.1), "ports": {"tip": (0, 0, 0)}}
        model.add("body", RigidBody(**about, angular_velocity=(0, 0, 40.0)))
        if name == "top":
            model.join("tip", Spherical(), "ground", "body.tip")
    other = model.copy()
    for body, described in model.bodies.items():
        data = {key: value for key, value in described.to_data().items() if key not in ("basis", "points", "vectors")}
        other.bodies[body] = Component.from_data(data | {"class": "components:NewtonEulerBody"})
    mine, its = (modes(one, steady=True).eigenvalues for one in (model, other))
    assert len(mine) == len(its)
    apart = np.abs(np.abs(mine)[:, None] - np.abs(its)).min(axis=1)
    assert apart.max() < 1e-9 * max(1.0, np.abs(mine).max())


# --- what its own pull stretches and bends --------------------------------------------------------------------------------------


def blade(pace, elements, slenderness=5e-3):
    """A blade on a hub of no radius that turns in its own plane; the pace is in units of sqrt(EI / (rho A L^4)), which is told."""
    young, density = 2e11, 1000.0
    unit = np.sqrt(young * slenderness**2 / 12.0 / density)
    spin = pace * unit
    model = Assembly(gravity=(0.0, 0.0, 0.0))
    beam = Beam.of_rectangle(
        (0.0, 0.0, 0.0), (1.0, 0.0, 0.0), width=slenderness, height=slenderness, density=density, young=young,
        elements=elements, angular_velocity=(0.0, 0.0, spin), velocity=(0.0, 0.5 * spin, 0.0),
    )  # fmt: skip
    model.add("blade", beam)
    hub = RigidBody(
        mass=1.0, inertia=(0.1,) * 3, centre=(0, 0, 0), ports={"c": (0, 0, 0)}, angular_velocity=(0, 0, spin)
    )
    model.add("hub", hub)
    model.join("bearing", Revolute(axis=(0, 0, 1)), "ground", "hub.c")
    model.join("root", Fixed(), "hub.c", "blade.start")
    model.join("motor", DrivenRotation(Ramp(spin), axis=(0, 0, 1)), "ground", "hub.c")
    return model, unit


FLAPS = [(1, 3.6816468140), (2, 4.1373195730), (10, 11.2023277622)]


@pytest.mark.campaign
@pytest.mark.parametrize(("pace", "flap"), shortened(FLAPS[1:2], FLAPS))
def test_a_blade_that_turns_flaps_faster(pace, flap):
    """Series solutions of rotating beams: met at fourth order, but for what the section turns and shears, 2e-5 here."""
    off = []
    for elements in (4, 8):
        model, unit = blade(pace, elements)
        found = modes(model, steady=True, seek=True)
        swings = np.sort(np.abs(found.eigenvalues.imag)) / unit
        # in its plane it swings slower by that
        assert swings[1] ** 2 - swings[0] ** 2 == pytest.approx(pace**2, rel=1e-4)
        off.append(abs(swings[1] / flap - 1.0))
    assert off[0] < 5e-3 and off[1] < 0.1 * off[0]


@pytest.mark.campaign
def test_rounding_of_what_is_stiff_and_light_is_no_change_of_a_motion():
    """Places known to sixteen digits leave the turning of thin slices open: that was refused as what soon moves otherwise."""
    model, unit = blade(1, 4, slenderness=2e-4)
    found = modes(model, steady=True, seek=True)
    assert np.sort(np.abs(found.eigenvalues.imag))[1] / unit == pytest.approx(FLAPS[0][1], rel=3e-3)


@pytest.mark.campaign
@pytest.mark.parametrize(("pace", "flap"), spread(FLAPS[::-1], 1))
def test_a_blade_of_sixteen_pieces_flaps_as_series_say_to_1e_4(pace, flap):
    model, unit = blade(pace, 16)
    found = modes(model, steady=True, seek=True)
    assert np.sort(np.abs(found.eigenvalues.imag))[1] / unit == pytest.approx(flap, rel=1e-4)


def test_a_governor_rises_to_where_it_goes_on():
    """A bob on a hinge of a shaft: cos(angle) = g / (w^2 l), and swings there with w sin(angle)."""
    length, spin = 0.5, 8.0
    model = Assembly(gravity=(0.0, 0.0, -G))
    out = 1.2  # [rad], where it is put; it goes on at 1.258
    bob = length * np.array([np.sin(out), 0.0, -np.cos(out)])
    model.add(
        "shaft",
        RigidBody(
            mass=1.0, inertia=(0.1,) * 3, centre=(0, 0, 0), ports={"pin": (0, 0, 0)}, angular_velocity=(0, 0, spin)
        ),
    )
    model.add(
        "bob",
        RigidBody(
            mass=1.0, inertia=(1e-9,) * 3, centre=tuple(bob), ports={"pin": (0, 0, 0)}, angular_velocity=(0, 0, spin),
            velocity=(0, spin * bob[0], 0),
        ),
    )  # fmt: skip
    model.join("bearing", Revolute(axis=(0, 0, 1)), "ground", "shaft.pin")
    model.join("motor", DrivenRotation(Ramp(spin), axis=(0, 0, 1)), "ground", "shaft.pin")
    model.join("hinge", Revolute(axis=(0, 1, 0)), "shaft.pin", "bob.pin")
    with pytest.raises(ModelError, match="does not go on as it sets out"):
        modes(model, steady=True)
    found = modes(model, steady=True, seek=True)
    angle = np.arccos(G / (spin**2 * length))
    q, _ = found.linear.rest["bob"]
    assert model.bodies["bob"].mass_centre(q)[2] == pytest.approx(-length * np.cos(angle), rel=1e-7)
    assert nearest(found, 1j * spin * np.sin(angle)) < 1e-6 and found.linear.steps > 1


def test_what_acts_otherwise_further_on_is_refused():
    """A body that glides past a spring balances it for an instant, and not for good."""
    model = Assembly(gravity=(0.0, 0.0, 0.0))
    model.add(
        "sled",
        RigidBody(
            mass=1.0, inertia=(0.1,) * 3, centre=(0, 0, 0), ports={"P": (0.0, 0.0, 0.0)}, velocity=(1.0, 0.0, 0.0)
        ),
    )
    model.join("rail", Cylindrical(axis=(1, 0, 0)), "ground", "sled.P")
    assert modes(model, steady=True).stable
    model.apply("spring", SpringDamper(50.0, 0.0, 1.0), "ground", "sled.P", at=(0.0, 1.0, 0.0))
    with pytest.raises(ModelError, match="body 'sled' would move otherwise once the model has gone on"):
        modes(model, steady=True)


def test_loads_that_go_along_are_taken():
    """Gravity's place taken by a load: a falling body keeps no steady motion, one that is carried does."""
    model = Assembly(gravity=(0.0, 0.0, -G))
    model.add(
        "kite",
        RigidBody(
            mass=2.0, inertia=(0.1, 0.2, 0.25), centre=(0, 0, 0), ports={"P": (0.0, 0.0, 0.1)}, velocity=(3.0, 0, 0)
        ),
    )
    model.apply("lift", Load((0.0, 0.0, 2.0 * G)), "kite.P")
    found = modes(model, steady=True)
    for moment in (0.1, 0.2):
        assert nearest(found, 1j * np.sqrt(2.0 * G * 0.1 / moment)) < 1e-9


def test_the_command_tells_them_and_refuses_what_does_not_go_on():
    runner = CliRunner()
    told = runner.invoke(app, ["modes", "bicycle", "--steady", "--set", "speed=5"])
    assert (
        told.exit_code == 0 and "about the motion with which it sets out" in told.output and "4.46487i" in told.output
    )
    fast = runner.invoke(app, ["modes", "bicycle", "--steady", "--set", "speed=7"])
    assert "It does not go on so" in fast.output
    nudged = runner.invoke(app, ["modes", "bicycle", "--steady", "--set", "nudge=0.2"])
    assert nudged.exit_code != 0 and "changes the shape of the model as it moves" in " ".join(nudged.output.split())
