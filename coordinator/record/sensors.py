"""What instruments on a mechanism would have shown during a run; Renaud and Dion 2024, 9.3.

Series over the samples of a run: vectors in the axes of a port, what an accelerometer feels, distances, angles that go on over
turns.
"""

from __future__ import annotations

import numpy as np

from coordinator.record.run import Run
from modular.elements import Array
from modular.errors import ModelError


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
