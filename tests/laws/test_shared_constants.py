"""What bodies of one make have in common is kept once, and nobody can tell."""

import numpy as np
import pytest

import scenarios
from components import RigidBody, Rod, Spherical
from components.bodies.natural import stack as natural_stack
from coordinator import Penalty, Shannon, Simulation
from modular import Assembly
from modular.shared_constants import group_equal


def mixed_chain():
    """Rods and full bodies, some alike and some not, in an order that mixes them."""
    model = Assembly()
    for k in range(14):
        start, end = (0.3 * k, 0.0, 0.0), (0.3 * (k + 1), 0.0, 0.0)
        if k % 3 == 1:
            ports = {"start": start, "end": end, "top": (0.3 * k, 0.1, 0.0)}
            centre = (0.3 * k + 0.1, 0.02, 0.0)
            model.add(f"b{k}", RigidBody(mass=1.0, inertia=(0.01, 0.02, 0.025), centre=centre, ports=ports))
        else:
            model.add(f"b{k}", Rod(start, end, 0.5 + 0.1 * (k % 2), 0.02))
        model.join(f"j{k}", Spherical(), f"b{k - 1}.end" if k else "ground", f"b{k}.start")
    return model


@pytest.mark.parametrize("coupling", [Penalty(), Penalty(rule=Shannon(delta=0.1))])
def test_a_make_of_its_own_for_every_body_changes_no_bit(coupling, monkeypatch):
    def go():
        with Simulation(mixed_chain(), 1e-3, coupling) as simulation:
            simulation.run(0.05)
            simulation.cut("j5")
            digest = simulation.run(0.1).digest
            (stack,) = simulation.system.bodies
            return digest, len(np.unique(stack.make[: stack.count]))

    together, makes = go()
    monkeypatch.setattr(natural_stack, "group_equal", lambda keys: group_equal(range(len(keys))))
    alone, many = go()
    assert makes < many == 14
    assert together == alone


def test_a_long_chain_of_equal_rods_has_few_makes():
    with Simulation(scenarios.load("chain", bodies=300), 1e-4) as simulation:
        (stack,) = simulation.system.bodies
        assert len(stack.gram) < 30  # not one: places are rounded, and so are lengths between them


def test_rods_of_another_mass_are_of_another_make():
    model = Assembly()
    for k in range(12):
        model.add(f"rod{k}", Rod((0.0, k, 0.0), (1.0, k, 0.0), 1.0 + k % 3, 0.02))
    with Simulation(model, 1e-3) as simulation:
        (stack,) = simulation.system.bodies
        assert len(stack.gram) == 3
        assert np.allclose(stack.each("slip"), [(1.0 + k % 3) ** -0.5 for k in range(12)], rtol=1e-15)


def test_bodies_that_come_and_go_leave_no_makes_behind():
    rng = np.random.default_rng(1)
    with Simulation(scenarios.load("chain", bodies=3), 1e-3) as simulation:
        (stack,) = simulation.system.bodies
        held = set()
        for k in range(40):
            end = tuple(rng.normal(size=3))
            simulation.add(f"guest{k}", Rod((0.0, 5.0, 0.0), end, 1.0, 0.05))
            q = stack.q[stack.row[f"guest{k}"]]
            assert np.allclose(stack.each("gram")[-1], np.diag([np.sum((q[1] - q[0]) ** 2), 1.0, 1.0]))
            simulation.step()
            simulation.remove(f"guest{k}")
            held.add(len(stack.gram))
        assert len(held) == 1
