"""What `modular show` promises: a saved run is drawn again, and nothing else is touched."""

import shutil
from pathlib import Path

import pytest

import scenarios
from coordinator import Run, Simulation
from coordinator.laboratory.acts import SetStep, Step
from coordinator.laboratory.session import Session
from typed_commands import PICTURES, modular, run

pytestmark = pytest.mark.usefixtures("elsewhere")


def test_a_saved_run_is_drawn_again_without_being_changed(plain_pictures):
    run("double-pendulum", "--out", "mine")
    before = Run.load("mine")
    result = modular("show", "mine", "--animate")
    assert result.exit_code == 0, result.stderr
    assert {file.name for file in Path("mine").iterdir()} == PICTURES | {
        "animation.gif",
        "run.json",
        "arrays.npz",
        "checkpoints",
    }
    assert "largest kinetic energy" in result.stdout
    assert Run.load("mine") == before


@pytest.mark.campaign
def test_pictures_may_go_elsewhere_but_not_into_another_run(plain_pictures):
    run("double-pendulum", "--out", "mine")
    run("chain", "--out", "other")
    assert modular("show", "mine", "--out", "new/pictures").exit_code == 0
    assert {file.name for file in Path("new/pictures").iterdir()} == PICTURES
    refused = modular("show", "mine", "--out", "other")
    assert refused.exit_code == 2
    assert "another run" in refused.stderr


def test_a_run_or_all_stretches_of_a_session_are_filmed():
    run("double-pendulum", "--out", "mine")
    before = Run.load("mine")
    result = modular("show", "mine", "--html", "--no-plot", "--out", "films")
    assert result.exit_code == 0, result.stderr
    assert [file.name for file in Path("films").iterdir()] == ["motion.html"]
    assert "motion.html" in result.stdout
    assert Run.load("mine") == before
    with Session(Simulation(scenarios.load("double-pendulum"), 1e-3), "session") as session:
        for act in (Step(20), SetStep(5e-4), Step(20)):
            session.do(act)
            while session.pace.moving:
                session.turn()
    told = modular("show", "session")
    assert told.exit_code == 2
    assert "a session of modular live, of 2 runs" in told.stderr
    assert "stretch-01" in told.stderr
    assert modular("show", "session/stretch-02", "--no-plot").exit_code == 0
    filmed = modular("show", "session", "--html")
    assert filmed.exit_code == 0, filmed.stderr
    assert "2 stretches" in filmed.stdout
    assert Path("session/motion.html").stat().st_size > 1e5
    for stretch in Path("session").glob("stretch-*"):
        shutil.rmtree(stretch)
    assert "nothing was recorded" in modular("show", "session", "--html").stderr


def test_a_folder_that_is_not_there_is_answered_with_those_that_are():
    for folder in ("runs/a1", "runs/other", "elsewhere/b1"):
        run("double-pendulum", "--out", folder)
    for words, answer in (
        (("show", "a11"), "did you mean 'runs/a1'?"),
        (("show", "a1"), "did you mean 'runs/a1'?"),
        (("rerun", "runs/othr"), "did you mean 'runs/other'?"),
        (("export", "elsewhere/b11", "--format", "csv"), "did you mean 'elsewhere/b1'?"),
        (("resume", "ather"), "did you mean 'runs/other'?"),
        (("rewind", "xyz"), "there are: runs/other, runs/a1."),
        (("show", "runs"), "'runs' is not a run, but contains some: runs/other, runs/a1."),
        (("replay", "a11"), "give one that modular live has written"),
    ):
        result = modular(*words)
        assert result.exit_code == 2 and answer in result.stderr, words


def test_what_is_no_run_is_refused():
    Path("empty").mkdir()
    run("double-pendulum", "--out", "broken")
    Path("broken/arrays.npz").unlink()
    run("double-pendulum", "--out", "garbled")
    Path("garbled/run.json").write_text("{")
    Path("model.json").write_text("{}")
    for folder, answer in (
        ("nowhere", "no such folder"), ("empty", "run.json"), ("model.json", "a model is run by modular run model.json"),
        ("broken/run.json", "runs are folders; give one, such as broken"),
        ("broken", "arrays.npz is missing"), ("garbled", "cannot be read"),
    ):  # fmt: skip
        result = modular("show", folder)
        assert result.exit_code == 2, folder
        assert answer in result.stderr
        assert "Traceback" not in result.stderr
