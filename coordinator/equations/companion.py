"""What may go along with a motion by formulas, such as its tangents: what it is told, and what it keeps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol

from coordinator.couplings.centralized.solver import State
from coordinator.system import System
from modular.elements import Array

if TYPE_CHECKING:
    from coordinator.equations.common_formulas import CommonFormulas


class Companion(Protocol):
    """One that is told of every step and of every change."""

    def names(self, system: System) -> frozenset[str]:
        """Components, or single numbers, that are to have names in the formulas also where they are nothing."""

    def configured(self, system: System, common: CommonFormulas) -> None:
        """Formulas were written: at the start, and after every change of the model."""

    def settled(self, system: System, before: Mapping[str, Array], time: float) -> None:
        """Accelerations were found anew; `before` is what was remembered until then."""

    def advanced(self, system: System, before: State, after: State, time: float, h: float) -> dict[str, Array]:
        """A step was taken; what is to be remembered beside the motion."""
