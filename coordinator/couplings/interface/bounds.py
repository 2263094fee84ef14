"""How far the springs of a mixture, and the forces in it, are from their stability limits.

What acts between components counts with the whole tick; what acts inside one that takes several steps, with its own step.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from coordinator.couplings.implicit import IMPLICIT_MARGIN, least_margins, may_be_implicit
from coordinator.couplings.interface.members import Rows, all_rows
from coordinator.couplings.interface.mixture import Mixture
from coordinator.couplings.interface.projection import play
from coordinator.couplings.margins import Margins, stability_margins
from coordinator.engine.program import RangedOperation, compiled
from coordinator.engine.region import Region
from coordinator.system import System
from modular.elements import GAIN_STEP
from modular.force import requests_demand


def margins_of(mixture: Mixture, dt: float) -> Margins:
    """The factor by which the step could grow at this stiffness, of springs and forces that ask something of it."""
    return _margins(mixture.system, dt, mixture.asking, mixture.springs)


def margins_of_forces(system: System, dt: float, mixture: Mixture | None = None) -> Margins:
    """The same of forces, as if there were no joints: these are as stiff as forces leave them room."""
    everything = {1: [all_rows(stack) for stack in system.forces]}
    return _margins(system, dt, everything if mixture is None else mixture.asking, [])


def margins_of_forces_on(
    system: System, dt: float, touched: Sequence[str], mixture: Mixture | None
) -> Mapping[str, float]:
    """The same of those on some bodies, for what these and their neighbours cost; where some step oftener in a tick, of all."""
    if mixture is not None and max(mixture.plan.rates, default=1) > 1:
        return margins_of_forces(system, dt, mixture)
    elements = system.elements
    elements.prepare("respond")
    demands = elements.demand.copy()
    elements.demand[:] = 0.0
    Region.of(system, touched).play("show", lambda region: [(bodies, "show") for bodies in region.bodies])
    try:
        return stability_margins(system, dt, list(touched), glued=True)
    finally:
        elements.demand[:] = demands


def resolving_steps(system: System, dt: float) -> dict[str, float]:
    """The step [s] that every force which is found could be exerted with as it stands, as far as bodies may turn."""
    names, stacks = system.implicit_forces, may_be_implicit(system)
    saved = [forces.implicit.copy() for forces in stacks]
    for forces in stacks:
        forces.implicit[:] = 0
    try:
        margins = least_margins(system, margins_of_forces(system, dt), names)
    finally:
        for forces, implicit in zip(stacks, saved, strict=True):
            forces.implicit[:] = implicit
    return {name: dt * margins[name] / IMPLICIT_MARGIN for name in names}


def _margins(system: System, dt: float, asking: Mapping[int, Sequence[Rows]], springs: Sequence[Rows]) -> Margins:
    """`asking`: forces, by how often in a tick they act."""
    elements = system.elements
    elements.prepare("respond")
    bounds, demands = elements.bound.copy(), elements.demand.copy()  # of when the stiffness was chosen
    names: list[str] = []
    values: list[float] = []
    play(system, [(bodies, "show", None) for bodies in system.bodies])
    for steps, forces in asking.items():
        elements.clock[GAIN_STEP] = dt / steps
        with_springs = springs if steps == 1 else []
        operations: list[RangedOperation] = [(elements, "clear_demands", [(0, elements.count)])]
        operations += [
            (stack, verb, rows) for stack, rows in with_springs for verb in ("compute_demand", "request_demand")
        ]
        operations += [(stack, "request_demand", rows) for stack, rows in forces if requests_demand(stack)]
        system.respond()
        play(system, operations)
        system.bound_demands()
        for stack, rows in (*with_springs, *forces):
            if compiled((stack, "compute_margin")):
                play(system, [(stack, "compute_margin", rows)])
                for name, room in _rooms(stack, rows):
                    names.append(name)
                    values.append(room)
    elements.clock[GAIN_STEP], elements.bound[:], elements.demand[:] = dt, bounds, demands
    return Margins(names, values)


def _rooms(stack: Any, rows: Sequence[tuple[int, int]]) -> Iterator[tuple[str, float]]:
    found = ((name, float(stack.margin[row])) for name, row in stack.row.items())
    inside = {row for first, last in rows for row in range(first, last)}
    for name, room in found:
        if stack.row[name] in inside and room < float("inf"):
            yield name, room
