"""In which order joints are eliminated, so that few blocks fill: minimum degree on the graph of joints.

Two joints meet where they hold the same body; the ground does not count, for it never gives way. A chain fills nothing in
this order, a tree hardly anything.

W. F. Tinney, J. W. Walker, "Direct solutions of sparse network equations by optimally ordered triangular factorization",
Proc. IEEE 55 (1967) 1801-1809; A. George, J. W. H. Liu, SIAM Review 31 (1989) 1-19.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence


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
