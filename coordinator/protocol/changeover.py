"""A worker's part in a change of plan: look at it, answer, and wait for the commit or the abort.

nothing --prepare--> looking --validated--> answered --commit, abort--> nothing
"""

from __future__ import annotations

from coordinator.protocol.effects import Forget, Validate
from coordinator.protocol.plan import Share


class Changeover:
    """At most one plan is open; versions only grow, so whatever is older is of the past."""

    def __init__(self) -> None:
        self.share: Share | None = None
        self.answer: str | None = None  # why not; empty: agreed; None: not yet looked at
        self._aborted = 0  # newest version that will not come

    @property
    def version(self) -> int:
        """The version that is open, or 0."""
        return self.share.version if self.share is not None else 0

    def prepare(self, share: Share, holds: int) -> list[Validate | Forget]:
        """A plan is proposed; `holds` is the version that holds now."""
        if share.previous != holds or share.version <= max(self._aborted, holds, self.version):
            return []  # known, of an older time, or a commit got lost, which the next report shows
        dropped = self._drop("another plan was proposed")
        self.share = share
        return [*dropped, Validate(share)]

    def validated(self, version: int, reason: str | None) -> bool:
        """The physics has looked at a plan. True where that is news."""
        if self.version != version or self.answer is not None:
            return False
        self.answer = reason or ""
        return True

    def abort(self, version: int, reason: str) -> list[Validate | Forget]:
        """This version, and what is older, will not come."""
        self._aborted = max(self._aborted, version)
        return self._drop(reason) if self.version <= version else []

    def commit(self) -> None:
        """The plan holds."""
        self.share = self.answer = None

    def _drop(self, reason: str) -> list[Validate | Forget]:
        dropped: list[Validate | Forget] = [Forget(self.share.version, reason)] if self.share is not None else []
        self.share = self.answer = None
        return dropped
