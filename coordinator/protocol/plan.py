"""Who exchanges what with whom, from which step on: the plan, and the share of it that one worker needs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from coordinator.protocol.schema import U16, U32, Many, Mark, Matter, Name, Step


@dataclass(frozen=True)
class Edge:
    """Two workers that exchange frames; workers are known by their numbers."""

    first: U32
    second: U32
    layout: U32  # hash of what stands where in the numbers of a frame
    joints: U16  # across the edge


@dataclass(frozen=True)
class Plan:
    """All edges from step `start` on. `previous` is the version that it follows; `change` is for the physics alone."""

    version: U32
    previous: U32
    start: Step
    edges: Annotated[tuple[Edge, ...], Many(Edge, 1 << 20)]
    change: Matter = ""


@dataclass(frozen=True)
class Neighbour:
    """The other end of an edge, as a worker sees it."""

    name: Name
    number: U32
    layout: U32
    joints: U16


@dataclass(frozen=True)
class Share:
    """What one worker needs of a plan: its own edges, and the change."""

    version: U32
    previous: U32
    start: Step
    neighbours: Annotated[tuple[Neighbour, ...], Many(Neighbour, 1 << 14)]
    change: Matter = ""


@dataclass(frozen=True)
class Member:
    """A worker that others may talk to: which incarnation of it, and where."""

    name: Name
    number: U32
    incarnation: U32
    address: Mark


@dataclass(frozen=True)
class Kept:
    """A durable checkpoint. Step 0, incarnation 0 is the start of the run, which needs no file."""

    step: Step
    incarnation: U32
    digest: Mark


START = Kept(0, 0, "")


def shares(plan: Plan, names: Sequence[str]) -> list[Share]:
    """The share of every worker, by its number."""
    neighbours: list[list[Neighbour]] = [[] for _ in names]
    for edge in plan.edges:
        for one, other in ((edge.first, edge.second), (edge.second, edge.first)):
            neighbours[one].append(Neighbour(names[other], other, edge.layout, edge.joints))
    return [
        Share(plan.version, plan.previous, plan.start, tuple(sorted(mine, key=lambda n: n.number)), plan.change)
        for mine in neighbours
    ]


def check(plan: Plan, names: Sequence[str]) -> str | None:
    """What is wrong with the edges of a plan, or None."""
    seen: set[tuple[int, int]] = set()
    for edge in plan.edges:
        pair = (min(edge.first, edge.second), max(edge.first, edge.second))
        if pair[0] == pair[1] or pair[1] >= len(names):
            return f"edge {edge.first}-{edge.second} does not join two of the {len(names)} workers."
        if pair in seen:
            return f"workers '{names[pair[0]]}' and '{names[pair[1]]}' have two edges; one carries all joints."
        seen.add(pair)
    return None
