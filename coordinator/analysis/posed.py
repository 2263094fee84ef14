"""A model in some poses as a run, so that whoever draws or films runs draws these as well: nothing moves, nothing is exerted."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from coordinator.couplings.centralized.coupling import Centralized
from coordinator.couplings.centralized.equations import Equations
from coordinator.record.obstacles import PRESCRIBED
from coordinator.record.run import Run
from coordinator.simulation import Simulation
from modular.assembly import Assembly
from modular.elements import Array

CLOSED = 1e-9  # of the extent: what constraints may leave open in a pose that was put onto them
NEAR = 0.5  # of how far a pose is from the start: what is farther from where it was to be is shown as it was to be


def posed(model: Assembly, start: Array, poses: Iterable[Array], step: float, who: str) -> Run:
    """A sample each, `step` apart; poses are put onto the constraints where these are nearer than `start`."""
    still = model.copy()
    still.schedule = []
    for name in list(still.force_edges):
        still.remove(name)
    with Simulation(still, step, Centralized(), project_velocities=True) as simulation:
        equations: Equations = simulation.system.cache["equations"]
        equations.at(0.0)
        rest = np.zeros(equations.size)
        simulation.recorder.segments = []
        simulation.past.prescribed = True
        simulation.events.append({"tick": 0, "time": 0.0, "kind": PRESCRIBED, "name": who, "repeats": False})
        for tick, wanted in enumerate(poses):
            q = equations.project_position(wanted, rest)
            open_by = float(np.abs(equations.errors()).max(initial=0.0))
            if not (
                open_by <= CLOSED * equations.extent
                and float(np.abs(q - wanted).max(initial=0.0)) <= NEAR * float(np.abs(wanted - start).max(initial=0.0))
            ):
                q = wanted
            equations.go(q, rest)
            equations.write(a=rest)
            equations.exert_joints(np.full(equations.rows, np.nan))
            simulation.system.tick = tick
            simulation.recorder.record(simulation.system)
        return simulation.recorded
