"""Joints that break: the filtered force on each limited joint, tick by tick."""

from __future__ import annotations

from collections.abc import Mapping
from math import exp

import numpy as np

from coordinator.system import System
from modular.assembly import JointEdge
from modular.elements import Array
from modular.errors import ModelError

TICKS = 20  # shortest window


class Breakage:
    """Remembers the force on limited joints (see `modular.Limit`)."""

    def __init__(self, dt: float) -> None:
        self.dt = dt
        self._memory: dict[str, Array] = {}  # rows: F one tick ago [N], J, S [N s]

    def check(self, name: str, edge: JointEdge) -> None:
        """Refuse a window too short for the step."""
        if edge.breaks_at is not None and edge.breaks_at.window < TICKS * self.dt * (1 - 1e-9):
            raise ModelError(
                f"joint '{name}': breaks_at has a window of {edge.breaks_at.window:g} s, less than {TICKS} ticks of {self.dt:g} s; "
                f"lengthen it to {TICKS * self.dt:g} s or take dt = {edge.breaks_at.window / TICKS:.2g} s."
            )

    def forget(self, name: str) -> None:
        """A new joint of an old name starts unloaded."""
        self._memory.pop(name, None)

    def broken(self, system: System, edges: Mapping[str, JointEdge]) -> dict[str, float]:
        """Limited joints that break now, with their |S| [N s]; to be asked once per tick."""
        found = {}
        for name, edge in edges.items():
            if edge.breaks_at is None:
                continue
            force = system.elements.force[system.joint_home[name].starts[1]]
            fade = exp(-self.dt / edge.breaks_at.window)
            before, once, twice = self._memory.get(name, np.stack([force, 0.0 * force, 0.0 * force]))
            again = fade * once + 0.5 * self.dt * (fade * before + force)
            twice = fade * twice + (1.0 - fade) * 0.5 * (once + again)
            self._memory[name] = np.stack([force, again, twice])
            if (size := float(np.linalg.norm(twice))) > edge.breaks_at.most:
                found[name] = size
        self._memory = {name: rows for name, rows in self._memory.items() if name in edges and name not in found}
        return found
