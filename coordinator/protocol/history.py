"""What the journal adds up to. A live coordinator and one that is started again come to it by the same function."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from coordinator.protocol.errors import Malformed
from coordinator.protocol.journal import (
    Closed,
    Entry,
    Epoch,
    Horizon,
    Joined,
    Opened,
    Proposed,
    Replaced,
    Saved,
    Settled,
)
from coordinator.protocol.plan import START, Kept, Member, Plan, Share, shares


@dataclass
class Seat:
    """A worker as the journal knows it: which incarnation counts, and where it could start from."""

    name: str
    number: int
    incarnation: int = 1
    joined: bool = False
    token: str = ""
    address: str = ""
    kept: tuple[Kept, ...] = (START,)  # newest first, two at most
    deaths: int = 0  # since the last new checkpoint

    @property
    def member(self) -> Member:
        """The worker as others see it."""
        return Member(self.name, self.number, self.incarnation, self.address if self.joined else "")


@dataclass
class History:
    """The run so far. Only `apply` changes it."""

    opened: Opened
    seats: dict[str, Seat]
    plans: list[Plan]
    epoch: int = 0
    horizon: int = 0
    horizon_before: int = 0
    proposal: Plan | None = None
    newest_version: int = 0  # proposed; never given twice
    roster: int = 0  # counts joins and replacements
    closed: str | None = None
    _shares: dict[int, tuple[Plan, list[Share]]] = field(default_factory=dict)
    _recent: list[Plan] = field(default_factory=list)

    @classmethod
    def begin(cls, opened: Opened) -> History:
        """A run without any step."""
        seats = {called.name: Seat(called.name, number) for number, called in enumerate(opened.workers)}
        return cls(opened, seats, [opened.plan], newest_version=opened.plan.version)

    @classmethod
    def read(cls, entries: Iterable[Entry]) -> History:
        """The run that a journal tells of."""
        history: History | None = None
        for entry in entries:
            if history is not None:
                history.apply(entry)
            elif isinstance(entry, Opened):
                history = cls.begin(entry)
            else:
                raise Malformed(f"journal, line 1: {type(entry).__name__}; a journal begins with Opened.")
        if history is None:
            raise Malformed("journal: empty; there is nothing to go on with.")
        return history

    def apply(self, entry: Entry) -> None:
        """Add an entry."""
        if isinstance(entry, Epoch):
            self.epoch = entry.epoch
        elif isinstance(entry, Joined):
            seat = self._seat(entry.name)
            seat.incarnation, seat.joined = entry.incarnation, True
            seat.token, seat.address = entry.token, entry.address
            self.roster += 1
        elif isinstance(entry, Replaced):
            seat = self._seat(entry.name)
            seat.incarnation, seat.joined, seat.token = entry.incarnation, False, ""
            seat.deaths += 1
            self.roster += 1
        elif isinstance(entry, Saved):
            self._recent = []
            self._save(self._seat(entry.name), Kept(entry.step, entry.incarnation, entry.digest))
        elif isinstance(entry, Horizon):
            self.horizon_before, self.horizon = self.horizon, entry.step
        elif isinstance(entry, Proposed):
            self.proposal, self.newest_version = entry.plan, entry.plan.version
        elif isinstance(entry, Settled):
            if self.proposal is None or self.proposal.version != entry.version:
                raise Malformed(f"journal: plan {entry.version} is settled, and was not proposed.")
            if entry.committed:
                self.plans.append(self.proposal)
                self._recent = []
            self.proposal = None
        elif isinstance(entry, Closed):
            self.closed = entry.reason
        else:
            raise Malformed("journal: opened twice.")

    def _seat(self, name: str) -> Seat:
        if name not in self.seats:
            raise Malformed(f"journal: worker '{name}' is none of {', '.join(self.seats)}.")
        return self.seats[name]

    @staticmethod
    def _save(seat: Seat, kept: Kept) -> None:
        if kept.step in (old.step for old in seat.kept):  # written again by a successor
            seat.kept = tuple(kept if old.step == kept.step else old for old in seat.kept)
        else:
            seat.kept = (kept, *seat.kept)[:2]
            seat.deaths = 0

    # --- questions --------------------------------------------------------------------------------------------------------

    @property
    def names(self) -> list[str]:
        """Workers by their numbers."""
        return list(self.seats)

    @property
    def version(self) -> int:
        """The plan that holds."""
        return self.plans[-1].version

    @property
    def report_step(self) -> int:
        """Where workers report, so that the next horizon comes before they have to wait for it."""
        return self.horizon - (self.horizon - self.horizon_before) // 2

    def recent_plans(self) -> list[Plan]:
        """Plans that a worker may still meet: those since the oldest checkpoint of anybody."""
        if not self._recent:
            oldest = min(seat.kept[-1].step for seat in self.seats.values())
            base = max((plan.start for plan in self.plans if plan.start <= oldest), default=0)
            self._recent = [plan for plan in self.plans if plan.start >= base]
            known = {plan.version for plan in self._recent}
            self._shares = {version: share for version, share in self._shares.items() if version in known}
        return self._recent

    def share(self, plan: Plan, number: int) -> Share:
        """What one worker needs of a plan."""
        known = self._shares.get(plan.version)
        if known is None or known[0] is not plan:
            known = self._shares[plan.version] = (plan, shares(plan, self.names))
        return known[1][number]

    def circle(self, number: int) -> tuple[Member, ...]:
        """Everybody with whom a worker shares an edge, or did, or may soon."""
        plans = self.recent_plans() + ([self.proposal] if self.proposal is not None else [])
        names = {edge.name for plan in plans for edge in self.share(plan, number).neighbours}
        return tuple(self.seats[name].member for name in sorted(names))
