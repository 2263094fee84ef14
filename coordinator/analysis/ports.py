"""Ports of a model that stands somewhere: where they are, and how they go along with its coordinates.

A model in some poses as a run, so that whoever draws or films runs draws these as well: nothing moves, nothing is exerted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

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


States = Mapping[str, tuple[Array, slice]]  # of each body its coordinates, and which they are among all


def states_of(equations: Equations, q: Array) -> dict[str, tuple[Array, slice]]:
    """Coordinates of every body, as it knows them, and which they are among all."""
    found = {}
    for stack in equations.stacks:
        shape = stack.state()["q"].shape[1:]
        for name in stack.row:
            own = equations.columns[name]
            found[name] = q[own].reshape(shape), own
    return found


def whole(states: States) -> Array:
    """All coordinates in one row."""
    found = np.zeros(max((own.stop for _, own in states.values()), default=0))
    for q, own in states.values():
        found[own] = q.ravel()
    return found


def port_places(model: Assembly, states: States) -> dict[str, Array]:
    """Where every port is [m], "body.port" -> (d,)."""
    found = {}
    for name, (q, _) in states.items():
        body, place, still = model.bodies[name], q[None], 0.0 * q[None]
        for port in body.port_names:
            found[f"{name}.{port}"] = np.asarray(body.port_motion(port, place, still, still)[0][0])
    return found


def port_velocities(model: Assembly, states: States, velocities: Any) -> dict[str, Any]:
    """How every port goes with velocities of all coordinates, by columns: "body.port" -> (columns, d); complex where these are."""
    if np.iscomplexobj(velocities):
        real, imaginary = (port_velocities(model, states, part) for part in (velocities.real, velocities.imag))
        return {port: part + 1j * imaginary[port] for port, part in real.items()}
    found = {}
    for name, (q, own) in states.items():
        body, v = model.bodies[name], velocities[own].T.reshape(-1, *q.shape)
        place = np.broadcast_to(q, v.shape)
        for port in body.port_names:
            found[f"{name}.{port}"] = np.asarray(body.port_motion(port, place, v, 0.0 * v)[1])
    return found


def stacked(ports: Mapping[str, Any]) -> Any:
    """Arrays of all ports as one, (..., ports, d)."""
    return np.stack(list(ports.values()), axis=-2)
