"""One method run to its end, and what goes wrong on the way as a sentence."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from modular.errors import CouplingError, Diverged, ModelError
from scenarios.report.said import said_already

if TYPE_CHECKING:
    from coordinator.couplings import Coupling
    from coordinator.record.run import Run
    from modular.assembly import Assembly

MAX_SAMPLES, MAX_BODY_SAMPLES = 20_000, 400_000  # most samples of a run, and most of all bodies together

Share = Callable[[float], None]  # told how much of a job is done, 0 ... 1


class Failure(Exception):
    """A method that does not come to its end on this model: "diverged" or "refused", and why."""

    def __init__(self, outcome: str, reason: str) -> None:
        super().__init__(reason)
        self.outcome = outcome
        self.reason = reason


def carry_through(
    assembly: Assembly, dt: float, coupling: Coupling, interval: float, samples: int, share: Share
) -> Run:
    """The run of a coupling over all common times, recorded at every tick or as often as memory is reasonable."""
    from coordinator.simulation import Simulation

    between = round(interval / dt)
    until = samples * interval
    try:
        with Simulation(
            assembly, dt, coupling, record_every=_every(between, samples, len(assembly.bodies))
        ) as simulation:
            with said_already():
                simulation.run(until, progress=lambda now: share(now.time / until))
            run = simulation.recorded
    except Diverged as error:
        raise Failure("diverged", str(error)) from error
    except (ModelError, CouplingError, MemoryError, ArithmeticError, np.linalg.LinAlgError) as error:
        raise Failure("refused", str(error) or type(error).__name__) from error
    lost = np.flatnonzero(~np.isfinite(run.energy))
    if lost.size:
        raise Failure("diverged", f"the energy is no longer finite at {run.time[lost[0]]:g} s.")
    return run


def _every(between: int, samples: int, bodies: int) -> int:
    """Ticks from one sample to the next: a divisor of the ticks between two common times."""
    most = max(min(MAX_SAMPLES, MAX_BODY_SAMPLES // max(bodies, 1)) // samples, 1)
    return next(every for every in range(1, between + 1) if between % every == 0 and between // every <= most)
