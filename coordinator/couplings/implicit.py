"""Which forces the step does not resolve: they are found together with the reactions of joints (modular/compliant.py)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from math import inf

from coordinator.system import System
from modular.forces import ForceStack

IMPLICIT_MARGIN = 1.5  # of a force: below it is found


def may_be_implicit(system: System) -> list[ForceStack]:
    """Stacks of forces whose rows may be."""
    found = [forces for forces in system.forces if isinstance(forces, ForceStack) and forces.row_form is not None]
    return [forces for forces in found if forces.count]


def names_of(system: System) -> set[str]:
    """Forces that may be."""
    return {
        name
        for forces in may_be_implicit(system)
        for name, row in forces.row.items()
        if forces.may_be_row(row, system.home(name).owners)
    }


def take_implicit(system: System, margins: Mapping[str, float], among: Collection[str] | None = None) -> bool:
    """Forces with too small a margin are found from here on, and stay so; whether there are new ones. `among`: of these alone."""
    found = [
        (forces, row)
        for forces in may_be_implicit(system)
        for name, row in forces.row.items()
        if (among is None or name in among)
        and margins.get(name, inf) < IMPLICIT_MARGIN
        and forces.may_be_row(row, system.home(name).owners)
    ]
    for forces, row in found:
        forces.implicit[row] = 1
    return bool(found)
