"""Bodies that contacts carry where they rest: those that nothing else holds, and pieces of those that hang together in joints.

A contact that finds what carries what rests reckons with how bodies answer it in this tick (components/forces/contact_carrying.py).
A free body answers by its inertia. One in glued joints answers with all that hangs on it, and these joints are solved for in the
same tick, so it can be told how (interface/through_joints.py). Whatever acts by itself, springs, dampers, what bends, answers
later: where it asks little of the step that is a small change of what others do, elsewhere contacts stay springs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import compress
from math import inf
from typing import Any

from coordinator.couplings.coupling import Coupling
from coordinator.system import System
from modular.force import requests_load

MOST_SEATS = 64  # bodies of a piece that contacts may touch: they answer each other, so cost goes with the square
# margin of a spring or damper (margins.py) from which on it changes little from tick to tick: with z = dt^2 k w one that is found a
# tick late gives x'' = -z (x' - x), which is stable up to z = 1/2, and the limit of a margin of 1 is z = 4
SOFT_MARGIN = 3.0


def held_otherwise(system: System, stacks: list[Any]) -> Iterator[str]:
    """Bodies that do not answer contacts as one rigid piece alone: flexible ones, and those with joints or springs on them.

    A body says by `rigid` that it answers a force at one of its ports at all others so, in one step per tick.
    """
    yield from _not_rigid(system)
    for joint in system.joint_home.values():
        yield from joint.owners
    for _, owners in _asking(system, stacks):
        yield from owners


def pieces_of(system: System, coupling: Coupling, dt: float, stacks: list[Any]) -> dict[str, int]:
    """Bodies in joints that contacts may carry, with the number of all that hang together."""
    if not system.joint_home:
        return {}
    import networkx as nx  # a tenth of a second, for those who need it

    met = {owner for stack in stacks for name in stack.names for owner in system.force_home[name].owners}
    graph = nx.Graph()
    for joint in system.joint_home.values():
        nx.add_path(graph, [owner for owner in joint.owners if is_moved(system, owner)])
    unfit = set(_not_rigid(system)) | set(_in_gliding_joints(system)) | set(_held_stiffly(system, coupling, dt, stacks))
    found: dict[str, int] = {}
    for number, bodies in enumerate(nx.connected_components(graph)):
        if 0 < len(met & bodies) <= MOST_SEATS and not unfit & bodies:
            found |= dict.fromkeys(bodies, number)
    return found


def _not_rigid(system: System) -> Iterator[str]:
    yield from (owner for owner, body in system.described.items() if not getattr(body, "rigid", False))


def _in_gliding_joints(system: System) -> Iterator[str]:
    """Joints that lock velocities alone answer otherwise in each half of a step."""
    for joint in system.joint_home.values():
        if not joint.stack.form.holonomic:
            yield from joint.owners


def _asking(system: System, stacks: list[Any]) -> Iterator[tuple[str, Sequence[str]]]:
    """Forces that ask something of the step, with their bodies; but for contacts that are as stiff as the step allows."""
    asks = {id(stack): set(compress(stack.names, (~stack.follows_step).tolist())) for stack in stacks}
    if not any(asks.values()) and not any(requests_load(stack) for stack in system.forces if id(stack) not in asks):
        return
    for name, home in system.force_home.items():
        own = asks.get(id(home.stack))
        if requests_load(home.stack) if own is None else name in own:
            yield name, home.owners


def _held_stiffly(system: System, coupling: Coupling, dt: float, stacks: list[Any]) -> Iterator[str]:
    """Bodies on which something acts that changes much from tick to tick."""
    asking = dict(_asking(system, stacks))
    if not asking:
        return
    own = {name for stack in stacks for name in stack.names}
    margins = coupling.margins(system, dt)
    implicit = set(system.implicit_forces)
    for name, owners in asking.items():
        if name in own or name in implicit or margins.get(name, inf) < SOFT_MARGIN:
            yield from owners


def is_moved(system: System, owner: str) -> bool:
    """Whether anything can move it: neither the ground nor what is led."""
    return owner in system.body_home and not system.described[owner].led
