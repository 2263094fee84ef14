"""Cost of one step of a centralized solver on chains of more and more rods, and how it grows.

    python benchmarks/centralized_chain.py [--lengths 50,100,200] [--ticks 20]

With sparse matrices the cost of a step grows linearly with the number of bodies; the exponent of a power law through the
measurements says so. Each figure is the best of three.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

import scenarios
from coordinator import HHT, Centralized, Simulation


def cost(bodies: int, ticks: int, dt: float = 1e-3) -> float:
    """Processor time per step [s]."""
    with Simulation(scenarios.load("chain", bodies=bodies), dt, Centralized(HHT())) as simulation:
        simulation.run(3 * dt)
        best = np.inf
        for k in range(3):
            start = time.process_time()
            simulation.run((3 + (k + 1) * ticks) * dt)
            best = min(best, (time.process_time() - start) / ticks)
    return best


def main() -> None:
    """Measure and print."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--lengths", default="50,100,200", help="numbers of rods")
    options.add_argument("--ticks", type=int, default=20, help="steps per measurement")
    chosen = options.parse_args()
    lengths = [int(text) for text in chosen.lengths.split(",")]
    costs = [cost(bodies, chosen.ticks) for bodies in lengths]
    for bodies, seconds in zip(lengths, costs, strict=True):
        print(f"{bodies:5d} rods  {1e3 * seconds:8.2f} ms per step  {1e6 * seconds / bodies:7.1f} us per rod")
    print(f"exponent {np.polyfit(np.log(lengths), np.log(costs), 1)[0]:.2f}")


if __name__ == "__main__":
    main()
