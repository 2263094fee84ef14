"""A worker between its neighbours and the coordinator: when it may step, when it saves, how it takes a predecessor's place.

    joining --welcome--> loading --loaded--> running --stop, failure, refusal--> ended

The owner feeds bytes and times in (`hear`, `receive`, `wake`, `loaded`, `stored`, `validated`), performs `effects()`,
and steps while `may_step`:

    for share in worker.begin():        # changes that hold from this step on
        ...
    ...                                 # link.post, link.take, physics
    if worker.finish(now):              # a checkpoint is due
        worker.checkpoint(state, now)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from enum import StrEnum

from coordinator.protocol import checkpoint, schema
from coordinator.protocol.control import (
    Abort,
    Answer,
    Checkpointed,
    Commit,
    Durable,
    Failed,
    FromWorker,
    Grant,
    Hello,
    Prepare,
    Progress,
    Refused,
    Roster,
    Stop,
    Welcome,
    from_coordinator,
)
from coordinator.protocol.deadlines import Deadlines
from coordinator.protocol.effects import (
    Connect,
    Discard,
    Ended,
    Forget,
    ForWorker,
    Load,
    Report,
    Resume,
    Send,
    Store,
    Validate,
)
from coordinator.protocol.errors import Malformed
from coordinator.protocol.frames import Buffer, Rejection, decode
from coordinator.protocol.inbox import Verdict
from coordinator.protocol.link import Link
from coordinator.protocol.plan import START, Kept, Member, Share

RELEASE = 64  # steps after which neighbours may forget, where nobody can be replaced


class State(StrEnum):
    """Where a worker stands."""

    JOINING = "joining"
    LOADING = "loading"
    RUNNING = "running"
    ENDED = "ended"


class Worker:
    """The protocol of one worker. `hello` says who it is; steps count those that are done."""

    make_link = Link

    def __init__(self, hello: Hello, deadlines: Deadlines, now: float) -> None:
        self.hello, self.deadlines = hello, deadlines
        self.me = Member(hello.name, 0, hello.incarnation, hello.address)
        self.state = State.JOINING
        self.step = self.horizon = 0
        self.epoch = self.roster = self.every = 0
        self.shares: list[Share] = []
        self.links: dict[str, Link] = {}
        self.counts: Counter[str] = Counter()  # what was dropped, and why
        self._by_number: dict[int, Link] = {}
        self._members: dict[str, Member] = {}
        self._connected: dict[str, int] = {}
        self._out: list[ForWorker] = []
        self._to_load: list[Kept] = []
        self._unreadable: list[str] = []
        self._prepared: Prepare | None = None
        self._answer: Answer | None = None
        self._aborted = 0  # newest version that will not come
        self._digests: dict[int, str] = {}  # of checkpoints that are being written
        self._stored: Checkpointed | None = None  # not yet in the journal
        self._oldest = 0  # step of the oldest checkpoint that a successor may start from
        self._failure: Failed | None = None
        self._report_step = 0  # where the coordinator wants to hear from us before we have to wait for it
        self._heard = now
        self._report_at = now

    # --- stepping -----------------------------------------------------------------------------------------------------

    @property
    def may_step(self) -> bool:
        """Whether the next step is within the horizon."""
        return self.state is State.RUNNING and self.step < self.horizon and self._failure is None

    def begin(self) -> list[Share]:
        """Plans whose changes the physics applies before the coming step, in order."""
        return [share for share in self.shares if share.start == self.step]

    def finish(self, now: float) -> bool:
        """The step is done. True where a checkpoint is due: then hand over the state before going on."""
        self.step += 1
        if self.step in (self._report_step, self.horizon):
            self._report(now)
        if not self.every and self.step % RELEASE == 0:
            self._release(self.step)
        return bool(self.every) and self.step % self.every == 0

    def checkpoint(self, state: bytes) -> None:
        """Save the state after the step that was just finished."""
        plan = max((share.version for share in self.shares if share.start < self.step), default=0)
        links = [link.save() for link in self.links.values()]
        snapshot = checkpoint.Snapshot(
            self.hello.run, self.me.name, self.me.incarnation, self.step, plan, state, tuple(links)
        )
        self._digests[self.step] = snapshot.digest
        self._out.append(Store(self.me.name, self.me.incarnation, self.step, checkpoint.encode(snapshot)))

    def stored(self, step: int) -> None:
        """The checkpoint at a step is on disk."""
        digest = self._digests.pop(step, None)
        if digest is not None and step > (self._stored.step if self._stored else 0):
            self._stored = Checkpointed(self.me.name, self.me.incarnation, step, digest)
            self._say(self._stored)

    def fail(self, reason: str, now: float) -> None:
        """The worker cannot go on: the coordinator is told until it stops the run."""
        if self._failure is None and self.state is not State.ENDED:
            self._failure = Failed(self.me.name, self.me.incarnation, self.step, reason[:4096])
            self._report(now)

    # --- what the owner asks --------------------------------------------------------------------------------------------

    def effects(self) -> list[ForWorker]:
        """What to perform now, in order."""
        out, self._out = self._out, []
        return out

    def next_wake(self) -> float:
        """When to call `wake` at the latest."""
        times = [link.ask_at for link in self.links.values()]
        return min([self._report_at, *(time for time in times if time is not None)])

    def wake(self, now: float) -> None:
        """Do what is due: ask for missing frames, report, give up on a coordinator that is gone."""
        if self.state is State.ENDED:
            return
        for name, link in self.links.items():
            request = link.request(now)
            if request is not None:
                self._out.append(Send(name, request))
        if now - self._heard > self.deadlines.orphan:
            self._end(f"{self.waiting(now)}; the coordinator was last heard {now - self._heard:.0f} s ago.", True)
        elif now >= self._report_at:
            self._report(now)

    def waiting(self, now: float) -> str:
        """Whom the worker waits for, in words."""
        longest = max(self.links.values(), key=lambda link: link.waited(now), default=None)
        if longest is not None and longest.waited(now) > 0.0:
            return longest.waiting(now)
        if self.state is State.RUNNING and self.step >= self.horizon:
            return f"worker '{self.me.name}' waits at step {self.step} for a new horizon"
        return f"worker '{self.me.name}' is {self.state} at step {self.step}"

    # --- frames of neighbours ---------------------------------------------------------------------------------------------

    def receive(self, raw: Buffer, now: float) -> None:
        """Take in a frame; whatever is wrong with it is counted."""
        frame = decode(raw, self.hello.run)
        if isinstance(frame, Rejection):
            self.counts[frame] += 1
            return
        link = self._by_number.get(frame.header.sender)
        if link is None or self.state is State.ENDED:
            self.counts["stranger"] += 1
            return
        verdict, answers = link.receive(frame, now)
        self._out.extend(Send(link.peer.name, answer) for answer in answers)
        if verdict is Verdict.CONTRADICTION:
            step, stage = frame.header.step, frame.header.stage
            self.fail(
                f"worker '{link.peer.name}' sent step {step}, stage {stage} twice with different numbers: a component "
                f"there is not deterministic; one that draws random numbers must save their state.",
                now,
            )
        elif verdict is Verdict.UNWANTED:
            self.fail(f"worker '{link.peer.name}' sends step {frame.header.step}, which nobody asks for.", now)
        elif verdict is Verdict.LAYOUT:
            self.fail(
                f"workers '{self.me.name}' and '{link.peer.name}' lay out the numbers of plan {frame.header.plan} "
                f"differently: {frame.header.joints} joints and layout {frame.header.layout:08x} were sent.",
                now,
            )

    # --- messages of the coordinator ----------------------------------------------------------------------------------------

    def hear(self, raw: bytes, now: float) -> None:
        """Take in a message of the coordinator; what is malformed or older than its last start is counted."""
        try:
            message = from_coordinator(raw)
        except Malformed:
            self.counts["malformed"] += 1
            return
        if message.epoch < self.epoch or self.state is State.ENDED:
            self.counts["old"] += 1
            return
        if isinstance(message, Refused):
            if message.incarnation == self.me.incarnation and message.token in ("", self.hello.token):
                self._end(message.reason, True)
            return
        if isinstance(message, Welcome):
            if self.state is State.JOINING and message.run == self.hello.run:
                self._welcome(message, now)
            return
        if self.state is State.JOINING:
            return
        self.epoch, self._heard = message.epoch, now
        if isinstance(message, Grant):
            self._granted(message, now)
        elif isinstance(message, Roster):
            self._enrol(message.members, message.number, now)
        elif isinstance(message, Prepare):
            self._prepare(message, now)
        elif isinstance(message, Commit):
            self._commit(message, now)
        elif isinstance(message, Abort):
            self._abort(message)
        elif isinstance(message, Durable):
            self._durable(message)
        elif isinstance(message, Stop):
            self._end(message.reason, bool(message.reason))

    def _welcome(self, message: Welcome, now: float) -> None:
        self.me = Member(self.me.name, message.number, message.incarnation, self.me.address)
        self.epoch, self.every, self._heard = message.epoch, message.every, now
        self.horizon, self._report_step = message.horizon, message.report
        self._members = {member.name: member for member in message.members}
        for share in message.shares:
            self._plan(share)
        self.roster = 0
        self._enrol(message.members, message.roster, now)
        self.state = State.LOADING
        self._to_load = list(message.kept)
        self._oldest = message.kept[-1].step if message.kept else 0
        self._load(now)

    def _granted(self, message: Grant, now: float) -> None:
        if not self.shares or message.plan > self.shares[-1].version:
            self._report(now)  # a commit got lost
        elif message.horizon > self.horizon:
            self.horizon = message.horizon
            self._report_step = message.report

    def _enrol(self, members: Sequence[Member], number: int, now: float) -> None:
        self.roster = max(self.roster, number)
        for member in members:
            known = self._members.get(member.name)
            if known is None or (member.incarnation, member.address != "") > (known.incarnation, known.address != ""):
                self._members[member.name] = known = member
            link = self.links.get(member.name)
            if link is None:
                continue
            link.replaced(known.incarnation, now)
            if known.address and self._connected.get(known.name, 0) < known.incarnation:
                self._connected[known.name] = known.incarnation
                self._out.append(Connect(known.name, known.incarnation, known.address))

    # --- plans --------------------------------------------------------------------------------------------------------------

    @property
    def version(self) -> int:
        """The newest plan that is known to hold."""
        return self.shares[-1].version if self.shares else 0

    def _plan(self, share: Share) -> None:
        """From its start on, frames belong to this plan."""
        self.shares.append(share)
        edges = {edge.name: edge for edge in share.neighbours}
        for edge in share.neighbours:
            if edge.name not in self.links:
                peer = self._members.get(edge.name, Member(edge.name, edge.number, 0, ""))
                link = self.make_link(self.hello.run, self.me, peer, self.deadlines)
                self.links[edge.name] = self._by_number[edge.number] = link
        for name, link in self.links.items():
            link.plan(share.version, share.start, edges.get(name))

    def _prepare(self, message: Prepare, now: float) -> None:
        share = message.share
        if share.previous != self.version or share.version <= max(self._aborted, self.version):
            return  # of an older time, or a commit got lost, which the next report shows
        if self._prepared is not None:
            older = self._prepared.share.version
            if share.version <= older:
                if share.version == older and self._answer is not None:
                    self._say(self._answer)
                return
            self._out.append(Forget(older, "another plan was proposed"))
        self._prepared, self._answer = message, None
        self._out.append(Validate(share))

    def validated(self, version: int, reason: str | None) -> None:
        """The physics can go over to a plan; or it cannot, for this reason."""
        if self._prepared is not None and self._prepared.share.version == version and self._answer is None:
            self._answer = Answer(self.me.name, self.me.incarnation, version, reason is None, (reason or "")[:4096])
            self._say(self._answer)

    def _commit(self, message: Commit, now: float) -> None:
        share = message.share
        if share.version <= self.version or share.previous != self.version:
            return
        if share.start < self.step:
            self.fail(f"plan {share.version} starts at step {share.start}, and {self.step} steps are done.", now)
            return
        self._prepared = self._answer = None
        for member in message.members:
            self._members.setdefault(member.name, member)
        self._plan(share)
        self._enrol(message.members, 0, now)
        self._report(now)

    def _abort(self, message: Abort) -> None:
        self._aborted = max(self._aborted, message.version)
        if self._prepared is not None and self._prepared.share.version <= message.version:
            self._out.append(Forget(self._prepared.share.version, message.reason))
            self._prepared = self._answer = None

    # --- checkpoints --------------------------------------------------------------------------------------------------------

    def _load(self, now: float) -> None:
        """Try the next checkpoint."""
        if not self._to_load:
            self.fail(f"no checkpoint of '{self.me.name}' can be read: {'; '.join(self._unreadable)}.", now)
        elif self._to_load[0] == START:
            self._go_on(0, 0, b"", now)
        else:
            self._out.append(Load(self.me.name, self._to_load[0]))

    def loaded(self, kept: Kept, blob: bytes | None, now: float) -> None:
        """The bytes of a checkpoint that was asked for, or None where it cannot be read."""
        if self.state is not State.LOADING or not self._to_load or kept != self._to_load[0]:
            return
        self._to_load.pop(0)
        where = f"checkpoint of '{self.me.name}' at step {kept.step}"
        try:
            if blob is None:
                raise Malformed(f"{where}: not there.")
            snapshot = checkpoint.decode(blob, where)
            if (snapshot.run, snapshot.name, snapshot.step) != (self.hello.run, self.me.name, kept.step):
                raise Malformed(f"{where}: it is '{snapshot.name}' at step {snapshot.step} of run {snapshot.run}.")
            if snapshot.digest != kept.digest:
                raise Malformed(f"{where}: the state has digest {snapshot.digest}; the journal has {kept.digest}.")
            for saved, frames in snapshot.links:
                link = self._by_number.get(_number(saved.get("peer")))
                if link is not None:  # otherwise an edge that nobody can ask about any more
                    link.restore(saved, frames)
        except Malformed as unreadable:
            self._unreadable.append(str(unreadable))
            self._begin_again(now)
            self._load(now)
            return
        self._go_on(kept.step, snapshot.plan, snapshot.state, now)

    def _begin_again(self, now: float) -> None:
        """Fresh links, in case that an unreadable checkpoint was taken over in part."""
        known, self.shares = self.shares, []
        self.links, self._by_number = {}, {}
        for share in known:
            self._plan(share)
        for link in self.links.values():
            link.replaced(self._members[link.peer.name].incarnation if link.peer.name in self._members else 0, now)

    def _go_on(self, step: int, plan: int, state: bytes, now: float) -> None:
        self.step, self.state = step, State.RUNNING
        self._out.append(Resume(step, plan, state))
        self._report(now)

    def _durable(self, message: Durable) -> None:
        if self._stored is not None and message.step >= self._stored.step:
            self._stored = None
        if message.forget > self._oldest:
            self._oldest = message.forget
            self._release(message.forget)
            self._out.append(Discard(self.me.name, message.forget))

    def _release(self, step: int) -> None:
        """Tell all neighbours, former ones too, that nothing before a step will be asked for again."""
        self._out.extend(Send(name, link.notice(step)) for name, link in self.links.items())

    # --- reports ------------------------------------------------------------------------------------------------------------

    def _report(self, now: float) -> None:
        """Say how things stand, and repeat what has no answer yet."""
        self._report_at = now + self.deadlines.report
        if self.state is State.JOINING:
            self._say(self.hello)
            return
        if self._failure is not None:
            self._say(self._failure)
            return
        if self.state is not State.ENDED:
            self._say(self._progress(now))
        if self._stored is not None:
            self._say(self._stored)
        if self._answer is not None:
            self._say(self._answer)

    def _progress(self, now: float) -> Progress:
        longest = max(self.links.values(), key=lambda link: link.waited(now), default=None)
        waited = longest.waited(now) if longest is not None else 0.0
        return Progress(
            name=self.me.name,
            incarnation=self.me.incarnation,
            epoch=self.epoch,
            plan=self.version,
            step=self.step,
            horizon=self.horizon,
            roster=self.roster,
            prepared=self._prepared.share.version if self._prepared is not None else 0,
            waits_for=longest.peer.name if longest is not None and waited > 0.0 else "",
            waiting=int(1000 * waited),
        )

    def _say(self, message: FromWorker) -> None:
        self._out.append(Report(schema.encode(message)))

    def _end(self, reason: str, failed: bool) -> None:
        self.state = State.ENDED
        self._out.append(Ended(reason, failed))


def _number(value: object) -> int:
    return value if type(value) is int else -1
