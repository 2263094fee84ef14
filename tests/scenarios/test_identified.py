"""The folder of an identification: what was found and what was not, and pictures of both."""

import numpy as np
import pytest

from components import PointMassRod, Revolute
from coordinator import Glued, Recording, Simulation, identify
from modular import Assembly, ModelError
from scenarios.study.identified import write_identified

SETTINGS = {"dt": 0.01, "coupling": Glued(), "until": 0.4, "record_every": 2}


def pendulum(masses=(0.4, 1.2), x=0.8) -> Assembly:
    model = Assembly((0.0, -9.81))
    model.add("rod", PointMassRod((0.0, 0.0), (x, -0.6), masses))
    model.join("pin", Revolute(), "ground", "rod.start")
    return model


def tip(run):
    return run.position("rod.end")


def seen(model=None):
    clean = tip(Simulation(pendulum() if model is None else model, 0.01, Glued(), record_every=2).run(0.4))
    return clean + 1e-3 * np.random.default_rng(3).normal(size=clean.shape)


def test_what_was_measured_and_what_the_model_says_are_kept_and_drawn(tmp_path):
    values = seen()
    values[2:5, 0] = np.nan
    recordings = [Recording(tip, values, 1e-3), Recording(lambda run: tip(run)[-1, 0], values[-1, 0], 1e-3)]
    found = identify(pendulum(x=0.7), by=["rod.end.0"], recordings=recordings, **SETTINGS)
    assert found.start == pytest.approx(0.7) and abs(found.values[0] - 0.8) < 4.0 * found.deviations[0]
    over_time, number = found.recordings
    assert over_time.time == pytest.approx(0.02 * np.arange(21)) and number.time is None
    there = np.isfinite(values)
    best = tip(Simulation(found.model, 0.01, Glued(), record_every=2).run(0.4))
    assert over_time.said[there] == pytest.approx(best[there], abs=1e-12) and np.isnan(over_time.said[~there]).all()
    left = np.concatenate([one.residuals[np.isfinite(one.residuals)].ravel() for one in found.recordings])
    assert left == pytest.approx(found.residuals)
    (tmp_path / "correlation.png").write_bytes(b"of another one")
    written = write_identified(found, tmp_path)
    assert [path.name for path in written] == ["report.md", "fit.png", "residuals.png"]  # one number goes with none
    assert not (tmp_path / "correlation.png").exists()
    with pytest.raises(ModelError, match=r"fit.png' is a file; give a folder"):
        write_identified(found, written[1])
    told = written[0].read_text(encoding="utf-8")
    assert "| rod.end.0 | 0.7 | 0.79" in told or "| rod.end.0 | 0.7 | 0.80" in told
    assert "| 0 | 42 | 3 |" in told and "| 1 | 1 | 0 |" in told and "![](fit.png)" in told


def test_what_recordings_do_not_tell_apart_stands_in_the_report(tmp_path):
    """A pendulum that is let go tells where its end is, and nothing of the scale of its masses."""
    by = ["rod.end.0", "rod.end.1", "rod.masses.1"]
    found = identify(pendulum(x=0.75), by=by, recordings=[Recording(tip, seen(), 1e-3)], **SETTINGS)
    assert [set(each) for each in found.undetermined] == [{"rod.masses.1"}]
    correlation = found.correlation
    assert np.isnan(correlation[2]).all() and np.diag(correlation)[:2] == pytest.approx(1.0)
    written = write_identified(found, tmp_path / "new" / "folder")
    assert [path.name for path in written] == ["report.md", "fit.png", "residuals.png", "correlation.png"]
    told = written[0].read_text(encoding="utf-8")
    assert "| rod.masses.1 | 1.2 |" in told and "| not known |" in told and "- +1.00 rod.masses.1" in told
