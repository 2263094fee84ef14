"""`modular study --vary`: what is refused, what is written, and that a second call goes on."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from command_line import CliRunner
from coordinator import Ensemble
from scenarios.cli import app
from scenarios.study.fans import plane

SWING = ("double-pendulum", "--dt", "2e-3", "--until", "0.1")


def study(*words: str):
    return CliRunner().invoke(app, ["study", *SWING, *words])


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--vary", "upper.masses.0=1..x"), "write NAME=VALUE,VALUE,… or NAME=LOW..HIGH"),
        (("--vary", "upper.mass=1..2"), "did you mean 'masses'?"),
        (("--vary", "lengths=1..2"), "'lengths' is a setting by which 'double-pendulum' is built; give it with --set"),
        (("--vary", "upper.masses.0=1,2", "--samples", "5"), "--samples 5 is for ranges"),
        (("--vary", "upper.masses.0=1..2", "--vary", "lower.masses.0=1,2"), "a range for every name"),
        (
            ("--vary", "upper.masses.0=1..2", "--sweep", "rule.safety=1,2"),
            "--sweep is for studies of steps and couplings",
        ),
        (("--samples", "5"), "--samples is for numbers that differ; say which by --vary"),
        (("--show", "lower.end"), "--show is for numbers that differ"),
        (("--vary", "upper.masses.0=-1,2"), "variant 0: upper.masses.0 = -1.0"),
        (("--vary", "upper.masses.0=1,2", "--show", "lower.ende"), "did you mean 'end'?"),
        (("--vary", "upper.masses.0=1..2", "--sampling", "sobol", "--samples", "5"), "take a power of two, 4 or 8"),
    ],
)
def test_what_cannot_be_is_refused_in_words(words, told, tmp_path):
    answer = study(*words, "--out", str(tmp_path / "out"))
    assert answer.exit_code == 2, answer.output
    assert told in " ".join(answer.stderr.split())


def test_a_grid_is_run_written_and_found_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    words = ("--vary", "upper.masses.1=0.5,1.5", "--vary", "lower.masses.1=0.5,1,1.5,2,2.5", "--out", str(tmp_path))
    answer = study(*words)
    assert answer.exit_code == 0, answer.output
    assert {"variants.csv", "report.md", "fan.png", "scatter.png", "tornado.png"} <= {
        path.name for path in tmp_path.iterdir()
    }
    rows = list(csv.DictReader((tmp_path / "variants.csv").read_text(encoding="utf-8").splitlines()))
    assert len(rows) == 10 and [row["lower.masses.1"] for row in rows[:5]] == ["0.5", "1.0", "1.5", "2.0", "2.5"]
    assert all(np.isfinite(float(row["lower.end x [m]"])) for row in rows)
    monkeypatch.setattr(Ensemble, "_block", None)  # nothing runs again
    assert study(*words).exit_code == 0


def test_a_plane_is_found_again():
    columns = np.random.default_rng(2).normal(size=(50, 3)) * [1.0, 1e-3, 1e4]
    slopes, told = plane(columns, (columns @ [2.0, -3.0, 1e-4])[:, None] + 5.0)
    assert slopes[:, 0] == pytest.approx([2.0, -3.0, 1e-4], rel=1e-9)
    assert told == pytest.approx([1.0])
