"""A worker process: `python -m coordinator.distributed.workers.process`, told what it needs on its standard input.

It serves one coordinator: joins, takes over a shard of a mechanism, moves it in step with its neighbours, gives it back, and
takes the next. It ends when it is told to, or when its standard input does, which is when its parent is gone.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from typing import Any

from coordinator.distributed import protocol
from coordinator.distributed.launchers.children import UNFIT
from coordinator.distributed.protocol import effects
from coordinator.distributed.transports.addresses import mailbox_towards, reached_at
from coordinator.distributed.transports.direct_line import DirectLine, LineLost
from coordinator.distributed.transports.keys import Keys
from coordinator.distributed.transports.zeromq import ANYONE, Mailbox
from coordinator.distributed.workers.capped_clock import CappedClock
from coordinator.distributed.workers.direct_calls import CallServer
from coordinator.distributed.workers.job import COORDINATOR, NEIGHBOUR, Job
from coordinator.distributed.workers.messages import (
    Message,
    decode_message,
    encode_message,
    oversized,
    samples_as_arrays,
)
from coordinator.distributed.workers.remote_channel import RpcServer
from coordinator.distributed.workers.shard import Shard
from coordinator.distributed.workers.worker_pool import taken_by
from coordinator.engine.threads import yield_address
from coordinator.record.fingerprint import bits
from modular.allowed import take
from modular.errors import ModelError
from modular.payload import packed
from modular.temporary import remove_all

HUB = "coordinator"
MAX_NAP_SECONDS = 0.05  # longest nap [s]
RETRY_INTERVAL = 0.5  # until something that may have got lost is said again [s]
NO_ANSWER_NOTICE_SECONDS = 5.0  # seconds without an answer after which somebody may want to know
MAX_REASON_LENGTH = 4096  # letters of them
POLL_INTERVAL = 0.002  # how often a worker that is busy looks after others than its neighbours [s]
SPIN_LOOKS = 40  # how often it looks for a frame, letting others run in between, before it sleeps: some 40 µs


class Unfit(ModelError):
    """This process does not fit the run, and another like it would not either."""


class Process:
    """The loop of one worker process."""

    def __init__(self, settings: Mapping[str, str]) -> None:
        self.name, self.incarnation = settings["name"], int(settings["incarnation"])
        keys = Keys(settings["public"].encode(), settings["secret"].encode()) if settings.get("secret") else None
        self._has_keys = keys is not None
        self.mailbox = Mailbox(settings.get("where") or mailbox_towards(settings["hub"]), keys=keys)
        self._wire = self.mailbox.wire(int(1000 * POLL_INTERVAL), SPIN_LOOKS, yield_address())
        identity = f"{self.name}/{self.incarnation}/{os.getpid()}/{os.urandom(16).hex()}"  # which nobody guesses
        self.mailbox.connect(HUB, settings["hub"], key=settings.get("hub key", "").encode(), identity=identity)
        line = None if keys else DirectLine.towards(settings["hub"], identity, POLL_INTERVAL)
        self.line = None if line is None else CallServer(line)
        if line is not None:
            self.mailbox.watch(line.fileno())
        self.address = settings.get("announce") or reached_at(self.mailbox.address, settings["hub"])
        self._keys: dict[str, str] = {}  # of neighbours
        self._most = 0  # bytes that the coordinator takes at once
        self.rpc_server = RpcServer()  # where black boxes are asked for
        self.job: Job | None = None
        self.over = False
        self._shard: Shard | None = None
        self._ticks, self._sent = 0, 0  # bytes
        self._working = self._talking = self._waiting = 0.0  # [s]
        self._clock = CappedClock()  # by which everybody is waited for
        self._hub, self._began, self._reported = settings["hub"], self._clock.now(), False
        self._greeted = False
        self._greet_at = self._idle_at = self._leave_at = 0.0
        self._nap = MAX_NAP_SECONDS
        self._leaving = False
        self._heard_at, self._orphan = self._clock.now(), float(settings.get("orphan", "inf"))

    def serve(self) -> None:
        """Until it is over: a neighbour that is waited for at once, all others every other millisecond."""
        look_at = 0.0
        while not self.over:
            now = self._clock.now()
            if now >= look_at:
                self._look_around(now)
                look_at = now + POLL_INTERVAL
            waits_for = COORDINATOR if self.job is None else self._work(self.job, now)
            if waits_for == COORDINATOR:
                self._hear_all(self._nap)
            elif waits_for == NEIGHBOUR:
                started = time.monotonic()
                frame = self.mailbox.next_mail(int(1000 * POLL_INTERVAL))
                self._waiting += time.monotonic() - started
                if frame is not None and self.job is not None and len(frame) == 1:
                    self.job.core.receive(frame[0], self._clock.now())

    def leave(self) -> None:
        """Ask to be let go: others take the bodies over."""
        self._leaving, self.over = True, self.over or not self._greeted

    def close(self) -> None:
        """Speak to nobody any more."""
        if self.line is not None:
            self.line.line.close()
        self.mailbox.close()

    def _hear_all(self, nap: float) -> None:
        """What has come in, or does so within a nap."""
        while not self.over and self.mailbox.wait(nap):
            self._hear(self._clock.now())
            nap = 0.0

    def _hear(self, now: float) -> None:
        """What has come in."""
        for _, frame, _ in self.mailbox.mail():
            if self.job is not None and len(frame) == 1:
                self.job.core.receive(frame[0], now)
        for parts in self.mailbox.heard(HUB):
            self._listen(parts, now)
        if self.line is not None and self.mailbox.rings(self.line.line.fileno()):
            self._answer_along(self.line, now, wait=True)

    def _answer_along(self, line: CallServer, now: float, *, wait: bool) -> None:
        """What is asked along the direct line."""
        self._heard_at = now
        try:
            self.rpc_server.serve(line, wait=wait)
        except LineLost:  # there is the mailbox
            self.mailbox.watch(line.line.fileno(), off=True)
            line.line.close()
            self.line = None

    def _listen(self, parts: list[bytes], now: float) -> None:
        """What the coordinator has said."""
        message = decode_message(parts)
        if message is not None:
            self._heard_at = now
            self._obey(message, now)

    def _look_around(self, now: float) -> None:
        """What has come in, and what is due; while ticks are compiled, they take in what neighbours say."""
        if self.job is None or not self.job.fast:
            self._hear_all(0.0)
        else:
            while not self.over and (parts := self.mailbox.next_heard(HUB)) is not None:
                self._listen(parts, now)
            if self.line is not None:
                self._answer_along(self.line, now, wait=False)
        if not self._greeted and now - self._began > NO_ANSWER_NOTICE_SECONDS and not self._reported:
            self._reported = True
            known = "; without --keys it answers to processes of the user who started it"
            if self._has_keys:
                known = f"; it answers to '{self.name}' if it was given its public key, and if --coordinator is its own"
            known *= self.incarnation == 0
            print(
                f"worker '{self.name}': no answer yet from {self._hub}{known}; still trying…",
                file=sys.stderr,
                flush=True,
            )
        if now - self._heard_at > self._orphan:
            raise ModelError(f"worker '{self.name}' has received nothing from a coordinator for {self._orphan:g} s.")
        if now - self._heard_at > NO_ANSWER_NOTICE_SECONDS:
            self._greeted = False  # it may be gone, and another may take its place: then we are strangers
        if self._leaving and now >= self._leave_at:
            self._leave_at = now + RETRY_INTERVAL
            self._say("leave")
        if not self._greeted and now >= self._greet_at:
            self._greet_at = now + RETRY_INTERVAL
            self._say_hello()
        if self._greeted and self.job is None and now >= self._idle_at:
            self._idle_at = now + RETRY_INTERVAL
            self._say("idle")
        if self.job is not None and now >= (wake_at := self.job.core.next_wake()):
            self.job.core.wake(now)
            wake_at = self.job.core.next_wake()
        self._nap = MAX_NAP_SECONDS if self.job is None else max(0.0, min(MAX_NAP_SECONDS, wake_at - now))

    def _work(self, job: Job, now: float) -> str:
        """Go on with the job; who has to be heard next."""
        started, before = time.monotonic(), (job.tick, job.sent, job.worker.working, job.waiting)
        try:
            waits_for = job.go_on(now)
        except protocol.RunFailed as error:  # another process would come to the same
            job.core.fail(str(error), now)
            waits_for = COORDINATOR
        self._ticks += job.tick - before[0]
        self._sent += job.sent - before[1]
        if job.stands and now >= job.tell_at:
            job.tell_at = now + RETRY_INTERVAL
            why = (job.worker.stopped or "")[:MAX_REASON_LENGTH]
            self._say("halted", {"run": job.run, "tick": job.worker.tick, "why": why})
        self._perform(job)
        worked, waited = job.worker.working - before[2], job.waiting - before[3]
        self._working += worked
        self._waiting += waited
        self._talking += time.monotonic() - started - worked - waited
        return waits_for

    def _say(self, kind: str, data: Mapping[str, Any] | None = None, payload: bytes = b"") -> None:
        if self.job is not None and len(payload) > self._most:
            kind, data, payload = "refused", {"run": self.job.run, "why": oversized(kind, payload, self._most)}, b""
        self.mailbox.send(HUB, *encode_message(kind, data, payload))

    def _say_hello(self) -> None:
        me = {"name": self.name, "incarnation": self.incarnation, "pid": os.getpid(), "fingerprint": bits()}
        self._say("hello", me)

    def facts(self) -> dict[str, float]:
        """Ticks, bytes and seconds so far; these are differences of clocks, which may come out a little below nothing."""
        spent = {"working": self._working, "talking": self._talking, "waiting": self._waiting}
        seconds = {name: max(0.0, value) for name, value in spent.items()}
        return {"ticks": self._ticks, **seconds, "bytes_per_tick": self._sent / max(self._ticks, 1)}

    # --- what the coordinator says -------------------------------------------------------------------------------------

    def _obey(self, message: Message, now: float) -> None:
        self._greeted = True
        data, job = message.data, self.job
        if message.kind == "begin":
            self._begin(message, now)
        elif message.kind == "quit":
            self.over = True
            if data["why"]:
                raise (Unfit if data["unfit"] else ModelError)(data["why"])
        elif message.kind == "call":
            self.mailbox.send(HUB, *self.rpc_server.handle(message))
        elif job is None or data.get("run") != job.run:
            return
        elif message.kind == "core":
            job.commit_at(data["committed"])  # before it may go beyond
            job.core.hear(message.payload, now)
            self._perform(job)
        elif message.kind == "get_samples":
            if job.tick == data["tick"]:
                found, arrays = samples_as_arrays(taken_by(job.worker.recorder))
                self._say("samples", {"run": job.run, "tick": job.tick}, packed(found, arrays))
        elif message.kind == "get_state":
            if data["back"]:
                if not job.rollback(data["tick"]):
                    return
            elif job.tick == data["tick"]:
                job.worker.settle()
            else:
                return
            self._say("state", {"run": job.run, **self.facts()}, job.state())
        elif message.kind == "stored":
            job.core.stored(data["step"])
            self._perform(job)
        elif message.kind == "loaded":
            ref = protocol.CheckpointRef(data["step"], data["incarnation"], data["digest"])
            job.core.loaded(ref, message.payload or None, now)
            self._perform(job)
        elif message.kind == "end_run":
            self._lay_down()

    def _begin(self, message: Message, now: float) -> None:
        """Take part in a run."""
        data = message.data
        job = self.job
        if job is not None and job.run == data["run"] and job.incarnation >= data["incarnation"]:
            return  # it was said again
        take(data["packages"], data["folders"])
        try:
            if message.payload:
                self._shard = Shard.from_payload(message.payload, self.rpc_server.stack_host)
        except ModelError as error:
            self._say(
                "refused", {"run": data["run"], "why": f"it cannot take over its part: {error}"[:MAX_REASON_LENGTH]}
            )
            return
        if self._shard is None:
            return
        self._lay_down()
        self._keys, self._most = data["keys"], data["most"]
        self.mailbox.authorized.keys = {key.encode(): name for name, key in self._keys.items()}
        deadlines = protocol.Deadlines(**{name: data[name] for name in ("report", "silence", "orphan")})
        core = protocol.Worker(data["run"], self.name, data["incarnation"], self.address, deadlines, now)
        self.job = Job(data, self._shard, core, self.mailbox.send, self._wire, self.mailbox.connection_handle)
        if message.second_payload:
            self.job.take_state(message.second_payload)
        if not gc.get_freeze_count():
            gc.collect()
            gc.freeze()  # what is there now stays; looking through all of it again and again took a tenth of the time

    def _lay_down(self) -> None:
        """The job is over."""
        if self.job is not None:
            self.job.close()
            self.job = None

    def _perform(self, job: Job) -> None:
        """What the protocol asks for."""
        for effect in job.core.effects():
            if isinstance(effect, effects.Send):
                self.mailbox.send(effect.name, effect.frame)
            elif isinstance(effect, effects.Report):
                self._say("core", {"run": job.run, "committed": job.committed_at}, effect.message)
            elif isinstance(effect, effects.Connect):
                key = self._keys.get(effect.name) or self._keys.get(ANYONE, "")
                self.mailbox.connect(effect.name, effect.address, key=key.encode())
            elif isinstance(effect, effects.Store):
                named = {"run": job.run, "step": effect.step, "incarnation": effect.incarnation}
                self._say("store", named, effect.blob)
            elif isinstance(effect, effects.Load):
                ref = effect.ref
                wanted = {"step": ref.step, "incarnation": ref.incarnation, "digest": ref.digest}
                self._say("load", {"run": job.run, **wanted})
            elif isinstance(effect, effects.Resume):
                if effect.state:
                    job.take_state(effect.state)
            elif isinstance(effect, effects.Ended):
                self._lay_down()
                print(effect.reason, file=sys.stderr, flush=True)


def serve(settings: Mapping[str, str], *, by_hand: bool = False) -> None:
    """Serve a coordinator until it lets us go; one that was started `by_hand` can be told to leave, by Ctrl-C or SIGTERM."""
    process = Process(settings)
    try:
        with _leaving_on_signals(process) if by_hand else nullcontext():
            process.serve()
    finally:
        process.close()


@contextmanager
def _leaving_on_signals(process: Process) -> Iterator[None]:
    """The first time it leaves as soon as it may, the second time at once."""

    def leave(number: int, frame: object) -> None:
        signal.signal(number, signal.default_int_handler)
        print(f"worker '{process.name}': leaving; interrupt again to leave at once.", file=sys.stderr, flush=True)
        process.leave()

    numbers = (signal.SIGINT, signal.SIGTERM)
    before = {number: signal.signal(number, leave) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def first_line() -> bytes:
    """Of the standard input, and not a byte more."""
    line = b""
    while not line.endswith(b"\n") and (byte := os.read(0, 1)):
        line += byte
    return line


def _end_with_parent() -> None:
    """Wait for the end of the standard input, which is that of the parent."""
    while os.read(0, 4096):
        pass
    remove_all()
    os._exit(0)


def main() -> None:
    """Serve the coordinator that the first line of the standard input tells of."""
    settings = json.loads(first_line())
    threading.Thread(target=_end_with_parent, daemon=True).start()
    try:
        serve(settings)
    except ModelError as error:
        print(error, file=sys.stderr, flush=True)
        sys.exit(UNFIT if isinstance(error, Unfit) else 1)


if __name__ == "__main__":
    main()
