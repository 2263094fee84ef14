"""Ctrl-C stops a run at a whole tick, soon, and with everything recorded kept."""

import json
import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import psutil
import pytest

import calm
import nursery
import scenarios
from calm import Calm
from components import Law, Load
from coordinator import Run, Simulation
from coordinator.engine import interrupt
from coordinator.engine.driver import drive
from coordinator.engine.interrupt import held_interrupts, obey_late
from modular import ModelError
from waiting import GUARD, wait_for

CHILD = """
import json, os, signal, sys, threading, time, warnings
import scenarios
from components import Law, Load
from coordinator import Run, Simulation
from modular.errors import VerdictWarning

warnings.simplefilter("ignore", VerdictWarning)  # how far a run gets, and so how far it is off, is a matter of the machine's speed
kind, folder, support = sys.argv[1:]
sys.path.insert(0, support)
from calm import waited_by

def moment():  # by a clock that stands while the run is ready to go on and waits for a processor
    return time.perf_counter() - waited_by(os.getpid()).get(str(os.getpid()), 0.0)

def model():
    chain = scenarios.load("chain", bodies=1500 if kind == "chain" else 3)
    if kind == "law":
        chain.apply("push", Load(Law(lambda t, x, v: (0.0, 0.1 * t, 0.0))), "rod2.end")
    return chain

def later(seconds):
    time.sleep(seconds)
    sent.append(moment())
    os.kill(os.getpid(), signal.SIGINT)

waits, ticks, sent = [], [], []
simulation = Simulation(model(), 1e-4, record_every=50)
simulation.run(0.005)
for seconds in (0.05, 0.0831, 0.1117, 0.06):
    threading.Thread(target=later, args=(seconds,)).start()
    try:
        simulation.run(5.0 if kind == "chain" else 100.0)
    except KeyboardInterrupt:
        waits.append(moment() - sent[-1])
    ticks.append(simulation.tick)
simulation.recorded.save(folder)
by_hand = Simulation(model(), 1e-4, record_every=50)
for tick in ticks:
    by_hand.run(tick * 1e-4)
print(json.dumps([waits, ticks, simulation.recorded.digest == by_hand.recorded.digest, Run.load(folder).digest ==
    by_hand.recorded.digest, signal.getsignal(signal.SIGINT) is signal.default_int_handler]))
"""


@pytest.mark.parametrize("kind", ["chain", "law"])
def test_a_run_stops_within_a_tenth_of_a_second_as_if_it_had_been_told_to_end_there(kind, tmp_path):
    child, said, errors = (tmp_path / name for name in ("child.py", "said", "errors"))
    child.write_text(CHILD)
    arguments = (kind, str(tmp_path / "kept"), str(Path(calm.__file__).parent))
    with said.open("w") as out, errors.open("w") as bad:
        process = nursery.script(child, *arguments, out=out, errors=bad, environment=os.environ)
    assert process.wait(GUARD) == 0, errors.read_text()
    waits, ticks, same, kept, given_back = json.loads(said.read_text())
    assert len(waits) == 4 and sorted(waits)[1] < 0.1  # two in four at least: the host of this machine may be busy too
    assert all(np.diff([50, *ticks]) > 0)
    assert same and kept and given_back


def asking(times, at=0.0103, number=signal.SIGINT):
    """A chain with a force in whose law, in the middle of a tick, Ctrl-C comes so many times."""

    def law(t, x, v):
        if t > at and left:
            left.pop()
            for _ in range(times):
                signal.raise_signal(number)
        return (0.0, 0.3, 0.0)

    left = [True]
    model = scenarios.load("chain", bodies=3)
    model.apply("push", Load(Law(law)), "rod2.end")
    return model


def test_the_tick_in_which_it_comes_is_finished_and_the_run_can_go_on_be_cut_and_be_saved(tmp_path):
    with Simulation(asking(1), 1e-3) as one, Simulation(asking(0), 1e-3) as two:
        with pytest.raises(KeyboardInterrupt):
            one.run(0.05)
        assert one.tick == 11 and one.recorded.ticks[-1] == 11
        assert one.recorded.digest == two.run(0.011).digest
        for simulation in (one, two):
            simulation.cut("ball1")
            simulation.run(0.03)
        assert one.recorded.digest == two.recorded.digest
        one.recorded.save(tmp_path / "kept")
        assert Run.load(tmp_path / "kept").digest == two.recorded.digest


def test_the_second_one_does_not_wait():
    with Simulation(asking(2), 1e-3) as simulation:
        with pytest.raises(KeyboardInterrupt):
            simulation.run(0.05)
        assert simulation.tick == 10  # in the middle of the eleventh
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_one_that_comes_with_another_error_is_not_lost():
    with pytest.raises(KeyboardInterrupt) as caught, held_interrupts():
        signal.raise_signal(signal.SIGINT)
        raise ValueError("something else")
    assert isinstance(caught.value.__context__, ValueError)


def test_a_handler_of_somebody_else_is_left_alone():
    heard = []
    before = signal.signal(signal.SIGINT, lambda number, frame: heard.append(number))
    try:
        with Simulation(asking(2), 1e-3) as simulation:
            simulation.run(0.05)
            assert simulation.tick == 50
        assert heard == [signal.SIGINT, signal.SIGINT]
    finally:
        signal.signal(signal.SIGINT, before)


def test_sigterm_is_held_like_ctrl_c_by_those_who_give_it_that_meaning():
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with Simulation(asking(1, number=signal.SIGTERM), 1e-3) as simulation:
            with pytest.raises(KeyboardInterrupt):
                simulation.run(0.05)
            assert simulation.tick == 11
        assert signal.getsignal(signal.SIGTERM) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGTERM, before)


def test_whoever_waits_for_others_obeys_when_it_takes_too_long(monkeypatch):
    obey_late()  # nobody has asked for anything
    with pytest.raises(KeyboardInterrupt), held_interrupts():
        obey_late()
        signal.raise_signal(signal.SIGINT)
        obey_late()  # it is not late yet
        monkeypatch.setattr("coordinator.engine.interrupt.INTERRUPT_GRACE_SECONDS", 0.0)
        obey_late()
        pytest.fail("that was late")


def ask_when_it_is_held(before: Callable[[], object] = lambda: None):
    """Ctrl-C, some time after a run has begun; something else comes before it."""
    wait_for(lambda: interrupt._held)
    before()
    time.sleep(0.3)
    signal.raise_signal(signal.SIGINT)


@pytest.mark.campaign
@pytest.mark.parametrize("when", ["in the first slice", "later"])
def test_a_worker_that_hangs_holds_nobody_up_and_what_was_recorded_is_left(when):
    """In the first slice nothing is lost, and the run goes on when the worker does; later what was recorded is left."""
    model = scenarios.load("chain", bodies=6)

    def undisturbed(until):
        return Simulation(model, 1e-4, record_every=50).run(until).digest

    with Simulation(model, 1e-4, record_every=50, workers=2) as simulation:
        simulation.run(0.0201)
        pids = [worker.pid for worker in simulation.workers]
        hanging = psutil.Process(pids[1])

        def hang():
            wait_for(lambda: when == "in the first slice" or simulation.local_system.tick > 201)
            hanging.suspend()

        if when == "in the first slice":
            hang()
        with Calm(*pids) as took, pytest.raises(KeyboardInterrupt):
            threading.Thread(target=ask_when_it_is_held, args=[hang]).start()
            simulation.run(100.0)
        assert took.seconds < 3.0
        if when == "in the first slice":
            assert simulation.tick == 201
            hanging.resume()
            simulation.run(0.04)
        else:
            with pytest.raises(ModelError, match="lost in the middle of a slice"):
                simulation.run(100.0)
            with Calm(*pids) as took:
                simulation.close()
            assert took.seconds < 2.0
    recorded = simulation.recorded
    assert recorded.digest == undisturbed(recorded.time[-1])


def test_in_another_thread_nothing_is_held():
    held = []

    def look():
        with held_interrupts():
            held.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    assert held == [signal.default_int_handler]


def test_all_that_a_run_plays_is_compiled_before_its_first_tick(monkeypatch):
    simulation = Simulation(scenarios.load("chain", bodies=3), 1e-3)
    seen = []

    def stride(last):
        seen.append(len(drive.signatures))
        Simulation.stride(simulation, last)

    monkeypatch.setattr(simulation, "stride", stride)
    simulation.run(0.01)
    assert seen[0] == 1  # the driver is there, for the types that it is called with
    assert len(drive.signatures) == 1
