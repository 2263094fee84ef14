"""Linear algebra on one thread, as the command has it: matrices are small, and tests run side by side."""

import os
import signal
import sys

import pytest

from left_out import sentences

for name in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(name, "1")

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
