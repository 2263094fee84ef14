"""What instruments on a mechanism would have shown during a run; Renaud and Dion 2024, 9.3.

Series over the samples of a run: vectors in the axes of a port, what an accelerometer feels, distances, angles that go on over
turns, and the forces of springs and all others.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from coordinator.building import ForceHome
from coordinator.record.lifetimes import Ever, Flags, Made
from coordinator.record.run import Run
from coordinator.system import System
from modular.assembly import Assembly
from modular.elements import Array, Elements, Indices
from modular.errors import ModelError, RunWarning
from modular.force import AppliesRecorded, Force, Forces
from modular.whole_turns import counted


def in_axes_of(run: Run, port: str, vectors: Array) -> Array:
    """Vectors of the world, one per sample, by their components along the axes of a port, (n, d)."""
    frame, given = run.axes(port), np.asarray(vectors, float)
    if given.shape != frame.shape[:2]:
        raise ModelError(
            f"in_axes_of: vectors have shape {given.shape}; give one of {frame.shape[2]} components for each of the "
            f"{len(frame)} samples, such as run.velocity(port)."
        )
    return np.asarray(np.einsum("nij,nj->ni", frame, given))


def accelerometer(run: Run, port: str) -> Array:
    """What an accelerometer fixed to a port feels along its axes: acceleration less gravity [m/s^2], (n, d).

    At rest it shows g upwards, in free fall nothing.
    """
    return in_axes_of(run, port, run.acceleration(port) - np.asarray(run.model["gravity"], float))


def joint_force(run: Run, joint: str, port: str) -> Array:
    """Force of a joint on its second side, along the axes of a port [N], (n, d)."""
    return in_axes_of(run, port, run.reaction(joint)[:, : len(run.model["gravity"])])


def distance(run: Run, first: str, second: str) -> Array:
    """Between two ports [m], (n,)."""
    return np.asarray(np.linalg.norm(run.position(second) - run.position(first), axis=1))


def angle(run: Run, first: str, second: str) -> Array:
    """From the x axis of one port to that of another about the z axis of the first [rad], (n,); it goes on over turns.

    `first` may be "ground". Where samples come less often than half turns, angular velocities tell how many turns lie between; a
    warning says where these leave it open.
    """
    from coordinator.record.turning import angular_velocity  # which asks for angles here

    turning = run.axes(second)
    n, d = turning.shape[:2]
    base = np.broadcast_to(np.eye(d), (n, d, d)) if first == "ground" else run.axes(first)
    x = turning[:, 0]
    along, across = (np.einsum("nj,nj->n", base[:, k], x) for k in (0, 1))
    between = angular_velocity(run, second) - (0.0 if first == "ground" else angular_velocity(run, first))
    rate = between if d == 2 else np.einsum("nj,nj->n", between, base[:, 2])
    return counted_turns(run, f"'{second}'", np.arctan2(across, along), rate)


def counted_turns(run: Run, name: str, turn: Array, rate: Array, there: Flags | slice = slice(None)) -> Array:
    """An angle at some samples of a run, over any number of turns; told where rates leave open how many there were."""
    time = np.asarray(run.time)[there]
    found, open_ = counted(turn, rate, time)
    if open_.any():
        at = int(np.argmax(open_))
        warnings.warn(
            f"{name} turns by {found[at + 1] - found[at]:.3g} rad from {time[at]:g} to {time[at + 1]:g} s, between two samples, or "
            "by whole turns more or less: its angular velocities do not tell. Record more often (record_every).",
            RunWarning,
            stacklevel=3,
        )
    return found


def exerted(run: Run, name: str) -> Array:
    """What a force exerts on the last of the ports that it acts on: force [N], with directions moment [N m] too.

    Shape (n, d) or with more columns, as `run.reaction`; NaN while it was not there. It is worked out from the recorded places and
    velocities, and from what it kept in mind at each sample; shapes in contact keep what they did.
    """
    return worked_out(run, [name])[name].wrench


def spring_force(run: Run, name: str) -> Array:
    """By how much a spring, or any force between two ports, pulls them together [N], (n,)."""
    done = worked_out(run, [name])[name]
    force = done.wrench[:, : done.between.shape[1]]
    length = np.linalg.norm(done.between, axis=1)
    along = -np.einsum("nj,nj->n", force, done.between)
    return np.asarray(np.divide(along, length, where=length > 0.0, out=np.where(np.isnan(length), np.nan, 0.0)))


@dataclass(frozen=True)
class Exerted:
    """What a force did over the samples: force and moment on its last side, and the way there from the first."""

    wrench: Array
    between: Array


def worked_out(run: Run, names: Sequence[str], ever: Ever | None = None) -> dict[str, Exerted]:
    """Several forces; those that are there at the same samples are worked out together."""
    known = Ever(run) if ever is None else ever
    together: dict[tuple[int, bytes], list[str]] = {}
    for name in names:
        if not isinstance(component := known[name].component, Force):
            raise ModelError(f"'{name}' is a {type(component).__name__}, not a force; use run.reaction('{name}').")
        for lifetime in known.lifetimes(name):
            if not lifetime.begins_with(run.ticks):
                raise ModelError(
                    f"force '{name}' was applied at tick {lifetime.tick}, between two samples, so its position then "
                    "was not recorded; record every tick (record_every=1)."
                )
            together.setdefault((lifetime.tick, lifetime.there.tobytes()), []).append(name)
    pieces: dict[str, list[tuple[Flags, Exerted]]] = {name: [] for name in names}
    for (_, flags), group in together.items():
        there = np.frombuffer(flags, bool)
        for name, piece in _exerted(run, {name: known[name] for name in group}, there).items():
            pieces[name].append((there, piece))
    d = len(run.model["gravity"])
    return {name: _put_together(pieces[name], len(run), d) for name in names}


def _put_together(pieces: Sequence[tuple[Flags, Exerted]], samples: int, d: int) -> Exerted:
    """What was done in several lifetimes; NaN between them."""
    width = max((piece.wrench.shape[1] for _, piece in pieces), default=d)
    whole = Exerted(np.full((samples, width), np.nan), np.full((samples, d), np.nan))
    for there, piece in pieces:
        whole.wrench[there, : piece.wrench.shape[1]], whole.between[there] = piece.wrench, piece.between
    return whole


def _exerted(run: Run, made: Mapping[str, Made], there: Flags) -> dict[str, Exerted]:
    """Forces over samples through which they and their bodies were there; they begin as the bodies stand at the first."""
    model = Assembly(run.model["gravity"])
    for owner in dict.fromkeys(owner for one in made.values() for owner in one.owners):
        model.bodies[owner] = run.bodies[owner]
    system = System(np.asarray(run.model["gravity"], float), model.bodies)
    for owner, body in model.bodies.items():
        system.add_body(owner, body)
    states = {owner: [series[there] for series in run.state(owner)[:2]] for owner in model.bodies}
    moving = [
        (stack, [np.stack([states[o][k] for o in stack.names], axis=1) for k in (0, 1)]) for stack in system.bodies
    ]
    elements, times = system.elements, run.time[there].tolist()

    def stand(k: int) -> None:
        for stack, (q, v) in moving:
            state = stack.state()
            state["q"][...], state["v"][...] = q[k], v[k]
        elements.clock[:] = run.dt, times[k], run.dt
        system.show()
        elements.play("use_present_velocity", elements)

    stand(0)
    for name, one in made.items():
        model.apply(name, one.component, *one.ports, at=one.at)
        system.add_force(name, model.force_edges[name])
    stand(0)
    system.respond()
    for stack in system.forces:
        stack.request_demand(elements, run.dt)
        _exert(stack, elements, times[0])  # what it takes from the first look
    minds = [(stack, _minds(run, stack, there)) for stack in system.forces]
    groups = _groups(system, made, len(times))
    for k, time in enumerate(times):
        stand(k)
        for stack, mind in minds:
            for key, series in mind.items():
                column = getattr(stack, key)[: stack.count]
                column[..., : series.shape[-1]] = series[k]  # runs of before may remember less
            _exert(stack, elements, time)
        for group in groups:
            group.read(k, elements)
        for stack in system.forces:
            stack.account(elements, run.dt)
    return {name: one for group in groups for name, one in group.by_name()}


def _exert(stack: Forces, elements: Elements, time: float) -> None:
    """As bodies stand; or once more what was done at a sample, where that is told by more than how they stand."""
    if isinstance(stack, AppliesRecorded):
        stack.apply_recorded(elements)
    else:
        stack.exert(elements, time)


def _minds(run: Run, stack: Forces, there: Flags) -> dict[str, Array]:
    """What the forces of a stack kept in mind, (samples, forces, …) by column; runs of before recorded none of it."""
    found = {}
    for key in getattr(stack, "recorded", ()):
        rows = [run.kept_in_mind(name, key) for name in stack.names]
        if all(row is not None for row in rows):
            found[key] = np.stack([row[there] for row in rows if row is not None], axis=1)
    if not found and isinstance(stack, AppliesRecorded):
        raise ModelError(
            f"what force '{stack.names[0]}' did is not in this run, which an earlier version has recorded; run the model again."
        )
    return found


@dataclass(frozen=True)
class Group:
    """Forces with as many elements on their last sides, and what they did so far."""

    names: list[str]
    first: Indices  # rows of their points
    last: Indices
    many: int
    wrench: Array  # (samples, forces, …)
    between: Array

    def read(self, k: int, elements: Elements) -> None:
        """What is exerted now."""
        d = elements.dimension
        self.between[k] = elements.position[self.last] - elements.position[self.first]
        self.wrench[k, :, :d] = elements.force[self.last]
        if self.many > 1:
            rows = self.last[:, None] + np.arange(1, self.many)
            arms, pulls = elements.position[rows], elements.force[rows]
            planes = ((0, 1),) if d == 2 else ((1, 2), (2, 0), (0, 1))
            for c, (i, j) in enumerate(planes):  # of e x f
                self.wrench[k, :, d + c] = (arms[..., i] * pulls[..., j] - pulls[..., i] * arms[..., j]).sum(axis=1)

    def by_name(self) -> Iterator[tuple[str, Exerted]]:
        """Of each of them."""
        for n, name in enumerate(self.names):
            yield name, Exerted(self.wrench[:, n], self.between[:, n])


def _groups(system: System, names: Iterable[str], samples: int) -> list[Group]:
    by_size: dict[int, list[str]] = {}
    homes, d = system.force_home, system.elements.dimension
    for name in names:
        by_size.setdefault(homes[name].counts[_last(homes[name])], []).append(name)
    found = []
    for many, group in by_size.items():
        first = np.array([homes[name].starts[0] for name in group])
        last = np.array([homes[name].starts[_last(homes[name])] for name in group])
        wrench = np.empty((samples, len(group), d + (2 * d - 3 if many > 1 else 0)))
        found.append(Group(group, first, last, many, wrench, np.empty((samples, len(group), d))))
    return found


def _last(home: ForceHome) -> int:
    """The last of the sides that it acts on."""
    return min(1, len(home.starts) - 1)
