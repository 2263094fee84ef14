"""Tests that cost too much are named, with what they cost."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

import budget
from campaign import more

SUPPORT = Path(__file__).parent / "support"
BURNS = "import time\nwhile time.process_time() < {seconds}: pass"
CONFTEST = """
import budget
def pytest_configure(config):
    budget.BUDGET, budget.slowness = 0.2, lambda: 1.0
    config.pluginmanager.register(budget.Budget())
"""
TESTS = f"""
import subprocess, sys, time
import pytest
from numba import njit

def test_quick(): pass
def test_here():
    until = time.process_time() + 0.4
    while time.process_time() < until: pass
def test_elsewhere():
    subprocess.run([sys.executable, "-c", {BURNS.format(seconds=0.8)!r}], check=True)
def test_who_sleeps(): time.sleep(0.5)
def test_who_compiles(): njit(lambda x: sum([x, x * x, x ** 3]))(1.0)
@pytest.fixture
def shared():
    child = subprocess.Popen([sys.executable, "-c", {BURNS.format(seconds=0.4)!r}])
    yield
    child.wait()
def test_with_what_others_use_too(shared): pass
"""


@pytest.mark.campaign
@pytest.mark.parametrize(("processes", "ci", "code"), [(1, "1", 1), *more([(0, "", 0)])])
def test_a_test_above_the_budget_is_named_and_one_far_above_it_fails_where_ci_is_set(
    processes, ci, code, tmp_path, monkeypatch
):
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "test_some.py").write_text(TESTS)
    monkeypatch.setenv("CI", ci)
    monkeypatch.setenv("PYTHONPATH", str(SUPPORT))
    command = [sys.executable, "-m", "pytest", "-q", "-n", str(processes), "-p", "no:cacheprovider", str(tmp_path)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    lines = [line for line in done.stdout.splitlines() if " allowed" in line]
    assert [line.rpartition("::")[2] for line in lines] == ["test_elsewhere", "test_here"], done.stdout
    assert ["far above" in line for line in lines] == [True, False]
    assert "6 tests" in done.stdout
    assert done.returncode == code


def test_what_takes_longer_than_it_may_fails_and_a_slow_machine_has_more(monkeypatch):
    def work():
        until = time.process_time() + 0.05
        while time.process_time() < until:
            pass

    with budget.within(1.0):
        work()
    monkeypatch.setattr(budget, "slowness", lambda: 1.0)
    with pytest.raises(AssertionError, match=r"0\.01 s allowed: of work"), budget.within(0.01, "of work"):
        work()
    monkeypatch.setattr(budget, "slowness", lambda: 1000.0)
    with budget.within(0.01):
        work()
