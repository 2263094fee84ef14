"""The coordinator of a run: who takes part, how far everybody may run, who is dead and replaced.

It is never in the path of a step. Workers report how they stand; whatever they lack is sent again, so no message has to
arrive.
"""

from __future__ import annotations

from collections import Counter

from coordinator.distributed.protocol import control, effects, schema
from coordinator.distributed.protocol.control import FromCoordinator, from_worker
from coordinator.distributed.protocol.deadlines import Deadlines
from coordinator.distributed.protocol.effects import ForCoordinator
from coordinator.distributed.protocol.errors import Malformed
from coordinator.distributed.protocol.plan import Kept, Member, Plan
from coordinator.distributed.protocol.seats import Seat
from coordinator.distributed.protocol.standings import Standings
from modular.errors import ModelError

LOOK = 7.5  # longest time between two looks at who is silent [s]


class Coordinator:
    """The protocol of the coordinator; it begins with asking for every worker to be started."""

    def __init__(self, plan: Plan, deadlines: Deadlines, now: float) -> None:
        self.plan, self.deadlines = plan, deadlines
        self.seats = {name: Seat(name, number) for number, name in enumerate(plan.names)}
        self.horizon = 0  # nobody does more steps than this before there is another
        self.failure = ""  # why the run was stopped
        self.counts: Counter[str] = Counter()  # what was dropped, and why
        self._neighbours = plan.neighbours()
        self._out: list[ForCoordinator] = [effects.Start(name, 1) for name in plan.names]
        self._standings = Standings(plan.names, now)
        self._roster = 0  # counts joins and replacements
        self._roster_of = dict.fromkeys(plan.names, 0)
        self._looked_at = now
        self._check_lengths()

    def _check_lengths(self) -> None:
        """Refuse a worker with more neighbours than fit in a message."""
        seat = max(self.seats.values(), key=lambda seat: len(self._neighbours[seat.number]))
        length = len(schema.encode(self._welcome(seat)))
        if length > schema.LARGEST:
            raise ModelError(
                f"worker '{seat.name}' has {len(self._neighbours[seat.number])} neighbours: it takes {length} bytes to tell it "
                f"of them, and a message has at most {schema.LARGEST}; take fewer workers."
            )

    # --- what the owner asks ------------------------------------------------------------------------------------------

    def effects(self) -> list[ForCoordinator]:
        """What to perform now, in order."""
        out, self._out = self._out, []
        return out

    def run_to(self, step: int, now: float) -> None:
        """Let the run go on until this many steps are done; `Reached` says when."""
        self._standings.aim(step, now)
        self._extend()

    def exited(self, name: str, incarnation: int, reason: str, now: float) -> None:
        """The launcher says that an incarnation is gone, whether it had said hello or not."""
        seat = self.seats.get(name)
        if seat is not None and incarnation == seat.incarnation:
            self._died(seat, reason, now)

    @property
    def slowest(self) -> int:
        """Steps that every worker is known to have done."""
        return self._standings.slowest

    def standing(self, now: float) -> list[str]:
        """How every worker stands, one line each, the slowest first."""
        return self._standings.lines(self.seats, now)

    # --- time -----------------------------------------------------------------------------------------------------------

    def next_wake(self) -> float:
        """When to call `wake` at the latest."""
        shortest = min(self.deadlines.silence, self.deadlines.start, self.deadlines.stuck)
        return self._looked_at + min(LOOK, shortest / 4)

    def wake(self, now: float) -> None:
        """See who is silent for too long, and what takes too long."""
        self._looked_at = now
        for seat in self.seats.values():
            if self.failure:
                return
            quiet = now - self._standings.of[seat.name].heard
            if seat.joined and quiet > self.deadlines.silence:
                self._died(seat, f"silent for {quiet:.1f} s", now)
            elif not seat.joined and quiet > self.deadlines.start:
                self._died(seat, f"no hello in {quiet:.1f} s", now)
        still = now - self._standings.moved
        if not self.failure and not self._standings.idle and still > self.deadlines.stuck:
            self._stop(f"nothing has moved for {still:.1f} s: {'; '.join(self.standing(now)[:8])}.")

    def excuse(self, name: str, seconds: float, now: float) -> None:
        """A worker was held up for so long: its machine had no processor for it. It was not silent meanwhile."""
        self._standings.excuse(name, seconds, now)

    # --- messages of workers ------------------------------------------------------------------------------------------------

    def hear(self, raw: bytes, now: float, sender: str) -> None:
        """Take in a message of a worker. `sender`: the name of the worker that it came from, as its owner knows."""
        try:
            message = from_worker(raw)
        except Malformed:
            self.counts["malformed"] += 1
            return
        if sender != message.name:
            self.counts["impostor"] += 1
            return
        seat = self.seats.get(message.name)
        if seat is None or message.incarnation > seat.incarnation:
            self.counts["stranger"] += 1
        elif self.is_old(seat, message.incarnation):
            self.counts["fenced"] += 1
        elif self.failure:
            self._tell(seat, control.Stop(self.failure))
        elif isinstance(message, control.Hello):
            self._greet(seat, message, now)
        elif not seat.joined:
            self.counts["stranger"] += 1
        else:
            self._standings.of[seat.name].heard = now
            if isinstance(message, control.Progress):
                self._progress(seat, message, now)
            elif isinstance(message, control.Checkpointed):
                self._checkpointed(seat, message, now)
            elif isinstance(message, control.Failed):
                self._stop(f"worker '{seat.name}' at step {message.step}: {message.reason}")

    def is_old(self, seat: Seat, incarnation: int) -> bool:
        """Whether an incarnation has been replaced."""
        return incarnation < seat.incarnation

    def _greet(self, seat: Seat, hello: control.Hello, now: float) -> None:
        if not seat.joined:
            seat.join(hello.address)
            self._roster += 1
            self._standings.begin(seat.name, now)
        self._tell(seat, self._welcome(seat))
        self._spread(seat)
        self._extend()

    def _progress(self, seat: Seat, message: control.Progress, now: float) -> None:
        """Send whatever the worker lacks."""
        if message.roster < self._roster_of[seat.name]:
            self._tell(seat, control.Roster(self._roster_of[seat.name], self._around(seat)))
        self._tell(seat, control.Grant(self.horizon))
        if self._standings.report(message, now):
            self._out.append(effects.Reached(self._standings.goal))

    def _checkpointed(self, seat: Seat, message: control.Checkpointed, now: float) -> None:
        known = seat.saved(message.step)
        if known is not None and known.digest != message.digest:
            self._stop(
                f"worker '{seat.name}' is not deterministic: at step {message.step} incarnation {known.incarnation} had "
                f"state {known.digest}, and incarnation {message.incarnation} has {message.digest}; a component there "
                f"draws random numbers or depends on the machine."
            )
            return
        if seat.save(Kept(message.step, message.incarnation, message.digest)):
            self._standings.moved = now
        self._tell(seat, control.Durable(seat.kept[0].step, seat.kept[-1].step))

    def _extend(self) -> None:
        """Move the horizon to the goal, as soon as all are there."""
        if self.horizon < self._standings.goal and all(seat.joined for seat in self.seats.values()):
            self.horizon = self._standings.goal
            for seat in self.seats.values():
                self._tell(seat, control.Grant(self.horizon))

    # --- deaths ---------------------------------------------------------------------------------------------------------------

    def _died(self, seat: Seat, reason: str, now: float) -> None:
        if self.failure:
            return
        old, reason = seat.incarnation, schema.told(reason)
        if seat.deaths + 1 >= self.plan.deaths:
            self._stop(
                f"worker '{seat.name}' died ({reason}); that was death number {seat.deaths + 1} without a new checkpoint, and "
                f"it would die again: look into its messages, or take checkpoints more often."
            )
            return
        seat.replace()
        self._roster += 1
        self._out += [effects.End(seat.name, old), effects.Start(seat.name, seat.incarnation)]
        self._standings.begin(seat.name, now)
        self._spread(seat)

    def _stop(self, reason: str) -> None:
        """End the run, which cannot go on."""
        self.failure = schema.told(reason)
        for seat in self.seats.values():
            if seat.joined:
                self._tell(seat, control.Stop(self.failure))
            else:
                self._out.append(effects.End(seat.name, seat.incarnation))
        self._out.append(effects.Ended(self.failure))

    # --- telling ----------------------------------------------------------------------------------------------------------------

    def _welcome(self, seat: Seat) -> control.Welcome:
        """All that a worker needs to start, or to take the place of its predecessor."""
        return control.Welcome(
            incarnation=seat.incarnation,
            number=seat.number,
            every=self.plan.every,
            horizon=self.horizon,
            roster=self._roster_of[seat.name],
            members=self._around(seat),
            neighbours=self._neighbours[seat.number],
            kept=seat.kept,
        )

    def _around(self, seat: Seat) -> tuple[Member, ...]:
        """Everybody with whom a worker shares an edge."""
        return tuple(self.seats[edge.name].member for edge in self._neighbours[seat.number])

    def _spread(self, seat: Seat) -> None:
        """Those around a worker learn which incarnation of it counts, and where it is."""
        for neighbour in self._neighbours[seat.number]:
            self._roster_of[neighbour.name] = self._roster
            around = self.seats[neighbour.name]
            self._tell(around, control.Roster(self._roster, self._around(around)))

    def _tell(self, seat: Seat, message: FromCoordinator) -> None:
        if seat.joined:
            self._out.append(effects.Tell(seat.name, seat.incarnation, schema.encode(message)))
