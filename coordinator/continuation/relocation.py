"""Where bodies stand after one of them was described anew: what hangs on a port that has moved moves along, as a whole.

A longer rod keeps the end by which it hangs on the ground, and everything that hangs on its other end goes with that; if nothing
of it hangs on the ground, it keeps its first element. Nothing turns: so no joint notices but by the load that it carries.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from modular.body import Body
from modular.elements import Array
from modular.errors import ModelError
from modular.port import GROUND
from modular.side import Mark

if TYPE_CHECKING:
    from coordinator.simulation import Simulation

SAME_SHIFT_TOLERANCE = 1e-9  # as a share of the extent: shifts that agree so well agree


@dataclass
class Moves:
    """New states, and what becomes of the marks that joints took on a body."""

    state: dict[str, tuple[Array, Array]] = field(default_factory=dict)  # q and v of bodies that stand elsewhere now
    marks: dict[str, Callable[[Mark], Mark]] = field(default_factory=dict)


def moves_for(simulation: Simulation, name: str, body: Body) -> Moves:
    """For another description of one body; refused where no place suits all that it is joined to."""
    system, before = simulation.system, simulation.assembly.bodies[name]
    q, v = _state(simulation, name)
    fresh_q, fresh_v = (np.array(x) for x in body.carried(before, q, v))
    shifts: dict[str, tuple[Array, Array]] = {}  # of points by the joints that hold them: place and velocity
    for joint, edge in simulation.assembly.joint_edges.items():
        if name not in (edge.first_body, edge.second_body):
            continue
        attachment = system.attachment_of(joint, edge)
        mark = (attachment.first if edge.first_body == name else attachment.second)[0]
        now, was = body.marked_motion(body.marked(before, mark), fresh_q, fresh_v), before.marked_motion(mark, q, v)
        shifts[joint] = now[0] - was[0], now[1] - was[1]
    moves = Moves(marks={name: partial(body.marked, before)})
    still = np.zeros_like(simulation.assembly.gravity)
    parts = _parts(simulation, name)
    size = max(1.0, float(np.abs(q).max()))
    own, found = (still, still), []
    for bodies, joints in parts:
        here = [shifts[joint] for joint in joints]
        for joint, (shift, _) in zip(joints[1:], here[1:], strict=True):
            gap = float(np.linalg.norm(shift - here[0][0]))
            if gap > SAME_SHIFT_TOLERANCE * size:
                raise ModelError(
                    f"body '{name}' cannot change like this: joints '{joints[0]}' and '{joint}' connect it to the "
                    f"same part of the mechanism, and would be {gap:.4g} m apart. Cut one of them first."
                )
        if GROUND in bodies:
            own = -here[0][0], -here[0][1]
        else:
            found.append((bodies, here[0]))
    moves.state[name] = body.moved(fresh_q, own[0]), body.moved(fresh_v, own[1])
    for bodies, (shift, drift) in found:
        for other in bodies:
            described, (place, velocity) = simulation.assembly.bodies[other], _state(simulation, other)
            if np.any(own[0] + shift) or np.any(own[1] + drift):
                moves.state[other] = (
                    described.moved(place, own[0] + shift),
                    described.moved(velocity, own[1] + drift),
                )
    return moves


def _state(simulation: Simulation, name: str) -> tuple[Array, Array]:
    stack = simulation.system.body_home[name]
    state, row = stack.state(), stack.row[name]
    return state["q"][row], state["v"][row]


def _parts(simulation: Simulation, name: str) -> list[tuple[set[str], list[str]]]:
    """What the mechanism falls into without a body: bodies of each part, and the joints by which they hold that body."""
    import networkx as nx

    graph = nx.MultiGraph()
    graph.add_nodes_from((GROUND, *simulation.assembly.bodies))
    mine: dict[str, str] = {}
    for joint, edge in simulation.assembly.joint_edges.items():
        if name in (edge.first_body, edge.second_body):
            mine[joint] = edge.second_body if edge.first_body == name else edge.first_body
        else:
            graph.add_edge(edge.first_body, edge.second_body)
    graph.remove_node(name)
    parts = []
    for bodies in nx.connected_components(graph):
        joints = [joint for joint, other in mine.items() if other in bodies]
        if joints:
            parts.append((set(bodies), joints))
    return parts
