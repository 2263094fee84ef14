"""Physics is written once: the kernel of a component gives the same bits for one alone, in numbers, and for many, in lanes."""

import numpy as np
import pytest

from components import PointMassRod, Revolute, RigidBody, Rod
from components.bodies.natural.kernels import numbers_workspace, solve_locally
from components.bodies.scheme import DAMPING, ITERATIONS, MORE, STIFFNESS
from components.joints.rows import align, coincide
from coordinator import Simulation
from modular import Assembly
from modular.elements import Elements
from modular.internal_gains import InternalGains
from modular.newmark import Newmark
from modular.side import Mark

BODIES = {
    "point mass": lambda d: RigidBody(
        mass=1.3, inertia=0 if d == 2 else (0, 0, 0), centre=(0.1, 0.2, 0.3)[:d], velocity=(1.0, -2.0, 0.5)[:d]
    ),
    "slender rod": lambda d: Rod((0.0, 0.1, 0.3)[:d], (0.5, -0.3, 0.7)[:d], 0.4),
    "two masses": lambda d: PointMassRod((0.0, 0.1, 0.3)[:d], (0.5, -0.3, 0.7)[:d], (0.4, 0.3)),
    "full body": lambda d: RigidBody.example(d),
}


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("kind", BODIES)
@pytest.mark.parametrize("count", [1, 3, 4, 9])
def test_a_body_alone_and_among_others_has_the_same_acceleration_to_the_bit(kind, dimension, count):
    rng = np.random.default_rng(count)
    body = BODIES[kind](dimension)
    stack, elements = body.new_stack(), Elements(dimension)
    names = [f"body{k}" for k in range(count)]
    stack.add_many(names, [body] * count)
    stack.gravity = rng.normal(size=dimension)
    stack.configure(Newmark(), InternalGains(), 1e-3)
    e = len(body.elements)
    forces = {}
    for name in names:
        row = stack.row[name]
        stack.v[row] += rng.normal(size=(e, dimension))
        element, weights = elements.acquire(1), rng.normal(size=e)
        stack.attach(name, element, Mark(weights, np.zeros(dimension)))
        elements.force[element] = rng.normal(size=dimension)
        forces[name] = 0.0 + weights[:, None] * elements.force[element]
    stack.play("reevaluate", elements)
    gains = stack.gains
    for name in names:
        row, a = stack.row[name], np.empty((e, dimension))
        make = stack.make[row]
        solve_locally(
            stack.q[row], stack.v[row], stack.v[row], forces[name], stack.inverse_mass[make], stack.inverse_local[make],
            stack.gram[make], stack.fall[make], stack.points, stack.gravity, gains[STIFFNESS], gains[DAMPING],
            1.0, int(gains[ITERATIONS]), int(gains[MORE]), numbers_workspace(e, dimension), a,
        )  # fmt: skip
        assert np.array_equal(a, stack.a[row])


@pytest.mark.parametrize("count", [1, 4, 6])
def test_the_rows_of_a_joint_alone_and_among_others_are_the_same_to_the_bit(count):
    """Hinges between full bodies that turn apart."""
    model = Assembly(gravity=(0.0, 0.0, -9.81))
    for k in range(count):
        model.add(f"left{k}", Rod((k, 0.0, 0.0), (k, 0.4, 0.1), 0.5, 0.03))
        model.add(f"right{k}", Rod((k, 0.4, 0.1), (k + 0.3, 0.5, -0.2), 0.3, 0.02))
        model.join(f"pin{k}", Revolute(axis=(0.3, -0.5, 0.1 + k)), f"left{k}.end", f"right{k}.start")
    with Simulation(model, 1e-3) as simulation:
        (joints,) = simulation.system.joints
        simulation.run(0.02)
        elements = simulation.system.elements
        elements.position[1:] += np.random.default_rng(count).normal(size=elements.position[1:].shape)
        joints.linearise(elements)
        for row in range(count):
            error, first, second = np.zeros(6), np.zeros((6, 2, 3)), np.zeros((6, 2, 3))
            a, b = (elements.position[start[row] : start[row] + 2] for start in (joints.first, joints.second))
            coincide(a, b, 0, error, first, second)
            align(a, b, 3, 1, 1, error, first, second)
            assert np.array_equal(error, joints.error[row])
            assert np.array_equal(first, joints.on_first[row])
            assert np.array_equal(second, joints.on_second[row])
