"""Settings, couplings and rules as people type them: read, never evaluated."""

import json
from pathlib import Path

import pytest

from coordinator import GGL, HHT, Centralized, Penalty, Shannon, Stable
from modular import InternalGains, ModelError
from scenarios.settings import fit_settings, read_coupling, read_settings
from typed_commands import modular, run

pytestmark = pytest.mark.usefixtures("elsewhere")


@pytest.mark.parametrize(
    ("coupling", "rule", "meant"),
    [
        (None, None, Penalty()),
        ("penalty", None, Penalty()),
        ("Penalty()", "STABLE", Penalty(rule=Stable())),
        (None, "stable(safety=1.5, damping=0.1)", Penalty(rule=Stable(safety=1.5, damping=0.1))),
        (None, "Shannon(delta=0.25)", Penalty(rule=Shannon(delta=0.25))),
        ("penalty(internal=thesis)", "shannon", Penalty(rule=Shannon(), internal=InternalGains.thesis())),
        ("penalty(rule=shannon(delta=0.2))", None, Penalty(rule=Shannon(delta=0.2))),
        ("penalty(preload=false)", None, Penalty(preload=False)),
        ("penalty(preload=True)", None, Penalty()),
        ("hht", None, Centralized(HHT())),
        ("HHT(alpha=0.05)", None, Centralized(HHT(alpha=0.05))),
        ("centralized(solver=ggl)", None, Centralized(GGL())),
        (
            "penalty(internal=internalgains(frequency=10, damping=1, frequency_per_step=0.5, artificial_mass=None))",
            None,
            Penalty(internal=InternalGains(frequency=10.0, damping=1.0, frequency_per_step=0.5)),
        ),
    ],
)
def test_couplings_and_rules_are_read_as_they_are_written(coupling, rule, meant):
    assert read_coupling(coupling, rule) == meant


@pytest.mark.parametrize("text", ["__import__('os').getcwd()", "stable.__class__", "[stable]", "stable(**{})", "", "1"])
def test_what_is_no_description_is_never_evaluated(text):
    with pytest.raises(ModelError):
        read_coupling(None, text)


def test_settings_are_json_and_otherwise_text():
    pairs = ["n=3", "x=1e-3", "on=true", "name=small", "list=[1, 2]", "empty=", "formula=a=b", "root=(-8) ** (1 / 3)"]
    assert read_settings(pairs) == {
        "n": 3, "x": 1e-3, "on": True, "name": "small", "list": [1, 2], "empty": "", "formula": "a=b",
        "root": "(-8) ** (1 / 3)",
    }  # fmt: skip


def test_settings_take_the_type_of_their_defaults():
    fitted = fit_settings("chain", {"bodies": 1e2, "radius": 0})
    assert fitted == {"bodies": 100, "radius": 0.0}
    assert [type(value) for value in fitted.values()] == [int, float]


def test_the_run_folder_remembers_coupling_and_rule():
    run("double-pendulum", "--rule", "shannon(delta=0.2)", "--coupling", "penalty(internal=thesis)", "--out", "mine")
    settings = json.loads(Path("mine/run.json").read_text())["settings"]["coupling"]
    assert settings["rule"] == {"class": "coordinator:Shannon", "delta": 0.2}
    assert settings["internal"]["frequency"] == 1.0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("assemble", "four-bar", "--branches"), "hold more, such as its crank: --hold crank, or give"),
        (("modes", "bicycle"), "or ask for those about a motion that goes on: --steady."),
        (("live", "double-pendulum", "--host", "0.0.0.0", "--no-browser"), "take 127.0.0.1, or say --anywhere if"),
    ],
)
def test_what_helps_is_told_as_it_is_typed_and_nothing_is_left(words, said):
    result = modular(*words)
    assert result.exit_code == 2 and said in result.stderr
    assert not Path("runs").exists()


def test_a_folder_without_keys_says_so_and_how_to_make_one():
    Path("none").mkdir()
    result = modular("keys", "list", "--folder", "none")
    assert result.exit_code == 0 and "none contains no public key; modular keys new NAME" in result.stderr
