"""Who takes part in an interface: the joints that it closes, the bodies that it moves, and the forces that act among them.

Who takes part in an interface: all joints of the whole, wherever they are moved.

Where one process moves everything, a joint is a row of its stack. A worker moves a part: the joints on its bodies and those that go
across any border are rows of its own stacks; of all others it has what they show to the interface, and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from coordinator.engine.program import Ranges
from coordinator.system import System
from modular.elements import Array, Indices
from modular.forces import ForceStack
from modular.port import GROUND
from modular.table import Table

if TYPE_CHECKING:
    from coordinator.couplings.interface.found_forces import FoundForces

Rows = tuple[Any, Ranges]  # a stack, and ranges of its rows


@dataclass(frozen=True)
class Members:
    """Stacks with the rows that take part, and elements as ranges of rows."""

    joints: list[str]
    stacks: list[Rows]  # of these joints
    bodies: list[Rows]
    forces: list[Rows]
    elements: Ranges  # of these joints and forces
    loaded_elements: list[int] = field(default_factory=list)  # elements of these bodies on which others exert something
    steps: int = 1  # in a tick
    # joints and forces that are asked between, others being extrapolated
    reaching: list[Rows] = field(default_factory=list)
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


VECTORS = ("error", "rate", "effort", "carried", "closed", "kicked")  # of a joint: a number for each row
MATRICES = (
    "seen_first",
    "seen_second",
    "ahead_first",
    "ahead_second",
)  # for each row as many numbers as bodies have motions
COUNTER_COUNT = 4  # numbers behind those of the joints: what the interface has counted
NOBODY, FOUND = -1, -2  # in place of the number of a stack: joints that are moved elsewhere; forces that are rows
ROUNDS_PER_STAGE = 3  # of a stage, more or less


@dataclass(slots=True)
class InterfaceJoint:
    """A joint at the interface."""

    name: str
    owners: Sequence[Any]  # its bodies; None for the ground
    rows: int
    translations: int
    glides: bool  # whether it locks velocities alone
    at: Callable[[str], int]  # where its numbers lie, by the name of their column
    repeated: int  # rows that repeat what others of them say
    index: int  # its place among all joints of the whole
    across: bool = False  # whether it goes across a border, where those who are apart have only joints of their own
    compliant: bool = False  # whether it is a force, with compliance
    friction: int = 0  # where what is known of it lies, if it is dry friction (modular/friction_rows.py)
    degrees: Sequence[int] | None = None  # how many joints its bodies hold, where others than those at hand count


def interface_joints_of(system: System, names: Iterable[str] | None = None) -> list[InterfaceJoint]:
    """Of joints of a system, of all of them in the order in which they were made."""
    found = []
    for index, name in enumerate(system.joint_home if names is None else names):
        home = system.joint_home[name]
        form, owners = home.stack.form, [None if owner == GROUND else owner for owner in home.owners]
        at = in_stack(home.stack, home.stack.row[home.name])
        repeated = form.rows - form.locks
        found.append(
            InterfaceJoint(home.name, owners, form.rows, form.translations, not form.holonomic, at, repeated, index)
        )
    return found


def in_stack(stack: Any, row: int) -> Callable[[str], int]:
    """Where the numbers of a row lie, by the name of their column."""

    def at(column: str) -> int:
        array = getattr(stack, column)
        return int(array.ctypes.data + row * array.strides[0])

    return at


class RemoteJoints(Table):
    """What joints that are moved elsewhere show here, one after the other, and what the interface has counted."""

    numbers: Array

    def __init__(self, count: int) -> None:
        super().__init__(count)
        self.column("numbers")

    @property
    def row_numbers(self) -> Array:
        """Numbers that end with what forces that are rows know from step to step."""
        return self.numbers[: self.count - COUNTER_COUNT]

    @property
    def counter_values(self) -> Array:
        """Rounds, local iterations, the most that was left open, and parts of ticks in which bodies turned too far."""
        found: Array = self.numbers[-COUNTER_COUNT:]
        return found


def numbers_of(rows: int, motions: int) -> int:
    """How many numbers a joint shows."""
    return (len(VECTORS) + motions * len(MATRICES)) * rows


def span(column: str, rows: int, motions: int) -> tuple[int, int]:
    """Where among the numbers of a joint those of a column begin, and how many they are."""
    if column in VECTORS:
        return rows * VECTORS.index(column), rows
    return rows * (len(VECTORS) + motions * MATRICES.index(column)), motions * rows


class InterfaceJoints(Table):
    """All joints of the whole as a part knows them, one row each, in the order in which they were made."""

    constant = (
        "stack", "place", "rows", "translations", "glides", "repeated", "first_body", "second_body", "first_part", "second_part",
        "first_degree", "second_degree", "sender",
    )  # fmt: skip
    stack: Indices  # which of the stacks of joints here has it, or NOBODY
    place: Indices  # its row there, or where its numbers begin in `Elsewhere`
    rows: Indices
    translations: Indices
    glides: Indices
    repeated: Indices
    first_body: Indices  # numbers of bodies in the whole, or NOBODY for the ground
    second_body: Indices
    first_part: Indices  # who moves them
    second_part: Indices
    first_degree: Indices  # how many joints they hold
    second_degree: Indices
    sender: Indices  # the worker that sends it to the others; NOBODY where all work it out themselves

    def __init__(self, count: int, settings: Mapping[str, Any]) -> None:
        """`settings`: `me`, the `stages` of a step, a `local` method, `watched` elements, and whether any is watched `anywhere`.

        `apart`: nobody knows more of the joints of others than what all add up to.
        """
        super().__init__(count)
        for name in self.constant:
            self.column(name, dtype=np.int64)
        self.settings = dict(settings)

    def details(self) -> dict[str, Any]:
        """The settings."""
        return dict(self.settings)

    def recall(self, details: Mapping[str, Any]) -> None:
        """Keep them again."""
        self.settings = dict(details)

    def resolve(self, system: System, remote: RemoteJoints, found_forces: FoundForces) -> list[InterfaceJoint]:
        """The joints of a part, where they lie here; forces that are rows every part has."""
        stacks, apart = list(system.joints), self.apart
        found = []
        for k in range(self.count):
            owners = [None if body == NOBODY else int(body) for body in (self.first_body[k], self.second_body[k])]
            which, place, rows = int(self.stack[k]), int(self.place[k]), int(self.rows[k])
            here = which != NOBODY
            if apart and not here:
                continue
            motions = system.elements.motions
            if which == FOUND:
                joint = found_forces.joint(place, owners, k)
            else:
                at = in_stack(stacks[which], place) if here else _in_row(remote, place, rows, motions)
                name = stacks[which].names[place] if here else "a joint elsewhere"
                joint = InterfaceJoint(
                    name, owners, rows, int(self.translations[k]), bool(self.glides[k]), at, int(self.repeated[k]), k
                )
            if apart:
                joint.across, joint.degrees = (
                    bool(self.sender[k] == NOBODY),
                    (self.first_degree[k], self.second_degree[k]),
                )
            found.append(joint)
        return found

    @property
    def apart(self) -> bool:
        """Whether a part has joints of its own and at its borders alone."""
        return bool(self.settings["apart"])

    def indices(self, who: int) -> list[int]:
        """Which joints a worker tells of."""
        found: list[int] = np.flatnonzero(self.sender == who).tolist()
        return found

    def sent_per_tick(self, elements: int, dimension: int, motions: int) -> int:
        """Bytes that a worker who shows so many elements says to each of the others in a tick, roughly."""
        mine = self.indices(self.settings["me"])
        rows = 0 if self.apart else int(self.rows[mine].sum())
        moved, answered = 2 * dimension * elements + rows, motions * dimension * elements + 2 * motions * rows
        numbers = 2 * ROUNDS_PER_STAGE * moved + 2 * answered
        if self.apart:
            passed_on = 2 * len(mine) + motions * len(self.at_borders(self.settings["me"]))
            numbers += ROUNDS_PER_STAGE * min(self.settings["local"][1], self.count) * passed_on
        return 8 * len(self.settings["stages"]) * numbers

    def at_borders(self, who: int) -> list[int]:
        """Bodies of a worker that joints across hold, by their numbers in the whole."""
        found: dict[int, None] = {}
        for k in self.indices(NOBODY):
            for body, part in ((self.first_body[k], self.first_part[k]), (self.second_body[k], self.second_part[k])):
                if part == who:
                    found[int(body)] = None
        return list(found)


def _in_row(remote: RemoteJoints, place: int, rows: int, motions: int) -> Callable[[str], int]:
    def at(column: str) -> int:
        return int(remote.numbers.ctypes.data + 8 * (place + span(column, rows, motions)[0]))

    return at
