"""Exudyn: its spring-damper joints with an explicit integrator, the like-for-like peer, on the hanging chain.

Rigid bodies on Lie-group nodes (planar ones on planar nodes), Cartesian spring-dampers as joints, velocity Verlet, inverse
mass matrices per body, the fast module without range checks: what its documentation recommends for speed. Its springs are
nearly as stiff as the step allows, which makes it as exact as it can be. With `implicit` the joints are constraints and the
integrator is generalized alpha.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from modular.elements import Array
from scenarios.bench.figures import Target
from scenarios.bench.models import chain, planar_chain
from scenarios.bench.peers.mechanism import Link, Mechanism
from scenarios.bench.peers.peer import Peer, bring
from scenarios.bench.peers.race import race
from scenarios.bench.suite import Case, MeasuringEffort

NAME = "exudyn"
GAIN = Target(4.0, at_least=True)
STIFFNESS_SHARE = 0.8  # of the stiffness that is surely stable: near its best, and still stable in every case here


def cases(effort: MeasuringEffort) -> list[Case]:
    """Chains in space, which have a target, and in the plane."""
    spatial = [
        race(NAME, "spatial chain, explicit penalty", chain, Exudyn, bodies, GAIN)
        for bodies in effort.choose((10, 100), (10, 100, 1000, 10_000))
    ]
    planar = [
        race(NAME, "planar chain, explicit penalty", planar_chain, Exudyn, bodies)
        for bodies in effort.choose((10,), (10, 1000))
    ]
    return [*spatial, *planar]


class Exudyn(Peer):
    """A mechanism in Exudyn."""

    def __init__(
        self, mechanism: Mechanism, dt: float, *, implicit: bool = False, share: float = STIFFNESS_SHARE
    ) -> None:
        self.exu, self.items = exudyn()
        self.dt, self.implicit, self.mechanism = dt, implicit, mechanism
        self.container: Any = self.exu.SystemContainer()
        self.system: Any = self.container.AddSystem()
        self.stiffness = mechanism.stiffness(dt, share)
        ground = self.system.AddObject(self.items.ObjectGround())
        x, up = mechanism.links[0].start
        held = self._marker(ground, self._place(x, up))
        self.bodies = []
        for link in mechanism.links:
            body = self._rod(link)
            self._hold(held, self._marker(body, (-link.centre, 0.0, 0.0)))
            held = self._marker(body, (link.length - link.centre, 0.0, 0.0))
            self.bodies.append(body)
        if mechanism.slide:
            self._hold(self._marker(ground, (0.0, 0.0, 0.0)), held, free=0)
        self.system.Assemble()

    def run(self, ticks: int) -> None:
        """From the start, so many steps."""
        kinds = self.exu.DynamicSolverType
        kind = kinds.GeneralizedAlpha if self.implicit else kinds.VelocityVerlet
        try:
            self.system.SolveDynamic(self._settings(ticks), solverType=kind)
        except Exception as error:  # it has error classes of its own
            raise ArithmeticError(f"Exudyn gave up at Δt = {self.dt:g} s: {str(error).strip()[:200]}") from None

    def ends(self) -> Array:
        """Where the ends of all rods are."""
        kind = self.exu.OutputVariableType.Position
        found = [
            self.system.GetObjectOutputBody(body, kind, [link.length - link.centre, 0.0, 0.0])
            for body, link in zip(self.bodies, self.mechanism.links, strict=True)
        ]
        up = 2 if self.mechanism.spatial else 1
        return np.asarray(found, float)[:, [0, up]]

    # --- building ------------------------------------------------------------------------------------------------

    def _place(self, x: float, up: float) -> tuple[float, float, float]:
        return (x, 0.0, up) if self.mechanism.spatial else (x, up, 0.0)

    def _marker(self, body: Any, place: tuple[float, float, float]) -> Any:
        return self.system.AddMarker(self.items.MarkerBodyPosition(bodyNumber=body, localPosition=list(place)))

    def _rod(self, link: Link) -> Any:
        items = self.items
        share = link.centre / link.length
        x, up = (a + share * (b - a) for a, b in zip(link.start, link.end, strict=True))
        if self.mechanism.spatial:  # a turn from x towards z is one about -y
            node = items.NodeRigidBodyRotVecLG(
                referenceCoordinates=[x, 0.0, up, 0.0, -link.angle, 0.0], initialVelocities=[0.0] * 6
            )
            inertia: Any = [link.axial, link.inertia, link.inertia, 0.0, 0.0, 0.0]
            kind = items.ObjectRigidBody
        else:
            node = items.NodeRigidBody2D(referenceCoordinates=[x, up, link.angle])
            kind, inertia = items.ObjectRigidBody2D, link.inertia
        body = self.system.AddObject(kind(mass=link.mass, inertia=inertia, nodeNumber=self.system.AddNode(node)))
        marker = self.system.AddMarker(items.MarkerBodyMass(bodyNumber=body))
        weight = list(self._place(0.0, -self.mechanism.gravity))
        self.system.AddLoad(items.LoadMassProportional(markerNumber=marker, loadVector=weight))
        return body

    def _hold(self, first: Any, second: Any, free: int | None = None) -> None:
        """Hold two markers together, but for one free axis."""
        axes = [0.0 if axis == free else 1.0 for axis in range(3)]
        pair = [first, second]
        if self.implicit:
            held = [int(axis != free and (self.mechanism.spatial or axis < 2)) for axis in range(3)]
            self.system.AddObject(self.items.ObjectJointSpherical(markerNumbers=pair, constrainedAxes=held))
            return
        springs = [self.stiffness * axis for axis in axes]
        self.system.AddObject(
            self.items.ObjectConnectorCartesianSpringDamper(markerNumbers=pair, stiffness=springs, damping=[0.0] * 3)
        )

    def _settings(self, ticks: int) -> Any:
        settings = self.exu.SimulationSettings()
        settings.solution.file.write = settings.solution.sensors.active = False
        settings.show.statistics = settings.show.computationTime = settings.show.globalTimers = False
        settings.linearSolver.solverType = self.exu.LinearSolverType.EigenSparse
        settings.parallel.numberOfThreads = 1
        time = settings.timeIntegration
        time.numberOfSteps, time.endTime = ticks, ticks * self.dt
        time.automaticStepSize = time.adaptiveStep = False
        time.verboseMode = 0
        time.explicit.computeEndOfStepAccelerations = False
        time.explicit.computeMassMatrixInversePerBody = True
        return settings


def exudyn() -> tuple[Any, Any]:
    """The module and its items, the fast build where nobody has loaded the other one already."""
    if "exudyn" not in sys.modules:
        sys.exudynFast = True  # type: ignore[attr-defined]  # read when it is imported first
    exu = bring("exudyn", "'modular-multibody[peers]'")
    items = bring("exudyn.itemInterface", "'modular-multibody[peers]'")
    bring("exudyn.solver", "'modular-multibody[peers]'")  # gives systems their SolveDynamic
    exu.config.printToConsole = False
    return exu, items
