"""Who moves what: the joint graph cut into parts of equal cost with few joints across.

Bodies are put in a row along the graph, breadth first from one of its ends, and the row is cut where half of the cost lies
behind; then bodies at the cut change sides while that saves joints. In a net, where many joints close loops, other rows go
along its slowest waves, and the best cut is taken. The halves are cut again until there are enough. For a chain that gives its
links in order; the thesis leaves the question open.

Fair shares: bodies change hands where one worker has more to do than the others, which would wait for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import comb
from typing import TYPE_CHECKING

import numpy as np

from coordinator.distributed.workers.worker_pool import WorkerInfo
from modular.elements import Array
from modular.errors import ModelError
from modular.names import missing
from modular.port import GROUND

if TYPE_CHECKING:
    import networkx as nx

COST_TOLERANCE = 0.02  # of its cost that a part may have too much or too little for the sake of fewer joints across
MAX_WAVE_BODIES = 50_000  # bodies of a net whose slowest wave is looked for
TRIED_MIXTURES = 8  # of the two slowest waves
MIXTURE_ANGLES = 720  # angles among which the steepest mixture is looked for
REFINEMENT_PASSES = 8  # of bodies at a cut that may change sides


def partition(graph: nx.Graph, parts: int, cost: Mapping[str, float] | None = None) -> list[list[str]]:
    """Bodies of each part, in the order of the model; `cost` per body, 1 unless said otherwise."""
    names = [name for name in graph if name != GROUND]
    if parts < 1 or parts > len(names):
        raise ModelError(f"workers = {parts}; give a whole number from 1 to {len(names)}, the number of bodies.")
    number = {name: k for k, name in enumerate(names)}
    near: list[list[int]] = [[] for _ in names]
    for a, b in graph.edges():
        if GROUND not in (a, b) and a != b:
            near[number[a]].append(number[b])
            near[number[b]].append(number[a])
    weight = [1.0 if cost is None else cost.get(name, 1.0) for name in names]
    found = _divide(list(range(len(names))), parts, near, weight)
    return [[names[k] for k in sorted(part)] for part in found]


def as_wanted(wanted: Mapping[str, Sequence[str]], bodies: Sequence[str]) -> dict[str, list[str]]:
    """A partition by hand: every body in exactly one part."""
    home: dict[str, str] = {}
    for worker, names in wanted.items():
        for name in names:
            if name not in bodies:
                raise ModelError(missing("body", name, bodies, f"workers: '{worker}'"))
            if name in home:
                raise ModelError(
                    f"workers: body '{name}' is assigned to '{home[name]}' and to '{worker}'; assign it to one."
                )
            home[name] = worker
    left = [name for name in bodies if name not in home]
    if left:
        raise ModelError(f"workers: no worker has {', '.join(map(repr, left[:5]))}; assign every body to a worker.")
    empty = [worker for worker, names in wanted.items() if not names]
    if empty:
        raise ModelError(f"workers: '{empty[0]}' has no bodies; give it some or leave it out.")
    return {worker: list(names) for worker, names in wanted.items()}


def _divide(members: list[int], parts: int, near: list[list[int]], weight: list[float]) -> list[list[int]]:
    if parts == 1:
        return [members]
    few = parts // 2
    first, second = _halve(members, few, parts - few, near, weight)
    return [*_divide(first, few, near, weight), *_divide(second, parts - few, near, weight)]


def _halve(
    members: list[int], few: int, many: int, near: list[list[int]], weight: list[float]
) -> tuple[list[int], list[int]]:
    """Two parts with costs as `few` to `many`, of at least as many bodies: the better of some, for nets."""
    found = [_cut(row, few, many, near, weight) for row in _rows(members, near)]
    return min(found, key=lambda halves: _across(halves[0], halves[1], near))


def _across(first: list[int], second: list[int], near: list[list[int]]) -> int:
    """Joints between two parts."""
    there = set(second)
    return sum(other in there for k in first for other in near[k])


def _rows(members: list[int], near: list[list[int]]) -> Iterator[list[int]]:
    """Bodies in rows along which they may be cut; one is enough where joints close few loops."""
    row = _in_a_row(members, near)
    yield row
    place = {k: i for i, k in enumerate(row)}
    edges = [(i, place[other]) for k, i in place.items() for other in near[k] if other in place]
    if len(edges) // 2 >= 1.2 * len(row) and 8 <= len(row) <= MAX_WAVE_BODIES:
        for wave in _slowest_waves(len(row), edges):
            yield [row[i] for i in np.argsort(wave, kind="stable").tolist()]


def _slowest_waves(count: int, edges: list[tuple[int, int]]) -> Iterator[Array]:
    """The slowest waves of a net of equal masses and springs (Fiedler 1973): a cut across one is short.

    Where a net is as wide as long two are equally slow, and so is any mixture of them: some are tried. Which two are found is
    an accident then, so mixtures are counted from the steepest one, which is no accident.
    """
    from scipy import sparse  # a fifth of a second, for those who have a net
    from scipy.sparse.linalg import eigsh

    first, second = np.array(edges).T
    links = sparse.csr_array((np.ones(len(edges)), (first, second)), shape=(count, count))
    laplacian = sparse.diags_array(links.sum(axis=1)) - links
    start = np.cos(np.pi * (np.arange(count) + 0.5) / count)  # the same at every call
    _, waves = eigsh(laplacian.tocsc(), k=3, sigma=-1e-3, v0=start)
    first, second = waves[:, 1], waves[:, 2]
    for angle in _steepest(first, second) + np.linspace(0.0, np.pi, TRIED_MIXTURES, endpoint=False):
        yield np.cos(angle) * first + np.sin(angle) * second


def _steepest(first: Array, second: Array) -> float:
    """The angle of the mixture whose bodies lie most at two levels: its fourth powers have the smallest sum."""
    powers = [first ** (4 - k) @ second**k for k in range(5)]
    angles = np.linspace(0.0, np.pi, MIXTURE_ANGLES, endpoint=False)
    sums = sum(comb(4, k) * power * np.cos(angles) ** (4 - k) * np.sin(angles) ** k for k, power in enumerate(powers))
    return float(angles[np.argmin(sums)])


def _cut(
    order: list[int], few: int, many: int, near: list[list[int]], weight: list[float]
) -> tuple[list[int], list[int]]:
    """A row cut where the costs behind and before are as `few` to `many`, and what can be mended at the cut."""
    total = sum(weight[k] for k in order)
    wanted, spent, at = total * few / (few + many), 0.0, 0
    while at < len(order) - many and (at < few or spent + 0.5 * weight[order[at]] <= wanted):
        spent += weight[order[at]]
        at += 1
    side = {k: place >= at for place, k in enumerate(order)}
    _improve(side, [at, len(order) - at], [few, many], spent, wanted, COST_TOLERANCE * total, near, weight)
    return [k for k in order if not side[k]], [k for k in order if side[k]]


def _in_a_row(members: list[int], near: list[list[int]]) -> list[int]:
    """Breadth first from a far end, one connected piece after the other."""
    mine, row = set(members), []
    for start in members:
        if start in mine:
            piece = _breadth_first(start, mine, near)
            piece = _breadth_first(piece[-1], mine, near)
            row += piece
            mine -= set(piece)
    return row


def _breadth_first(start: int, among: set[int], near: list[list[int]]) -> list[int]:
    row, seen = [start], {start}
    for k in row:
        for other in near[k]:
            if other in among and other not in seen:
                seen.add(other)
                row.append(other)
    return row


def _improve(
    side: dict[int, bool],
    sizes: list[int],
    least: list[int],
    spent: float,
    wanted: float,
    slack: float,
    near: list[list[int]],
    weight: list[float],
) -> None:
    """Let bodies change sides while that saves joints across and costs no balance to speak of."""
    for _ in range(REFINEMENT_PASSES):
        moved = False
        for k, there in side.items():
            mates = [side[other] for other in near[k] if other in side]
            saved = sum(1 if mate != there else -1 for mate in mates)
            after = spent + (weight[k] if there else -weight[k])
            if saved > 0 and sizes[there] > least[there] and abs(after - wanted) <= max(slack, abs(spent - wanted)):
                side[k], spent, moved = not there, after, True
                sizes[there] -= 1
                sizes[not there] += 1
        if not moved:
            return


IMBALANCE = 1.25  # times its share that the busiest may have
MIN_TICKS = 200  # ticks that must have been seen


def balanced_parts(graph: nx.Graph, workers: Sequence[WorkerInfo]) -> list[list[str]] | None:
    """Parts by what bodies have cost so far; None where shares are fair, or too little was seen."""
    pace = [one.working / one.ticks for one in workers if one.ticks >= MIN_TICKS and one.bodies]
    if len(pace) < len(workers) or len(pace) < 2 or max(pace) * len(pace) <= IMBALANCE * sum(pace):
        return None
    cost = {body: each / len(one.bodies) for one, each in zip(workers, pace, strict=True) for body in one.bodies}
    return partition(graph, len(workers), cost)
