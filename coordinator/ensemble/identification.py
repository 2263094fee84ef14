"""Numbers of a model from what was measured: least squares, every step an ensemble (least_squares.py).

Residuals are what a run says less what was measured, in standard deviations. Their derivatives are differences of runs over up to
twice the step, where there are samples at the same times and these runs say the same to a hundredth. The answer comes with its
covariance, which is the bound of Cramér and Rao where noise is normal and the model is right, and with the combinations of numbers
that the recordings do not tell apart: directions in which residuals hardly change.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from coordinator.couplings import Coupling
from coordinator.ensemble.ensemble import Ensemble
from coordinator.ensemble.gradients import DIFFERENCES, By, columns_of, derivatives, directions
from coordinator.ensemble.least_squares import least_squares
from coordinator.ensemble.parameters import parameter
from coordinator.ensemble.variants import Variants
from coordinator.record.run import Run
from modular.assembly import Assembly
from modular.elements import Array
from modular.errors import ModelError, RunWarning

UNKNOWN = 1.0  # standard deviation of a combination, as a share of its size, from which on nothing is known of it
BLIND = 1e-7  # of the largest singular value: below it differences are rounding
BEGINNING = 0.25  # of all samples: the part from which numbers are found first
BEGINNING_GAIN = 4.0  # of the mean square: less is the end there
COARSER = 2  # times the step, at most: derivatives are differences of runs over steps so much longer, where these say the same
COARSE = 0.01  # of how far recordings spread: by so much these runs may differ
SAMPLES_PER_NUMBER = 3  # that it has to have at least
NAMED = 0.1  # least part of a number in a combination that is told


@dataclass(frozen=True)
class Recording:
    """What was measured in one run: `of(run)` has the shape of `values`, in which NaN is a sample that is missing.

    `sigma`: standard deviation of the noise, one number or as `values`. `numbers`: what was other in this recording, such as how it
    began.
    """

    of: Callable[[Run], Any]
    values: Any
    sigma: Any = 1.0
    numbers: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Fitted:
    """A recording, and what the model with the numbers that were found says in its place; NaN where samples are missing."""

    measured: Array
    said: Array
    sigma: Array
    time: Array | None  # of the samples [s], where there are as many lines of what was measured

    @property
    def residuals(self) -> Array:
        """By how much more the model says, in standard deviations of the noise."""
        return np.asarray((self.said - self.measured) / self.sigma)


@dataclass(frozen=True)
class Identified:
    """Numbers of a model, how well they are known, and what is not."""

    names: tuple[str, ...]
    values: Array  # as the model would have them; of numbers that change together, how far they went
    deviations: Array  # standard deviations; infinite where a number is part of what is not told apart
    covariance: Array  # of what is told apart
    # combinations, by the parts of the numbers in them, each as a share of its size
    undetermined: tuple[dict[str, float], ...]
    residuals: Array  # in standard deviations of the noise, those that were measured
    iterations: int
    model: Assembly  # with these numbers
    start: Array  # the numbers from which they were sought
    recordings: tuple[Fitted, ...]

    @property
    def correlation(self) -> Array:
        """How errors of two numbers go together, -1 to 1; NaN of those that are part of what is not told apart."""
        deviations = np.where(np.isfinite(self.deviations) & (self.deviations > 0.0), self.deviations, np.nan)
        return np.asarray(self.covariance / np.outer(deviations, deviations))

    @property
    def chi_square(self) -> float:
        """Mean square of the residuals, less the numbers that were found: about 1 where the model and sigma are right."""
        known = len(self.names) - len(self.undetermined)
        return float(self.residuals @ self.residuals / max(1, len(self.residuals) - known))

    def __str__(self) -> str:
        rows = [
            f"{name:30s} {value:14.7g} ± {deviation:.2g}"
            for name, value, deviation in zip(self.names, self.values, self.deviations, strict=True)
        ]
        for each in self.undetermined:
            told = ", ".join(f"{name} {part:+.2f}" for name, part in each.items())
            rows.append(f"not told apart: {told}")
        return "\n".join([*rows, f"chi square {self.chi_square:.3g} after {self.iterations} iterations"])


def identify(
    model: Assembly, dt: float, coupling: Coupling | str | None = None, *, by: By, recordings: Sequence[Recording], until: float,
    record_every: int = 1, max_iterations: int = 30, method: str = DIFFERENCES,
) -> Identified:  # fmt: skip
    """Numbers with which the runs of a model are nearest to what was measured, from those that it has.

    `by` and `method`: as of `gradient`. Unknown states at the beginning are numbers as others are.
    """
    problem = _Problem(model, dt, coupling, directions(model, by), list(recordings), until, record_every, method)
    start, damping = _from_the_beginning_alone(problem, max_iterations)
    found = least_squares(problem, start, max_iterations, damping=damping)
    return problem.answer(found.offsets, found.residual, found.jacobian, found.iterations)


def _from_the_beginning_alone(problem: _Problem, max_iterations: int) -> tuple[Array, float | None]:
    """Numbers from the first part of what was measured, and how much the last step was damped; as they are where that is no gain.

    Runs over a quarter of the time cost a quarter, and what they come to is bent far less by numbers that are off.
    """
    start = np.zeros(len(problem.ways))
    beginning = problem.beginning()
    if beginning is None:
        return start, None
    found = least_squares(beginning, start, max_iterations, gain=BEGINNING_GAIN, last=False)
    before, there = problem.residuals(np.array([start, found.offsets]))
    if there is None or (before is not None and not there @ there < before @ before):
        return start, None
    return found.offsets, found.damping


@dataclass
class _Problem:
    model: Assembly
    dt: float
    coupling: Coupling | str | None
    ways: dict[str, dict[str, float]]
    recordings: list[Recording]
    until: float
    record_every: int
    method: str
    shared: dict[str, Any] = field(default_factory=dict)  # code that models with other numbers have in common

    def __post_init__(self) -> None:
        if not self.recordings:
            raise ModelError("identify: give at least one Recording of what was measured.")
        self.models = [_with(self.model, each.numbers) for each in self.recordings]
        self.coarse = self._coarse()
        self.known: list[tuple[Array, Array | None]] = []  # places at which residuals were asked for last, and these
        self.measured = [np.asarray(each.values, float) for each in self.recordings]
        self.there = [np.isfinite(values) for values in self.measured]
        self.sigmas = [
            np.broadcast_to(np.asarray(each.sigma, float), np.shape(each.values)) for each in self.recordings
        ]
        for k, sigma in enumerate(self.sigmas):
            if not (np.isfinite(sigma).all() and (sigma > 0.0).all()):
                raise ModelError(
                    f"identify: recording {k}: sigma = {self.recordings[k].sigma!r}; give positive standard deviations."
                )
            if not self.there[k].any():
                raise ModelError(f"identify: recording {k}: every sample is missing.")
        if len(self.ways) > sum(int(there.sum()) for there in self.there):
            raise ModelError(f"identify: {len(self.ways)} numbers from fewer samples; give more, or ask for fewer.")

    def beginning(self) -> _Problem | None:
        """The first part of all recordings; None where these are no samples over time, or too few."""
        ticks = round(self.until / self.dt)
        last = int(ticks // self.record_every * BEGINNING)
        parts = [
            replace(each, values=measured[: last + 1], sigma=sigma[: last + 1])
            for each, measured, sigma in zip(self.recordings, self.measured, self.sigmas, strict=True)
            if measured.ndim and len(measured) == ticks // self.record_every + 1
        ]
        there = [int(np.isfinite(each.values).sum()) for each in parts]
        few = sum(there) < SAMPLES_PER_NUMBER * len(self.ways) or not all(there)
        if (
            few
            or len(parts) < len(self.recordings)
            or not all(map(self._over_time, range(len(parts)), [last] * len(parts)))
        ):
            return None
        return replace(self, recordings=parts, until=last * self.record_every * self.dt)

    def _over_time(self, k: int, last: int) -> bool:
        """Whether each sample of one recording hangs on what was until then alone: half of a short run says the same."""
        said, now = [], columns_of(self.models[k], self.ways, np.zeros((1, len(self.ways))))
        for samples in (last, last // 2):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RunWarning)  # of a run that is but a part; the whole one warns
                ensemble = Ensemble(self.models[k], self.dt, self.coupling, vary=now, record_every=self.record_every)
                ensemble.run(samples * self.record_every * self.dt)
            if ensemble.retired:
                return False
            try:
                said.append(np.asarray(self.recordings[k].of(ensemble.run_of(0, judged=False)), float))
            except (ModelError, ValueError, IndexError):
                return False  # it asks for what comes later
        shapes = [(samples + 1, *self.measured[k].shape[1:]) for samples in (last, last // 2)]
        whole, half = said
        return [each.shape for each in said] == shapes and np.array_equal(half, whole[: len(half)], equal_nan=True)

    def sizes(self, offsets: Array) -> Array:
        """How large each number is; 1 for those that are 0."""
        now = [
            max(
                abs(float(parameter(self.model, name).of(self.model)) / rate + offset)
                for name, rate in together.items()
                if rate
            )
            for together, offset in zip(self.ways.values(), offsets, strict=True)
        ]
        return np.array([size or 1.0 for size in now])

    def _residual(self, k: int, run: Run) -> Array:
        """Of one recording, in standard deviations."""
        said = np.asarray(self.recordings[k].of(run), float)
        if said.shape != self.measured[k].shape:
            raise ModelError(
                f"identify: recording {k}: of(run) has shape {said.shape}, and what was measured {self.measured[k].shape}; the "
                f"run has {len(run)} samples, one every {self.record_every * self.dt:g} s."
            )
        there = self.there[k]
        return np.asarray((said[there] - self.measured[k][there]) / self.sigmas[k][there])

    def look(self, offsets: Array, *, roughly: bool) -> tuple[Array, Array]:
        """Residuals of all recordings, and their derivatives; differences go one way where that is enough."""
        if roughly and self.coarse is not None:
            residual = self._here(offsets)
            found = self._over_longer_steps(offsets, *self.coarse) if residual is not None else None
            if found is not None and residual is not None and self._alike(found[0], residual):
                return residual, found[1]
            self.coarse = None  # nor elsewhere
        return self._look(offsets, 1 if roughly else 2, self.dt, self.record_every)

    def _look(self, offsets: Array, order: int, dt: float, every: int) -> tuple[Array, Array]:
        found = [
            derivatives(
                model, dt, self.coupling, partial(self._residual, k), self.ways, offsets, self.until, order, every, self.method,
                self.shared,
            )
            for k, model in enumerate(self.models)
        ]  # fmt: skip
        return np.concatenate([each.value for each in found]), np.concatenate([each.jacobian for each in found])

    def _coarse(self) -> tuple[float, int] | None:
        """A longer step with samples at the same times, and ticks between these; None where this step alone will do.

        Events and breaking joints go by ticks.
        """
        ticks, every = round(self.until / self.dt), -(-self.record_every // COARSER)
        by_ticks = any(
            model.schedule or any(edge.breaks_at is not None for edge in model.joint_edges.values())
            for model in self.models
        )
        if self.method != DIFFERENCES or every == self.record_every or ticks % self.record_every or by_ticks:
            return None
        return self.dt * self.record_every / every, every

    def _over_longer_steps(self, offsets: Array, dt: float, every: int) -> tuple[Array, Array] | None:
        """Residuals and derivatives; None where a variant does not come to its end."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RunWarning)  # what is answered is of the step that was asked for
            try:
                return self._look(offsets, 1, dt, every)
            except ModelError:
                return None

    def _here(self, offsets: Array) -> Array | None:
        """Residuals at one place, which may have been asked for just now."""
        for place, residual in self.known:
            if np.array_equal(place, offsets):
                return residual
        return self.residuals(offsets[None, :])[0]

    def _alike(self, one: Array, other: Array) -> bool:
        """Whether two runs differ by little beside how far recordings spread, all in standard deviations."""
        known = (np.ma.masked_invalid(values) for values in self.measured)
        spread = [
            np.asarray((values - (values.mean(axis=0) if values.ndim else values)) / sigma)[there]
            for values, there, sigma in zip(known, self.there, self.sigmas, strict=True)
        ]
        return bool(np.linalg.norm(one - other) <= COARSE * np.linalg.norm(np.concatenate(spread)))

    def residuals(self, places: Array) -> list[Array | None]:
        """Of all recordings, at several places; None where one does not come to its end, or is no model."""
        parts: list[list[Array]] = [[] for _ in places]
        for k, model in enumerate(self.models):
            columns = columns_of(model, self.ways, places)
            possible = list(range(len(places)))
            try:
                ensemble = self._ensemble(model, columns)
            except ModelError:  # one of them is no model
                single = [Variants(model, {n: c[i : i + 1] for n, c in columns.items()}) for i in possible]
                possible = [i for i in possible if _possible(single[i])]
                if not possible:
                    continue
                ensemble = self._ensemble(model, {name: column[possible] for name, column in columns.items()})
            ensemble.run(self.until)
            for place, i in enumerate(possible):
                if place not in ensemble.retired:
                    parts[i].append(self._residual(k, ensemble.run_of(place, judged=False)))
        whole = [np.concatenate(own) if len(own) == len(self.models) else None for own in parts]
        found = [each if each is not None and np.isfinite(each).all() else None for each in whole]
        self.known = list(zip(np.array(places), found, strict=True))
        return found

    def _ensemble(self, model: Assembly, vary: dict[str, Array]) -> Ensemble:
        return Ensemble(model, self.dt, self.coupling, vary=vary, record_every=self.record_every)

    def answer(self, offsets: Array, residual: Array, jacobian: Array, iterations: int) -> Identified:
        """What was found, and what is known of it."""
        sizes, names = self.sizes(offsets), tuple(self.ways)
        _, singular, ways = np.linalg.svd(jacobian * sizes, full_matrices=False)
        blind = singular <= max(BLIND * float(singular.max(initial=0.0)), 1.0 / UNKNOWN)
        told = ways[~blind]
        covariance = (told.T / singular[~blind] ** 2) @ told * np.outer(sizes, sizes)
        deviations = np.sqrt(np.diag(covariance))
        deviations[(np.abs(ways[blind]) > NAMED).any(axis=0)] = np.inf
        undetermined = tuple(_parts(names, way) for way in _apart(ways[blind]))
        model = _with(
            self.model,
            {name: column[0] for name, column in columns_of(self.model, self.ways, offsets[None, :]).items()},
        )
        start = np.array(
            [
                float(parameter(self.model, name).of(self.model)) if together == {name: 1.0} else 0.0
                for name, together in self.ways.items()
            ]
        )
        return Identified(
            names, start + offsets, deviations, covariance, undetermined, residual, iterations, model, start, self._fitted(residual)
        )  # fmt: skip

    def _fitted(self, residual: Array) -> tuple[Fitted, ...]:
        """What the last residuals say of each recording."""
        found, samples = [], round(self.until / self.dt) // self.record_every + 1
        parts = np.split(residual, np.cumsum([there.sum() for there in self.there])[:-1])
        for measured, there, sigma, part in zip(self.measured, self.there, self.sigmas, parts, strict=True):
            said = np.full(measured.shape, np.nan)
            said[there] = measured[there] + sigma[there] * part
            over_time = measured.ndim > 0 and len(measured) == samples
            time: Array | None = np.asarray(np.arange(samples) * self.record_every * self.dt) if over_time else None
            found.append(Fitted(measured, said, np.asarray(sigma), time))
        return tuple(found)


def _apart(ways: Array) -> Array:
    """The same directions by combinations of few numbers each: eliminated, the largest part first."""
    found = ways.copy()
    for k in range(len(found)):
        row, column = divmod(int(np.argmax(np.abs(found[k:]))), found.shape[1])
        found[[k, k + row]] = found[[k + row, k]]
        found[k] /= found[k, column]
        others = [i for i in range(len(found)) if i != k]
        found[others] -= np.outer(found[others, column], found[k])
    return np.asarray(found / np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-300))


def _parts(names: Sequence[str], way: Array) -> dict[str, float]:
    """A combination by its larger parts, the largest of them positive."""
    signed = way * np.sign(way[np.argmax(np.abs(way))])
    return {name: float(part) for name, part in zip(names, signed, strict=True) if abs(part) > NAMED}


def _possible(variants: Variants) -> bool:
    try:
        variants.check()
    except ModelError:
        return False
    return True


def _with(model: Assembly, numbers: Mapping[str, float]) -> Assembly:
    """A model with other numbers."""
    if not numbers:
        return model
    return Variants(model, {name: np.asarray([value], float) for name, value in numbers.items()}).model_of(0)
