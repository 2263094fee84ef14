"""The contract of a stiffness rule."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from typing import Any

from coordinator.engine.program import Operation, Stacks, compiled, perform
from coordinator.system import System
from modular.component import Component
from modular.elements import GAIN_STEP, STEP

# what is done there instead of at an event
IN_A_TICK = {"respond": "respond_predicted", "compute_parting": "update_preload", "find_uneven": None}


def in_a_tick(operations: Iterable[Operation]) -> list[Operation]:
    """The operations of a rule for the middle of a tick: bodies answer where forces act, and what joints bear turns with them.

    Bodies that are asked in Python may answer for where they stand instead.
    """
    found = []
    for stack, verb in operations:
        there = IN_A_TICK.get(verb, verb)
        if there is not None:
            found.append((stack, there if offers(stack, there) else verb))
    return found


def offers(stack: Any, verb: str) -> bool:
    """Whether a stack does something, as a loop or as a method."""
    return compiled((stack, verb)) or hasattr(stack, verb)


class StiffnessRule(Component):
    """Chooses stiffness and damping of every joint from the step and the masses it sees."""

    def program(self, system: Stacks) -> list[Operation] | None:
        """How K and C of all joints are set, as operations of a tick; None for a rule that only has `refresh`.

        Asked once for many ticks and events, as long as no stack comes or goes: what it tells stacks holds for all their rows.
        """
        return None

    def refresh(self, system: System, dt: float) -> None:
        """Set K and C of all joints as they are shown and linearised: in the middle of a tick, or at an event, with no step."""
        operations = self.program(system)
        assert operations is not None, f"{type(self).__name__} needs a program or its own refresh"
        system.elements.clock[GAIN_STEP] = dt
        ticks, mixture = bool(system.elements.clock[STEP] > 0.0), system.cache.get("mixture")
        if mixture is not None:  # components step on their own among others, and not all joints are springs
            perform(system.elements, mixture[1].refreshing(operations, ticks=ticks))
        else:
            perform(system.elements, in_a_tick(operations) if ticks else operations)

    @abstractmethod
    def remedy(self, margin: float, dt: float) -> tuple[str, float | None]:
        """What would hold where a margin is below one: a sentence, and a step [s] if a step helps."""
