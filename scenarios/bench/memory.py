"""Memory: of a body with its joint, and whether it grows as a run goes on; in processes of their own."""

from __future__ import annotations

import gc
import json
import subprocess
import sys
from collections.abc import Callable, Iterator

from scenarios.bench.figures import Figure, Target
from scenarios.bench.harness import spread
from scenarios.bench.suite import Case, MeasuringEffort, Skip

NAME = "memory"
PER_BODY = Target(2.5)  # [kB]
GROWTH = Target(0.1)  # [B per step]: a tenth of a megabyte in a million steps is the grain of the system
MIN_BODIES = 20_000  # bodies in all: short chains are held several times, so that pages do not count
NEVER_RECORD = 10**9  # ticks between samples


def cases(effort: MeasuringEffort) -> list[Case]:
    """Two lengths, and a long run."""
    sizes = [Case(f"chain of {n:,}", of_a_body(n), effort.choose(20, 60)) for n in (1000, 10_000)]
    return [*sizes, Case("long run", of_a_step, effort.choose(10, 60))]


def of_a_body(bodies: int) -> Callable[[MeasuringEffort], Iterator[Figure]]:
    """Resident memory of running simulations, models and names included."""

    def figures(effort: MeasuringEffort) -> Iterator[Figure]:
        samples = [in_a_child("hold", bodies) for _ in range(effort.choose(1, 3))]
        name = f"chain of {bodies:,}: a body with its joint"
        note = "resident memory, with the model that the simulation keeps"
        yield Figure.of(NAME, name, "kB", spread(samples).scaled(1e-3), PER_BODY, note)

    return figures


def of_a_step(effort: MeasuringEffort) -> Iterator[Figure]:
    """Growth of resident memory over many steps that are not recorded."""
    ticks = effort.choose(100_000, 1_000_000)
    name = f"chain of 10: growth over {ticks:,} steps"
    yield Figure.of(NAME, name, "B per step", spread([in_a_child("go_on", ticks)]), GROWTH, "nothing recorded")


# --- in a child process ----------------------------------------------------------------------------------------------


def in_a_child(function: str, number: int) -> float:
    """What a function of this file gives in a process of its own."""
    code = f"import json\nfrom scenarios.bench.memory import {function}\nprint(json.dumps({function}({number})))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["it printed nothing"])[-1]
        raise Skip(f"the process that was to be measured ended with code {done.returncode}: {last}")
    return float(json.loads(done.stdout))


def hold(bodies: int) -> float:
    """Bytes per body of simulations that are held after a step."""
    from coordinator import Simulation
    from scenarios.bench.models import chain

    def running(count: int) -> Simulation:
        simulation = Simulation(chain(count), 1e-4, record_every=NEVER_RECORD, threads=1)
        simulation.step()
        return simulation

    running(10).close()  # everything imported and compiled
    copies = max(1, MIN_BODIES // bodies)
    before = resident()
    held = [running(bodies) for _ in range(copies)]
    return (resident() - before) / bodies / len(held)


def go_on(ticks: int) -> float:
    """Bytes per step by which a run grows, after a first tenth."""
    from coordinator import Simulation
    from scenarios.bench.models import chain

    with Simulation(chain(10), 1e-4, record_every=NEVER_RECORD, threads=1) as simulation:
        simulation.run(ticks // 10 * simulation.dt)
        before = resident()
        for part in range(1, 11):
            simulation.run((ticks // 10 + part * ticks // 10) * simulation.dt)
        return (resident() - before) / ticks


def resident() -> int:
    """Resident memory of this process [B], rubbish collected."""
    import psutil

    gc.collect()
    return int(psutil.Process().memory_info().rss)
