"""The contract of a stiffness rule."""

from __future__ import annotations

from abc import abstractmethod

from coordinator.score import Part, Stacks, perform
from coordinator.system import System
from modular.component import Component
from modular.elements import GAIN_STEP


class StiffnessRule(Component):
    """Chooses stiffness and damping of every joint from the step and the masses it sees."""

    def score(self, system: Stacks) -> list[Part] | None:
        """How K and C of all joints are set, as parts of a tick; None for a rule that only has `refresh`.

        Asked once for many ticks and events, as long as no stack comes or goes: what it tells stacks holds for all their rows.
        """
        return None

    def refresh(self, system: System, dt: float) -> None:
        """Set K and C of all joints at the present geometry; elements shown and joints linearised."""
        parts = self.score(system)
        assert parts is not None, f"{type(self).__name__} needs a score or its own refresh"
        system.elements.clock[GAIN_STEP] = dt
        perform(system.elements, parts)

    @abstractmethod
    def remedy(self, margin: float, dt: float) -> tuple[str, float | None]:
        """What would hold where a margin is below one: a sentence, and a step [s] if a step helps."""
