"""A worker: moves its part from tick to tick, in step with its neighbours.

`ticks` is where it waits: it yields what its neighbours must have said before it can go on. Whoever runs it carries the frames,
in the same process or over a network, and goes on with it; so there is nothing here of threads, sockets or clocks.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator
from typing import Any

from coordinator.couplings.interface.interface import Interface
from coordinator.couplings.interface.talking import Talk
from coordinator.distributed.workers.border import NOTHING
from coordinator.distributed.workers.lent import Lent
from coordinator.distributed.workers.piece import Piece
from coordinator.distributed.workers.stages import Stage
from coordinator.distributed.workers.turns import Turns
from coordinator.engine.crew import share_out
from coordinator.engine.driver import START, STOP, play
from coordinator.engine.guards import changed_by_a_tick
from coordinator.engine.score import ALONE, compiled, perform
from coordinator.engine.score import Part as Verb
from coordinator.record.recorder import Recorder
from modular.elements import TIME, Indices

GLUED = (
    "base_first",
    "base_second",
    "seen_first",
    "seen_second",
)  # what joints show to the interface until the next tick


class Play:
    """Parts of a stage made ready: one call where all are compiled."""

    def __init__(self, parts: list[Verb], piece: Piece) -> None:
        self.parts, self.elements = parts, piece.system.elements
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

    def __init__(self, stage: Stage, heard: str, piece: Piece) -> None:
        """`heard`: what has just come in from the neighbours."""
        self.talks = any(isinstance(stack, Interface) for stack, _ in stage.parts)  # with others, in the middle of it
        hearing: list[Verb] = [(border, f"hear {heard}") for border in piece.hearing.values()] if heard else []
        telling: list[Verb] = (
            [(border, f"tell {stage.kind}") for border in piece.telling.values()] if stage.kind else []
        )
        self.kind = stage.kind
        self.before = Play([*hearing, *stage.parts, *stage.saying, *telling], piece)
        self.meanwhile: Play | None = None
        if telling and self.before.program is not None:
            self.meanwhile = Play(stage.saying, piece)
            self._divide(piece, self.before.program, self.meanwhile, len(hearing) + len(stage.parts))

    @staticmethod
    def _divide(piece: Piece, before: Indices, meanwhile: Play, start: int) -> None:
        """Rows at the border before, all others meanwhile."""
        after = meanwhile.program
        assert after is not None  # its parts are among those of `before`, which are compiled
        for k, (stack, _) in enumerate(meanwhile.parts, start):
            before[k, STOP] = after[k - start, START] = piece.at_border[id(stack)]


class Worker:
    """Moves a part of a mechanism."""

    def __init__(self, piece: Piece) -> None:
        self.piece = piece
        self.recorder = Recorder(piece.every)
        self.stopped: str | None = None  # why it did not go on, where it did not
        self.began, self.working = piece.system.tick, 0.0  # [s]
        self.open = False  # whether bodies have predicted for the next tick already
        self.face: Interface | None = None
        stages = piece.stages
        if piece.seated is not None:
            seats, elsewhere = piece.seated
            self.face = face = Interface.of_part(
                piece.system, seats, elsewhere, piece.telling, piece.hearing, piece.at_border
            )
            stages = stages.for_tables(lambda table: face if table is seats else table)
        self.to_begin = True  # whether the interface has to stand where the part begins
        begin, heard = self._ready(stages.begin, NOTHING)
        first, again = self._ready(stages.first, heard)
        shown, seen = self._ready(stages.shown, NOTHING)
        self.rounds = {"begin": begin, "first": first, "again": self._ready(stages.again, again)[0], "shown": shown}
        self.rounds["end"], _ = self._ready(stages.end, NOTHING)
        self.look = Play([(border, f"hear {seen}") for border in piece.hearing.values()], piece)
        self._memory: tuple[int, bool, list[tuple[Any, Any]]] = (0, False, [])
        self._black_boxes = [bodies for bodies in piece.system.bodies if isinstance(bodies, Lent)]
        self._saved: list[Any] = []
        piece.system.elements.clock[:] = piece.dt, 0.0, piece.dt
        self.keep()

    def _ready(self, stages: list[Stage], heard: str) -> tuple[list[Ready], str]:
        """Stages made ready, and what has come in when they are over."""
        found = []
        for stage in stages:
            found.append(Ready(stage, heard, self.piece))
            heard = stage.kind
        return found, heard

    @property
    def tick(self) -> int:
        """Where it stands."""
        return self.piece.system.tick

    @property
    def checks(self) -> dict[str, Play]:
        """What is asked before a tick, after it, and at its end: whether a joint breaks, a condition came true, a ledger leaks."""
        watched, guards = self.piece.watched, self.piece.guards
        return {
            "watch": Play([] if watched is None else [(watched, "watch")], self.piece),
            "guard": Play([] if guards is None else [(guards, "guard")], self.piece),
            "leaks": Play(self.piece.leaks, self.piece),
        }

    # --- ticks -----------------------------------------------------------------------------------------------------

    def ticks(self, last: int) -> Iterator[str]:
        """Go on to tick `last`; yields what has to be heard before it can go on, twice: when said, and when needed.

        And NOTHING at the end of each tick.
        """
        system, every, clock = self.piece.system, self.piece.every, self.piece.system.elements.clock
        self.stopped = None
        while system.tick < last and not self._breaks():
            clock[TIME] = (system.tick + 1.0) * self.piece.dt
            if not self.open:
                yield from self._play(self.rounds["begin"])
            wrong = yield from self._play(self.rounds["again"] if self.open else self.rounds["first"])
            if wrong is not None:
                self.stopped = wrong
                return
            self.open = True
            system.tick += 1
            due = system.tick % every == 0
            if due or self.piece.must_look:
                wrong = yield from self._play(self.rounds["end"])
                self.open = False
                if wrong is not None:
                    self.stopped = wrong
                    system.tick -= 1
                    return
            if self._comes_true():
                system.tick -= 1
                return
            if due:
                yield from self._play(self.rounds["shown"])
                self.look()
                self.recorder.record(system)
            leaks = self._leaks_too_much()
            yield NOTHING
            if leaks:
                return

    def settle(self) -> None:
        """Let everything be as at the end of a tick, to be looked at."""
        if self.open:
            for stage in self.rounds["end"]:  # nobody across has to hear of it: else it was played at every tick
                if not stage.talks:  # else it is left to those who have the whole
                    stage.before()
            self.open = False

    def _play(self, stages: list[Ready]) -> Generator[str, None, str | None]:
        """The name of a body that went wrong, if any, or what a component has raised: then the tick is not for workers."""
        wrong: str | None = None
        for stage in stages:
            if stage.talks:
                wrong = (yield from self._talked(stage.before)) or wrong
                continue
            wrong = self._tried(stage.before) or wrong
            if stage.kind:
                yield stage.kind
                if stage.meanwhile is not None:
                    wrong = self._tried(stage.meanwhile) or wrong
                yield stage.kind
        return wrong

    def _talked(self, play: Play) -> Generator[str, None, str | None]:
        """The same where others have to be heard in the middle of it, as often as it takes."""
        talk = self.begin_talk()

        def act() -> str | None:
            wrong = play()
            self.end_talk()
            return wrong

        turns, wrong = Turns(act), None
        talk.pause = turns.pause
        try:
            while (kind := self._timed(turns.go_on)) is not None:
                yield kind
                yield kind
            wrong = turns.result
        except Exception as error:
            wrong = told(error)
        finally:
            turns.close()
        return wrong or ("the interface" if talk.lost else None)

    def begin_talk(self) -> Talk:
        """Before anything in whose middle others have to be heard."""
        face = self.face
        assert face is not None and face.talk is not None
        if self.to_begin:
            face.begin_part()
            self.to_begin = False
        face.talk.begin()
        return face.talk

    def end_talk(self) -> None:
        """And after it; raises what somebody's component has raised meanwhile."""
        assert self.face is not None
        self.face.end_part()

    def _timed(self, act: Callable[[], Any]) -> Any:
        started = time.perf_counter()
        try:
            return act()
        finally:
            self.working += time.perf_counter() - started

    def _tried(self, play: Play) -> str | None:
        try:
            name: str | None = self._timed(play)
            return name
        except Exception as error:  # of somebody's component; the simulation takes this tick itself, and raises it
            return told(error)

    def _breaks(self) -> bool:
        """Whether a limited joint breaks before the next tick."""
        watched = self.piece.watched
        if watched is None or watched.play("watch", self.piece.system.elements) < 0:
            return False
        self.stopped = "breaks"
        return True

    def _comes_true(self) -> bool:
        """Whether a condition has come true in this tick, which then is not for workers."""
        if self.piece.guards is None or self.piece.guards.play("guard", self.piece.system.elements) < 0:
            return False
        self.stopped = "condition"
        return True

    def _leaks_too_much(self) -> bool:
        """Whether an alarm has to ring after this tick."""
        elements = self.piece.system.elements
        if all(stack.play(verb, elements) < 0 for stack, verb in self.piece.leaks):
            return False
        self.stopped = "leak"
        return True

    # --- going back ------------------------------------------------------------------------------------------------

    @property
    def kept(self) -> int:
        """The tick of which it remembers how everything stood."""
        return self._memory[0]

    def keep(self) -> None:
        """Remember how everything stands; what was recorded has been taken over."""
        self.recorder = Recorder(self.recorder.every)
        self._memory = self.tick, self.open, [(array, array.copy()) for array in self._changing()]
        self._saved = [bodies.save() for bodies in self._black_boxes]

    def go_back(self) -> None:
        """Stand as at the last `keep`, with nothing recorded since."""
        self.piece.system.tick, self.open, arrays = self._memory
        for array, before in arrays:
            array[...] = before
        for bodies, memory in zip(self._black_boxes, self._saved, strict=True):
            bodies.restore(memory)
        self.to_begin = True
        self.recorder = Recorder(self.recorder.every)

    def _changing(self) -> list[Any]:
        """All that a tick changes and the next one reads, also where bodies have predicted already."""
        watched, guards, elements = self.piece.watched, self.piece.guards, self.piece.system.elements
        found: list[Any] = [*changed_by_a_tick(self.piece.system)]
        found += [elements.position, elements.velocity, elements.current_velocity]
        found += [border.state for border in self.piece.hearing.values()]  # heard, and not yet taken in
        if watched is not None:
            found += [watched.seen, watched.before, watched.once, watched.twice]
        if self.piece.seated is not None:
            found += [self.piece.seated[1].numbers]
            found += [getattr(joints, name) for joints in self.piece.system.joints for name in GLUED]
        return found if guards is None else [*found, guards.side]


def told(error: Exception) -> str:
    """What somebody's component has raised."""
    return f"{type(error).__name__}: {error}"
