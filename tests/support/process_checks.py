"""Processes of a test: who lives, who is gone, and what can be seen of them from outside."""

import time

import psutil

from waiting import GUARD


def lives(pid):
    """Whether a process runs."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def gone(pids):
    """Whether processes end: all do, or one that is left behind stays for good."""
    until = time.monotonic() + GUARD
    while time.monotonic() < until:
        if not any(map(lives, pids)):
            return True
        time.sleep(0.02)
    return False


def visible(pid):
    """What others can see of a process and of those that started it: arguments and variables."""
    process = psutil.Process(pid)
    seen = []
    while process is not None and process.pid > 1:
        try:
            seen += [*process.cmdline(), *process.environ().values()]
            process = process.parent()
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            break
    return "\n".join(seen)
