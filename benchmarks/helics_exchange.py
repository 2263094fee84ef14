"""Two processes that exchange numbers at every step: HELICS against our workers, in turns on the same machine.

    python benchmarks/helics_exchange.py [--rounds 5] [--steps 3000] [--cores zmq_ss,tcp_ss]

Two HELICS value federates in two processes publish 26 doubles each per step, ask for the next time, and read what the other
has published. Our two workers exchange the halos of five ball joints, 30 doubles each way per tick, with checksum, send log and
checkpoints, and move ten rods meanwhile. Needs `pip install helics` (the extra `peers`).
"""

from __future__ import annotations

import argparse
import functools
import os
import subprocess
import sys
import time
from collections.abc import Callable

import numpy as np

import scenarios.bench.harness as harness
from components import Rod, Spherical
from coordinator import Simulation
from modular import Assembly

DOUBLES = 26
PAIRS = 5  # of rods, one of each with either worker
DT = 1e-4
SAYS = "seconds"  # begins the lines that count; HELICS writes others


def federate(core: str, me: int, port: int) -> None:
    """One of the two HELICS processes; the first has the broker. Steps as often as each line says, and answers with the seconds."""
    import helics as h

    broker = h.helicsCreateBroker(core, "", f"-f 2 --localport={port} --loglevel=error") if me == 0 else None
    print(SAYS, 0.0, flush=True)  # the broker is there
    info = h.helicsCreateFederateInfo()
    h.helicsFederateInfoSetCoreTypeFromString(info, core)
    h.helicsFederateInfoSetCoreInitString(
        info, f"--federates=1 --broker_address=127.0.0.1 --brokerport={port} --loglevel=error"
    )
    h.helicsFederateInfoSetTimeProperty(info, h.HELICS_PROPERTY_TIME_DELTA, 1.0)
    one = h.helicsCreateValueFederate(f"federate{me}", info)
    said = h.helicsFederateRegisterGlobalPublication(one, f"said{me}", h.HELICS_DATA_TYPE_VECTOR, "")
    heard = h.helicsFederateRegisterSubscription(one, f"said{1 - me}", "")
    h.helicsFederateEnterExecutingMode(one)
    numbers, now = np.arange(DOUBLES, dtype=float), 0.0
    for line in sys.stdin:
        started = time.perf_counter()
        for _ in range(int(line)):
            numbers[0] += 1.0
            h.helicsPublicationPublishVector(said, numbers.tolist())
            now = h.helicsFederateRequestTime(one, now + 1.0)
            came = h.helicsInputGetVector(heard)
        assert len(came) == DOUBLES and came[0] == numbers[0]
        print(SAYS, time.perf_counter() - started, flush=True)
    h.helicsFederateDisconnect(one)
    if broker is not None:
        h.helicsBrokerWaitForDisconnect(broker, 2000)


class Helics:
    """The two federates of one kind of core."""

    def __init__(self, core: str, port: int) -> None:
        self.pair: list[subprocess.Popen[str]] = []
        for me in (0, 1):
            command = [sys.executable, __file__, "--federate", str(me), "--cores", core, "--port", str(port)]
            pipe = subprocess.PIPE
            self.pair.append(subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, bufsize=1))
            self.heard(self.pair[-1])

    @staticmethod
    def heard(process: subprocess.Popen[str]) -> float:
        """What one of them says next."""
        while line := process.stdout.readline():
            if line.startswith(SAYS):
                return float(line.split()[1])
        raise SystemExit(f"a federate has ended with code {process.wait()}; is `helics` installed?")

    def go(self, steps: int) -> float:
        """Microseconds per step."""
        for one in self.pair:
            one.stdin.write(f"{steps}\n")
        return max(map(self.heard, self.pair)) / steps * 1e6

    def close(self) -> None:
        for one in self.pair:
            one.stdin.close()
        for one in self.pair:
            one.wait(10.0)


def pairs() -> Assembly:
    """Rods joined two by two."""
    model = Assembly()
    for k in range(PAIRS):
        model.add(f"left{k}", Rod((0.0, k, 0.0), (0.5, k, 0.0), 0.1, 0.01))
        model.add(f"right{k}", Rod((0.5, k, 0.0), (1.0, k, 0.0), 0.1, 0.01))
        model.join(f"ball{k}", Spherical(), f"left{k}.end", f"right{k}.start")
    return model


class Ours:
    """A simulation with two worker processes."""

    def __init__(self) -> None:
        parts = {side: [f"{side}{k}" for k in range(PAIRS)] for side in ("left", "right")}
        self.simulation = Simulation(pairs(), DT, record_every=100_000, workers=parts)

    def go(self, steps: int) -> float:
        """Microseconds per tick, distributing the mechanism and collecting it included."""
        started = time.perf_counter()
        self.simulation.run((self.simulation.tick + steps) * DT)
        return (time.perf_counter() - started) / steps * 1e6

    def close(self) -> None:
        self.simulation.close()


def main() -> None:
    """Measure and print."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--steps", type=int, default=3000, help="of HELICS per round; ours takes ten times as many")
    options.add_argument("--cores", default="zmq_ss,tcp_ss", help="kinds of HELICS cores")
    options.add_argument("--port", type=int, default=25400 + 20 * (os.getpid() % 100), help="of the first broker")
    options.add_argument("--federate", type=int, help=argparse.SUPPRESS)
    chosen = options.parse_args()
    if chosen.federate is not None:
        federate(chosen.cores, chosen.federate, chosen.port)
        return
    cores = chosen.cores.split(",")
    subjects: dict[str, Callable[[int], Ours | Helics]] = {"ours": lambda port: Ours()}
    subjects |= {core: functools.partial(Helics, core) for core in cores}
    port = chosen.port
    found: dict[str, list[float]] = {name: [] for name in subjects}
    for number in range(-1, chosen.rounds):
        for name in list(subjects) if number % 2 else reversed(subjects):
            port += 10
            subject = subjects[name](port)  # alone: federates that do nothing still take a part of a processor
            steps = chosen.steps * (10 if name == "ours" else 1)
            subject.go(steps // 10)
            if number >= 0:
                found[name].append(subject.go(steps))
            subject.close()
    for name, values in found.items():
        spread = harness.spread(values)
        line = f"{name:8s} {spread.median:8.1f} us per step ({spread.low:.1f} ... {spread.high:.1f})"
        if name != "ours":
            times = harness.ratio(values, found["ours"])
            line += f"   ours is {times.median:.1f} times as fast ({times.low:.1f} ... {times.high:.1f})"
        print(line)


if __name__ == "__main__":
    main()
