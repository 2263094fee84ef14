"""A program with halo exchanges: where in a tick workers have to hear from each other.

All workers play the same stages in the same order, each on its own rows. A stage ends where bodies have said what joints
across a boundary must see. Bodies at the boundary go first, so that what they say is on its way while the others move.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from coordinator.distributed.workers.halo import NO_CONTENT, RATE, SENT_AFTER
from coordinator.engine.program import Operation, TickProgram


@dataclass
class Stage:
    """Operations to be played, the last of which say what neighbours must hear; `NOTHING` where nobody waits for it."""

    operations: list[Operation] = field(default_factory=list)
    sending: list[Operation] = field(default_factory=list)  # by bodies
    kind: str = NO_CONTENT


@dataclass
class Stages:
    """The program of a tick (coordinator/engine/program.py) in stages, and what a sample needs."""

    prologue: list[Stage]
    first_tick: list[Stage]
    next_ticks: list[Stage]
    epilogue: list[Stage]
    shown: list[Stage]

    @classmethod
    def of(cls, program: TickProgram, shown: list[Operation], *, books: bool = False) -> Stages:
        """Cut into stages.

        At the end of a tick nobody looks across, but for a sample (`shown`): each neighbour books the work on its own side.
        With `books` both book all of it at every tick.
        """
        said = {**SENT_AFTER, "correct": RATE} if books else SENT_AFTER
        end = cut(program.epilogue, {"show": RATE} if books else {})
        return cls(
            cut(program.prologue, said),
            cut(program.first_tick, said),
            cut(program.next_ticks, said),
            end,
            cut(shown, said),
        )

    def for_tables(self, table_of: Callable[[Any], Any]) -> Stages:
        """The same for the tables of a subsystem; `table_of` gives None for what the subsystem has nothing of."""

        def mine(operations: Iterable[Operation]) -> list[Operation]:
            return [(table, verb) for stack, verb in operations if (table := table_of(stack)) is not None]

        def each(stages: list[Stage]) -> list[Stage]:
            return [Stage(mine(stage.operations), mine(stage.sending), stage.kind) for stage in stages]

        return Stages(
            each(self.prologue), each(self.first_tick), each(self.next_ticks), each(self.epilogue), each(self.shown)
        )


def cut(operations: Iterable[Operation], said: Mapping[str, str]) -> list[Stage]:
    """Stages of a list of operations: each ends with the last body that says a thing; `said`: what, by the verb."""
    stages: list[Stage] = [Stage()]
    for stack, verb in operations:
        kind, last = said.get(verb, NO_CONTENT), stages[-1]
        if last.kind not in (NO_CONTENT, kind):
            last = Stage()
            stages.append(last)
        if kind == NO_CONTENT:
            last.operations.append((stack, verb))
        else:
            last.sending.append((stack, verb))
            last.kind = kind
    return stages if stages[0].operations or stages[0].sending else []
