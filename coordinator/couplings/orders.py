"""Of which order in the step a run can be: that of its coupling, or less, where forces begin, end or bend within ticks."""

from __future__ import annotations

from collections.abc import Iterator

from coordinator.couplings.coupling import Coupling
from modular.assembly import Assembly
from modular.events import Apply
from modular.force import Force
from modular.tiles import kinds_of


def order_of(coupling: Coupling, *models: Assembly) -> int | None:
    """The least of all; None where the coupling chooses steps of its own, which follow what happens within a tick."""
    declared = coupling.declared_order
    if declared is None:
        return None
    orders = (coupling.order_beside(force) for model in models for force in forces_of(model))
    return min([declared, *(order for order in orders if order is not None)])


def forces_of(model: Assembly) -> Iterator[Force]:
    """Those that act, and those that are to come."""
    yield from (edge.force for edge in kinds_of(model.force_edges))
    for scheduled in model.schedule:
        yield from (event.force for event in scheduled.events if isinstance(event, Apply))
