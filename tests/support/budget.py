"""What a test may cost: processor time, with the processes that it starts and has waited for, without compiling.

Processor time hardly depends on what else the machine does, as seconds on a clock do. Kernels are compiled by whichever test needs
them first, so that is counted apart. At the end the tests above the budget are named; `long_tests.py` says which may be,
and why. A test far above it fails the run where the variable CI is set.
"""

import os
import sys
import time

import pytest

from long_tests import LONG

BUDGET = 4.0  # [s] of a processor
FAR = 3.0  # so many budgets fail a run where CI is set
CAMPAIGN = 10.0  # so much more may a test of the campaign take


def processor_time():
    """Of this process and of those that it has waited for [s]."""
    if sys.platform == "win32":
        return time.process_time()  # nobody counts for processes that have ended
    import resource

    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in used)


class Compiling:
    """Listens to numba: the processor time of this process that goes into compiling, nested as it may be."""

    def __init__(self):
        self.spent, self._depth, self._began = 0.0, 0, 0.0

    def listen(self):
        from numba.core import event

        ear = self

        class Listener(event.Listener):
            def on_start(self, event):
                if ear._depth == 0:
                    ear._began = time.thread_time()
                ear._depth += 1

            def on_end(self, event):
                ear._depth -= 1
                if ear._depth == 0:
                    ear.spent += time.thread_time() - ear._began

        event.register("numba:compile", Listener())


class Budget:
    """Measures every test where it runs, and tells the summary where it is printed."""

    def __init__(self, config):
        self.config = config
        self.compiling = None
        self.found = {}

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item, nextitem):
        if self.compiling is None:  # by now numba is there, if it will be
            self.compiling = Compiling()
            self.compiling.listen()
        item.stash[START] = processor_time(), self.compiling.spent
        return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item, call):
        report = yield
        if call.when == "teardown":
            used, compiling = (
                now - then for now, then in zip((processor_time(), self.compiling.spent), item.stash[START])
            )
            allowed = BUDGET * (CAMPAIGN if item.get_closest_marker("campaign") else 1.0)
            report.user_properties.append(("processor", (used - compiling, compiling, allowed)))
        return report

    def pytest_runtest_logreport(self, report):
        for name, value in report.user_properties if report.when == "teardown" else ():
            if name == "processor":
                self.found[report.nodeid] = value

    def pytest_terminal_summary(self, terminalreporter):
        if self.found:
            lines = told(self.found)
            terminalreporter.section("processor time")
            for line in lines:
                terminalreporter.write_line(line)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session):
        if os.environ.get("CI") and session.exitstatus == 0 and any(far for *_, far in over(self.found)):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED


START = pytest.StashKey()


def over(found):
    """Tests above what they are allowed and not in the list: name, seconds, allowed, whether far above."""
    for test, (used, _, allowed) in sorted(found.items(), key=lambda entry: -entry[1][0]):
        if used > allowed and not any(test.startswith(name) for name in LONG):
            yield test, used, allowed, used > FAR * allowed


def told(found):
    """The lines of the summary."""
    used, compiling = (sum(entry[k] for entry in found.values()) for k in (0, 1))
    yield f"{len(found)} tests: {used:.0f} s, and {compiling:.0f} s of compiling"
    for test, seconds, allowed, far in over(found):
        yield f"{seconds:6.1f} s, {allowed:g} s allowed{', far above it' if far else ''}: {test}"
