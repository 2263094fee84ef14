"""What one neighbour has sent: each frame taken once, in the order of the program, whatever order it came in."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Sequence
from enum import StrEnum

from coordinator.distributed.protocol.frames import key_of

CAPACITY = 64  # frames that may lie here before they are taken; neighbours are rarely more than two ahead


class Verdict(StrEnum):
    """What became of a frame; counted by the link."""

    ACCEPTED = "accepted"
    DUPLICATE = "duplicate"  # known already, with the same contents
    CONTRADICTION = "contradiction"  # known already, with other contents
    UNWANTED = "unwanted"  # a key that the program of this worker does not have
    FULL = "full"  # too far ahead; it can be asked for later
    FENCED = "fenced"  # from an incarnation that has been replaced
    LAYOUT = "layout"  # the two ends lay out their numbers differently


ACCEPTED = Verdict.ACCEPTED  # looking up a member of an enumeration takes as long as placing a frame


class Inbox:
    """Frames that wait to be taken, and the checksums of those that were."""

    def __init__(self) -> None:
        self.taken = -1  # key of the last frame that was taken
        self.count = 0  # frames taken
        self.waiting: dict[int, tuple[int, memoryview]] = {}  # by key: checksum and numbers
        self._known_from = 0  # keys from here to `taken` are in `_keys`, if the program has them
        self._keys = array("Q")
        self._checks = array("I")

    def place(self, key: int, check: int, payload: memoryview) -> Verdict:
        """Lay a frame down. `check` is the checksum of its numbers, by which copies are compared."""
        if key <= self.taken:
            return self._compare_with_taken(key, check)
        if key in self.waiting:
            return Verdict.DUPLICATE if self.waiting[key][0] == check else Verdict.CONTRADICTION
        if len(self.waiting) >= CAPACITY:
            last = max(self.waiting)
            if key > last:
                return Verdict.FULL
            del self.waiting[last]  # it can be asked for later; this one is needed before
        self.waiting[key] = (check, payload)
        return ACCEPTED

    def take(self, key: int) -> memoryview | None:
        """The numbers under a key, once; None while they are not here."""
        found = self.waiting.pop(key, None)
        if found is None:
            return None
        self.taken = key
        self.count += 1
        self._keys.append(key)
        self._checks.append(found[0])
        return found[1]

    def took(self, keys: Sequence[int], checks: Sequence[int]) -> int | None:
        """Frames were taken as they came, in order; checksums of their numbers. A key of which a copy with others lies here."""
        copies = {key: self.waiting.pop(key)[0] for key in keys if key in self.waiting} if self.waiting else {}
        self.taken = keys[-1]
        self.count += len(keys)
        self._keys.extend(keys)
        self._checks.extend(checks)
        return next((key for key, check in zip(keys, checks) if copies.get(key, check) != check), None)

    def passed_over(self) -> int | None:
        """A key that waits although a later one was taken: the neighbour has a frame more than we ask for."""
        first = min(self.waiting, default=self.taken + 1)
        return first if first <= self.taken else None

    def trim(self, step: int) -> None:
        """Forget the checksums of what is before a step."""
        key = key_of(step, 0)
        if key > self._known_from:
            self._known_from = key
            first = bisect_left(self._keys, key)
            del self._keys[:first], self._checks[:first]

    def resume(self, taken: int) -> None:
        """Go on after a key, with nothing known of what was before."""
        self.taken, self._known_from = taken, taken + 1
        self.waiting.clear()
        del self._keys[:], self._checks[:]

    def _compare_with_taken(self, key: int, check: int) -> Verdict:
        if key < self._known_from:
            return Verdict.DUPLICATE
        place = bisect_left(self._keys, key)
        if self._keys[place] != key:
            return Verdict.UNWANTED
        return Verdict.DUPLICATE if self._checks[place] == check else Verdict.CONTRADICTION
