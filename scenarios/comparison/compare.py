"""The comparison itself: the reference, every method at every step, and why the modular ones are off."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from modular.elements import Array
from modular.errors import ModelError
from scenarios.comparison.budget import Budget, budget, check
from scenarios.comparison.by_hand import trace_by_hand
from scenarios.comparison.methods import Method
from scenarios.comparison.plan import Plan, pace
from scenarios.comparison.progress import Job, Watch
from scenarios.comparison.reference import Reference, reference
from scenarios.comparison.running import Failure, carry_through
from scenarios.comparison.trace import Trace, apart, errors, largest_over_ports, trace_of
from scenarios.report.page import quantity
from scenarios.study.fit import Fit, fit_order

CLEAR_ERROR_RATIO = 3.0  # times the doubt of the reference: errors below say nothing about an order
# what a tick costs, or a second of an adaptive solution [ms]: for the bar only
PENALTY_TICK, CENTRAL_TICK, ADAPTIVE_SECOND = 0.15, 4.0, 4000.0


@dataclass(frozen=True)
class Row:
    """A method at one step, held against the reference."""

    method: Method
    dt: float  # [s]; of an adaptive method that at which it is sampled
    outcome: str = "done"  # or "diverged", "refused", "interrupted"
    message: str = ""
    trace: Trace | None = None
    found: dict[str, Any] = field(default_factory=dict)  # see errors in trace.py
    error: Array | None = None  # largest over all ports [m], over time (n,)
    budget: Budget | None = None
    no_budget: str = ""  # why there is none, where one was tried

    @property
    def step(self) -> str:
        """The step as people read it."""
        return "adaptive" if self.method.adaptive else quantity(self.dt, "s")

    @property
    def label(self) -> str:
        """Method and step."""
        return f"{self.method.name}, {self.step}"


@dataclass(frozen=True)
class Comparison:
    """All rows, in the order in which they were asked for, each method from its coarsest step to its finest."""

    plan: Plan
    reference: Reference
    rows: tuple[Row, ...]

    @property
    def done(self) -> list[Row]:
        """Rows that came to their end."""
        return [row for row in self.rows if row.outcome == "done"]

    @property
    def budgets(self) -> list[tuple[Row, Budget]]:
        """Rows whose error is split."""
        return [(row, row.budget) for row in self.rows if row.budget is not None]

    @property
    def interrupted(self) -> bool:
        """Whether some rows were given up."""
        return any(row.outcome == "interrupted" for row in self.rows)

    def order(self, method: Method) -> Fit | None:
        """The order of the largest error; None where fewer than two steps tell."""
        least = CLEAR_ERROR_RATIO * self.reference.sure
        rows = [row for row in self.done if row.method == method and row.found["error"] > least]
        return fit_order([row.dt for row in rows], [row.found["error"] for row in rows]) if len(rows) > 1 else None


def compare(plan: Plan, watch: Watch | None = None, *, budgets: bool = True) -> Comparison:
    """Carry a plan out; `watch` is told of every job. Ctrl-C keeps what is done once the reference is there."""
    watch = watch or Watch()
    cells = [(method, dt) for method in plan.methods for dt in _steps_of(method, plan)]
    split = [budgets and method.modular for method, _ in cells]
    first = Job("reference", 2.0 * ADAPTIVE_SECOND * plan.until)
    jobs = [Job(_label(method, dt), _cost(method, dt, plan)) for method, dt in cells]
    later = [Job(f"why {job.name} errs", 3.0 * ADAPTIVE_SECOND * plan.until) for job in jobs]
    watch.begin([first, *(job for k, pair in enumerate(zip(jobs, later, strict=True)) for job in pair[: 1 + split[k]])])
    with watch.on(first) as share:
        truth = reference(plan.assembly, plan.until, plan.times, steps=plan.steps, method=plan.reference, share=share)
    rows: list[Row] = []
    try:
        for (method, dt), job, why, wanted in zip(cells, jobs, later, split, strict=True):
            with watch.on(job) as share:
                row, run = _row(plan, method, dt, truth, share)
                job.outcome = _describe(row)
            rows.append(row)
            if not wanted:
                continue
            with watch.on(why) as share:
                rows[-1] = _with_budget(plan, row, run, truth, share)
    except KeyboardInterrupt:
        rows += [Row(method, dt, "interrupted", "not run.") for method, dt in cells[len(rows) :]]
    return Comparison(plan, truth, tuple(rows))


def _steps_of(method: Method, plan: Plan) -> Iterator[float]:
    if method.adaptive:
        yield pace(plan.assembly, plan.interval, plan.steps)
    else:
        yield from plan.steps


def _row(plan: Plan, method: Method, dt: float, truth: Reference, share: Any) -> tuple[Row, Any]:
    """A method at a step, and its run where it has one."""
    run = None
    try:
        if method.text is None:
            trace = trace_by_hand(method, plan, dt)
        else:
            run = carry_through(plan.assembly, dt, method.coupling, plan.interval, plan.samples, share)
            trace = trace_of(run, plan.interval, plan.samples)
    except Failure as failure:
        return Row(method, dt, failure.outcome, failure.reason), None
    error = largest_over_ports(apart(trace.positions, truth.positions))
    return Row(method, dt, trace=trace, found=errors(trace.positions, truth.positions), error=error), run


def _with_budget(plan: Plan, row: Row, run: Any, truth: Reference, share: Any) -> Row:
    """The row with its budget, or with the reason why there is none."""
    if run is None:
        return row
    try:
        check(plan.assembly)
        coupling: Any = row.method.coupling
        found = budget(plan.assembly, row.dt, plan.until, coupling, plan.times, truth.positions, run=run, share=share)
    except ModelError as error:
        return replace(row, no_budget=str(error))
    return replace(row, budget=found)


def _label(method: Method, dt: float) -> str:
    return Row(method, dt).label


def _describe(row: Row) -> str:
    """What a line says of a row that has just been computed."""
    if row.outcome != "done" or row.trace is None:
        return row.outcome
    return f"error {quantity(row.found['error'], 'm')}, {row.trace.steps:,} steps in {row.trace.seconds:.3g} s"


def _cost(method: Method, dt: float, plan: Plan) -> float:
    if method.adaptive:
        return ADAPTIVE_SECOND * plan.until
    tick = PENALTY_TICK if method.modular or method.text is None else CENTRAL_TICK
    return tick * round(plan.until / dt)
