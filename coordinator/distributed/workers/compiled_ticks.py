"""A worker's ticks in compiled code, as long as everything goes as it should; what is unusual is the protocol's.

The protocol is asked before and told afterwards: which frame is wanted next, and which were posted and taken. So it knows the
same, byte by byte, as if every frame had gone through it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from coordinator.couplings.interface.collectives import SENT_COLUMNS
from coordinator.distributed import protocol
from coordinator.distributed.protocol.frames import Header
from coordinator.distributed.transports.by_address import Wire
from coordinator.distributed.workers import driver
from coordinator.distributed.workers.driver import HEAD_BYTES, WORD, drive_shard, swap
from coordinator.distributed.workers.halo import ANSWER, BOUND, FREE, NO_CONTENT, RATE, STATE
from coordinator.distributed.workers.thread_coroutine import ThreadCoroutine
from coordinator.distributed.workers.worker import Play, Ready, Worker
from coordinator.engine.program import Operation
from modular.elements import Indices

KINDS = (STATE, RATE, ANSWER, FREE, BOUND)
MAX_UNREPORTED_FRAMES = 1024  # that are written before the protocol is told of them, at most
MAX_UNREPORTED_BYTES = 1 << 19  # of them
ANEW = [
    driver.POSTED, driver.TAKEN, driver.WORDS, driver.WORKING, driver.WAITING, driver.BEGAN,
]  # fmt: skip
MAX_UNINTERRUPTED = 50_000  # without looking after others than neighbours, while all goes well [us]


class CompiledTicks:
    """Compiled ticks of one worker in one run."""

    def __init__(self, worker: Worker, wire: Wire, names: Sequence[str]) -> None:
        """`names` of all workers; only where `possible`."""
        self.worker, self.wire = worker, wire
        shard = worker.shard
        self.kinds = KINDS if worker.interface is None else (*KINDS, *SENT_COLUMNS)
        self.coroutine: ThreadCoroutine | None = None  # while ticks pause in the middle of a part
        self._kind = 0  # what they wait for there
        self.neighbours = sorted(shard.outgoing)
        self.names = [names[other] for other in self.neighbours]
        self.operations: list[Operation] = []
        self._programs: list[Indices] = []
        self.state: Indices = np.zeros(driver.STATES, np.int64)
        self.state[[driver.EVERY, driver.MUST_LOOK, driver.LATEST]] = shard.every, shard.must_look, MAX_UNINTERRUPTED
        self._tape = self._written(worker)
        self._program_table = np.concatenate([*self._programs, np.zeros((1, 5), np.int64)])
        self._checks = [_program(worker.checks[name]) for name in ("watch", "guard", "leaks")]
        self._said, self._heard = self._frames(shard.outgoing), self._frames(shard.incoming)
        count, most = len(self.neighbours), self._heard[:, :, 1].max(initial=0)
        self.near: Indices = np.zeros((count, 6), np.int64)
        self.near[:, driver.NUMBER] = self.neighbours
        self._out, self._into = np.zeros((2, count, HEAD_BYTES // WORD), np.int64)
        room = max(MAX_UNREPORTED_BYTES, 2 * int(self._said[:, :, 1].sum() + count * HEAD_BYTES))
        self._words = np.zeros(room // WORD, np.uint32)
        self._posted, self._taken = np.zeros((2, MAX_UNREPORTED_FRAMES + count, 4), np.int64)
        self._mail_numbers = np.zeros((most + HEAD_BYTES) // 8 + 1)
        self._early_numbers = np.zeros((count, (most + HEAD_BYTES) // 8 + 1))
        self._headers: list[Any] = [None] * count
        elements = shard.system.elements
        self._fixed: tuple[Any, ...] = (
            self._tape, self._program_table, *self._checks, elements.sheet, elements.clock, shard.dt, wire.numbers, self.near,
            self._out, self._into, self._said, self._heard, self.state, self._words, self._posted, self._taken,
            self._mail_numbers.view(np.uint32), self._mail_numbers, self._early_numbers.view(np.uint32), self._early_numbers,
        )  # fmt: skip
        self._swapped = self._fixed[8:]  # all that has to do with neighbours

    @staticmethod
    def possible(worker: Worker) -> bool:
        """Whether all that a worker plays is compiled."""
        stages = [ready for stages in worker.ready_stages.values() for ready in stages]
        plays = [play for ready in stages for play in (ready.before, ready.meanwhile) if play is not None]
        plays += [worker.look, *worker.checks.values()]
        if worker.interface is not None and not worker.interface.compiled:
            return False
        alike = worker.shard.outgoing.keys() == worker.shard.incoming.keys()
        return alike and all(play.program is not None for play in plays)

    # --- the tape ----------------------------------------------------------------------------------------------------

    def _written(self, worker: Worker) -> Indices:
        """What is done in a tick, in order."""
        tape: list[tuple[int, int, int]] = [(driver.BEGIN, 0, 0)]
        ready_stages = worker.ready_stages
        for place, names in ((driver.OPENING, ("prologue", "first_tick")), (driver.CONTINUING, ("next_ticks",))):
            self.state[place] = len(tape)
            for name in names:
                self._write(tape, ready_stages[name])
            tape.append((driver.MOVED, 0, 0))
        self.state[driver.END] = len(tape)
        self._write(tape, ready_stages["epilogue"])
        tape.append((driver.ENDED, 0, 0))
        self.state[driver.SHOW] = len(tape)
        self._write(tape, ready_stages["shown"])
        tape += [self._play(worker.look), (driver.SHOWN, 0, 0)]
        self.state[driver.REST] = len(tape)
        tape.append((driver.NEXT, 0, 0))
        return np.array(tape, np.int64)

    def _write(self, tape: list[tuple[int, int, int]], stages: Sequence[Ready]) -> None:
        for ready in stages:
            tape.append(self._play(ready.before))
            if ready.kind != NO_CONTENT:
                tape.append((driver.SAY, KINDS.index(ready.kind), 0))
                if ready.meanwhile is not None:
                    tape.append(self._play(ready.meanwhile))
                tape.append((driver.HEAR, KINDS.index(ready.kind), 0))

    def _play(self, play: Play) -> tuple[int, int, int]:
        first = len(self.operations)
        self.operations += play.operations
        self._programs.append(_program(play))
        return driver.PLAY, first, len(self.operations)

    def _frames(self, halos: dict[int, Any]) -> Indices:
        """Where the numbers of each kind lie, and how many bytes they are."""
        found = np.zeros((len(self.kinds), len(self.neighbours), 2), np.int64)
        for k, kind in enumerate(self.kinds):
            for j, other in enumerate(self.neighbours):
                frame = halos[other].frame(kind)
                assert frame.flags.c_contiguous
                found[k, j] = frame.ctypes.data, frame.nbytes
        return found

    # --- going on ----------------------------------------------------------------------------------------------------

    def begin(self, core: protocol.Worker, sockets: Sequence[int], limit: int) -> None:
        """Make ready to go on to a step; `sockets`: those of the connections to the neighbours."""
        state = self.state
        for j, name in enumerate(self.names):
            link = core.links[name]
            headers = link.expected_headers()
            if headers != self._headers[j]:
                self._headers[j] = headers
                self._out[j], self._into[j] = map(_words_of, headers)
            self.near[j, driver.SOCKET], self.near[j, driver.QUEUED] = sockets[j], len(link.inbox.waiting)
        state[driver.LIMIT] = limit
        if state[driver.POSITION] == 0:
            state[driver.STEP], state[driver.TICK] = core.step, self.worker.tick
            state[driver.OPEN] = self.worker.open

    def go(self) -> int:
        """Until something has to be looked at; what."""
        self.state[ANEW] = 0
        why = self._go() if self.worker.interface is None else self._go_as_coroutine()
        self.worker.working += 1e-6 * float(self.state[driver.WORKING])
        return why

    def _go_as_coroutine(self) -> int:
        """The same where it may have to look after something in the middle of a part."""
        if self.coroutine is None:
            self.worker.begin_collectives().pause = self._swap
            self.coroutine = ThreadCoroutine(self._go)
        why = self.coroutine.resume()
        if why is None:
            coroutine, self.coroutine = self.coroutine, None
            coroutine.close()
            self.worker.end_talk()
            return int(coroutine.result)
        return int(why)

    def _go(self) -> int:
        state, worker = self.state, self.worker
        why: int = driver.SAMPLE
        while why == driver.SAMPLE:
            why = drive_shard(*self._fixed)
            worker.shard.system.tick, worker.open = int(state[driver.TICK]), bool(state[driver.OPEN])
            if why == driver.SAMPLE:
                worker.recorder.record(worker.shard.system)
        return why

    def _swap(self, kind: str) -> bool:
        """An exchange in the middle of a part; whether it could be."""
        self._kind, said_before, coroutine = self.kinds.index(kind), False, self.coroutine
        assert coroutine is not None
        while (why := swap(self._kind, said_before, *self._swapped)) != driver.DONE:
            said_before = said_before or why != driver.FULL
            if not coroutine.pause(why):
                return False
        return True

    def tell(self, core: protocol.Worker, now: float) -> int:
        """Let the protocol know what was posted and taken; how many bytes were posted."""
        state = self.state
        whole = self._words[: state[driver.WORDS]].tobytes()
        sent: list[tuple[list[int], list[bytes]]] = [([], []) for _ in self.names]
        come: list[tuple[list[int], list[int]]] = [([], []) for _ in self.names]
        for j, key, first, count in self._posted[: state[driver.POSTED]].tolist():
            sent[j][0].append(key)
            sent[j][1].append(whole[WORD * first : WORD * (first + count)])
        for j, key, check, _ in self._taken[: state[driver.TAKEN]].tolist():
            come[j][0].append(key)
            come[j][1].append(check)
        for name, (keys, frames), (others, checks) in zip(self.names, sent, come):
            core.links[name].record_exchanged(keys, frames, others, checks, now)
        return len(whole)

    def missing(self) -> list[tuple[int, Any]]:
        """Neighbours that have to be heard, and where their numbers go."""
        kind = self.kinds[self._tape[self.state[driver.POSITION], 1] if self.coroutine is None else self._kind]
        incoming = self.worker.shard.incoming
        return [
            (j, incoming[other].frame(kind))
            for j, other in enumerate(self.neighbours)
            if self.near[j, driver.MISSING] == 1
        ]

    def mail(self) -> bytes:
        """The frame that was laid aside."""
        size = int(self.state[driver.MAIL_SIZE])
        copied = HEAD_BYTES <= size <= self._mail_numbers.nbytes and size % 8 == 0
        return self._mail_numbers.view(np.uint8)[:size].tobytes() if copied else self.wire.last(size)

    def forget(self) -> None:
        """Stand at the beginning of a tick, with nothing heard."""
        self.close()
        self.state[[driver.POSITION, driver.STAGE]] = 0
        self.near[:, [driver.MISSING, driver.EARLY]] = 0

    def close(self) -> None:
        """Let a tick come to an end that nobody needs."""
        if self.coroutine is not None:
            coroutine, self.coroutine = self.coroutine, None
            coroutine.close()

    @property
    def wrong(self) -> str:
        """The name of the body that went wrong."""
        return str(self.operations[self.state[driver.WRONG]][0].names[self.state[driver.ROW]])


def _program(play: Play) -> Indices:
    assert play.program is not None
    return play.program


def _words_of(header: Header) -> Indices:
    """A header as words."""
    return np.frombuffer(protocol.frames.encode(header), "<u4").astype(np.int64)
