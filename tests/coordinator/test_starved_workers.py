"""Slow is not dead: a worker that only waits for its turn, or whose connection tears, keeps its place; one that hangs loses it."""

import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from types import SimpleNamespace

import psutil
import pytest

import nursery
import scenarios
from clock_of_words import let_words_count
from coordinator import LaunchConfig, Simulation
from coordinator.distributed.launchers import ByHand, Subprocess
from coordinator.distributed.protocol import Deadlines
from coordinator.distributed.workers.capped_clock import MAX_GAP, CappedClock
from coordinator.distributed.workers.worker_handle import ProcessMonitor
from waiting import wait_for

UNTIL, SILENCE = 0.1, 2.0


def model():
    return scenarios.load("chain", bodies=4)


@pytest.fixture(scope="module")
def alone():
    with Simulation(model(), 1e-4, record_every=50) as simulation:
        return simulation.run(UNTIL)


# --- what counts -----------------------------------------------------------------------------------------------------


def test_time_counts_while_somebody_listens():
    real = [100.0]
    clock = CappedClock(lambda: real[0])
    began = clock.now()
    for passed in (0.02, 0.5, 0.0):
        real[0] += passed
        clock.now()
    assert clock.now() - began == pytest.approx(0.52)
    real[0] += 3600.0  # the lid was closed
    assert clock.now() - began == pytest.approx(0.52 + MAX_GAP)


class Claimed:
    """What a process says of itself."""

    def __init__(self):
        self.state, self.had = psutil.STATUS_RUNNING, 0.0

    def status(self):
        return self.state

    def cpu_times(self):
        return SimpleNamespace(user=0.75 * self.had, system=0.25 * self.had)


@pytest.mark.parametrize(
    ("state", "starved"),
    [
        (psutil.STATUS_RUNNING, 7.5),  # ready for ten seconds, of which it had two and a half
        (psutil.STATUS_SLEEPING, 0.0),
        (psutil.STATUS_STOPPED, 0.0),
        (psutil.STATUS_DISK_SLEEP, 0.0),
        (psutil.STATUS_ZOMBIE, 0.0),
    ],
)
def test_whoever_is_ready_to_run_and_does_not_is_held_up(state, starved):
    now, process = [5.0], Claimed()
    monitor = ProcessMonitor(process, lambda: now[0])
    process.state, process.had, now[0] = state, 2.5, 15.0
    assert monitor.starved() == pytest.approx(starved)
    assert monitor.starved() == 0.0  # no time has passed since


def test_one_that_computes_without_end_is_not_held_up_for_as_long_as_it_has_the_processor():
    now, process = [0.0], Claimed()
    monitor = ProcessMonitor(process, lambda: now[0])
    now[0] = process.had = 60.0
    assert monitor.starved() == 0.0


@pytest.mark.skipif(os.name != "posix", reason="signals as on Unix")
def test_the_pulse_of_a_process_beats_until_it_ends_and_a_stopped_one_is_not_held_up():
    assert ProcessMonitor.of(os.getpid()) is None  # whoever asks runs
    with subprocess.Popen([sys.executable, "-c", "import time\nprint(flush=True)\nwhile True: time.sleep(60)"],
                          stdout=subprocess.PIPE) as child:  # fmt: skip
        child.stdout.readline()
        monitor = ProcessMonitor.of(child.pid)
        child.send_signal(signal.SIGSTOP)
        wait_for(lambda: psutil.Process(child.pid).status() == psutil.STATUS_STOPPED)
        monitor.starved()
        time.sleep(0.1)
        assert monitor.running and monitor.starved() == 0.0
        child.kill()
        wait_for(lambda: psutil.Process(child.pid).status() == psutil.STATUS_ZOMBIE)
        assert not monitor.running
    assert not monitor.running and monitor.starved() == 0.0
    assert ProcessMonitor.of(child.pid) is None


# --- workers that are silent -----------------------------------------------------------------------------------------


def patient_for(simulation):
    """For how long the run has waited for others so far, as it counts time [s]."""
    return simulation.distributed_run.pool._clock._counted


@pytest.mark.skipif(os.name != "posix", reason="signals as on Unix")
@pytest.mark.parametrize("why", ["held up", "hangs"])
def test_a_silent_worker_is_replaced_where_it_hangs_and_not_where_it_is_held_up(why, alone, monkeypatch):
    """Both are stopped here; of the one that is held up its machine says that it is ready to run."""
    said, stopped_at = let_words_count(monkeypatch), []

    def stop(identity, word):
        """In the middle of a run."""
        if identity.startswith("worker1/1/") and word == "samples" and not stopped_at:
            process.suspend()
            stopped_at.append(patient_for(simulation))
            asked_at.append(patient_for(simulation))

    def starved(monitor):
        if why == "hangs" or monitor._process != process or not asked_at:
            return 0.0
        before, asked_at[0] = asked_at[0], patient_for(simulation)
        return asked_at[0] - before

    def wake():
        wait_for(lambda: stopped_at and (patient_for(simulation) > stopped_at[0] + 3.0 * SILENCE or pool.deaths))
        with suppress(psutil.NoSuchProcess):  # it has been killed meanwhile
            process.resume()

    launch_config = LaunchConfig(Subprocess(), deadlines=Deadlines(silence=SILENCE))
    with Simulation(model(), 1e-4, record_every=50, workers=2, launcher=launch_config) as simulation:
        simulation.run(0.02)
        pool = simulation.distributed_run.pool
        process, asked_at = psutil.Process(pool.handles["worker1"].pid), []
        monkeypatch.setattr(ProcessMonitor, "starved", starved)
        monkeypatch.setattr(said, "hears", staticmethod(stop))
        waker = threading.Thread(target=wake)
        waker.start()
        run = simulation.run(UNTIL)
        waker.join()
        replaced = [worker.replaced for worker in simulation.workers]
    assert run.digest == alone.digest
    assert replaced == ([0, 1] if why == "hangs" else [0, 0]), pool.deaths


# --- connections that tear -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("comes_back", [True, False])
def test_a_worker_whose_connection_tears_keeps_its_place_unless_it_stays_silent(comes_back, alone, monkeypatch):
    said = let_words_count(monkeypatch)

    def mend():
        wait_for(lambda: patient_for(simulation) > began + torn_for or pool.deaths)
        monkeypatch.setattr(said, "torn", "nobody")

    torn_for = 3.0 if comes_back else 100.0  # long enough to be missed again and again
    launch_config = LaunchConfig(Subprocess(), deadlines=Deadlines(silence=2.0 * torn_for if comes_back else SILENCE))
    with Simulation(model(), 1e-4, record_every=50, workers=2, launcher=launch_config) as simulation:
        simulation.run(0.02)
        pool, began = simulation.distributed_run.pool, patient_for(simulation)
        monkeypatch.setattr(said, "torn", "worker1/1")
        mender = threading.Thread(target=mend)
        mender.start()
        run = simulation.run(UNTIL)
        mender.join()
        replaced = [worker.replaced for worker in simulation.workers]
    assert run.digest == alone.digest
    assert replaced == [0, 0 if comes_back else 1], pool.deaths


@pytest.mark.campaign
@pytest.mark.skipif(os.name != "posix", reason="signals as on Unix")
def test_a_worker_of_this_machine_that_nobody_watches_is_missed_when_its_process_is_gone(alone, tmp_path):
    """It was started by hand, so that no launcher knows of its end; its silence alone would tell in an hour."""
    wanted, processes = [], []

    def start(name):
        with (tmp_path / f"{name}.log").open("ab") as said:
            processes.append(nursery.modular("worker", "--name", name, "--connect", address, said=said))

    def kill_and_wait_to_be_asked():
        processes[1].kill()
        wait_for(lambda: len(wanted) == 3)
        start("worker1")

    launch_config = LaunchConfig(ByHand(wanted.append), deadlines=Deadlines(silence=3600.0))
    with Simulation(model(), 1e-4, record_every=50, workers=2, launcher=launch_config) as simulation:
        address = simulation.distributed_run.pool.mailbox.address
        for name in ("worker0", "worker1"):
            start(name)
        simulation.run(0.02)
        killer = threading.Thread(target=kill_and_wait_to_be_asked)
        killer.start()
        run = simulation.run(UNTIL)
        killer.join()
        assert simulation.distributed_run.pool.deaths == ["'worker1': its process has ended"]
    for process in processes:
        process.wait()
    assert wanted[2] == wanted[1].replace("waiting for", "waiting again for")
    assert run.digest == alone.digest
