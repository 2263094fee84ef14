"""What a run has recorded speaks against it where joints give way by more than a hundredth of the extent of the model."""

import re
import warnings

import numpy as np
import pytest

import scenarios
from campaign import first_of
from components import Beam, Fixed, Revolute, RigidBody
from coordinator import GGL, HHT, AugmentedLagrangian, Centralized, Glued, Penalty, Run, Simulation, VerdictWarning
from modular import Assembly


def cantilever(elements=8):
    """Clamped by a weld, under its own weight: a soft beam whose weld is softer still at a coarse step."""
    model = Assembly(gravity=(0.0, -9.81))
    beam = Beam.of_rectangle((0, 0), (1.0, 0), width=0.02, height=0.02, density=1000.0, young=2e9, elements=elements)
    model.add("beam", beam)
    model.join("wall", Fixed(), "ground", "beam.start")
    return model


def verdicts(run):
    return [event for event in run.events if event["kind"] == "verdict"]


def test_a_weld_that_is_softer_than_what_it_holds_is_named_with_a_step_that_helps():
    words = r"joint 'wall' has .* given by .* rad .*Remedy: take dt = "
    with Simulation(cantilever(), 1e-3) as simulation, pytest.warns(VerdictWarning, match=words) as said:
        run = simulation.run(0.5)
    (found,) = verdicts(run)
    assert found["name"] == "wall" and found["share"] > 0.01
    step = float(re.search(r"take dt = ([0-9.e-]+) s", str(said[0].message))[1])
    with Simulation(cantilever(), step, record_every=4) as simulation, warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not verdicts(simulation.run(0.5))


@pytest.mark.parametrize(
    "name", ["double-pendulum", "double-pendulum-3d", "slider-crank", "cardan-shaft", "switching-pendulum"]
)
def test_what_is_held_well_is_not_spoken_against(name):
    with Simulation(scenarios.load(name), 1e-3) as simulation, warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not verdicts(simulation.run(1.0))


def test_it_hangs_on_the_samples_and_not_on_how_they_were_made(tmp_path):
    model = cantilever(2)
    runs = []
    for parts in (1, 4):
        with Simulation(model, 4e-3) as simulation:
            for k in range(parts):
                simulation.run(0.4 * (k + 1) / parts)
                assert len(verdicts(simulation.recorded)) <= 1
            runs.append(simulation.recorded)
    with Simulation(model, 4e-3) as simulation:
        while simulation.tick < 100:
            simulation.step()
        runs.append(simulation.recorded)
    assert verdicts(runs[0])
    assert runs[0].events == runs[1].events == runs[2].events
    runs[0].save(tmp_path / "run")
    assert verdicts(Run.load(tmp_path / "run")) == verdicts(runs[0])


def test_glued_joints_give_nothing():
    with Simulation(cantilever(2), 1e-3, Glued()) as simulation:
        assert not verdicts(simulation.run(0.1))


def test_a_light_body_between_two_joints_rings_and_the_run_says_so():
    """Its joints are as stiff as its step allows, which is not enough to carry what hangs on it."""
    model = Assembly(gravity=(0.0, -9.81))
    model.add("link", RigidBody(mass=0.02, inertia=1e-6, centre=(0.1, 0.05), ports={"top": (0, 0), "low": (0.3, 0)}))
    model.add("load", RigidBody(mass=20.0, inertia=0.5, centre=(0.5, -0.2), ports={"hook": (0.3, 0)}))
    model.join("pin", Revolute(), "ground", "link.top")
    model.join("eye", Revolute(), "link.low", "load.hook")
    with Simulation(model, 1e-3, Penalty()) as simulation:
        run = simulation.run(0.1)
    gap = np.linalg.norm(run.violation("eye"), axis=1).max()
    assert gap > 0.005 and "eye" in {event["name"] for event in verdicts(run)}


@pytest.mark.parametrize("solver", [HHT(), GGL(), AugmentedLagrangian()], ids=lambda solver: type(solver).__name__)
@pytest.mark.parametrize("elements", first_of(1, [4, 2, 8, 16, 32]))
def test_solvers_of_the_whole_hold_a_welded_beam(elements, solver):
    """They know how what is elastic in it changes (coordinator/centralized/tangents.py)."""
    paths = []
    for coupling, dt in ((Glued(), 5e-4), (Centralized(solver), 1e-3)):
        with Simulation(cantilever(elements), dt, coupling, record_every=round(1e-3 / dt)) as simulation:
            paths.append(simulation.run(0.03).position("beam.end"))
    assert np.abs(paths[0] - paths[1]).max() < 3e-3 * np.abs(paths[0] - paths[0][0]).max()
