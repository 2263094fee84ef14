"""Joints that break: the filtered force on each limited joint, tick by tick (see `modular.Limit`)."""

from __future__ import annotations

from math import exp

import numpy as np

from coordinator.building import JointHome
from coordinator.engine.program import Operation
from coordinator.system import System
from modular.assembly import JointEdge
from modular.elements import GAIN_STEP, Array, Indices
from modular.errors import ModelError
from modular.loop import NO_FAILED_ROW, loop
from modular.stack import Stack
from modular.views import View

MIN_WINDOW_TICKS = 20  # shortest window


class Watched(Stack):
    """Limited joints, one row each."""

    pointing = ("element",)
    element: Indices  # first element of the second side, whose force is watched
    seen: Indices  # 0 until it has been looked at
    fade: Array  # what is left of the past after a tick
    most: Array  # what |S| may be [N s]
    before: Array  # F one tick ago [N]
    once: Array  # J [N s]
    twice: Array  # S [N s]
    size: Array  # |S| [N s]

    def __init__(self, dimension: int) -> None:
        super().__init__()
        for name in ("element", "seen"):
            self.column(name, dtype=np.int64)
        for name in ("fade", "most", "size"):
            self.column(name)
        for name in ("before", "once", "twice"):
            self.column(name, dimension)
        self.loops = {"watch": watch_loop}


class Breakage:
    """Remembers the force on limited joints."""

    def __init__(self, dt: float, dimension: int) -> None:
        self.dt = dt
        self.watched = Watched(dimension)
        self.asked = -1  # the tick at which it was last asked
        self.gone: dict[str, tuple[Array, ...]] = {}  # what was remembered of joints that were cut

    def check(self, name: str, edge: JointEdge) -> None:
        """Refuse a window too short for the step."""
        if edge.breaks_at is not None and edge.breaks_at.window < MIN_WINDOW_TICKS * self.dt * (1 - 1e-9):
            raise ModelError(
                f"joint '{name}': breaks_at has a window of {edge.breaks_at.window:g} s, "
                f"less than {MIN_WINDOW_TICKS} ticks of {self.dt:g} s; "
                f"lengthen it to {MIN_WINDOW_TICKS * self.dt:g} s or take dt = {edge.breaks_at.window / MIN_WINDOW_TICKS:.2g} s."
            )

    def watch(self, name: str, edge: JointEdge, home: JointHome) -> None:
        """Watch a joint that was made, unloaded unless it is the one that was cut at this very instant."""
        remembered = self.gone.pop(name, None)
        if edge.breaks_at is None:
            return
        watched, row = self.watched, self.watched.add_row(name)
        watched.element[row] = home.starts[1]
        watched.fade[row] = exp(-self.dt / edge.breaks_at.window)
        watched.most[row] = edge.breaks_at.most
        if home.again and remembered is not None:
            watched.seen[row] = 1
            watched.before[row], watched.once[row], watched.twice[row] = remembered

    def leave(self, name: str) -> None:
        """A joint was cut."""
        watched, row = self.watched, self.watched.row.get(name)
        if row is not None:
            self.gone[name] = tuple(column[row].copy() for column in (watched.before, watched.once, watched.twice))
            watched.remove_row(name)

    def forget(self, name: str) -> None:
        """A joint that broke starts unloaded if it is made again."""
        self.gone.pop(name, None)

    def program(self) -> list[Operation]:
        """The loop that stops a run of many ticks where a joint breaks."""
        return [(self.watched, "watch")] if self.watched.count else []

    def broken(self, system: System) -> dict[str, float]:
        """Limited joints that break now, with their |S| [N s]; worked out once per tick."""
        watched = self.watched
        if not watched.count:
            return {}
        if self.asked != system.tick:
            watched.play("watch", system.elements)
            self.asked = system.tick
        return {
            name: float(watched.size[row]) for name, row in watched.row.items() if watched.size[row] > watched.most[row]
        }


@loop
def watch_loop(start: int, stop: int, watched: View, elements: View) -> int:
    """J and S of every limited joint, by the trapezoidal rule with their fading; the first that breaks, or -1."""
    dt, broken = elements.clock[GAIN_STEP], NO_FAILED_ROW
    for n in range(start, stop):
        fade, square = watched.fade[n], 0.0
        for c in range(watched.once.shape[0]):
            force = elements.force[watched.element[n], c]
            before = watched.before[n, c] if watched.seen[n] == 1 else force
            once = watched.once[n, c]
            again = fade * once + 0.5 * dt * (fade * before + force)
            watched.twice[n, c] = fade * watched.twice[n, c] + (1.0 - fade) * 0.5 * (once + again)
            watched.once[n, c] = again
            watched.before[n, c] = force
            square += watched.twice[n, c] ** 2
        watched.seen[n] = 1
        watched.size[n] = np.sqrt(square)
        if watched.size[n] > watched.most[n] and broken < 0:
            broken = n
    return broken
