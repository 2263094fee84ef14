"""Interfaces of models that stand side by side in one system: each closes its joints by itself, as if it stood alone.

So a step of one does not know how many rounds another takes, and its bits are those of its single run. What all rows do alike is
played for many models at once (advance_together.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np

from coordinator.couplings.interface.interface import Interface
from coordinator.couplings.interface.members import Members, ranges_of, rows_of
from coordinator.engine.program import perform
from coordinator.system import System
from modular.elements import GAIN_STEP, TIME, Indices
from modular.kernel import kernel
from modular.loop import NO_FAILED_ROW, call, loop
from modular.table import Number, Table
from modular.views import View

PLAYED = ("advance", "compute_reactions", "settle", "update_operator")  # verbs, in the order of their addresses


class SideBySide(Table):
    """The interfaces of several models of one system."""

    sheets: Indices  # of the interfaces, one after the other
    addresses: Indices  # of the loops that interfaces play as a whole
    model_count: Number
    elements_sheet: Number

    def __init__(self, system: System, stages: Sequence[float], local: tuple[str, int] | None = None) -> None:
        super().__init__(1)
        self.system, self.stages, self.local = system, np.array(stages, float), local
        self.key = system.version, id(system), id(system.elements), system.elements.sheet
        self.stretch("sheets", dtype=np.int64)
        self.stretch("addresses", dtype=np.int64)
        self.fixed("model_count", dtype=np.int64)
        self.fixed("elements_sheet", dtype=np.int64)
        self.parts = [Interface(system, stages, local, members) for members in members_of(system)]
        self.names = [str(part.names[0]) for part in self.parts]
        self.lay("sheets", np.array([part.sheet for part in self.parts], np.int64))
        self.model_count, self.elements_sheet = len(self.parts), system.elements.sheet
        self.lay("addresses", np.zeros(len(PLAYED), np.int64))
        self.loops = dict(LOOPS)
        self.compiled = all(part.compiled for part in self.parts)
        self._met = -1

    @classmethod
    def of(cls, system: System, stages: Sequence[float], local: tuple[str, int] | None = None) -> SideBySide:
        """Those of a system now."""
        key = system.version, id(system), id(system.elements), system.elements.sheet
        known = system.cache.get("interface")
        if known is None or known.key != key or known.stages.tolist() != list(stages):
            known = system.cache["interface"] = cls(system, stages, local)
        return cast(SideBySide, known)

    def prepare(self, verb: str) -> None:
        """Stacks are those of all: what one interface needs of them, all do. At first joints meet."""
        first = self.parts[0]
        first.prepare("")
        for k, played in enumerate(PLAYED):
            self.addresses[k] = first.loops[played].address(first, self.system.elements)
        if verb == "advance" and self._met != self.system.returns:
            self._met = self.system.returns
            clock = self.system.elements.clock
            end, clock[TIME] = clock[TIME], self.system.time(float(clock[GAIN_STEP]))
            self.perform("update_operator")
            clock[TIME] = end

    def perform(self, verb: str) -> str | None:
        """Play one of the verbs of the interfaces; who of the first went wrong, if any."""
        return perform(self.system.elements, [(self, verb)])

    @property
    def counters(self) -> dict[str, float]:
        """Rounds of all."""
        return {"rounds": float(sum(float(part.turns) for part in self.parts))}

    def reason(self, name: str, coupling: str) -> str | None:
        """Why the step of one has found no end."""
        part = next((part for part in self.parts if part.names[0] == name), None)
        return None if part is None else part.reason(name, coupling)

    @property
    def spent(self) -> bool:
        """Whether one has ended for want of iterations."""
        return any(part.spent for part in self.parts)

    @property
    def why(self) -> int:
        """Nobody looks for a shorter step of all."""
        return 0


def members_of(system: System) -> list[Members]:
    """Who takes part in each of the models that stand side by side, in the order of their numbers."""
    parted = system.parted
    assert parted is not None
    names: dict[int, dict[str, list[str]]] = {}
    for kind, members in (("bodies", system.body_home), ("joints", system.joint_home), ("forces", system.force_home)):
        for name in members:
            names.setdefault(parted(name)[1], {}).setdefault(kind, []).append(name)
    found = []
    for model in sorted(names):
        own = names[model]
        uses = [system.home(use) for use in (*own.get("joints", ()), *own.get("forces", ()))]
        elements = [
            start + k
            for home in uses
            for start, count in zip(home.starts, home.counts, strict=True)
            for k in range(count)
        ]
        found.append(
            Members(
                joints=own.get("joints", []),
                stacks=rows_of(system.joints, own.get("joints", ())),
                bodies=rows_of(system.bodies, own.get("bodies", ())),
                forces=rows_of(system.forces, own.get("forces", ())),
                elements=ranges_of(sorted(elements)),
            )
        )
    return found


@kernel
def each(table: View, which: int) -> int:
    """Let every interface play a verb; the first model in which something went wrong, or -1."""
    wrong = NO_FAILED_ROW
    for k in range(table.model_count):
        found = call(table.addresses[which], 0, 1, table.sheets[k], table.elements_sheet)
        if found >= 0 and wrong < 0:
            wrong = k
    return wrong


@loop
def advance_each(start: int, stop: int, table: View, elements: View) -> int:
    """One macro step of each."""
    return each(table, 0)


@loop
def react_each(start: int, stop: int, table: View, elements: View) -> int:
    """Reactions and accelerations of each, as they are at this instant."""
    return each(table, 1)


@loop
def settle_each(start: int, stop: int, table: View, elements: View) -> int:
    """Forces, reactions and accelerations of each."""
    return each(table, 2)


@loop
def update_each(start: int, stop: int, table: View, elements: View) -> int:
    """Where everything of each stands, and what moves against joints."""
    return each(table, 3)


LOOPS = {
    "advance": advance_each, "compute_reactions": react_each, "settle": settle_each, "update_operator": update_each,
}  # fmt: skip
