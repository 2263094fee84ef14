"""The references themselves: against 40 digits, against symbolic derivations, against energy; and our four-bars against them."""

from math import pi

import numpy as np
import pytest

import many_digits
import mechanisms
import references
import symbolic
from campaign import as_far_as, later, shortened, whole
from coordinator import Simulation
from lazily import Lazily
from scenarios.gallery import minimal
from symbolic import dynamicsymbols, rate

integrate = Lazily("scipy.integrate")

THESIS = (pi / 2, -pi / 2, 0.0, 0.0)
SPATIAL = (pi / 4, pi / 2, -pi / 2, 0.0, 0.0, 0.0)
sympy = Lazily("sympy")


def exact(number):
    """A double as the rational number that it is."""
    return sympy.Rational(*float(number).as_integer_ratio())


# --- Lagrangians, written once more ------------------------------------------------------------------------------------


def planar_lagrangian(first, second, m, length, g):
    """VI.2: equal masses, equal lengths, the second angle counted from the first rod."""
    elbow = length * sympy.Matrix([sympy.sin(first), -sympy.cos(first)])
    tip = elbow + length * sympy.Matrix([sympy.sin(first + second), -sympy.cos(first + second)])
    speeds = [rate(point).dot(rate(point)) for point in (elbow, tip)]
    return m * sum(speeds) / 2 - m * g * (elbow[1] + tip[1])


def planar():
    angles = dynamicsymbols("a b")
    return planar_lagrangian(*angles, 1, 1, exact(references.G)), angles


def spatial():
    """VI.4: a uniform rod integrated along its length, so no moment of inertia is looked up."""
    a, p, r = angles = dynamicsymbols("a p r")
    s = sympy.Symbol("s")
    first = exact(references.LENGTH) * sympy.Matrix([sympy.cos(a), sympy.sin(a), 0])
    second = sympy.Matrix([sympy.sin(p) * sympy.cos(r), sympy.cos(p), sympy.sin(p) * sympy.sin(r)])
    lagrangian = 0
    for point in (s * first, first + s * second):
        density = rate(point).dot(rate(point)) / 2 - exact(references.G) * point[1]
        lagrangian += sum(c / (k + 1) for (k,), c in sympy.Poly(sympy.expand(density), s).terms())
    return lagrangian, angles


def slider_crank():
    (a,) = angles = [dynamicsymbols("a")]
    elbow, tip = sympy.Matrix([sympy.cos(a), sympy.sin(a)]), sympy.Matrix([2 * sympy.cos(a), 0])
    speeds = [rate(point).dot(rate(point)) for point in (elbow, tip)]
    return sum(speeds) / 2 - exact(references.G) * elbow[1], angles


def four_bar():
    """Three angles and a loop that multipliers keep closed: no closed form of the loop, no reduced mass."""
    angles = dynamicsymbols("a b c")
    pin = sympy.Matrix([exact(x) for x in references.PINS[1]])
    bars = [exact(length) * sympy.Matrix([sympy.cos(x), sympy.sin(x)]) for length, x in zip(references.BARS, angles)]
    starts = (sympy.zeros(2, 1), bars[0], pin)
    lagrangian = 0
    for mass, start, bar in zip(map(exact, references.BAR_MASSES), starts, bars):
        u, v = rate(start), rate(start + bar)  # of a uniform bar between them: m (u.u + u.v + v.v) / 6
        lagrangian += mass * (u.dot(u) + u.dot(v) + v.dot(v)) / 6
        lagrangian -= mass * exact(references.G) * (start + bar / 2)[1]
    return lagrangian, angles, list(bars[0] + bars[1] - pin - bars[2])


def all_bars(states):
    """Angles of the three bars and their rates from those of the crank."""
    angles = references.four_bar_angles(states[:, 0])
    return np.concatenate([angles, references.four_bar_slopes(angles)[0] * states[:, 1:]], axis=1)


# --- forty digits ------------------------------------------------------------------------------------------------------


def spatial_energy(states):
    """Of VI.4, from the ends of the rods: a uniform rod between moving ends has m (u.u + u.v + v.v) / 6."""
    a, p, r, da, dp, dr = states.T
    tip = references.LENGTH * np.stack([-np.sin(a) * da, np.cos(a) * da, 0 * a])
    turn = np.stack(
        [
            np.cos(p) * np.cos(r) * dp - np.sin(p) * np.sin(r) * dr,
            -np.sin(p) * dp,
            np.cos(p) * np.sin(r) * dp + np.sin(p) * np.cos(r) * dr,
        ]
    )
    end = tip + turn
    kinetic = np.sum(tip * tip + tip * tip + tip * end + end * end, axis=0) / 6
    return kinetic + references.G * (1.5 * references.LENGTH * np.sin(a) + 0.5 * np.cos(p))


SMALL, CRANK = (pi / 10, 0.0, 0.0, 0.0), (pi / 4, 0.0)
CASES = {  # rates, their independent Lagrangian, energy, start, how far [s], a quarter of it by default; and so in 40 digits [s]
    "planar": (references.planar_rates, planar, references.planar_energy, THESIS, 5.0, 0.3),
    "planar from small angles": (references.planar_rates, planar, references.planar_energy, SMALL, 5.0, 0.3),
    "spatial": (references.spatial_rates, spatial, spatial_energy, SPATIAL, 5.0, 0.2),
    "slider-crank": (references.slider_crank_rates, slider_crank, references.slider_crank_energy, CRANK, 5.0, 0.5),
    "four-bar": (references.four_bar_rates, four_bar, references.four_bar_energy, references.CRANK_START, 2.0, 0.2),
}


def integrated(rates, start, until):
    """Stops every 2 ms, as the tests of trajectories take them."""
    return references.solve(rates, start, 2e-3 * np.arange(round(until / 2e-3) + 1))


def errors_in_many_digits(states, lagrangian, until):
    """Largest errors of angles and of rates, every 0.1 s."""
    states = states[: round(until / 2e-3) + 1 : 50]
    states = all_bars(states) if lagrangian is four_bar else states
    digits = many_digits.solve(symbolic.rates(*lagrangian()), states[0], 0.1, round(until / 0.1))
    errors = np.abs([[float(a - b) for a, b in zip(*rows)] for rows in zip(digits, states, strict=True)])
    half = errors.shape[1] // 2
    return errors[:, :half].max(), errors[:, half:].max()


@pytest.mark.parametrize("case", shortened(["planar from small angles", "slider-crank"], CASES))
def test_a_reference_keeps_its_energy_to_1e12_j_and_is_right_to_1e12_rad_against_40_digits_of_a_lagrangian_of_its_own(
    case,
):
    rates, lagrangian, energy, start, until, part = CASES[case]
    states = integrated(rates, start, until / 4)
    assert np.ptp(energy(states)) < 1e-12  # of 1 to 39 J that come and go
    angles, speeds = errors_in_many_digits(states, lagrangian, part)
    assert angles < 1e-12
    assert speeds < 1e-11  # up to 17 rad/s


@pytest.mark.campaign("more")
@pytest.mark.parametrize(
    ("case", "until", "tolerance"),
    [
        *later(
            [
                ("spatial", as_far_as(2.0, 1.0), 1e-12),
                ("planar", 5.0, 1e-12),
                ("planar from small angles", 5.0, 1e-12),
                ("slider-crank", 5.0, 1e-12),
                ("four-bar", as_far_as(2.0, 1.0), 1e-12),
            ]
        ),
        *whole([("spatial", 5.0, 1e-11)]),  # sensitive in its last two seconds
    ],
)
def test_a_reference_is_right_to_its_end(case, until, tolerance):
    rates, lagrangian, energy, start, _, _ = CASES[case]
    states = integrated(rates, start, until)
    assert np.ptp(energy(states)) < 1e-12
    angles, speeds = errors_in_many_digits(states, lagrangian, until)
    assert angles < tolerance
    assert speeds < 10 * tolerance


# --- quadrature ----------------------------------------------------------------------------------------------------------


@pytest.mark.campaign
def test_the_slider_crank_is_folded_when_the_quadrature_of_its_energy_says():
    """From rest at 45 degrees until both bars hang folded: t = integral of da / a', with pi/4 - a = root^2 as variable."""

    def slowness(root):
        mass = 1 + 4 * np.sin(pi / 4 - root**2) ** 2
        fallen = 2 * np.cos(pi / 4 - root**2 / 2) * np.sin(root**2 / 2)  # sin(pi/4) - sin(a), without cancellation
        return 2 * root * np.sqrt(mass / (2 * references.G * fallen))

    folded, _ = integrate.quad(slowness, 1e-12, np.sqrt(3 * pi / 4), epsabs=1e-14, epsrel=1e-13)
    times = np.append(np.linspace(0.0, folded, 500), folded + np.linspace(0.0, folded, 500)[1:])
    angle, rate = references.solve(references.slider_crank_rates, CRANK, times).T
    assert folded == pytest.approx(1.163, abs=1e-3)  # the thesis, Figure VI-15
    assert angle[499] == pytest.approx(-pi / 2, abs=1e-11)
    assert angle[-1] == pytest.approx(-5 * pi / 4, abs=1e-11)  # as far on the other side, and at rest
    assert rate[-1] == pytest.approx(0.0, abs=1e-11)


def test_the_slider_crank_is_the_planar_double_pendulum_held_on_a_line():
    """Where its points lie: bars of 1 m, the tip on the axis, the elbow half way along it."""
    elbow, tip = np.moveaxis(references.slider_crank(2e-2, 150), 1, 0)
    assert np.linalg.norm(elbow, axis=1) == pytest.approx(1.0, abs=1e-15)
    assert np.linalg.norm(tip - elbow, axis=1) == pytest.approx(1.0, abs=1e-15)
    assert np.all(tip[:, 1] == 0) and tip[:, 0].min() < -1.4


# --- (VI.1) --------------------------------------------------------------------------------------------------------------


def symbolic_pendulum():
    """Lagrange's equations of VI.2 and the print of (VI.1), as functions of the symbols of angles, rates, accelerations."""
    first, second = angles = dynamicsymbols("a b")
    m, length, g = sympy.symbols("m l g", positive=True)
    derived = symbolic.lagrange(planar_lagrangian(first, second, m, length, g), angles)
    d_first, d_second = rate(first), rate(second)
    inertia, c, s = m * length**2, sympy.cos(second), sympy.sin(second)
    mass = inertia * sympy.Matrix([[3 + 2 * c, 1 + c], [1 + c, 1]])
    weight = (
        m * g * length * sympy.Matrix([2 * sympy.sin(first) + sympy.sin(first + second), sympy.sin(first + second)])
    )
    print_has = sympy.Matrix([0, inertia * s * (d_first**2 + d_first * d_second)])
    printed = mass * sympy.Matrix([rate(rate(first)), rate(rate(second))]) + print_has + weight
    return angles, derived, printed, inertia


def test_the_print_of_vi_1_lacks_the_velocity_terms_of_its_first_row_and_has_one_too_many_in_its_second():
    """Mass matrix and weights are right; row 1 lacks -m l^2 sin b (2 a' b' + b'^2), row 2 has m l^2 sin b a' b' too many."""
    angles, derived, printed, inertia = symbolic_pendulum()
    d_first, d_second = (rate(angle) for angle in angles)
    lacking = [d - p for d, p in zip(derived, printed)]
    s = sympy.sin(angles[1])
    assert nothing(lacking[0] + inertia * s * (2 * d_first * d_second + d_second**2))
    assert nothing(lacking[1] + inertia * s * d_first * d_second)
    assert not any(map(nothing, lacking))


def nothing(expression):
    """Whether sines, cosines and their products cancel: as exponentials they do so term by term."""
    return sympy.expand(expression.rewrite(sympy.exp)) == 0


def test_the_planar_reference_and_the_one_of_the_gallery_are_the_symbolic_equations():
    rates = symbolic.rates(*planar())
    rng = np.random.default_rng(7)
    for state in rng.uniform(-3, 3, (20, 4)):
        expected = [float(x) for x in rates([float(x) for x in state])]
        assert references.planar_rates(0.0, state) == pytest.approx(expected, rel=1e-12, abs=1e-12)
        assert minimal.rates(tuple(state)) == pytest.approx(expected, rel=1e-12, abs=1e-12)


@pytest.mark.campaign
def test_the_two_rods_of_the_course_text_are_the_symbolic_equations():
    first, second = angles = dynamicsymbols("a b")
    parameters = {"masses": (1.3, 0.7), "lengths": (0.9, 1.4), "inertias": (0.5, 0.3)}
    (m2, m3), (l2, l3), (j2, j3) = (map(exact, pair) for pair in parameters.values())
    e2, e3 = (sympy.Matrix([sympy.sin(angle), -sympy.cos(angle)]) for angle in angles)
    lagrangian = (j2 * rate(first) ** 2 + j3 * rate(second) ** 2) / 2
    for mass, centre in ((m2, l2 * e2 / 2), (m3, l2 * e2 + l3 * e3 / 2)):
        lagrangian += mass * rate(centre).dot(rate(centre)) / 2 - mass * exact(1.7) * centre[1]
    rates = symbolic.rates(lagrangian, angles)
    rng = np.random.default_rng(11)
    for state in rng.uniform(-3, 3, (20, 4)):
        expected = [float(x) for x in rates([float(x) for x in state])]
        found = references.two_rods_rates(**parameters, gravity=1.7)(0.0, state)
        assert found == pytest.approx(expected, rel=1e-12, abs=1e-12)


# --- our four-bars -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dimension", [2, 3], ids=["planar", "spatial, three times redundant"])
def test_our_four_bar_follows_its_reference_at_second_order(dimension):
    reference = references.four_bar(2e-3, 200)
    errors = []
    for dt in (4e-4, 2e-4, 1e-4):
        with Simulation(mechanisms.four_bar(dimension), dt, record_every=round(2e-3 / dt)) as simulation:
            run = simulation.run(0.4)
        ends = np.stack([run.position("crank.end"), run.position("coupler.end")], axis=1)
        errors.append(np.linalg.norm(ends[..., :2] - reference, axis=-1).max())
    assert references.orders(errors).min() >= 1.9
    assert errors[-1] < (2e-4 if dimension == 2 else 1e-3)  # of ends that run at up to 5 m/s
