"""The contract of a centralized solver."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from coordinator.couplings.centralized.compiled.step import CompiledStep
from coordinator.couplings.centralized.equations import Equations
from coordinator.system import System
from modular.component import Component
from modular.elements import Array


class NoSolution(ArithmeticError):
    """A step that did not come to an end: its iteration did not converge, or its numbers are not finite.

    Where it knows, it names the body to look at and what would help: a sentence, and a step [s] if a step does.
    """

    def __init__(
        self, reason: str, *, cause: str | None = None, body: str | None = None, remedy: str | None = None,
        step: float | None = None,
    ) -> None:  # fmt: skip
        super().__init__(reason)
        self.cause, self.body, self.remedy, self.step = cause, body, remedy, step


@dataclass
class State:
    """Where a system stands: coordinates, velocities, accelerations and multipliers."""

    q: Array
    v: Array
    a: Array
    multipliers: Array


class Solver(Component):
    """One way of stepping a whole system; settings only, its memory is the `State` and `memory`, which it may fill."""

    rough: ClassVar[bool] = False  # its own accelerations and multipliers err: those shown are evaluated from q and v
    declared_order: ClassVar[int | None] = (
        None  # in the tick; None where a method of any order is given, or steps are its own
    )

    @property
    def meets_corners(self) -> bool:
        """Whether it goes from one corner of what acts from outside to the next, also where they lie between two ticks."""
        return False

    def refuses(self, equations: Equations) -> str | None:
        """Why it cannot treat this system, naming the part and the methods that can; None where it can."""
        return None

    def compiled_step(self, system: System, equations: Equations) -> CompiledStep | None:
        """A step of it in one compiled call, to the same motion; None where there is none for this system."""
        return None

    @abstractmethod
    def advance(self, equations: Equations, state: State, time: float, h: float, memory: dict[str, Any]) -> State:
        """The state `h` seconds on."""


def settled(equations: Equations, time: float, q: Array, v: Array) -> State:
    """Accelerations and multipliers of a state that obeys its constraints; leaves the system there."""
    a, multipliers = equations.accelerate(time, q, v)
    return State(q, v, a, multipliers)


def finite(*arrays: Array) -> None:
    """Stop where numbers have left the world."""
    if not all(np.isfinite(array).all() for array in arrays):
        raise NoSolution("its numbers are not finite")
