"""Several variants as one model: bodies, joints and forces of each side by side, by names of their own.

Nothing connects two variants. So where every row of a stack is worked out by itself each moves as it does alone, bit for bit
(docs/decisions/0035-ensembles.md); variant after variant the rows stand in the order of the model.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from coordinator.ensemble.parameters import BODY, EVENTS, FORCE, GRAVITY, JOINT
from coordinator.ensemble.variants import Variants
from modular.assembly import Assembly, ForceEdge, JointEdge
from modular.events import Add, Apply, Cut, Event, Join, Remove, Scheduled
from modular.port import GROUND, PortName

RENAMED = {
    Cut: ("joint",),
    Join: ("name", "first", "second"),
    Add: ("name",),
    Remove: ("name",),
    Apply: ("name", "ports"),
}
MARK = "~"


def name_in(name: str, k: int) -> str:
    """What a member of the model is called in variant k."""
    return f"{name}{MARK}{k}"


def parted(name: str) -> tuple[str, int]:
    """The name in the model, and the variant."""
    name, _, number = name.rpartition(MARK)
    return name, int(number)


def side_by_side(variants: Variants, which: Sequence[int]) -> Assembly:
    """One model of these variants; each is checked. Where gravity differs it says of each, and has itself that of the first."""
    model = variants.model
    found = Assembly(model.gravity.tolist(), title=model.title)
    found.parted = parted
    for k in which:
        members = variants.members(k)
        gravity = members.get((GRAVITY, GRAVITY), tuple(model.gravity.tolist()))
        if k == which[0]:
            found.gravity[:] = gravity
        if gravity != tuple(found.gravity.tolist()):
            found.gravities[k] = np.array(gravity, float)
        for name, body in model.bodies.items():
            found.bodies[name_in(name, k)] = members.get((BODY, name), body)
        for name, edge in model.joint_edges.items():
            found.joint_edges[name_in(name, k)] = _joint(members.get((JOINT, name), edge), k)
        for name, force in model.force_edges.items():
            found.force_edges[name_in(name, k)] = _force(members.get((FORCE, name), force), k)
        found.begin.update({name_in(name, k): state for name, state in model.begin.items()})
        found.schedule += [_scheduled(each, k) for each in members.get((EVENTS, EVENTS), model.schedule)]
    return found


def _joint(edge: JointEdge, k: int) -> JointEdge:
    first, second = (body if body == GROUND else name_in(body, k) for body in (edge.first_body, edge.second_body))
    return edge._replace(first_body=first, second_body=second)


def _force(edge: ForceEdge, k: int) -> ForceEdge:
    ports = tuple(port if port.body == GROUND else PortName(name_in(port.body, k), port.port) for port in edge.ports)
    return dataclasses.replace(edge, ports=ports)


def _scheduled(each: Scheduled, k: int) -> Scheduled:
    return dataclasses.replace(each, events=tuple(_event(event, k) for event in each.events))


def _event(event: Event, k: int) -> Event:
    changed: dict[str, Any] = {}
    for name in RENAMED[type(event)]:
        value = getattr(event, name)
        changed[name] = _port(value, k) if isinstance(value, str) else tuple(_port(port, k) for port in value)
    return dataclasses.replace(event, **changed)  # type: ignore[type-var]


def _port(text: str, k: int) -> str:
    """A name or a port of the model, as it is called in variant k."""
    owner, dot, port = text.partition(".")
    return text if owner == GROUND else f"{name_in(owner, k)}{dot}{port}"


# --- and back ----------------------------------------------------------------------------------------------------------


class Names:
    """Names of members as the copies have them, with those of the model; texts that are none stay as they are."""

    def __init__(self, copies: Assembly) -> None:
        self._known = {
            name: parted(name)
            for members in (copies.bodies, copies.joint_edges, copies.force_edges)
            for name in members
        }
        for each in copies.schedule:
            for event in each.events:
                self._known.setdefault(first := str(getattr(event, RENAMED[type(event)][0])), parted(first))

    def variant(self, name: Any) -> int | None:
        """Whose it is; None where it is nobody's."""
        owner = str(name).partition(".")[0]
        return self._known[owner][1] if owner in self._known else None

    def in_model(self, value: Any, of: int) -> Any:
        """Data that were told of the copies, with the names of the model; what tells of other variants is left out."""
        if isinstance(value, str):
            owner, dot, port = value.partition(".")
            return f"{self._known[owner][0]}{dot}{port}" if owner in self._known else value
        if isinstance(value, Mapping):
            kept = {key: each for key, each in value.items() if self.variant(key) in (None, of)}
            return {self.in_model(key, of): self.in_model(each, of) for key, each in kept.items()}
        if isinstance(value, list | tuple):
            return [self.in_model(each, of) for each in value if self.variant(each) in (None, of)]
        return value

    def shared_out(self, entry: Mapping[str, Any], owners: Iterable[int]) -> dict[int, dict[str, Any]]:
        """An entry that tells of many, as each of these variants would have it: tables are gone through once."""
        found: dict[int, dict[str, Any]] = {owner: {} for owner in owners}
        for key, value in entry.items():
            if not isinstance(value, Mapping):
                for owner, own in found.items():
                    own[key] = self.in_model(value, owner)
                continue
            for own in found.values():
                own[key] = {}
            for name, each in value.items():
                known = self.variant(name)
                for whose in found if known is None else (known,):
                    if whose in found:
                        found[whose][key][self.in_model(name, whose)] = self.in_model(each, whose)
        return found

    def sentence(self, text: str) -> tuple[str, int | None]:
        """A sentence about the copies in the names of the model, and the variant of the first that it names."""
        found = None
        for name in sorted(self._known, key=len, reverse=True):
            if name in text:
                found = self._known[name][1] if found is None else found
                text = text.replace(name, self._known[name][0])
        return text, found
