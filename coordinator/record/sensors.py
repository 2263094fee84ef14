"""What instruments on a mechanism would have shown during a run; Renaud and Dion 2024, 9.3.

Series over the samples of a run: vectors in the axes of a port, what an accelerometer feels, distances, angles that go on over
turns, and the forces of springs and all others.
"""

from __future__ import annotations

import numpy as np

from coordinator.record.run import Run
from coordinator.system import System
from modular.elements import Array
from modular.errors import ModelError
from modular.names import missing
from modular.port import GROUND


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

    `first` may be "ground". Samples have to come more often than half turns.
    """
    turning = run.axes(second)
    n, d = turning.shape[:2]
    base = np.broadcast_to(np.eye(d), (n, d, d)) if first == "ground" else run.axes(first)
    x = turning[:, 0]
    along, across = (np.einsum("nj,nj->n", base[:, k], x) for k in (0, 1))
    return np.asarray(np.unwrap(np.arctan2(across, along)))


def exerted(run: Run, name: str) -> Array:
    """What a force of the model exerts on its second port, or on its only one: force [N], with directions moment [N m] too.

    Shape (n, d) or with more columns, as `run.reaction`; NaN where a body was not there. It is worked out anew from the recorded
    places and velocities. A force that remembers (friction, an integral) is followed from sample to sample: record every tick.
    """
    return _worked_out(run, name)[0]


def spring_force(run: Run, name: str) -> Array:
    """By how much a spring, or any force between two ports, pulls them together [N], (n,)."""
    wrench, between = _worked_out(run, name)
    force = wrench[:, : between.shape[1]]
    length = np.linalg.norm(between, axis=1)
    pull = -np.einsum("nj,nj->n", force, between)
    return np.asarray(np.divide(pull, length, where=length > 0.0, out=np.where(np.isnan(length), np.nan, 0.0)))


def _worked_out(run: Run, name: str) -> tuple[Array, Array]:
    """Force and moment on the last side over the samples, and the way there from the first."""
    model = run.assembly()
    if name not in model.force_edges:
        raise ModelError(missing("force", name, list(model.force_edges), "this run's model"))
    edge = model.force_edges[name]
    owners = [port.body for port in edge.ports if port.body != GROUND]
    bodies = {owner: run.bodies[owner] for owner in owners}
    system = System(np.asarray(run.model["gravity"], float), bodies)
    for owner in owners:
        system.add_body(owner, bodies[owner])
    system.add_force(name, edge)
    home, elements, states = system.force_home[name], system.elements, {owner: run.state(owner) for owner in owners}
    first, last = home.starts[0], home.starts[min(1, len(home.starts) - 1)]
    many, d = home.counts[min(1, len(home.counts) - 1)], elements.dimension
    wrench = np.full((len(run), d + (2 * d - 3 if many > 1 else 0)), np.nan)
    between = np.full((len(run), d), np.nan)
    begun = False
    for k, time in enumerate(run.time.tolist()):
        if any(np.isnan(states[owner][0][k]).any() for owner in owners):
            continue
        for owner in owners:
            stack = system.body_home[owner]
            for key, series in zip(("q", "v"), states[owner], strict=False):
                stack.state()[key][stack.row[owner]] = series[k]
        elements.clock[:] = run.dt, time, run.dt
        system.show()
        elements.play("stand", elements)
        if not begun:
            system.respond()
            home.stack.ask(elements, run.dt)
            begun = True
        home.stack.exert(elements, time)
        between[k], wrench[k, :d] = elements.position[last] - elements.position[first], elements.force[last]
        if many > 1:
            arms, pulls = elements.position[last + 1 : last + many], elements.force[last + 1 : last + many]
            turns = arms[:, :, None] * pulls[:, None, :] - pulls[:, :, None] * arms[:, None, :]  # of e x f, all planes
            planes = ((0, 1),) if d == 2 else ((1, 2), (2, 0), (0, 1))
            wrench[k, d:] = [turns[:, i, j].sum() for i, j in planes]
        home.stack.account(elements, run.dt)
    return wrench, between
