"""Many copies of a model at once (modular/tiles.py): stacks take in all variants of bodies, and of plain joints, by whole columns.

What this puts there is what `bulk_add` puts there, row by row; whatever does not fit goes its way.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import add
from typing import Any

import numpy as np

from coordinator.system import System
from modular.assembly import JointEdge
from modular.body import Bodies, Body
from modular.elements import Indices
from modular.joint import JointForm
from modular.port import GROUND
from modular.tiles import Tiles, name_in

Side = tuple[Any, Indices, Indices, Any]  # a stack, joints, rows of bodies, and how the port of each is put together


def fill_in(system: System, names: Sequence[str], bodies: Sequence[Body], first: Body) -> Bodies:
    """Put bodies of one kind into its stack, together where it can take in many; `first` says of which kind they are."""
    stack: Any = system.stack_for(names[0], first)
    if hasattr(stack, "add_many"):
        stack.add_many(names, bodies)
    else:
        for name, body in zip(names, bodies, strict=True):
            stack.add(name, body)
    found: Bodies = stack
    return found


def add_tiled_bodies(system: System, bodies: Tiles[Body]) -> None:
    """Put all variants of bodies into the stacks of their kinds."""
    kinds: dict[Any, list[str]] = {}
    for name, body in bodies.originals.items():
        kinds.setdefault(system.key_of(name, body), []).append(name)
    homes: dict[str, Bodies] = {}
    for members in kinds.values():
        names, rows = bodies.names_of(members), bodies.rows_of(members)
        homes.update(dict.fromkeys(names, fill_in(system, names, rows, rows.originals[0])))
    system.settle_in(bodies.names_of(bodies.originals), homes)


def runs_of(system: System, edges: Tiles[JointEdge]) -> list[tuple[JointForm, list[str]]] | None:
    """Joints of the model one after the other that have one form, all made of plain points; None where some are not.

    A form that comes twice would not have its rows variant after variant.
    """
    homes: list[Any] = list(system.bodies)
    if not edges.alike or not all(hasattr(stack, "ports_of") for stack in homes):
        return None
    runs: list[tuple[JointForm, list[str]]] = []
    for name, edge in edges.originals.items():
        form = edge.joint.points(len(system.gravity)) if edge.at is None else None
        if form is None:
            return None
        if runs and runs[-1][0] == form:
            runs[-1][1].append(name)
        else:
            runs.append((form, [name]))
    return runs if len({id(system.joint_stack(form, "")) for form, _ in runs}) == len(runs) else None


def sides_of(system: System, edges: Tiles[JointEdge], joints: list[str], second: bool) -> tuple[list[Side], Indices]:
    """One side of these joints in all variants: who holds it, and which are on the ground."""
    variants, found = len(edges.which), []
    grounded = np.zeros((variants, len(joints)), bool)
    for place, joint in enumerate(joints):
        edge = edges.originals[joint]
        port = edge.second if second else edge.first
        if port.body == GROUND:
            grounded[:, place] = True
            continue
        ends = [name_in(port.body, edges.which[k]) for k in (0, -1)]
        stack: Any = system.body_home[ends[0]]
        first, last = (stack.row[name] for name in ends)
        step = (last - first) // max(variants - 1, 1)
        rows = first + step * np.arange(variants)
        number = stack.bodies[ends[0]].port_names.index(port.port)
        found.append((stack, place + len(joints) * np.arange(variants), rows, stack.ports[stack.make[rows], number]))
    return found, grounded.ravel()


def note_uses(system: System, edges: Tiles[JointEdge], joints: list[str]) -> None:
    """Which joints are on each body, in all variants."""
    used: dict[str, list[str]] = {}
    for joint in joints:
        edge = edges.originals[joint]
        for body in (edge.first_body, edge.second_body):
            if body != GROUND:
                used.setdefault(body, []).append(joint)
    for body, own in used.items():
        bodies, mine = edges.which.called(body), zip(*(edges.which.called(joint) for joint in own), strict=True)
        system.uses.update(zip(bodies, map(add, map(system.uses.__getitem__, bodies), mine), strict=True))
