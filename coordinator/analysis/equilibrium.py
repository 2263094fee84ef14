"""Where a model would come to rest if something took its energy: downhill by steps that become Newton's.

    s = sum over modes of v (v^T f) / max(|kappa|, least),    f = N^T Q,    K v = kappa M v
    q <- q + N s, put back onto the constraints

in independent motions N. Where the stiffness K bends the wrong way its size is taken (Y. N. Dauphin et al., Adv. Neural Inf.
Process. Syst. 27 (2014) 2933), so every step goes along the forces, and what is found is a place where the model stays, not one
on which it could be balanced. A step is no longer than what was right before: as if all were stiffer by one number. It is taken
back where constraints bend it, or where forces at its end would turn it round.

A model that rests: where it stands, or where it would come to rest from there.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
from scipy import linalg

from coordinator.analysis.tangent import dense, stiffness_along
from coordinator.couplings.centralized.coupling import Centralized
from coordinator.couplings.centralized.equations import Equations
from coordinator.couplings.centralized.freedoms import find_freedoms
from coordinator.couplings.centralized.solver import State, settled
from coordinator.couplings.centralized.tangents import curvature, force_tangents
from coordinator.simulation import Simulation
from modular.assembly import Assembly
from modular.elements import Array
from modular.errors import ModelError
from modular.force import Decides
from modular.names import first_few

MOST_STEPS = 1000
BEGINNING, FARTHEST = 0.1, 0.4  # of the extent, in one step
REST_TOLERANCE = 1e-10  # accelerations, as a share of those of free bodies under the same forces
SHORTEST = 1e-12  # of the extent: shorter steps are rounding, of which a light body makes accelerations
NO_STEP = 0.25  # of what places may be off by their last digits: shorter steps lead nowhere
NEARLY_AT_REST = 1e-6  # where that is so: accelerations, as a share of those of free bodies
CLOSED = 1e-9  # of the extent: what constraints may leave open on the way
MOST_BENT = 0.3  # of a step: where going back onto the constraints leads further away, it was too long
TURNED_ROUND = -0.9  # of the work of forces in a step: where those at its end would do less, it went too far
HALVINGS = 30  # to find by how much
LOST = 30.0  # extents from where it began: nothing holds it
FLATTEST = 1e-9  # of the largest stiffness: what bends no more does not limit a step
ROUNDING = 1e-12  # of all that drives the bodies: a mode that is driven by no more is not moved


@contextmanager
def put_up(model: Assembly) -> Iterator[Equations]:
    """The equations of a model where it stands; what does not take part in statics is refused."""
    refuse_forward(model)
    refuse_sums(model)
    with Simulation(model, 1e-3, Centralized()) as simulation:
        equations: Equations = simulation.system.cache["equations"]
        equations.at(0.0)
        yield equations


def refuse_forward(model: Assembly) -> None:
    """Forces that can only step forward in time."""
    kinds = {edge.force.kind(): edge.force for edge in model.force_edges.values()}
    only = {kind for kind, one in kinds.items() if getattr(one.new_stack(model.dimension), "forward_only", False)}
    forward = [name for name, edge in model.force_edges.items() if only and edge.force.kind() in only]
    if forward:
        raise ModelError(
            f"{first_few(forward)} can only step forward in time, as contacts and dry friction do, and has no stiffness to "
            "swing on; leave it out, or put a spring in its place."
        )
    refuse_programs(model)


def refuse_programs(model: Assembly) -> None:
    """Forces that a program sets, of which nothing is known where no time passes."""
    kinds = {edge.force.kind(): edge.force for edge in model.force_edges.values()}
    programs = {kind for kind, one in kinds.items() if isinstance(one.new_stack(model.dimension), Decides)}
    asked = [name for name, edge in model.force_edges.items() if programs and edge.force.kind() in programs]
    if asked:
        raise ModelError(
            f"{first_few(asked)}: what a program sets while a run goes on is unknown here, and would count as nothing; leave it "
            "out, or put what it holds in its place, such as a Motor with an effort or a stiffness."
        )


def refuse_sums(model: Assembly) -> None:
    """Forces whose sum over time is one more unknown, which equations of places and velocities do not have."""
    sums = [name for name, edge in model.force_edges.items() if edge.force.sums]
    if sums:
        raise ModelError(
            f"{first_few(sums)}: a sum over time is no place and no velocity, and would count as nothing here; set the integral "
            "gain to 0, or run the model."
        )


def come_to_rest(equations: Equations) -> int:
    """Move a system to the place where it rests; in so many steps."""
    here = _Place.of(equations, equations.read()[0])
    start, away = here.q, LOST * equations.extent
    radius = BEGINNING * equations.extent
    for turn in range(MOST_STEPS):
        if here.acceleration <= REST_TOLERANCE * here.drive:
            return turn
        local_modes = here.local_modes(equations)
        while True:
            step = local_modes.down(radius)
            far = float(np.abs(step).max(initial=0.0))
            if far <= SHORTEST * equations.extent and here.acceleration <= NEARLY_AT_REST * here.drive:
                return turn
            # forces that balance on each body leave a drive that is rounding itself
            if far <= NO_STEP * PLACES_ROUNDING * equations.extent:
                return turn
            there = _Place.of(equations, here.q + step)
            work, then = here.work(step), there.work(step)
            bent = float(np.abs(there.q - here.q - step).max(initial=0.0))
            if far <= SHORTEST * equations.extent or (
                there.closed
                and bent <= MOST_BENT * far
                and (then >= TURNED_ROUND * work or there.acceleration < 0.5 * here.acceleration)
            ):
                break
            radius = 0.25 * far
        radius = min(2.0 * radius, FARTHEST * equations.extent) if then > 0.5 * TURNED_ROUND * work else radius
        here = there
        _take_along(equations, here.q)
        if float(np.abs(here.q - start).max(initial=0.0)) > away:
            break
    raise ModelError(
        f"no equilibrium was found: after {turn + 1} steps the model would still accelerate by "
        f"{here.acceleration:.3g} m/s^2, most of all '{here.worst(equations)}'. Start nearer to the equilibrium, or "
        "check whether anything holds the model."
    )


def _take_along(equations: Equations, q: Array) -> None:
    """Let forces keep where things stand now: springs about hinges count on from the nearest turn."""
    equations.go(q, np.zeros(equations.size))
    equations.forces(0.0)
    for forces in equations.system.forces:
        forces.account(equations.system.elements, 0.0)


@dataclass(frozen=True)
class _Place:
    """A place on the constraints: what may move there, and what drives it."""

    q: Array
    closed: bool  # whether it could be put back onto the constraints
    basis: Array
    mass: Array  # of the independent motions
    force: Array
    drive: float  # the largest acceleration of bodies that nothing holds
    accelerations: Array  # of the coordinates

    @classmethod
    def of(cls, equations: Equations, q: Array) -> _Place:
        q = equations.project_position(q, np.zeros(equations.size))
        closed = float(np.abs(equations.errors()).max(initial=0.0)) <= CLOSED * equations.extent
        basis, force = find_freedoms(equations).basis, equations.forces(0.0)
        mass = dense(basis.T @ (equations.mass @ basis))
        drive = max(float(np.abs(equations.inverse_mass @ force).max(initial=0.0)), 1e-300)
        return cls(q, closed, basis, mass, force, drive, basis @ np.linalg.solve(mass, basis.T @ force))

    @property
    def acceleration(self) -> float:
        """The largest."""
        return float(np.abs(self.accelerations).max(initial=0.0))

    def work(self, step: Array) -> float:
        """Of the forces here, along what of a step may move."""
        return float((self.basis.T @ self.force) @ (self.basis.T @ step))

    def local_modes(self, equations: Equations) -> _LocalModes:
        """How the forces change around it."""
        equations.go(self.q, np.zeros(equations.size))
        multipliers = np.asarray(np.linalg.lstsq(dense(equations.jacobian()).T, self.force, rcond=None)[0], float)
        stiffness = np.asarray(self.basis.T @ _stiffness(equations, self.q, self.basis, multipliers))
        bends, ways = linalg.eigh(0.5 * (stiffness + stiffness.T), self.mass)
        pull = ways.T @ (self.basis.T @ self.force)
        pull[np.abs(pull) <= ROUNDING * np.sqrt(self.force @ (equations.inverse_mass @ self.force))] = 0.0
        least = max(FLATTEST * float(np.abs(bends).max(initial=0.0)), 1e-300)
        return _LocalModes(self.basis @ ways, np.maximum(np.abs(bends), least), pull)

    def worst(self, equations: Equations) -> str:
        """The body that accelerates most."""
        return max(
            equations.columns,
            key=lambda body: float(np.abs(self.accelerations[equations.columns[body]]).max(initial=0.0)),
        )


@dataclass(frozen=True)
class _LocalModes:
    """Modes of a place by columns, how stiff each is at least, and the forces along them."""

    ways: Array
    bends: Array
    pull: Array

    def down(self, radius: float) -> Array:
        """To where the forces would balance, or, where that is further, as if all were stiffer by as much as it takes."""
        step = self._stiffer_by(0.0)
        if float(np.abs(step).max(initial=0.0)) <= radius:
            return step
        low, high = float(self.bends.min()), float(self.bends.max())
        while float(np.abs(self._stiffer_by(high)).max()) > radius:
            low, high = high, 10.0 * high
        for _ in range(HALVINGS):
            middle = np.sqrt(low * high)
            low, high = (middle, high) if float(np.abs(self._stiffer_by(middle)).max()) > radius else (low, middle)
        return self._stiffer_by(high)

    def _stiffer_by(self, more: float) -> Array:
        return np.asarray(self.ways @ (self.pull / (self.bends + more)))


def _stiffness(equations: Equations, q: Array, basis: Array, multipliers: Array) -> Array:
    """What matters here is the way: where elements follow the coordinates along lines, tangents of Newton's method are enough."""
    if equations.varying:
        return stiffness_along(equations, q, basis, multipliers).values
    whole = force_tangents(equations, 0.0)[0] + curvature(equations, q, np.zeros(equations.size), multipliers)
    return np.asarray(whole @ basis)


STANDS_STILL = 1e-6  # accelerations at rest, as a share of those of free bodies under the same forces
PLACES_ROUNDING = 1e-15  # of the extent, by which places may be off
STILL = 1e-9  # [m/s]


@dataclass(frozen=True)
class Rest:
    """A model as it was given, and its equations, which stand where it rests."""

    model: Assembly
    equations: Equations
    state: State
    start: Array  # coordinates where it was put
    steps: int  # in which it came to rest from there


@contextmanager
def at_rest(model: Assembly, *, seek: bool) -> Iterator[Rest]:
    """What does not rest is refused by the body that moves or would begin to; `seek`: it is let down first."""
    with put_up(model) as equations:
        yield resting(equations, model, seek=seek)


def resting(equations: Equations, model: Assembly, *, seek: bool) -> Rest:
    """The same of equations that stand somewhere already."""
    start, v = equations.read()
    _refuse_motion(equations, v)
    steps = come_to_rest(equations) if seek else 0
    state = settled(equations, 0.0, *equations.read())
    _refuse_acceleration(equations, state.a)
    return Rest(model, equations, state, start, steps)


def _refuse_motion(equations: Equations, v: Array) -> None:
    """What moves does not rest."""
    name, speed = _largest(equations, v)
    if speed > STILL:
        raise ModelError(
            f"body '{name}' moves ({speed:.3g} m/s), and vibrations are those about a place where a model rests; leave "
            "velocities, angular velocities and courses that move out, or ask for those about a motion that goes on: steady=True."
        )


def _refuse_acceleration(equations: Equations, a: Array) -> None:
    """Nor does what would begin to."""
    name, size = _largest(equations, a)
    drive = np.abs(equations.inverse_mass @ equations.forces(0.0)).max(initial=0.0)
    if size > STANDS_STILL * max(float(drive), 1e-300) and size > _of_rounding(equations, a):
        remedy = (
            "what follows courses has to rest too: hold its driven joints and led bodies where they are"
            if equations.driven
            else "put the model where its forces balance, or let that place be found: seek=True"
        )
        raise ModelError(
            f"body '{name}' does not rest where it stands: let go, it would accelerate by {size:.3g} m/s^2; {remedy}."
        )


def _of_rounding(equations: Equations, a: Array) -> float:
    """What places that are off by their last digits make of accelerations: much where something is stiff. Leaves all as it was."""
    q, v = equations.read()
    off = PLACES_ROUNDING * equations.extent * np.sin(1.0 + np.arange(len(q)))
    moved = settled(equations, 0.0, q + off, v).a - a
    equations.go(q, v)
    return float(np.abs(moved).max(initial=0.0))


def _largest(equations: Equations, numbers: Array) -> tuple[str, float]:
    """The body with the largest of some numbers, and that."""
    sizes = {name: float(np.abs(numbers[own]).max(initial=0.0)) for name, own in equations.columns.items()}
    name = max(sizes, key=lambda body: sizes[body], default="")
    return name, sizes.get(name, 0.0)
