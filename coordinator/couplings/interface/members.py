"""Who takes part in an interface: the joints that it closes, the bodies that it moves, and the forces that act among them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from coordinator.engine.program import Ranges
from coordinator.system import System
from modular.forces import ForceStack

Rows = tuple[Any, Ranges]  # a stack, and ranges of its rows


@dataclass(frozen=True)
class Members:
    """Stacks with the rows that take part, and elements as ranges of rows."""

    joints: list[str]
    stacks: list[Rows]  # of these joints
    bodies: list[Rows]
    forces: list[Rows]
    elements: Ranges  # of these joints and forces
    tolls: list[int] = field(default_factory=list)  # elements of these bodies on which others exert something
    steps: int = 1  # in a tick
    reaching: list[Rows] = field(
        default_factory=list
    )  # joints and forces that are asked between, others being extrapolated
    others: list[int] = field(default_factory=list)  # elements on their other sides

    @classmethod
    def everyone(cls, system: System) -> Members:
        """All that there is."""
        return cls(
            joints=list(system.joint_home),
            stacks=[all_rows(stack) for stack in system.joints],
            bodies=[all_rows(stack) for stack in system.bodies],
            forces=[all_rows(stack) for stack in system.forces],
            elements=[(0, system.elements.count)],
        )


def all_rows(stack: Any) -> Rows:
    """A stack with all its rows."""
    return stack, [(0, getattr(stack, "count", len(stack.names)))]


def rows_of(stacks: Iterable[Any], names: Iterable[str]) -> list[Rows]:
    """Those of some stacks that have the names, in the order of the stacks."""
    wanted = set(names)
    found = [(stack, sorted(row for name, row in stack.row.items() if name in wanted)) for stack in stacks]
    return [(stack, ranges_of(rows)) for stack, rows in found if rows]


def ranges_of(rows: Iterable[int]) -> Ranges:
    """Rising numbers as ranges: first, and beyond the last."""
    found: Ranges = []
    for row in rows:
        if found and found[-1][1] == row:
            found[-1] = found[-1][0], row + 1
        else:
            found.append((row, row + 1))
    return found


def without(rows: Ranges, others: Ranges) -> Ranges:
    """The rows of some ranges that are not in others."""
    left_out = {row for start, stop in others for row in range(start, stop)}
    return ranges_of(row for start, stop in rows for row in range(start, stop) if row not in left_out)


def is_row(forces: Any, row: int) -> bool:
    """Whether a force is a row of the interface."""
    return isinstance(forces, ForceStack) and forces.row_form is not None and bool(forces.implicit[row] == 1)


def watched(system: System, members: Members) -> list[int]:
    """Elements of forces that read velocities and are exerted."""
    reading = {
        name
        for forces, rows in members.forces
        for name in forces.read_velocity
        if any(first <= forces.row[name] < last for first, last in rows) and not is_row(forces, forces.row[name])
    }
    homes = [home for name, home in system.force_home.items() if name in reading]
    pairs = [pair for home in homes for pair in zip(home.starts, home.counts, strict=True)]
    return [start + k for start, count in pairs for k in range(count)]
