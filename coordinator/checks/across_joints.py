"""Forces along an angle or a way that a joint between the same bodies does not leave: they move nothing, which nobody meant."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from coordinator.checks.context import CheckContext
from modular.along_joint import axis_along
from modular.elements import Array
from modular.errors import ModelError
from modular.force import Force

ALONG = 1e-6  # of a force along its coordinate: what a joint leaves less of, it locks


def along_one(force: Force) -> bool:
    """Whether it acts along an angle or a way alone."""
    return force.coordinate in ("angle", "way")


def across_joints(simulation: CheckContext, names: Iterable[str] | None = None) -> Iterator[str]:
    """What is to be said of such forces, of all or of those that are named.

    Of joints counts what leaves one angle or one way, and may not break.
    """
    model = simulation.assembly
    edges = model.force_edges
    asked = [name for name in (edges if names is None else names) if along_one(edges[name].force)]
    if not asked:
        return
    lasting: dict[frozenset[str], list[str]] = {}
    for name, edge in model.joint_edges.items():
        form = simulation.system.joint_home[name].stack.form
        leaves_one = form.locks == (5 if model.dimension == 3 else 2) and not form.drives
        if leaves_one and edge.breaks_at is None and edge.joint.coordinates in (("angle",), ("way",)):
            lasting.setdefault(frozenset((edge.first_body, edge.second_body)), []).append(name)
    for name in asked:
        force = edges[name]
        measure = str(force.force.coordinate)
        for joint in lasting.get(frozenset(port.body for port in force.ports[:2]), ()):
            edge = model.joint_edges[joint]
            left = edge.joint.coordinates[0]
            if measure == "way" and left == "angle":
                continue  # what turns goes some way, beside its axis
            try:
                line = np.asarray(axis_along(model, force.force.line, *force.ports[:2]), float)
                axis = np.asarray(axis_along(model, getattr(edge.joint, "axis", None), edge.first, edge.second), float)
            except ModelError:  # a body that does not say how its ports are turned
                continue
            turns = measure == "angle" == left and model.dimension == 2
            if turns or (measure == left and abs(line @ axis) > ALONG * np.linalg.norm(line) * np.linalg.norm(axis)):
                continue
            yield _words(name, measure, line, joint, left, axis)


def _words(name: str, measure: str, line: Array, joint: str, left: str, axis: Array) -> str:
    acts = {"angle": "acts about", "way": "acts along"}[measure]
    leaves = {"angle": "turning about", "way": "sliding along"}[left]
    return (
        f"force '{name}' {acts} {_told(line)}, and joint '{joint}' between the same bodies leaves nothing but {leaves} "
        f"{_told(axis)}: it moves nothing. Put it along the joint, apply('{name}', …, joint='{joint}'), or give it that axis."
    )


def _told(axis: Array) -> str:
    return f"({', '.join(f'{x:.3g}' for x in axis)})"
