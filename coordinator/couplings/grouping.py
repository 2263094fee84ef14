"""Which bodies may be one component: those that are there, and that joints between them hold together."""

from __future__ import annotations

from collections.abc import Sequence

from coordinator.system import System
from modular.errors import ModelError
from modular.names import missing
from modular.port import GROUND


def check_group(system: System, bodies: Sequence[str], what: str) -> None:
    """Refuse names of nobody, a body alone, and bodies that no joint connects, those being counted that they are merged with."""
    for body in bodies:
        if body != GROUND and body not in system.body_home:
            raise ModelError(f"{what}: " + missing("body", body, list(system.body_home)))
    if len(set(bodies)) < 2:
        raise ModelError(
            f"{what}: {describe(bodies)} is one body; name two neighbours or more, such as 'crank', 'rod'."
        )
    import networkx as nx  # a tenth of a second, for those who need it

    graph = nx.Graph()
    graph.add_nodes_from(set(bodies).union(*(known for known in system.groups if not set(known).isdisjoint(bodies))))
    for name in system.joint_home:
        first, second = system.joint_home[name].owners
        if first in graph and second in graph:
            graph.add_edge(first, second)
    parts = sorted(map(sorted, nx.connected_components(graph)))
    if len(parts) > 1:
        raise ModelError(
            f"{what}: no joint connects {describe(parts[0])} with {describe(parts[1])}; merge neighbours, or name the bodies "
            "between them too."
        )


def describe(bodies: Sequence[str]) -> str:
    """Names for a sentence."""
    return ", ".join(f"'{body}'" for body in bodies)
