"""What was done by hand is part of how a simulation came about: whoever begins anew with that comes to the same bits."""

import numpy as np
import pytest

import scenarios
from campaign import more
from components import Load, Revolute, SpringDamper
from coordinator import Run, Simulation, first_difference, rerun, resume
from modular import Apply, Assembly, Crossing, Cut, ModelError, Remove


def acts_on(simulation, rng):
    """One of the changes that are possible now, drawn by lot."""
    assembly = simulation.assembly
    number = len(simulation.events)
    joints, forces = (
        list(assembly.joints),
        [name for name in assembly.forces if name != "gust"],
    )  # that one the model removes
    choice = rng.integers(5)
    if choice == 0 and joints:
        simulation.cut(joints[rng.integers(len(joints))])
    elif choice == 1:
        end = f"{list(assembly.bodies)[-1]}.end"
        simulation.join(f"hook{number}", Revolute(), "ground", end, at=tuple(simulation.port_motion(end)[0]))
    elif choice == 2:
        simulation.apply(f"wind{number}", Load(force=tuple(rng.normal(size=2))), "lower.end")
    elif choice == 3:
        simulation.apply(f"band{number}", SpringDamper(stiffness=20.0, damping=0.1), "upper.start", "lower.end")
    elif forces:
        simulation.remove(forces[rng.integers(len(forces))])


def eventful():
    """With events of its own at ticks at which something is done by hand too, and on a condition."""
    model = scenarios.load("double-pendulum")
    model.at(0.01, Apply("gust", Load(force=(2.0, 1.0)), ["lower.end"]))
    model.at(0.02, Remove("gust"))
    model.when(Crossing("lower.end", "x", 0.995, direction=-1), Apply("pull", Load(force=(-1.0, 0.0)), ["upper.end"]))
    return model


@pytest.mark.parametrize("seed", [0, *more(range(1, 100))])
def test_a_run_that_was_changed_by_lot_is_repeated_to_the_last_bit(seed, tmp_path):
    """Also from a checkpoint on, and with several acts at one tick."""
    rng = np.random.default_rng(seed)
    stops = np.sort(rng.integers(0, 60, size=6))
    with Simulation(eventful(), 1e-3) as simulation:
        for k, tick in enumerate(stops):
            simulation.run(max(tick, 10 * (k == 2), simulation.tick) * 1e-3)
            for _ in range(rng.integers(1, 3)):
                acts_on(simulation, rng)
        simulation.run(0.07, checkpoints=tmp_path / "kept")
        with resume(tmp_path / "kept") as other:
            acts_on(other, rng)
            run = other.run(0.08)
            other.assembly.save(tmp_path / "model.json")
    run.save(tmp_path / "run")
    run = Run.load(tmp_path / "run")
    assert run.acts and not run.obstacles
    assert first_difference(run, rerun(run)) is None
    with Simulation(Assembly.load(tmp_path / "model.json"), 1e-3) as again:
        assert again.run(0.08).digest == run.digest


def test_another_simulation_of_a_model_that_moves_begins_where_that_began():
    """With the joint that was made on the way: made there, as the bodies stood then, and no other one at the start."""
    with Simulation(scenarios.load("double-pendulum"), 1e-3) as first:
        first.run(0.05)
        first.join("lock", Revolute(), "ground", "lower.end", at=tuple(first.port_motion("lower.end")[0]))
        with Simulation(first.assembly, 1e-3) as second:
            assert second.run(0.1).digest == first.run(0.1).digest
        assert [scheduled.time for scheduled in first.assembly.given().schedule] == [0.05]


def test_a_cut_that_is_refused_is_not_repeated():
    with Simulation(scenarios.load("double-pendulum"), 1e-3) as simulation:
        simulation.run(0.01)
        with pytest.raises(ModelError):
            simulation.cut("knee")
        with pytest.raises(ModelError):
            simulation.join("far", Revolute(), "upper.start", "lower.end")
        assert simulation.run(0.02).acts == []
        simulation.cut("elbow")
        assert [act["do"][0]["joint"] for act in simulation.recorded.acts] == ["elbow"]
        assert Cut("elbow").to_data() == simulation.recorded.acts[0]["do"][0]
