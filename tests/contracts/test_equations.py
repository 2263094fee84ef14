"""What bodies and joints write down for centralized solvers is what they do."""

import numpy as np
import pytest

import zoo
from campaign import shortened
from components import SpringDamper
from coordinator import Centralized, Simulation
from coordinator.couplings.centralized.equations import Equations
from coordinator.couplings.centralized.freedoms import find_freedoms
from coordinator.couplings.centralized.tangents import curvature, force_tangents
from modular import Assembly
from modular.body import GivesEquations

IDS = {"ids": zoo.label}
LED_IN_SPACE = [
    (cls, dimension) for cls, dimension in zoo.JOINTS if cls.__name__.startswith("Driven") and dimension == 3
]
WRITTEN = shortened([case for case in zoo.JOINTS if case not in LED_IN_SPACE], zoo.JOINTS)


@pytest.fixture(params=zoo.BODIES, ids=lambda case: f"{case[0].__name__}-{case[1]}")
def lone(request):
    """One body of a type, its stack and its coordinates."""
    cls, dimension = request.param
    assembly = Assembly(gravity=(0.4, -9.81, 0.7)[:dimension])
    body = cls.example(dimension)
    assembly.add("body", body)
    simulation = Simulation(assembly, 1e-3, Centralized())
    stack = next(iter(simulation.system.bodies_as(GivesEquations)))
    return body, assembly.gravity, stack, simulation


def test_the_mass_is_that_of_the_kinetic_energy(lone):
    body, _, stack, _ = lone
    q, v = (stack.state()[key][0] for key in ("q", "v"))
    assert 0.5 * v.ravel() @ stack.mass()[0] @ v.ravel() == pytest.approx(body.kinetic_energy(q, v), rel=1e-13)


def test_the_drive_is_minus_the_slope_of_the_potential_energy(lone):
    body, gravity, stack, _ = lone
    stack.state()["v"][:] = 0.0
    q = stack.state()["q"][0]
    steps = 3e-4 * np.eye(q.size).reshape(-1, *q.shape)

    def across(step):
        return body.potential_energy(q + step, gravity) - body.potential_energy(q - step, gravity)

    slope = [(8.0 * across(step) - across(2.0 * step)) / (12.0 * 3e-4) for step in steps]  # strains are no quadratics
    assert np.allclose(stack.drive()[0].ravel(), -np.array(slope), atol=1e-10)


def test_what_moves_adds_to_the_drive_what_lagrange_finds_in_the_mass_matrix(lone):
    """-dM/dt v + d(v M v / 2)/dq, but for what the internal constraints take up."""
    _, _, stack, _ = lone
    q, v = (stack.state()[key] for key in ("q", "v"))
    start, pace = q[0].copy(), v[0].ravel().copy()

    def mass(at):
        q[0] = at
        return stack.mass()[0]

    steps = 1e-5 * np.eye(start.size).reshape(-1, *start.shape)
    slopes = np.array([(mass(start + step) - mass(start - step)) / 2e-5 for step in steps])  # of q_k, (k, k, k)
    q[0] = start
    expected = 0.5 * np.einsum("kij,i,j->k", slopes, pace, pace) - np.einsum("kij,k,j->i", slopes, pace, pace)
    moving = stack.drive()[0]
    v[:] = 0.0
    jacobian = stack.closure()[2][0]
    along = np.eye(start.size) - np.linalg.pinv(jacobian) @ jacobian
    assert np.allclose(along @ (moving - stack.drive()[0]), along @ expected, atol=1e-8)


def test_the_closure_is_the_internal_violation_with_its_slope(lone):
    body, _, stack, _ = lone
    state = stack.state()
    rng = np.random.default_rng(4)
    state["q"][:] += 0.05 * rng.normal(size=state["q"].shape)
    error, rate, jacobian = stack.closure()
    q, v = state["q"][0].copy(), state["v"][0].copy()
    assert np.allclose(error[0], body.internal_violation(q), atol=1e-14)
    assert np.allclose(rate[0], body.internal_violation_rate(q, v), atol=1e-14)
    assert np.allclose(jacobian[0] @ v.ravel(), rate[0], atol=1e-13)
    for k, step in enumerate(1e-3 * np.eye(q.size).reshape(-1, *q.shape)):
        slope = (body.internal_violation(q + step) - body.internal_violation(q - step)) / 2e-3
        assert np.allclose(jacobian[0][:, k], slope, atol=1e-10)


@pytest.mark.parametrize(("cls", "dimension"), WRITTEN, **IDS)
def test_the_jacobian_of_a_joint_gives_its_rates_and_its_bias_their_slope(cls, dimension):
    simulation = Simulation(
        zoo.pair(cls.example(dimension), dimension, left={"velocity": (0.2, -0.1, 0.3)[:dimension]}),
        1e-3, Centralized(), project_velocities=True,
    )  # fmt: skip
    equations = Equations(simulation.system)
    rng = np.random.default_rng(7)
    q, _ = equations.read()
    v = rng.normal(size=equations.size)
    equations.go(q, v)
    assert np.allclose(equations.jacobian() @ v, equations.rates(), atol=1e-12)
    h = 1e-4
    beside = []
    for side in (h, -h):
        equations.go(q + side * v, v)
        beside.append(equations.rates())
    assert np.allclose(equations.bias(q, v), (beside[0] - beside[1]) / (2 * h), atol=1e-6)
    multipliers = rng.normal(size=equations.rows)
    bend = curvature(equations, q, v, multipliers)
    beside = []
    for side in (h, -h):
        equations.go(q + side * v, v)
        beside.append(equations.jacobian().T @ multipliers)
    assert np.allclose(bend @ v, (beside[0] - beside[1]) / (2 * h), atol=1e-6)


@pytest.mark.parametrize("dimension", [2, 3])
def test_force_tangents_are_the_slopes_of_the_forces(dimension):
    from components import Spherical

    assembly = zoo.pair(Spherical(), dimension, gravity=(0.0, -9.81, 0.0)[:dimension])
    assembly.apply("spring", SpringDamper(stiffness=30.0, damping=2.0, length=0.3), "left.start", "right.end")
    assembly.apply(
        "tie", SpringDamper(stiffness=7.0, damping=0.4), "ground", "right.end", at=(0.3, 0.8, 0.2)[:dimension]
    )
    equations = Equations(Simulation(assembly, 1e-3, Centralized()).system)
    rng = np.random.default_rng(5)
    q, _ = equations.read()
    v, step = rng.normal(size=(2, equations.size))
    equations.go(q, v)
    stiffness, damping = force_tangents(equations, 0.0)
    found = {}
    for name, dq, dv in (("q", step, 0.0), ("v", 0.0, step)):
        beside = []
        for h in (1e-5, -1e-5):
            equations.go(q + h * dq, v + h * dv)
            beside.append(equations.forces(0.0))
        found[name] = -(beside[0] - beside[1]) / 2e-5
    assert np.allclose(stiffness @ step, found["q"], atol=1e-5)
    assert np.allclose(damping @ step, found["v"], atol=1e-5)


@pytest.mark.parametrize(("cls", "dimension"), WRITTEN, **IDS)
def test_independent_motions_are_those_that_the_joint_leaves(cls, dimension):
    joint = cls.example(dimension)
    simulation = Simulation(zoo.pair(joint, dimension), 1e-3, Centralized())
    simulation.system.show()
    equations = Equations(simulation.system)
    form = simulation.system.joint_home["joint"].stack.form
    freedoms = find_freedoms(equations)
    rigid = 3 if dimension == 2 else 6
    assert freedoms.number == 2 * rigid - form.locks
    assert np.allclose(equations.jacobian() @ freedoms.basis, 0.0, atol=1e-12)
    assert freedoms.tree == {"left": rigid, "joint": rigid - form.locks} and freedoms.loops == []
    assert len(freedoms.kept) == equations.size - freedoms.number
