"""How far the springs of a mixture, and the forces in it, are from their stability limits.

What acts between components counts with the whole tick; what acts inside one that takes several steps, with its own step.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from coordinator.couplings.interface.mixture import Mixture
from coordinator.couplings.interface.mixture_events import play
from coordinator.couplings.margins import Margins
from coordinator.engine.program import RangedOperation, compiled
from modular.elements import GAIN_STEP
from modular.force import requests_load
from modular.table import Table


def margins_of(mixture: Mixture, dt: float) -> Margins:
    """The factor by which the step could grow at this stiffness, of springs and forces that ask something of it."""
    system, elements = mixture.system, mixture.system.elements
    bounds = elements.bound.copy()  # of when the stiffness was chosen
    names: list[str] = []
    values: list[float] = []
    play(system, [(bodies, "show", None) for bodies in system.bodies])
    for steps, forces in mixture.asking.items():
        elements.clock[GAIN_STEP] = dt / steps
        springs = [share for share in mixture.springs if steps == 1]
        operations: list[RangedOperation] = [(elements, "clear_loads", [(0, elements.count)])]
        operations += [(stack, verb, rows) for stack, rows in springs for verb in ("compute_load", "request_load")]
        operations += [(stack, "request_load", rows) for stack, rows in forces if requests_load(stack)]
        system.respond()
        play(system, operations)
        system.bound_loads()
        for stack, rows in (*springs, *forces):
            if compiled((stack, "compute_margin")):
                play(system, [(stack, "compute_margin", rows)])
                for name, room in _rooms(stack, rows):
                    names.append(name)
                    values.append(room)
    elements.clock[GAIN_STEP], elements.bound[:] = dt, bounds
    return Margins(names, values)


def _rooms(stack: Table, rows: Sequence[tuple[int, int]]) -> Iterator[tuple[str, float]]:
    found = ((name, float(stack.margin[row])) for name, row in stack.row.items())  # type: ignore[attr-defined]
    inside = {row for first, last in rows for row in range(first, last)}
    for name, room in found:
        if stack.row[name] in inside and room < float("inf"):  # type: ignore[attr-defined]
            yield name, room
