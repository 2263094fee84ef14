"""A load: an external force on a port, in world axes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from components.forces.external import External, follow
from components.forces.values import Table, Value, check_value
from modular.elements import TIME
from modular.errors import ModelError
from modular.force import Force
from modular.loop import NO_FAILED_ROW, loop
from modular.side import Mark, Side
from modular.views import View


@dataclass(frozen=True)
class Load(Force):
    """An external force [N] on a port, in world axes: numbers, a `Table` over time, or a `Law` of time and state."""

    force: Value

    @property
    def sides(self) -> int:
        """One port."""
        return 1

    @property
    def order(self) -> int | None:
        """Two with a table, which has corners within ticks."""
        return 2 if isinstance(self.force, Table) else None

    def unseen(self, dt: float, since: float) -> float | None:
        """A pulse of its table between two ticks."""
        return self.force.unseen(dt, since) if isinstance(self.force, Table) else None

    def check(self, name: str, dimension: int) -> list[str]:
        """A force of the wrong dimension or without a value."""
        return check_value(self.force, dimension, f"load '{name}': force", "N")

    def new_stack(self, dimension: int) -> Loads:
        """An empty stack of loads."""
        return Loads(dimension)

    def marks(self, name: str, sides: Sequence[Side]) -> list[list[Mark]]:
        """The point of its port."""
        mark = sides[0].point(sides[0].position)
        if mark is None:
            raise ModelError(f"load '{name}': port '{sides[0].name}' cannot take a force.")
        return [[mark]]

    @classmethod
    def example(cls, dimension: int = 3) -> Self:
        """A force of this type for the contract tests."""
        return cls((1.3, -0.7, 0.4)[:dimension])


class Loads(External):
    """External forces, one row each."""

    def __init__(self, dimension: int) -> None:
        super().__init__(dimension, 1, dimension, load_loop)

    def add(self, name: str, force: Force, first: Sequence[int]) -> None:
        """Take a load in."""
        assert isinstance(force, Load)
        self.take(name, force.force, first)


@loop
def load_loop(start: int, stop: int, loads: View, elements: View) -> int:
    """Each load on its element."""
    for n in range(start, stop):
        if loads.number[n] > 0:
            follow(loads.knots[n], loads.number[n], elements.clock[TIME], loads.value[n])
        for c in range(loads.value.shape[0]):
            elements.force[loads.first[n], c] = loads.value[n, c]
    return NO_FAILED_ROW
