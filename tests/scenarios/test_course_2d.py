"""The exercises of a French course on multibody programs in the plane, against its own program and against closed forms."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import course
import scenarios
from campaign import as_far_as, more, whole
from coordinator import HHT, Centralized, Glued, MinimalCoordinates, Penalty, Simulation
from lazily import Lazily
from modular import Assembly, ModelError
from scenarios.systems import scissors as systems_scissors

integrate, linalg = Lazily("scipy.integrate"), Lazily("scipy.linalg")
optimize, special = Lazily("scipy.optimize"), Lazily("scipy.special")

G = 9.81
EXERCISES = ["free-fall", "spring-pendulum", "simple-pendulum", "scissors", "bicycle-chain"]

# Table 1 of the text [m]
POINTS = ("A", "B", "C", "D", "E", "F", "H", "I", "G1", "G2", "G3", "G4")
X = (-1, 0, 1, 1, -1, 0, 1, -1, 0.5, -0.5, 0.5, -0.5)
Z = (1, 0, -1, 1, -1, -3, -5, -5, -0.5, -0.5, -4.0, -4.0)


def simulate(model, dt, until, coupling, **options):
    with Simulation(model, dt, coupling, **options) as simulation:
        return simulation.run(until)


def place(point):
    return dict(zip(POINTS, zip(X, Z, strict=True), strict=True))[point]


def largest(found, reference):
    """Largest distance, as a share of what the reference sweeps over."""
    extent = np.ptp(reference.reshape(-1, 2), axis=0).max()
    return np.linalg.norm(found - reference, axis=-1).max() / extent


# --- all of them --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", EXERCISES)
def test_every_exercise_starts_with_its_joints_closed_and_has_a_mass_centre_named_g(name):
    model = scenarios.load(name)
    dt = model.suggested["dt"]
    run = simulate(model, dt, 2 * dt, Glued())
    for joint in run.joints:
        assert np.abs(run.violation(joint)[0]).max() < 1e-14  # 10 eps of 5 m
    for body in run.bodies:
        assert np.abs(run.position(f"{body}.G") - run.mass_centre(body)).max() < 1e-14


# --- 7.4.1: a solid that falls ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "coupling", [Penalty(), Glued(), Glued(order=4), Glued(order=8)], ids=["springs", "glued", "order 4", "order 8"]
)
def test_free_fall_is_the_closed_form_to_rounding(coupling):
    """A parabola is what every one of these schemes integrates without error; what is left are 50 roundings."""
    run = simulate(scenarios.load("free-fall"), 5e-3, 0.25, coupling)
    t = run.time
    assert t[-1] == 0.25
    assert np.abs(run.position("solid.G") - np.stack([t, t - 0.5 * G * t**2], axis=1)).max() < 50 * 2.3e-16
    assert np.abs(run.velocity("solid.G") - np.stack([1 + 0 * t, 1 - G * t], axis=1)).max() < 100 * 2.3e-16
    elements = run.state("solid")[0]
    assert np.abs(np.diff(elements[:, 1:2] - elements[:, :1], axis=0)).max() < 10 * 2.3e-16  # theta = 0


# --- 7.4.2: a solid on a spring -----------------------------------------------------------------------------------------------

A, REST, STIFFNESS, DAMPING, INERTIA = (3.0, 2.0), 0.5, 1e3, 1e2, 1e-2
REACH = np.sqrt(2.0)  # from G to P [m]


@cache
def spring_pendulum(until):
    """G and P every 10 ms by the program of the text, (n, 2, 2)."""
    program = course.Program([(1.0, INERTIA, (1, 3))], springs=[(0, (2, 4), None, A, STIFFNESS, DAMPING, REST)])
    own = program.run(0.01 * np.arange(round(100 * until) + 1), "Radau", 1e-10, 1e-11)[:, 0]
    return np.stack([own[:, :2], course.turned(own, program.solids[0].arm((2, 4)))], axis=1)


def points(run, ports, every):
    return np.stack([run.position(port)[::every] for port in ports], axis=1)


@pytest.mark.parametrize("until", [0.1, *more([as_far_as(5.0, 1.0)], 1)])
def test_the_spring_pendulum_follows_the_program_of_the_text_to_a_millionth(until):
    """4th order and 1/16 ms: the damper sees 5 g, and steps beyond 0.08 ms are refused."""
    run = simulate(scenarios.load("spring-pendulum"), 6.25e-5, until, Glued(order=4))
    assert largest(points(run, ["solid.G", "solid.P"], 160), spring_pendulum(until)) < 1e-6


@pytest.mark.campaign
def test_the_spring_pendulum_solved_as_a_whole_follows_the_program_of_the_text():
    exact = Centralized(MinimalCoordinates("Radau", rtol=1e-9, atol=1e-11))
    run = simulate(scenarios.load("spring-pendulum"), 0.01, 0.02, exact)
    assert np.abs(points(run, ["solid.G", "solid.P"], 1) - spring_pendulum(0.02)).max() < 1e-9


def test_the_spring_pendulum_begins_as_its_spring_pulls():
    """Figure 5 at its very beginning, by hand: m a = F + m g, I alpha = GP x F, with F = k (l - l0) towards A."""
    run = simulate(scenarios.load("spring-pendulum"), 1e-6, 2e-6, Glued())
    force = STIFFNESS * (np.sqrt(5.0) - REST) * np.array([1.0, -2.0]) / np.sqrt(5.0)
    turning = (1.0 * force[1] - 1.0 * force[0]) / INERTIA
    centre = force + np.array([0.0, -G])
    assert run.acceleration("solid.G")[0] == pytest.approx(centre, rel=1e-12)
    assert run.acceleration("solid.P")[0] == pytest.approx(centre + turning * np.array([-1.0, 1.0]), rel=1e-12)


@pytest.mark.campaign
def test_the_spring_pendulum_loses_what_its_damper_takes_and_nothing_else():
    run = simulate(scenarios.load("spring-pendulum"), 2.5e-5, 0.4, Glued(order=4))
    ledger = run.ledger("spring")
    start = 0.5 * STIFFNESS * (np.sqrt(5.0) - REST) ** 2 + 3.0 * G
    length = np.linalg.norm(run.position("solid.P") - A, axis=1)
    assert ledger["stored"] == pytest.approx(0.5 * STIFFNESS * (length - REST) ** 2, abs=1e-9 * start)
    total = run.energy + 0.5 * STIFFNESS * (length - REST) ** 2
    assert total[0] == pytest.approx(start, rel=1e-12)
    assert np.diff(total).max() < 1e-7 * start  # a damper gives nothing back
    assert total + ledger["dissipated"] == pytest.approx(start, rel=1e-3)


def hanging(sway=(0.0, 0.0)):
    """The solid of the text below A, its spring stretched by its weight, spring and solid leaning by two angles."""
    length = REST + G / STIFFNESS
    p = A + length * np.array([np.sin(sway[0]), -np.cos(sway[0])])
    g = p + REACH * np.array([np.sin(sway[1]), -np.cos(sway[1])])
    model = scenarios.load("spring-pendulum")
    solid = replace(model.bodies["solid"], centre=tuple(g), ports={"G": tuple(g), "P": tuple(p)})
    moved = Assembly(gravity=(0.0, -G))
    moved.add("solid", solid)
    edge = model.force_edges["spring"]
    moved.apply("spring", edge.force, "ground", "solid.P", at=edge.at)
    return moved


def test_the_solid_hangs_still_where_the_spring_is_longer_by_m_g_over_k():
    run = simulate(hanging(), 2e-5, 0.5, Penalty())
    assert run.position("solid.P")[-1] == pytest.approx([3.0, 2.0 - 0.5 - 9.81e-3], abs=1e-12)
    assert np.ptp(run.position("solid.G"), axis=0).max() < 1e-12


@pytest.mark.campaign
def test_small_swings_of_the_spring_pendulum_have_the_period_of_two_pendulums_in_a_row():
    """Sideways the spring is a rod of its length under load: M = ((l^2, l d), (l d, d^2 + I)) and K = g (l, d) for 1 kg."""
    length = REST + G / STIFFNESS
    mass = np.array([[length**2, length * REACH], [length * REACH, REACH**2 + INERTIA]])
    squares, shapes = linalg.eigh(G * np.diag([length, REACH]), mass)
    period = 2 * np.pi / np.sqrt(squares[0])
    sway = 1e-3 * shapes[:, 0] / np.abs(shapes[:, 0]).max()
    steps = round(period / 6.25e-5)
    run = simulate(hanging(sway), period / steps, period, Glued(order=4), record_every=steps // 4)
    swing = run.position("solid.G")[:, 0] - 3.0
    assert period == pytest.approx(2.78, abs=0.01)
    assert swing[-1] == pytest.approx(swing[0], rel=1e-5)  # the square of the sway
    assert swing[np.abs(run.time - period / 4).argmin()] == pytest.approx(0.0, abs=1e-3 * abs(swing[0]))


# --- 10.1: a pendulum ---------------------------------------------------------------------------------------------------------

MOMENT = 1.0 + 1e-2  # about the hinge [kg m^2]


def in_axes_of(run, start, end, series):
    """(9.3): a series in axes fixed to a solid, the first from one of its ports to another."""
    along = run.position(end) - run.position(start)
    along /= np.linalg.norm(along, axis=1)[:, None]
    across = np.stack([-along[:, 1], along[:, 0]], axis=1)
    return np.stack([np.sum(along * series, axis=1), np.sum(across * series, axis=1)], axis=1)


def test_the_pendulum_swings_as_the_elliptic_functions_say():
    """From the level: sin(a/2) = sin(pi/4) sn(w t + K), a from the downward vertical, w^2 = m g l / (I + m l^2)."""
    rate = np.sqrt(G / MOMENT)
    run = simulate(scenarios.load("simple-pendulum"), 5e-3, 5.0, Glued(order=6))
    angle = 2 * np.arcsin(np.sqrt(0.5) * special.ellipj(rate * run.time + special.ellipk(0.5), 0.5)[0])
    assert run.position("solid.G") == pytest.approx(np.stack([np.sin(angle), -np.cos(angle)], axis=1), abs=1e-10)
    assert np.abs(angle).max() > 1.57 and np.ptp(np.sign(angle)) == 2  # it went to the other side


@pytest.mark.parametrize(
    ("coupling", "dt", "until", "within"),
    [(Glued(order=4), 5e-3, 5.0, 1e-5), (Penalty(), 1e-5, 1.5, 1e-3)],
    ids=["glued", "springs"],
)
def test_the_hinge_pulls_along_and_across_the_solid_as_the_energy_integral_says(coupling, dt, until, within):
    """With s the sine of the angle below the level: (I + m l^2) w^2 / 2 = m g l s, so along GP the hinge pulls with
    m g s (1 + 2 m l^2 / (I + m l^2)), and across, which is Z_S, it holds m g cos I / (I + m l^2)."""
    run = simulate(scenarios.load("simple-pendulum"), dt, until, coupling)
    x, z = run.position("solid.G").T
    force = in_axes_of(run, "solid.P", "solid.G", run.reaction("hinge"))
    closed = np.stack([G * z * (1 + 2 / MOMENT), G * x * (MOMENT - 1) / MOMENT], axis=1)
    assert np.abs(force - closed).max() < within * G
    assert force[:, 0].min() == pytest.approx(-G * (1 + 2 / MOMENT), rel=1e-4)  # at the bottom


def test_the_mass_centre_of_the_pendulum_accelerates_in_its_own_axes_as_the_energy_integral_says():
    run = simulate(scenarios.load("simple-pendulum"), 5e-3, 5.0, Glued(order=4))
    x, z = run.position("solid.G").T
    felt = in_axes_of(run, "solid.P", "solid.G", run.acceleration("solid.G"))
    assert np.abs(felt - np.stack([2 * G * z / MOMENT, -G * x / MOMENT], axis=1)).max() < 1e-5 * G


# --- 10.2: scissors -----------------------------------------------------------------------------------------------------------

SCISSORS = [f"solid{solid}.{point}" for solid, point in ((1, "C"), (2, "D"), (3, "F"), (3, "H"), (4, "I"))]


@cache
def scissors(until):
    """C, D, F, H and I every 50 ms by the program of the text, (n, 5, 2)."""
    hinges = [(None, 0, "B"), (None, 1, "B"), (0, 3, "C"), (1, 2, "E"), (2, 3, "F")]
    program = course.Program(
        [(1.0, 1e-2, place(f"G{k}")) for k in (1, 2, 3, 4)],
        springs=[(3, place("I"), 2, place("H"), 1e3, 1e2, 4.0)],
        hinges=[(a, b, place(point)) for a, b, point in hinges],
    )
    found = program.run(0.05 * np.arange(round(20 * until) + 1))
    owners = [(int(port[5]) - 1, port[-1]) for port in SCISSORS]
    return np.stack([course.turned(found[:, k], program.solids[k].arm(place(p))) for k, p in owners], axis=1)


def test_the_points_of_the_scissors_are_those_of_table_1():
    run = simulate(scenarios.load("scissors"), 1e-4, 1e-4, Glued())
    for solid, ports in ((1, "ABC"), (2, "DBE"), (3, "EFH"), (4, "CFI")):
        assert run.position(f"solid{solid}.G")[0] == pytest.approx(place(f"G{solid}"))
        for point in ports:
            assert run.position(f"solid{solid}.{point}")[0] == pytest.approx(place(point))


@pytest.mark.parametrize("until", [0.2, *more([5.0], 1)])
def test_the_scissors_follow_the_program_of_the_text_to_a_millionth(until):
    run = simulate(scenarios.load("scissors"), 2.5e-3, until, Glued(order=4))
    assert largest(points(run, SCISSORS, 20), scissors(until)) < 1e-6


def test_the_scissors_solved_as_a_whole_follow_the_program_of_the_text():
    exact = Centralized(MinimalCoordinates("DOP853", rtol=1e-10, atol=1e-12))
    run = simulate(scenarios.load("scissors"), 0.05, 0.2, exact)
    assert np.abs(points(run, SCISSORS, 1) - scissors(0.2)).max() < 1e-9


def test_the_scissors_open_alike_on_both_sides_and_hang_from_what_their_mass_centre_asks():
    run = simulate(scenarios.load("scissors"), 2.5e-3, 1.0, Glued(order=4))
    mirror = np.array([-1.0, 1.0])
    for left, right in (("solid2.D", "solid1.A"), ("solid4.I", "solid3.H"), ("solid2.E", "solid1.C")):
        assert np.abs(run.position(left) - mirror * run.position(right)).max() < 1e-10
    held = run.reaction("B1") + run.reaction("B2")
    moved = sum(run.acceleration(f"solid{k}.G") for k in (1, 2, 3, 4))
    assert held == pytest.approx(moved + np.array([0.0, 4 * G]), abs=1e-7 * np.abs(held).max())


def opened(angle):
    """The points of the scissors with the upper arms leaning by an angle from the vertical, nothing else changed [m]."""
    arm, rod = np.sqrt(2.0), np.sqrt(5.0)
    lean = np.arcsin(arm * np.sin(angle) / rod)  # of the lower ones: both are as wide as C
    c = arm * np.array([np.sin(angle), -np.cos(angle)])
    h = rod * np.array([np.sin(lean), -np.cos(lean)])
    f, mirror = np.array([0.0, c[1] + h[1]]), np.array([-1.0, 1.0])
    right = {"A": -c, "C": c, "G1": c / 2, "B": 0 * c, "F": f, "H": f + h, "G3": f + h / 2}
    left = {"D": -c, "E": c, "G2": c / 2, "I": f + h, "G4": f + h / 2}
    return {name: tuple(point) for name, point in (right | {name: mirror * p for name, p in left.items()}).items()}


def test_opened_scissors_are_those_of_table_1_at_45_degrees():
    for point, found in opened(np.pi / 4).items():
        assert found == pytest.approx(place(point), abs=1e-15)


@pytest.mark.campaign
def test_the_scissors_stand_still_where_their_weight_balances_the_spring(monkeypatch):
    """The spring, 4 m long when free, opens them to 2 sqrt 2 m and no further: there the upper arms lie almost level."""

    def potential(angle):
        p = opened(angle)
        width = p["H"][0] - p["I"][0]
        return G * sum(p[f"G{k}"][1] for k in (1, 2, 3, 4)) + 500.0 * (width - 4.0) ** 2

    def slope(angle, step=1e-3):
        """Of the potential, by differences of fourth order."""
        inner, outer = (potential(angle + k * step) - potential(angle - k * step) for k in (1, 2))
        return (8 * inner - outer) / (12 * step)

    rest = optimize.brentq(slope, 1.4, 1.57, xtol=1e-14)
    assert rest == pytest.approx(np.pi / 2 - 0.0126, abs=5e-4)  # 3 g sqrt 2 over the pull of the spring
    monkeypatch.setattr(systems_scissors, "POINTS", opened(rest))
    run = simulate(scenarios.load("scissors"), 2.5e-3, 0.2, Centralized(HHT()))
    assert max(np.ptp(run.position(port), axis=0).max() for port in SCISSORS) < 1e-9


# --- 10.3: a bicycle chain ----------------------------------------------------------------------------------------------------


@cache
def bicycle_chain(links, until, every, angle=0.0, nudge=0.0):
    """P2 of every link in angles, (n, links, 2); the middle one starts with an angle of its own."""
    start = np.concatenate([np.full(links, angle), np.zeros(links)])
    start[links // 2] += nudge
    times = every * np.arange(round(until / every) + 1)
    rates = course.chain_rates(links)
    found = integrate.solve_ivp(rates, (0.0, times[-1]), start, "DOP853", times, rtol=1e-10, atol=1e-10)
    assert found.success
    return course.chain_ends(found.y.T, (2.0, 5.0))


def ends(run, every):
    return np.stack([run.position(f"{body}.P2")[::every] for body in run.bodies], axis=1)


@pytest.mark.campaign
@pytest.mark.parametrize(("until", "dt"), [(0.1, 2.5e-4), *whole([(0.4, 2e-5)])])
def test_a_chain_of_fifty_links_follows_its_angles_to_a_millionth(until, dt):
    """Not for the 1.5 s of the text: see the next two tests."""
    run = simulate(scenarios.load("bicycle-chain", links=50), dt, until, Glued(order=4), record_every=round(0.05 / dt))
    assert largest(ends(run, 1), bicycle_chain(50, until, 0.05)) < 1e-6


@pytest.mark.campaign("whole")
def test_nobody_can_foretell_a_chain_for_the_time_of_the_text():
    """Twenty links, one of them turned by 1e-12 rad: 1e-13 m after half a second, centimetres after 1.5 s, in angles and without
    any of our steps. Rounding is multiplied no less. Fifty links come to that point earlier, after 0.4 s."""
    apart = np.linalg.norm(bicycle_chain(20, 1.5, 0.5) - bicycle_chain(20, 1.5, 0.5, nudge=1e-12), axis=-1).max(axis=1)
    assert apart[1] < 1e-11
    assert apart[3] > 1e-3


@pytest.mark.campaign("whole")
def test_a_chain_of_fifty_links_keeps_its_energy_and_hangs_from_what_its_mass_centre_asks_for_the_whole_time():
    run = simulate(scenarios.load("bicycle-chain", links=50), 1e-5, 1.5, Glued(), record_every=100)
    start = 50 * 0.01 * G * 5.0
    assert run.energy == pytest.approx(start, abs=2e-6 * start)
    assert max(np.abs(run.violation(joint)).max() for joint in run.joints) < 1e-12
    momentum = 0.01 * sum(run.acceleration(f"{body}.G") for body in run.bodies)
    held = run.reaction("A")
    assert held == pytest.approx(momentum + np.array([0.0, 0.5 * G]), abs=1e-6 * np.abs(held).max())
    assert run.position("solid50.P2")[:, 0].min() < 1.6  # it has swung to the other side of A


@pytest.mark.parametrize(("links", "angle"), [(1, 0.3), (2, -0.4), (7, 0.9)])
def test_a_chain_of_any_number_of_links_follows_its_angles_from_any_start(links, angle):
    run = simulate(scenarios.load("bicycle-chain", links=links, angle=angle), 1e-4, 0.2, Glued(order=4))
    assert largest(ends(run, 500), bicycle_chain(links, 0.2, 0.05, angle)) < 1e-6


def test_a_chain_of_six_links_solved_as_a_whole_follows_its_angles():
    exact = Centralized(MinimalCoordinates("DOP853", rtol=1e-10, atol=1e-12))
    run = simulate(scenarios.load("bicycle-chain", links=6), 0.05, 0.1, exact)
    assert np.abs(ends(run, 1) - bicycle_chain(6, 0.1, 0.05)).max() < 1e-8


def test_a_chain_that_hangs_straight_down_stays_and_its_pivots_hold_what_is_below():
    run = simulate(scenarios.load("bicycle-chain", links=20, angle=-np.pi / 2), 1e-4, 0.05, Glued())
    assert np.ptp(run.position("solid20.P2"), axis=0).max() < 1e-10
    assert run.reaction("A")[-1] == pytest.approx([0.0, 20 * 0.01 * G], abs=1e-9)
    assert run.reaction("pivot15")[-1] == pytest.approx([0.0, 5 * 0.01 * G], abs=1e-9)


@pytest.mark.parametrize(("setting", "value"), [("links", 0), ("links", 2.5), ("angle", "up")])
def test_a_chain_that_nobody_can_make_is_refused_by_name(setting, value):
    with pytest.raises(ModelError, match=f"bicycle-chain: {setting}"):
        scenarios.load("bicycle-chain", **{setting: value})
