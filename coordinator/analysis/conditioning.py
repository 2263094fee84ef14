"""How near a mechanism is to a singular configuration, from pose to pose, and whether it has passed one in between.

With the rows of all joints made orthonormal one joint after the other, R = (J J^T)^(-1/2) J, and Z the motions of the bodies by
themselves, the singular values of R Z that count say how well joints hold what they hold; where the smallest goes to zero a motion
appears. With R Z = U S V^T in one pose and R' Z' in the next

    det(U^T R' Z' Z'^T Z V)

has changed its sign where an odd number of them have gone through zero: no single vector has to be followed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from coordinator.analysis.mobility import own_motions
from coordinator.analysis.result import Kept
from coordinator.analysis.tangent import dense
from coordinator.couplings.centralized.equations import Equations
from modular.elements import Array

RANK_TOLERANCE = 1e-8  # of the largest singular value: what is less is none
NEAR = 0.05  # of the largest on the way: a least value that is less is told
TAKES_PART = 0.1  # of the largest: bodies and joints that are named
DIM = 0.2  # of what two poses have in common: less cannot be told apart from a passage
MOST_NAMES = 4


@dataclass(frozen=True)
class Singular(Kept):
    """An instant at which a mechanism stands in a singular configuration, or nearly."""

    time: float  # [s]
    smallest: float  # singular value there
    passed: bool  # whether it goes through
    bodies: list[str]  # that could move in other ways there, those that go farthest first
    joints: list[str]  # that may hold each other in tension there


def told(one: Singular) -> str:
    """An instant in a sentence."""
    who = ", ".join(f"'{name}'" for name in one.bodies)
    if one.passed:
        return f"at {one.time:.6g} s it goes through a singular configuration: {who} could move in other ways there"
    if one.smallest == 0.0:
        return f"at {one.time:.6g} s it stands in a singular configuration: {who} could move in other ways there"
    return f"near {one.time:.6g} s it is nearly singular (singular value {one.smallest:.2g}): {who} would move differently there"


@dataclass(frozen=True)
class _Look:
    """One pose."""

    time: float
    left: Array
    values: Array
    right: Array
    own: Array  # of the bodies by themselves, orthonormal by columns
    locked: Array
    sign: float  # of the determinant, against that of the first pose


@dataclass
class Conditioning:
    """A system that is taken from pose to pose."""

    equations: Equations
    times: list[float] = field(default_factory=list)
    smallest: list[float] = field(default_factory=list)  # of what counts
    signs: list[float] = field(default_factory=list)
    freedoms: list[int] = field(default_factory=list)
    named: list[tuple[list[str], list[str]]] = field(default_factory=list)
    doubtful: list[float] = field(default_factory=list)  # times before which poses are too far apart
    breaks: list[int] = field(default_factory=list)  # poses at which other joints begin to count
    _before: _Look | None = None
    _there: tuple[str, ...] = ()
    _rank: int = -1

    def look(self, time: float, without: frozenset[str] = frozenset()) -> None:
        """Take the pose in which the system stands; joints and bodies that are not there do not count."""
        there = tuple(name for name in self.equations.rows_of if name not in without)
        locked, own, rows, columns = self._locked(without)
        left, values, right = np.linalg.svd(locked, full_matrices=False)
        counted = int((values > RANK_TOLERANCE * values.max(initial=0.0)).sum())
        if there != self._there or not self.times:
            self._there, self._before, self._rank = there, None, counted
            self.breaks.append(len(self.times))
        if counted > self._rank:  # it began in a singular configuration
            self._before, self._rank = None, counted
        self.times.append(time)
        self.freedoms.append(own.shape[1] - counted)
        r = self._rank
        self.smallest.append(float(values[r - 1]) if 0 < counted == r else 0.0 if r else np.inf)
        self.named.append(self._names(left[:, r - 1], own @ right[r - 1], rows, columns) if r else ([], []))
        if not r or counted < r:
            self.signs.append(0.0)  # in a singular configuration itself
            return
        sign = 1.0
        if (before := self._before) is not None:
            turned = own.T @ before.own
            common = before.left.T @ locked @ turned @ before.right.T
            sign = before.sign * float(np.linalg.slogdet(common)[0])
            alike = np.linalg.svd(turned @ before.right.T, compute_uv=False)
            if float(alike.min(initial=1.0)) < DIM:
                self.doubtful.append(time)
        self.signs.append(sign)
        self._before = _Look(time, left[:, :r], values[:r], right[:r], own, locked, sign)

    def singular(self) -> list[Singular]:
        """Where it went through a singular configuration, and where it was nearly in one."""
        found: list[Singular] = []
        for first, last in zip(self.breaks, [*self.breaks[1:], len(self.times)], strict=True):
            found += self._stretch(np.arange(first, last))
        return found

    def _stretch(self, at: npt.NDArray[np.int64]) -> list[Singular]:
        """The same, while the same joints are there."""
        size, sign, time = (np.array(x)[at] for x in (self.smallest, self.signs, self.times))
        if not len(at) or not np.isfinite(size).all():
            return []
        found = []
        regular = np.flatnonzero(sign != 0.0)
        taken = np.zeros(len(at), bool)
        for k in np.flatnonzero(sign == 0.0).tolist():
            inside = bool(0 < k < len(at) - 1) and bool(sign[k - 1] * sign[k + 1] < 0.0)
            found.append(self._at(int(at[k]), float(time[k]), 0.0, passed=inside))
            taken[max(k - 1, 0) : k + 2] = True
        for k, m in pairwise(regular.tolist()):
            if m == k + 1 and sign[k] * sign[m] < 0.0:
                share = size[k] / (size[k] + size[m])
                nearest = k if share < 0.5 else m
                found.append(self._at(int(at[nearest]), float(time[k] + share * (time[m] - time[k])), 0.0, passed=True))
                taken[[k, m]] = True
        largest = float(size.max())
        for k in range(1, len(at) - 1):
            if taken[k] or not size[k - 1] >= size[k] < size[k + 1] or taken[k - 1] or taken[k + 1]:
                continue
            if size[k] < NEAR * largest:
                found.append(self._at(int(at[k]), float(time[k]), float(size[k]), passed=False))
        return sorted(found, key=lambda one: one.time)

    def _at(self, k: int, time: float, smallest: float, *, passed: bool) -> Singular:
        return Singular(time, smallest, passed, *self.named[k])

    def _locked(self, without: frozenset[str]) -> tuple[Array, Array, list[str], dict[str, slice]]:
        """R Z, Z, of which joint each row is, and the coordinates of the bodies that are there."""
        equations = self.equations
        jacobian = dense(equations.jacobian())
        columns = {name: own for name, own in equations.columns.items() if name not in without}
        own = own_motions(equations, jacobian, columns)
        blocks, rows = [], list[str]()
        for name, of in equations.rows_of.items():
            if name in without:
                continue
            ends = [
                columns[owner] for owner in dict.fromkeys(equations.system.joint_home[name].owners) if owner in columns
            ]
            at = np.concatenate([np.arange(end.start, end.stop) for end in ends] or [np.empty(0, int)])
            u, values, vh = np.linalg.svd(jacobian[of][:, at], full_matrices=False)
            rank = int((values > RANK_TOLERANCE * values.max(initial=0.0)).sum())
            blocks.append(u[:, :rank] @ (vh[:rank] @ own[at]))
            rows += [name] * len(blocks[-1])
        return np.concatenate(blocks) if blocks else np.zeros((0, own.shape[1])), own, rows, columns

    def _names(
        self, left: Array, motion: Array, rows: list[str], columns: dict[str, slice]
    ) -> tuple[list[str], list[str]]:
        """Bodies that go in a motion, and joints that hold each other in a state, the largest first."""
        goes = {name: float(np.linalg.norm(motion[own])) for name, own in columns.items()}
        holds: dict[str, float] = {}
        for name, share in zip(rows, left, strict=True):
            holds[name] = float(np.hypot(holds.get(name, 0.0), share))
        return _largest(goes), _largest(holds)


def _largest(sizes: dict[str, float]) -> list[str]:
    least = TAKES_PART * max(sizes.values(), default=0.0)
    named = sorted((name for name, size in sizes.items() if size > least), key=lambda name: -round(sizes[name], 9))
    return named[:MOST_NAMES]
