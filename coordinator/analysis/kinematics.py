"""Kinematics: where drives lead a mechanism, how a port is led along a path, and where it can be led to.

What comes out is a run: places, velocities and accelerations of everything, angles and ways of all joints, to be plotted, shown and
saved as any other. No force has a say, and nothing is integrated (led_motion.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from coordinator.analysis.led_motion import Walk, acceleration, refuse_freedoms, rising, with_drives
from coordinator.couplings.centralized.coupling import Centralized
from coordinator.couplings.centralized.equations import Equations
from coordinator.record.obstacles import PRESCRIBED
from coordinator.record.run import Run
from coordinator.simulation import Simulation
from modular.assembly import Assembly
from modular.elements import Array
from modular.errors import ModelError
from modular.one_thread import on_one_thread
from modular.port import GROUND

EVEN = 1e-9  # of a step: by how much times may be off an even spread
APPROACH = 1.0  # [s] in which a port is led to where its path begins
PATH = "-path"  # the name of what leads a port: its body, its port, and this


@on_one_thread
def kinematics(model: Assembly, motions: Mapping[str, Any], times: Sequence[float] | Array) -> Run:
    """The motion that drives prescribe; `motions`: of joints with one coordinate, from where the model stands.

    A motion is a course, or its values at `times`, which are evenly spread from 0 on. Drives of the model keep theirs.
    """
    instants = _evenly(times, "kinematics")
    led, _ = with_drives(model, motions, instants)
    return _recorded(led, instants, "kinematics", 0.0, free=False)


@on_one_thread
def inverse_kinematics(model: Assembly, paths: Mapping[str, Any], times: Sequence[float] | Array) -> Run:
    """The motion that leads ports along paths: of each its places at `times`, (times, d) [m], evenly spread from 0 on.

    A port is led to where its path begins first. What is left free moves as little as it can. Branches are kept.
    """
    instants = _evenly(times, "inverse_kinematics")
    led, late = model.copy(), APPROACH
    for port, given in paths.items():
        name = led.port(port, "inverse_kinematics")
        path = np.asarray(given, float)
        if path.shape != (len(instants), model.dimension) or not np.isfinite(path).all():
            raise ModelError(
                f"inverse_kinematics: the path of '{port}' has the shape {path.shape}; give {model.dimension} finite numbers "
                f"[m] for each of the {len(instants)} times."
            )
        drive = led.bodies[name.body].leading(late + instants, path - _place_of(led, port))
        led.join(f"{name.body}-{name.port}{PATH}", drive, GROUND, port)
    return _recorded(led, instants, "inverse_kinematics", late, free=True)


@dataclass(frozen=True)
class Workspace:
    """Where a port can be led: a grid over the ranges of drives, NaN where the mechanism cannot be closed."""

    port: str
    drives: list[str]
    values: list[Array]  # of each drive, along its axis of the grid [m], [rad]
    places: Array  # (n1, n2, ..., d) [m]
    slowest: (
        Array  # the least that the port moves per unit of the drives, in any mixture of them; 0 where it is singular
    )

    @property
    def reached(self) -> Array:
        """Which of them can be closed."""
        return ~np.isnan(self.places[..., 0])


@on_one_thread
def workspace(model: Assembly, port: str, ranges: Mapping[str, Sequence[float] | Array]) -> Workspace:
    """Where a port is for values of drives; `ranges`: of joints with one coordinate, values from where the model stands.

    The grid is gone through so that one drive moves at a time. A place that cannot be reached from the one before is left out.
    """
    values = [_values(joint, given) for joint, given in ranges.items()]
    if not values:
        raise ModelError("workspace: give ranges of at least one joint, such as {'shoulder': np.linspace(-1, 1, 21)}.")
    model.port(port, "workspace")
    order = _snake([len(each) for each in values])
    ticks = np.arange(len(order) + 1.0)
    along = {
        joint: np.array([0.0, *(each[index[k]] for index in order)])
        for k, (joint, each) in enumerate(zip(ranges, values, strict=True))
    }
    led, _ = with_drives(model, along, ticks)
    shape = [len(each) for each in values]
    places, slowest = np.full((*shape, model.dimension), np.nan), np.full(shape, np.nan)
    body = led.bodies[port.partition(".")[0]]
    with Simulation(led, 1e-3, Centralized(), project_velocities=True) as simulation:
        equations: Equations = simulation.system.cache["equations"]
        refuse_freedoms(equations, led, "workspace")
        walk = Walk(equations, 0.0)
        for tick, index in zip(ticks[1:].tolist(), order, strict=True):
            if walk.to(tick) is not None and not walk.jump(tick):
                continue
            places[index], slowest[index] = _port(equations, led, body, port, walk, list(ranges))
    return Workspace(port, list(ranges), values, places, slowest)


def _port(
    equations: Equations, led: Assembly, body: Any, port: str, walk: Walk, drives: list[str]
) -> tuple[Array, float]:
    """Where a port is, and the least that it moves per unit of the drives."""
    own, name = equations.columns[port.partition(".")[0]], port.partition(".")[2]
    shape = _shape_of(equations, port.partition(".")[0])
    q = walk.q[own].reshape(1, *shape)
    saddle = equations.saddle(equations.mass, equations.jacobian())
    slopes = []
    for drive in drives:
        rates = np.zeros(equations.rows)
        rates[equations.rows_of[f"{drive}-drive"].stop - 1] = 1.0
        pace = saddle.solve(np.zeros(equations.size), rates)[0][own].reshape(1, *shape)
        slopes.append(body.port_motion(name, q, pace, 0.0 * pace)[1][0])
    sizes = np.linalg.svd(np.array(slopes), compute_uv=False)
    return body.port_motion(name, q, 0.0 * q, 0.0 * q)[0][0], float(sizes[min(len(slopes), led.dimension) - 1])


def _shape_of(equations: Equations, name: str) -> tuple[int, ...]:
    return next(tuple(stack.state()["q"].shape[1:]) for stack in equations.stacks if name in stack.row)


def _snake(counts: Sequence[int]) -> list[tuple[int, ...]]:
    """All places of a grid, each a neighbour of the one before."""
    found: list[tuple[int, ...]] = [()]
    for count in counts:
        longer = []
        for k, index in enumerate(found):
            steps = range(count) if k % 2 == 0 else range(count - 1, -1, -1)
            longer += [(*index, step) for step in steps]
        found = longer
    assert len(found) == len(list(product(*map(range, counts))))
    return found


def _values(joint: str, given: Sequence[float] | Array) -> Array:
    values = np.asarray(given, float)
    if values.ndim != 1 or not len(values) or not np.isfinite(values).all():
        raise ModelError(
            f"workspace: the range of '{joint}' = {given!r}; give finite values, such as np.linspace(-1, 1, 21)."
        )
    return values


def _evenly(times: Sequence[float] | Array, who: str) -> Array:
    """Times of a run: from 0 on, one step after the other."""
    instants = rising(times, who)
    steps = np.diff(instants)
    if len(instants) < 2 or instants[0] != 0.0 or np.ptp(steps) > EVEN * steps[0] * len(instants):
        raise ModelError(f"{who}: times: give at least two, evenly spread from 0 on, such as np.linspace(0, 1, 201).")
    return instants


def _place_of(model: Assembly, port: str) -> Array:
    with Simulation(model, 1e-3, Centralized(), project_velocities=True) as simulation:
        return np.asarray(simulation.recorded.position(port)[0])


def _recorded(led: Assembly, times: Array, who: str, late: float, *, free: bool) -> Run:
    """A run through all times, the model standing at the first of them `late` after where it stands."""
    step = float(times[-1] / (len(times) - 1))
    with Simulation(led, step, Centralized(), project_velocities=True) as simulation:
        equations: Equations = simulation.system.cache["equations"]
        if not free:
            refuse_freedoms(equations, led, who)
        walk = Walk(equations, 0.0)
        simulation.recorder.segments = []
        simulation.past.prescribed = True
        simulation.events.append({"tick": 0, "time": 0.0, "kind": PRESCRIBED, "name": who, "repeats": False})
        for tick, time in enumerate((late + times).tolist()):
            if (joint := walk.to(time)) is not None:
                raise ModelError(
                    f"{who}: at {time - late:.6g} s the mechanism cannot follow: '{joint}' stays open by {walk.open_by:.2g}. "
                    "It may be out of reach, or at a place where branches meet; lead it elsewhere, or begin elsewhere."
                )
            a = acceleration(equations, walk.q, walk.v)
            equations.go(walk.q, walk.v)
            equations.write(a=a)
            equations.errors()
            simulation.system.tick = tick
            simulation.recorder.record(simulation.system)
        return simulation.recorded
