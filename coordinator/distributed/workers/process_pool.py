"""Workers in processes of their own, on this machine or others.

Every distribution of the mechanism is a run of the protocol (protocol), with steps counted from its tick. A process that
dies is replaced: the new one takes the shard, the newest checkpoint that is old enough, and what its neighbours have kept of
what they said.
"""

from __future__ import annotations

import json
import logging
import math
import secrets
import time
import zlib
from collections import deque
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from coordinator.distributed import protocol
from coordinator.distributed.launchers import ByHand, Exited, Launcher, Order
from coordinator.distributed.protocol import effects
from coordinator.distributed.transports.addresses import IPC_ANY, LOOPBACK_ANY, is_local
from coordinator.distributed.transports.keys import Keys
from coordinator.distributed.transports.socket_folder import SocketFolder, is_private
from coordinator.distributed.transports.zeromq import ANYONE, Mailbox, fresh_keys, keys_of_this_user
from coordinator.distributed.workers.capped_clock import CappedClock
from coordinator.distributed.workers.channel import Channel, ProcessLost, Unreachable
from coordinator.distributed.workers.messages import Message, decode_message, encode_message, samples_from_arrays
from coordinator.distributed.workers.process_monitor import ProcessMonitor
from coordinator.distributed.workers.remote_channel import RemoteChannel
from coordinator.distributed.workers.shard import Shard
from coordinator.distributed.workers.worker_pool import AdvanceResult, WorkerInfo
from coordinator.engine.interrupt import obey_late
from coordinator.record.fingerprint import bits
from coordinator.record.recorder import Segment
from modular.allowed import as_data
from modular.errors import ModelError
from modular.names import unfit
from modular.payload import unpacked

_log = logging.getLogger("modular")
MAX_CHECKPOINT_STEPS = 2000  # steps between two checkpoints, at most
MIN_CHECKPOINT_STEPS = 16  # and at least, however much is said meanwhile
MAX_LOG_BYTES = 1 << 26  # bytes that a worker may have to remember until then of what it has said
MAX_NAP_SECONDS = 0.02  # longest wait before others are looked after [s]
RETRY_INTERVAL = 0.5  # [s]
PING_SECONDS = 1.0  # [s]
EXIT_GRACE = 0.5  # seconds in which a launcher may say how a process has ended that is gone
MAX_WAIT = 1e9  # that anybody may be told to wait [s]
PROBE_INTERVAL = 0.2  # seconds between two looks after a worker whose place somebody else wants
MAX_RIVALS = 1000  # of them, and of those who come by themselves, that are remembered
MAX_BATCH = 1000  # messages that are heard before others are looked after again
# seconds that somebody waits who wants a place that another has; without a connection it is his then
RIVAL_WAIT_SECONDS = 3.0
NEWCOMER_TIMEOUT_SECONDS = 3.0  # seconds after which somebody who came has gone again, if not heard
CONNECT_NOTICE_SECONDS = 20.0  # seconds without a worker that was started, until somebody may want to know
COUNTED = ("ticks", "working", "talking", "waiting")
LOG_LENGTH = 200  # messages that are remembered, for those who look into what went wrong
MAX_BRIEF_LENGTH = 200  # letters of each
STALL_NOTICE_SECONDS = 10.0  # seconds in which nobody got on, until it is said who waits for whom
MAX_DEATHS = 3  # without a new checkpoint, until the run is given up


@dataclass
class WorkerHandle:
    """A worker as the coordinator knows it."""

    name: str
    number: int
    launched: int = 0  # how many processes have been started
    alive: bool = False
    identity: bytes = b""  # of the process that is there
    pid: int | None = None
    monitor: ProcessMonitor | None = None  # where it can be felt
    acting: int = 0  # incarnation in the present run
    has_shard: bool = False
    wanted: bool = False  # whether it has to begin as soon as it is there
    again_at: float = math.inf  # when it is told so again, if it has not heard it [s]
    patience: float = RETRY_INTERVAL  # until then, the next time
    leaves: bool = False  # whether it has said that it has to go
    missed_at: float = math.inf  # when somebody is told that it has not come [s]
    gone_at: float = math.inf  # since when there is no connection to it [s]
    probed_at: float = -math.inf  # when that was last looked at [s]
    halt: AdvanceResult | None = None
    samples: list[Segment] | None = None
    said: int = 0  # bytes of them
    state: bytes = b""
    facts: dict[str, float] = field(default_factory=dict)  # how the worker did, as it last said
    before: dict[str, float] = field(default_factory=dict)  # how it did before bodies changed hands


@dataclass
class ProtocolRun:
    """One distribution of the mechanism to workers."""

    core: protocol.Coordinator
    number: int
    tick: int  # at which it began
    starts: list[bytes] = field(default_factory=list)  # how each worker stood then, where not as in its shard
    blobs: dict[tuple[str, int, int], bytes] = field(default_factory=dict)  # checkpoints by name, step and incarnation

    def store(self, name: str, step: int, incarnation: int, blob: bytes) -> None:
        """Keep a checkpoint of a worker, and no longer those from which it will never start again."""
        oldest = self.core.registry[name].checkpoints[-1].step
        for key in [key for key in self.blobs if key[0] == name and key[1] < oldest]:
            del self.blobs[key]
        self.blobs[name, step, incarnation] = blob


class ProcessPool:
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
            keys, authorized_keys = _keys_for(launcher, bind)
        self.mailbox = Mailbox(bind, keys=keys, most=max_message_bytes)
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
            protocol.Edge(k, other, _layout(shard, other), min(len(halo.element), 65535))
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

    def _give_pair(self, name: str) -> None:
        """A pair of keys of its own."""
        pair = self._pairs[name] = fresh_keys()
        self.mailbox.authorized.keys[pair.public], self._public[name] = name, pair.public.decode()

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
            self.mailbox.close()
            if self._socket_folder is not None:
                self._socket_folder.close()

    # --- black boxes -----------------------------------------------------------------------------------------------------

    def channel(self, worker: str) -> Channel:
        """To the black boxes of a worker."""
        return RemoteChannel(self, worker)

    def process_of(self, name: str) -> Hashable:
        """The process that has the place of a worker; waits until one is there."""
        if self._closed or name not in self.handles:
            raise Unreachable(f"worker '{name}' has gone.")
        handle = self.handles[name]
        self._pump(lambda: bool(handle.identity))
        return handle.launched, handle.identity

    def call(self, name: str, process: Hashable, method: str, payload: bytes) -> Message:
        """Ask a process about a black box, and again until it answers; raises Lost when it is gone."""
        handle, now = self.handles.get(name), self._clock.now()
        self._number, self._answers = self._number + 1, {}
        question = encode_message(
            "call", {"number": self._number, "method": method, "most": self._max_message_bytes}, payload
        )
        ask_at, patience, slow_at = now, RETRY_INTERVAL, now + STALL_NOTICE_SECONDS
        while self._number not in self._answers:
            if self._closed or handle is None or (handle.launched, handle.identity) != process:
                raise ProcessLost(self.deaths[-1] if self.deaths else f"'{name}' has gone")
            if now >= ask_at:
                self.mailbox.answer(handle.identity, *question)
                ask_at, patience = now + patience, 2.0 * patience
            if now >= slow_at:
                slow_at = now + STALL_NOTICE_SECONDS
                _log.warning(
                    "workers: '%s' has been busy with '%s' of a black box for %.0f s",
                    name,
                    method,
                    STALL_NOTICE_SECONDS,
                )
            self.mailbox.wait(MAX_NAP_SECONDS)
            now = self._clock.now()
            self._look_after(now)
        return self._answers[self._number]

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

    def _pump(self, done: Callable[[], bool]) -> None:
        while not done():
            self._look_after(self._clock.now())
            if not done():
                self.mailbox.wait(MAX_NAP_SECONDS)

    def _look_after(self, now: float) -> None:
        """Messages, deaths, deadlines."""
        obey_late()
        heard = 0
        while heard < MAX_BATCH and self.mailbox.wait(0.0):
            for identity, parts, key_owner in self.mailbox.mail():
                heard += 1
                message = decode_message(parts)
                if message is not None:
                    self._hear(identity, message, key_owner, now)
        if now >= self._ping_at:
            self._ping_at = now + PING_SECONDS
            for handle in self.handles.values():
                self._probe(handle, now)
        for gone in self.launcher.exits():
            if gone.name in self.handles:
                self._process_exited(gone, now)
        for handle in self.handles.values():
            self._give_up_on(handle, now)
        if self._run is not None:
            if now >= self._run.core.next_wake():
                self._run.core.wake(now)
            self._perform()
            self._say_who_is_slow(self._run, now)
        if self._failure:
            raise ModelError(f"workers: {self._failure}")
        if time.monotonic() > self._deadline:
            raise ModelError("workers: they did not return their bodies in time.")

    def _probe(self, handle: WorkerHandle, now: float) -> None:
        """Look whether a worker is there, and what held it up if it only waited for its turn."""
        handle.probed_at = now
        if handle.identity:
            if self.mailbox.answer(handle.identity, *encode_message("ping")):
                handle.gone_at = math.inf
            else:
                handle.gone_at = min(handle.gone_at, now)
            if (held_up := handle.monitor.starved() if handle.monitor is not None else 0.0) > 0.0:
                handle.gone_at += held_up
                if self._run is not None:
                    self._run.core.excuse(handle.name, held_up, now)
        elif now > handle.missed_at:
            handle.missed_at = math.inf
            _log.warning(
                "worker '%s' has not connected for %g s; it should connect to %s",
                handle.name,
                CONNECT_NOTICE_SECONDS,
                self.mailbox.address,
            )

    def _give_up_on(self, handle: WorkerHandle, now: float) -> None:
        """A connection that is gone comes back, unless the process is gone too; where that cannot be seen only silence tells."""
        gone_for = now - handle.gone_at
        if gone_for > self.deadlines.silence:
            self.launcher.stop(handle.name, handle.launched)
            self._worker_died(handle, handle.launched, "its connection was lost", now)
        elif gone_for > EXIT_GRACE and handle.monitor is not None and not handle.monitor.running:
            self._worker_died(handle, handle.launched, "its process has ended", now)  # its launcher knows nothing of it

    def _say_who_is_slow(self, run: ProtocolRun, now: float) -> None:
        """Who waits for whom, where nobody has got on for long; slow is not dead."""
        step, since = self._moved
        if run.core.slowest != step or self._reached:
            self._moved = run.core.slowest, now
        elif now - since > STALL_NOTICE_SECONDS:
            self._moved = step, now
            slowest = "; ".join(run.core.status_lines(now)[:4])
            _log.warning("workers: no progress for %.0f s: %s", STALL_NOTICE_SECONDS, slowest)

    def _hear(self, identity: bytes, message: Message, key_owner: str, now: float) -> None:
        data = message.data
        handle = next((one for one in self.handles.values() if one.identity == identity), None)
        if handle is not None and not self._opens(handle.name, key_owner):
            return  # somebody else speaks under its name
        if message.kind == "hello":
            self._greet(identity, data, key_owner, now)
            return
        if handle is not None and message.kind not in ("answer", "idle", "leave"):
            self._note(f"{handle.name} says {_brief(message.kind, data, message.payload)}")
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
            handle.state, handle.facts = message.payload, data
        elif message.kind == "store":
            run.store(handle.name, data["step"], data["incarnation"], message.payload)
            self._tell(handle, "stored", {"step": data["step"]})
        elif message.kind == "load":
            blob = run.blobs.get((handle.name, data["step"], data["incarnation"]), b"")
            late = run.tick + data["step"] > self._committed  # there would be no way back
            self._tell(handle, "loaded", {k: data[k] for k in ("step", "incarnation", "digest")}, b"" if late else blob)

    def _greet(self, identity: bytes, data: dict[str, Any], key_owner: str, now: float) -> None:
        handle = self.handles.get(data["name"])
        if handle is None and self._elastic and self._opens(data["name"], key_owner) and not unfit(data["name"]):
            if data["name"] in self._waiting or len(self._waiting) < MAX_RIVALS:
                self._waiting[data["name"]] = now
            return
        why = self._why_not(handle, identity, data, key_owner)
        if not why and handle is not None and handle.identity not in (b"", identity):
            why = self._is_taken(handle, identity, now, by_hand=not data["incarnation"])
            if not why:
                return
        if why or handle is None:
            self._send_away(identity, why)
            return
        if identity == handle.identity:
            handle.gone_at = math.inf
            return
        if data["fingerprint"] != bits():
            why = f"worker '{handle.name}' has {_unlike(data['fingerprint'], bits())}. Install the same versions."
            if handle.name not in self._unfit:
                self._unfit.add(handle.name)
                _log.warning("%s It was rejected.", why)
            self._send_away(identity, why, unfit=True)
            return
        handle.identity, handle.pid, handle.missed_at, handle.gone_at = identity, data["pid"], math.inf, math.inf
        handle.monitor = ProcessMonitor.of(data["pid"]) if is_local(self.mailbox.address) else None
        if handle.wanted:
            self._begin(handle)

    def _opens(self, name: str, key_owner: str) -> bool:
        """Whether a key opens the place of a worker; without keys all who get in are of this user."""
        return self.mailbox.keys is None or key_owner in (name, ANYONE)

    def _send_away(self, identity: bytes, why: str, *, unfit: bool = False) -> None:
        self.mailbox.answer(identity, *encode_message("quit", {"why": why, "unfit": unfit}))

    def _why_not(self, handle: WorkerHandle | None, identity: bytes, data: dict[str, Any], key_owner: str) -> str:
        """Why a process has no place here; nothing where it has one."""
        if handle is None:
            return f"no worker is called {data.get('name')!r}; expected are {', '.join(self._names)}."
        if not self._opens(handle.name, key_owner):
            return f"the key of '{key_owner}' is not valid for worker '{handle.name}'."
        if data.get("incarnation") not in (0, handle.launched) or not handle.alive:
            return f"'{handle.name}' has been replaced."
        return ""

    def _is_taken(self, handle: WorkerHandle, rival: bytes, now: float, *, by_hand: bool) -> str:
        """Why a second process cannot have a place; nothing while it may turn out that the first is gone: it will greet again.

        Whoever has killed a worker and starts another does not wait until its silence has told us. However many want a place,
        whoever has it is asked now and then, and keeps it.
        """
        first = self._rivals.setdefault(rival, now)
        if len(self._rivals) > MAX_RIVALS:
            del self._rivals[next(iter(self._rivals))]
        if now - handle.probed_at > PROBE_INTERVAL:
            self._probe(handle, now)
        if handle.gone_at == math.inf:
            return f"'{handle.name}' is already connected." if now - first > RIVAL_WAIT_SECONDS or not by_hand else ""
        dead = handle.monitor is not None and not handle.monitor.running
        if dead or (handle.monitor is None and now - handle.gone_at > RIVAL_WAIT_SECONDS):
            self._worker_died(
                handle, handle.launched, "its process has ended" if dead else "its connection was lost", now
            )
        return ""

    def _process_exited(self, gone: Exited, now: float) -> None:
        """A process has ended, says the launcher."""
        handle = self.handles[gone.name]
        if gone.hopeless and gone.incarnation == handle.launched:
            self._failure = f"'{gone.name}' cannot be started: {gone.reason}"
        else:
            self._worker_died(handle, gone.incarnation, gone.reason, now)

    def _worker_died(self, handle: WorkerHandle, launched: int, reason: str, now: float) -> None:
        if launched != handle.launched or not handle.alive:
            return  # another is there already, or it was heard of before
        self.deaths.append(f"'{handle.name}': {reason}")
        self._note(f"{handle.name} is gone: {reason[:MAX_BRIEF_LENGTH]}")
        handle.alive, handle.identity, handle.has_shard, handle.pid, handle.leaves = False, b"", False, None, False
        handle.monitor = None
        handle.state, handle.halt, handle.facts, handle.before = b"", None, {}, {}
        handle.gone_at = math.inf
        if self._run is not None and handle.acting:
            self._run.core.exited(handle.name, handle.acting, reason, now)
        elif len(self.deaths) > 20 * len(self.handles):
            self._failure = f"worker '{handle.name}' keeps dying: {reason}"
        else:
            self._launch(handle)

    def _launch(self, handle: WorkerHandle) -> None:
        handle.launched += 1
        handle.alive = True
        handle.missed_at = self._clock.now() + CONNECT_NOTICE_SECONDS
        told = {"name": handle.name, "incarnation": str(handle.launched), "hub": self.mailbox.address}
        if self._socket_folder is not None:
            self._sockets += 1
            told["where"] = self._socket_folder.address(str(self._sockets))
        if self.mailbox.keys is not None:
            told["hub key"] = self.mailbox.keys.public.decode()
        pair = self._pairs.get(handle.name)
        if pair is not None:
            told |= {"public": pair.public.decode(), "secret": pair.secret.decode()}
        self._note(f"{handle.name} is started, for the {handle.launched}. time")
        self.launcher.start(Order(handle.name, handle.launched, told, self.deadlines.silence))

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
            self._note(f"{handle.name} is told {_brief(kind, data or {}, payload)}")
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


def _keys_for(launcher: Launcher, bind: str) -> tuple[Keys | None, Mapping[bytes, str] | None]:
    """The pair of a run where others can knock, and who may come in: whom the launcher tells, or whoever is of this user.

    On other machines nobody knows what a user has here: then the mailbox says that keys are missing.
    """
    if not isinstance(launcher, ByHand):
        return fresh_keys(), None
    own = keys_of_this_user() if is_local(bind) else None
    return own, None if own is None else {own.public: ANYONE}


def _unlike(theirs: str, ours: str) -> str:
    """Where versions differ, as far as they can be read."""
    try:
        there, here = json.loads(theirs), json.loads(ours)
        differ = [f"{key} {there.get(key)!r}, here {here[key]!r}" for key in here if there.get(key) != here[key]]
    except (ValueError, AttributeError, RecursionError):
        differ = []
    return "; ".join(differ)[: 4 * MAX_BRIEF_LENGTH] or f"{theirs[:MAX_BRIEF_LENGTH]!r}, here {ours}"


def _brief(kind: str, data: Mapping[str, Any], payload: bytes) -> str:
    """A message in a line."""
    if kind == "core":
        return f"{kind} {payload[:MAX_BRIEF_LENGTH].decode(errors='replace')}"
    return f"{kind} {json.dumps(data)[:MAX_BRIEF_LENGTH]}" + (f" and {len(payload)} bytes" if payload else "")


def _layout(shard: Shard, other: int) -> int:
    """A number that tells whether two workers mean the same elements in the same order."""
    outgoing, incoming = shard.outgoing[other], shard.incoming[other]
    facts = [len(outgoing.element), len(incoming.element), outgoing.state.shape[2]]
    return zlib.crc32(
        repr([*facts, outgoing.reads_end_velocity.tolist(), incoming.reads_end_velocity.tolist()]).encode()
    )
