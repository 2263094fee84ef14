"""What drives have to exert so that a mechanism moves as it is told, and what all joints carry then.

Every freedom is led: by driven joints that the model has, and by motions that are given for others. So places, rates and
accelerations follow from the constraints alone, and M a + G^T lambda = Q tells the efforts:

    phi(q, t) = 0,    G v = -d phi/dt,    G a = -dG/dt v - d2 phi/dt2,    G^T lambda = Q - M a
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from coordinator.analysis.mobility import mobility
from coordinator.analysis.reactions import courses_of, efforts_of, reactions_of
from coordinator.couplings.centralized.coupling import Centralized
from coordinator.couplings.centralized.equations import Equations
from coordinator.couplings.centralized.freedoms import find_freedoms
from coordinator.record.export import write_columns
from coordinator.simulation import Simulation
from modular.assembly import Assembly
from modular.component import class_name
from modular.elements import Array
from modular.errors import ModelError
from modular.names import missing
from modular.one_thread import on_one_thread

CLOSED = 1e-9  # of the extent: what constraints may leave open
DRIVE = "-drive"  # the name of a drive that is added: that of its joint, and this


@dataclass(frozen=True)
class Efforts:
    """What drives exert along their motions, and what joints carry, over time."""

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

    def save(self, path: str | Path) -> Path:
        """A table, one line per time: motions, efforts and powers of all drives, as CSV."""
        columns = {"time [s]": self.times}
        for drive in self.efforts:
            columns |= {f"{drive}: motion": self.motions[drive], f"{drive}: effort": self.efforts[drive]}
            columns[f"{drive}: power [W]"] = self.power(drive)
        return write_columns(columns, Path(path))

    def _of(self, drive: str) -> Array:
        if drive not in self.efforts:
            raise ModelError(missing("drive", drive, self.efforts))
        return self.efforts[drive]


@on_one_thread
def inverse_dynamics(model: Assembly, motions: Mapping[str, Any], times: Sequence[float] | Array) -> Efforts:
    """Efforts and reactions at some times; `motions`: of joints with one coordinate, from where the model stands.

    A motion is a course, or its values at `times`, between which it goes as a cubic spline. Drives of the model keep theirs.
    """
    instants = np.asarray(times, float)
    if instants.ndim != 1 or len(instants) < 1 or not np.isfinite(instants).all() or (np.diff(instants) <= 0.0).any():
        raise ModelError("inverse_dynamics: times: give at least one time [s], rising, all finite.")
    led, names = _led(model, motions, instants)
    with Simulation(led, 1e-3, Centralized(), project_velocities=True) as simulation:
        equations: Equations = simulation.system.cache["equations"]
        _refuse_freedoms(equations, led)
        return _moved(equations, led, instants, names)


def _led(model: Assembly, motions: Mapping[str, Any], times: Array) -> tuple[Assembly, dict[str, str]]:
    """A copy with a drive beside every joint for which a motion is given; the names by which drives are known."""
    led, names = model.copy(), {}
    for joint, given in motions.items():
        led.known(joint, led.joint_edges, "joint")
        edge = led.joint_edges[joint]
        drive = None if edge.joint.drive else edge.joint.leading(_checked(joint, given, times), led.dimension)
        if drive is None:
            raise ModelError(
                f"motion of '{joint}': a motion is given for a hinge or a slider, which have one coordinate, and not for a "
                f"{class_name(type(edge.joint))}; join a drive beside it, such as DrivenRotation."
            )
        where: dict[str, Any] = {} if edge.at is None else {"at": edge.at}
        led.join(joint + DRIVE, drive, str(edge.first), str(edge.second), **where)
        names[joint + DRIVE] = joint
    return led, names


def _checked(joint: str, given: Any, times: Array) -> Any:
    """A course as it is; values at times with these."""
    if hasattr(given, "pieces"):
        return given
    values = np.asarray(given, float)
    if values.shape != times.shape or not np.isfinite(values).all() or len(times) < 2:
        raise ModelError(
            f"motion of '{joint}': give a course, or as many finite values as there are times ({len(times)}, at least two); it has "
            f"the shape {values.shape}."
        )
    if times[0] != 0.0:
        raise ModelError(
            f"motion of '{joint}': values are counted from where the model stands, which is at the time 0; give times from 0 "
            f"on, not from {times[0]:g} s."
        )
    return times.tolist(), values.tolist()


def _refuse_freedoms(equations: Equations, led: Assembly) -> None:
    """Whatever is free would move by itself."""
    if find_freedoms(equations).number:
        found = mobility(led)
        free = "; ".join(map(str, found.motions[:3])) + (" and more" if found.freedoms > 3 else "")
        raise ModelError(
            f"inverse_dynamics: nothing leads these motions: {free}. Give motions for their joints, or drives."
        )


def _moved(equations: Equations, led: Assembly, times: Array, names: Mapping[str, str]) -> Efforts:
    """At one time after the other, each begun from where the one before leads."""
    series: dict[str, dict[str, list[Any]]] = {
        key: {} for key in ("efforts", "motions", "rates", "reactions", "positions")
    }
    q, v = equations.read()
    a, before = np.zeros(equations.size), float(times[0])
    for time in times.tolist():
        h = time - before
        equations.at(time)
        q = equations.project_position(q + h * v + 0.5 * h * h * a, v)
        open_ = np.abs(equations.errors())
        if not float(open_.max(initial=0.0)) <= CLOSED * equations.extent:
            worst = max(equations.rows_of, key=lambda name: float(open_[equations.rows_of[name]].max(initial=0.0)))
            raise ModelError(
                f"inverse_dynamics: at {time:.6g} s the mechanism cannot follow: '{worst}' stays open by {open_.max():.2g} m. "
                "Give times closer to each other, or motions within reach."
            )
        v = equations.project_velocity(q, v)
        a, multipliers = equations.accelerate(time, q, v)
        before = time
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
