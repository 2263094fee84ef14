"""What drives have to exert so that a mechanism moves as it is told, and what all joints carry then.

Every freedom is led: by driven joints that the model has, and by motions that are given for others. So places, rates and
accelerations follow from the constraints alone, and M a + G^T lambda = Q tells the efforts:

    phi(q, t) = 0,    G v = -d phi/dt,    G a = -dG/dt v - d2 phi/dt2,    G^T lambda = Q - M a
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from coordinator.analysis.bearing import refuse_breaking
from coordinator.analysis.equilibrium import refuse_programs
from coordinator.analysis.led_motion import along, refuse_events, refuse_freedoms, rising, with_drives
from coordinator.analysis.result import AXES, Result
from coordinator.analysis.statics import courses_of, efforts_of, reactions_of, wrench_series
from coordinator.couplings.centralized.coupling import Centralized
from coordinator.couplings.centralized.equations import Equations
from coordinator.record.export import Series
from coordinator.simulation import Simulation
from modular.assembly import Assembly
from modular.elements import Array
from modular.errors import ModelError
from modular.names import missing
from modular.one_thread import on_one_thread


@dataclass(frozen=True)
class Efforts(Result):
    """What drives exert along their motions, and what joints carry, over time."""

    rows = ("time",)
    times: Array  # [s]
    efforts: dict[str, Array]  # of each drive, on its second side against the first, (times,) [N] or [N m]
    motions: dict[str, Array]  # what each drive follows, (times,) [m] or [rad]
    rates: dict[str, Array]  # and its rate
    reactions: dict[str, Array]  # of each joint: force on its second side [N], then moment [N m], (times, ...)
    positions: dict[str, Array]  # of each port, (times, d) [m]
    turning: list[str]  # drives that lead angles, whose efforts are torques

    def power(self, drive: str) -> Array:
        """What it brings [W]."""
        return np.asarray(self._of(drive) * self.rates[drive])

    def work(self, drive: str) -> Array:
        """What it has brought since the first of the times [J], by trapezes."""
        power = self.power(drive)
        steps = 0.5 * (power[1:] + power[:-1]) * np.diff(self.times)
        return np.concatenate([[0.0], np.cumsum(steps)])

    def unit(self, drive: str) -> str:
        """Of its effort: that of a torque where it leads an angle."""
        return "N m" if drive.partition("[")[0] in self.turning else "N"

    def summary(self) -> list[str]:
        """In words, a line each."""
        lines = [f"what drives exert, {self.times[0]:g} to {self.times[-1]:g} s, at {len(self.times)} times"]
        for drive, effort in self.efforts.items():
            power, unit = self.power(drive), self.unit(drive)
            lines.append(
                f"'{drive}': {effort.min():.6g} to {effort.max():.6g} {unit}, up to {np.abs(power).max():.4g} W, "
                f"{self.work(drive)[-1]:.4g} J in all"
            )
        return lines

    def series(self) -> dict[str, Series]:
        """Its arrays, by name."""
        drives, d = list(self.efforts), self._dimension
        table: dict[str, tuple[dict[str, Array], str, str]] = {
            "effort": ({name: self.efforts[name] for name in drives}, "N or N m", "of a drive, on its second side"),
            "motion": ({name: self.motions[name] for name in drives}, "m or rad", "what a drive follows"),
            "power": ({name: self.power(name) for name in drives}, "W", "what a drive brings"),
        }
        found = {
            key: Series(("time", "drive"), np.stack(list(of.values()), axis=-1), unit, words)
            for key, (of, unit, words) in table.items()
            if drives
        }
        ports = np.stack(list(self.positions.values()), axis=1) if self.positions else np.zeros((len(self.times), 0, d))
        found["position"] = Series(("time", "port", "axis"), ports, "m", "position of a port")
        return found | wrench_series(self.reactions, d, ("time", "joint"))

    def labels(self) -> dict[str, Sequence[Any]]:
        """What the places along each axis are called."""
        d = self._dimension
        return {
            "time": self.times.tolist(), "drive": list(self.efforts), "port": list(self.positions), "joint": list(self.reactions),
            "axis": AXES[:d], "turning_axis": AXES if d == 3 else "z",
        }  # fmt: skip

    @property
    def _dimension(self) -> int:
        return next((one.shape[1] for one in self.positions.values()), 3)

    def columns(self) -> dict[str, Sequence[Any]]:
        """A table, one line per time: motions, efforts and powers of all drives."""
        columns: dict[str, Array] = {"time [s]": self.times}
        for drive in self.efforts:
            columns |= {f"{drive}: motion": self.motions[drive], f"{drive}: effort": self.efforts[drive]}
            columns[f"{drive}: power [W]"] = self.power(drive)
        return {name: values.tolist() for name, values in columns.items()}

    def _of(self, drive: str) -> Array:
        if drive not in self.efforts:
            raise ModelError(missing("drive", drive, self.efforts))
        return self.efforts[drive]


@on_one_thread
def inverse_dynamics(model: Assembly, motions: Mapping[str, Any], times: Sequence[float] | Array) -> Efforts:
    """Efforts and reactions at some times; `motions`: of joints with one coordinate, from where the model stands.

    A motion is a course, or its values at `times`, between which it goes as a cubic spline. Drives of the model keep theirs.
    """
    instants = rising(times, "inverse_dynamics")
    refuse_events(model, "inverse_dynamics", float(instants[-1]))
    refuse_programs(model)
    led, names = with_drives(model, motions, instants)
    with Simulation(led, 1e-3, Centralized(), project_velocities=True) as simulation:
        equations: Equations = simulation.system.cache["equations"]
        refuse_freedoms(equations, led, "inverse_dynamics")
        found = _moved(equations, led, instants, names)
    refuse_breaking(model, instants, found.reactions, "inverse_dynamics")
    return found


def _moved(equations: Equations, led: Assembly, times: Array, names: Mapping[str, str]) -> Efforts:
    """At one time after the other, each begun from where the one before leads."""
    series: dict[str, dict[str, list[Any]]] = {
        key: {} for key in ("efforts", "motions", "rates", "reactions", "positions")
    }
    for time, q, v in along(equations, times, "inverse_dynamics"):
        _, multipliers = equations.accelerate(time, q, v)
        reactions = reactions_of(equations, multipliers)
        courses, efforts = courses_of(equations), efforts_of(equations, multipliers)
        for drive, effort in efforts.items():
            for k, number in enumerate(effort.tolist()):
                name = names.get(drive, drive) + (f"[{k}]" if len(effort) > 1 else "")
                series["efforts"].setdefault(name, []).append(number)
                series["motions"].setdefault(name, []).append(courses[drive][k, 0])
                series["rates"].setdefault(name, []).append(courses[drive][k, 1])
        for joint, wrench in reactions.items():
            series["reactions"].setdefault(joint, []).append(wrench)
        for stack in equations.stacks:
            shape = stack.state()["q"].shape[1:]
            for name in stack.row:
                body, place = led.bodies[name], q[equations.columns[name]].reshape(1, *shape)
                for port in body.port_names:
                    series["positions"].setdefault(f"{name}.{port}", []).append(
                        body.port_motion(port, place, 0.0 * place, 0.0 * place)[0][0]
                    )
    turning = [
        names.get(name, name)
        for joints in equations.joints
        if joints.form.drives and not joints.form.translations
        for name in joints.names
    ]
    kept: dict[str, Any] = {
        key: {name: np.array(values) for name, values in found.items()} for key, found in series.items()
    }
    return Efforts(times, turning=turning, **kept)
