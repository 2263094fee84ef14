"""A run held against one at twice its step: how far it is off, also where its samples do not tell.

An error c h^p makes x_2h - x_h = c h^p (2^p - 1) (L. F. Richardson, as in verification.py). That sees errors that grow because the
motion is sensitive, and the constant of a method in this motion; it costs half a run. With S what samples tell (record/verdict.py)
and d the largest distance of any port between both runs, as shares of the extent, the error is

    d / (2^p - 1)       where d is at most a twentieth: there both motions are still the same one
    max(S, that)        where they have parted, and S tells as much, within a factor of three; and where forces are stiffer than
                        the step: of what both steps damp away their distance tells nothing
    measured            by half the step (verification.py), where S tells less: either the motion is sensitive or twice the step
                        is too long for it, and only a shorter one knows; and where twice the step does not hold
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from coordinator.checks.verification import Verification, at_step, declared_order, largest, last_tick, reach_of
from coordinator.record.repetition import Repeated
from coordinator.record.run import Run
from coordinator.record.verdict import MAX_ERROR_SHARE
from modular.errors import CouplingError, Diverged, ModelError

MAX_DISTANCE_SHARE = 0.05  # of the extent: of motions that are further apart their distance tells no error
AGREEMENT_FACTOR = 3.0  # within which samples and both runs tell the same
SILENT_LIMIT = 1e-2  # of what is held against: an error that samples do not speak of is measured from there on
LOST_SHARE = 0.1  # of the extent: where samples tell so much, nobody has to measure why twice the step does not hold


@dataclass(frozen=True)
class Control:
    """What a run at twice the step says of a run."""

    ticks: int  # as far as it had come
    part: float  # of it that was run again: what comes later is not known
    share: float  # about how far it is off, of the extent
    distance: float | None  # of both runs, of the extent; None where twice the step did not hold
    doubtful: bool = False  # whether only half the step can tell
    measured: Verification | None = None  # by half the step
    coarse: Run | None = field(default=None, repr=False, compare=False)

    def settled(self, found: Verification) -> Control:
        """What half the step has measured."""
        return replace(self, share=min(found.error / found.extent, 1.0), measured=found)

    def to_data(self) -> dict[str, Any]:
        """As it is kept."""
        return {
            "ticks": self.ticks,
            "part": self.part,
            "share": self.share,
            "distance": self.distance,
            "measured": self.measured is not None,
        }


def control(make: Callable[..., Repeated], run: Run, *, stiff: bool = False, part: float = 1.0) -> Control | None:
    """Hold a run against one at twice its step; None where there can be none, or no estimate.

    `make`: how simulations are made (coordinator/record/repetition.py). `stiff`: whether forces are stiffer than the step.
    `part`: of the run, from its start, where all of it would take too long: then it is off by that much at least.
    """
    if len(run) < 2 or not run.estimate or run.obstacles or (order := declared_order(run)) is None:
        return None
    ticks, samples = last_tick(run), float(run.estimate.get("samples", run.estimate["share"]))
    try:
        coarse = at_step(make, run, 2.0, None, part)
    except (Diverged, CouplingError):
        return Control(ticks, part, samples, None, doubtful=samples < LOST_SHARE)
    except ModelError:  # what happens at times between two of its ticks
        return None
    extent, reach = reach_of(run)
    distance = largest(coarse, run)[0] / extent
    told = distance / (2.0**order - 1.0)
    parted = distance > MAX_DISTANCE_SHARE
    silent = samples <= MAX_ERROR_SHARE and told > SILENT_LIMIT * reach / extent
    doubtful = silent or (parted and AGREEMENT_FACTOR * samples < told)
    share = max(samples, told) if parted or stiff or part < 1.0 else told
    return Control(ticks, part, min(share, 1.0), distance, doubtful, coarse=coarse)
