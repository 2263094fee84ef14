"""The coordinator of a run: who takes part, how far everybody may run, who is dead and replaced.

It is never in the path of a step. Workers report how they stand; whatever they lack is sent again, so no message has to
arrive.

A worker as the coordinator has decided: which incarnation counts, where it is, and where a successor could start from;
and what it last said of itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from coordinator.distributed.protocol import control, effects, schema
from coordinator.distributed.protocol.control import FromCoordinator, Progress, from_worker
from coordinator.distributed.protocol.deadlines import Deadlines
from coordinator.distributed.protocol.effects import ForCoordinator
from coordinator.distributed.protocol.plan import START, CheckpointRef, Member, Plan
from modular.errors import Malformed, ModelError


@dataclass
class RegistryEntry:
    """The place of one worker; processes come and go."""

    name: str
    number: int
    incarnation: int = 1
    joined: bool = False
    address: str = ""
    checkpoints: tuple[CheckpointRef, ...] = (START,)  # newest first, two at most
    deaths: int = 0  # since the last new checkpoint

    @property
    def member(self) -> Member:
        """The worker as others see it."""
        return Member(self.name, self.number, self.incarnation, self.address if self.joined else "")

    def join(self, address: str) -> None:
        """The incarnation that counts has said hello."""
        self.joined, self.address = True, address

    def replace(self) -> None:
        """It is dead; from now on only the next one counts."""
        self.incarnation, self.joined = self.incarnation + 1, False
        self.deaths += 1

    def saved(self, step: int) -> CheckpointRef | None:
        """The checkpoint at a step, if it is kept; the start of the run is none."""
        return next((ref for ref in self.checkpoints if ref.step == step and ref != START), None)

    def save(self, new: CheckpointRef) -> bool:
        """A checkpoint was written. True where it is news: a newer one, or one that a successor has written again."""
        old = self.saved(new.step)
        if old is not None and old.incarnation != new.incarnation:
            self.checkpoints = tuple(new if ref is old else ref for ref in self.checkpoints)
        elif new.step > self.checkpoints[0].step:
            self.checkpoints, self.deaths = (new, *self.checkpoints)[:2], 0
        else:
            return False
        return True


@dataclass
class WorkerStatus:
    """One worker, as it last reported."""

    heard: float
    step: int = 0
    exchanges: int = 0
    waits_for: str = ""
    waiting: int = 0  # [ms]


class StatusTable:
    """All workers by name; who has not come to the goal."""

    def __init__(self, names: Iterable[str], now: float) -> None:
        self.of = {name: WorkerStatus(now) for name in names}
        self.goal = 0
        self.behind: set[str] = set()  # not yet at the goal
        self.progressed_at = now  # when anything last got on

    def set_goal(self, goal: int, now: float) -> None:
        """Workers are to do this many steps."""
        self.goal = max(self.goal, goal)
        self.progressed_at = now
        self.behind = {name for name, status in self.of.items() if status.step < self.goal}

    def begin(self, name: str, now: float) -> None:
        """A new incarnation of a worker: nothing that the old one said holds any more."""
        self.of[name] = WorkerStatus(now)
        self.progressed_at = now
        if self.goal:
            self.behind.add(name)

    def extend_deadline(self, name: str, seconds: float, now: float) -> None:
        """A worker could say nothing for so long, nor those who wait for it get on."""
        status = self.of[name]
        status.heard = min(now, status.heard + seconds)
        self.progressed_at = min(now, self.progressed_at + seconds)

    def report(self, message: Progress, now: float) -> bool:
        """Take in a report. True where it is the last that was missing at the goal."""
        status = self.of[message.name]
        if (message.step, message.exchanges) != (status.step, status.exchanges):
            self.progressed_at = now
        status.step, status.exchanges = message.step, message.exchanges
        status.waits_for, status.waiting = message.waits_for, message.waiting
        if message.step < self.goal or message.name not in self.behind:
            return False
        self.behind.discard(message.name)
        return not self.behind

    @property
    def idle(self) -> bool:
        """Whether nobody has anything to do."""
        return not self.behind

    @property
    def slowest(self) -> int:
        """Steps that every worker is known to have done."""
        return min(status.step for status in self.of.values())

    def describe(self, registry: Mapping[str, RegistryEntry], now: float) -> list[str]:
        """How every worker stands, one line each, the slowest first."""
        lines = []
        for name, one in sorted(self.of.items(), key=lambda item: item[1].step):
            entry = registry[name]
            there = "" if entry.joined else ", has not said hello"
            wait = f", waits for '{one.waits_for}' since {one.waiting / 1000:.1f} s" if one.waits_for else ""
            lines.append(
                f"worker '{name}' (incarnation {entry.incarnation}) at step {one.step}{there}{wait}, "
                f"heard {now - one.heard:.1f} s ago"
            )
        return lines


SILENCE_CHECK_INTERVAL = 7.5  # longest time between two looks at who is silent [s]


class Coordinator:
    """The protocol of the coordinator; it begins with asking for every worker to be started."""

    def __init__(self, plan: Plan, deadlines: Deadlines, now: float) -> None:
        self.plan, self.deadlines = plan, deadlines
        self.registry = {name: RegistryEntry(name, number) for number, name in enumerate(plan.names)}
        self.horizon = 0  # nobody does more steps than this before there is another
        self.failure = ""  # why the run was stopped
        self.counts: Counter[str] = Counter()  # what was dropped, and why
        self._neighbours = plan.neighbours()
        self._out: list[ForCoordinator] = [effects.Start(name, 1) for name in plan.names]
        self._statuses = StatusTable(plan.names, now)
        self._roster = 0  # counts joins and replacements
        self._roster_of = dict.fromkeys(plan.names, 0)
        self._looked_at = now
        self._check_lengths()

    def _check_lengths(self) -> None:
        """Refuse a worker with more neighbours than fit in a message."""
        entry = max(self.registry.values(), key=lambda entry: len(self._neighbours[entry.number]))
        length = len(schema.encode(self._welcome(entry)))
        if length > schema.MAX_CONTROL_BYTES:
            raise ModelError(
                f"worker '{entry.name}' has {len(self._neighbours[entry.number])} neighbours: the list of them takes "
                f"{length} bytes, and a message can have at most {schema.MAX_CONTROL_BYTES}; take fewer workers."
            )

    # --- what the owner asks ------------------------------------------------------------------------------------------

    def effects(self) -> list[ForCoordinator]:
        """What to perform now, in order."""
        out, self._out = self._out, []
        return out

    def run_to(self, step: int, now: float) -> None:
        """Let the run go on until this many steps are done; `Reached` says when."""
        self._statuses.set_goal(step, now)
        self._extend()

    def exited(self, name: str, incarnation: int, reason: str, now: float) -> None:
        """The launcher says that an incarnation is gone, whether it had said hello or not."""
        entry = self.registry.get(name)
        if entry is not None and incarnation == entry.incarnation:
            self._died(entry, reason, now)

    @property
    def slowest(self) -> int:
        """Steps that every worker is known to have done."""
        return self._statuses.slowest

    def status_lines(self, now: float) -> list[str]:
        """How every worker stands, one line each, the slowest first."""
        return self._statuses.describe(self.registry, now)

    # --- time -----------------------------------------------------------------------------------------------------------

    def next_wake(self) -> float:
        """When to call `wake` at the latest."""
        shortest = min(self.deadlines.silence, self.deadlines.start, self.deadlines.stuck)
        return self._looked_at + min(SILENCE_CHECK_INTERVAL, shortest / 4)

    def wake(self, now: float) -> None:
        """See who is silent for too long, and what takes too long."""
        self._looked_at = now
        for entry in self.registry.values():
            if self.failure:
                return
            quiet = now - self._statuses.of[entry.name].heard
            if entry.joined and quiet > self.deadlines.silence:
                self._died(entry, f"silent for {quiet:.1f} s", now)
            elif not entry.joined and quiet > self.deadlines.start:
                self._died(entry, f"no hello in {quiet:.1f} s", now)
        still = now - self._statuses.progressed_at
        if not self.failure and not self._statuses.idle and still > self.deadlines.stuck:
            self._stop(f"no progress for {still:.1f} s: {'; '.join(self.status_lines(now)[:8])}.")

    def extend_deadline(self, name: str, seconds: float, now: float) -> None:
        """A worker was held up for so long: its machine had no processor for it. It was not silent meanwhile."""
        self._statuses.extend_deadline(name, seconds, now)

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
        entry = self.registry.get(message.name)
        if entry is None or message.incarnation > entry.incarnation:
            self.counts["stranger"] += 1
        elif self.is_old(entry, message.incarnation):
            self.counts["fenced"] += 1
        elif self.failure:
            self._tell(entry, control.Stop(self.failure))
        elif isinstance(message, control.Hello):
            self._greet(entry, message, now)
        elif not entry.joined:
            self.counts["stranger"] += 1
        else:
            self._statuses.of[entry.name].heard = now
            if isinstance(message, control.Progress):
                self._progress(entry, message, now)
            elif isinstance(message, control.Checkpointed):
                self._checkpointed(entry, message, now)
            elif isinstance(message, control.Failed):
                self._stop(f"worker '{entry.name}' at step {message.step}: {message.reason}")

    def is_old(self, entry: RegistryEntry, incarnation: int) -> bool:
        """Whether an incarnation has been replaced."""
        return incarnation < entry.incarnation

    def _greet(self, entry: RegistryEntry, hello: control.Hello, now: float) -> None:
        if not entry.joined:
            entry.join(hello.address)
            self._roster += 1
            self._statuses.begin(entry.name, now)
        self._tell(entry, self._welcome(entry))
        self._spread(entry)
        self._extend()

    def _progress(self, entry: RegistryEntry, message: control.Progress, now: float) -> None:
        """Send whatever the worker lacks."""
        if message.roster < self._roster_of[entry.name]:
            self._tell(entry, control.Roster(self._roster_of[entry.name], self._around(entry)))
        self._tell(entry, control.Grant(self.horizon))
        if self._statuses.report(message, now):
            self._out.append(effects.Reached(self._statuses.goal))

    def _checkpointed(self, entry: RegistryEntry, message: control.Checkpointed, now: float) -> None:
        known = entry.saved(message.step)
        if known is not None and known.digest != message.digest:
            self._stop(
                f"worker '{entry.name}' is not deterministic: at step {message.step} incarnation {known.incarnation} had "
                f"state {known.digest}, and incarnation {message.incarnation} has {message.digest}; a component there "
                f"draws random numbers or depends on the machine."
            )
            return
        if entry.save(CheckpointRef(message.step, message.incarnation, message.digest)):
            self._statuses.progressed_at = now
        self._tell(entry, control.Durable(entry.checkpoints[0].step, entry.checkpoints[-1].step))

    def _extend(self) -> None:
        """Move the horizon to the goal, as soon as all are there."""
        if self.horizon < self._statuses.goal and all(entry.joined for entry in self.registry.values()):
            self.horizon = self._statuses.goal
            for entry in self.registry.values():
                self._tell(entry, control.Grant(self.horizon))

    # --- deaths ---------------------------------------------------------------------------------------------------------------

    def _died(self, entry: RegistryEntry, reason: str, now: float) -> None:
        if self.failure:
            return
        old, reason = entry.incarnation, schema.sanitise(reason)
        if entry.deaths + 1 >= self.plan.deaths:
            self._stop(
                f"worker '{entry.name}' died ({reason}); that was death number {entry.deaths + 1} without a new "
                "checkpoint, and it would probably die again: read its messages, or write checkpoints more often."
            )
            return
        entry.replace()
        self._roster += 1
        self._out += [effects.End(entry.name, old), effects.Start(entry.name, entry.incarnation)]
        self._statuses.begin(entry.name, now)
        self._spread(entry)

    def _stop(self, reason: str) -> None:
        """End the run, which cannot go on."""
        self.failure = schema.sanitise(reason)
        for entry in self.registry.values():
            if entry.joined:
                self._tell(entry, control.Stop(self.failure))
            else:
                self._out.append(effects.End(entry.name, entry.incarnation))
        self._out.append(effects.Ended(self.failure))

    # --- telling ----------------------------------------------------------------------------------------------------------------

    def _welcome(self, entry: RegistryEntry) -> control.Welcome:
        """All that a worker needs to start, or to take the place of its predecessor."""
        return control.Welcome(
            incarnation=entry.incarnation,
            number=entry.number,
            every=self.plan.every,
            horizon=self.horizon,
            roster=self._roster_of[entry.name],
            members=self._around(entry),
            neighbours=self._neighbours[entry.number],
            checkpoints=entry.checkpoints,
        )

    def _around(self, entry: RegistryEntry) -> tuple[Member, ...]:
        """Everybody with whom a worker shares an edge."""
        return tuple(self.registry[edge.name].member for edge in self._neighbours[entry.number])

    def _spread(self, entry: RegistryEntry) -> None:
        """Those around a worker learn which incarnation of it counts, and where it is."""
        for neighbour in self._neighbours[entry.number]:
            self._roster_of[neighbour.name] = self._roster
            around = self.registry[neighbour.name]
            self._tell(around, control.Roster(self._roster, self._around(around)))

    def _tell(self, entry: RegistryEntry, message: FromCoordinator) -> None:
        if entry.joined:
            self._out.append(effects.Tell(entry.name, entry.incarnation, schema.encode(message)))
