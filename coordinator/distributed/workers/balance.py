"""Fair shares: bodies change hands where one worker has more to do than the others, which would wait for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from coordinator.distributed.workers.partition import partition
from coordinator.distributed.workers.team import Member

if TYPE_CHECKING:
    import networkx as nx

UNFAIR = 1.25  # times its share that the busiest may have
ENOUGH = 200  # ticks that must have been seen


def fair_shares(graph: nx.Graph, members: Sequence[Member]) -> list[list[str]] | None:
    """Parts by what bodies have cost so far; None where shares are fair, or too little was seen."""
    pace = [one.working / one.ticks for one in members if one.ticks >= ENOUGH and one.bodies]
    if len(pace) < len(members) or len(pace) < 2 or max(pace) * len(pace) <= UNFAIR * sum(pace):
        return None
    cost = {body: each / len(one.bodies) for one, each in zip(members, pace, strict=True) for body in one.bodies}
    return partition(graph, len(members), cost)
