"""What can be undone, and done again."""

from __future__ import annotations

from coordinator.laboratory.acts import Doing, describe
from coordinator.laboratory.kept import Kept
from modular.errors import ModelError

MAX_UNDO = 100  # changes that can be undone
MAX_BYTES = 64e6  # bytes that those may take


class History:
    """Changes in their order, each with what was before it."""

    def __init__(self) -> None:
        self._done: list[tuple[Kept | None, Doing]] = []
        self._undone: list[Doing] = []

    @property
    def undo(self) -> str:
        """What would be undone, in words."""
        return describe(self._done[-1][1]) if self._done else ""

    @property
    def redo(self) -> str:
        """What would be done again."""
        return describe(self._undone[-1]) if self._undone else ""

    def remember(self, kept: Kept | None, act: Doing, *, again: bool = False) -> None:
        """A change was made; `again`: it was the one that was undone last."""
        self._done.append((kept, act))
        self._undone = self._undone[:-1] if again else []
        sizes = [0 if kept is None else len(kept.content) for kept, _ in self._done]
        while len(self._done) > MAX_UNDO or (sum(sizes) > MAX_BYTES and len(self._done) > 1):
            del self._done[0], sizes[0]

    def last(self) -> tuple[Kept | None, Doing]:
        """The change that would be undone, with what was before it."""
        if not self._done:
            raise ModelError("there is nothing to undo.")
        return self._done[-1]

    def next(self) -> Doing:
        """The change that would be done again."""
        if not self._undone:
            raise ModelError("there is nothing to redo.")
        return self._undone[-1]

    def go_back(self) -> None:
        """The last change was undone."""
        self._undone.append(self._done.pop()[1])
