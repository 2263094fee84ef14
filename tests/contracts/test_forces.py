"""Laws that every force keeps, whatever its type."""

import numpy as np
import pytest

import zoo
from components import Prismatic, Revolute
from coordinator import Glued, Penalty, Simulation
from modular import Assembly, Component

every_exerted_force = pytest.mark.parametrize(("force_type", "dimension"), zoo.EXERTED, ids=zoo.label)
every_force = pytest.mark.parametrize(("force_type", "dimension"), zoo.FORCES, ids=zoo.label)


def loaded(force, dimension):
    assembly = Assembly(gravity=(0.0,) * dimension)
    a, b, c = zoo.PLACES[dimension]
    spin = 0.8 if dimension == 2 else (0.5, -0.7, 0.9)  # what only takes energy has something to take
    assembly.add("left", zoo.full(dimension, a, b, velocity=(0.3, -0.2, 0.4)[:dimension]))
    assembly.add("right", zoo.full(dimension, b, c, angular_velocity=spin))
    assembly.apply("force", force, *("left.end", "right.end", "ground")[: force.sides])
    return assembly


@every_force
def test_data_describe_a_force_completely(force_type, dimension):
    force = force_type.example(dimension)
    assert Component.from_data(force.to_data()) == force
    model = loaded(force, dimension)
    assert Assembly.from_data(model.to_data()).to_data() == model.to_data()


@every_exerted_force
def test_its_work_is_the_energy_that_it_brings(force_type, dimension):
    rests = []
    for dt in (2e-3, 1e-3):
        with Simulation(loaded(force_type.example(dimension), dimension), dt) as simulation:
            run = simulation.run(0.4)
        assert abs(run.work("force")[-1]) > 1e-3
        rests.append(np.abs(run.work("force") - (run.energy - run.energy[0])).max())
    assert rests[1] < 0.3 * rests[0] or rests[0] < 1e-9


@every_exerted_force
def test_it_goes_without_a_trace(force_type, dimension):
    with Simulation(loaded(force_type.example(dimension), dimension), 1e-3) as simulation:
        simulation.run(0.1)
        simulation.remove("force")
        before = sum(body.momentum(*states(simulation, name)) for name, body in simulation.assembly.bodies.items())
        simulation.run(0.2)
        after = sum(body.momentum(*states(simulation, name)) for name, body in simulation.assembly.bodies.items())
    assert after == pytest.approx(before, abs=1e-13)
    assert not simulation.system.force_stacks


@every_exerted_force
@pytest.mark.parametrize("coupling", [Penalty(), Glued()], ids=["penalty", "glued"])
def test_beside_a_joint_that_turns_whole_runs_are_driven_without_coming_back_to_python(force_type, dimension, coupling):
    """Stiffness is chosen anew at every tick then, and forces are asked what they leave of the step."""
    model = loaded(force_type.example(dimension), dimension)
    joint = Prismatic(axis=(0.6, 0.8)) if dimension == 2 else Revolute(axis=(0.3, 0.5, 0.9))
    model.join("turning", joint, "ground", "left.start")
    with Simulation(model, 1e-4, coupling, project_velocities=True) as simulation:
        assert simulation.system.turns
        simulation.engine.run(simulation, 5)
        assert simulation.tick == 5


def states(simulation, name):
    state = simulation.body(name).state()
    return state["q"][0], state["v"][0]
