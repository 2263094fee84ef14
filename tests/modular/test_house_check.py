"""A foreign folder named like one of our packages is called by its name at once; others are left alone."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import modular
from waiting import GUARD

HOME = Path(modular.__file__).resolve().parent.parent


def start(code: str, *front: Path) -> subprocess.CompletedProcess[str]:
    """Run code in a fresh interpreter with folders in front of everything installed."""
    path = os.pathsep.join([*map(str, front), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)
    environment = {**os.environ, "PYTHONPATH": path, "PYTHONSAFEPATH": "1"}
    return subprocess.run(
        [sys.executable, "-c", code],
        cwd=HOME.anchor,
        env=environment,
        capture_output=True,
        text=True,
        timeout=GUARD,
        check=False,
    )


def found(*front: Path) -> Path:
    """Where Python finds our components after `import modular`, without running them: that takes a second."""
    code = "import modular; from importlib.util import find_spec; print(find_spec('components').origin)"
    result = start(code, *front)
    assert result.returncode == 0, result.stderr
    return Path(result.stdout.strip()).parent


def package(folder: Path) -> Path:
    folder.mkdir()
    (folder / "__init__.py").write_text("class PointMassRod: pass\n")
    return folder


@pytest.mark.parametrize("name", ["components", "coordinator", "scenarios"])
def test_a_foreign_package_in_front_of_ours_is_named_with_its_folder(name: str, tmp_path: Path):
    foreign = package(tmp_path / name)
    result = start("import modular", tmp_path)
    assert result.returncode == 1
    sentence = result.stderr.splitlines()[-1]
    assert sentence.startswith("ImportError: ")
    assert f"{foreign} shadows" in sentence
    assert str(HOME / name) in sentence
    assert "Rename it" in sentence


@pytest.mark.parametrize("name", ["components", "coordinator", "scenarios"])
def test_a_foreign_file_in_front_of_ours_is_named(name: str, tmp_path: Path):
    (tmp_path / f"{name}.py").write_text("")
    result = start("import modular", tmp_path)
    assert result.returncode == 1
    assert f"{tmp_path / name}.py shadows" in result.stderr.splitlines()[-1]


def test_the_sentence_comes_before_any_import_of_the_foreign_package(tmp_path: Path):
    (package(tmp_path / "components") / "__init__.py").write_text("raise SystemExit('I was imported')\n")
    result = start("import modular", tmp_path)
    assert "I was imported" not in result.stderr
    assert "shadows" in result.stderr


def test_a_plain_folder_of_the_same_name_hides_nothing(tmp_path: Path):
    (tmp_path / "components").mkdir()
    (tmp_path / "components" / "button.py").write_text("")
    assert found(tmp_path) == HOME / "components"


def test_a_foreign_package_behind_ours_hides_nothing(tmp_path: Path):
    package(tmp_path / "components")
    assert found(HOME, tmp_path) == HOME / "components"


@pytest.mark.campaign
def test_our_own_packages_through_another_path_are_still_ours(tmp_path: Path):
    (tmp_path / "same").symlink_to(HOME, target_is_directory=True)
    result = start("import modular, components; print(components.PointMassRod.__name__)", tmp_path / "same")
    assert result.returncode == 0, result.stderr
    assert result.stdout.strip() == "PointMassRod"
