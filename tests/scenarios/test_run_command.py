"""What `modular run` promises: it tells what it does, keeps what was recorded, and loses nothing."""

import json
import re
import signal
import time
from pathlib import Path

import numpy as np
import pytest

import nursery
import scenarios
from components import Fixed
from coordinator import Glued, Penalty, Run, Simulation
from modular import Cut, Join
from scenarios import catalogue
from scenarios.settings import as_typed, fit_settings, read_coupling, read_settings
from typed_commands import OWN, PICTURES, modular, run
from waiting import GUARD, wait_for

pytestmark = pytest.mark.usefixtures("elsewhere")


# --- run -------------------------------------------------------------------------------------------------------------


def test_a_run_is_kept_as_the_simulation_recorded_it():
    result = run("chain", "--set", "bodies=3", "--out", "kept", "--dt", "2e-4", "--record-every", "5")
    assert result.exit_code == 0, result.stderr
    kept = Run.load("kept")
    simulation = Simulation(scenarios.load("chain", bodies=3), dt=2e-4, record_every=5)
    direct = simulation.run(0.02)
    assert np.array_equal(kept.time, direct.time)
    assert np.array_equal(kept.position("rod2.end"), direct.position("rod2.end"))
    assert (kept.model, kept.settings, kept.margins) == (direct.model, direct.settings, direct.margins)
    assert {file.name for file in Path("kept").iterdir()} == {"run.json", "arrays.npz", "checkpoints"}


def test_the_error_of_a_run_is_measured_where_asked_and_kept_beside_it():
    result = run("slider-crank", "--until", "0.1", "--dt", "1e-3", "--verify", "--out", "measured")
    assert result.exit_code == 0, result.stderr
    kept = Run.load("measured")
    assert "of order 2.0 in the step" in result.stdout and "measured error" in result.stdout
    assert abs(kept.verified["order"] - 2.0) < 0.1
    assert kept.estimate["length"] / 10.0 < kept.verified["error"] < 10.0 * kept.estimate["length"]


def test_pictures_and_animation_go_into_the_run_folder():
    result = modular(
        "run", "cut-double-pendulum", "--until", "0.02", "--set", "elbow=0.01", "--animate", "--out", "drawn"
    )
    assert result.exit_code == 0, result.stderr
    files = {file.name for file in Path("drawn").iterdir()}
    assert files == PICTURES | {"animation.gif", "run.json", "arrays.npz", "checkpoints"}
    for name in files - {"checkpoints"}:
        assert name in result.stdout
    for name in PICTURES:
        assert Path("drawn", name).read_bytes().startswith(b"\x89PNG")


def test_step_and_duration_come_from_the_model_where_none_is_given():
    result = modular(
        "run", "cut-double-pendulum", "--set", "elbow=0.1", "--set", "pivot=0.2", "--no-plot", "--record-every", "100"
    )
    assert result.exit_code == 0, result.stderr
    kept = Run.load("runs/cut-double-pendulum")
    assert (kept.dt, kept.time[-1]) == (1e-4, 1.2)


def test_the_margin_of_the_tightest_joint_is_the_first_line():
    result = run("double-pendulum", "--rule", "stable(safety=1.3)")
    assert re.fullmatch(r"stability margin 1\.3; tightest joint: (pivot|elbow)", result.stdout.splitlines()[0])
    assert "warning" not in result.stdout


@pytest.mark.campaign
def test_a_load_that_has_grown_beyond_the_limit_is_a_line_while_it_runs():
    result = run(
        "bicycle-chain", "--coupling", "penalty", "--dt", "1e-4", "--until", "0.2", "--no-plot", "--record-every", "100"
    )
    assert result.stdout.startswith("stability margin 1.25")
    assert result.stderr.count("body 'solid1' is beyond its stability limit") == 1
    assert re.search(r"^warning: body 'solid1' .* at 0\.19\d* s, so the run may diverge", result.stderr, re.MULTILINE)


def test_a_margin_below_one_is_warned_of_with_what_to_do():
    result = run("chain", "--rule", "shannon(delta=0.3)", "--until", "1e-4")
    first, second = result.stdout.splitlines()[:2]
    assert re.fullmatch(r"stability margin 0\.\d+; tightest joint: \w+", first)
    assert second.startswith("warning: below 1")
    assert "Stable()" in result.stdout


def test_the_verdict_is_the_last_line_and_in_words_that_can_be_typed():
    for words, remedy in (
        ((), "Remedy: take --dt {}, or rigid joints, --coupling glued; --verify measures the error."),
        (("--verify",), "Remedy: take --dt {}, or rigid joints, --coupling glued."),
        (
            ("--coupling", "glued"),
            'or a coupling of higher order, such as --coupling "glued(order=4)"; --verify measures',
        ),
    ):
        result = run("double-pendulum", "--dt", "2e-2", "--until", "1", *words)
        last = result.stdout.splitlines()[-1]
        assert result.exit_code == 0 and last.startswith("measured, " * ("--verify" in words) + "the run is off by ")
        assert remedy.format(*re.findall(r"--dt ([\d.e-]+)", last)) in last and "dt = " not in last
    assert "off by" not in run("double-pendulum").stdout


def test_python_words_of_couplings_are_typed_as_the_command_takes_them():
    said = "take dt = 1e-4 s, Glued(), Glued(4), Penalty(preload=False), and nothing for Rod() or x = 3 s."
    typed = as_typed(said)
    assert typed == (
        'take --dt 1e-4, --coupling glued, --coupling "glued(order=4)", --coupling "penalty(preload=False)", '
        "and nothing for Rod() or x = 3 s."
    )
    couplings = re.findall(r'--coupling "?([^",]+)', typed)
    assert [read_coupling(text, None) for text in couplings] == [Glued(), Glued(4), Penalty(preload=False)]


def test_a_coupling_that_is_refused_names_a_few_components_and_what_to_type():
    result = run("stacked-boxes", "--coupling", "hht")
    assert result.exit_code == 2
    assert result.output.count("box") == 5 and " and 10 more can only step forward" in result.output
    assert "take --coupling penalty, --coupling glued or --coupling relaxed." in result.output


def test_springs_in_closed_loops_and_at_drives_are_told_before_the_run():
    """In the words of `check`; not where nothing rings, and not where the model says how it is to be run."""
    knows = "import scenarios\n\ndef build():\n    model = scenarios.load('slider-crank')\n"
    Path("knows.py").write_text(knows + "    model.suggested['coupling'] = 'glued'\n    return model\n")
    for words, told in (
        (("slider-crank",), "1 closed loop: reactions oscillate"),
        (("robot-arm",), "3 drives: reactions oscillate"),
        (("slider-crank", "--coupling", "glued"), ""),
        (("double-pendulum",), ""),
        (("knows.py", "--coupling", "penalty"), ""),
    ):
        lines = [line for line in run(*words, "--until", "0.002").stdout.splitlines() if "reactions oscillate" in line]
        assert [line.startswith(told) for line in lines] == [True] * (told != ""), words
        assert all("--coupling glued, or auto" in line for line in lines)


def test_without_a_terminal_there_are_no_control_codes():
    result = run("double-pendulum")
    assert "\x1b" not in result.stdout + result.stderr
    assert "\r" not in result.stdout


def test_the_summary_tells_energy_joints_and_events():
    result = run("cut-double-pendulum", "--set", "elbow=0.01")
    for words in (
        "2 bodies, 2 joints",
        "200 ticks",
        "per body and step",
        "largest kinetic energy",
        "Revolute",
        "cut elbow",
    ):
        assert words in result.stdout, words


def test_default_folders_are_numbered_and_nothing_is_overwritten():
    for _ in range(3):
        assert run("double-pendulum").exit_code == 0
    assert {folder.name for folder in Path("runs").iterdir()} == {
        "double-pendulum",
        "double-pendulum-2",
        "double-pendulum-3",
    }


def test_a_folder_that_holds_a_run_is_left_as_it_is():
    run("double-pendulum", "--out", "mine")
    before = {file.name: file.read_bytes() for file in Path("mine").rglob("*.*")}
    result = run("chain", "--out", "mine")
    assert result.exit_code == 2
    assert "--overwrite" in result.stderr
    assert {file.name: file.read_bytes() for file in Path("mine").rglob("*.*")} == before


@pytest.mark.campaign
def test_overwriting_replaces_the_run_and_its_old_pictures(plain_pictures):
    modular("run", "double-pendulum", "--until", "0.01", "--out", "mine")
    result = run("chain", "--out", "mine", "--overwrite")
    assert result.exit_code == 0, result.stderr
    assert Run.load("mine").model["title"] == "chain"
    assert {file.name for file in Path("mine").iterdir()} == {"run.json", "arrays.npz", "checkpoints"}


def test_a_refused_overwrite_loses_nothing():
    run("double-pendulum", "--out", "mine")
    before = Run.load("mine")
    assert run("chain", "--out", "mine", "--overwrite", "--until", "1e7").exit_code == 2  # does not fit in memory
    assert Run.load("mine") == before


def test_an_empty_folder_may_be_given():
    Path("empty").mkdir()
    assert run("double-pendulum", "--out", "empty").exit_code == 0
    assert Run.load("empty").time[-1] == 0.02


def test_a_python_file_is_a_model():
    Path("swing.py").write_text(OWN)
    result = run("swing.py", "--set", "length=0.8")
    assert result.exit_code == 0, result.stderr
    kept = Run.load("runs/swing")
    assert kept.position("bar.end")[0].tolist() == [0.8, 0.0]
    assert kept.dt == 1e-4


def test_velocities_are_projected_where_asked():
    Path("push.py").write_text(OWN.replace("masses=(1.0, 0.5)", "masses=(1.0, 0.5), velocity=(0.3, 0.2)"))
    refused = run("push.py")
    assert refused.exit_code == 2
    assert run("push.py", "--project-velocities").exit_code == 0
    assert Run.load("runs/push").events[0]["kind"] == "projection"


@pytest.mark.campaign
def test_settings_are_typed_as_the_list_prints_them():
    """Every default, typed as it stands, gives the model that comes without it."""
    for name in catalogue.names():
        pairs = [f"{setting}={default}" for setting, default in catalogue.describe(name)[1].items()]
        settings = fit_settings(name, read_settings([pair.replace("'", "") for pair in pairs]))
        typed, given = (
            json.dumps(model.to_data()) for model in (scenarios.load(name, **settings), scenarios.load(name))
        )
        assert typed == given, name  # as text: what is nowhere (NaN) is equal to itself there


def test_a_saved_model_is_run_as_the_one_it_was_saved_from():
    scenarios.load("slider-crank").save("crank.json")
    for target in ("slider-crank", "crank.json"):
        assert run(target, "--out", f"of-{target}").exit_code == 0
    first, second = (Run.load(f"of-{target}") for target in ("slider-crank", "crank.json"))
    assert first.digest == second.digest
    assert modular("check", "crank.json").exit_code == 0


def test_joints_are_cut_and_made_at_times_that_are_typed():
    """As the model that has these events of its own, to the last bit; the run ends past them where nobody says when."""
    words = ("--cut", "elbow@1e-3 * 4", "--join", "weld=fixed upper.end lower.start@0.008")
    assert run("double-pendulum", "--dt", "1e-3", *words, "--out", "typed").exit_code == 0
    model = scenarios.load("double-pendulum")
    model.at(0.004, Cut("elbow"))
    model.at(0.008, Join("weld", Fixed(), "upper.end", "lower.start"))
    with Simulation(model, 1e-3) as simulation:
        assert Run.load("typed").digest == simulation.run(0.02).digest
    late = modular("run", "double-pendulum", "--dt", "0.01", "--cut", "elbow@6", "--no-plot", "--out", "late")
    assert late.exit_code == 0 and Run.load("late").time[-1] == pytest.approx(7.2)


@pytest.mark.campaign
def test_what_never_happened_is_told():
    result = run("cut-double-pendulum", "--out", "short")
    assert "did not happen" in result.stdout
    assert Run.load("short").never == ["Cut('elbow') at 0.5 s", "Cut('pivot') at 0.8 s"]
    assert run("switching-pendulum", "--out", "still").exit_code == 0
    assert len(Run.load("still").never) == 2
    with Simulation(scenarios.load("switching-pendulum"), 1e-3) as simulation:
        assert len(simulation.run(0.1).never) == 2
        assert len(simulation.run(1.0).never) == 1  # a condition that stays armed has come true


# --- runs that stop early --------------------------------------------------------------------------------------------


def test_a_run_that_diverges_keeps_what_it_recorded(plain_pictures):
    words = ("run", "chain", "--set", "bodies=3", "--rule", "shannon(delta=0.45)", "--until", "0.2")
    result = modular(*words, "--out", "gone")
    assert result.exit_code == 1
    assert "diverged" in result.stderr
    assert "kept in gone" in result.stderr
    kept = Run.load("gone")
    assert 0 < kept.time[-1] < 0.2
    assert np.isfinite(kept.position("rod2.end")).all()
    assert {file.name for file in Path("gone").iterdir()} == PICTURES | {"run.json", "arrays.npz", "last-ticks"}


def test_an_interrupted_run_keeps_what_it_recorded(monkeypatch):
    stride = Simulation.stride

    def interrupted(simulation, last):
        signal.raise_signal(signal.SIGINT)  # waits for the end of the slice
        stride(simulation, 50)

    monkeypatch.setattr(Simulation, "stride", interrupted)
    result = run("double-pendulum", "--out", "half")
    reached = Run.load("half").ticks[-1]
    assert 0 < reached <= 50
    assert result.exit_code == 130
    assert f"interrupted at {reached * 1e-4:.6g} of 0.02 s" in result.stderr
    assert f"recorded until {reached * 1e-4:.6g} s is kept in half" in result.stderr


def test_ctrl_c_ends_the_command_with_130_and_a_folder_that_loads():
    words = (
        "run",
        "chain",
        "--set",
        "bodies=3",
        "--until",
        "500",
        "--record-every",
        "1000",
        "--no-plot",
        "--out",
        "half",
    )
    with Path("said").open("w") as said:
        child = nursery.modular(*words, said=said)
    wait_for(lambda: "margin" in Path("said").read_text())  # the last line before the run
    time.sleep(0.1)
    child.send_signal(signal.SIGINT)
    assert child.wait(GUARD) == 130
    told = Path("said").read_text()
    assert "energy ledger" in told
    assert re.search(r"interrupted at [0-9.]+ of 500 s", told)
    assert "is kept in half" in told
    assert "Traceback" not in told
    assert len(Run.load("half").digest) == 64


def test_an_event_that_cannot_be_carried_out_ends_the_run_and_keeps_it():
    Path("swing.py").write_text(OWN)
    result = run("swing.py", "--set", "late=true")
    assert result.exit_code == 2
    assert "joint 'reach'" in result.stderr
    assert Run.load("runs/swing").time[-1] == pytest.approx(0.01)


def test_a_model_may_suggest_how_often_to_record_and_a_step_as_typed_takes_every_tick():
    run("scissors", "--out", "suggested")
    assert np.diff(Run.load("suggested").ticks).tolist() == [50] * 20
    run("scissors", "--out", "typed", "--dt", "1e-5")
    assert np.diff(Run.load("typed").ticks).tolist() == [1] * 2000
