"""What checks ask of the simulation that they look over."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol

from coordinator.couplings.coupling import Coupling
from coordinator.record.past import Past
from coordinator.record.recorder import Recorder
from coordinator.record.run import Run
from coordinator.system import System
from modular.assembly import Assembly

if TYPE_CHECKING:
    from coordinator.checks.foretelling import Foreteller


class CheckContext(Protocol):
    """A simulation, as checks see it."""

    @property
    def assembly(self) -> Assembly:
        """The model as it is now."""

    @property
    def system(self) -> System:
        """What moves."""

    @property
    def coupling(self) -> Coupling:
        """How components get through a tick together."""

    @property
    def dt(self) -> float:
        """The step [s]."""

    @property
    def tick(self) -> int:
        """Ticks so far."""

    @property
    def time(self) -> float:
        """[s]."""

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
    def recorder(self) -> Recorder:
        """Where samples go."""

    @property
    def recorded(self) -> Run:
        """What was recorded."""

    @property
    def past(self) -> Past:
        """What it remembers beside its samples."""

    @property
    def foreteller(self) -> Foreteller:
        """Who looks ahead."""

    @property
    def is_distributed(self) -> bool:
        """Whether workers have it now."""
