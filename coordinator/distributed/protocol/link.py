"""One end of an edge between two workers: posts frames, takes each once and in order, asks again for what got lost.

What one worker has sent to one neighbour, kept until the neighbour can never ask for it again.

Sender-based message logging: see E. N. Elnozahy, L. Alvisi, Y.-M. Wang, D. B. Johnson, "A survey of rollback-recovery
protocols in message-passing systems", ACM Computing Surveys 34 (2002). The log is part of the worker's checkpoint: a
worker that comes back can still answer for what it sent before it died.

What one neighbour has sent: each frame taken once, in the order of the program, whatever order it came in.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any

from coordinator.distributed.protocol.deadlines import Deadlines
from coordinator.distributed.protocol.frames import (
    HEADER_BYTES,
    MAX_STAGES,
    MAX_STEPS,
    Buffer,
    Frame,
    Header,
    Kind,
    decode,
    encode,
    first_not_finite,
    key_of,
    stamped,
)
from coordinator.distributed.protocol.plan import Member, Neighbour
from modular.errors import Malformed, ModelError, RunFailed

CAPACITY = 64  # frames that may lie here before they are taken; neighbours are rarely more than two ahead


class Verdict(StrEnum):
    """What became of a frame; counted by the link."""

    ACCEPTED = "accepted"
    DUPLICATE = "duplicate"  # known already, with the same contents
    CONTRADICTION = "contradiction"  # known already, with other contents
    UNWANTED = "unwanted"  # a key that the program of this worker does not have
    FULL = "full"  # too far ahead; it can be asked for later
    FENCED = "fenced"  # from an incarnation that has been replaced
    LAYOUT = "layout"  # the two ends lay out their numbers differently


ACCEPTED = Verdict.ACCEPTED  # looking up a member of an enumeration takes as long as placing a frame


class Inbox:
    """Frames that wait to be taken, and the checksums of those that were."""

    def __init__(self) -> None:
        self.taken = -1  # key of the last frame that was taken
        self.count = 0  # frames taken
        self.waiting: dict[int, tuple[int, memoryview]] = {}  # by key: checksum and numbers
        self._known_from = 0  # keys from here to `taken` are in `_keys`, if the program has them
        self._keys = array("Q")
        self._checks = array("I")

    def place(self, key: int, check: int, payload: memoryview) -> Verdict:
        """Lay a frame down. `check` is the checksum of its numbers, by which copies are compared."""
        if key <= self.taken:
            return self._compare_with_taken(key, check)
        if key in self.waiting:
            return Verdict.DUPLICATE if self.waiting[key][0] == check else Verdict.CONTRADICTION
        if len(self.waiting) >= CAPACITY:
            last = max(self.waiting)
            if key > last:
                return Verdict.FULL
            del self.waiting[last]  # it can be asked for later; this one is needed before
        self.waiting[key] = (check, payload)
        return ACCEPTED

    def take(self, key: int) -> memoryview | None:
        """The numbers under a key, once; None while they are not here."""
        found = self.waiting.pop(key, None)
        if found is None:
            return None
        self.taken = key
        self.count += 1
        self._keys.append(key)
        self._checks.append(found[0])
        return found[1]

    def took(self, keys: Sequence[int], checks: Sequence[int]) -> int | None:
        """Frames were taken as they came, in order; checksums of their numbers. A key of which a copy with others lies here."""
        copies = {key: self.waiting.pop(key)[0] for key in keys if key in self.waiting} if self.waiting else {}
        self.taken = keys[-1]
        self.count += len(keys)
        self._keys.extend(keys)
        self._checks.extend(checks)
        return next((key for key, check in zip(keys, checks) if copies.get(key, check) != check), None)

    def passed_over(self) -> int | None:
        """A key that waits although a later one was taken: the neighbour has a frame more than we ask for."""
        first = min(self.waiting, default=self.taken + 1)
        return first if first <= self.taken else None

    def trim(self, step: int) -> None:
        """Forget the checksums of what is before a step."""
        key = key_of(step, 0)
        if key > self._known_from:
            self._known_from = key
            first = bisect_left(self._keys, key)
            del self._keys[:first], self._checks[:first]

    def resume(self, taken: int) -> None:
        """Go on after a key, with nothing known of what was before."""
        self.taken, self._known_from = taken, taken + 1
        self.waiting.clear()
        del self._keys[:], self._checks[:]

    def _compare_with_taken(self, key: int, check: int) -> Verdict:
        if key < self._known_from:
            return Verdict.DUPLICATE
        place = bisect_left(self._keys, key)
        if self._keys[place] != key:
            return Verdict.UNWANTED
        return Verdict.DUPLICATE if self._checks[place] == check else Verdict.CONTRADICTION


class SendLog:
    """Frames in program order, each under its key."""

    def __init__(self) -> None:
        self._keys: list[int] = []
        self._frames: list[bytes] = []

    def append(self, key: int, frame: bytes) -> None:
        """Keep a frame; keys grow."""
        self._keys.append(key)
        self._frames.append(frame)

    def extend(self, keys: Sequence[int], frames: Sequence[bytes]) -> None:
        """Keep several."""
        self._keys.extend(keys)
        self._frames.extend(frames)

    def since(self, key: int, most: int) -> list[bytes]:
        """Up to `most` frames from a key on."""
        first = bisect_left(self._keys, key)
        return self._frames[first : first + most]

    def trim(self, step: int) -> None:
        """Forget what is before a step."""
        first = bisect_left(self._keys, key_of(step, 0))
        if first:
            del self._keys[:first], self._frames[:first]

    def save(self) -> tuple[list[tuple[int, int]], bytes]:
        """Key and length of every frame, and the frames one after the other."""
        return [(key, len(frame)) for key, frame in zip(self._keys, self._frames)], b"".join(self._frames)

    def restore(self, index: list[tuple[int, int]], frames: bytes, incarnation: int) -> None:
        """Take over what a predecessor had sent; the frames are stamped with the new incarnation."""
        self._keys, self._frames = [], []
        place = 0
        for key, length in index:
            self.append(key, stamped(frames[place : place + length], incarnation))
            place += length


_DATA = int(Kind.DATA)


class Link:
    """The edge from worker `me` to worker `peer`, for the whole run; `incarnation`: the oldest that is listened to."""

    def __init__(self, run: int, me: Member, peer: Neighbour, deadlines: Deadlines, incarnation: int = 0) -> None:
        self.run, self.me, self.peer = run, me, peer
        self.incarnation = incarnation
        self.deadlines = deadlines
        self.counts: Counter[str] = Counter()
        self.log = SendLog()
        self.inbox = Inbox()
        self.posted = -1  # key of the last frame that was posted
        self._wanted = -1  # key that is waited for, or -1
        self._since = 0.0
        self._heard: float | None = None
        self._patience = deadlines.patience
        self._ask_at = 0.0
        self._exists = -1  # newest key that the peer is known to have posted
        self._fed = True  # something has come since the last request
        self._resumed = False  # from a checkpoint, and nothing asked for yet

    def replaced(self, incarnation: int, now: float) -> None:
        """The peer has a new incarnation: older ones are not listened to any more."""
        if incarnation > self.incarnation:
            self.incarnation = incarnation
            self._exists = self.inbox.taken  # the new one may not have come as far as the old one
            self._patience = self.deadlines.patience
            self._ask_at = now + self._patience

    # --- the two verbs of the stepping code -----------------------------------------------------------------------------

    def post(self, step: int, stage: int, payload: Buffer) -> bytes:
        """The frame to send; it is kept until the neighbour can never ask for it again.

        `payload` is contiguous little-endian float64; of an array, give its `data`.
        """
        key = step << 16 | stage
        if key <= self.posted or not 0 <= stage < MAX_STAGES or step >= MAX_STEPS:
            raise ModelError(
                f"step {step}, stage {stage} cannot be posted from '{self.me.name}' to '{self.peer.name}': "
                "steps and stages are posted in order, each once."
            )
        me, peer = self.me, self.peer
        frame = encode((_DATA, self.run, me.number, me.incarnation, step, stage, peer.joints, peer.layout), payload)
        if len(frame) & 7:
            raise ModelError(
                f"{len(frame) - HEADER_BYTES} bytes cannot be posted to '{self.peer.name}': give whole float64 numbers."
            )
        self.log.append(key, frame)
        self.posted = key
        return frame

    def take(self, step: int, stage: int, size: int, now: float) -> memoryview | None:
        """The numbers of the neighbour for this step and stage, `size` bytes; None while they are not here.

        The first call that finds nothing starts the wait, after which they are asked for: call it for every neighbour,
        also where another one is missing.
        """
        key = step << 16 | stage
        payload = self.inbox.take(key)
        if payload is None:
            if self._wanted != key:
                self._wanted, self._since = key, now
                self._patience = self.deadlines.patience
                at_once = self._resumed or (key <= self._exists and self._fed)
                self._ask_at = now if at_once else now + self._patience
                self._resumed = False
            return None
        self._wanted = -1
        if len(payload) != size:
            self._disagree(f"step {step}, stage {stage} has {len(payload)} bytes, and {size} are expected")
        if self.inbox.waiting and (extra := self.inbox.passed_over()) is not None:
            self._disagree(f"step {extra >> 16}, stage {extra & 0xFFFF} was sent, but not requested")
        if (position := first_not_finite(payload)) is not None:
            raise RunFailed(
                f"worker '{self.peer.name}' sent a number that is not finite in step {step}, stage {stage} "
                f"(number {position} of {size // 8}); look there for what diverged."
            )
        return payload

    def expected_headers(self) -> tuple[Header, Header]:
        """The headers of what goes out and of what is taken in, at step 0 and stage 0.

        For those who exchange frames without calling `post` and `take` for each, as long as everything goes as it should; any other
        frame has to come here.
        """
        me, peer, rest = self.me, self.peer, (0, 0, self.peer.joints, self.peer.layout)
        return (
            Header(_DATA, self.run, me.number, me.incarnation, *rest),
            Header(_DATA, self.run, peer.number, self.incarnation, *rest),
        )

    def record_exchanged(
        self, posted: Sequence[int], frames: Sequence[bytes], taken: Sequence[int], checks: Sequence[int], now: float
    ) -> None:
        """What was exchanged so: keys and frames that were sent, keys and checksums of the numbers that were taken, in order."""
        if posted:
            if posted[0] <= self.posted:
                raise ModelError(
                    f"step {posted[0] >> 16} to '{self.peer.name}' was posted before; steps are posted in order."
                )
            self.log.extend(posted, frames)
            self.posted = posted[-1]
        if taken:
            if taken[0] <= self.inbox.taken:
                raise ModelError(
                    f"step {taken[0] >> 16} of '{self.peer.name}' was taken before; each frame is taken once."
                )
            if (key := self.inbox.took(taken, checks)) is not None:
                raise RunFailed(
                    f"worker '{self.peer.name}' sent step {key >> 16}, stage {key & 0xFFFF} twice with different numbers: a "
                    "component there is not deterministic; one that draws random numbers must save their state."
                )
            self.counts[ACCEPTED] += len(taken)
            self._wanted, self._fed, self._heard = -1, True, now

    def _disagree(self, what: str) -> None:
        raise RunFailed(
            f"workers '{self.me.name}' and '{self.peer.name}' do not run the same program: from '{self.peer.name}', "
            f"{what}; give both the same model and versions."
        )

    # --- frames of the neighbour ------------------------------------------------------------------------------------------

    def receive(self, frame: Frame, now: float) -> tuple[Verdict, Sequence[bytes]]:
        """Take in a frame of the neighbour: what became of it, and what to send in answer."""
        if frame.incarnation != self.incarnation:
            if self.is_old(frame.incarnation):
                self.counts[Verdict.FENCED] += 1
                return Verdict.FENCED, ()
            self.replaced(frame.incarnation, now)
        self._heard = now
        if frame.kind == _DATA:
            verdict = self._place(frame, now)
            self.counts[verdict] += 1
            return verdict, ()
        if frame.kind == Kind.RESEND:
            return Verdict.ACCEPTED, self._answer(key_of(frame.step, frame.stage))
        if frame.kind == Kind.NEWEST:
            self._learn(key_of(frame.step, frame.stage), now)
        else:
            self.forget(frame.step)
        return Verdict.ACCEPTED, ()

    def is_old(self, incarnation: int) -> bool:
        """Whether an incarnation of the peer has been replaced."""
        return incarnation < self.incarnation

    def _place(self, frame: Frame, now: float) -> Verdict:
        key = frame.step << 16 | frame.stage
        if frame.layout != self.peer.layout or frame.joints != self.peer.joints:
            return Verdict.LAYOUT
        verdict = self.inbox.place(key, frame.check, frame.payload)
        if verdict is ACCEPTED:
            self._fed = True
        elif verdict is Verdict.FULL:
            self._learn(key, now)
        return verdict

    def _answer(self, key: int) -> Sequence[bytes]:
        answer = self.log.since(key, CAPACITY)
        if self.posted >= 0:
            answer.append(self._signal(Kind.NEWEST, self.posted))
        self.counts["resent"] += len(answer)
        return answer

    def _learn(self, newest: int, now: float) -> None:
        """The peer has posted up to `newest`: what is missing can be asked for without waiting, if asking helps."""
        self._exists = max(self._exists, newest)
        if self._fed and 0 <= self._wanted <= self._exists and self._wanted not in self.inbox.waiting:
            self._ask_at = now

    def forget(self, step: int) -> None:
        """The neighbour will never ask again for what is before this step."""
        self.log.trim(step)
        self.inbox.trim(step)

    # --- waiting ------------------------------------------------------------------------------------------------------------

    @property
    def ask_at(self) -> float | None:
        """When to ask for the missing frame, or None where nothing is missing."""
        return self._ask_at if self._wanted >= 0 and self._wanted not in self.inbox.waiting else None

    def request(self, now: float) -> bytes | None:
        """A request for the missing frame, if it is time for one."""
        if self.ask_at is None or now < self._ask_at:
            return None
        self._fed = False
        self._ask_at = now + self._patience
        self._patience = min(2 * self._patience, self.deadlines.patience_most)
        self.counts["asked"] += 1
        return self._signal(Kind.RESEND, self._wanted)

    def notice(self, step: int) -> bytes:
        """Tells the neighbour that we shall never ask again for what is before a step."""
        return self._signal(Kind.DURABLE, key_of(step, 0))

    def _signal(self, kind: Kind, key: int) -> bytes:
        step, stage = key >> 16, key & 0xFFFF
        return encode((kind, self.run, self.me.number, self.me.incarnation, step, stage, 0, 0))

    def waited(self, now: float) -> float:
        """How long the missing frame has been waited for [s]; 0 where nothing is missing."""
        return now - self._since if self.ask_at is not None else 0.0

    def waiting(self, now: float) -> str:
        """Who waits for whom, for which step and stage, how long, and what came last."""
        if self.ask_at is None:
            return f"worker '{self.me.name}' does not wait for '{self.peer.name}'"
        last = f"step {self.inbox.taken >> 16}" if self.inbox.taken >= 0 else "nothing"
        heard = "never heard" if self._heard is None else f"heard {now - self._heard:.1f} s ago"
        return (
            f"worker '{self.me.name}' waits for step {self._wanted >> 16}, stage {self._wanted & 0xFFFF} from "
            f"'{self.peer.name}' since {now - self._since:.1f} s, has {last}, {heard}"
        )

    # --- checkpoints --------------------------------------------------------------------------------------------------------

    def save(self) -> tuple[dict[str, Any], bytes]:
        """What a successor needs of this link, at the end of a step."""
        index, frames = self.log.save()
        return {"peer": self.peer.number, "posted": self.posted, "taken": self.inbox.taken, "log": index}, frames

    def restore(self, saved: Mapping[str, Any], frames: bytes) -> None:
        """Go on where a predecessor has saved; frames that it had not taken yet are asked for."""
        posted, taken, index = saved.get("posted"), saved.get("taken"), saved.get("log")
        keys = range(-1, key_of(MAX_STEPS, 0))
        if type(posted) is not int or type(taken) is not int or posted not in keys or taken not in keys:
            raise Malformed(f"checkpoint of '{self.me.name}': link to '{self.peer.name}' lacks posted or taken.")
        if type(index) is not list:
            raise Malformed(f"checkpoint of '{self.me.name}': link to '{self.peer.name}' lacks its log.")
        place, last = 0, -1
        for entry in index:
            key, length = entry if type(entry) in (list, tuple) and len(entry) == 2 else (None, None)
            if type(key) is not int or type(length) is not int or not last < key <= posted or length < HEADER_BYTES:
                raise Malformed(f"checkpoint of '{self.me.name}': log to '{self.peer.name}' has an entry {entry!r}.")
            frame = decode(frames[place : place + length], self.run)
            if not isinstance(frame, Frame) or key_of(frame.step, frame.stage) != key:
                raise Malformed(f"checkpoint of '{self.me.name}': log to '{self.peer.name}' holds no frame at {place}.")
            place, last = place + length, key
        if place != len(frames):
            raise Malformed(f"checkpoint of '{self.me.name}': log to '{self.peer.name}' has {len(frames)} bytes.")
        self.log.restore(index, frames, self.me.incarnation)
        self.inbox.resume(taken)
        self.posted = posted
        self._exists, self._fed, self._resumed = taken, True, True
