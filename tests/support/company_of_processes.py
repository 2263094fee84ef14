"""Processes of a test: who lives, who is gone, and what can be seen of them from outside."""

import time

import psutil


def lives(pid):
    """Whether a process runs."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def gone(pids, seconds=2.0):
    """Whether processes end within so long."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if not any(map(lives, pids)):
            return True
        time.sleep(0.02)
    return False


def wait_for(done, seconds=20.0):
    """Look again and again until something is true."""
    until = time.monotonic() + seconds
    while not (found := done()):
        assert time.monotonic() < until, f"{done.__name__} has not come true in {seconds:g} s"
        time.sleep(0.02)
    return found


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
