"""Where joints and forces of a running system live.

How a joint takes hold: its marks where its sides stand, and whether these are near enough.

Several models in one system, side by side: what they have to have in common (coordinator/ensemble).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from math import hypot
from typing import Any, Protocol, cast

import numpy as np

from modular.assembly import JointEdge, Parted
from modular.body import Bodies
from modular.elements import Array
from modular.errors import ModelError
from modular.force import Forces
from modular.joint import Attachment, JointForm
from modular.joints import Joints
from modular.port import GROUND
from modular.side import Mark, Side
from modular.tiles import Tiles, kinds_of, name_in, parted


class HasJoints(Protocol):
    """What knows all stacks of joints."""

    @property
    def joints(self) -> Iterator[Joints]:
        """All of them."""


@dataclass(slots=True)
class JointHome:
    """Where a joint lives: its stack, which knows the element rows of its sides."""

    name: str
    stack: Joints
    edge: JointEdge
    attachment: Attachment | None = None  # None: the points of its two ports (`System.attachment_of`)
    again: bool = False  # cut at the instant at which it was made, and so the same joint

    @property
    def owners(self) -> tuple[str, str]:
        """The bodies at its sides, or the ground."""
        return self.edge.first_body, self.edge.second_body

    @property
    def starts(self) -> tuple[int, int]:
        """First element rows of its sides."""
        row = self.stack.row[self.name]
        return int(self.stack.first[row]), int(self.stack.second[row])

    @property
    def counts(self) -> tuple[int, int]:
        """Elements that it reads on either side."""
        return self.stack.form.first, self.stack.form.second


Taken = tuple[
    str, int, int
]  # what a joint or force takes hold of on one side: an owner, its first element row there, how many


class JointHomes(Mapping[str, JointHome]):
    """Where every joint lives, in the order in which they were made; of a plain one it is worked out when asked for."""

    def __init__(self, system: HasJoints) -> None:
        self._system = system
        self._known: dict[str, JointHome | JointEdge | None] = {}  # None: one of many copies, in `_tiles`
        self._tiles: Mapping[str, JointEdge] = {}

    def __getitem__(self, name: str) -> JointHome:
        found = self._known[name]
        if isinstance(found, JointHome):
            return found
        return JointHome(name, next(stack for stack in self._system.joints if name in stack.row), self.edge(name))

    def __contains__(self, name: object) -> bool:
        return name in self._known

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)

    def edge(self, name: str) -> JointEdge:
        """Between what a joint stands."""
        found = self._known[name]
        if found is None:
            return self._tiles[name]
        return found.edge if isinstance(found, JointHome) else found

    def reach(self, name: str) -> tuple[Joints, int, tuple[Taken, Taken]]:
        """The stack of a joint and its row there, and what it takes hold of on either side."""
        found = self._known[name]
        if isinstance(found, JointHome):
            stack, edge = found.stack, found.edge
        else:
            edge = self._tiles[name] if found is None else found
            for stack in self._system.joints:
                if name in stack.row:
                    break
        row, form = stack.row[name], stack.form
        first, second = stack.first.item(row), stack.second.item(row)
        return stack, row, ((edge.first_body, first, form.first), (edge.second_body, second, form.second))

    def kinds(self) -> Iterator[JointEdge]:
        """All joints as they were made; of copies side by side, as long as none has been made since, one for all."""
        if self._known and not any(self._known.values()):
            yield from kinds_of(self._tiles)
        else:
            yield from map(self.edge, self._known)

    def facts(self, only: Iterable[str] | None = None) -> Mapping[str, dict[str, Any]]:
        """How the equations of joints are written, and whom they join: of all, stack by stack, or of some."""
        whole = (
            isinstance(self._tiles, Tiles) and len(self._known) == len(self._tiles) and not any(self._known.values())
        )
        if only is None and whole:
            return TiledFacts(
                cast("Tiles[JointEdge]", self._tiles),
                [(stack.form.facts, stack.names) for stack in self._system.joints],
            )
        found: dict[str, dict[str, Any]] = {}
        for stack in self._system.joints:
            form, names = (
                stack.form.facts,
                stack.names if only is None else [name for name in only if name in stack.row],
            )
            for name in names:
                edge = self.edge(name)
                found[name] = {**form, "between": [edge.first_body, edge.second_body]}
        return found

    def attachment(self, name: str) -> Attachment | None:
        """How a joint was made that was made one by one; None: at the points of its two ports."""
        found = self._known[name]
        return found.attachment if isinstance(found, JointHome) else None

    @property
    def made_apart(self) -> bool:
        """Whether some were made one by one."""
        return any(self._known.values())

    def again(self, name: str) -> bool:
        """Whether a joint was cut at the instant at which it was made."""
        found = self._known[name]
        return isinstance(found, JointHome) and found.again

    def enter(self, home: JointHome) -> None:
        """A joint that was made one by one."""
        self._known[home.name] = home

    def enter_plain(self, edges: Iterable[tuple[str, JointEdge]]) -> None:
        """Joints that need two ports as they are (`Joint.points`)."""
        self._known.update(edges)

    def enter_tiles(self, names: Iterable[str], edges: Tiles[JointEdge]) -> None:
        """The same of many copies, as they are described at the beginning."""
        if self._known:
            self._known.update(dict.fromkeys(names))
        else:
            self._known = dict.fromkeys(names)
        self._tiles = copy(edges)

    def leave(self, name: str) -> JointHome:
        """A joint is cut."""
        home = self[name]
        del self._known[name]
        return home


class TiledFacts(Mapping[str, dict[str, Any]]):
    """What `JointHomes.facts` tells of many copies, each when somebody asks."""

    def __init__(self, edges: Tiles[JointEdge], stacks: list[tuple[dict[str, Any], list[str]]]) -> None:
        first = {name_in(name, edges.which[0]): name for name in edges.originals}
        self._edges = edges
        self._forms: list[dict[str, dict[str, Any]]] = []
        for form, names in stacks:
            own: dict[str, dict[str, Any]] = {}
            for name in names if first else ():
                if name in first:
                    own[first.pop(name)] = form
                    if not first:
                        break
            self._forms.append(own)

    def __getitem__(self, name: str) -> dict[str, Any]:
        edge, original = self._edges[name], parted(name)[0]
        form = next(forms[original] for forms in self._forms if original in forms)
        return {**form, "between": [edge.first_body, edge.second_body]}

    def __contains__(self, name: object) -> bool:
        return name in self._edges

    def __iter__(self) -> Iterator[str]:
        for forms in self._forms:
            yield from self._edges.names_of(forms)

    def __len__(self) -> int:
        return len(self._edges)


@dataclass(slots=True)
class ForceHome:
    """Where a force lives."""

    stack: Forces
    owners: list[str]
    starts: list[int]
    counts: list[int]
    marks: list[list[Mark]]  # what it took hold of, per side


JOINING_GAP_TOLERANCE = 1e-6  # how far apart the points of a joint may be, for a model of size 1 m

ASSEMBLE = "let the model be assembled: coordinator.analysis.assemble, modular run --assemble"


def of_ports(form: JointForm, edge: JointEdge, places: Array, homes: Mapping[str, Bodies]) -> Attachment:
    """The attachment of a joint of two ports as they are; `places` is where they were on the ground."""
    marks = []
    for port, place in zip((edge.first, edge.second), places, strict=True):
        mark: Mark | None = Mark(np.empty(0), place.copy())
        if port.body != GROUND:
            side = homes[port.body].side(port.body, port)
            mark = side.point(side.position)
        assert mark is not None
        marks.append(mark)
    return Attachment(form, marks[:1], marks[1:])


def tolerance_for(sides: Sequence[Side], gravity: Array, moving: float | None) -> float:
    """How far apart the points of a joint may be [m]: rounding, and while things move what penalty joints leave open.

    That is a few times a dt^2 where one joint takes the place of another (docs/decisions/0007); never more than a
    thousandth of the size of things.
    """
    size, fastest = 1.0, hypot(*gravity.tolist())
    for side in sides:
        if side.owner != GROUND:
            size = max(size, *map(abs, side.position.tolist()))
            fastest = max(fastest, hypot(*side.acceleration.tolist()))
    if moving is None:
        return JOINING_GAP_TOLERANCE * size
    return JOINING_GAP_TOLERANCE * size + min(20.0 * fastest * moving**2, 1e-3 * size)


def attach(name: str, edge: JointEdge, first: Side, second: Side, tolerance: float) -> Attachment:
    """Let a joint take its marks where its sides stand."""
    spans = not edge.joint.coincident and GROUND in (first.owner, second.owner)  # then `at` places the ground alone
    a, b = (first.position, second.position) if edge.at is None or spans else (np.array(edge.at, float),) * 2
    attachment = edge.joint.attach(name, first, second, a, b)
    gap = edge.joint.gap(first, second, a, b)
    if gap > tolerance:
        if wrong := edge.joint.misfit(a, b):
            raise ModelError(f"joint '{name}': {wrong}; or {ASSEMBLE}.")
        where = "lie" if edge.joint.coincident else "lie off its line or plane,"
        free = [x for x in (0.5 * (a + b), a, b) if first.point(x) is not None and second.point(x) is not None]
        remedy = f"place the joint with at={_shown(free[0])}" if free else "join other ports"
        raise ModelError(
            f"joint '{name}': ports '{edge.first}' at {_shown(a)} and '{edge.second}' at {_shown(b)} {where} {gap:.4g} m "
            f"apart (tolerance {tolerance:.2g} m). Bring the bodies together, {remedy}, or {ASSEMBLE}."
        )
    return attachment


def _shown(x: Array) -> str:
    return "(" + ", ".join(f"{value:.6g}" for value in x) + ")"


class UnlikeModels(ModelError):
    """Models that cannot stand side by side: which of them are alike."""

    def __init__(self, groups: list[list[int]]) -> None:
        super().__init__("models that are not alike stand side by side")
        self.groups = groups


def check_alike(parted: Parted, bodies: Iterable[str], joints: Iterable[Any], forces: Iterable[Any]) -> None:
    """Stiffness is chosen anew at every tick in all of them, or in none; `joints`, `forces`: their stacks."""
    turning: set[str] = set()
    for stack in joints:
        uneven = [stack.names[row] for row in np.flatnonzero(stack.uneven[: stack.count])]
        turning.update(stack.names if stack.form.turns else uneven)
    turning.update(*(stack.names for stack in forces if stack.turns))
    models = {parted(name)[1] for name in bodies}
    asked = {parted(name)[1] for name in turning}
    if asked != models:
        raise UnlikeModels([sorted(asked), sorted(models - asked)])
