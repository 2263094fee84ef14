"""A score with borders: where in a tick workers have to hear from each other.

All workers play the same stages in the same order, each on its own rows. A stage ends where bodies have said what joints
across a border must see. Bodies at the border go first, so that what they say is on its way while the others move.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from coordinator.distributed.workers.border import NOTHING, RATE, SAID_BY
from coordinator.engine.score import Part, Rounds


@dataclass
class Stage:
    """Parts to be played, the last of which say what neighbours must hear; `NOTHING` where nobody waits for it."""

    parts: list[Part] = field(default_factory=list)
    saying: list[Part] = field(default_factory=list)  # by bodies
    kind: str = NOTHING


@dataclass
class Stages:
    """The rounds of a score (coordinator/engine/score.py) in stages, and what a sample needs."""

    begin: list[Stage]
    first: list[Stage]
    again: list[Stage]
    end: list[Stage]
    shown: list[Stage]

    @classmethod
    def of(cls, rounds: Rounds, shown: list[Part], *, books: bool = False) -> Stages:
        """Cut into stages.

        At the end of a tick nobody looks across, but for a sample (`shown`): each neighbour books the work on its own side.
        With `books` both book all of it at every tick.
        """
        said = {**SAID_BY, "correct": RATE} if books else SAID_BY
        end = cut(rounds.end, {"show": RATE} if books else {})
        return cls(cut(rounds.begin, said), cut(rounds.first, said), cut(rounds.again, said), end, cut(shown, said))

    def for_tables(self, table_of: Callable[[Any], Any]) -> Stages:
        """The same for the tables of a part; `table_of` gives None for what the part has nothing of."""

        def mine(parts: Iterable[Part]) -> list[Part]:
            return [(table, verb) for stack, verb in parts if (table := table_of(stack)) is not None]

        def each(stages: list[Stage]) -> list[Stage]:
            return [Stage(mine(stage.parts), mine(stage.saying), stage.kind) for stage in stages]

        return Stages(each(self.begin), each(self.first), each(self.again), each(self.end), each(self.shown))


def cut(parts: Iterable[Part], said: Mapping[str, str]) -> list[Stage]:
    """Stages of a list of parts: each ends with the last body that says a thing; `said`: what, by the name of the part."""
    stages: list[Stage] = [Stage()]
    for stack, verb in parts:
        kind, last = said.get(verb, NOTHING), stages[-1]
        if last.kind not in (NOTHING, kind):
            last = Stage()
            stages.append(last)
        if kind == NOTHING:
            last.parts.append((stack, verb))
        else:
            last.saying.append((stack, verb))
            last.kind = kind
    return stages if stages[0].parts or stages[0].saying else []
