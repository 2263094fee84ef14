"""Linear algebra on one thread, as the command has it: matrices are small, and tests run side by side."""

import os
import signal
import sys

for name in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(name, "1")

# tests start many processes: sources are compiled once, not by each of them
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as where a shell has started us in the background
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_configure(config):
    import budget
    import campaign
    import heap

    campaign.asked_for = config.getoption("markexpr") != "not campaign"
    for plugin in (heap, budget.Budget()):
        config.pluginmanager.register(plugin)
    if not hasattr(config, "workerinput"):
        before_the_workers_start(config)


def before_the_workers_start(config):
    """Once per session, in the process that starts the others: what they share is made here."""
