"""In which order the linearised equations of a whole system are eliminated, and where their blocks lie.

A node is a body with its own multipliers, or a joint. Bodies that have the fewest neighbours left go first, and a joint only after
the bodies that it holds: its rows then stand before a definite matrix, and no pivot is small but of rows that repeat others.

Of a node k and those that it meets and that come later, side by side, there are two panels of as many rows as k has: A_k,later and
the transpose of A_later,k.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass

SIZE, START, DIAGONAL, UPPER, LOWER, WIDTH, FIRST, LAST, COORDINATES, TARGETS = range(10)  # columns of the nodes
BEGIN, ROWS, OFFSET = range(3)  # columns of those that come later: in the vector, how many, in the panel
Place = tuple[int, int, int]  # of a block: its first number, from row to row, from column to column


def eliminate(neighbours: Sequence[set[int]], sizes: Sequence[int], bodies: int) -> list[tuple[int, list[int]]]:
    """Nodes in their order, each with those that it meets then and that come later; the first `bodies` of them are bodies."""
    near = [set(others) for others in neighbours]
    waiting = [0 if node < bodies else sum(other < bodies for other in others) for node, others in enumerate(near)]

    def cost(node: int) -> int:
        return sum(sizes[other] for other in near[node])

    heap = [(cost(node), node) for node in range(len(near)) if waiting[node] == 0]
    heapq.heapify(heap)
    gone: dict[int, set[int]] = {}
    while heap:
        most, node = heapq.heappop(heap)
        if node in gone or most != cost(node):
            continue  # it has others by now
        left = near[node]
        gone[node] = left
        for other in left:
            near[other] |= left
            near[other] -= {other, node}
        for other in left:
            if other >= bodies > node and other in neighbours[node]:
                waiting[other] -= 1
            if waiting[other] == 0:
                heapq.heappush(heap, (cost(other), other))
    place = {node: k for k, node in enumerate(gone)}
    return [(node, sorted(later, key=place.__getitem__)) for node, later in gone.items()]


@dataclass
class Layout:
    """Nodes in the order of their elimination, and where what lies."""

    nodes: list[tuple[int, ...]]
    later: list[tuple[int, int, int]]
    # for each node and each pair of later ones: the block that its elimination changes
    targets: list[tuple[int, int, int]]
    starts: list[int]  # of each node, as they were given: where it stands in the vector of unknowns
    blocks: dict[tuple[int, int], Place]
    numbers: int
    rows: int
    widest: int


def lay_out(sizes: Sequence[int], coordinates: Sequence[int], meetings: Sequence[Sequence[int]]) -> Layout:
    """Of nodes with so many rows, the first of which are coordinates; `meetings`: who is in one term together."""
    bodies = sum(count > 0 for count in coordinates)
    neighbours: list[set[int]] = [set() for _ in sizes]
    for together in meetings:
        for one in together:
            neighbours[one].update(other for other in together if other != one)
    order = eliminate(neighbours, sizes, bodies)
    found = Layout([], [], [], [0] * len(sizes), {}, 0, 0, 0)
    for node, _ in order:
        found.starts[node] = found.rows
        found.rows += sizes[node]
    for node, others in order:
        size, width = sizes[node], sum(sizes[other] for other in others)
        diagonal, upper = found.numbers, found.numbers + size * size
        lower = upper + size * width
        found.numbers = lower + size * width
        found.widest = max(found.widest, width)
        found.blocks[node, node] = (diagonal, size, 1)
        first, offset = len(found.later), 0
        for other in others:
            found.later.append((found.starts[other], sizes[other], offset))
            found.blocks[node, other] = (upper + offset, width, 1)
            found.blocks[other, node] = (lower + offset, 1, width)
            offset += sizes[other]
        found.nodes.append(
            (size, found.starts[node], diagonal, upper, lower, width, first, len(found.later), coordinates[node], 0)
        )
    for k, (_, others) in enumerate(order):
        found.nodes[k] = (*found.nodes[k][:TARGETS], len(found.targets))
        found.targets += [found.blocks[one, other] for one in others for other in others]
    return found
