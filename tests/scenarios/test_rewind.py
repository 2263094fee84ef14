"""The last ticks of a run again: the same bits, each recorded; what grew is named; a run that went wrong leaves them by itself."""

import numpy as np
import pytest

import scenarios
from command_line import CliRunner
from coordinator import Checkpoints, Penalty, Run, Shannon, Simulation
from coordinator.checks.diagnosis import growth
from coordinator.continuation.rerun import rewind
from modular import Cut, Diverged, Limit, ModelError
from scenarios.cli import app


def modular(*words):
    return CliRunner().invoke(app, list(words))


def model():
    chain = scenarios.load("chain", bodies=5)
    chain.at(0.05, Cut("ball3"))
    return chain


@pytest.mark.parametrize("checkpoint", [True, False])
def test_the_last_ticks_are_those_of_the_run(checkpoint, tmp_path):
    with Simulation(model(), 1e-3) as simulation:
        every = simulation.run(0.12)
    with Simulation(model(), 1e-3, record_every=10) as simulation:
        simulation.run(0.04, checkpoints=Checkpoints(tmp_path / "checkpoints") if checkpoint else None)
        simulation.run(0.12).save(tmp_path)
    last = rewind(tmp_path, 80)
    assert last.ticks.tolist() == list(range(40, 121))
    for port in ("rod0.end", "rod4.end"):
        assert np.array_equal(last.position(port), every.position(port)[40:])
    assert np.array_equal(last.ledger("ball1")["stored"], every.ledger("ball1")["stored"][40:])
    assert last.happenings == every.happenings
    assert "begins in the middle" in last.obstacles[-1]


def changed_by_hand(folder, record_every, **kept):
    with Simulation(scenarios.load("chain", bodies=5), 1e-3, record_every=record_every) as simulation:
        simulation.run(0.02)
        simulation.cut("ball2")
        simulation.run(0.05, **kept).save(folder)
        simulation.run(0.09).save(folder)
        return simulation.recorded


@pytest.mark.parametrize("kept", [40, 41, 85])
def test_a_run_that_was_changed_by_hand_is_rewound_from_a_checkpoint_or_from_its_beginning(kept, tmp_path):
    """The checkpoint lies at tick 50; from the beginning on the joint is cut by hand once more."""
    every = changed_by_hand(tmp_path / "every", 1)
    changed_by_hand(tmp_path, 10, checkpoints=Checkpoints(tmp_path / "checkpoints"))
    last = rewind(tmp_path, kept)
    assert last.ticks.tolist() == list(range(90 - kept, 91))
    for port in ("rod0.end", "rod4.end"):
        assert np.array_equal(last.position(port), every.position(port)[90 - kept :])


def test_what_was_done_by_hand_and_cannot_be_done_again_needs_a_checkpoint_from_before(tmp_path):
    with Simulation(scenarios.load("chain", bodies=5), 1e-3) as simulation:
        simulation.run(0.02)
        simulation.limit("ball2", Limit(force=1e6))
        simulation.run(0.05, checkpoints=Checkpoints(tmp_path / "checkpoints")).save(tmp_path)
        simulation.run(0.09).save(tmp_path)
    assert rewind(tmp_path, 40).ticks[0] == 50
    with pytest.raises(ModelError, match=r"tick 49.*by hand"):
        rewind(tmp_path, 41)


def test_what_grew_is_found_where_a_joint_is_beyond_its_limit(tmp_path):
    rule = Shannon(delta=0.45)
    with Simulation(scenarios.load("chain"), 1e-4, Penalty(rule=rule)) as simulation, pytest.raises(Diverged):
        simulation.run(0.2)
    run = simulation.recorded
    first = growth(run)[0]
    assert first.kind == "joint" and first.per_tick > 2.0 and first.ratio > 1e6
    assert run.ticks[0] < first.since < run.ticks[-1]


def test_nothing_grew_in_a_run_that_went_well():
    with Simulation(scenarios.load("double-pendulum"), 1e-4) as simulation:
        assert max(one.per_tick for one in growth(simulation.run(0.5))) < 1.01


@pytest.mark.parametrize("workers", [(), ("--workers", "2", "--launcher", "here")])
def test_a_run_that_diverges_leaves_its_last_ticks_and_says_who_moved_what(workers, tmp_path):
    folder = tmp_path / "gone"
    done = modular("run", "chain", "--rule", "shannon(delta=0.45)", "--out", str(folder), "--no-plot", *workers)
    assert done.exit_code == 1
    report = (folder / "last-ticks" / "report.txt").read_text()
    assert "the run diverged at tick" in report
    assert "joint 'ball" in report.splitlines()[5] and "margin 0.5" in report.splitlines()[5]
    assert ("moved by worker" in report) == bool(workers)
    last = Run.load(folder / "last-ticks")
    assert last.ticks.tolist() == list(range(int(last.ticks[-1]) + 1))
    assert modular("show", str(folder / "last-ticks"), "--no-plot").exit_code == 0


def test_the_command(tmp_path):
    folder = tmp_path / "run"
    start = ["run", "double-pendulum", "--until", "0.05", "--no-plot", "--record-every", "100", "--out", str(folder)]
    assert modular(*start).exit_code == 0
    done = modular("rewind", str(folder), "--ticks", "30", "--no-plot")
    assert done.exit_code == 0, done.output
    assert "ticks 470 to 500" in done.output and "nothing grew in them" in done.output
    assert len(Run.load(folder / "last-ticks")) == 31
    assert modular("rewind", str(tmp_path)).exit_code == 2
