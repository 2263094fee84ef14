"""How near a mechanism is to a singular configuration, from pose to pose, and whether it has passed one in between.

With the rows of all joints made orthonormal one joint after the other, R = (J J^T)^(-1/2) J, and Z the motions of the bodies by
themselves, the singular values of R Z that count say how well joints hold what they hold; where the smallest goes to zero a motion
appears. With R Z = U S V^T in one pose and R' Z' in the next

    det(U^T R' Z' Z'^T Z V)

has changed its sign where an odd number of them have gone through zero: no single vector has to be followed.

What a mechanism can do on the way of a run: how near it comes to singular configurations, and when it goes through them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from coordinator.analysis.mobility import own_motions
from coordinator.analysis.result import Kept, Result
from coordinator.analysis.tangent import dense
from coordinator.couplings.centralized.coupling import Centralized
from coordinator.couplings.centralized.equations import Equations
from coordinator.record.export import Series
from coordinator.record.run import Run
from coordinator.simulation import Simulation
from modular.elements import Array, Indices
from modular.errors import ModelError
from modular.names import first_few
from modular.one_thread import on_one_thread

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
class _PoseAnalysis:
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
    _before: _PoseAnalysis | None = None
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
        self._before = _PoseAnalysis(time, left[:, :r], values[:r], right[:r], own, locked, sign)

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


Flags = npt.NDArray[np.bool_]
FAR = 0.02  # of the extent: samples between which no coordinate goes farther are left out
SOON = 0.1  # of the time that was looked at: a singular configuration that is no farther ahead is told
ALL = 2000  # samples of which none is left out


@dataclass(frozen=True)
class Along(Result):
    """Freedoms and the smallest singular value at some times of a run, and the singular configurations on its way."""

    rows = ("time",)
    times: Array  # [s]
    freedoms: Array
    smallest: Array  # singular value that counts, of rows of length one: how well joints hold what they hold
    ahead: Array  # time after which it would be nothing, were it to fall on as it falls [s]; inf where it rises
    way: Array  # what the farthest port would go meanwhile at its speed [m]
    singular: list[Singular]
    doubtful: list[float]  # times before which poses are too far apart to tell whether it went through one
    until: float  # up to where it was looked at [s]: what is joined later has not been described
    end: float  # of the run [s]

    def summary(self) -> list[str]:
        """In words, a line each."""
        counts = sorted(set(self.freedoms.astype(int).tolist()))
        lines = [
            f"{' to '.join(map(str, dict.fromkeys((counts[0], counts[-1]))))} freedom{'s' * (counts != [1])}, "
            f"{self.times[0]:g} to {self.until:g} s, at {len(self.times)} times"
        ]
        held = np.isfinite(self.smallest)
        if held.any():
            k = int(np.argmin(np.where(held, self.smallest, np.inf)))
            lines.append(f"smallest singular value {self.smallest[k]:.3g}, at {self.times[k]:.6g} s")
        lines += [told(one) for one in self.singular]
        if not self.singular:
            lines.append("no singular configuration on the way")
        near = np.isfinite(self.ahead[-1:]) & (self.ahead[-1:] < SOON * (self.until - self.times[0]))
        if near.any():
            lines.append(
                f"at its end it approaches one: {self.ahead[-1]:.3g} s or {self.way[-1]:.3g} m ahead, at its present "
                "rate"
            )
        if self.doubtful:
            lines.append(
                f"before {self.doubtful[0]:.6g} s samples are too far apart to tell whether it went through one"
            )
        if self.until < self.end:
            lines.append(f"from {self.until:.6g} s on it was not looked at: something was joined or added there")
        return lines

    def series(self) -> dict[str, Series]:
        """Its arrays, by name."""
        at = ("time",)
        return {
            "freedoms": Series(at, self.freedoms, "1", "freedoms to first order"),
            "smallest": Series(at, self.smallest, "1", "smallest singular value that counts, of rows of length one"),
            "ahead": Series(at, self.ahead, "s", "time to a singular configuration at the present rate"),
            "way": Series(at, self.way, "m", "way of the farthest port until then"),
            "singular_time": Series(("singular",), np.array([one.time for one in self.singular]), "s", "when"),
            "passed": Series(
                ("singular",), np.array([one.passed for one in self.singular], bool), "", "whether through it"
            ),
        }

    def labels(self) -> dict[str, Sequence[Any]]:
        """What the places along each axis are called."""
        return {"time": self.times.tolist(), "singular": range(len(self.singular))}


@on_one_thread
def mobility_along(run: Run) -> Along:
    """Of a run, by its recorded samples: joints and bodies that its model has from the start, as long as they are there."""
    model = run.assembly()
    model.schedule = []
    for name in list(model.force_edges):
        model.remove(name)
    if not len(run) or not model.bodies:
        raise ModelError("mobility_along: the run holds no samples of bodies.")
    end = _until(run)
    samples = _samples(run, list(model.bodies), end)
    gone: dict[str, Flags] = {name: np.ones(len(run), bool) for name in model.joint_edges}
    gone |= {name: np.asarray(np.isnan(run.violation(name)[:, 0])) for name in gone if name in run.joints}
    states = {name: run.state(name)[0] for name in model.bodies}
    gone |= {name: np.asarray(np.isnan(state).reshape(len(run), -1).any(axis=1)) for name, state in states.items()}
    with Simulation(model, run.dt, Centralized(), project_velocities=True) as simulation:
        equations: Equations = simulation.system.cache["equations"]
        if missing := [name for name in model.bodies if name not in equations.columns]:
            raise ModelError(
                f"mobility_along: {first_few(missing)} give no equations, so the mobility of the model cannot be computed."
            )
        q, still = equations.read()[0], np.zeros(equations.size)
        conditioning = Conditioning(equations)
        for k in samples.tolist():
            for name, own in equations.columns.items():
                if not gone[name][k]:
                    q[own] = states[name][k].ravel()
            equations.at(float(run.time[k]))
            equations.go(q, still)
            conditioning.look(float(run.time[k]), frozenset(name for name in gone if gone[name][k]))
    times, smallest = np.array(conditioning.times), np.array(conditioning.smallest)
    ahead = _ahead(times, smallest, np.array(conditioning.signs), conditioning.breaks)
    speeds = _speeds(run, samples)
    way = np.where(np.isfinite(ahead), np.where(np.isfinite(ahead), ahead, 0.0) * speeds, np.inf)
    return Along(
        times, np.array(conditioning.freedoms), smallest, ahead, way, conditioning.singular(),
        conditioning.doubtful, float(times[-1]), float(run.time[-1]),
    )  # fmt: skip


def _until(run: Run) -> int:
    """Samples up to where something comes that the model does not describe from the start."""
    comes = [event["tick"] for event in run.events if event["kind"] in ("join", "add") and event["tick"] > 0]
    return int(np.searchsorted(run.ticks, min(comes))) if comes else len(run)


def _samples(run: Run, bodies: Sequence[str], end: int) -> Indices:
    """All, or, where they are many, those between which something moves."""
    if end <= ALL:
        return np.arange(max(end, 1))
    q = np.concatenate([run.state(name)[0].reshape(len(run), -1) for name in bodies], axis=1)[:end]
    extent = float(np.nanmax(np.abs(q), initial=1.0))
    chosen, last = [0], np.nan_to_num(q[0])
    for k in range(1, end):
        here = np.nan_to_num(q[k])
        if float(np.abs(here - last).max()) > FAR * extent or k == end - 1:
            chosen.append(k)
            last = here
    return np.array(chosen)


def _ahead(times: Array, smallest: Array, signs: Array, breaks: Sequence[int]) -> Array:
    """-s / (ds/dt) of the value that goes through zero with its sign, stretch by stretch."""
    ahead = np.full(len(times), np.inf)
    for first, last in zip(breaks, [*breaks[1:], len(times)], strict=True):
        part = slice(first, last)
        if last - first < 3 or not np.isfinite(smallest[part]).all():
            continue
        value = smallest[part] * signs[part]
        rate = np.gradient(value, times[part])
        with np.errstate(divide="ignore", invalid="ignore"):
            left = -value / rate
        ahead[part] = np.where(np.isfinite(left) & (left >= 0.0), left, np.inf)
    return ahead


def _speeds(run: Run, samples: Indices) -> Array:
    """Of the fastest port [m/s]."""
    fastest = np.zeros(len(samples))
    for name, body in run.bodies.items():
        for port in body.port_names:
            fastest = np.fmax(fastest, np.linalg.norm(run.velocity(f"{name}.{port}")[samples], axis=1))
    return fastest
