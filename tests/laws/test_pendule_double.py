"""The third way of the course text "Pendule double", part 4: forces of hinges from equal accelerations, entry by entry."""

import itertools

import numpy as np
import sympy

from components import NewtonEulerBody, Revolute
from coordinator.equations import equations
from modular import Assembly
from scenarios.handmade import solve


def bars():
    model = Assembly(gravity=(1.0, 0.0))
    for name, start in (("upper", 0.0), ("lower", 1.0)):
        ports = {"start": (start, 0.0), "end": (start + 1.0, 0.0)}
        model.add(name, NewtonEulerBody(mass=1.0, inertia=1.0, centre=(start + 0.5, 0.0), ports=ports))
    model.join("pivot", Revolute(), "ground", "upper.start")
    model.join("elbow", Revolute(), "upper.end", "lower.start")
    return model


def test_the_system_of_the_text_is_what_joints_see():
    found = equations(bars())
    m2, J2, m3, J3, g = (found.parameter(name) for name in
                         ("upper.mass", "upper.inertia", "lower.mass", "lower.inertia", "gravity"))  # fmt: skip
    theta2, theta3 = (one for one in found.coordinates if one.name.endswith("theta"))
    omega2, omega3 = (one for one in found.rates if one.name.endswith("theta'"))
    half = sympy.Rational(1, 2)
    # as its program has them, with F = (Fx12, Fy12, Fx32, Fy32)
    K21, L21 = -half * sympy.cos(theta2), -half * sympy.sin(theta2)
    K23, L23, K32, L32 = -K21, -L21, -half * sympy.cos(theta3), -half * sympy.sin(theta3)
    cross, both = -L23 * K23 / J2 - L32 * K32 / J3, 1 / m2 + 1 / m3
    A = sympy.Matrix([
        [1 / m2 + L21 * L21 / J2, -L21 * K21 / J2, 1 / m2 + L21 * L23 / J2, -L21 * K23 / J2],
        [-L21 * K21 / J2, 1 / m2 + K21 * K21 / J2, -K21 * L23 / J2, 1 / m2 + K21 * K23 / J2],
        [1 / m2 + L23 * L21 / J2, -L23 * K21 / J2, both + L23 * L23 / J2 + L32 * L32 / J3, cross],
        [-K23 * L21 / J2, 1 / m2 + K23 * K21 / J2, cross, both + K23 * K23 / J2 + K32 * K32 / J3],
    ])  # fmt: skip
    B = sympy.Matrix([
        -g + omega2**2 * K21, omega2**2 * L21,
        omega2**2 * K23 - omega3**2 * K32, omega2**2 * L23 - omega3**2 * L32,
    ])  # fmt: skip
    # hinges exert -lambda on their second side: bar 2 at the pivot, bar 3 at the elbow
    turned = sympy.diag(-1, -1, 1, 1)
    compliance = found.G * found.M.inv() * found.G.T
    right = found.G * found.M.inv() * found.Q - found.gammas
    assert sympy.simplify(turned * compliance * turned - A) == sympy.zeros(4, 4)
    assert sympy.simplify(turned * right - B) == sympy.zeros(4, 1)


def test_its_programs_err_by_their_first_order():
    ends = [solve("newton-euler", dt, 2.0).positions[-1, 1] for dt in (4e-3, 2e-3, 1e-3)]
    first, second = (np.linalg.norm(b - a) for a, b in itertools.pairwise(ends))
    assert 1.7 < first / second < 2.3
