"""A double pendulum of two FMUs: under a loop that exchanges what they show at every step, as FMI masters do, and glued.

    python benchmarks/fmu_masters.py [--dt 1e-3] [--until 1.0]

The upper rod is an FMU that takes a force at its end, the lower one an FMU that takes the motion of its start; FMPy steps both and
hands motion and force on (the loop of fmpy.ssp.simulate_ssp, begun with what both show at the start). The same files are then
bodies of a model, joined by a hinge; and the lower rod takes forces too (T-T). All are held against the whole pendulum, by a
method of order 8. With a lower rod as heavy as the upper one the loop does not hold at any step: what a step tells is by what the
last one told, times the ratio of the masses. So there is a light one too.
"""

from __future__ import annotations

import argparse
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import scenarios
from components.fmi import Fmu
from coordinator import Glued, Penalty, Simulation
from modular import Assembly
from modular.errors import RunWarning
from scenarios.fmi.writing import export_fmu

MASSES = {"lower rod as heavy": (1.0, 1.0), "lower rod light": (4.0, 0.05)}
PLACE = ("position.x", "position.y")
MOTION = (*PLACE, "velocity.x", "velocity.y", "acceleration.x", "acceleration.y")


def ran(model: Assembly, dt: float, until: float, coupling: Any) -> Any:
    """The run, without its warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RunWarning)
        with Simulation(model, dt, coupling) as simulation:
            return simulation.run(until)


def halves(whole: Assembly, folder: Path, dt: float) -> dict[str, str]:
    """The upper rod with a force at its end, and the lower one with a motion or a force at its start."""
    found = {}
    for name, ports, moved in (
        ("upper", ["upper.end"], []),
        ("led", [], ["lower.start:point"]),
        ("lower", ["lower.start"], []),
    ):
        model = Assembly(gravity=whole.gravity)
        body = "upper" if name == "upper" else "lower"
        model.add(body, whole.bodies[body])
        if body == "upper":
            edge = whole.joint_edges["pivot"]
            model.join("pivot", edge.joint, str(edge.first), str(edge.second))
        file = folder / f"{name}.fmu"
        export_fmu(
            model, file, dt, coupling=Glued(), ports=ports, moved=moved, watch=["lower.end"] if body == "lower" else []
        )
        found[name] = str(file)
    return found


class Slave:
    """An FMU under FMPy, its variables by name."""

    def __init__(self, file: str) -> None:
        import fmpy
        from fmpy.fmi2 import FMU2Slave

        about = fmpy.read_model_description(file)
        self.references = {variable.name: variable.valueReference for variable in about.modelVariables}
        self.fmu = FMU2Slave(
            guid=about.guid, unzipDirectory=fmpy.extract(file), modelIdentifier=about.coSimulation.modelIdentifier,
            instanceName=Path(file).stem,
        )  # fmt: skip
        self.fmu.instantiate()
        self.fmu.setupExperiment(startTime=0.0)
        self.fmu.enterInitializationMode()
        self.fmu.exitInitializationMode()

    def get(self, *names: str) -> Any:
        """Variables."""
        return np.array(self.fmu.getReal([self.references[name] for name in names]))

    def put(self, names: list[str], values: Any) -> None:
        """Variables."""
        self.fmu.setReal([self.references[name] for name in names], list(values))


def by_exchange(files: dict[str, str], dt: float, until: float) -> Any:
    """Way of the elbow: both step with what the other showed at the end of the last step."""
    upper, lower = Slave(files["upper"]), Slave(files["led"])
    turning = ("angle", "angular_velocity", "angular_acceleration")
    names = [name for name in MOTION if f"lower.start.{name}" in lower.references]
    assert not any(f"lower.start.{name}" in lower.references for name in turning), "the rods are hinged"
    shown, told = [f"upper.end.{name}" for name in names], [f"lower.start.{name}" for name in names]
    took, given = ["lower.start.force.x", "lower.start.force.y"], ["upper.end.force.x", "upper.end.force.y"]
    way = [upper.get(*shown[:2])]
    for tick in range(round(until / dt)):
        upper.put(given, -lower.get(*took))
        lower.put(told, upper.get(*shown))
        try:
            for slave in (upper, lower):
                slave.fmu.doStep(currentCommunicationPoint=tick * dt, communicationStepSize=dt)
        except Exception:  # forces beyond all bounds
            return np.array(way)
        way.append(upper.get(*shown[:2]))
        if not np.abs(way[-1]).max() < 1e3:
            return np.array(way)
    return np.array(way)


def glued(whole: Assembly, upper: Any, lower: Any) -> Assembly:
    """The pendulum with other bodies."""
    model = Assembly(gravity=whole.gravity)
    model.add("upper", upper)
    model.add("lower", lower)
    for name, edge in whole.joint_edges.items():
        if not (name == "pivot" and isinstance(upper, Fmu)):  # it is in the FMU
            model.join(name, edge.joint, str(edge.first), str(edge.second))
    return model


def told(dt: float, until: float, folder: Path) -> None:
    """All of it."""
    for label, masses in MASSES.items():
        whole = scenarios.load("double-pendulum", masses=masses)
        truth = ran(whole, dt, until, Glued(order=8)).position("upper.end")
        files = halves(whole, folder, dt)
        way = by_exchange(files, dt, until)
        off = np.abs(way - truth[: len(way)]).max() if len(way) == len(truth) else np.inf
        print(f"{label}, {dt:g} s, {until:g} s")
        print(f"  exchanged at every step (FMPy)      {off:.2e} m" if np.isfinite(off) else
              f"  exchanged at every step (FMPy)      beyond all bounds after {len(way) - 1} steps")  # fmt: skip
        upper = Fmu(files["upper"], ports={"end": "upper.end"}, dimension=2)
        led = Fmu(files["led"], ports={"start": "lower.start"}, dimension=2)
        lower = Fmu(files["lower"], ports={"start": "lower.start"}, dimension=2)
        models = {
            "the same two, X-T": (upper, led), "T-T": (upper, lower), "lower rod alone, T": (whole.bodies["upper"], lower),
        }  # fmt: skip
        for name, (first, second) in models.items():
            for coupling in (Glued(), Penalty()):
                found = ran(glued(whole, first, second), dt, until, coupling).position("upper.end")
                apart = np.abs(found - truth).max()
                inside = np.abs(found - ran(whole, dt, until, coupling).position("upper.end")).max()
                print(
                    f"  {name + ', ' + type(coupling).__name__:35} {apart:.2e} m; from the same inside {inside:.1e} m"
                )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dt", type=float, default=1e-3)
    parser.add_argument("--until", type=float, default=1.0)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        told(given.dt, given.until, Path(place))
