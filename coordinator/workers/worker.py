"""A worker: moves its part from tick to tick, in step with its neighbours.

`ticks` is where it waits: it yields what its neighbours must have said before it can go on. Whoever runs it carries the frames,
in the same process or over a network, and goes on with it; so there is nothing here of threads, sockets or clocks.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import Any

from coordinator.engine.crew import share_out
from coordinator.engine.driver import START, STOP, play
from coordinator.engine.guards import Guards, changed_by_a_tick
from coordinator.record.recorder import Recorder
from coordinator.score import ALONE, compiled, perform
from coordinator.score import Part as Verb
from coordinator.workers.border import NOTHING
from coordinator.workers.part import Part
from coordinator.workers.stages import Stage, Stages
from modular.elements import TIME, Indices


class Play:
    """Parts of a stage made ready: one call where all are compiled."""

    def __init__(self, parts: list[Verb], part: Part) -> None:
        self.parts, self.elements = parts, part.system.elements
        self.program: Indices | None = None
        if all(map(compiled, parts)):
            self.program = share_out(parts, self.elements, 1)[0]

    def __call__(self) -> str | None:
        """Play; the name of a body that went wrong, if any."""
        if self.program is None:
            return perform(self.elements, self.parts)
        part, row = play(self.program, self.elements.sheet, ALONE, 1)
        return None if part < 0 else str(self.parts[part][0].names[row])


class Ready:
    """A stage made ready: what bodies at the border say goes out before the others move."""

    def __init__(self, stage: Stage, heard: str, part: Part) -> None:
        """`heard`: what has just come in from the neighbours."""
        hearing: list[Verb] = [(border, f"hear {heard}") for border in part.hearing.values()] if heard else []
        telling: list[Verb] = [(border, f"tell {stage.kind}") for border in part.telling.values()] if stage.kind else []
        self.kind = stage.kind
        whole = all(map(compiled, stage.saying))
        self.before = Play([*hearing, *stage.parts, *stage.saying, *telling], part)
        self.meanwhile: Play | None = None
        if whole and stage.kind != NOTHING and part.telling:
            self.meanwhile = Play(list(stage.saying), part)
            assert self.before.program is None or self.meanwhile.program is not None
            self._divide(part, len(hearing) + len(stage.parts), len(stage.saying))

    def _divide(self, part: Part, start: int, count: int) -> None:
        """Rows at the border before, all others meanwhile."""
        before, after = self.before.program, self.meanwhile.program if self.meanwhile is not None else None
        if before is None or after is None:
            self.meanwhile = None
            return
        border = {id(share.part): share.border for share in part.shares.values()}
        for k in range(count):
            stack = self.before.parts[start + k][0]
            before[start + k, STOP] = after[k, START] = border[id(stack)]


class Worker:
    """Moves a part of a mechanism."""

    def __init__(
        self, part: Part, stages: Stages, dt: float, every: int, leaks: list[Verb], guards: Guards | None = None
    ) -> None:
        """`leaks`: what rings where a ledger leaks too much; `guards`: conditions on what moves here."""
        self.part, self.dt = part, dt
        self.recorder = Recorder(every)
        self._leaks, self.guards = leaks, guards
        self.must_look = bool(leaks) or guards is not None  # at the end of every tick; the same for all workers
        self.stopped: str | None = None  # why it did not go on, where it did not
        mine = stages.for_tables(part.table_of)
        self._begin, first = self._ready(mine.begin, NOTHING)
        self._first, again = self._ready(mine.first, first)
        self._again, _ = self._ready(mine.again, again)
        self._end, _ = self._ready(mine.end, NOTHING)
        self._shown, shown = self._ready(mine.shown, NOTHING)
        self._look = Play([(border, f"hear {shown}") for border in part.hearing.values()], part)
        self._memory: list[Any] = []
        part.system.elements.clock[:] = dt, 0.0, dt
        self.keep()

    def _ready(self, stages: list[Stage], heard: str) -> tuple[list[Ready], str]:
        """Stages made ready, and what has come in when they are over."""
        found = []
        for stage in stages:
            found.append(Ready(stage, heard, self.part))
            heard = stage.kind
        return found, heard

    @property
    def tick(self) -> int:
        """Where it stands."""
        return self.part.system.tick

    # --- ticks -----------------------------------------------------------------------------------------------------

    def ticks(self, last: int) -> Iterator[str]:
        """Go on to tick `last`; yields what has to be heard before it can go on, twice: when said, and when needed."""
        system, recorder, clock = self.part.system, self.recorder, self.part.system.elements.clock
        self.stopped, open_ = None, False
        while system.tick < last and not self._breaks():
            clock[TIME] = (system.tick + 1.0) * self.dt
            if not open_:
                yield from self._play(self._begin)
            wrong = yield from self._play(self._again if open_ else self._first)
            if wrong is not None:
                self.stopped = wrong
                return
            open_ = True
            system.tick += 1
            due = system.tick % recorder.every == 0
            if due or self.must_look:
                yield from self._play(self._end)
                open_ = False
            if self._comes_true():
                system.tick -= 1
                return
            if due:
                yield from self._play(self._shown)
                self._look()
                recorder.record(system)
            if self._leaks_too_much():
                return
        if open_:
            yield from self._play(self._end)

    def _play(self, stages: list[Ready]) -> Generator[str, None, str | None]:
        wrong: str | None = None
        for stage in stages:
            wrong = stage.before() or wrong
            if stage.kind:
                yield stage.kind
                if stage.meanwhile is not None:
                    wrong = stage.meanwhile() or wrong
                yield stage.kind
        return wrong

    def _breaks(self) -> bool:
        """Whether a limited joint breaks before the next tick."""
        watched = self.part.watched
        if watched is None or watched.play("watch", self.part.system.elements) < 0:
            return False
        self.stopped = "breaks"
        return True

    def _comes_true(self) -> bool:
        """Whether a condition has come true in this tick, which then is not for workers."""
        if self.guards is None or self.guards.play("guard", self.part.system.elements) < 0:
            return False
        self.stopped = "condition"
        return True

    def _leaks_too_much(self) -> bool:
        """Whether an alarm has to ring after this tick."""
        elements = self.part.system.elements
        if all(stack.play(verb, elements) < 0 for stack, verb in self._leaks):
            return False
        self.stopped = "leak"
        return True

    # --- going back ------------------------------------------------------------------------------------------------

    def keep(self) -> None:
        """Remember how everything stands; what was recorded has been taken over."""
        self.recorder = Recorder(self.recorder.every)
        self._memory = [self.tick, [(array, array.copy()) for array in self._changing()]]

    def go_back(self) -> None:
        """Stand as at the last `keep`, with nothing recorded since."""
        tick, arrays = self._memory
        for array, before in arrays:
            array[...] = before
        self.part.system.tick = tick
        self.recorder = Recorder(self.recorder.every)

    def _changing(self) -> list[Any]:
        """All that a tick changes and the next one reads."""
        watched = self.part.watched
        found: list[Any] = [*changed_by_a_tick(self.part.system)]
        if watched is not None:
            found += [watched.seen, watched.before, watched.once, watched.twice]
        return found if self.guards is None else [*found, self.guards.side]
