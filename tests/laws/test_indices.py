"""Sobol's indices: of a function whose variance is known, of a motion with a closed form, and of studies."""

import numpy as np
import pytest
from scipy.stats import norm
from typer.testing import CliRunner

from components import Rod
from coordinator import Ensemble, Glued
from coordinator.ensemble.indices import saltelli, sobol_indices
from modular import Assembly, ModelError
from scenarios.cli import app


def test_the_function_of_ishigami_has_its_indices():
    """sin a + 7 sin^2 b + c^4 sin a / 10: 0.3139, 0.4424, 0 alone; 0.5576, 0.4424, 0.2437 with the others."""
    spreads = dict.fromkeys("abc", (-np.pi, np.pi))
    values = saltelli(spreads, 4096)
    a, b, c = (values[name] for name in "abc")
    told = sobol_indices("abc", np.c_[np.sin(a) + 7.0 * np.sin(b) ** 2 + 0.1 * c**4 * np.sin(a), 0.0 * a])
    assert np.allclose(told.first[0], [0.3139, 0.4424, 0.0], atol=0.02)
    assert np.allclose(told.total[0], [0.5576, 0.4424, 0.2437], atol=0.02)
    for value, ends in ((told.first, told.first_interval), (told.total, told.total_interval)):
        assert (ends[0, 0] < value[0]).all() and (value[0] < ends[1, 0]).all()
    assert np.isnan(told.first[1]).all()  # what does not move has no shares


def test_a_fall_is_shared_by_speed_and_weight_as_their_variances_are():
    """y = v t - g t^2 / 2, with v and g independent: nothing is shared."""
    model = Assembly(gravity=(0.0, -9.81))
    model.add("rod", Rod((0.0, 0.0), (1.0, 0.0), 1.0, velocity=(0.0, 1.0)))
    spreads = {"rod.velocity.1": norm(1.0, 0.4), "rod.velocity.0": (0.0, 1.0)}
    fall = Ensemble(model, 0.05, Glued(), vary=saltelli(spreads, 256)).run(until=0.5)
    x, y = fall.position("rod.start")[:, -1].T
    heights = sobol_indices(list(spreads), np.c_[y, x, 2.0 * x + y])
    alone = np.array([0.4**2, 4.0 / 12.0]) / (0.4**2 + 4.0 / 12.0)
    expected = [[1.0, 0.0], [0.0, 1.0], alone]
    assert np.allclose(heights.first, expected, atol=0.05) and np.allclose(heights.total, expected, atol=0.05)


def test_points_of_retired_variants_are_left_out_with_all_that_belongs_to_them():
    values = saltelli({"a": (0.0, 1.0), "b": (0.0, 1.0)}, 64)
    answers = values["a"] + 0.0 * values["b"]
    answers[3] = answers[64 * 3 + 9] = np.nan
    told = sobol_indices("ab", answers)
    assert told.points == 62 and np.allclose(told.total, [[1.0, 0.0]], atol=0.1)


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda: saltelli({"a": (0.0, 1.0)}, 100), "power of two"),
        (lambda: sobol_indices("ab", np.zeros(9)), r"9 answers for 2 numbers.*n \(p \+ 2\)"),
        (lambda: sobol_indices("ab", np.full(64, np.nan)), "only 0 points"),
    ],
)
def test_what_tells_nothing_is_refused(ask, said):
    with pytest.raises(ModelError, match=said):
        ask()


@pytest.mark.campaign
def test_a_study_tells_them(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = [
        "study",
        "free-fall",
        "--dt",
        "0.05",
        "--until",
        "0.2",
        "--coupling",
        "glued",
        "--indices",
        "--samples",
        "8",
    ]
    name = ["--vary", "solid.velocity.1=0.5..2"]
    done = CliRunner().invoke(app, [*words, *name])
    assert done.exit_code == 0, done.output
    folder = next((tmp_path / "studies").iterdir())
    assert "Sobol's indices" in (folder / "report.md").read_text(encoding="utf-8") and (folder / "shares.png").is_file()
    for more, told in ((["--sampling", "sobol"], "samples of its own"), (["--samples", "12"], "power of two")):
        refused = CliRunner().invoke(app, [*words, *name, *more])
        assert refused.exit_code == 2 and told in refused.output
