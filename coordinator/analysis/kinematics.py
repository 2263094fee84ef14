"""Kinematics: where drives lead a mechanism, how a port is led along a path, and where it can be led to.

What comes out is a run: places, velocities and accelerations of everything, angles and ways of all joints, to be plotted, shown and
saved as any other. No force has a say, and nothing is integrated (led_motion.py).
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from coordinator.analysis.assembling import with_ports_at
from coordinator.analysis.conditioning import Conditioning, Singular, told
from coordinator.analysis.led_motion import (
    Inputs,
    LedSystem,
    refuse_events,
    refuse_freedoms,
    rising,
    singular,
    spline,
    with_drives,
)
from coordinator.analysis.result import AXES, Result
from coordinator.couplings.centralized.coupling import Centralized
from coordinator.couplings.centralized.equations import Equations
from coordinator.couplings.centralized.freedoms import find_freedoms
from coordinator.record.export import Series
from coordinator.record.obstacles import PRESCRIBED
from coordinator.record.run import Run
from coordinator.simulation import Simulation
from modular.assembly import Assembly
from modular.elements import Array
from modular.errors import ModelError, RunWarning
from modular.names import first_few
from modular.one_thread import on_one_thread
from modular.port import GROUND

EVEN = 1e-9  # of a step: by how much times may be off an even spread
OTHERS = ("axis", "place", "slowest")  # names that arrays of a workspace have already
MOST_TOLD = 3  # singular configurations
PATH = "-path"  # the name of what leads a port: its body, its port, and this
MOST_TURNED = 1.5  # [rad], by a body between two samples: two of them turn by less than half a turn against each other


@on_one_thread
def kinematics(model: Assembly, motions: Mapping[str, Any], times: Sequence[float] | Array) -> Run:
    """The motion that drives prescribe; `motions`: of joints with one coordinate, from where the model stands.

    A motion is a course, or its values at `times`, which are evenly spread from 0 on. Drives of the model keep theirs.
    """
    instants = _evenly(times, "kinematics")
    _refuse(model, "kinematics", float(instants[-1]))
    led, _ = with_drives(model, motions or {}, instants)
    return _recorded(led, instants, "kinematics", free=False)


@on_one_thread
def inverse_kinematics(model: Assembly, paths: Mapping[str, Any], times: Sequence[float] | Array) -> Run:
    """The motion that leads ports along paths: of each its places at `times`, (times, d) [m], evenly spread from 0 on.

    It begins at the nearest place where ports are at the beginning of their paths. What is left free moves as little as it can.
    """
    who = "inverse_kinematics"
    instants = _evenly(times, who)
    _refuse(model, who, float(instants[-1]))
    wanted: dict[str, Array] = {}
    for port, given in paths.items():
        _port_of(model, port, who)
        try:
            path = np.array(given, float)
        except (TypeError, ValueError):
            path = np.empty(0)
        if path.shape != (len(instants), model.dimension) or not np.isfinite(path).all():
            raise ModelError(
                f"{who}: the path of '{port}' has the shape {path.shape}; give {model.dimension} finite numbers "
                f"[m] for each of the {len(instants)} times."
            )
        wanted[port] = path
    try:
        led: Assembly = with_ports_at(model, {port: path[0] for port, path in wanted.items()})
    except ModelError as error:
        raise ModelError(f"{who}: ports cannot be where their paths begin: {error}") from error
    for port, path in wanted.items():
        name = led.port(port, who)
        drive = led.bodies[name.body].leading(*spline(instants, path - path[0]))
        led.join(f"{name.body}-{name.port}{PATH}", drive, GROUND, port)
    return _recorded(led, instants, who, free=True)


@dataclass(frozen=True)
class Workspace(Result):
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

    @property
    def rows(self) -> tuple[str, ...]:  # type: ignore[override]
        """A line for each of the values of all drives together."""
        return tuple(f"{drive}_" if drive in OTHERS else drive for drive in self.drives)

    def summary(self) -> list[str]:
        """In words, a line each."""
        reached = self.reached
        if not reached.any():
            return [f"'{self.port}': none of these values can be reached"]
        places = self.places[reached]
        spans = ", ".join(
            f"{axis} {a:.4g} … {b:.4g} m" for axis, a, b in zip(AXES, places.min(0), places.max(0), strict=False)
        )
        where = np.unravel_index(int(np.nanargmin(self.slowest)), self.slowest.shape)
        at = ", ".join(
            f"{drive} = {values[k]:.4g}" for drive, values, k in zip(self.drives, self.values, where, strict=True)
        )
        return [
            f"{int(reached.sum())} of {reached.size} values can be reached: {spans}",
            f"nearest to a singular configuration at {at}: there it moves by {self.slowest[where]:.3g} m per unit of "
            "its drives at least",
        ]

    def series(self) -> dict[str, Series]:
        """Its arrays, by name."""
        words = "the least that it moves per unit of the drives"
        return {
            "place": Series((*self.rows, "axis"), self.places, "m", f"where '{self.port}' is"),
            "slowest": Series(self.rows, self.slowest, "m", words),
        }

    def labels(self) -> dict[str, Sequence[Any]]:
        """What the places along each axis are called."""
        values = {drive: own.tolist() for drive, own in zip(self.rows, self.values, strict=True)}
        return {**values, "axis": AXES[: self.places.shape[-1]]}


@on_one_thread
def workspace(model: Assembly, port: str, ranges: Mapping[str, Sequence[float] | Array]) -> Workspace:
    """Where a port is for values of drives, from where the model stands; `ranges`: of drives, or joints with one coordinate.

    Other drives stay where they begin. From the value nearest to where the model stands the grid is gone through from neighbour to
    neighbour: what cannot be reached so, without changing to another branch, is left out.
    """
    who = "workspace"
    _refuse(model, who, 0.0)
    _port_of(model, port, who)
    if not ranges:
        raise ModelError(f"{who}: give ranges of at least one joint, such as {{'shoulder': np.linspace(-1, 1, 21)}}.")
    values = [_values(joint, given) for joint, given in ranges.items()]
    led, drives = _with_inputs(model, list(ranges))
    shape = tuple(len(each) for each in values)
    places, slowest = np.full((*shape, model.dimension), np.nan), np.full(shape, np.nan)
    with Simulation(led, 1e-3, Centralized(), project_velocities=True) as simulation:
        equations: Equations = simulation.system.cache["equations"]
        refuse_freedoms(equations, led, who)
        inputs = Inputs(equations, drives)

        def at(index: tuple[int, ...]) -> Array:
            return np.array([each[k] for each, k in zip(values, index, strict=True)])

        begin = tuple(int(np.abs(each).argmin()) for each in values)
        stands: dict[tuple[int, ...], Array] = {}
        waiting = [begin] if inputs.to(at(begin)) else []
        if waiting:
            stands[begin] = inputs.q
        while waiting:
            here = waiting.pop(0)
            inputs.set(at(here), stands[here])
            equations.go(inputs.q, np.zeros(equations.size))
            places[here], slowest[here] = _port(equations, led, port, inputs.q, drives)
            if singular(equations, 0):
                continue  # branches meet there
            for there in _neighbours(here, shape):
                if there not in stands:
                    inputs.set(at(here), stands[here])
                    if inputs.to(at(there)):
                        stands[there] = inputs.q
                        waiting.append(there)
    return Workspace(port, list(ranges), values, places, slowest)


def _with_inputs(model: Assembly, joints: Sequence[str]) -> tuple[Assembly, list[str]]:
    """A copy with a drive beside every joint that is none, which stands still; the names of the drives."""
    led, drives, still = model.copy(), [], np.array([0.0, 1.0])
    for joint in joints:
        led.known(joint, led.joint_edges, "joint", "workspace")
        edge = led.joint_edges[joint]
        if edge.joint.drive and len(edge.joint.coordinates) == 1:
            drives.append(joint)
            continue
        ends = {edge.first_body, edge.second_body}
        beside = [n for n, e in led.joint_edges.items() if e.joint.drive and {e.first_body, e.second_body} == ends]
        if beside and not edge.joint.drive:
            raise ModelError(f"workspace: '{joint}' is led by '{beside[0]}' already; give the range of that.")
        led, names = with_drives(led, {joint: 0.0 * still}, still)
        drives += names
    return led, drives


def _neighbours(index: tuple[int, ...], shape: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    for axis, count in enumerate(shape):
        for step in (-1, 1):
            if 0 <= index[axis] + step < count:
                yield (*index[:axis], index[axis] + step, *index[axis + 1 :])


def _port(equations: Equations, led: Assembly, port: str, place: Array, drives: Sequence[str]) -> tuple[Array, float]:
    """Where a port is, and the least that it moves per unit of the drives."""
    owner, _, name = port.partition(".")
    body, own = led.bodies[owner], equations.columns[owner]
    shape = next(tuple(stack.state()["q"].shape[1:]) for stack in equations.stacks if owner in stack.row)
    q = place[own].reshape(1, *shape)
    saddle = equations.saddle(equations.mass, equations.jacobian())
    slopes = []
    for drive in drives:
        rates = np.zeros(equations.rows)
        rates[equations.rows_of[drive].stop - 1] = 1.0
        pace = saddle.solve(np.zeros(equations.size), rates)[0][own].reshape(1, *shape)
        slopes.append(body.port_motion(name, q, pace, 0.0 * pace)[1][0])
    sizes = np.linalg.svd(np.array(slopes), compute_uv=False)
    return body.port_motion(name, q, 0.0 * q, 0.0 * q)[0][0], float(sizes[min(len(slopes), led.dimension) - 1])


def _port_of(model: Assembly, port: str, who: str) -> None:
    if model.port(port, who).body == GROUND:
        raise ModelError(f"{who}: '{port}' stays where it is; name the port of a body, such as 'hand.tip'.")


def _refuse(model: Assembly, who: str, until: float) -> None:
    """What is not rigid, and what happens on the way."""
    refuse_events(model, who, until)
    bending = [name for name, body in model.bodies.items() if getattr(body.new_stack(), "elastic", False)]
    if bending:
        raise ModelError(
            f"{who}: {first_few(bending)} are flexible, so their shape depends on forces; replace them by rigid bodies."
        )


def _values(joint: str, given: Sequence[float] | Array) -> Array:
    try:
        values = np.asarray(given, float)
    except (TypeError, ValueError):
        values = np.empty(0)
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


def _recorded(led: Assembly, times: Array, who: str, *, free: bool) -> Run:
    """A run through all times."""
    step = float(times[-1] / (len(times) - 1))
    with Simulation(led, step, Centralized(), project_velocities=True) as simulation:
        equations: Equations = simulation.system.cache["equations"]
        if not free:
            refuse_freedoms(equations, led, who)
        walk = LedSystem(equations, 0.0, free=free)
        freedoms, conditioning = find_freedoms(equations).number, Conditioning(equations)
        simulation.recorder.segments = []
        simulation.past.prescribed = True
        simulation.events.append({"tick": 0, "time": 0.0, "kind": PRESCRIBED, "name": who, "repeats": False})
        for tick, time in enumerate(times.tolist()):
            if (joint := walk.to(time)) is not None:
                raise ModelError(
                    f"{who}: at {time:.6g} s the mechanism cannot follow: '{joint}' stays open by {walk.open_by:.2g}. "
                    "It may be out of reach, or at a place where branches meet; prescribe another motion, or start "
                    "elsewhere."
                )
            equations.go(walk.q, walk.v)
            if singular(equations, freedoms):
                raise ModelError(
                    f"{who}: at {time:.6g} s the mechanism stands where branches meet (it is singular there), and nothing says on "
                    "which it goes on; take times that pass it by, or lead another of its joints."
                )
            conditioning.look(time)
            _refuse_fast(equations, led, walk, step, time, who)
            equations.write(a=walk.a)
            equations.exert_joints(np.full(equations.rows, np.nan))  # of forces nothing is known
            simulation.system.tick = tick
            simulation.recorder.record(simulation.system)
        _tell(simulation, conditioning.singular(), max(conditioning.smallest), who)
        return simulation.recorded


def _tell(simulation: Simulation, found: Sequence[Singular], largest: float, who: str) -> None:
    """Singular configurations that the motion goes through or comes near to: in words, and among what happened on the way."""
    for one in found:
        kind, name = "singular" if one.passed else "nearly singular", one.bodies[0] if one.bodies else ""
        simulation.events.append(
            {"tick": round(one.time / simulation.dt), "time": one.time, "kind": kind, "name": name, "repeats": False}
        )
    said = [told(one) for one in found[:MOST_TOLD]]
    if len(found) > MOST_TOLD:
        said.append(f"and so {len(found) - MOST_TOLD} times more")
    if any(one.passed for one in found):
        said.append("where it goes through one it is taken to go straight on: nothing but its smoothness says so")
    if near := [one.smallest for one in found if not one.passed]:
        times = largest / max(min(near), 1e-300)
        said.append(
            f"where it is near one velocities, accelerations and errors are up to {times:.2g} times as large as elsewhere"
        )
    if said:
        warnings.warn(f"{who}: {'; '.join(said)}.", RunWarning, stacklevel=4)


def _refuse_fast(equations: Equations, led: Assembly, walk: LedSystem, step: float, time: float, who: str) -> None:
    """Turns are told from sample to sample."""
    for stack in equations.stacks:
        shape = stack.state()["q"].shape[1:]
        for name in stack.row:
            body, own = led.bodies[name], equations.columns[name]
            if body.port_names and body.freedoms == 3 * (body.dimension - 1):
                q, v = (x[own].reshape(1, *shape) for x in (walk.q, walk.v))
                turned = step * float(np.linalg.norm(body.angular_velocity_of(body.port_names[0], q, v)))
                if turned > MOST_TURNED:
                    raise ModelError(
                        f"{who}: at {time:.6g} s body '{name}' turns by {turned:.3g} rad from one time to the next, too far "
                        f"to count its turns; give times no farther apart than {step * MOST_TURNED / turned:.2g} s."
                    )
