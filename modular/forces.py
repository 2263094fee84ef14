"""The stack of forces of one kind: what all of them do alike, where loops move their numbers."""

from __future__ import annotations

from modular.elements import GAIN_STEP, STEP, TIME, Elements
from modular.ledger import Booked


class ForceStack(Booked):
    """Forces of one kind, a row each.

    A subclass declares its columns and names its loops: exert, account, and request_load with compute_margin.
    """

    @property
    def turns(self) -> bool:
        """Whether what it asks of the step changes as bodies move."""
        return True

    def remove(self, name: str) -> None:
        """Let it go."""
        self.remove_row(name)

    def exert(self, elements: Elements, time: float) -> None:
        """Write the forces on the elements."""
        elements.clock[TIME] = time
        self.play("exert", elements)

    def request_load(self, elements: Elements, dt: float) -> None:
        """Tell the bodies what its springs and dampers ask of a step; mere loads have no loop for that."""
        elements.clock[GAIN_STEP] = dt
        if "request_load" in self.loops:
            self.play("request_load", elements)

    def account(self, elements: Elements, dt: float) -> None:
        """Book the tick that has just passed."""
        elements.clock[STEP] = dt
        self.play("account", elements)
