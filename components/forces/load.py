"""A load: an external force on a port, in world axes."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Self

from components.forces.external import External
from components.forces.values import Value, check_value
from modular.elements import Array, Elements, Indices
from modular.errors import ModelError
from modular.force import Force
from modular.kernel import kernel
from modular.side import Mark, Side


@dataclass(frozen=True)
class Load(Force):
    """An external force [N] on a port, in world axes: numbers, a `Table` over time, or a `Law` of time and state."""

    force: Value

    @property
    def sides(self) -> int:
        """One port."""
        return 1

    def check(self, name: str, dimension: int) -> list[str]:
        """A force of the wrong dimension or without a value."""
        return check_value(self.force, dimension, f"load '{name}': force", "N")

    def kind(self) -> Hashable:
        """All loads share a stack."""
        return Loads

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
        super().__init__(dimension, elements=1)

    def add(self, name: str, force: Force, first: Sequence[int]) -> None:
        """Take a load in."""
        assert isinstance(force, Load)
        self.take(name, force.force, first)

    def exert(self, elements: Elements, time: float) -> None:
        """Write the forces on the elements."""
        self.update(elements, time)
        load_loop(self.count, self.first, self.value, elements.force)


@kernel
def load_loop(count: int, first: Indices, value: Array, force: Array) -> None:
    """Each load on its element."""
    for n in range(count):
        for c in range(force.shape[1]):
            force[first[n], c] = value[n, c]
