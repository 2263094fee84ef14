"""How far a run is off, measured: the same once more at half the step, and at twice the step for the order in which errors fall.

With x_h the run, an error c h^p makes x_h - x_(h/2) = c h^p (1 - 2^-p), and the ratio of x_2h - x_h to it 2^p (L. F. Richardson,
"The approximate arithmetical solution by finite differences", Phil. Trans. R. Soc. A 210 (1911) 307-357). Where the order that is
measured is far from the declared one, the step is too long for such words, or something in the model follows ticks and not time.

`control` holds a run against one at twice its step alone: how far it is off, also where its samples do not tell. That sees errors
that grow because the motion is sensitive, and the constant of a method in this motion; it costs half a run. With S what samples
tell (record/verdict.py) and d the largest distance of any port between both runs, as shares of the extent, the error is

    d / (2^p - 1)       where d is at most a twentieth: there both motions are still the same one
    max(S, that)        where they have parted, and S tells as much, within a factor of three; and where forces are stiffer than
                        the step: of what both steps damp away their distance tells nothing
    measured            by half the step, where S tells less: either the motion is sensitive or twice the step is too long for it,
                        and only a shorter one knows; and where twice the step does not hold
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from math import log2
from typing import Any

import numpy as np

from coordinator.couplings.compositions import order_of
from coordinator.record.obstacles import Repeated, coupling_of, prepared
from coordinator.record.run import Run
from coordinator.record.verdict import MAX_ERROR_SHARE, MAX_ERROR_SHARE_OF_MOTION, Estimate
from modular.assembly import Assembly
from modular.elements import Array
from modular.errors import CouplingError, Diverged, ModelError, RunWarning

RELATIVE_ROUNDING = 1e-10  # of the extent: differences below say nothing of an order
MAX_ORDER_DEVIATION = 0.5  # of an order, from the declared one
REPORTED_ERROR_SHARE = 1e-2  # of the extent: more should be known to whoever runs it
# and so many times that of how far anything moves
MOTION_ERROR_FACTOR = MAX_ERROR_SHARE_OF_MOTION / REPORTED_ERROR_SHARE
Progress = Callable[[Any], None]  # called with the simulation that runs


@dataclass(frozen=True)
class Verification:
    """What a run at half the step, and one at twice the step, say of a run."""

    ticks: int  # as far as it had come
    error: float  # the largest, over all ports and samples [m]
    extent: float  # of the model [m]; 1 m where it says nothing
    reach: float  # the same, or where little moves five times how far anything does [m]
    port: str  # where it is largest
    time: float  # and when [s]
    order: float | None  # as measured; None where twice the step could not be taken, or nothing is off
    declared: int | None  # of the coupling among these forces
    dt: float  # of the run [s]
    end: float  # of the run [s]
    followed: float  # until when no port is off by more than a hundredth of that reach [s]

    @property
    def share(self) -> float:
        """Of the extent of the model."""
        return self.error / self.extent

    @property
    def held(self) -> str:
        """The error, held against the extent or against how far anything moves."""
        if self.reach < self.extent:
            return f"{self.error / self.reach * MOTION_ERROR_FACTOR:.2g} of how far anything moves"
        return f"{self.share:.2g} of the extent"

    @property
    def limit(self) -> str:
        """What counts as little of it."""
        return "a twentieth of it" if self.reach < self.extent else "a hundredth of it"

    @property
    def as_declared(self) -> bool:
        """Whether errors fall as they should, as far as that could be measured."""
        return self.order is None or self.declared is None or self.order > self.declared - MAX_ORDER_DEVIATION

    @property
    def too_much(self) -> bool:
        """Whether whoever runs it should know."""
        return self.followed < self.end

    def __str__(self) -> str:
        text = f"{self.error:.2g} m, {self.held}, at {self.port} at {self.time:.6g} s"
        if self.too_much:
            text += f"; within {self.limit} until {self.followed:.6g} s"
        if self.order is None:
            return text
        text += f"; of order {self.order:.1f} in the step"
        if not self.as_declared:
            text += f", but order {self.declared} is expected: confirm the result with a smaller step"
        return text

    def sentence(self, estimate: Estimate, words: Callable[[float], str] = "{:.2g}".format) -> str:
        """What it means where that is too much, and what helps; `estimate`: what it comes from; `words`: of a step."""
        off = f"measured, the run is off by {self.error:.2g} m, {self.held} of the model"
        if self.reach < self.extent:
            off = f"measured, the run is off by {self.error:.2g} m, {self.held}"
        off += f", and by less than {self.limit} until {self.followed:.6g} s"
        if self.order is None or not self.as_declared or self.order < MAX_ORDER_DEVIATION:
            return (
                f"{off}. Errors do not decrease with the step at the expected order: trust the run only up to that "
                "time. Where a shorter step helps little, the motion is too sensitive to be predicted further."
            )
        step = self.dt * (0.1 * REPORTED_ERROR_SHARE * self.reach / self.error) ** (1.0 / self.order)
        return f"{off}: {estimate.why(self.dt)}. Remedy: {estimate.remedy(step, words)}."

    def to_data(self) -> dict[str, Any]:
        """As it stands beside a run."""
        return {**vars(self), "share": self.share, "words": str(self)}


def verify(
    make: Callable[..., Repeated], run: Run, *, progress: Progress | None = None, coarse: Run | None = None
) -> Verification:
    """Measure the error of a run; refused where it cannot be repeated, or does not hold at half the step.

    `make`: how simulations are made (coordinator/record/obstacles.py). `coarse`: the one at twice the step, where that is there.
    """
    if len(run) < 2:
        raise ModelError("verify: the run has fewer than two samples; run it first.")
    extent, reach = reach_of(run)
    try:
        fine = at_step(make, run, 0.5, progress)
    except (Diverged, CouplingError) as error:
        raise ModelError(f"verify: the run fails at half the step: {error}") from error
    near, port, time = largest(run, fine)
    declared = declared_order(run)
    order = measured_order(make, run, fine, extent, progress, coarse)
    believed = (
        order
        if order is not None and declared is not None and abs(order - declared) < MAX_ORDER_DEVIATION
        else declared or 2
    )
    off = near * 2.0**believed / (2.0**believed - 1.0)
    share = REPORTED_ERROR_SHARE * reach * near / off if off > 0.0 else 0.0  # of what both runs differ by
    followed, end = parted(run, fine, share), float(run.time[-1])
    return Verification(last_tick(run), off, extent, reach, port, time, order, declared, run.dt, end, followed)


def measured_order(
    make: Callable[..., Repeated],
    run: Run,
    fine: Run,
    extent: float,
    progress: Progress | None,
    coarse: Run | None,
) -> float | None:
    """From a run at twice the step as well; None where that cannot be had, or all agree to rounding."""
    try:
        coarse = at_step(make, run, 2.0, progress) if coarse is None else coarse
    except (Diverged, CouplingError, ModelError):
        return None
    far, near = spread_of(coarse, run), spread_of(run, fine, like=coarse)
    if not (near > RELATIVE_ROUNDING * extent and np.isfinite(far) and far > 0.0):
        return None
    return log2(far / near)


def at_step(make: Callable[..., Repeated], run: Run, ratio: float, progress: Progress | None, part: float = 1.0) -> Run:
    """The same at another step, as far as the run has come or a part of that; samples at the same times where there are any."""
    every = run.settings.get("record_every", 1)
    dt = ratio * run.dt
    ticks = int(part * last_tick(run) / ratio)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RunWarning)
        with prepared(
            make, run, model=paced(run.assembly(), ratio, run.dt), dt=dt, record_every=max(1, round(every / ratio))
        ) as simulation:
            simulation.run(ticks * dt, progress=progress)
            return simulation.recorded


def paced(model: Assembly, ratio: float, dt: float) -> Assembly:
    """The model for another step: who is asked every so many ticks is asked at the same times, and events fall on ticks."""
    for scheduled in model.schedule:
        if ratio > 1.0 and scheduled.time is not None and abs((k := scheduled.time / (ratio * dt)) - round(k)) > 1e-6:
            raise ModelError(f"the event at {scheduled.time:g} s falls between two ticks of {ratio * dt:g} s.")
    for name, edge in model.force_edges.items():
        every = getattr(edge.force, "every", None)
        if every is not None and getattr(edge.force, "period", None) is None:
            if (every / ratio) % 1.0:
                raise ModelError(
                    f"'{name}' is evaluated every {every} ticks, which is not a whole number of steps of "
                    f"{ratio * dt:g} s."
                )
            asked: Any = edge.force
            model.force_edges[name] = replace(edge, force=replace(asked, every=int(every / ratio)))
    return model


def reach_of(run: Run) -> tuple[float, float]:
    """The extent of its model, and what errors are held against: the same, or where little moves five times how far that is [m]."""
    if not run.estimate:
        return 1.0, 1.0
    extent, little = run.estimate["extent"], run.estimate.get("little", 0.0)
    return extent, min(extent, MOTION_ERROR_FACTOR * little) if little else extent


def last_tick(run: Run) -> int:
    """How far it has come."""
    return int(run.settings.get("ticks", run.ticks[-1]))


def declared_order(run: Run) -> int | None:
    """Of its coupling, among its forces."""
    return order_of(coupling_of(run), run.assembly())


# --- differences of runs at different steps ------------------------------------------------------------------------------


def apart(first: Run, second: Run, also: Run | None = None) -> tuple[Array, dict[str, Array]]:
    """Times of samples that both (all) have, and how far every port is apart there."""
    unit = min(run.dt for run in (first, second, also or first))
    ticks = [np.round(run.ticks * (run.dt / unit)).astype(np.int64) for run in (first, second, also or first)]
    common = np.intersect1d(np.intersect1d(ticks[0], ticks[1]), ticks[2])
    one, two = (np.searchsorted(x, common) for x in ticks[:2])
    ports = [f"{name}.{port}" for name, body in first.bodies.items() for port in body.port_names]
    gaps = {port: first.position(port)[one] - second.position(port)[two] for port in ports}
    return np.asarray(common * unit), {port: np.linalg.norm(gap, axis=-1) for port, gap in gaps.items()}


def largest(first: Run, second: Run) -> tuple[float, str, float]:
    """The largest distance of any port, which port, and when."""
    times, found = apart(first, second)
    worst = max(found, key=lambda port: float(np.nanmax(found[port], initial=0.0)))
    series = np.nan_to_num(found[worst])
    at = int(np.argmax(series))
    return float(series[at]), worst, float(times[at])


def parted(first: Run, second: Run, limit: float) -> float:
    """Until when no port is further apart than that [s]; to the end, where none ever is."""
    times, found = apart(first, second)
    beyond = np.flatnonzero(np.nan_to_num(np.array(list(found.values()))).max(axis=0) > limit)
    return float(first.time[-1]) if not len(beyond) else float(times[max(beyond[0] - 1, 0)])


def spread_of(first: Run, second: Run, like: Run | None = None) -> float:
    """Root of the mean square over time of the largest distance; at samples that a third run has too."""
    _, found = apart(first, second, like)
    series = np.nan_to_num(np.array(list(found.values()))).max(axis=0)
    return float(np.sqrt(np.square(series).mean()))


MAX_DISTANCE_SHARE = 0.05  # of the extent: of motions that are further apart their distance tells no error
AGREEMENT_FACTOR = 3.0  # within which samples and both runs tell the same
SILENT_LIMIT = 1e-2  # of what is held against: an error that samples do not speak of is measured from there on
LOST_SHARE = 0.1  # of the extent: where samples tell so much, nobody has to measure why twice the step does not hold


@dataclass(frozen=True)
class StepDoubling:
    """What a run at twice the step says of a run."""

    ticks: int  # as far as it had come
    part: float  # of it that was run again: what comes later is not known
    share: float  # about how far it is off, of the extent
    distance: float | None  # of both runs, of the extent; None where twice the step did not hold
    doubtful: bool = False  # whether only half the step can tell
    measured: Verification | None = None  # by half the step
    coarse: Run | None = field(default=None, repr=False, compare=False)

    def settled(self, found: Verification) -> StepDoubling:
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


def control(make: Callable[..., Repeated], run: Run, *, stiff: bool = False, part: float = 1.0) -> StepDoubling | None:
    """Hold a run against one at twice its step; None where there can be none, or no estimate.

    `make`: how simulations are made (coordinator/record/obstacles.py). `stiff`: whether forces are stiffer than the step.
    `part`: of the run, from its start, where all of it would take too long: then it is off by that much at least.
    """
    if len(run) < 2 or not run.estimate or run.obstacles or (order := declared_order(run)) is None:
        return None
    ticks, samples = last_tick(run), float(run.estimate.get("samples", run.estimate["share"]))
    try:
        coarse = at_step(make, run, 2.0, None, part)
    except (Diverged, CouplingError):
        return StepDoubling(ticks, part, samples, None, doubtful=samples < LOST_SHARE)
    except ModelError:  # what happens at times between two of its ticks
        return None
    extent, reach = reach_of(run)
    distance = largest(coarse, run)[0] / extent
    told = distance / (2.0**order - 1.0)
    parted = distance > MAX_DISTANCE_SHARE
    silent = samples <= MAX_ERROR_SHARE and told > SILENT_LIMIT * reach / extent
    doubtful = silent or (parted and AGREEMENT_FACTOR * samples < told)
    share = max(samples, told) if parted or stiff or part < 1.0 else told
    return StepDoubling(ticks, part, min(share, 1.0), distance, doubtful, coarse=coarse)
