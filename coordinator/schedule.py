"""What the model has scheduled: events at times and on conditions, each at the nearest or next tick."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import nan
from typing import Protocol

from modular.events import Event, Readable, Scheduled


class Clocked(Readable, Protocol):
    """A simulation, as far as a schedule reads it."""

    @property
    def tick(self) -> int:
        """Ticks since the start."""


class Schedule:
    """Waiting events; remembers the sign of every condition from tick to tick."""

    def __init__(self, scheduled: Sequence[Scheduled], dt: float) -> None:
        timed = [(round(s.time / dt), s) for s in scheduled if s.time is not None]
        self._timed = sorted(timed, key=lambda item: item[0])
        self._armed = [s for s in scheduled if s.condition is not None]
        self._before = [nan] * len(self._armed)

    def due(self, simulation: Clocked) -> Iterator[Event]:
        """Events of this tick, in the order of their times, then conditions in the order of the model."""
        while self._timed and self._timed[0][0] <= simulation.tick:
            yield from self._timed.pop(0)[1].events
        for k, scheduled in enumerate(self._armed):
            if scheduled.condition is None:
                continue
            now = scheduled.condition.margin(simulation)
            fired = scheduled.condition.fires(self._before[k], now)
            self._before[k] = now
            if fired:
                if not scheduled.repeats:
                    self._armed[k] = Scheduled(())
                yield from scheduled.events
