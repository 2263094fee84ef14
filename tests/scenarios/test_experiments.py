"""A run folder is an experiment: `modular rerun` repeats it, `modular export` hands it on."""

import csv
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import scenarios
from campaign import shortened
from command_line import CliRunner
from coordinator import Run, Simulation, first_difference, rerun
from mechanisms import COMMON
from modular import Limit
from scenarios import catalogue
from scenarios.cli import app

OWN = """
from components import Law, Load, PointMassRod, Revolute
from modular import Assembly

def drag(t, x, v):
    return -0.4 * v

def build():
    swing = Assembly(gravity=(0.0, -9.81))
    swing.add("bar", PointMassRod(start=(0, 0), end=(1, 0), masses=(1.0, 0.5)))
    swing.join("pivot", Revolute(), "ground", "bar.start")
    swing.apply("drag", Load(Law(drag)), "bar.end")
    return swing
"""


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def modular(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


def run(*words, out="kept"):
    result = modular("run", *words, "--no-plot", "--until", "0.02", "--out", out)
    assert result.exit_code == 0, result.stderr


def flip(run, part, key):
    """Change the last bit of the last number of a series; the name of its component."""
    names, series = getattr(run.segments[0], part)[0]
    series[key].flat[-1] = np.nextafter(series[key].flat[-1], np.inf)
    return names[-1]


# --- rerun -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", shortened(COMMON, catalogue.names()))
def test_a_rerun_of_every_ready_scenario_gives_the_same_bits(name, tmp_path):
    model = scenarios.load(name)
    dt = model.suggested.get("dt", 1e-4)
    with Simulation(model, dt) as simulation:
        simulation.run(60 * dt).save(tmp_path)
    before = Run.load(tmp_path)
    after = rerun(before)
    assert first_difference(before, after) is None
    assert before.digest == before.written_digest == after.digest


def test_an_equal_run_is_said_to_be_equal_and_can_be_kept():
    run("cut-double-pendulum", "--set", "elbow=0.01", "--record-every", "3", "--coupling", "penalty(preload=false)")
    result = modular("rerun", "kept", "--out", "again")
    assert result.exit_code == 0, result.stderr
    assert "the same bits" in result.stdout
    written = [json.loads(Path(folder, "run.json").read_text(encoding="utf-8")) for folder in ("kept", "again")]
    assert written[0]["digest"] == written[1]["digest"] and written[0]["digest"] in result.stdout
    assert sorted(path.name for path in Path("again").iterdir()) == ["arrays.npz", "run.json"]


def test_a_rerun_without_out_writes_nothing():
    run("double-pendulum")
    before = {path: path.stat().st_mtime_ns for path in Path().rglob("*")}
    assert modular("rerun", "kept").exit_code == 0
    assert {path: path.stat().st_mtime_ns for path in Path().rglob("*")} == before


def test_one_flipped_bit_in_a_folder_is_found_with_its_place_and_with_what_differs():
    run("double-pendulum", "--dt", "1e-3")
    other = Run.load("kept")
    name = flip(other, "joints", "reaction")
    other.versions["numba"] = "0.1"
    other.machine["processor"] = "abacus"
    other.save("kept")
    result = modular("rerun", "kept")
    assert result.exit_code == 1, result.stderr
    assert f"tick 20 (0.02 s): '{name}', reaction, force y" in result.stdout
    assert "numba: 0.1 and" in result.stdout and "processor: abacus and" in result.stdout


def test_a_difference_without_any_reason_around_it_says_what_is_left():
    run("double-pendulum", "--dt", "1e-3")
    other = Run.load("kept")
    flip(other, "bodies", "q")
    other.save("kept")
    result = modular("rerun", "kept")
    assert result.exit_code == 1
    assert "are the same. Remaining causes: a law or a component of your own that has a hidden state" in result.stdout


def test_a_run_changed_by_what_no_event_says_is_refused_with_a_sentence():
    with Simulation(scenarios.load("double-pendulum"), 1e-3) as simulation:
        simulation.run(0.01)
        simulation.limit("elbow", Limit(force=1e6))
        simulation.run(0.02).save("kept")
    result = modular("rerun", "kept", "--out", "again")
    assert result.exit_code == 2
    assert "changed by hand" in result.stderr and "limit 'elbow' at 0.01 s" in result.stderr
    assert not Path("again").exists()


def test_a_law_in_a_model_file_is_told_to_have_no_home_when_it_is_run_and_refused_later():
    Path("own.py").write_text(OWN, encoding="utf-8")
    run("own.py")
    assert "force 'drag'" in json.loads(Path("kept/run.json").read_text(encoding="utf-8"))["obstacles"][0]
    result = modular("rerun", "kept")
    assert result.exit_code == 2
    assert "put it into a module of its own" in result.stderr


def test_a_law_in_a_module_of_its_own_is_repeated_by_another_process(monkeypatch):
    before, _, after = OWN.partition("def drag")
    law, _, rest = after.partition("def build")
    Path("my_laws.py").write_text(f"def drag{law}", encoding="utf-8")
    Path("own.py").write_text(f"{before}\nfrom my_laws import drag\n\ndef build{rest}", encoding="utf-8")
    run("own.py")
    program = "import sys; sys.path[:0] = ['.']; from scenarios.cli import main; sys.argv[0] = 'modular'; main()"
    words = ("--allow", "my_laws", "rerun", "kept")
    again = subprocess.run([sys.executable, "-P", "-c", program, *words], capture_output=True, check=False)
    assert again.returncode == 0, again.stderr
    monkeypatch.delitem(sys.modules, "my_laws")
    monkeypatch.setattr(sys, "path", [place for place in sys.path if place not in ("", str(Path().resolve()))])
    refused = modular("rerun", "kept")
    assert refused.exit_code == 2
    assert "my_laws:drag" in refused.stderr


def test_an_unknown_coupling_a_missing_folder_and_the_folder_itself_are_refused():
    run("double-pendulum")
    assert modular("rerun", "nowhere").exit_code == 2
    result = modular("rerun", "kept", "--out", "kept", "--overwrite")
    assert result.exit_code == 2 and "this is the run itself" in result.stderr
    other = Run.load("kept")
    other.settings["coupling"]["class"] = "coordinator:Tomorrow"
    other.save("kept")
    result = modular("rerun", "kept")
    assert result.exit_code == 2 and "coordinator:Tomorrow is not known" in result.stderr


def test_a_run_that_diverged_is_repeated_as_far_as_it_went():
    result = modular(
        "run", "chain", "--dt", "1e-3", "--rule", "shannon(delta=0.3)", "--no-plot", "--out", "kept", "--set", "bodies=10"
    )  # fmt: skip
    assert result.exit_code == 1, result.stdout
    assert modular("rerun", "kept").exit_code == 0


# --- export ------------------------------------------------------------------------------------------------------------


@pytest.mark.campaign
def test_both_formats_go_into_the_run_folder_and_hold_the_run():
    run("chain", "--set", "bodies=3")
    kept = Run.load("kept")
    for form in ("netcdf", "csv"):
        result = modular("export", "kept", "--format", form)
        assert result.exit_code == 0, result.stderr
    import xarray

    assert xarray.load_dataset("kept/run.nc").identical(kept.to_xarray())
    with Path("kept/run.csv").open(newline="", encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    assert [float(row["rod2.end z [m]"]) for row in rows] == kept.position("rod2.end")[:, 2].tolist()


def test_a_file_that_is_there_is_replaced_only_when_asked():
    run("double-pendulum")
    Path("mine.csv").write_text("mine", encoding="utf-8")
    result = modular("export", "kept", "--format", "csv", "--out", "mine.csv")
    assert result.exit_code == 2 and "--overwrite" in result.stderr
    assert Path("mine.csv").read_text(encoding="utf-8") == "mine"
    assert modular("export", "kept", "--format", "csv", "--out", "mine.csv", "--overwrite").exit_code == 0
    assert Path("mine.csv").read_text(encoding="utf-8").startswith("time [s],")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("nowhere", "--format", "csv"), "there is no such folder"),
        (("kept", "--format", "csv", "--out", "kept"), "this is a folder"),
        (("kept", "--format", "csv", "--out", "a/b.csv"), "there is no folder"),
        (("kept", "--format", "xls"), "xls"),
        (
            ("double-pendulum", "--out", "swing.step"),
            "of a model by the end of --out, .xml (MJCF), .urdf, .sdf or .usda",
        ),
    ],
)
def test_bad_wishes_are_refused_in_words(words, said):
    run("double-pendulum")
    result = modular("export", *words)
    assert result.exit_code == 2
    assert said in result.stderr


def test_without_the_extra_the_command_says_what_to_install(monkeypatch):
    run("double-pendulum")
    monkeypatch.setitem(sys.modules, "xarray", None)
    result = modular("export", "kept", "--format", "netcdf")
    assert result.exit_code == 2
    assert "pip install 'modular-multibody[data]'" in result.stderr
    assert modular("export", "kept", "--format", "csv").exit_code == 0


def test_a_new_run_in_the_folder_takes_the_exports_of_the_old_one_away():
    run("double-pendulum")
    assert modular("export", "kept", "--format", "csv").exit_code == 0
    assert modular("run", "chain", "--no-plot", "--until", "0.01", "--out", "kept", "--overwrite").exit_code == 0
    assert not Path("kept/run.csv").exists()


# --- help --------------------------------------------------------------------------------------------------------------


def test_help_teaches_with_examples():
    assert "modular rerun runs/first --out runs/second" in modular("rerun", "--help").stdout
    export = modular("export", "--help").stdout
    assert "modular export runs/double-pendulum --format netcdf" in export
    assert "modular-multibody[data]" in export and "[m/s]" in export
