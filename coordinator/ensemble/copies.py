"""Several variants as one model: bodies, joints and forces of each side by side, by names of their own.

Nothing connects two variants. So where every row of a stack is worked out by itself each moves as it does alone, bit for bit
(docs/decisions/0035-ensembles.md); variant after variant the rows stand in the order of the model.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np

from coordinator.ensemble.parameters import EVENTS, GRAVITY
from coordinator.ensemble.variants import Variants
from modular.assembly import Assembly, ForceEdge, JointEdge
from modular.events import Add, Apply, Cut, Event, Join, Remove, Scheduled
from modular.port import GROUND, PortName
from modular.tiles import MARK, Tiles, Which, name_in, parted

NUMBERED = re.compile(rf"{MARK}(\d+)(?!\d*{MARK})")  # what the name of a copy ends with
RENAMED = {
    Cut: ("joint",),
    Join: ("name", "first", "second"),
    Add: ("name",),
    Remove: ("name",),
    Apply: ("name", "ports"),
}


def side_by_side(variants: Variants, which: Sequence[int]) -> Assembly:
    """One model of these variants; each is checked. Where gravity differs it says of each, and has itself that of the first."""
    model, which = variants.model, Which(which)
    found = Assembly(model.gravity.tolist(), title=model.title)
    found.parted = parted
    if GRAVITY in variants:
        found.gravity[:] = variants.member(GRAVITY, GRAVITY, which[0])
        for k in which:
            gravity = np.array(variants.member(GRAVITY, GRAVITY, k), float)
            if not np.array_equal(gravity, found.gravity):
                found.gravities[k] = gravity
    found.bodies = variants.bodies(which)
    found.joint_edges = variants.joints(which, _joint)
    found.force_edges = variants.forces(which, _force)
    for k in which if model.begin or model.schedule or EVENTS in variants else ():
        found.begin.update({name_in(name, k): state for name, state in model.begin.items()})
        schedule = variants.member(EVENTS, EVENTS, k) if EVENTS in variants else model.schedule
        found.schedule += [_scheduled(each, k) for each in schedule]
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
    return dataclasses.replace(event, **changed)


def _port(text: str, k: int) -> str:
    """A name or a port of the model, as it is called in variant k."""
    owner, dot, port = text.partition(".")
    return text if owner == GROUND else f"{name_in(owner, k)}{dot}{port}"


# --- and back ----------------------------------------------------------------------------------------------------------


class Names:
    """Names of members as the copies have them, with those of the model; texts that are none stay as they are."""

    def __init__(self, copies: Assembly) -> None:
        self._members = [cast("Tiles[Any]", each) for each in (copies.bodies, copies.joint_edges, copies.force_edges)]
        self.which = self._members[0].which
        self._known: dict[str, tuple[str, int]] = {}  # of what events bring
        for each in copies.schedule:
            for event in each.events:
                first = str(getattr(event, RENAMED[type(event)][0]))
                self._known.setdefault(first, parted(first))

    def _find(self, owner: str) -> tuple[str, int] | None:
        """The name in the model, and the variant; None where it is nobody's."""
        if MARK not in owner:
            return None
        if owner in self._known:
            return self._known[owner]
        return parted(owner) if any(owner in members for members in self._members) else None

    def variant(self, name: Any) -> int | None:
        """Whose it is; None where it is nobody's."""
        found = self._find(str(name).partition(".")[0])
        return None if found is None else found[1]

    def in_model(self, value: Any, of: int) -> Any:
        """Data that were told of the copies, with the names of the model; what tells of other variants is left out."""
        if isinstance(value, str):
            owner, dot, port = value.partition(".")
            found = self._find(owner)
            return value if found is None else f"{found[0]}{dot}{port}"
        if isinstance(value, Mapping):
            kept = {key: each for key, each in value.items() if self.variant(key) in (None, of)}
            return {self.in_model(key, of): self.in_model(each, of) for key, each in kept.items()}
        if isinstance(value, list | tuple):
            return [self.in_model(each, of) for each in value if self.variant(each) in (None, of)]
        return value

    def sentence(self, text: str) -> tuple[str, int | None]:
        """A sentence about the copies in the names of the model, and the variant of the first that it names."""
        originals = {name for name, _ in self._known.values()}.union(*(members.originals for members in self._members))
        longest, found, parts, last = sorted(originals, key=len, reverse=True), None, [], 0
        for match in NUMBERED.finditer(text):
            before = text[last : match.start()]
            name = next((name for name in longest if before.endswith(name) and self._find(name + match[0])), None)
            if name is not None:
                found = int(match[1]) if found is None else found
                parts.append(before)
                last = match.end()
        return "".join([*parts, text[last:]]), found
