"""What the command `modular` promises: it teaches, and refuses in words."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from typer.main import get_command

from budget import slowness
from command_line import CliRunner
from coordinator import Run
from modular.version import __version__
from scenarios import catalogue
from scenarios.cli import app
from scenarios.gallery.figures import choose
from scenarios.terminal import console_for
from typed_commands import OWN, modular, run

pytestmark = pytest.mark.usefixtures("elsewhere")


VERBS = ["", *get_command(app).commands, *(f"keys {verb}" for verb in get_command(app).commands["keys"].commands)]


# --- list, version, help ---------------------------------------------------------------------------------------------


def test_the_list_names_every_scenario_with_its_settings_and_their_defaults():
    result = modular("list")
    assert result.exit_code == 0
    for name in catalogue.names():
        assert name in result.stdout
        for setting, default in catalogue.describe(name)[1].items():
            assert f"{setting}={default}" in result.stdout


@pytest.mark.parametrize("columns", [60, 80, 140])
def test_what_is_told_is_as_wide_as_columns_says_in_a_pipe_too(columns):
    told = CliRunner().invoke(app, ["list"], env={"COLUMNS": str(columns)}).stdout
    assert max(map(len, told.splitlines())) <= columns
    looked = CliRunner().invoke(app, ["check", "robot-arm"], env={"COLUMNS": str(columns)}).stdout
    table = looked.partition("\n- ")[0].splitlines()
    assert max(map(len, table)) <= columns
    # else they are folded
    assert (" shoulder  Revolute " in looked and " DrivenRotation " in looked) == (columns >= 80)


def test_where_nobody_says_how_wide_nothing_is_folded(monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    monkeypatch.setattr(os, "isatty", lambda _: False)
    assert console_for().width == 120
    monkeypatch.setenv("COLUMNS", "93")
    assert console_for().width == 93


def test_the_list_tells_of_some_alone():
    told = modular("list", "chain", "four-bar").stdout
    assert "settings: bodies=10" in told and "rough=False" in told and "double-pendulum" not in told
    asked = modular("list", "chian")
    assert asked.exit_code == 2 and "did you mean 'chain'?" in asked.stderr


@pytest.mark.parametrize("verb", ["", "run", "keys new"])
def test_help_can_be_asked_for_as_a_command(verb):
    assert modular("help", *verb.split()).stdout == modular(*verb.split(), "--help").stdout


@pytest.mark.parametrize("written", ["VI-3", "vi-3", "vi3", "VI.3", "3"])
def test_figures_of_the_thesis_are_known_as_people_write_them(written):
    assert [entry.name for entry in choose([written])] == ["VI-3"]


def test_the_list_answers_within_half_a_second_and_leaves_the_heavy_libraries_out():
    code = (
        "import sys\nfrom scenarios.cli import app\napp(['list'], standalone_mode=False)\n"
        "print('loaded:', *sorted({'numpy', 'networkx', 'numba', 'matplotlib', 'PIL'} & set(sys.modules)))"
    )
    shares = []  # of what is allowed, as slow as the machine is now
    while len(shares) < 8 and not any(share < 1.0 for share in shares):  # what it does beside is not our time
        before = os.times()
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        after = os.times()
        spent = sum(after[2:4]) - sum(before[2:4])  # [s] of processor time, of children
        shares.append(spent / (0.5 * slowness()))
    assert done.stdout.splitlines()[-1].split() == ["loaded:"]
    assert "double-pendulum" in done.stdout
    assert min(shares) < 1.0


@pytest.mark.parametrize("option", ["--version", "-V"])
def test_the_version_is_the_one_of_the_package(option):
    result = modular(option)
    assert (result.exit_code, result.stdout.strip()) == (0, __version__)


def test_help_shows_an_example_of_every_command():
    assert "modular run double-pendulum" in modular().stdout
    assert "modular run chain --set bodies=100" in modular("list", "--help").stdout
    assert "modular run cut-double-pendulum --dt 2e-4" in modular("run", "--help").stdout
    assert "modular show runs/double-pendulum" in modular("show", "--help").stdout


def test_every_scenario_says_in_which_group_it_stands():
    for name in catalogue.names():
        assert 'GROUP = "' in (catalogue.SYSTEMS / f"{name.replace('-', '_')}.py").read_text(), name
    assert sorted(name for names in catalogue.groups().values() for name in names) == catalogue.names()
    said = modular("list").stdout
    assert all(group in said for group in catalogue.GROUPS)


def test_help_loses_no_words_to_markup():
    for command in (*get_command(app).commands, ""):
        said = modular(*[command] * bool(command), "--help").stdout
        assert "(extra )" not in said and "'modular-multibody'" not in said, command
        assert "[/" not in said, command


@pytest.mark.parametrize("verb", VERBS)
def test_help_is_read_in_eighty_columns(verb):
    """Paragraphs flow, commands keep their lines, and nothing is cut off."""
    words = verb.split()
    command = get_command(app)
    for word in words:
        command = command.commands[word]
    said = CliRunner().invoke(app, [*words, "--help"], env={"COLUMNS": "80"}).stdout
    lines = [line.rstrip() for line in said.splitlines()]
    assert max(map(len, lines)) <= 80 and "\b" not in said
    told = lines[: next(k for k, line in enumerate(lines) if line.startswith("╭"))]
    plain = [re.sub(r"(?<!\\)\[/?bold]|\\(?=\[)", "", text) for text in command.help.split("\n\n")]
    for text in plain:
        if "\n" in text:
            assert all(f" {line}" in told for line in text.strip().splitlines()), text
    first = [line.split(" ")[1] if line.startswith(" ") else "" for line in told]
    for above, word in zip(told, first[1:], strict=False):
        flows = above.startswith(" ") and word and any(above.strip() in text for text in plain if "\n" not in text)
        assert not flows or len(above) + 1 + len(word) > 79, above
    cells = "".join(re.sub(r"[│\s]+", "", line) for line in lines)
    for parameter in command.params:
        for word in re.sub(r"\\(?=\[)", "", getattr(parameter, "help", "") or "").split():
            assert word in cells, (parameter.name, word)


def test_a_model_in_the_place_of_a_command_is_answered_with_the_command_to_write():
    result = modular("double-pendulum")
    assert result.exit_code == 2
    assert "modular run" in result.stderr


# --- refusals --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        (["chian"], "did you mean 'chain'?"),
        (["nowhere.py"], "no such file"),
        (["nowhere.json"], "no such file"),
        (["double-pendulum", "--cut", "elbow"], "say when"),
        (["double-pendulum", "--cut", "elbow@nan"], "say when"),
        (["double-pendulum", "--cut", "elbo@1"], "did you mean 'elbow'?"),
        (["double-pendulum", "--join", "weld@1"], "KIND PORT PORT@TIME"),
        (["double-pendulum", "--join", "fixt upper.end lower.start@1"], "did you mean 'fixed'?"),
        (
            ["double-pendulum", "--join", "weld upper.end lower.start@1"],
            "there is no joint 'weld'; did you mean 'fixed'?",
        ),
        (["double-pendulum", "--join", "fixed upper.nd lower.start@1"], "did you mean 'end'?"),
        (["double-pendulum", "--set", "lengths=1"], "give two"),
        (["double-pendulum", "--set", "masses=(1, -1)"], "must be positive"),
        (["double-pendulum", "--set", "lengths=(nan,1)"], "lengths = nan; give a finite number [m]"),
        (["double-pendulum", "--set", "lengths=(1, -inf)"], "lengths = -inf; give a finite number [m]"),
        (["two-rods", "--set", "masses=[1, nan]"], "masses = nan; give a finite number [kg]"),
        (["chain", "--set", "radius=inf"], "radius = inf"),
        (["slider-crank", "--set", "angle=nan"], "give a number; its default is pi / 4"),
        (["chain", "--set", "bodes=3"], "did you mean 'bodies'?"),
        (["chain", "--set", "bodies"], "NAME=VALUE"),
        (["chain", "--set", "=3"], "NAME=VALUE"),
        (["chain", "--set", "bodies=abc"], "whole number; its default is 10"),
        (["chain", "--set", "bodies=2.5"], "whole number"),
        (["chain", "--set", "bodies=true"], "whole number"),
        (["chain", "--set", "radius=thin"], "give a number"),
        (["chain", "--set", "bodies=2", "--set", "bodies=3"], "twice"),
        (["double-pendulum", "--set", "start=3"], "give one of thesis, small"),
        (["chain", "--dt", "0"], "--dt 0: a step is a positive number"),
        (["chain", "--dt", "-1e-4"], "positive number"),
        (["chain", "--dt", "nan"], "--dt nan"),
        (["chain", "--dt", "inf"], "--dt inf"),
        (["chain", "--until", "0"], "--until 0"),
        (["chain", "--until", "-1"], "--until -1"),
        (["chain", "--until", "nan"], "--until nan"),
        (["chain", "--until", "1e-6"], "less than half a step"),
        (["chain", "--until", "1e7"], "record less often"),
        (["chain", "--rule", "stabel"], "did you mean 'stable'?"),
        (["chain", "--rule", "stable(safty=2)"], "did you mean 'safety'? There are: damping, safety."),
        (["chain", "--rule", "stable(safety=high)"], "give a number"),
        (["chain", "--rule", "stable(1.3)"], "name every setting, such as stable(safety=1.25)"),
        (["chain", "--rule", "stable(safety=1.3"], "cannot be read"),
        (["chain", "--rule", "stable(safety=1, safety=2)"], "twice"),
        (["chain", "--rule", "stable(safety=0.5)"], "safety = 0.5"),
        (["chain", "--coupling", "penlty"], "did you mean 'penalty'?"),
        (["chain", "--coupling", "rigid"], "did you mean 'glued'?"),
        (["chain", "--coupling", "penalty(internal=thesi)"], "did you mean 'thesis'?"),
        (["chain", "--coupling", "penalty(internal=3)"], "no internal gains"),
        (["chain", "--coupling", "penalty(preload=3)"], "true or false"),
        (["chain", "--coupling", "hhtt"], "did you mean 'hht'"),
        (["chain", "--coupling", "centralized(hht)"], "centralized(solver=hht)"),
        (["chain", "--coupling", "penalty(rule=shannon)", "--rule", "stable"], "given twice"),
    ],
)
def test_wrong_input_is_refused_in_one_message_and_leaves_no_folder(words, answer):
    result = run(*words)
    assert result.exit_code == 2
    assert answer in result.stderr
    assert "Traceback" not in result.stderr
    assert not Path("runs").exists()


def test_a_file_that_lies_here_is_found_by_a_name_that_is_nearly_its_own():
    """By its ending mistyped or left out; also in another folder."""
    Path("there").mkdir()
    for file in ("swing-arm.toml", "there/crane.py", "notes.txt"):
        Path(file).touch()
    for typed, meant in (
        ("swing-arm.tml", "swing-arm.toml"),
        ("swingarm.toml", "swing-arm.toml"),
        ("swing-arm", "swing-arm.toml"),
        ("there/crane", "there/crane.py"),
        ("there/cran.py", "there/crane.py"),
    ):
        assert f"did you mean '{meant}'?" in run(typed).stderr
    assert "notes" not in run("notes").stderr.replace("scenario 'notes'", "")


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("def build(n=2):\n    return 1 / (n - 2)\n", "ZeroDivisionError: division by zero (line 2 of model.py"),
        ("def build(:\n", "SyntaxError"),
        ("def built():\n    pass\n", "no function build"),
        ("def build():\n    return 3\n", "must return an Assembly"),
        (
            OWN.replace("end=(length, 0)", "end=(float('nan'), 0)"),
            'end = (nan, 0) is not finite. (line 7 of model.py: swing.add("bar", PointMassRod(',
        ),
        (OWN.replace("start=(0, 0)", "strat=(0, 0)"), "did you mean 'start'? (line 7 of model.py: "),
        (OWN.replace("bar.start", "bar.strat"), "did you mean 'start'? (line 8 of model.py: swing.join("),
    ],
)
def test_a_file_that_builds_nothing_is_refused_with_the_place(text, answer):
    Path("model.py").write_text(text)
    result = run("model.py")
    assert result.exit_code == 2
    assert answer in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize(
    "text", ["", "[1", "[]", "3", '{"gravity": 1}', '{"gravity": [0, 1], "bodies": {"a": {"class": "x"}}}']
)
def test_a_file_that_is_no_saved_model_is_refused_in_one_sentence(text):
    Path("model.json").write_text(text)
    result = run("model.json")
    assert result.exit_code == 2
    assert "model.json" in result.stderr and "Traceback" not in result.stderr


@pytest.mark.parametrize("place", ["file", "file/below"])
def test_a_folder_that_cannot_be_made_is_refused_before_the_run(place):
    Path("file").write_text("")
    result = run("double-pendulum", "--out", place, "--until", "1e9")  # would be refused later for want of memory
    assert result.exit_code == 2
    assert f"--out {place}" in result.stderr


# --- check -----------------------------------------------------------------------------------------------------------


def test_check_tells_freedoms_margins_and_advice_without_running():
    result = CliRunner().invoke(app, ["check", "slider-crank"])
    assert result.exit_code == 0
    for words in ("mobility", "1 at this pose", "slide", "PointOnLine", "margin", "twice the step"):
        assert words in result.stdout
    wrong = CliRunner().invoke(app, ["check", "chain", "--set", "bodies=3", "--rule", "shannon(delta=0.3)"])
    assert wrong.exit_code == 0 and "beyond the limit" in wrong.stdout
    assert CliRunner().invoke(app, ["check", "slidercrank"]).exit_code == 2
    soft = CliRunner().invoke(app, ["check", "double-pendulum", "--dt", "0.1"])  # what helps, as one types it
    assert "or rigid joints: --coupling glued." in soft.stdout and "Glued()" not in soft.stdout


def test_check_says_how_joints_hold_and_that_joints_without_springs_limit_no_step():
    for words, meant, limited in (((), "Penalty(rule=Stable)", True), (("--coupling", "glued"), "Glued", False)):
        told = CliRunner().invoke(app, ["check", "double-pendulum", *words]).stdout
        assert f"coupling            {meant} " in told and "inf" not in told
        assert told.count("no limit") == (0 if limited else 2)


@pytest.mark.parametrize("option", ["--dt", "--until"])
@pytest.mark.parametrize("typed", ["1ms", "2 s", "1e-3,1e-4", "0,5"])
def test_seconds_with_a_unit_are_refused_with_how_to_write_them(option, typed):
    result = CliRunner().invoke(app, ["run", "double-pendulum", option, typed], env={"COLUMNS": "160"})
    assert result.exit_code == 2
    assert f"'{typed}' is no number of seconds; write it without a unit, such as 1e-3." in result.stderr


def test_a_model_may_suggest_its_coupling_and_who_types_one_has_that():
    """Springs let a rolling disc slide by its own size in five seconds."""
    for words, meant in (
        ((), "Glued"),
        (("--coupling", "penalty"), "Penalty"),
        (("--rule", "stable(safety=1.3)"), "Penalty"),
    ):
        folder = f"rolls-{words[0] if words else meant}"
        result = run("rolling-disc", "--until", "0.02", *words, "--out", folder)
        assert result.exit_code == 0, result.stderr
        assert Run.load(folder).settings["coupling"]["class"].endswith(f":{meant}")
