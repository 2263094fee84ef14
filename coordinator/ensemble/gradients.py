"""Gradients of what a run comes to, by numbers of the model: central differences over one ensemble.

2 p + 1 variants at order 2, 4 p + 1 at order 4, all at once. Steps are chosen by the size of each number and the order: where
what the difference leaves out and what rounding makes of it are about the same, h = size eps^(1/(order + 1)). At order 4
differences over one step and over two are at hand, and what they differ by tells how far the answer can be believed.

References: W. H. Press and others, Numerical Recipes, 3rd edition (2007), section 5.7.
"""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from coordinator.checks.verification import last_tick
from coordinator.couplings import Coupling
from coordinator.ensemble.ensemble import Ensemble
from coordinator.ensemble.parameters import EVENTS, parameter
from coordinator.ensemble.variants import Variants
from coordinator.record.obstacles import prepared
from coordinator.record.run import Run
from modular.assembly import Assembly
from modular.elements import Array
from modular.errors import ModelError, RunWarning

ROUNDING = 1e-14  # of what a run comes to: its steps round, and joints are closed to about as much
BESIDE = re.compile(r"Ensemble: variant [1-9]")  # what is said of others than the model itself
DIFFERENCES, EXACT = "differences", "exact"
PLACES = {1: (1,), 2: (-1, 1), 4: (-2, -1, 1, 2)}  # in steps
LEFT_OUT = 1e-8  # of the largest derivative: where differences leave out more, they are taken over a shorter step
LEAST_SHARE = 1e-8  # of what they left out: no step becomes shorter than a hundredth
DOUBTFUL = 1e-3  # of the largest derivative of an answer: what both orders may differ by before that is said

Numbers = Mapping[str, float]  # numbers of the model that go together, and how fast
By = Sequence[str] | Mapping[str, Numbers]
Of = Callable[[Run], Any]


@dataclass(frozen=True)
class Gradient:
    """What a run comes to, and how that changes with each number."""

    names: tuple[str, ...]
    value: Array  # (…)
    jacobian: Array  # (…, names)
    error: Array  # about how far that is off, (…, names); NaN at orders 1 and 2, which do not know
    steps: Array  # of each number, (names,)
    # of exact tangents over the second half of the run, (names,)
    growth: Array = field(default_factory=lambda: np.empty(0))

    def of(self, name: str) -> Array:
        """By one of them."""
        return np.asarray(self.jacobian[..., self.names.index(name)])


def gradient(
    model: Assembly | Run,
    dt: float | None = None,
    coupling: Coupling | str | None = None,
    *,
    of: Of,
    by: By,
    until: float | None = None,
    order: int = 4,
    record_every: int | None = None,
    method: str = DIFFERENCES,
) -> Gradient:
    """How what `of` says of a run changes with numbers of the model.

    `model`: of a run that is there, its model, step, coupling, end and samples are known: gradient(run, of=…, by=…). `of`: a
    function of a run, such as `lambda run: run.position("lower.end")[-1]`. `by`: names of single numbers, or a name of your own for
    several that change together: {"length": {"upper.end.0": 1.0, "lower.start.0": 1.0}}. `method`: "differences" over an ensemble,
    or "exact", by tangents beside one run, where `coupling` is Formulas().
    """
    if isinstance(model, Run):
        until = last_tick(model) * model.dt if until is None else until
        model, its_dt, its_coupling, its_every = prepared(_as_it_was_run, model)
        dt, coupling = its_dt if dt is None else dt, its_coupling if coupling is None else coupling
        record_every = its_every if record_every is None else record_every
    if not isinstance(model, Assembly):
        raise ModelError(
            f"gradient: {model!r} is neither a model nor a run; load a ready system with scenarios.load('double-pendulum')."
        )
    if dt is None or until is None:
        raise ModelError("gradient: give dt, the step, and until, the end [s]; of a run that is there both are known.")
    ways = directions(model, by)
    found = derivatives(
        model, dt, coupling, of, ways, np.zeros(len(ways)), until, order, 1 if record_every is None else record_every, method
    )  # fmt: skip
    if method == DIFFERENCES:
        _say_doubts(found)
    return found


def _as_it_was_run(
    model: Assembly, dt: float, coupling: Coupling, *, record_every: int, project_velocities: bool, **others: Any
) -> tuple[Assembly, float, Coupling, int]:
    """What a run was run with."""
    if project_velocities:
        raise ModelError(
            "gradient: velocities of this run were projected where it began; give a model whose velocities fit its joints."
        )
    return model, dt, coupling, record_every


@dataclass(frozen=True)
class Objective:
    """What `scipy.optimize` asks for: x to the value and its gradient (`jac=True`); `start` are the numbers of the model."""

    model: Assembly
    dt: float
    coupling: Coupling | str | None
    of: Of
    by: By
    until: float
    order: int = 4
    record_every: int = 1
    method: str = DIFFERENCES
    # code that models with other numbers have in common
    _shared: dict[str, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    def start(self) -> Array:
        """The numbers as the model has them; of several that change together, 0."""
        if isinstance(self.by, Mapping):
            return np.zeros(len(self.by))
        return np.array([float(parameter(self.model, name).of(self.model)) for name in self.by])

    def __call__(self, x: Any) -> tuple[float, Array]:
        """One number, and its derivatives."""
        ways, offsets = directions(self.model, self.by), np.asarray(x, float) - self.start
        found = derivatives(
            self.model,
            self.dt,
            self.coupling,
            self.of,
            ways,
            offsets,
            self.until,
            self.order,
            self.record_every,
            self.method,
            self._shared,
        )
        if found.value.shape:
            raise ModelError(
                f"Objective: of(run) has shape {found.value.shape}; the objective must be one number, such as "
                "run.position('lower.end')[-1, 0] ** 2."
            )
        return float(found.value), found.jacobian


def directions(model: Assembly, by: By) -> dict[str, dict[str, float]]:
    """Numbers that change together, by the name of each; refused where they are no single numbers, or move no less than a tick."""
    if isinstance(by, str) or not by:
        raise ModelError(
            f"gradient: by = {by!r}; give names of numbers, such as ['upper.masses.0', 'spring.stiffness']."
        )
    twice = [name for name, count in Counter(by).items() if count > 1] if not isinstance(by, Mapping) else []
    if twice:
        raise ModelError(f"gradient: by names '{twice[0]}' twice; name each number once.")
    ways = (
        {name: dict(each) for name, each in by.items()}
        if isinstance(by, Mapping)
        else {name: {name: 1.0} for name in by}
    )
    for name, together in ways.items():
        for each in together:
            found = parameter(model, each)
            value = found.of(model)
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise ModelError(f"gradient: '{each}' is {value!r}; name a single number, such as '{each}.0'.")
            if found.kind == EVENTS and found.path[-1] == "time":
                raise ModelError(
                    f"gradient: '{each}': events happen at the nearest tick, so small differences tell nothing of it; let a "
                    "condition bring the event about, and vary what it depends on."
                )
        if not together:
            raise ModelError(f"gradient: '{name}' changes nothing; give numbers and how fast each changes.")
    return ways


def derivatives(
    model: Assembly, dt: float, coupling: Coupling | str | None, of: Of, ways: dict[str, dict[str, float]], offsets: Array,
    until: float, order: int, record_every: int, method: str, shared: dict[str, Any] | None = None,
) -> Gradient:  # fmt: skip
    """Derivatives by one of the methods, so far along each way; who asks again hands over what was `shared` before."""
    if method not in (DIFFERENCES, EXACT):
        raise ModelError(f"gradient: method = {method!r}; give 'differences' or 'exact'.")
    if not callable(of):
        raise ModelError(
            f"gradient: of = {of!r}; give a function of a run, such as lambda run: run.position('lower.end')[-1]."
        )
    if method == EXACT:
        from coordinator.ensemble.exact import exact_gradient

        if offsets.any():
            model = Variants(model, columns_of(model, ways, offsets[None, :])).model_of(0)
        return exact_gradient(model, dt, coupling, of, ways, until, record_every, {} if shared is None else shared)
    return differences(model, dt, coupling, of, ways, offsets, until, order, record_every)


def differences(
    model: Assembly, dt: float, coupling: Coupling | str | None, of: Of, ways: dict[str, dict[str, float]], offsets: Array,
    until: float, order: int, record_every: int,
) -> Gradient:  # fmt: skip
    """The same so far along each way, `offsets`."""
    if order not in PLACES:
        raise ModelError(f"gradient: order = {order!r}; give 1, 2 or 4.")
    steps = np.array(
        [step_of(model, together, offset, order) for together, offset in zip(ways.values(), offsets, strict=True)]
    )

    def over(steps: Array, asked: Sequence[int]) -> Gradient:
        moves = np.tile(offsets, (1 + len(asked) * len(PLACES[order]), 1))
        for row, (k, place) in enumerate(((k, place) for k in asked for place in PLACES[order]), 1):
            moves[row, k] += place * steps[k]
        runs = runs_of(model, dt, coupling, columns_of(model, ways, moves), until, record_every)
        values = np.array([np.asarray(of(run), float) for run in runs])
        _check_events(runs)
        return _differenced([list(ways)[k] for k in asked], values, steps[list(asked)], order)

    found = over(steps, range(len(ways)))
    shorter = steps if order <= 2 else _shorter_where_bent(found)
    again = np.flatnonzero(shorter < steps).tolist()
    if again:  # as of sensitive motions: what differences leave out falls with the fourth power of the step
        part = over(shorter, again)
        for place, k in enumerate(again):
            if part.error[..., place].max(initial=0.0) < found.error[..., k].max(initial=0.0):
                found.jacobian[..., k], found.error[..., k] = part.jacobian[..., place], part.error[..., place]
                found.steps[k] = shorter[k]
    return found


def _differenced(names: Sequence[str], values: Array, steps: Array, order: int) -> Gradient:
    """From values of what was asked: where the model stands, then at the places of each number."""
    count = len(PLACES[order])
    jacobian, error = np.empty((*values.shape[1:], len(names))), np.empty((*values.shape[1:], len(names)))
    for k, step in enumerate(steps):
        own = {int(place): values[1 + count * k + i] for i, place in enumerate(PLACES[order])}
        near = (own[1] - own[-1]) / (2.0 * step) if order > 1 else (own[1] - values[0]) / step
        if order <= 2:
            jacobian[..., k], error[..., k] = near, np.nan
            continue
        far = (own[2] - own[-2]) / (4.0 * step)
        jacobian[..., k] = (4.0 * near - far) / 3.0
        scale = max(float(np.abs(near).max(initial=0.0)), float(np.abs(far).max(initial=0.0)), 1e-300)
        error[..., k] = (far - near) ** 2 / scale + ROUNDING * np.abs(values[0]) / step
    return Gradient(tuple(names), values[0], jacobian, error, steps.copy())


def _shorter_where_bent(found: Gradient) -> Array:
    """Steps with which next to nothing is left out of differences."""
    axes = tuple(range(found.jacobian.ndim - 1))
    largest, off = np.abs(found.jacobian).max(axis=axes, initial=0.0), found.error.max(axis=axes, initial=0.0)
    bent = (off > LEFT_OUT * largest) & (off > ROUNDING * np.abs(found.value).max(initial=0.0) / found.steps * 100.0)
    share = np.where(bent, np.maximum(LEFT_OUT * largest, 1e-300) / np.maximum(off, 1e-300), 1.0)
    return np.asarray(found.steps * 2.0 ** np.floor(np.log2(np.clip(share, LEAST_SHARE, 1.0)) / 4.0))


def step_of(model: Assembly, together: Mapping[str, float], offset: float, order: int) -> float:
    """A step along numbers that change together, of the size of the largest of them, or 1 where all are 0."""
    sizes = [
        abs(float(parameter(model, name).of(model)) + rate * offset) / abs(rate)
        for name, rate in together.items()
        if rate
    ]
    size = max(sizes, default=0.0)
    step = (size or 1.0) * ROUNDING ** (1.0 / (order + 1))
    return float(2.0 ** np.round(np.log2(step)))


def columns_of(model: Assembly, ways: Mapping[str, Mapping[str, float]], moves: Array) -> dict[str, Array]:
    """Values of every number in all variants; `moves`: how far each goes along each way, (variants, ways)."""
    columns: dict[str, Array] = {}
    for k, together in enumerate(ways.values()):
        for name, rate in together.items():
            now = columns.get(name, np.full(len(moves), float(parameter(model, name).of(model))))
            columns[name] = now + rate * moves[:, k]
    return columns


def runs_of(
    model: Assembly, dt: float, coupling: Coupling | str | None, columns: dict[str, Array], until: float, every: int
) -> list[Run]:
    """The runs of all variants; refused where one of them does not come to its end."""
    try:
        ensemble = Ensemble(model, dt, coupling, vary=columns, record_every=every)
    except ModelError as error:
        if not BESIDE.match(str(error)):
            raise
        raise ModelError(
            f"gradient: differences go to both sides of a number, and it may not go there: {error} Take order=1, which goes to one "
            "side, or method='exact'."
        ) from error
    ensemble.run(until)
    if ensemble.retired:
        gone = next(iter(ensemble.retired.values()))
        raise ModelError(f"gradient: a slightly different variant does not reach the end: {gone.reason}")
    return [ensemble.run_of(k, judged=False) for k in range(len(ensemble))]


def _check_events(runs: Sequence[Run]) -> None:
    """Joints break at whole ticks: where these differ, differences are no derivatives."""
    first = [(event["kind"], event["name"]) for event in runs[0].happenings]
    broken = [{event["name"]: event["tick"] for event in run.happenings if event["kind"] == "break"} for run in runs]
    for run, ticks in zip(runs, broken, strict=True):
        if [(event["kind"], event["name"]) for event in run.happenings] != first:
            raise ModelError(
                "gradient: other events occur when a number differs slightly; there is no derivative here."
            )
        for name, tick in ticks.items():
            if tick != broken[0][name]:
                raise ModelError(
                    f"gradient: '{name}' breaks at tick {broken[0][name]}, and at {tick} where a number differs a little; as "
                    "joints break at whole ticks, differences tell nothing. End before, or let a condition cut the joint."
                )


def _say_doubts(found: Gradient) -> None:
    """Where differences of both orders do not agree the motion is too sensitive, or has a bend there."""
    largest = np.abs(found.jacobian).max(axis=tuple(range(found.jacobian.ndim - 1)), initial=0.0)
    off = found.error.max(axis=tuple(range(found.error.ndim - 1)), initial=0.0)
    # all there is of what does not count
    rounding = ROUNDING * float(np.abs(found.value).max(initial=0.0)) / found.steps
    doubtful = np.flatnonzero((off > DOUBTFUL * largest) & (off > 100.0 * rounding))
    if len(doubtful):
        k = int(doubtful[np.argmax(off[doubtful] / np.maximum(largest[doubtful], 1e-300))])
        warnings.warn(
            f"gradient: differences by '{found.names[k]}' over one step and over two do not agree: off by about {off[k]:.1g} "
            f"of {largest[k]:.3g}. The motion is sensitive, or has a bend there (a stop, dry friction); take a shorter time.",
            RunWarning,
            stacklevel=3,
        )
