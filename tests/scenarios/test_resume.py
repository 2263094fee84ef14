"""modular resume: what was stopped goes on, what was killed goes on, what is not there is said."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest

import scenarios
from campaign import more
from command_line import CliRunner
from coordinator import Run, Simulation, resume
from coordinator.record import on_disk, recorder
from modular import ModelError
from scenarios.cli import app
from waiting import GUARD, wait_for

MODEL = ["chain", "--set", "bodies=30", "--record-every", "50", "--no-plot"]


def modular(*words):
    return CliRunner().invoke(app, list(words))


def digest(folder):
    return Run.load(folder).digest


def start(*words):
    code = "import sys; from scenarios.cli import main; sys.argv[0] = 'modular'; main()"
    return subprocess.Popen([sys.executable, "-c", code, *words], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


@pytest.mark.campaign
@pytest.mark.parametrize("blow", [signal.SIGKILL, *more([signal.SIGINT])])
def test_a_run_that_was_struck_down_goes_on_to_the_same_bits(blow, tmp_path):
    folder = tmp_path / "struck"
    process = start("run", *MODEL, "--until", "1000", "--checkpoint-every", "0.05", "--out", str(folder))
    wait_for(lambda: len(list(folder.glob("checkpoints/*.checkpoint"))) == 2)
    os.kill(process.pid, blow)
    said = process.communicate(timeout=GUARD)[1].decode()
    if blow is signal.SIGINT:
        assert re.search(r"Go on with: modular resume \S+struck", said)
    last = max(int(path.stem) for path in folder.glob("checkpoints/*.checkpoint"))
    until = str((last + 500) * 1e-4)
    done = modular("resume", str(folder), "--until", until, "--no-plot")
    assert done.exit_code == 0, done.output
    assert f"going on from {last * 1e-4:g} s" in done.output
    assert modular("run", *MODEL, "--until", until, "--out", str(tmp_path / "whole")).exit_code == 0
    assert digest(folder) == digest(tmp_path / "whole")
    assert len(list(folder.glob("checkpoints/*"))) == 1  # the rest is in the run itself


def test_further_and_further(tmp_path):
    folder = str(tmp_path / "run")
    assert modular("run", *MODEL, "--until", "0.02", "--out", folder).exit_code == 0
    again = modular("resume", folder)
    assert again.exit_code == 2 and "continue with --until" in again.output
    Path(folder, "animation.gif").write_bytes(b"of the run that ended at 0.02 s")
    for until, gone in (("0.03", True), ("0.05", False)):
        further = modular("resume", folder, "--until", until, "--no-plot")
        assert further.exit_code == 0
        assert (
            "removed, because it showed the previous run: animation.gif (again by --animate)" in further.output
        ) is gone
    assert modular("run", *MODEL, "--until", "0.05", "--out", str(tmp_path / "whole")).exit_code == 0
    assert digest(folder) == digest(tmp_path / "whole")
    assert modular("rerun", folder).exit_code == 0


def test_what_cannot_be_resumed_is_said(tmp_path):
    assert "no such folder" in modular("resume", str(tmp_path / "nowhere")).output
    folder = str(tmp_path / "bare")
    assert modular("run", *MODEL, "--until", "0.01", "--out", folder, "--checkpoint-every", "0").exit_code == 0
    refused = modular("resume", folder, "--until", "1")
    assert refused.exit_code == 2 and "has no checkpoints" in refused.output


def test_a_run_that_was_not_finished_is_not_written_over(tmp_path):
    folder = tmp_path / "run"
    assert modular("run", *MODEL, "--until", "0.01", "--out", str(folder)).exit_code == 0
    for name in ("run.json", "arrays.npz"):
        (folder / name).unlink()
    refused = modular("run", *MODEL, "--until", "0.01", "--out", str(folder))
    assert refused.exit_code == 2 and "not finished" in refused.output
    missing = modular("resume", str(folder), "--until", "1")
    assert missing.exit_code == 2 and "run.json" in missing.output
    assert modular("run", *MODEL, "--until", "0.01", "--out", str(folder), "--overwrite").exit_code == 0


def test_a_model_that_cannot_be_kept_is_run_without_checkpoints(tmp_path):
    file = tmp_path / "own.py"
    file.write_text(
        "from components import Law, Load, Rod\nfrom modular import Assembly\n\n\ndef build():\n    model = Assembly()\n"
        "    model.add('rod', Rod((0, 0, 0), (1, 0, 0), 1.0))\n"
        "    model.apply('push', Load(Law(lambda t, x, v: (0.0, 0.0, 1.0))), 'rod.end')\n    return model\n"
    )
    done = modular("run", str(file), "--until", "0.01", "--no-plot", "--out", str(tmp_path / "run"))
    assert done.exit_code == 0 and "no checkpoints:" in done.output


def test_a_run_larger_than_memory_ends_well_and_goes_on(tmp_path, monkeypatch):
    folder = str(tmp_path / "run")
    monkeypatch.setattr(recorder, "SEGMENT_BYTES", 2**18)
    monkeypatch.setattr(on_disk, "PIECE_BYTES", 2**19)
    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(available=100_000))
    done = modular("run", *MODEL[:3], "--record-every", "5", "--no-plot", "--until", "0.05", "--out", folder)
    assert done.exit_code == 0, done.output
    assert "samples go to disk" in done.output
    assert list((tmp_path / "run" / "samples").iterdir()) and not (tmp_path / "run" / "arrays.npz").exists()
    assert [path.suffix for path in (tmp_path / "run" / "checkpoints").iterdir()] == [".checkpoint"]
    assert modular("resume", folder, "--until", "0.1", "--no-plot").exit_code == 0
    assert modular("rerun", folder).exit_code == 0


def test_checkpoints_of_a_run_in_python_are_gone_on_with_as_their_refusal_says(tmp_path):
    """They have no run folder around them; moved into one the command takes them."""
    place = tmp_path / "kept"
    with Simulation(scenarios.load("double-pendulum"), 1e-3) as simulation:
        simulation.run(0.01, checkpoints=place)
    with Simulation(scenarios.load("double-pendulum"), 1e-3) as other, pytest.raises(ModelError) as refused:
        other.run(0.01, checkpoints=place)
    assert f"resume('{place}')" in str(refused.value) and "modular resume" not in str(refused.value)
    answer = modular("resume", str(place))
    assert answer.exit_code == 2 and f"resume('{place}')" in " ".join(answer.output.split())
    with resume(place) as simulation:
        simulation.run(0.02)
    (tmp_path / "run").mkdir()
    place.rename(tmp_path / "run" / "checkpoints")
    assert modular("resume", str(tmp_path / "run"), "--until", "0.03", "--no-plot").exit_code == 0
