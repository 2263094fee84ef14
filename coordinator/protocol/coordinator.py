"""The coordinator: who takes part, how far everybody may run, who is dead and replaced, which plan holds.

It is never in the path of a step. What it decides is in the journal before anybody hears of it: effects are performed
in order, and a `Write` is durable before what follows it. Workers report how they stand; whatever they lack is sent
again, so no message has to arrive.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from coordinator.protocol import control, effects, journal, letters, schema
from coordinator.protocol.control import FromCoordinator, Hello, from_worker
from coordinator.protocol.deadlines import Deadlines
from coordinator.protocol.effects import ForCoordinator
from coordinator.protocol.errors import Malformed
from coordinator.protocol.history import History, Seat
from coordinator.protocol.journal import Entry, Opened
from coordinator.protocol.plan import START, Edge, Plan, check
from coordinator.protocol.standings import Standings
from modular.errors import ModelError


class Coordinator:
    """The protocol of the coordinator. Make one with `open`, or with `resume` from a journal."""

    def __init__(self, history: History, deadlines: Deadlines, now: float) -> None:
        self.history, self.deadlines = history, deadlines
        self.counts: Counter[str] = Counter()  # what was dropped, and why
        self._out: list[ForCoordinator] = []
        self._standings = Standings(history.seats, now)
        self._roster_of = dict.fromkeys(history.seats, history.roster)
        self._proposed_at = self._looked_at = now

    @classmethod
    def open(cls, opened: Opened, deadlines: Deadlines, now: float) -> Coordinator:
        """A new run; every worker is asked to be started."""
        names = [called.name for called in opened.workers]
        if not names or len(set(names)) != len(names):
            raise ModelError(f"workers {', '.join(names) or '(none)'}: give at least one, each with its own name.")
        if opened.stride < 1 or opened.deaths < 1:
            raise ModelError(f"stride {opened.stride} and deaths {opened.deaths}: both are at least 1.")
        history = History.begin(opened)
        if (wrong := check(opened.plan, names) or letters.too_long(history, opened.plan)) is not None:
            raise ModelError(f"plan {opened.plan.version}: {wrong}")
        self = cls(history, deadlines, now)
        self._out.append(effects.Write(journal.line(opened)))
        self._write(journal.Epoch(1))
        self._out.extend(effects.Start(name, 1) for name in names)
        return self

    @classmethod
    def resume(cls, entries: Iterable[Entry], deadlines: Deadlines, now: float) -> Coordinator:
        """Go on with the run of a journal. Workers have run on to their horizon, and report."""
        self = cls(History.read(entries), deadlines, now)
        self._write(journal.Epoch(self.history.epoch + 1))
        if self.history.proposal is not None:
            self._settle(False, "the coordinator was started again", now)
        if self.history.closed is None:
            seats = self.history.seats.values()
            self._out.extend(effects.Start(seat.name, seat.incarnation) for seat in seats if not seat.joined)
        else:
            self._out.append(effects.Ended(self.history.closed, bool(self.history.closed)))
        return self

    # --- what the owner asks ------------------------------------------------------------------------------------------

    def effects(self) -> list[ForCoordinator]:
        """What to perform now, in order."""
        out, self._out = self._out, []
        return out

    def run_to(self, step: int, now: float) -> None:
        """Let the run go on until this many steps are done; `Reached` says when."""
        self._standings.aim(step, self.history.report_step, now)
        self._extend()

    def propose(self, edges: Sequence[Edge], change: str, now: float) -> int:
        """Put a new plan to the workers, from the present horizon on; `Decided` says what became of this version."""
        history = self.history
        if history.proposal is not None or history.closed is not None:
            reason = "the run is over" if history.proposal is None else f"plan {history.proposal.version} is open"
            raise ModelError(f"a new plan cannot be proposed: {reason}; wait until it is decided.")
        plan = Plan(history.newest_version + 1, history.version, history.horizon, tuple(edges), change)
        if (wrong := check(plan, history.names) or letters.too_long(history, plan)) is not None:
            raise ModelError(f"plan {plan.version}: {wrong}")
        self._write(journal.Proposed(plan))
        self._proposed_at = now
        for seat in history.seats.values():
            self._standings.of[seat.name].answered = False
            self._tell(seat, letters.prepare(history, seat, plan))
        return plan.version

    def exited(self, name: str, incarnation: int, reason: str, now: float) -> None:
        """The launcher says that an incarnation is gone, whether it had said hello or not."""
        seat = self.history.seats.get(name)
        if seat is not None and incarnation == seat.incarnation:
            self._died(seat, reason, now)

    def stop(self, reason: str = "") -> None:
        """End the run; without a reason it ends well."""
        if self.history.closed is not None:
            return
        reason = schema.told(reason)
        if self.history.proposal is not None:
            self._out.append(effects.Decided(self.history.proposal.version, False, reason or "the run is over"))
        self._write(journal.Closed(reason))
        for seat in self.history.seats.values():
            if seat.joined:
                self._tell(seat, control.Stop(self.history.epoch, reason))
            else:
                self._out.append(effects.End(seat.name, seat.incarnation))
        self._out.append(effects.Ended(reason, bool(reason)))

    @property
    def slowest(self) -> int:
        """Steps that every worker is known to have done."""
        return self._standings.slowest

    def standing(self, now: float) -> list[str]:
        """How every worker stands, one line each, the slowest first."""
        return self._standings.lines(self.history, now)

    # --- time -----------------------------------------------------------------------------------------------------------

    def next_wake(self) -> float:
        """When to call `wake` at the latest."""
        shortest = min(self.deadlines.silence, self.deadlines.start, self.deadlines.prepare, self.deadlines.stuck)
        return self._looked_at + shortest / 4

    def wake(self, now: float) -> None:
        """See who is silent for too long, and what takes too long."""
        self._looked_at = now
        history, deadlines = self.history, self.deadlines
        if history.closed is not None:
            return
        if history.proposal is not None and now - self._proposed_at > deadlines.prepare:
            late = [name for name, standing in self._standings.of.items() if not standing.answered]
            self._settle(False, f"no answer from {', '.join(late[:10])} in {deadlines.prepare:g} s", now)
        for seat in list(history.seats.values()):
            quiet = now - self._standings.of[seat.name].heard
            if seat.joined and quiet > deadlines.silence:
                self._died(seat, f"silent for {quiet:.1f} s", now)
            elif not seat.joined and quiet > deadlines.start:
                self._died(seat, f"no hello in {quiet:.1f} s", now)
        still = now - self._standings.moved
        if history.closed is None and not self._standings.idle and still > deadlines.stuck:
            self.stop(f"nothing has moved for {still:.1f} s: {'; '.join(self.standing(now)[:8])}.")

    def excuse(self, name: str, seconds: float, now: float) -> None:
        """A worker was held up for so long: its machine had no processor for it. It was not silent meanwhile."""
        self._standings.excuse(name, seconds, now)

    # --- messages of workers ------------------------------------------------------------------------------------------------

    def hear(self, raw: bytes, now: float, sender: str | None = None) -> None:
        """Take in a message of a worker. `sender` is the name that belongs to its key, where keys are in use."""
        try:
            message = from_worker(raw)
        except Malformed:
            self.counts["malformed"] += 1
            return
        if sender is not None and sender != message.name:
            self.counts["impostor"] += 1
            return
        seat = self.history.seats.get(message.name)
        if isinstance(message, Hello):
            self._hello(seat, message, now)
        elif seat is None:
            self.counts["stranger"] += 1
        elif self.is_old(seat, message.incarnation):
            self.counts["fenced"] += 1
            self._refuse(message.name, message.incarnation, "", f"replaced by incarnation {seat.incarnation}.")
        elif not seat.joined or message.incarnation > seat.incarnation:
            self.counts["stranger"] += 1
        else:
            self._standings.of[seat.name].heard = now
            if self.history.closed is not None:
                self._tell(seat, control.Stop(self.history.epoch, self.history.closed))
            elif isinstance(message, control.Progress):
                self._progress(seat, message, now)
            elif isinstance(message, control.Checkpointed):
                self._checkpointed(seat, message, now)
            elif isinstance(message, control.Answer):
                self._answered(seat, message, now)
            elif isinstance(message, control.Failed):
                self.stop(f"worker '{seat.name}' at step {message.step}: {message.reason}")

    def is_old(self, seat: Seat, incarnation: int) -> bool:
        """Whether an incarnation has been replaced."""
        return incarnation < seat.incarnation

    def _hello(self, seat: Seat | None, hello: Hello, now: float) -> None:
        why = self._why_not(seat, hello)
        if why is not None or seat is None:
            self._refuse(hello.name, hello.incarnation, hello.token, why or "")
            return
        if not seat.joined:
            self._write(journal.Joined(seat.name, seat.incarnation, hello.token, hello.address))
            self._standings.begin(seat.name, now)
        self._tell(seat, letters.welcome(self.history, seat, self._roster_of[seat.name]))
        self._spread(seat)
        self._extend()

    def _why_not(self, seat: Seat | None, hello: Hello) -> str | None:
        """Why a worker has no place here, or None."""
        if self.history.closed is not None:
            return f"the run is over: {self.history.closed or 'it ended well'}"
        if seat is None:
            return f"worker '{hello.name}' is none of {', '.join(self.history.seats)}."
        if (unlike := letters.unlike(self.history, hello)) is not None:
            return unlike
        incarnation = hello.incarnation or seat.incarnation
        if self.is_old(seat, incarnation):
            return f"worker '{hello.name}', incarnation {incarnation}: replaced by incarnation {seat.incarnation}."
        if incarnation > seat.incarnation:
            return f"worker '{hello.name}', incarnation {incarnation}: {seat.incarnation} is the newest."
        if seat.joined and seat.token != hello.token:
            return f"worker '{hello.name}', incarnation {incarnation}: another process has taken this place."
        return None

    def _progress(self, seat: Seat, message: control.Progress, now: float) -> None:
        """Send whatever the worker lacks."""
        history = self.history
        if message.plan < history.version:
            for plan in history.plans:
                if plan.version > message.plan:
                    self._tell(seat, letters.commit(history, seat, plan))
        elif history.proposal is not None and not self._standings.of[seat.name].answered:
            self._tell(seat, letters.prepare(history, seat, history.proposal))
        elif message.prepared and (history.proposal is None or message.prepared != history.proposal.version):
            self._tell(seat, control.Abort(history.epoch, message.prepared, "it was not committed"))
        if message.roster < self._roster_of[seat.name]:
            self._tell(seat, letters.roster(history, seat, self._roster_of[seat.name]))
        self._tell(seat, letters.grant(history))
        if self._standings.report(message, history.report_step, now):
            self._out.append(effects.Reached(self._standings.goal))
        self._extend()

    def _checkpointed(self, seat: Seat, message: control.Checkpointed, now: float) -> None:
        known = next((kept for kept in seat.kept if kept.step == message.step and kept != START), None)
        if known is not None and known.digest != message.digest:
            self.stop(
                f"worker '{seat.name}' is not deterministic: at step {message.step} incarnation {known.incarnation} had "
                f"state {known.digest}, and incarnation {message.incarnation} has {message.digest}; a component there "
                f"draws random numbers or depends on the machine."
            )
            return
        if message.step > seat.kept[0].step or (known is not None and known.incarnation != message.incarnation):
            self._write(journal.Saved(seat.name, message.incarnation, message.step, message.digest))
            self._standings.moved = now
        self._tell(seat, control.Durable(self.history.epoch, seat.kept[0].step, seat.kept[-1].step))

    # --- horizons -----------------------------------------------------------------------------------------------------------

    def _extend(self) -> None:
        """Move the horizon, where all have come close to it and no plan waits at it."""
        history = self.history
        waits = self._standings.behind or history.proposal is not None or history.closed is not None
        goal = self._standings.goal
        if waits or history.horizon >= goal or not all(seat.joined for seat in history.seats.values()):
            return
        self._write(journal.Horizon(min(goal, history.horizon + history.opened.stride)))
        self._standings.expect(history.report_step)
        for seat in history.seats.values():
            self._tell(seat, letters.grant(history))

    # --- plans ----------------------------------------------------------------------------------------------------------------

    def _answered(self, seat: Seat, message: control.Answer, now: float) -> None:
        proposal = self.history.proposal
        if proposal is None or message.version != proposal.version:
            return
        if not message.agreed:
            self._settle(False, f"worker '{seat.name}': {message.reason}", now)
            return
        self._standings.of[seat.name].answered = True
        if all(standing.answered for standing in self._standings.of.values()):
            self._settle(True, "", now)

    def _settle(self, committed: bool, reason: str, now: float) -> None:
        """All or nothing: the plan holds for everybody, or for nobody."""
        history = self.history
        proposal, reason = history.proposal, schema.told(reason)
        assert proposal is not None
        self._write(journal.Settled(proposal.version, committed, reason))
        self._standings.moved = now
        self._out.append(effects.Decided(proposal.version, committed, reason))
        for seat in history.seats.values():
            if seat.joined and committed:
                self._tell(seat, letters.commit(history, seat, proposal))
            elif seat.joined:
                self._tell(seat, control.Abort(history.epoch, proposal.version, reason))
        self._extend()

    # --- deaths ---------------------------------------------------------------------------------------------------------------

    def _died(self, seat: Seat, reason: str, now: float) -> None:
        history = self.history
        if history.closed is not None:
            return
        cause = f"worker '{seat.name}' died ({schema.told(reason)})"
        if history.proposal is not None:
            self._settle(False, cause, now)
        if not history.opened.every:
            self.stop(f"{cause}; without checkpoints it cannot be replaced: give the steps between two of them.")
        elif seat.deaths + 1 >= history.opened.deaths:
            self.stop(
                f"{cause}; that was death number {seat.deaths + 1} without a new checkpoint, and it would die again: look "
                f"into its messages, or take checkpoints more often."
            )
        else:
            old = seat.incarnation
            self._write(journal.Replaced(seat.name, old + 1, schema.told(reason)))
            self._out += [effects.End(seat.name, old), effects.Start(seat.name, old + 1)]
            self._standings.begin(seat.name, now)
            self._spread(seat)

    # --- telling ----------------------------------------------------------------------------------------------------------------

    def _spread(self, seat: Seat) -> None:
        """Those around a worker learn which incarnation of it counts, and where it is."""
        for member in self.history.circle(seat.number):
            self._roster_of[member.name] = self.history.roster
            around = self.history.seats[member.name]
            self._tell(around, letters.roster(self.history, around, self.history.roster))

    def _refuse(self, name: str, incarnation: int, token: str, reason: str) -> None:
        message = control.Refused(self.history.epoch, name, incarnation, token, schema.told(reason))
        self._out.append(effects.Tell(name, incarnation, token, schema.encode(message)))

    def _tell(self, seat: Seat, message: FromCoordinator) -> None:
        if seat.joined:
            self._out.append(effects.Tell(seat.name, seat.incarnation, seat.token, schema.encode(message)))

    def _write(self, entry: Entry) -> None:
        self._out.append(effects.Write(journal.line(entry)))
        self.history.apply(entry)
