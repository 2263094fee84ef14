"""FMUs of ours under HELICS, one federate per port: the double pendulum of two rods in two processes.

    python benchmarks/helics_ports.py [--until 0.5]

`modular export-fmu` writes the upper rod with a port that takes a force, and the lower one with a port that takes a motion
(benchmarks/fmu_masters.py). Each port is a HELICS value federate: it publishes what its FMU shows, reads what the other port has
published, steps the FMU, and asks for the next time. That is the exchange of every FMI master, to the last bit, and of first order
as that; beside it stand the same two files joined by a hinge. Needs `pip install helics` (the extra `peers`) and the extra `fmi`.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import scenarios
from components.fmi import Fmu
from coordinator import Glued
from fmu_masters import MASSES, MOTION, Slave, by_exchange, glued, halves, ran

DT, PORT = 1e-3, 23570
LIGHT = MASSES["lower rod light"]
FORCE = ("force.x", "force.y")
PORTS = {  # what each shows and what it takes, and with which sign
    "upper": ("upper.end", MOTION, FORCE, -1.0),
    "led": ("lower.start", FORCE, MOTION, 1.0),
}


def federate(which: str, folder: Path, until: float) -> None:
    """One port; the first has the broker."""
    import helics as h

    broker = h.helicsCreateBroker("zmq", "", f"-f 2 --localport={PORT} --loglevel=error") if which == "upper" else None
    print("ready", flush=True)
    info = h.helicsCreateFederateInfo()
    h.helicsFederateInfoSetCoreTypeFromString(info, "zmq")
    h.helicsFederateInfoSetCoreInitString(
        info, f"--federates=1 --broker_address=127.0.0.1 --brokerport={PORT} --loglevel=error"
    )
    h.helicsFederateInfoSetTimeProperty(info, h.HELICS_PROPERTY_TIME_DELTA, DT)
    one = h.helicsCreateValueFederate(which, info)
    other = next(name for name in PORTS if name != which)
    said = h.helicsFederateRegisterGlobalPublication(one, which, h.HELICS_DATA_TYPE_VECTOR, "")
    heard = h.helicsFederateRegisterSubscription(one, other, "")
    port, shows, takes, sign = PORTS[which]
    slave = Slave(str(folder / f"{which}.fmu"))
    shown, taken = [f"{port}.{name}" for name in shows], [f"{port}.{name}" for name in takes]
    way = [slave.get(*shown[:2])]
    h.helicsFederateEnterInitializingMode(one)
    h.helicsPublicationPublishVector(said, slave.get(*shown).tolist())
    h.helicsFederateEnterExecutingMode(one)
    for tick in range(round(until / DT)):
        slave.put(taken, sign * np.array(h.helicsInputGetVector(heard)))
        slave.fmu.doStep(currentCommunicationPoint=tick * DT, communicationStepSize=DT)
        h.helicsPublicationPublishVector(said, slave.get(*shown).tolist())
        h.helicsFederateRequestTime(one, (tick + 1) * DT)
        way.append(slave.get(*shown[:2]))
    np.save(folder / f"{which}.npy", np.array(way))
    h.helicsFederateDisconnect(one)
    if broker is not None:
        h.helicsBrokerWaitForDisconnect(broker, 2000)


def told(until: float, folder: Path) -> None:
    """Both federates, the loop in one process, and the hinge."""
    whole = scenarios.load("double-pendulum", masses=LIGHT)
    files = halves(whole, folder, DT)
    processes = []
    for which in PORTS:
        command = [sys.executable, __file__, "--federate", which, "--folder", str(folder), "--until", str(until)]
        processes.append(subprocess.Popen(command, stdout=subprocess.PIPE, text=True))
        processes[-1].stdout.readline()
    if any(process.wait(300.0) for process in processes):
        raise SystemExit("a federate has failed; is `helics` installed?")
    way, loop = np.load(folder / "upper.npy"), by_exchange(files, DT, until)
    truth = ran(whole, DT, until, Glued(order=8)).position("upper.end")
    hinge = ran(
        glued(whole, Fmu(files["upper"], ports={"end": "upper.end"}, dimension=2),
              Fmu(files["led"], ports={"start": "lower.start"}, dimension=2)),
        DT, until, Glued(),
    ).position("upper.end")  # fmt: skip
    print(f"two federates, {DT:g} s, {until:g} s: {np.abs(way - truth).max():.2e} m from the truth, "
          f"{np.abs(way - loop).max():.1e} m from a loop in one process")  # fmt: skip
    print(f"the same files joined by a hinge: {np.abs(hinge - truth).max():.2e} m from the truth")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--until", type=float, default=0.5)
    parser.add_argument("--federate", choices=list(PORTS))
    parser.add_argument("--folder", type=Path)
    given = parser.parse_args()
    if given.federate:
        federate(given.federate, given.folder, given.until)
    else:
        with tempfile.TemporaryDirectory() as place:
            told(given.until, Path(place))
