"""The contract of a stiffness rule."""

from __future__ import annotations

from abc import abstractmethod

from coordinator.system import System
from modular.component import Component


class StiffnessRule(Component):
    """Chooses stiffness and damping of every joint from the step and the masses it sees."""

    @abstractmethod
    def refresh(self, system: System, dt: float) -> None:
        """Set K and C of all joints at the present geometry; elements shown and joints linearised."""

    @abstractmethod
    def remedy(self, margin: float, dt: float) -> tuple[str, float | None]:
        """What would hold where a margin is below one: a sentence, and a step [s] if a step helps."""
