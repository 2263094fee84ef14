"""Loops that cannot close for the lengths of their bodies alone, told before anything is searched.

Where all joints of a loop hold two points together, its bodies are the sides of a polygon, whose lengths do not change. It closes
if and only if no side is longer than all others together; else the longest less the sum of the others is what lacks.
"""

from __future__ import annotations

from collections import deque

import numpy as np

from coordinator.analysis.poses import Poses
from modular.elements import Array
from modular.port import GROUND

Bond = tuple[str, str, int, str, int]  # a joint; the body on either side, and the element of its point there
SURE = 1e-9  # of the extent: what lacks less may be rounding


def what_lacks(poses: Poses) -> tuple[list[str], float, str] | None:
    """Bodies of a loop that is too short, by how much [m], and a joint at which it stays open; none where none is known to be."""
    bonds = _bonds(poses)
    above = _tree(bonds)
    worst: tuple[list[str], float, str] | None = None
    for bond in bonds:
        if above.get(bond[1]) is bond or above.get(bond[3]) is bond or bond[1] == bond[3]:
            continue
        loop, lengths = _around(bond, above, poses)
        longest = max(lengths)
        lacks = longest - (sum(lengths) - longest)
        if lacks > SURE * poses.extent and (worst is None or lacks > worst[1]):
            worst = loop, lacks, bond[0]
    return worst


def _bonds(poses: Poses) -> list[Bond]:
    """Joints that hold two points together; what does not move is the ground."""
    found: list[Bond] = []
    for name, home in poses.system.joint_home.items():
        form = home.stack.form
        if form.coincident and form.holonomic:
            one, other = (owner if owner in poses.number else GROUND for owner in home.owners)
            found.append((name, one, int(home.starts[0]), other, int(home.starts[1])))
    return found


def _tree(bonds: list[Bond]) -> dict[str, Bond | None]:
    """By which joint each body hangs on what is nearer to the ground, or to the first of its part."""
    at: dict[str, list[Bond]] = {GROUND: []}
    for bond in bonds:
        for body in (bond[1], bond[3]):
            at.setdefault(body, []).append(bond)
    above: dict[str, Bond | None] = {}
    for root in at:
        if root in above:
            continue
        above[root] = None
        waiting = deque([root])
        while waiting:
            body = waiting.popleft()
            for bond in at[body]:
                other = bond[3] if bond[1] == body else bond[1]
                if other not in above:
                    above[other] = bond
                    waiting.append(other)
    return above


def _around(bond: Bond, above: dict[str, Bond | None], poses: Poses) -> tuple[list[str], list[float]]:
    """The bodies of the loop that a joint closes with the tree, and how far apart its two points are on each."""
    ways = [_up(body, above) for body in (bond[1], bond[3])]
    while len(ways[0]) > 1 and len(ways[1]) > 1 and ways[0][-2] == ways[1][-2]:
        ways[0].pop()
        ways[1].pop()
    loop = [*ways[0], *ways[1][-2::-1]]  # from one side of the joint up to where they meet, and down to the other
    joints = []
    for k in (0, 1):
        own = [above[body] for body in ways[k][:-1]]
        joints.append(own if k == 0 else own[::-1])
    chain = [bond, *joints[0], *joints[1], bond]
    lengths = []
    for k, body in enumerate(loop):
        ends = [_point(chain[k], body, poses), _point(chain[k + 1], body, poses)]
        lengths.append(float(np.linalg.norm(ends[0] - ends[1])))
    return loop, lengths


def _up(body: str, above: dict[str, Bond | None]) -> list[str]:
    """A body and all that it hangs on."""
    way = [body]
    while (bond := above[way[-1]]) is not None:
        way.append(bond[3] if bond[1] == way[-1] else bond[1])
    return way


def _point(bond: Bond | None, body: str, poses: Poses) -> Array:
    """Where a joint takes hold of a body, as both were written."""
    assert bond is not None
    return np.asarray(poses.first_positions[bond[2] if bond[1] == body else bond[4]])
