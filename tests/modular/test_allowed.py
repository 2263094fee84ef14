"""What a file names is executed only where somebody has allowed it; what is handed over is known."""

import json
import sys

import numpy as np
import pytest
from typer.testing import CliRunner

import scenarios
from components import Law, Load, Rod
from coordinator import Checkpoints, Run, Simulation, resume
from modular import Assembly, ModelError, allow, allowed
from scenarios.cli import app

SOURCE = """
import os
from pathlib import Path
Path(__file__).with_name("executed").touch()
from os import getcwd

def push(time, x, v):
    return 0.0, 0.0, 0.3
"""


@pytest.fixture
def mine(tmp_path, monkeypatch):
    """A module of somebody's, which leaves a trace when it is imported; nothing is allowed or known."""
    folder = tmp_path / "path"
    folder.mkdir()
    (folder / "my_laws.py").write_text(SOURCE)
    monkeypatch.syspath_prepend(folder)
    monkeypatch.setattr(allowed, "_named", set())
    monkeypatch.setattr(allowed, "_given", set())
    yield folder / "executed"
    sys.modules.pop("my_laws", None)


def model(law="my_laws:push"):
    found = Assembly()
    for k in range(2):
        found.add(f"rod{k}", Rod((0, 0, k), (1, 0, k), mass=1.0, radius=0.02))
    found.apply("push", Load(Law(law)), "rod0.end")
    return found


@pytest.mark.parametrize(
    "name",
    [
        "my_laws:push", "antigravity:webbrowser", "os:system", "builtins:exec", "my_laws.deeper:push", ":push", "my_laws",
        "components.forces.values:dataclass", "modular.allowed:Path", "scenarios.catalogue:importlib",
    ],
)  # fmt: skip
def test_a_run_folder_and_a_model_execute_nothing_that_was_not_allowed(name, mine, tmp_path):
    said = (
        "not a function" if "importlib" in name else "would import and execute.*modular.allow.*--allow.*MODULAR_ALLOW"
    )
    model("not:yet").save(tmp_path / "model.json")
    text = (tmp_path / "model.json").read_text().replace("not:yet", name)
    (tmp_path / "model.json").write_text(text)
    read = Assembly.load(tmp_path / "model.json")
    assert not mine.exists()
    with pytest.raises(ModelError, match=said):
        Simulation(read, 1e-3)
    assert not mine.exists() and "antigravity" not in sys.modules


def test_what_was_allowed_is_executed_from_run_folders_and_checkpoints(mine, tmp_path, monkeypatch):
    with Simulation(model(), 1e-3) as simulation:  # a program that names it has allowed it
        run = simulation.run(0.02, checkpoints=Checkpoints(tmp_path, every=0.01))
    run.save(tmp_path / "run")
    assert mine.exists()
    mine.unlink()
    sys.modules.pop("my_laws")
    monkeypatch.setattr(allowed, "_given", set())
    for again in (lambda: Simulation(Run.load(tmp_path / "run").assembly(), 1e-3), lambda: resume(tmp_path)):
        with pytest.raises(ModelError, match="would import and execute 'my_laws'"):
            again()
    assert not mine.exists()
    allow("others", "my_laws")
    with resume(tmp_path) as simulation:
        assert simulation.run(0.02).position("rod0.end")[-1].tolist() == run.position("rod0.end")[-1].tolist()
    assert mine.exists()


def test_a_function_that_was_handed_over_is_known_and_no_other_of_its_module(mine, tmp_path):
    import my_laws

    with Simulation(model(my_laws.push), 1e-3) as simulation:
        run = simulation.run(0.01)
    run.save(tmp_path / "run")
    with Simulation(Run.load(tmp_path / "run").assembly(), 1e-3) as simulation:
        assert simulation.run(0.01).digest == run.digest
    described = json.loads((tmp_path / "run" / "run.json").read_text().replace("my_laws:push", "my_laws:getcwd"))
    with pytest.raises(ModelError, match="'my_laws:getcwd' would import and execute"):
        Simulation(Assembly.from_data(described["model"]), 1e-3)


def test_workers_find_what_the_run_was_handed_and_import_it_from_where_the_run_did(mine):
    import my_laws

    def ends(**how):
        with Simulation(model(my_laws.push), 1e-3, **how) as simulation:
            return simulation.run(0.02)

    assert ends(workers=2).digest == ends().digest
    assert np.abs(ends().position("rod0.end")[-1]).max() > 0.0


def test_the_command_line_names_packages_and_help_says_what_executes(mine, tmp_path):
    with Simulation(model(), 1e-3) as simulation:
        simulation.run(0.01).save(tmp_path / "run")
    allowed._given.clear()
    refused = CliRunner().invoke(app, ["rerun", str(tmp_path / "run")])
    assert refused.exit_code == 2 and "--allow my_laws" in " ".join(refused.output.split())
    assert CliRunner().invoke(app, ["--allow", "my_laws", "rerun", str(tmp_path / "run")]).exit_code == 0
    assert CliRunner().invoke(app, ["--allow", "my laws;", "list"]).exit_code == 2
    for verb in ("run", "check", "study", "compare", "live"):
        assert "executed" in CliRunner().invoke(app, [verb, "--help"]).output, verb


def test_ready_systems_need_no_leave(mine):
    with Simulation(scenarios.load("inverted-pendulum"), 1e-3) as simulation:
        simulation.run(0.01)
