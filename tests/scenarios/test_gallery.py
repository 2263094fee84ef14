"""The figures of the thesis: each is there, drawn alone when asked alone, and shown on its page."""

import re
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import references
from campaign import more
from command_line import CliRunner
from modular import ModelError
from scenarios.cli import app
from scenarios.gallery import runs as gallery_runs
from scenarios.gallery.figures import FIGURES, choose, draw
from scenarios.gallery.minimal import START, energy, rates, rk4, tip
from scenarios.gallery.runs import DEFAULTS, Runs

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGE = (DOCS / "gallery.md").read_text(encoding="utf-8")
LARGEST = 80_000  # bytes of a picture
OF_THE_THESIS = [*range(3, 13), 15, 16, 18, *range(21, 27), 30, 31]  # what chapter VI shows of simulations


def gallery(*words):
    return CliRunner().invoke(app, ["gallery", *map(str, words)])


# --- the command -----------------------------------------------------------------------------------------------------


def test_only_draws_exactly_the_figures_asked_for_and_says_what_it_measured(tmp_path):
    result = gallery("--only", "VI-5", "--only", "vi-11", "--out", tmp_path / "new" / "pictures")
    assert result.exit_code == 0, result.output
    assert sorted(path.name for path in (tmp_path / "new" / "pictures").iterdir()) == ["VI-11.png", "VI-5.png"]
    lines = [line for line in result.stdout.splitlines() if ".png: " in line]
    assert ["VI-5.png" in lines[0], "VI-11.png" in lines[1], len(lines)] == [True, True, 2]
    assert "25 mm/s (settings of the thesis), 77.9 µm/s (defaults)" in lines[0]  # as the page says
    assert "25 mm/s | 0.078 mm/s" in PAGE


def test_an_unknown_figure_is_refused_with_the_nearest_one_before_anything_is_made(tmp_path):
    result = gallery("--only", "VI-62", "--only", "VI-3", "--out", tmp_path / "pictures")
    assert result.exit_code == 2
    assert "no figure 'VI-62'; did you mean 'VI-" in result.stderr
    assert not (tmp_path / "pictures").exists()


def test_a_name_like_no_figure_is_answered_with_all_of_them():
    with pytest.raises(ModelError, match="known: VI-3, VI-4"):
        choose(["pendulum"])


def test_figures_come_in_the_order_of_the_thesis_and_once():
    assert [entry.name for entry in choose(["VI-12", "VI-3", "VI-12"])] == ["VI-3", "VI-12"]
    assert choose([]) == list(FIGURES.values())


def test_a_file_where_the_folder_should_be_is_refused(tmp_path):
    (tmp_path / "taken").write_text("")
    result = gallery("--only", "VI-4", "--out", tmp_path / "taken")
    assert result.exit_code == 2
    assert "cannot make this folder" in result.stderr


# --- the figures -----------------------------------------------------------------------------------------------------


def test_every_figure_of_chapter_six_is_in_the_gallery():
    assert [name for name in FIGURES if name.count("-") == 1] == [f"VI-{number}" for number in OF_THE_THESIS]


@pytest.fixture(scope="module")
def short():
    return Runs(most=0.03)


@pytest.mark.short(1)
@pytest.mark.parametrize("name", [*list(FIGURES)[::8], *more(name for k, name in enumerate(FIGURES) if k % 8)])
def test_a_figure_can_be_drawn_of_a_run_of_any_length(name, short, tmp_path):
    file, found = draw(FIGURES[name], short, tmp_path)
    assert file == tmp_path / f"{name}.png"
    assert found and "nan" not in found
    with Image.open(file) as picture:
        assert len(picture.convert("RGB").getcolors(1 << 20)) > 3  # not an empty sheet


def test_a_run_is_simulated_once_for_all_figures(monkeypatch):
    started = []
    simulation = gallery_runs.Simulation
    monkeypatch.setattr(gallery_runs, "Simulation", lambda *a: started.append(a) or simulation(*a))
    runs = Runs(most=0.01)
    for name in ("VI-4", "VI-5", "VI-6", "VI-7", "VI-8", "VI-9"):
        FIGURES[name].draw(runs, FIGURES[name])
    assert len(started) == 4  # two settings; two steps for the lengths
    again = runs.of("double-pendulum", DEFAULTS, 1e-3, 5.0)
    assert again is runs.of("double-pendulum", DEFAULTS, 1e-3, 5.0) and len(started) == 4


# --- the page --------------------------------------------------------------------------------------------------------


def test_every_figure_named_on_the_page_is_in_the_gallery_and_its_picture_is_committed():
    named = set(re.findall(r"--only (VI-[\w-]+)", PAGE)) | set(re.findall(r"gallery/(VI-[\w-]+)\.png", PAGE))
    named |= set(re.findall(r"^### (VI-\S+)$", PAGE, re.MULTILINE))
    assert named == set(FIGURES)
    assert {path.stem for path in (DOCS / "gallery").glob("*.png")} == named


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_has_its_place_on_the_page_with_picture_and_command_and_a_row_in_the_table(name):
    section = PAGE.split(f"### {name}\n", 1)[1].split("\n#", 1)[0]
    assert f"(gallery/{name}.png)" in section
    assert f"`modular gallery --only {name}`" in section
    rows = [line for line in PAGE.splitlines() if line.startswith("|") and f"[{name}](#{name.lower()})" in line]
    assert rows


@pytest.mark.parametrize("name", FIGURES)
def test_a_committed_picture_is_small(name):
    assert 0 < (DOCS / "gallery" / f"{name}.png").stat().st_size <= LARGEST


# --- the reference in two angles -------------------------------------------------------------------------------------


def test_the_two_angle_equations_are_those_of_the_independent_reference():
    for state in ((0.7, -1.1, 1.3, -2.1), (2.9, 0.4, -0.6, 3.3)):
        assert rates(state) == pytest.approx(references.planar_rates(0.0, state), rel=1e-12)


def test_runge_kutta_converges_at_fourth_order_and_conserves_energy():
    exact = references.planar_double_pendulum(START[:2], 0.5, 2)[-1, 1]
    errors = [np.linalg.norm(tip(rk4(START, dt, round(1.0 / dt)))[-1] - exact) for dt in (2e-2, 1e-2, 5e-3)]
    assert references.orders(errors).min() > 3.7
    coarse, fine = (energy(rk4(START, dt, round(2.0 / dt))) for dt in (2e-3, 1e-3))
    assert coarse[0] == pytest.approx(-9.81)
    assert np.ptp(fine) < 1e-8 and np.ptp(coarse) / np.ptp(fine) > 2**4  # what is left is the step's
