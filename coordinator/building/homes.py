"""Where joints and forces of a running system live."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from modular.assembly import JointEdge
from modular.force import Forces
from modular.joint import Attachment
from modular.joints import Joints
from modular.side import Mark


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


class JointHomes(Mapping[str, JointHome]):
    """Where every joint lives, in the order in which they were made; of a plain one it is worked out when asked for."""

    def __init__(self, system: HasJoints) -> None:
        self._system = system
        self._known: dict[str, JointHome | JointEdge] = {}

    def __getitem__(self, name: str) -> JointHome:
        found = self._known[name]
        if isinstance(found, JointHome):
            return found
        return JointHome(name, next(stack for stack in self._system.joints if name in stack.row), found)

    def __contains__(self, name: object) -> bool:
        return name in self._known

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)

    def edge(self, name: str) -> JointEdge:
        """Between what a joint stands."""
        found = self._known[name]
        return found.edge if isinstance(found, JointHome) else found

    def facts(self, only: Iterable[str] | None = None) -> dict[str, dict[str, Any]]:
        """How the equations of joints are written, and whom they join: of all, stack by stack, or of some."""
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

    def leave(self, name: str) -> JointHome:
        """A joint is cut."""
        home = self[name]
        del self._known[name]
        return home


@dataclass(slots=True)
class ForceHome:
    """Where a force lives."""

    stack: Forces
    owners: list[str]
    starts: list[int]
    counts: list[int]
    marks: list[list[Mark]]  # what it took hold of, per side
