"""A worker: moves its shard from tick to tick, in step with its neighbours.

`ticks` is where it waits: it yields what its neighbours must have said before it can go on. Whoever runs it carries the frames,
in the same process or over a network, and goes on with it; so there is nothing here of threads, sockets or clocks.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator
from typing import Any

from coordinator.couplings.interface.collectives import Collectives
from coordinator.couplings.interface.interface import Interface
from coordinator.distributed.workers.black_box_shard import BlackBoxShard
from coordinator.distributed.workers.halo import NO_CONTENT
from coordinator.distributed.workers.shard import Shard, Stage
from coordinator.distributed.workers.thread_coroutine import ThreadCoroutine
from coordinator.engine.driver import START, STOP, play
from coordinator.engine.guards import changed_by_a_tick
from coordinator.engine.program import NO_BARRIER, Operation, compiled, perform, watching
from coordinator.engine.threads import divide_among_threads
from coordinator.record.recorder import Recorder
from modular.elements import TIME, Indices

GLUED = (
    "base_first",
    "base_second",
    "seen_first",
    "seen_second",
)  # what joints show to the interface until the next tick


class Play:
    """Operations of a stage made ready: one call where all are compiled."""

    def __init__(self, operations: list[Operation], shard: Shard) -> None:
        self.operations, self.elements = operations, shard.system.elements
        self.program: Indices | None = None
        if all(map(compiled, operations)):
            self.program = divide_among_threads(operations, self.elements, 1)[0]

    def __call__(self) -> str | None:
        """Play; the name of a body that went wrong, if any."""
        if self.program is None:
            return perform(self.elements, self.operations)
        part, row = play(self.program, self.elements.sheet, NO_BARRIER, 1)
        return None if part < 0 else str(self.operations[part][0].names[row])


class Ready:
    """A stage made ready: what bodies at the boundary say goes out before the others move."""

    def __init__(self, stage: Stage, heard: str, shard: Shard) -> None:
        """`heard`: what has just come in from the neighbours."""
        # with others, in the middle of it
        self.collective = any(isinstance(stack, Interface) for stack, _ in stage.operations)
        incoming: list[Operation] = [(halo, f"unpack {heard}") for halo in shard.incoming.values()] if heard else []
        outgoing: list[Operation] = (
            [(halo, f"pack {stage.kind}") for halo in shard.outgoing.values()] if stage.kind else []
        )
        self.kind = stage.kind
        self.before = Play([*incoming, *stage.operations, *stage.sending, *outgoing], shard)
        self.meanwhile: Play | None = None
        if outgoing and self.before.program is not None:
            self.meanwhile = Play(stage.sending, shard)
            self._divide(shard, self.before.program, self.meanwhile, len(incoming) + len(stage.operations))

    @staticmethod
    def _divide(shard: Shard, before: Indices, meanwhile: Play, start: int) -> None:
        """Rows at the boundary before, all others meanwhile."""
        after = meanwhile.program
        assert after is not None  # its operations are among those of `before`, which are compiled
        for k, (stack, _) in enumerate(meanwhile.operations, start):
            before[k, STOP] = after[k - start, START] = shard.boundary_rows[id(stack)]


class Worker:
    """Moves a shard of a mechanism."""

    def __init__(self, shard: Shard) -> None:
        self.shard = shard
        self.recorder = Recorder(shard.every)
        self.stopped: str | None = None  # why it did not go on, where it did not
        self.began, self.working = shard.system.tick, 0.0  # [s]
        self.open = False  # whether bodies have predicted for the next tick already
        self.interface: Interface | None = None
        stages = shard.stages
        if shard.glued_joints is not None:
            interface_joints, remote = shard.glued_joints
            self.interface = interface = Interface.of_part(
                shard.system, interface_joints, remote, shard.outgoing, shard.incoming, shard.boundary_rows
            )
            stages = stages.for_tables(lambda table: interface if table is interface_joints else table)
        self.to_begin = True  # whether the interface has to stand where the part begins
        prologue, heard = self._ready(stages.prologue, NO_CONTENT)
        first, again = self._ready(stages.first_tick, heard)
        shown, seen = self._ready(stages.shown, NO_CONTENT)
        self.ready_stages = {
            "prologue": prologue,
            "first_tick": first,
            "next_ticks": self._ready(stages.next_ticks, again)[0],
            "shown": shown,
        }
        self.ready_stages["epilogue"], _ = self._ready(stages.epilogue, NO_CONTENT)
        self.look = Play([(halo, f"unpack {seen}") for halo in shard.incoming.values()], shard)
        self._snapshot: tuple[int, bool, list[tuple[Any, Any]]] = (0, False, [])
        self._black_boxes = [bodies for bodies in shard.system.bodies if isinstance(bodies, BlackBoxShard)]
        self._saved: list[Any] = []
        shard.system.elements.clock[:] = shard.dt, 0.0, shard.dt
        self.snapshot()

    def _ready(self, stages: list[Stage], heard: str) -> tuple[list[Ready], str]:
        """Stages made ready, and what has come in when they are over."""
        found = []
        for stage in stages:
            found.append(Ready(stage, heard, self.shard))
            heard = stage.kind
        return found, heard

    @property
    def tick(self) -> int:
        """Where it stands."""
        return self.shard.system.tick

    @property
    def checks(self) -> dict[str, Play]:
        """What is asked before a tick, after it, and at its end: whether a joint breaks or a surface has strayed, a condition came
        true, a ledger leaks."""
        watched, guards = self.shard.watched, self.shard.guards
        before = [*([] if watched is None else [(watched, "watch")]), *watching(self.shard.system)]
        return {
            "watch": Play(before, self.shard),
            "guard": Play([] if guards is None else [(guards, "guard")], self.shard),
            "leaks": Play(self.shard.leaks, self.shard),
        }

    # --- ticks -----------------------------------------------------------------------------------------------------

    def ticks(self, last: int) -> Iterator[str]:
        """Go on to tick `last`; yields what has to be heard before it can go on, twice: when said, and when needed.

        And NOTHING at the end of each tick.
        """
        system, every, clock = self.shard.system, self.shard.every, self.shard.system.elements.clock
        self.stopped = None
        while system.tick < last and not self._breaks():
            clock[TIME] = (system.tick + 1.0) * self.shard.dt
            if not self.open:
                yield from self._play(self.ready_stages["prologue"])
            wrong = yield from self._play(
                self.ready_stages["next_ticks"] if self.open else self.ready_stages["first_tick"]
            )
            if wrong is not None:
                self.stopped = wrong
                return
            self.open = True
            system.tick += 1
            due = system.tick % every == 0
            if due or self.shard.must_look:
                wrong = yield from self._play(self.ready_stages["epilogue"])
                self.open = False
                if wrong is not None:
                    self.stopped = wrong
                    system.tick -= 1
                    return
            if self._comes_true():
                system.tick -= 1
                return
            if due:
                yield from self._play(self.ready_stages["shown"])
                self.look()
                self.recorder.record(system)
            leaks = self._leaks_too_much()
            yield NO_CONTENT
            if leaks:
                return

    def settle(self) -> None:
        """Let everything be as at the end of a tick, to be looked at."""
        if self.open:
            # nobody across has to hear of it: else it was played at every tick
            for stage in self.ready_stages["epilogue"]:
                if not stage.collective:  # else it is left to those who have the whole
                    stage.before()
            self.open = False

    def _play(self, stages: list[Ready]) -> Generator[str, None, str | None]:
        """The name of a body that went wrong, if any, or what a component has raised: then the tick is not for workers."""
        wrong: str | None = None
        for stage in stages:
            if stage.collective:
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
        collectives = self.begin_collectives()

        def act() -> str | None:
            wrong = play()
            self.end_talk()
            return wrong

        coroutine, wrong = ThreadCoroutine(act), None
        collectives.pause = coroutine.pause
        try:
            while (kind := self._timed(coroutine.resume)) is not None:
                yield kind
                yield kind
            wrong = coroutine.result
        except Exception as error:
            wrong = sentence_of(error)
        finally:
            coroutine.close()
        return wrong or ("the interface" if collectives.lost else None)

    def begin_collectives(self) -> Collectives:
        """Before anything in whose middle others have to be heard."""
        interface = self.interface
        assert interface is not None and interface.collectives is not None
        if self.to_begin:
            interface.begin_part()
            self.to_begin = False
        interface.collectives.begin()
        return interface.collectives

    def end_talk(self) -> None:
        """And after it; raises what somebody's component has raised meanwhile."""
        assert self.interface is not None
        self.interface.end_part()

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
            return sentence_of(error)

    def _breaks(self) -> bool:
        """Whether a limited joint breaks before the next tick, or a surface has strayed."""
        watched, system = self.shard.watched, self.shard.system
        broken = watched is not None and watched.play("watch", system.elements) >= 0
        strayed = any(stack.play(verb, system.elements) >= 0 for stack, verb in watching(system))
        if not broken and not strayed:
            return False
        self.stopped = "breaks"
        return True

    def _comes_true(self) -> bool:
        """Whether a condition has come true in this tick, which then is not for workers."""
        if self.shard.guards is None or self.shard.guards.play("guard", self.shard.system.elements) < 0:
            return False
        self.stopped = "condition"
        return True

    def _leaks_too_much(self) -> bool:
        """Whether an alarm has to ring after this tick."""
        elements = self.shard.system.elements
        if all(stack.play(verb, elements) < 0 for stack, verb in self.shard.leaks):
            return False
        self.stopped = "leak"
        return True

    # --- going back ------------------------------------------------------------------------------------------------

    @property
    def snapshot_tick(self) -> int:
        """The tick of which it remembers how everything stood."""
        return self._snapshot[0]

    def snapshot(self) -> None:
        """Remember how everything stands; what was recorded has been taken over."""
        self.recorder = Recorder(self.recorder.every)
        self._snapshot = self.tick, self.open, [(array, array.copy()) for array in self._changing()]
        self._saved = [bodies.save() for bodies in self._black_boxes]

    def rollback(self) -> None:
        """Stand as at the last `keep`, with nothing recorded since."""
        self.shard.system.tick, self.open, arrays = self._snapshot
        for array, before in arrays:
            array[...] = before
        for bodies, memory in zip(self._black_boxes, self._saved, strict=True):
            bodies.restore(memory)
        self.to_begin = True
        self.recorder = Recorder(self.recorder.every)

    def _changing(self) -> list[Any]:
        """All that a tick changes and the next one reads, also where bodies have predicted already."""
        watched, guards, elements = self.shard.watched, self.shard.guards, self.shard.system.elements
        found: list[Any] = [*changed_by_a_tick(self.shard.system)]
        found += [elements.position, elements.velocity, elements.current_velocity]
        found += [halo.state for halo in self.shard.incoming.values()]  # heard, and not yet taken in
        if watched is not None:
            found += [watched.seen, watched.before, watched.once, watched.twice]
        if self.shard.glued_joints is not None:
            found += [self.shard.glued_joints[1].numbers]
            found += [getattr(joints, name) for joints in self.shard.system.joints for name in GLUED]
        return found if guards is None else [*found, guards.side]


def sentence_of(error: Exception) -> str:
    """What somebody's component has raised."""
    return f"{type(error).__name__}: {error}"
