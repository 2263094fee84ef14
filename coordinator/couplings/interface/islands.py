"""How bodies that hang together in joints answer each other, for contacts that carry what rests on them or under them.

An impulse on body j calls for reactions, and they act at once on all that hangs together with it. Of its motions q = B^T p there
is left for body i

    T_ij q = (1 if i = j) q - G_i^T W^-1 G_j q,

with G_i what the joints see of body i, as in impact_responses.py, where i = j alone. A force at a tick changes places of the next
by dt^2 T of what it would without joints: half of that by closing places, half by stopping rates, both with the J of that tick. So
contacts that find what carries what rests reckon with T (components/forces/contact_carrying.py), and blows do that reach several
bodies. Solutions go over the joints of an island alone, and are asked for of bodies that are close to something.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from coordinator.couplings.interface.fields import (
    ONE,
    RIGHT,
    SIZE,
    matrix_of,
    numbers_at,
    whole_numbers_at,
)
from coordinator.couplings.interface.impact_responses import comes_near
from coordinator.couplings.interface.matrices import pass_on, take_back
from coordinator.couplings.interface.members import Members
from coordinator.couplings.interface.velocity_stage import enter_instant, leave_instant
from coordinator.system import System
from modular.elements import RIGID_BODY_MOTIONS, Array
from modular.force import NOBODY, HeldTogether
from modular.kernel import kernel
from modular.loop import NO_FAILED_ROW, loop
from modular.port import GROUND
from modular.views import View

# columns of the lists
BLOCKS, TOLD, COUNT, FIRST_SEAT, FIRST_JOINT, LAST_JOINT = range(6)  # of an island: where its blocks lie, …
FIRST_GRIP, LAST_GRIP, FIRST_FLAG, LAST_FLAG = range(4)  # of a seat
CLOSE, NEARING = range(2)  # of a contact at it: where it says that something is near
WHERE, RIGHT_OF, ROWS_OF = range(3)  # of a grip
BLOCK_BYTES = 8 * RIGID_BODY_MOTIONS * RIGID_BODY_MOTIONS

Side = tuple[Any, int, int]  # a stack of contacts, a row, a side
Row = tuple[int, ...]


def take_seats(system: System, members: Members, *, whole: bool) -> list[dict[Any, list[Side]]]:
    """Let bodies in joints sit in their islands, and tell contacts where; of each its bodies, with contacts at them."""
    found: list[dict[Any, list[Side]]] = []
    for stack, ranges in members.forces:
        if not isinstance(stack, HeldTogether):
            continue
        islands: dict[int, dict[int, tuple[Any, list[Side]]]] = {}
        for row in (row for first, last in ranges for row in _sitting(stack, first, last)):
            owners: Sequence[Any] = stack.body[row].tolist()
            names: Sequence[Any] = system.force_home[stack.names[row]].owners if whole else owners
            for side, (number, owner) in enumerate(zip(owners, names, strict=True)):
                if number != NOBODY and owner != GROUND and int(stack.island[row, side]) != number:
                    island = islands.setdefault(int(stack.island[row, side]), {})
                    island.setdefault(number, (owner, []))[1].append((stack, row, side))
        blocks, seats = 0, list[int]()
        for island in (islands[number] for number in sorted(islands)):
            sitting = {}
            for seat, number in enumerate(sorted(island)):
                owner, sides = island[number]
                sitting[owner] = sides = sorted(sides, key=_number)  # whatever rows they have
                for _, row, side in sides:
                    stack.seat[row, side], stack.seats[row, side] = seat, len(island)
                    stack.first_seat[row, side], stack.first_block[row, side] = len(seats), blocks
            found.append(sitting)
            seats += [int((stack.second if side else stack.first)[row]) for (_, row, side), *_ in sitting.values()]
            blocks += len(island) ** 2
        stack.lay_seats(seats, blocks)
    return found


def _sitting(stack: HeldTogether, first: int, last: int) -> list[int]:
    """Rows of which a body hangs in joints; none of these sits anywhere yet."""
    stack.seats[first:last] = 0
    body, island = stack.body[first:last], stack.island[first:last]
    found: list[int] = (first + np.flatnonzero(((body != NOBODY) & (island != body)).any(axis=1))).tolist()
    return found


def _number(side: Side) -> int:
    stack, row, _ = side
    return int(stack.number[row])


def lists_of_islands(
    islands: Sequence[Mapping[Any, Sequence[Side]]], grips: Mapping[Any, Sequence[Row]], owners: Sequence[Sequence[Any]],
    lists: dict[str, list[Row]],
) -> dict[Any, int]:  # fmt: skip
    """Write the lists of islands that take part; returned is where the block of each body with itself lies.

    `owners`: of each joint its bodies, in the order of elimination. `lists`: to which is added, by name.
    """
    own: dict[Any, int] = {}
    for island in islands:
        joints, first_seat = _joints_of(island, owners), len(lists["seats"])
        (stack, row, side), count = next(iter(island.values()))[0], len(island)
        blocks = stack.through.ctypes.data + BLOCK_BYTES * int(stack.first_block[row, side])
        told = stack.told.ctypes.data + stack.told.itemsize * int(stack.first_seat[row, side])
        for seat, (owner, sides) in enumerate(island.items()):
            grip, flag = len(lists["grips"]), len(lists["flags"])
            lists["grips"] += grips.get(owner, ())
            lists["flags"] += [(_at(stack.close, row), _at(stack.nearing, row)) for stack, row, _ in sides]
            lists["seats"].append((grip, len(lists["grips"]), flag, len(lists["flags"])))
            own[owner] = blocks + BLOCK_BYTES * (count + 1) * seat
        first = len(lists["island_joints"])
        lists["island_joints"] += [(k,) for k in joints]
        lists["islands"].append((blocks, told, count, first_seat, first, first + len(joints)))
    return own


def _at(column: Any, row: int) -> int:
    return int(column.ctypes.data + row * column.strides[0])


def _joints_of(bodies: Iterable[Any], owners: Sequence[Sequence[Any]]) -> list[int]:
    """All joints that hang together with some bodies, in the order of their elimination."""
    on: dict[Any, list[int]] = {}
    for k, pair in enumerate(owners):
        for owner in pair:
            if owner is not None:
                on.setdefault(owner, []).append(k)
    waiting, seen, found = list(bodies), set(bodies), set[int]()
    while waiting:
        for k in on.get(waiting.pop(), ()):
            found.add(k)
            fresh = [owner for owner in owners[k] if owner is not None and owner not in seen]
            seen.update(fresh)
            waiting += fresh
    return sorted(found)


@kernel
def is_close(interface: View, seat: int) -> bool:
    """Whether any contact at a body may carry something soon, or a blow is near."""
    for k in range(interface.seats[seat, FIRST_FLAG], interface.seats[seat, LAST_FLAG]):
        close, nearing = numbers_at(interface.flags[k, CLOSE]), numbers_at(interface.flags[k, NEARING])
        if close[0] != 0.0 or nearing[0] != 0.0:
            return True
    return False


@kernel
def solve_among(interface: View, work: Array, first: int, last: int) -> None:
    """W x = r in place, for joints that have nothing to do with any others."""
    for j in range(first, last):
        pass_on(interface, work, interface.right_side, ONE, interface.island_joints[j, 0])
    for back in range(last - first):
        take_back(interface, work, interface.right_side, interface.island_joints[last - 1 - back, 0])


@kernel
def push_at(interface: View, work: Array, island: int, seat: int, mode: int) -> None:
    """Reactions, on right-hand sides, of a motion that is brought to the body at a seat."""
    m, right = interface.motions, interface.right_side
    first, last = interface.islands[island, FIRST_JOINT], interface.islands[island, LAST_JOINT]
    for j in range(first, last):
        k = interface.island_joints[j, 0]
        for i in range(interface.joints[k, SIZE]):
            right[interface.joints[k, RIGHT] + i] = 0.0
    for j in range(interface.seats[seat, FIRST_GRIP], interface.seats[seat, LAST_GRIP]):
        seen, at = numbers_at(interface.grips[j, WHERE]), interface.grips[j, RIGHT_OF]
        for i in range(interface.grips[j, ROWS_OF]):
            right[at + i] += seen[m * i + mode]
    solve_among(interface, work, first, last)


@kernel
def respond_in_island(interface: View, work: Array, island: int) -> None:
    """All blocks between bodies of an island that are close to something."""
    m, right = interface.motions, interface.right_side
    count, first = interface.islands[island, COUNT], interface.islands[island, FIRST_SEAT]
    blocks, told = numbers_at(interface.islands[island, BLOCKS]), whole_numbers_at(interface.islands[island, TOLD])
    for b in range(count):
        told[b] = 1 if is_close(interface, first + b) else 0
    for b in range(count):
        for mode in range(RIGID_BODY_MOTIONS if told[b] == 1 else 0):
            push_at(interface, work, island, first + b, mode)
            for a in range(count):
                if told[a] == 0:
                    continue
                block = RIGID_BODY_MOTIONS * RIGID_BODY_MOTIONS * (count * a + b) + mode
                for c in range(RIGID_BODY_MOTIONS):
                    value = 1.0 if a == b and c == mode else 0.0
                    for j in range(interface.seats[first + a, FIRST_GRIP], interface.seats[first + a, LAST_GRIP]):
                        seen, at = numbers_at(interface.grips[j, WHERE]), interface.grips[j, RIGHT_OF]
                        for i in range(interface.grips[j, ROWS_OF]):
                            value -= seen[m * i + c] * right[at + i]
                    blocks[block + RIGID_BODY_MOTIONS * c] = value


@loop
def answer_through_joints_loop(start: int, stop: int, interface: View, elements: View) -> int:
    """How bodies of islands answer each other where they stand; dry friction holds what rests there, but no blow."""
    matrix, near = interface.matrix, False
    for k in range(interface.touching_count if interface.rubbing > 0 else 0):
        near = near or comes_near(interface, k)
    if near:
        enter_instant(interface, True)
        interface.matrix = matrix
    for island in range(interface.island_count):
        respond_in_island(interface, matrix_of(interface, matrix), island)
    if near:
        leave_instant(interface)
        interface.matrix = matrix
    return NO_FAILED_ROW


LOOPS = {"answer_through_joints": answer_through_joints_loop}
