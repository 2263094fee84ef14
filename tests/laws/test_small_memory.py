"""What a long chain holds in memory: columns, names and what is remembered of them; of large models little is kept twice."""

import gc
import tracemalloc

import numpy as np
import pytest

import scenarios
from components import Revolute, Rod, Spherical
from coordinator import Simulation
from coordinator.record.recorder import INITIAL_BYTES, INITIAL_SAMPLES
from modular import Assembly
from modular.table import Table

MUCH = 2400.0  # bytes for a body and its joint: model, running simulation and the first sample


def held(bodies):
    """Bytes per body of a simulation after a step."""
    gc.collect()
    tracemalloc.start()
    try:
        simulation = Simulation(scenarios.load("chain", bodies=bodies), 1e-4, record_every=10**9)
        simulation.step()
        gc.collect()
        return tracemalloc.get_traced_memory()[0] / bodies
    finally:
        tracemalloc.stop()
        simulation.close()


def test_a_body_with_its_joint_takes_little_memory():
    """What is imported, compiled, or done by other threads of this process meanwhile counts in a try, not in all."""
    assert any(held(2000) < MUCH for _ in range(3))


def test_a_segment_that_nobody_announced_takes_no_more_than_its_room():
    for bodies, samples in ((3, INITIAL_SAMPLES), (600, None), (6000, 1)):
        with Simulation(scenarios.load("chain", bodies=bodies), 1e-4, record_every=1) as simulation:
            (segment,) = simulation.recorder.segments
            size = simulation.recorder.sample_size(simulation.system)
            assert segment.capacity == samples or (1 < segment.capacity < INITIAL_SAMPLES and samples is None)
            assert segment.capacity == 1 or segment.capacity * size <= INITIAL_BYTES
            for _ in range(3):
                simulation.step()
            assert simulation.recorded.ticks.tolist() == [0, 1, 2, 3]


class Pairs(Table):
    """A table with a row that stands for all."""

    def __init__(self, capacity):
        super().__init__(capacity)
        self.column("own", 2)
        self.alike("same", np.array([1.0, -1.0]))


def test_a_row_that_stands_for_all_does_so_when_the_table_grows():
    pairs = Pairs(3)
    pairs.grow(1000)
    assert pairs.same.shape == (1000, 2) and pairs.same.strides[0] == 0
    assert (pairs.same == (1.0, -1.0)).all()
    assert pairs._sheet[2 * pairs._places["same"] + 1] == 0  # loops go no further either


@pytest.mark.parametrize(("joint", "alike"), [(Spherical(), True), (Revolute(axis=(0.0, 1.0, 0.0)), False)])
def test_joints_of_points_alone_share_their_jacobians_and_fold_what_they_ask(joint, alike):
    model = Assembly()
    for k in range(9):
        model.add(f"rod{k}", Rod((0.2 * k, 0.0, 0.0), (0.2 * (k + 1), 0.0, 0.0), 0.3, 0.02))
        model.join(f"j{k}", joint, f"rod{k - 1}.end" if k else "ground", f"rod{k}.start")
    with Simulation(model, 1e-3) as simulation:
        simulation.run(0.01)
        (joints,) = simulation.system.joints
        assert (joints.on_first.strides[0] == 0) == alike
        assert (len(joints.compliance) == 0) == alike  # hinges see other masses as they turn, at every tick
        simulation.cut("j4")
        simulation.run(0.02)
        assert np.array_equal(joints.on_first[3, :3, 0], -np.eye(3))
        assert np.array_equal(joints.on_second[7, :3, 0], np.eye(3))


def test_the_model_of_a_run_is_the_one_that_was_given_whatever_has_changed():
    chain = scenarios.load("chain", bodies=5)
    given = chain.to_data()
    with Simulation(chain, 1e-3) as simulation:
        chain.cut("ball3")  # the model of somebody else
        simulation.step()
        simulation.cut("ball2")
        simulation.remove("rod4")
        simulation.add("more", Rod((9.0, 0.0, 0.0), (9.5, 0.0, 0.0), 1.0, 0.02))
        run = simulation.run(0.02)
    assert run.model == given
    assert list(run.bodies) == ["rod0", "rod1", "rod2", "rod3", "rod4", "more"]
    assert set(run.forms) == set(given["joints"])
