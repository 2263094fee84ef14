"""Linear algebra takes one thread, however many a library would: a program has the bits of the command, and not its patience."""

import os
import subprocess
import sys
import threading

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from modular import one_thread as mine
from modular.one_thread import SETTINGS, one_thread

PROGRAM = """
import scenarios
from components import Beam, ModalBody
from coordinator import Centralized, Simulation
from threadpoolctl import threadpool_info, threadpool_limits

beam = Beam.of_rectangle((0.0, 0.0), (1.0, 0.0), width=0.01, height=0.02, young=7e10, density=2700.0, elements=24)
def threads():
    return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]

taken = threads()
body = ModalBody.of_beam(beam, modes=4)
with Simulation(scenarios.load("chain", bodies=12), 1e-3, Centralized()) as simulation:
    print(simulation.run(0.003).digest, body.to_data())
assert taken == threads(), "what else the program does has as many as before"
"""


def run_with(threads):
    environment = {**os.environ, **dict.fromkeys(SETTINGS, threads)}
    return subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=True)


@pytest.mark.campaign
def test_bits_do_not_depend_on_how_many_threads_a_library_would_take():
    many, one = run_with("4"), run_with("1")
    assert many.stdout == one.stdout


@pytest.fixture
def two(monkeypatch):
    """Libraries that would take two."""
    monkeypatch.setattr(mine, "_limited_from_outside", lambda: False)
    mine._libraries()  # loads them
    with threadpool_limits(2, user_api="blas"):
        yield


def taken():
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}


def test_the_last_who_leaves_gives_them_back(two):
    entered, leave = threading.Event(), threading.Event()

    def other():
        with one_thread():
            entered.set()
            leave.wait()

    beside = threading.Thread(target=other)
    with one_thread():
        assert taken() == {1}
        beside.start()
        entered.wait()
    assert taken() == {1}  # somebody is still at it
    leave.set()
    beside.join()
    assert taken() == {2}


def test_an_exception_gives_them_back(two):
    with pytest.raises(ZeroDivisionError), one_thread():
        1 / 0  # noqa: B018
    assert taken() == {2}
