"""A simulation that is copied, or goes on in a forked process, is a second one: neither notices the other."""

import copy
import os
import subprocess
import sys

import numpy as np
import pytest

import scenarios
from components import Revolute, Rod, Spherical, SpringDamper
from coordinator import Centralized, Penalty, Simulation
from modular.table import airy
from waiting import GUARD

FORKED = """
import os, sys
import scenarios
from components import SpringDamper
from coordinator import Simulation

def model():
    chain = scenarios.load("chain", bodies=12)
    chain.apply("spring", SpringDamper(5.0, 0.1), "rod2.end", "rod9.end")
    return chain

alone = Simulation(model(), 1e-3, threads=2).run(0.2)
simulation = Simulation(model(), 1e-3, threads=2)
simulation.run(0.05)
child = os.fork()
if not child:
    simulation.cut("ball3")  # other stiffness, on the same columns
    simulation.run(0.2)
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
assert simulation.run(0.2).digest == alone.digest
child = os.fork()
if not child:
    os._exit(0 if simulation.run(0.25).time[-1] == 0.25 else 1)
assert os.waitpid(child, 0)[1] == 0
"""


def stirred():
    """With a spring, so that stiffness is chosen at every tick, and a joint that was made on the way."""
    model = scenarios.load("chain", bodies=5)
    model.apply("spring", SpringDamper(5.0, 0.1), "rod1.end", "rod4.end")
    simulation = Simulation(model, 1e-3)
    simulation.run(0.03)
    simulation.cut("ball3")
    return simulation


@pytest.mark.parametrize("coupling", [Penalty(), Centralized()])
def test_a_copy_goes_its_own_way(coupling):
    def run_on(simulation):
        simulation.run(0.04)
        simulation.join("nail", Revolute(), "ground", "lower.end")
        return simulation.run(0.06).digest

    first, expected = (Simulation(scenarios.load("double-pendulum"), 1e-3, coupling) for _ in range(2))
    expected.run(0.02)
    first.run(0.02)
    before = {name: array.copy() for name, array in first.body("lower").state().items()}
    second = copy.deepcopy(first)
    digest = run_on(second)
    assert all(np.array_equal(array, before[name]) for name, array in first.body("lower").state().items())
    assert digest == run_on(first) == run_on(expected)


def test_a_copy_shares_no_column():
    first, expected = stirred(), stirred()
    second = copy.deepcopy(first)
    for simulation in (second, first, expected):
        simulation.add("more", Rod((0, 0, 1), (0, 0, 2), 0.3))  # into a row that both had to spare
        simulation.join("hook2", Spherical(), "ground", "more.start")
    assert second.run(0.08).digest == first.run(0.08).digest == expected.run(0.08).digest


@pytest.mark.campaign
@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")
def test_a_forked_process_disturbs_nobody_and_starts_its_own_threads():
    subprocess.run([sys.executable, "-W", "ignore", "-c", FORKED], check=True, timeout=GUARD)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")
def test_memory_that_is_taken_when_written_to_is_not_shared_with_forked_processes():
    code = "import os; from modular.table import airy; a = airy((8,), float)\nif not os.fork():\n  a[:] = 1.0; os._exit(0)\n"
    code += "os.wait(); assert not a.any()"
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True, timeout=GUARD)
    assert not airy((3, 2), float).any()
