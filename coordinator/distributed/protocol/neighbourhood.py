"""The neighbours of a worker: which incarnation of each counts, and the link to it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from coordinator.distributed.protocol.deadlines import Deadlines
from coordinator.distributed.protocol.effects import Connect, Send
from coordinator.distributed.protocol.link import Link
from coordinator.distributed.protocol.plan import Member, Neighbour

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
