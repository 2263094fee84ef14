"""Workers in processes of their own, on this machine or others.

Every loan of the mechanism is a run of the protocol (protocol), with steps counted from its tick. A process that
dies is replaced: the new one takes the piece, the newest checkpoint that is old enough, and what its neighbours have kept of
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
from coordinator.distributed.transports.addresses import HERE, LOCAL, is_local
from coordinator.distributed.transports.keys import Keys
from coordinator.distributed.transports.meeting_place import MeetingPlace, is_private
from coordinator.distributed.transports.zeromq import ANYONE, Mailbox, fresh_keys, keys_of_this_user
from coordinator.distributed.workers.attention import Attention
from coordinator.distributed.workers.far import FarLine
from coordinator.distributed.workers.lines import Line, Lost, Unreachable
from coordinator.distributed.workers.messages import Message, read, samples_from_arrays, written
from coordinator.distributed.workers.piece import Piece
from coordinator.distributed.workers.pulse import Pulse
from coordinator.distributed.workers.team import Member, Stood
from coordinator.engine.interrupt import obey_late
from coordinator.record.fingerprint import bits
from coordinator.record.recorder import Segment
from modular.allowed import as_data
from modular.errors import ModelError
from modular.names import unfit
from modular.parcel import unpacked

_log = logging.getLogger("modular")
EVERY = 2000  # steps between two checkpoints, at most
OFTEN = 16  # and at least, however much is said meanwhile
SAID = 1 << 26  # bytes that a worker may have to remember until then of what it has said
NAP = 0.02  # longest wait before others are looked after [s]
ASK_AGAIN = 0.5  # [s]
PING = 1.0  # [s]
LAST_WORDS = 0.5  # seconds in which a launcher may say how a process has ended that is gone
LONGEST = 1e9  # that anybody may be told to wait [s]
FELT = 0.2  # seconds between two looks after a worker whose place somebody else wants
RIVALS = 1000  # of them, and of those who come by themselves, that are remembered
AT_ONCE = 1000  # messages that are heard before others are looked after again
RIVAL = 3.0  # seconds that somebody waits who wants a place that another has; without a connection it is his then
GREETS = 3.0  # seconds after which somebody who came has gone again, if not heard
LONG = 20.0  # seconds without a worker that was started, until somebody may want to know
COUNTED = ("ticks", "working", "talking", "waiting")
TRAIL = 200  # messages that are remembered, for those who look into what went wrong
BRIEF = 200  # letters of each
SLOW = 10.0  # seconds in which nobody got on, until it is said who waits for whom
DEATHS = 3  # without a new checkpoint, until the run is given up


@dataclass
class Place:
    """A worker as the coordinator knows it."""

    name: str
    number: int
    launched: int = 0  # how many processes have been started
    alive: bool = False
    identity: bytes = b""  # of the process that is there
    pid: int | None = None
    pulse: Pulse | None = None  # where it can be felt
    acting: int = 0  # incarnation in the present run
    has_piece: bool = False
    wanted: bool = False  # whether it has to begin as soon as it is there
    again_at: float = math.inf  # when it is told so again, if it has not heard it [s]
    patience: float = ASK_AGAIN  # until then, the next time
    leaves: bool = False  # whether it has said that it has to go
    missed_at: float = math.inf  # when somebody is told that it has not come [s]
    gone_at: float = math.inf  # since when there is no connection to it [s]
    felt_at: float = -math.inf  # when that was last looked at [s]
    stood: Stood | None = None
    samples: list[Segment] | None = None
    said: int = 0  # bytes of them
    state: bytes = b""
    facts: dict[str, float] = field(default_factory=dict)  # how the worker did, as it last said
    before: dict[str, float] = field(default_factory=dict)  # how it did before bodies changed hands


@dataclass
class Run:
    """One loan."""

    core: protocol.Coordinator
    number: int
    tick: int  # at which it began
    starts: list[bytes] = field(default_factory=list)  # how each worker stood then, where not as in its piece
    blobs: dict[tuple[str, int, int], bytes] = field(default_factory=dict)  # checkpoints by name, step and incarnation

    def store(self, name: str, step: int, incarnation: int, blob: bytes) -> None:
        """Keep a checkpoint of a worker, and no longer those from which it will never start again."""
        oldest = self.core.seats[name].kept[-1].step
        for key in [key for key in self.blobs if key[0] == name and key[1] < oldest]:
            del self.blobs[key]
        self.blobs[name, step, incarnation] = blob


class Away:
    """A team of processes."""

    slice = 0.5

    def __init__(
        self,
        names: Sequence[str],
        launcher: Launcher,
        *,
        where: str = HERE,
        keys: Keys | None = None,
        guests: Mapping[bytes, str] | None = None,
        deadlines: protocol.Deadlines | None = None,
        welcoming: bool = False,
        largest: int = 1 << 28,
    ) -> None:
        """`where`: the mailbox that workers turn to; `keys`: with which they know it; `guests`: names of workers by public keys.

        Where other users could knock there are keys in any case. With keys but no guests every worker is given a pair of its own
        for this run, and whoever replaces it the same one: neighbours know it. `welcoming`: whoever comes with another name than
        those may take part. `largest`: bytes that a worker may say at once.
        """
        self.launcher, self.every = launcher, EVERY
        self.deadlines = deadlines or protocol.Deadlines()
        self._trail: deque[str] = deque(maxlen=TRAIL)
        self._began = time.monotonic()
        self._attention = Attention()  # by which everybody is waited for
        self._moved = (-1, 0.0)  # the step that all had done, and since when
        self._largest = largest
        self._meeting = MeetingPlace.on_this_machine() if where == HERE or is_local(where) else None
        if where == HERE:
            where = LOCAL if self._meeting is None else self._meeting.address("run")
        if keys is None and not is_private(where):
            keys, guests = _keys_for(launcher, where)
        self.mailbox = Mailbox(where, keys=keys, most=largest)
        self._own_keys = keys is not None and guests is None
        self._pairs: dict[str, Keys] = {}
        self._public: dict[str, str] = {name: key.decode() for key, name in (guests or {}).items()}
        self.mailbox.guests.keys = dict(guests or {})
        for name in names if self._own_keys else ():
            self._give_pair(name)
        self.places = {name: Place(name, number) for number, name in enumerate(names)}
        self._every = EVERY  # in the present loan
        self._sample = 1  # bytes of one of a worker, about
        self._names = list(names)
        self._former: dict[str, int] = {}  # incarnations of workers that were dismissed
        self._welcoming = welcoming
        self._waiting: dict[str, float] = {}  # who has come and has no place, and when he was last heard
        self._leaving: list[str] = []
        self._rivals: dict[bytes, float] = {}  # who came for a place that is taken, and when
        self._unfit: set[str] = set()  # whose processes were sent away because of their versions, as was said
        self._pieces: list[Piece] = []
        self._parcels: list[bytes] = []
        self._edges: list[protocol.Edge] = []
        self._run: Run | None = None
        self._runs = secrets.randbelow(1 << 30)  # workers may have known a coordinator before this one
        self._tick = self._kept = self._reached = 0
        self._failure = ""
        self._ping_at = 0.0
        self._until_when = math.inf
        self._number = secrets.randbelow(1 << 30)  # of the last question to a black box
        self._answers: dict[int, Message] = {}  # to it, once it is there
        self._closed = False
        self.deaths: list[str] = []
        self._sockets = 0  # that were made there
        try:
            for place in self.places.values():
                self._launch(place)
        except BaseException:
            self.close()
            raise

    # --- a team ----------------------------------------------------------------------------------------------------------

    def begin(self, pieces: Sequence[Piece]) -> None:
        """Take pieces over."""
        self._pieces, self._parcels = list(pieces), [piece.to_parcel() for piece in pieces]
        self._sample = max(map(len, self._parcels))  # a sample is less
        for name, parcel in zip(self._names, self._parcels, strict=True):
            if (back := len(parcel) + SAID) > self._largest:
                raise ModelError(
                    f"worker '{name}' may have {back / 1e6:.0f} MB to give back at once, and {self._largest / 1e6:.0f} MB may "
                    f"pass; take more workers, or allow more, as in Site(largest={2 * back})."
                )
        for place in self.places.values():
            place.has_piece = False
        self._edges = [
            protocol.Edge(k, other, _layout(piece, other), min(len(border.element), 65535))
            for k, piece in enumerate(pieces)
            for other, border in piece.telling.items()
            if k < other
        ]
        most = max(piece.said_per_tick * len(piece.telling) for piece in pieces)
        self._every = max(min(self.every, OFTEN), min(self.every, SAID // max(1, 2 * most)))
        self._tick = self._kept = pieces[0].system.tick
        self._open(self._tick, [])

    def go(self, last: int) -> list[Stood]:
        """Go on to a tick, or as far as it goes."""
        run = self._running()
        for place in self.places.values():
            place.stood = None
        if last > run.tick:
            self._reached, self._moved = 0, (-1, self._attention.now())
            run.core.run_to(last - run.tick, self._attention.now())
            self._pump(lambda: self._reached >= last - run.tick or any(p.stood for p in self.places.values()))
        self._tick = last
        return [place.stood or Stood(last, None) for place in self.places.values()]

    def go_back(self) -> None:
        """All stand as when samples were last taken, and a new run begins there."""
        run = self._running()
        self._pump(lambda: run.tick + run.core.slowest >= self._kept)
        starts = self._states(self._kept, back=True)
        self._end_run()
        self._open(self._kept, starts)

    def samples(self) -> list[list[Segment]]:
        """What each has recorded since."""
        for place in self.places.values():
            place.samples = None
        self._until(lambda place: place.samples is not None, "samples?", {"tick": self._tick})
        self._kept = self._tick  # workers hear of it with the leave to go on, before they do
        taken = [place.samples or [] for place in self.places.values()]
        counts = [sum(len(segment.ticks) for segment in segments) for segments in taken]
        sizes = [place.said / count for place, count in zip(self.places.values(), counts, strict=True) if count]
        self._sample = math.ceil(max(sizes, default=self._sample))
        return taken

    def give_back(self) -> None:
        """Let the pieces stand as the workers left them."""
        states = self._states(self._tick, back=False)
        self._end_run()
        for piece, state in zip(self._pieces, states, strict=True):
            data, arrays = unpacked(state, "state of a worker")
            piece.take_state(arrays)
            piece.system.tick = data["tick"]

    def abandon(self) -> None:
        """Forget the pieces; whoever has come by now waits for others."""
        if self._run is not None:
            self._end_run()

    def members(self) -> list[Member]:
        """How the workers did."""
        found = []
        for place in self.places.values():
            seen = {name: place.facts.get(name, 0.0) - place.before.get(name, 0.0) for name in COUNTED}
            ticks, replaced = int(seen.pop("ticks")), place.launched - 1
            facts = {**seen, "bytes_per_tick": place.facts.get("bytes_per_tick", 0.0)}
            found.append(Member(place.name, (), place.pid, ticks, replaced=replaced, **facts))
        return found

    def forget(self) -> None:
        """How they did counts from now."""
        for place in self.places.values():
            place.before = place.facts

    def enlist(self, name: str) -> None:
        """One more worker; a process is started, unless it is there already."""
        place = self.places[name] = Place(name, len(self.places), launched=self._former.get(name, 0))
        self._names = list(self.places)
        if self._own_keys:
            self._give_pair(name)
        if self._waiting.pop(name, None) is None:
            self._launch(place)
        else:
            place.launched, place.alive = place.launched + 1, True

    def _give_pair(self, name: str) -> None:
        """A pair of keys of its own."""
        pair = self._pairs[name] = fresh_keys()
        self.mailbox.guests.keys[pair.public], self._public[name] = name, pair.public.decode()

    def dismiss(self, name: str) -> None:
        """A worker goes; its process is told to."""
        place = self.places.pop(name)
        self._former[name] = place.launched
        if place.identity:
            self.mailbox.answer(place.identity, *written("quit", {"why": "", "unfit": False}))
        if self._own_keys:
            self.mailbox.guests.keys.pop(self._pairs.pop(name).public)
            del self._public[name]
        self._names = list(self.places)
        for number, one in enumerate(self.places.values()):
            one.number = number

    def comings(self) -> tuple[list[str], list[str]]:
        """Who has come by himself and wants to take part, and who wants to go."""
        now = self._attention.now()
        self._waiting = {name: heard for name, heard in self._waiting.items() if now - heard < GREETS}
        leaving, self._leaving = self._leaving, []
        return list(self._waiting), [name for name in leaving if name in self.places]

    def hurry(self, seconds: float) -> None:
        """From now on wait for nobody longer than so long."""
        self._until_when = time.monotonic() + seconds

    def close(self) -> None:
        """Let the workers go."""
        if self._closed:
            return
        self._closed = True
        try:
            for place in self.places.values():
                if place.identity:
                    self.mailbox.answer(place.identity, *written("quit", {"why": "", "unfit": False}))
            self.launcher.close()
        finally:
            self.mailbox.close()
            if self._meeting is not None:
                self._meeting.close()

    # --- black boxes -----------------------------------------------------------------------------------------------------

    def line(self, worker: str) -> Line:
        """To the black boxes of a worker."""
        return FarLine(self, worker)

    def who(self, name: str) -> Hashable:
        """The process that has the place of a worker; waits until one is there."""
        if self._closed or name not in self.places:
            raise Unreachable(f"worker '{name}' has gone.")
        place = self.places[name]
        self._pump(lambda: bool(place.identity))
        return place.launched, place.identity

    def call(self, name: str, who: Hashable, method: str, parcel: bytes) -> Message:
        """Ask a process about a black box, and again until it answers; raises Lost when it is gone."""
        place, now = self.places.get(name), self._attention.now()
        self._number, self._answers = self._number + 1, {}
        question = written("call", {"number": self._number, "method": method, "most": self._largest}, parcel)
        ask_at, patience, slow_at = now, ASK_AGAIN, now + SLOW
        while self._number not in self._answers:
            if self._closed or place is None or (place.launched, place.identity) != who:
                raise Lost(self.deaths[-1] if self.deaths else f"'{name}' has gone")
            if now >= ask_at:
                self.mailbox.answer(place.identity, *question)
                ask_at, patience = now + patience, 2.0 * patience
            if now >= slow_at:
                slow_at = now + SLOW
                _log.warning("workers: '%s' has been busy with '%s' of a black box for %.0f s", name, method, SLOW)
            self.mailbox.wait(NAP)
            now = self._attention.now()
            self._look_after(now)
        return self._answers[self._number]

    # --- runs --------------------------------------------------------------------------------------------------------------

    def _open(self, tick: int, starts: list[bytes]) -> None:
        """A new run of the protocol."""
        self._runs += 1
        plan = protocol.Plan(self._runs, tuple(self._names), tuple(self._edges), self._every, DEATHS)
        core = protocol.Coordinator(plan, self.deadlines, self._attention.now())
        self._run = Run(core, self._runs, tick, starts)
        for place in self.places.values():
            place.acting, place.wanted = 0, False
        self._perform()

    def _end_run(self) -> None:
        for place in self.places.values():
            self._tell(place, "over")
        self._run = None

    def _running(self) -> Run:
        assert self._run is not None, "nothing is lent"
        return self._run

    def _states(self, tick: int, *, back: bool) -> list[bytes]:
        for place in self.places.values():
            place.state = b""
        self._until(lambda place: bool(place.state), "state?", {"back": back, "tick": tick})
        return [place.state for place in self.places.values()]

    def _until(self, done: Callable[[Place], bool], word: str, data: dict[str, Any]) -> None:
        """Ask every worker, and again those that were replaced meanwhile."""
        asked_at = -math.inf
        while not all(map(done, self.places.values())):
            now = self._attention.now()
            if now - asked_at >= ASK_AGAIN:
                asked_at = now
                for place in self.places.values():
                    if not done(place):
                        self._tell(place, word, data)
            self._look_after(now)
            if not all(map(done, self.places.values())):
                self.mailbox.wait(NAP)

    # --- looking after workers -------------------------------------------------------------------------------------------

    @property
    def longest(self) -> int:
        """From one checkpoint to the next: of the two that are kept one must not lie beyond the beginning of the slice.

        And as many as there are samples in what a worker may say at once.
        """
        samples = max(1, self._largest // (2 * self._sample))
        return min(self._every, samples * self._pieces[0].every) if self._pieces else self._every

    @property
    def trail(self) -> Sequence[str]:
        """What was said last, one line each, the time counted from the beginning of this team [s]."""
        return tuple(self._trail)

    def _note(self, what: str) -> None:
        self._trail.append(f"{time.monotonic() - self._began:9.3f} s  {what}")

    def _pump(self, done: Callable[[], bool]) -> None:
        while not done():
            self._look_after(self._attention.now())
            if not done():
                self.mailbox.wait(NAP)

    def _look_after(self, now: float) -> None:
        """Messages, deaths, deadlines."""
        obey_late()
        heard = 0
        while heard < AT_ONCE and self.mailbox.wait(0.0):
            for identity, parts, whose in self.mailbox.mail():
                heard += 1
                message = read(parts)
                if message is not None:
                    self._hear(identity, message, whose, now)
        if now >= self._ping_at:
            self._ping_at = now + PING
            for place in self.places.values():
                self._feel(place, now)
        for gone in self.launcher.exits():
            if gone.name in self.places:
                self._bury(gone, now)
        for place in self.places.values():
            self._give_up_on(place, now)
        if self._run is not None:
            if now >= self._run.core.next_wake():
                self._run.core.wake(now)
            self._perform()
            self._say_who_is_slow(self._run, now)
        if self._failure:
            raise ModelError(f"workers: {self._failure}")
        if time.monotonic() > self._until_when:
            raise ModelError("workers: they did not give back in time what was lent to them.")

    def _feel(self, place: Place, now: float) -> None:
        """Look whether a worker is there, and what held it up if it only waited for its turn."""
        place.felt_at = now
        if place.identity:
            if self.mailbox.answer(place.identity, *written("ping")):
                place.gone_at = math.inf
            else:
                place.gone_at = min(place.gone_at, now)
            if (held_up := place.pulse.starved() if place.pulse is not None else 0.0) > 0.0:
                place.gone_at += held_up
                if self._run is not None:
                    self._run.core.excuse(place.name, held_up, now)
        elif now > place.missed_at:
            place.missed_at = math.inf
            _log.warning(
                "worker '%s' has not connected for %g s; it is to connect to %s", place.name, LONG, self.mailbox.address
            )

    def _give_up_on(self, place: Place, now: float) -> None:
        """A connection that is gone comes back, unless the process is gone too; where that cannot be seen only silence tells."""
        gone_for = now - place.gone_at
        if gone_for > self.deadlines.silence:
            self.launcher.stop(place.name, place.launched)
            self._mourn(place, place.launched, "its connection is gone", now)
        elif gone_for > LAST_WORDS and place.pulse is not None and not place.pulse.beats:
            self._mourn(place, place.launched, "its process is gone", now)  # its launcher knows nothing of it

    def _say_who_is_slow(self, run: Run, now: float) -> None:
        """Who waits for whom, where nobody has got on for long; slow is not dead."""
        step, since = self._moved
        if run.core.slowest != step or self._reached:
            self._moved = run.core.slowest, now
        elif now - since > SLOW:
            self._moved = step, now
            slowest = "; ".join(run.core.standing(now)[:4])
            _log.warning("workers: nobody has got on for %.0f s: %s", SLOW, slowest)

    def _hear(self, identity: bytes, message: Message, whose: str, now: float) -> None:
        data = message.data
        place = next((one for one in self.places.values() if one.identity == identity), None)
        if place is not None and not self._opens(place.name, whose):
            return  # somebody else speaks under its name
        if message.word == "here":
            self._greet(identity, data, whose, now)
            return
        if place is not None and message.word not in ("answer", "idle", "leave"):
            self._note(f"{place.name} says {_brief(message.word, data, message.parcel)}")
        run = self._run
        if place is not None:
            place.gone_at = math.inf
        if place is not None and message.word == "answer":
            self._answers[data["number"]] = message
        if place is not None and message.word == "leave" and not place.leaves:
            place.leaves = True
            self._leaving.append(place.name)
        if place is None or run is None:
            return
        if data.get("run") != run.number:
            if message.word in ("idle", "core"):
                self._begin_again(place, now)
            return
        if message.word == "core":
            place.has_piece = True
            run.core.hear(message.parcel, now, place.name)
        elif message.word == "stood":
            place.stood = Stood(data["tick"], data["why"])
        elif message.word == "refused":
            self._failure = f"'{place.name}': {data['why']}"
        elif message.word == "samples":
            if data["tick"] == self._tick:
                place.said = len(message.parcel)
                place.samples = samples_from_arrays(*unpacked(message.parcel, f"samples of '{place.name}'"))
        elif message.word == "state":
            place.state, place.facts = message.parcel, data
        elif message.word == "store":
            run.store(place.name, data["step"], data["incarnation"], message.parcel)
            self._tell(place, "stored", {"step": data["step"]})
        elif message.word == "load":
            blob = run.blobs.get((place.name, data["step"], data["incarnation"]), b"")
            late = run.tick + data["step"] > self._kept  # there would be no way back
            self._tell(place, "loaded", {k: data[k] for k in ("step", "incarnation", "digest")}, b"" if late else blob)

    def _greet(self, identity: bytes, data: dict[str, Any], whose: str, now: float) -> None:
        place = self.places.get(data["name"])
        if place is None and self._welcoming and self._opens(data["name"], whose) and not unfit(data["name"]):
            if data["name"] in self._waiting or len(self._waiting) < RIVALS:
                self._waiting[data["name"]] = now
            return
        why = self._why_not(place, identity, data, whose)
        if not why and place is not None and place.identity not in (b"", identity):
            why = self._is_taken(place, identity, now, by_hand=not data["incarnation"])
            if not why:
                return
        if why or place is None:
            self._send_away(identity, why)
            return
        if identity == place.identity:
            place.gone_at = math.inf
            return
        if data["fingerprint"] != bits():
            why = f"worker '{place.name}' has {_unlike(data['fingerprint'], bits())}. Install the same versions."
            if place.name not in self._unfit:
                self._unfit.add(place.name)
                _log.warning("%s It was sent away.", why)
            self._send_away(identity, why, unfit=True)
            return
        place.identity, place.pid, place.missed_at, place.gone_at = identity, data["pid"], math.inf, math.inf
        place.pulse = Pulse.of(data["pid"]) if is_local(self.mailbox.address) else None
        if place.wanted:
            self._begin(place)

    def _opens(self, name: str, whose: str) -> bool:
        """Whether a key opens the place of a worker; without keys all who get in are of this user."""
        return self.mailbox.keys is None or whose in (name, ANYONE)

    def _send_away(self, identity: bytes, why: str, *, unfit: bool = False) -> None:
        self.mailbox.answer(identity, *written("quit", {"why": why, "unfit": unfit}))

    def _why_not(self, place: Place | None, identity: bytes, data: dict[str, Any], whose: str) -> str:
        """Why a process has no place here; nothing where it has one."""
        if place is None:
            return f"no worker is called {data.get('name')!r}; wanted are {', '.join(self._names)}."
        if not self._opens(place.name, whose):
            return f"the key of '{whose}' does not open the place of '{place.name}'."
        if data.get("incarnation") not in (0, place.launched) or not place.alive:
            return f"'{place.name}' has been replaced."
        return ""

    def _is_taken(self, place: Place, rival: bytes, now: float, *, by_hand: bool) -> str:
        """Why a second process cannot have a place; nothing while it may turn out that the first is gone: it will greet again.

        Whoever has killed a worker and starts another does not wait until its silence has told us. However many want a place,
        whoever has it is asked now and then, and keeps it.
        """
        first = self._rivals.setdefault(rival, now)
        if len(self._rivals) > RIVALS:
            del self._rivals[next(iter(self._rivals))]
        if now - place.felt_at > FELT:
            self._feel(place, now)
        if place.gone_at == math.inf:
            return f"'{place.name}' is there already." if now - first > RIVAL or not by_hand else ""
        dead = place.pulse is not None and not place.pulse.beats
        if dead or (place.pulse is None and now - place.gone_at > RIVAL):
            self._mourn(place, place.launched, "its process is gone" if dead else "its connection is gone", now)
        return ""

    def _bury(self, gone: Exited, now: float) -> None:
        """A process has ended, says the launcher."""
        place = self.places[gone.name]
        if gone.hopeless and gone.incarnation == place.launched:
            self._failure = f"'{gone.name}' cannot be started: {gone.reason}"
        else:
            self._mourn(place, gone.incarnation, gone.reason, now)

    def _mourn(self, place: Place, launched: int, reason: str, now: float) -> None:
        if launched != place.launched or not place.alive:
            return  # another is there already, or it was heard of before
        self.deaths.append(f"'{place.name}': {reason}")
        self._note(f"{place.name} is gone: {reason[:BRIEF]}")
        place.alive, place.identity, place.has_piece, place.pid, place.leaves = False, b"", False, None, False
        place.pulse = None
        place.state, place.stood, place.facts, place.before = b"", None, {}, {}
        place.gone_at = math.inf
        if self._run is not None and place.acting:
            self._run.core.exited(place.name, place.acting, reason, now)
        elif len(self.deaths) > 20 * len(self.places):
            self._failure = f"worker '{place.name}' dies again and again: {reason}"
        else:
            self._launch(place)

    def _launch(self, place: Place) -> None:
        place.launched += 1
        place.alive = True
        place.missed_at = self._attention.now() + LONG
        told = {"name": place.name, "incarnation": str(place.launched), "hub": self.mailbox.address}
        if self._meeting is not None:
            self._sockets += 1
            told["where"] = self._meeting.address(str(self._sockets))
        if self.mailbox.keys is not None:
            told["hub key"] = self.mailbox.keys.public.decode()
        pair = self._pairs.get(place.name)
        if pair is not None:
            told |= {"public": pair.public.decode(), "secret": pair.secret.decode()}
        self._note(f"{place.name} is started, for the {place.launched}. time")
        self.launcher.start(Order(place.name, place.launched, told, self.deadlines.silence))

    def _begin(self, place: Place) -> None:
        """Let a worker take part in the run."""
        run = self._running()
        place.wanted = False
        data = {
            "run": run.number, "incarnation": place.acting, "names": self._names, "tick": run.tick, "kept": self._kept,
            "keys": self._public if self.mailbox.keys is not None else {}, "most": self._largest,
            **{name: min(getattr(self.deadlines, name), LONGEST) for name in ("report", "silence", "orphan")},
        }  # fmt: skip
        data["packages"], data["folders"] = as_data()
        start = run.starts[place.number] if run.starts else b""
        parcel = b"" if place.has_piece else self._parcels[place.number]
        self._note(f"{place.name} is told begin, at tick {run.tick}")
        self.mailbox.answer(place.identity, *written("begin", data, parcel, start))
        place.again_at = self._attention.now() + place.patience
        place.patience *= 2.0  # a large piece takes its time

    def _begin_again(self, place: Place, now: float) -> None:
        """A worker has nothing to do, or does what is over: it has not heard what it was told."""
        seat = self._running().core.seats[place.name]
        if now >= place.again_at and not (seat.joined and seat.incarnation == place.acting):
            self._begin(place)

    def _tell(self, place: Place, word: str, data: dict[str, Any] | None = None, parcel: bytes = b"") -> None:
        if place.identity and self._run is not None:
            self._note(f"{place.name} is told {_brief(word, data or {}, parcel)}")
            self.mailbox.answer(place.identity, *written(word, {**(data or {}), "run": self._run.number}, parcel))

    def _perform(self) -> None:
        """What the protocol asks for."""
        run = self._running()
        for effect in run.core.effects():
            if isinstance(effect, effects.Start):
                place = self.places[effect.name]
                place.acting, place.wanted = effect.incarnation, True
                place.again_at, place.patience = math.inf, ASK_AGAIN
                if not place.alive:
                    self._launch(place)
                elif place.identity:
                    self._begin(place)
            elif isinstance(effect, effects.End):
                place = self.places[effect.name]
                if place.alive and place.acting == effect.incarnation:
                    self.launcher.stop(place.name, place.launched)
                    self._mourn(place, place.launched, "nothing was heard of it", self._attention.now())
            elif isinstance(effect, effects.Tell):
                place = self.places[effect.name]
                if place.acting == effect.incarnation:
                    self._tell(place, "core", {"kept": self._kept}, effect.message)
            elif isinstance(effect, effects.Reached):
                self._reached = effect.step
            elif isinstance(effect, effects.Ended):
                self._failure = effect.reason


def _keys_for(launcher: Launcher, where: str) -> tuple[Keys | None, Mapping[bytes, str] | None]:
    """The pair of a run where others can knock, and who may come in: whom the launcher tells, or whoever is of this user.

    On other machines nobody knows what a user has here: then the mailbox says that keys are missing.
    """
    if not isinstance(launcher, ByHand):
        return fresh_keys(), None
    own = keys_of_this_user() if is_local(where) else None
    return own, None if own is None else {own.public: ANYONE}


def _unlike(theirs: str, ours: str) -> str:
    """Where versions differ, as far as they can be read."""
    try:
        there, here = json.loads(theirs), json.loads(ours)
        differ = [f"{key} {there.get(key)!r}, here {here[key]!r}" for key in here if there.get(key) != here[key]]
    except (ValueError, AttributeError, RecursionError):
        differ = []
    return "; ".join(differ)[: 4 * BRIEF] or f"{theirs[:BRIEF]!r}, here {ours}"


def _brief(word: str, data: Mapping[str, Any], parcel: bytes) -> str:
    """A message in a line."""
    if word == "core":
        return f"{word} {parcel[:BRIEF].decode(errors='replace')}"
    return f"{word} {json.dumps(data)[:BRIEF]}" + (f" and {len(parcel)} bytes" if parcel else "")


def _layout(piece: Piece, other: int) -> int:
    """A number that tells whether two workers mean the same elements in the same order."""
    telling, hearing = piece.telling[other], piece.hearing[other]
    facts = [len(telling.element), len(hearing.element), telling.state.shape[2]]
    return zlib.crc32(repr([*facts, telling.foreseen.tolist(), hearing.foreseen.tolist()]).encode())
