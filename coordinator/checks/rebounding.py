"""Contacts that are to bounce, on bodies whose glued joints a blow does not see: they part more slowly than they should."""

from __future__ import annotations

from coordinator.checks.context import CheckContext
from modular.names import first_few


def rebounding(simulation: CheckContext) -> list[str]:
    """Those contacts."""
    system, edges = simulation.system, simulation.assembly.force_edges
    found = []
    for name, home in system.force_home.items() if system.joint_home else ():
        if edges[name].force.bounces:
            unseen = simulation.coupling.unseen_by_blows(system, name)
            held = {owner for joint in unseen for owner in system.joint_home[joint].owners if owner in system.body_home}
            found += [name] if held.intersection(home.owners) else []
    return found


def rebounding_words(simulation: CheckContext, found: list[str]) -> str:
    """What is wrong with them, and how it is mended."""
    several = len(found) > 1
    who = first_few(map(repr, found))
    return (
        f"contact{'s' if several else ''} {who}: {type(simulation.coupling).__name__} finds blows as if no glued "
        f"joints held what they strike, so {'they part' if several else 'it parts'} more slowly than with the restitution that was "
        "given. Remedy: Glued(), where blows see the joints, or a stiffness of its own instead of the restitution."
    )
