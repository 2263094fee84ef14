"""What a study is held against where nothing else is asked for."""

from __future__ import annotations

from dataclasses import dataclass

from scenarios.settings import read_coupling

ADAPTIVE = "centralized(solver=minimalcoordinates(method=DOP853, rtol=1e-12, atol=1e-12))"
PLAIN = "penalty"
EXACT_TOLERANCE = 1e-9  # relative, of what is called exact
REFERENCE_REFINEMENT = 4  # the reference of a fixed step takes this part of the smallest step


@dataclass(frozen=True)
class Reference:
    """A coupling as it is typed, and its step [s]."""

    coupling: str
    dt: float

    @property
    def exact(self) -> bool:
        """Whether its own error is far below that of any case: an adaptive method, to many digits, in coordinates that fit."""
        from coordinator.couplings import Centralized
        from coordinator.couplings.centralized import MinimalCoordinates, explicit

        coupling = read_coupling(self.coupling, None)
        solver = coupling.solver if isinstance(coupling, Centralized) else None
        return (
            isinstance(solver, MinimalCoordinates)
            and solver.method in explicit.ADAPTIVE
            and solver.rtol <= EXACT_TOLERANCE
        )
