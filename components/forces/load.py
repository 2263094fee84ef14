"""A load: an external force on a port, in world axes."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Self

from components.forces.values import Signals, Value, check_value
from modular.elements import Array, Elements, Indices
from modular.errors import ModelError
from modular.force import Force
from modular.kernel import kernel
from modular.ledger import Booked, supply_loop
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


class Loads(Booked):
    """External forces, one row each."""

    force: Array  # [N]

    def __init__(self, dimension: int) -> None:
        super().__init__()
        self.column("force", dimension)
        self.signals = Signals()

    def add(self, name: str, force: Force, first: Sequence[int]) -> None:
        """Take a load in."""
        assert isinstance(force, Load)
        row = self.add_row(name)
        self.first[row] = self.second[row] = first[0]
        self.signals.add(name, force.force, self.force[row])

    def remove(self, name: str) -> None:
        """Let it go."""
        self.signals.remove(name)
        self.remove_row(name)

    def exert(self, elements: Elements, time: float) -> None:
        """Write the forces on the elements."""
        self.signals.update(
            self.row, self.force, time, elements.position, elements.current_velocity, self.first[: self.count].tolist()
        )
        load_loop(self.count, self.first, self.force, elements.force)

    @property
    def turns(self) -> bool:
        """It asks nothing."""
        return False

    def ask(self, elements: Elements, dt: float) -> None:
        """A load is no spring: it asks nothing of the step."""

    def account(self, elements: Elements, dt: float) -> None:
        """Book the work of the tick that has just passed."""
        supply_loop(
            self.count, self.first, 1, dt, elements.force, elements.force_before, elements.velocity,
            elements.velocity_before, self.ledger,
        )  # fmt: skip


@kernel
def load_loop(count: int, first: Indices, value: Array, force: Array) -> None:
    """Each load on its element."""
    for n in range(count):
        for c in range(force.shape[1]):
            force[first[n], c] = value[n, c]
