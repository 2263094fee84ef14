"""What checks ask of the simulation that they look over, beside what its record does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol

from coordinator.record.context import RecordContext
from coordinator.record.run import Run

if TYPE_CHECKING:
    from coordinator.checks.run_warnings import WarningMemory


class CheckContext(RecordContext, Protocol):
    """A simulation, as checks see it."""

    @property
    def bound_for(self) -> int:
        """The tick to which it runs."""

    @property
    def margins(self) -> Mapping[str, float]:
        """Stability margins of joints and springs, under the loads of now."""

    @property
    def stiffness_margins(self) -> Mapping[str, float]:
        """What their stiffness alone leaves."""

    @property
    def loads(self) -> Mapping[str, str]:
        """Of joints whose margin is what a load leaves: the body that passes it on."""

    @property
    def recorded(self) -> Run:
        """What was recorded."""

    @property
    def warning_memory(self) -> WarningMemory:
        """Who looks ahead."""

    @property
    def is_distributed(self) -> bool:
        """Whether workers have it now."""
