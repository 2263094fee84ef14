"""Cost of a step of the hanging chain per body, on one core, beside a fixed piece of arithmetic of the same machine.

    python benchmarks/chain_speed.py [--bodies 10 100 1000 10000] [--repeat 3]

Machines are noisy and differ: the last column is the ratio to `yardstick`, 1 000 compiled multiply-adds. Recording every
tick includes writing every state into fresh memory, which on some machines costs as much as the step.
"""

import argparse
import time

import numpy as np

import scenarios
from coordinator import Simulation
from modular.kernel import kernel


@kernel
def multiply_add(values: np.ndarray, times: int) -> float:
    """Dependent multiply-adds that no compiler can leave out."""
    total = 0.0
    for _ in range(times):
        for value in values:
            total = total * 0.999 + value
    return total


def yardstick() -> float:
    """Microseconds for 1 000 multiply-adds."""
    values = np.ones(1000)
    multiply_add(values, 1)
    start = time.perf_counter()
    multiply_add(values, 2000)
    return (time.perf_counter() - start) / 2000 * 1e6


def cost(bodies: int, radius: float, record_every: int) -> float:
    """Microseconds per body and step."""
    ticks = max(20, min(2000, 2_000_000 // bodies))
    dt = 1e-4
    with Simulation(scenarios.load("chain", bodies=bodies, radius=radius), dt, record_every=record_every) as simulation:
        simulation.run(10 * dt)
        start = time.perf_counter()
        simulation.run((10 + ticks) * dt)
        return (time.perf_counter() - start) / ticks / bodies * 1e6


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bodies", type=int, nargs="+", default=[10, 100, 1000, 10_000])
    parser.add_argument("--repeat", type=int, default=3, help="the best of so many is shown")
    arguments = parser.parse_args()
    print(f"{'bodies':>7} {'coordinates':>12} {'recorded':>12} {'us/body/step':>13} {'yardsticks':>11}")
    for bodies in arguments.bodies:
        for radius, numbers in ((0.005, 12), (0.0, 6)):
            for every in (1, 100):
                best = min(cost(bodies, radius, every) for _ in range(arguments.repeat))
                recorded = "every tick" if every == 1 else "every 100th"
                print(f"{bodies:7d} {numbers:12d} {recorded:>12} {best:13.2f} {best / yardstick():11.2f}")


if __name__ == "__main__":
    main()
