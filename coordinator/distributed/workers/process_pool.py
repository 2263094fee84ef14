"""Workers in processes of their own, on this machine or others.

Every distribution of the mechanism is a run of the protocol (protocol), with steps counted from its tick. A process that
dies is replaced: the new one takes the shard, the newest checkpoint that is old enough, and what its neighbours have kept of
what they said.
"""

from __future__ import annotations

import logging
import math
import secrets
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from coordinator.distributed import protocol
from coordinator.distributed.launchers import Launcher, Order
from coordinator.distributed.protocol import effects
from coordinator.distributed.transports.addresses import IPC_ANY, LOOPBACK_ANY, SocketFolder, is_local, is_private
from coordinator.distributed.transports.keys import Keys
from coordinator.distributed.transports.zeromq import Mailbox
from coordinator.distributed.workers.capped_clock import CappedClock
from coordinator.distributed.workers.direct_calls import Lines
from coordinator.distributed.workers.messages import (
    Message,
    brief,
    encode_message,
    samples_from_arrays,
)
from coordinator.distributed.workers.process_admission import Admission, keys_for
from coordinator.distributed.workers.process_supervision import (
    CONNECT_NOTICE_SECONDS,
    MAX_NAP_SECONDS,
    Supervision,
)
from coordinator.distributed.workers.remote_channel import Calls
from coordinator.distributed.workers.shard import Shard
from coordinator.distributed.workers.worker_handle import RETRY_INTERVAL, ProtocolRun, WorkerHandle
from coordinator.distributed.workers.worker_pool import AdvanceResult, WorkerInfo
from coordinator.record.recorder import Segment
from modular.allowed import as_data
from modular.errors import ModelError
from modular.payload import unpacked

_log = logging.getLogger("modular")
MAX_CHECKPOINT_STEPS = 2000  # steps between two checkpoints, at most
MIN_CHECKPOINT_STEPS = 16  # and at least, however much is said meanwhile
MAX_LOG_BYTES = 1 << 26  # bytes that a worker may have to remember until then of what it has said

MAX_WAIT = 1e9  # that anybody may be told to wait [s]
NEWCOMER_TIMEOUT_SECONDS = 3.0  # seconds after which somebody who came has gone again, if not heard
COUNTED = ("ticks", "working", "talking", "waiting")
LOG_LENGTH = 200  # messages that are remembered, for those who look into what went wrong
MAX_DEATHS = 3  # without a new checkpoint, until the run is given up


class ProcessPool(Admission, Supervision, Calls):
    """A pool of processes."""

    slice_seconds = 0.5

    def __init__(
        self,
        names: Sequence[str],
        launcher: Launcher,
        *,
        bind: str = IPC_ANY,
        keys: Keys | None = None,
        authorized_keys: Mapping[bytes, str] | None = None,
        deadlines: protocol.Deadlines | None = None,
        elastic: bool = False,
        max_message_bytes: int = 1 << 28,
    ) -> None:
        """`bind`: the mailbox that workers turn to; `keys`: with which they know it; `authorized_keys`: names of workers by
        public keys.

        Where other users could knock there are keys in any case. With keys but no `authorized_keys` every worker is given a pair
        of its own for this run, and whoever replaces it the same one: neighbours know it. `elastic`: whoever comes with another
        name than those may take part. `max_message_bytes`: bytes that a worker may say at once.
        """
        self.launcher, self.every = launcher, MAX_CHECKPOINT_STEPS
        self.deadlines = deadlines or protocol.Deadlines()
        self._message_log: deque[str] = deque(maxlen=LOG_LENGTH)
        self._began = time.monotonic()
        self._clock = CappedClock()  # by which everybody is waited for
        self._moved = (-1, 0.0)  # the step that all had done, and since when
        self._max_message_bytes = max_message_bytes
        self._socket_folder = SocketFolder.on_this_machine() if bind == IPC_ANY or is_local(bind) else None
        if bind == IPC_ANY:
            bind = LOOPBACK_ANY if self._socket_folder is None else self._socket_folder.address("run")
        if keys is None and not is_private(bind):
            keys, authorized_keys = keys_for(launcher, bind)
        self.mailbox = Mailbox(bind, keys=keys, most=max_message_bytes)
        self._lines = Lines("" if keys else self.mailbox.address, MAX_NAP_SECONDS)
        self._own_keys = keys is not None and authorized_keys is None
        self._pairs: dict[str, Keys] = {}
        self._public: dict[str, str] = {name: key.decode() for key, name in (authorized_keys or {}).items()}
        self.mailbox.authorized.keys = dict(authorized_keys or {})
        for name in names if self._own_keys else ():
            self._give_pair(name)
        self.handles = {name: WorkerHandle(name, number) for number, name in enumerate(names)}
        self._every = MAX_CHECKPOINT_STEPS  # in the present distribution
        self._sample = 1  # bytes of one of a worker, about
        self._names = list(names)
        self._former: dict[str, int] = {}  # incarnations of workers that were dismissed
        self._elastic = elastic
        self._waiting: dict[str, float] = {}  # who has come and has no place, and when he was last heard
        self._leaving: list[str] = []
        self._rivals: dict[bytes, float] = {}  # who came for a place that is taken, and when
        self._unfit: set[str] = set()  # whose processes were sent away because of their versions, as was said
        self._shards: list[Shard] = []
        self._payloads: list[bytes] = []
        self._edges: list[protocol.Edge] = []
        self._run: ProtocolRun | None = None
        self._runs = secrets.randbelow(1 << 30)  # workers may have known a coordinator before this one
        self._tick = self._committed = self._reached = 0
        self._failure = ""
        self._ping_at = 0.0
        self._deadline = math.inf
        self._number = secrets.randbelow(1 << 30)  # of the last question to a black box
        self._answers: dict[int, Message] = {}  # to it, once it is there
        self._closed = False
        self.deaths: list[str] = []
        self._sockets = 0  # that were made there
        try:
            for handle in self.handles.values():
                self._launch(handle)
        except BaseException:
            self.close()
            raise

    # --- a pool ----------------------------------------------------------------------------------------------------------

    def distribute(self, shards: Sequence[Shard]) -> None:
        """Take shards over."""
        self._shards, self._payloads = list(shards), [shard.to_payload() for shard in shards]
        self._sample = max(map(len, self._payloads))  # a sample is less
        for name, payload in zip(self._names, self._payloads, strict=True):
            if (back := len(payload) + MAX_LOG_BYTES) > self._max_message_bytes:
                raise ModelError(
                    f"worker '{name}' may have {back / 1e6:.0f} MB to return in one message, and the limit is "
                    f"{self._max_message_bytes / 1e6:.0f} MB; take more workers, or raise the limit, as in "
                    f"LaunchConfig(max_message_bytes={2 * back})."
                )
        for handle in self.handles.values():
            handle.has_shard = False
        self._edges = [
            protocol.Edge(k, other, shard.layout(other), min(len(halo.element), 65535))
            for k, shard in enumerate(shards)
            for other, halo in shard.outgoing.items()
            if k < other
        ]
        most = max(shard.sent_per_tick * len(shard.outgoing) for shard in shards)
        self._every = max(min(self.every, MIN_CHECKPOINT_STEPS), min(self.every, MAX_LOG_BYTES // max(1, 2 * most)))
        self._tick = self._committed = shards[0].system.tick
        self._open(self._tick, [])

    def advance(self, last: int) -> list[AdvanceResult]:
        """Go on to a tick, or as far as it goes."""
        run = self._running()
        for handle in self.handles.values():
            handle.halt = None
        if last > run.tick:
            self._reached, self._moved = 0, (-1, self._clock.now())
            run.core.run_to(last - run.tick, self._clock.now())
            self._pump(lambda: self._reached >= last - run.tick or any(p.halt for p in self.handles.values()))
        self._tick = last
        return [handle.halt or AdvanceResult(last, None) for handle in self.handles.values()]

    def rollback(self) -> None:
        """All stand as when samples were last taken, and a new run begins there."""
        run = self._running()
        self._pump(lambda: run.tick + run.core.slowest >= self._committed)
        starts = self._states(self._committed, back=True)
        self._end_run()
        self._open(self._committed, starts)

    def collect_samples(self) -> list[list[Segment]]:
        """What each has recorded since."""
        for handle in self.handles.values():
            handle.samples = None
        self._until(lambda handle: handle.samples is not None, "get_samples", {"tick": self._tick})
        self._committed = self._tick  # workers hear of it with the leave to go on, before they do
        taken = [handle.samples or [] for handle in self.handles.values()]
        counts = [sum(len(segment.ticks) for segment in segments) for segments in taken]
        sizes = [handle.said / count for handle, count in zip(self.handles.values(), counts, strict=True) if count]
        self._sample = math.ceil(max(sizes, default=self._sample))
        return taken

    def collect(self) -> None:
        """Let the shards stand as the workers left them."""
        states = self._states(self._tick, back=False)
        self._end_run()
        for shard, state in zip(self._shards, states, strict=True):
            data, arrays = unpacked(state, "state of a worker")
            shard.take_state(arrays)
            shard.system.tick = data["tick"]

    def discard(self) -> None:
        """Forget the shards; whoever has come by now waits for others."""
        if self._run is not None:
            self._end_run()

    def worker_info(self) -> list[WorkerInfo]:
        """How the workers did."""
        found = []
        for handle in self.handles.values():
            seen = {name: handle.facts.get(name, 0.0) - handle.before.get(name, 0.0) for name in COUNTED}
            ticks, replaced = int(seen.pop("ticks")), handle.launched - 1
            facts = {**seen, "bytes_per_tick": handle.facts.get("bytes_per_tick", 0.0)}
            found.append(WorkerInfo(handle.name, (), handle.pid, ticks, replaced=replaced, **facts))
        return found

    def reset_statistics(self) -> None:
        """How they did counts from now."""
        for handle in self.handles.values():
            handle.before = handle.facts

    def add_worker(self, name: str) -> None:
        """One more worker; a process is started, unless it is there already."""
        handle = self.handles[name] = WorkerHandle(name, len(self.handles), launched=self._former.get(name, 0))
        self._names = list(self.handles)
        if self._own_keys:
            self._give_pair(name)
        if self._waiting.pop(name, None) is None:
            self._launch(handle)
        else:
            handle.launched, handle.alive = handle.launched + 1, True

    def remove_worker(self, name: str) -> None:
        """A worker goes; its process is told to."""
        handle = self.handles.pop(name)
        self._former[name] = handle.launched
        if handle.identity:
            self.mailbox.answer(handle.identity, *encode_message("quit", {"why": "", "unfit": False}))
        if self._own_keys:
            self.mailbox.authorized.keys.pop(self._pairs.pop(name).public)
            del self._public[name]
        self._names = list(self.handles)
        for number, one in enumerate(self.handles.values()):
            one.number = number

    def membership_changes(self) -> tuple[list[str], list[str]]:
        """Who has come by himself and wants to take part, and who wants to go."""
        now = self._clock.now()
        self._waiting = {name: heard for name, heard in self._waiting.items() if now - heard < NEWCOMER_TIMEOUT_SECONDS}
        leaving, self._leaving = self._leaving, []
        return list(self._waiting), [name for name in leaving if name in self.handles]

    def limit_wait(self, seconds: float) -> None:
        """From now on wait for nobody longer than so long."""
        self._deadline = time.monotonic() + seconds

    def close(self) -> None:
        """Let the workers go."""
        if self._closed:
            return
        self._closed = True
        try:
            for handle in self.handles.values():
                if handle.identity:
                    self.mailbox.answer(handle.identity, *encode_message("quit", {"why": "", "unfit": False}))
            self.launcher.close()
        finally:
            self._lines.close()
            self.mailbox.close()
            if self._socket_folder is not None:
                self._socket_folder.close()

    # --- runs --------------------------------------------------------------------------------------------------------------

    def _open(self, tick: int, starts: list[bytes]) -> None:
        """A new run of the protocol."""
        self._runs += 1
        plan = protocol.Plan(self._runs, tuple(self._names), tuple(self._edges), self._every, MAX_DEATHS)
        core = protocol.Coordinator(plan, self.deadlines, self._clock.now())
        self._run = ProtocolRun(core, self._runs, tick, starts)
        for handle in self.handles.values():
            handle.acting, handle.wanted = 0, False
        self._perform()

    def _end_run(self) -> None:
        for handle in self.handles.values():
            self._tell(handle, "end_run")
        self._run = None

    def _running(self) -> ProtocolRun:
        assert self._run is not None, "nothing is distributed"
        return self._run

    def _states(self, tick: int, *, back: bool) -> list[bytes]:
        for handle in self.handles.values():
            handle.state = b""
        self._until(lambda handle: bool(handle.state), "get_state", {"back": back, "tick": tick})
        return [handle.state for handle in self.handles.values()]

    def _until(self, done: Callable[[WorkerHandle], bool], kind: str, data: dict[str, Any]) -> None:
        """Ask every worker, and again those that were replaced meanwhile."""
        asked_at = -math.inf
        while not all(map(done, self.handles.values())):
            now = self._clock.now()
            if now - asked_at >= RETRY_INTERVAL:
                asked_at = now
                for handle in self.handles.values():
                    if not done(handle):
                        self._tell(handle, kind, data)
            self._look_after(now)
            if not all(map(done, self.handles.values())):
                self.mailbox.wait(MAX_NAP_SECONDS)

    # --- looking after workers -------------------------------------------------------------------------------------------

    @property
    def max_ticks(self) -> int:
        """From one checkpoint to the next: of the two that are kept one must not lie beyond the beginning of the slice.

        And as many as there are samples in what a worker may say at once.
        """
        samples = max(1, self._max_message_bytes // (2 * self._sample))
        return min(self._every, samples * self._shards[0].every) if self._shards else self._every

    @property
    def message_log(self) -> Sequence[str]:
        """What was said last, one line each, the time counted from the beginning of this pool [s]."""
        return tuple(self._message_log)

    def _note(self, what: str) -> None:
        self._message_log.append(f"{time.monotonic() - self._began:9.3f} s  {what}")

    def _hear(self, identity: bytes, message: Message, key_owner: str, now: float) -> None:
        data = message.data
        handle = next((one for one in self.handles.values() if one.identity == identity), None)
        if handle is not None and not self._opens(handle.name, key_owner):
            return  # somebody else speaks under its name
        if message.kind == "hello":
            self._greet(identity, data, key_owner, now)
            return
        if handle is not None and message.kind not in ("answer", "idle", "leave"):
            self._note(f"{handle.name} says {brief(message.kind, data, message.payload)}")
        run = self._run
        if handle is not None:
            handle.gone_at = math.inf
        if handle is not None and message.kind == "answer":
            self._answers[data["number"]] = message
        if handle is not None and message.kind == "leave" and not handle.leaves:
            handle.leaves = True
            self._leaving.append(handle.name)
        if handle is None or run is None:
            return
        if data.get("run") != run.number:
            if message.kind in ("idle", "core"):
                self._begin_again(handle, now)
            return
        if message.kind == "core":
            handle.has_shard = True
            run.core.hear(message.payload, now, handle.name)
        elif message.kind == "halted":
            handle.halt = AdvanceResult(data["tick"], data["why"])
        elif message.kind == "refused":
            self._failure = f"'{handle.name}': {data['why']}"
        elif message.kind == "samples":
            if data["tick"] == self._tick:
                handle.said = len(message.payload)
                handle.samples = samples_from_arrays(*unpacked(message.payload, f"samples of '{handle.name}'"))
        elif message.kind == "state":
            handle.state, handle.facts, handle.died = message.payload, data, 0
        elif message.kind == "store":
            run.store(handle.name, data["step"], data["incarnation"], message.payload)
            self._tell(handle, "stored", {"step": data["step"]})
        elif message.kind == "load":
            blob = run.blobs.get((handle.name, data["step"], data["incarnation"]), b"")
            late = run.tick + data["step"] > self._committed  # there would be no way back
            self._tell(handle, "loaded", {k: data[k] for k in ("step", "incarnation", "digest")}, b"" if late else blob)

    def _launch(self, handle: WorkerHandle) -> None:
        handle.launched += 1
        handle.alive = True
        handle.missed_at = self._clock.now() + CONNECT_NOTICE_SECONDS
        settings = {"name": handle.name, "incarnation": str(handle.launched), "hub": self.mailbox.address}
        if self._socket_folder is not None:
            self._sockets += 1
            settings["where"] = self._socket_folder.address(str(self._sockets))
        if self.mailbox.keys is not None:
            settings["hub key"] = self.mailbox.keys.public.decode()
        pair = self._pairs.get(handle.name)
        if pair is not None:
            settings |= {"public": pair.public.decode(), "secret": pair.secret.decode()}
        self._note(f"{handle.name} is started, for the {handle.launched}. time")
        self.launcher.start(Order(handle.name, handle.launched, settings, self.deadlines.silence))

    def _begin(self, handle: WorkerHandle) -> None:
        """Let a worker take part in the run."""
        run = self._running()
        handle.wanted = False
        data = {
            "run": run.number, "incarnation": handle.acting, "names": self._names, "tick": run.tick, "committed": self._committed,
            "keys": self._public if self.mailbox.keys is not None else {}, "most": self._max_message_bytes,
            **{name: min(getattr(self.deadlines, name), MAX_WAIT) for name in ("report", "silence", "orphan")},
        }  # fmt: skip
        data["packages"], data["folders"] = as_data()
        start = run.starts[handle.number] if run.starts else b""
        payload = b"" if handle.has_shard else self._payloads[handle.number]
        self._note(f"{handle.name} is told begin, at tick {run.tick}")
        self.mailbox.answer(handle.identity, *encode_message("begin", data, payload, start))
        handle.again_at = self._clock.now() + handle.patience
        handle.patience *= 2.0  # a large shard takes its time

    def _begin_again(self, handle: WorkerHandle, now: float) -> None:
        """A worker has nothing to do, or does what is over: it has not heard what it was told."""
        entry = self._running().core.registry[handle.name]
        if now >= handle.again_at and not (entry.joined and entry.incarnation == handle.acting):
            self._begin(handle)

    def _tell(self, handle: WorkerHandle, kind: str, data: dict[str, Any] | None = None, payload: bytes = b"") -> None:
        if handle.identity and self._run is not None:
            self._note(f"{handle.name} is told {brief(kind, data or {}, payload)}")
            self.mailbox.answer(
                handle.identity, *encode_message(kind, {**(data or {}), "run": self._run.number}, payload)
            )

    def _perform(self) -> None:
        """What the protocol asks for."""
        run = self._running()
        for effect in run.core.effects():
            if isinstance(effect, effects.Start):
                handle = self.handles[effect.name]
                handle.acting, handle.wanted = effect.incarnation, True
                handle.again_at, handle.patience = math.inf, RETRY_INTERVAL
                if not handle.alive:
                    self._launch(handle)
                elif handle.identity:
                    self._begin(handle)
            elif isinstance(effect, effects.End):
                handle = self.handles[effect.name]
                if handle.alive and handle.acting == effect.incarnation:
                    self.launcher.stop(handle.name, handle.launched)
                    self._worker_died(handle, handle.launched, "nothing was received from it", self._clock.now())
            elif isinstance(effect, effects.Tell):
                handle = self.handles[effect.name]
                if handle.acting == effect.incarnation:
                    self._tell(handle, "core", {"committed": self._committed}, effect.message)
            elif isinstance(effect, effects.Reached):
                self._reached = effect.step
            elif isinstance(effect, effects.Ended):
                self._failure = effect.reason
