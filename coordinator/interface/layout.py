"""The interface as lists of whole numbers: which blocks there are, where they lie, and what is multiplied with what.

Of two joints i and k that meet when k is eliminated, i later, there are two blocks of as many rows as i has and columns as k
has, one behind the other: W_ik and Y_ik = W_ik W_kk^-1; of V, which is not symmetric, Y_ik and V_ki.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from coordinator.interface.elimination import eliminate, neighbours_of
from coordinator.interface.kernels import LISTS
from coordinator.system import System
from modular.elements import Indices
from modular.joints import Joints
from modular.port import GROUND

Row = tuple[int, ...]
WHEN, SIDES = ("seen", "ahead"), ("first", "second")


@dataclass
class Layout:
    """Joints in the order of their elimination, and the lists that kernels follow."""

    names: list[str] = field(default_factory=list)
    joints: list[Row] = field(default_factory=list)
    products: list[Row] = field(default_factory=list)  # of which W consists
    ahead: list[Row] = field(default_factory=list)  # of which V does
    entries: list[Row] = field(default_factory=list)  # blocks beside the diagonal, joint by joint
    updates: list[Row] = field(default_factory=list)  # what eliminating a joint does to the blocks of later ones
    moves: list[Row] = field(default_factory=list)  # the same in V
    own: list[Row] = field(default_factory=list)  # of which the blocks on the diagonal consist
    holds: list[Row] = field(default_factory=list)  # both sides of every joint
    bodies: int = 0
    numbers: int = 0  # in all blocks
    rows: int = 0  # of all joints
    largest: int = 0  # rows of one joint

    def lists(self) -> dict[str, Indices]:
        """As arrays."""
        return {name: np.array(getattr(self, name), np.int64).reshape(-1, width) for name, width in LISTS.items()}


def lay_out(system: System, names: Iterable[str], *, local: bool = False) -> Layout:
    """Of some joints of a system, which are equipped for it; `local`: of neighbours alone, nobody is eliminated."""
    homes = [system.joint_home[name] for name in names]
    order: list[tuple[int, list[int]]] = [(joint, []) for joint in range(len(homes))]
    if not local:
        order = eliminate(neighbours_of([[owner for owner in home.owners if owner != GROUND] for home in homes]))
    place = {joint: k for k, (joint, _) in enumerate(order)}
    sizes = [homes[joint].stack.form.rows for joint, _ in order]
    starts = [0, *np.cumsum(sizes).tolist()]
    found = Layout(names=[homes[joint].name for joint, _ in order], rows=starts[-1], largest=max(sizes, default=0))
    later = [[place[other] for other in others] for _, others in order]
    diagonal: dict[int, int] = {}
    below: dict[tuple[int, int], int] = {}
    for k, size in enumerate(sizes):
        diagonal[k] = found.numbers
        found.numbers += size * size
        for i in later[k]:
            below[i, k] = found.numbers
            found.numbers += 2 * sizes[i] * size

    def second(i: int, k: int) -> int:
        return below[i, k] + sizes[i] * sizes[k]

    def block(i: int, j: int) -> int:
        """Of V, wherever it lies."""
        return diagonal[i] if i == j else below[i, j] if i > j else second(j, i)

    for k, (joint, _) in enumerate(order):
        stack, row = homes[joint].stack, homes[joint].stack.row[homes[joint].name]
        begin = [len(found.entries), len(found.updates), len(found.moves)]
        for x, i in enumerate(later[k]):
            found.entries.append((below[i, k], second(i, k), starts[i], sizes[i], 0))
            for j in later[k][: x + 1]:
                target = diagonal[i] if i == j else below[i, j]
                found.updates.append((target, second(i, k), below[j, k], sizes[i], sizes[j]))
            found.moves += [(block(i, j), below[i, k], second(j, k), sizes[i], sizes[j]) for j in later[k]]
        end = [len(found.entries), len(found.updates), len(found.moves)]
        columns = [_address(stack, name, row) for name in ("error", "rate", "effort", "carried", "closed", "kicked")]
        form = stack.form
        found.joints.append(
            (sizes[k], form.translations, int(not form.holonomic), starts[k], diagonal[k], *columns,
             *(number for pair in zip(begin, end, strict=True) for number in pair))
        )  # fmt: skip
    on_bodies = _on_bodies(homes, place)
    if local:
        _hold(found, on_bodies, diagonal, sizes)
        return found
    for members in on_bodies.values():
        for i, before, after in members:
            for j, other, _ in members:
                if i >= j:
                    found.products.append((block(i, j), before, other, sizes[i], sizes[j]))
                found.ahead.append((block(i, j), after, other, sizes[i], sizes[j]))
    return found


def _hold(
    found: Layout, on_bodies: dict[str, list[tuple[int, int, int]]], diagonal: dict[int, int], sizes: list[int]
) -> None:
    """Both sides of every joint, for those who talk to neighbours alone."""
    sides: list[list[Row]] = [[] for _ in sizes]
    for body, members in enumerate(on_bodies.values()):
        for k, g, _ in members:
            sides[k].append((g, body, len(members)))
            found.own.append((diagonal[k], g, g, sizes[k], sizes[k]))
    found.bodies = len(on_bodies)
    for held in sides:
        found.holds += [*held, *[(0, -1, 0)] * (2 - len(held))]


def _on_bodies(homes: list[Any], place: dict[int, int]) -> dict[str, list[tuple[int, int, int]]]:
    """Joints on every body, with where their G of that side lies before and after a drift."""
    found: dict[str, list[tuple[int, int, int]]] = {}
    for joint, home in enumerate(homes):
        for owner, side in zip(home.owners, SIDES, strict=True):
            if owner != GROUND:
                before, after = (_address(home.stack, f"{when}_{side}", home.stack.row[home.name]) for when in WHEN)
                found.setdefault(owner, []).append((place[joint], before, after))
    return found


def _address(stack: Joints, name: str, row: int) -> int:
    array = getattr(stack, name)
    return int(array.ctypes.data + row * array.strides[0])
