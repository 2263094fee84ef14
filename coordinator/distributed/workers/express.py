"""A worker's ticks in compiled code, as long as everything goes as it should; what is unusual is the protocol's.

The protocol is asked before and told afterwards: which frame is wanted next, and which were posted and taken. So it knows the
same, byte by byte, as if every frame had gone through it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from coordinator.couplings.interface.talking import SAID
from coordinator.distributed import protocol
from coordinator.distributed.protocol.frames import Header
from coordinator.distributed.transports.by_address import Wire
from coordinator.distributed.workers import driver
from coordinator.distributed.workers.border import ANSWER, BOUND, FREE, NOTHING, RATE, STATE
from coordinator.distributed.workers.driver import HEAD_BYTES, WORD, drive_part, swap
from coordinator.distributed.workers.turns import Turns
from coordinator.distributed.workers.worker import Play, Ready, Worker
from coordinator.engine.score import Part as Verb
from modular.elements import Indices

KINDS = (STATE, RATE, ANSWER, FREE, BOUND)
FRAMES = 1024  # that are written before the protocol is told of them, at most
BYTES = 1 << 19  # of them
ANEW = [
    driver.POSTED, driver.TAKEN, driver.WORDS, driver.WORKING, driver.WAITING, driver.BEGAN,
]  # fmt: skip
LONGEST = 50_000  # without looking after others than neighbours, while all goes well [us]


class Express:
    """Compiled ticks of one worker in one run."""

    def __init__(self, worker: Worker, wire: Wire, names: Sequence[str]) -> None:
        """`names` of all workers; only where `possible`."""
        self.worker, self.wire = worker, wire
        piece = worker.piece
        self.kinds = KINDS if worker.face is None else (*KINDS, *SAID)
        self.turns: Turns | None = None  # while ticks pause in the middle of a part
        self._kind = 0  # what they wait for there
        self.neighbours = sorted(piece.telling)
        self.names = [names[other] for other in self.neighbours]
        self.parts: list[Verb] = []
        self._programs: list[Indices] = []
        self.state: Indices = np.zeros(driver.STATES, np.int64)
        self.state[[driver.EVERY, driver.LOOK, driver.LATEST]] = piece.every, piece.must_look, LONGEST
        self._tape = self._written(worker)
        self._score = np.concatenate([*self._programs, np.zeros((1, 5), np.int64)])
        self._checks = [_program(worker.checks[name]) for name in ("watch", "guard", "leaks")]
        self._said, self._heard = self._frames(piece.telling), self._frames(piece.hearing)
        count, most = len(self.neighbours), self._heard[:, :, 1].max(initial=0)
        self.near: Indices = np.zeros((count, 6), np.int64)
        self.near[:, driver.NUMBER] = self.neighbours
        self._out, self._into = np.zeros((2, count, HEAD_BYTES // WORD), np.int64)
        room = max(BYTES, 2 * int(self._said[:, :, 1].sum() + count * HEAD_BYTES))
        self._words = np.zeros(room // WORD, np.uint32)
        self._posted, self._taken = np.zeros((2, FRAMES + count, 4), np.int64)
        self._mail_numbers = np.zeros((most + HEAD_BYTES) // 8 + 1)
        self._early_numbers = np.zeros((count, (most + HEAD_BYTES) // 8 + 1))
        self._headers: list[Any] = [None] * count
        elements = piece.system.elements
        self._fixed: tuple[Any, ...] = (
            self._tape, self._score, *self._checks, elements.sheet, elements.clock, piece.dt, wire.numbers, self.near,
            self._out, self._into, self._said, self._heard, self.state, self._words, self._posted, self._taken,
            self._mail_numbers.view(np.uint32), self._mail_numbers, self._early_numbers.view(np.uint32), self._early_numbers,
        )  # fmt: skip
        self._swapped = self._fixed[8:]  # all that has to do with neighbours

    @staticmethod
    def possible(worker: Worker) -> bool:
        """Whether all that a worker plays is compiled."""
        stages = [ready for stages in worker.rounds.values() for ready in stages]
        plays = [play for ready in stages for play in (ready.before, ready.meanwhile) if play is not None]
        plays += [worker.look, *worker.checks.values()]
        if worker.face is not None and not worker.face.compiled:
            return False
        alike = worker.piece.telling.keys() == worker.piece.hearing.keys()
        return alike and all(play.program is not None for play in plays)

    # --- the tape ----------------------------------------------------------------------------------------------------

    def _written(self, worker: Worker) -> Indices:
        """What is done in a tick, in order."""
        tape: list[tuple[int, int, int]] = [(driver.BEGIN, 0, 0)]
        rounds = worker.rounds
        for place, names in ((driver.OPENING, ("begin", "first")), (driver.AGAIN, ("again",))):
            self.state[place] = len(tape)
            for name in names:
                self._write(tape, rounds[name])
            tape.append((driver.MOVED, 0, 0))
        self.state[driver.END] = len(tape)
        self._write(tape, rounds["end"])
        tape.append((driver.ENDED, 0, 0))
        self.state[driver.SHOW] = len(tape)
        self._write(tape, rounds["shown"])
        tape += [self._play(worker.look), (driver.SHOWN, 0, 0)]
        self.state[driver.REST] = len(tape)
        tape.append((driver.NEXT, 0, 0))
        return np.array(tape, np.int64)

    def _write(self, tape: list[tuple[int, int, int]], stages: Sequence[Ready]) -> None:
        for ready in stages:
            tape.append(self._play(ready.before))
            if ready.kind != NOTHING:
                tape.append((driver.SAY, KINDS.index(ready.kind), 0))
                if ready.meanwhile is not None:
                    tape.append(self._play(ready.meanwhile))
                tape.append((driver.HEAR, KINDS.index(ready.kind), 0))

    def _play(self, play: Play) -> tuple[int, int, int]:
        first = len(self.parts)
        self.parts += play.parts
        self._programs.append(_program(play))
        return driver.PLAY, first, len(self.parts)

    def _frames(self, borders: dict[int, Any]) -> Indices:
        """Where the numbers of each kind lie, and how many bytes they are."""
        found = np.zeros((len(self.kinds), len(self.neighbours), 2), np.int64)
        for k, kind in enumerate(self.kinds):
            for j, other in enumerate(self.neighbours):
                frame = borders[other].frame(kind)
                assert frame.flags.c_contiguous
                found[k, j] = frame.ctypes.data, frame.nbytes
        return found

    # --- going on ----------------------------------------------------------------------------------------------------

    def begin(self, core: protocol.Worker, lines: Sequence[int], limit: int) -> None:
        """Make ready to go on to a step; `lines`: the sockets to the neighbours."""
        state = self.state
        for j, name in enumerate(self.names):
            link = core.links[name]
            headers = link.usual()
            if headers != self._headers[j]:
                self._headers[j] = headers
                self._out[j], self._into[j] = map(_words_of, headers)
            self.near[j, driver.LINE], self.near[j, driver.KEPT] = lines[j], len(link.inbox.waiting)
        state[driver.LIMIT] = limit
        if state[driver.PLACE] == 0:
            state[driver.STEP], state[driver.TICK] = core.step, self.worker.tick
            state[driver.OPEN] = self.worker.open

    def go(self) -> int:
        """Until something has to be looked at; what."""
        self.state[ANEW] = 0
        why = self._go() if self.worker.face is None else self._go_in_turns()
        self.worker.working += 1e-6 * float(self.state[driver.WORKING])
        return why

    def _go_in_turns(self) -> int:
        """The same where it may have to look after something in the middle of a part."""
        if self.turns is None:
            self.worker.begin_talk().pause = self._swap
            self.turns = Turns(self._go)
        why = self.turns.go_on()
        if why is None:
            turns, self.turns = self.turns, None
            turns.close()
            self.worker.end_talk()
            return int(turns.result)
        return int(why)

    def _go(self) -> int:
        state, worker = self.state, self.worker
        why: int = driver.SAMPLE
        while why == driver.SAMPLE:
            why = drive_part(*self._fixed)
            worker.piece.system.tick, worker.open = int(state[driver.TICK]), bool(state[driver.OPEN])
            if why == driver.SAMPLE:
                worker.recorder.record(worker.piece.system)
        return why

    def _swap(self, kind: str) -> bool:
        """An exchange in the middle of a part; whether it could be."""
        self._kind, said_before, turns = self.kinds.index(kind), False, self.turns
        assert turns is not None
        while (why := swap(self._kind, said_before, *self._swapped)) != driver.DONE:
            said_before = said_before or why != driver.FULL
            if not turns.pause(why):
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
            core.links[name].went(keys, frames, others, checks, now)
        return len(whole)

    def missing(self) -> list[tuple[int, Any]]:
        """Neighbours that have to be heard, and where their numbers go."""
        kind = self.kinds[self._tape[self.state[driver.PLACE], 1] if self.turns is None else self._kind]
        hearing = self.worker.piece.hearing
        return [
            (j, hearing[other].frame(kind))
            for j, other in enumerate(self.neighbours)
            if self.near[j, driver.MISSING] == 1
        ]

    def mail(self) -> bytes:
        """The frame that was laid aside."""
        size = int(self.state[driver.SIZE])
        copied = HEAD_BYTES <= size <= self._mail_numbers.nbytes and size % 8 == 0
        return self._mail_numbers.view(np.uint8)[:size].tobytes() if copied else self.wire.last(size)

    def forget(self) -> None:
        """Stand at the beginning of a tick, with nothing heard."""
        self.close()
        self.state[[driver.PLACE, driver.STAGE]] = 0
        self.near[:, [driver.MISSING, driver.EARLY]] = 0

    def close(self) -> None:
        """Let a tick come to an end that nobody needs."""
        if self.turns is not None:
            turns, self.turns = self.turns, None
            turns.close()

    @property
    def wrong(self) -> str:
        """The name of the body that went wrong."""
        return str(self.parts[self.state[driver.WRONG]][0].names[self.state[driver.ROW]])


def _program(play: Play) -> Indices:
    assert play.program is not None
    return play.program


def _words_of(header: Header) -> Indices:
    """A header as words."""
    return np.frombuffer(protocol.frames.encode(header), "<u4").astype(np.int64)
