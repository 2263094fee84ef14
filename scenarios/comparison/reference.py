"""What is taken for the truth: the most exact solution that the model admits, and how sure it is.

The first of these that comes to its end, each computed twice, so that its own error is known from the difference:

1. independent coordinates, integrated adaptively to twelve digits (no error of constraints at all);
2. where they are refused or stop (non-holonomic joints, singular configurations) or would take too long (many bodies):
   accelerations of the constrained system, integrated adaptively to eleven digits, their constraints held by Baumgarte's method;
3. where that stops too, or two tolerances disagree: H.H.T. with two steps, extrapolated to none (Richardson).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np

from modular.elements import Array
from modular.errors import ModelError
from scenarios.comparison.methods import Method
from scenarios.comparison.plan import pace
from scenarios.comparison.running import Failure, Share, carry_through
from scenarios.comparison.trace import Positions, apart, largest_over_ports, ports_of
from scenarios.report.page import peak, quantity

if TYPE_CHECKING:
    from coordinator.record.run import Run
    from modular.assembly import Assembly

MAX_BODIES = 30  # bodies from which on independent coordinates take too long
REFERENCE_AGREEMENT = 1e-6  # [m]: two tolerances that differ by more call for another reference
MAX_TICKS = 20_000  # most steps of the finer run that is extrapolated

EXACT = "centralized(solver=minimalcoordinates(method=DOP853, rtol=1e-12, atol=1e-12))"
CONSTRAINED = "centralized(solver=baumgarte(method=DOP853, rtol=1e-11, atol=1e-12))"
FIXED = "centralized(solver=hht(alpha=0.1))"
LOOSER_TOLERANCE_FACTOR = 10.0  # the second tolerance, in multiples of the first


@dataclass(frozen=True)
class Reference:
    """Positions of all ports at the common times, and what they rest on."""

    times: Array  # [s], (n,)
    positions: Positions
    text: str  # the coupling
    how: str  # a sentence
    uncertainty: Array  # largest distance between its two computations, over all ports [m], (n,)
    run: Run
    passed_over: tuple[str, ...] = ()  # what was tried before, and why it was not taken

    @property
    def sure(self) -> float:
        """Its own error is about this or less [m]."""
        return peak(self.uncertainty)


def reference(
    assembly: Assembly,
    until: float,
    times: Array,
    *,
    steps: Sequence[float] = (),
    method: Method | None = None,
    share: Share = lambda part: None,
) -> Reference:
    """The truth at `times` [s], evenly spaced from 0 to `until`.

    steps: of the runs that are compared [s], coarsest first; they say how closely events are watched. method: taken in place
    of the best there is.
    """
    samples = len(times) - 1
    interval = until / samples
    dts = tuple(steps) or (interval,)
    job = _Job(assembly, interval, samples, times, pace(assembly, interval, dts), dts[-1], share)
    if method is not None:
        try:
            return job.adaptive(method.text or "", job.share) if method.adaptive else job.stepped(method.text or "")
        except Failure as failure:
            raise ModelError(
                f"--reference {method.name} does not finish, so there is nothing to compare with: {failure.reason}"
            ) from None
    return _best(job)


def _best(job: _Job) -> Reference:
    passed: list[str] = []
    refusals: list[str] = []
    unsure: list[Reference] = []
    tries: list[tuple[str, Callable[[], Reference]]] = [
        ("independent coordinates", lambda: job.adaptive(EXACT, job.share)),
        ("constrained accelerations", lambda: job.adaptive(CONSTRAINED, job.share)),
        ("H.H.T.", lambda: job.extrapolated(FIXED)),
    ]
    if len(job.assembly.bodies) > MAX_BODIES:
        passed.append(f"independent coordinates take too long for more than {MAX_BODIES} bodies.")
        tries = tries[1:]
    for name, compute in tries:
        try:
            found = compute()
        except Failure as failure:
            passed.append(f"{name}: {failure.reason}")
            refusals.append(failure.reason)
            continue
        unsure.append(found)
        if found.sure <= REFERENCE_AGREEMENT:
            break
        passed.append(f"{name}: two computations differ by {quantity(found.sure, 'm')}.")
    if not unsure and len(refusals) > 1 and len(set(refusals)) == 1:
        # it lies with the model, and no other method helps
        raise ModelError(f"there is no reference for this model: {refusals[0]}")
    if not unsure:
        raise ModelError(
            "there is no reference for this model: "
            + " ".join(passed)
            + " Name a method with --reference, or end earlier with "
            "--until."
        )
    chosen = min(unsure, key=lambda one: one.sure)
    mine = {EXACT: "independent", CONSTRAINED: "constrained", FIXED: "H.H.T."}[chosen.text]
    return replace(chosen, passed_over=tuple(p for p in passed if not p.startswith(mine) or "differ" not in p))


@dataclass(frozen=True)
class _Job:
    """What every kind of reference needs."""

    assembly: Assembly
    interval: float  # [s]
    samples: int
    times: Array
    pace: float  # ticks of an adaptive solution [s]
    finest: float  # step of the runs that are compared [s]
    share: Share

    def adaptive(self, text: str, share: Share) -> Reference:
        """With its tolerances, and with ten times larger ones."""
        coupling: Any = Method("", text).coupling
        solver = coupling.solver
        loose = replace(
            coupling,
            solver=replace(
                solver, rtol=LOOSER_TOLERANCE_FACTOR * solver.rtol, atol=LOOSER_TOLERANCE_FACTOR * solver.atol
            ),
        )
        coarse = carry_through(
            self.assembly, self.pace, loose, self.interval, self.samples, lambda done: share(0.4 * done)
        )
        fine = carry_through(
            self.assembly, self.pace, coupling, self.interval, self.samples, lambda done: share(0.4 + 0.6 * done)
        )
        how = (
            f"{solver.method} chose its own steps to a tolerance of {solver.rtol:g}; "
            f"again with {LOOSER_TOLERANCE_FACTOR * solver.rtol:g}"
        )
        found = self._made(self._positions(fine), self._positions(coarse), text, how, fine)
        size = max(peak(series) for series in found.positions.values())
        # no surer than it was asked to be
        return replace(found, uncertainty=np.fmax(found.uncertainty, solver.rtol * size))

    def stepped(self, text: str) -> Reference:
        """A fixed step, half of the finest that is compared, and that step itself."""
        coarse, fine = self._two(text, self.finest)
        how = f"steps of {quantity(fine.dt, 's')}; again with {quantity(coarse.dt, 's')}"
        return self._made(self._positions(fine), self._positions(coarse), text, how, fine)

    def extrapolated(self, text: str) -> Reference:
        """Two steps of a method of second order, extrapolated; its doubt is all that the extrapolation changes."""
        ticks = max(MAX_TICKS // 2 // self.samples, 1)  # from one common time to the next, in the coarser run
        at_most = max(round(self.interval / self.finest), 1)
        coarse, fine = self._two(text, self.interval / min(ticks, at_most))
        one, two = self._positions(coarse), self._positions(fine)
        limit = {port: (4.0 * two[port] - one[port]) / 3.0 for port in two}
        how = (
            f"steps of {quantity(coarse.dt, 's')} and {quantity(fine.dt, 's')}, extrapolated to none; they are moved by"
        )
        return self._made(limit, two, text, how, fine)

    def _two(self, text: str, dt: float) -> tuple[Run, Run]:
        dt = self.interval / ceil(self.interval / dt * (1 - 1e-9))
        first, second = (
            carry_through(self.assembly, step, Method("", text).coupling, self.interval, self.samples, share)
            for step, share in (
                (dt, lambda done: self.share(done / 3.0)),
                (0.5 * dt, lambda done: self.share((1.0 + 2.0 * done) / 3.0)),
            )
        )
        return first, second

    def _positions(self, run: Run) -> Positions:
        every = round(self.interval / (run.dt * float(run.ticks[1] - run.ticks[0])))
        return ports_of(run, every * np.arange(self.samples + 1))

    def _made(self, positions: Positions, other: Positions, text: str, how: str, run: Run) -> Reference:
        doubt = largest_over_ports(apart(positions, other))
        moved = "it differs by at most" if not how.endswith("moved by") else "at most"
        return Reference(self.times, positions, text, f"{how}: {moved} {quantity(peak(doubt), 'm')}", doubt, run)
