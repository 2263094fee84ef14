"""An alarm that names the joint or force whose leak exceeds a limit."""

from __future__ import annotations

import warnings

import numpy as np

from coordinator.engine.program import Operation
from coordinator.system import System
from modular.errors import LeakWarning
from modular.ledger import LEAKED, Booked, leak_loop


class Alarm:
    """Looks at all ledgers; rings once per name."""

    def __init__(self, limit: float | None) -> None:
        self.limit = limit
        self.rung: set[str] = set()  # names that have been told

    def program(self, system: System) -> list[Operation]:
        """Loops that stop a run of many ticks where the alarm has to ring."""
        if self.limit is None:
            return []
        system.elements.alarm[0] = self.limit
        own = [stack for stack in system.booked if isinstance(stack, Booked)]
        for stack in own:
            stack.loops["leak"] = leak_loop
        return [(stack, "leak") for stack in own]

    def ring(self, system: System, time: float) -> dict[str, float]:
        """Names that have just passed the limit, with their leak [J]."""
        if self.limit is None:
            return {}
        found: dict[str, float] = {}
        for stack in system.booked:
            leaks = stack.ledger[: stack.count, LEAKED]
            for row in np.flatnonzero(np.abs(leaks) > self.limit):
                if isinstance(stack, Booked):
                    stack.rung[row] = 1
                name = stack.names[row]
                if name not in self.rung:
                    self.rung.add(name)
                    found[name] = float(leaks[row])
        for name, leak in found.items():
            warnings.warn(
                f"'{name}' has leaked {leak:.3g} J at {time:.6g} s, more than the {self.limit:g} J allowed; a smaller step helps "
                "with its square.",
                LeakWarning,
                stacklevel=5,
            )
        return found
