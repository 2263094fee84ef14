"""Cost of a tick of glued and relaxed chains in one process and among two workers, and what of it is talk.

    python benchmarks/glued_workers.py [--lengths 10,100,1000] [--seconds 2]

Workers "here" take turns in one process, so they cost what both cost together; "processes" are on this machine. Each figure is the
best of three.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import scenarios
from coordinator import Glued, Relaxed, Simulation
from coordinator.couplings import Coupling

WAYS: dict[str, dict[str, Any]] = {
    "one process": {},
    "2 here": {"workers": 2, "launcher": "here"},
    "2 processes": {"workers": 2},
}


def cost(
    bodies: int, coupling: Coupling, seconds: float, way: dict[str, Any], dt: float = 1e-3
) -> tuple[float, float, float]:
    """Seconds per tick, exchanges and bytes to the other per tick."""
    with Simulation(scenarios.load("chain", bodies=bodies), dt, coupling, record_every=100_000, **way) as simulation:

        def go(ticks: int) -> float:
            start, last = time.perf_counter(), simulation.tick + ticks
            while simulation.tick < last:
                simulation.stride(last)
            return (time.perf_counter() - start) / ticks

        go(5)
        ticks = min(500, max(5, int(seconds / 3 / go(5))))
        best, collectives = min(go(ticks) for _ in range(3)), 0.0
        if way.get("launcher") == "here":
            worker = simulation.distributed_run.pool.workers[0]  # type: ignore[union-attr]
            collectives = worker.interface.collectives.exchanged / (worker.tick - worker.began)
        simulation.system  # noqa: B018 - collected, and so counted
        said = max((worker.bytes_per_tick for worker in simulation.workers), default=0.0)
    return best, collectives, said


def main() -> None:
    """Measure and print."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--lengths", default="10,100,1000", help="numbers of rods")
    options.add_argument("--seconds", type=float, default=2.0, help="that a measurement may take")
    chosen = options.parse_args()
    for coupling in (Glued(), Glued(4), Relaxed()):
        for bodies in map(int, chosen.lengths.split(",")):
            found = {name: cost(bodies, coupling, chosen.seconds, way) for name, way in WAYS.items()}
            times = "  ".join(f"{name} {1e6 * seconds:9.0f} us" for name, (seconds, _, _) in found.items())
            said = f"{found['2 here'][1]:6.1f} exchanges, {found['2 processes'][2] / 1e3:8.1f} kB per tick"
            print(f"{type(coupling).__name__}({coupling.order}) {bodies:5d} rods  {times}  {said}", flush=True)


if __name__ == "__main__":
    main()
