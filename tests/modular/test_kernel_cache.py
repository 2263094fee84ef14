"""Machine code kept on disk is never older than the sources it came from."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import modular.kernel
import modular.reach
from modular.kept_code import SUFFIX
from modular.kernel import cache_folder, fingerprint
from waiting import GUARD

INNER = """
from modular.kernel import kernel

@kernel
def inner(x):
    return {factor} * x
"""

OUTER = """
from inner import inner
from modular.kernel import kernel

@kernel
def outer(x):
    return inner(x) + 1.0

print(outer(7.0))
print(sum(outer.stats.cache_hits.values()))
"""


def run(folder: Path, cache: Path, script: str = "outer.py") -> list[str]:
    """Output lines of a script in a fresh interpreter with a kernel cache of its own."""
    environment = {**os.environ, "MODULAR_CACHE_DIR": str(cache), "PYTHONDONTWRITEBYTECODE": "1"}
    result = subprocess.run(
        [sys.executable, "-W", "error", str(folder / script)],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=GUARD,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    return result.stdout.split()


def write(folder: Path, factor: float) -> None:
    (folder / "inner.py").write_text(textwrap.dedent(INNER.format(factor=factor)))
    (folder / "outer.py").write_text(textwrap.dedent(OUTER))


def test_editing_a_callee_is_never_answered_from_the_old_cache_of_its_caller(tmp_path: Path):
    write(tmp_path, factor=3.0)
    cache = tmp_path / "cache"
    assert run(tmp_path, cache) == ["22.0", "0"]
    assert run(tmp_path, cache) == ["22.0", "1"]  # kept: the second start compiles nothing
    stamp = (tmp_path / "outer.py").stat()
    write(tmp_path, factor=5.0)
    os.utime(tmp_path / "outer.py", ns=(stamp.st_atime_ns, stamp.st_mtime_ns))  # the caller is as it was
    assert run(tmp_path, cache) == ["36.0", "0"]
    assert run(tmp_path, cache) == ["36.0", "1"]


def test_a_callee_in_another_folder_counts_too(tmp_path: Path):
    far = tmp_path / "far"
    far.mkdir()
    cache = tmp_path / "cache"
    for factor, answer in ((3.0, "22.0"), (5.0, "36.0")):
        write(tmp_path, factor)
        (tmp_path / "inner.py").rename(far / "inner.py")
        outer = (tmp_path / "outer.py").read_text()
        (tmp_path / "outer.py").write_text(f"import sys\nsys.path.insert(0, {str(far)!r})\n{outer}")
        os.utime(tmp_path / "outer.py", ns=(0, 0))
        assert run(tmp_path, cache) == [answer, "0"]
        assert run(tmp_path, cache) == [answer, "1"]


def test_kernels_work_where_nothing_can_be_written(tmp_path: Path):
    write(tmp_path, factor=3.0)
    (tmp_path / "a-file").write_text("no folder")
    assert run(tmp_path, tmp_path / "a-file" / "cache") == ["22.0", "0"]


def test_the_cache_stands_where_the_user_wants_it(tmp_path: Path):
    write(tmp_path, factor=3.0)
    run(tmp_path, tmp_path / "here")
    assert len(list((tmp_path / "here").rglob(f"outer.*{SUFFIX}"))) == 1
    assert not list(tmp_path.glob("__pycache__/*.nb*"))


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A house of its own, so that ours need not be edited."""
    for package in modular.kernel.PACKAGES:
        (tmp_path / package / "deep").mkdir(parents=True)
        (tmp_path / package / "deep" / "source.py").write_text("x = 1\n")
    for module in (modular.kernel, modular.reach):
        monkeypatch.setattr(module, "HOUSE", tmp_path)
    return tmp_path


def forget() -> None:
    """As in a process that has just begun."""
    modular.kernel._of_house.cache_clear()
    modular.reach.in_house.cache_clear()


def fresh(beside: Path) -> str:
    forget()
    try:
        return fingerprint(beside)
    finally:
        forget()


@pytest.mark.parametrize("package", modular.kernel.PACKAGES)
def test_an_edit_in_any_package_opens_another_cache_for_all_kernels(house: Path, package: str):
    here = house / "components" / "deep"
    before = fresh(here)
    assert fresh(here) == before
    (house / package / "deep" / "source.py").write_text("x = 2\n")
    assert fresh(here) != before


def test_a_new_file_and_a_new_name_open_another_cache(house: Path):
    here = house / "components" / "deep"
    before = fresh(here)
    (here / "more.py").write_text("y = 1\n")
    more = fresh(here)
    (here / "more.py").rename(here / "other.py")
    assert len({before, more, fresh(here)}) == 3


def test_an_edit_beside_a_kernel_of_the_user_opens_another_cache_for_that_folder_only(house: Path):
    mine, theirs = house / "mine", house / "theirs"
    for folder in (mine, theirs):
        folder.mkdir()
        (folder / "joint.py").write_text("x = 1\n")
    before = fresh(mine), fresh(theirs)
    (mine / "joint.py").write_text("x = 2\n")
    assert fresh(mine) != before[0]
    assert fresh(theirs) == before[1]


def test_no_cache_folder_is_given_where_none_can_be_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "a-file").write_text("no folder")
    monkeypatch.setenv("MODULAR_CACHE_DIR", str(tmp_path / "a-file"))
    assert cache_folder("0" * 24) is None
    monkeypatch.setenv("MODULAR_CACHE_DIR", str(tmp_path / "folder"))
    kept = cache_folder("0" * 24)
    assert kept is not None and kept.is_relative_to(tmp_path / "folder")
