"""A worker as the coordinator has decided: which incarnation counts, where it is, and where a successor could start from."""

from __future__ import annotations

from dataclasses import dataclass

from coordinator.distributed.protocol.plan import START, Kept, Member


@dataclass
class Seat:
    """The place of one worker; processes come and go."""

    name: str
    number: int
    incarnation: int = 1
    joined: bool = False
    address: str = ""
    kept: tuple[Kept, ...] = (START,)  # newest first, two at most
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

    def saved(self, step: int) -> Kept | None:
        """The checkpoint at a step, if it is kept; the start of the run is none."""
        return next((kept for kept in self.kept if kept.step == step and kept != START), None)

    def save(self, new: Kept) -> bool:
        """A checkpoint was written. True where it is news: a newer one, or one that a successor has written again."""
        old = self.saved(new.step)
        if old is not None and old.incarnation != new.incarnation:
            self.kept = tuple(new if kept is old else kept for kept in self.kept)
        elif new.step > self.kept[0].step:
            self.kept, self.deaths = (new, *self.kept)[:2], 0
        else:
            return False
        return True
