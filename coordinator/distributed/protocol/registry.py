"""A worker as the coordinator has decided: which incarnation counts, where it is, and where a successor could start from;
and what it last said of itself."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from coordinator.distributed.protocol.control import Progress
from coordinator.distributed.protocol.plan import START, CheckpointRef, Member


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

    def excuse(self, name: str, seconds: float, now: float) -> None:
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
