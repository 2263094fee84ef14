"""Workers in real processes: the bits of one process, whoever is killed on the way; and nobody is left behind."""

import os
import signal
import threading
import warnings
from collections import deque

import pytest

import nursery
import scenarios
from clock_of_words import let_words_count
from components import Spherical
from coordinator import LaunchConfig, LeakWarning, Simulation
from coordinator.distributed.protocol import Deadlines, RunFailed
from coordinator.distributed.workers import process, process_pool
from coordinator.distributed.workers.compiled_ticks import CompiledTicks
from coordinator.distributed.workers.process import Process
from modular import Crossing, Cut, Join, Limit, ModelError
from process_checks import gone
from scenarios.report.workers import advice
from waiting import GUARD, wait_for
from worker_threads import Losing, Threads

UNTIL = 0.2


def model():
    chain = scenarios.load("chain", bodies=12)
    chain.at(0.05, Cut("ball5"))
    chain.at(0.1, Join("again", Spherical(), "rod8.end", "ground"))
    return chain


@pytest.fixture(scope="module")
def alone():
    with Simulation(model(), 1e-4, record_every=50) as simulation:
        return simulation.run(UNTIL)


def calm():
    return scenarios.load("chain", bodies=4)


@pytest.fixture(scope="module")
def alone_and_calm():
    with Simulation(calm(), 1e-4, record_every=50) as simulation:
        return simulation.run(UNTIL)


def test_two_processes_give_the_bits_of_one_and_end_with_the_simulation(alone):
    with Simulation(model(), 1e-4, record_every=50, workers=2) as simulation:
        shares = [worker.bodies for worker in simulation.workers]
        assert [len(bodies) for bodies in shares] == [6, 6]
        run = simulation.run(UNTIL)
        workers, deaths = simulation.workers, simulation.distributed_run.pool.deaths
        assert simulation.body("rod3").q.shape == (1, 4, 3)
    assert run.digest == alone.digest
    assert run.events == alone.events
    # where something else kept one of them busy, bodies changed hands, at the join at the latest, and it counts from there
    least = 1990 if [worker.bodies for worker in workers] == shares else 990
    assert all(worker.ticks >= least and worker.working > 0.0 for worker in workers), (workers, deaths)
    assert len({worker.pid for worker in workers} | {os.getpid()}) == 3
    assert gone([worker.pid for worker in workers])
    assert advice(workers)


def test_breakage_conditions_and_alarms_stop_processes_at_the_same_ticks():
    def fragile():
        chain = scenarios.load("chain", bodies=5)
        chain.cut("ball1")
        chain.join("ball1", Spherical(), "rod0.end", "rod1.start", breaks_at=Limit(force=2.5, window=0.02))
        chain.when(Crossing("rod4.end", "z", -0.05, direction=-1), Cut("ball4"))
        return chain

    runs = []
    for workers in (None, {"a": ["rod0", "rod2", "rod4"], "b": ["rod1", "rod3"]}):
        with warnings.catch_warnings(), Simulation(fragile(), 1e-3, workers=workers, leak_limit=1e-7) as simulation:
            warnings.simplefilter("ignore", LeakWarning)
            runs.append(simulation.run(0.3))
            assert workers is None or simulation.distributed_run.pool.deaths == []
    assert {event["kind"] for event in runs[0].happenings} == {"break", "cut", "alarm"}
    assert runs[0].events == runs[1].events
    assert runs[0].digest == runs[1].digest


def test_a_message_to_a_neighbour_is_a_header_and_48_bytes_per_element():
    with Simulation(scenarios.load("chain", bodies=4), 1e-4, record_every=100, workers=2) as simulation:
        simulation.run(0.02)
        simulation.system  # noqa: B018 - collected, and so counted
        ticks = 200 + 2 + 1  # and one more where a tick is shown for a sample, or begun after one
        for worker in simulation.workers:
            assert worker.bytes_per_tick * 200 == pytest.approx((40 + 48) * (ticks + 1), abs=1e-6)


def kill_at(monkeypatch, *blows):
    """Kill a worker of a simulation in the middle of a slice: (word, how many workers must have said it, name of a worker) each."""
    targets, struck = [], []

    def strike(said_by, word, count):
        for blow in blows:
            if said_by == "worker" and blow not in struck and word == blow[0] and count >= blow[1]:
                struck.append(blow)
                os.kill(targets[0].distributed_run.pool.handles[blow[2]].pid, signal.SIGKILL)
        return False

    monkeypatch.setattr(process_pool, "Mailbox", Losing)
    monkeypatch.setattr(Losing, "loses", staticmethod(strike))
    return targets


def test_workers_that_are_killed_are_replaced_and_nobody_can_tell(alone, monkeypatch):
    targets = kill_at(monkeypatch, ("store", 4, "worker1"), ("store", 8, "worker0"))
    with Simulation(model(), 1e-4, record_every=50, workers=3) as simulation:
        targets.append(simulation)
        simulation.distributed_run.pool.every = 100
        simulation.run(0.01)
        pids = {worker.pid for worker in simulation.workers}
        simulation.run(0.04)
        run = simulation.run(UNTIL)
        deaths = simulation.distributed_run.pool.deaths
        pids |= {worker.pid for worker in simulation.workers}
    assert [death.partition(":")[0] for death in deaths] == ["'worker1'", "'worker0'"]
    assert run.digest == alone.digest
    assert gone(pids)


@pytest.mark.campaign
def test_a_worker_that_is_killed_in_a_long_slice_is_replaced(monkeypatch):
    """Slices grow with the pace; however long they are, a checkpoint must lie before the beginning of the last."""
    with Simulation(scenarios.load("chain", bodies=2), 1e-4, record_every=50) as simulation:
        digest = simulation.run(4.0).digest
    targets = kill_at(monkeypatch, ("store", 20, "worker1"))  # every 2000 ticks: slices are as long as they get
    with Simulation(scenarios.load("chain", bodies=2), 1e-4, record_every=50, workers=2) as simulation:
        targets.append(simulation)
        simulation.run(0.5)
        run = simulation.run(4.0)
        assert simulation.workers[1].replaced == 1
    assert run.digest == digest


def test_a_worker_that_hangs_is_replaced_and_that_is_one_death(alone_and_calm, monkeypatch):
    """Its connection stands, so that only its silence tells; when it wakes up nobody listens to it.

    Silence is measured in words of the other worker, and it hangs until its successor works.
    """
    follows, work, launch_config = (
        threading.Event(),
        Process._work,
        LaunchConfig(Threads(), deadlines=Deadlines(silence=4.0)),
    )

    def work_or_hang(self, job, now):
        if (self.name, self.incarnation) == ("worker1", 1) and job.tick > 800:
            assert follows.wait(GUARD)
        elif (self.name, self.incarnation) == ("worker1", 2):
            follows.set()
        return work(self, job, now)

    let_words_count(monkeypatch)
    monkeypatch.setattr(Process, "_work", work_or_hang)
    monkeypatch.setattr(process.gc, "freeze", lambda: None)
    with Simulation(calm(), 1e-4, record_every=50, workers=2, launcher=launch_config) as simulation:
        pool = simulation.distributed_run.pool
        pool._message_log = deque(maxlen=100_000)
        assert simulation.run(UNTIL).digest == alone_and_calm.digest
        assert pool.deaths == ["'worker1': nothing was received from it"]
        assert [worker.replaced for worker in simulation.workers] == [0, 1]
        assert not any("worker1" in line and '"incarnation":3' in line for line in pool.message_log)


def test_of_all_checkpoints_of_workers_those_are_kept_that_somebody_may_start_from(alone_and_calm, monkeypatch):
    sizes = []

    def look(said_by, word, count):
        if word == "samples":
            sizes.append(len(simulation.distributed_run.pool._run.blobs))
        return False

    monkeypatch.setattr(process_pool, "Mailbox", Losing)
    monkeypatch.setattr(Losing, "loses", staticmethod(look))
    monkeypatch.setattr(process.gc, "freeze", lambda: None)
    with Simulation(calm(), 1e-4, record_every=50, workers=2, launcher=LaunchConfig(Threads())) as simulation:
        simulation.distributed_run.pool.every = 50
        assert simulation.run(UNTIL).digest == alone_and_calm.digest
        assert simulation.distributed_run.pool.mailbox.said["worker", "store"] >= 70
    assert 4 <= max(sizes) <= 2 * 4  # two of each worker, and those that are not known yet


def test_what_no_other_process_would_do_better_stops_the_run_in_the_words_of_the_worker(monkeypatch):
    tell = CompiledTicks.tell

    def tell_or_doubt(self, core, now):
        if core.step > 60 and core.me.name == "worker1":
            raise RunFailed("worker 'worker0' sent a number that is not finite.")
        return tell(self, core, now)

    monkeypatch.setattr(CompiledTicks, "tell", tell_or_doubt)
    monkeypatch.setattr(process.gc, "freeze", lambda: None)
    with Simulation(calm(), 1e-4, record_every=50, workers=2, launcher=LaunchConfig(Threads())) as simulation:
        with pytest.raises(ModelError, match=r"worker 'worker1' at step \d+: worker 'worker0' sent a number"):
            simulation.run(UNTIL)
        assert simulation.distributed_run.pool.deaths == []


def test_workers_end_when_the_program_that_started_them_is_killed(tmp_path):
    program, said = tmp_path / "program.py", tmp_path / "said"
    program.write_text(
        "import scenarios, time\nfrom coordinator import Simulation\n"
        "s = Simulation(scenarios.load('chain', bodies=6), 1e-4, workers=2)\ns.run(0.01)\n"
        "print(*[w.pid for w in s.workers], flush=True)\ntime.sleep(3600)\n"
    )
    with said.open("w") as file:
        process = nursery.script(program, out=file, errors=file, environment=os.environ)
    wait_for(lambda: said.read_text().endswith("\n") or process.poll() is not None)
    pids = [int(pid) for pid in said.read_text().split()]
    assert len(pids) == 2 and process.pid not in pids
    process.kill()
    process.wait(GUARD)
    assert gone(pids)


def test_a_law_that_others_cannot_find_is_refused_by_name():
    from components import Law, Load

    chain = scenarios.load("chain", bodies=4)
    chain.apply("push", Load(Law(lambda t, x, v: (0.0, 0.0, 1.0))), "rod3.end")
    with Simulation(chain, 1e-4, workers=2) as simulation, pytest.raises(ModelError, match="<lambda>"):
        simulation.run(0.01)


@pytest.mark.campaign
def test_processes_come_and_go(alone):
    with Simulation(model(), 1e-4, record_every=50, workers=2) as simulation:
        simulation.run(0.03)
        old = {worker.name: worker.pid for worker in simulation.workers}
        simulation.enlist("late")
        simulation.run(0.08)
        assert all(worker.ticks and worker.pid for worker in simulation.workers)
        simulation.retire("worker0")
        assert gone([old["worker0"]])
        simulation.run(0.12)
        simulation.enlist("worker0")
        run = simulation.run(UNTIL)
        assert {worker.name for worker in simulation.workers} == {"worker0", "worker1", "late"}
        assert {worker.name: worker.pid for worker in simulation.workers}["worker0"] != old["worker0"]
        everybody = [worker.pid for worker in simulation.workers]
    assert run.digest == alone.digest
    assert gone(everybody)
