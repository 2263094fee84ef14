"""Compiled steps of H.H.T. move as the same equations do in Python, on every path, and cost no more than they should."""

import numpy as np
import pytest

import scenarios
import zoo
from campaign import some
from components import Bushing, KnifeEdge, Revolute, RigidBody, Screw, SpringDamper
from coordinator import HHT, Centralized, Simulation
from coordinator.couplings.centralized.compiled.elimination import lay_out
from coordinator.couplings.centralized.solver import Solver
from modular import Assembly
from random_assemblies import random_assembly
from scenarios.bench.models import chain

TURNING = {"velocity": (0.4, -0.3, 0.5), "angular_velocity": (0.9, -0.7, 1.2)}


def bushed():
    """Three bars in stiff bushings, one of them tied to the ground by a spring that resists turning."""
    model = Assembly(gravity=(0.3, -9.81, 0.5))
    for k in range(3):
        ports = {"a": (0.1 * k, 0.0, 0.0), "b": (0.1 * (k + 1), 0.01, 0.02)}
        inertia = (1.1e-3, 1.4e-3, 0.9e-3)
        model.add(f"bar{k}", RigidBody(mass=1.0, inertia=inertia, centre=(0.1 * k + 0.04, 0.0, 0.0), ports=ports))
    model.join("hinge", Revolute(axis=(0.1, 0.2, 1.0)), "ground", "bar0.a")
    for k in (1, 2):
        model.apply(f"bush{k}", Bushing(1e6, 1e3, 5e4, 50.0), f"bar{k - 1}.b", f"bar{k}.a")
    model.apply("spring", SpringDamper(stiffness=4e4, damping=20.0, length=0.1), "bar0.b", "bar2.b")
    return model


def plane():
    model = zoo.pair(KnifeEdge.example(2), 2, "slender", gravity=(0.3, -9.81))
    model.apply("spring", SpringDamper(stiffness=400.0, damping=2.0, length=0.4), "left.start", "right.end")
    return model


# redundant rows, springs between bodies, rows of every degree and of velocities alone, the plane and space
MODELS = {
    "governor": (lambda: scenarios.load("flyball-governor"), 4e-3, 25),
    "slider-crank": (lambda: scenarios.load("slider-crank"), 5e-3, 25),
    "bushings": (bushed, 1e-3, 25),
    "screw": (lambda: zoo.pair(Screw.example(3), 3, gravity=(0.3, -9.81, 0.5), left=TURNING), 5e-3, 12),
    "plane": (plane, 5e-3, 12),
}


def stood(simulation):
    """Coordinates, velocities, books and reactions as it stands."""
    system = simulation.local_system
    found = list(system.cache["equations"].read())
    found += [stack.ledger[: stack.count].ravel().copy() for stack in system.booked]
    return [*found, *(joints.wrenches(system.elements).ravel().copy() for joints in system.joints)]


def moved(model, dt, ticks, *, plain=False, single=False):
    with pytest.MonkeyPatch.context() as patch:
        if plain:
            patch.setattr(HHT, "compiled_step", Solver.compiled_step)
        with Simulation(model, dt, Centralized(HHT()), project_velocities=True) as simulation:
            if single:
                for _ in range(ticks):
                    simulation.step()
            else:
                simulation.run(ticks * dt)
            step = simulation.local_system.cache.get("whole step", (None, None))[1]
            assert plain == (step is None)
            return stood(simulation), step


def apart(one, other):
    """The largest difference, as a share of what each kind of number is at most, and of one."""
    sizes = [max(1.0, float(np.abs(x).max(initial=0.0))) for x in one]
    return [float(np.abs(x - y).max(initial=0.0)) / size for x, y, size in zip(one, other, sizes, strict=True)]


@pytest.mark.parametrize("name", MODELS)
def test_compiled_steps_move_as_plain_ones(name):
    make, dt, ticks = MODELS[name]
    plain, _ = moved(make(), dt, ticks, plain=True)
    compiled, step = moved(make(), dt, ticks)
    assert step.iterations > ticks
    # what Newton's iteration leaves, 1e-12 of the extent, goes through h^2 into accelerations, and so into reactions
    assert max(apart(plain, compiled)) < 1e-7
    assert apart(plain, compiled)[0] < 1e-10


@pytest.mark.campaign("more")
@pytest.mark.parametrize("seed", range(some(60)))
def test_so_do_models_drawn_by_lot(seed):
    model = random_assembly(seed)
    found = {}
    for plain in (True, False):
        try:
            found[plain] = moved(model, 1e-3, 10, plain=plain)[0]
        except Exception as reason:
            found[plain] = str(reason).split(",")[0]
    if isinstance(found[True], str):
        assert found[False] == found[True]
    else:
        # reactions of rows that repeat others are known to rounding over the border of 1e-9
        assert max(apart(found[True], found[False])) < 1e-6
        assert apart(found[True], found[False])[0] < 1e-10


def test_single_steps_and_runs_are_the_same_bits():
    make, dt, ticks = MODELS["governor"]
    run, _ = moved(make(), dt, ticks)
    steps, _ = moved(make(), dt, ticks, single=True)
    assert all(np.array_equal(x, y) for x, y in zip(run, steps, strict=True))


def test_factors_are_kept_and_made_again_where_a_run_goes_on_from():
    make, dt, _ = MODELS["bushings"]
    with Simulation(make(), dt, Centralized(HHT())) as simulation:
        simulation.run(10 * dt)
        system = simulation.local_system
        step = system.cache["whole step"][1]
        assert 1 <= step.factorisations <= 5  # of ten steps
        kept, tick = system.save(), system.tick
        simulation.run(20 * dt)
        after = stood(simulation)
        made = int(step.factorisations)
        system.restore(kept)
        system.tick = tick
        system.show()
        step.at_hand[:] = 0.0  # as in another process, where none are at hand
        for _ in range(10):
            simulation.coupling.advance(system, dt)
            system.tick += 1
        assert step.factorisations > made
        assert all(np.array_equal(x, y) for x, y in zip(after, stood(simulation), strict=True))


@pytest.mark.campaign
def test_joints_are_closed_where_factors_of_another_place_are_too_far():
    """At 20 ms the plain road once took a last change of 2e-12 m for the end, with joints open by 4e-7 m."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(HHT, "compiled_step", Solver.compiled_step)
        with Simulation(chain(100), 0.02, Centralized(HHT()), record_every=24) as simulation:
            run = simulation.run(0.48)
    assert max(np.abs(run.violation(name)).max() for name in run.joints) < 1e-13


def test_a_step_that_finds_no_end_is_taken_by_the_plain_road_with_its_reasons():
    model, said = bushed(), []
    for plain in (True, False):
        with pytest.MonkeyPatch.context() as patch:
            if plain:
                patch.setattr(HHT, "compiled_step", Solver.compiled_step)
            with Simulation(model, 0.25, Centralized(HHT())) as simulation, pytest.raises(Exception) as error:
                simulation.run(5.0)
        said.append(str(error.value).split("(last")[0])
    assert said[0] == said[1] and "found no next state" in said[0]


def test_bodies_go_before_the_joints_that_hold_them():
    """Whatever is between whom: a joint's rows stand before a definite matrix then."""
    rng = np.random.default_rng(1)
    for _ in range(20):
        bodies, joints = int(rng.integers(1, 12)), int(rng.integers(0, 14))
        holds = [sorted({int(b) for b in rng.integers(0, bodies, 2)}) for _ in range(joints)]
        springs = [sorted({int(b) for b in rng.integers(0, bodies, 2)}) for _ in range(3)]
        sizes = [int(n) for n in rng.integers(1, 6, bodies + joints)]
        meetings = [[*pair, bodies + j] for j, pair in enumerate(holds)] + springs
        layout = lay_out(sizes, sizes[:bodies] + [0] * joints, meetings)
        assert len(layout.nodes) == bodies + joints and layout.rows == sum(sizes)
        for j, pair in enumerate(holds):
            assert all(layout.starts[body] < layout.starts[bodies + j] for body in pair)
