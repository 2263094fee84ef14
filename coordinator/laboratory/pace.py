"""How fast time goes: which tick is due by the clock on the wall."""

from __future__ import annotations

import time
from collections import deque

from coordinator.simulation import Simulation

UNLIMITED_TICKS = 1 << 40  # ticks: as far as it goes
# seconds behind the clock from which on the clock is set back, and the factor says how slow it is
MAX_LAG_SECONDS = 0.2
AVERAGING_SECONDS = 1.0  # seconds over which the factor is taken


class Pace:
    """Plays, walks some ticks, or stands still."""

    def __init__(self, speed: float = 1.0) -> None:
        self.speed = speed  # times the clock; 0: as fast as it goes
        self.playing = False
        self._goal: int | None = None  # of a walk
        self._from = (0.0, 0)  # an instant on the clock, and the tick that was due then
        self._seen: deque[tuple[float, float]] = deque()  # instants on the clock, and times of the simulation

    @property
    def moving(self) -> bool:
        """Whether time goes."""
        return self.playing or self._goal is not None

    def pause(self) -> None:
        """Stand still."""
        self.playing, self._goal = False, None

    def resume(self, simulation: Simulation) -> None:
        """Go on."""
        self.playing, self._goal = True, None
        self.set_clock(simulation)

    def walk(self, simulation: Simulation, ticks: int) -> None:
        """So many ticks, and stand still."""
        self.playing, self._goal = False, (self._goal or simulation.tick) + ticks

    def set_speed(self, factor: float, simulation: Simulation) -> None:
        """Another factor from now on."""
        self.speed = factor
        self.set_clock(simulation)

    def set_clock(self, simulation: Simulation) -> None:
        """What is due counts from now; a walk that was left behind is over."""
        self._from = time.monotonic(), simulation.tick
        self._seen.clear()
        if self._goal is not None and self._goal <= simulation.tick:
            self._goal = None

    def due(self, simulation: Simulation) -> int:
        """The tick up to which to go."""
        if self._goal is not None:
            return self._goal
        if not self.playing:
            return simulation.tick
        if self.speed == 0.0:
            return simulation.tick + UNLIMITED_TICKS
        now = time.monotonic()
        due = self._from[1] + int((now - self._from[0]) * self.speed / simulation.dt)
        if (due - simulation.tick) * simulation.dt > MAX_LAG_SECONDS * self.speed:
            self._from = now, simulation.tick + 1
            return simulation.tick + 1
        return due

    def passed(self, simulation: Simulation) -> None:
        """Ticks have gone by."""
        if self._goal is not None and simulation.tick >= self._goal:
            self._goal = None
        now = time.monotonic()
        self._seen.append((now, simulation.time))
        while len(self._seen) > 2 and now - self._seen[0][0] > AVERAGING_SECONDS:
            self._seen.popleft()

    def until_next(self, simulation: Simulation) -> float:
        """Seconds until the next tick is due."""
        if not self.playing or self.speed == 0.0:
            return 0.0
        due = self._from[0] + (simulation.tick + 1 - self._from[1]) * simulation.dt / self.speed
        return max(due - time.monotonic(), 0.0)

    @property
    def factor(self) -> float:
        """How many times as fast as the clock it has been lately."""
        if len(self._seen) < 2 or not self.moving:
            return 0.0
        (then, before), (now, after) = self._seen[0], self._seen[-1]
        return (after - before) / (now - then) if now > then else 0.0
