"""Steps that hold: where a glued run stops, the step that its message proposes is taken."""

import numpy as np
import pytest

from campaign import some
from components import DrivenDistance, Ramp, Revolute, Rod, Spherical
from coordinator import Glued, Relaxed, Simulation
from modular import Assembly, Diverged


def folded(seed, count, weight):
    """Links of a gram in random directions, with a weight at their end that pulls them straight: there they are jerked about."""
    rng, dimension = np.random.default_rng(seed), 2 + seed % 2
    model, place = Assembly(gravity=(0.0, -9.81, 0.0)[:dimension]), (0.0,) * dimension
    for k in range(count):
        way = rng.normal(size=dimension)
        end = tuple(map(float, place + 0.1 * way / np.linalg.norm(way)))
        model.add(f"link{k}", Rod(place, end, 1e-3 if k < count - 1 else weight))
        joint = Revolute() if dimension == 2 else Spherical()
        model.join(f"hinge{k}", joint, f"link{k - 1}.end" if k else "ground", f"link{k}.start")
        place = end
    return model


def followed(model, dt, until, coupling, most):
    """How often a remedy was followed until the run came to its end."""
    reached = 0.0
    for times in range(most + 1):
        try:
            with Simulation(model, dt, coupling, record_every=50) as simulation:
                simulation.run(round(until / dt) * dt)
        except Diverged as error:
            assert error.holding_step is not None, error
            assert f"take dt = {error.holding_step:.2g} s" in str(error)
            assert error.tick * dt >= 0.9 * reached
            reached, dt = error.tick * dt, error.holding_step
        else:
            return times
    raise AssertionError(f"remedies were followed {most} times, down to dt = {dt}")


@pytest.mark.parametrize(
    ("count", "weight", "dt", "most"), [(8, 1e-3, 1e-2, 1), (4, 0.1, 2e-2, 4)], ids=["even", "heavy end"]
)
def test_the_step_that_is_proposed_holds_where_a_chain_is_pulled_straight(count, weight, dt, most):
    times = [followed(folded(seed, count, weight), dt, 0.4, Glued(4), most) for seed in range(some(60) + 3)]
    assert sum(times) > 0


@pytest.mark.parametrize(("count", "weight", "dt"), [(8, 1e-3, 1e-2), (4, 0.1, 2e-2)], ids=["even", "heavy end"])
def test_ticks_in_which_it_turns_too_far_go_in_parts_that_resolve_it(count, weight, dt):
    """Its end cracks like a whip. What is gained there is little of how much swings, and the run is told to be off."""
    for seed in range(3):
        with Simulation(folded(seed, count, weight), 2e-4, Glued(), record_every=5) as simulation:
            swings = simulation.run(0.4).kinetic_energy().max()
        with Simulation(folded(seed, count, weight), dt, Glued()) as simulation:
            run = simulation.run(0.4)
        assert run.timings["parts"] > 0 and run.estimate["least"] and run.estimate["share"] > 0.05
        assert run.energy.max() - run.energy[0] < 0.2 * swings


@pytest.mark.short(2)
@pytest.mark.parametrize("coupling", [Glued(), Glued(4), Relaxed(), Relaxed(method="jacobi")], ids=repr)
def test_no_step_is_proposed_where_none_helps(coupling):
    """Two rods are drawn to 2.1 m, of which they have two."""
    model = Assembly(gravity=(0.0, -9.81))
    model.add("upper", Rod((0.0, 0.0), (0.6, 0.8), 1.0))
    model.add("lower", Rod((0.6, 0.8), (1.2, 0.0), 1.0))
    model.join("pivot", Revolute(), "ground", "upper.start")
    model.join("elbow", Revolute(), "upper.end", "lower.start")
    model.join("drawn", DrivenDistance(Ramp(0.0, 3.0)), "ground", "lower.end", at=(0.0, 0.0))
    with Simulation(model, 5e-3, coupling) as simulation, pytest.raises(Diverged) as stopped:
        simulation.run(1.0)
    assert stopped.value.holding_step is None
    assert "no smaller step helps" in str(stopped.value)
    assert stopped.value.tick * 5e-3 == pytest.approx(np.sqrt(2 * 0.8 / 3.0), abs=0.02)
