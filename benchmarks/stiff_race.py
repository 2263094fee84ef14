"""Stiff springs and dampers against Exudyn: a flyball governor, a chain and bushings, to an error that both reach.

    python benchmarks/stiff_race.py
    python benchmarks/stiff_race.py --only governor --rounds 9

Ours and Exudyn's runs take turns; processor time, medians. Needs Exudyn: pip install 'modular-multibody[peers]'. Exudyn has the
governor as a tree of four joint coordinates, the others as bodies with constraints, all under its generalized alpha.
"""

from __future__ import annotations

import argparse
import gc
import statistics
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from math import cos, pi, sin
from typing import Any

import numpy as np

import scenarios
from components import Bushing, Revolute, RigidBody
from coordinator import HHT, Centralized, Coupling, Glued, Simulation
from modular import Assembly
from scenarios.bench.models import chain
from scenarios.bench.peers.exudyn import Exudyn, exudyn
from scenarios.bench.peers.mechanism import mechanism
from scenarios.systems.flyball_governor import BALL, CUBE, DENSITY, HALF_SPAN, HEIGHT, LENGTH, WIDTH, box

Ran = tuple[np.ndarray, float]  # where it ends [m], and processor time [s]
STIFFNESS, DAMPING = 1e6, 1e3  # of bushings [N/m], [N s/m]; a twentieth of it about axes
COUPLINGS: dict[str, Coupling] = {
    "Glued(tolerance=1e-10)": Glued(tolerance=1e-10),
    "Centralized(HHT())": Centralized(HHT()),
}


def ours(model: Assembly, ports: Sequence[str], until: float, coupling: Coupling, ticks: int) -> Ran:
    """A run from a fresh start, recorded at its end only."""
    with Simulation(model, until / ticks, coupling, record_every=ticks, threads=1) as simulation:
        gc.collect()
        started = time.process_time()
        run = simulation.run(until)
        took = time.process_time() - started
    return np.concatenate([run.position(port)[-1] for port in ports]), took


def solved(system: Any, until: float, ticks: int) -> float:
    """Processor time of Exudyn's generalized alpha."""
    exu, _ = exudyn()
    settings = exu.SimulationSettings()
    settings.solution.file.write = settings.solution.sensors.active = False
    settings.show.statistics = settings.show.computationTime = settings.show.globalTimers = False
    settings.linearSolver.solverType = exu.LinearSolverType.EigenSparse
    settings.parallel.numberOfThreads = 1
    settings.timeIntegration.numberOfSteps, settings.timeIntegration.endTime = ticks, until
    settings.timeIntegration.automaticStepSize = settings.timeIntegration.adaptiveStep = False
    settings.timeIntegration.verboseMode = 0
    settings.timeIntegration.newton.useModifiedNewton = True
    gc.collect()
    started = time.process_time()
    system.SolveDynamic(settings, solverType=exu.DynamicSolverType.GeneralizedAlpha)
    return time.process_time() - started


def governor(until: float, ticks: int) -> Ran:
    """The slider of a governor whose shaft, slider and rods are a tree of four coordinates."""
    exu, items = exudyn()
    container = exu.SystemContainer()
    system = container.AddSystem()
    slim, cube = DENSITY * LENGTH * WIDTH**2, DENSITY * CUBE**3
    mass = slim + BALL
    reach = (0.5 * slim + BALL) / mass * LENGTH
    across = slim * (LENGTH**2 + WIDTH**2) / 12.0 + slim * (reach - 0.5 * LENGTH) ** 2 + BALL * (LENGTH - reach) ** 2
    lines = [np.array([sign * cos(pi / 6), 0.0, -sin(pi / 6)]) for sign in (1.0, -1.0)]
    rods = [across * np.eye(3) + (slim * WIDTH**2 / 6.0 - across) * np.outer(line, line) for line in lines]
    node = system.AddNode(
        items.NodeGenericODE2(
            referenceCoordinates=[0.0, HEIGHT, 0.0, 0.0], initialCoordinates=[0.0] * 4,
            initialCoordinates_t=[2.0 * pi, 0.0, 0.0, 0.0], numberOfODE2Coordinates=4,
        )
    )  # fmt: skip
    kinds = exu.JointType
    tree = system.AddObject(
        items.ObjectKinematicTree(
            nodeNumber=node, jointTypes=[kinds.RevoluteZ, kinds.PrismaticZ, kinds.RevoluteY, kinds.RevoluteY],
            linkParents=[-1, 0, 0, 0], jointTransformations=exu.Matrix3DList([np.eye(3)] * 4),
            jointOffsets=exu.Vector3DList([[0, 0, 0], [0, 0, 0], [HALF_SPAN, 0, LENGTH], [-HALF_SPAN, 0, LENGTH]]),
            linkInertiasCOM=exu.Matrix3DList([box(slim, WIDTH, WIDTH, LENGTH), box(cube, CUBE, CUBE, CUBE), *rods]),
            linkCOMs=exu.Vector3DList([[0, 0, 0.5 * LENGTH], [0, 0, 0], *(list(reach * line) for line in lines)]),
            linkMasses=[slim, cube, mass, mass], gravity=[0.0, 0.0, -9.81], baseOffset=[0.0, 0.0, 0.0],
        )
    )  # fmt: skip
    for link, sign, line in ((2, 1.0, lines[0]), (3, -1.0, lines[1])):
        places = ((1, [sign * HALF_SPAN, 0.0, 0.0]), (link, list(0.5 * LENGTH * line)))
        pair = [
            system.AddMarker(items.MarkerKinematicTreeRigid(objectNumber=tree, linkNumber=number, localPosition=place))
            for number, place in places
        ]
        spring = {"referenceLength": 0.5, "stiffness": 8e5, "damping": 4e4}
        system.AddObject(items.ObjectConnectorSpringDamper(markerNumbers=pair, **spring))
    system.Assemble()
    took = solved(system, until, ticks)
    slid = system.GetNodeOutput(node, exu.OutputVariableType.Coordinates)[1]
    return np.array([0.0, 0.0, HEIGHT + slid]), took


def links(until: float, ticks: int) -> Ran:
    """The last end of a chain of 100."""
    peer = Exudyn(mechanism(chain(100)), until / ticks, implicit=True)
    took = solved(peer.system, until, ticks)
    x, up = peer.ends()[-1]
    return np.array([x, 0.0, up]), took


def bushed() -> Assembly:
    """Twenty bars in a row on a hinge, with stiff bushings between them."""
    model = Assembly(gravity=(0.0, -9.81, 0.0))
    for k in range(20):
        ports = {"a": (0.1 * k, 0.0, 0.0), "b": (0.1 * (k + 1), 0.0, 0.0)}
        model.add(f"bar{k}", RigidBody(mass=1.0, inertia=(1e-3,) * 3, centre=(0.1 * k + 0.05, 0.0, 0.0), ports=ports))
    model.join("hinge", Revolute(axis=(0, 0, 1)), "ground", "bar0.a")
    for k in range(1, 20):
        bush = Bushing(STIFFNESS, DAMPING, 0.05 * STIFFNESS, 0.05 * DAMPING)
        model.apply(f"bush{k}", bush, f"bar{k - 1}.b", f"bar{k}.a")
    return model


def bushings(until: float, ticks: int) -> Ran:
    """The last end of those bars."""
    exu, items = exudyn()
    container = exu.SystemContainer()
    system = container.AddSystem()
    held = system.AddMarker(
        items.MarkerBodyRigid(bodyNumber=system.AddObject(items.ObjectGround()), localPosition=[0.0] * 3)
    )
    turned = 0.05
    matrices = [np.diag([strong] * 3 + [turned * strong] * 3) for strong in (STIFFNESS, DAMPING)]
    body = -1
    for k in range(20):
        node = system.AddNode(
            items.NodeRigidBodyRotVecLG(referenceCoordinates=[0.1 * k + 0.05] + [0.0] * 5, initialVelocities=[0.0] * 6)
        )
        body = system.AddObject(
            items.ObjectRigidBody(mass=1.0, inertia=[1e-3, 1e-3, 1e-3, 0.0, 0.0, 0.0], nodeNumber=node)
        )
        weight = system.AddMarker(items.MarkerBodyMass(bodyNumber=body))
        system.AddLoad(items.LoadMassProportional(markerNumber=weight, loadVector=[0.0, -9.81, 0.0]))
        first = system.AddMarker(items.MarkerBodyRigid(bodyNumber=body, localPosition=[-0.05, 0.0, 0.0]))
        if k == 0:
            system.AddObject(items.ObjectJointGeneric(markerNumbers=[held, first], constrainedAxes=[1, 1, 1, 1, 1, 0]))
        else:
            system.AddObject(
                items.ObjectConnectorRigidBodySpringDamper(
                    markerNumbers=[held, first], stiffness=matrices[0], damping=matrices[1]
                )
            )
        held = system.AddMarker(items.MarkerBodyRigid(bodyNumber=body, localPosition=[0.05, 0.0, 0.0]))
    system.Assemble()
    took = solved(system, until, ticks)
    end = system.GetObjectOutputBody(body, exu.OutputVariableType.Position, [0.05, 0.0, 0.0])
    return np.asarray(end, float), took


# name: our model, the port that is looked at, how long it moves [s], Exudyn's, steps of a fine run, error [m]
RACES: dict[str, tuple[Callable[[], Assembly], str, float, Callable[[float, int], Ran], int, float]] = {
    "governor": (partial(scenarios.load, "flyball-governor"), "slider.middle", 10.0, governor, 20_000, 1e-3),
    "chain": (partial(chain, 100), "rod99.end", 0.5, links, 4_000, 1e-3),
    "bushings": (bushed, "bar19.b", 0.5, bushings, 8_000, 1e-5),
}


def steps_to(error: float, true: np.ndarray, start: int, go: Callable[[int], Ran]) -> tuple[int, float] | None:
    """The fewest steps, of a series in the ratio of 1.2, with which a run errs no more; and by how much."""
    ticks = start
    for _ in range(40):
        try:
            off = float(np.abs(go(ticks)[0] - true).max())
        except Exception as reason:  # a step that is too long stops it
            off = float("nan")
            print(f"    {ticks} steps: {str(reason)[:70]}", file=sys.stderr)
        if off <= error:
            return ticks, off
        ticks = int(1.2 * ticks) + 1
    return None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=RACES, help="one of them")
    parser.add_argument("--rounds", type=int, default=5, help="of timing, in turns")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    for name in [asked.only] if asked.only else RACES:
        make, port, until, peer, fine, error = RACES[name]
        model = make()
        true = ours(model, [port], until, Glued(), fine)[0]
        exact = peer(until, fine)[0]
        print(f"{name}: to {error:g} m of {until:g} s; Exudyn's fine run differs by {np.abs(exact - true).max():.1e} m")
        runners: dict[str, Callable[[int], Ran]] = {"Exudyn, generalized alpha": partial(peer, until)}
        runners |= {each: partial(ours, model, [port], until, coupling) for each, coupling in COUPLINGS.items()}
        tried = {each: steps_to(error, true, max(10, int(20 * until)), go) for each, go in runners.items()}
        found = {each: steps for each, steps in tried.items() if steps is not None}
        for each in (each for each in tried if each not in found):
            print(f"  {each:27} does not reach it")
        seconds: dict[str, list[float]] = {each: [] for each in found}
        for _ in range(asked.rounds):
            for each, (ticks, _) in found.items():
                seconds[each].append(runners[each](ticks)[1])
        base = seconds.get("Exudyn, generalized alpha")
        for each, (ticks, off) in found.items():
            taken = seconds[each]
            ratio = statistics.median(a / b for a, b in zip(taken, base, strict=True)) if base else float("nan")
            spent = 1e3 * statistics.median(taken)
            print(f"  {each:27} {ticks:6} steps, {off:.1e} m, {spent:7.1f} ms, {ratio:6.2f} times Exudyn's")
    return 0


if __name__ == "__main__":
    sys.exit(main())
