"""A run of many bodies is told in a moment: its summary and its pictures ask for the same once, and of all joints together."""

import io
import time

import numpy as np
import pytest
from rich.console import Console

import scenarios
from budget import slowness
from coordinator import Simulation
from coordinator.record import across
from coordinator.record.across import joint_gaps, ledgers, reading
from modular import Cut
from scenarios.report import ahead
from scenarios.report.ahead import fetched_ahead
from scenarios.report.balance import balance
from scenarios.report.mechanism import stroke
from scenarios.report.pictures import PICTURES
from scenarios.report.summary import print_summary
from scenarios.report.violations import draw as draw_violations

BODIES = 3000


@pytest.fixture(scope="module")
def chain():
    return Simulation(scenarios.load("chain", bodies=BODIES), 1e-4).run(1e-3)


def seconds(run):
    """Processor time of a summary and of making all pictures, without drawing them."""
    began = time.process_time()
    with reading(run):
        for draw in PICTURES.values():
            draw(run)
        print_summary(Console(file=io.StringIO()), run)
    return time.process_time() - began


def test_every_further_body_costs_a_run_little_to_tell(chain):
    """About 40 us a body, and 230 us while every port and joint was asked on its own."""
    small = Simulation(scenarios.load("chain", bodies=30), 1e-4).run(1e-3)
    allowed = 120e-6 * slowness()
    assert any((seconds(chain) - seconds(small)) / BODIES < allowed for _ in range(3))


def test_while_a_run_is_read_nothing_is_worked_out_twice(chain, monkeypatch):
    asked = []
    of = across.parts_of
    monkeypatch.setattr(across, "parts_of", lambda segments, part: asked.append(part) or of(segments, part))
    with reading(chain):
        for _ in range(2):
            first = joint_gaps(chain), balance(chain), ledgers(chain)
    assert asked == ["joints", "joints", "forces"]
    again = joint_gaps(chain), balance(chain), ledgers(chain)
    assert len(asked) > 3 and "_read" not in chain.__dict__  # and nothing is kept longer
    np.testing.assert_array_equal(first[0].whole, again[0].whole)
    np.testing.assert_array_equal(first[2].whole, again[2].whole)


def test_the_largest_tables_are_not_kept(chain, monkeypatch):
    monkeypatch.setattr(across, "MAX_CACHED_NUMBERS", 10)
    with reading(chain):
        assert joint_gaps(chain) is not joint_gaps(chain)


def test_who_reads_all_at_once_hears_of_each_what_it_says_alone(chain):
    """Every joint and body, so also the rest of a panel that names only the worst."""
    gaps, all_ledgers = joint_gaps(chain), ledgers(chain)
    for joint in ("hook", "ball1", f"ball{BODIES - 1}"):
        np.testing.assert_allclose(gaps[joint], np.linalg.norm(chain.violation(joint)[:, :3], axis=1), rtol=1e-14)
        assert gaps.peaks()[joint] == gaps[joint].max()
        for k, line in enumerate(chain.ledger(joint).values()):
            np.testing.assert_array_equal(all_ledgers[joint][:, k], line)
    left = gaps.without(["hook", "ball1"])
    assert len(left) == BODIES - 2 and left.max() == max(gaps[j].max() for j in gaps if j not in ("hook", "ball1"))
    assert draw_violations(chain).axes


def test_a_chain_is_one_stroke_and_what_is_apart_is_not():
    """The pen is lifted only where the next body is elsewhere, at whichever of the samples."""
    model = scenarios.load("chain", bodies=6)
    model.at(0.02, Cut("ball3"))
    run = Simulation(model, 1e-3).run(0.3)
    ends = [run.position(f"rod{k}.{end}") for k in range(6) for end in ("start", "end")]
    for at, lifts in ((0, 0), (len(run) - 1, 1)):
        line = stroke(run, list(run.bodies), np.array([at]))[0]
        drawn = line[np.isfinite(line).all(axis=1)]
        assert np.isnan(line[1:-1]).any(axis=1).sum() == lifts
        assert all(np.abs(drawn - end[at]).max(axis=1).min() < 1e-3 for end in ends)
        inside = np.diff(line, axis=0)
        assert np.isfinite(inside).all(axis=1).sum() == 6  # every rod is drawn, and nothing else
    both = stroke(run, list(run.bodies), np.array([0, len(run) - 1]))
    assert np.isnan(both[:, 1:-1]).any(axis=2).sum(axis=1).tolist() == [1, 1]


def test_what_draws_is_fetched_while_a_run_computes_and_only_if_that_takes_long(monkeypatch):
    """What cannot be fetched is not spoken of there: who needs it says so."""
    fetched = []
    monkeypatch.setattr(ahead, "import_module", lambda name: fetched.append(name) or 1 / 0)
    monkeypatch.setattr(ahead, "_first_picture", lambda: 1 / 0)
    with fetched_ahead(True):
        pass  # over at once
    with fetched_ahead(False) as thread:
        assert thread is None
    assert not fetched
    monkeypatch.setattr(ahead, "WAIT", 0.0)
    with fetched_ahead(True) as thread:
        thread.join(10.0)
    assert fetched == list(ahead.NEEDED)
