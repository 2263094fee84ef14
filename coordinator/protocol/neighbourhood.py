"""The neighbours of a worker: which plans hold, which incarnation of each neighbour counts, and the link to it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from coordinator.protocol.deadlines import Deadlines
from coordinator.protocol.effects import Connect, Send
from coordinator.protocol.link import Link
from coordinator.protocol.plan import Member, Share

MakeLink = Callable[[int, Member, Member, Deadlines], Link]


class Neighbourhood:
    """Links by name. They outlive the plans that made them: a former neighbour may still ask for old frames."""

    def __init__(self, run: int, me: Member, deadlines: Deadlines, make_link: MakeLink) -> None:
        self.run, self.me, self.deadlines, self.make_link = run, me, deadlines, make_link
        self.links: dict[str, Link] = {}
        self.shares: list[Share] = []  # plans that hold, in order
        self.roster = 0  # newest list of members that was seen
        self.by_number: dict[int, Link] = {}  # the same, by the numbers of the workers
        self._members: dict[str, Member] = {}
        self._connected: dict[str, int] = {}

    @property
    def version(self) -> int:
        """The newest plan that is known to hold."""
        return self.shares[-1].version if self.shares else 0

    def starting(self, step: int) -> list[Share]:
        """Plans that start at a step, in order."""
        return [share for share in self.shares if share.start == step]

    def version_before(self, step: int) -> int:
        """The plan under which the step before this one ran."""
        return max((share.version for share in self.shares if share.start < step), default=0)

    def adopt(self, share: Share, members: Iterable[Member], number: int, now: float) -> list[Connect]:
        """From its start on, frames belong to this plan."""
        self.shares.append(share)
        edges = {edge.name: edge for edge in share.neighbours}
        for edge in share.neighbours:
            if edge.name not in self.links:
                peer = self._members.get(edge.name, Member(edge.name, edge.number, 0, ""))
                link = self.make_link(self.run, self.me, peer, self.deadlines)
                self.links[edge.name] = self.by_number[edge.number] = link
        for name, link in self.links.items():
            link.plan(share.version, share.start, edges.get(name))
        return self.enrol(members, number, now)

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
                connect.append(Connect(known.name, known.incarnation, known.address))
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
        """Tells all neighbours, former ones too, that nothing before a step will be asked for again."""
        return [Send(name, link.notice(step)) for name, link in self.links.items()]

    # --- checkpoints ------------------------------------------------------------------------------------------------------

    def save(self) -> tuple[tuple[Mapping[str, Any], bytes], ...]:
        """What a successor needs of each link, at the end of a step."""
        return tuple(link.save() for link in self.links.values())

    def restore(self, saved: Sequence[tuple[Mapping[str, Any], bytes]]) -> None:
        """Go on where a predecessor has saved, or raise Malformed; then `renew` before the next attempt."""
        for one, frames in saved:
            number = one.get("peer")
            if type(number) is int and number in self.by_number:  # otherwise an edge that nobody can ask about any more
                self.by_number[number].restore(one, frames)

    def renew(self, now: float) -> None:
        """Fresh links, as if nothing had been restored."""
        known, self.shares = self.shares, []
        self.links, self.by_number = {}, {}
        for share in known:
            self.adopt(share, (), 0, now)
