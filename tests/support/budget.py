"""What a test may cost: processor time, with the processes that it starts and has waited for, without compiling.

Processor time hardly depends on what else the machine does, as seconds on a clock do. Kernels are compiled by whichever test needs
them first, so that is counted apart; so are processes that end with the fixtures of a test, which others may have used too: a
browser, a cluster. The summary names the tests above the budget; `long_tests.py` says which may be, and why. A test far above it
fails the run where the variable CI is set. A slow machine has more time: budgets are those of one that needs USUAL for some sums.
"""

import os
import sys
import threading
import time
from contextlib import contextmanager

import pytest

from long_tests import LONG

BUDGET = 4.0  # [s] of a processor
FAR = 3.0  # so many budgets fail a run where CI is set
CAMPAIGN = 10.0  # so many budgets has a test of the campaign
USUAL = 0.018  # s for 400 000 sums in Python


def of_this_process():
    """Processor time [s]."""
    return time.process_time()


def of_others():
    """The same of processes that this one has waited for."""
    if sys.platform == "win32":
        return 0.0  # nobody counts it there
    import resource

    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def slowness():
    """How much slower than usual this machine is, 1 at least: the quickest of several tries."""
    tries = []
    for _ in range(5):
        began, total = time.process_time(), 0
        for k in range(400_000):
            total += k * k % 7
        tries.append(time.process_time() - began)
    return max(1.0, min(tries) / USUAL)


@contextmanager
def within(seconds, about=""):
    """What is done here takes no more processor time than this; a slow machine has more, and is asked only where it is needed."""
    began = time.process_time()
    yield
    used = time.process_time() - began
    assert used < seconds or used < seconds * slowness(), f"{used:.3g} s of a processor, {seconds:g} s allowed: {about}"


class Compiling:
    """Listens to numba: the processor time of this process that goes into compiling, thread by thread."""

    def __init__(self):
        self.spent, self._here = 0.0, threading.local()

    def between(self):
        """Nothing is being compiled here now; an end that an exception of others kept from us is no more waited for."""
        self._here.depth = 0

    def listen(self):
        from numba.core import event

        ear, here = self, self._here

        class Listener(event.Listener):
            def on_start(self, event):
                here.depth = getattr(here, "depth", 0) + 1
                if here.depth == 1:
                    here.began = time.thread_time()

            def on_end(self, event):
                here.depth = getattr(here, "depth", 0) - 1
                if here.depth == 0:
                    ear.spent += time.thread_time() - here.began

        event.register("numba:compile", Listener())


class Budget:
    """Measures every test where it runs, and tells the summary where it is printed."""

    def __init__(self):
        self.compiling, self.slowness = None, 1.0
        self.found = {}  # by test: processor time of itself, of compiling, of processes that ended with its fixtures, and allowed

    def clocks(self):
        return of_this_process(), self.compiling.spent, of_others()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item, nextitem):
        if self.compiling is None:
            self.compiling, self.slowness = Compiling(), slowness()
            self.compiling.listen()
        self.compiling.between()
        item.stash[BEFORE] = item.stash[CALLED] = self.clocks()
        return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item, call):
        report = yield
        if call.when == "call":
            item.stash[CALLED] = self.clocks()
        if call.when == "teardown":
            (own, compiling, others), before, called = self.clocks(), item.stash[BEFORE], item.stash[CALLED]
            compiling -= before[1]
            used = own - before[0] - compiling + called[2] - before[2]
            allowed = self.slowness * BUDGET * (CAMPAIGN if item.get_closest_marker("campaign") else 1.0)
            report.user_properties.append(("processor", (used, compiling, others - called[2], allowed)))
        return report

    def pytest_runtest_logreport(self, report):
        for name, value in report.user_properties if report.when == "teardown" else ():
            if name == "processor":
                self.found[report.nodeid] = value

    def pytest_terminal_summary(self, terminalreporter):
        if self.found:
            terminalreporter.section("processor time")
            for line in told(self.found):
                terminalreporter.write_line(line)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session):
        if os.environ.get("CI") and session.exitstatus == 0 and any(far for *_, far in over(self.found)):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED


BEFORE, CALLED = pytest.StashKey(), pytest.StashKey()


def over(found):
    """Tests above what they are allowed and not in the list: name, seconds, allowed, whether far above."""
    for test, (used, _, _, allowed) in sorted(found.items(), key=lambda entry: -entry[1][0]):
        if used > allowed and not any(test.startswith(name) for name in LONG):
            yield test, used, allowed, used > FAR * allowed


def told(found):
    """The lines of the summary."""
    used, compiling, others = (sum(entry[k] for entry in found.values()) for k in range(3))
    yield f"{len(found)} tests: {used:.0f} s, {compiling:.0f} s of compiling, {others:.0f} s of processes that they shared"
    for test, seconds, allowed, far in over(found):
        yield f"{seconds:6.1f} s, {allowed:.2g} s allowed{', far above it' if far else ''}: {test}"
