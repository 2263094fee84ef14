"""A worker as the coordinator has decided: which incarnation counts, where it is, and where a successor could start from."""

from __future__ import annotations

from dataclasses import dataclass

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
