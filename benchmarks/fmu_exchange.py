"""What FMUs cost beside the ticks themselves: a doStep of one of ours, and an exchange with one that lives at a worker.

    python benchmarks/fmu_exchange.py [--rounds 9] [--ticks 200]

A doStep of the exported double pendulum is held against the same ticks without an FMU around them. Of the exchange: the lower rod
is an FMU of ours without Python (native) between glued joints, at a worker. What a question costs is told by one for which nothing
is done there, with all that goes over and comes back; then a tick is held against the same at hand, in turns in one process. Times
and processor times of both processes: where other programs want the processors a question waits for its turn twice.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

import scenarios
from components.fmi import Fmu
from components.fmi.fmu_system import FmuSystem
from coordinator import BlackBox, Glued, Penalty, Simulation
from coordinator.distributed.workers.black_boxes import BlackBoxes
from modular import Assembly, allow
from modular.elements import Elements
from scenarios.fmi.exported import Exported
from scenarios.fmi.native_fmu import export_native
from scenarios.fmi.writing import export_fmu

DT = 1e-3
US = 1e6


def spent(pid: int | str = "self") -> float:
    """Processor time of a process so far [s]."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def quickest(act: Callable[[], object], rounds: int) -> float:
    """Of ten calls, in the best of so many rounds, short enough to be left alone [us]."""
    found = []
    for _ in range(50 * rounds):
        start = time.perf_counter()
        for _ in range(10):
            act()
        found.append((time.perf_counter() - start) / 10)
    return min(found) * US


def do_steps(folder: Path, rounds: int) -> None:
    """Of exported FMUs, over their ticks."""
    whole = scenarios.load("double-pendulum")
    for version in (2, 3):
        file = folder / f"whole-{version}.fmu"
        export_fmu(whole, file, DT, version=version, coupling=Penalty())
        fmus = FmuSystem({"": str(file)}, {}, None, {})
        fmus.begin()
        inside = folder / str(version)
        zipfile.ZipFile(file).extractall(inside)
        exported = Exported(inside / "resources")
        exported.begin()
        simulation = exported.simulation
        step = quickest(lambda fmus=fmus: fmus.step(DT), rounds)  # type: ignore[misc]
        tick = quickest(lambda one=simulation: one.stride(one.tick + 1), rounds)  # type: ignore[misc]
        print(f"FMI {version}: doStep {step:.1f} us, of which the tick {tick:.1f} us: {step - tick:.1f} us over it")


def pendulum(whole: Assembly, lower: Fmu | BlackBox) -> Assembly:
    """Its lower rod replaced."""
    model = Assembly(gravity=whole.gravity)
    model.add("upper", whole.bodies["upper"])
    model.add("lower", lower)
    for name, edge in whole.joint_edges.items():
        model.join(name, edge.joint, str(edge.first), str(edge.second))
    return model


def question_alone(boxes: BlackBoxes, elements: Elements, pid: int) -> None:
    """One for which nothing is done, asked again and again."""
    count, found = 5000, []
    used = spent(), spent(pid)
    for _ in range(count):
        start = time.perf_counter()
        boxes._play("accept_step", elements)
        found.append((time.perf_counter() - start) * US)
    here, there = ((spent(who) - before) / count * US for who, before in zip(("self", pid), used, strict=True))
    low, middle = np.quantile(found, [0.1, 0.5])
    print(
        f"a question: {middle:.0f} us (a tenth within {low:.0f}), processor {here:.0f} us here and {there:.0f} us there"
    )


def exchanges(folder: Path, rounds: int, ticks: int) -> None:
    """At a worker over at hand."""
    whole = scenarios.load("double-pendulum")
    alone = Assembly(gravity=whole.gravity)
    alone.add("lower", whole.bodies["lower"])
    export_native(alone, folder / "lower.fmu", DT, ports=["lower.start"])
    lower = Fmu(folder / "lower.fmu", ports={"start": "lower.start"}, dimension=2, mass=1.0)
    data = lower.to_data()
    box = BlackBox(data.pop("class"), worker="plant", ports=["start"], dimension=2, data=data)
    asked = 0
    plain = BlackBoxes.call

    def counted(self: BlackBoxes, method: str, **said: object) -> object:
        nonlocal asked
        asked += 1
        return plain(self, method, **said)

    BlackBoxes.call = counted  # type: ignore[method-assign, assignment]
    workers = {"plant": ["lower"], "rest": ["upper"]}
    with (
        Simulation(pendulum(whole, lower), DT, Glued()) as near,
        Simulation(pendulum(whole, box), DT, Glued(), workers=workers) as far,
    ):
        near.run(0.02)
        far.run(0.02)
        pid = next(worker.pid for worker in far.workers if worker.name == "plant")
        assert pid is not None
        taken = {"at hand": [], "at a worker": []}  # type: dict[str, list[tuple[float, float]]]
        for _ in range(rounds):
            for name, simulation in (("at hand", near), ("at a worker", far)):
                asked, start, used = 0, time.perf_counter(), spent() + spent(pid)
                simulation.run(simulation.time + ticks * DT)
                wall, processor = time.perf_counter() - start, spent() + spent(pid) - used
                taken[name].append((wall / ticks * US, processor / ticks * US))
        questions = asked / ticks
        box_stack = next(stack for stack in far.system.bodies if isinstance(stack, BlackBoxes))
        question_alone(box_stack, far.system.elements, pid)
    found = {name: np.array(values) for name, values in taken.items()}
    for name, values in found.items():
        print(f"a tick {name}: {np.median(values[:, 0]):.0f} us (best {values[:, 0].min():.0f}), "
              f"processor {values[:, 1].mean():.0f} us")  # fmt: skip
    more = found["at a worker"] - found["at hand"]
    best = found["at a worker"][:, 0].min() - found["at hand"][:, 0].min()
    middle, processor = np.median(more[:, 0]) / questions, more[:, 1].mean() / questions
    print(
        f"{questions:.1f} questions a tick, each {middle:.0f} us (best {best / questions:.0f}) with what is foreseen along with it,"
    )
    print(f"    processor time of both {processor:.0f} us; load {os.getloadavg()[0]:.1f}")


def main() -> None:
    """Measure both."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--ticks", type=int, default=200)
    given = parser.parse_args()
    allow("fmpy")
    warnings.simplefilter("ignore")
    os.environ["MODULAR_ALLOW"] = "fmpy"
    with tempfile.TemporaryDirectory() as folder:
        do_steps(Path(folder), given.rounds)
        exchanges(Path(folder), given.rounds, given.ticks)


if __name__ == "__main__":
    main()
