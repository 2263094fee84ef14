"""What a mechanism can do on the way of a run: how near it comes to singular configurations, and when it goes through them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from coordinator.analysis.conditioning import Conditioning, Singular, told
from coordinator.analysis.result import Result
from coordinator.couplings.centralized.coupling import Centralized
from coordinator.couplings.centralized.equations import Equations
from coordinator.record.export import Series
from coordinator.record.run import Run
from coordinator.simulation import Simulation
from modular.elements import Array, Indices
from modular.errors import ModelError
from modular.names import first_few
from modular.one_thread import on_one_thread

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
                f"mobility_along: {first_few(missing)} tell no equations, so nothing can be said of the whole."
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
