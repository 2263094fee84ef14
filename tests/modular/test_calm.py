"""The stopwatch of tests: others that want the processor are not counted, and nothing else is left out."""

import os
import subprocess
import sys
import time

import pytest

from calm import SEEN, Calm

BURNS = "import os, time\nwhile os.getppid() == {parent}: pass"


@pytest.fixture
def crowd():
    """More processes that compute without end than there are processors."""
    call = [sys.executable, "-c", BURNS.format(parent=os.getpid())]
    processes = [subprocess.Popen(call) for _ in range(2 * (os.cpu_count() or 1))]
    yield
    for process in processes:
        process.kill()
        process.wait()


def work(seconds):
    """So much of a processor."""
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


@pytest.mark.skipif(not SEEN, reason="only Linux tells how long threads wait for a processor")
def test_work_and_rest_are_counted_and_waiting_for_others_is_not(crowd):
    began = time.monotonic()
    with Calm() as took:
        work(0.3)
        time.sleep(0.2)
    assert time.monotonic() - began > took.seconds  # the machine is busy
    assert took.seconds == pytest.approx(0.5, abs=0.1)


@pytest.mark.campaign
@pytest.mark.skipif(not SEEN, reason="only Linux tells how long threads wait for a processor")
def test_other_processes_that_take_part_are_measured_too(crowd):
    program = "import time\nprint(flush=True)\ninput()\nend = time.process_time() + 0.3\nwhile time.process_time() < end: pass"
    call = [sys.executable, "-c", program]
    with subprocess.Popen(call, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        child.stdout.readline()
        with Calm(child.pid) as took:
            child.stdin.write(b"\n")
            child.stdin.close()
            child.wait()
    assert took.seconds == pytest.approx(0.3, abs=0.15)
