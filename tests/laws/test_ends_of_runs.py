"""The end of a run is a sample, also where `record_every` does not divide its ticks; it changes nothing of what comes after."""

import numpy as np
import pytest

import scenarios
from components import Revolute
from coordinator import Ensemble, Run, Simulation, rerun, resume
from coordinator.record.checkpoints.folder import Checkpoints
from modular import Join, ModelError

DT, EVERY, HALF, END = 1e-3, 10, 0.053, 0.107


def simulation(every=EVERY, **more):
    return Simulation(scenarios.load("double-pendulum"), DT, record_every=every, **more)


@pytest.fixture(scope="module")
def whole():
    """Every tick of the same motion."""
    return simulation(1).run(END)


def same(run, whole):
    """All of it at its samples, to the last bit."""
    at = np.searchsorted(whole.ticks, run.ticks)
    np.testing.assert_array_equal(run.position("lower.end"), whole.position("lower.end")[at])
    for joint in run.joints:
        np.testing.assert_array_equal(run.reaction(joint), whole.reaction(joint)[at])


def test_a_run_ends_with_a_sample_of_where_it_ends(whole):
    one = simulation()
    run = one.run(HALF)
    assert run.ticks.tolist() == [0, 10, 20, 30, 40, 50, 53]
    same(run, whole)
    end = one.run(END)
    assert end.ticks.tolist() == [*range(0, 101, 10), 107]  # what was the end stays in the run that ended there alone
    same(end, whole)
    assert run.ticks.tolist() == [0, 10, 20, 30, 40, 50, 53]
    assert end.digest == simulation().run(END).digest == one.recorded.digest
    one.step()
    assert one.recorded.ticks[-1] == 100  # nobody said that it ends here


def test_what_is_done_at_the_end_is_in_its_sample():
    one = simulation()
    before = one.run(HALF)
    one.cut("elbow")
    after = one.recorded
    assert before.ticks.tolist() == after.ticks.tolist()
    assert np.isfinite(before.reaction("elbow")[-1]).all()
    assert np.isnan(after.reaction("elbow")[-1]).all()


def test_a_run_that_goes_on_is_the_same_wherever_it_was_kept(whole, tmp_path):
    """On disk while it grows, beside checkpoints, from a checkpoint that leans on a saved run, among workers, repeated."""
    straight = simulation().run(END)
    one = simulation()
    grown = one.run(HALF, record_to=tmp_path / "grown")
    assert Run.load(tmp_path / "grown").ticks.tolist() == grown.ticks.tolist()
    assert one.run(END, record_to=tmp_path / "grown").digest == straight.digest
    assert Run.load(tmp_path / "grown").digest == straight.digest

    simulation().run(HALF, checkpoints=tmp_path / "kept")
    assert resume(tmp_path / "kept").run(END).digest == straight.digest

    checkpoints = Checkpoints(tmp_path / "run" / "checkpoints", saved_next=True)
    one = simulation()
    run = one.run(HALF, checkpoints=checkpoints)
    run.save(tmp_path / "run")
    checkpoints.lean_on_run(one, HALF, run)
    again = resume(tmp_path / "run" / "checkpoints")
    assert again.recorded.ticks.tolist() == [0, 10, 20, 30, 40, 50]
    assert again.run(END).digest == straight.digest

    with simulation(workers=2, launcher="here") as one:
        assert one.run(HALF).digest == run.digest
        assert one.run(END).digest == straight.digest
    assert rerun(Run.load(tmp_path / "run")).digest == run.digest


def test_the_final_sample_of_every_variant_is_its_end():
    masses = [0.1, 0.13, 0.17]
    ensemble = Ensemble(
        scenarios.load("chain", bodies=2), DT, vary={"rod0.mass": masses}, record_every=EVERY, keep="final"
    ).run(HALF)
    assert ensemble.ticks.tolist() == [53]
    found = ensemble.position("rod1.end")
    for k in range(len(masses)):
        alone = ensemble.run_of(k)
        assert alone.ticks.tolist() == [*range(0, 51, 10), 53]
        np.testing.assert_array_equal(found[k, -1], alone.position("rod1.end")[-1])
    straight = Simulation(scenarios.load("chain", bodies=2), DT, record_every=1).run(HALF)
    np.testing.assert_array_equal(found[0, -1], straight.position("rod1.end")[-1])  # its rods weigh 0.1 kg


def test_a_run_that_goes_wrong_has_no_sample_of_its_end():
    model = scenarios.load("double-pendulum")
    model.at(0.025, Join("far", Revolute(), "upper.end", "lower.end"))
    one = Simulation(model, DT, record_every=EVERY)
    with pytest.raises(ModelError, match="apart"):
        one.run(HALF)
    assert one.recorded.ticks[-1] == 20
