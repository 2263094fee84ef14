"""Minimal coordinates where something elastic is stiffer than an explicit method can follow: implicitly, or with a named cause."""

import numpy as np
import pytest

import references
import scenarios
from campaign import first_of, later, more, named
from components import Beam, Fixed, ModalBody, RigidBody, SpringDamper
from coordinator import (
    GGL,
    HHT,
    AugmentedLagrangian,
    Centralized,
    Checkpoints,
    Glued,
    MinimalCoordinates,
    Simulation,
    resume,
)
from modular import Assembly, Diverged
from solvers import simulate


def welded(elements, dimension=2, young=2e9, modes=0):
    """A cantilever in two parts, welded at the wall and to each other; let go under its weight."""
    wall, middle, tip = ((x, 0.0, 0.0)[:dimension] for x in (0.0, 0.4, 1.0))
    model = Assembly(gravity=(0.0, -9.81, 0.0)[:dimension])
    for name, start, end in (("root", wall, middle), ("rest", middle, tip)):
        beam = Beam.of_rectangle(start, end, width=0.02, height=0.02, density=1000.0, young=young, elements=elements)
        model.add(name, ModalBody.of_beam(beam, modes) if modes else beam)
    model.join("wall", Fixed(), "ground", "root.start")
    model.join("weld", Fixed(), "root.end", "rest.start")
    return model


def tip(model, coupling, dt, until=0.012):
    with Simulation(model, dt, coupling) as simulation:
        return simulation.run(until).position("rest.end")[-1]


@pytest.mark.parametrize(
    ("elements", "dimension", "modes"),
    [(1, 2, 0), (6, 2, 3), *more([(4, 2, 0), (16, 2, 0), (32, 2, 0), (2, 3, 0), (8, 3, 0), (6, 3, 4)])],
)
def test_welded_beams_and_modal_bodies_fall_as_glued_ones_in_fine_steps(elements, dimension, modes):
    """At 1 ms, up to a hundred times what an explicit step can follow. What its step cannot resolve it damps, 1e-3 of the fall."""
    model = welded(elements, dimension, modes=modes)
    fine = tip(model, Glued(), 4e-5)
    fallen = abs(fine[1])
    assert fallen > 5e-4
    for solver in (MinimalCoordinates(), HHT()):
        found = tip(model, Centralized(solver), 1e-3)
        assert np.abs(found - fine).max() < (3e-3 if isinstance(solver, MinimalCoordinates) else 3e-2) * fallen, solver


@pytest.mark.short(1, each=True)
@pytest.mark.parametrize("solver", [GGL(), AugmentedLagrangian()], ids=lambda solver: type(solver).__name__)
@pytest.mark.parametrize(("elements", "dimension", "modes"), [(6, 2, 3), *later([(2, 2, 1), (6, 3, 4)])])
def test_solvers_with_multipliers_hold_welded_modal_bodies_too(elements, dimension, modes, solver):
    model = welded(elements, dimension, modes=modes)
    fine = tip(model, Glued(), 5e-5)
    assert np.abs(tip(model, Centralized(solver), 5e-4) - fine).max() < 3e-2 * abs(fine[1])


def test_what_rings_faster_than_the_step_dies_out_and_the_rest_keeps_its_energy():
    """A cantilever of steel: a thousandth of the work of its weight at most goes into what is not resolved."""
    with Simulation(welded(2), 2e-3, Centralized(MinimalCoordinates())) as simulation:
        run = simulation.run(0.03)
    assert np.abs(run.energy - run.energy[0]).max() < 1e-3 * np.ptp(run.kinetic_energy())
    assert max(np.nanmax(np.abs(run.violation(name))) for name in run.joints) < 1e-13


def test_the_implicit_method_is_of_order_five():
    reference = references.planar_double_pendulum((np.pi / 2, -np.pi / 2), 2e-2, 10)[:, 1]
    errors = []
    for dt in (2e-2, 1e-2):
        run = simulate(scenarios.load("double-pendulum"), MinimalCoordinates("RadauIIA"), dt, 0.2)
        errors.append(np.abs(run.position("lower.end")[:: round(2e-2 / dt)] - reference).max())
    assert references.orders(errors)[0] >= 4.7


def sprung(stiffness):
    """A mass between two springs; rad/s: the root of 2 k."""
    model = Assembly(gravity=(0.0, 0.0))
    model.add("mass", RigidBody(mass=1.0, inertia=0.1, centre=(0.0, 0.0), ports={"G": (0.0, 0.0)}, velocity=(0.3, 0.1)))
    for side, x in (("left", -1.0), ("right", 1.0)):
        model.apply(side, SpringDamper(stiffness=stiffness, length=0.9), "ground", "mass.G", at=(x, 0.0))
    return model


@pytest.mark.parametrize("model", [sprung(1e3), welded(1, young=1e6)], ids=["springs", "beams"])
def test_left_out_the_method_is_rk4_to_the_bit_where_that_can_follow(model):
    states = [simulate(model, MinimalCoordinates(*given), 1e-3, 5e-3).energy for given in ((), ("RK4",))]
    assert np.array_equal(*states)


@pytest.mark.parametrize(
    ("model", "body"),
    first_of(2, [(sprung(1e8), "mass"), (welded(8), "root"), (welded(3, modes=2), "rest")]),
    ids=named,
)
def test_a_named_method_that_cannot_follow_names_the_body_its_rate_and_what_helps(model, body):
    """Followed: the step that it names holds, and so does the method that it names."""
    with (
        pytest.raises(Diverged, match=rf"RK4 cannot follow it: body '{body}' .* rad/s, .* leave method out") as told,
        Simulation(model, 1e-3, Centralized(MinimalCoordinates("RK4"))) as simulation,
    ):
        simulation.run(3e-3)
    step = told.value.holding_step
    with Simulation(model, step, Centralized(MinimalCoordinates("RK4"))) as simulation:
        held = simulation.run(20 * step)
    assert np.abs(held.energy).max() < 0.1  # nothing grows
    with Simulation(model, 1e-3, Centralized(MinimalCoordinates())) as simulation:
        simulation.run(3e-3)


def test_a_run_that_was_stopped_goes_on_implicitly_to_the_same_bits(tmp_path):
    """A checkpoint keeps which method was chosen."""
    model, coupling = welded(3), Centralized(MinimalCoordinates())
    with Simulation(model, 1e-3, coupling) as simulation:
        simulation.run(3e-3)
        Checkpoints(tmp_path).write(simulation)
        whole = simulation.run(6e-3).digest
    with resume(tmp_path) as simulation:
        assert simulation.run(6e-3).digest == whole
