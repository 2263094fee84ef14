"""A worker between its neighbours and the coordinator: when it may step, when it saves, how it takes a predecessor's place.

    joining --welcome--> loading --loaded--> running --stop--> ended

The owner feeds bytes and times in (`hear`, `receive`, `wake`, `loaded`, `stored`), performs `effects()`, and steps while
`may_step`:

    ...                                 # link.post, link.take, physics
    if worker.finish(now):              # a checkpoint is due
        worker.checkpoint(state)

The neighbours of a worker: which incarnation of each counts, and the link to it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Any

from coordinator.distributed.protocol import checkpoint, control, effects, schema
from coordinator.distributed.protocol.checkpoint import PendingCheckpoints, Recovery
from coordinator.distributed.protocol.control import FromWorker, from_coordinator
from coordinator.distributed.protocol.deadlines import Deadlines
from coordinator.distributed.protocol.effects import Connect, ForWorker, Send
from coordinator.distributed.protocol.frames import Buffer, Frame, decode
from coordinator.distributed.protocol.link import ACCEPTED, Link, Verdict
from coordinator.distributed.protocol.plan import START, CheckpointRef, Member, Neighbour
from modular.errors import Malformed

MakeLink = Callable[[int, Member, Neighbour, Deadlines, int], Link]


class Neighbourhood:
    """Links by name, and by the numbers of the workers."""

    def __init__(
        self, run: int, me: Member, neighbours: Sequence[Neighbour], deadlines: Deadlines, make_link: MakeLink
    ) -> None:
        self.run, self.me, self.neighbours = run, me, neighbours
        self.deadlines, self.make_link = deadlines, make_link
        self.roster = 0  # newest list of members that was seen
        self._members: dict[str, Member] = {}
        self._connected: dict[str, int] = {}
        self.renew()

    def renew(self) -> None:
        """Fresh links, as if nothing had been said or restored."""
        self.links: dict[str, Link] = {}
        for peer in self.neighbours:
            incarnation = self._members[peer.name].incarnation if peer.name in self._members else 0
            self.links[peer.name] = self.make_link(self.run, self.me, peer, self.deadlines, incarnation)
        self.by_number = {link.peer.number: link for link in self.links.values()}

    def enrol(self, members: Iterable[Member], number: int, now: float) -> list[Connect]:
        """Listen to these incarnations and to no older ones. What was known before and is newer stays."""
        self.roster = max(self.roster, number)
        connect = []
        for member in members:
            known = self._members.get(member.name)
            if known is None or (member.incarnation, member.address != "") > (known.incarnation, known.address != ""):
                self._members[member.name] = known = member
            link = self.links.get(member.name)
            if link is not None:
                link.replaced(known.incarnation, now)
            if known.address and self._connected.get(known.name, 0) < known.incarnation:
                self._connected[known.name] = known.incarnation
                connect.append(Connect(known.name, known.address))
        return connect

    # --- waiting --------------------------------------------------------------------------------------------------------

    def requests(self, now: float) -> list[Send]:
        """Requests for missing frames that are due."""
        due = [(name, link) for name, link in self.links.items() if link.ask_at is not None]
        found = ((name, link.request(now)) for name, link in due)
        return [Send(name, request) for name, request in found if request is not None]

    def next_request(self) -> float | None:
        """When the next request is due, or None."""
        first = None
        for link in self.links.values():
            time = link.ask_at
            if time is not None and (first is None or time < first):
                first = time
        return first

    def longest_wait(self, now: float) -> Link | None:
        """The link that has been waited for longest, or None."""
        waiting = [link for link in self.links.values() if link.ask_at is not None]
        return max(waiting, key=lambda link: link.waited(now), default=None)

    def notices(self, step: int) -> list[Send]:
        """Tells all neighbours that nothing before a step will be asked for again."""
        return [Send(name, link.notice(step)) for name, link in self.links.items()]

    # --- checkpoints ------------------------------------------------------------------------------------------------------

    def save(self) -> tuple[tuple[Mapping[str, Any], bytes], ...]:
        """What a successor needs of each link, at the end of a step."""
        return tuple(link.save() for link in self.links.values())

    def restore(self, saved: Sequence[tuple[Mapping[str, Any], bytes]]) -> None:
        """Go on where a predecessor has saved, or raise Malformed; then `renew` before the next attempt."""
        for one, frames in saved:
            number = one.get("peer")
            if type(number) is int and number in self.by_number:
                self.by_number[number].restore(one, frames)


NEVER = float("inf")


class State(StrEnum):
    """Where a worker stands."""

    JOINING = "joining"
    LOADING = "loading"
    RUNNING = "running"
    ENDED = "ended"


class Worker:
    """The protocol of one worker in one run; steps count those that are done."""

    make_link = Link

    def __init__(self, run: int, name: str, incarnation: int, address: str, deadlines: Deadlines, now: float) -> None:
        """`address`: where neighbours find it."""
        self.run, self.deadlines = run, deadlines
        self.me = Member(name, 0, incarnation, address)
        self.state, self._over = State.JOINING, False
        self.step = self.horizon = self.every = 0
        self.near = Neighbourhood(run, self.me, (), deadlines, self.make_link)
        self.counts: Counter[str] = Counter()  # what was dropped, and why
        self._out: list[ForWorker] = []
        self._recovery = Recovery(run, name, ())
        self._load_at = NEVER  # when the checkpoint is asked for again
        self._load_patience = deadlines.report
        self._pending = PendingCheckpoints()
        self._failure: control.Failed | None = None
        self._heard = now
        self._report_at = now

    @property
    def links(self) -> dict[str, Link]:
        """The link to each neighbour, by name."""
        return self.near.links

    # --- stepping -----------------------------------------------------------------------------------------------------

    @property
    def may_step(self) -> bool:
        """Whether the next step is within the horizon."""
        return self.state is State.RUNNING and self.step < self.horizon and self._failure is None

    def finish(self, now: float) -> bool:
        """The step is done. True where a checkpoint is due: then hand over the state before going on."""
        self.step += 1
        if self.step == self.horizon:
            self._report(now)
        return self.step % self.every == 0

    def next_due(self) -> int:
        """The step after which `finish` has something to do again; those before may be passed over."""
        return min(self.horizon, (self.step // self.every + 1) * self.every)

    def pass_over(self, steps: int) -> None:
        """So many steps are done, after none of which `finish` would have had anything to do."""
        self.step += steps

    def checkpoint(self, state: bytes) -> None:
        """Save the state after the step that was just finished."""
        me = self.me
        snapshot = checkpoint.Snapshot(self.run, me.name, me.incarnation, self.step, state, self.near.save())
        self._pending.begin(self.step, snapshot.digest)
        self._out.append(effects.Store(self.step, me.incarnation, checkpoint.encode(snapshot)))

    def stored(self, step: int) -> None:
        """The checkpoint at a step is kept."""
        if self._pending.stored(step):
            self._report_saved()

    def fail(self, reason: str, now: float) -> None:
        """The worker cannot go on: the coordinator is told until it stops the run."""
        if self._failure is None and self.state is not State.ENDED:
            self._failure = control.Failed(self.me.name, self.me.incarnation, self.step, schema.sanitise(reason))
            self._report(now)

    # --- what the owner asks --------------------------------------------------------------------------------------------

    def effects(self) -> list[ForWorker]:
        """What to perform now, in order."""
        out, self._out = self._out, []
        return out

    def next_wake(self) -> float:
        """When to call `wake` at the latest."""
        request = self.near.next_request()
        soon = min(self._report_at, self._load_at)
        return soon if request is None else min(soon, request)

    def wake(self, now: float) -> None:
        """Do what is due: ask for missing frames, report, give up on a coordinator that is gone."""
        if self.state is State.ENDED:
            return
        self._out += self.near.requests(now)
        if now >= self._load_at:
            self._ask_for_checkpoint(now)
        if now - self._heard > self.deadlines.orphan:
            self._end(f"{self.waiting(now)}; the coordinator was last heard {now - self._heard:.0f} s ago.")
        elif now >= self._report_at:
            self._report(now)

    def waiting(self, now: float) -> str:
        """Whom the worker waits for, in words."""
        longest = self.near.longest_wait(now)
        if longest is not None:
            return longest.waiting(now)
        if self.state is State.RUNNING and self.step >= self.horizon:
            return f"worker '{self.me.name}' waits at step {self.step} for a new horizon"
        return f"worker '{self.me.name}' is {self.state} at step {self.step}"

    # --- frames of neighbours ---------------------------------------------------------------------------------------------

    def receive(self, raw: Buffer, now: float) -> None:
        """Take in a frame; whatever is wrong with it is counted."""
        frame = decode(raw, self.run)
        if not isinstance(frame, Frame):
            self.counts[frame] += 1
            return
        link = self.near.by_number.get(frame.sender)
        if link is None or self._over:
            self.counts["stranger"] += 1
            return
        verdict, answers = link.receive(frame, now)
        if answers:
            self._out.extend(effects.Send(link.peer.name, answer) for answer in answers)
        if verdict is not ACCEPTED:
            self._judge(verdict, link, frame, now)

    def _judge(self, verdict: Verdict, link: Link, frame: Frame, now: float) -> None:
        """Some frames that are not taken in show that the run cannot come to the right bits."""
        if verdict is Verdict.CONTRADICTION:
            self.fail(
                f"worker '{link.peer.name}' sent step {frame.step}, stage {frame.stage} twice with different numbers: a component "
                f"there is not deterministic; one that draws random numbers must save their state.",
                now,
            )
        elif verdict is Verdict.UNWANTED:
            self.fail(f"worker '{link.peer.name}' sends step {frame.step}, which was not requested.", now)
        elif verdict is Verdict.LAYOUT:
            self.fail(
                f"workers '{self.me.name}' and '{link.peer.name}' lay out their numbers differently: "
                f"{frame.joints} joints and layout {frame.layout:08x} were sent.",
                now,
            )

    # --- messages of the coordinator ----------------------------------------------------------------------------------------

    def hear(self, raw: bytes, now: float) -> None:
        """Take in a message of the coordinator; what is malformed is counted."""
        try:
            message = from_coordinator(raw)
        except Malformed:
            self.counts["malformed"] += 1
            return
        if self.state is State.ENDED:
            return
        if isinstance(message, control.Welcome):
            if self.state is State.JOINING and message.incarnation == self.me.incarnation:
                self._welcome(message, now)
            return
        if isinstance(message, control.Stop):
            self._end(message.reason)
            return
        if self.state is State.JOINING:
            return
        self._heard = now
        if isinstance(message, control.Grant):
            self.horizon = max(self.horizon, message.horizon)
        elif isinstance(message, control.Roster):
            self._out += self.near.enrol(message.members, message.number, now)
        elif isinstance(message, control.Durable):
            self._durable(message)

    def _welcome(self, message: control.Welcome, now: float) -> None:
        self.me = Member(self.me.name, message.number, self.me.incarnation, self.me.address)
        self.every, self.horizon, self._heard = message.every, message.horizon, now
        self.near = Neighbourhood(self.run, self.me, message.neighbours, self.deadlines, self.make_link)
        self._out += self.near.enrol(message.members, message.roster, now)
        self.state = State.LOADING
        self._recovery = Recovery(self.run, self.me.name, message.checkpoints)
        self._pending = PendingCheckpoints(message.checkpoints[-1].step if message.checkpoints else 0)
        self._load(now)

    # --- checkpoints --------------------------------------------------------------------------------------------------------

    def _load(self, now: float) -> None:
        """Try the next checkpoint."""
        candidate, self._load_at = self._recovery.candidate, NEVER
        if candidate is None:
            self.fail(f"no checkpoint of '{self.me.name}' can be read: {' '.join(self._recovery.unreadable)}", now)
        elif candidate == START:
            self._go_on(0, b"", now)
        else:
            self._load_patience = self.deadlines.report
            self._ask_for_checkpoint(now)

    def _ask_for_checkpoint(self, now: float) -> None:
        """It may be kept on another machine, so question and answer can be lost; a large one takes long, and asking is no help."""
        candidate = self._recovery.candidate
        assert candidate is not None
        self._out.append(effects.Load(candidate))
        self._load_at = now + self._load_patience
        self._load_patience = min(2.0 * self._load_patience, self.deadlines.silence)

    def loaded(self, ref: CheckpointRef, blob: bytes | None, now: float) -> None:
        """The bytes of a checkpoint that was asked for, or None where it cannot be read."""
        if self.state is not State.LOADING or ref != self._recovery.candidate:
            return
        try:
            snapshot = self._recovery.read(ref, blob)
            self.near.restore(snapshot.links)
        except Malformed as reason:
            self._recovery.pass_over(reason)
            self.near.renew()
            self._load(now)
        else:
            self._go_on(ref.step, snapshot.state, now)

    def _go_on(self, step: int, state: bytes, now: float) -> None:
        self.step, self.state, self._load_at = step, State.RUNNING, NEVER
        self._out.append(effects.Resume(state))
        self._report(now)

    def _durable(self, message: control.Durable) -> None:
        if self._pending.confirmed(message.step, message.forget):
            self._out += self.near.notices(message.forget)

    # --- reports ------------------------------------------------------------------------------------------------------------

    def _report(self, now: float) -> None:
        """Say how things stand, and repeat what has no answer yet."""
        self._report_at = now + self.deadlines.report
        if self.state is State.JOINING:
            self._say(control.Hello(self.me.name, self.me.incarnation, self.me.address))
            return
        if self._failure is not None:
            self._say(self._failure)
            return
        if self.state is not State.ENDED:
            self._say(self._progress(now))
        self._report_saved()

    def _report_saved(self) -> None:
        if self._pending.reported is not None:
            step, digest = self._pending.reported
            self._say(control.Checkpointed(self.me.name, self.me.incarnation, step, digest))

    def _progress(self, now: float) -> control.Progress:
        longest = self.near.longest_wait(now)
        return control.Progress(
            name=self.me.name,
            incarnation=self.me.incarnation,
            step=self.step,
            exchanges=sum(link.inbox.count for link in self.links.values()),
            roster=self.near.roster,
            waits_for=longest.peer.name if longest is not None else "",
            waiting=int(1000 * longest.waited(now)) if longest is not None else 0,
        )

    def _say(self, message: FromWorker) -> None:
        self._out.append(effects.Report(schema.encode(message)))

    def _end(self, reason: str) -> None:
        self.state, self._over = State.ENDED, True
        self._out.append(effects.Ended(reason))
