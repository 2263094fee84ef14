"""One of several models that stand side by side in a system: its names, its numbers, and the first as a system of its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np

from coordinator.equations.parameters import numbers_of_force, numbers_of_gravity
from coordinator.equations.tables import assembled
from coordinator.system import System
from modular.assembly import Assembly, ForceEdge, JointEdge
from modular.elements import Array
from modular.naming import NumbersInRows
from modular.port import GROUND, PortName
from modular.tiles import Tiles, Which, name_in, parted

Model = dict[str, str]  # names of the model, with those in the system


class Models(Sequence[Model]):
    """Copies of one model side by side, each by its names when somebody asks."""

    def __init__(self, names: list[str], which: Which) -> None:
        self._names, self._which = names, which

    def __len__(self) -> int:
        return len(self._which)

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return Models(self._names, Which(self._which[place]))
        k = self._which[place]
        return {name: name_in(name, k) for name in self._names}

    def called(self, name: str) -> list[str]:
        """What a member of the model is called in each."""
        return self._which.called(name)


def called(models: Sequence[Model], name: str) -> list[str]:
    """What a member is called in each of several models."""
    return models.called(name) if isinstance(models, Models) else [model[name] for model in models]


def models_in(system: System) -> Sequence[Model]:
    """All models, each with its bodies, joints and forces."""
    if isinstance(system.described, Tiles) and system.described.there:
        which = system.described.which
        names = (*system.described.originals, *of_first(system.joint_home, which), *of_first(system.force_home, which))
        if len(names) * len(which) == len(system.body_home) + len(system.joint_home) + len(system.force_home):
            return Models(list(names), which)
    every = [*system.body_home, *system.joint_home, *system.force_home]
    if system.parted is None:
        return [dict(zip(every, every, strict=True))]
    found: dict[int, Model] = {}
    for called in every:
        name, k = system.parted(called)
        found.setdefault(k, {})[name] = called
    return list(found.values())


def of_first(members: Mapping[str, Any], which: Sequence[int]) -> list[str]:
    """Joints or forces of the first model, by their names in the model: of each there are as many as there are models."""
    first = islice(members, len(members) - len(members) // max(len(which), 1) * (len(which) - 1))
    return [name for name, k in map(parted, first) if k == which[0]]


def first_of(system: System, model: Model) -> tuple[System, Assembly]:
    """A model of several, as it stands, in a system of its own."""
    back = {called: name for name, called in model.items()}
    found = Assembly(system.gravity.tolist())
    for name, called in model.items():
        if called in system.body_home:
            found.bodies[name] = system.described[called]
        elif called in system.joint_home:
            found.joint_edges[name] = _joint(system.joint_home[called].edge, back)
        elif called in system.acting:
            found.force_edges[name] = _force(system.acting[called], back)
    if system.parted is None:
        return system, found
    alone = assembled(found)
    for name in found.bodies:
        mine: Any = alone.body_home[name]
        theirs: Any = system.body_home[model[name]]
        for key in "qv":
            mine.state()[key][mine.row[name]] = theirs.state()[key][theirs.row[model[name]]]
    for name in found.joint_edges:
        stack, there = alone.joint_home[name].stack, system.joint_home[model[name]].stack
        stack.take_row(stack.row[name], there, there.row[model[name]])
    for name in found.force_edges:
        acting: Any = alone.force_home[name].stack
        others: Any = system.force_home[model[name]].stack
        acting.take_row(acting.row[name], others, others.row[model[name]])
    return alone, found


def gravity_of(system: System, model: Model) -> Array:
    """What pulls at one of several models."""
    if system.parted is None or not system.gravities:
        return system.gravity
    return system.gravities.get(system.parted(next(iter(model.values())))[1], system.gravity)


def numbers_of(
    system: System, model: Model, taken: Mapping[str, tuple[str, str, tuple[int, ...]]], whole: frozenset[str]
) -> dict[str, float]:
    """Numbers of a model that may have names, by these names; those that forces have taken are in their rows.

    What is in rows of bodies alone tells `numbers_in_rows`. What is 0 has no name, unless it is of one of the `whole`: a model that
    runs alone has formulas without it, and so other bits.
    """
    found = numbers_of_gravity(gravity_of(system, model))
    for label, (name, column, at) in taken.items():
        stack: Any = system.force_home[model[name]].stack
        found[label] = float(getattr(stack, column)[(stack.row[model[name]], *at)])
    for name, called in model.items():
        if called in system.body_home:
            found |= {f"{name}.{label}": value for label, value in _numbers_of_body(system.body_home[called], called)}
        elif called in system.acting:
            found |= {
                f"{name}.{label}": value
                for label, value in numbers_of_force(system.acting[called].force, zeros=name in whole)
            }
    return found


def numbers_in_rows(system: System, models: Sequence[Model], name: str) -> Iterator[NumbersInRows]:
    """Numbers of a body in all models, where its stack says which; nothing where they are not of one kind."""
    names = called(models, name)
    stacks: list[Any] = list(map(system.body_home.get, names))
    first = stacks[0]
    if hasattr(first, "numbers_in_rows") and all(stack is first for stack in stacks):
        yield from first.numbers_in_rows(np.array([first.row[each] for each in names]))


def numbers_of_bodies(system: System, models: Sequence[Model], name: str) -> dict[str, Array]:
    """Numbers of a body in all models that are not in rows, by their labels, where many can be asked at once; else none."""
    names = called(models, name)
    first: Any = system.body_home.get(names[0])
    if (
        not hasattr(first, "named_rows")
        or not isinstance(models, Models)
        or any(each not in first.row for each in names)
    ):
        return {}
    found: dict[str, Array] = first.named_rows(np.array([first.row[each] for each in names]))
    return {f"{name}.{label}": values for label, values in found.items()}


def _numbers_of_body(stack: Any, name: str) -> list[tuple[str, float]]:
    found: list[tuple[str, float]] = []

    def keep(label: str, value: float) -> float:
        found.append((label, float(value)))
        return float(value)

    if hasattr(stack, "named_numbers"):
        stack.named_numbers(name, keep)
    return found


def _joint(edge: JointEdge, back: Model) -> JointEdge:
    first, second = (body if body == GROUND else back[body] for body in (edge.first_body, edge.second_body))
    return edge._replace(first_body=first, second_body=second)


def _force(edge: ForceEdge, back: Model) -> ForceEdge:
    ports = tuple(port if port.body == GROUND else PortName(back[port.body], port.port) for port in edge.ports)
    return replace(edge, ports=ports)
