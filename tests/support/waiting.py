"""Waiting in tests: for something to come true, and no longer than for what never does."""

import time

GUARD = 600.0  # seconds after which something will never come, however busy the machine is; no test is about them


def wait_for(condition, every=0.005):
    """Look again and again until something is true, after so many seconds each time; it."""
    until = time.monotonic() + GUARD
    while not (found := condition()):
        assert time.monotonic() < until, f"it has not come about in {GUARD:g} s"
        time.sleep(every)
    return found
