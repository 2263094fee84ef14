"""Fair shares: bodies change hands where one worker has more to do than the others, which would wait for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from coordinator.distributed.workers.partition import partition
from coordinator.distributed.workers.worker_pool import WorkerInfo

if TYPE_CHECKING:
    import networkx as nx

IMBALANCE = 1.25  # times its share that the busiest may have
MIN_TICKS = 200  # ticks that must have been seen


def balanced_parts(graph: nx.Graph, workers: Sequence[WorkerInfo]) -> list[list[str]] | None:
    """Parts by what bodies have cost so far; None where shares are fair, or too little was seen."""
    pace = [one.working / one.ticks for one in workers if one.ticks >= MIN_TICKS and one.bodies]
    if len(pace) < len(workers) or len(pace) < 2 or max(pace) * len(pace) <= IMBALANCE * sum(pace):
        return None
    cost = {body: each / len(one.bodies) for one, each in zip(workers, pace, strict=True) for body in one.bodies}
    return partition(graph, len(workers), cost)
