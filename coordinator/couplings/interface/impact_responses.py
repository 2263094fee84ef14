"""Bodies that are about to be struck answer as what holds them lets them: a blow on a rod that is hinged moves it about the hinge.

An impulse p on a body also calls for reactions, W x = G B^T p, and they act at once. So of its motions q = B^T p there is left

    T q = q - G_b^T W^-1 G_b q,

with G_b what its joints see of it; T is symmetric, and between 0 and 1. With T = L L^T, B L stands for the B of the elements
that are struck, and all that asks how they answer, W = B B^T, is told how they do in their joints. What the blow does to other
bodies is known of those in islands alone. That takes as many solutions as bodies have motions, so it is for those
that come near alone.

Bodies of islands (islands.py) answer so all along, from blocks that are there, with a share of T = 1 added unless a blow is
near: where joints hold a body altogether, friction would have nothing to reckon with.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import sqrt
from typing import Any

from coordinator.couplings.interface.fields import matrix_of, numbers_at
from coordinator.couplings.interface.matrices import solve
from coordinator.couplings.interface.members import Members
from coordinator.couplings.interface.velocity_stage import enter_instant, leave_instant
from coordinator.system import System
from modular.elements import RIGID_BODY_MOTIONS, Array
from modular.force import Strikes
from modular.kernel import kernel
from modular.loop import NO_FAILED_ROW, loop
from modular.port import GROUND
from modular.views import View

# a body, its first element, how many, and where it stands whether it comes near, and whether anything is close
Touching = tuple[Any, int, int, int, int]
Grip = tuple[int, int, int]  # where the G of a joint on a body lies, its place on right-hand sides, its rows
LEAST_PIVOT = 1e-12  # of T: what is less is rounding
SHARE_OF_FREE = 1e-3  # of how bodies answer without joints: what is added where no blow is near
# columns of the lists
ELEMENT, COUNT, NEARING, FIRST, LAST, CLOSE, OWN = range(7)
WHERE, RIGHT, ROWS = range(3)


def touching(system: System, members: Members, *, whole: bool) -> Iterator[Touching]:
    """Sides of forces that may strike; in a part of a system bodies are known by numbers."""
    for stack, ranges in members.forces:
        if not isinstance(stack, Strikes):
            continue
        for row in (row for first, last in ranges for row in range(first, last)):
            owners: Sequence[Any] = stack.body[row].tolist()
            if whole:
                owners = [None if owner == GROUND else owner for owner in system.force_home[stack.names[row]].owners]
            where, close = (
                column.ctypes.data + row * column.strides[0]
                for column in (stack.nearing, getattr(stack, "close", stack.nearing))
            )
            sides = ((stack.first, stack.first_side), (stack.second, stack.second_side))
            for owner, (starts, side) in zip(owners, sides, strict=True):
                yield owner, int(starts[row]), len(side), where, close


def write_touching(
    sides: Iterator[Touching], grips: Mapping[Any, Sequence[Grip]], own: Mapping[Any, int], lists: dict[str, list[tuple[int, ...]]]
) -> None:  # fmt: skip
    """Those whose bodies have joints, and what these joints see of them; `own`: where blocks lie of those in islands."""
    if not grips:
        return
    for owner, element, count, where, close in sides:
        held = grips.get(owner, ())
        if held:
            first = len(lists["grips"])
            lists["grips"] += held
            lists["touching"].append((element, count, where, first, first + len(held), close, own.get(owner, 0)))


@kernel
def see_motions(interface: View, k: int, motions: Array) -> None:
    """T of a body that is struck, row by row."""
    m, right, work = interface.motions, interface.right_side, matrix_of(interface, interface.matrix)
    first, last = interface.touching[k, FIRST], interface.touching[k, LAST]
    for a in range(m):
        for i in range(interface.row_count):
            right[i] = 0.0
        for j in range(first, last):
            seen, at = numbers_at(interface.grips[j, WHERE]), interface.grips[j, RIGHT]
            for i in range(interface.grips[j, ROWS]):
                right[at + i] += seen[m * i + a]
        solve(interface, work)
        for b in range(m):
            value = 1.0 if a == b else 0.0
            for j in range(first, last):
                seen, at = numbers_at(interface.grips[j, WHERE]), interface.grips[j, RIGHT]
                for i in range(interface.grips[j, ROWS]):
                    value -= seen[m * i + b] * right[at + i]
            motions[m * a + b] = value


@kernel
def use_block(interface: View, k: int, share: float, motions: Array) -> None:
    """The same of a body of an island, with a share of 1 added."""
    m, block = interface.motions, numbers_at(interface.touching[k, OWN])
    for a in range(m):
        for b in range(m):
            inside = a < RIGID_BODY_MOTIONS and b < RIGID_BODY_MOTIONS
            motions[m * a + b] = block[RIGID_BODY_MOTIONS * a + b] if inside else 0.0
        motions[m * a + a] += share


@kernel
def take_root(motions: Array, m: int) -> None:
    """L of L L^T, below the diagonal and on it."""
    for j in range(m):
        pivot = motions[m * j + j]
        for k in range(j):
            pivot -= motions[m * j + k] * motions[m * j + k]
        pivot = sqrt(pivot) if pivot > LEAST_PIVOT else 0.0
        motions[m * j + j] = pivot
        for i in range(j + 1, m):
            value = motions[m * i + j]
            for k in range(j):
                value -= motions[m * i + k] * motions[m * j + k]
            motions[m * i + j] = value / pivot if pivot > 0.0 else 0.0


@kernel
def comes_near(interface: View, k: int) -> bool:
    """Whether a blow is near."""
    found: bool = numbers_at(interface.touching[k, NEARING])[0] != 0.0
    return found


@loop
def see_through_joints_loop(start: int, stop: int, interface: View, elements: View) -> int:
    """Elements that are about to be struck answer as the joints of their bodies let them."""
    m, motions, row = interface.motions, interface.held_motions, interface.held_row
    near = False
    for k in range(interface.touching_count):
        near = near or comes_near(interface, k)
    matrix = interface.matrix
    if near:
        # stiff forces give way in an instant as soft ones do, and friction as if there were none
        enter_instant(interface, True)
        interface.matrix = matrix
    for k in range(interface.touching_count):
        if interface.touching[k, OWN] != 0:
            if not comes_near(interface, k) and numbers_at(interface.touching[k, CLOSE])[0] == 0.0:
                continue
            use_block(interface, k, 0.0 if comes_near(interface, k) else SHARE_OF_FREE, motions)
        elif comes_near(interface, k):
            see_motions(interface, k, motions)
        else:
            continue
        take_root(motions, m)
        for n in range(interface.touching[k, ELEMENT], interface.touching[k, ELEMENT] + interface.touching[k, COUNT]):
            for c in range(elements.response.shape[0]):
                for b in range(m):
                    row[b] = 0.0
                    for a in range(b, m):
                        row[b] += elements.response[n, c, a] * motions[m * a + b]
                for b in range(m):
                    elements.response[n, c, b] = row[b]
    if near:
        leave_instant(interface)
        interface.matrix = matrix
    return NO_FAILED_ROW


LOOPS = {"see_through_joints": see_through_joints_loop}
