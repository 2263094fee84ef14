"""Linear algebra on one thread, as the command has it: matrices are small, and tests run side by side."""

import os
import signal
import sys

import pytest

from left_out import sentences

SHARED = ("cut-double-pendulum", "double-pendulum-3d")  # side by side: what one compiles, the other does not need

for name in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(name, "1")

os.environ["COLUMNS"] = "120"  # whatever terminal they are started from

os.environ.setdefault("MODULAR_COMPILERS", "1")  # every core has a process of pytest's

# tests start many processes: sources are compiled once, not by each of them
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as where a shell has started us in the background
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_sessionfinish(session):
    """The last lines of all: which tests were left out because something is missing on this machine."""
    yield
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    for skipped in (
        () if reporter is None else sentences(str(one.longrepr) for one in reporter.stats.get("skipped", []))
    ):
        reporter.write_line(skipped, yellow=True)


def pytest_xdist_auto_num_workers(config):
    """Two processes more than there are cores: some tests wait for something to come true, or for others."""
    return (len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1) + 2


def pytest_configure(config):
    import budget
    import campaign
    import heap
    import shared_folder

    campaign.asked_for = config.getoption("markexpr") != "not campaign"
    for plugin in (heap, campaign, shared_folder, budget.Budget()):
        config.pluginmanager.register(plugin)
    if not hasattr(config, "workerinput"):
        before_the_workers_start(config)


def before_the_workers_start(config):
    """Where nothing is compiled yet, the kernels that most tests share are made once, on all cores."""
    from modular.kernel import anything_kept
    from scenarios.kernels_ahead import compile_all

    whole = config.args_source is pytest.Config.ArgsSource.TESTPATHS and not config.option.collectonly
    if whole and not anything_kept():
        for coupling in ("penalty", "glued"):
            compile_all(SHARED, (coupling,), None)


@pytest.fixture(autouse=True, scope="session")
def workers_come_from_the_nursery():
    """Worker processes are forked from one that has imported everything."""
    import nursery

    if not nursery.POSSIBLE:
        yield
        return
    from coordinator.distributed.launchers import children

    usual, children.subprocess = children.subprocess, nursery.FromTheNursery()
    yield
    nursery.close()
    children.subprocess = usual


@pytest.fixture
def as_users_start_them(monkeypatch):
    """Worker processes are started by Python, as everywhere but in tests."""
    import subprocess

    from coordinator.distributed.launchers import children

    monkeypatch.setattr(children, "subprocess", subprocess)
