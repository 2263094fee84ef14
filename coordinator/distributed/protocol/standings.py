"""What the workers last said of themselves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from coordinator.distributed.protocol.control import Progress
from coordinator.distributed.protocol.seats import Seat


@dataclass
class Standing:
    """One worker, as it last reported."""

    heard: float
    step: int = 0
    exchanges: int = 0
    waits_for: str = ""
    waiting: int = 0  # [ms]


class Standings:
    """All workers by name; who has not come to the goal."""

    def __init__(self, names: Iterable[str], now: float) -> None:
        self.of = {name: Standing(now) for name in names}
        self.goal = 0
        self.short: set[str] = set()  # not yet at the goal
        self.moved = now  # when anything last got on

    def aim(self, goal: int, now: float) -> None:
        """Workers are to do this many steps."""
        self.goal = max(self.goal, goal)
        self.moved = now
        self.short = {name for name, standing in self.of.items() if standing.step < self.goal}

    def begin(self, name: str, now: float) -> None:
        """A new incarnation of a worker: nothing that the old one said holds any more."""
        self.of[name] = Standing(now)
        self.moved = now
        if self.goal:
            self.short.add(name)

    def excuse(self, name: str, seconds: float, now: float) -> None:
        """A worker could say nothing for so long, nor those who wait for it get on."""
        standing = self.of[name]
        standing.heard = min(now, standing.heard + seconds)
        self.moved = min(now, self.moved + seconds)

    def report(self, message: Progress, now: float) -> bool:
        """Take in a report. True where it is the last that was missing at the goal."""
        standing = self.of[message.name]
        if (message.step, message.exchanges) != (standing.step, standing.exchanges):
            self.moved = now
        standing.step, standing.exchanges = message.step, message.exchanges
        standing.waits_for, standing.waiting = message.waits_for, message.waiting
        if message.step < self.goal or message.name not in self.short:
            return False
        self.short.discard(message.name)
        return not self.short

    @property
    def idle(self) -> bool:
        """Whether nobody has anything to do."""
        return not self.short

    @property
    def slowest(self) -> int:
        """Steps that every worker is known to have done."""
        return min(standing.step for standing in self.of.values())

    def lines(self, seats: Mapping[str, Seat], now: float) -> list[str]:
        """How every worker stands, one line each, the slowest first."""
        lines = []
        for name, one in sorted(self.of.items(), key=lambda item: item[1].step):
            seat = seats[name]
            there = "" if seat.joined else ", has not said hello"
            wait = f", waits for '{one.waits_for}' since {one.waiting / 1000:.1f} s" if one.waits_for else ""
            lines.append(
                f"worker '{name}' (incarnation {seat.incarnation}) at step {one.step}{there}{wait}, "
                f"heard {now - one.heard:.1f} s ago"
            )
        return lines
