"""A clock for deadlines: time counts while its owner is there to listen.

Whoever was stopped, had its lid closed or waited for the processor has heard nobody in that time, and nobody is to blame. Between
two looks at this clock a second counts at most, however long they are apart: what has come meanwhile is read first, and those who
were held up themselves have a chance to speak before they count as silent.
"""

from __future__ import annotations

import time
from collections.abc import Callable

MAX_GAP = 1.0  # that counts between two looks [s]


class CappedClock:
    """Seconds of listening."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._looked_at, self._counted = clock, clock(), 0.0

    def now(self) -> float:
        """How many there have been; only differences mean something."""
        real = self._clock()
        self._counted += min(real - self._looked_at, MAX_GAP)
        self._looked_at = real
        return self._counted
