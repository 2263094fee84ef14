"""A simulation is used by one thread at a time, in the process that has its workers; Ctrl-C while they start keeps it."""

import os
import subprocess
import sys
import threading

import pytest

import coordinator.distributed.workers.process_supervision as process_supervision
import scenarios
from campaign import later
from coordinator import Glued, Penalty, Simulation
from modular import ModelError

USES = {
    "run": lambda simulation: simulation.run(1.0),
    "step": lambda simulation: simulation.step(),
    "cut": lambda simulation: simulation.cut("ball1"),
    "recorded": lambda simulation: simulation.recorded,
    "close": lambda simulation: simulation.close(),
    "system": lambda simulation: simulation.system,
    "enlist": lambda simulation: simulation.enlist("another"),
}


def chain():
    return scenarios.load("chain", bodies=4)


@pytest.mark.parametrize("workers", [None, 2])
def test_a_second_thread_is_refused_with_a_sentence_and_changes_no_bit(workers):
    """Whatever it asks for while the first is in a run."""
    refused = {}

    def meddle():
        for name, use in USES.items():
            try:
                use(simulation)
            except ModelError as error:
                refused[name] = str(error)

    def progress(_):
        thread = threading.Thread(target=meddle, name="meddler")
        thread.start()
        thread.join()

    with Simulation(chain(), 1e-3, workers=workers, launcher="here") as simulation:
        run = simulation.run(0.02, progress=progress)
    assert run.digest == Simulation(chain(), 1e-3).run(0.02).digest
    assert set(refused) == set(USES) - ({"system"} if workers is None else set())
    assert all(
        "in use by thread 'MainThread', and thread 'meddler' called it meanwhile" in said for said in refused.values()
    )


def test_threads_may_use_it_one_after_the_other():
    with Simulation(chain(), 1e-3) as simulation:
        for until in (0.01, 0.02):
            thread = threading.Thread(target=simulation.run, args=(until,))
            thread.start()
            thread.join()
        assert simulation.run(0.03).digest == Simulation(chain(), 1e-3).run(0.03).digest


FORKED = """
import os, sys
import scenarios
from coordinator import Simulation
from modular import ModelError

with Simulation(scenarios.load("chain", bodies=4), 1e-3, workers=2) as simulation:
    simulation.run(0.02)
    child = os.fork()
    if not child:
        try:
            simulation.run(0.03)
        except ModelError as error:
            print(error, flush=True)
            simulation.close()
            os._exit(7)
        os._exit(1)
    assert os.WEXITSTATUS(os.waitpid(child, 0)[1]) == 7
    digest = simulation.run(0.04).digest
assert digest == Simulation(scenarios.load("chain", bodies=4), 1e-3).run(0.04).digest
"""


@pytest.mark.campaign
@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")
def test_a_forked_process_is_told_that_the_workers_are_not_its_own():
    done = subprocess.run([sys.executable, "-c", FORKED], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert "they answer only that one; create the simulation here" in done.stdout


@pytest.mark.parametrize("coupling", [Penalty(), *later([Glued()])])
def test_ctrl_c_while_workers_start_keeps_the_simulation(coupling, monkeypatch):
    """At several moments on the way of the first slice, again and again: it goes on to the same bits."""
    usual, calls = process_supervision.obey_late, []

    def impatient():
        calls.append(None)
        if len(calls) in (1, 3, 8, 14):
            raise KeyboardInterrupt
        usual()

    with Simulation(chain(), 1e-3, coupling) as one, Simulation(chain(), 1e-3, coupling, workers=2) as two:
        whole = one.run(0.03).digest
        monkeypatch.setattr(process_supervision, "obey_late", impatient)
        for _ in range(4):
            with pytest.raises(KeyboardInterrupt):
                two.run(0.03)
            assert two.whole and two.tick == 0
        assert two.run(0.03).digest == whole
