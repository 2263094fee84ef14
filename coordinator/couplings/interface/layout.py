"""The interface as lists of whole numbers: which blocks there are, where they lie, and what is multiplied with what.

Of two joints i and k that meet when k is eliminated, i later, there are two blocks of as many rows as i has and columns as k
has, one behind the other: W_ik and Y_ik = W_ik W_kk^-1; of V, which is not symmetric, Y_ik and V_ki.

In which order joints are eliminated, so that few blocks fill: minimum degree on the graph of joints.

Two joints meet where they hold the same body; the ground does not count, for it never gives way. A chain fills nothing in
this order, a tree hardly anything.

W. F. Tinney, J. W. Walker, "Direct solutions of sparse network equations by optimally ordered triangular factorization",
Proc. IEEE 55 (1967) 1801-1809; A. George, J. W. H. Liu, SIAM Review 31 (1989) 1-19.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from coordinator.couplings.interface.fields import LISTS
from coordinator.couplings.interface.members import VECTORS, InterfaceJoint
from modular.elements import Indices


def neighbours_of(sides: Sequence[Sequence[str]]) -> list[set[int]]:
    """Which joints meet which; `sides`: the bodies that each of them holds, the ground left out."""
    found: list[set[int]] = [set() for _ in sides]
    on: dict[str, list[int]] = {}
    for joint, bodies in enumerate(sides):
        for body in bodies:
            on.setdefault(body, []).append(joint)
    for joints in on.values():
        for joint in joints:
            found[joint].update(joints)
    for joint, others in enumerate(found):
        others.discard(joint)
    return found


def eliminate(neighbours: Sequence[set[int]]) -> list[tuple[int, list[int]]]:
    """Joints in the order of their elimination, each with those that it meets then and that come later, in their order."""
    near = [set(others) for others in neighbours]
    heap = [(len(others), joint) for joint, others in enumerate(near)]
    heapq.heapify(heap)
    gone = [False] * len(near)
    order: list[tuple[int, set[int]]] = []
    while heap:
        degree, joint = heapq.heappop(heap)
        if gone[joint] or degree != len(near[joint]):
            continue  # it has another degree by now
        gone[joint] = True
        left = near[joint]
        order.append((joint, left))
        if len(left) == len(near) - len(order):  # all that are left meet each other from here on
            rest = sorted(left)
            order += [(one, set(rest[k + 1 :])) for k, one in enumerate(rest)]
            break
        for other in left:
            others = near[other]
            others |= left
            others -= {other, joint}
            heapq.heappush(heap, (len(others), other))
    place = {joint: k for k, (joint, _) in enumerate(order)}
    return [(joint, sorted(later, key=place.__getitem__)) for joint, later in order]


Row = tuple[int, ...]
COMPLIANT_COLUMNS = (
    "place_compliance",
    "rate_compliance",
    "gap_rate",
    "predicted_rate",
    "relaxation",
    "law",
)  # columns of stiff forces
SHARED_COLUMNS = 3  # of these: those of dry friction too
CONTACT_LISTS = ("touching", "grips", "islands", "seats", "flags", "island_joints")
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
    # elements that may be struck, bodies that are carried in islands, and what joints see of them (impact_responses.py, islands.py)
    of_contacts: dict[str, list[Row]] = field(default_factory=lambda: {name: [] for name in CONTACT_LISTS})
    owners: list[Sequence[Any]] = field(default_factory=list)  # bodies of joints
    # what joints see of every body that has some
    grips_of: dict[Any, list[tuple[int, int, int]]] = field(default_factory=dict)
    bodies: dict[Any, int] = field(default_factory=dict)  # numbers of those that talk to their neighbours alone
    numbers: int = 0  # in all blocks
    rows: int = 0  # of all joints
    largest: int = 0  # rows of one joint

    def lists(self) -> dict[str, Indices]:
        """As arrays."""
        rows = {name: self.of_contacts[name] if name in CONTACT_LISTS else getattr(self, name) for name in LISTS}
        return {name: np.array(rows[name], np.int64).reshape(-1, width) for name, width in LISTS.items()}


def lay_out(joints: Sequence[InterfaceJoint], *, local: bool = False) -> Layout:
    """Of joints that are equipped for it; `local`: of neighbours alone, nobody is eliminated."""
    order: list[tuple[int, list[int]]] = [(number, []) for number in range(len(joints))]
    if not local:
        order = eliminate(neighbours_of([[owner for owner in joint.owners if owner is not None] for joint in joints]))
    place = {number: k for k, (number, _) in enumerate(order)}
    sizes = [joints[number].rows for number, _ in order]
    starts = [0, *np.cumsum(sizes).tolist()]
    found = Layout(
        names=[joints[number].name for number, _ in order], owners=[joints[number].owners for number, _ in order],
        rows=starts[-1], largest=max(sizes, default=0),
    )  # fmt: skip
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

    for k, (number, _) in enumerate(order):
        joint = joints[number]
        begin = [len(found.entries), len(found.updates), len(found.moves)]
        for x, i in enumerate(later[k]):
            found.entries.append((below[i, k], second(i, k), starts[i], sizes[i], 0))
            for j in later[k][: x + 1]:
                target = diagonal[i] if i == j else below[i, j]
                found.updates.append((target, second(i, k), below[j, k], sizes[i], sizes[j]))
            found.moves += [(block(i, j), below[i, k], second(j, k), sizes[i], sizes[j]) for j in later[k]]
        end = [len(found.entries), len(found.updates), len(found.moves)]
        found.joints.append(
            (sizes[k], joint.translations, int(joint.glides), starts[k], diagonal[k], *map(joint.at, VECTORS),
             *(number for pair in zip(begin, end, strict=True) for number in pair), int(joint.across), joint.index,
             *(joint.at(name) if joint.compliant and not (joint.friction and column >= SHARED_COLUMNS) else 0
               for column, name in enumerate(COMPLIANT_COLUMNS)), joint.friction)
        )  # fmt: skip
    on_bodies = _on_bodies(joints, place)
    if local:
        _hold(found, on_bodies, diagonal, joints)
        return found
    for owner, members in on_bodies.items():
        found.grips_of[owner] = [(before, starts[i], sizes[i]) for i, before, _ in members]
        for i, before, after in members:
            for j, other, _ in members:
                if i >= j:
                    found.products.append((block(i, j), before, other, sizes[i], sizes[j]))
                found.ahead.append((block(i, j), after, other, sizes[i], sizes[j]))
    return found


def _hold(
    found: Layout,
    on_bodies: dict[Any, list[tuple[int, int, int]]],
    diagonal: dict[int, int],
    joints: Sequence[InterfaceJoint],
) -> None:
    """Both sides of every joint, first and second, for those who talk to neighbours alone."""
    found.bodies = {owner: body for body, owner in enumerate(on_bodies)}
    for k, joint in enumerate(joints):
        held: list[Row] = []
        for n, (owner, side) in enumerate(zip(joint.owners, SIDES, strict=True)):
            if owner is not None:
                g, count = (
                    joint.at(f"seen_{side}"),
                    len(on_bodies[owner]) if joint.degrees is None else joint.degrees[n],
                )
                held.append((g, found.bodies[owner], count))
                found.own.append((diagonal[k], g, g, joint.rows, joint.rows))
        found.holds += [*held, *[(0, -1, 0)] * (2 - len(held))]


def _on_bodies(joints: Sequence[InterfaceJoint], place: dict[int, int]) -> dict[Any, list[tuple[int, int, int]]]:
    """Joints on every body, with where their G of that side lies before and after a drift."""
    found: dict[Any, list[tuple[int, int, int]]] = {}
    for number, joint in enumerate(joints):
        for owner, side in zip(joint.owners, SIDES, strict=True):
            if owner is not None:
                before, after = (joint.at(f"{when}_{side}") for when in WHEN)
                found.setdefault(owner, []).append((place[number], before, after))
    return found
