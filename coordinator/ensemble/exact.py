"""Exact gradients: tangents beside one run by formulas, four directions at a time.

How a motion begins, and the numbers in its formulas, follow numbers of the model in few lines of arithmetic: these are differenced
over 1/256 of their size at order 6, which leaves rounding. So is what is asked of a run, along tangents that are exact. The motion
itself is not differenced: it is carried by the differentiated formulas (coordinator/equations/tangents.py).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from coordinator.couplings import Coupling
from coordinator.couplings.centralized.solver import State
from coordinator.couplings.coupling import coupling_named
from coordinator.ensemble.copies import Names, side_by_side
from coordinator.ensemble.gradients import Gradient
from coordinator.ensemble.parameters import GRAVITY, parameter
from coordinator.ensemble.tangent_run import AHEAD, PART, STENCIL, Accompanied, Beginning, Motion, TangentRun
from coordinator.ensemble.variants import Variants
from coordinator.equations.common_formulas import CommonFormulas
from coordinator.equations.formulas import Formulas
from coordinator.equations.one_of_many import models_in, numbers_in_rows
from coordinator.record.recorder import Segment
from coordinator.record.run import Run
from coordinator.system import System
from modular.assembly import Assembly
from modular.body import Body
from modular.elements import Array
from modular.errors import CouplingError, ModelError, RunWarning

NEGLIGIBLE = 1e-6  # of the largest of several numbers that change together: those do not decide the step
WILD = 64.0  # times that tangents grow over the second half of a run, from which on that is said
MIN_STEPS = 8
ROUNDING = 1e-15  # of what is asked of a run
STATE = ("q", "v", "a")

Ways = Mapping[str, Mapping[str, float]]


def exact_gradient(
    model: Assembly, dt: float, coupling: Coupling | str | None, of: Callable[[Run], Any], ways: Ways, until: float,
    record_every: int, shared: dict[str, Any],
) -> Gradient:  # fmt: skip
    """What is asked of a run, and how that changes along each way; models with other numbers have code that is `shared`."""
    if isinstance(coupling, str):
        coupling = coupling_named(coupling, "gradient: coupling =")
    if type(coupling) is not Formulas:
        raise ModelError(
            f"gradient: method = 'exact' goes by formulas, and coupling = {coupling!r}; give Formulas(), or take "
            "method='differences'."
        )
    beginning = beginning_of(model, dt, ways, shared)
    with TangentRun(model, dt, beginning, record_every, shared) as simulation:
        run = simulation.run(until)
        samples, sizes = simulation.along.samples, simulation.along.sizes
    for event in run.happenings:
        if event["kind"] == "break":
            raise ModelError(
                f"gradient: '{event['name']}' breaks at tick {event['tick']}; as joints break at whole ticks there is "
                "no derivative beyond that. End before, or let a condition cut the joint."
            )
    value, along = np.asarray(of(run), float), _Along(run, samples, len(ways))
    jacobian, error, steps = (
        np.empty((*value.shape, len(ways))),
        np.empty((*value.shape, len(ways))),
        np.empty(len(ways)),
    )
    for d, name in enumerate(ways):
        h = steps[d] = along.step(d)
        slope, off = _differenced(of, {k: along.moved(d, k * h) for k in STENCIL}, h)
        models = beginning.models[d]
        # what is asked may hang on their descriptions as well
        if any(one.bodies != model.bodies for one in models.values()):
            others = {k: along.moved(d, 0.0, one.bodies) for k, one in models.items()}
            more, more_off = _differenced(of, others, beginning.steps[d], beginning.stencils[d])
            slope, off = slope + more, off + more_off
        if not np.isfinite(slope).all():
            raise ModelError(
                f"gradient: what is asked of the run has no exact derivative by '{name}': it reads more than places, "
                "velocities and accelerations, such as reactions or energies; take method='differences'."
            )
        jacobian[..., d], error[..., d] = slope, off
    return Gradient(tuple(ways), value, jacobian, error, steps, _growth(list(ways), sizes))


# --- how it begins -----------------------------------------------------------------------------------------------------


def beginning_of(model: Assembly, dt: float, ways: Ways, shared: dict[str, Any]) -> Beginning:
    """Tangents of the beginning, and of the numbers in the formulas."""
    count, whole = len(ways), {parameter(model, name).owner for together in ways.values() for name in together}
    steps = np.ones(count)
    models: list[dict[int, Assembly]] = [{} for _ in range(count)]
    own = [{n: r for n, r in together.items() if parameter(model, n).kind != GRAVITY} for together in ways.values()]
    changes: dict[str, Array] = {}
    for d, together in enumerate(ways.values()):
        for name in set(together) - set(own[d]):
            axis = "xyz"[int(name.rpartition(".")[2])]
            changes.setdefault(f"{GRAVITY}_{axis}", np.zeros(count))[d] += together[name]
    stencils: list[Mapping[int, float]] = [STENCIL] * count
    moves: list[tuple[int, int]] = []  # direction, and place in the stencil
    for d, together in enumerate(own):
        if any(together.values()):
            steps[d] = _step(model, together)
            stencils[d] = _stencil(model, together, steps[d])
            moves += [(d, k) for k in stencils[d]]
    values = {name: [_number(model, name)] * (1 + len(moves)) for together in own for name in together}
    for row, (d, k) in enumerate(moves, 1):
        for name, rate in own[d].items():
            values[name][row] += k * steps[d] * rate
    variants = Variants(model, values or {f"{GRAVITY}.0": [float(model.gravity[0])]})
    variants.check()
    for row, (d, k) in enumerate(moves, 1):
        models[d][k] = variants.model_of(row)
    named = _Named(whole)
    names, found = _begun(variants, dt, named, shared)

    def slope(values: Array) -> Array:
        total = np.zeros((count, values.shape[1]))
        for row, (d, k) in enumerate(moves, 1):
            total[d] += stencils[d][k] * (values[row] - values[0]) / steps[d]
        return total

    columns, q, v, numbers = names[0], *(slope(each) for each in found)
    for k, name in enumerate(names[1]):
        if numbers[:, k].any():
            changes[name] = changes.get(name, 0.0) + numbers[:, k]
    of_bodies = [{name: each[:, place] for name, place in columns.items()} for each in (q, v)]
    return Beginning(named.whole, changes, of_bodies[0], of_bodies[1], stencils, models, steps)


def _begun(
    variants: Variants, dt: float, named: _Named, shared: dict[str, Any]
) -> tuple[tuple[dict[str, slice], list[str]], list[Array]]:
    """Places, velocities and numbers in the formulas of all variants, and what their columns are."""
    count = len(variants)
    copies = side_by_side(variants, range(count))
    copies.schedule.clear()
    try:
        with Accompanied(copies, dt, named, shared) as simulation:
            common: CommonFormulas = simulation.system.cache["formulas"]
            motions, written = common.motions, common.written
            found = [array[:count].copy() for array in (motions.q, motions.v, motions.parameters)]
            return (dict(written.columns), [one.name for one in written.parameters]), found
    except (ModelError, CouplingError) as error:
        told, _ = Names(copies).sentence(str(error))
        raise type(error)(f"gradient: {told} Or take method='differences'.") from error


class _Named:
    """One that asks for names of all numbers that differ between variants, and for nothing else."""

    def __init__(self, owners: Iterable[str]) -> None:
        self.whole = frozenset(owners)

    def names(self, system: System) -> frozenset[str]:
        """Of components that were given, and of what differs in the rows of bodies."""
        models = models_in(system)
        differing = {
            f"{name}.{one.label}"
            for name in models[0]
            if name in self.whole
            for one in numbers_in_rows(system, models, name)
            if np.ptp(one.values) > 0.0 or np.any(one.named != one.named[0])
        }
        self.whole |= differing
        return self.whole

    def configured(self, system: System, common: CommonFormulas) -> None:
        """Nothing."""

    def settled(self, system: System, before: Mapping[str, Array], time: float) -> None:
        """Nothing."""

    def advanced(self, system: System, before: State, after: State, time: float, h: float) -> dict[str, Array]:
        """Nothing."""
        return {}


def _number(model: Assembly, name: str) -> float:
    return float(parameter(model, name).of(model))


def _step(model: Assembly, together: Mapping[str, float]) -> float:
    """Of the smallest of the numbers that change together, those apart that are nothing beside others; 1/256 where all are 0."""
    sizes = np.array([abs(_number(model, name) / rate) for name, rate in together.items() if rate])
    there = sizes[sizes > NEGLIGIBLE * sizes.max(initial=0.0)]
    return _whole(PART * float(there.min(initial=np.inf))) if len(there) else PART


def _stencil(model: Assembly, together: Mapping[str, float], step: float) -> Mapping[int, float]:
    """Both ways, or ahead alone, where a number cannot be less, as damping that is 0."""
    for stencil in (STENCIL, AHEAD):
        ends = np.array([min(stencil), max(stencil)]) * step
        try:
            Variants(model, {name: _number(model, name) + rate * ends for name, rate in together.items()}).check()
        except ModelError as error:
            refused = error
            continue
        return stencil
    raise refused


def _whole(step: float) -> float:
    """A power of two."""
    return float(2.0 ** np.floor(np.log2(step)))


# --- what is asked of a run --------------------------------------------------------------------------------------------


class _Along:
    """Runs beside a run: in each direction so far."""

    def __init__(self, run: Run, samples: Mapping[int, Motion], count: int) -> None:
        self.run = run
        self.segments = [segment.trimmed() for segment in run.segments]
        self.moves = [self._moves(segment, samples, count) for segment in self.segments]

    def _moves(self, segment: Segment, samples: Mapping[int, Motion], count: int) -> list[dict[str, Array]]:
        """Of each stack of bodies, by series, (directions, samples, bodies, …)."""
        found = []
        for names, series in segment.bodies:
            of_each = [[samples[int(tick)][name] for tick in segment.ticks] for name in names]
            moves = {}
            for k, key in enumerate(STATE):
                # bodies, samples, directions, …
                table = np.array([[motion[k] for motion in motions] for motions in of_each])
                moves[key] = np.moveaxis(table, (2, 1), (0, 1)).reshape(count, *series[key].shape)
            found.append(moves)
        return found

    def step(self, d: int) -> float:
        """By which places, velocities and accelerations are moved by 1/256 of their largest, at most."""
        most = 0.0
        for key in STATE:
            size = max(
                (float(np.abs(series[key]).max(initial=0.0)) for s in self.segments for _, series in s.bodies),
                default=0.0,
            )
            move = max(
                (float(np.abs(moves[key][d]).max(initial=0.0)) for own in self.moves for moves in own), default=0.0
            )
            most = max(most, move / (size or 1.0))
        return _whole(PART / most) if most > 0.0 else PART

    def moved(self, d: int, h: float, bodies: Mapping[str, Body] | None = None) -> Run:
        """So far along one direction; reactions and ledgers nobody knows there."""
        segments = []
        for segment, own in zip(self.segments, self.moves, strict=True):
            of_bodies = [
                (
                    names,
                    {
                        key: array + h * moves[key][d] if key in STATE else _unknown(array)
                        for key, array in series.items()
                    },
                )
                for (names, series), moves in zip(segment.bodies, own, strict=True)
            ]
            joints, forces = (
                [(names, {key: _unknown(array) for key, array in series.items()}) for names, series in part]
                for part in (segment.joints, segment.forces)
            )
            closed = {name: _unknown(ledger) for name, ledger in segment.closed.items()}
            segments.append(Segment(segment.ticks, of_bodies, joints, forces, closed, segment.used, True))
        return replace(self.run, segments=segments, bodies={**self.run.bodies, **(bodies or {})})


def _unknown(array: Array) -> Array:
    return np.full_like(array, np.nan, dtype=float)


def _differenced(
    of: Callable[[Run], Any], runs: Mapping[int, Run], h: float, stencil: Mapping[int, float] = STENCIL
) -> tuple[Array, Array]:
    """The slope of what is asked of runs at the places of a stencil, and about what that is off by."""
    values = {k: np.asarray(of(run), float) for k, run in runs.items()}
    slope = sum(weight * values[k] for k, weight in stencil.items()) / h
    size = np.max([np.abs(value) for value in values.values()], axis=0)
    near = (values[1] - values[-1]) / 2 if stencil is STENCIL else values[1] - values[0]
    return np.asarray(slope), np.asarray(PART**4 * np.abs(slope - near / h) + ROUNDING * size / h)


def _growth(names: Sequence[str], sizes: Sequence[Array]) -> Array:
    """How many times longer tangents became over the second half of a run, (directions,); said where that is chaos."""
    every = np.array(sizes)
    if len(every) < MIN_STEPS:
        return np.full(len(names), np.nan)
    first, last = every[: len(every) // 2].max(axis=0), every.max(axis=0)
    grown = np.divide(last, first, out=np.ones(len(names)), where=first > 0.0)
    if grown.max() > WILD:
        k = int(np.argmax(grown))
        warnings.warn(
            f"gradient: tangents by '{names[k]}' grew {grown[k]:.0f} times longer over the second half of the run: the motion is "
            "chaotic. They are exact, and soon say nothing of numbers that differ by more than a little; take a shorter time.",
            RunWarning,
            stacklevel=4,
        )
    return np.asarray(grown)
