"""What forces from outside share: a value over time per row, and a ledger that says where the energy came from."""

from __future__ import annotations

from collections.abc import Sequence

from components.forces.values import Signals, Value
from modular.elements import Array, Elements
from modular.ledger import Booked, supply_loop


class External(Booked):
    """Forces from outside on one port each; a subclass says how a value acts on the elements."""

    value: Array  # [N] or [N m]

    def __init__(self, width: int, elements: int) -> None:
        super().__init__()
        self.column("value", width)
        self.signals = Signals()
        self.elements = elements  # rows of the exchange that each one serves

    def take(self, name: str, value: Value, first: Sequence[int]) -> None:
        """Take a value in."""
        row = self.add_row(name)
        self.first[row] = self.second[row] = first[0]
        self.signals.add(name, value, self.value[row])

    def remove(self, name: str) -> None:
        """Let it go."""
        self.signals.remove(name)
        self.remove_row(name)

    def update(self, elements: Elements, time: float) -> None:
        """Values of tables and laws at this time and state."""
        rows = self.first[: self.count].tolist()
        self.signals.update(self.row, self.value, time, elements.position, elements.current_velocity, rows)

    @property
    def turns(self) -> bool:
        """It asks nothing."""
        return False

    def ask(self, elements: Elements, dt: float) -> None:
        """A force from outside is no spring: it asks nothing of the step."""

    def account(self, elements: Elements, dt: float) -> None:
        """Book the work of the tick that has just passed."""
        supply_loop(
            self.count, self.first, self.elements, dt, elements.force, elements.force_before, elements.velocity,
            elements.velocity_before, self.ledger,
        )  # fmt: skip
