"""How vibrations change with a setting of a model: eigenvalues that are followed, and where stability changes.

From one value of the setting to the next each mode is followed to what its eigenvalue and its shape have come to, all together
(linear sum assignment). Where two of them come close that takes shorter ways: values between are looked at until nothing is in
doubt. Lines of a Campbell diagram so cross, and do not turn from each other. Where the largest real part changes its sign, the
value of the setting is found by bisection and secants (R. P. Brent, "Algorithms for minimization without derivatives", 1973).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import optimize

from coordinator.analysis.linear import Linear
from coordinator.analysis.linearise import linearise
from coordinator.analysis.modes import DRIFTING, Modes, modes_of
from coordinator.analysis.result import Kept, Result
from coordinator.analysis.smooth import by_velocities, smoothly
from coordinator.record.export import Series
from modular.assembly import Assembly
from modular.elements import Array
from modular.errors import ModelError

DOUBTFUL = 0.5  # times as far as the second best partner: what is followed further than that is looked at in between
MOST_HALVINGS = 6  # of the way between two values
SAME = 1e-12  # of the range of the setting: how closely a value is found where stability changes
UNDAMPED = 1e-9  # of the largest eigenvalue: a real part that is no more
PARTED = 1e-9  # of the square of a frequency: two that part by less may be one
MOST_BRACKETS = 9  # about a value, each four times as wide as the one before
UNLIKE = 1.0  # how much a shape that is quite another counts, in units of the largest eigenvalue

Look = Callable[..., Modes]  # at a value, with so many modes that drift


@dataclass(frozen=True)
class Change(Kept):
    """A value at which what was stable is so no more, or the other way round."""

    value: float
    eigenvalue: complex  # that has no real part there [1/s]
    stable: bool  # beyond it


@dataclass(frozen=True)
class Locus(Result):
    """Eigenvalues (values, modes) [1/s] of modes that are followed, where they turn forwards or not at all; nan: elsewhere."""

    rows = ("at",)
    setting: str
    values: Array
    eigenvalues: Any
    changes: list[Change] = field(default_factory=list)

    @property
    def frequencies(self) -> Array:
        """Of what swings [Hz]."""
        return np.asarray(np.abs(self.eigenvalues.imag) / (2.0 * np.pi))

    def summary(self) -> list[str]:
        """In words, a line each."""
        low, high = float(self.values[0]), float(self.values[-1])
        lines = [
            f"{self.setting} from {low:g} to {high:g}: {len(self.values)} values, {self.eigenvalues.shape[1]} modes"
        ]
        lines += [
            f"{'stable' if change.stable else 'not stable'} beyond {self.setting} = {change.value:.9g}, where an eigenvalue is "
            f"{abs(change.eigenvalue.imag):.6g}i 1/s"
            for change in self.changes
        ]
        return lines if self.changes else [*lines, f"{'stable' if self.stable.all() else 'not stable'} all along"]

    def series(self) -> dict[str, Series]:
        """Its arrays, by name."""
        words = "eigenvalue of a mode that is followed; no number where there is none that turns forwards"
        return {
            "value": Series(("at",), self.values, "", f"value of {self.setting}"),
            "stable": Series(("at",), self.stable, "", "whether nothing grows"),
            "frequency": Series(("at", "mode"), self.frequencies, "Hz", "frequency of a mode that is followed"),
            "eigenvalue": Series(("at", "mode"), self.eigenvalues, "1/s", words),
            "change_value": Series(
                ("change",), np.array([one.value for one in self.changes]), "", "where stability changes"
            ),
            "change_eigenvalue": Series(
                ("change",),
                np.array([one.eigenvalue for one in self.changes], complex),
                "1/s",
                "that has no real part there",
            ),
        }

    def labels(self) -> dict[str, Sequence[Any]]:
        """What the places along each axis are called."""
        return {
            "at": range(len(self.values)),
            "mode": range(self.eigenvalues.shape[1]),
            "change": range(len(self.changes)),
        }

    @property
    def stable(self) -> Any:
        """Whether nothing grows, at each value."""
        size = np.nanmax(np.abs(self.eigenvalues), axis=1, initial=0.0)
        return (np.nan_to_num(self.eigenvalues.real, nan=-1.0) <= DRIFTING * size[:, None]).all(axis=1)


def root_locus(
    build: Callable[..., Assembly], setting: str, values: Sequence[float], *, seek: bool = False, steady: bool = False,
    smooth: bool = False, **settings: Any,
) -> Locus:  # fmt: skip
    """Modes of `build(setting=value, **settings)` over rising values; `seek` and `steady` as of `modes`.

    `smooth`: the linear equations are smooth functions of the setting, and are written at few values of it: hundreds of values take
    as long as some ten. They are held against others that are written in between, and refused where they do not agree; what happens
    in a narrow part of the range alone may be overlooked so.
    """
    grid = np.asarray(values, float)
    if grid.ndim != 1 or len(grid) < 2 or not np.isfinite(grid).all() or not (np.diff(grid) > 0.0).all():
        raise ModelError(
            f"root_locus: {setting} = {values!r}; give two numbers or more, each larger than the one before."
        )

    def model(value: float) -> Assembly:
        return build(**{setting: float(value)}, **settings)

    def write(one: Assembly) -> Linear:
        return linearise(one, seek=seek, steady=steady)

    def alone(value: float) -> Linear:
        return write(model(value))

    written: Callable[[float], Linear] = alone
    if smooth:
        written = smoothly(alone, float(grid[0]), float(grid[-1]), setting)
    elif steady and not seek:
        written = by_velocities(model, write, grid)

    known: dict[float, Linear] = {}

    def look(value: float, drifting: int | None = None) -> Modes:
        value = float(value)
        if value not in known:
            known[value] = written(value)
        return modes_of(known[value], drifting=drifting)

    found = [look(value) for value in grid]
    rows = [_all_of(found[0])[0]]
    here = _all_of(found[0])
    for k in range(1, len(grid)):
        here = _follow(look, here, float(grid[k - 1]), _all_of(found[k]), float(grid[k]), MOST_HALVINGS)
        rows.append(here[0])
    width = max(len(row) for row in rows)
    whole = np.array([np.concatenate([row, np.full(width - len(row), np.nan + 0j)]) for row in rows])
    whole[whole.imag < 0.0] = np.nan  # of two that are each other's conjugates the one that turns forwards is enough
    whole = whole[:, np.isfinite(whole).any(axis=0)]
    changes = [
        _change(look, float(grid[k]), float(grid[k + 1]), found[k], found[k + 1], (float(grid[0]), float(grid[-1])))
        for k in range(len(grid) - 1)
        if found[k].stable != found[k + 1].stable
    ]
    return Locus(setting, grid, whole, changes)


Set = tuple[Any, Any]  # eigenvalues with their conjugates, and shapes by columns


def _all_of(found: Modes) -> Set:
    """What swings both ways; what drifts is left out."""
    moves = np.abs(found.eigenvalues) > 0.0
    values, shapes = found.eigenvalues[moves], (found.linear.shown @ found.vectors)[:, moves]
    shapes = shapes / np.maximum(np.linalg.norm(shapes, axis=0), 1e-300)
    swings = values.imag > 0.0
    return np.concatenate([values, values[swings].conj()]), np.concatenate([shapes, shapes[:, swings].conj()], axis=1)


def _follow(look: Look, here: Set, at: float, there: Set, to: float, halvings: int) -> Set:
    """The modes there in the order of those here; nan where one has come to an end, new ones at the end."""
    order, doubtful = _partners(here, there)
    if doubtful and halvings > 0:
        middle = 0.5 * (at + to)
        between = _follow(look, here, at, _all_of(look(middle)), middle, halvings - 1)
        return _follow(look, between, middle, there, to, halvings - 1)
    new = sorted(set(range(len(there[0]))) - {theirs for _, theirs in order})
    values = np.full(len(here[0]) + len(new), np.nan + 0j)
    shapes = np.zeros((len(here[1]), len(values)), complex)
    for mine, theirs in [*order, *((len(here[0]) + k, theirs) for k, theirs in enumerate(new))]:
        values[mine], shapes[:, mine] = there[0][theirs], there[1][:, theirs]
    return values, shapes


def _partners(here: Set, there: Set) -> tuple[list[tuple[int, int]], bool]:
    """Who goes on as whom, and whether another would nearly do as well."""
    size = max(np.nanmax(np.abs(here[0]), initial=0.0), np.abs(there[0]).max(initial=0.0)) or 1.0
    alike = np.abs(here[1].conj().T @ there[1])
    cost = np.abs(here[0][:, None] - there[0][None, :]) / size + UNLIKE * (1.0 - np.minimum(alike, 1.0))
    cost = np.where(np.isfinite(cost), cost, 1e3)
    mine, theirs = optimize.linear_sum_assignment(cost)
    doubtful = False
    for i, j in zip(mine, theirs, strict=True):
        others = np.delete(cost[i], j)
        doubtful = doubtful or (len(others) > 0 and cost[i, j] > DOUBTFUL * others.min())
    return list(zip(mine.tolist(), theirs.tolist(), strict=True)), doubtful


def _real(value: complex) -> float:
    return value.real


def _change(look: Look, first: float, last: float, before: Modes, after: Modes, limits: tuple[float, float]) -> Change:
    """Where the largest real part is nothing, with as many modes that drift as beside it: none may be taken for one.

    What nothing damps has no real part as long as it is stable: there minus the smallest square stands in its place, which goes
    through zero where something buckles, and jumps where two modes meet and flutter.
    """
    held = before if before.stable else after
    undamped = bool((np.abs(held.eigenvalues.real) <= UNDAMPED * np.abs(held.eigenvalues).max(initial=0.0)).all())
    drifting = min(int((one.eigenvalues == 0.0).sum()) for one in (before, after))
    known: dict[float, complex] = {}

    def growth(value: float) -> float:
        found = look(value, drifting).eigenvalues
        order = np.argsort(np.abs(found))[drifting:]  # of those that move
        if not len(order):
            known[value] = 0j
            return 0.0
        most, least = (complex(choose(found[order], key=key)) for choose, key in ((max, _real), (min, abs)))
        if not undamped:
            known[value] = most
            return most.real
        grows = most.real > UNDAMPED * abs(complex(max(found, key=abs)))
        known[value] = most if grows else least
        return most.real**2 if grows else -(abs(least) ** 2)

    low, high = growth(first), growth(last)
    if low * high > 0.0 or low == high:
        return Change(0.5 * (first + last), known[first], after.stable)
    value = float(optimize.brentq(growth, first, last, xtol=SAME * (last - first), rtol=4.0 * np.finfo(float).eps))
    there = known[min(known, key=lambda one: abs(one - value))]
    if undamped and there.imag > 0.0:
        value, there = _meeting(lambda at: look(at, drifting).eigenvalues, there, value, last - first, limits)
    return Change(value, there, after.stable)


def _meeting(
    eigenvalues: Callable[[float], Any], like: complex, near: float, width: float, limits: tuple[float, float]
) -> tuple[float, complex]:
    """Where two swings come to be one and flutter: the square of what parts them changes its sign there, and has no corner.

    Real parts tell that to 1e-5 alone: eigenvalues that meet differ by the root of what rounding leaves of their equations.
    """

    def both(value: float) -> tuple[complex, complex]:
        found = eigenvalues(value)
        found = found[found.imag > 0.0]
        one, other = (*found[np.argsort(np.abs(found - 1j * like.imag))[:2]], 0j, 0j)[:2]
        return complex(one), complex(other)

    def parted(value: float) -> float:
        one, other = both(value)
        return float(((one - other) ** 2).real)

    for wider in range(MOST_BRACKETS, 0, -1):
        low, high = max(near - width / 4.0**wider, limits[0]), min(near + width / 4.0**wider, limits[1])
        ends = parted(low), parted(high)
        if ends[0] * ends[1] < 0.0 and min(abs(end) for end in ends) > PARTED * like.imag**2:
            found = float(optimize.brentq(parted, low, high, xtol=SAME * width, rtol=4.0 * np.finfo(float).eps))
            return found, 0.5j * sum(both(found)).imag
    return near, like
