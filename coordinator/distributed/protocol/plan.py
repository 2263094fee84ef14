"""Who takes part in a run and who exchanges what with whom: the plan, and what others need to know of a worker."""

from __future__ import annotations

from dataclasses import dataclass

from coordinator.distributed.protocol.schema import U16, U32, Mark, Name, Step
from modular.errors import ModelError


@dataclass(frozen=True)
class Edge:
    """Two workers that exchange frames; workers are known by their numbers."""

    first: int
    second: int
    layout: int  # hash of what stands where in the numbers of a frame
    joints: int  # across the edge


@dataclass(frozen=True)
class Neighbour:
    """The other end of an edge, as a worker sees it."""

    name: Name
    number: U32
    layout: U32
    joints: U16


@dataclass(frozen=True)
class Member:
    """A worker that others may talk to: which incarnation of it, and where."""

    name: Name
    number: U32
    incarnation: U32
    address: Mark


@dataclass(frozen=True)
class CheckpointRef:
    """A checkpoint that a worker may start from. Step 0, incarnation 0 is the start of the run, which needs none."""

    step: Step
    incarnation: U32
    digest: Mark


START = CheckpointRef(0, 0, "")


@dataclass(frozen=True)
class Plan:
    """A run: its workers in the order of their numbers, the edges between them, and what is done about deaths."""

    run: int
    names: tuple[str, ...]
    edges: tuple[Edge, ...]
    every: int  # steps between two checkpoints of a worker
    deaths: int  # of one worker without a new checkpoint, until the run is stopped

    def __post_init__(self) -> None:
        names = self.names
        if not names or len(set(names)) != len(names):
            raise ModelError(f"workers {', '.join(names) or '(none)'}: give at least one, each with its own name.")
        if self.every < 1 or self.deaths < 1:
            raise ModelError(f"every {self.every} and deaths {self.deaths}: both are at least 1.")
        seen: set[tuple[int, int]] = set()
        for edge in self.edges:
            low, high = pair = (min(edge.first, edge.second), max(edge.first, edge.second))
            if low == high or high >= len(names):
                raise ModelError(
                    f"edge {edge.first}-{edge.second} does not join two of the {len(names)} workers: {', '.join(names[:10])}."
                )
            if pair in seen:
                raise ModelError(f"workers '{names[low]}' and '{names[high]}' have two edges; one carries all joints.")
            seen.add(pair)

    def neighbours(self) -> list[tuple[Neighbour, ...]]:
        """Those of every worker, by its number."""
        found: list[list[Neighbour]] = [[] for _ in self.names]
        for edge in self.edges:
            for one, other in ((edge.first, edge.second), (edge.second, edge.first)):
                found[one].append(Neighbour(self.names[other], other, edge.layout, edge.joints))
        return [tuple(sorted(mine, key=lambda neighbour: neighbour.number)) for mine in found]
