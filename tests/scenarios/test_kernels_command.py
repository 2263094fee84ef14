"""`modular kernels`: where machine code lies, compiled ahead, and brought along by a wheel."""

import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

from campaign import more
from command_line import CliRunner
from scenarios import kernels_ahead
from scenarios.cli import app
from scenarios.kernels_ahead import compile_all

COMMAND = "from scenarios.cli import main; main()"
ROOT = Path(__file__).resolve().parent.parent.parent


def test_it_says_where_code_lies_and_how_much(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MODULAR_CACHE_DIR", str(tmp_path))
    done = CliRunner().invoke(app, ["kernels"])
    assert done.exit_code == 0
    assert str(tmp_path) in done.stdout.replace("\n", "") and "0 kernels" in done.stdout


def test_an_unknown_system_is_refused_by_name():
    done = CliRunner().invoke(app, ["kernels", "build", "--only", "chain,no-such-thing"])
    assert done.exit_code == 2
    assert "no-such-thing" in done.output and "modular list" in done.output


def test_each_system_is_run_under_each_coupling_by_the_command_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    said: list[str] = []
    monkeypatch.setattr(kernels_ahead, "START", "import sys; print(*sys.argv); sys.exit('broken' in sys.argv and 3)")
    wrong = compile_all(["chain", "broken"], ["penalty", "glued"], tmp_path, said.append)
    assert sorted(said) == ["broken, glued", "broken, penalty", "chain, glued", "chain, penalty"]
    assert sorted(line.partition(":")[0] for line in wrong) == ["broken under glued", "broken under penalty"]


@pytest.mark.campaign
@pytest.mark.parametrize("couplings", [("penalty",), *more([(("penalty", "glued"),)])])
def test_a_wheel_that_brings_code_along_compiles_nothing_in_a_fresh_environment(couplings: tuple[str], tmp_path: Path):
    cache = {**os.environ, "MODULAR_CACHE_DIR": str(tmp_path / "cache")}
    done = subprocess.run(
        [sys.executable, "-c", COMMAND, "kernels", "wheel", "--only", "double-pendulum", "--couplings",
         ",".join(couplings), "--out", str(tmp_path)],
        cwd=ROOT, env=cache, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    (wheel,) = tmp_path.glob("*.whl")
    assert "none-any" not in wheel.name
    assert any(name.startswith("modular/kernels/") for name in zipfile.ZipFile(wheel).namelist())
    venv.create(tmp_path / "fresh", with_pip=False, system_site_packages=False)
    place = next((tmp_path / "fresh").rglob("site-packages"))
    zipfile.ZipFile(wheel).extractall(place)  # what is installed beside it is what this environment has
    (place / "others.pth").write_text("\n".join(path for path in sys.path if "site-packages" in path))
    python = tmp_path / "fresh" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    for coupling in couplings:
        run = ["run", "double-pendulum", "--until", "0.1", "--no-plot", "--coupling", coupling]
        done = subprocess.run(
            [str(python), "-P", "-c", COMMAND, *run, "--out", str(tmp_path / coupling)], cwd=tmp_path,
            env={k: v for k, v in cache.items() if k != "PYTHONPATH"} | {"MODULAR_CACHE_DIR": str(tmp_path / "empty")},
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert "compiling" not in done.stderr
    assert not list((tmp_path / "empty").rglob("*.kernel"))
